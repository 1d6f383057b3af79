//! Q.781, section 10: congestion of either receiver.

use slantpath_base::Duration;
use slantpath_sigtran::m2pa::{LinkState, LinkStatus};
use slantpath_ss7::link::{LinkIndication, OutOfServiceReason};

use crate::bench::{Bench, NONE, Sent};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn case_10_1() {
    let mut bench = Bench::in_service();
    bench.receive_congestion(true);
    bench.expect(Sent::Busy);
    bench.data(0, NONE);
    bench.expect_quiet(SECOND * 10);
    bench.receive_congestion(false);
    bench.expect(Sent::BusyEnded);
    bench.expect(Sent::Ack { fsn: NONE, bsn: 0 });
    bench.expect_delivered(0);
}

/// One message unacknowledged at a peer that is busy.
fn busy_peer() -> Bench {
    let mut bench = Bench::in_service();
    bench.send_msu(0);
    bench.expect(Sent::Data { fsn: 0, bsn: NONE });
    bench.status(LinkStatus::Busy);
    bench
}

#[test]
fn case_10_2a() {
    let mut bench = busy_peer();
    bench.wait(SECOND * 3);
    bench.status(LinkStatus::BusyEnded);
    bench.ack(NONE, 0);
    bench.expect_quiet(SECOND * 100);
    assert_eq!(bench.link.state(), LinkState::InService);
}

#[test]
fn case_10_2b() {
    let mut bench = busy_peer();
    bench.wait(SECOND * 3);
    bench.status(LinkStatus::BusyEnded);
    bench.expire(SECOND);
    bench.expect(Sent::OutOfService);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::AcknowledgementTimeout));
}

#[test]
fn case_10_2c() {
    let mut bench = busy_peer();
    bench.wait(SECOND * 3);
    bench.status(LinkStatus::BusyEnded);
    bench.wait(SECOND / 2);
    bench.ack(NONE, 0);
    bench.expect_quiet(SECOND * 100);
    assert_eq!(bench.link.state(), LinkState::InService);
}

#[test]
fn case_10_3() {
    let mut bench = busy_peer();
    bench.send_msu(1);
    bench.wait(SECOND * 2);
    // T6 has half of its 4 s to go: Busy again does not start it again.
    bench.status(LinkStatus::Busy);
    bench.expire(SECOND * 2);
    bench.expect(Sent::OutOfService);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::PeerBusy));
}
