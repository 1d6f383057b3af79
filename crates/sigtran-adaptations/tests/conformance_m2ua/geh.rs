//! General error handling.

use bytes::Bytes;
use slantpath_sigtran::asp::ErrorCode;
use slantpath_sigtran_adaptations::interface::Interfaces;
use slantpath_sigtran_adaptations::m2ua::{M2uaParameter, Message, kind};
use slantpath_sigtran_adaptations::message::{CommonParameter, OwnMessage};

use crate::bench::{Bench, FIRST, NOWHERE, Plan, about, asp_active, asp_inactive, interfaces, text};

/// The named interface of an Establish Request by text.
fn establish_by_text() -> OwnMessage<M2uaParameter> {
    let name = CommonParameter::InterfaceText(Bytes::from_static(b"Hallo"));
    OwnMessage::empty(kind::ESTABLISH_REQUEST).with_common(name)
}

/// ASP Active for an interface that is not configured is answered by ERR "Invalid Interface Identifier".
#[test]
fn t_01_1_asp_active_for_an_unknown_interface_is_an_error() {
    let mut bench = Bench::new(&Plan::default());
    bench.inactive(FIRST);
    bench.send_asp(FIRST, asp_active(None, interfaces(&[1, NOWHERE])));
    let scope = bench.expect_error(FIRST, ErrorCode::INVALID_INTERFACE_IDENTIFIER);
    assert_eq!(scope, interfaces(&[NOWHERE]));
}

/// ASP Inactive for an interface that is not configured is answered by ERR "Invalid Interface Identifier".
#[test]
fn t_01_2_asp_inactive_for_an_unknown_interface_is_an_error() {
    let mut bench = Bench::new(&Plan::default());
    bench.active(FIRST, 1);
    bench.send_asp(FIRST, asp_inactive(interfaces(&[NOWHERE])));
    let scope = bench.expect_error(FIRST, ErrorCode::INVALID_INTERFACE_IDENTIFIER);
    assert_eq!(scope, interfaces(&[NOWHERE]));
}

/// Establish Request for an interface that is not configured is answered by ERR "Invalid Interface Identifier".
#[test]
fn t_01_3_establish_for_an_unknown_interface_is_an_error() {
    let mut bench = Bench::new(&Plan::default());
    bench.active(FIRST, 1);
    bench.send(FIRST, 1, about(NOWHERE, kind::ESTABLISH_REQUEST));
    let scope = bench.expect_error(FIRST, ErrorCode::INVALID_INTERFACE_IDENTIFIER);
    assert_eq!(scope, interfaces(&[NOWHERE]));
}

/// ASP Active with a traffic mode that does not exist is answered by ERR "Unsupported Traffic Handling Mode".
#[test]
fn t_02_a_traffic_mode_that_does_not_exist_is_an_error() {
    let mut bench = Bench::new(&Plan::default());
    bench.inactive(FIRST);
    bench.send_octets(FIRST, 0, vec![1, 0, 4, 1, 0, 0, 0, 16, 0, 0x0b, 0, 8, 0, 0, 0, 4]);
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_TRAFFIC_MODE_TYPE);
}

/// ASP Active for an interface named by text is answered by ERR "Unsupported Interface Identifier Type".
#[test]
fn t_03_1_text_in_asp_active_is_an_error() {
    let mut bench = Bench::new(&Plan::default());
    bench.inactive(FIRST);
    bench.send_asp(FIRST, asp_active(None, text("Hallo")));
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_INTERFACE_IDENTIFIER_TYPE);
}

/// ASP Inactive for an interface named by text is answered by ERR "Unsupported Interface Identifier Type".
#[test]
fn t_03_2_text_in_asp_inactive_is_an_error() {
    let mut bench = Bench::new(&Plan::default());
    bench.active(FIRST, 1);
    bench.send_asp(FIRST, asp_inactive(text("Hallo")));
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_INTERFACE_IDENTIFIER_TYPE);
}

/// Establish Request for an interface named by text is answered by ERR "Unsupported Interface Identifier Type".
#[test]
fn t_03_3_text_in_establish_is_an_error() {
    let mut bench = Bench::new(&Plan::default());
    bench.active(FIRST, 1);
    bench.send(FIRST, 1, establish_by_text());
    let scope = bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_INTERFACE_IDENTIFIER_TYPE);
    assert_eq!(scope, text("Hallo"));
}

/// A message of a reserved class is answered by ERR "Unsupported Message Class", even before ASP Up.
#[test]
fn t_04_a_reserved_class_is_an_error() {
    let mut bench = Bench::new(&Plan::default());
    bench.send_octets(FIRST, 0, vec![1, 0, 99, 0, 0, 0, 0, 8]);
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_MESSAGE_CLASS);
}

/// A State Request for a state that does not exist is answered by ERR "Invalid Parameter Value".
#[test]
fn t_05_a_state_that_does_not_exist_is_an_error() {
    let mut bench = Bench::in_service();
    let octets = vec![1, 0, 6, 7, 0, 0, 0, 24, 0, 1, 0, 8, 0, 0, 0, 1, 3, 2, 0, 8, 0, 0, 0xab, 0xcd];
    bench.send_octets(FIRST, 1, octets);
    bench.expect_error(FIRST, ErrorCode::INVALID_PARAMETER_VALUE);
}

/// A parameter whose length is less than its header is answered by ERR "Parameter Field Error".
#[test]
fn t_06_1_a_parameter_shorter_than_its_header_is_an_error() {
    let mut bench = Bench::new(&Plan::default());
    bench.send_octets(FIRST, 0, vec![1, 0, 3, 1, 0, 0, 0, 12, 0, 4, 0, 3]);
    bench.expect_error(FIRST, ErrorCode::PARAMETER_FIELD_ERROR);
}

/// An integer interface identifier without its integer is answered by ERR "Parameter Field Error".
#[test]
fn t_06_2_an_interface_identifier_without_value_is_an_error() {
    let mut bench = Bench::new(&Plan::default());
    bench.active(FIRST, 1);
    bench.send_octets(FIRST, 1, vec![1, 0, 6, 2, 0, 0, 0, 12, 0, 1, 0, 4]);
    bench.expect_error(FIRST, ErrorCode::PARAMETER_FIELD_ERROR);
}

/// ASP Up with a parameter that it does not have is answered by ERR "Unexpected Parameter".
#[test]
fn t_07_a_parameter_out_of_place_is_an_error() {
    let mut bench = Bench::new(&Plan::default());
    bench.send_octets(FIRST, 0, vec![1, 0, 3, 1, 0, 0, 0, 16, 0, 0x0b, 0, 8, 0, 0, 0, 4]);
    bench.expect_error(FIRST, ErrorCode::UNEXPECTED_PARAMETER);
}

/// Establish Request without an interface identifier is answered by ERR "Missing Parameter".
#[test]
fn t_08_a_missing_interface_identifier_is_an_error() {
    let mut bench = Bench::new(&Plan::default());
    bench.active(FIRST, 1);
    let octets = Message::Own(OwnMessage::empty(kind::ESTABLISH_REQUEST)).to_bytes().to_vec();
    bench.send_octets(FIRST, 1, octets);
    let scope = bench.expect_error(FIRST, ErrorCode::MISSING_PARAMETER);
    assert_eq!(scope, Interfaces::default());
}
