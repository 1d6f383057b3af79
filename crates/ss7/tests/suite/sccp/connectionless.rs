//! Q.714, sections 2 and 4: routing, segments, return on error.

use slantpath_base::Duration;
use slantpath_ss7::sccp::gtt::{RouteOn, Translator};
use slantpath_ss7::sccp::{
    Capability, Discard, Form, Indication, MOST_DATA_OCTETS, Message, NARROWBAND_OCTETS, NodeConfig,
    RequestError, ReturnCause, UnitdataRequest,
};

use super::net::{A, B, C, HLR, Net, VLR, at, config, own, request, rule, titled};

fn received(indications: &[Indication]) -> Vec<Vec<u8>> {
    indications
        .iter()
        .filter_map(|indication| match indication {
            Indication::Unitdata { data, .. } => Some(data.to_vec()),
            _ => None,
        })
        .collect()
}

fn notices(indications: &[Indication]) -> Vec<ReturnCause> {
    indications
        .iter()
        .filter_map(|indication| match indication {
            Indication::Notice { cause, .. } => Some(*cause),
            _ => None,
        })
        .collect()
}

fn octets(len: usize) -> Vec<u8> {
    (0..=250).cycle().take(len).collect()
}

fn translating(
    code: slantpath_ss7::PointCode,
    rules: &[(&str, slantpath_ss7::PointCode, RouteOn)],
) -> NodeConfig {
    let (rules, groups) = rules.iter().map(|(digits, to, routing)| rule(digits, *to, *routing)).unzip();
    NodeConfig { translator: Translator::new(rules, groups).unwrap(), ..config(code) }
}

#[test]
fn a_short_message_goes_in_one_unitdata() {
    let mut net = Net::three();
    net.unitdata(A, request(at(B, HLR), "hello"));
    assert_eq!(net.trace(), ["1>2 UDT"]);
    let indications = net.indications(B);
    let [Indication::Unitdata { called, calling, in_sequence, data }] = &indications[..] else {
        panic!("{indications:?}")
    };
    assert_eq!((called.ssn, calling.ssn, calling.point_code), (Some(HLR), Some(VLR), Some(A)));
    assert_eq!((*in_sequence, &data[..]), (false, &b"hello"[..]));
}

#[test]
fn the_longest_message_goes_in_sixteen_segments() {
    let mut net = Net::three();
    let data = octets(3_900);
    net.unitdata(A, request(at(B, HLR), data.clone()));
    assert_eq!(net.trace(), ["1>2 XUDT"; 16]);
    assert_eq!(received(&net.indications(B)), [data]);
    assert_eq!(net.node(B).reassembly_octets(), 0);
}

#[test]
fn more_than_3952_octets_are_refused() {
    let mut net = Net::three();
    let now = net.now;
    let refused = net.node(A).unitdata(now, request(at(B, HLR), octets(3_953)));
    assert_eq!(refused, Err(RequestError::DataTooLong { octets: 3_953, most: MOST_DATA_OCTETS }));
}

#[test]
fn a_lost_segment_brings_the_first_one_back_when_t_reass_expires() {
    let mut net = Net::three();
    let now = net.now;
    net.node(A).unitdata(now, request(at(B, HLR), octets(500))).unwrap();
    let first = net.node(A).poll_output(now);
    let slantpath_ss7::sccp::Output::Transfer(first) = first else { panic!("{first:?}") };
    while !matches!(net.node(A).poll_output(now), slantpath_ss7::sccp::Output::Wait(_)) {}
    net.indicate(B, slantpath_ss7::transfer::TransferIndication::Transfer(first));
    net.pass(Duration::from_secs(10));
    assert_eq!(received(&net.indications(B)), Vec::<Vec<u8>>::new());
    assert_eq!(notices(&net.indications(A)), [ReturnCause::ERROR_IN_MESSAGE_TRANSPORT]);
}

#[test]
fn a_node_without_segments_gets_no_long_message() {
    let mut first = config(A);
    let old = Capability { highest: Form::Unitdata, message_octets: NARROWBAND_OCTETS };
    first.remotes.get_mut(&B).unwrap().capability = old;
    let mut net = Net::new([first, config(B)]);
    net.unitdata(A, request(at(B, HLR), octets(500)));
    assert_eq!(notices(&net.indications(A)), [ReturnCause::SEGMENTATION_NOT_SUPPORTED]);
    assert_eq!(net.trace(), Vec::<String>::new());
}

#[test]
fn a_relay_cuts_a_long_message_into_segments_for_a_narrow_network() {
    let mut first = translating(A, &[("49*", B, RouteOn::GlobalTitle)]);
    let broadband = Capability { highest: Form::Long, message_octets: 4_091 };
    first.remotes.get_mut(&B).unwrap().capability = broadband;
    let relay = translating(B, &[("49*", C, RouteOn::Ssn)]);
    let mut net = Net::new([first, relay, config(C)]);
    let data = octets(1_000);
    net.unitdata(A, request(titled("49171", HLR), data.clone()));
    assert_eq!(net.trace(), ["1>2 LUDT", "2>3 XUDT", "2>3 XUDT", "2>3 XUDT", "2>3 XUDT", "2>3 XUDT"]);
    assert_eq!(received(&net.indications(C)), [data]);
}

#[test]
fn a_message_for_nobody_comes_back_with_the_reason() {
    let mut net = Net::three();
    net.unitdata(A, request(at(B, slantpath_ss7::sccp::Ssn(99)), "x"));
    assert_eq!(net.trace(), ["1>2 UDT", "2>1 UDTS"]);
    assert_eq!(notices(&net.indications(A)), [ReturnCause::UNEQUIPPED_USER]);
    let silent =
        UnitdataRequest { return_on_error: false, ..request(at(B, slantpath_ss7::sccp::Ssn(99)), "x") };
    net.unitdata(A, silent);
    assert_eq!(notices(&net.indications(A)), []);
    let reason = Discard::NotReturnable(ReturnCause::UNEQUIPPED_USER);
    assert_eq!(net.node(B).counters().discarded[&reason], 1);
}

#[test]
fn titles_that_nobody_translates_come_back_at_once() {
    let first = translating(A, &[("49*", B, RouteOn::Ssn)]);
    let mut net = Net::new([first, config(B)]);
    net.unitdata(A, request(titled("33171", HLR), "x"));
    assert_eq!(notices(&net.indications(A)), [ReturnCause::NO_TRANSLATION_FOR_ADDRESS]);
    net.unitdata(B, request(titled("33171", HLR), "x"));
    assert_eq!(notices(&net.indications(B)), [ReturnCause::NO_TRANSLATION_FOR_NATURE]);
}

#[test]
fn a_relay_writes_down_where_a_message_comes_from_and_the_answer_finds_back() {
    let first = translating(A, &[("49*", B, RouteOn::GlobalTitle)]);
    let relay = translating(B, &[("49*", C, RouteOn::Ssn)]);
    let mut net = Net::new([first, relay, config(C)]);
    net.unitdata(A, request(titled("49171", HLR), "x"));
    let indications = net.indications(C);
    let [Indication::Unitdata { calling, called, .. }] = &indications[..] else { panic!("{indications:?}") };
    assert_eq!(calling.point_code, Some(A));
    assert!(called.routes_on_ssn);
    net.unitdata(C, UnitdataRequest { calling: own(HLR), ..request(calling.clone(), "y") });
    assert_eq!(received(&net.indications(A)), [b"y"]);
    assert_eq!(net.node(B).counters().relayed, 1);
}

#[test]
fn translations_that_go_in_circles_end_by_the_hop_counter() {
    let one = translating(A, &[("49*", B, RouteOn::GlobalTitle)]);
    let two = translating(B, &[("49*", A, RouteOn::GlobalTitle)]);
    let mut net = Net::new([one, two]);
    net.unitdata(A, request(titled("49171", HLR), "x"));
    assert_eq!(net.trace().iter().filter(|line| line.ends_with(" XUDT")).count(), 15);
    assert_eq!(notices(&net.indications(A)), [ReturnCause::HOP_COUNTER_VIOLATION]);
}

#[test]
fn class_1_keeps_its_link_and_class_0_uses_them_all() {
    let mut net = Net::three();
    for number in 0..32 {
        net.unitdata(A, UnitdataRequest { sequence: Some(5), ..request(at(B, HLR), vec![number]) });
    }
    assert!(net.sent.drain(..).all(|transfer| transfer.label.sls.0 == 5));
    for number in 0..32 {
        net.unitdata(A, request(at(B, HLR), vec![number]));
    }
    let used: std::collections::BTreeSet<u8> = net.sent.iter().map(|transfer| transfer.label.sls.0).collect();
    assert_eq!(used.len(), 16);
    let expected: Vec<Vec<u8>> = (0..32).chain(0..32).map(|number| vec![number]).collect();
    assert_eq!(received(&net.indications(B)), expected);
}

#[test]
fn what_cannot_be_read_is_counted() {
    let mut net = Net::three();
    net.unitdata(A, request(at(B, HLR), "x"));
    let mut broken = net.sent[0].clone();
    broken.user_data = broken.user_data.slice(..4);
    net.indicate(B, slantpath_ss7::transfer::TransferIndication::Transfer(broken));
    assert_eq!(net.node(B).counters().discarded[&Discard::Malformed], 1);
}

/// A unitdata with these addresses, octet for octet.
fn unitdata(class: u8, called: &[u8], calling: &[u8]) -> Vec<u8> {
    let len = |octets: &[u8]| u8::try_from(octets.len()).unwrap();
    let mut octets = vec![9, class, 3, 3 + len(called), 3 + len(called) + len(calling)];
    for part in [called, calling, &[1]] {
        octets.push(len(part));
        octets.extend_from_slice(part);
    }
    octets
}

/// Class, called and calling address; deliveries; the count that grows.
type Case<'a> = (u8, &'a [u8], &'a [u8], &'a [&'a str], Option<Discard>);

#[test]
fn a_title_that_says_nothing_here_stops_a_message_only_where_it_must_be_translated() {
    // Encoding scheme 0; indicator 7; even BCD.
    let (unknown, national) = ([0x12, 8, 0, 0x10, 4, 0x94, 0x71], [0x1e, 7, 1, 2, 3]);
    let readable = [0x12, 6, 0, 0x12, 4, 0x94, 0x71];
    let on_ssn = [0x42, 6];
    // Class, called and calling; who gets data and who a notice; what is counted as not returnable.
    let lost = Discard::NotReturnable(ReturnCause::NO_TRANSLATION_FOR_NATURE);
    let table: [Case<'_>; 7] = [
        (0, &on_ssn, &unknown, &["1>2 UDT"], None),
        (0, &on_ssn, &national, &["1>2 UDT"], None),
        (0x80, &readable, &unknown, &["1>2 UDT", "2>3 UDT"], None),
        (0x80, &readable, &national, &["1>2 UDT", "2>3 UDT"], None),
        (0x80, &unknown, &[0x43, 1, 0, 7], &["1>2 UDT", "2>1 UDTS"], None),
        (0x80, &national, &[0x43, 1, 0, 7], &["1>2 UDT", "2>1 UDTS"], None),
        (0, &unknown, &[0x43, 1, 0, 7], &["1>2 UDT"], Some(lost)),
    ];
    for (class, called, calling, trace, discarded) in table {
        let named = format!("{class:x} {called:x?} {calling:x?}");
        // The rule asks for nothing: it would fit any title that can be read.
        let relay = translating(B, &[("*", C, RouteOn::Ssn)]);
        let mut net = Net::new([config(A), relay, config(C)]);
        net.unitdata(A, request(at(B, HLR), "x"));
        let mut transfer = net.sent[0].clone();
        transfer.user_data = unitdata(class, called, calling).into();
        net.indications.clear();
        net.sent.truncate(0);
        net.sent.push(transfer.clone());
        net.indicate(B, slantpath_ss7::transfer::TransferIndication::Transfer(transfer));
        let relayed: Vec<_> = net.sent.iter().skip(1).map(|sent| sent.user_data.clone()).collect();
        assert_eq!(net.trace(), trace, "{named}");
        for octets in relayed {
            // The address that nobody read is written as it came.
            let opaque = if calling.first() == Some(&0x43) { called } else { calling };
            assert!(octets.windows(opaque.len()).any(|window| window == opaque), "{named}: {octets:x?}");
        }
        let (here, there, back) = (net.indications(B), net.indications(C), net.indications(A));
        let is_here = called == on_ssn;
        assert_eq!(
            (received(&here).len(), received(&there).len()),
            match trace.len() {
                1 if is_here => (1, 0),
                2 if trace[1] == "2>3 UDT" => (0, 1),
                _ => (0, 0),
            },
            "{named}"
        );
        let returned = (trace.last() == Some(&"2>1 UDTS")).then_some(ReturnCause::NO_TRANSLATION_FOR_NATURE);
        assert_eq!(notices(&back), returned.into_iter().collect::<Vec<_>>(), "{named}");
        let counted: Vec<_> =
            net.node(B).counters().discarded.iter().map(|(why, count)| (*why, *count)).collect();
        assert_eq!(counted, discarded.map(|why| (why, 1)).into_iter().collect::<Vec<_>>(), "{named}");
        let untranslated = called == unknown || called == national;
        let cause = ReturnCause::NO_TRANSLATION_FOR_NATURE;
        let counters = net.node(B).counters();
        let counted = counters.untranslated.get(&cause).copied().unwrap_or(0);
        assert_eq!(counted, u64::from(untranslated), "{named}");
    }
}

#[test]
fn a_message_that_comes_back_is_for_its_sender_and_not_for_a_user_of_the_relay() {
    // The calling address has a title and no point code: it is translated in its turn.
    let (called, calling) = ([0x12, 6, 0, 0x12, 4, 0x33, 0x71], [0x12, 7, 0, 0x12, 4, 0x94, 0x71]);
    let relay = translating(B, &[("49*", C, RouteOn::Ssn)]);
    let mut net = Net::new([config(A), relay, config(C)]);
    net.unitdata(A, request(at(B, HLR), "x"));
    let mut transfer = net.sent[0].clone();
    transfer.user_data = unitdata(0x80, &called, &calling).into();
    net.indications.clear();
    net.sent.clear();
    net.indicate(B, slantpath_ss7::transfer::TransferIndication::Transfer(transfer));
    assert_eq!(net.trace(), ["2>3 UDTS"]);
    assert_eq!(net.indications(B), []);
    assert_eq!(notices(&net.indications(C)), [ReturnCause::NO_TRANSLATION_FOR_ADDRESS]);
}

#[test]
fn the_message_that_was_seen_to_be_dropped_is_delivered() {
    let mut net = Net::three();
    net.unitdata(A, request(at(B, HLR), "x"));
    let mut transfer = net.sent[0].clone();
    let octets: &[u8] = &[
        0x09, 0x00, 0x03, 0x05, 0x0d, 0x02, 0x42, 0x06, 0x08, 0x12, 0x08, 0x00, 0x10, 0x04, 0x94, 0x71, 0x55,
        0x05, 0x62, 0x03, 0x48, 0x01, 0x01,
    ];
    transfer.user_data = octets.into();
    net.indications.clear();
    net.indicate(B, slantpath_ss7::transfer::TransferIndication::Transfer(transfer));
    assert_eq!(received(&net.indications(B)), [[0x62, 3, 0x48, 1, 1]]);
}

#[test]
fn a_service_message_that_finds_nobody_is_counted_and_goes_nowhere() {
    let mut net = Net::three();
    net.unitdata(A, request(at(B, HLR), "x"));
    let mut transfer = net.sent[0].clone();
    let Ok(Message::Udt { called, calling, data, .. }) = Message::parse(&transfer.user_data) else {
        panic!("UDT")
    };
    let called = slantpath_ss7::sccp::PartyAddress { ssn: Some(slantpath_ss7::sccp::Ssn(99)), ..called };
    let mut octets = Vec::new();
    Message::Udts { cause: 1, called, calling, data }.emit(&mut octets).unwrap();
    transfer.user_data = octets.into();
    net.sent.clear();
    net.indicate(B, slantpath_ss7::transfer::TransferIndication::Transfer(transfer));
    assert_eq!(net.trace(), Vec::<String>::new());
    let reason = Discard::ServiceUndeliverable(ReturnCause::UNEQUIPPED_USER);
    assert_eq!(net.node(B).counters().discarded[&reason], 1);
}

#[test]
fn one_user_reaches_another_of_the_same_node() {
    let mut net = Net::three();
    net.unitdata(A, request(own(HLR), "x"));
    assert_eq!(received(&net.indications(A)), [b"x"]);
    net.unitdata(A, request(own(slantpath_ss7::sccp::Ssn(99)), "x"));
    assert_eq!(notices(&net.indications(A)), [ReturnCause::UNEQUIPPED_USER]);
    assert_eq!(net.trace(), Vec::<String>::new());
}
