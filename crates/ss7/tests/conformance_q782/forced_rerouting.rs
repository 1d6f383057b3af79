//! 5: forced rerouting.

use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::{Fsn, ManagementMessage as M};
use slantpath_ss7::transfer::TransferIndication;

use crate::tester::{B, C, D, E, F, Tester, configuration_b, configuration_c, configuration_d};

#[test]
fn q782_5_1_route_prohibited_with_an_alternative() {
    let mut tester = Tester::ready(configuration_b());
    tester.say(0, B, 0, M::Tfp(PointCode(D)));
    tester.send_all(D);
    assert_eq!(tester.links_used(), [2, 3], "at once");
    assert_eq!(tester.indications, [], "users notice nothing");
    tester.send_all(E);
    assert_eq!(tester.links_used(), [0, 1], "other destinations stay");
}

#[test]
fn q782_5_2_last_route_prohibited() {
    let mut tester = Tester::ready(configuration_b());
    tester.say(0, B, 0, M::Tfp(PointCode(D)));
    tester.say(2, C, 0, M::Tfp(PointCode(D)));
    assert_eq!(tester.indications, [TransferIndication::Pause(PointCode(D))]);
}

#[test]
fn q782_5_3_one_route_of_a_combined_link_set_prohibited() {
    let mut tester = Tester::ready(configuration_c());
    tester.send_all(D);
    assert_eq!(tester.links_used(), [0, 1, 2, 3]);
    tester.say(2, C, 0, M::Tfp(PointCode(D)));
    tester.send_all(D);
    assert_eq!(tester.links_used(), [0, 1]);
}

#[test]
fn q782_5_4_prohibition_at_a_transfer_point() {
    let mut tester = Tester::ready(configuration_d());
    tester.said();
    tester.say(0, B, 0, M::Tfp(PointCode(D)));
    // C must not send back what now goes there; B may send here again.
    assert_eq!(tester.sent(), [(B, M::Tfa(PointCode(D))), (C, M::Tfp(PointCode(D)))]);
    tester.bring(4, F, D, 0, 7);
    assert_eq!(tester.links_used(), [2]);
}

#[test]
fn q782_5_5_prohibition_while_a_changeover_runs() {
    let mut tester = Tester::ready(configuration_b());
    tester.send(D, 1, 1);
    tester.carried();
    tester.fail(1);
    tester.send(D, 1, 2);
    tester.say(0, B, 0, M::Tfp(PointCode(D)));
    tester.send(D, 1, 3);
    assert_eq!(tester.carried(), [], "the oldest has not come back yet");
    tester.say(0, B, 1, M::Coa(Fsn(0)));
    let carried: Vec<_> = tester.carried().iter().map(|message| (message.over, message.number)).collect();
    assert_eq!(carried, [(3, 1), (3, 2), (3, 3)]);
}
