//! MTP2 user adaptation: what an ASP asks of a link, and what the link tells.

use bytes::Bytes;
use slantpath_sigtran::asp::ErrorCode;
use slantpath_sigtran_adaptations::m2ua::{Action, LinkEvent, LinkState, M2uaParameter, Message, kind};
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use slantpath_ss7::mtp3::Fsn;

use crate::bench::{Bench, FIRST, NOWHERE, Plan, UNIT, about, data, interfaces};

fn received(bench: &mut Bench) {
    bench.link(LinkIndication::Received(Bytes::from_static(UNIT)));
    let message = bench.expect(FIRST, kind::DATA);
    assert_eq!(message.own().next(), Some(&M2uaParameter::ProtocolData(Bytes::from_static(UNIT))));
}

/// Asks for a state: it must be confirmed as asked, and be asked of level 2.
fn state(state: LinkState, expected: &[LinkRequest]) {
    let mut bench = Bench::in_service();
    let before = bench.links[&1].requests.len();
    bench.send(FIRST, 1, about(1, kind::STATE_REQUEST).with(M2uaParameter::StateRequest(state)));
    let confirm = bench.expect(FIRST, kind::STATE_CONFIRM);
    assert_eq!(confirm.own().next(), Some(&M2uaParameter::StateRequest(state)));
    bench.assert_quiet(FIRST);
    assert_eq!(bench.links[&1].requests[before..], *expected);
}

fn expect_event(bench: &mut Bench, event: LinkEvent) {
    let indication = bench.expect(FIRST, kind::STATE_INDICATION);
    assert_eq!(indication.own().next(), Some(&M2uaParameter::StateEvent(event)));
}

fn expect_congestion(bench: &mut Bench, level: u32) {
    let indication = bench.expect(FIRST, kind::CONGESTION_INDICATION);
    assert_eq!(indication.own().next(), Some(&M2uaParameter::CongestionStatus(level)));
}

/// Retrieves the backward sequence number.
fn retrieve_bsn(bench: &mut Bench) {
    let request = about(1, kind::RETRIEVAL_REQUEST).with(M2uaParameter::Action(Action::RetrieveBsn));
    bench.send(FIRST, 1, request);
    let confirm = bench.expect(FIRST, kind::RETRIEVAL_CONFIRM);
    let parameters: Vec<_> = confirm.own().cloned().collect();
    let expected = [
        M2uaParameter::Action(Action::RetrieveBsn),
        M2uaParameter::RetrievalResult(0),
        M2uaParameter::SequenceNumber(5),
    ];
    assert_eq!(parameters, expected);
}

/// Retrieves the messages after number 0, and checks the confirmation.
fn retrieve_messages(bench: &mut Bench) {
    let request = about(1, kind::RETRIEVAL_REQUEST)
        .with(M2uaParameter::Action(Action::RetrieveMessages))
        .with(M2uaParameter::SequenceNumber(0));
    bench.send(FIRST, 1, request);
    let confirm = bench.expect(FIRST, kind::RETRIEVAL_CONFIRM);
    let parameters: Vec<_> = confirm.own().cloned().collect();
    let expected = [M2uaParameter::Action(Action::RetrieveMessages), M2uaParameter::RetrievalResult(0)];
    assert_eq!(parameters, expected);
    assert!(bench.links[&1].requests.contains(&LinkRequest::RetrieveMessagesAfter(Fsn(0))));
}

/// Establish Request aligns the link, and is confirmed when it is in service.
#[test]
fn v_01_a_link_is_established() {
    let bench = Bench::in_service();
    assert_eq!(bench.links[&1].requests, [LinkRequest::Start]);
}

/// A message that the established link delivers goes to the ASP as Data.
#[test]
fn v_02_a_message_of_the_link_is_delivered() {
    received(&mut Bench::in_service());
}

/// Release Request stops the link, and is confirmed when it is out of service.
#[test]
fn v_03_a_link_is_released() {
    let mut bench = Bench::in_service();
    bench.send(FIRST, 1, about(1, kind::RELEASE_REQUEST));
    bench.expect(FIRST, kind::RELEASE_CONFIRM);
    assert_eq!(bench.links[&1].requests, [LinkRequest::Start, LinkRequest::Stop]);
}

/// A link that fails by itself is told by a Release Indication.
#[test]
fn v_04_a_failed_link_is_indicated() {
    let mut bench = Bench::in_service();
    bench.link(LinkIndication::OutOfService(OutOfServiceReason::BearerFailed));
    bench.expect(FIRST, kind::RELEASE_INDICATION);
}

/// A State Request to flush the buffers is done and confirmed.
#[test]
fn v_05_buffers_are_flushed() {
    state(LinkState::FlushBuffers, &[LinkRequest::FlushBuffers]);
}

/// A State Request to continue is done and confirmed.
#[test]
fn v_06_the_link_continues() {
    state(LinkState::Continue, &[LinkRequest::Continue]);
}

/// A State Request to clear the retransmission buffer is done and confirmed.
#[test]
fn v_07_the_retransmission_buffer_is_cleared() {
    state(LinkState::ClearRetransmission, &[LinkRequest::FlushBuffers]);
}

/// A State Request to audit is answered by the state of the link, and confirmed.
#[test]
fn v_08_the_state_is_audited() {
    let mut bench = Bench::in_service();
    bench.link(LinkIndication::Congestion(2));
    expect_congestion(&mut bench, 2);
    let audit = about(1, kind::STATE_REQUEST).with(M2uaParameter::StateRequest(LinkState::Audit));
    bench.send(FIRST, 1, audit);
    bench.expect(FIRST, kind::ESTABLISH_CONFIRM);
    expect_congestion(&mut bench, 2);
    let confirm = bench.expect(FIRST, kind::STATE_CONFIRM);
    assert_eq!(confirm.own().next(), Some(&M2uaParameter::StateRequest(LinkState::Audit)));
}

/// A State Request that congestion has cleared is confirmed.
#[test]
fn v_09_congestion_is_cleared() {
    state(LinkState::CongestionClear, &[]);
}

/// A State Request to accept messages in congestion is confirmed, and they are accepted.
#[test]
fn v_10_congestion_accepts() {
    state(LinkState::CongestionAccept, &[]);
}

/// A State Request to throw messages away in congestion is confirmed, and they are thrown away until it is cleared.
#[test]
fn v_11_congestion_discards() {
    state(LinkState::CongestionDiscard, &[]);
    let mut bench = Bench::in_service();
    for (asked, delivered) in [(LinkState::CongestionDiscard, false), (LinkState::CongestionClear, true)] {
        bench.send(FIRST, 1, about(1, kind::STATE_REQUEST).with(M2uaParameter::StateRequest(asked)));
        bench.expect(FIRST, kind::STATE_CONFIRM);
        if delivered {
            received(&mut bench);
        } else {
            bench.link(LinkIndication::Received(Bytes::from_static(UNIT)));
            bench.assert_quiet(FIRST);
        }
    }
}

/// Entry of the remote end into processor outage is indicated.
#[test]
fn v_12_remote_processor_outage_is_indicated() {
    let mut bench = Bench::in_service();
    bench.link(LinkIndication::RemoteProcessorOutage);
    expect_event(&mut bench, LinkEvent::RpoEnter);
}

/// Exit of the remote end from processor outage is indicated.
#[test]
fn v_13_the_end_of_remote_processor_outage_is_indicated() {
    let mut bench = Bench::in_service();
    bench.link(LinkIndication::RemoteProcessorOutage);
    expect_event(&mut bench, LinkEvent::RpoEnter);
    bench.link(LinkIndication::RemoteProcessorRecovered);
    expect_event(&mut bench, LinkEvent::RpoExit);
}

/// Congestion of the link is indicated, once.
#[test]
fn v_14_congestion_is_indicated() {
    let mut bench = Bench::in_service();
    bench.link(LinkIndication::Congestion(1));
    expect_congestion(&mut bench, 1);
    bench.link(LinkIndication::Congestion(1));
    bench.assert_quiet(FIRST);
}

/// Congestion under load and its end are both indicated.
#[test]
fn v_15_the_end_of_congestion_is_indicated() {
    let mut bench = Bench::in_service();
    for _ in 0..100 {
        bench.send(FIRST, 1, data(1));
    }
    assert_eq!(bench.links[&1].sent.len(), 100);
    bench.link(LinkIndication::Congestion(3));
    expect_congestion(&mut bench, 3);
    bench.link(LinkIndication::Congestion(0));
    expect_congestion(&mut bench, 0);
}

/// The backward sequence number is retrieved.
#[test]
fn v_16_the_backward_sequence_number_is_retrieved() {
    retrieve_bsn(&mut Bench::in_service());
}

/// A retrieval of messages is confirmed, and complete when there are none.
#[test]
fn v_17_a_retrieval_without_messages_is_complete() {
    let mut bench = Bench::in_service();
    retrieve_bsn(&mut bench);
    retrieve_messages(&mut bench);
    bench.expect(FIRST, kind::RETRIEVAL_COMPLETE_INDICATION);
    bench.assert_quiet(FIRST);
}

/// Messages that were not acknowledged are retrieved, in their order.
#[test]
fn v_18_messages_are_retrieved() {
    let mut bench = Bench::in_service();
    for _ in 0..10 {
        bench.send(FIRST, 1, data(1));
    }
    retrieve_bsn(&mut bench);
    retrieve_messages(&mut bench);
    for _ in 0..10 {
        let indication = bench.expect(FIRST, kind::RETRIEVAL_INDICATION);
        assert_eq!(indication.own().next(), Some(&M2uaParameter::ProtocolData(Bytes::from_static(UNIT))));
    }
    bench.expect(FIRST, kind::RETRIEVAL_COMPLETE_INDICATION);
}

/// Data go both ways over an established link.
#[test]
fn v_19_data_go_both_ways() {
    let mut bench = Bench::in_service();
    received(&mut bench);
    bench.send(FIRST, 1, data(1));
    assert_eq!(bench.links[&1].sent, [Bytes::from_static(UNIT)]);
}

/// Data on stream 0 are refused.
#[test]
fn iv_01_data_on_stream_0_are_refused() {
    let mut bench = Bench::in_service();
    bench.send_octets(FIRST, 0, Message::Own(data(1)).to_bytes().to_vec());
    bench.expect_error(FIRST, ErrorCode::INVALID_STREAM_IDENTIFIER);
    assert!(bench.links[&1].sent.is_empty());
}

/// A State Request for an interface that is not configured is refused, and the ERR names it.
#[test]
fn iv_02_a_request_for_an_unknown_interface_is_refused() {
    let mut bench = Bench::new(&Plan::default());
    bench.active(FIRST, 1);
    let state = M2uaParameter::StateRequest(LinkState::FlushBuffers);
    bench.send(FIRST, 1, about(NOWHERE, kind::STATE_REQUEST).with(state));
    let scope = bench.expect_error(FIRST, ErrorCode::INVALID_INTERFACE_IDENTIFIER);
    assert_eq!(scope, interfaces(&[NOWHERE]));
}
