//! Q.781, section 1: what ends a link, in each state (1.25 to 1.32).

use slantpath_base::Duration;
use slantpath_sigtran::m2pa::LinkStatus;
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};

use crate::bench::{Bench, Sent, proving_normal};

fn stop(bench: &mut Bench) {
    bench.request(LinkRequest::Stop);
    bench.expect_failure(OutOfServiceReason::Stopped);
}

fn peer_stops(bench: &mut Bench) {
    bench.status(LinkStatus::OutOfService);
    bench.expect_failure(OutOfServiceReason::PeerOutOfService);
}

#[test]
fn case_1_25() {
    let mut bench = Bench::out_of_service();
    bench.start();
    stop(&mut bench);
}

#[test]
fn case_1_26() {
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.expect(Sent::ProvingNormal);
    stop(&mut bench);
}

#[test]
fn case_1_27() {
    let mut bench = Bench::out_of_service();
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.prove();
    bench.expect(Sent::ProcessorOutage);
    stop(&mut bench);
}

#[test]
fn case_1_27_np() {
    let mut bench = Bench::without_proving();
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.align();
    bench.expect(Sent::ProcessorOutage);
    stop(&mut bench);
}

#[test]
fn case_1_28() {
    let mut bench = Bench::in_service();
    bench.status(LinkStatus::Alignment);
    bench.expect_failure(OutOfServiceReason::PeerOutOfService);
}

#[test]
fn case_1_29a() {
    peer_stops(&mut Bench::in_service());
}

#[test]
fn case_1_29b() {
    let mut bench = Bench::in_service();
    bench.request(LinkRequest::Stop);
    bench.status(LinkStatus::OutOfService);
    bench.expect_failure(OutOfServiceReason::Stopped);
}

fn local_outage() -> Bench {
    let mut bench = Bench::in_service();
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.expect(Sent::ProcessorOutage);
    bench
}

fn remote_outage() -> Bench {
    let mut bench = Bench::in_service();
    bench.status(LinkStatus::ProcessorOutage);
    bench.expect_indication(&LinkIndication::RemoteProcessorOutage);
    bench
}

#[test]
fn case_1_30a() {
    stop(&mut local_outage());
}

#[test]
fn case_1_30b() {
    peer_stops(&mut remote_outage());
}

#[test]
fn case_1_31a() {
    stop(&mut remote_outage());
}

#[test]
fn case_1_31b() {
    // As the program of the description has it: level 3 is told at once, outage or not.
    peer_stops(&mut local_outage());
}

fn proving() -> Bench {
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.expect(Sent::ProvingNormal);
    bench.status(proving_normal());
    bench.wait(Duration::from_secs(3));
    bench
}

#[test]
fn case_1_32a() {
    let mut bench = proving();
    bench.status(LinkStatus::OutOfService);
    bench.expect_failure(OutOfServiceReason::AlignmentNotPossible);
}

#[test]
fn case_1_32b() {
    stop(&mut proving());
}
