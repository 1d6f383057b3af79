//! Connections of classes 2 and 3 one message at a time.

use bytes::Bytes;
use slantpath_base::Duration;
use slantpath_sigtran::asp::{AspMessage, ErrorCode};
use slantpath_sigtran::common::MessageKind;
use slantpath_sigtran::transport::{StreamNumber, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::sccp::ResetCause;

use super::{Net, association, subsystem};
use crate::drops::DropReason;
use crate::message::{CommonParameter, OwnMessage};
use crate::sua::{
    Address, ConnectRequest, ConnectionConfig, ConnectionEvent, ConnectionId, ConnectionState, Message,
    SccpCause, SequenceNumber, SuaParameter, UserProcessConfig, UserProcessOutput, kind,
};

fn class_3() -> ConnectRequest {
    ConnectRequest { with_flow_control: true, ..ConnectRequest::new(subsystem(1)) }
}

/// Takes the events of its connection that the users of an end were told since the last call.
fn events(net: &mut Net, at: usize) -> Vec<ConnectionEvent> {
    let events = net.indications[at].drain(..).filter_map(|indication| match indication {
        UserProcessOutput::Connection(_, event) => Some(event),
        _ => None,
    });
    events.collect()
}

fn opened(net: &mut Net, request: ConnectRequest) -> (ConnectionId, ConnectionId) {
    let ends = net.open_as(request);
    for at in 0..2 {
        events(net, at);
    }
    ends
}

/// A message for the end of the second ASP, as if the gateway had relayed it.
fn forge(kind: MessageKind, parameters: Vec<SuaParameter>) -> OwnMessage<SuaParameter> {
    let message = OwnMessage::empty(kind).with_common(CommonParameter::RoutingContexts(vec![2]));
    parameters.into_iter().fold(message, OwnMessage::with)
}

fn inject(net: &mut Net, message: OwnMessage<SuaParameter>) {
    let octets = Message::Own(message).to_bytes();
    let input = TransportInput::Message { stream: StreamNumber(1), payload_protocol: 4, octets };
    net.deliver(1, true, input);
}

/// Takes the messages that the second ASP has sent, before they are delivered.
fn answers(net: &mut Net) -> Vec<Message> {
    net.drain();
    let sent =
        net.wire.drain(..).filter(|(to_asp, transmit)| !to_asp && transmit.association == association(1));
    sent.map(|(_, transmit)| Message::receive(&transmit.octets).unwrap()).collect()
}

fn data(far: ConnectionId, received: u8, sent: u8) -> OwnMessage<SuaParameter> {
    forge(
        kind::CODT,
        vec![
            SuaParameter::SequenceNumber(SequenceNumber { received, more: false, sent }),
            SuaParameter::DestinationReference(far.0),
            SuaParameter::Data(Bytes::from_static(b"x")),
        ],
    )
}

fn test(near: ConnectionId, far: ConnectionId, class: u8, sent: u8) -> OwnMessage<SuaParameter> {
    forge(
        kind::COIT,
        vec![
            SuaParameter::ProtocolClass(class),
            SuaParameter::SourceReference(near.0),
            SuaParameter::DestinationReference(far.0),
            SuaParameter::SequenceNumber(SequenceNumber { received: 0, more: false, sent }),
            SuaParameter::Credit(8),
        ],
    )
}

#[test]
fn a_long_message_goes_in_parts_and_arrives_whole_in_both_classes() {
    for request in [ConnectRequest::new(subsystem(1)), class_3()] {
        let mut net = Net::connected();
        let (near, _) = opened(&mut net, request);
        let long: Bytes = (0..=255_u8).cycle().take(1_000).collect();
        assert!(net.asps[0].send_data(net.now, near, long.clone()));
        net.drain();
        assert_eq!(net.wire.len(), 4);
        net.run();
        assert_eq!(events(&mut net, 1), [ConnectionEvent::Data(long)]);
    }
}

#[test]
fn a_request_for_class_3_says_its_window_and_is_answered_to_who_asked() {
    let mut net = Net::connected();
    let request = ConnectRequest { source: Some(subsystem(0)), ..class_3() };
    net.asps[0].connect(net.now, 1, request).unwrap();
    net.run();
    let far = net.offered();
    let offered = events(&mut net, 1);
    assert!(matches!(&offered[..], [ConnectionEvent::Offered { with_flow_control: true, .. }]));
    net.asps[1].accept(net.now, far, None);
    let sent = answers(&mut net);
    let [Message::Own(message)] = &sent[..] else { panic!("one COAK: {sent:?}") };
    let own: Vec<&SuaParameter> = message.own().collect();
    assert!(own.contains(&&SuaParameter::Credit(8)) && own.contains(&&SuaParameter::ProtocolClass(3)));
    assert!(own.contains(&&SuaParameter::DestinationAddress(subsystem(0))));
}

#[test]
fn the_smaller_window_holds_for_both_and_data_beyond_it_wait() {
    let config = |credit| UserProcessConfig {
        connections: ConnectionConfig { credit, parts_max: 4, ..ConnectionConfig::default() },
        ..UserProcessConfig::default()
    };
    let mut net = Net::connected_with(&[config(8), config(2)]);
    let (near, far) = opened(&mut net, class_3());
    assert!(net.asps[1].set_credit(net.now, far, 0));
    net.run();
    for _ in 0..4 {
        assert!(net.asps[0].send_data(net.now, near, Bytes::from_static(b"x")));
    }
    // More than half of four parts wait, and a fifth has no place.
    assert_eq!(net.wire.len(), 0);
    assert!(!net.asps[0].send_data(net.now, near, Bytes::from_static(b"x")));
    assert_eq!(net.asps[0].drops().of(DropReason::QueueFull), 1);
    net.run();
    assert_eq!(events(&mut net, 0), [ConnectionEvent::Congested(true)]);
    assert!(net.asps[1].set_credit(net.now, far, 3));
    net.run();
    assert_eq!(events(&mut net, 0), [ConnectionEvent::Congested(false)]);
    assert_eq!(events(&mut net, 1).len(), 4);
    // Nothing lies on the wire, but the second's own window is of two, too.
    for _ in 0..4 {
        assert!(net.asps[1].send_data(net.now, far, Bytes::from_static(b"y")));
    }
    net.drain();
    assert_eq!(net.wire.len(), 2);
}

#[test]
fn expedited_data_pass_by_a_closed_window_one_at_a_time() {
    let mut net = Net::connected();
    let (near, far) = opened(&mut net, class_3());
    net.asps[1].set_credit(net.now, far, 0);
    net.run();
    assert!(net.asps[0].send_data(net.now, near, Bytes::from_static(b"waits")));
    for octet in 0..3 {
        assert!(net.asps[0].send_expedited(net.now, near, Bytes::copy_from_slice(&[octet])));
    }
    net.drain();
    assert_eq!(net.wire.len(), 1);
    assert!(!net.asps[0].send_expedited(net.now, near, Bytes::from_static(&[0; 33])));
    net.run();
    let expected = [0, 1, 2].map(|octet| ConnectionEvent::ExpeditedData(Bytes::copy_from_slice(&[octet])));
    assert_eq!(events(&mut net, 1), expected);
}

#[test]
fn a_reset_of_the_user_is_told_answered_and_confirmed_and_begins_at_0_again() {
    let mut net = Net::connected();
    let (near, far) = opened(&mut net, class_3());
    assert!(net.asps[0].send_data(net.now, near, Bytes::from_static(b"before")));
    net.run();
    events(&mut net, 1);
    assert!(net.asps[0].reset(net.now, near));
    assert!(!net.asps[0].send_data(net.now, near, Bytes::from_static(b"too early")));
    net.run();
    assert_eq!(events(&mut net, 1), [ConnectionEvent::Reset(ResetCause::END_USER_ORIGINATED)]);
    assert!(net.asps[1].answer_reset(net.now, far));
    assert!(!net.asps[1].answer_reset(net.now, far));
    net.run();
    assert_eq!(events(&mut net, 0), [ConnectionEvent::ResetConfirmed]);
    assert!(net.asps[0].send_data(net.now, near, Bytes::from_static(b"after")));
    net.run();
    assert_eq!(events(&mut net, 1), [ConnectionEvent::Data(Bytes::from_static(b"after"))]);
}

#[test]
fn a_reset_that_nobody_answers_ends_the_connection() {
    let mut net = Net::connected();
    let (near, _) = opened(&mut net, class_3());
    net.asps[0].reset(net.now, near);
    net.run();
    net.wait(Duration::from_secs(10));
    let last = events(&mut net, 0);
    assert!(matches!(
        &last[..],
        [ConnectionEvent::Disconnected { cause: Some(SccpCause { kind: 3, value: 12 }), .. }]
    ));
    assert_eq!((net.asps[0].connections(), net.asps[1].connections()), (0, 0));
}

#[test]
fn wrong_numbers_reset_the_connection_with_their_cause() {
    for (message, cause) in [
        (data as fn(ConnectionId, u8, u8) -> _, ResetCause::INCORRECT_SEND_NUMBER),
        (|far, _, _| data(far, 0, 8), ResetCause::OUT_OF_WINDOW),
        (|far, _, _| data(far, 1, 0), ResetCause::INCORRECT_RECEIVE_NUMBER),
    ] {
        let mut net = Net::connected();
        let (near, far) = opened(&mut net, class_3());
        inject(&mut net, message(far, 0, 3));
        let sent = answers(&mut net);
        let [Message::Own(sent)] = &sent[..] else { panic!("one RESRE: {sent:?}") };
        let reset = SuaParameter::Cause(SccpCause { kind: 4, value: cause.0 });
        assert_eq!((sent.kind, sent.own().last()), (kind::RESRE, Some(&reset)));
        assert_eq!(events(&mut net, 1), [ConnectionEvent::Reset(cause)]);
        // Until it is confirmed data are lost, and counted.
        inject(&mut net, data(far, 0, 0));
        assert_eq!(net.asps[1].drops().of(DropReason::ConnectionReset), 2);
        let confirm = vec![SuaParameter::DestinationReference(far.0), SuaParameter::SourceReference(near.0)];
        inject(&mut net, forge(kind::RESCO, confirm));
        inject(&mut net, data(far, 0, 0));
        net.drain();
        let data = ConnectionEvent::Data(Bytes::from_static(b"x"));
        assert_eq!(events(&mut net, 1), [ConnectionEvent::ResetConfirmed, data]);
    }
}

#[test]
fn an_acknowledgement_of_what_was_not_sent_resets_and_expedited_data_that_are_too_long_do() {
    let mut net = Net::connected();
    let (_, far) = opened(&mut net, class_3());
    let parameters = vec![
        SuaParameter::DestinationReference(far.0),
        SuaParameter::ReceiveSequenceNumber(5 << 1),
        SuaParameter::Credit(8),
    ];
    inject(&mut net, forge(kind::CODA, parameters));
    net.drain();
    assert_eq!(events(&mut net, 1), [ConnectionEvent::Reset(ResetCause::INCORRECT_RECEIVE_NUMBER)]);
    let mut net = Net::connected();
    let (_, far) = opened(&mut net, class_3());
    let long = SuaParameter::Data(Bytes::from_static(&[0; 33]));
    inject(&mut net, forge(kind::CODT, vec![SuaParameter::DestinationReference(far.0), long]));
    net.drain();
    assert_eq!(events(&mut net, 1), [ConnectionEvent::Reset(ResetCause::REMOTE_PROCEDURE_ERROR)]);
}

#[test]
fn messages_of_class_3_have_no_place_in_class_2() {
    let mut net = Net::connected();
    let (near, far) = opened(&mut net, ConnectRequest::new(subsystem(1)));
    assert!(!net.asps[0].reset(net.now, near));
    let parameters = vec![
        SuaParameter::DestinationReference(far.0),
        SuaParameter::ReceiveSequenceNumber(0),
        SuaParameter::Credit(1),
    ];
    inject(&mut net, forge(kind::CODA, parameters));
    let sent = answers(&mut net);
    let [Message::Own(sent)] = &sent[..] else { panic!("one COERR: {sent:?}") };
    assert_eq!(sent.kind, kind::COERR);
    assert_eq!(sent.own().last(), Some(&SuaParameter::Cause(SccpCause { kind: 5, value: 3 })));
}

#[test]
fn what_class_3_must_have_is_missed_at_both_ends() {
    let request = |context| {
        OwnMessage::empty(kind::CORE)
            .with_common(CommonParameter::RoutingContexts(vec![context]))
            .with(SuaParameter::ProtocolClass(3))
            .with(SuaParameter::SourceReference(5))
            .with(SuaParameter::DestinationAddress(subsystem(1)))
            .with(SuaParameter::SequenceControl(5))
    };
    let input = |context| TransportInput::Message {
        stream: StreamNumber(1),
        payload_protocol: 4,
        octets: Message::Own(request(context)).to_bytes(),
    };
    for (to_asp, at, context) in [(true, 1, 2), (false, 0, 1)] {
        let mut net = Net::connected();
        net.deliver(at, to_asp, input(context));
        net.drain();
        let (_, answer) = net.wire.pop_front().unwrap();
        let Ok(Message::Asp(AspMessage::Err { code, .. })) = Message::receive(&answer.octets) else {
            panic!("ERR");
        };
        assert_eq!(code, ErrorCode::MISSING_PARAMETER);
        assert_eq!((net.asps[1].connections(), net.gateway.connections()), (0, 0));
    }
}

#[test]
fn a_request_of_another_class_is_refused() {
    let mut net = Net::connected();
    let parameters = vec![
        SuaParameter::ProtocolClass(1),
        SuaParameter::SourceReference(5),
        SuaParameter::DestinationAddress(subsystem(1)),
        SuaParameter::SequenceControl(5),
        SuaParameter::SourceAddress(Address::of_subsystem(PointCode(9), 8)),
    ];
    inject(&mut net, forge(kind::CORE, parameters));
    let sent = answers(&mut net);
    let [Message::Own(sent)] = &sent[..] else { panic!("one COREF: {sent:?}") };
    assert_eq!(sent.kind, kind::COREF);
    assert!(sent.own().any(|own| *own == SuaParameter::Cause(SccpCause { kind: 2, value: 15 })));
}

#[test]
fn the_inactivity_test_finds_a_lost_message_and_another_class() {
    let mut net = Net::connected();
    let (near, far) = opened(&mut net, class_3());
    inject(&mut net, test(near, far, 3, 0));
    assert_eq!(answers(&mut net), []);
    inject(&mut net, test(near, far, 3, 2));
    net.drain();
    assert_eq!(events(&mut net, 1), [ConnectionEvent::Reset(ResetCause::INCORRECT_SEND_NUMBER)]);
    let mut net = Net::connected();
    let (near, far) = opened(&mut net, class_3());
    inject(&mut net, test(near, far, 2, 0));
    net.drain();
    let last = events(&mut net, 1);
    assert!(matches!(
        &last[..],
        [ConnectionEvent::Disconnected { cause: Some(SccpCause { kind: 3, value: 5 }), .. }]
    ));
    assert_eq!(net.asps[1].state(far), ConnectionState::Releasing);
}

#[test]
fn a_message_with_the_source_reference_of_another_connection_does_nothing() {
    let mut net = Net::connected();
    let (near, far) = opened(&mut net, class_3());
    let parameters = vec![
        SuaParameter::DestinationReference(far.0),
        SuaParameter::SourceReference(near.0 + 1),
        SuaParameter::Cause(SccpCause { kind: 4, value: 0 }),
    ];
    inject(&mut net, forge(kind::RESRE, parameters));
    let sent = answers(&mut net);
    let [Message::Own(sent)] = &sent[..] else { panic!("one COERR: {sent:?}") };
    assert_eq!(sent.own().last(), Some(&SuaParameter::Cause(SccpCause { kind: 5, value: 1 })));
    assert_eq!(events(&mut net, 1), []);
}

#[test]
fn a_user_that_gives_up_before_the_answer_releases_when_it_comes() {
    let mut net = Net::connected();
    let near = net.asps[0].connect(net.now, 1, class_3()).unwrap();
    net.run();
    let said = Some(Bytes::from_static(b"no longer"));
    net.asps[0].disconnect(net.now, near, 3, said.clone());
    assert_eq!(net.asps[0].state(near), ConnectionState::WaitConnectionConfirm);
    let far = net.offered();
    net.asps[1].accept(net.now, far, Some(Bytes::from_static(b"welcome")));
    net.run();
    // What this end's user has said, with its cause, and not what the other's has.
    let cause = Some(SccpCause { kind: 3, value: 3 });
    let disconnected = ConnectionEvent::Disconnected { cause, data: said };
    assert_eq!(events(&mut net, 1).last(), Some(&disconnected));
    assert_eq!((net.asps[0].connections(), net.asps[1].connections(), net.gateway.connections()), (0, 0, 0));
}
