//! ASP state maintenance at the ASP.

use slantpath_base::Duration;
use slantpath_sigtran::asp::{ErrorCode, kind};
use slantpath_sigtran::common::MessageKind;
use slantpath_sigtran_adaptations::sua::Message;

use crate::bench::{Asp, MOMENT, Process, asp_inactive, asp_up, bare, contexts, next_version, unitdata};

fn down_ack() -> Message {
    Message::Asp(Asp::AspDownAck { info: None })
}

/// ASP Up is sent in version 1.
#[test]
fn v_01_asp_up_has_version_1() {
    Process::inactive();
}

/// The ASP is asked to go down, and its ASP Down is read, in version 1.
fn go_down(process: &mut Process) {
    process.asp.down(process.now);
    assert_eq!(process.next(), Asp::AspDown { info: None });
}

/// An active ASP that has given its traffic back.
fn inactive_again() -> Process {
    let mut process = Process::active();
    process.asp.deactivate(process.now, &[1]);
    assert_eq!(process.next(), asp_inactive(&[1]));
    process.send(Asp::AspInactiveAck { scope: contexts(&[1]), info: None });
    process.assert_quiet();
    process
}

fn is_down_when_acknowledged(mut process: Process) {
    go_down(&mut process);
    assert!(process.asp.asp().is_up());
    process.send_octets(0, down_ack().to_bytes().to_vec());
    process.assert_quiet();
    assert!(!process.asp.asp().is_up());
}

/// ASP Down is sent in version 1.
#[test]
fn v_02_asp_down_has_version_1() {
    is_down_when_acknowledged(Process::inactive());
    is_down_when_acknowledged(Process::active());
}

/// ASP Inactive and ASP Down, in version 1, end the service of an ASP that was active.
#[test]
fn v_02_alternate_asp_inactive_and_asp_down_have_version_1() {
    is_down_when_acknowledged(inactive_again());
}

/// ASP Up Ack of another version is answered by ERR "Invalid Version".
#[test]
fn i_01_asp_up_ack_of_another_version_is_refused() {
    let mut process = Process::new();
    process.asp.up(process.now);
    process.next();
    process.send_octets(0, bare(2, kind::ASP_UP_ACK));
    process.expect_error(ErrorCode::INVALID_VERSION);
    assert!(!process.asp.asp().is_up());
}

fn refuses_another_version(mut process: Process) {
    go_down(&mut process);
    process.send_octets(0, next_version(&down_ack()));
    process.expect_error(ErrorCode::INVALID_VERSION);
}

/// ASP Down Ack of another version is answered by ERR "Invalid Version".
#[test]
fn i_02_asp_down_ack_of_another_version_is_refused() {
    refuses_another_version(Process::inactive());
    refuses_another_version(Process::active());
}

/// ASP Down Ack of another version is refused as well by an ASP that was active and gave its traffic back.
#[test]
fn i_02_alternate_asp_down_ack_of_another_version_is_refused_after_asp_inactive() {
    refuses_another_version(inactive_again());
}

/// A message of state maintenance of a reserved type is answered by ERR "Unsupported Message Type".
#[test]
fn i_03_a_reserved_type_is_refused() {
    let mut process = Process::new();
    process.asp.up(process.now);
    process.next();
    process.send_octets(0, bare(1, MessageKind { class: 3, kind: 7 }));
    process.expect_error(ErrorCode::UNSUPPORTED_MESSAGE_TYPE);
}

/// ASP Down Ack in place of ASP Up Ack does not bring the ASP up: it does not ask for traffic.
#[test]
fn o_01_asp_down_ack_to_asp_up_gives_no_traffic() {
    let mut process = Process::new();
    process.asp.start(process.now);
    assert_eq!(process.next(), asp_up(None));
    process.send_octets(0, down_ack().to_bytes().to_vec());
    assert!(!process.asp.asp().is_up());
    // T(ack) has not expired.
    process.wait(Duration::from_secs(2) - MOMENT);
    process.assert_quiet();
    process.wait(MOMENT);
    assert_eq!(process.next(), asp_up(None));
    process.assert_quiet();
}

/// ASP Active Ack before ASP Up Ack is unexpected, and gives no traffic.
#[test]
fn o_02_asp_active_ack_before_asp_up_ack_is_unexpected() {
    let mut process = Process::new();
    process.asp.start(process.now);
    assert_eq!(process.next(), asp_up(None));
    process.send(Asp::AspActiveAck { traffic_mode: None, scope: contexts(&[1]), info: None });
    process.expect_error(ErrorCode::UNEXPECTED_MESSAGE);
    assert!(!process.asp.unitdata(1, &unitdata(1, 2)));
    process.assert_quiet();
}
