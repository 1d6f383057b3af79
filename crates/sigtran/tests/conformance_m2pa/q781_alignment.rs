//! Q.781, section 1: the expected course of alignment (0.2.7, 1.1 to 1.17), and 1.33 to 1.35.

use slantpath_base::Duration;
use slantpath_sigtran::m2pa::{LinkState, LinkStatus, OutageState};
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};

use crate::bench::{Bench, NONE, Sent, config, proving_normal};

const SECOND: Duration = Duration::from_secs(1);
const T1: Duration = Duration::from_secs(45);
const T4: Duration = Duration::from_secs(8);

/// Started, heard, and at the end of proving, if it is not omitted; what the link then sends is not yet taken.
fn complete(bench: &mut Bench, proves: bool) {
    bench.align();
    if proves {
        bench.expect(Sent::ProvingNormal);
        bench.status(proving_normal());
        bench.wait(T4);
    }
}

fn bench(proves: bool) -> Bench {
    if proves { Bench::out_of_service() } else { Bench::without_proving() }
}

#[test]
fn case_0_2_7() {
    let mut bench = Bench::powered_off(config());
    bench.power_on();
    bench.expect(Sent::OutOfService);
    assert_eq!(bench.link.state(), LinkState::OutOfService);
}

#[test]
fn case_1_1a() {
    let mut bench = Bench::powered_off(config());
    bench.power_on();
    bench.status(LinkStatus::OutOfService);
    bench.expect(Sent::OutOfService);
    bench.expect_quiet(SECOND * 100);
    assert_eq!(bench.link.state(), LinkState::OutOfService);
}

#[test]
fn case_1_1b() {
    let mut bench = Bench::powered_off(config());
    bench.power_on();
    bench.expect(Sent::OutOfService);
    bench.wait(SECOND);
    bench.status(LinkStatus::OutOfService);
    bench.expect_quiet(SECOND * 100);
    assert_eq!(bench.link.state(), LinkState::OutOfService);
}

#[test]
fn case_1_2() {
    let mut bench = Bench::out_of_service();
    bench.start();
    bench.status(LinkStatus::OutOfService);
    bench.expire(SECOND * 5);
    bench.expect(Sent::OutOfService);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::AlignmentNotPossible));
}

#[test]
fn case_1_3() {
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.expect(Sent::ProvingNormal);
    bench.expire(SECOND);
    bench.expect(Sent::OutOfService);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::AlignmentNotPossible));
}

#[test]
fn case_1_4() {
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.expect(Sent::ProvingNormal);
    bench.status(proving_normal());
    bench.expire(T4);
    bench.expect(Sent::Ready);
    bench.expire(T1);
    bench.expect(Sent::OutOfService);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::PeerNotReady));
}

fn normal_alignment(proves: bool) {
    let mut bench = bench(proves);
    complete(&mut bench, proves);
    bench.expect(Sent::Ready);
    bench.become_in_service();
    bench.expect_quiet(SECOND * 100);
    assert_eq!(bench.link.state(), LinkState::InService);
}

#[test]
fn case_1_5a() {
    normal_alignment(true);
}

#[test]
fn case_1_5b() {
    // In the other direction the peer begins.
    let mut bench = Bench::out_of_service();
    bench.status(LinkStatus::Alignment);
    bench.start();
    bench.status(proving_normal());
    bench.expect(Sent::ProvingNormal);
    bench.status(proving_normal());
    bench.wait(T4);
    bench.expect(Sent::Ready);
    bench.become_in_service();
    bench.expect_quiet(SECOND * 100);
}

#[test]
fn case_1_5a_np() {
    normal_alignment(false);
}

#[test]
fn case_1_5b_np() {
    // The peer's Alignment came before the start: its Ready says that it has heard ours.
    let mut bench = Bench::without_proving();
    bench.status(LinkStatus::Alignment);
    bench.start();
    bench.status(LinkStatus::Ready);
    bench.expect_all(&[Sent::Ready, Sent::Ready]);
    bench.expect_indication(&LinkIndication::InService);
    bench.expect_quiet(SECOND * 100);
}

fn user_data_instead_of_ready(proves: bool) {
    let mut bench = bench(proves);
    complete(&mut bench, proves);
    bench.expect(Sent::Ready);
    bench.data(0, NONE);
    bench.expect(Sent::Ready);
    bench.expect(Sent::Ack { fsn: NONE, bsn: 0 });
    bench.expect_indication(&LinkIndication::InService);
    bench.expect_delivered(0);
    bench.expect_quiet(SECOND * 100);
}

#[test]
fn case_1_6() {
    user_data_instead_of_ready(true);
}

#[test]
fn case_1_6_np() {
    user_data_instead_of_ready(false);
}

#[test]
fn case_1_7() {
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.expect(Sent::ProvingNormal);
    bench.status(proving_normal());
    bench.wait(T4 / 2);
    bench.status(LinkStatus::Alignment);
    bench.status(proving_normal());
    bench.expire(T4);
    bench.expect(Sent::Ready);
}

fn local_outage_before_start(proves: bool) -> Bench {
    let mut bench = bench(proves);
    bench.request(LinkRequest::LocalProcessorOutage);
    complete(&mut bench, proves);
    bench.expect(Sent::ProcessorOutage);
    bench
}

fn aligned_with_local_outage(proves: bool) {
    let mut bench = local_outage_before_start(proves);
    bench.status(LinkStatus::Ready);
    bench.expect(Sent::ProcessorOutage);
    bench.expect_indication(&LinkIndication::InService);
    bench.expect_quiet(SECOND * 100);
    assert_eq!(bench.link.state(), LinkState::ProcessorOutage);
}

#[test]
fn case_1_8a() {
    aligned_with_local_outage(true);
}

#[test]
fn case_1_8a_np() {
    aligned_with_local_outage(false);
}

fn aligned_with_remote_outage(proves: bool) {
    let mut bench = bench(proves);
    complete(&mut bench, proves);
    bench.expect(Sent::Ready);
    bench.status(LinkStatus::ProcessorOutage);
    bench.expect(Sent::Ready);
    bench.expect_indication(&LinkIndication::RemoteProcessorOutage);
    bench.expect_quiet(SECOND * 100);
    assert_eq!(bench.link.outage_state(), OutageState::RemoteOutage);
}

#[test]
fn case_1_8b() {
    aligned_with_remote_outage(true);
}

#[test]
fn case_1_8b_np() {
    aligned_with_remote_outage(false);
}

fn user_data_during_local_outage(proves: bool) {
    let mut bench = local_outage_before_start(proves);
    bench.data(0, NONE);
    bench.expect(Sent::ProcessorOutage);
    bench.expect_indication(&LinkIndication::InService);
    bench.expect_quiet(SECOND * 100);
    assert_eq!((bench.link.state(), bench.link.held()), (LinkState::ProcessorOutage, 1));
}

#[test]
fn case_1_9a() {
    user_data_during_local_outage(true);
}

#[test]
fn case_1_9a_np() {
    user_data_during_local_outage(false);
}

fn user_data_ends_proving(proves: bool) {
    let mut bench = bench(proves);
    bench.start();
    bench.send_msu(0);
    bench.status(LinkStatus::Alignment);
    if proves {
        bench.expect(Sent::ProvingNormal);
        bench.status(proving_normal());
        bench.wait(T4);
    }
    bench.expect(Sent::Data { fsn: 0, bsn: NONE });
    bench.status(LinkStatus::ProcessorOutage);
    bench.expect(Sent::Ready);
    bench.expect_indication(&LinkIndication::RemoteProcessorOutage);
    // Nobody acknowledges the message, and that is no failure.
    bench.expect_quiet(SECOND * 100);
    assert_eq!(bench.link.state(), LinkState::ProcessorOutage);
}

#[test]
fn case_1_9b() {
    user_data_ends_proving(true);
}

#[test]
fn case_1_9b_np() {
    user_data_ends_proving(false);
}

fn outage_set_and_cleared(proves: bool) {
    let mut bench = bench(proves);
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.request(LinkRequest::LocalProcessorRecovered);
    complete(&mut bench, proves);
    bench.expect(Sent::Ready);
    bench.become_in_service();
}

#[test]
fn case_1_10() {
    outage_set_and_cleared(true);
}

#[test]
fn case_1_10_np() {
    outage_set_and_cleared(false);
}

fn both_outages(proves: bool) {
    let mut bench = local_outage_before_start(proves);
    bench.status(LinkStatus::ProcessorOutage);
    bench.expect(Sent::ProcessorOutage);
    bench.expect_indication(&LinkIndication::RemoteProcessorOutage);
    assert_eq!(bench.link.outage_state(), OutageState::BothOutages);
}

#[test]
fn case_1_11() {
    both_outages(true);
}

#[test]
fn case_1_11_np() {
    both_outages(false);
}

fn peer_stops_when_aligned_not_ready(proves: bool) {
    let mut bench = local_outage_before_start(proves);
    bench.status(LinkStatus::OutOfService);
    bench.expect_failure(OutOfServiceReason::PeerOutOfService);
}

#[test]
fn case_1_12a() {
    peer_stops_when_aligned_not_ready(true);
}

#[test]
fn case_1_12a_np() {
    peer_stops_when_aligned_not_ready(false);
}

fn stop_while_the_peer_is_not_ready(proves: bool) {
    let mut bench = bench(proves);
    complete(&mut bench, proves);
    bench.expect(Sent::Ready);
    bench.status(LinkStatus::ProcessorOutage);
    bench.expect(Sent::Ready);
    bench.expect_indication(&LinkIndication::RemoteProcessorOutage);
    bench.request(LinkRequest::Stop);
    bench.expect_failure(OutOfServiceReason::Stopped);
}

#[test]
fn case_1_12b() {
    stop_while_the_peer_is_not_ready(true);
}

#[test]
fn case_1_12b_np() {
    stop_while_the_peer_is_not_ready(false);
}

fn alignment_when_aligned_not_ready(proves: bool) {
    let mut bench = local_outage_before_start(proves);
    bench.status(LinkStatus::Alignment);
    bench.expect_failure(OutOfServiceReason::PeerOutOfService);
}

#[test]
fn case_1_13() {
    alignment_when_aligned_not_ready(true);
}

#[test]
fn case_1_13_np() {
    alignment_when_aligned_not_ready(false);
}

#[test]
fn case_1_14() {
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.expect(Sent::ProvingNormal);
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.status(proving_normal());
    bench.wait(SECOND);
    bench.request(LinkRequest::LocalProcessorRecovered);
    bench.wait(T4);
    bench.expect(Sent::Ready);
    bench.become_in_service();
}

fn outage_when_aligned_ready(proves: bool) {
    let mut bench = bench(proves);
    complete(&mut bench, proves);
    bench.expect(Sent::Ready);
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.expect(Sent::ProcessorOutage);
    bench.status(LinkStatus::Ready);
    bench.expect(Sent::ProcessorOutage);
    bench.expect_indication(&LinkIndication::InService);
    bench.request(LinkRequest::LocalProcessorRecovered);
    bench.request(LinkRequest::Continue);
    bench.expect(Sent::ProcessorRecovered { fsn: NONE, bsn: NONE });
    bench.in_sequence(LinkStatus::Ready, NONE, NONE);
    bench.expect(Sent::ReadyInSequence { fsn: NONE, bsn: NONE });
    bench.expect_quiet(SECOND * 100);
    assert_eq!(bench.link.state(), LinkState::InService);
}

#[test]
fn case_1_15() {
    outage_when_aligned_ready(true);
}

#[test]
fn case_1_15_np() {
    outage_when_aligned_ready(false);
}

fn t1_when_aligned_not_ready(proves: bool) {
    let mut bench = local_outage_before_start(proves);
    bench.expire(T1);
    bench.expect(Sent::OutOfService);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::PeerNotReady));
}

#[test]
fn case_1_16() {
    t1_when_aligned_not_ready(true);
}

#[test]
fn case_1_16_np() {
    t1_when_aligned_not_ready(false);
}

#[test]
fn case_1_17() {
    let mut bench = Bench::out_of_service();
    bench.start();
    bench.status(proving_normal());
    bench.expect(Sent::ProvingNormal);
    bench.wait(SECOND / 2);
    bench.status(proving_normal());
    bench.expire(T4);
    bench.expect(Sent::Ready);
}

/// Aligned ready, when something else comes than Ready.
fn aligned_ready() -> Bench {
    let mut bench = Bench::out_of_service();
    bench.prove();
    bench.expect(Sent::Ready);
    bench
}

#[test]
fn case_1_33() {
    let mut bench = aligned_ready();
    bench.status(LinkStatus::Alignment);
    bench.expect_failure(OutOfServiceReason::PeerOutOfService);
}

#[test]
fn case_1_34() {
    let mut bench = aligned_ready();
    bench.status(LinkStatus::OutOfService);
    bench.expect_failure(OutOfServiceReason::PeerOutOfService);
}

#[test]
fn case_1_35() {
    let mut bench = aligned_ready();
    bench.status(LinkStatus::ProcessorOutage);
    bench.expect(Sent::Ready);
    bench.expect_indication(&LinkIndication::RemoteProcessorOutage);
    bench.expect_quiet(SECOND * 100);
}
