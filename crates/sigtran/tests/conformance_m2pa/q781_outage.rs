//! Q.781, section 4 and 8.9: processor outage.

use slantpath_base::Duration;
use slantpath_sigtran::m2pa::{LinkState, LinkStatus};
use slantpath_ss7::link::{LinkIndication, LinkRequest};

use crate::bench::{Bench, NONE, Sent};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn case_4_1a() {
    let mut bench = Bench::in_service();
    bench.data(0, NONE);
    bench.expect(Sent::Ack { fsn: NONE, bsn: 0 });
    bench.expect_delivered(0);
    bench.send_msu(0);
    bench.send_msu(1);
    bench.expect_all(&[Sent::Data { fsn: 0, bsn: 0 }, Sent::Data { fsn: 1, bsn: 0 }]);
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.expect(Sent::ProcessorOutage);
    bench.data(1, NONE);
    bench.ack(1, 0);
    bench.data(2, 0);
    bench.expect_nothing_sent();
    bench.expect_no_indication();
    bench.request(LinkRequest::FlushBuffers);
    bench.request(LinkRequest::LocalProcessorRecovered);
    bench.send_msu(2);
    bench.expect(Sent::ProcessorRecovered { fsn: 1, bsn: 0 });
    // Sent before the peer knew of the recovery.
    bench.data(3, 0);
    bench.expect_nothing_sent();
    bench.in_sequence(LinkStatus::Ready, 0, 0);
    bench.expect(Sent::ReadyInSequence { fsn: 0, bsn: 0 });
    // Our second message was flushed, so its number is the next.
    bench.expect(Sent::Data { fsn: 1, bsn: 0 });
    bench.data(1, 0);
    bench.expect(Sent::Ack { fsn: 1, bsn: 1 });
    bench.expect_delivered(1);
    bench.ack(1, 1);
    bench.expect_quiet(SECOND * 10);
    assert_eq!(bench.link.state(), LinkState::InService);
}

#[test]
fn case_4_1b() {
    let mut bench = Bench::in_service();
    bench.data(0, NONE);
    bench.expect(Sent::Ack { fsn: NONE, bsn: 0 });
    bench.expect_delivered(0);
    bench.send_msu(0);
    bench.send_msu(1);
    bench.expect_all(&[Sent::Data { fsn: 0, bsn: 0 }, Sent::Data { fsn: 1, bsn: 0 }]);
    bench.ack(0, 0);
    bench.in_sequence(LinkStatus::ProcessorOutage, 0, 0);
    bench.expect_indication(&LinkIndication::RemoteProcessorOutage);
    bench.data(1, 0);
    bench.expect(Sent::Ack { fsn: 1, bsn: 1 });
    bench.expect_delivered(1);
    // Level 3 wants none of what the peer had not taken, and gives a message afterwards.
    bench.request(LinkRequest::FlushBuffers);
    bench.send_msu(2);
    // No acknowledgement of the second message is waited for: T7 does not expire.
    bench.expect_quiet(SECOND * 3);
    bench.in_sequence(LinkStatus::ProcessorRecovered, 1, 0);
    bench.expect(Sent::ReadyInSequence { fsn: 0, bsn: 1 });
    bench.expect_indication(&LinkIndication::RemoteProcessorRecovered);
    bench.expect_nothing_sent();
    bench.request(LinkRequest::Continue);
    bench.expect(Sent::Data { fsn: 1, bsn: 1 });
    bench.ack(1, 1);
    bench.data(2, 1);
    bench.expect(Sent::Ack { fsn: 1, bsn: 2 });
    bench.expect_delivered(2);
    bench.expect_quiet(SECOND * 10);
}

#[test]
fn case_4_2() {
    let mut bench = Bench::in_service();
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.expect(Sent::ProcessorOutage);
    bench.in_sequence(LinkStatus::ProcessorOutage, NONE, NONE);
    bench.expect_indication(&LinkIndication::RemoteProcessorOutage);
    bench.in_sequence(LinkStatus::ProcessorRecovered, NONE, NONE);
    bench.expect(Sent::ReadyInSequence { fsn: NONE, bsn: NONE });
    bench.expect_indication(&LinkIndication::RemoteProcessorRecovered);
    bench.expect_quiet(SECOND * 100);
    assert_eq!(bench.link.state(), LinkState::ProcessorOutage);
}

#[test]
fn case_4_3() {
    let mut bench = Bench::in_service();
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.expect(Sent::ProcessorOutage);
    bench.in_sequence(LinkStatus::ProcessorOutage, NONE, NONE);
    bench.expect_indication(&LinkIndication::RemoteProcessorOutage);
    bench.request(LinkRequest::LocalProcessorRecovered);
    bench.expect(Sent::ProcessorRecovered { fsn: NONE, bsn: NONE });
    bench.in_sequence(LinkStatus::Ready, NONE, NONE);
    bench.expect(Sent::ReadyInSequence { fsn: NONE, bsn: NONE });
    bench.in_sequence(LinkStatus::ProcessorRecovered, NONE, NONE);
    bench.expect(Sent::ReadyInSequence { fsn: NONE, bsn: NONE });
    bench.expect_indication(&LinkIndication::RemoteProcessorRecovered);
    bench.request(LinkRequest::Continue);
    bench.expect_quiet(SECOND * 100);
    assert_eq!(bench.link.state(), LinkState::InService);
}

#[test]
fn case_8_9a() {
    let mut bench = Bench::in_service();
    bench.in_sequence(LinkStatus::ProcessorOutage, NONE, NONE);
    bench.expect_indication(&LinkIndication::RemoteProcessorOutage);
    bench.data(0, NONE);
    bench.expect(Sent::Ack { fsn: NONE, bsn: 0 });
    bench.expect_delivered(0);
    bench.in_sequence(LinkStatus::ProcessorRecovered, 0, NONE);
    bench.expect(Sent::ReadyInSequence { fsn: NONE, bsn: 0 });
    bench.expect_indication(&LinkIndication::RemoteProcessorRecovered);
    bench.data(1, NONE);
    bench.expect(Sent::Ack { fsn: NONE, bsn: 1 });
    bench.expect_delivered(1);
    bench.expect_quiet(SECOND * 100);
}

#[test]
fn case_8_9b() {
    let mut bench = Bench::in_service();
    bench.send_msu(0);
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.expect_all(&[Sent::Data { fsn: 0, bsn: NONE }, Sent::ProcessorOutage]);
    bench.ack(NONE, 0);
    bench.request(LinkRequest::LocalProcessorRecovered);
    bench.request(LinkRequest::Continue);
    bench.expect(Sent::ProcessorRecovered { fsn: 0, bsn: NONE });
    bench.in_sequence(LinkStatus::Ready, NONE, 0);
    bench.expect(Sent::ReadyInSequence { fsn: 0, bsn: NONE });
    bench.send_msu(1);
    bench.expect(Sent::Data { fsn: 1, bsn: NONE });
    bench.ack(NONE, 1);
    bench.expect_quiet(SECOND * 100);
}
