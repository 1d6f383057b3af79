//! An SGP: traffic maintenance, heartbeats, and what it notifies.

use slantpath_sigtran::asp::{AspMessage, AspState, ErrorCode, Status, TrafficMode};
use slantpath_sigtran::m3ua::{Message, SgpConfig};
use slantpath_sigtran::transport::AssociationNumber;

use crate::tester::{
    CONTEXT, INVALID_CONTEXT, POINT, SgpUnderTest, asp_active, asp_inactive, asp_message, asp_up, beat,
    is_error, is_notify, raw, server,
};

fn state(test: &SgpUnderTest, association: u32) -> AspState {
    test.sgp.asp_state(AssociationNumber(association), CONTEXT)
}

/// An SGP whose application server has a traffic mode, and two ASPs that are up.
fn two_up(mode: TrafficMode, needed_active: usize) -> SgpUnderTest {
    let servers = vec![server(CONTEXT, POINT, Some(mode), needed_active)];
    let mut test = SgpUnderTest::with(SgpConfig { servers, ..SgpConfig::default() }, 2);
    test.come_up(0);
    test.come_up(1);
    test
}

#[test]
fn m3ua_sgp_asptm_v_001_asp_active_is_acknowledged() {
    let mut test = SgpUnderTest::up();
    test.send(0, &asp_active(None, &[]));
    test.wait_for(0, asp_message!(AspMessage::AspActiveAck { .. }));
    assert_eq!(state(&test, 0), AspState::Active);
}

#[test]
fn m3ua_sgp_asptm_v_003_asp_active_is_acknowledged_and_as_active_notified() {
    let mut test = SgpUnderTest::up();
    test.send(0, &asp_active(None, &[]));
    test.wait_for(0, asp_message!(AspMessage::AspActiveAck { .. }));
    test.wait_for(0, is_notify(Status::AS_ACTIVE));
}

#[test]
fn m3ua_sgp_asptm_v_005_asp_active_ack_has_the_routing_context_of_asp_active() {
    let mut test = SgpUnderTest::up();
    test.send(0, &asp_active(None, &[CONTEXT]));
    let received = test.wait_for(0, asp_message!(AspMessage::AspActiveAck { .. }));
    assert_eq!(received.contexts(), [CONTEXT]);
}

#[test]
fn m3ua_sgp_asptm_v_006_asp_inactive_is_acknowledged() {
    let mut test = SgpUnderTest::active();
    test.send(0, &asp_inactive());
    test.wait_for(0, asp_message!(AspMessage::AspInactiveAck { .. }));
    assert_eq!(state(&test, 0), AspState::Inactive);
}

#[test]
fn m3ua_sgp_asptm_v_008_asp_inactive_of_the_last_asp_is_acknowledged_and_as_pending_notified() {
    let mut test = SgpUnderTest::active();
    test.send(0, &asp_inactive());
    test.wait_for(0, asp_message!(AspMessage::AspInactiveAck { .. }));
    test.wait_for(0, is_notify(Status::AS_PENDING));
}

#[test]
fn m3ua_sgp_asptm_v_010_beat_is_answered() {
    let mut test = SgpUnderTest::active();
    test.send(0, &beat(b"M3UA rocks"));
    test.wait_for(0, asp_message!(AspMessage::BeatAck { .. }));
}

#[test]
fn m3ua_sgp_asptm_v_011_beat_ack_has_the_data_unchanged() {
    let mut test = SgpUnderTest::active();
    let data: Vec<u8> = (0..13_u8).map(|octet| octet.wrapping_mul(151)).collect();
    test.send(0, &beat(&data));
    let received = test.wait_for(0, asp_message!(AspMessage::BeatAck { .. }));
    assert_eq!(received.message, Message::Asp(AspMessage::BeatAck { data: Some(data) }));
}

#[test]
fn m3ua_sgp_asptm_v_013_too_few_active_asps_are_notified_to_the_inactive() {
    let mut test = two_up(TrafficMode::Broadcast, 2);
    test.become_active(0, Some(TrafficMode::Broadcast), &[]);
    test.become_active(1, Some(TrafficMode::Broadcast), &[]);
    test.send(0, &asp_inactive());
    test.wait_for(0, asp_message!(AspMessage::AspInactiveAck { .. }));
    test.wait_for(0, is_notify(Status::INSUFFICIENT_ASP_RESOURCES));
}

/// The NTFY "Alternate ASP Active" that an overridden ASP gets.
fn overridden() -> Message {
    let mut test = two_up(TrafficMode::Override, 1);
    test.become_active(1, Some(TrafficMode::Override), &[]);
    test.become_active(0, Some(TrafficMode::Override), &[]);
    let received = test.wait_for(1, is_notify(Status::ALTERNATE_ASP_ACTIVE));
    assert_eq!((state(&test, 0), state(&test, 1)), (AspState::Active, AspState::Inactive));
    received.message
}

#[test]
fn m3ua_sgp_asptm_v_014_an_overridden_asp_is_notified() {
    overridden();
}

#[test]
fn m3ua_sgp_asptm_v_015_an_overridden_asp_is_notified_of_the_identifier_of_the_other() {
    let Message::Asp(AspMessage::Ntfy { asp_identifier, .. }) = overridden() else { panic!("no NTFY") };
    assert_eq!(asp_identifier, Some(1));
}

#[test]
fn m3ua_sgp_asptm_i_001_asp_active_of_another_version_is_invalid() {
    let mut test = SgpUnderTest::up();
    test.send_octets(0, 0, raw(2, 4, 1, &[]));
    test.wait_for(0, is_error(ErrorCode::INVALID_VERSION));
    assert_eq!(state(&test, 0), AspState::Inactive);
}

#[test]
fn m3ua_sgp_asptm_i_003_a_traffic_mode_that_the_application_server_does_not_have_is_unsupported() {
    let mut test = two_up(TrafficMode::Loadshare, 1);
    test.send(0, &asp_active(Some(TrafficMode::Broadcast), &[]));
    test.wait_for(0, is_error(ErrorCode::UNSUPPORTED_TRAFFIC_MODE_TYPE));
    assert_eq!(state(&test, 0), AspState::Inactive);
}

#[test]
fn m3ua_sgp_asptm_i_004_a_traffic_mode_that_there_is_not_is_unsupported() {
    let mut test = SgpUnderTest::up();
    test.send_octets(0, 0, raw(1, 4, 1, &[0, 11, 0, 8, 0, 0, 0, 4]));
    test.wait_for(0, is_error(ErrorCode::UNSUPPORTED_TRAFFIC_MODE_TYPE));
    assert_eq!(state(&test, 0), AspState::Inactive);
}

#[test]
fn m3ua_sgp_asptm_i_005_a_routing_context_that_is_not_configured_is_invalid() {
    let mut test = SgpUnderTest::up();
    test.send(0, &asp_active(None, &[INVALID_CONTEXT]));
    let received = test.wait_for(0, is_error(ErrorCode::INVALID_ROUTING_CONTEXT));
    assert_eq!(received.contexts(), [INVALID_CONTEXT]);
}

#[test]
fn m3ua_sgp_asptm_i_006_a_reserved_type_is_unsupported_while_inactive() {
    let mut test = SgpUnderTest::up();
    test.send_octets(0, 0, raw(1, 4, 5, &[]));
    test.wait_for(0, is_error(ErrorCode::UNSUPPORTED_MESSAGE_TYPE));
}

#[test]
fn m3ua_sgp_asptm_i_008_a_reserved_type_is_unsupported_while_active() {
    let mut test = SgpUnderTest::active();
    test.send_octets(0, 0, raw(1, 4, 5, &[]));
    test.wait_for(0, is_error(ErrorCode::UNSUPPORTED_MESSAGE_TYPE));
    assert_eq!(state(&test, 0), AspState::Active);
}

#[test]
fn m3ua_sgp_asptm_i_009_an_asp_that_fails_is_notified_to_the_others_with_its_identifier() {
    let mut test = two_up(TrafficMode::Override, 1);
    test.become_active(0, Some(TrafficMode::Override), &[]);
    test.become_active(1, Some(TrafficMode::Override), &[]);
    test.close(0);
    let received = test.wait_for(1, is_notify(Status::ASP_FAILURE));
    let Message::Asp(AspMessage::Ntfy { asp_identifier, .. }) = received.message else {
        panic!("{received:?}")
    };
    assert_eq!(asp_identifier, Some(1));
}

#[test]
fn m3ua_sgp_asptm_i_010_asp_inactive_without_routing_context_is_for_all() {
    let mut test = SgpUnderTest::up();
    test.become_active(0, None, &[CONTEXT]);
    test.send(0, &asp_inactive());
    test.wait_for(0, asp_message!(AspMessage::AspInactiveAck { .. }));
    assert_eq!(state(&test, 0), AspState::Inactive);
}

#[test]
fn m3ua_sgp_asptm_o_001_asp_active_while_active_is_acknowledged() {
    let mut test = SgpUnderTest::active();
    test.send(0, &asp_active(None, &[]));
    test.wait_for(0, asp_message!(AspMessage::AspActiveAck { .. }));
    assert_eq!(state(&test, 0), AspState::Active);
}

#[test]
fn m3ua_sgp_asptm_o_003_asp_inactive_while_inactive_is_acknowledged() {
    let mut test = SgpUnderTest::connected(1);
    test.send(0, &asp_up(None));
    test.send(0, &asp_inactive());
    test.wait_for(0, asp_message!(AspMessage::AspInactiveAck { .. }));
    assert_eq!(state(&test, 0), AspState::Inactive);
}
