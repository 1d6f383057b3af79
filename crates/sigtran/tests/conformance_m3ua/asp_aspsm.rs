//! An ASP: state maintenance.

use slantpath_sigtran::asp::{AspMessage, AspState, ErrorCode, ServerName};
use slantpath_sigtran::m3ua::{Asp, Message};

use crate::tester::{
    AspUnderTest, CONTEXT, GATEWAY, asp_active_ack, asp_down_ack, asp_inactive_ack, asp_message, is_error,
    raw,
};

#[test]
fn m3ua_asp_aspsm_v_002_asp_up_has_version_1() {
    let mut test = AspUnderTest::connected();
    test.command(Asp::up);
    let received = test.wait_for(asp_message!(AspMessage::AspUp { .. }));
    assert_eq!((received.octets[0], received.stream.0), (1, 0));
}

#[test]
fn m3ua_asp_aspsm_v_005_asp_down_has_version_1() {
    let mut test = AspUnderTest::up();
    test.command(Asp::down);
    let received = test.wait_for(asp_message!(AspMessage::AspDown { .. }));
    assert_eq!(received.octets[0], 1);
}

#[test]
fn m3ua_asp_aspsm_v_005_alternate_asp_inactive_and_asp_down_have_version_1() {
    let mut test = AspUnderTest::active();
    test.deactivate();
    let received = test.wait_for(asp_message!(AspMessage::AspInactive { .. }));
    assert_eq!(received.octets[0], 1);
    test.send(&asp_inactive_ack());
    test.command(Asp::down);
    let received = test.wait_for(asp_message!(AspMessage::AspDown { .. }));
    assert_eq!(received.octets[0], 1);
    test.send(&asp_down_ack());
    assert!(!test.asp.is_up(GATEWAY));
}

#[test]
fn m3ua_asp_aspsm_i_001_asp_up_ack_of_another_version_is_invalid() {
    let mut test = AspUnderTest::connected();
    test.command(Asp::up);
    test.wait_for(asp_message!(AspMessage::AspUp { .. }));
    test.send_octets(0, raw(2, 3, 4, &[]));
    test.wait_for(is_error(ErrorCode::INVALID_VERSION));
    assert!(!test.asp.is_up(GATEWAY));
}

#[test]
fn m3ua_asp_aspsm_i_002_asp_down_ack_of_another_version_is_invalid() {
    let mut test = AspUnderTest::up();
    test.command(Asp::down);
    test.wait_for(asp_message!(AspMessage::AspDown { .. }));
    test.send_octets(0, raw(2, 3, 5, &[]));
    test.wait_for(is_error(ErrorCode::INVALID_VERSION));
    assert!(test.asp.is_up(GATEWAY));
}

#[test]
fn m3ua_asp_aspsm_i_002_alternate_asp_down_ack_of_another_version_is_invalid_after_traffic() {
    let mut test = AspUnderTest::active();
    test.deactivate();
    test.wait_for(asp_message!(AspMessage::AspInactive { .. }));
    test.send(&asp_inactive_ack());
    test.command(Asp::down);
    test.wait_for(asp_message!(AspMessage::AspDown { .. }));
    test.send_octets(0, raw(2, 3, 5, &[]));
    test.wait_for(is_error(ErrorCode::INVALID_VERSION));
    assert!(test.asp.is_up(GATEWAY));
}

#[test]
fn m3ua_asp_aspsm_i_003_a_reserved_type_is_unsupported() {
    let mut test = AspUnderTest::connected();
    test.command(Asp::up);
    test.wait_for(asp_message!(AspMessage::AspUp { .. }));
    test.send_octets(0, raw(1, 3, 0, &[]));
    let received = test.wait_for(is_error(ErrorCode::UNSUPPORTED_MESSAGE_TYPE));
    let Message::Asp(AspMessage::Err { diagnostic, .. }) = received.message else { panic!("{received:?}") };
    assert_eq!(diagnostic.as_deref(), Some(&raw(1, 3, 0, &[])[..]));
}

#[test]
fn m3ua_asp_aspsm_o_001_asp_down_ack_for_asp_up_lets_no_traffic_start() {
    let mut test = AspUnderTest::connected();
    test.command(Asp::up);
    test.activate();
    test.wait_for(asp_message!(AspMessage::AspUp { .. }));
    test.send(&asp_down_ack());
    test.expect_none(asp_message!(AspMessage::AspActive { .. }));
}

#[test]
fn m3ua_asp_aspsm_o_002_asp_active_ack_for_asp_up_is_unexpected() {
    let mut test = AspUnderTest::connected();
    test.command(Asp::up);
    test.wait_for(asp_message!(AspMessage::AspUp { .. }));
    test.send(&asp_active_ack(&[CONTEXT]));
    test.wait_for(is_error(ErrorCode::UNEXPECTED_MESSAGE));
    assert_eq!(test.asp.state(GATEWAY, &ServerName::Named(CONTEXT)), AspState::Down);
    test.expect_none(|message| matches!(message, Message::Data(_)));
}
