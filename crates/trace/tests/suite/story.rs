//! Checks of the story of records that are laid out by hand.

use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_sctp::{Notice, PathState, Unanswered, WaitReason, WindowCause};
use slantpath_trace::{
    Evidence, Loss, MessageKey, Record, StepKind, Story, StorySelection, TimerChange, TraceHeader,
    TraceOrigin, TraceSettings, What, tell,
};

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn address(path: u8) -> IpAddr {
    [10, path, 0, 2].into()
}

fn story(steps: impl IntoIterator<Item = (u64, What)>) -> Story {
    let header = TraceHeader {
        origin: TraceOrigin::Live { command: vec!["load".to_owned()] },
        settings: TraceSettings::default(),
        profile: None,
    };
    let records =
        steps.into_iter().map(|(ms, what)| Ok::<_, ()>(Record { at: at(ms), association: 0, what }));
    Story::of(header, Duration::from_secs(1), records).expect("no record is wrong")
}

fn text(story: &Story, selection: StorySelection) -> String {
    let mut text = Vec::new();
    tell(story, selection, &mut text).expect("memory takes all");
    String::from_utf8(text).expect("it is text")
}

fn sent(message: u64, tsn: u32, path: u8, transmission: u32) -> What {
    What::Sent { message: Some(message), tsn, path: address(path), transmission }
}

fn governed(
    path: u8,
    state: PathState,
    primary: bool,
    errors: u32,
    cwnd_bytes: u64,
    cause: WindowCause,
) -> What {
    What::Path {
        path: address(path),
        source: [10, path, 0, 1].into(),
        state,
        primary,
        cause,
        cwnd_bytes,
        ssthresh_bytes: 10_000,
        flight_bytes: 0,
        srtt_ns: None,
        rto_ns: Duration::from_secs(1),
        errors,
        mtu_bytes: 1_500,
    }
}

fn timed_out(message: u64, tsn: u32, path: u8) -> What {
    What::Lost {
        message: Some(message),
        tsn,
        path: address(path),
        evidence: Evidence::TimedOut,
        reports: None,
        age_ns: None,
        reordering_window_ns: None,
        mtu_bytes: None,
    }
}

/// Message 1 goes out on the first path, which fails, and again on the second; then the first answers.
fn failover() -> Vec<(u64, What)> {
    let (active, failed) = (PathState::Active, PathState::PotentiallyFailed);
    let unchanged = WindowCause::Unchanged;
    let error = |errors, association_errors, unanswered| What::PathError {
        path: address(1),
        unanswered,
        errors,
        association_errors,
    };
    let idle = What::Waiting { reason: WaitReason::NothingToSend, peer_rwnd_bytes: 9_000 };
    let expired = What::T3Rtx {
        path: address(1),
        change: TimerChange::Expired,
        rto_ns: Some(Duration::from_secs(1)),
        outstanding_bytes: Some(116),
    };
    vec![
        (100, What::Up { outbound_streams: 1, inbound_streams: 1 }),
        (100, governed(1, active, true, 0, 4_404, unchanged)),
        (100, governed(2, active, false, 0, 4_404, unchanged)),
        (100, idle.clone()),
        (200, sent(0, 7, 1, 1)),
        (300, What::Acknowledged { message: Some(0) }),
        (300, What::Delivered { message: 0, offered_ns: at(150) }),
        (1_000, sent(1, 8, 1, 1)),
        (2_000, expired),
        (2_000, timed_out(1, 8, 1)),
        (2_000, error(1, 1, Unanswered::Data)),
        (2_000, sent(1, 8, 2, 2)),
        (2_000, governed(1, failed, true, 1, 1_500, WindowCause::TimedOut)),
        (2_100, What::Delivered { message: 1, offered_ns: at(900) }),
        (2_150, What::Acknowledged { message: Some(1) }),
        (2_500, sent(2, 9, 2, 1)),
        (2_600, What::Acknowledged { message: Some(2) }),
        (2_600, What::Delivered { message: 2, offered_ns: at(2_500) }),
        (3_000, error(2, 1, Unanswered::Heartbeat)),
        (4_000, What::HeartbeatAnswered { path: address(1), round_trip_ns: Duration::from_millis(80) }),
        (4_000, governed(1, active, true, 0, 1_500, unchanged)),
        (5_000, sent(3, 10, 1, 1)),
        (6_000, What::Closed { orderly: true, reason: "closed in order".to_owned() }),
        (6_000, What::End {}),
    ]
}

#[test]
fn a_failover_is_told_with_its_errors_its_return_and_its_time() {
    let story = story(failover());
    let association = &story.associations[&0];
    let of_path = |path: u8| {
        let steps = association.steps.iter().filter(move |step| step.path == Some(address(path)));
        steps.map(|step| (step.at, step.kind.clone())).collect::<Vec<_>>()
    };
    let (active, failed) = (PathState::Active, PathState::PotentiallyFailed);
    let [_, known, primary, timed_out, lost, error, reduced, became, late, answered, again, back] =
        &[(at(0), StepKind::Up)].into_iter().chain(of_path(1)).collect::<Vec<_>>()[..]
    else {
        panic!("{:#?}", of_path(1))
    };
    assert_eq!([known, primary], [&(at(100), StepKind::Known(active)), &(at(100), StepKind::Primary)]);
    assert_eq!(timed_out, &(at(2_000), StepKind::TimedOut(Duration::from_secs(1), 116, Some(at(1_000)))));
    assert_eq!(lost, &(at(2_000), StepKind::Lost(1, Evidence::TimedOut)));
    assert_eq!(error, &(at(2_000), StepKind::Unanswered(Unanswered::Data, 1, 1)));
    assert!(
        matches!(reduced.1, StepKind::Reduced(reduction) if (reduction.from, reduction.to) == (4_404, 1_500))
    );
    assert_eq!(became, &(at(2_000), StepKind::Became(failed, vec![(at(2_000), Unanswered::Data)])));
    assert_eq!(late, &(at(3_000), StepKind::Unanswered(Unanswered::Heartbeat, 2, 1)));
    assert_eq!(answered, &(at(4_000), StepKind::Answered(Some(Duration::from_millis(80)), 2)));
    assert_eq!(
        [again, back],
        [
            &(at(4_000), StepKind::Became(active, Vec::new())),
            &(at(5_000), StepKind::NewData(MessageKey::Number(3)))
        ]
    );
    assert_eq!(
        of_path(2),
        [(at(100), StepKind::Known(active)), (at(2_500), StepKind::NewData(MessageKey::Number(2)))]
    );
    let path = &association.paths[0];
    assert_eq!(path.spans, [(active, Duration::from_millis(3_900)), (failed, Duration::from_secs(2))]);

    let outcome = story.outcome();
    // From the departure of message 1, at 1 s, to that of message 2 on the other path.
    assert_eq!((outcome.failovers, outcome.first_failover), (1, Some(Duration::from_millis(1_500))));
    assert_eq!((outcome.sent, outcome.acknowledged, outcome.delivered), (4, 3, 3));
    assert_eq!(outcome.longest_gap, Some(Duration::from_millis(1_800)));
    assert_eq!(
        (outcome.delay_mean, outcome.delay_max),
        (Some(Duration::from_nanos(483_333_333)), Some(Duration::from_millis(1_200)))
    );
    assert_eq!(
        (outcome.messages_resent, outcome.chunks_resent, outcome.timeouts, outcome.broken),
        (1, 1, 1, 0)
    );
}

#[test]
fn a_message_that_was_sent_again_is_told_from_its_offer_to_its_reader() {
    let story = story(failover());
    let message = &story.associations[&0].resent[&MessageKey::Number(1)];
    assert_eq!(message.parts.len(), 1);
    let [first, second] = &message.parts[0].sent[..] else { panic!("{message:?}") };
    assert_eq!(
        (first.at, first.path, second.at, second.path),
        (at(1_000), address(1), at(2_000), address(2))
    );
    let loss = Loss {
        at: at(2_000),
        evidence: Evidence::TimedOut,
        reports: None,
        reordering_window: None,
        is_restored: false,
    };
    assert_eq!((first.lost, second.lost), (Some(loss), None));
    assert_eq!(message.delivered, Some((at(2_100), at(900))));
    let told = text(&story, StorySelection { message: Some(1), ..StorySelection::default() });
    let wanted = "
  message 1
    sent at 1.000000 s to 10.1.0.2; lost: T3-rtx expired at 2.000000 s; retransmitted at 2.000000 s to 10.2.0.2
    acknowledged at 2.150000 s
    its reader had it at 2.100000 s, 1.200 s after it was offered
";
    assert!(told.ends_with(wanted), "{told}");
    let other = text(&story, StorySelection { message: Some(0), ..StorySelection::default() });
    assert!(other.ends_with("\nMessage 0 did not have to be retransmitted.\n"), "{other}");
    let mut asking = Story::new(story.header.clone(), Duration::from_secs(1)).asking(Some(0));
    for (ms, what) in failover() {
        asking.follow(&Record { at: at(ms), association: 0, what });
    }
    asking.finish();
    let other = text(&asking, StorySelection { message: Some(0), ..StorySelection::default() });
    let wanted = "
Message 0 did not have to be retransmitted.
  message 0
    sent at 0.200000 s to 10.1.0.2
    acknowledged at 0.300000 s
    its reader had it at 0.300000 s, 150.000 ms after it was offered
";
    assert!(other.ends_with(wanted), "{other}");
    let latest = story.associations.values().next().unwrap().latest_message.unwrap();
    let last = text(&story, StorySelection { message: Some(latest), ..StorySelection::default() });
    assert!(!last.contains("no message"), "{last}");
    let beyond = text(&story, StorySelection { message: Some(latest + 1), ..StorySelection::default() });
    let wanted = format!("\nThe trace tells of no message {} of this association.\n", latest + 1);
    assert!(beyond.ends_with(&wanted), "{beyond}");
}

#[test]
fn only_one_path_is_told_of_if_only_that_is_asked_for() {
    let story = story(failover());
    let told = text(&story, StorySelection { path: Some(address(2)), ..StorySelection::default() });
    let steps: Vec<&str> = told.lines().skip_while(|line| *line != "What happened").skip(1).take(3).collect();
    assert_eq!(
        steps,
        [
            "  0.100000 s  10.2.0.2: known, active",
            "  2.500000 s  10.2.0.2: new DATA goes here, from message 2 on",
            ""
        ]
    );
    assert!(!told.contains("10.1.0.2 from"), "{told}");
}

#[test]
fn spans_without_data_are_told_with_what_was_waited_for() {
    let waiting = |reason| What::Waiting { reason, peer_rwnd_bytes: 0 };
    let (window, peer, idle) =
        (WaitReason::CongestionWindow, WaitReason::PeerWindow, WaitReason::NothingToSend);
    let story = story([
        (0, waiting(idle)),
        (1_000, sent(0, 1, 1, 1)),
        (1_000, waiting(window)),
        (1_500, waiting(peer)),
        (3_000, sent(1, 2, 1, 1)),
        (3_000, waiting(window)),
        (3_999, sent(2, 3, 1, 1)),
        (3_999, waiting(idle)),
        (5_000, What::End {}),
    ]);
    let association = &story.associations[&0];
    let ms = Duration::from_millis;
    assert_eq!(association.waits, [(idle, ms(2_001)), (window, ms(1_499)), (peer, ms(1_500))]);
    let [span] = &association.idles[..] else { panic!("{:?}", association.idles) };
    assert_eq!((span.from, span.to), (at(1_000), at(3_000)));
    let reasons: Vec<_> = span.reasons.iter().filter(|(_, time)| !time.is_zero()).copied().collect();
    assert_eq!(reasons, [(window, ms(500)), (peer, ms(1_500))]);
    let steps = association.steps.iter().map(|step| (step.at, step.kind.clone())).collect::<Vec<_>>();
    assert_eq!(steps, [(at(3_000), StepKind::PeerWindowClosed(at(1_500), 0))]);
}

#[test]
fn what_the_layer_above_is_told_comes_before_what_follows_from_it() {
    let mut steps = failover();
    let told = |state| What::Notice(Notice::PathChanged { path: address(1), state });
    // Before new DATA leaves by the other path, and before the end of the errors is seen.
    let failed =
        steps.iter().position(|(ms, what)| *ms == 2_000 && matches!(what, What::Sent { .. })).unwrap();
    steps.insert(failed, (2_000, told(PathState::PotentiallyFailed)));
    let answered =
        steps.iter().position(|(ms, what)| *ms == 4_000 && matches!(what, What::Path { .. })).unwrap();
    steps.insert(answered, (4_000, told(PathState::Active)));
    let (with, without) = (story(steps), story(failover()));
    let kinds = |story: &Story| {
        let mut kinds: Vec<_> =
            story.associations[&0].steps.iter().map(|step| (step.at, step.kind.clone())).collect();
        // At 2 s the window is reduced, too.
        kinds.retain(|(_, kind)| !matches!(kind, StepKind::Reduced(_)));
        kinds
    };
    assert_eq!(kinds(&with), kinds(&without));
}

#[test]
fn what_grows_with_a_trace_is_bounded_and_what_is_beyond_is_counted() {
    let steps = (0..300_000_u64).flat_map(|message| {
        let tsn = u32::try_from(message).unwrap();
        let acknowledged = What::Acknowledged { message: Some(message) };
        [(message, sent(message, tsn, 1, 1)), (message, timed_out(message, tsn, 1)), (message, acknowledged)]
    });
    let story = story(steps);
    let association = &story.associations[&0];
    assert_eq!((association.resent.len(), association.resent_left_out), (200_000, 100_000));
    assert_eq!((association.steps.len(), association.steps_left_out), (100_000, 200_000));
    assert_eq!(story.outcome().messages_resent, 300_000);
    assert!(!story.is_whole);
}

#[test]
fn a_path_whose_own_link_has_gone_is_inactive_for_that_and_not_for_errors() {
    let own: IpAddr = [10, 1, 0, 1].into();
    let link = |up| What::LocalLink { source: own, up };
    let gone = |path| What::Notice(Notice::PathChanged { path: address(path), state: PathState::Inactive });
    let unchanged = WindowCause::Unchanged;
    let story = story([
        (100, What::Up { outbound_streams: 1, inbound_streams: 1 }),
        (100, governed(1, PathState::Active, true, 0, 4_404, unchanged)),
        (100, governed(2, PathState::Active, false, 0, 4_404, unchanged)),
        (200, sent(0, 7, 1, 1)),
        (
            900,
            What::PathError {
                path: address(1),
                unanswered: Unanswered::Data,
                errors: 1,
                association_errors: 1,
            },
        ),
        (1_000, link(false)),
        (1_000, gone(1)),
        (
            2_000,
            What::PathError {
                path: address(2),
                unanswered: Unanswered::Data,
                errors: 1,
                association_errors: 1,
            },
        ),
        (2_000, gone(2)),
        (3_000, link(true)),
        (3_000, governed(1, PathState::Active, true, 0, 4_404, unchanged)),
        (5_000, What::End {}),
    ]);
    let became = |path| -> Vec<usize> {
        let steps = story.associations[&0].steps.iter().filter(move |step| step.path == Some(address(path)));
        let inactive = steps.filter_map(|step| match &step.kind {
            StepKind::Became(PathState::Inactive, errors) => Some(errors.len()),
            _ => None,
        });
        inactive.collect()
    };
    assert_eq!((became(1), became(2)), (vec![0], vec![1]));
    let told = text(&story, StorySelection::default());
    let all = [
        "\n  1.000000 s  no packet can leave from 10.1.0.1: it or its link has gone\n",
        "\n  1.000000 s  10.1.0.2: is inactive: our address has no link\n",
        "\n  2.000000 s  10.2.0.2: is inactive: more than Path.Max.Retrans (5) errors in a row, DATA at 2.000000 s\n",
        "\n  3.000000 s  packets can leave from 10.1.0.1 again\n",
    ];
    for line in all {
        assert!(told.contains(line), "{told}");
    }
}
