//! Q.781, section 1: emergency alignment (1.18 to 1.24).

use slantpath_base::Duration;
use slantpath_sigtran::m2pa::LinkStatus;
use slantpath_ss7::link::LinkRequest;

use crate::bench::{Bench, Sent, proving_emergency, proving_normal};

const SECOND: Duration = Duration::from_secs(1);

fn expect_ready_after_emergency_period(bench: &mut Bench) {
    bench.expire(SECOND / 2);
    bench.expect(Sent::Ready);
}

#[test]
fn case_1_18() {
    let mut bench = Bench::out_of_service();
    bench.request(LinkRequest::Emergency);
    bench.request(LinkRequest::EmergencyCeases);
    bench.align();
    bench.expect(Sent::ProvingNormal);
    bench.status(proving_normal());
    bench.expire(SECOND * 8);
    bench.expect(Sent::Ready);
}

#[test]
fn case_1_19() {
    let mut bench = Bench::out_of_service();
    bench.start();
    bench.request(LinkRequest::Emergency);
    bench.status(LinkStatus::Alignment);
    bench.expect(Sent::ProvingEmergency);
    bench.status(proving_emergency());
    expect_ready_after_emergency_period(&mut bench);
}

#[test]
fn case_1_20() {
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.expect(Sent::ProvingNormal);
    bench.request(LinkRequest::Emergency);
    bench.expect(Sent::ProvingEmergency);
    bench.status(proving_normal());
    expect_ready_after_emergency_period(&mut bench);
}

#[test]
fn case_1_21() {
    let mut bench = Bench::out_of_service();
    bench.request(LinkRequest::Emergency);
    bench.align();
    bench.expect(Sent::ProvingEmergency);
    bench.status(proving_emergency());
    expect_ready_after_emergency_period(&mut bench);
}

#[test]
fn case_1_22() {
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.status(proving_emergency());
    bench.expect(Sent::ProvingNormal);
    expect_ready_after_emergency_period(&mut bench);
}

#[test]
fn case_1_23() {
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.expect(Sent::ProvingNormal);
    bench.status(proving_normal());
    bench.wait(SECOND * 3);
    bench.request(LinkRequest::Emergency);
    bench.expect(Sent::ProvingEmergency);
    expect_ready_after_emergency_period(&mut bench);
}

#[test]
fn case_1_24() {
    let mut bench = Bench::out_of_service();
    bench.request(LinkRequest::Emergency);
    bench.start();
    bench.status(proving_emergency());
    bench.expect(Sent::ProvingEmergency);
    bench.status(proving_emergency());
    expect_ready_after_emergency_period(&mut bench);
}
