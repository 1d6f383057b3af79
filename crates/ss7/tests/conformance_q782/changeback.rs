//! Tests 4 of Q.782: changeback.

use slantpath_ss7::mtp3::node::{DiscardReason, ManagementEvent, Mtp3LinkId, Mtp3Timer};
use slantpath_ss7::mtp3::{ChangebackCode, Fsn, ManagementMessage as M};

use crate::tester::{B, C, D, Tester, configuration_a, configuration_b, configuration_c};

/// Link 1 of two has failed, traffic has left it, and it comes back. The code of the declaration.
fn coming_back() -> (Tester, ChangebackCode) {
    let mut tester = Tester::ready(configuration_a(2));
    tester.fail(1);
    tester.say(0, B, 1, M::Coa(Fsn(0)));
    tester.said();
    tester.restore(1);
    let said = tester.said();
    let [declaration] = said[..] else { panic!("{said:?}") };
    let M::Cbd(code) = declaration.message else { panic!("{declaration:?}") };
    assert_eq!(
        (declaration.over, declaration.to, declaration.slc),
        (0, B, 1),
        "behind the traffic that leaves"
    );
    (tester, code)
}

fn over(tester: &mut Tester) -> Vec<(u16, u32)> {
    tester.carried().iter().map(|message| (message.over, message.number)).collect()
}

#[test]
fn q782_4_1_within_a_link_set() {
    let (mut tester, code) = coming_back();
    tester.send(B, 1, 101);
    tester.send(B, 0, 100);
    assert_eq!(over(&mut tester), [(0, 100)], "what changes back waits");
    tester.say(0, B, 1, M::Cba(code));
    assert_eq!(over(&mut tester), [(1, 101)]);
    tester.send_all(B);
    assert_eq!(tester.links_used(), [0, 1]);
}

#[test]
fn q782_4_2_additional_acknowledgement() {
    let (mut tester, code) = coming_back();
    tester.say(0, B, 1, M::Cba(code));
    tester.say(0, B, 1, M::Cba(code));
    assert_eq!(tester.discarded(DiscardReason::Unexpected), 1);
    assert_eq!(tester.said(), []);
}

#[test]
fn q782_4_3_declaration_from_the_far_end() {
    let mut tester = Tester::ready(configuration_a(2));
    for code in [ChangebackCode(9), ChangebackCode(9), ChangebackCode(200)] {
        tester.say(0, B, 1, M::Cbd(code));
        assert_eq!(tester.sent(), [(B, M::Cba(code))], "each is acknowledged with its own code");
    }
}

#[test]
fn q782_4_4_first_declaration_lost() {
    let (mut tester, code) = coming_back();
    tester.send(B, 1, 101);
    tester.expire(Mtp3Timer::T4);
    assert_eq!(tester.sent(), [(B, M::Cbd(code))]);
    tester.say(0, B, 1, M::Cba(code));
    assert_eq!(over(&mut tester), [(1, 101)]);
}

#[test]
fn q782_4_5_both_declarations_lost() {
    let (mut tester, _) = coming_back();
    tester.send(B, 1, 101);
    tester.expire(Mtp3Timer::T4);
    tester.said();
    tester.expire(Mtp3Timer::T5);
    assert_eq!(over(&mut tester), [(1, 101)]);
    assert_eq!(tester.said(), []);
    assert!(tester.events.contains(&ManagementEvent::ChangebackUnacknowledged(Mtp3LinkId(1))));
}

#[test]
fn q782_4_6_acknowledgement_with_another_code() {
    let (mut tester, ChangebackCode(code)) = coming_back();
    tester.send(B, 1, 101);
    tester.say(0, B, 1, M::Cba(ChangebackCode(code.wrapping_add(1))));
    assert_eq!(over(&mut tester), []);
    assert_eq!(tester.discarded(DiscardReason::Unexpected), 1);
}

#[test]
fn q782_4_7_from_several_links() {
    let mut tester = Tester::ready(configuration_a(3));
    tester.fail(2);
    tester.say(0, B, 2, M::Coa(Fsn(0)));
    tester.said();
    tester.restore(2);
    let said = tester.said();
    let mut ways: Vec<_> = said.iter().map(|said| said.over).collect();
    ways.sort_unstable();
    assert_eq!(ways, [0, 1], "one declaration over each link that traffic leaves");
    let codes: Vec<_> = said.iter().map(|said| said.message).collect();
    assert_ne!(codes[0], codes[1], "they have different codes");
}

#[test]
fn q782_4_8_from_another_link_set() {
    let mut tester = Tester::ready(configuration_c());
    for link in [0, 1] {
        tester.fail(link);
        tester.say(2, B, u8::try_from(link).unwrap(), M::Coa(Fsn(0)));
    }
    tester.said();
    tester.restore(0);
    tester.send(D, 0, 100);
    assert_eq!(over(&mut tester), [], "time controls the diversion");
    assert!(!tester.messages().iter().any(|message| matches!(message, M::Cbd(_))));
    tester.expire(Mtp3Timer::T3);
    assert_eq!(over(&mut tester), [(0, 100)]);
}

#[test]
fn q782_4_9_to_a_better_link_set() {
    let mut tester = Tester::ready(configuration_b());
    for link in [0, 1] {
        tester.fail(link);
        tester.say(2, B, u8::try_from(link).unwrap(), M::Coa(Fsn(0)));
    }
    tester.send_all(D);
    assert_eq!(tester.links_used(), [2, 3]);
    tester.restore(0);
    tester.send(D, 0, 100);
    assert_eq!(over(&mut tester), []);
    tester.expire(Mtp3Timer::T6);
    assert_eq!(over(&mut tester), [(0, 100)]);
}

#[test]
fn q782_4_10_alternative_link_fails_meanwhile() {
    let (mut tester, code) = coming_back();
    tester.send(B, 1, 101);
    tester.fail(0);
    assert_eq!(tester.sent(), [(B, M::Coo(Fsn(0)))], "the changeover keeps the order now");
    assert_eq!(over(&mut tester), []);
    tester.say(1, B, 0, M::Coa(Fsn(0)));
    assert_eq!(over(&mut tester), [(1, 101)]);
    tester.say(1, B, 1, M::Cba(code));
    assert_eq!(over(&mut tester), []);
}

#[test]
fn q782_4_11_compatibility() {
    let (mut tester, code) = coming_back();
    tester.say(1, B, 1, M::Cba(code));
    tester.send_all(B);
    assert_eq!(tester.links_used(), [0, 1]);
    assert!(tester.node.is_accessible(slantpath_ss7::PointCode(B)));
    assert!(!tester.node.is_accessible(slantpath_ss7::PointCode(C)));
}
