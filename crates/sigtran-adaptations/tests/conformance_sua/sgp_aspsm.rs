//! ASP state maintenance at the gateway.

use slantpath_sigtran::asp::{ErrorCode, Status, kind};
use slantpath_sigtran::common::MessageKind;

use crate::bench::{Asp, FIRST, Gateway, asp_active, asp_up, bare};

/// ASP Up is acknowledged.
#[test]
fn v_01_asp_up_is_acknowledged() {
    Gateway::plain().up(FIRST);
}

/// ASP Up is acknowledged, and then the inactive state notified.
#[test]
fn v_02_the_inactive_state_is_notified() {
    let mut bench = Gateway::plain();
    bench.up(FIRST);
    bench.expect_notify(FIRST, Status::AS_INACTIVE);
}

/// ASP Down is acknowledged.
#[test]
fn v_03_asp_down_is_acknowledged() {
    let mut bench = Gateway::plain();
    bench.up(FIRST);
    bench.send(FIRST, Asp::AspDown { info: None });
    assert_eq!(bench.next_answer(FIRST), Asp::AspDownAck { info: None });
}

/// ASP Up of an ASP that management has locked out is answered by ERR "Refused - Management Blocking".
#[test]
fn v_04_asp_up_of_a_locked_asp_is_refused() {
    let mut bench = Gateway::plain();
    bench.lock_out(FIRST);
    bench.send(FIRST, asp_up(Some(1)));
    bench.expect_error(FIRST, ErrorCode::REFUSED_MANAGEMENT_BLOCKING);
    bench.unlock(FIRST);
    bench.send(FIRST, asp_up(Some(1)));
    assert!(matches!(bench.next_answer(FIRST), Asp::AspUpAck { .. }));
}

/// ASP Up of another version is answered by ERR "Invalid Version".
#[test]
fn i_01_another_version_is_refused() {
    let mut bench = Gateway::plain();
    bench.send_octets(FIRST, 0, bare(2, kind::ASP_UP));
    bench.expect_error(FIRST, ErrorCode::INVALID_VERSION);
}

/// A message of a reserved type, of an ASP that is down, is answered by ERR "Unsupported Message Type".
#[test]
fn i_02_a_reserved_type_is_refused_while_down() {
    let mut bench = Gateway::plain();
    bench.send_octets(FIRST, 0, bare(1, MessageKind { class: 3, kind: 7 }));
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_MESSAGE_TYPE);
}

/// ASP Active of an ASP that is down is answered by ERR "Unexpected Message".
#[test]
fn i_03_asp_active_while_down_is_unexpected() {
    let mut bench = Gateway::plain();
    bench.send(FIRST, asp_active(None, &[1]));
    bench.expect_error(FIRST, ErrorCode::UNEXPECTED_MESSAGE);
}

/// A message of a reserved type, of an ASP that is inactive, is answered by ERR "Unsupported Message Type".
#[test]
fn i_04_a_reserved_type_is_refused_while_inactive() {
    let mut bench = Gateway::plain();
    bench.up(FIRST);
    bench.send_octets(FIRST, 0, bare(1, MessageKind { class: 3, kind: 7 }));
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_MESSAGE_TYPE);
}

/// ASP Up of an ASP that is inactive is acknowledged again.
#[test]
fn o_01_asp_up_while_inactive_is_acknowledged() {
    let mut bench = Gateway::plain();
    bench.up(FIRST);
    bench.up(FIRST);
}

/// ASP Up of an ASP that is active is answered by ERR and ASP Up Ack, and the state is notified.
#[test]
fn o_02_asp_up_while_active_makes_the_asp_inactive() {
    let mut bench = Gateway::plain();
    bench.active(FIRST, None, &[1]);
    bench.send(FIRST, asp_up(Some(1)));
    let (mut errors, mut acks) = (0, 0);
    for _ in 0..2 {
        match bench.next_answer(FIRST) {
            Asp::Err { code: ErrorCode::UNEXPECTED_MESSAGE, .. } => errors += 1,
            Asp::AspUpAck { .. } => acks += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((errors, acks), (1, 1));
    // T(r) runs first: the server is pending, and inactive when it has expired.
    bench.expect_notify(FIRST, Status::AS_PENDING);
    bench.wait_for_recovery();
    bench.expect_notify(FIRST, Status::AS_INACTIVE);
}

/// ASP Down of an ASP that is down is acknowledged.
#[test]
fn o_03_asp_down_while_down_is_acknowledged() {
    let mut bench = Gateway::plain();
    bench.send(FIRST, Asp::AspDown { info: None });
    assert_eq!(bench.next_answer(FIRST), Asp::AspDownAck { info: None });
}
