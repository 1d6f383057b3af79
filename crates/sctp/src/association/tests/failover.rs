//! Failover: SCTP-PF (RFC 7829), primary path switchover, and how soon a path that timed out is tried again.

use std::cell::Cell;
use std::rc::Rc;

use super::*;
use crate::event::T3RtxChange;
use crate::notice::Notice;
use crate::path::PathState;
use crate::policy::{NewDataAfterTimeout, PotentiallyFailed, PrimarySwitchover, RetransmissionAfterTimeout};
use slantpath_cc::BackOff;

/// Fast enough for a test to see several timeouts, with probing on.
fn probing() -> SctpConfig {
    SctpConfig {
        rto_initial: Duration::from_millis(250),
        rto_min: Duration::from_millis(250),
        rto_max: Duration::from_secs(1),
        // An RTO that a delayed SACK outlasts makes every expiry ambiguous.
        sack_delay: Duration::from_millis(40),
        path_max_retrans: 2,
        heartbeat_interval: Some(Duration::from_secs(30)),
        ..quiet()
    }
}

fn failing(max_retrans: u32) -> SctpConfig {
    SctpConfig { potentially_failed: PotentiallyFailed::Above(max_retrans), ..probing() }
}

/// Two ends whose first path is down as long as the cell says so.
fn with_outage(config: SctpConfig) -> (Wire, Rc<Cell<bool>>) {
    let mut wire = Wire::new(2, config);
    let is_down = Rc::new(Cell::new(true));
    let seen = Rc::clone(&is_down);
    wire.decide(move |sent| if sent.path == 0 && seen.get() { is_lost() } else { arrives() });
    (wire, is_down)
}

/// Sends a message of 100 bytes every 20 ms until `until`.
fn send_until(wire: &mut Wire, next: &mut u64, until: Instant) {
    while wire.now < until {
        wire.send(0, *next..*next + 1, 100);
        *next += 1;
        let at = wire.now + Duration::from_millis(20);
        wire.run_until(at);
    }
}

fn states(wire: &Wire, of: usize) -> Vec<PathState> {
    let changed = |event: &Event| match event {
        Event::PathChanged { address: changed, state } if *changed == address(1, of) => Some(*state),
        _ => None,
    };
    wire.events[0].iter().filter_map(changed).collect()
}

fn heartbeats(wire: &Wire, path: usize) -> usize {
    let is_heartbeat = |sent: &&Sent| {
        sent.from == 0
            && sent.path == path
            && sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::Heartbeat(_)))
    };
    wire.log.iter().filter(is_heartbeat).count()
}

/// Instant at which a chunk that had not been sent before first left by a path.
fn first_new_on(wire: &Wire, path: usize) -> Option<Instant> {
    let mut seen = std::collections::BTreeSet::new();
    let is_first = |sent: &&Sent| sent.tsns().into_iter().filter(|tsn| seen.insert(*tsn)).count() > 0;
    data_packets(wire, 0).into_iter().filter(is_first).find(|sent| sent.path == path).map(|sent| sent.at)
}

#[test]
fn with_pfmr_0_the_first_timeout_moves_new_data_and_probes_the_path_at_once() {
    let (mut wire, is_down) = with_outage(failing(0));
    let mut next = 0;
    send_until(&mut wire, &mut next, Instant::from_millis(300));
    assert_eq!(states(&wire, 0), [PathState::PotentiallyFailed]);
    assert_eq!(heartbeats(&wire, 0), 1, "HEARTBEATs are sent when the PF state is reached");
    assert_eq!(first_new_on(&wire, 1), Some(Instant::from_millis(260)), "with the message after the expiry");
    is_down.set(false);
    send_until(&mut wire, &mut next, Instant::from_millis(2_000));
    assert_eq!(states(&wire, 0), [PathState::PotentiallyFailed, PathState::Active]);
    assert_eq!(wire.path(0, 0).error_count, 0, "a HEARTBEAT ACK clears the counter");
    assert_eq!(data_packets(&wire, 0).last().unwrap().path, 0, "and data returns to the primary");
    wire.run_until(Instant::from_secs(5));
    assert_eq!(wire.received(1), (0..next).collect::<Vec<_>>());
}

#[test]
fn pfmr_minus_pmr_further_timeouts_of_heartbeats_make_the_path_inactive() {
    let (mut wire, _) = with_outage(failing(0));
    let mut next = 0;
    send_until(&mut wire, &mut next, Instant::from_secs(3));
    assert_eq!(states(&wire, 0), [PathState::PotentiallyFailed, PathState::Inactive]);
    // 250 ms until T3-rtx, then 500 ms and 1 s, once per RTO, for two HEARTBEATs.
    assert_eq!(heartbeats(&wire, 0), 2, "HB.Interval is ignored as long as it may have failed");
    let data = data_packets(&wire, 0);
    let late = data.iter().filter(|sent| sent.path == 0 && sent.at > Instant::from_millis(250)).count();
    assert_eq!(late, 0, "no data goes to a path that may have failed while another is active");
}

#[test]
fn no_heartbeat_goes_to_a_failing_path_where_heartbeats_are_off() {
    let (mut wire, _) = with_outage(SctpConfig { heartbeat_interval: None, ..failing(0) });
    let mut next = 0;
    send_until(&mut wire, &mut next, Instant::from_secs(5));
    assert_eq!(heartbeats(&wire, 0), 0);
    assert_eq!(wire.path(0, 0).state, PathState::PotentiallyFailed);
    assert_eq!(wire.path(0, 0).error_count, 1);
}

#[test]
fn pfmr_at_pmr_or_above_is_the_state_machine_of_rfc_9260() {
    let times = |config: SctpConfig| {
        let (mut wire, _) = with_outage(config);
        let mut next = 0;
        send_until(&mut wire, &mut next, Instant::from_secs(4));
        (states(&wire, 0), first_new_on(&wire, 1))
    };
    let standard = times(probing());
    assert_eq!(standard.0, [PathState::Inactive]);
    assert_eq!(times(failing(2)), standard);
    assert_eq!(times(failing(7)), standard);
}

#[test]
fn failing_states_may_be_kept_from_the_user() {
    let (mut wire, is_down) = with_outage(SctpConfig { expose_potentially_failed: false, ..failing(0) });
    let mut next = 0;
    send_until(&mut wire, &mut next, Instant::from_millis(300));
    assert_eq!(wire.path(0, 0).state, PathState::PotentiallyFailed);
    is_down.set(false);
    send_until(&mut wire, &mut next, Instant::from_secs(2));
    assert_eq!(wire.path(0, 0).state, PathState::Active);
    assert_eq!(states(&wire, 0), []);
    is_down.set(true);
    send_until(&mut wire, &mut next, Instant::from_secs(8));
    assert_eq!(states(&wire, 0), [PathState::Inactive]);
}

#[test]
fn what_was_sent_to_several_addresses_does_not_revive_a_failing_one() {
    // The alternate answers late: by then the message has gone to both, and the answer may be for either.
    let mut wire = Wire::new(2, SctpConfig { heartbeat_interval: None, ..failing(0) });
    wire.decide(|sent| if sent.path == 0 { is_lost() } else { arrives() });
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_secs(1));
    assert_eq!(wire.received(1), [0]);
    assert_eq!(wire.path(0, 0).state, PathState::PotentiallyFailed);
    assert_eq!(wire.path(0, 0).error_count, 1);
}

#[test]
fn an_answer_to_what_was_sent_to_one_address_only_revives_it() {
    // Two packets are acknowledged too late, the timer was spurious: the second has not been retransmitted yet.
    let config = SctpConfig {
        heartbeat_interval: None,
        retransmission_after_timeout: RetransmissionAfterTimeout::OnePacket,
        ..failing(0)
    };
    let mut wire = Wire::new(2, config);
    wire.decide(|sent| {
        let slow = if sent.from == 1 && sent.path == 0 { 240 } else { 50 };
        SmallVec::from_slice(&[Duration::from_millis(slow)])
    });
    wire.send(0, 0..2, 1_400);
    wire.run_until(Instant::from_millis(260));
    assert_eq!(wire.path(0, 0).state, PathState::PotentiallyFailed);
    wire.run_until(Instant::from_millis(300));
    assert_eq!(wire.path(0, 0).state, PathState::Active);
    assert_eq!(wire.path(0, 0).error_count, 0);
}

#[test]
fn of_failing_paths_the_one_with_fewer_timeouts_carries_the_data() {
    let mut wire = Wire::new(2, failing(0));
    let fates = Rc::new(Cell::new([true, false]));
    let seen = Rc::clone(&fates);
    wire.decide(move |sent| if seen.get()[sent.path] { is_lost() } else { arrives() });
    let mut next = 0;
    send_until(&mut wire, &mut next, Instant::from_millis(900));
    assert!(wire.path(0, 0).error_count >= 2);
    fates.set([true, true]);
    while wire.path(0, 1).state == PathState::Active {
        let until = wire.now + Duration::from_millis(20);
        send_until(&mut wire, &mut next, until);
    }
    let (first, second) = (wire.path(0, 0), wire.path(0, 1));
    assert_eq!(second.state, PathState::PotentiallyFailed);
    assert!(second.error_count < first.error_count || first.state == PathState::Inactive);
    let before = wire.log.len();
    let until = wire.now + Duration::from_millis(100);
    send_until(&mut wire, &mut next, until);
    let now = wire.log[before..].iter().filter(|sent| sent.from == 0 && sent.has_data());
    assert!(now.clone().all(|sent| sent.path == 1), "{:?}", now.collect::<Vec<_>>());
}

#[test]
fn a_dormant_association_counts_on_and_prefers_the_path_with_fewer_timeouts() {
    let config = SctpConfig { association_max_retrans: 20, path_max_retrans: 1, ..failing(0) };
    let mut wire = Wire::new(2, config);
    wire.decide(|_| is_lost());
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_secs(12));
    let [first, second] = [0, 1].map(|path| wire.path(0, path));
    assert_eq!([first.state, second.state], [PathState::Inactive; 2]);
    assert!(first.error_count > 2 && second.error_count > 2, "{first:?} {second:?}");
    assert!(first.error_count.abs_diff(second.error_count) <= 1, "they take turns: {first:?} {second:?}");
}

#[test]
fn a_primary_that_fails_gives_its_rank_away_and_does_not_get_it_back() {
    let config = SctpConfig { primary_switchover: PrimarySwitchover::Above(0), ..failing(0) };
    let (mut wire, is_down) = with_outage(config);
    let mut next = 0;
    send_until(&mut wire, &mut next, Instant::from_millis(300));
    assert!(wire.events[0].contains(&Event::PrimaryChanged { address: address(1, 1) }));
    is_down.set(false);
    send_until(&mut wire, &mut next, Instant::from_secs(3));
    assert_eq!(wire.path(0, 0).state, PathState::Active);
    assert!(wire.path(0, 1).is_primary);
    assert_eq!(data_packets(&wire, 0).last().unwrap().path, 1);
}

#[test]
fn without_sctp_pf_the_primary_switches_over_when_it_is_inactive() {
    let config = SctpConfig { primary_switchover: PrimarySwitchover::Above(2), ..probing() };
    let (mut wire, _) = with_outage(config);
    let mut next = 0;
    send_until(&mut wire, &mut next, Instant::from_secs(4));
    assert_eq!(states(&wire, 0), [PathState::Inactive]);
    assert!(wire.path(0, 1).is_primary);
}

/// Instants at which T3-rtx of the failed path first expired and at which it was first started again.
fn restart(config: SctpConfig) -> (Instant, Instant) {
    let (mut wire, _) = with_outage(config);
    let mut next = 0;
    let mut seen = 0;
    let mut expired = None;
    while wire.now < Instant::from_secs(3) {
        let until = wire.now + Duration::from_millis(1);
        if next < 40 && wire.now >= Instant::from_millis(10 * next) {
            wire.send(0, next..next + 1, 400);
            next += 1;
        }
        wire.run_until(until);
        for event in &wire.events[0][seen..] {
            if let Event::T3Rtx { address: of, change } = event
                && *of == address(1, 0)
            {
                match change {
                    T3RtxChange::Expired { .. } => expired = expired.or(Some(wire.now)),
                    T3RtxChange::Started { .. } if expired.is_some() => return (expired.unwrap(), wire.now),
                    T3RtxChange::Restarted { .. } | T3RtxChange::Started { .. } | T3RtxChange::Stopped => {}
                }
            }
        }
        seen = wire.events[0].len();
    }
    panic!("T3-rtx was not started again");
}

#[test]
fn t3_rtx_is_restarted_at_once_or_when_the_alternate_has_caught_up() {
    let delay = |new_data_after_timeout, retransmission_after_timeout| {
        let config = SctpConfig {
            retransmission_after_timeout,
            new_data_after_timeout,
            trace_timers: true,
            ..probing()
        };
        let (expired, started) = restart(config);
        started.saturating_since(expired).as_millis()
    };
    let window = RetransmissionAfterTimeout::Window;
    let one = RetransmissionAfterTimeout::OnePacket;
    // 4,380 bytes are in flight. The path delay is 50 ms, a SACK of a single packet waits 40 ms.
    assert_eq!(delay(NewDataAfterTimeout::PathWindow, window), 0);
    assert_eq!(delay(NewDataAfterTimeout::PathWindow, one), 0);
    assert!(delay(NewDataAfterTimeout::AssociationWindow, window) >= 100);
    let late = delay(NewDataAfterTimeout::AssociationWindow, one);
    assert!(late > delay(NewDataAfterTimeout::AssociationWindow, window), "a round for each packet");
    let first = delay(NewDataAfterTimeout::RetransmissionsFirst, one);
    assert!(first > 0 && first <= late, "{first} ms");
}

#[test]
fn after_a_timeout_one_packet_goes_out_or_what_the_window_admits() {
    for (policy, packets) in
        [(RetransmissionAfterTimeout::OnePacket, 1), (RetransmissionAfterTimeout::Window, 3)]
    {
        let config = SctpConfig { retransmission_after_timeout: policy, ..probing() };
        let (mut wire, _) = with_outage(config);
        wire.send(0, 0..3, 1_400);
        wire.run_until(Instant::from_millis(251));
        assert_eq!(
            data_packets(&wire, 0).iter().filter(|sent| sent.path == 1).count(),
            packets,
            "{policy:?}"
        );
        wire.run_until(Instant::from_secs(3));
        assert_eq!(wire.received(1), [0, 1, 2]);
    }
}

#[test]
fn the_timeout_grows_as_the_back_off_says() {
    for (back_off, spans) in [
        (BackOff::Double, [250, 500, 1_000]),
        (BackOff::Percent(150), [250, 375, 562]),
        (BackOff::Percent(100), [250; 3]),
    ] {
        let config = SctpConfig { back_off, trace_timers: true, path_max_retrans: 5, ..probing() };
        let mut wire = Wire::new(1, config);
        wire.decide(|_| is_lost());
        wire.send(0, 0..1, 100);
        wire.run_until(Instant::from_secs(3));
        let expired = wire.events[0].iter().filter_map(|event| match event {
            Event::T3Rtx { change: T3RtxChange::Expired { rto, .. }, .. } => Some(rto.as_millis()),
            _ => None,
        });
        assert_eq!(expired.take(3).collect::<Vec<_>>(), spans, "{back_off:?}");
    }
}

#[test]
fn every_step_of_the_timer_is_told_in_order() {
    let (mut wire, _) = with_outage(SctpConfig { trace_timers: true, ..probing() });
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_secs(2));
    let rto = Duration::from_millis(250);
    let steps: Vec<_> = wire.events[0]
        .iter()
        .filter_map(|event| match event {
            Event::T3Rtx { address, change } => Some((*address, *change)),
            _ => None,
        })
        .collect();
    let (first, second) = (address(1, 0), address(1, 1));
    let expected = [
        (first, T3RtxChange::Started { rto }),
        (first, T3RtxChange::Expired { rto, outstanding: 116 }),
        (second, T3RtxChange::Started { rto }),
        (second, T3RtxChange::Expired { rto, outstanding: 116 }),
    ];
    assert_eq!(steps[..2], expected[..2]);
    assert_eq!(steps[2], expected[2]);
}

#[test]
fn the_timer_is_told_to_start_anew_and_to_stop_once_each() {
    let mut wire = Wire::new(1, SctpConfig { trace_timers: true, ..quiet() });
    wire.decide(|_| is_lost());
    wire.send(0, 0..3, 100);
    for (at_ms, acked) in [(100, 0), (200, 1), (300, 1), (400, 3), (500, 3)] {
        wire.run_until(Instant::from_millis(at_ms));
        wire.inject(0, 0, &[sack(acked, &[])]);
    }
    let rto = Duration::from_secs(1);
    let steps = [T3RtxChange::Started { rto }, T3RtxChange::Restarted { rto }, T3RtxChange::Stopped];
    let address = address(1, 0);
    assert_eq!(wire.events[0], steps.map(|change| Event::T3Rtx { address, change }));
}

/// RTO.Min no longer than a delayed SACK takes: whatever goes to a path alone times out once too often.
fn impatient() -> SctpConfig {
    let rto = Duration::from_millis(200);
    SctpConfig {
        rto_initial: rto,
        rto_min: rto,
        rto_max: Duration::from_secs(1),
        sack_delay: rto,
        path_max_retrans: 2,
        ..quiet()
    }
}

/// Sends a message of `len` bytes every `interval`, as far as the buffer has room, until `until`.
fn send_every(wire: &mut Wire, len: usize, interval: Duration, until: Instant) {
    let mut next = 0;
    while wire.now < until {
        if wire.ends[0].send(wire.now, message(0, next, len)).is_ok() {
            next += 1;
        }
        wire.drain();
        let at = wire.now + interval;
        wire.run_until(at);
    }
}

#[test]
fn a_dead_primary_becomes_inactive_although_it_had_the_last_copy_of_all_that_is_acknowledged() {
    // HEARTBEATs keep the RTO of the alternate at RTO.Min: each message is back on the primary when the delayed SACK
    // for it comes.
    let interval = Some(Duration::from_secs(1));
    let (mut wire, _) = with_outage(SctpConfig { heartbeat_interval: interval, ..impatient() });
    send_every(&mut wire, 100, Duration::from_secs(1), Instant::from_secs(10));
    assert_eq!(states(&wire, 0), [PathState::Inactive]);
    assert_eq!(first_new_on(&wire, 1), Some(Instant::from_secs(3)));
    assert_eq!(wire.received(1).len(), 10);
}

#[test]
fn where_only_the_way_back_dies_acknowledgements_turn_to_the_other_path() {
    let mut wire = Wire::new(2, impatient());
    // The alternate is the longer one, so that what goes to the primary is there before the copies of what was
    // not acknowledged: it counts as delivered, and the primary as working, which forwards it does.
    wire.decide(|sent| match (sent.path, sent.from) {
        (0, 1) => is_lost(),
        (0, _) => arrives(),
        (..) => SmallVec::from_slice(&[Duration::from_millis(150)]),
    });
    send_every(&mut wire, 1_000, Duration::from_millis(20), Instant::from_secs(10));
    assert_eq!(states(&wire, 0), []);
    assert_eq!(wire.received(1), (0..498).collect::<Vec<_>>(), "of 500, the last of which are on their way");
}

#[test]
fn a_heartbeat_ack_returns_the_acknowledgements_to_the_path_of_the_data() {
    let mut wire = Wire::new(2, impatient());
    let is_down = Rc::new(Cell::new(true));
    let seen = Rc::clone(&is_down);
    wire.decide(
        move |sent| if sent.path == 0 && sent.from == 1 && seen.get() { is_lost() } else { arrives() },
    );
    send_until(&mut wire, &mut 0, Instant::from_secs(1));
    let last_sack = |wire: &Wire| wire.log.iter().rfind(|sent| sent.sack().is_some()).map(|sent| sent.path);
    assert_eq!((last_sack(&wire), wire.path(0, 0).state), (Some(1), PathState::Active));
    is_down.set(false);
    assert!(wire.ends[1].request_heartbeat(wire.now, address(0, 0)));
    wire.drain();
    let until = wire.now + Duration::from_secs(1);
    wire.send(0, 100..101, 100);
    wire.run_until(until);
    wire.send(0, 101..103, 100);
    wire.run_to_rest();
    assert_eq!(last_sack(&wire), Some(0));
}

#[test]
fn of_what_timed_out_one_packet_leaves_before_a_sack_even_where_new_data_goes_the_same_way() {
    // With PFMR 0 the first expiry sends new DATA over the alternate, too.
    let config = SctpConfig {
        retransmission_after_timeout: RetransmissionAfterTimeout::OnePacket,
        heartbeat_interval: None,
        ..failing(0)
    };
    let (mut wire, _) = with_outage(config);
    wire.send(0, 0..6, 1_400);
    let sent_on = |wire: &Wire, path| data_packets(wire, 0).iter().filter(|sent| sent.path == path).count();
    wire.run_until(Instant::from_millis(249));
    assert_eq!([0, 1].map(|path| sent_on(&wire, path)), [4, 0], "two wait for the window");
    // There and back takes 100 ms, and a SACK for a single packet waits 40 ms.
    wire.run_until(Instant::from_millis(389));
    assert_eq!([0, 1].map(|path| sent_on(&wire, path)), [4, 1]);
    wire.run_until(Instant::from_millis(390));
    assert_eq!([0, 1].map(|path| sent_on(&wire, path)), [4, 5], "Max.Burst");
    wire.run_until(Instant::from_secs(2));
    assert_eq!(wire.received(1), (0..6).collect::<Vec<_>>());
}

#[test]
fn where_all_paths_are_inactive_the_one_that_answers_is_found_and_kept() {
    let config = SctpConfig { association_max_retrans: 100, heartbeat_interval: None, ..probing() };
    let mut wire = Wire::new(3, config);
    let up = Rc::new(Cell::new(None));
    let seen = Rc::clone(&up);
    wire.decide(move |sent| if seen.get() == Some(sent.path) { arrives() } else { is_lost() });
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_secs(20));
    assert_eq!([0, 1, 2].map(|path| wire.path(0, path).state), [PathState::Inactive; 3]);
    // RTO.Max is 1 s: each path is tried within three.
    up.set(Some(2));
    wire.run_until(Instant::from_secs(23));
    assert_eq!(wire.received(1), [0]);
    assert_eq!(wire.path(0, 2).state, PathState::Inactive, "the message went to all three");
    // A message to the path with the fewest errors: at most two others come before the one that works.
    for context in 1..5 {
        wire.send(0, context..context + 1, 100);
        let until = wire.now + Duration::from_secs(3);
        wire.run_until(until);
    }
    assert_eq!(wire.received(1), [0, 1, 2, 3, 4]);
    assert_eq!([0, 1, 2].map(|path| wire.path(0, path).state == PathState::Active), [false, false, true]);
}

/// Paths fail in turn: the second has been dead for a minute and is well again when the first dies. It is
/// asked when the first becomes inactive, and what waits there for its T3-rtx leaves with the answer.
#[test]
fn when_the_last_active_path_dies_the_others_are_asked_at_once() {
    let mut wire = Wire::new(2, probing());
    let dead = Rc::new(Cell::new(1));
    let seen = Rc::clone(&dead);
    wire.decide(move |sent| if sent.path == seen.get() { is_lost() } else { arrives() });
    wire.ends[0].set_heartbeat_interval(wire.now, address(1, 1), Some(Duration::from_secs(5)));
    let mut next = 0;
    send_until(&mut wire, &mut next, Instant::from_secs(60));
    assert_eq!(states(&wire, 1), [PathState::Inactive]);
    // Its own next HEARTBEAT is five seconds away.
    let asked = heartbeats(&wire, 1);
    while heartbeats(&wire, 1) == asked {
        let at = wire.now + Duration::from_millis(20);
        send_until(&mut wire, &mut next, at);
    }
    let at = wire.now + Duration::from_millis(1_100);
    send_until(&mut wire, &mut next, at);
    dead.set(0);
    let at = wire.now + Duration::from_millis(20);
    send_until(&mut wire, &mut next, at);
    let asked_before = heartbeats(&wire, 1);
    let step = Duration::from_millis(1);
    while states(&wire, 0).is_empty() {
        assert_eq!(heartbeats(&wire, 1), asked_before, "not before the first is inactive");
        let at = wire.now + step;
        wire.run_until(at);
    }
    assert_eq!(heartbeats(&wire, 1), asked_before + 1);
    let asked_at = wire.now;
    wire.run_until(asked_at + DELAY * 2 - step);
    assert_eq!(states(&wire, 1), [PathState::Inactive]);
    wire.run_until(asked_at + DELAY * 2);
    assert_eq!(states(&wire, 1), [PathState::Inactive, PathState::Active]);
    // Half a round trip later all that was lost with the first path begins to arrive, in its order.
    wire.run_until(asked_at + DELAY * 3);
    assert_eq!(wire.received(1).last(), Some(&(next - 1)));
    assert_eq!(wire.received(1), (0..next).collect::<Vec<_>>());
}

/// Case of paths that are potentially failed, and inactive much later: they are asked once per RTO, which has been
/// backed off.
#[test]
fn when_the_last_active_path_is_potentially_failed_the_others_are_asked_at_once() {
    let config = SctpConfig { path_max_retrans: 10, rto_max: Duration::from_secs(60), ..failing(0) };
    let mut wire = Wire::new(2, config);
    let dead = Rc::new(Cell::new(1));
    let seen = Rc::clone(&dead);
    wire.decide(move |sent| if sent.path == seen.get() { is_lost() } else { arrives() });
    wire.ends[0].set_heartbeat_interval(wire.now, address(1, 1), Some(Duration::from_secs(5)));
    let mut next = 0;
    send_until(&mut wire, &mut next, Instant::from_secs(60));
    assert_eq!(states(&wire, 1), [PathState::PotentiallyFailed]);
    dead.set(0);
    let at = wire.now + Duration::from_millis(20);
    send_until(&mut wire, &mut next, at);
    let asked_before = heartbeats(&wire, 1);
    let step = Duration::from_millis(1);
    while states(&wire, 0).is_empty() {
        assert_eq!(heartbeats(&wire, 1), asked_before, "not before the first has failed");
        let at = wire.now + step;
        wire.run_until(at);
    }
    assert_eq!(states(&wire, 0), [PathState::PotentiallyFailed]);
    assert_eq!(heartbeats(&wire, 1), asked_before + 1);
    let asked_at = wire.now;
    wire.run_until(asked_at + DELAY * 2 - step);
    assert_eq!(states(&wire, 1), [PathState::PotentiallyFailed]);
    wire.run_until(asked_at + DELAY * 2);
    assert_eq!(states(&wire, 1), [PathState::PotentiallyFailed, PathState::Active]);
    wire.run_until(asked_at + DELAY * 3);
    assert_eq!(wire.received(1), (0..next).collect::<Vec<_>>());
}

/// Failovers that the first end has told: the number of the first message, and times before it left, of the last packet
/// that was answered, of the first time-out and of the decision.
fn failovers(wire: &Wire) -> Vec<(Option<u64>, [Option<Duration>; 3])> {
    let told = |event: &Event| match event.notice() {
        Some(Notice::FailedOver { path, former, message, unanswered_ns, first_timeout_ns, decided_ns }) => {
            assert_eq!((former, path), (address(1, 0), address(1, 1)));
            Some((message, [unanswered_ns, first_timeout_ns, decided_ns]))
        }
        _ => None,
    };
    wire.events[0].iter().filter_map(told).collect()
}

#[test]
fn a_failover_is_told_with_its_parts() {
    let ms = Duration::from_millis;
    let (mut wire, is_down) = with_outage(failing(1));
    is_down.set(false);
    let mut next = 0;
    send_until(&mut wire, &mut next, Instant::from_millis(400));
    assert_eq!(failovers(&wire), []);
    is_down.set(true);
    send_until(&mut wire, &mut next, Instant::from_millis(1_300));
    // The last message before the outage left at 380 ms, and RTO.Min and twice that are the first two RTOs. A message
    // is sent every 20 ms.
    let at = first_new_on(&wire, 1).unwrap();
    let first = data_packets(&wire, 0).into_iter().find(|sent| sent.path == 1 && sent.at == at).unwrap();
    let told = failovers(&wire);
    let (message, [unanswered, timed_out, decided]) = told[0];
    // It may go behind what is retransmitted.
    let packets = data_packets(&wire, 0);
    let earlier: Vec<u32> = packets.iter().filter(|sent| sent.at < at).flat_map(|sent| sent.tsns()).collect();
    let tsn = first.tsns().into_iter().find(|tsn| !earlier.contains(tsn)).unwrap();
    let number = tsn.wrapping_sub(u32::MAX - 3);
    assert_eq!((told.len(), message), (1, Some(u64::from(number))));
    // Its SACK answers every second packet, and that of the last two is lost.
    assert_eq!(unanswered, Some(at - Instant::from_millis(340)));
    let (timed_out, decided) = (timed_out.unwrap(), decided.unwrap());
    let between = timed_out - decided;
    assert!(between >= ms(500) && between < ms(550), "PFMR is 1, the second time-out decides: {between}");
    assert!(decided < ms(20) && timed_out < unanswered.unwrap() - ms(250), "{decided} {timed_out}");
    // Back on the primary path, which answers again, nothing has failed.
    is_down.set(false);
    send_until(&mut wire, &mut next, Instant::from_secs(45));
    assert_eq!(data_packets(&wire, 0).last().unwrap().path, 0);
    assert_eq!(failovers(&wire).len(), 1);
}

#[test]
fn another_primary_path_by_command_is_no_failover() {
    let (mut wire, is_down) = with_outage(failing(0));
    is_down.set(false);
    let mut next = 0;
    send_until(&mut wire, &mut next, Instant::from_millis(400));
    assert!(wire.ends[0].set_primary(wire.now, address(1, 1)));
    send_until(&mut wire, &mut next, Instant::from_millis(800));
    assert_eq!(data_packets(&wire, 0).last().unwrap().path, 1);
    assert_eq!(failovers(&wire), []);
}
