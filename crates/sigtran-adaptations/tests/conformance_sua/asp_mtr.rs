//! Message transfer at the ASP.

use slantpath_sigtran::asp::ErrorCode;
use slantpath_sigtran::common::MessageKind;
use slantpath_sigtran::transport::StreamNumber;
use slantpath_sigtran_adaptations::message::CommonParameter;
use slantpath_sigtran_adaptations::sua::{Message, Unitdata};

use crate::bench::{Own, Process, bare, next_version, unitdata};

/// Gives the message that the ASP sends for one N-UNITDATA, and its stream.
fn sent() -> (StreamNumber, Own) {
    let mut process = Process::active();
    assert!(process.asp.unitdata(1, &unitdata(1, 2)));
    match process.next_on_stream() {
        (stream, Message::Own(message)) => (stream, message),
        (_, Message::Asp(other)) => panic!("no CLDT: {other:?}"),
    }
}

/// CLDT carries the routing context.
#[test]
fn v_01_cldt_has_its_routing_context() {
    let (_, message) = sent();
    assert_eq!(message.common().next(), Some(&CommonParameter::RoutingContexts(vec![1])));
}

/// CLDT carries the user's data, and its addresses.
#[test]
fn v_02_cldt_has_its_data() {
    let (_, message) = sent();
    assert_eq!(Unitdata::of(&message), Some(unitdata(1, 2)));
}

/// CLDT goes on a stream other than 0.
#[test]
fn v_03_cldt_has_a_stream_of_traffic() {
    let (stream, _) = sent();
    assert_ne!(stream, StreamNumber(0));
}

/// CLDT of another version is answered by ERR "Invalid Version".
#[test]
fn i_01_cldt_of_another_version_is_refused() {
    let mut process = Process::active();
    process.send_octets(1, next_version(&Message::Own(unitdata(2, 1).to_message(1))));
    process.expect_error(ErrorCode::INVALID_VERSION);
    assert!(process.indicated.is_empty());
}

/// A message of a reserved class is answered by ERR "Unsupported Message Class".
#[test]
fn i_02_a_reserved_class_is_refused() {
    let mut process = Process::active();
    process.send_octets(0, bare(1, MessageKind { class: 99, kind: 0 }));
    process.expect_error(ErrorCode::UNSUPPORTED_MESSAGE_CLASS);
}

/// A connectionless message of a reserved type is answered by ERR "Unsupported Message Type".
#[test]
fn i_03_a_reserved_connectionless_type_is_refused() {
    let mut process = Process::active();
    process.send_octets(1, bare(1, MessageKind { class: 7, kind: 3 }));
    process.expect_error(ErrorCode::UNSUPPORTED_MESSAGE_TYPE);
}

/// A connection-oriented message of a reserved type is answered by ERR "Unsupported Message Type".
#[test]
fn i_04_a_reserved_connection_oriented_type_is_refused() {
    let mut process = Process::active();
    process.send_octets(1, bare(1, MessageKind { class: 8, kind: 12 }));
    process.expect_error(ErrorCode::UNSUPPORTED_MESSAGE_TYPE);
}
