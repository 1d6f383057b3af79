//! Q.714, section 3: connections.

use bytes::Bytes;
use slantpath_base::Duration;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::RoutingLabel;
use slantpath_ss7::sccp::gtt::{RouteOn, Translator};
use slantpath_ss7::sccp::{
    ConfigError, ConnectRequest, ConnectionId, ConnectionRequest, Discard, DisconnectReason, Indication,
    LocalReference, Message, Node, NodeConfig, OptionalParameters, Output, Parameter, ProtocolClass,
    RefusalCause, ReleaseCause, RequestError, ResetCause, SequencingSegmenting, Ssn,
};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use super::net::{A, B, C, HLR, Net, VLR, at, config, own, rule, titled};

fn connect(net: &mut Net, with_flow_control: bool) -> ConnectionId {
    let called = at(B, HLR);
    let request =
        ConnectRequest { called, calling: own(VLR), with_flow_control, importance: None, data: Bytes::new() };
    let now = net.now;
    let id = net.node(A).connect(now, request).unwrap();
    net.settle();
    id
}

/// A connection from A to B that stands, and its two ends.
fn connected(net: &mut Net, with_flow_control: bool) -> (ConnectionId, ConnectionId) {
    let here = connect(net, with_flow_control);
    assert!(
        net.indications(A).contains(&Indication::ConnectConfirm { connection: here, data: Bytes::new() })
    );
    let there = net.indications(B).into_iter().find_map(|indication| match indication {
        Indication::Connect { connection, .. } => Some(connection),
        _ => None,
    });
    net.sent.clear();
    (here, there.unwrap())
}

fn ask(net: &mut Net, code: PointCode, id: ConnectionId, request: ConnectionRequest) {
    let now = net.now;
    net.node(code).request(now, id, request).unwrap();
    net.settle();
}

fn data(indications: &[Indication]) -> Vec<Bytes> {
    let data = |indication: &Indication| match indication {
        Indication::Data { data, .. } => Some(data.clone()),
        _ => None,
    };
    indications.iter().filter_map(data).collect()
}

fn reason(indications: &[Indication]) -> Option<DisconnectReason> {
    indications.iter().find_map(|indication| match indication {
        Indication::Disconnect { reason, .. } => Some(*reason),
        _ => None,
    })
}

fn released(cause: ReleaseCause) -> DisconnectReason {
    DisconnectReason::Released(cause)
}

fn refused(cause: RefusalCause) -> DisconnectReason {
    DisconnectReason::Refused(cause)
}

/// Gives B a message as if A had sent it.
fn inject(net: &mut Net, template: &Transfer, message: &Message) {
    let mut octets = Vec::new();
    message.emit(&mut octets).unwrap();
    let transfer = Transfer { user_data: octets.into(), ..template.clone() };
    net.indicate(B, TransferIndication::Transfer(transfer));
}

/// The destination reference and the label of what A sends to B.
fn towards_b(net: &mut Net, here: ConnectionId) -> (Transfer, LocalReference) {
    ask(net, A, here, ConnectionRequest::Data(Bytes::from_static(b"x")));
    let transfer = net.sent.iter().rev().find(|transfer| transfer.label.dpc == B).cloned().unwrap();
    let reference = match Message::parse(&transfer.user_data).unwrap() {
        Message::Dt1 { destination, .. } | Message::Dt2 { destination, .. } => destination,
        other => panic!("{other:?}"),
    };
    net.indications(B);
    net.sent.clear();
    (transfer, reference)
}

#[test]
fn a_connection_is_made_used_and_released() {
    let mut net = Net::three();
    let (here, there) = connected(&mut net, false);
    ask(&mut net, A, here, ConnectionRequest::Data(Bytes::from_static(b"ping")));
    ask(&mut net, B, there, ConnectionRequest::Data(Bytes::from_static(b"pong")));
    assert_eq!(net.trace(), ["1>2 DT1", "2>1 DT1"]);
    assert_eq!(data(&net.indications(B)), ["ping"]);
    assert_eq!(data(&net.indications(A)), ["pong"]);
    ask(&mut net, A, here, ConnectionRequest::Disconnect(Bytes::from_static(b"bye")));
    assert_eq!(net.trace(), ["1>2 RLSD", "2>1 RLC"]);
    assert_eq!(
        net.indications(B),
        [Indication::Disconnect {
            connection: there,
            reason: DisconnectReason::Released(ReleaseCause::END_USER_ORIGINATED),
            data: Bytes::from_static(b"bye"),
        }]
    );
    assert_eq!((net.node(A).connections(), net.node(B).connections()), (0, 0));
    let now = net.now;
    let late = net.node(A).request(now, here, ConnectionRequest::Disconnect(Bytes::new()));
    assert_eq!(late, Err(RequestError::NoSuchConnection(here)));
}

#[test]
fn a_user_may_refuse() {
    let mut net = Net::three();
    net.users_agree = false;
    connect(&mut net, false);
    let indications = net.indications(B);
    let [Indication::Connect { connection, calling, .. }] = &indications[..] else {
        panic!("{indications:?}")
    };
    assert_eq!(calling.point_code, Some(A));
    ask(&mut net, B, *connection, ConnectionRequest::Disconnect(Bytes::new()));
    assert_eq!(net.trace(), ["1>2 CR", "2>1 CREF"]);
    assert_eq!(reason(&net.indications(A)), Some(refused(RefusalCause::END_USER_ORIGINATED)));
}

#[test]
fn a_request_that_leads_nowhere_is_refused_where_it_ends() {
    let mut net = Net::three();
    let now = net.now;
    let ask_for = |called| ConnectRequest {
        called,
        calling: own(VLR),
        with_flow_control: false,
        importance: None,
        data: Bytes::new(),
    };
    net.node(A).connect(now, ask_for(at(B, Ssn(99)))).unwrap();
    net.settle();
    assert_eq!(net.trace(), ["1>2 CR", "2>1 CREF"]);
    assert_eq!(reason(&net.indications(A)), Some(refused(RefusalCause::UNEQUIPPED_USER)));
    net.node(A).connect(now, ask_for(titled("49", HLR))).unwrap();
    net.settle();
    assert_eq!(net.trace(), Vec::<String>::new());
    assert_eq!(reason(&net.indications(A)), Some(refused(RefusalCause::NO_TRANSLATION_FOR_NATURE)));
    assert_eq!(net.node(A).connections(), 0);
}

#[test]
fn a_request_that_nobody_answers_ends_with_t_conn_est() {
    let mut net = Net::new([config(A)]);
    connect(&mut net, false);
    net.pass(Duration::from_secs(59));
    assert_eq!(reason(&net.indications(A)), None);
    net.pass(Duration::from_secs(1));
    assert_eq!(reason(&net.indications(A)), Some(refused(RefusalCause::ESTABLISHMENT_TIMER)));
    assert_eq!(net.node(A).connections(), 0);
}

#[test]
fn a_request_that_was_given_up_is_released_once_it_is_confirmed() {
    let mut net = Net::three();
    net.users_agree = false;
    let here = connect(&mut net, false);
    ask(&mut net, A, here, ConnectionRequest::Disconnect(Bytes::from_static(b"no longer")));
    let indications = net.indications(B);
    let [Indication::Connect { connection, .. }] = &indications[..] else { panic!("{indications:?}") };
    ask(&mut net, B, *connection, ConnectionRequest::Accept(Bytes::from_static(b"welcome")));
    assert_eq!(net.trace(), ["1>2 CR", "2>1 CC", "1>2 RLSD", "2>1 RLC"]);
    // What A's user has said, not what B's has.
    let (reason, data) = (released(ReleaseCause::END_USER_ORIGINATED), Bytes::from_static(b"no longer"));
    let disconnect = Indication::Disconnect { connection: *connection, reason, data };
    assert_eq!(net.indications(B), [disconnect]);
    assert_eq!((net.node(A).connections(), net.node(B).connections()), (0, 0));
}

#[test]
fn a_request_is_translated_by_a_relay_and_the_connection_goes_past_it() {
    let translating = |code, to, routing| {
        let (rules, groups) = [rule("49*", to, routing)].into_iter().unzip();
        NodeConfig { translator: Translator::new(rules, groups).unwrap(), ..config(code) }
    };
    let first = translating(A, B, RouteOn::GlobalTitle);
    let relay = translating(B, C, RouteOn::Ssn);
    let mut net = Net::new([first, relay, config(C)]);
    let request = ConnectRequest {
        called: titled("49171", HLR),
        calling: own(VLR),
        with_flow_control: false,
        importance: None,
        data: Bytes::from_static(b"hello"),
    };
    let now = net.now;
    let here = net.node(A).connect(now, request).unwrap();
    net.settle();
    ask(&mut net, A, here, ConnectionRequest::Data(Bytes::from_static(b"x")));
    assert_eq!(net.trace(), ["1>2 CR", "2>3 CR", "3>1 CC", "1>3 DT1"]);
    assert_eq!(data(&net.indications(C)), ["x"]);
}

#[test]
fn long_data_comes_in_parts_and_is_whole_again() {
    for with_flow_control in [false, true] {
        let mut net = Net::three();
        let (here, there) = connected(&mut net, with_flow_control);
        let long: Bytes = (0..=250).cycle().take(5_000).collect();
        ask(&mut net, A, here, ConnectionRequest::Data(long.clone()));
        assert_eq!(data(&net.indications(B)), std::slice::from_ref(&long));
        ask(&mut net, B, there, ConnectionRequest::Data(long.clone()));
        assert_eq!(data(&net.indications(A)), [long]);
    }
}

#[test]
fn a_closed_window_holds_data_back_until_it_is_acknowledged() {
    let mut net = Net::three();
    let (here, _) = connected(&mut net, true);
    let now = net.now;
    for number in 0..20 {
        net.node(A).request(now, here, ConnectionRequest::Data(Bytes::from(vec![number]))).unwrap();
    }
    let mut first = 0;
    while let Output::Transfer(transfer) = net.node(A).poll_output(now) {
        first += 1;
        net.node(B).handle_indication(now, TransferIndication::Transfer(transfer));
    }
    assert_eq!(first, 8, "the window");
    net.settle();
    let expected: Vec<Bytes> = (0..20).map(|number| Bytes::from(vec![number])).collect();
    assert_eq!(data(&net.indications(B)), expected);
    assert_eq!(net.trace().iter().filter(|line| line.ends_with("AK")).count(), 5);
}

#[test]
fn congestion_of_a_connection_is_told_before_its_data_are_refused_and_so_is_its_end() {
    let mut net = Net::three();
    let (here, _) = connected(&mut net, true);
    net.indications(A);
    let congestion = |is_congested| Indication::Congestion { connection: here, is_congested };
    let (now, mut given, mut indicated) = (net.now, 0, None);
    let mut under_way = Vec::new();
    let refusal = loop {
        if let Err(refusal) =
            net.node(A).request(now, here, ConnectionRequest::Data(Bytes::from_static(b"x")))
        {
            break refusal;
        }
        given += 1;
        match net.node(A).poll_output(now) {
            Output::Transfer(transfer) => under_way.push(transfer),
            Output::Indication { indication, .. } => {
                assert_eq!((indicated, &indication), (None, &congestion(true)));
                indicated = Some(given);
            }
            Output::Wait(_) => {}
        }
    };
    // The window takes 8; of those that wait, half of 1,024 are congestion.
    assert_eq!((indicated, given, refusal), (Some(8 + 512), 8 + 1_024, RequestError::QueueFull));
    for transfer in under_way {
        net.node(B).handle_indication(now, TransferIndication::Transfer(transfer));
    }
    net.settle();
    assert_eq!(data(&net.indications(B)).len(), given);
    assert_eq!(net.indications(A), [congestion(false)]);
}

#[test]
fn a_queue_that_cannot_tell_before_it_refuses_is_no_configuration() {
    let mut own = config(A);
    own.connections.queued_messages = 513;
    let error = Node::new(own.clone()).unwrap_err();
    assert_eq!(error, ConfigError::QueueTooShort { queued: 513, parts: 258 });
    own.connections.queued_messages = 516;
    assert!(Node::new(own).is_ok());
}

#[test]
fn expedited_data_goes_one_at_a_time() {
    let mut net = Net::three();
    let (here, _) = connected(&mut net, true);
    let now = net.now;
    for number in 0..3 {
        net.node(A).request(now, here, ConnectionRequest::ExpeditedData(Bytes::from(vec![number]))).unwrap();
    }
    net.settle();
    assert_eq!(net.trace(), ["1>2 ED", "2>1 EA", "1>2 ED", "2>1 EA", "1>2 ED", "2>1 EA"]);
    let (plain, _) = connected(&mut net, false);
    let refused = net.node(A).request(now, plain, ConnectionRequest::ExpeditedData(Bytes::from_static(b"x")));
    assert_eq!(refused, Err(RequestError::NotNow));
}

#[test]
fn eight_expedited_data_wait_behind_the_one_under_way() {
    let mut net = Net::three();
    let (here, _) = connected(&mut net, true);
    let now = net.now;
    let ask = |net: &mut Net, octets: usize| {
        let request = ConnectionRequest::ExpeditedData(Bytes::from(vec![7; octets]));
        net.node(A).request(now, here, request)
    };
    assert_eq!(ask(&mut net, 0), Err(RequestError::NoData));
    assert_eq!(ask(&mut net, 33), Err(RequestError::DataTooLong { octets: 33, most: 32 }));
    for number in 0..9 {
        assert_eq!(ask(&mut net, 32), Ok(()), "{number}");
    }
    assert_eq!(ask(&mut net, 1), Err(RequestError::QueueFull));
    net.settle();
    assert_eq!(net.trace().iter().filter(|line| *line == "1>2 ED").count(), 9);
    assert_eq!(ask(&mut net, 1), Ok(()));
}

#[test]
fn what_the_state_of_a_reset_has_no_room_for_is_refused() {
    let mut net = Net::three();
    let (plain, _) = connected(&mut net, false);
    let (here, there) = connected(&mut net, true);
    net.users_agree = false;
    let now = net.now;
    let refused = |net: &mut Net, code, id, request| net.node(code).request(now, id, request).is_err();
    assert!(refused(&mut net, A, here, ConnectionRequest::ResetResponse), "there is nothing to answer");
    assert!(!refused(&mut net, A, here, ConnectionRequest::Reset));
    assert!(refused(&mut net, A, here, ConnectionRequest::Reset), "it is under way");
    assert!(refused(&mut net, A, here, ConnectionRequest::ResetResponse), "it is this end's");
    net.settle();
    assert!(!refused(&mut net, B, there, ConnectionRequest::ResetResponse));
    assert!(refused(&mut net, B, there, ConnectionRequest::ResetResponse), "it was answered");
    net.settle();
    assert_eq!(net.trace(), ["1>2 RSR", "2>1 RSC"]);
    for request in [ConnectionRequest::Reset, ConnectionRequest::ResetResponse] {
        assert!(refused(&mut net, A, plain, request), "class 2 has none");
    }
}

#[test]
fn a_connection_that_is_granted_in_class_2_goes_on_in_class_2() {
    for (class, name) in [(2, "DT1"), (3, "DT2")] {
        let mut net = Net::new([config(A)]);
        let here = connect(&mut net, true);
        let sent = net.sent.pop().unwrap();
        let Message::Cr { source, .. } = Message::parse(&sent.user_data).unwrap() else { panic!("CR") };
        let class = ProtocolClass { class, handling: 0 };
        let confirm = Message::Cc {
            destination: source,
            source: LocalReference(77),
            class,
            optional: OptionalParameters::default(),
        };
        let mut octets = Vec::new();
        confirm.emit(&mut octets).unwrap();
        let label = RoutingLabel { dpc: A, opc: B, ..sent.label };
        net.indicate(A, TransferIndication::Transfer(Transfer { label, user_data: octets.into(), ..sent }));
        ask(&mut net, A, here, ConnectionRequest::Data(Bytes::from_static(b"x")));
        assert_eq!(net.trace(), [format!("1>2 {name}")]);
    }
}

#[test]
fn a_reset_starts_numbers_anew_at_both_ends() {
    let mut net = Net::three();
    let (here, there) = connected(&mut net, true);
    ask(&mut net, A, here, ConnectionRequest::Data(Bytes::from_static(b"x")));
    net.indications(B);
    net.sent.clear();
    ask(&mut net, A, here, ConnectionRequest::Reset);
    assert_eq!(net.trace(), ["1>2 RSR", "2>1 RSC"]);
    let cause = ResetCause::END_USER_ORIGINATED;
    assert_eq!(net.indications(B), [Indication::Reset { connection: there, cause }]);
    assert_eq!(net.indications(A), [Indication::ResetConfirm { connection: here }]);
    ask(&mut net, A, here, ConnectionRequest::Data(Bytes::from_static(b"y")));
    assert_eq!(data(&net.indications(B)), ["y"]);
}

#[test]
fn a_number_out_of_order_resets_the_connection() {
    let mut net = Net::three();
    let (here, _) = connected(&mut net, true);
    let (template, destination) = towards_b(&mut net, here);
    let sequencing = SequencingSegmenting { send: 3, receive: 0, more: false };
    inject(&mut net, &template, &Message::Dt2 { destination, sequencing, data: vec![1] });
    assert_eq!(net.trace(), ["2>1 RSR", "1>2 RSC"]);
    assert!(data(&net.indications(B)).is_empty());
    ask(&mut net, A, here, ConnectionRequest::Data(Bytes::from_static(b"y")));
    assert_eq!(data(&net.indications(B)), ["y"]);
}

#[test]
fn a_reset_that_nobody_confirms_releases_the_connection() {
    let mut net = Net::three();
    net.users_agree = true;
    let (here, _) = connected(&mut net, true);
    net.users_agree = false;
    ask(&mut net, A, here, ConnectionRequest::Reset);
    net.pass(Duration::from_secs(11));
    assert_eq!(reason(&net.indications(A)), Some(released(ReleaseCause::RESET_TIMER)));
    assert_eq!((net.node(A).connections(), net.node(B).connections()), (0, 0));
}

#[test]
fn silence_is_tested_and_a_lost_peer_is_given_up() {
    let mut net = Net::three();
    connected(&mut net, false);
    net.pass(Duration::from_secs(3_600));
    let trace = net.trace();
    assert!(trace.iter().all(|line| line.ends_with(" IT")) && trace.len() > 20, "{trace:?}");
    assert_eq!((net.node(A).connections(), net.node(B).connections()), (1, 1));
    net.nodes.remove(&B);
    net.pass(Duration::from_secs(20 * 60));
    assert_eq!(reason(&net.indications(A)), Some(released(ReleaseCause::RECEIVE_INACTIVITY_TIMER)));
    assert_eq!(net.node(A).connections(), 0);
    assert_eq!(net.node(A).counters().unconfirmed_releases, 1);
    // RLSD at once, after T(rel), and every T(repeat rel) until T(int) expires.
    assert_eq!(net.trace().iter().filter(|line| line.ends_with("RLSD")).count(), 7);
}

#[test]
fn every_rlsd_says_why_and_what_the_user_has_said() {
    let mut net = Net::three();
    let (here, _) = connected(&mut net, false);
    net.nodes.remove(&B);
    ask(&mut net, A, here, ConnectionRequest::Disconnect(Bytes::from_static(b"no longer")));
    net.pass(Duration::from_secs(20 * 60));
    let mut sent = Vec::new();
    for transfer in net.sent.drain(..) {
        match Message::parse(&transfer.user_data).unwrap() {
            Message::Rlsd { cause, optional, .. } => {
                sent.push((cause, optional.value(Parameter::DATA).map(<[u8]>::to_vec)));
            }
            other => panic!("{other:?}"),
        }
    }
    let cause = ReleaseCause::END_USER_ORIGINATED.0;
    assert_eq!(sent, vec![(cause, Some(b"no longer".to_vec())); 7]);
}

#[test]
fn both_ends_release_at_once() {
    let mut net = Net::three();
    let (here, there) = connected(&mut net, false);
    let now = net.now;
    net.node(A).request(now, here, ConnectionRequest::Disconnect(Bytes::new())).unwrap();
    net.node(B).request(now, there, ConnectionRequest::Disconnect(Bytes::new())).unwrap();
    net.settle();
    assert_eq!(net.trace(), ["1>2 RLSD", "2>1 RLSD"]);
    assert_eq!((net.node(A).connections(), net.node(B).connections()), (0, 0));
}

#[test]
fn messages_for_no_connection_are_answered_as_annex_b_says() {
    let mut net = Net::three();
    let (here, _) = connected(&mut net, false);
    let (template, _) = towards_b(&mut net, here);
    let (destination, source) = (LocalReference(0x1234), LocalReference(0x77));
    let nobody = |net: &mut Net, message: Message| {
        inject(net, &template, &message);
        net.trace()
    };
    let optional = OptionalParameters::default();
    let class = ProtocolClass { class: 2, handling: 0 };
    let sequencing = SequencingSegmenting { send: 0, receive: 0, more: false };
    let rlsd = Message::Rlsd { destination, source, cause: 0, optional: optional.clone() };
    assert_eq!(nobody(&mut net, rlsd), ["2>1 RLC"]);
    let it = Message::It { destination, source, class, sequencing, credit: 0 };
    assert_eq!(nobody(&mut net, it), ["2>1 ERR"]);
    assert_eq!(nobody(&mut net, Message::Cc { destination, source, class, optional }), ["2>1 ERR"]);
    assert_eq!(nobody(&mut net, Message::Rsr { destination, source, cause: 0 }), ["2>1 ERR"]);
    for silent in [
        Message::Dt1 { destination, more: false, data: vec![1] },
        Message::Rlc { destination, source },
        Message::Err { destination, cause: 0 },
        Message::Ak { destination, receive: 0, credit: 1 },
    ] {
        assert_eq!(nobody(&mut net, silent), Vec::<String>::new());
    }
    assert_eq!(net.node(B).counters().discarded[&Discard::UnassignedReference], 8);
}

#[test]
fn a_message_from_elsewhere_or_with_another_source_reference_does_nothing_to_a_connection() {
    let mut net = Net::three();
    let (here, _) = connected(&mut net, false);
    let (mut template, destination) = towards_b(&mut net, here);
    let optional = OptionalParameters::default();
    let rlsd = Message::Rlsd { destination, source: LocalReference(0xabc), cause: 0, optional };
    inject(&mut net, &template, &rlsd);
    assert_eq!(net.node(B).counters().discarded[&Discard::SourceReferenceMismatch], 1);
    template.label.opc = C;
    inject(&mut net, &template, &Message::Dt1 { destination, more: false, data: vec![1] });
    assert_eq!(net.node(B).counters().discarded[&Discard::PointCodeMismatch], 1);
    assert!(data(&net.indications(B)).is_empty());
    assert_eq!(net.node(B).connections(), 1);
}

#[test]
fn an_error_of_the_peer_releases_the_connection() {
    let mut net = Net::three();
    let (here, _) = connected(&mut net, false);
    let (template, destination) = towards_b(&mut net, here);
    inject(&mut net, &template, &Message::Err { destination, cause: 3 });
    assert_eq!(net.trace(), ["2>1 RLSD", "1>2 RLC"]);
    assert_eq!(reason(&net.indications(B)), Some(released(ReleaseCause::REMOTE_PROCEDURE_ERROR)));
}

#[test]
fn data_of_another_class_is_an_error() {
    let mut net = Net::three();
    let (here, _) = connected(&mut net, false);
    let (template, destination) = towards_b(&mut net, here);
    let sequencing = SequencingSegmenting { send: 0, receive: 0, more: false };
    inject(&mut net, &template, &Message::Dt2 { destination, sequencing, data: vec![1] });
    assert_eq!(net.trace()[0], "2>1 ERR");
    assert_eq!((net.node(A).connections(), net.node(B).connections()), (0, 0));
}

#[test]
fn a_restarted_node_makes_no_connection_until_t_guard_has_expired() {
    let mut net = Net::three();
    let now = net.now;
    let mut again = Node::restarted(now, config(B)).unwrap();
    again.set_subsystem(now, HLR, true).unwrap();
    net.nodes.insert(B, again);
    connect(&mut net, false);
    assert_eq!(reason(&net.indications(A)), Some(refused(RefusalCause::SCCP_FAILURE)));
    let request = ConnectRequest {
        called: at(A, HLR),
        calling: own(HLR),
        with_flow_control: false,
        importance: None,
        data: Bytes::new(),
    };
    assert_eq!(net.node(B).connect(now, request), Err(RequestError::Restarting));
    net.pass(Duration::from_secs(23 * 60));
    connected(&mut net, false);
}

#[test]
fn connections_end_where_references_end() {
    let mut first = config(A);
    first.connections.references = 2;
    let mut net = Net::new([first, config(B), config(C)]);
    let (here, _) = connected(&mut net, false);
    connected(&mut net, false);
    let now = net.now;
    let request = || ConnectRequest {
        called: at(B, HLR),
        calling: own(VLR),
        with_flow_control: false,
        importance: None,
        data: Bytes::new(),
    };
    assert_eq!(net.node(A).connect(now, request()), Err(RequestError::NoReference));
    ask(&mut net, A, here, ConnectionRequest::Disconnect(Bytes::new()));
    assert_eq!(net.node(A).connect(now, request()), Err(RequestError::NoReference), "it is frozen");
    net.pass(Duration::from_secs(10));
    connected(&mut net, false);
}

#[test]
fn two_users_of_one_node_can_connect() {
    let mut net = Net::three();
    let request = ConnectRequest {
        called: own(HLR),
        calling: own(VLR),
        with_flow_control: true,
        importance: None,
        data: Bytes::from_static(b"hi"),
    };
    let now = net.now;
    let here = net.node(A).connect(now, request).unwrap();
    net.settle();
    ask(&mut net, A, here, ConnectionRequest::Data(Bytes::from_static(b"x")));
    assert_eq!(data(&net.indications(A)), ["x"]);
    ask(&mut net, A, here, ConnectionRequest::Disconnect(Bytes::new()));
    assert_eq!(net.node(A).connections(), 0);
    assert_eq!(net.trace(), Vec::<String>::new());
}
