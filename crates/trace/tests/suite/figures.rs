//! Every figure of a story, of records in which no two figures are equal: each is that of its own events, of its own
//! path and of its own association.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_sctp::{Notice, PathState, ReliabilityPolicy, WaitReason, WindowCause};
use slantpath_trace::{
    Evidence, MessageKey, Record, StepKind, Story, StorySelection, TimerChange, TraceHeader, TraceOrigin,
    TraceSettings, What, tell,
};

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn address(path: u8) -> IpAddr {
    [10, path, 0, 2].into()
}

/// Steps of associations by their number, in the order in which they are given.
fn story(steps: impl IntoIterator<Item = (u64, u32, What)>) -> Story {
    let header = TraceHeader {
        origin: TraceOrigin::Live { command: Vec::new() },
        settings: TraceSettings::default(),
        profile: None,
    };
    let record = |(ms, association, what)| Ok::<_, ()>(Record { at: at(ms), association, what });
    Story::of(header, Duration::from_secs(1), steps.into_iter().map(record)).expect("no record is wrong")
}

fn sent(message: Option<u64>, tsn: u32, path: u8, transmission: u32) -> What {
    What::Sent { message, tsn, path: address(path), transmission }
}

fn lost(message: u64, tsn: u32, path: u8, evidence: Evidence) -> What {
    What::Lost {
        message: Some(message),
        tsn,
        path: address(path),
        evidence,
        reports: (evidence == Evidence::MissIndications).then_some(3),
        age_ns: None,
        reordering_window_ns: (evidence == Evidence::Overtaken).then_some(ms(9)),
        mtu_bytes: None,
    }
}

struct Governed {
    state: PathState,
    primary: bool,
    errors: u32,
    cwnd: u64,
    ssthresh: u64,
    cause: WindowCause,
    srtt: Option<u64>,
    rto: u64,
}

impl Governed {
    const fn of(cwnd: u64, cause: WindowCause, srtt: Option<u64>, rto: u64) -> Self {
        Self {
            state: PathState::Active,
            primary: false,
            errors: 0,
            cwnd,
            ssthresh: cwnd + 1,
            cause,
            srtt,
            rto,
        }
    }

    fn what(self, path: u8) -> What {
        What::Path {
            path: address(path),
            source: [10, path, 0, 1].into(),
            state: self.state,
            primary: self.primary,
            cause: self.cause,
            cwnd_bytes: self.cwnd,
            ssthresh_bytes: self.ssthresh,
            flight_bytes: 0,
            srtt_ns: self.srtt.map(ms),
            rto_ns: ms(self.rto),
            errors: self.errors,
            mtu_bytes: 1_500,
        }
    }
}

fn expired(path: u8, change: TimerChange) -> What {
    What::T3Rtx { path: address(path), change, rto_ns: Some(ms(1_000)), outstanding_bytes: Some(100) }
}

fn busy() -> Story {
    let up = || What::Up { outbound_streams: 1, inbound_streams: 1 };
    let path = |path, governed: Governed| governed.what(path);
    let mut steps = vec![
        (10, 0, up()),
        (
            10,
            0,
            path(1, Governed { primary: true, ..Governed::of(5_000, WindowCause::Unchanged, None, 1_000) }),
        ),
        (10, 0, path(2, Governed::of(4_000, WindowCause::Unchanged, None, 2_000))),
        (20, 1, up()),
        (20, 1, path(1, Governed::of(3_000, WindowCause::Unchanged, Some(70), 700))),
    ];
    // Message 0 of two chunks, both of which are lost, one of them in error; 1 of one that is refused; 2 without fault.
    steps.extend([
        (100, 0, sent(Some(0), 10, 1, 1)),
        (100, 0, sent(Some(0), 11, 1, 1)),
        (110, 0, sent(Some(1), 12, 1, 1)),
        (120, 0, sent(Some(2), 13, 2, 1)),
        (150, 1, sent(Some(0), 90, 1, 1)),
        (200, 0, path(1, Governed::of(8_000, WindowCause::Acknowledged, Some(90), 900))),
        (250, 0, What::Acknowledged { message: Some(2) }),
        (251, 0, What::Delivered { message: 2, offered_ns: at(119) }),
        (300, 0, lost(0, 10, 1, Evidence::MissIndications)),
        (300, 0, lost(0, 11, 1, Evidence::MissIndications)),
        (300, 0, What::Restored { message: Some(0), tsn: 11 }),
        (300, 0, path(1, Governed::of(2_500, WindowCause::LossFound, Some(60), 800))),
        (310, 0, lost(1, 12, 1, Evidence::Overtaken)),
        (320, 0, sent(Some(0), 10, 2, 2)),
        (330, 0, sent(Some(1), 12, 1, 2)),
        (340, 0, path(1, Governed::of(2_400, WindowCause::Recovering, Some(75), 850))),
        (350, 0, path(1, Governed::of(2_300, WindowCause::LossFound, None, 850))),
        (400, 0, expired(1, TimerChange::Restarted)),
        (400, 0, expired(1, TimerChange::Expired)),
        (401, 0, expired(2, TimerChange::Expired)),
        (402, 0, expired(2, TimerChange::Started)),
        (403, 0, expired(2, TimerChange::Expired)),
        (600, 0, What::Acknowledged { message: Some(0) }),
        (650, 0, What::Delivered { message: 0, offered_ns: at(90) }),
        (900, 0, What::Failed { message: Some(1) }),
    ]);
    for (count, what) in [
        (3, What::HeartbeatSent { path: address(1) }),
        (2, What::HeartbeatAnswered { path: address(1), round_trip_ns: ms(80) }),
        (5, What::HeartbeatSent { path: address(2) }),
        (4, What::Room { free_bytes: 1 }),
        (6, What::Revoked { message: Some(2), tsn: 13 }),
    ] {
        steps.extend(std::iter::repeat_n((950, 0, what), count));
    }
    let abandoned = |message, policy, sent| {
        What::Notice(Notice::Abandoned { message: Some(message), stream: 3, policy, sent })
    };
    steps.extend([
        (960, 0, abandoned(7, ReliabilityPolicy::Lifetime, false)),
        (960, 0, abandoned(8, ReliabilityPolicy::Lifetime, false)),
        (960, 0, abandoned(9, ReliabilityPolicy::Lifetime, true)),
        (970, 0, sent(None, 20, 2, 1)),
        (975, 0, sent(None, 21, 2, 1)),
        (980, 0, What::Acknowledged { message: None }),
        (1_000, 0, path(1, Governed { errors: 2, ..Governed::of(2_600, WindowCause::Undone, None, 950) })),
        (1_100, 1, What::Acknowledged { message: Some(0) }),
        (1_150, 1, What::Closed { orderly: false, reason: "aborted".to_owned() }),
        (1_200, 0, What::End {}),
    ]);
    story(steps)
}

#[test]
fn a_path_s_figures_are_those_of_its_own_events() {
    let story = busy();
    let [first, second] = &story.associations[&0].paths[..] else { panic!("two paths") };
    let counts = |path: &slantpath_trace::PathStory| {
        (path.chunks_sent, path.chunks_resent, path.chunks_lost, path.timeouts, path.heartbeats)
    };
    assert_eq!(counts(first), (3, 1, 3, 1, [3, 2]));
    assert_eq!(counts(second), (3, 1, 0, 2, [5, 0]));
    assert_eq!((first.cwnd, second.cwnd), ([2_300, 8_000, 2_600], [4_000; 3]));
    assert_eq!(first.reductions, [(WindowCause::LossFound, 2), (WindowCause::Recovering, 1)]);
    assert!(second.reductions.is_empty());
    let ranges = |path: &slantpath_trace::PathStory| (path.srtt, path.rto);
    assert_eq!(ranges(first), (Some([60, 90, 75].map(ms)), Some([800, 1_000, 950].map(ms))));
    assert_eq!(ranges(second), (None, Some([2_000; 3].map(ms))));
    let of = |path: &slantpath_trace::PathStory| (path.address, path.source, path.is_primary);
    assert_eq!(of(first), (address(1), Some([10, 1, 0, 1].into()), false));
    assert_eq!(of(second), (address(2), Some([10, 2, 0, 1].into()), false));
    assert_eq!(
        (&first.spans[..], &second.spans[..]),
        (&[(PathState::Active, ms(1_190))][..], &[(PathState::Active, ms(1_190))][..])
    );
    let [other] = &story.associations[&1].paths[..] else { panic!("one path") };
    assert_eq!((counts(other), other.cwnd), ((1, 0, 0, 0, [0, 0]), [3_000; 3]));
    assert_eq!(other.spans, [(PathState::Active, ms(1_130))], "until it was closed");
}

#[test]
fn an_association_s_figures_are_those_of_its_own_events() {
    let story = busy();
    let (one, other) = (&story.associations[&0], &story.associations[&1]);
    assert_eq!((one.messages_sent, one.messages_acknowledged, one.messages_failed), (5, 3, 1));
    assert_eq!((one.chunks_sent, one.chunks_resent, one.rooms, one.latest_message), (8, 2, 4, Some(9)));
    assert_eq!(
        one.messages_abandoned.clone().into_iter().collect::<Vec<_>>(),
        [(ReliabilityPolicy::Lifetime, [2, 1])]
    );
    assert_eq!(
        one.lost.iter().map(|(evidence, count)| (*evidence, *count)).collect::<Vec<_>>(),
        [(Evidence::MissIndications, 2), (Evidence::Overtaken, 1)]
    );
    let known: Vec<&MessageKey> = one.resent.keys().collect();
    assert_eq!(known, [&MessageKey::Number(0), &MessageKey::Number(1)]);
    let [ten, eleven] = &one.resent[&MessageKey::Number(0)].parts[..] else { panic!("two chunks") };
    let losses = |part: &slantpath_trace::MessagePart| {
        part.sent
            .iter()
            .map(|sent| sent.lost.map(|loss| (loss.reports, loss.is_restored)))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (losses(ten), losses(eleven)),
        (vec![Some((Some(3), false)), None], vec![Some((Some(3), true))])
    );
    let second = &one.resent[&MessageKey::Number(1)];
    assert_eq!(second.parts[0].sent[0].lost.unwrap().reordering_window, Some(ms(9)));
    assert_eq!((second.acknowledged, second.failed, second.delivered), (None, Some(at(900)), None));
    // 132 ms and 560 ms to the readers; 130, 500 and 10 ms until acknowledged.
    assert_eq!(
        (one.delays.messages, one.delays.mean(), one.delays.longest),
        (2, Some(ms(346)), Some((ms(560), MessageKey::Number(0))))
    );
    assert_eq!(
        (one.delays.span, one.delays.longest_gap),
        (Some((at(251), at(650))), Some((ms(399), at(251))))
    );
    let acknowledgements = &one.acknowledgements;
    assert_eq!(
        (acknowledgements.messages, acknowledgements.longest),
        (3, Some((ms(500), MessageKey::Number(0))))
    );
    assert_eq!(acknowledgements.longest_gap, Some((ms(380), at(600))));
    assert_eq!((one.up, one.closed.as_ref()), (Some(at(10)), None));
    let closed = other.closed.clone().unwrap();
    assert_eq!((other.up, closed), (Some(at(20)), (at(1_150), false, "aborted".to_owned())));
    assert_eq!((other.messages_sent, other.messages_acknowledged, other.latest_message), (1, 1, Some(0)));
    assert_eq!((story.until, story.is_whole), (at(1_200), true));
    let json = story.json(StorySelection { message: Some(1), ..StorySelection::default() });
    assert_eq!(json["associations"][0]["resent"].as_array().unwrap().len(), 1);
    assert_eq!(json["associations"][1]["association"], 1);
}

/// Chunks without a message number, as signalling has them: what waits for its retransmission is the oldest all the
/// same, beyond the last TSN, too.
#[test]
fn a_lost_message_without_a_number_is_acknowledged_before_what_was_sent_behind_it() {
    let timed_out = |tsn| What::Lost {
        message: None,
        tsn,
        path: address(1),
        evidence: Evidence::TimedOut,
        reports: None,
        age_ns: None,
        reordering_window_ns: None,
        mtu_bytes: None,
    };
    let sack = |cumulative_tsn| What::Sack { cumulative_tsn, gap_blocks: 0, a_rwnd_bytes: 9_000 };
    let acknowledged = || What::Acknowledged { message: None };
    let (last, first) = (u32::MAX, 0);
    let told = story([
        (100, 0, sent(None, last, 1, 1)),
        (200, 0, sent(None, first, 1, 1)),
        (1_200, 0, expired(1, TimerChange::Expired)),
        (1_200, 0, timed_out(last)),
        (1_200, 0, timed_out(first)),
        (1_200, 0, sent(None, last, 2, 2)),
        (1_300, 0, sent(None, 1, 2, 1)),
        (1_500, 0, sack(last)),
        (1_500, 0, acknowledged()),
        (9_000, 0, sent(None, first, 2, 2)),
        (9_300, 0, sack(1)),
        (9_300, 0, acknowledged()),
        (9_300, 0, acknowledged()),
        // Of two chunks that are one message, one is told; the other is behind it.
        (9_400, 0, sent(None, 2, 2, 1)),
        (9_400, 0, sent(None, 3, 2, 1)),
        (9_500, 0, sack(3)),
        (9_500, 0, acknowledged()),
        (9_600, 0, sent(None, 4, 2, 1)),
        (9_650, 0, sack(4)),
        (9_650, 0, acknowledged()),
    ]);
    let association = &told.associations[&0];
    let acknowledgements = &association.acknowledgements;
    assert_eq!(acknowledgements.messages, 5);
    assert_eq!(acknowledgements.longest, Some((ms(9_100), MessageKey::Tsn(first))));
    // 1,400, 9,100, 8,000, 100 and 50 ms.
    assert_eq!(acknowledgements.mean(), Some(ms(3_730)));
    let resent = |tsn| association.resent[&MessageKey::Tsn(tsn)].acknowledged;
    assert_eq!([resent(last), resent(first)], [Some(at(1_500)), Some(at(9_300))]);
    // New DATA by another path begins with a TSN, which is no message's number.
    let new: Vec<_> =
        association.steps.iter().filter(|step| matches!(step.kind, StepKind::NewData(_))).collect();
    assert_eq!(
        new.iter().map(|step| &step.kind).collect::<Vec<_>>(),
        [&StepKind::NewData(MessageKey::Tsn(1))]
    );
    let mut words = Vec::new();
    tell(&told, StorySelection::default(), &mut words).unwrap();
    let words = String::from_utf8(words).unwrap();
    assert!(words.contains("new DATA goes here, from TSN 1 on"), "{words}");
    let json = told.json(StorySelection::default());
    let steps = json["associations"][0]["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["step"] == "new-data").unwrap();
    assert_eq!((&step["message"], &step["tsn"]), (&serde_json::Value::Null, &1.into()));
}

#[test]
fn what_was_retransmitted_on_a_path_and_waits_for_its_answer_is_outstanding_there() {
    let told = story([
        (100, 0, sent(Some(0), 1, 1, 1)),
        (200, 0, sent(Some(1), 2, 1, 1)),
        (300, 0, lost(0, 1, 1, Evidence::MissIndications)),
        (300, 0, sent(Some(0), 1, 1, 2)),
        (310, 0, lost(1, 2, 1, Evidence::MissIndications)),
        (310, 0, sent(Some(1), 2, 2, 2)),
        (400, 0, What::Acknowledged { message: Some(1) }),
        (900, 0, sent(Some(2), 3, 1, 1)),
        (1_300, 0, expired(1, TimerChange::Expired)),
        (1_300, 0, lost(0, 1, 1, Evidence::TimedOut)),
        (2_000, 0, What::Acknowledged { message: Some(0) }),
        (2_100, 0, expired(1, TimerChange::Expired)),
    ]);
    let steps = &told.associations[&0].steps;
    let oldest = steps.iter().filter_map(|step| match step.kind {
        StepKind::TimedOut(_, _, oldest) => Some(oldest),
        _ => None,
    });
    assert_eq!(oldest.collect::<Vec<_>>(), [Some(at(300)), Some(at(900))]);
}

#[test]
fn what_happens_at_once_is_one_step_and_what_happens_later_or_elsewhere_is_another() {
    let abandoned =
        |stream, policy, sent| What::Notice(Notice::Abandoned { message: None, stream, policy, sent });
    let (timed, limited) = (ReliabilityPolicy::Lifetime, ReliabilityPolicy::Retransmissions);
    let told = story([
        (1, 0, lost(0, 1, 1, Evidence::TimedOut)),
        (1, 0, lost(1, 2, 1, Evidence::TimedOut)),
        (1, 0, lost(2, 3, 2, Evidence::TimedOut)),
        (1, 0, lost(3, 4, 2, Evidence::LinkDown)),
        (2, 0, lost(4, 5, 2, Evidence::LinkDown)),
        (3, 0, What::Revoked { message: None, tsn: 1 }),
        (3, 0, What::Revoked { message: None, tsn: 2 }),
        (4, 0, What::Revoked { message: None, tsn: 3 }),
        (5, 0, abandoned(1, timed, true)),
        (5, 0, abandoned(1, timed, true)),
        (5, 0, abandoned(2, timed, true)),
        (5, 0, abandoned(2, limited, true)),
        (5, 0, abandoned(2, limited, false)),
        (6, 0, abandoned(2, limited, false)),
    ]);
    let steps: Vec<_> =
        told.associations[&0].steps.iter().map(|step| (step.at, step.path, step.kind.clone())).collect();
    let wanted = [
        (1, Some(1), StepKind::Lost(2, Evidence::TimedOut)),
        (1, Some(2), StepKind::Lost(1, Evidence::TimedOut)),
        (1, Some(2), StepKind::Lost(1, Evidence::LinkDown)),
        (2, Some(2), StepKind::Lost(1, Evidence::LinkDown)),
        (3, None, StepKind::Revoked(2)),
        (4, None, StepKind::Revoked(1)),
        (5, None, StepKind::Abandoned(2, 1, timed, true)),
        (5, None, StepKind::Abandoned(1, 2, timed, true)),
        (5, None, StepKind::Abandoned(1, 2, limited, true)),
        (5, None, StepKind::Abandoned(1, 2, limited, false)),
        (6, None, StepKind::Abandoned(1, 2, limited, false)),
    ];
    assert_eq!(steps, wanted.map(|(ms, path, kind)| (at(ms), path.map(address), kind)));
}

#[test]
fn a_peer_s_window_is_told_of_once_it_was_closed_for_long_whatever_else_was_waited_for() {
    let waiting = |reason, peer_rwnd_bytes| What::Waiting { reason, peer_rwnd_bytes };
    let (peer, window) = (WaitReason::PeerWindow, WaitReason::CongestionWindow);
    let told = story([
        // 999 ms, then 1,000 ms, the second with more than one word of it.
        (1_000, 0, waiting(peer, 10)),
        (1_999, 0, waiting(window, 0)),
        (3_000, 0, waiting(peer, 20)),
        (3_500, 0, waiting(peer, 30)),
        (4_000, 0, waiting(window, 0)),
        // And one that lasts to the end.
        (6_000, 0, waiting(peer, 40)),
        (9_000, 0, What::End {}),
    ]);
    let association = &told.associations[&0];
    let steps: Vec<_> = association.steps.iter().map(|step| (step.at, step.kind.clone())).collect();
    let wanted = [
        (at(4_000), StepKind::PeerWindowClosed(at(3_000), 20)),
        (at(9_000), StepKind::PeerWindowClosed(at(6_000), 40)),
    ];
    assert_eq!(steps, wanted);
    assert_eq!(association.waits, [(peer, ms(4_999)), (window, ms(3_001))]);
    assert!((told.held_up() - 1.0).abs() < 1e-12);
}
