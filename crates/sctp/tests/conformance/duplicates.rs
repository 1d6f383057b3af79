//! Group DM of TS 102 369: messages that are not expected in a state, or come again.

use bytes::Bytes;
use slantpath_sctp::chunk::{CookieEcho, InitAck};
use slantpath_sctp::{Chunk, CloseReason, Event, VerificationTag};

use crate::tester::{PEER_TAG, Sent, Tester, config, cookie_ack, message, shutdown_ack, shutdown_complete};

const INIT: &str = "[tag 0] INIT(rwnd 262144 os 16 mis 2048 [12])";

#[test]
fn o_4_1_an_init_in_cookie_wait_is_answered_with_what_the_own_init_said() {
    let mut tester = Tester::cookie_wait(config());
    let (tag, initial_tsn) = (tester.tag, tester.initial_tsn);
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    tester.expect("INIT-ACK(rwnd 262144 os 4 mis 2048 [7])");
    assert_eq!((tester.tag, tester.initial_tsn), (tag, initial_tsn));
    tester.expect_silence();
}

#[test]
fn o_4_2_1_an_init_in_established_is_answered_and_changes_nothing() {
    let mut tester = Tester::passive(config());
    let tag = tester.tag;
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    let Sent { chunks, .. } = tester.next_sent();
    let [Chunk::InitAck(InitAck { fields, .. })] = &chunks[..] else { panic!("no INIT ACK") };
    assert_ne!(fields.initiate_tag, tag);
    tester.expect_alive();
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect_event(&Event::ShutdownReceived);
    tester.expect("SHUTDOWN-ACK");
}

#[test]
fn o_4_2_2_an_init_in_shutdown_ack_sent_is_answered_by_the_shutdown_ack() {
    let mut tester = Tester::passive(config());
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect_event(&Event::ShutdownReceived);
    tester.expect("SHUTDOWN-ACK");
    tester.offer.initiate_tag = VerificationTag(PEER_TAG + 1);
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    tester.expect("SHUTDOWN-ACK");
    tester.receive(&[shutdown_complete()]);
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn o_4_3_an_init_ack_in_cookie_echoed_is_discarded() {
    let mut tester = Tester::cookie_echoed(config());
    tester.receive(&[tester.init_ack(Vec::new())]);
    tester.expire_after_ms(1_000);
    tester.expect("COOKIE-ECHO(4)");
    tester.receive(&[cookie_ack()]);
    tester.expect_event(&Event::Established { outbound_streams: 4, inbound_streams: 4 });
    tester.expect_alive();
}

#[test]
fn o_4_4_a_cookie_ack_in_established_is_discarded() {
    let mut tester = Tester::active(config());
    tester.receive(&[cookie_ack()]);
    tester.expect_alive();
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.receive(&[tester.sack(0, 1_500, &[])]);
    tester.expect_alive();
}

#[test]
fn o_4_5_a_shutdown_in_shutdown_sent_is_answered_by_a_shutdown_ack() {
    let mut tester = Tester::active(config());
    tester.shut_down();
    tester.expect("SHUTDOWN(cum -1)");
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect("SHUTDOWN-ACK");
    tester.receive(&[shutdown_complete()]);
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn o_4_6_1_a_shutdown_in_cookie_wait_is_discarded() {
    let mut tester = Tester::cookie_wait(config());
    tester.receive(&[tester.shutdown(-1)]);
    tester.expire_after_ms(1_000);
    tester.expect(INIT);
    tester.receive(&[tester.init_ack(Vec::new())]);
    tester.expect("COOKIE-ECHO(4)");
    tester.receive(&[cookie_ack()]);
    tester.expect_event(&Event::Established { outbound_streams: 4, inbound_streams: 4 });
    tester.expect_alive();
}

#[test]
fn o_4_6_2_a_shutdown_in_closed_is_answered_as_out_of_the_blue() {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(1, &[tester.shutdown(0)]);
    tester.expect("[tag 1] ABORT(T)");
    tester.expect_silence();
}

#[test]
fn o_4_6_3_a_shutdown_in_shutdown_sent_starts_t2_shutdown_anew() {
    let mut tester = Tester::active(config());
    tester.shut_down();
    tester.expect("SHUTDOWN(cum -1)");
    tester.wait_ms(600);
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect("SHUTDOWN-ACK");
    tester.expire_after_ms(1_000);
    tester.expect("SHUTDOWN-ACK");
    tester.receive(&[shutdown_complete()]);
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn o_4_7_1_a_shutdown_ack_in_cookie_wait_is_completed_and_the_setup_goes_on() {
    let mut tester = Tester::cookie_wait(config());
    let VerificationTag(tag) = tester.tag;
    tester.receive(&[shutdown_ack()]);
    tester.expect(&format!("[tag {tag}] SHUTDOWN-COMPLETE(T)"));
    tester.expire_after_ms(1_000);
    tester.expect(INIT);
}

#[test]
fn o_4_7_2_a_shutdown_ack_in_established_is_discarded() {
    let mut tester = Tester::active(config());
    tester.receive(&[shutdown_ack()]);
    tester.wait_ms(1_000);
    tester.expect_alive();
    tester.shut_down();
    tester.expect("SHUTDOWN(cum -1)");
}

#[test]
fn o_4_7_3_a_shutdown_ack_in_shutdown_ack_sent_ends_the_association() {
    let mut tester = Tester::passive(config());
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect_event(&Event::ShutdownReceived);
    tester.expect("SHUTDOWN-ACK");
    tester.receive(&[shutdown_ack()]);
    tester.expect("SHUTDOWN-COMPLETE");
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn o_4_8_a_cookie_echo_in_established_that_is_not_the_endpoints_is_discarded() {
    let mut tester = Tester::active(config());
    let forged =
        Chunk::CookieEcho(CookieEcho { cookie: Bytes::from_static(&[1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) });
    tester.receive(&[forged]);
    tester.wait_ms(1_000);
    assert_eq!(tester.endpoint.stats().forged_cookies, 1);
    tester.expect_alive();
}

#[test]
fn o_4_9_a_shutdown_complete_in_cookie_wait_is_discarded() {
    let mut tester = Tester::cookie_wait(config());
    tester.receive(&[shutdown_complete()]);
    tester.expire_after_ms(1_000);
    tester.expect(INIT);
    tester.expect_silence();
}

#[test]
fn o_4_10_data_in_shutdown_ack_sent_is_discarded() {
    let mut tester = Tester::passive(config());
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect_event(&Event::ShutdownReceived);
    tester.expect("SHUTDOWN-ACK");
    tester.wait_ms(200);
    tester.receive(&[message(0, 0)]);
    tester.expire_after_ms(800);
    tester.expect("SHUTDOWN-ACK");
    tester.receive(&[shutdown_complete()]);
    tester.expect_end(CloseReason::ShutdownComplete);
}
