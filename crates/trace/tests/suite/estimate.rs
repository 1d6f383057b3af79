//! Checks of the estimate of a network from records that are laid out by hand.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_sctp::{Unanswered, WaitReason};
use slantpath_trace::{Estimator, Evidence, PathEstimate, Record, What};

fn address(path: u8) -> IpAddr {
    [10, path, 0, 2].into()
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A trace in the making.
#[derive(Default)]
struct Trace(Vec<(u64, What)>);

fn lost(message: u64, tsn: u32, path: u8, evidence: Evidence) -> What {
    What::Lost {
        message: Some(message),
        tsn,
        path: address(path),
        evidence,
        reports: None,
        age_ns: None,
        reordering_window_ns: None,
        mtu_bytes: None,
    }
}

impl Trace {
    fn sent(&mut self, at: u64, message: u64, path: u8, transmission: u32) {
        let tsn = u32::try_from(message).expect("few");
        self.0.push((at, What::Sent { message: Some(message), tsn, path: address(path), transmission }));
    }

    fn acknowledged(&mut self, at: u64, message: u64) {
        self.0.push((at, What::Acknowledged { message: Some(message) }));
    }

    fn lost(&mut self, at: u64, message: u64, path: u8, evidence: Evidence) {
        self.0.push((at, lost(message, u32::try_from(message).expect("few"), path, evidence)));
    }

    /// A message every so often over path 1, each acknowledged after `round_trip`.
    fn flow(&mut self, numbers: std::ops::Range<u64>, every: u64, round_trip: u64) {
        for number in numbers {
            self.sent(number * every, number, 1, 1);
            self.acknowledged(number * every + round_trip, number);
        }
    }

    fn estimate(mut self, peer_is_silent: bool) -> Vec<PathEstimate> {
        self.0.sort_by_key(|(at, _)| *at);
        let mut estimator = Estimator::new(peer_is_silent);
        for (at, what) in self.0 {
            estimator.follow(&Record { at: Instant::from_millis(at), association: 0, what });
        }
        estimator.finish().paths
    }

    fn only_path(self) -> PathEstimate {
        let mut paths = self.estimate(false);
        assert_eq!(paths.len(), 1);
        paths.remove(0)
    }
}

#[test]
fn a_round_trip_that_changes_stands_where_it_changes() {
    let mut trace = Trace::default();
    trace.flow(0..50, 100, 40);
    trace.flow(50..100, 100, 120);
    // Within a second the least one counts: what is longer has waited.
    trace.sent(3_350, 1_000, 1, 1);
    trace.acknowledged(3_600, 1_000);
    let path = trace.only_path();
    assert_eq!(path.round_trips, [(Instant::START, ms(40)), (Instant::from_secs(5), ms(120))]);
    assert_eq!((path.least_round_trip(), path.longest_round_trip), (Some(ms(40)), Some(ms(120))));
    assert_eq!((path.sent, path.lost, path.outages), (101, 0, vec![]));
    // Ten a second, and one more in one of them.
    let rate = path.acknowledged_per_s.expect("some were acknowledged");
    assert!((9.9..=10.1).contains(&rate), "{rate}");
}

#[test]
fn losses_that_stand_alone_are_a_share_and_those_in_a_row_an_outage() {
    let mut trace = Trace::default();
    trace.flow(0..100, 100, 40);
    // From 10 s to 15 s nothing comes through; what is lost goes over the other path.
    for number in 100..150 {
        trace.sent(number * 100, number, 1, 1);
        trace.lost(number * 100 + 1_000, number, 1, Evidence::TimedOut);
        trace.sent(number * 100 + 1_000, number, 2, 2);
        trace.acknowledged(number * 100 + 1_250, number);
    }
    for number in 150..300 {
        trace.sent(number * 100, number, 1, 1);
        if number % 50 == 20 {
            trace.lost(number * 100 + 300, number, 1, Evidence::MissIndications);
            trace.sent(number * 100 + 300, number, 1, 2);
            trace.acknowledged(number * 100 + 340, number);
        } else {
            trace.acknowledged(number * 100 + 40, number);
        }
    }
    let paths = trace.estimate(false);
    let [first, second] = paths.as_slice() else { panic!("two paths: {paths:?}") };
    let outage = (Instant::from_millis(9_950), Some(Instant::from_millis(14_950)));
    assert_eq!(first.outages, [outage]);
    assert_eq!((first.sent, first.lost), (253, 3));
    // What was retransmitted says nothing of round trips, and that it was lost elsewhere is no loss here.
    assert_eq!((second.round_trips.as_slice(), second.sent, second.lost), (&[][..], 50, 0));
}

#[test]
fn a_few_in_a_row_among_many_losses_are_no_outage_nor_is_a_short_burst() {
    let mut trace = Trace::default();
    // Every fifth is lost, and once three in a row over 600 ms.
    for number in 0..1_000_u64 {
        trace.sent(number * 300, number, 1, 1);
        if number % 5 == 0 || number == 501 || number == 502 {
            trace.lost(number * 300 + 100, number, 1, Evidence::Overtaken);
        } else {
            trace.acknowledged(number * 300 + 40, number);
        }
    }
    let path = trace.only_path();
    assert_eq!((path.outages.as_slice(), path.sent, path.lost), (&[][..], 1_000, 202));

    let mut trace = Trace::default();
    trace.flow(0..1_000, 10, 40);
    for number in 1_000..1_040 {
        trace.sent(number * 10, number, 1, 1);
        trace.lost(number * 10 + 100, number, 1, Evidence::MissIndications);
    }
    trace.flow(1_040..2_000, 10, 40);
    let path = trace.only_path();
    assert_eq!((path.outages.as_slice(), path.lost), (&[][..], 40));
}

#[test]
fn what_was_not_lost_on_the_way_does_not_count() {
    let mut trace = Trace::default();
    trace.flow(0..100, 100, 40);
    for (number, evidence) in [(200, Evidence::Probed), (201, Evidence::Refused), (202, Evidence::TooBig)] {
        trace.sent(number, number, 1, 1);
        trace.lost(number + 100, number, 1, evidence);
    }
    // One that counted as lost in error.
    trace.sent(5_000, 300, 1, 1);
    trace.lost(5_100, 300, 1, Evidence::TimedOut);
    trace.0.push((5_200, What::Restored { message: Some(300), tsn: 300 }));
    trace.acknowledged(5_200, 300);
    // The peer has no room: what probes its window is thrown away.
    let waiting = |reason, peer_rwnd_bytes| What::Waiting { reason, peer_rwnd_bytes };
    trace.0.push((6_000, waiting(WaitReason::PeerWindow, 0)));
    for probe in 0..5 {
        trace.sent(6_001 + 1_000 * probe, 400, 1, 1);
        trace.lost(7_001 + 1_000 * probe, 400, 1, Evidence::TimedOut);
    }
    trace.0.push((11_500, waiting(WaitReason::NothingToSend, 9_000)));
    trace.sent(11_500, 400, 1, 6);
    trace.acknowledged(11_540, 400);
    // It has some again.
    trace.sent(12_000, 401, 1, 1);
    trace.lost(13_000, 401, 1, Evidence::TimedOut);
    let path = trace.only_path();
    assert_eq!((path.sent, path.lost, path.outages.as_slice()), (103, 1, &[][..]));
}

#[test]
fn heartbeats_tell_of_an_idle_path() {
    let mut trace = Trace::default();
    let heartbeat = |trace: &mut Trace, at: u64, is_answered: bool| {
        trace.0.push((at, What::HeartbeatSent { path: address(2) }));
        if is_answered {
            trace.0.push((at + 500, What::HeartbeatAnswered { path: address(2), round_trip_ns: ms(500) }));
        } else {
            let unanswered = Unanswered::Heartbeat;
            let error = What::PathError { path: address(2), unanswered, errors: 1, association_errors: 1 };
            trace.0.push((at + 2_000, error));
        }
    };
    for number in 0..20 {
        heartbeat(&mut trace, number * 10_000, !(8..12).contains(&number));
    }
    let path = trace.only_path();
    assert_eq!(path.address, address(2));
    assert_eq!(path.round_trips, [(Instant::START, ms(500))]);
    assert_eq!(path.outages, [(Instant::from_secs(75), Some(Instant::from_secs(115)))]);
    assert_eq!((path.sent, path.lost, path.acknowledged_per_s), (16, 0, None));
}

#[test]
fn a_heartbeat_is_lost_once_and_not_after_its_answer() {
    let mut trace = Trace::default();
    let error = What::PathError {
        path: address(1),
        unanswered: Unanswered::Heartbeat,
        errors: 1,
        association_errors: 1,
    };
    trace.0.push((1_000, What::HeartbeatSent { path: address(1) }));
    trace.0.push((1_500, What::HeartbeatAnswered { path: address(1), round_trip_ns: ms(500) }));
    trace.0.push((2_000, error.clone()));
    trace.0.push((3_000, What::HeartbeatSent { path: address(1) }));
    trace.0.push((4_000, error.clone()));
    trace.0.push((5_000, error));
    let path = trace.only_path();
    assert_eq!((path.sent, path.lost), (2, 1));
}

#[test]
fn a_message_in_parts_counts_from_its_last_and_what_was_given_up_not_at_all() {
    let mut trace = Trace::default();
    let part = |trace: &mut Trace, at: u64, message: u64, tsn: u32, transmission: u32| {
        let path = address(1);
        trace.0.push((at, What::Sent { message: Some(message), tsn, path, transmission }));
    };
    part(&mut trace, 100, 1, 11, 1);
    part(&mut trace, 130, 1, 12, 1);
    trace.acknowledged(170, 1);
    // Lost, and nothing of it was retransmitted, but it was acknowledged: nobody knows what became of it.
    part(&mut trace, 200, 2, 13, 1);
    trace.0.push((250, lost(2, 13, 1, Evidence::MissIndications)));
    trace.acknowledged(240 + 200, 2);
    // Given up: another message has its TSN later.
    part(&mut trace, 500, 3, 14, 1);
    trace.0.push((600, lost(3, 14, 1, Evidence::TimedOut)));
    trace.0.push((700, What::Failed { message: Some(3) }));
    part(&mut trace, 800, 4, 14, 1);
    trace.acknowledged(900, 4);
    let path = trace.only_path();
    assert_eq!(path.round_trips, [(Instant::START, ms(40))]);
    assert_eq!((path.sent, path.lost), (5, 2));
}

#[test]
fn what_was_acknowledged_too_soon_after_it_was_sent_again_had_arrived() {
    let mut trace = Trace::default();
    trace.flow(0..10, 100, 40);
    for (number, answered) in [(20_u64, 15), (21, 40)] {
        trace.sent(100 * number, number, 1, 1);
        trace.lost(100 * number + 50, number, 1, Evidence::MissIndications);
        trace.sent(100 * number + 50, number, 1, 2);
        trace.acknowledged(100 * number + 50 + answered, number);
    }
    let path = trace.only_path();
    // Of the first the first transmission has arrived, of the second both were sent and one was lost.
    assert_eq!((path.sent, path.lost), (13, 1));
}

#[test]
fn messages_of_two_associations_are_no_pair() {
    let mut estimator = Estimator::new(true);
    for second in 0..10 {
        for association in 0..2 {
            let (message, tsn) = (Some(second), u32::try_from(second).expect("few"));
            let what = What::Sent { message, tsn, path: address(1), transmission: 1 };
            estimator.follow(&Record { at: Instant::from_millis(1_000 * second), association, what });
        }
        for association in 0..2 {
            let what = What::Acknowledged { message: Some(second) };
            estimator.follow(&Record { at: Instant::from_millis(1_000 * second + 240), association, what });
        }
    }
    let heartbeat = What::HeartbeatAnswered { path: address(1), round_trip_ns: ms(300) };
    estimator.follow(&Record { at: Instant::from_secs(10), association: 0, what: heartbeat });
    // What is known without a doubt counts alone, though it is longer.
    assert_eq!(estimator.finish().paths[0].round_trips, [(Instant::START, ms(300))]);
}

#[test]
fn a_silent_peer_holds_the_acknowledgement_of_one_packet_back() {
    let laid = || {
        let mut trace = Trace::default();
        for number in 0..100 {
            // Of two that follow each other the second is acknowledged at once, one by itself after 200 ms.
            trace.sent(number * 1_000, 3 * number, 1, 1);
            trace.acknowledged(number * 1_000 + 240, 3 * number);
            trace.sent(number * 1_000 + 500, 3 * number + 1, 1, 1);
            trace.sent(number * 1_000 + 510, 3 * number + 2, 1, 1);
            trace.acknowledged(number * 1_000 + 550, 3 * number + 1);
            trace.acknowledged(number * 1_000 + 550, 3 * number + 2);
        }
        trace
    };
    for is_silent in [false, true] {
        let paths = laid().estimate(is_silent);
        assert_eq!(paths[0].round_trips, [(Instant::START, ms(40))], "{is_silent}");
    }
    let mut single = Trace::default();
    for number in 0..100 {
        single.sent(number * 1_000, number, 1, 1);
        single.acknowledged(number * 1_000 + 240, number);
    }
    single.0.push((50_300, What::HeartbeatSent { path: address(1) }));
    single.0.push((50_340, What::HeartbeatAnswered { path: address(1), round_trip_ns: ms(40) }));
    assert_eq!(single.estimate(true)[0].round_trips, [(Instant::START, ms(40))]);
}

#[test]
fn losses_behind_a_long_queue_are_told_apart() {
    let mut trace = Trace::default();
    trace.flow(0..100, 100, 40);
    // A queue builds up, and two are lost where it is longest; one was where there was none.
    for number in 100..200 {
        trace.sent(number * 100, number, 1, 1);
        trace.acknowledged(number * 100 + 40 + 2 * (number - 100), number);
    }
    for (at, number) in [(19_905, 1_000), (19_915, 1_001), (2_050, 1_002)] {
        trace.sent(at, number, 1, 1);
        trace.lost(at + 400, number, 1, Evidence::MissIndications);
    }
    let path = trace.only_path();
    assert_eq!((path.lost, path.lost_in_queue), (3, 2));
}

#[test]
fn any_instant_and_any_number_of_records_are_taken() {
    let mut estimator = Estimator::new(false);
    let mut follow = |at: u64, what: What| {
        estimator.follow(&Record { at: Instant::from_nanos(at), association: 7, what });
    };
    for path in 0..=255_u8 {
        let (message, tsn, path) = (Some(path.into()), path.into(), address(path));
        follow(0, What::Sent { message, tsn, path, transmission: 1 });
    }
    follow(1_000_000, What::Acknowledged { message: Some(0) });
    follow(u64::MAX, What::HeartbeatAnswered { path: address(0), round_trip_ns: Duration::from_nanos(1) });
    follow(u64::MAX, What::HeartbeatAnswered { path: address(1), round_trip_ns: Duration::MAX });
    let network = estimator.finish();
    assert_eq!(network.paths.len(), 32);
    assert_eq!(network.paths[0].sent, 2);
    assert_eq!(network.paths[0].least_round_trip(), Some(Duration::from_nanos(1)));
}
