//! Q.781, section 5: where units begin and end, but for their lengths, which M2PA is asked for as well.

use slantpath_ss7::link::OutOfServiceReason;
use slantpath_ss7::mtp2::SignalUnit;

use crate::bench::{Bench, basic, fisu, msu, time_of};

#[test]
fn case_5_1() {
    let mut bench = Bench::in_service(basic());
    // A message of 20 octets with eight ones in a row, and fill-in units behind it that have its number.
    bench.lose_units();
    bench.pass(time_of(20));
    bench.peer_fills_in(fisu(0xff, 0x80));
    bench.pass(time_of(60));
    bench.expect_in_service();
    assert_eq!(bench.link.counters().errored_units, 1, "16 of the octets count as one unit");
    assert_eq!(bench.sent(), [fisu(0x7f, 0xff)], "the message is asked for");
    bench.peer(msu(0xff, 0x00));
    bench.pass(time_of(60));
    bench.expect_delivered([0]);
    assert_eq!(bench.sent(), [fisu(0x00, 0xff)]);
}

/// So many units of the peer, with so many more flags between two than the one that each has.
fn with_flags(bench: &mut Bench, units: impl IntoIterator<Item = SignalUnit>, flags: usize) {
    for unit in units {
        bench.pass(time_of(flags));
        bench.peer(unit);
    }
}

/// 63 damaged units, so many good fill-in units, and a damaged one. One of 256 units forgives one error, and the first
/// of all was the one that brought the link into service.
fn errors_and_fill_in(good: usize, flags: usize) -> Bench {
    let mut bench = Bench::in_service(basic());
    for _ in 0..63 {
        bench.damaged();
    }
    with_flags(&mut bench, (0..good).map(|_| fisu(0xff, 0xff)), flags);
    bench.expect_in_service();
    bench.damaged();
    bench
}

#[test]
fn case_5_4a() {
    errors_and_fill_in(191, 0).expect_in_service();
    errors_and_fill_in(190, 0).expect_failure(OutOfServiceReason::BearerFailed);
}

#[test]
fn case_5_4b() {
    // The flags between them are no units: neither do they damage any, nor do they let errors be forgotten.
    errors_and_fill_in(191, 5).expect_in_service();
    errors_and_fill_in(190, 5).expect_failure(OutOfServiceReason::BearerFailed);
}

fn messages(flags: usize) {
    let mut bench = Bench::in_service(basic());
    with_flags(&mut bench, (0..5).map(|number| msu(0xff, 0x80 | number)), flags);
    bench.expect_delivered(0..5);
    bench.pass(time_of(60));
    assert_eq!(bench.sent().last(), Some(&fisu(0x84, 0xff)));
    assert_eq!(bench.link.counters().errored_units, 0);
}

#[test]
fn case_5_5a() {
    messages(0);
}

#[test]
fn case_5_5b() {
    messages(5);
}
