//! 7: management inhibiting.

use slantpath_base::Instant;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{
    DiscardReason, InhibitError, LocalInhibition, ManagementEvent, Mtp3LinkId, Mtp3Timer, RemoteInhibition,
};
use slantpath_ss7::mtp3::{Fsn, ManagementMessage as M};

use crate::tester::{B, START, Tester, configuration_a, configuration_b};

const LINK: Mtp3LinkId = Mtp3LinkId(1);

/// Instant at which both ends have agreed to inhibit it, in the tests that begin with that.
const AGREED: Instant = Instant::from_secs(4);

/// Link 1 of two was asked to be inhibited.
fn asked() -> Tester {
    let mut tester = Tester::ready(configuration_a(2));
    assert_eq!(tester.node.inhibit(tester.now, LINK), Ok(()));
    assert_eq!(tester.messages(), [M::Lin]);
    tester
}

/// And B agreed.
fn inhibited_from_here() -> Tester {
    let mut tester = asked();
    tester.say(0, B, 1, M::Lia);
    assert_eq!(tester.now, AGREED);
    tester.expire(Mtp3Timer::T1);
    tester.forget();
    tester
}

/// B asked for it.
fn inhibited_from_there() -> Tester {
    let mut tester = Tester::ready(configuration_a(2));
    tester.say(0, B, 1, M::Lin);
    assert_eq!((tester.messages(), tester.now), (vec![M::Lia], AGREED));
    tester.expire(Mtp3Timer::T1);
    tester.forget();
    tester
}

fn local(tester: &Tester) -> LocalInhibition {
    tester.node.inhibition(LINK).0
}

fn remote(tester: &Tester) -> RemoteInhibition {
    tester.node.inhibition(LINK).1
}

#[test]
fn q782_7_1_1_available_link_inhibited_from_here() {
    let mut tester = asked();
    tester.send(B, 1, 1);
    assert_eq!(tester.links_used(), [1], "traffic stays until B agrees");
    tester.say(0, B, 1, M::Lia);
    assert!(tester.events.contains(&ManagementEvent::LinkInhibited(LINK)));
    tester.send(B, 1, 2);
    assert_eq!(tester.carried(), []);
    tester.expire(Mtp3Timer::T1);
    assert_eq!(tester.links_used(), [0], "a time-controlled changeover, without an order");
    assert_eq!(tester.messages(), []);
}

#[test]
fn q782_7_1_2_unavailable_link_inhibited_from_here() {
    let mut tester = Tester::ready(configuration_a(2));
    tester.fail(1);
    tester.say(0, B, 1, M::Coa(Fsn(0)));
    tester.said();
    assert_eq!(tester.node.inhibit(tester.now, LINK), Ok(()));
    assert_eq!(tester.messages(), [M::Lin]);
    tester.say(0, B, 1, M::Lia);
    tester.restore(1);
    assert_eq!(local(&tester), LocalInhibition::Inhibited);
    assert!(!tester.is_available(1), "in service and inhibited");
    assert_eq!(tester.messages(), []);
}

#[test]
fn q782_7_1_3_available_link_inhibited_from_there() {
    let mut tester = inhibited_from_there();
    assert_eq!(remote(&tester), RemoteInhibition::Inhibited);
    tester.send_all(B);
    assert_eq!(tester.links_used(), [0]);
}

#[test]
fn q782_7_2_1_refused_here() {
    let mut tester = Tester::ready(configuration_a(1));
    let refused = tester.node.inhibit(tester.now, Mtp3LinkId(0));
    assert_eq!(refused, Err(InhibitError::CutsOff(PointCode(B))));
    assert_eq!(tester.messages(), []);
}

#[test]
fn q782_7_2_2_refused_there() {
    let mut tester = asked();
    tester.say(0, B, 1, M::Lid);
    assert_eq!(local(&tester), LocalInhibition::Uninhibited);
    assert_eq!(tester.events, [ManagementEvent::InhibitionDenied(LINK)]);
    tester.expire(Mtp3Timer::T14);
    assert_eq!(tester.messages(), []);
}

#[test]
fn q782_7_2_3_refused_to_the_far_end() {
    let mut tester = Tester::ready(configuration_a(1));
    tester.say(0, B, 0, M::Lin);
    assert_eq!(tester.messages(), [M::Lid]);
    assert!(tester.is_available(0));
}

#[test]
fn q782_7_3_1_first_request_unanswered() {
    let mut tester = asked();
    tester.expire(Mtp3Timer::T14);
    assert_eq!(tester.messages(), [M::Lin]);
    tester.say(0, B, 1, M::Lia);
    assert_eq!(local(&tester), LocalInhibition::Inhibited);
}

#[test]
fn q782_7_3_2_both_requests_unanswered() {
    let mut tester = asked();
    tester.expire(Mtp3Timer::T14);
    tester.expire(Mtp3Timer::T14);
    assert_eq!(local(&tester), LocalInhibition::Uninhibited);
    assert_eq!(tester.events, [ManagementEvent::InhibitionUnanswered(LINK)]);
    assert_eq!(tester.messages(), [M::Lin]);
}

#[test]
fn q782_7_4_uninhibited_from_here() {
    let mut tester = inhibited_from_here();
    tester.node.uninhibit(tester.now, LINK);
    assert_eq!(tester.messages(), [M::Lun]);
    assert!(!tester.is_available(1));
    tester.say(0, B, 1, M::Lua);
    assert!(tester.is_available(1));
    assert!(tester.messages().iter().any(|message| matches!(message, M::Cbd(_))), "traffic changes back");
}

#[test]
fn q782_7_5_uninhibited_from_there() {
    let mut tester = inhibited_from_there();
    tester.say(0, B, 1, M::Lun);
    assert_eq!(tester.messages()[0], M::Lua);
    assert!(tester.is_available(1));
}

#[test]
fn q782_7_6_1_first_release_unanswered() {
    let mut tester = inhibited_from_here();
    tester.node.uninhibit(tester.now, LINK);
    tester.expire(Mtp3Timer::T12);
    assert_eq!(tester.messages(), [M::Lun, M::Lun]);
    tester.say(0, B, 1, M::Lua);
    assert!(tester.is_available(1));
}

#[test]
fn q782_7_6_2_both_releases_unanswered() {
    let mut tester = inhibited_from_here();
    tester.node.uninhibit(tester.now, LINK);
    tester.expire(Mtp3Timer::T12);
    tester.expire(Mtp3Timer::T12);
    assert_eq!(local(&tester), LocalInhibition::Inhibited);
    assert_eq!(tester.events, [ManagementEvent::InhibitionUnanswered(LINK)]);
}

#[test]
fn q782_7_7_1_forced_when_the_last_link_fails() {
    let mut tester = inhibited_from_here();
    tester.fail(0);
    let messages = tester.messages();
    assert_eq!(messages, [M::Lun], "over the inhibited link, for want of another");
    tester.say(1, B, 1, M::Lua);
    assert!(tester.is_available(1));
    assert!(tester.node.is_accessible(PointCode(B)));
}

#[test]
fn q782_7_7_2_forced_at_the_far_end() {
    let mut tester = inhibited_from_there();
    tester.fail(0);
    assert_eq!(tester.messages(), [M::Lfu]);
    tester.say(1, B, 1, M::Lun);
    assert!(tester.is_available(1));
    assert_eq!(tester.messages()[0], M::Lua);
}

#[test]
fn q782_7_7_3_forced_by_the_far_end() {
    let mut tester = inhibited_from_here();
    tester.say(0, B, 1, M::Lfu);
    assert_eq!(tester.messages(), [M::Lun]);
    tester.say(0, B, 1, M::Lua);
    assert!(tester.is_available(1));
}

/// Lets a timer expire that starts now, while the traffic of a link that has failed waits for T1.
fn expire_beside_the_changeover(tester: &mut Tester, timer: Mtp3Timer) {
    let start = tester.now;
    tester.expire(Mtp3Timer::T1);
    tester.expire_since(start, timer);
}

#[test]
fn q782_7_8_1_first_force_unanswered() {
    let mut tester = inhibited_from_there();
    tester.fail(0);
    assert_eq!(tester.messages(), [M::Lfu]);
    expire_beside_the_changeover(&mut tester, Mtp3Timer::T13);
    assert_eq!(tester.messages(), [M::Lfu]);
}

#[test]
fn q782_7_8_2_both_forces_unanswered() {
    let mut tester = inhibited_from_there();
    tester.fail(0);
    expire_beside_the_changeover(&mut tester, Mtp3Timer::T13);
    tester.expire(Mtp3Timer::T13);
    assert_eq!(remote(&tester), RemoteInhibition::Inhibited);
    assert!(tester.events.contains(&ManagementEvent::InhibitionUnanswered(LINK)));
}

#[test]
fn q782_7_9_inhibited_from_both_ends() {
    let mut tester = inhibited_from_here();
    tester.say(0, B, 1, M::Lin);
    assert_eq!(tester.messages(), [M::Lia]);
    tester.say(0, B, 1, M::Lun);
    tester.said();
    assert!(!tester.is_available(1), "it is inhibited from here still");
    tester.node.uninhibit(tester.now, LINK);
    tester.say(0, B, 1, M::Lua);
    assert!(tester.is_available(1));
}

#[test]
fn q782_7_10_local_test() {
    let mut tester = inhibited_from_here();
    tester.expire_since(AGREED, Mtp3Timer::T22);
    assert_eq!(tester.messages(), [M::Llt]);
    tester.expire(Mtp3Timer::T22);
    assert_eq!(tester.messages(), [M::Llt], "as long as it is inhibited");
}

#[test]
fn q782_7_11_remote_test() {
    let mut tester = inhibited_from_there();
    tester.expire_since(AGREED, Mtp3Timer::T23);
    assert_eq!(tester.messages(), [M::Lrt]);
}

#[test]
fn q782_7_12_local_test_of_a_link_that_is_not_inhibited() {
    let mut tester = Tester::ready(configuration_a(2));
    tester.say(0, B, 1, M::Llt);
    assert_eq!(tester.messages(), [M::Lfu]);
}

#[test]
fn q782_7_13_remote_test_of_a_link_that_is_not_inhibited() {
    let mut tester = Tester::ready(configuration_a(2));
    tester.say(0, B, 1, M::Lrt);
    assert_eq!(tester.messages(), [M::Lun]);
}

#[test]
fn q782_7_14_tests_of_an_inhibited_link() {
    let mut tester = inhibited_from_there();
    tester.say(0, B, 1, M::Llt);
    assert_eq!(tester.messages(), []);
    let mut tester = inhibited_from_here();
    tester.say(0, B, 1, M::Lrt);
    assert_eq!(tester.messages(), []);
}

#[test]
fn q782_7_15_failure_of_an_inhibited_link() {
    let mut tester = inhibited_from_here();
    tester.fail(1);
    tester.restore(1);
    assert_eq!(local(&tester), LocalInhibition::Inhibited);
    assert!(!tester.is_available(1));
}

#[test]
fn q782_7_16_link_test_on_an_inhibited_link() {
    let mut tester = inhibited_from_here();
    tester.expire_since(START, Mtp3Timer::TestT2);
    assert!(tester.tests.iter().any(|(link, _)| *link == 1), "that is what inhibiting is for");
}

#[test]
fn q782_7_17_answers_without_questions() {
    let mut tester = Tester::ready(configuration_b());
    for message in [M::Lia, M::Lid, M::Lua] {
        tester.say(0, B, 1, message);
    }
    assert_eq!(tester.messages(), []);
    assert_eq!(tester.discarded(DiscardReason::Unexpected), 3);
    assert!(tester.is_available(1));
}
