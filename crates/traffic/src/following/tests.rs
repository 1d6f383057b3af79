//! A load in one set of loads, and the account that another set keeps of it.

use slantpath_base::{Duration, Instant, Seed};
use slantpath_signalling::network::{LoadConfig, PointId, UserPlace};
use slantpath_ss7::PointCode;
use slantpath_ss7::load::{self, ByCode, GeneratorConfig, Lengths, Report, Selection};
use slantpath_ss7::mtp3::{NetworkIndicator, ServiceIndicator, ServiceInformation};

use super::Clocks;
use crate::Loads;

const SEED: Seed = Seed::new(1, 0);
/// The receiver starts three seconds before the sender.
const EARLIER: Duration = Duration::from_secs(3);
const EPOCH: u64 = 1_000_000_000_000;

fn loads(octets: usize) -> Loads {
    let indicator = ServiceIndicator::ISUP;
    let generator = GeneratorConfig {
        links: 2,
        first_link: 16,
        erlang_per_link: 0.5,
        steps: Vec::new(),
        line_rate: "64 kbit/s".parse().unwrap(),
        lengths: Lengths::Fixed(octets),
        selection: Selection::Link,
        arrivals: load::Arrivals::Poisson,
        routing: load::Routing::PointCode(ByCode { destinations: vec![PointCode(2)], service: indicator }),
        origin: PointCode(1),
        service: ServiceInformation { indicator, network: NetworkIndicator::International, priority: 0 },
        start: Instant::from_secs(1),
        stop: Instant::from_secs(6),
    };
    let config = LoadConfig {
        name: "load".to_owned(),
        from: UserPlace::Point(PointId(0)),
        generator,
        destinations: vec![PointCode(2)],
        subsystem: None,
        give_up_after: Duration::from_secs(2),
    };
    Loads::new(vec![config], SEED).unwrap()
}

/// All messages of the sender, with its instants. Its clock is `ahead` nanoseconds of the receiver's.
fn sent(octets: usize, ahead: u64) -> Vec<(Instant, load::Message)> {
    let mut loads = loads(octets);
    let load = loads.load_mut(0);
    let mut all = Vec::new();
    let _ = load.begin(Instant::from_secs(1));
    while let Some(due) = load.deadline() {
        let clock = EPOCH + EARLIER.as_nanos() + due.as_nanos() + ahead;
        all.extend(load.poll_stamped(due, Some(clock)).map(|message| (due, message)));
    }
    all
}

fn sum(reports: &[crate::LinkLoadReport], of: fn(&Report) -> u64) -> u64 {
    reports.iter().map(|link| of(&link.report)).sum()
}

/// Hands messages over after `delay`, but for those that are `lost`. Gives the receiver with the time at its end.
fn received(
    messages: &[(Instant, load::Message)],
    (octets, clocks): (usize, Clocks),
    delay: impl Fn(usize) -> Duration,
    lost: impl Fn(usize) -> bool,
) -> (Loads, Instant) {
    let mut loads = loads(octets);
    loads.follow(0, clocks, EPOCH);
    let mut arrivals: Vec<_> = messages.iter().enumerate().filter(|(number, _)| !lost(*number)).collect();
    let arrives = |(number, (at, _)): &(usize, &(Instant, load::Message))| *at + EARLIER + delay(*number);
    arrivals.sort_by_key(arrives);
    let mut now = Instant::START;
    for arrival in arrivals {
        now = arrives(&arrival);
        assert!(loads.arrived(now, &arrival.1.1.transfer));
    }
    (loads, now)
}

const TOGETHER: (usize, Clocks) = (60, Clocks::Together);

#[test]
fn the_receiver_knows_what_was_sent_and_for_how_long_it_was_on_its_way() {
    let messages = sent(60, 0);
    assert!(messages.len() > 200, "{}", messages.len());
    let delay = |number: usize| Duration::from_millis(if number == 50 { 400 } else { 100 });
    let (mut loads, now) = received(&messages, TOGETHER, delay, |number| number == 0 || number % 10 == 9);
    let missing = (0..messages.len()).filter(|number| *number == 0 || number % 10 == 9).count() as u64;
    let reports = loads.reports(now + Duration::from_secs(3), 0);
    assert_eq!(sum(&reports, |report| report.sent), messages.len() as u64, "the last ones, too");
    assert_eq!(sum(&reports, |report| report.lost), missing);
    assert_eq!(sum(&reports, |report| report.delivered), messages.len() as u64 - missing);
    assert_eq!(sum(&reports, |report| report.out_of_sequence), 1);
    let report = &reports[usize::from(messages[50].1.link.0 - 16)].report;
    let near = |delay: Option<Duration>, millis: f64| (delay.unwrap().as_millis_f64() - millis).abs() < 1.0;
    assert!(near(report.delay_min, 100.0) && near(report.delay_p50, 100.0), "{report:?}");
    assert!(near(report.delay_max, 400.0), "{report:?}");
}

#[test]
fn clocks_that_are_apart_leave_the_variation_of_delays() {
    let messages = sent(60, 5_000_000_000_000);
    let delay = |number: usize| Duration::from_millis(500 + number as u64 % 2 * 70);
    let (mut loads, now) = received(&messages, (60, Clocks::Apart), delay, |_| false);
    let reports = loads.reports(now, 0);
    assert_eq!(sum(&reports, |report| report.delivered), messages.len() as u64);
    for link in &reports {
        let most = link.report.delay_max.unwrap().as_millis_f64();
        assert!((most - 70.0).abs() < 1.0, "{:?}", link.report);
    }
}

#[test]
fn messages_without_room_for_an_instant_count_from_the_schedule() {
    let messages = sent(20, 0);
    let delay = |number: usize| Duration::from_millis(100 + number as u64 % 2 * 30);
    let (mut loads, now) = received(&messages, (20, Clocks::Together), delay, |_| false);
    let reports = loads.reports(now, 0);
    assert_eq!(sum(&reports, |report| report.delivered), messages.len() as u64);
    let most = reports.iter().filter_map(|link| link.report.delay_max).max().unwrap();
    assert!((most.as_millis_f64() - 30.0).abs() < 1.0, "{most:?}");
}

#[test]
fn a_load_that_ends_early_and_one_that_never_begins_lose_nothing_that_is_not_known() {
    let messages = sent(60, 0);
    let half = &messages[..messages.len() / 2];
    let (mut loads, now) = received(half, TOGETHER, |_| Duration::from_millis(10), |_| false);
    let reports = loads.reports(now, 0);
    assert_eq!(
        (sum(&reports, |report| report.sent), sum(&reports, |report| report.lost)),
        (half.len() as u64, 0)
    );
    assert!(!loads.is_settled(now, 0) && loads.is_settled(Instant::from_secs(11), 0));
    let (mut loads, _) = received(&[], TOGETHER, |_| Duration::ZERO, |_| false);
    assert!(!loads.is_settled(Instant::from_secs(100), 0));
    assert_eq!(sum(&loads.reports(Instant::from_secs(100), 0), |report| report.sent), 0);
}

#[test]
fn a_stamp_of_no_message_that_could_have_been_sent_changes_nothing() {
    let messages = sent(60, 0);
    let (mut loads, now) = received(&messages[..4], TOGETHER, |_| Duration::ZERO, |_| false);
    let before = loads.reports(now, 0);
    let mut beyond = messages[0].1.transfer.clone();
    let mut octets = beyond.user_data.to_vec();
    octets[1..4].copy_from_slice(&[0x40, 0, 0]);
    beyond.user_data = octets.into();
    loads.arrived(now, &beyond);
    assert_eq!(sum(&loads.reports(now, 0), |report| report.sent), sum(&before, |report| report.sent));
    assert_eq!(sum(&loads.reports(now, 0), |report| report.unknown), 1);
}
