//! TS 101 591: messages, acknowledgements, flow control and processor outage, then invalid headers.

use slantpath_base::Duration;
use slantpath_sigtran::m2pa::{Body, LinkState, LinkStatus};
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};

use crate::bench::{Bench, NONE, Sent, msu};

const SECOND: Duration = Duration::from_secs(1);

/// In service, with one message under way to the peer.
fn one_sent() -> Bench {
    let mut bench = Bench::in_service();
    bench.send_msu(0);
    bench.expect(Sent::Data { fsn: 0, bsn: NONE });
    bench
}

#[test]
fn m2pa_msg_v_01() {
    let mut bench = one_sent();
    // The peer's message does not acknowledge ours.
    bench.data(0, NONE);
    bench.expect_delivered(0);
    bench.expect(Sent::Ack { fsn: 0, bsn: 0 });
    bench.wait(SECOND);
    bench.expect_failure(OutOfServiceReason::AcknowledgementTimeout);
}

#[test]
fn m2pa_msg_v_02() {
    let mut bench = one_sent();
    bench.data(0, 0);
    bench.expect_delivered(0);
    bench.expect(Sent::Ack { fsn: 0, bsn: 0 });
    bench.expect_quiet(SECOND * 10);
}

#[test]
fn m2pa_msg_v_03() {
    let mut bench = one_sent();
    bench.ack(NONE, 0);
    bench.expect_quiet(SECOND * 10);
}

#[test]
fn m2pa_msg_v_04() {
    let mut bench = Bench::in_service();
    // Level 3 answers the message at once: the answer carries the acknowledgement, and no other is sent.
    bench.data_answered_by(0, NONE, 0);
    bench.expect_delivered(0);
    bench.expect(Sent::Data { fsn: 0, bsn: 0 });
    bench.expect_nothing_sent();
}

#[test]
fn m2pa_msg_v_05() {
    let mut bench = one_sent();
    bench.data(0, 0);
    bench.expect_delivered(0);
    bench.expect(Sent::Ack { fsn: 0, bsn: 0 });
    assert_eq!(bench.octets.last().unwrap().len(), 16);
}

/// The peer is busy and sends a message; ours waits.
fn busy_peer() -> Bench {
    let mut bench = one_sent();
    bench.status(LinkStatus::Busy);
    bench.data(0, 0);
    bench.expect_delivered(0);
    bench.send_msu(1);
    bench
}

#[test]
fn m2pa_msg_v_06() {
    let mut bench = busy_peer();
    bench.expect(Sent::Ack { fsn: 0, bsn: 0 });
    bench.expect_nothing_sent();
}

#[test]
fn m2pa_msg_v_07() {
    let mut bench = busy_peer();
    bench.expect(Sent::Ack { fsn: 0, bsn: 0 });
    bench.data(1, 0);
    bench.expect(Sent::Ack { fsn: 0, bsn: 1 });
}

#[test]
fn m2pa_msg_v_08() {
    let mut bench = busy_peer();
    bench.expect(Sent::Ack { fsn: 0, bsn: 0 });
    bench.status(LinkStatus::BusyEnded);
    bench.expect(Sent::Data { fsn: 1, bsn: 0 });
}

#[test]
fn m2pa_msg_v_09() {
    let mut bench = one_sent();
    bench.status(LinkStatus::Busy);
    bench.expire(SECOND * 4);
    bench.expect(Sent::OutOfService);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::PeerBusy));
}

/// The peer's level 3 is out and it sends a message; ours waits.
fn peer_outage() -> Bench {
    let mut bench = one_sent();
    bench.in_sequence(LinkStatus::ProcessorOutage, NONE, 0);
    bench.expect_indication(&LinkIndication::RemoteProcessorOutage);
    bench.data(0, 0);
    bench.expect_delivered(0);
    bench.send_msu(1);
    bench
}

#[test]
fn m2pa_msg_v_10() {
    let mut bench = peer_outage();
    bench.expect(Sent::Ack { fsn: 0, bsn: 0 });
    bench.expect_nothing_sent();
}

#[test]
fn m2pa_msg_v_11() {
    let mut bench = peer_outage();
    bench.expect(Sent::Ack { fsn: 0, bsn: 0 });
    bench.data(1, 0);
    bench.expect(Sent::Ack { fsn: 0, bsn: 1 });
}

#[test]
fn m2pa_msg_v_12() {
    let mut bench = peer_outage();
    bench.expect(Sent::Ack { fsn: 0, bsn: 0 });
    bench.in_sequence(LinkStatus::ProcessorRecovered, 0, 0);
    bench.expect(Sent::ReadyInSequence { fsn: 0, bsn: 0 });
    bench.expect_indication(&LinkIndication::RemoteProcessorRecovered);
}

#[test]
fn m2pa_msg_v_13() {
    let mut bench = one_sent();
    // On the wrong stream, as some peers send it.
    bench.peer_sends(0, Body::LinkStatus(LinkStatus::ProcessorOutage), NONE, 0);
    bench.data(0, 0);
    bench.send_msu(1);
    bench.expect(Sent::Ack { fsn: 0, bsn: 0 });
    bench.in_sequence(LinkStatus::ProcessorRecovered, 0, 0);
    bench.expect(Sent::ReadyInSequence { fsn: 0, bsn: 0 });
    bench.in_sequence(LinkStatus::Ready, 0, 0);
    bench.request(LinkRequest::Continue);
    bench.expect(Sent::Data { fsn: 1, bsn: 0 });
}

/// User Data with one octet of the header changed; says whether it was taken.
fn is_taken_with(at: usize, value: u8) -> bool {
    let mut bench = Bench::in_service();
    let mut octets = vec![1, 0, 11, 1, 0, 0, 0, 51, 0, 255, 255, 255, 0, 0, 0, 0, 0];
    octets.extend_from_slice(&msu(0));
    octets[at] = value;
    bench.peer_sends_octets(1, octets);
    assert_eq!(bench.link.state(), LinkState::InService);
    let counters = bench.link.counters();
    assert_eq!(counters.delivered + counters.discarded.malformed, 1);
    counters.delivered == 1
}

#[test]
fn m2pa_msg_i_01() {
    assert!(!is_taken_with(0, 2));
}

#[test]
fn m2pa_msg_i_02() {
    assert!(is_taken_with(1, 1));
}

#[test]
fn m2pa_msg_i_03() {
    assert!(!is_taken_with(2, 12));
}

#[test]
fn m2pa_msg_i_04() {
    assert!(!is_taken_with(6, 0x27));
}
