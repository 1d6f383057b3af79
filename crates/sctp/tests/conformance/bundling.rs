//! Group BDC of TS 102 369: DATA in one packet with other chunks.

use slantpath_sctp::{CloseReason, Event};

use crate::tester::{Tester, config, cookie_ack, message, shutdown_ack, shutdown_complete};

const ESTABLISHED: Event = Event::Established { outbound_streams: 4, inbound_streams: 4 };

#[test]
fn i_7_1_an_init_with_data_behind_it_is_discarded() {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(0, &[tester.init(Vec::new()), message(0, 0)]);
    tester.wait_ms(1_000);
    tester.expect_silence();
    assert_eq!(tester.endpoint.stats().malformed_packets, 1);
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    tester.expect("INIT-ACK(rwnd 262144 os 4 mis 2048 [7])");
}

#[test]
fn i_7_2_an_init_ack_with_data_behind_it_is_discarded() {
    let mut tester = Tester::cookie_wait(config());
    tester.receive(&[tester.init_ack(Vec::new()), message(0, 0)]);
    tester.expire_after_ms(1_000);
    tester.expect("[tag 0] INIT(rwnd 262144 os 16 mis 2048 [12])");
    tester.expect_silence();
}

#[test]
fn i_7_3_data_behind_a_shutdown_complete_is_not_taken() {
    let mut tester = Tester::passive(config());
    tester.receive(&[tester.shutdown(-1)]);
    tester.expect_event(&Event::ShutdownReceived);
    tester.expect("SHUTDOWN-ACK");
    // The packet breaks the rule that a SHUTDOWN COMPLETE stands alone; section 6.10 has no answer to that. What comes
    // first counts.
    tester.receive(&[shutdown_complete(), message(0, 0)]);
    tester.expect_end(CloseReason::ShutdownComplete);
    tester.expect_gone_in_order();
}

#[test]
fn v_7_4_data_behind_a_cookie_echo_is_taken() {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    let cookie = tester.take_cookie();
    tester.receive(&[cookie, message(0, 0)]);
    tester.expect("COOKIE-ACK SACK(cum 0 rwnd 262144)");
    tester.expect_event(&ESTABLISHED);
    tester.expect_message(0, 100);
    tester.expect_alive();
}

#[test]
fn v_7_5_data_behind_a_cookie_ack_is_taken() {
    let mut tester = Tester::cookie_echoed(config());
    tester.receive(&[cookie_ack(), message(0, 0)]);
    tester.expect("SACK(cum 0 rwnd 262144)");
    tester.expect_event(&ESTABLISHED);
    tester.expect_message(0, 100);
    tester.expect_alive();
}

#[test]
fn v_7_6_a_sack_behind_a_shutdown_is_taken() {
    let mut tester = Tester::passive(config());
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.receive(&[tester.shutdown(-1), tester.sack(0, 1_500, &[])]);
    tester.expect_event(&Event::ShutdownReceived);
    tester.expect("SHUTDOWN-ACK");
    tester.receive(&[shutdown_complete()]);
    tester.expect_end(CloseReason::ShutdownComplete);
}

#[test]
fn v_7_7_data_behind_a_sack_is_taken() {
    let mut tester = Tester::passive(config());
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    tester.receive(&[tester.sack(0, 1_500, &[]), message(0, 0)]);
    tester.expect("SACK(cum 0 rwnd 262144)");
    tester.expect_message(0, 100);
    let snapshot = tester.endpoint.association(tester.id.unwrap()).unwrap().snapshot();
    assert_eq!((snapshot.outstanding_chunks, snapshot.peer_rwnd), (0, 1_500));
    tester.expect_alive();
}

#[test]
fn v_7_8_data_behind_a_shutdown_ack_is_not_taken() {
    let mut tester = Tester::active(config());
    tester.shut_down();
    tester.expect("SHUTDOWN(cum -1)");
    tester.receive(&[shutdown_ack(), message(0, 0)]);
    tester.expect("SHUTDOWN-COMPLETE");
    tester.expect_end(CloseReason::ShutdownComplete);
    tester.expect_gone_in_order();
}
