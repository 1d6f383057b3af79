//! ASP maintenance: the procedures of ASPSM and ASPTM.

use slantpath_sigtran::asp::{ErrorCode, IdentifierPolicy, Members, Status, TrafficMode};
use slantpath_sigtran_adaptations::drops::DropReason;
use slantpath_sigtran_adaptations::interface::{Interface, Interfaces};
use slantpath_sigtran_adaptations::m2ua::Message;

use crate::bench::{
    Asp, Bench, FIRST, NOWHERE, Plan, SECOND, asp_active, asp_inactive, asp_up, data, interfaces,
};

/// ASP Up of an ASP of one application server is acknowledged, and the server's state notified.
#[test]
fn v_01_asp_up_is_acknowledged_and_the_state_notified() {
    let mut bench = Bench::new(&Plan::default());
    bench.inactive(FIRST);
    bench.assert_quiet(FIRST);
}

/// ASP Up of an ASP of two application servers is acknowledged once, and both states are notified.
#[test]
fn v_02_each_application_server_is_notified() {
    let mut bench = Bench::new(&Plan::of_two_servers());
    bench.up(FIRST);
    bench.expect_both_notified(FIRST, Status::AS_INACTIVE);
    bench.assert_quiet(FIRST);
}

/// A second ASP that comes up in an inactive application server disturbs nobody: it is acknowledged, and the first is
/// told nothing.
#[test]
fn v_03_a_second_asp_changes_no_state() {
    let mut bench = Bench::new(&Plan::default());
    bench.inactive(FIRST);
    bench.assert_quiet(SECOND);
    bench.up(SECOND);
    bench.assert_quiet(FIRST);
}

/// ASP Active with one integer interface identifier is acknowledged with it, and the active state notified.
#[test]
fn v_04_asp_active_for_an_integer_is_acknowledged() {
    let mut bench = Bench::new(&Plan::default());
    bench.active(FIRST, 1);
    bench.assert_quiet(FIRST);
}

/// ASP Active with two integers is acknowledged for both.
#[test]
fn v_05_asp_active_for_two_integers_is_acknowledged() {
    let mut bench = Bench::new(&Plan::of_two_servers());
    bench.inactive(FIRST);
    let scope = Interfaces(vec![Interface::Integers(vec![1]), Interface::Integers(vec![2])]);
    bench.send_asp(FIRST, asp_active(None, scope));
    assert!(matches!(bench.next_asp(FIRST), Asp::AspActiveAck { scope, .. } if scope == interfaces(&[1, 2])));
    bench.expect_both_notified(FIRST, Status::AS_ACTIVE);
    bench.assert_quiet(FIRST);
}

/// ASP Active with a range of integers is acknowledged for all of them.
#[test]
fn v_06_asp_active_for_a_range_is_acknowledged() {
    let mut bench = Bench::new(&Plan::of_two_servers());
    bench.inactive(FIRST);
    bench.send_asp(FIRST, asp_active(None, Interfaces(vec![Interface::Ranges(vec![(1, 2)])])));
    assert!(matches!(bench.next_asp(FIRST), Asp::AspActiveAck { scope, .. } if scope == interfaces(&[1, 2])));
    bench.expect_notify(FIRST, Status::AS_ACTIVE);
}

/// ASP Inactive is acknowledged, and the pending state notified.
#[test]
fn v_07_asp_inactive_is_acknowledged_and_the_state_notified() {
    let mut bench = Bench::new(&Plan::default());
    bench.active(FIRST, 1);
    bench.send_asp(FIRST, asp_inactive(interfaces(&[1])));
    assert!(matches!(bench.next_asp(FIRST), Asp::AspInactiveAck { .. }));
    bench.expect_notify(FIRST, Status::AS_PENDING);
    bench.assert_quiet(FIRST);
}

/// ASP Active without interface identifiers activates the ASP in all its application servers.
#[test]
fn v_08_asp_active_without_interfaces_concerns_all() {
    let mut bench = Bench::new(&Plan::of_two_servers());
    bench.inactive(FIRST);
    bench.send_asp(FIRST, asp_active(None, Interfaces::default()));
    assert!(matches!(bench.next_asp(FIRST), Asp::AspActiveAck { .. }));
    bench.expect_both_notified(FIRST, Status::AS_ACTIVE);
    bench.assert_quiet(FIRST);
}

/// Two ASP Active, each for one interface, are each acknowledged and each notified.
#[test]
fn v_09_interfaces_are_activated_one_by_one() {
    let mut bench = Bench::new(&Plan::of_two_servers());
    bench.inactive(FIRST);
    for interface in [1, 2] {
        bench.activate(FIRST, interface);
        bench.expect_notify(FIRST, Status::AS_ACTIVE);
        bench.assert_quiet(FIRST);
    }
}

/// ASP Inactive without interface identifiers withdraws the ASP from all its application servers.
#[test]
fn v_10_asp_inactive_without_interfaces_concerns_all() {
    let mut bench = Bench::new(&Plan::of_two_servers());
    bench.up(FIRST);
    bench.send_asp(FIRST, asp_active(None, Interfaces::default()));
    bench.send_asp(FIRST, asp_inactive(Interfaces::default()));
    bench.expect_both_notified(FIRST, Status::AS_INACTIVE);
    assert!(matches!(bench.next_asp(FIRST), Asp::AspActiveAck { .. }));
    bench.expect_both_notified(FIRST, Status::AS_ACTIVE);
    assert!(matches!(bench.next_asp(FIRST), Asp::AspInactiveAck { .. }));
    bench.expect_both_notified(FIRST, Status::AS_PENDING);
    bench.assert_quiet(FIRST);
}

/// Interfaces that were activated one by one are withdrawn one by one.
#[test]
fn v_11_interfaces_are_withdrawn_one_by_one() {
    let mut bench = Bench::new(&Plan::of_two_servers());
    bench.inactive(FIRST);
    for interface in [1, 2] {
        bench.activate(FIRST, interface);
        bench.expect_notify(FIRST, Status::AS_ACTIVE);
    }
    for interface in [1, 2] {
        bench.send_asp(FIRST, asp_inactive(interfaces(&[interface])));
        let ack = bench.next_asp(FIRST);
        assert!(matches!(ack, Asp::AspInactiveAck { scope, .. } if scope == interfaces(&[interface])));
        bench.expect_notify(FIRST, Status::AS_PENDING);
        bench.assert_quiet(FIRST);
    }
}

/// An ASP that becomes active in its own application servers does not concern an ASP of others.
#[test]
fn v_12_an_asp_of_other_servers_is_told_nothing() {
    let mut bench = Bench::new(&Plan { members: Members::Only(vec![FIRST]), ..Plan::default() });
    bench.inactive(FIRST);
    bench.up(SECOND);
    bench.send_asp(FIRST, asp_active(None, Interfaces(vec![Interface::Ranges(vec![(1, 1)])])));
    assert!(matches!(bench.next_asp(FIRST), Asp::AspActiveAck { .. }));
    bench.expect_notify(FIRST, Status::AS_ACTIVE);
    bench.assert_quiet(SECOND);
}

/// Two ASPs activate another application server each, of both: both ASPs are notified of both.
#[test]
fn v_13_all_asps_of_a_server_are_notified_when_it_becomes_active() {
    let mut bench = Bench::new(&Plan::of_two_servers());
    bench.inactive(FIRST);
    bench.inactive(SECOND);
    bench.activate(FIRST, 1);
    bench.expect_notify(FIRST, Status::AS_ACTIVE);
    bench.expect_notify(SECOND, Status::AS_ACTIVE);
    bench.activate(SECOND, 2);
    bench.expect_notify(SECOND, Status::AS_ACTIVE);
    bench.expect_notify(FIRST, Status::AS_ACTIVE);
}

/// Withdrawal of the only active ASP of an application server: the other one is notified of the pending state.
#[test]
fn v_14_the_other_asp_is_notified_when_a_server_is_pending() {
    let mut bench = Bench::new(&Plan::of_two_servers());
    bench.inactive(FIRST);
    bench.inactive(SECOND);
    bench.activate(FIRST, 1);
    bench.expect_notify(SECOND, Status::AS_ACTIVE);
    bench.activate(SECOND, 2);
    bench.expect_notify(SECOND, Status::AS_ACTIVE);
    bench.send_asp(SECOND, asp_inactive(interfaces(&[2])));
    assert!(matches!(bench.next_asp(SECOND), Asp::AspInactiveAck { .. }));
    bench.expect_notify(SECOND, Status::AS_PENDING);
    for expected in [Status::AS_ACTIVE, Status::AS_ACTIVE, Status::AS_PENDING] {
        bench.expect_notify(FIRST, expected);
    }
    bench.assert_quiet(FIRST);
}

/// Every BEAT, however long, is acknowledged with the same data.
#[test]
fn v_15_beat_is_acknowledged_with_its_data() {
    let mut bench = Bench::new(&Plan::default());
    let heartbeat: Vec<u8> = (0..10_000_u32).map(|at| at.to_be_bytes()[3]).collect();
    for _ in 0..100 {
        bench.send_asp(FIRST, Asp::Beat { data: Some(heartbeat.clone()) });
        assert_eq!(bench.next_asp(FIRST), Asp::BeatAck { data: Some(heartbeat.clone()) });
    }
    bench.assert_quiet(FIRST);
}

/// ASP Up of an ASP that is inactive is acknowledged again.
#[test]
fn io_01_asp_up_while_inactive_is_acknowledged() {
    let mut bench = Bench::new(&Plan::default());
    bench.inactive(FIRST);
    bench.up(FIRST);
    bench.assert_quiet(FIRST);
}

/// Data of an ASP that is not active are thrown away.
#[test]
fn io_02_data_while_inactive_are_discarded() {
    let mut bench = Bench::new(&Plan::default());
    bench.inactive(FIRST);
    bench.send(FIRST, 1, data(1));
    bench.assert_quiet(FIRST);
    assert!(bench.links[&1].requests.is_empty());
    assert_eq!(bench.gateway.drops().of(DropReason::AspNotActive), 1);
}

/// ASP Active of an ASP that is active is acknowledged again.
#[test]
fn io_03_asp_active_while_active_is_acknowledged() {
    let mut bench = Bench::new(&Plan::default());
    bench.active(FIRST, 1);
    bench.activate(FIRST, 1);
    bench.assert_quiet(FIRST);
}

/// ASP Up of an ASP that is active is answered by ERR and ASP Up Ack, and makes it inactive.
#[test]
fn io_04_asp_up_while_active_makes_the_asp_inactive() {
    let mut bench = Bench::new(&Plan::default());
    bench.active(FIRST, 1);
    bench.send_asp(FIRST, asp_up(Some(FIRST.0)));
    let (mut errors, mut acks) = (0, 0);
    for _ in 0..2 {
        match bench.next_asp(FIRST) {
            Asp::Err { code: ErrorCode::UNEXPECTED_MESSAGE, .. } => errors += 1,
            Asp::AspUpAck { .. } => acks += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((errors, acks), (1, 1));
    bench.expect_notify(FIRST, Status::AS_PENDING);
}

/// ASP Up of another version is answered by ERR "Invalid Version".
#[test]
fn iv_01_another_version_is_refused() {
    let mut bench = Bench::new(&Plan::default());
    let mut octets = Message::Asp(asp_up(Some(1))).to_bytes().to_vec();
    octets[0] = 2;
    bench.send_octets(FIRST, 0, octets);
    bench.expect_error(FIRST, ErrorCode::INVALID_VERSION);
}

/// A message of a reserved class is answered by ERR "Unsupported Message Class".
#[test]
fn iv_02_a_reserved_class_is_refused() {
    let mut bench = Bench::new(&Plan::default());
    bench.active(FIRST, 1);
    bench.send_octets(FIRST, 0, vec![1, 0, 99, 0, 0, 0, 0, 8]);
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_MESSAGE_CLASS);
}

/// A message of a reserved type is answered by ERR "Unsupported Message Type".
#[test]
fn iv_03_a_reserved_type_is_refused() {
    let mut bench = Bench::new(&Plan::default());
    bench.active(FIRST, 1);
    bench.send_octets(FIRST, 0, vec![1, 0, 4, 5, 0, 0, 0, 8]);
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_MESSAGE_TYPE);
}

/// ASP Active with another traffic mode than the application server has is refused.
#[test]
fn iv_04_another_traffic_mode_is_refused() {
    let mut bench = Bench::new(&Plan { mode: Some(TrafficMode::Loadshare), ..Plan::default() });
    bench.inactive(FIRST);
    bench.send_asp(FIRST, asp_active(Some(TrafficMode::Override), interfaces(&[1])));
    bench.expect_error(FIRST, ErrorCode::UNSUPPORTED_TRAFFIC_MODE_TYPE);
    bench.assert_quiet(FIRST);
}

/// ASP Active on another stream than 0 is refused.
#[test]
fn iv_05_asp_active_on_another_stream_is_refused() {
    let mut bench = Bench::new(&Plan::default());
    bench.inactive(FIRST);
    let octets = Message::Asp(asp_active(None, interfaces(&[1]))).to_bytes().to_vec();
    bench.send_octets(FIRST, 1, octets);
    bench.expect_error(FIRST, ErrorCode::INVALID_STREAM_IDENTIFIER);
    bench.assert_quiet(FIRST);
}

/// ASP Active for an interface that is not configured is refused, and the ERR names it.
#[test]
fn iv_06_asp_active_for_an_unknown_interface_is_refused() {
    let mut bench = Bench::new(&Plan::default());
    bench.inactive(FIRST);
    bench.send_asp(FIRST, asp_active(None, interfaces(&[NOWHERE])));
    let scope = bench.expect_error(FIRST, ErrorCode::INVALID_INTERFACE_IDENTIFIER);
    assert_eq!(scope, interfaces(&[NOWHERE]));
    bench.assert_quiet(FIRST);
}

/// ASP Up without the ASP identifier that the gateway needs is refused.
#[test]
fn iv_07_asp_up_without_its_identifier_is_refused() {
    let mut bench = Bench::new(&Plan { identifier: IdentifierPolicy::Required, ..Plan::default() });
    bench.send_asp(FIRST, asp_up(None));
    bench.expect_error(FIRST, ErrorCode::ASP_IDENTIFIER_REQUIRED);
    bench.assert_quiet(FIRST);
}

/// ASP Up with an ASP identifier that is another ASP's is refused.
#[test]
fn iv_08_asp_up_with_anothers_identifier_is_refused() {
    let mut bench = Bench::new(&Plan { identifier: IdentifierPolicy::Required, ..Plan::default() });
    bench.inactive(FIRST);
    bench.send_asp(SECOND, asp_up(Some(FIRST.0)));
    bench.expect_error(SECOND, ErrorCode::INVALID_ASP_IDENTIFIER);
    bench.assert_quiet(SECOND);
}
