//! Broken input: one clear message with place and cure, exit status 2, nothing written.

use crate::place::{Place, scenario};

#[test]
fn a_broken_scenario_is_drawn_with_its_faults_and_nothing_is_written() {
    let place = Place::new("broken");
    let text =
        scenario("first.toml").replace("250 ms", "-250 ms").replace("exchange\"\nto", "exchnage\"\nto");
    place.write("broken.toml", &text);
    let outcome = place.run(&["run", "broken.toml", "--out", "out"]);
    assert_eq!(outcome.status, Some(2));
    assert_eq!(outcome.out, "");
    insta::assert_snapshot!(outcome.err);
    assert_eq!(place.names(), ["broken.toml"]);
}

#[test]
fn a_wrong_override_is_drawn_in_the_override() {
    let place = Place::new("override");
    place.write("first.toml", &scenario("first.toml"));
    let outcome = place.run(&["run", "first.toml", "--set", "links.satellite.loss=120 %"]);
    assert_eq!(outcome.status, Some(2));
    insta::assert_snapshot!(outcome.err);
}

#[test]
fn a_missing_file_is_named() {
    let place = Place::new("missing");
    let outcome = place.run(&["run", "nowhere.toml"]);
    assert_eq!(outcome.status, Some(2));
    assert_eq!(outcome.err, "error: nowhere.toml: No such file or directory (os error 2)\n");
}

#[test]
fn a_link_that_cannot_be_captured_is_answered_with_those_that_can() {
    let place = Place::new("capture");
    place.write("first.toml", &scenario("first.toml"));
    let outcome = place.run(&["run", "first.toml", "--pcap", "satelite", "--out", "out"]);
    assert_eq!(outcome.status, Some(2));
    assert_eq!(outcome.err, "error: --pcap: there is no link `satelite`; links: satellite\n");
    assert_eq!(place.names(), ["first.toml"]);
}

#[test]
fn a_misused_command_says_how_it_is_used() {
    let place = Place::new("misused");
    for arguments in
        [&["run"][..], &["rnu", "x.toml"], &["run", "x.toml", "--reps", "0"], &["sweep", "x.toml"]]
    {
        let outcome = place.run(arguments);
        assert_eq!(outcome.status, Some(2), "{arguments:?}");
        assert!(outcome.err.contains("Usage:") || outcome.err.contains("--help"), "{}", outcome.err);
    }
}

#[test]
fn an_output_that_cannot_be_written_is_a_failure() {
    let place = Place::new("unwritable");
    place.write("first.toml", &scenario("first.toml"));
    place.write("out", "a file where a directory should be");
    let outcome = place.run(&["run", "first.toml", "--set", "scenario.duration=2 s", "--out", "out"]);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.err.starts_with("error: out/"), "{}", outcome.err);
    assert_eq!(place.names(), ["first.toml", "out"]);
}

#[test]
fn help_and_version_are_no_errors() {
    let place = Place::new("help");
    for argument in ["--help", "--version"] {
        let outcome = place.run(&[argument]);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
        assert!(outcome.out.contains("slantpath") || outcome.out.contains("Simulates"));
    }
}
