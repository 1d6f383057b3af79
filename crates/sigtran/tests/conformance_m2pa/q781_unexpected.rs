//! Q.781, section 2: what means nothing in a state is ignored there.

use slantpath_base::Duration;
use slantpath_sigtran::m2pa::{AlignmentState, LinkState, LinkStatus};
use slantpath_ss7::link::{LinkIndication, LinkRequest};

use crate::bench::{Bench, NONE, Sent, proving_emergency, proving_normal};

const T4: Duration = Duration::from_secs(8);

/// Sends these, then a status that does not exist and messages of an invalid class and type; says nothing may come
/// of it.
fn ignore(bench: &mut Bench, statuses: &[LinkStatus], user_data: bool, requests: &[LinkRequest]) {
    let (state, alignment) = (bench.link.state(), bench.link.alignment_state());
    for status in statuses {
        bench.status(status.clone());
    }
    let malformed = bench.link.counters().discarded.malformed;
    for (at, value) in [(19, 10), (2, 12), (3, 3)] {
        let mut octets = vec![1, 0, 11, 2, 0, 0, 0, 20, 0, 255, 255, 255, 0, 255, 255, 255, 0, 0, 0, 4];
        octets[at] = value;
        bench.peer_sends_octets(0, octets);
    }
    assert_eq!(bench.link.counters().discarded.malformed, malformed + 3);
    if user_data {
        bench.ack(NONE, NONE);
        bench.data(0, NONE);
    }
    for request in requests {
        bench.request(request.clone());
    }
    bench.expect_nothing_sent();
    bench.expect_no_indication();
    assert_eq!((bench.link.state(), bench.link.alignment_state()), (state, alignment));
}

const SURPRISES: [LinkStatus; 5] = [
    LinkStatus::ProcessorRecovered,
    LinkStatus::ProcessorOutage,
    LinkStatus::BusyEnded,
    LinkStatus::Busy,
    LinkStatus::Ready,
];

fn prove_and_serve(bench: &mut Bench) {
    bench.status(proving_normal());
    bench.wait(T4);
    bench.expect(Sent::Ready);
    bench.become_in_service();
    bench.expect_quiet(Duration::from_secs(10));
}

#[test]
fn case_2_1() {
    let mut bench = Bench::out_of_service();
    ignore(&mut bench, &[LinkStatus::Alignment, proving_normal(), proving_emergency()], false, &[]);
    ignore(&mut bench, &SURPRISES, true, &[LinkRequest::Stop]);
    bench.align();
    bench.expect(Sent::ProvingNormal);
    prove_and_serve(&mut bench);
}

#[test]
fn case_2_2() {
    let mut bench = Bench::out_of_service();
    bench.start();
    ignore(&mut bench, &[LinkStatus::OutOfService], false, &[]);
    ignore(&mut bench, &SURPRISES, true, &[LinkRequest::EmergencyCeases, LinkRequest::Start]);
    bench.status(LinkStatus::Alignment);
    bench.expect(Sent::ProvingNormal);
    prove_and_serve(&mut bench);
}

#[test]
fn case_2_3() {
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.expect(Sent::ProvingNormal);
    ignore(&mut bench, &[LinkStatus::Alignment], false, &[]);
    ignore(&mut bench, &SURPRISES, true, &[LinkRequest::EmergencyCeases, LinkRequest::Start]);
    prove_and_serve(&mut bench);
}

#[test]
fn case_2_4() {
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.expect(Sent::ProvingNormal);
    bench.status(proving_normal());
    assert_eq!(bench.link.alignment_state(), AlignmentState::Proving);
    ignore(&mut bench, &SURPRISES, true, &[LinkRequest::EmergencyCeases, LinkRequest::Start]);
    bench.wait(T4);
    bench.expect(Sent::Ready);
    bench.become_in_service();
}

const REQUESTS: [LinkRequest; 4] = [
    LinkRequest::Emergency,
    LinkRequest::EmergencyCeases,
    LinkRequest::LocalProcessorRecovered,
    LinkRequest::Start,
];

#[test]
fn case_2_5() {
    let mut bench = Bench::out_of_service();
    bench.prove();
    bench.expect(Sent::Ready);
    let statuses = [LinkStatus::ProcessorRecovered, LinkStatus::BusyEnded, LinkStatus::Busy];
    ignore(&mut bench, &statuses, false, &REQUESTS);
    bench.become_in_service();
}

#[test]
fn case_2_6() {
    let mut bench = Bench::out_of_service();
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.prove();
    bench.expect(Sent::ProcessorOutage);
    let statuses = [LinkStatus::ProcessorRecovered, LinkStatus::BusyEnded, LinkStatus::Busy];
    let requests = [
        LinkRequest::Emergency,
        LinkRequest::EmergencyCeases,
        LinkRequest::LocalProcessorOutage,
        LinkRequest::Start,
    ];
    ignore(&mut bench, &statuses, false, &requests);
    bench.status(LinkStatus::Ready);
    bench.expect(Sent::ProcessorOutage);
    bench.expect_indication(&LinkIndication::InService);
}

#[test]
fn case_2_7() {
    let mut bench = Bench::in_service();
    ignore(&mut bench, &[LinkStatus::ProcessorRecovered, LinkStatus::BusyEnded], false, &REQUESTS);
    bench.expect_quiet(Duration::from_secs(100));
    assert_eq!(bench.link.state(), LinkState::InService);
}

#[test]
fn case_2_8() {
    let mut bench = Bench::in_service();
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.expect(Sent::ProcessorOutage);
    let statuses = [
        LinkStatus::ProcessorRecovered,
        LinkStatus::BusyEnded,
        LinkStatus::Busy,
        LinkStatus::Ready,
        LinkStatus::ProcessorRecovered,
        LinkStatus::BusyEnded,
    ];
    ignore(
        &mut bench,
        &statuses,
        false,
        &[LinkRequest::Emergency, LinkRequest::EmergencyCeases, LinkRequest::Start],
    );
    bench.in_sequence(LinkStatus::Ready, NONE, NONE);
    bench.expect_quiet(Duration::from_secs(100));
    assert_eq!(bench.link.state(), LinkState::ProcessorOutage);
}
