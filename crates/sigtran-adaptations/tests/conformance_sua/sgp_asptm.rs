//! ASP traffic maintenance at the gateway.

use slantpath_sigtran::asp::{self, ErrorCode, Status, TrafficMode, kind};
use slantpath_sigtran::common::MessageKind;

use crate::bench::{Asp, FIRST, Gateway, NOWHERE, SECOND, asp_active, asp_inactive, bare, contexts};

/// Two ASPs in override mode, of which the second becomes active and the first takes the traffic over.
fn overridden() -> Gateway {
    let mut bench = Gateway::plain();
    bench.up(FIRST);
    bench.active(SECOND, Some(TrafficMode::Override), &[1]);
    bench.send(FIRST, asp_active(Some(TrafficMode::Override), &[1]));
    assert!(matches!(bench.next_answer(FIRST), Asp::AspActiveAck { .. }));
    bench
}

/// ASP Active is acknowledged.
#[test]
fn v_01_asp_active_is_acknowledged() {
    Gateway::plain().active(FIRST, None, &[]);
}

/// ASP Active is acknowledged, and then the active state notified.
#[test]
fn v_02_the_active_state_is_notified() {
    let mut bench = Gateway::plain();
    bench.active(FIRST, None, &[]);
    bench.expect_notify(FIRST, Status::AS_ACTIVE);
}

/// ASP Active Ack has the routing context of ASP Active.
#[test]
fn v_03_asp_active_ack_has_the_routing_context() {
    Gateway::plain().active(FIRST, None, &[1]);
}

/// ASP Inactive is acknowledged.
#[test]
fn v_04_asp_inactive_is_acknowledged() {
    let mut bench = Gateway::plain();
    bench.active(FIRST, None, &[1]);
    bench.send(FIRST, asp_inactive(&[1]));
    assert_eq!(bench.next_answer(FIRST), Asp::AspInactiveAck { scope: contexts(&[1]), info: None });
}

/// Only active ASP becomes inactive: the pending state is notified after the acknowledgement.
#[test]
fn v_05_the_pending_state_is_notified() {
    let mut bench = Gateway::plain();
    bench.active(FIRST, None, &[1]);
    bench.send(FIRST, asp_inactive(&[1]));
    assert!(matches!(bench.next_answer(FIRST), Asp::AspInactiveAck { .. }));
    bench.expect_notify(FIRST, Status::AS_PENDING);
}

/// BEAT is acknowledged.
#[test]
fn v_06_beat_is_acknowledged() {
    let mut bench = Gateway::plain();
    bench.active(FIRST, None, &[1]);
    bench.send(FIRST, Asp::Beat { data: None });
    assert_eq!(bench.next_answer(FIRST), Asp::BeatAck { data: None });
}

/// BEAT Ack has the data of BEAT, unchanged.
#[test]
fn v_07_beat_ack_has_the_same_data() {
    let mut bench = Gateway::plain();
    bench.active(FIRST, None, &[1]);
    let data = Some(b"thirteen long".to_vec());
    bench.send(FIRST, Asp::Beat { data: data.clone() });
    assert_eq!(bench.next_answer(FIRST), Asp::BeatAck { data });
}

/// ASP leaves a broadcast that needs two: the inactive one is notified of insufficient resources.
#[test]
fn v_08_insufficient_resources_are_notified() {
    let server = asp::ServerConfig {
        traffic_mode: Some(TrafficMode::Broadcast),
        needed_active: 2,
        ..asp::ServerConfig::default()
    };
    let mut bench = Gateway::new(&server, &[1]);
    bench.active(FIRST, Some(TrafficMode::Broadcast), &[]);
    bench.active(SECOND, Some(TrafficMode::Broadcast), &[]);
    bench.send(FIRST, asp_inactive(&[]));
    assert!(matches!(bench.next_answer(FIRST), Asp::AspInactiveAck { .. }));
    bench.expect_notify(FIRST, Status::INSUFFICIENT_ASP_RESOURCES);
}

/// An ASP that is overridden is notified that another is active.
#[test]
fn v_09_an_overridden_asp_is_notified() {
    overridden().expect_notify(SECOND, Status::ALTERNATE_ASP_ACTIVE);
}

/// The notification of an overridden ASP has the identifier of the other.
#[test]
fn v_10_the_notification_names_the_other_asp() {
    let mut bench = overridden();
    assert_eq!(bench.expect_notify(SECOND, Status::ALTERNATE_ASP_ACTIVE), Some(FIRST.0));
}

/// ASP Active of another version is answered by ERR "Invalid Version".
#[test]
fn i_01_another_version_is_refused() {
    let mut bench = Gateway::plain();
    bench.up(FIRST);
    bench.send_octets(FIRST, 0, bare(2, kind::ASP_ACTIVE));
    bench.expect_error(FIRST, ErrorCode::INVALID_VERSION);
}

/// ASP Active with another traffic mode than the server has is answered by ERR "Unsupported Traffic Handling Mode".
#[test]
fn i_02_another_traffic_mode_is_refused() {
    let server =
        asp::ServerConfig { traffic_mode: Some(TrafficMode::Override), ..asp::ServerConfig::default() };
    let mut bench = Gateway::new(&server, &[1]);
    bench.up(FIRST);
    bench.send(FIRST, asp_active(Some(TrafficMode::Broadcast), &[]));
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_TRAFFIC_MODE_TYPE);
}

/// ASP Active with a traffic mode that does not exist is answered by ERR "Unsupported Traffic Handling Mode".
#[test]
fn i_03_a_traffic_mode_that_does_not_exist_is_refused() {
    let mut bench = Gateway::plain();
    bench.up(FIRST);
    bench.send_octets(FIRST, 0, vec![1, 0, 4, 1, 0, 0, 0, 16, 0, 0x0b, 0, 8, 0, 0, 0, 4]);
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_TRAFFIC_MODE_TYPE);
}

/// ASP Active for a routing context that is not configured is answered by ERR "Invalid Routing Context", with it.
#[test]
fn i_04_an_unknown_routing_context_is_refused() {
    let mut bench = Gateway::plain();
    bench.up(FIRST);
    bench.send(FIRST, asp_active(None, &[NOWHERE]));
    let error = bench.expect_error(FIRST, ErrorCode::INVALID_ROUTING_CONTEXT);
    assert!(matches!(error, Asp::Err { scope, .. } if scope == contexts(&[NOWHERE])));
}

/// A message of a reserved type, of an ASP that is inactive, is answered by ERR "Unsupported Message Type".
#[test]
fn i_05_a_reserved_type_is_refused_while_inactive() {
    let mut bench = Gateway::plain();
    bench.up(FIRST);
    bench.send_octets(FIRST, 0, bare(1, MessageKind { class: 4, kind: 5 }));
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_MESSAGE_TYPE);
}

/// A message of a reserved type, of an ASP that is active, is answered by ERR "Unsupported Message Type".
#[test]
fn i_06_a_reserved_type_is_refused_while_active() {
    let mut bench = Gateway::plain();
    bench.active(FIRST, None, &[1]);
    bench.send_octets(FIRST, 0, bare(1, MessageKind { class: 4, kind: 5 }));
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_MESSAGE_TYPE);
}

/// ASP is lost: the other one is notified of its failure, with its identifier.
#[test]
fn i_07_the_failure_of_an_asp_is_notified() {
    let mut bench = Gateway::plain();
    bench.active(FIRST, Some(TrafficMode::Override), &[]);
    bench.active(SECOND, Some(TrafficMode::Override), &[]);
    bench.close(FIRST);
    assert_eq!(bench.expect_notify(SECOND, Status::ASP_FAILURE), Some(FIRST.0));
}

/// ASP Inactive of the only active ASP is acknowledged all the same.
#[test]
fn i_08_asp_inactive_of_the_last_asp_is_acknowledged() {
    let mut bench = Gateway::plain();
    bench.active(FIRST, None, &[]);
    bench.send(FIRST, asp_inactive(&[]));
    assert!(matches!(bench.next_answer(FIRST), Asp::AspInactiveAck { .. }));
}

/// ASP Active of an ASP that is active is acknowledged again.
#[test]
fn o_01_asp_active_while_active_is_acknowledged() {
    let mut bench = Gateway::plain();
    bench.active(FIRST, None, &[1]);
    bench.send(FIRST, asp_active(None, &[1]));
    assert!(matches!(bench.next_answer(FIRST), Asp::AspActiveAck { .. }));
}

/// ASP Inactive of an ASP that is inactive is acknowledged.
#[test]
fn o_02_asp_inactive_while_inactive_is_acknowledged() {
    let mut bench = Gateway::plain();
    bench.up(FIRST);
    bench.send(FIRST, asp_inactive(&[1]));
    assert!(matches!(bench.next_answer(FIRST), Asp::AspInactiveAck { .. }));
}
