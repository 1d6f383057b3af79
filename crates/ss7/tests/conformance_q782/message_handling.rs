//! 2: signalling message handling.

use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::DiscardReason;
use slantpath_ss7::mtp3::{
    ManagementMessage, Msu, NetworkIndicator, RoutingLabel, ServiceIndicator, ServiceInformation, Sls,
};
use slantpath_ss7::transfer::TransferIndication;

use crate::tester::{
    A, B, D, E, F, Tester, configuration_a, configuration_b, configuration_c, configuration_d,
};

fn msu(indicator: ServiceIndicator, network: NetworkIndicator) -> Msu<'static> {
    Msu {
        service: ServiceInformation { indicator, network, priority: 0 },
        label: RoutingLabel { dpc: PointCode(A), opc: PointCode(B), sls: Sls(0) },
        user_part: &[1, 2, 3],
    }
}

#[test]
fn q782_2_1_message_of_another_network() {
    let mut tester = Tester::ready(configuration_a(1));
    tester.bring_msu(0, &msu(ServiceIndicator::SCCP, NetworkIndicator::National));
    assert_eq!(tester.discarded(DiscardReason::WrongNetwork), 1);
    assert_eq!(tester.indications, []);
}

#[test]
fn q782_2_2_message_for_another_point() {
    let mut tester = Tester::ready(configuration_a(1));
    tester.bring(0, B, 99, 0, 1);
    assert_eq!(tester.discarded(DiscardReason::NotForThisPoint), 1);
    assert_eq!((tester.indications.len(), tester.carried().len()), (0, 0));
}

#[test]
fn q782_2_3_message_for_an_absent_user() {
    let mut tester = Tester::ready(configuration_a(1));
    tester.bring_msu(0, &msu(ServiceIndicator::TUP, NetworkIndicator::International));
    assert_eq!(tester.discarded(DiscardReason::UserPartUnavailable), 1);
    let upu = ManagementMessage::Upu { destination: PointCode(A), user: 4, cause: 1 };
    assert_eq!(tester.sent(), [(B, upu)]);
}

#[test]
fn q782_2_4_1_sharing_within_a_link_set() {
    let mut tester = Tester::ready(configuration_a(4));
    tester.send_all(B);
    let carried = tester.carried();
    for link in 0..4 {
        assert_eq!(carried.iter().filter(|message| message.over == link).count(), 4, "link {link}");
    }
}

#[test]
fn q782_2_4_2_sharing_with_one_link_down() {
    let mut tester = Tester::ready(configuration_a(3));
    tester.send_all(B);
    let before = tester.carried();
    tester.fail(1);
    tester.say(0, B, 1, ManagementMessage::Coa(slantpath_ss7::mtp3::Fsn(5)));
    tester.carried();
    tester.send_all(B);
    let after = tester.carried();
    for (was, is) in before.iter().zip(&after) {
        assert!(is.over != 1 && (was.over == 1 || was.over == is.over), "{was:?} {is:?}");
    }
    let moved: std::collections::BTreeSet<_> =
        before.iter().zip(&after).filter(|(was, _)| was.over == 1).map(|(_, is)| is.over).collect();
    assert_eq!(moved.len(), 2, "what the link carried is shared over the others");
}

#[test]
fn q782_2_5_1_sharing_between_two_link_sets() {
    let mut tester = Tester::ready(configuration_c());
    tester.send_all(D);
    let carried = tester.carried();
    for link in 0..4 {
        assert_eq!(carried.iter().filter(|message| message.over == link).count(), 4, "link {link}");
    }
}

#[test]
fn q782_2_5_2_sharing_with_one_link_set_down() {
    let mut tester = Tester::ready(configuration_c());
    tester.fail(0);
    tester.say(1, B, 0, ManagementMessage::Coa(slantpath_ss7::mtp3::Fsn(0)));
    tester.fail(1);
    tester.say(2, B, 1, ManagementMessage::Coa(slantpath_ss7::mtp3::Fsn(0)));
    tester.send_all(D);
    assert_eq!(tester.links_used(), [2, 3]);
    assert_eq!(tester.indications, [TransferIndication::Pause(PointCode(E))]);
}

#[test]
fn q782_2_6_1_destination_lost_with_its_link_set() {
    let mut tester = Tester::ready(configuration_a(1));
    tester.fail(0);
    assert_eq!(tester.indications, [TransferIndication::Pause(PointCode(B))]);
    assert_eq!(tester.try_send(B, 0, 1), Err(DiscardReason::InaccessibleDestination));
    assert_eq!(tester.discarded(DiscardReason::InaccessibleDestination), 1);
}

#[test]
fn q782_2_6_2_destination_lost_by_tfp() {
    let mut tester = Tester::ready(configuration_b());
    tester.say(0, B, 0, ManagementMessage::Tfp(PointCode(E)));
    assert_eq!(tester.indications, [TransferIndication::Pause(PointCode(E))]);
    assert_eq!(tester.try_send(E, 0, 1), Err(DiscardReason::InaccessibleDestination));
    tester.send_all(D);
    assert_eq!(tester.links_used(), [0, 1], "other destinations go on");
}

#[test]
fn q782_2_6_3_destination_that_nobody_knows() {
    let mut tester = Tester::ready(configuration_b());
    assert_eq!(tester.try_send(99, 0, 1), Err(DiscardReason::UnknownDestination));
}

#[test]
fn q782_2_7_1_transfer_with_the_label_unchanged() {
    let mut tester = Tester::ready(configuration_d());
    for sls in 0..16 {
        tester.bring(4, F, D, sls, 7);
    }
    let carried = tester.carried();
    assert_eq!(carried.len(), 16);
    for (message, sls) in carried.iter().zip(0..) {
        assert_eq!((message.to, message.sls, message.number), (D, sls, 7));
    }
    assert_eq!(tester.node.counters().transferred, 16);
}

#[test]
fn q782_2_7_2_no_message_goes_back_where_it_came_from() {
    let mut tester = Tester::ready(configuration_d());
    tester.bring(0, B, D, 0, 7);
    assert_eq!(tester.carried(), []);
    assert_eq!(tester.discarded(DiscardReason::BackWhereItCameFrom), 1);
    assert_eq!(tester.sent(), [(B, ManagementMessage::Tfp(PointCode(D)))]);
    let mut combined = configuration_d();
    combined.destinations[2].routes[1].priority = 0;
    let mut tester = Tester::ready(combined);
    for sls in 0..16 {
        tester.bring(0, B, D, sls, 7);
    }
    assert_eq!(tester.links_used(), [2, 3], "the other link set of a combined one takes them");
}

#[test]
fn q782_2_7_3_own_message_that_comes_back() {
    let mut tester = Tester::ready(configuration_d());
    tester.bring(2, A, D, 0, 7);
    assert_eq!(tester.discarded(DiscardReason::CircularRoute), 1);
    assert_eq!(tester.carried(), []);
}
