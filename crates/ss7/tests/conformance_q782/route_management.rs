//! 9: signalling route management.

use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{DiscardReason, LinkSetId, Mtp3Timer, Procedure, RouteState};
use slantpath_ss7::mtp3::{Fsn, ManagementMessage as M};

use crate::tester::{B, C, D, E, F, MOMENT, Tester, configuration_b, configuration_d};

const fn tfp(code: u32) -> M {
    M::Tfp(PointCode(code))
}

const fn tfa(code: u32) -> M {
    M::Tfa(PointCode(code))
}

/// Both links to B fail; what is said about that changeover is left out.
fn lose_b(tester: &mut Tester) {
    tester.fail(0);
    tester.say(1, B, 0, M::Coa(Fsn(0)));
    tester.said();
    tester.fail(1);
    tester.say(2, B, 1, M::Coa(Fsn(0)));
}

fn route_messages(tester: &mut Tester) -> Vec<(u32, M)> {
    let is_about_routes = |message: &M| matches!(message, M::Tfp(_) | M::Tfa(_) | M::Tfr(_));
    tester.sent().into_iter().filter(|(_, message)| is_about_routes(message)).collect()
}

#[test]
fn q782_9_1_1_tfp_to_the_point_on_the_alternative_route() {
    let mut tester = Tester::ready(configuration_d());
    lose_b(&mut tester);
    let sent = route_messages(&mut tester);
    assert!(sent.contains(&(C, tfp(D))) && sent.contains(&(C, tfp(B))), "{sent:?}");
    assert!(!sent.contains(&(F, tfp(D))), "F may go on");
}

#[test]
fn q782_9_1_2_tfp_before_the_first_message() {
    let mut tester = Tester::ready(configuration_d());
    tester.say(0, B, 0, tfp(D));
    tester.bring(4, F, D, 0, 7);
    assert_eq!((tester.sent()[1], tester.carried().len()), ((C, tfp(D)), 1));
}

#[test]
fn q782_9_2_1_broadcast_when_a_destination_is_lost() {
    let mut tester = Tester::ready(configuration_d());
    lose_b(&mut tester);
    let sent = route_messages(&mut tester);
    assert!(sent.contains(&(C, tfp(E))) && sent.contains(&(F, tfp(E))), "{sent:?}");
}

#[test]
fn q782_9_2_2_broadcast_on_several_failures() {
    let mut tester = Tester::ready(configuration_d());
    tester.say(2, C, 0, tfp(D));
    tester.said();
    lose_b(&mut tester);
    let sent = route_messages(&mut tester);
    for lost in [D, E] {
        assert!(sent.contains(&(F, tfp(lost))) && sent.contains(&(C, tfp(lost))), "{lost} {sent:?}");
    }
    assert!(!sent.contains(&(F, tfp(B))), "B is reached over C");
}

#[test]
fn q782_9_3_message_for_a_lost_destination() {
    let mut tester = Tester::ready(configuration_d());
    tester.say(0, B, 0, tfp(E));
    tester.said();
    tester.bring(4, F, E, 0, 1);
    tester.bring(4, F, E, 0, 2);
    assert_eq!(tester.sent(), [(F, tfp(E))], "once a T8");
    tester.pass_until_just_before(tester.now, Mtp3Timer::T8);
    tester.bring(4, F, E, 0, 3);
    assert_eq!(tester.messages(), []);
    tester.pass(MOMENT);
    tester.bring(4, F, E, 0, 4);
    assert_eq!(tester.sent(), [(F, tfp(E))]);
    assert_eq!(tester.discarded(DiscardReason::InaccessibleDestination), 4);
}

#[test]
fn q782_9_4_tfa_to_the_point_that_traffic_leaves() {
    let mut tester = Tester::ready(configuration_d());
    tester.say(0, B, 0, tfp(D));
    tester.said();
    tester.say(0, B, 0, tfa(D));
    tester.expire(Mtp3Timer::T6);
    assert_eq!(tester.sent(), [(B, tfp(D)), (C, tfa(D))]);
}

#[test]
fn q782_9_5_1_broadcast_when_a_destination_is_found() {
    let mut tester = Tester::ready(configuration_d());
    tester.say(0, B, 0, tfp(E));
    tester.said();
    tester.say(0, B, 0, tfa(E));
    assert_eq!(tester.sent(), [(B, tfp(E)), (C, tfa(E)), (F, tfa(E))]);
}

#[test]
fn q782_9_5_2_broadcast_when_a_link_set_is_found() {
    let mut tester = Tester::ready(configuration_d());
    lose_b(&mut tester);
    tester.said();
    tester.restore(0);
    tester.expire(Mtp3Timer::T6);
    let sent = route_messages(&mut tester);
    assert!(sent.contains(&(C, tfa(E))) && sent.contains(&(F, tfa(E))), "{sent:?}");
    assert!(sent.contains(&(C, tfa(D))) && sent.contains(&(C, tfa(B))), "{sent:?}");
}

#[test]
fn q782_9_6_1_route_set_test_while_prohibited() {
    let mut tester = Tester::ready(configuration_b());
    tester.say(0, B, 0, tfp(D));
    for _ in 0..2 {
        tester.expire(Mtp3Timer::T10);
        assert_eq!(tester.sent(), [(B, M::Rst(PointCode(D)))]);
    }
    tester.say(0, B, 0, tfa(D));
    tester.expire(Mtp3Timer::T10);
    assert_eq!(tester.messages(), []);
}

#[test]
fn q782_9_6_2_route_set_test_ends_with_the_link_set() {
    let mut tester = Tester::ready(configuration_b());
    tester.say(0, B, 0, tfp(D));
    lose_b(&mut tester);
    tester.said();
    assert_eq!(tester.node.route_state(PointCode(D), LinkSetId(0)), Some(RouteState::Allowed));
    tester.expire(Mtp3Timer::T10);
    assert_eq!(tester.messages(), []);
}

#[test]
fn q782_9_6_3_route_set_test_received() {
    let mut tester = Tester::ready(configuration_d());
    tester.say(4, F, 0, M::Rst(PointCode(D)));
    assert_eq!(tester.sent(), [(F, tfa(D))]);
    tester.say(0, B, 0, M::Rst(PointCode(D)));
    assert_eq!(tester.messages(), [], "B believes what is true: traffic goes over it");
    tester.say(0, B, 0, tfp(E));
    tester.said();
    tester.say(4, F, 0, M::Rst(PointCode(E)));
    assert_eq!(tester.messages(), []);
}

#[test]
fn q782_9_6_4_route_set_test_at_an_end_point() {
    let mut tester = Tester::ready(configuration_b());
    tester.say(0, B, 0, M::Rst(PointCode(D)));
    assert_eq!(tester.messages(), []);
    assert_eq!(tester.discarded(DiscardReason::Unexpected), 1);
}

#[test]
fn q782_9_7_1_transfer_restricted_sent_after_t11() {
    let mut config = configuration_d();
    config.transfer_restricted = Procedure::Used;
    let mut tester = Tester::ready(config);
    tester.say(0, B, 0, tfp(D));
    tester.said();
    tester.pass_until_just_before(tester.now, Mtp3Timer::T11);
    assert_eq!(route_messages(&mut tester), []);
    tester.pass(MOMENT);
    let sent = route_messages(&mut tester);
    assert_eq!(sent, [(B, M::Tfr(PointCode(D))), (C, tfp(D)), (F, M::Tfr(PointCode(D)))]);
    tester.say(0, B, 0, tfa(D));
    tester.expire(Mtp3Timer::T6);
    assert!(route_messages(&mut tester).contains(&(F, tfa(D))));
}

#[test]
fn q782_9_7_2_restricted_route_is_tested() {
    let mut config = configuration_b();
    config.transfer_restricted = Procedure::Used;
    let mut tester = Tester::ready(config);
    tester.say(0, B, 0, M::Tfr(PointCode(D)));
    assert_eq!(tester.node.route_state(PointCode(D), LinkSetId(0)), Some(RouteState::Restricted));
    tester.expire(Mtp3Timer::T10);
    assert_eq!(tester.sent(), [(B, M::Rsr(PointCode(D)))]);
    tester.send_all(D);
    assert_eq!(tester.links_used(), [0, 1], "a worse route is no better");
}

#[test]
fn q782_9_7_3_transfer_restricted_where_it_is_not_used() {
    let mut tester = Tester::ready(configuration_b());
    tester.say(0, B, 0, M::Tfr(PointCode(D)));
    assert_eq!(tester.discarded(DiscardReason::UnknownSubject), 1);
    assert_eq!(tester.node.route_state(PointCode(D), LinkSetId(0)), Some(RouteState::Allowed));
}

#[test]
fn q782_9_8_prohibition_from_elsewhere() {
    let mut tester = Tester::ready(configuration_b());
    // From a point that is not adjacent, about one that is not known, and about the sender itself.
    tester.say(0, D, 0, tfp(E));
    tester.say(0, B, 0, tfp(99));
    tester.say(0, B, 0, tfp(B));
    assert_eq!(tester.discarded(DiscardReason::UnknownSubject), 3);
    assert!([B, D, E].iter().all(|code| tester.node.is_accessible(PointCode(*code))));
}
