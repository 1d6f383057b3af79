//! An ASP: traffic maintenance and heartbeats.

use slantpath_sigtran::asp::{AspMessage, AspState, ErrorCode, ServerName};
use slantpath_sigtran::m3ua::Message;

use crate::tester::{
    AspUnderTest, CONTEXT, GATEWAY, asp_active_ack, asp_message, asp_up_ack, beat, is_error, raw,
};

fn state(test: &AspUnderTest) -> AspState {
    test.asp.state(GATEWAY, &ServerName::Named(CONTEXT))
}

#[test]
fn m3ua_asp_asptm_v_001_an_asp_that_is_up_asks_to_become_active() {
    let mut test = AspUnderTest::up();
    test.activate();
    test.wait_for(asp_message!(AspMessage::AspActive { .. }));
    assert_eq!(state(&test), AspState::Inactive);
    test.send(&asp_active_ack(&[CONTEXT]));
    assert_eq!(state(&test), AspState::Active);
}

#[test]
fn m3ua_asp_asptm_v_002_asp_active_has_version_1() {
    let mut test = AspUnderTest::up();
    test.activate();
    let received = test.wait_for(asp_message!(AspMessage::AspActive { .. }));
    assert_eq!(received.octets[0], 1);
}

#[test]
fn m3ua_asp_asptm_v_005_asp_inactive_has_version_1() {
    let mut test = AspUnderTest::active();
    test.deactivate();
    let received = test.wait_for(asp_message!(AspMessage::AspInactive { .. }));
    assert_eq!(received.octets[0], 1);
}

#[test]
fn m3ua_asp_asptm_v_007_beat_is_answered() {
    let mut test = AspUnderTest::active();
    test.send(&beat(b"M3UA rocks"));
    test.wait_for(asp_message!(AspMessage::BeatAck { .. }));
}

#[test]
fn m3ua_asp_asptm_v_008_beat_ack_has_the_data_unchanged() {
    let mut test = AspUnderTest::active();
    let data: Vec<u8> = (0..13_u8).map(|octet| octet.wrapping_mul(37)).collect();
    test.send(&beat(&data));
    let received = test.wait_for(asp_message!(AspMessage::BeatAck { .. }));
    assert_eq!(received.message, Message::Asp(AspMessage::BeatAck { data: Some(data) }));
}

#[test]
fn m3ua_asp_asptm_i_001_asp_active_ack_of_another_version_is_invalid() {
    let mut test = AspUnderTest::up();
    test.activate();
    test.wait_for(asp_message!(AspMessage::AspActive { .. }));
    test.send_octets(0, raw(2, 4, 3, &[]));
    test.wait_for(is_error(ErrorCode::INVALID_VERSION));
    assert_eq!(state(&test), AspState::Inactive);
}

#[test]
fn m3ua_asp_asptm_i_002_asp_inactive_ack_of_another_version_is_invalid() {
    let mut test = AspUnderTest::active();
    test.deactivate();
    test.wait_for(asp_message!(AspMessage::AspInactive { .. }));
    test.send_octets(0, raw(2, 4, 4, &[]));
    test.wait_for(is_error(ErrorCode::INVALID_VERSION));
    assert_eq!(state(&test), AspState::Active);
}

#[test]
fn m3ua_asp_asptm_i_003_a_reserved_type_is_unsupported() {
    let mut test = AspUnderTest::up();
    test.activate();
    test.wait_for(asp_message!(AspMessage::AspActive { .. }));
    test.send_octets(0, raw(1, 4, 0, &[]));
    test.wait_for(is_error(ErrorCode::UNSUPPORTED_MESSAGE_TYPE));
}

#[test]
fn m3ua_asp_asptm_o_001_asp_up_ack_for_asp_active_lets_no_data_flow() {
    let mut test = AspUnderTest::up();
    test.activate();
    test.wait_for(asp_message!(AspMessage::AspActive { .. }));
    test.send(&asp_up_ack());
    assert_eq!(state(&test), AspState::Inactive);
    // The request is not answered yet: it comes again.
    test.wait_for(asp_message!(AspMessage::AspActive { .. }));
    test.expect_none(|message| matches!(message, Message::Data(_)));
}
