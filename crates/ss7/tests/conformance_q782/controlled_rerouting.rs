//! 6: controlled rerouting.

use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::ManagementMessage as M;
use slantpath_ss7::mtp3::node::{Mtp3Timer, Procedure};
use slantpath_ss7::transfer::TransferIndication;

use crate::tester::{B, C, D, F, Tester, configuration_b, configuration_c, configuration_d};

/// D is reached over C, since B prohibits it.
fn rerouted() -> Tester {
    let mut tester = Tester::ready(configuration_b());
    tester.say(0, B, 0, M::Tfp(PointCode(D)));
    tester.forget();
    tester
}

fn over(tester: &mut Tester) -> Vec<(u16, u32)> {
    tester.carried().iter().map(|message| (message.over, message.number)).collect()
}

#[test]
fn q782_6_1_normal_route_allowed_again() {
    let mut tester = rerouted();
    tester.send(D, 0, 1);
    assert_eq!(over(&mut tester), [(2, 1)]);
    tester.say(0, B, 0, M::Tfa(PointCode(D)));
    tester.send(D, 0, 2);
    assert_eq!(over(&mut tester), [], "T6 lets the alternative route run dry");
    tester.expire(Mtp3Timer::T6);
    assert_eq!(over(&mut tester), [(0, 2)]);
}

#[test]
fn q782_6_2_alternative_route_fails_meanwhile() {
    let mut tester = rerouted();
    tester.say(0, B, 0, M::Tfa(PointCode(D)));
    tester.send(D, 0, 1);
    tester.say(2, C, 0, M::Tfp(PointCode(D)));
    tester.expire(Mtp3Timer::T6);
    assert_eq!(over(&mut tester), [(0, 1)]);
    assert_eq!(tester.indications, []);
}

#[test]
fn q782_6_3_allowed_route_is_prohibited_again() {
    let mut tester = rerouted();
    tester.say(0, B, 0, M::Tfa(PointCode(D)));
    tester.send(D, 0, 1);
    tester.say(0, B, 0, M::Tfp(PointCode(D)));
    tester.expire(Mtp3Timer::T6);
    assert_eq!(over(&mut tester), [(2, 1)], "it stays where it was");
}

#[test]
fn q782_6_4_destination_allowed_that_was_cut_off() {
    let mut tester = rerouted();
    tester.say(2, C, 0, M::Tfp(PointCode(D)));
    tester.forget();
    tester.say(0, B, 0, M::Tfa(PointCode(D)));
    assert_eq!(tester.indications, [TransferIndication::Resume(PointCode(D))]);
    tester.send(D, 0, 1);
    assert_eq!(over(&mut tester), [(0, 1)], "nothing is under way that could be overtaken");
}

#[test]
fn q782_6_5_restricted_route_gives_way_to_an_equal_one() {
    let mut config = configuration_c();
    config.transfer_restricted = Procedure::Used;
    let mut tester = Tester::ready(config);
    tester.say(0, B, 0, M::Tfr(PointCode(D)));
    tester.send(D, 0, 1);
    assert_eq!(over(&mut tester), []);
    tester.expire(Mtp3Timer::T6);
    assert_eq!(over(&mut tester), [(2, 1)]);
    tester.send_all(D);
    assert_eq!(tester.links_used(), [2, 3]);
}

#[test]
fn q782_6_6_at_a_transfer_point() {
    let mut tester = Tester::ready(configuration_d());
    tester.say(0, B, 0, M::Tfp(PointCode(D)));
    tester.bring(4, F, D, 0, 1);
    tester.said();
    tester.carried();
    tester.say(0, B, 0, M::Tfa(PointCode(D)));
    tester.bring(4, F, D, 0, 2);
    assert_eq!((over(&mut tester), tester.messages()), (vec![], vec![]));
    tester.expire(Mtp3Timer::T6);
    assert_eq!(over(&mut tester), [(0, 2)]);
    assert_eq!(tester.sent(), [(B, M::Tfp(PointCode(D))), (C, M::Tfa(PointCode(D)))]);
}
