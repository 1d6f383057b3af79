//! Group AT of TS 102 369: how an association ends.

use slantpath_base::Duration;
use slantpath_sctp::{CloseReason, Event, SctpConfig, SendError};

use crate::tester::{Tester, abort, config, message, shutdown_ack, shutdown_complete};

#[test]
fn v_2_2_an_abort_ends_the_association_at_once() {
    let mut tester = Tester::active(config());
    tester.receive(&[abort()]);
    tester.expect_end(CloseReason::PeerAborted(Vec::new()));
    tester.expect_gone();
}

#[test]
fn i_2_3_a_shutdown_waits_until_all_data_has_been_acknowledged() {
    let mut tester = Tester::active(config());
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.shut_down();
    tester.wait_ms(100);
    tester.expect_silence();
    tester.receive(&[tester.sack(0, 1_500, &[])]);
    tester.expect("SHUTDOWN(cum -1)");
    tester.receive(&[shutdown_ack()]);
    tester.expect("SHUTDOWN-COMPLETE");
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn i_2_4_a_shutdown_that_is_not_answered_is_sent_again_when_t2_shutdown_expires() {
    let mut tester = Tester::active(config());
    tester.shut_down();
    tester.expect("SHUTDOWN(cum -1)");
    tester.expire_after_ms(1_000);
    tester.expect("SHUTDOWN(cum -1)");
    tester.expire_after_ms(2_000);
    tester.expect("SHUTDOWN(cum -1)");
    tester.expect_silence();
}

/// Each RTO is twice the last, up to RTO.Max of 60 s; Association.Max.Retrans is 10.
const BACK_OFF_MS: [u64; 10] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000];

#[test]
fn i_2_5_after_association_max_retrans_a_shutdown_is_not_sent_any_more() {
    // T5-shutdown-guard would end it before.
    let guard = Some(Duration::from_secs(3_600));
    let mut tester = Tester::active(SctpConfig { shutdown_guard: guard, ..config() });
    tester.shut_down();
    tester.expect("SHUTDOWN(cum -1)");
    for timeout in BACK_OFF_MS {
        tester.expire_after_ms(timeout);
        tester.expect("SHUTDOWN(cum -1)");
    }
    tester.expire_after_ms(60_000);
    // On the way there its only path has become inactive.
    assert!(matches!(tester.skip_event(), Event::PathChanged { .. }));
    tester.expect_end(CloseReason::PeerUnreachable);
    tester.expect_gone();
}

#[test]
fn v_2_6_a_shutdown_ack_in_shutdown_sent_ends_the_association() {
    let mut tester = Tester::active(config());
    tester.shut_down();
    tester.expect("SHUTDOWN(cum -1)");
    tester.receive(&[shutdown_ack()]);
    tester.expect("SHUTDOWN-COMPLETE");
    tester.expect_end(CloseReason::ShutdownComplete);
    tester.expect_gone_in_order();
    tester.wait_ms(600_000);
    tester.expect_gone();
}

#[test]
fn i_2_7_1_the_user_cannot_send_in_shutdown_sent() {
    let mut tester = Tester::active(config());
    tester.shut_down();
    tester.expect("SHUTDOWN(cum -1)");
    assert_eq!(tester.try_send(1_000), Err(SendError::ShuttingDown));
    tester.expire_after_ms(1_000);
    tester.expect("SHUTDOWN(cum -1)");
    tester.receive(&[shutdown_ack()]);
    tester.expect("SHUTDOWN-COMPLETE");
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn i_2_7_2_the_user_cannot_send_in_shutdown_received() {
    let mut tester = Tester::active(config());
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect_event(&Event::ShutdownReceived);
    assert_eq!(tester.try_send(1_000), Err(SendError::ShuttingDown));
    tester.expect_silence();
    tester.receive(&[tester.shutdown(0)]);
    tester.expect("SHUTDOWN-ACK");
    tester.receive(&[shutdown_complete()]);
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn i_2_7_3_the_user_cannot_send_in_shutdown_pending() {
    let mut tester = Tester::active(config());
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.shut_down();
    assert_eq!(tester.try_send(1_000), Err(SendError::ShuttingDown));
    tester.expect_silence();
    tester.receive(&[tester.sack(0, 1_500, &[])]);
    tester.expect("SHUTDOWN(cum -1)");
    tester.receive(&[shutdown_ack()]);
    tester.expect("SHUTDOWN-COMPLETE");
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn i_2_7_4_the_user_cannot_send_in_shutdown_ack_sent() {
    let mut tester = Tester::active(config());
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect_event(&Event::ShutdownReceived);
    tester.expect("SHUTDOWN-ACK");
    assert_eq!(tester.try_send(1_000), Err(SendError::ShuttingDown));
    tester.expire_after_ms(1_000);
    tester.expect("SHUTDOWN-ACK");
    tester.receive(&[shutdown_complete()]);
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn i_2_8_data_in_shutdown_sent_is_taken_and_answered_by_the_shutdown() {
    let mut tester = Tester::active(config());
    tester.shut_down();
    tester.expect("SHUTDOWN(cum -1)");
    for place in 0..2 {
        tester.wait_ms(500);
        tester.receive(&[message(place, u16::try_from(place).unwrap())]);
        tester.expect(&format!("SHUTDOWN(cum {place})"));
        tester.expect_message(u16::try_from(place).unwrap(), 100);
    }
    // T2-shutdown runs from the last of them.
    tester.expire_after_ms(1_000);
    tester.expect("SHUTDOWN(cum 1)");
    tester.receive(&[shutdown_ack()]);
    tester.expect("SHUTDOWN-COMPLETE");
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn i_2_9_data_in_shutdown_received_is_not_taken() {
    let mut tester = Tester::active(config());
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect_event(&Event::ShutdownReceived);
    tester.wait_ms(100);
    tester.receive(&[message(0, 0)]);
    tester.wait_ms(300);
    tester.expect_silence();
    tester.receive(&[tester.sack(0, 1_500, &[])]);
    tester.expect("SHUTDOWN-ACK");
    tester.receive(&[shutdown_complete()]);
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn i_2_10_a_shutdown_is_answered_once_all_data_has_been_acknowledged() {
    let mut tester = Tester::active(config());
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect_event(&Event::ShutdownReceived);
    tester.expire_after_ms(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.receive(&[tester.shutdown(-1)]);
    tester.wait_ms(100);
    tester.expect_silence();
    tester.receive(&[tester.sack(0, 1_500, &[])]);
    tester.expect("SHUTDOWN-ACK");
    tester.receive(&[shutdown_complete()]);
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn i_2_11_a_shutdown_ack_that_is_not_answered_is_sent_again_when_t2_shutdown_expires() {
    let mut tester = Tester::active(config());
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect_event(&Event::ShutdownReceived);
    tester.expect("SHUTDOWN-ACK");
    tester.expire_after_ms(1_000);
    tester.expect("SHUTDOWN-ACK");
    tester.receive(&[shutdown_complete()]);
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn i_2_12_after_association_max_retrans_a_shutdown_ack_is_not_sent_any_more() {
    let mut tester = Tester::active(config());
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect_event(&Event::ShutdownReceived);
    tester.expect("SHUTDOWN-ACK");
    for timeout in BACK_OFF_MS {
        tester.expire_after_ms(timeout);
        tester.expect("SHUTDOWN-ACK");
    }
    tester.expire_after_ms(60_000);
    // On the way there its only path has become inactive.
    assert!(matches!(tester.skip_event(), Event::PathChanged { .. }));
    tester.expect_end(CloseReason::PeerUnreachable);
    tester.expect_gone();
}

#[test]
fn i_2_13_a_shutdown_complete_in_shutdown_ack_sent_ends_the_association() {
    let mut tester = Tester::active(config());
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect_event(&Event::ShutdownReceived);
    tester.expect("SHUTDOWN-ACK");
    tester.receive(&[shutdown_complete()]);
    tester.expect_end(CloseReason::ShutdownComplete);
    tester.expect_gone_in_order();
    tester.wait_ms(600_000);
    tester.expect_gone();
}

#[test]
fn v_2_14_a_shutdown_that_acknowledges_all_data_is_answered_at_once() {
    let mut tester = Tester::active(config());
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.receive(&[tester.shutdown(0)]);
    tester.expect_event(&Event::ShutdownReceived);
    tester.expect("SHUTDOWN-ACK");
    tester.receive(&[shutdown_complete()]);
    tester.expect_end(CloseReason::ShutdownComplete);
}
