//! Q.781, section 3: failures of what carries the link. SCTP has no transmit path of its own to break: the association
//! is aborted. M2PA has no forward indicator bits to corrupt: acknowledgements that explain nothing stand for them.

use slantpath_base::Duration;
use slantpath_sigtran::m2pa::LinkState;
use slantpath_sigtran::transport::TransportInput;
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};

use crate::bench::{Bench, NONE, Sent};

/// A backward sequence number that no message has had.
const UNREASONABLE: u32 = 0x007f_ffff;

fn abort(mut bench: Bench) {
    bench.transport(TransportInput::Down);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::BearerFailed));
    bench.expect_quiet(Duration::from_secs(200));
    assert_eq!(bench.link.state(), LinkState::NotAssociated);
    // Back again, it stays out of service until level 3 starts it.
    bench.power_on();
    bench.expect(Sent::OutOfService);
    bench.expect_quiet(Duration::from_secs(200));
}

fn corrupt(mut bench: Bench) {
    bench.ack(NONE, UNREASONABLE);
    bench.expect_nothing_sent();
    bench.expect_no_indication();
    bench.ack(NONE, UNREASONABLE);
    bench.expect_failure(OutOfServiceReason::AbnormalSequence);
}

fn aligned_ready() -> Bench {
    let mut bench = Bench::out_of_service();
    bench.prove();
    bench.expect(Sent::Ready);
    bench
}

fn aligned_not_ready() -> Bench {
    let mut bench = Bench::out_of_service();
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.prove();
    bench.expect(Sent::ProcessorOutage);
    bench
}

fn processor_outage() -> Bench {
    let mut bench = Bench::in_service();
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.expect(Sent::ProcessorOutage);
    bench
}

#[test]
fn case_3_1() {
    abort(aligned_ready());
}

#[test]
fn case_3_2() {
    corrupt(aligned_ready());
}

#[test]
fn case_3_3() {
    abort(aligned_not_ready());
}

#[test]
fn case_3_4() {
    corrupt(aligned_not_ready());
}

#[test]
fn case_3_5() {
    abort(Bench::in_service());
}

#[test]
fn case_3_6() {
    corrupt(Bench::in_service());
}

#[test]
fn case_3_7() {
    abort(processor_outage());
}

#[test]
fn case_3_8() {
    corrupt(processor_outage());
}
