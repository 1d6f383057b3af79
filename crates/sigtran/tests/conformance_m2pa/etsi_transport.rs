//! TS 101 591: which stream carries what, and how the association is used.

use slantpath_sigtran::m2pa::LinkStatus;
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};

use crate::bench::{Bench, NONE, Sent, proving_normal};

// `Bench` takes no message from a stream that its kind does not belong on.

#[test]
fn m2pa_sctp_v_01() {
    let mut bench = Bench::in_service();
    bench.data(0, NONE);
    bench.expect_delivered(0);
    bench.expect(Sent::Ack { fsn: NONE, bsn: 0 });
    bench.send_msu(0);
    bench.expect(Sent::Data { fsn: 0, bsn: 0 });
}

#[test]
fn m2pa_sctp_v_02() {
    let mut bench = Bench::in_service();
    bench.status(LinkStatus::OutOfService);
    bench.expect(Sent::OutOfService);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::PeerOutOfService));
    // The association stays, and level 3 starts the link over it again.
    bench.start();
    bench.status(LinkStatus::Alignment);
    bench.expect(Sent::ProvingNormal);
}

#[test]
fn m2pa_sctp_v_03() {
    let mut bench = Bench::out_of_service();
    bench.start();
    bench.status(LinkStatus::Alignment);
    bench.expect(Sent::ProvingNormal);
    bench.status(proving_normal());
    bench.wait(slantpath_base::Duration::from_secs(8));
    bench.expect(Sent::Ready);
}

#[test]
fn m2pa_sctp_v_04() {
    let mut bench = Bench::in_service();
    bench.receive_congestion(true);
    bench.expect(Sent::Busy);
    bench.receive_congestion(false);
    bench.expect(Sent::BusyEnded);
}

#[test]
fn m2pa_sctp_v_05() {
    let mut bench = Bench::in_service();
    bench.send_msu(0);
    bench.expect(Sent::Data { fsn: 0, bsn: NONE });
    bench.in_sequence(LinkStatus::ProcessorOutage, NONE, 0);
    bench.in_sequence(LinkStatus::ProcessorRecovered, NONE, 0);
    bench.expect(Sent::ReadyInSequence { fsn: 0, bsn: NONE });
    bench.in_sequence(LinkStatus::Ready, NONE, 0);
    bench.expect_nothing_sent();
}

#[test]
fn m2pa_sctp_v_06() {
    let mut bench = Bench::in_service();
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.expect(Sent::ProcessorOutage);
    bench.request(LinkRequest::LocalProcessorRecovered);
    bench.expect(Sent::ProcessorRecovered { fsn: NONE, bsn: NONE });
    bench.in_sequence(LinkStatus::Ready, NONE, NONE);
    bench.expect(Sent::ReadyInSequence { fsn: NONE, bsn: NONE });
}

#[test]
fn m2pa_sctp_v_07() {
    let mut bench = Bench::in_service();
    for fsn in 0..3 {
        bench.data(fsn, NONE);
        bench.expect_delivered(u8::try_from(fsn).unwrap());
        bench.expect(Sent::Ack { fsn: NONE, bsn: fsn });
    }
}
