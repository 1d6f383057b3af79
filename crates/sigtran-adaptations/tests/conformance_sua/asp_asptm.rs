//! ASP traffic maintenance at the ASP.

use slantpath_sigtran::asp::{ErrorCode, kind};
use slantpath_sigtran::common::MessageKind;
use slantpath_sigtran_adaptations::sua::Message;

use crate::bench::{Asp, Process, bare, contexts, next_version, unitdata};

fn active_ack() -> Message {
    Message::Asp(Asp::AspActiveAck { traffic_mode: None, scope: contexts(&[1]), info: None })
}

/// ASP Active follows ASP Up Ack.
#[test]
fn v_01_asp_active_is_sent() {
    Process::active();
}

/// ASP Active is sent in version 1, with the routing context.
#[test]
fn v_02_asp_active_has_version_1() {
    let process = Process::activating();
    assert!(process.asp.asp().is_up());
}

/// ASP Inactive is sent in version 1.
#[test]
fn v_03_asp_inactive_has_version_1() {
    let mut process = Process::withdrawing();
    process.send(Asp::AspInactiveAck { scope: contexts(&[1]), info: None });
    process.assert_quiet();
    assert!(!process.asp.asp().is_active());
}

/// BEAT is acknowledged.
#[test]
fn v_04_beat_is_acknowledged() {
    let mut process = Process::active();
    process.send(Asp::Beat { data: Some(vec![7; 5_000]) });
    assert!(matches!(process.next(), Asp::BeatAck { .. }));
}

/// BEAT Ack has the data of BEAT, unchanged.
#[test]
fn v_05_beat_ack_has_the_same_data() {
    let mut process = Process::active();
    let data: Vec<u8> = (0..600_u32).map(|at| at.to_be_bytes()[3]).collect();
    process.send(Asp::Beat { data: Some(data.clone()) });
    assert_eq!(process.next(), Asp::BeatAck { data: Some(data) });
}

/// ASP Active Ack of another version is answered by ERR "Invalid Version".
#[test]
fn i_01_asp_active_ack_of_another_version_is_refused() {
    let mut process = Process::activating();
    process.send_octets(0, next_version(&active_ack()));
    process.expect_error(ErrorCode::INVALID_VERSION);
    assert!(!process.asp.asp().is_active());
}

/// ASP Inactive Ack of another version is answered by ERR "Invalid Version".
#[test]
fn i_02_asp_inactive_ack_of_another_version_is_refused() {
    let mut process = Process::withdrawing();
    process.send_octets(0, bare(2, kind::ASP_INACTIVE_ACK));
    process.expect_error(ErrorCode::INVALID_VERSION);
}

/// A message of traffic maintenance of a reserved type is answered by ERR "Unsupported Message Type".
#[test]
fn i_03_a_reserved_type_is_refused() {
    let mut process = Process::activating();
    process.send_octets(0, bare(1, MessageKind { class: 4, kind: 5 }));
    process.expect_error(ErrorCode::UNSUPPORTED_MESSAGE_TYPE);
}

/// ASP Up Ack in place of ASP Active Ack gives no traffic: no data are sent.
#[test]
fn o_01_asp_up_ack_to_asp_active_gives_no_traffic() {
    let mut process = Process::activating();
    process.send(Asp::AspUpAck { asp_identifier: None, info: None });
    assert!(!process.asp.unitdata(1, &unitdata(1, 2)));
    process.run();
    assert!(!process.asp.asp().is_active());
}
