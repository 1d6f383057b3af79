//! 13: invalid messages.

use bytes::Bytes;
use slantpath_ss7::PointCode;
use slantpath_ss7::link::LinkIndication;
use slantpath_ss7::mtp3::node::DiscardReason;
use slantpath_ss7::mtp3::{
    Fsn, ManagementMessage as M, Msu, RoutingLabel, ServiceIndicator, ServiceInformation, SignallingDataLink,
    Sls,
};

use crate::tester::{A, B, Tester, configuration_a, configuration_b};

fn management(tester: &mut Tester, user_part: &[u8]) {
    let network = tester.node.config().network;
    let service = ServiceInformation { indicator: ServiceIndicator::MANAGEMENT, network, priority: 0 };
    let label = RoutingLabel { dpc: PointCode(A), opc: PointCode(B), sls: Sls(0) };
    tester.bring_msu(0, &Msu { service, label, user_part });
}

#[test]
fn q782_13_1_unknown_heading() {
    let mut tester = Tester::ready(configuration_a(2));
    for heading in [0x00, 0x19, 0x64, 0xff] {
        management(&mut tester, &[heading, 0, 0, 0]);
    }
    assert_eq!(tester.discarded(DiscardReason::Malformed), 4);
    assert_eq!(tester.messages(), []);
    assert!(tester.is_available(0));
}

#[test]
fn q782_13_2_message_cut_short() {
    let mut tester = Tester::ready(configuration_b());
    for message in [&[0x11][..], &[0x14, 2], &[0x31, 1, 2], &[0x1a, 4, 0], &[]] {
        management(&mut tester, message);
    }
    for octets in [&[][..], &[0x03], &[0x03, 1, 2, 3], &[0x01, 1, 0x80, 0, 0, 0x11, 0xf0]] {
        tester.link(0, LinkIndication::Received(Bytes::copy_from_slice(octets)));
    }
    assert_eq!(tester.discarded(DiscardReason::Malformed), 9);
    assert!(tester.is_available(0));
}

#[test]
fn q782_13_3_link_that_is_not_there() {
    let mut tester = Tester::ready(configuration_a(2));
    for message in [M::Coo(Fsn(1)), M::Eco, M::Lin, M::Lun] {
        tester.say(0, B, 7, message);
    }
    assert_eq!(tester.discarded(DiscardReason::UnknownSubject), 4);
    assert_eq!(tester.messages(), []);
}

#[test]
fn q782_13_4_number_of_the_other_size() {
    let mut tester = Tester::ready(configuration_a(2));
    tester.aligns = false;
    tester.say(0, B, 1, M::Xco(Fsn(1)));
    assert_eq!(tester.messages(), [M::Coa(Fsn(0))]);
    assert_eq!(tester.asked_after, [(1, None)], "24 bits say nothing about a link that counts in 7");
}

#[test]
fn q782_13_5_data_link_connection() {
    let mut tester = Tester::ready(configuration_a(2));
    tester.say(0, B, 1, M::Dlc(SignallingDataLink(5)));
    assert_eq!(tester.messages(), [M::Cnp]);
    for message in [M::Css, M::Cns, M::Cnp] {
        tester.say(0, B, 1, message);
    }
    assert_eq!(tester.discarded(DiscardReason::Unexpected), 3);
}

#[test]
fn q782_13_6_user_part_that_nobody_has() {
    let mut tester = Tester::ready(configuration_a(2));
    tester.say(0, B, 0, M::Upu { destination: PointCode(B), user: 14, cause: 1 });
    assert_eq!(tester.discarded(DiscardReason::UnknownSubject), 1);
    assert_eq!(tester.indications, []);
}
