#[path = "../../tests/swarm/case.rs"]
mod case;
mod parts;
mod probes;

use std::cell::Cell;
use std::io;
use std::rc::Rc;

use slantpath_base::Duration;
use slantpath_results::Table;

use super::*;
use crate::observer::Announcement;

fn scenario(text: &str, overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let files = crate::files_in("../../scenarios".as_ref());
    Scenario::parse("alone.toml", text, &overrides, files).unwrap()
}

fn with_signalling() -> Scenario {
    let text = include_str!("../../../../scenarios/ss7-over-geo.toml");
    scenario(text, &["probes.intervals=10 s"])
}

fn first() -> Scenario {
    let text = include_str!("../../../../scenarios/first.toml");
    scenario(text, &["scenario.warm_up=10 s"])
}

/// Sessions of all kinds of ends.
fn files() -> Scenario {
    let text = include_str!("../../../../scenarios/ftp-sessions.toml");
    scenario(text, &["scenario.duration=600 s", "sessions.ftp.end=550 s", "scenario.warm_up=60 s"])
}

/// Sessions that nothing is heard of for ten minutes: their openers give them up, and their server never knows of them.
fn files_through_an_outage() -> Scenario {
    let text = format!(
        "{}\n{}",
        include_str!("../../../../scenarios/ftp-sessions.toml"),
        "[[script]]\nat = \"200 s\"\nlink = \"satellite\"\naction = \"down\"\n\
         [[script]]\nat = \"800 s\"\nlink = \"satellite\"\naction = \"up\"\n"
    );
    scenario(&text, &["scenario.duration=1500 s", "sessions.ftp.end=1400 s"])
}

/// Sessions whose openers have given them up long before their server hears of them.
fn files_over_minutes() -> Scenario {
    let text = include_str!("../../../../scenarios/ftp-sessions.toml");
    scenario(text, &["links.satellite.delay=260 s", "scenario.duration=900 s", "sessions.ftp.end=600 s"])
}

/// Sessions that ask.
fn pages() -> Scenario {
    let text = include_str!("../../../../scenarios/mixed-services.toml");
    let overrides = [
        "scenario.duration=120 s",
        "scenario.warm_up=10 s",
        "sessions.web.arrivals.mean_interval=2 s",
        "sessions.web.sizes.mean=6 kB",
        "sessions.web.requests.count.mean=3",
        "sessions.web.requests.think.mean=1 s",
    ];
    scenario(text, &overrides)
}

/// Terminals that ask for capacity under a sky.
fn terminals() -> Scenario {
    let text = include_str!("../../../../scenarios/vsat-on-demand.toml");
    scenario(text, &["scenario.warm_up=10 s"])
}

/// A run that is asked, and whose results are collected, every so many events.
fn run_asking_every(
    events: u64,
    scenario: &Scenario,
    options: &RunOptions,
    go_on: &mut dyn FnMut(Instant) -> ControlFlow<()>,
) -> Result<Option<RunOutput>, RunError> {
    let mut collector = Collector::default();
    let pace = Pace { question: events, collection: events };
    let output = run_at_pace(pace, scenario, options, &mut collector, None, Drive::Free(go_on))?;
    Ok(output.map(|output| collector.complete(output)))
}

/// Random networks with random faults, and everything recorded that can be.
fn swarm(seed: u64) -> Scenario {
    let text = case::toml(seed);
    let probes = ["scenario.warm_up=5 s", "probes.paths=100 ms", "probes.queues=on change"];
    scenario(&text, &[&probes[..], &["probes.intervals=10 s", "probes.delays=1 %"]].concat())
}

/// At one extreme everything is handed over at the end, at the other as often as results are collected at all: of a
/// handful of flows and links, after every hundred events or so.
#[test]
fn results_that_stream_are_those_that_are_taken_at_the_end() {
    let others: [fn() -> Scenario; 7] =
        [first, with_signalling, files, files_through_an_outage, files_over_minutes, pages, terminals];
    let scenarios = (0..60).map(swarm).chain(others.into_iter().map(|make| make()));
    let mut messages = 0;
    for scenario in scenarios {
        let links = scenario.links.iter().map(|(name, _)| name.to_owned());
        let options = RunOptions { captures: links.collect(), ..RunOptions::default() };
        let mut go_on = |_| ControlFlow::Continue(());
        let whole = run_asking_every(u64::MAX, &scenario, &options, &mut go_on).unwrap().unwrap();
        messages += whole.table("messages").map_or(0, Table::rows);
        for events in [1, 1_000] {
            let streamed = run_asking_every(events, &scenario, &options, &mut go_on).unwrap().unwrap();
            let name = &*scenario.scenario.name;
            for (ours, wanted) in streamed.tables.iter().zip(&whole.tables) {
                assert!(ours == wanted, "{name}, collected every {events} events: {}", ours.name());
            }
            assert!(streamed == whole, "{name}, collected every {events} events");
        }
    }
    assert!(messages > 10_000, "{messages}");
}

/// Of a table, how many rows have come before an instant of the run, and how many in all.
fn come_before(scenario: &Scenario, kind: crate::TableKind, at: Instant) -> (usize, usize) {
    let told = told(scenario, &RunOptions::default());
    let table = told.kinds.iter().position(|other| *other == kind).expect("the table is announced");
    let of_table = || told.rows.iter().filter(|rows| rows.table == table);
    (
        of_table().filter(|rows| rows.at < at).map(|rows| rows.count).sum(),
        of_table().map(|rows| rows.count).sum(),
    )
}

#[test]
fn rows_of_sessions_requests_terminals_and_antennas_come_while_the_run_goes_on() {
    use crate::TableKind as Kind;
    let before = |scenario: &Scenario, kind, seconds| {
        let (before, all) = come_before(scenario, kind, Instant::from_secs(seconds));
        before as f64 / all as f64
    };
    // Two thirds of the time in which sessions begin.
    let files = files();
    assert!((0.5..0.8).contains(&before(&files, Kind::Sessions, 400)));
    let pages = pages();
    assert!((0.3..0.9).contains(&before(&pages, Kind::Requests, 80)));
    assert!((0.3..0.9).contains(&before(&terminals(), Kind::Access, 120)));
    let text = include_str!("../../../../scenarios/sctp-over-iridium.toml");
    let iridium = scenario(text, &["scenario.duration=1800 s"]);
    for kind in [Kind::Handovers, Kind::SkyPaths] {
        assert!((0.3..0.9).contains(&before(&iridium, kind, 1_200)), "{kind:?}");
    }
    // What nobody has answered is held until nothing of it can arrive any more, and what comes later behind it.
    let outage = files_through_an_outage();
    let [during, after] =
        [1_000, 1_450].map(|seconds| come_before(&outage, Kind::Sessions, Instant::from_secs(seconds)));
    assert_eq!(after.0, after.1, "nothing waits for the end of the run");
    assert!(during.0 > 100 && during.0 < during.1, "{during:?}");
}

/// Keeps nothing, and notes when it is told how much.
#[derive(Default)]
struct Told {
    now: Rc<Cell<Instant>>,
    kinds: Vec<crate::TableKind>,
    rows: Vec<RowsTold>,
    /// Longest time from a message's delivery to the row that tells of it, in seconds.
    worst: f64,
    bytes_max: usize,
}

/// Rows that came together.
struct RowsTold {
    table: usize,
    at: Instant,
    count: usize,
}

impl Told {
    fn rows_in_all(&self) -> usize {
        self.rows.iter().map(|rows| rows.count).sum()
    }

    /// The most that came together.
    fn rows_max(&self) -> usize {
        self.rows.iter().map(|rows| rows.count).max().unwrap_or(0)
    }
}

impl Observer for Told {
    fn announce(&mut self, announcement: &Announcement) -> io::Result<()> {
        self.kinds = announcement.tables.iter().map(|table| table.kind).collect();
        Ok(())
    }

    fn rows(&mut self, table: usize, _: usize, rows: Table) -> io::Result<()> {
        let at = self.now.get();
        // Of samples one a subject stays until the next one comes, however late that is.
        let times = rows.column("delivered_s").and_then(Column::as_f64);
        let late = times.into_iter().flatten().map(|time| at.since_start().as_secs_f64() - time);
        self.worst = late.fold(self.worst, f64::max);
        self.rows.push(RowsTold { table, at, count: rows.rows() });
        Ok(())
    }

    fn read_again(&mut self, _: usize, _: &mut dyn FnMut(&Table)) -> io::Result<()> {
        Ok(())
    }

    fn packets(&mut self, _: usize, pcapng: Vec<u8>) -> io::Result<()> {
        self.bytes_max = self.bytes_max.max(pcapng.len());
        Ok(())
    }

    fn delays(&mut self, _: usize, _: &[Duration]) -> io::Result<()> {
        Ok(())
    }

    fn delay_quantiles(&mut self, _: usize, shares: &[f64]) -> io::Result<Vec<Option<f64>>> {
        Ok(vec![None; shares.len()])
    }
}

/// Results of a run that are collected every hundred events.
fn told(scenario: &Scenario, options: &RunOptions) -> Told {
    let now = Rc::new(Cell::new(Instant::START));
    let mut told = Told { now: Rc::clone(&now), ..Told::default() };
    let mut go_on = |at| {
        now.set(at);
        ControlFlow::Continue(())
    };
    let pace = Pace { question: 100, collection: 100 };
    run_at_pace(pace, scenario, options, &mut told, None, Drive::Free(&mut go_on)).unwrap().unwrap();
    told
}

fn told_in(duration: &str) -> Told {
    let duration = format!("scenario.duration={duration}");
    let text = include_str!("../../../../scenarios/first.toml");
    let probes =
        ["probes.queues=on change", "probes.paths=10 ms", "probes.intervals=1 s", "probes.delays=1 %"];
    let overrides = [&[duration.as_str()][..], &probes].concat();
    let options = RunOptions { captures: vec!["satellite".to_owned()], ..RunOptions::default() };
    told(&scenario(text, &overrides), &options)
}

/// Checks that only results of the last moments are held, however long the run is.
#[test]
fn what_is_held_does_not_grow_with_the_length_of_a_run() {
    let [short, long] = ["120 s", "1200 s"].map(told_in);
    let [few, many] = [&short, &long].map(Told::rows_in_all);
    assert!(many > 9 * few, "{many} and {few}");
    for told in [short, long] {
        // The last results are collected at the end: up to an interval of questions after the last one.
        assert!(told.worst < 5.0, "a row came {} s late", told.worst);
        assert!(told.rows_max() < 250, "{} rows at once", told.rows_max());
        assert!(told.bytes_max < 100_000, "{} bytes at once", told.bytes_max);
    }
}

#[test]
fn questions_change_nothing_of_what_a_run_gives() {
    for scenario in [first(), with_signalling()] {
        let whole = run(&scenario, &RunOptions::default()).unwrap();
        for events in [1, 7] {
            let mut times = vec![Instant::START];
            let mut go_on = |now| {
                assert!(now >= *times.last().unwrap());
                times.push(now);
                ControlFlow::Continue(())
            };
            let asked = run_asking_every(events, &scenario, &RunOptions::default(), &mut go_on).unwrap();
            assert_eq!(asked.as_ref(), Some(&whole), "asked every {events} events");
            assert!(times.len() as u64 > 1_000 / events, "asked {} times", times.len());
        }
    }
}

#[test]
fn a_run_is_asked_before_it_begins_and_then_every_so_many_events() {
    let mut questions = 0;
    let mut go_on = |_| {
        questions += 1;
        ControlFlow::Continue(())
    };
    let output = run_asking_every(100, &first(), &RunOptions::default(), &mut go_on).unwrap().unwrap();
    // The warm-up and the rest each have a stretch that is not whole, after which nobody is asked.
    assert!((output.events / 100 - 1..=output.events / 100 + 1).contains(&questions), "{questions}");
}

#[test]
fn a_run_that_is_stopped_gives_nothing() {
    for scenario in [first(), with_signalling()] {
        for last in [1, 2, 5] {
            let mut questions = 0;
            let mut go_on = |_| {
                questions += 1;
                if questions == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let output = run_asking_every(100, &scenario, &RunOptions::default(), &mut go_on);
            assert_eq!((output, questions), (Ok(None), last));
        }
    }
}
