//! Message transfer at the gateway.

use slantpath_sigtran::asp::{self, ErrorCode};
use slantpath_sigtran::common::MessageKind;
use slantpath_sigtran::transport::StreamNumber;
use slantpath_sigtran_adaptations::message::CommonParameter;
use slantpath_sigtran_adaptations::sua::{Message, SuaParameter, Unitdata};

use crate::bench::{FIRST, Gateway, Own, SECOND, bare, next_version, unitdata};

/// Two application servers, each with an ASP; the second ASP may serve others too.
fn pair(second: &[u32]) -> Gateway {
    let mut bench = Gateway::new(&asp::ServerConfig::default(), &[1, 2, 3]);
    bench.active(FIRST, None, &[1]);
    bench.active(SECOND, None, second);
    bench
}

/// The next message that the second ASP gets, with its stream.
fn transferred(bench: &mut Gateway) -> (StreamNumber, Own) {
    loop {
        if let (stream, Message::Own(message)) = bench.next_on_stream(SECOND) {
            return (stream, message);
        }
    }
}

fn sequenced(sequence_control: u32) -> Unitdata {
    Unitdata { in_sequence: true, sequence_control, ..unitdata(1, 2) }
}

/// CLDT to an ASP that serves several application servers has the routing context of the one that it is for.
#[test]
fn v_01_cldt_has_the_routing_context_of_its_server() {
    let mut bench = pair(&[2, 3]);
    for (destination, context) in [(2, 2), (3, 3)] {
        bench.send_own(FIRST, 1, unitdata(1, destination).to_message(1));
        let (_, message) = transferred(&mut bench);
        assert_eq!(message.common().next(), Some(&CommonParameter::RoutingContexts(vec![context])));
    }
}

/// CLDT is transferred with its data; one that lacks a mandatory parameter is answered by ERR "Missing Parameter".
#[test]
fn v_02_cldt_is_transferred_with_its_data() {
    let mut bench = pair(&[2]);
    for sequence_control in 0..16 {
        let sent = sequenced(sequence_control);
        bench.send_own(FIRST, 1, sent.to_message(1));
        let (_, message) = transferred(&mut bench);
        assert_eq!(Unitdata::of(&message), Some(sent));
    }
    let mut lacking = unitdata(1, 2).to_message(1);
    lacking.parameters.pop();
    bench.send_own(FIRST, 1, lacking);
    bench.expect_error(FIRST, ErrorCode::MISSING_PARAMETER);
}

/// CLDT goes on streams other than 0; one that came on stream 0 is answered by ERR "Invalid Stream Identifier".
#[test]
fn v_03_cldt_has_a_stream_of_traffic() {
    let mut bench = pair(&[2]);
    for sequence_control in 0..16 {
        bench.send_own(FIRST, 1, sequenced(sequence_control).to_message(1));
        let (stream, _) = transferred(&mut bench);
        assert_ne!(stream, StreamNumber(0));
    }
    bench.send_own(FIRST, 0, unitdata(1, 2).to_message(1));
    bench.expect_error(FIRST, ErrorCode::INVALID_STREAM_IDENTIFIER);
}

/// Messages of one sequence control keep their order: they share a stream, and others may have another.
#[test]
fn v_04_a_sequence_keeps_to_its_stream() {
    let mut bench = pair(&[2]);
    let mut streams = Vec::new();
    for sequence_control in (0..16).chain(0..16) {
        bench.send_own(FIRST, 1, sequenced(sequence_control).to_message(1));
        let (stream, message) = transferred(&mut bench);
        assert!(message.own().any(|own| *own == SuaParameter::SequenceControl(sequence_control)));
        streams.push(stream);
    }
    assert_eq!(streams[..16], streams[16..]);
    assert!(streams.iter().any(|stream| *stream != streams[0]));
}

/// CLDT of another version is answered by ERR "Invalid Version".
#[test]
fn i_01_cldt_of_another_version_is_refused() {
    let mut bench = pair(&[2]);
    bench.send_octets(FIRST, 1, next_version(&Message::Own(unitdata(1, 2).to_message(1))));
    bench.expect_error(FIRST, ErrorCode::INVALID_VERSION);
}

/// A message of a reserved class is answered by ERR "Unsupported Message Class".
#[test]
fn i_02_a_reserved_class_is_refused() {
    let mut bench = pair(&[2]);
    bench.send_octets(FIRST, 0, bare(1, MessageKind { class: 99, kind: 0 }));
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_MESSAGE_CLASS);
}

/// A connectionless message of a reserved type is answered by ERR "Unsupported Message Type".
#[test]
fn i_03_a_reserved_connectionless_type_is_refused() {
    let mut bench = pair(&[2]);
    bench.send_octets(FIRST, 1, bare(1, MessageKind { class: 7, kind: 3 }));
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_MESSAGE_TYPE);
}

/// A connection-oriented message of a reserved type is answered by ERR "Unsupported Message Type".
#[test]
fn i_04_a_reserved_connection_oriented_type_is_refused() {
    let mut bench = pair(&[2]);
    bench.send_octets(FIRST, 1, bare(1, MessageKind { class: 8, kind: 12 }));
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_MESSAGE_TYPE);
}
