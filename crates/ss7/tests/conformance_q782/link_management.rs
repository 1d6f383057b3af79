//! 1: signalling link management.

use slantpath_ss7::PointCode;
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use slantpath_ss7::mtp3::node::{LinkActivity, Mtp3LinkId, Mtp3Timer};
use slantpath_ss7::transfer::TransferIndication;

use crate::tester::{B, Tester, configuration_a};

#[test]
fn q782_1_1_first_link_activation() {
    let mut tester = Tester::new(configuration_a(2));
    assert!(!tester.node.is_accessible(PointCode(B)), "a route that was never up is not available");
    tester.node.activate(tester.now, Mtp3LinkId(0));
    tester.said();
    assert_eq!(tester.requests, [(0, LinkRequest::Start)]);
    assert!(tester.is_available(0) && !tester.is_available(1));
    assert_eq!(tester.indications, [TransferIndication::Resume(PointCode(B))]);
    tester.send_all(B);
    assert_eq!(tester.links_used(), [0]);
}

#[test]
fn q782_1_2_link_set_deactivation() {
    let mut tester = Tester::ready(configuration_a(2));
    tester.node.deactivate(tester.now, Mtp3LinkId(1));
    tester.send_all(B);
    tester.node.deactivate(tester.now, Mtp3LinkId(0));
    // B does not answer the order about link 1, and there is no way to send one about link 0.
    let deactivated = tester.now;
    tester.expire(Mtp3Timer::T1);
    tester.expire_since(deactivated, Mtp3Timer::T2);
    assert!(
        tester.requests.contains(&(0, LinkRequest::Stop))
            && tester.requests.contains(&(1, LinkRequest::Stop))
    );
    assert_eq!(tester.indications, [TransferIndication::Pause(PointCode(B))]);
    for link in [0, 1] {
        assert_eq!(tester.node.link_activity(Mtp3LinkId(link)), LinkActivity::Inactive);
    }
}

#[test]
fn q782_1_3_link_set_activation() {
    let mut tester = Tester::new(configuration_a(3));
    tester.activate_all();
    assert!((0..3).all(|link| tester.is_available(link)));
    tester.expire(Mtp3Timer::T4);
    tester.expire(Mtp3Timer::T5);
    tester.send_all(B);
    assert_eq!(tester.links_used(), [0, 1, 2]);
}

#[test]
fn q782_1_4_alignment_that_fails_is_tried_again_after_t17() {
    let mut tester = Tester::new(configuration_a(1));
    tester.aligns = false;
    tester.node.activate(tester.now, Mtp3LinkId(0));
    tester.link(0, LinkIndication::OutOfService(OutOfServiceReason::AlignmentNotPossible));
    assert_eq!(tester.node.link_activity(Mtp3LinkId(0)), LinkActivity::Waiting);
    assert_eq!(tester.requests.len(), 1);
    tester.aligns = true;
    tester.expire(Mtp3Timer::T17);
    let again = [LinkRequest::Start, LinkRequest::Emergency, LinkRequest::Start].map(|request| (0, request));
    assert_eq!(tester.requests, again, "the link set has no other link");
    assert!(tester.is_available(0));
}

#[test]
fn q782_1_5_failed_link_is_restored_by_itself() {
    let mut tester = Tester::ready(configuration_a(2));
    tester.link(0, LinkIndication::OutOfService(OutOfServiceReason::BearerFailed));
    tester.say(1, B, 0, slantpath_ss7::mtp3::ManagementMessage::Coa(slantpath_ss7::mtp3::Fsn(0)));
    let restored = [LinkRequest::EmergencyCeases, LinkRequest::Start].map(|request| (0, request));
    assert!(tester.requests.ends_with(&restored), "{:?}", tester.requests);
    assert!(tester.is_available(0));
}
