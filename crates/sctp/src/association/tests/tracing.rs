//! Events of a trace, step by step.

use super::*;
use crate::config::LossDetection;
use crate::event::T3RtxChange;
use crate::policy::PotentiallyFailed;
use crate::trace::{LossEvidence, PathMetrics, TraceEvent, Unanswered, WaitReason, WindowCause};

fn traced() -> SctpConfig {
    SctpConfig { sack_delay: Duration::from_millis(40), ..quiet() }.traced()
}

/// Events of an end that only a trace has.
fn reported(wire: &Wire, end: usize) -> Vec<TraceEvent> {
    let trace = |event: &Event| if let Event::Trace(event) = event { Some((**event).clone()) } else { None };
    wire.events[end].iter().filter_map(trace).collect()
}

fn metrics(wire: &Wire, end: usize) -> Vec<PathMetrics> {
    let of_path = |event| if let TraceEvent::Path(metrics) = event { Some(metrics) } else { None };
    reported(wire, end).into_iter().filter_map(of_path).collect()
}

fn losses(wire: &Wire) -> Vec<(u64, u32, LossEvidence)> {
    let lost = |event| match event {
        TraceEvent::Lost { context, tsn, evidence, .. } => Some((context, tsn.0, evidence)),
        _ => None,
    };
    reported(wire, 0).into_iter().filter_map(lost).collect()
}

#[test]
fn what_nobody_asked_for_is_not_told_and_a_trace_changes_no_packet() {
    let run = |config: SctpConfig| {
        let mut wire = Wire::new(2, config);
        let mut count = 0;
        wire.decide(move |sent| {
            count += u32::from(sent.has_data());
            if sent.has_data() && count % 7 == 3 { is_lost() } else { arrives() }
        });
        wire.send(0, 0..40, 1_000);
        wire.run_until(Instant::from_secs(30));
        assert_eq!(wire.received(1).len(), 40);
        wire
    };
    let plain = run(SctpConfig { sack_delay: Duration::from_millis(40), ..quiet() });
    let with_trace = run(traced());
    assert_eq!(reported(&plain, 0), []);
    assert!(reported(&with_trace, 0).len() > 10);
    let packets = |wire: &Wire| -> Vec<_> {
        wire.log.iter().map(|sent| (sent.at, sent.from, sent.path, sent.chunks.clone())).collect()
    };
    assert_eq!(packets(&plain), packets(&with_trace));
}

#[test]
fn an_association_begins_with_its_state_its_paths_and_nothing_to_send() {
    let mut wire = Wire::new(2, traced());
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_millis(150));
    let told = reported(&wire, 0);
    assert_eq!(told[0], TraceEvent::State(AssociationState::Established));
    let TraceEvent::Path(first) = &told[1] else { panic!("{:?}", told[1]) };
    assert_eq!((first.address, first.source), (address(1, 0), address(0, 0)));
    assert_eq!(
        (first.is_primary, first.state, first.cause),
        (true, PathState::Active, WindowCause::Unchanged)
    );
    assert_eq!((first.cwnd, first.srtt, first.rto), (4_404, None, Duration::from_secs(1)));
    assert_eq!((first.flight_size, first.error_count, first.mtu), (0, 0, 1_500));
    let TraceEvent::Path(second) = &told[2] else { panic!("{:?}", told[2]) };
    assert_eq!((second.address, second.is_primary), (address(1, 1), false));
    let idle = TraceEvent::Waiting { reason: WaitReason::NothingToSend, peer_rwnd: 256 * 1_024 };
    assert_eq!(told[3], idle);
    let cumulative_tsn = tcb(0, 1, &quiet()).local_initial_tsn;
    assert_eq!(told[4], TraceEvent::Sack { cumulative_tsn, gap_blocks: 0, a_rwnd: 256 * 1_024 });
    // The acknowledgement measures the round trip: 100 ms and the delay of the SACK.
    let TraceEvent::Path(measured) = &told[5] else { panic!("{:?}", told[5]) };
    assert_eq!(measured.srtt, Some(Duration::from_millis(140)));
    assert_eq!(told.len(), 6);
}

#[test]
fn a_sack_is_told_with_what_it_says() {
    let mut wire = Wire::new(1, traced());
    lose_first(&mut wire, &[2]);
    wire.send(0, 0..12, 1_400);
    wire.run_until(Instant::from_secs(5));
    let initial = tcb(0, 1, &quiet()).local_initial_tsn;
    let sacks = reported(&wire, 0).into_iter().filter_map(|event| match event {
        TraceEvent::Sack { cumulative_tsn, gap_blocks, a_rwnd } => {
            Some((cumulative_tsn.distance_from(initial), gap_blocks, a_rwnd))
        }
        _ => None,
    });
    let sacks: Vec<_> = sacks.collect();
    // Behind the one that was lost the others are reported until it has arrived, too.
    assert!(sacks.iter().any(|sack| (sack.0, sack.1) == (1, 1)), "{sacks:?}");
    assert_eq!(sacks.last(), Some(&(11, 0, 256 * 1_024)));
    assert!(sacks.iter().all(|(up_to, gaps, _)| (*gaps > 0) == (*up_to == 1 && *gaps == 1)), "{sacks:?}");
}

#[test]
fn a_chunk_that_sacks_report_missing_is_told_with_their_number_and_reduces_the_window_for_losses() {
    let mut wire = Wire::new(1, traced());
    lose_first(&mut wire, &[2]);
    wire.send(0, 0..12, 1_400);
    wire.run_until(Instant::from_secs(5));
    assert_eq!(losses(&wire), [(2, tcb(0, 1, &quiet()).local_initial_tsn.plus(2).0, missing(3))]);
    let reduced: Vec<WindowCause> = metrics(&wire, 0)
        .windows(2)
        .filter(|pair| pair[1].cwnd < pair[0].cwnd)
        .map(|pair| pair[1].cause)
        .collect();
    assert_eq!(reduced, [WindowCause::LossFound]);
}

const fn missing(reports: u8) -> LossEvidence {
    LossEvidence::MissIndications { reports }
}

#[test]
fn a_chunk_that_was_overtaken_is_told_with_its_age() {
    let mut wire = Wire::new(1, SctpConfig { loss_detection: LossDetection::Rack, ..traced() });
    lose_first(&mut wire, &[2]);
    wire.send(0, 0..12, 1_400);
    wire.run_until(Instant::from_secs(5));
    let [(2, _, LossEvidence::Overtaken { age, .. })] = losses(&wire)[..] else {
        panic!("{:?}", losses(&wire))
    };
    assert!((100..200).contains(&age.as_millis()), "{age}");
}

#[test]
fn a_path_that_fails_is_told_error_by_error_and_so_is_its_return() {
    let config = SctpConfig {
        potentially_failed: PotentiallyFailed::Above(0),
        path_max_retrans: 1,
        rto_initial: Duration::from_millis(250),
        rto_min: Duration::from_millis(250),
        heartbeat_interval: Some(Duration::from_secs(2)),
        ..traced()
    };
    let mut wire = Wire::new(2, config);
    let back = Instant::from_secs(3);
    wire.decide(move |sent| if sent.path == 0 && sent.at < back { is_lost() } else { arrives() });
    wire.send(0, 0..1, 100);
    wire.run_until(Instant::from_secs(12));
    let errors: Vec<_> = reported(&wire, 0)
        .into_iter()
        .filter_map(|event| match event {
            TraceEvent::PathError { address, unanswered, error_count, association_error_count } => {
                Some((address, unanswered, error_count, association_error_count))
            }
            _ => None,
        })
        .collect();
    let path = address(1, 0);
    assert_eq!(errors[0], (path, Unanswered::Data, 1, 1));
    assert_eq!(errors[1], (path, Unanswered::Heartbeat, 2, 0));
    assert!(
        losses(&wire)
            .iter()
            .all(|(context, _, evidence)| (*context, *evidence) == (0, LossEvidence::TimedOut))
    );
    let states: Vec<PathState> = metrics(&wire, 0)
        .iter()
        .filter(|metrics| metrics.address == path)
        .map(|metrics| metrics.state)
        .collect();
    let mut states = states;
    states.dedup();
    let (active, failed, inactive) = (PathState::Active, PathState::PotentiallyFailed, PathState::Inactive);
    assert_eq!(states, [active, failed, inactive, active]);
    let expired = |event: &Event| matches!(event, Event::T3Rtx { change: T3RtxChange::Expired { .. }, .. });
    let at_expiry = wire.events[0].iter().position(expired).unwrap();
    let lost =
        |event: &Event| matches!(event, Event::Trace(event) if matches!(**event, TraceEvent::Lost { .. }));
    assert_eq!(wire.events[0].iter().position(lost), Some(at_expiry + 1), "cause and effect, in this order");
    let answered = reported(&wire, 0).into_iter().find_map(|event| match event {
        TraceEvent::HeartbeatAnswered { address, round_trip } if address == path => Some(round_trip),
        _ => None,
    });
    assert_eq!(answered, Some(Duration::from_millis(100)));
}

#[test]
fn why_nothing_leaves_is_told_when_the_reason_changes() {
    let config = SctpConfig { receive_buffer_bytes: 8_000, max_burst: u32::MAX, ..traced() };
    let mut wire = Wire::new(1, config);
    wire.ends[1].pause_delivery();
    wire.send(0, 0..8, 1_400);
    wire.run_until(Instant::from_secs(2));
    wire.ends[1].resume_delivery();
    wire.run_until(Instant::from_secs(8));
    let reasons: Vec<WaitReason> = reported(&wire, 0)
        .into_iter()
        .filter_map(|event| if let TraceEvent::Waiting { reason, .. } = event { Some(reason) } else { None })
        .collect();
    let idle = WaitReason::NothingToSend;
    assert_eq!(reasons, [idle, WaitReason::CongestionWindow, WaitReason::PeerWindow, idle]);
}

/// An address that has gone and is there again is another path.
#[test]
fn each_path_is_told_once_and_again_if_its_address_comes_back() {
    use crate::chunk::{AddressChange, Asconf, AsconfRequest, AsconfSerial};
    let extensions = crate::extension::Extensions::of(&[Extension::DynamicAddresses]);
    let mut wire = Wire::new(1, SctpConfig { extensions, unauthenticated_addresses: true, ..traced() });
    wire.decide(|_| is_lost());
    let mut serial = AsconfSerial(tcb(1, 1, &quiet()).local_initial_tsn.0);
    let (add, delete) = (AddressChange::Add(address(1, 1)), AddressChange::Delete(address(1, 1)));
    for change in [add.clone(), delete, add] {
        let requests = vec![AsconfRequest { correlation: 1, change }];
        wire.inject(0, 0, &[Chunk::Asconf(Asconf { serial, address: address(1, 0), requests })]);
        serial = serial.next();
    }
    let told: Vec<_> =
        metrics(&wire, 0).iter().map(|path| (path.address, path.is_primary, path.cause)).collect();
    let (first, second) = (address(1, 0), address(1, 1));
    let cause = WindowCause::Unchanged;
    assert_eq!(told, [(first, true, cause), (second, false, cause), (second, false, cause)]);
}
