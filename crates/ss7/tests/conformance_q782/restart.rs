//! 10: signalling point restart.

use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{
    AdjacentState, Config, DiscardReason, LinkSetId, ManagementEvent, Mtp3LinkId, Mtp3Timer, Procedure,
    RestartState,
};
use slantpath_ss7::mtp3::{Fsn, ManagementMessage as M};
use slantpath_ss7::transfer::TransferIndication;

use crate::tester::{
    B, C, D, E, F, MOMENT, START, Tester, configuration_a, configuration_b, configuration_d,
};

fn restarting(mut config: Config) -> Tester {
    config.restart = Procedure::Used;
    Tester::new(config)
}

/// Everybody has restarted.
fn running(config: Config) -> Tester {
    let mut tester = restarting(config);
    tester.activate_all();
    let adjacent: Vec<_> = tester.node.config().link_sets.iter().map(|set| set.adjacent.0).collect();
    for (point, over) in adjacent.into_iter().zip([0, 2, 4]) {
        tester.say(over, point, 0, M::Tra);
    }
    assert_eq!(tester.node.restart_state(), RestartState::Running);
    // The echo of this restart is over.
    tester.expire(Mtp3Timer::T19);
    tester.forget();
    tester
}

#[test]
fn q782_10_1_1_end_point_alone_until_t20() {
    let mut tester = restarting(configuration_a(1));
    tester.activate_all();
    assert_eq!(tester.node.restart_state(), RestartState::Waiting);
    assert_eq!(tester.try_send(B, 0, 1), Err(DiscardReason::InaccessibleDestination));
    assert_eq!(tester.indications, []);
    tester.expire(Mtp3Timer::T20);
    assert_eq!(tester.sent(), [(B, M::Tra)]);
    assert_eq!(tester.indications, [TransferIndication::Resume(PointCode(B))]);
    tester.send(B, 0, 1);
    // Until T19, a TRA answers the one that ended this restart.
    let ended = tester.now;
    tester.pass_until_just_before(ended, Mtp3Timer::T19);
    tester.say(0, B, 0, M::Tra);
    assert_eq!(tester.messages(), []);
    tester.pass(MOMENT);
    tester.say(0, B, 0, M::Tra);
    assert_eq!(tester.sent(), [(B, M::Tra)]);
}

#[test]
fn q782_10_1_2_end_point_ends_with_the_last_tra() {
    let mut tester = restarting(configuration_b());
    tester.activate_all();
    tester.say(0, B, 0, M::Tra);
    assert_eq!(tester.node.restart_state(), RestartState::Waiting);
    tester.say(2, C, 0, M::Tra);
    assert_eq!(tester.node.restart_state(), RestartState::Running);
    assert_eq!(tester.sent(), [(B, M::Tra), (C, M::Tra)]);
    assert_eq!(tester.events.last(), Some(&ManagementEvent::RestartOver));
}

#[test]
fn q782_10_1_3_prohibitions_during_the_restart_hold() {
    let mut tester = restarting(configuration_b());
    tester.activate_all();
    tester.say(0, B, 0, M::Tfp(PointCode(E)));
    tester.say(0, B, 0, M::Tra);
    tester.say(2, C, 0, M::Tra);
    assert!(!tester.node.is_accessible(PointCode(E)) && tester.node.is_accessible(PointCode(D)));
    assert!(!tester.indications.contains(&TransferIndication::Resume(PointCode(E))));
}

#[test]
fn q782_10_1_4_messages_for_own_users_during_the_restart() {
    let mut tester = restarting(configuration_a(1));
    tester.activate_all();
    tester.bring(0, B, 1, 0, 7);
    assert_eq!(tester.indications.len(), 1);
}

#[test]
fn q782_10_2_1_transfer_point_says_what_it_cannot_reach() {
    let mut tester = restarting(configuration_d());
    tester.activate_all();
    assert_eq!(tester.node.restart_state(), RestartState::Gathering);
    tester.say(0, B, 0, M::Tfp(PointCode(E)));
    tester.said();
    tester.expire(Mtp3Timer::T18);
    let sent = tester.sent();
    assert!(
        sent.contains(&(F, M::Tfp(PointCode(E)))) && sent.contains(&(C, M::Tfp(PointCode(E)))),
        "{sent:?}"
    );
    assert!(sent.contains(&(B, M::Tfp(PointCode(D)))), "traffic for D will go over B: {sent:?}");
    assert!(!sent.contains(&(F, M::Tfp(PointCode(D)))), "{sent:?}");
}

#[test]
fn q782_10_2_2_transfer_point_ends_at_t20() {
    let mut tester = restarting(configuration_d());
    tester.activate_all();
    tester.pass_until_just_before(START, Mtp3Timer::T20);
    assert!(!tester.messages().contains(&M::Tra));
    tester.pass(MOMENT);
    let sent = tester.sent();
    for point in [B, C, F] {
        assert_eq!(sent.iter().filter(|sent| **sent == (point, M::Tra)).count(), 1, "{sent:?}");
    }
    assert!(!sent.iter().any(|(_, message)| matches!(message, M::Tfa(_))), "TRA says it: {sent:?}");
    tester.bring(4, F, D, 0, 1);
    assert_eq!(tester.carried().len(), 1);
}

#[test]
fn q782_10_2_3_nothing_is_transferred_during_the_restart() {
    let mut tester = restarting(configuration_d());
    tester.activate_all();
    tester.bring(4, F, D, 0, 1);
    assert_eq!(tester.carried(), []);
    assert_eq!(tester.discarded(DiscardReason::Restarting), 1);
}

#[test]
fn q782_10_3_last_link_lost_during_the_restart() {
    let mut tester = restarting(configuration_a(1));
    tester.activate_all();
    tester.fail(0);
    assert_eq!(tester.node.restart_state(), RestartState::Isolated);
    tester.pass_until_just_before(START, Mtp3Timer::T20);
    tester.pass(MOMENT);
    assert_eq!(tester.indications, []);
    assert_eq!(tester.said(), []);
}

#[test]
fn q782_10_4_1_adjacent_point_restarts() {
    let mut tester = running(configuration_a(1));
    tester.fail(0);
    tester.expire(Mtp3Timer::T1);
    tester.restore(0);
    // It was the last link: this point restarts as well.
    assert_eq!(tester.node.restart_state(), RestartState::Waiting);
    let mut config = configuration_b();
    config.destinations.retain(|destination| destination.point_code.0 > C);
    let mut tester = running(config);
    lose_b(&mut tester);
    assert_eq!(tester.node.adjacent_state(LinkSetId(0)), AdjacentState::Isolated);
    tester.forget();
    tester.restore(0);
    assert_eq!(tester.node.adjacent_state(LinkSetId(0)), AdjacentState::Restarting);
    assert_eq!(tester.sent(), [(B, M::Tra)]);
    assert!(!tester.node.is_accessible(PointCode(B)));
    tester.say(0, B, 0, M::Tra);
    assert!(tester.node.is_accessible(PointCode(B)));
    assert_eq!(tester.messages(), [], "no TRA for a TRA");
}

fn lose_b(tester: &mut Tester) {
    tester.fail(0);
    tester.say(1, B, 0, M::Coa(Fsn(0)));
    tester.fail(1);
    tester.expire(Mtp3Timer::T1);
}

#[test]
fn q782_10_4_2_adjacent_point_never_says_tra() {
    let mut config = configuration_b();
    config.destinations.retain(|destination| destination.point_code.0 > C);
    let mut tester = running(config);
    lose_b(&mut tester);
    tester.restore(0);
    tester.pass_until_just_before(tester.now, Mtp3Timer::T21);
    assert!(!tester.node.is_accessible(PointCode(B)));
    tester.pass(MOMENT);
    assert!(tester.node.is_accessible(PointCode(B)));
}

#[test]
fn q782_10_4_3_transfer_point_tells_the_restarting_one() {
    let mut config = configuration_d();
    config.destinations.retain(|destination| destination.point_code.0 > C);
    let mut tester = running(config);
    tester.say(2, C, 0, M::Tfp(PointCode(D)));
    lose_b(&mut tester);
    tester.said();
    tester.restore(0);
    let sent = tester.said();
    let lost: Vec<_> = sent.iter().filter(|said| said.to == B).map(|said| said.message).collect();
    let prohibited = [B, D, E].map(|code| M::Tfp(PointCode(code)));
    assert_eq!(lost, [prohibited[1], prohibited[2], M::Tra], "TFPs first, and none about B itself");
}

#[test]
fn q782_10_5_1_unexpected_tra() {
    let mut tester = running(configuration_b());
    tester.say(0, B, 0, M::Tra);
    assert_eq!(tester.sent(), [(B, M::Tra)]);
    let answered = tester.now;
    for wait in [MOMENT, MOMENT * 5] {
        tester.pass(wait);
        tester.say(0, B, 0, M::Tra);
        assert_eq!(tester.messages(), [], "T19 ends the ping-pong");
    }
    tester.pass_until_just_before(answered, Mtp3Timer::T19);
    tester.say(0, B, 0, M::Tra);
    assert_eq!(tester.messages(), [], "and an echo does not start it again");
    tester.pass(MOMENT);
    tester.say(0, B, 0, M::Tra);
    assert_eq!(tester.sent(), [(B, M::Tra)]);
}

#[test]
fn q782_10_5_2_point_reached_otherwise_needs_no_restart() {
    let mut tester = running(configuration_b());
    tester.fail(0);
    tester.say(1, B, 0, M::Coa(Fsn(0)));
    tester.fail(1);
    tester.say(2, B, 1, M::Coa(Fsn(0)));
    tester.said();
    tester.restore(0);
    assert_eq!(tester.node.adjacent_state(LinkSetId(0)), AdjacentState::Accessible);
    assert!(!tester.messages().contains(&M::Tra));
}

#[test]
fn q782_10_6_restart_ends_inhibition() {
    let mut tester = running(configuration_a(2));
    tester.node.inhibit(tester.now, Mtp3LinkId(1)).unwrap();
    tester.say(0, B, 1, M::Lia);
    tester.expire(Mtp3Timer::T1);
    tester.link(1, slantpath_ss7::link::LinkIndication::RemoteProcessorOutage);
    tester.fail(0);
    assert_eq!(tester.node.restart_state(), RestartState::Isolated);
    tester.expire(Mtp3Timer::T1);
    tester.restore(0);
    tester.link(1, slantpath_ss7::link::LinkIndication::RemoteProcessorRecovered);
    assert!(tester.is_available(1));
}
