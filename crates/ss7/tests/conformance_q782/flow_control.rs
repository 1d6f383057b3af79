//! 8: signalling traffic flow control.

use slantpath_ss7::PointCode;
use slantpath_ss7::link::LinkIndication;
use slantpath_ss7::mtp3::node::{Config, CongestionMethod, DiscardReason, Mtp3Timer};
use slantpath_ss7::mtp3::{ManagementMessage as M, ServiceIndicator};
use slantpath_ss7::transfer::{StatusCause, TransferIndication, UserPartUnavailability};

use crate::tester::{B, C, D, F, Tester, configuration_a, configuration_b, configuration_d};

fn national(mut config: Config) -> Config {
    config.congestion = CongestionMethod::National;
    config
}

fn congested(affected: u32, status: u8) -> TransferIndication {
    let cause = StatusCause::Congestion(status);
    TransferIndication::Status { affected: PointCode(affected), cause }
}

#[test]
fn q782_8_1_transfer_controlled_received() {
    let mut tester = Tester::ready(configuration_b());
    tester.say(0, B, 0, M::Tfc(PointCode(D), 0));
    assert_eq!(tester.indications, [congested(D, 1)]);
    tester.send_all(D);
    assert_eq!(tester.carried().len(), 16, "users reduce, the transfer part does not");
}

#[test]
fn q782_8_2_congested_link_and_own_users() {
    let mut tester = Tester::ready(configuration_a(1));
    tester.link(0, LinkIndication::Congestion(1));
    tester.send_all(B);
    assert_eq!(tester.indications, [congested(B, 1), congested(B, 1)], "the first and the ninth message");
    assert_eq!(tester.carried().len(), 16);
    tester.link(0, LinkIndication::Congestion(0));
    tester.indications.clear();
    tester.send_all(B);
    assert_eq!(tester.indications, []);
}

#[test]
fn q782_8_3_congested_link_and_transferred_messages() {
    let mut tester = Tester::ready(configuration_d());
    tester.link(0, LinkIndication::Congestion(1));
    for number in 0..9 {
        tester.bring(4, F, D, 0, number);
    }
    let tfc = M::Tfc(PointCode(D), 0);
    assert_eq!(tester.sent(), [(F, tfc), (F, tfc)], "for the first and the ninth message");
    assert_eq!(tester.carried().len(), 9);
}

#[test]
fn q782_8_4_levels_and_priorities() {
    let mut tester = Tester::ready(national(configuration_d()));
    tester.link(0, LinkIndication::Congestion(2));
    for priority in 0..4 {
        tester.bring_with(4, F, D, 0, priority.into(), priority);
    }
    let passed: Vec<_> = tester.carried().iter().map(|message| message.number).collect();
    assert_eq!(passed, [1, 2, 3], "priority 0 is discarded at status 2");
    assert_eq!(tester.discarded(DiscardReason::CongestedLink), 1);
    assert_eq!(tester.sent(), [(F, M::Tfc(PointCode(D), 2))]);
}

#[test]
fn q782_8_5_route_set_congestion_test() {
    let mut tester = Tester::ready(national(configuration_b()));
    tester.say(0, B, 0, M::Tfc(PointCode(D), 2));
    assert_eq!(tester.indications, [congested(D, 2)]);
    assert_eq!(tester.node.congestion_status(PointCode(D)), 2);
    tester.expire(Mtp3Timer::T15);
    assert_eq!(tester.sent(), [(D, M::Rct)]);
    tester.expire(Mtp3Timer::T16);
    assert_eq!(tester.node.congestion_status(PointCode(D)), 1);
    assert_eq!(tester.sent(), [(D, M::Rct)], "and the next status is tested");
    tester.expire(Mtp3Timer::T16);
    assert_eq!(tester.indications, [congested(D, 2), congested(D, 1), congested(D, 0)]);
    assert_eq!(tester.messages(), []);
}

#[test]
fn q782_8_6_congestion_confirmed_by_the_test() {
    let mut tester = Tester::ready(national(configuration_b()));
    tester.say(0, B, 0, M::Tfc(PointCode(D), 2));
    tester.expire(Mtp3Timer::T15);
    tester.said();
    let confirmed = tester.now;
    tester.say(0, B, 0, M::Tfc(PointCode(D), 2));
    tester.expire(Mtp3Timer::T16);
    assert_eq!(tester.node.congestion_status(PointCode(D)), 2);
    assert_eq!(tester.messages(), []);
    tester.expire_since(confirmed, Mtp3Timer::T15);
    assert_eq!(tester.messages(), [M::Rct]);
}

#[test]
fn q782_8_7_test_of_congestion_passes_through() {
    let mut tester = Tester::ready(national(configuration_d()));
    tester.link(0, LinkIndication::Congestion(2));
    let mut user_part = Vec::new();
    let (format, slc) = (slantpath_ss7::mtp3::ManagementLayout::Itu, slantpath_ss7::mtp3::Slc(0));
    M::Rct.emit(format, slc, &mut user_part);
    let network = tester.node.config().network;
    tester.bring_msu(
        4,
        &slantpath_ss7::mtp3::Msu {
            service: slantpath_ss7::mtp3::ServiceInformation {
                indicator: ServiceIndicator::MANAGEMENT,
                network,
                priority: 1,
            },
            label: slantpath_ss7::mtp3::RoutingLabel {
                dpc: PointCode(D),
                opc: PointCode(F),
                sls: slantpath_ss7::mtp3::Sls(0),
            },
            user_part: &user_part,
        },
    );
    assert_eq!(tester.sent(), [(D, M::Rct), (F, M::Tfc(PointCode(D), 2))]);
}

#[test]
fn q782_8_8_user_part_unavailable_received() {
    let mut tester = Tester::ready(configuration_b());
    let user = ServiceIndicator::SCCP;
    tester.say(0, C, 0, M::Upu { destination: PointCode(D), user: user.value(), cause: 2 });
    let reason = UserPartUnavailability::Inaccessible;
    let cause = StatusCause::UserPartUnavailable { user, reason };
    assert_eq!(tester.indications, [TransferIndication::Status { affected: PointCode(D), cause }]);
}

#[test]
fn q782_8_9_user_part_that_leaves() {
    let mut tester = Tester::ready(configuration_b());
    tester.node.equip_user(ServiceIndicator::SCCP, false);
    tester.bring(0, D, 1, 0, 7);
    let upu = M::Upu { destination: PointCode(1), user: 3, cause: 1 };
    assert_eq!(tester.sent(), [(D, upu)]);
    tester.node.equip_user(ServiceIndicator::SCCP, true);
    tester.bring(0, D, 1, 0, 7);
    assert_eq!(tester.messages(), []);
    assert_eq!(tester.indications.len(), 1);
}

#[test]
fn q782_8_10_messages_that_wait_are_told_before_they_are_refused() {
    let mut config = configuration_a(2);
    config.held_limit = 8;
    let mut tester = Tester::ready(config);
    tester.fail(1);
    for number in 0..10 {
        tester.send(B, 1, number);
        if number < 6 {
            assert_eq!(tester.indications, []);
        }
    }
    assert_eq!(tester.indications, [congested(B, 1)]);
    assert_eq!(tester.discarded(DiscardReason::TooManyHeld), 2);
    assert_eq!(tester.node.waiting(), 8);
}
