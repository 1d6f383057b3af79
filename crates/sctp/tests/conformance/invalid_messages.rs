//! Group IMH of TS 102 369: messages that are not as they should be.

use bytes::Bytes;
use slantpath_base::Duration;
use slantpath_sctp::chunk::{CookieEcho, kind};
use slantpath_sctp::{Cause, Chunk, CloseReason, Event};
use slantpath_wire::{Checksum, Packet};

use crate::tester::{PEER_TAG, Sent, Tester, abort, config, packet, shutdown_ack, shutdown_complete};

/// An INIT or INIT ACK whose value ends within its first field.
fn too_short(kind: u8) -> Chunk {
    Chunk::Unknown { kind, flags: 0, value: Bytes::from_static(&[1, 2, 3, 4]) }
}

/// A listening endpoint that has answered an INIT, and the cookie.
fn with_cookie() -> (Tester, Chunk) {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    let cookie = tester.take_cookie();
    (tester, cookie)
}

/// The association is there, or a cookie still begins it.
fn expect_set_up(tester: &mut Tester, cookie: Chunk) {
    tester.receive(&[cookie]);
    tester.expect("COOKIE-ACK");
    tester.expect_event(&Event::Established { outbound_streams: 4, inbound_streams: 4 });
    tester.expect_alive();
}

#[test]
fn i_3_1_an_init_that_is_too_short_is_discarded() {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(0, &[too_short(kind::INIT)]);
    tester.wait_ms(100);
    tester.expect_silence();
    assert_eq!(tester.endpoint.stats().malformed_packets, 1);
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    tester.expect("INIT-ACK(rwnd 262144 os 4 mis 2048 [7])");
}

#[test]
fn i_3_2_an_init_ack_that_is_too_short_is_discarded() {
    let mut tester = Tester::cookie_wait(config());
    tester.receive(&[too_short(kind::INIT_ACK)]);
    tester.expire_after_ms(1_000);
    tester.expect("[tag 0] INIT(rwnd 262144 os 16 mis 2048 [12])");
    tester.receive(&[tester.init_ack(Vec::new())]);
    tester.expect("COOKIE-ECHO(4)");
    tester.expect_silence();
}

#[test]
fn i_3_3_a_cookie_echo_with_a_wrong_tag_is_discarded() {
    let (mut tester, cookie) = with_cookie();
    tester.receive_tagged(tester.tag.0 ^ 1, std::slice::from_ref(&cookie));
    tester.wait_ms(100);
    tester.expect_silence();
    assert_eq!(tester.endpoint.association_count(), 0);
    expect_set_up(&mut tester, cookie);
}

#[test]
fn i_3_4_a_packet_with_a_wrong_checksum_is_discarded() {
    let mut tester = Tester::listening(config());
    let mut bytes = packet(0, &[tester.init(Vec::new())]).contiguous().to_vec();
    bytes[8] ^= 1;
    tester.receive_packet(0, Packet::copied(&bytes, Checksum::Complete));
    tester.wait_ms(100);
    tester.expect_silence();
    assert_eq!(tester.endpoint.stats().bad_checksums, 1);
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    tester.expect("INIT-ACK(rwnd 262144 os 4 mis 2048 [7])");
}

#[test]
fn i_3_5_a_cookie_that_is_not_the_endpoints_is_discarded() {
    let (mut tester, cookie) = with_cookie();
    let forged = Chunk::CookieEcho(CookieEcho { cookie: Bytes::from_static(&[0x1f; 16]) });
    tester.receive(&[forged]);
    tester.wait_ms(100);
    tester.expect_silence();
    assert_eq!(tester.endpoint.stats().forged_cookies, 1);
    expect_set_up(&mut tester, cookie);
}

#[test]
fn i_3_6_a_cookie_that_comes_too_late_is_refused_with_how_late_it_is() {
    let (mut tester, cookie) = with_cookie();
    tester.wait(Duration::from_secs(65));
    tester.receive(&[cookie]);
    let Sent { chunks, .. } = tester.next_sent();
    let [Chunk::Error(error)] = &chunks[..] else { panic!("no ERROR") };
    // Valid.Cookie.Life is 60 s.
    assert_eq!(error.causes, [Cause::StaleCookie { staleness_us: 5_000_000 }]);
    tester.expect_silence();
    assert_eq!(tester.endpoint.association_count(), 0);
}

#[test]
fn i_3_7_an_abort_with_a_wrong_tag_is_discarded() {
    let mut tester = Tester::passive(config());
    for tag in [tester.tag.0 ^ 1, PEER_TAG] {
        tester.receive_tagged(tag, &[abort()]);
    }
    assert_eq!(tester.endpoint.stats().wrong_tags, 2);
    tester.expect_alive();
}

#[test]
fn i_3_8_a_packet_that_is_too_short_for_its_init_is_discarded() {
    let mut tester = Tester::listening(config());
    // The header of an INIT of 96 bytes, and nothing of it.
    let mut bytes = packet(0, &[too_short(kind::INIT)]).contiguous()[..16].to_vec();
    bytes[14..16].copy_from_slice(&96_u16.to_be_bytes());
    bytes[8..12].fill(0);
    let sum = slantpath_wire::checksum::sctp(&bytes, &[], 0);
    bytes[8..12].copy_from_slice(&sum.to_le_bytes());
    tester.receive_packet(0, Packet::copied(&bytes, Checksum::Complete));
    tester.wait_ms(1_000);
    tester.expect_silence();
    assert_eq!(tester.endpoint.stats().malformed_packets, 1);
    tester.receive_tagged(7, &[shutdown_ack()]);
    tester.expect("[tag 7] SHUTDOWN-COMPLETE(T)");
}

#[test]
fn i_3_9_a_shutdown_ack_with_a_wrong_tag_is_discarded() {
    let mut tester = Tester::passive(config());
    tester.shut_down();
    tester.expect("SHUTDOWN(cum -1)");
    tester.receive_tagged(tester.tag.0 ^ 1, &[shutdown_ack()]);
    tester.expire_after_ms(1_000);
    tester.expect("SHUTDOWN(cum -1)");
    tester.receive(&[shutdown_ack()]);
    tester.expect("SHUTDOWN-COMPLETE");
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn i_3_10_a_shutdown_complete_with_a_wrong_tag_is_discarded() {
    let mut tester = Tester::passive(config());
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect_event(&Event::ShutdownReceived);
    tester.expect("SHUTDOWN-ACK");
    for tag in [tester.tag.0 ^ 1, PEER_TAG] {
        tester.receive_tagged(tag, &[shutdown_complete()]);
    }
    tester.expire_after_ms(1_000);
    tester.expect("SHUTDOWN-ACK");
    tester.receive(&[shutdown_complete()]);
    tester.expect_end(CloseReason::ShutdownComplete);
}
