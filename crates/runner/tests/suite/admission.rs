//! Sessions that may not all begin: what is admitted, what waits and what is refused, against closed forms.

use slantpath_results::CellValue;
use slantpath_runner::RunOutput;

use crate::alone::run_text;
use crate::cells::cells;

/// Sessions of one size over a link of 10 Mbit/s.
fn run_with(duration: &str, mean_interval: &str, size: &str, admission: &str) -> RunOutput {
    let text = format!(
        r#"
[scenario]
name = "admission"
duration = "{duration}"

[nodes]
server = {{ kind = "host" }}
client = {{ kind = "host" }}

[links.line]
ends = ["server", "client"]
rate = "10 Mbit/s"
delay = "10 ms"
queue = "1000 packets"

[sessions.ftp]
transport = "tcp"
from = "server"
to = "client"
arrivals = {{ kind = "poisson", mean_interval = "{mean_interval}" }}
sizes = {{ kind = "fixed", size = "{size}" }}
admission = {{ {admission} }}

[probes]
messages = false
"#
    );
    run_text(&text)
}

fn count(output: &RunOutput, column: &str) -> f64 {
    cells(output, "session_sources", column)[0].unwrap()
}

fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values.into_iter().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Instants of each session that was opened and is over: when it began, was admitted and ended.
fn lives(output: &RunOutput) -> Vec<[f64; 3]> {
    let [begun, admitted, ended] =
        ["begun_s", "admitted_s", "ended_s"].map(|column| cells(output, "sessions", column));
    begun.into_iter().zip(admitted).zip(ended).filter_map(|((b, a), e)| Some([b?, a?, e?])).collect()
}

#[test]
fn one_at_a_time_waits_as_long_as_pollaczek_and_khinchin_say() {
    let output = run_with("3000 s", "150 ms", "50 kB", "max_sessions = 1, otherwise = \"wait\"");
    let lives = lives(&output);
    assert!(lives.len() > 12_000, "{}", lives.len());
    assert!(lives.windows(2).all(|two| two[0][2] <= two[1][1]), "one at a time, in their order");
    let service = mean(lives.iter().map(|[_, admitted, ended]| ended - admitted));
    let load = service / 0.15;
    let waiting = mean(lives.iter().map(|[begun, admitted, _]| admitted - begun));
    // M/D/1: every session takes as long as any other.
    let expected = load * service / (2.0 * (1.0 - load));
    assert!((0.4..0.8).contains(&load), "{load}");
    assert!((waiting / expected - 1.0).abs() < 0.1, "{waiting} s is not {expected} s");
    assert_eq!(count(&output, "refused_sessions"), 0.0);
    // What it waits is part of what it takes.
    let durations = cells(&output, "sessions", "duration_s").into_iter().flatten();
    assert!((mean(durations) - (waiting + service)).abs() < 0.05);
}

#[test]
fn of_sessions_that_find_another_one_so_many_are_refused_as_erlang_says() {
    let output = run_with("4000 s", "300 ms", "50 kB", "max_sessions = 1");
    let lives = lives(&output);
    let offered = mean(lives.iter().map(|[_, admitted, ended]| ended - admitted)) / 0.3;
    let refused = count(&output, "refused_sessions") / count(&output, "begun_sessions");
    let expected = offered / (1.0 + offered);
    assert!((refused / expected - 1.0).abs() < 0.05, "{refused} are refused, not {expected}");
    assert!(lives.iter().all(|[begun, admitted, _]| begun == admitted));
    let failure = output.table("sessions").unwrap().column("failure").unwrap();
    let told = (0..failure.len()).filter_map(|row| match failure.at(row) {
        CellValue::Text(text) => Some(text),
        _ => None,
    });
    let mut told: Vec<_> = told.collect();
    assert_eq!(told.len() as f64, count(&output, "refused_sessions"));
    told.dedup();
    assert_eq!(told, ["not admitted: 1 sessions are under way"]);
}

/// Number of sessions that are under way at most.
fn most(output: &RunOutput) -> usize {
    let lives = lives(output);
    let at = |instant: f64| lives.iter().filter(|[_, from, to]| (*from..*to).contains(&instant)).count();
    lives.iter().map(|life| at(life[1])).max().unwrap()
}

#[test]
fn throughput_and_round_trips_that_are_measured_limit_how_many_are_under_way() {
    // Twice what the link carries.
    let run = |limit: &str| run_with("300 s", "400 ms", "1 MB", &format!("{limit}, otherwise = \"wait\""));
    let all = run("max_sessions = 1000");
    let by_throughput = run("min_throughput = \"1.5 Mbit/s\"");
    let by_round_trip = run("max_round_trip = \"300 ms\"");
    let [free, slow, long] = [&all, &by_throughput, &by_round_trip].map(most);
    assert!(free > 100, "{free}");
    // 10 Mbit/s are six times 1.5; in slow start sessions seem faster than they are, for as long as the queue grows.
    assert!((4..30).contains(&slow), "{slow}");
    assert!((2..60).contains(&long), "{long}");
    for limited in [&by_throughput, &by_round_trip] {
        let delivered = count(limited, "delivered_bytes") / count(&all, "delivered_bytes");
        assert!(delivered > 0.95, "the link is used all the same: {delivered}");
        let lives = lives(limited);
        assert!(lives.windows(2).all(|two| two[0][1] <= two[1][1]), "first come, first served");
    }
    assert!(count(&by_throughput, "refused_sessions") > 0.0, "a hundred wait, and no more");
    let waiting =
        cells(&by_throughput, "sessions", "admitted_s").iter().filter(|at| at.is_none()).count() as f64;
    let waiting = waiting - count(&by_throughput, "refused_sessions");
    assert!((50.0..=100.0).contains(&waiting), "{waiting}");
}
