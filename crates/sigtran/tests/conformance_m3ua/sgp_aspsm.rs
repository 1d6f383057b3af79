//! An SGP: state maintenance.

use slantpath_base::Duration;
use slantpath_sigtran::asp::{AspMessage, AspState, ErrorCode, GatewayConfig, Status};
use slantpath_sigtran::m3ua::SgpConfig;
use slantpath_sigtran::transport::AssociationNumber;

use crate::tester::{
    CONTEXT, POINT, SgpUnderTest, asp_active, asp_down, asp_message, asp_up, is_error, is_notify, raw, server,
};

const ASP: AssociationNumber = AssociationNumber(0);

#[test]
fn m3ua_sgp_aspsm_v_001_asp_up_is_acknowledged() {
    let mut test = SgpUnderTest::connected(1);
    test.send(0, &asp_up(None));
    let received = test.wait_for(0, asp_message!(AspMessage::AspUpAck { .. }));
    assert_eq!((received.octets[0], received.stream.0), (1, 0));
}

#[test]
fn m3ua_sgp_aspsm_v_003_asp_up_is_acknowledged_and_as_inactive_notified() {
    let mut test = SgpUnderTest::connected(1);
    test.send(0, &asp_up(None));
    test.wait_for(0, asp_message!(AspMessage::AspUpAck { .. }));
    test.wait_for(0, is_notify(Status::AS_INACTIVE));
}

#[test]
fn m3ua_sgp_aspsm_v_005_asp_down_is_acknowledged() {
    let mut test = SgpUnderTest::up();
    test.send(0, &asp_down());
    test.wait_for(0, asp_message!(AspMessage::AspDownAck { .. }));
    assert_eq!(test.sgp.asp_state(ASP, CONTEXT), AspState::Down);
}

#[test]
fn m3ua_sgp_aspsm_v_009_asp_up_of_an_asp_that_is_locked_out_is_refused() {
    let mut test = SgpUnderTest::connected(1);
    test.sgp.lock_out(slantpath_base::Instant::START, ASP);
    test.collect();
    test.send(0, &asp_up(None));
    test.wait_for(0, is_error(ErrorCode::REFUSED_MANAGEMENT_BLOCKING));
    assert_eq!(test.sgp.asp_state(ASP, CONTEXT), AspState::Down);
    test.sgp.unlock(ASP);
    test.send(0, &asp_up(None));
    test.wait_for(0, asp_message!(AspMessage::AspUpAck { .. }));
    assert_eq!(test.sgp.asp_state(ASP, CONTEXT), AspState::Inactive);
}

#[test]
fn m3ua_sgp_aspsm_i_001_asp_up_of_another_version_is_invalid() {
    let mut test = SgpUnderTest::connected(1);
    test.send_octets(0, 0, raw(2, 3, 1, &[]));
    test.wait_for(0, is_error(ErrorCode::INVALID_VERSION));
}

#[test]
fn m3ua_sgp_aspsm_i_002_a_reserved_type_is_unsupported_while_down() {
    let mut test = SgpUnderTest::connected(1);
    test.send_octets(0, 0, raw(1, 3, 0, &[]));
    test.wait_for(0, is_error(ErrorCode::UNSUPPORTED_MESSAGE_TYPE));
}

#[test]
fn m3ua_sgp_aspsm_i_003_asp_active_before_asp_up_is_unexpected() {
    let mut test = SgpUnderTest::connected(1);
    test.send(0, &asp_active(None, &[]));
    test.wait_for(0, is_error(ErrorCode::UNEXPECTED_MESSAGE));
    assert_eq!(test.sgp.asp_state(ASP, CONTEXT), AspState::Down);
}

#[test]
fn m3ua_sgp_aspsm_i_004_a_reserved_type_is_unsupported_while_up() {
    let mut test = SgpUnderTest::up();
    test.send_octets(0, 0, raw(1, 3, 0, &[]));
    test.wait_for(0, is_error(ErrorCode::UNSUPPORTED_MESSAGE_TYPE));
    assert_eq!(test.sgp.asp_state(ASP, CONTEXT), AspState::Inactive);
}

#[test]
fn m3ua_sgp_aspsm_o_001_asp_up_while_up_is_acknowledged() {
    let mut test = SgpUnderTest::up();
    test.send(0, &asp_up(Some(1)));
    test.wait_for(0, asp_message!(AspMessage::AspUpAck { .. }));
    assert_eq!(test.sgp.asp_state(ASP, CONTEXT), AspState::Inactive);
}

#[test]
fn m3ua_sgp_aspsm_o_003_asp_up_while_active_is_unexpected_acknowledged_and_ends_the_traffic() {
    // RFC 4666 keeps the traffic waiting for T(r) before AS-INACTIVE; RFC 3332 did not.
    let gateway = GatewayConfig { recovery: Duration::ZERO, ..GatewayConfig::default() };
    let servers = vec![server(CONTEXT, POINT, None, 1)];
    let mut test = SgpUnderTest::with(SgpConfig { gateway, servers, ..SgpConfig::default() }, 1);
    test.come_up(0);
    test.become_active(0, None, &[]);
    test.send(0, &asp_up(Some(1)));
    test.wait_for(0, is_error(ErrorCode::UNEXPECTED_MESSAGE));
    test.wait_for(0, asp_message!(AspMessage::AspUpAck { .. }));
    test.wait_for(0, is_notify(Status::AS_INACTIVE));
    assert_eq!(test.sgp.asp_state(ASP, CONTEXT), AspState::Inactive);
}

#[test]
fn m3ua_sgp_aspsm_o_004_asp_down_while_down_is_acknowledged() {
    let mut test = SgpUnderTest::connected(1);
    test.send(0, &asp_down());
    test.wait_for(0, asp_message!(AspMessage::AspDownAck { .. }));
}
