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
