//! 12: signalling link test.

use slantpath_ss7::PointCode;
use slantpath_ss7::link::{LinkIndication, LinkRequest};
use slantpath_ss7::mtp3::node::{DiscardReason, LinkActivity, ManagementEvent, Mtp3LinkId, Mtp3Timer};
use slantpath_ss7::mtp3::{
    ManagementLayout, Msu, RoutingLabel, ServiceIndicator, ServiceInformation, Slc, Sls, TestMessage,
};

use crate::tester::{A, B, C, START, Tester, configuration_a};

/// Link 0 is in service at level 2, and nobody answers.
fn unanswered() -> Tester {
    let mut tester = Tester::new(configuration_a(1));
    tester.answers_tests = false;
    tester.activate_all();
    assert_eq!(tester.tests.len(), 1);
    assert_eq!(tester.node.link_activity(Mtp3LinkId(0)), LinkActivity::Testing);
    tester
}

fn say(tester: &mut Tester, from: u32, slc: u8, message: TestMessage<'_>) {
    let mut user_part = Vec::new();
    message.emit(ManagementLayout::Itu, Slc(slc), &mut user_part);
    let network = tester.node.config().network;
    let service = ServiceInformation { indicator: ServiceIndicator::TEST, network, priority: 0 };
    let label = RoutingLabel { dpc: PointCode(A), opc: PointCode(from), sls: Sls(slc) };
    tester.bring_msu(0, &Msu { service, label, user_part: &user_part });
}

/// The pattern of the last SLTM.
fn pattern(tester: &Tester) -> Vec<u8> {
    let (_, user_part) = tester.tests.last().unwrap();
    let parsed = TestMessage::parse(user_part, ManagementLayout::Itu, Sls(0)).unwrap();
    let TestMessage::Sltm(pattern) = parsed.0 else { panic!("{parsed:?}") };
    pattern.to_vec()
}

#[test]
fn q782_12_1_after_activation() {
    let mut tester = unanswered();
    let pattern = pattern(&tester);
    say(&mut tester, B, 0, TestMessage::Slta(&pattern));
    assert!(tester.is_available(0));
}

#[test]
fn q782_12_2_1_first_test_unanswered() {
    let mut tester = unanswered();
    tester.expire(Mtp3Timer::TestT1);
    assert_eq!(tester.tests.len(), 2);
    let pattern = pattern(&tester);
    say(&mut tester, B, 0, TestMessage::Slta(&pattern));
    assert!(tester.is_available(0));
}

#[test]
fn q782_12_2_2_both_tests_unanswered() {
    let mut tester = unanswered();
    tester.expire(Mtp3Timer::TestT1);
    tester.aligns = false;
    tester.expire(Mtp3Timer::TestT1);
    assert_eq!(tester.events, [ManagementEvent::LinkTestFailed(Mtp3LinkId(0))]);
    assert!(tester.requests.contains(&(0, LinkRequest::Stop)));
    tester.expire(Mtp3Timer::T17);
    assert_eq!(tester.requests.last(), Some(&(0, LinkRequest::Start)));
}

#[test]
fn q782_12_3_wrong_pattern() {
    let mut tester = unanswered();
    say(&mut tester, B, 0, TestMessage::Slta(b"another"));
    assert!(!tester.is_available(0));
    assert_eq!(tester.discarded(DiscardReason::UnknownSubject), 1);
}

#[test]
fn q782_12_4_wrong_link_code() {
    let mut tester = unanswered();
    let pattern = pattern(&tester);
    say(&mut tester, B, 1, TestMessage::Slta(&pattern));
    assert!(!tester.is_available(0));
}

#[test]
fn q782_12_5_wrong_origin() {
    let mut tester = unanswered();
    let pattern = pattern(&tester);
    say(&mut tester, C, 0, TestMessage::Slta(&pattern));
    assert!(!tester.is_available(0));
}

#[test]
fn q782_12_6_test_from_the_far_end() {
    let mut tester = Tester::ready(configuration_a(1));
    tester.answers_tests = false;
    say(&mut tester, B, 0, TestMessage::Sltm(b"pattern"));
    let (link, user_part) = tester.tests.last().unwrap();
    let parsed = TestMessage::parse(user_part, ManagementLayout::Itu, Sls(0));
    assert_eq!((*link, parsed), (0, Ok((TestMessage::Slta(b"pattern"), Slc(0)))));
}

#[test]
fn q782_12_7_test_that_came_over_the_wrong_link() {
    let mut tester = Tester::ready(configuration_a(1));
    say(&mut tester, B, 3, TestMessage::Sltm(b"pattern"));
    say(&mut tester, C, 0, TestMessage::Sltm(b"pattern"));
    assert_eq!(tester.tests, []);
}

#[test]
fn q782_12_8_periodic_test() {
    let mut tester = Tester::ready(configuration_a(2));
    tester.expire_since(START, Mtp3Timer::TestT2);
    assert_eq!(tester.tests.len(), 2);
    assert!(tester.is_available(0));
}

#[test]
fn q782_12_9_periodic_test_fails() {
    let mut tester = Tester::ready(configuration_a(2));
    tester.send(B, 0, 1);
    tester.expire_since(START, Mtp3Timer::TestT2);
    tester.answers_tests = false;
    tester.expire(Mtp3Timer::TestT2);
    tester.aligns = false;
    tester.expire(Mtp3Timer::TestT1);
    tester.expire(Mtp3Timer::TestT1);
    assert!(!tester.is_available(0) && !tester.is_available(1));
    assert!(tester.requests.contains(&(0, LinkRequest::Stop)));
    tester.link(0, LinkIndication::OutOfService(slantpath_ss7::link::OutOfServiceReason::Stopped));
    // Link 0 failed first, and an order about it went over link 1.
    let failed = tester.now;
    tester.expire(Mtp3Timer::T1);
    assert_eq!(tester.requests.last(), Some(&(1, LinkRequest::Start)));
    tester.expire_since(failed, Mtp3Timer::T2);
    assert_eq!(tester.requests.last(), Some(&(0, LinkRequest::Start)));
    assert_eq!(tester.node.link_activity(Mtp3LinkId(0)), LinkActivity::Aligning);
}
