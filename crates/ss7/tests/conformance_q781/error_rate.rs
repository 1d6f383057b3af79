//! Q.781, sections 6 and 7: the error rate monitors, in service and while the line is proved.

use slantpath_base::Duration;
use slantpath_ss7::link::{LinkIndication, OutOfServiceReason};
use slantpath_ss7::mtp2::{LinkState, LinkStatus};

use crate::bench::{Bench, MOMENT, T4_EMERGENCY, T4_NORMAL, basic, fisu, lssu, time_of};

/// One fill-in unit is damaged, and then one of every so many, 8,192 times or until the link fails. How many times.
fn one_damaged_of(bench: &mut Bench, units: usize) -> usize {
    bench.peer_fills_in(fisu(0xff, 0xff));
    bench.damaged();
    for number in 1..=8_192 {
        bench.pass(time_of(6) * u64::try_from(units - 1).unwrap());
        bench.damaged();
        if bench.link.state() != LinkState::InService {
            return number;
        }
    }
    8_192
}

#[test]
fn case_6_1() {
    let mut bench = Bench::in_service(basic());
    one_damaged_of(&mut bench, 256);
    bench.expect_in_service();
    assert_eq!(bench.link.counters().errored_units, 8_193);
}

#[test]
fn case_6_2() {
    let mut bench = Bench::in_service(basic());
    // Three units have been counted with the first that was damaged. At the k-th after it the counter has 1 + k, less
    // the whole multiples of 256 in 3 + 254 k: 64 for the first time at k = 7,938.
    assert_eq!(one_damaged_of(&mut bench, 254), 7_938);
    bench.expect_failure(OutOfServiceReason::BearerFailed);
}

#[test]
fn case_6_3() {
    let mut bench = Bench::in_service(basic());
    for _ in 0..63 {
        bench.damaged();
    }
    bench.expect_in_service();
    bench.damaged();
    bench.expect_failure(OutOfServiceReason::BearerFailed);
}

#[test]
fn case_6_4() {
    let mut bench = Bench::in_service(basic());
    bench.lose_units();
    bench.pass(Duration::from_millis(100));
    bench.peer_fills_in(fisu(0xff, 0xff));
    bench.pass(Duration::from_secs(10));
    bench.expect_in_service();
    assert_eq!(bench.link.counters().errored_units, 50, "800 octets");
    // Fill-in units of ten seconds let those be forgotten before the next break.
    bench.lose_units();
    bench.pass(Duration::from_millis(100));
    bench.peer_fills_in(fisu(0xff, 0xff));
    bench.expect_in_service();
    // 64 runs of 16 octets are too many. What looks like a damaged unit among them counts no more than its octets do.
    let mut bench = Bench::in_service(basic());
    bench.lose_units();
    bench.damaged();
    bench.pass(time_of(64 * 16 - 6) - MOMENT);
    bench.expect_in_service();
    bench.pass(MOMENT);
    bench.expect_failure(OutOfServiceReason::BearerFailed);
}

/// The line is proved for exactly so long from now on, and the link comes into service.
fn expect_proved_after(bench: &mut Bench, time: Duration) {
    bench.pass(time - MOMENT);
    assert_eq!(bench.link.state(), LinkState::InitialAlignment);
    bench.pass(MOMENT);
    assert_eq!(bench.link.state(), LinkState::AlignedReady);
    bench.peer(fisu(0xff, 0xff));
    bench.expect_indication(&[LinkIndication::InService]);
}

/// So many status units of the peer are damaged, one behind the other; how long they took.
fn damaged(bench: &mut Bench, count: usize) -> Duration {
    let start = bench.now;
    for _ in 0..count {
        bench.damaged();
    }
    bench.now - start
}

#[test]
fn case_7_1() {
    let mut bench = Bench::proving(LinkStatus::Normal);
    bench.pass(T4_NORMAL / 2);
    let took = damaged(&mut bench, 3);
    expect_proved_after(&mut bench, T4_NORMAL / 2 - took);
}

#[test]
fn case_7_2() {
    let mut bench = Bench::proving(LinkStatus::Normal);
    bench.pass(T4_NORMAL / 2);
    damaged(&mut bench, 4);
    bench.expect_indication(&[]);
    expect_proved_after(&mut bench, T4_NORMAL);
}

#[test]
fn case_7_3() {
    let mut bench = Bench::proving(LinkStatus::Normal);
    for _ in 0..4 {
        bench.pass(T4_NORMAL / 2);
        damaged(&mut bench, 4);
        bench.peer(lssu(LinkStatus::Normal));
    }
    bench.pass(T4_NORMAL / 2);
    damaged(&mut bench, 3);
    bench.expect_indication(&[]);
    assert_eq!(bench.link.state(), LinkState::InitialAlignment);
    damaged(&mut bench, 1);
    bench.expect_failure(OutOfServiceReason::AlignmentNotPossible);
}

#[test]
fn case_7_4() {
    let mut bench = Bench::proving(LinkStatus::Emergency);
    bench.pass(T4_EMERGENCY / 2);
    damaged(&mut bench, 1);
    bench.expect_indication(&[]);
    expect_proved_after(&mut bench, T4_EMERGENCY);
}
