//! From when on T7 of M2PA runs, in each reading of RFC 4165, section 4.2.1.
use slantpath_base::Duration;
use slantpath_sigtran::m2pa::{LinkConfig, LinkState, Proving, T7From, TimerRanges, Timers};
use slantpath_sigtran::transport::TransportInput;
use slantpath_ss7::link::OutOfServiceReason;

use crate::m2pa_bench::{Bench, NONE, Sent, config};

/// T7 of the bench's configuration.
const T7: Duration = Duration::from_secs(1);
const TENTH: Duration = Duration::from_millis(100);

fn in_service(t7_from: T7From) -> Bench {
    in_service_with(LinkConfig { t7_from, ..config() })
}

fn in_service_with(config: LinkConfig) -> Bench {
    let mut bench = Bench::out_of_service_with(LinkConfig { proving: Proving::Omitted, ..config });
    bench.align();
    bench.expect(Sent::Ready);
    bench.become_in_service();
    bench
}

const DATA_0: Sent = Sent::Data { fsn: 0, bsn: NONE };
const DATA_1: Sent = Sent::Data { fsn: 1, bsn: NONE };
const LATE: OutOfServiceReason = OutOfServiceReason::AcknowledgementTimeout;

#[test]
fn what_waits_above_the_association_counts_where_t7_runs_from_what_mtp3_gave() {
    let mut bench = in_service(T7From::Given);
    bench.transport(TransportInput::Congested(true));
    bench.send_msu(0);
    bench.expire(T7);
    bench.expect_failure(LATE);
}

#[test]
fn a_message_that_waited_has_less_time_left_where_t7_runs_from_what_mtp3_gave() {
    let mut bench = in_service(T7From::Given);
    bench.transport(TransportInput::Congested(true));
    bench.send_msu(0);
    bench.expect_quiet(TENTH * 4);
    bench.transport(TransportInput::Congested(false));
    bench.expect(DATA_0);
    bench.expire(TENTH * 6);
    bench.expect_failure(LATE);
}

#[test]
fn the_oldest_that_is_sent_goes_before_what_waits_where_t7_runs_from_what_mtp3_gave() {
    let mut bench = in_service(T7From::Given);
    bench.send_msu(0);
    bench.expect(DATA_0);
    bench.wait(TENTH * 3);
    bench.transport(TransportInput::Congested(true));
    bench.send_msu(1);
    bench.wait(TENTH * 3);
    bench.ack(NONE, 0);
    // The second was given after three tenths.
    bench.expire(TENTH * 7);
    bench.expect_failure(LATE);
}

#[test]
fn a_message_that_waited_has_all_its_time_where_t7_runs_from_hand_over() {
    let mut bench = in_service(T7From::HandOver);
    bench.transport(TransportInput::Congested(true));
    bench.send_msu(0);
    bench.expect_quiet(T7 * 9);
    bench.transport(TransportInput::Congested(false));
    bench.expect(DATA_0);
    bench.expire(T7);
    bench.expect_failure(LATE);
}

#[test]
fn what_sctp_has_not_sent_is_waited_for_where_t7_runs_from_the_first_transmission() {
    let mut bench = in_service(T7From::FirstTransmission);
    bench.send_msu(0);
    bench.send_msu(1);
    bench.expect_all(&[DATA_0, DATA_1]);
    assert_eq!(bench.reports, [0, 1]);
    bench.expect_quiet(T7 * 9);
    bench.transport(TransportInput::Transmitted(0));
    bench.wait(TENTH * 8);
    bench.transport(TransportInput::Transmitted(1));
    // What is told again changes nothing.
    bench.transport(TransportInput::Transmitted(1));
    bench.ack(NONE, 0);
    bench.wait(TENTH * 5);
    bench.transport(TransportInput::Transmitted(1));
    bench.expire(TENTH * 5);
    bench.expect_failure(LATE);
}

#[test]
fn what_is_acknowledged_already_or_never_was_sent_starts_nothing() {
    let mut bench = in_service(T7From::FirstTransmission);
    bench.send_msu(0);
    bench.expect(DATA_0);
    bench.ack(NONE, 0);
    for number in [0, 1, 17, u32::MAX] {
        bench.transport(TransportInput::Transmitted(number));
    }
    bench.expect_quiet(T7 * 9);
    bench.send_msu(1);
    bench.expect(DATA_1);
    bench.transport(TransportInput::Transmitted(0));
    bench.expect_quiet(T7 * 9);
}

#[test]
fn only_a_reading_that_needs_it_asks_to_be_told() {
    for reading in [T7From::Given, T7From::HandOver, T7From::LastAcknowledgement] {
        let mut bench = in_service(reading);
        bench.send_msu(0);
        assert_eq!(bench.reports, [], "{reading:?}");
    }
}

#[test]
fn progress_keeps_t7_from_expiring_where_an_acknowledgement_restarts_it() {
    let mut bench = in_service(T7From::LastAcknowledgement);
    // Each message takes 2.5 s, and an acknowledgement comes every half second.
    for number in 0..5 {
        bench.send_msu(number);
        bench.expect(Sent::Data { fsn: number.into(), bsn: NONE });
    }
    for number in 0..4 {
        bench.wait(TENTH * 5);
        bench.ack(NONE, number);
    }
    // One that takes nothing is no progress.
    bench.wait(TENTH * 5);
    bench.ack(NONE, 3);
    bench.expire(TENTH * 5);
    bench.expect_failure(LATE);
}

#[test]
fn a_message_is_not_late_before_its_time_whenever_another_was_acknowledged() {
    let mut bench = in_service(T7From::LastAcknowledgement);
    bench.send_msu(0);
    bench.ack(NONE, 0);
    bench.wait(T7 * 5);
    bench.send_msu(1);
    bench.expect_all(&[DATA_0, DATA_1]);
    bench.expire(T7);
    bench.expect_failure(LATE);
}

#[test]
fn a_transmission_queue_takes_so_many_whatever_is_under_way() {
    let mut bench = in_service_with(LinkConfig { outstanding_max: 2, waiting_max: Some(3), ..config() });
    for number in 0..6 {
        bench.send_msu(number);
    }
    bench.expect_all(&[DATA_0, DATA_1]);
    assert_eq!((bench.link.to_send(), bench.link.counters().discarded.queue_full), (5, 1));
    bench.ack(NONE, 1);
    assert_eq!((bench.link.to_send(), bench.link.state()), (3, LinkState::InService));
    bench.send_msu(6);
    assert_eq!((bench.link.counters().discarded.queue_full, bench.link.counters().accepted), (1, 6));
    bench.expect_no_indication();
}

#[test]
fn free_ranges_take_any_time_but_none_at_all() {
    let with = |t7| Timers { t7, ..Timers::default() }.check(TimerRanges::Free);
    assert_eq!(with(Duration::from_secs(20)), Ok(()));
    assert_eq!(with(Duration::from_nanos(1)), Ok(()));
    assert!(with(Duration::ZERO).is_err());
}
