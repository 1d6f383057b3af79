//! Q.781, section 9: preventive cyclic retransmission.

use slantpath_base::Duration;
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use slantpath_ss7::mtp2::{LinkState, LinkStatus};

use crate::bench::{Bench, MOMENT, T7, body, cyclic, fisu, lssu, msu, time_of};

/// The octets on the line of one of the bench's messages.
const MESSAGE: usize = 12;

/// In service with N1 of 127 messages and N2 of 8,192 octets, which the messages of the bench do not reach.
fn in_service() -> Bench {
    Bench::in_service(cyclic(127, 8_192))
}

/// Time for so many messages to be sent, and for the fill-in unit before them.
fn time_of_messages(count: usize) -> Duration {
    time_of(MESSAGE * count + 6)
}

#[test]
fn case_9_1() {
    let mut bench = in_service();
    bench.give([0]);
    bench.pass(time_of_messages(5));
    let sent = bench.sent();
    assert!(sent.len() >= 5 && sent.iter().all(|unit| *unit == msu(0xff, 0x80)), "{sent:?}");
    bench.peer(fisu(0x80, 0xff));
    bench.pass(time_of_messages(2));
    assert_eq!(bench.sent().last(), Some(&fisu(0xff, 0x80)), "it is acknowledged, and not repeated any more");
    bench.peer(msu(0x80, 0x80));
    bench.expect_delivered([0]);
    bench.pass(time_of(6));
    assert_eq!(bench.sent(), [fisu(0x80, 0x80)]);
    bench.pass(T7 * 2);
    bench.expect_in_service();
}

#[test]
fn case_9_2() {
    let mut bench = in_service();
    bench.give([0, 1]);
    bench.pass(time_of_messages(6));
    assert_eq!(bench.numbers()[..6], [0, 1, 0, 1, 0, 1]);
    bench.give([2]);
    bench.pass(time_of_messages(4));
    let numbers = bench.numbers();
    assert_eq!(numbers[0], 2, "a new message goes before repetitions: {numbers:?}");
    let mut repeated = numbers[1..4].to_vec();
    repeated.sort_unstable();
    assert_eq!(repeated, [0, 1, 2]);
    bench.peer(fisu(0x80, 0xff));
    bench.numbers();
    bench.pass(time_of_messages(4));
    let numbers = bench.numbers();
    assert!(numbers.iter().all(|number| [1, 2].contains(number)) && numbers.len() >= 4, "{numbers:?}");
    bench.peer(fisu(0x82, 0xff));
    bench.pass(time_of_messages(1));
    assert_eq!(bench.sent().last(), Some(&fisu(0xff, 0x82)));
    bench.expect_in_service();
}

/// So many messages are given that the last must wait for a forced retransmission of the `window` before it, which go
/// round twice until the peer acknowledges some.
fn forced(mut bench: Bench, window: u8) -> Bench {
    bench.give(0..=window);
    bench.pass(time_of_messages(usize::from(window) * 5 / 2));
    let numbers = bench.numbers();
    let round: Vec<u8> = (0..window).collect();
    let (first, again) = numbers.split_at(usize::from(window));
    assert_eq!(first, round);
    assert_eq!(again[..usize::from(window)], round, "no new message");
    assert!(!again.contains(&window), "{again:?}");
    bench
}

/// The message that waited goes next, when the unit on the line has been sent.
fn expect_the_next(bench: &mut Bench, number: u8) {
    bench.numbers();
    bench.pass(time_of_messages(1));
    assert_eq!(bench.numbers()[0], number);
    bench.expect_in_service();
}

#[test]
fn case_9_3() {
    let mut bench = forced(in_service(), 127);
    assert_eq!(bench.link.counters().forced_retransmissions, 1);
    bench.peer(fisu(0x80, 0xff));
    expect_the_next(&mut bench, 127);
}

#[test]
fn case_9_4() {
    // The 17th message makes 204 octets.
    let mut bench = forced(Bench::in_service(cyclic(127, 200)), 17);
    bench.peer(fisu(0x80, 0xff));
    expect_the_next(&mut bench, 17);
}

#[test]
fn case_9_5() {
    let mut bench = forced(in_service(), 127);
    bench.peer(fisu(0xfe, 0xff));
    expect_the_next(&mut bench, 127);
    // The rest of the round does not come.
    bench.pass(time_of_messages(5));
    let numbers = bench.numbers();
    assert!(numbers.iter().all(|number| *number == 127), "{numbers:?}");
}

#[test]
fn case_9_6() {
    let mut bench = in_service();
    for _ in 0..2 {
        for number in 0..127 {
            bench.peer(msu(0xff, 0x80 | number));
        }
    }
    bench.peer(msu(0xff, 0xff));
    bench.expect_delivered(0..=127);
    let counters = bench.link.counters();
    assert_eq!(counters.discarded_repeated + counters.discarded_out_of_sequence, 127);
    bench.pass(time_of(12));
    assert_eq!(bench.sent().last(), Some(&fisu(0xff, 0xff)));
    bench.expect_in_service();
}

#[test]
fn case_9_7() {
    let mut bench = in_service();
    bench.give([0]);
    bench.pass(time_of_messages(2));
    bench.peer(lssu(LinkStatus::ProcessorOutage));
    bench.expect_indication(&[LinkIndication::RemoteProcessorOutage]);
    bench.sent();
    // No message is sent, and none is waited for.
    bench.pass(T7 * 2);
    assert_eq!(bench.numbers(), []);
    bench.expect_indication(&[]);
    assert_eq!(bench.link.state(), LinkState::ProcessorOutage);
    bench.request(LinkRequest::FlushBuffers);
    bench.peer(msu(0xff, 0x80));
    bench.expect_indication(&[LinkIndication::RemoteProcessorRecovered]);
    bench.request(LinkRequest::Continue);
    // The peer repeats its message, as it does until that is acknowledged.
    bench.peer(msu(0xff, 0x80));
    bench.expect_delivered([0]);
    bench.pass(T7 * 2);
    assert_eq!(bench.numbers(), [], "ours was flushed");
    bench.expect_in_service();
}

#[test]
fn case_9_8() {
    let mut bench = in_service();
    bench.peer(msu(0x80, 0x80));
    bench.expect_indication(&[]);
    bench.peer(msu(0xff, 0x80));
    bench.peer(msu(0xff, 0x80));
    bench.expect_delivered([0]);
    bench.pass(time_of(12));
    assert_eq!(bench.sent().last(), Some(&fisu(0x80, 0xff)));
    bench.expect_in_service();
}

#[test]
fn case_9_9() {
    let mut bench = in_service();
    for backward in [0xfe, 0xff] {
        bench.peer(msu(backward, 0x80));
        bench.expect_in_service();
    }
    bench.peer(msu(0xfe, 0x80));
    bench.expect_failure(OutOfServiceReason::AbnormalSequence);
}

#[test]
fn case_9_10() {
    let mut bench = in_service();
    bench.peer(msu(0xff, 0x80));
    bench.peer(msu(0xff, 0x82));
    bench.expect_delivered([0]);
    bench.pass(time_of(12));
    assert_eq!(bench.sent().last(), Some(&fisu(0x80, 0xff)), "no indicator bit is inverted");
    bench.expect_in_service();
}

#[test]
fn case_9_11() {
    let mut bench = in_service();
    bench.give([0]);
    bench.pass(time_of_messages(1));
    let expires = bench.sent_at(&msu(0xff, 0x80)) + T7;
    bench.pass(expires - bench.now - MOMENT);
    bench.expect_in_service();
    bench.pass(MOMENT);
    bench.expect_failure(OutOfServiceReason::AcknowledgementTimeout);
}

#[test]
fn case_9_12() {
    let mut bench = in_service();
    bench.peer(fisu(0xff, 0x80));
    bench.pass(time_of(60));
    assert_eq!(bench.sent(), [], "the same fill-in as before");
    bench.expect_in_service();
    bench.peer(msu(0xff, 0x80));
    bench.expect_indication(&[LinkIndication::Received(body(0))]);
}

#[test]
fn case_9_13() {
    let mut bench = in_service();
    bench.request(LinkRequest::Stop);
    bench.expect_failure(OutOfServiceReason::Stopped);
}
