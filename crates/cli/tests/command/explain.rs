//! `slantpath run --trace` and `slantpath explain`.

use crate::place::{Place, scenario};

/// The scenario of a study, cut to what the tests look at.
fn study(name: &str) -> String {
    let path = format!("{}/../../studies/{name}/scenario.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("a scenario of the project")
}

const SHORT: [&str; 2] = ["--set", "scenario.duration=34 s"];

/// A place with the failover study's trace.
fn failover(test: &str) -> Place {
    let place = Place::new(test);
    place.write("failover.toml", &study("failover"));
    let run = ["run", "failover.toml", "--trace", "signalling=signalling.trace"];
    let outcome = place.run(&[&run[..], &SHORT].concat());
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    place
}

#[test]
fn a_failover_is_told_in_words() {
    let place = failover("explain-failover");
    let outcome = place.run(&["explain", "signalling.trace"]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(outcome.out);
    let one = place.run(&["explain", "signalling.trace", "--path", "10.0.0.9", "--json"]);
    assert_eq!(one.status, Some(2));
    assert!(
        one.err.starts_with("error: signalling.trace: it tells of no path to 10.0.0.9; paths: "),
        "{}",
        one.err
    );
}

#[test]
fn a_trace_changes_nothing_and_is_the_same_each_time() {
    let place = Place::new("explain-same");
    place.write("failover.toml", &study("failover"));
    let json = |more: &[&str]| {
        let outcome = place.run(&[&["run", "failover.toml", "--json"], &SHORT[..], more].concat());
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
        outcome.out
    };
    let without = json(&[]);
    assert_eq!(without, json(&["--trace", "signalling=one.trace", "--trace", "cross1=cross.trace"]));
    assert_eq!(without, json(&["--trace", "signalling=two.trace"]));
    let read = |name: &str| std::fs::read(place.path().join(name)).expect("it was asked for");
    assert_eq!(read("one.trace"), read("two.trace"));
    assert!(read("cross.trace").len() > 100_000);
}

#[test]
fn another_setting_is_run_beside_the_one_that_was() {
    let place = failover("explain-what-if");
    let what_if = |setting: &str| {
        let outcome = place.run(&["explain", "signalling.trace", "--what-if", setting]);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
        outcome.out
    };
    insta::assert_snapshot!(what_if("sctp.signalling.path_max_retrans=1"));
    let same = what_if("sctp.signalling.path_max_retrans=2");
    assert!(same.ends_with("\nThe setting makes no difference to what is counted here.\n"), "{same}");
    // The trace says which scenario it is of, and that has to be the same still.
    place.write("failover.toml", &study("failover").replace("\"13 kB\"", "\"14 kB\""));
    let outcome = place.run(&["explain", "signalling.trace", "--what-if", "sctp.cross.rto_min=1 s"]);
    assert_eq!(outcome.status, Some(2));
    let wanted =
        "error: signalling.trace: failover.toml is not the scenario of the trace any more: its hash is ";
    assert!(outcome.err.starts_with(wanted), "{}", outcome.err);
}

#[test]
fn handovers_of_a_sky_are_told_in_words() {
    let place = Place::new("explain-iridium");
    place.write("sctp-over-iridium.toml", &scenario("sctp-over-iridium.toml"));
    place.write("iridium-london-boston.toml", &scenario("iridium-london-boston.toml"));
    let run = ["run", "sctp-over-iridium.toml", "--set", "scenario.duration=15 min"];
    let outcome = place.run(&[&run[..], &["--trace", "telemetry=telemetry.trace"]].concat());
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    let outcome = place.run(&["explain", "telemetry.trace"]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(outcome.out);
}

#[test]
fn what_is_no_trace_and_what_cannot_be_traced_is_said() {
    let place = failover("explain-wrong");
    let run = |trace: &str| {
        let outcome = place.run(&["run", "failover.toml", "--trace", trace]);
        assert_eq!((outcome.status, outcome.out.as_str()), (Some(2), ""));
        outcome.err
    };
    assert_eq!(run("signalling"), "error: --trace: `signalling` is no FLOW=FILE, like calls=calls.trace\n");
    let unknown = "error: --trace: there is no flow `voice`; flows: cross1, cross2, signalling\n";
    assert_eq!(run("voice=voice.trace"), unknown);
    let explain = |file: &str| {
        let outcome = place.run(&["explain", file]);
        assert_eq!((outcome.status, outcome.out.as_str()), (Some(2), ""));
        outcome.err
    };
    assert!(explain("failover.toml").starts_with("error: failover.toml: line 1: not a trace: "));
    let trace = std::fs::read_to_string(place.path().join("signalling.trace")).expect("a trace");
    let lines: Vec<&str> = trace.lines().collect();
    place.write("wrong.trace", &[&lines[..7], &["{}"]].concat().join("\n"));
    let wanted = "error: wrong.trace: line 8: `event` is missing, or not what stands there in a trace\n";
    assert_eq!(explain("wrong.trace"), wanted);
    place.write("cut.trace", &(lines[..lines.len() - 1].join("\n") + "\n"));
    let outcome = place.run(&["explain", "cut.trace"]);
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    assert!(outcome.out.contains(" s, where the trace is cut off\n"), "{}", outcome.out);
}
