use super::*;
use proptest::prelude::*;
use slantpath_base::Seed;

const ROUND_TRIP: Duration = Duration::from_millis(100);

/// Discovery up to 9,000 bytes over a path that carries `mtu`, until it rests, or for ten minutes.
fn over(mtu: u16, is_reported: bool, destination: IpAddr, lost: &[bool]) -> Discovery {
    let config = SctpConfig { max_path_mtu: 9_000, ..SctpConfig::default() };
    let mut discovery = Discovery::new(destination, &config);
    let mut random = Seed::new(1, 0).stream("discovery");
    let mut lost = lost.iter().copied();
    let mut now = Instant::START;
    discovery.start();
    while discovery.state() != DiscoveryState::Complete && now < Instant::from_secs(600) {
        if let Some(probe) = discovery.send(now, ROUND_TRIP, &mut random) {
            assert!(probe.size % 4 == 0 && probe.size >= discovery.plpmtu());
            if lost.next().unwrap_or(false) {
                continue;
            }
            now += ROUND_TRIP;
            if probe.size <= mtu {
                assert!(discovery.on_answered(now, probe.nonce).is_some());
                assert_eq!(discovery.plpmtu(), probe.size);
            } else if is_reported {
                discovery.on_too_big(now, mtu);
            }
        } else {
            now = discovery.deadline().expect("it goes on");
            discovery.handle_deadline(now, Some(now));
        }
    }
    discovery
}

fn v4() -> IpAddr {
    [192, 0, 2, 1].into()
}

proptest! {
    /// Whatever a path carries, and whichever single probes are lost, what is found passes and is as good as all
    /// of it.
    #[test]
    fn what_is_found_passes_and_little_more_would(
        mtu in 1_200_u16..9_100,
        is_reported: bool,
        lost in proptest::collection::vec(any::<bool>(), 0..20),
    ) {
        // Of three probes of a size one gets through.
        let lost: Vec<bool> = lost.chunks(2).flat_map(|pair| pair.iter().copied().chain([false])).collect();
        let discovery = over(mtu, is_reported, v4(), &lost);
        let most = mtu.min(9_000);
        prop_assert_eq!(discovery.state(), DiscoveryState::Complete);
        prop_assert!(discovery.plpmtu() <= most, "{} over {}", discovery.plpmtu(), mtu);
        prop_assert!(most - discovery.plpmtu() < LEAST_GAIN + 4, "{} over {}", discovery.plpmtu(), mtu);
        prop_assert!(discovery.probes_sent <= 60, "{} probes", discovery.probes_sent);
    }

    /// Nothing that comes, in whatever order, leaves the sizes out of their bounds or the machine without a next
    /// step.
    #[test]
    fn any_events_leave_the_sizes_in_their_bounds(
        events in proptest::collection::vec((0_u8..6, any::<u16>(), 0_u64..5_000), 0..200),
        is_v6: bool,
    ) {
        let destination = if is_v6 { IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]) } else { v4() };
        let mut discovery = Discovery::new(destination, &SctpConfig::default());
        let mut random = Seed::new(1, 0).stream("discovery");
        let (mut now, mut nonce) = (Instant::START, 0);
        for (event, value, wait) in events {
            now += Duration::from_millis(wait);
            match event {
                0 => discovery.start(),
                1 => drop(discovery.on_answered(now, nonce)),
                2 => drop(discovery.on_too_big(now, value)),
                3 => {
                    let long = if value % 2 == 0 { Long::AboveBase } else { Long::UpToBase };
                    discovery.on_long_lost(now, now, long);
                }
                4 if value % 16 == 0 => discovery.stop(),
                4 if value % 16 == 1 => discovery.fail(),
                _ => discovery.handle_deadline(now, Some(now)),
            }
            if let Some(probe) = discovery.send(now, ROUND_TRIP, &mut random) {
                nonce = probe.nonce;
                prop_assert!((discovery.least..=discovery.most).contains(&probe.size));
            }
            prop_assert!((discovery.least..=discovery.most).contains(&discovery.plpmtu));
            let rests = discovery.state() == DiscoveryState::Disabled || discovery.plpmtu == discovery.most;
            prop_assert!(rests || discovery.deadline().is_some(), "{:?}", discovery);
        }
    }
}

#[test]
fn a_path_below_the_base_size_is_found_if_icmp_tells_and_else_an_error() {
    let found = |mtu, is_reported| {
        let discovery = over(mtu, is_reported, v4(), &[]);
        (discovery.state(), discovery.plpmtu(), discovery.is_cut())
    };
    assert_eq!(found(1_003, true), (DiscoveryState::Complete, 1_000, false));
    assert_eq!(found(1_003, false), (DiscoveryState::Error, 576, true));
    assert_eq!(found(400, true), (DiscoveryState::Error, 576, true));
}

/// RFC 8899, section 4.6.1: a report may be untrue. The base size passes, so that larger ones are looked for as ever.
#[test]
fn a_report_that_a_probe_refutes_does_not_end_the_search() {
    let mut discovery = Discovery::new(v4(), &SctpConfig::default());
    let mut random = Seed::new(1, 0).stream("discovery");
    let mut now = Instant::START;
    let mut probed = |discovery: &mut Discovery| {
        now += ROUND_TRIP;
        let probe = discovery.send(now, ROUND_TRIP, &mut random).expect("a probe");
        discovery.on_answered(now, probe.nonce).expect("it is awaited");
        probe.size
    };
    discovery.start();
    assert_eq!([probed(&mut discovery), probed(&mut discovery)], [1_200, 1_500]);
    assert!(discovery.on_too_big(Instant::from_secs(1), 100));
    assert_eq!((discovery.state(), discovery.plpmtu()), (DiscoveryState::Error, 576));
    assert_eq!([probed(&mut discovery), probed(&mut discovery)], [1_200, 1_500]);
    assert_eq!((discovery.state(), discovery.plpmtu()), (DiscoveryState::Complete, 1_500));
    // One that cannot be true leaves nothing behind.
    assert!(!discovery.on_too_big(Instant::from_secs(2), 67));
    assert_eq!((discovery.state(), discovery.too_big), (DiscoveryState::Complete, None));
}

#[test]
fn losses_beside_the_probes_of_the_base_size_do_not_keep_them_from_an_answer() {
    let mut discovery = Discovery::new(v4(), &SctpConfig::default());
    let mut random = Seed::new(1, 0).stream("discovery");
    discovery.start();
    for second in 1..=3 {
        let now = Instant::from_secs(second);
        assert!(discovery.send(now, ROUND_TRIP, &mut random).is_some());
        let deadline = discovery.deadline().unwrap();
        assert!(!discovery.on_long_lost(deadline, now, Long::UpToBase));
        discovery.handle_deadline(deadline, Some(now));
    }
    assert_eq!(
        (discovery.state(), discovery.plpmtu(), discovery.black_holes),
        (DiscoveryState::Error, 576, 0)
    );
}

#[test]
fn a_probe_in_the_error_state_waits_twice_as_long_each_time() {
    let discovery = over(400, false, v4(), &[]);
    // Three of BASE, then after 2, 4, 8, ... 512 s.
    assert_eq!(discovery.probes_sent, 3 + 9);
}

/// Discovery over a path of IPv4, step by step.
struct Steps {
    discovery: Discovery,
    random: Stream,
    now: Instant,
    nonce: u64,
}

impl Steps {
    /// With MIN_PLPMTU 576, BASE_PLPMTU 1,200 and MAX_PLPMTU 1,500.
    fn new() -> Self {
        Self::with(&SctpConfig::default())
    }

    fn with(config: &SctpConfig) -> Self {
        let random = Seed::new(1, 0).stream("discovery");
        let mut discovery = Discovery::new(v4(), config);
        discovery.start();
        Self { discovery, random, now: Instant::START, nonce: 0 }
    }

    /// Sends what is due and returns how long it is.
    fn probe(&mut self) -> Option<u16> {
        let probe = self.discovery.send(self.now, ROUND_TRIP, &mut self.random)?;
        self.nonce = probe.nonce;
        Some(probe.size)
    }

    fn answer(&mut self) -> Option<Answer> {
        self.discovery.on_answered(self.now, self.nonce)
    }

    /// Nothing answers what is due: returns its size.
    fn unanswered(&mut self) -> Option<u16> {
        let size = self.probe();
        self.expire();
        size
    }

    /// Goes to the deadline.
    fn expire(&mut self) {
        self.now = self.discovery.deadline().expect("a deadline");
        self.discovery.handle_deadline(self.now, Some(self.now));
    }

    fn too_big(&mut self, mtu: u16) -> bool {
        self.discovery.on_too_big(self.now, mtu)
    }

    /// State of the discovery, the size in use, and the size to be probed now, if any.
    fn found(&self) -> (DiscoveryState, u16, Option<u16>) {
        let due = self.discovery.is_due().then_some(self.discovery.probed_size);
        (self.discovery.state, self.discovery.plpmtu, due)
    }

    /// BASE_PLPMTU has been found to pass.
    fn searching() -> Self {
        let mut steps = Self::new();
        assert_eq!(steps.probe(), Some(1_200));
        assert!(steps.answer().is_some());
        assert_eq!(steps.found(), (DiscoveryState::Searching, 1_200, Some(1_500)));
        steps
    }

    /// Steps of a complete search in which every probe passes.
    fn complete() -> Self {
        let mut steps = Self::searching();
        assert_eq!(steps.probe(), Some(1_500));
        assert!(steps.answer().is_some());
        assert_eq!(steps.found(), (DiscoveryState::Complete, 1_500, None));
        steps
    }

    /// Not even BASE_PLPMTU passes.
    fn failed() -> Self {
        let mut steps = Self::new();
        assert_eq!([1, 2, 3].map(|_| steps.unanswered()), [Some(1_200); 3]);
        assert_eq!(steps.found(), (DiscoveryState::Error, 576, Some(1_200)));
        steps
    }
}

#[test]
fn sizes_are_whole_words_and_no_less_than_any_path_carries() {
    let v6 = IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]);
    for (destination, base_path_mtu, max_path_mtu, expected) in [
        (v4(), 1_203, 1_503, (576, 1_200, 1_500)),
        (v4(), 500, 579, (576, 576, 576)),
        (v4(), 1_400, 1_300, (576, 1_400, 1_400)),
        (v6, 1_200, 1_500, (1_280, 1_280, 1_500)),
    ] {
        let config = SctpConfig { base_path_mtu, max_path_mtu, ..SctpConfig::default() };
        let discovery = Discovery::new(destination, &config);
        assert_eq!((discovery.least, discovery.base, discovery.most), expected);
        assert_eq!((discovery.state(), discovery.plpmtu()), (DiscoveryState::Disabled, expected.1));
    }
}

/// Section 5.1.1: PROBE_TIMER is the RTO, and no less than a second.
#[test]
fn a_probe_is_awaited_for_an_rto_or_a_second() {
    for (rto_ms, expected_ms) in [(100, 1_000), (3_000, 3_000)] {
        let mut steps = Steps::new();
        let sent = steps.discovery.send(steps.now, Duration::from_millis(rto_ms), &mut steps.random);
        assert_eq!(sent.map(|probe| probe.size), Some(1_200));
        let deadline = Instant::from_millis(expected_ms);
        assert_eq!(steps.discovery.deadline(), Some(deadline));
        assert_eq!(steps.probe(), None, "one at a time");
        assert_eq!([steps.discovery.take_departing(), steps.discovery.take_departing()], [true, false]);
        steps.discovery.handle_deadline(Instant::from_nanos(deadline.as_nanos() - 1), None);
        assert!(!steps.discovery.is_due());
        steps.discovery.handle_deadline(deadline, None);
        assert!(steps.discovery.is_due());
        assert_eq!(steps.discovery.probes_sent, 1);
    }
}

/// The third one of a size decides; a late answer to any of them says as much, but not how long it took.
#[test]
fn probes_of_one_size_are_one_question_and_only_the_first_is_timed() {
    let mut steps = Steps::searching();
    assert_eq!(steps.probe(), Some(1_500));
    let first = steps.nonce;
    steps.now += ROUND_TRIP;
    assert_eq!(steps.discovery.on_answered(steps.now, first ^ 1), None);
    let mut again = Steps { discovery: steps.discovery.clone(), random: steps.random.clone(), ..steps };
    assert_eq!(steps.answer(), Some(Answer { round_trip: Some(ROUND_TRIP) }));
    assert_eq!(steps.answer(), None, "it has been answered");
    again.expire();
    assert_eq!(again.probe(), Some(1_500));
    assert_eq!(again.nonce, first);
    assert_eq!(again.answer(), Some(Answer { round_trip: None }));
    assert_eq!(again.found(), (DiscoveryState::Complete, 1_500, None));
}

#[test]
fn a_size_is_asked_for_as_often_as_max_probes_says_and_then_one_half_way_below() {
    for (max_probes, asked) in [(1, 1), (3, 3)] {
        let mut steps = Steps::with(&SctpConfig { max_probes, ..SctpConfig::default() });
        steps.probe();
        steps.answer();
        for _ in 0..asked {
            assert_eq!(steps.unanswered(), Some(1_500));
        }
        assert_eq!(steps.found(), (DiscoveryState::Searching, 1_200, Some(1_348)));
        assert_eq!(steps.discovery.probe_count, 0);
    }
}

/// Between 1,200 and what is known not to pass: 20 bytes are searched, 16 are not.
#[test]
fn the_search_ends_where_sixteen_bytes_or_less_could_be_gained() {
    for (too_big, expected) in [
        (1_216, (DiscoveryState::Complete, 1_200, None)),
        (1_220, (DiscoveryState::Searching, 1_200, Some(1_208))),
        (1_200, (DiscoveryState::Complete, 1_200, None)),
        (1_240, (DiscoveryState::Searching, 1_200, Some(1_220))),
        (9_000, (DiscoveryState::Searching, 1_200, Some(1_348))),
    ] {
        let mut steps = Steps::searching();
        steps.discovery.too_big = Some(too_big);
        steps.discovery.search_on(steps.now);
        assert_eq!(steps.found(), expected, "{too_big}");
    }
    // Nothing being known to be too big, the most is asked for, be it little more.
    let mut steps = Steps::with(&SctpConfig { max_path_mtu: 1_208, ..SctpConfig::default() });
    steps.probe();
    steps.answer();
    assert_eq!(steps.found(), (DiscoveryState::Searching, 1_200, Some(1_208)));
}

/// PMTU_RAISE_TIMER is 600 s.
#[test]
fn a_search_that_ended_below_the_most_is_taken_up_ten_minutes_later_if_data_was_sent_since() {
    let complete = || {
        let mut steps = Steps::searching();
        steps.now = Instant::from_secs(5);
        steps.discovery.too_big = Some(1_216);
        steps.discovery.search_on(steps.now);
        steps
    };
    let mut steps = complete();
    let deadline = Instant::from_secs(605);
    assert_eq!(steps.discovery.deadline(), Some(deadline));
    steps.discovery.handle_deadline(Instant::from_nanos(deadline.as_nanos() - 1), Some(deadline));
    assert_eq!(steps.found(), (DiscoveryState::Complete, 1_200, None));
    steps.discovery.handle_deadline(deadline, Some(deadline));
    assert_eq!(steps.found(), (DiscoveryState::Searching, 1_200, Some(1_500)));
    let ended = Instant::from_secs(5);
    for (last_data_at, is_taken_up) in
        [(None, false), (Some(Instant::from_millis(4_999)), false), (Some(ended), true)]
    {
        let mut steps = complete();
        // Before the timer expires nothing is taken up.
        steps.discovery.resume(ended, Some(ended));
        assert_eq!(steps.discovery.deadline(), Some(deadline));
        steps.discovery.handle_deadline(deadline, last_data_at);
        assert_eq!((steps.discovery.is_due(), steps.discovery.deadline()), (is_taken_up, None));
        // It is, as soon as DATA is sent.
        steps.discovery.resume(deadline, Some(deadline));
        assert_eq!(steps.found(), (DiscoveryState::Searching, 1_200, Some(1_500)));
    }
    let mut steps = Steps::complete();
    assert_eq!(steps.discovery.deadline(), None);
    steps.discovery.resume(deadline, Some(deadline));
    assert_eq!(steps.found(), (DiscoveryState::Complete, 1_500, None));
}

#[test]
fn an_error_is_asked_about_after_two_seconds_four_and_so_on_up_to_the_raise_timer() {
    let mut steps = Steps::failed();
    for pause in [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600] {
        assert_eq!(steps.unanswered(), Some(1_200));
        let until = steps.now + Duration::from_secs(pause);
        assert_eq!(
            (steps.found(), steps.discovery.deadline()),
            ((DiscoveryState::Error, 576, None), Some(until))
        );
        // Without DATA it stays so.
        let mut silent = steps.discovery.clone();
        silent.handle_deadline(until, Some(Instant::from_nanos(steps.now.as_nanos() - 1)));
        assert_eq!((silent.is_due(), silent.deadline()), (false, None));
        steps.expire();
    }
    assert_eq!(steps.probe(), Some(1_200));
    steps.answer();
    assert_eq!(steps.found(), (DiscoveryState::Searching, 1_200, Some(1_500)));
}

/// Beginning of the case, the size that a path reports, acceptance of the report, and the result: state, PLPMTU, next
/// probe.
type ReportCase = (fn() -> Steps, u16, bool, (DiscoveryState, u16, Option<u16>));

/// Section 4.6.2, where a size is being probed and where none is: what becomes of a report.
#[test]
fn a_report_is_of_use_if_it_is_less_than_what_was_sent_and_more_than_no_link_carries() {
    use DiscoveryState::{Base, Complete, Error, Searching};
    let disabled: fn() -> Steps = || {
        let mut steps = Steps::new();
        steps.discovery.stop();
        steps
    };
    // BASE_PLPMTU and more pass, and the most is probed.
    let raising: fn() -> Steps = || {
        let mut steps = Steps::searching();
        steps.discovery.plpmtu = 1_400;
        steps
    };
    // Nothing is probed, and BASE_PLPMTU is in use.
    let at_base: fn() -> Steps = || {
        let mut steps = Steps::searching();
        steps.discovery.too_big = Some(1_204);
        steps.discovery.search_on(steps.now);
        steps
    };
    let cases: [ReportCase; 22] = [
        (disabled, 1_000, false, (DiscoveryState::Disabled, 1_200, None)),
        (Steps::new, 1_200, false, (Base, 1_200, Some(1_200))),
        (Steps::new, 1_199, true, (Error, 576, Some(1_196))),
        (Steps::new, 580, true, (Error, 576, Some(580))),
        (Steps::new, 579, true, (Error, 576, Some(1_200))),
        (Steps::new, 68, true, (Error, 576, Some(1_200))),
        (Steps::new, 67, false, (Base, 1_200, Some(1_200))),
        (Steps::searching, 1_500, false, (Searching, 1_200, Some(1_500))),
        (Steps::searching, 1_499, true, (Searching, 1_200, Some(1_496))),
        (Steps::searching, 1_204, true, (Searching, 1_200, Some(1_204))),
        (Steps::searching, 1_203, true, (Complete, 1_200, None)),
        (Steps::searching, 1_199, true, (Error, 576, Some(1_196))),
        (raising, 1_448, true, (Searching, 1_400, Some(1_448))),
        (raising, 1_400, true, (Complete, 1_400, None)),
        (raising, 1_399, true, (Searching, 1_200, Some(1_396))),
        (Steps::complete, 1_500, false, (Complete, 1_500, None)),
        (Steps::complete, 1_400, true, (Searching, 1_200, Some(1_400))),
        (Steps::complete, 1_200, true, (Complete, 1_200, None)),
        (at_base, 1_300, false, (Complete, 1_200, None)),
        (at_base, 1_200, false, (Complete, 1_200, None)),
        (Steps::failed, 1_000, true, (Error, 576, Some(1_000))),
        (Steps::failed, 1_203, false, (Error, 576, Some(1_200))),
    ];
    for (number, (steps, mtu, is_news, expected)) in cases.into_iter().enumerate() {
        let mut steps = steps();
        assert_eq!((steps.too_big(mtu), steps.found()), (is_news, expected), "case {number}");
    }
    // A link of IPv6 carries 1,280 bytes, whatever is said.
    let v6 = IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]);
    let mut discovery = Discovery::new(v6, &SctpConfig::default());
    discovery.start();
    assert!(!discovery.on_too_big(Instant::START, 1_279));
    assert_eq!((discovery.state, discovery.plpmtu), (Base, 1_280));
}

#[test]
fn what_is_reported_limits_the_search_above_it() {
    let mut steps = Steps::searching();
    assert!(steps.too_big(1_400));
    assert_eq!(steps.discovery.too_big, Some(1_404));
    assert_eq!(steps.probe(), Some(1_400));
    steps.answer();
    assert_eq!(steps.found(), (DiscoveryState::Complete, 1_400, None));
    // If the report was wrong, the size is searched for below it.
    let mut steps = Steps::searching();
    steps.too_big(1_400);
    assert_eq!([1, 2, 3].map(|_| steps.unanswered()), [Some(1_400); 3]);
    assert_eq!(steps.found(), (DiscoveryState::Searching, 1_200, Some(1_300)));
}

/// A size below BASE_PLPMTU that passes is kept; one that does not gives way to BASE_PLPMTU, for good.
#[test]
fn a_report_below_the_base_size_is_tried_three_times_and_believed_once() {
    let mut steps = Steps::new();
    assert!(steps.too_big(1_000));
    assert_eq!(steps.discovery.too_big, Some(1_004));
    assert!(!steps.too_big(1_000));
    assert_eq!(steps.probe(), Some(1_000));
    assert!(!steps.too_big(1_003));
    let mut passes = Steps { discovery: steps.discovery.clone(), random: steps.random.clone(), ..steps };
    passes.answer();
    assert_eq!(passes.found(), (DiscoveryState::Complete, 1_000, None));
    assert!(!passes.discovery.is_cut());
    assert!(steps.discovery.is_cut());
    for repetition in 1..3 {
        steps.expire();
        steps.expire();
        assert_eq!((steps.discovery.probe_count, steps.probe()), (repetition, Some(1_000)));
    }
    steps.expire();
    steps.expire();
    assert_eq!(steps.found(), (DiscoveryState::Error, 576, Some(1_200)));
    assert_eq!(steps.probe(), Some(1_200));
    assert!(!steps.too_big(1_000), "it has been tried");
    assert!(steps.too_big(1_100));
    assert_eq!(steps.found(), (DiscoveryState::Error, 576, Some(1_100)));
}

#[test]
fn a_path_that_works_again_is_asked_at_once_unless_it_is_being_asked() {
    let mut steps = Steps::failed();
    steps.unanswered();
    steps.unanswered_after_pause();
    assert_eq!(steps.discovery.probe_count, 2);
    steps.discovery.start();
    assert_eq!((steps.found(), steps.discovery.probe_count), ((DiscoveryState::Error, 576, Some(1_200)), 0));
    steps.unanswered();
    steps.expire();
    assert_eq!((steps.discovery.is_due(), steps.discovery.probe_count), (true, 1));
    steps.discovery.start();
    assert_eq!(steps.discovery.probe_count, 1);
    for mut steps in [Steps::searching(), Steps::complete()] {
        let before = steps.found();
        steps.discovery.start();
        assert_eq!(steps.found(), before);
    }
}

impl Steps {
    /// The pause of an error is over, and the probe behind it not answered.
    fn unanswered_after_pause(&mut self) {
        self.expire();
        self.unanswered();
    }
}

#[test]
fn a_path_that_fails_is_asked_nothing_but_whether_it_carries_the_base_size() {
    for (mut steps, expected) in [
        (Steps::new(), (DiscoveryState::Base, 1_200, Some(1_200))),
        (Steps::failed(), (DiscoveryState::Error, 576, Some(1_200))),
        (Steps::searching(), (DiscoveryState::Disabled, 1_200, None)),
        (Steps::complete(), (DiscoveryState::Disabled, 1_200, None)),
    ] {
        steps.discovery.fail();
        assert_eq!(steps.found(), expected);
    }
    let mut steps = Steps::searching();
    steps.probe();
    steps.discovery.fail();
    assert_eq!((steps.answer(), steps.discovery.deadline()), (None, None));
    // A size below BASE_PLPMTU stays.
    let mut steps = Steps::new();
    steps.too_big(1_000);
    steps.probe();
    steps.answer();
    steps.discovery.fail();
    assert_eq!(steps.found(), (DiscoveryState::Disabled, 1_000, None));
}

#[test]
fn a_packet_is_long_if_it_is_longer_than_what_would_be_sent_instead() {
    let sizes = [576, 577, 1_200, 1_201];
    let base = Some(Long::UpToBase);
    assert_eq!(
        sizes.map(|size| Steps::complete().discovery.long(size)),
        [None, base, base, Some(Long::AboveBase)]
    );
    assert_eq!(sizes.map(|size| Steps::searching().discovery.long(size)), [None, base, base, base]);
}

/// Each of what was sent when the one before had been noticed, or later.
#[test]
fn three_losses_in_a_row_of_long_packets_are_a_black_hole() {
    let at = Instant::from_secs;
    let mut steps = Steps::complete();
    let mut lost = |sent, noticed, long| steps.discovery.on_long_lost(at(noticed), at(sent), long);
    let (above, up_to) = (Long::AboveBase, Long::UpToBase);
    // Together with the first, then the second, then the third.
    assert_eq!([lost(1, 10, above), lost(8, 10, above), lost(9, 10, above), lost(10, 11, above)], [false; 4]);
    // Those of the other kind count for themselves.
    assert_eq!([lost(10, 11, up_to), lost(11, 12, up_to), lost(10, 12, above)], [false; 3]);
    assert!(lost(11, 12, above));
    assert_eq!(steps.found(), (DiscoveryState::Base, 1_200, Some(1_200)));
    assert_eq!(steps.discovery.black_holes, 1);
    // While the base size is probed nothing counts.
    for second in 20..30 {
        assert!(!steps.discovery.on_long_lost(at(second), at(second), up_to));
    }
    steps.probe();
    steps.answer();
    let lost = [30, 31, 32].map(|second| steps.discovery.on_long_lost(at(second), at(second), up_to));
    assert_eq!(lost, [false, false, true]);
    assert_eq!((steps.found().0, steps.discovery.black_holes), (DiscoveryState::Base, 2));
}

#[test]
fn what_arrives_ends_a_row_of_losses_of_packets_no_longer_than_itself() {
    let at = Instant::from_secs;
    for (arrived, left) in [(Long::AboveBase, [0, 0]), (Long::UpToBase, [2, 0])] {
        let mut steps = Steps::complete();
        for second in [1, 2] {
            for long in [Long::AboveBase, Long::UpToBase] {
                assert!(!steps.discovery.on_long_lost(at(second), at(second), long));
            }
        }
        steps.discovery.on_long_arrived(arrived);
        assert_eq!(steps.discovery.losses.map(|losses| losses.count), left);
        // A new row begins with whatever is lost, when it was sent.
        assert!(!steps.discovery.on_long_lost(at(3), at(1), Long::UpToBase));
        assert_eq!(steps.discovery.losses[Long::UpToBase as usize].count, 1);
    }
}

/// A black hole below BASE_PLPMTU.
#[test]
fn losses_at_less_than_the_base_size_are_an_error() {
    let mut steps = Steps::new();
    steps.too_big(1_000);
    steps.probe();
    steps.answer();
    let at = Instant::from_secs;
    let lost = [1, 2, 3].map(|second| steps.discovery.on_long_lost(at(second), at(second), Long::UpToBase));
    assert_eq!(lost, [false, false, true]);
    assert_eq!(steps.found(), (DiscoveryState::Error, 576, Some(1_200)));
    assert_eq!((steps.discovery.too_big, steps.discovery.losses), (None, [Losses::NONE; 2]));
}
