//! `slantpath sweep`: the grid, the interruption, the resumption.

use std::process::Stdio;

use crate::place::{Outcome, Place, names, scenario};

const SWEEP: &str = "\
[sweep]
scenario = \"first.toml\"
repetitions = 4

[[axis]]
\"links.satellite.loss\" = [\"0 %\", \"2 %\"]

[[axis]]
\"links.satellite.delay\" = [\"25 ms\", \"250 ms\", \"350 ms\"]
\"links.satellite.queue\" = [\"10 packets\", \"20 packets\", \"30 packets\"]
";

fn with_sweep(test: &str) -> Place {
    let place = Place::new(test);
    place.write("first.toml", &scenario("first.toml"));
    place.write("sweep.toml", SWEEP);
    place
}

fn sweep(place: &Place, out: &str) -> Outcome {
    place.run(&["sweep", "sweep.toml", "--out", out])
}

#[test]
fn the_grid_crosses_axes_and_keeps_together_what_shares_one() {
    let place = with_sweep("grid");
    let outcome = sweep(&place, "out");
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    assert!(outcome.out.starts_with("6 points, 24 runs: 24 made, 0 found\n"), "{}", outcome.out);
    let flows = std::fs::read_to_string(place.path().join("out/flows.csv")).unwrap();
    let lines: Vec<&str> = flows.lines().collect();
    assert_eq!(lines.len(), 1 + 24);
    let header = "links.satellite.loss,links.satellite.delay,links.satellite.queue,run,flow,";
    assert!(lines[0].starts_with(header), "{}", lines[0]);
    assert!(lines[1].starts_with("0 %,25 ms,10 packets,0,signalling,"), "{}", lines[1]);
    assert!(lines[24].starts_with("2 %,350 ms,30 packets,3,signalling,"), "{}", lines[24]);
}

#[test]
fn an_interrupted_sweep_goes_on_where_it_was_and_ends_alike() {
    let place = with_sweep("interrupted");
    let mut child = place
        .command(&["sweep", "sweep.toml", "--out", "out", "--jobs", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let runs = place.path().join("out/runs");
    // As soon as a run is kept, Ctrl-C.
    while names(&runs).is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let interrupted: Outcome = child.wait_with_output().unwrap().into();
    assert_eq!(interrupted.status, Some(130), "{interrupted:?}");
    assert!(interrupted.err.ends_with("the same command goes on\n"), "{}", interrupted.err);
    let kept = names(&runs).len();
    assert!((1..24).contains(&kept), "{kept} of 24 runs are kept");
    let resumed = sweep(&place, "out");
    let counts = format!("6 points, 24 runs: {} made, {kept} found\n", 24 - kept);
    assert!(resumed.out.starts_with(&counts), "{}", resumed.out);
    sweep(&place, "whole");
    assert_eq!(place.files("out"), place.files("whole"));
}

#[test]
fn a_torn_file_is_made_again_and_nothing_else_is() {
    let place = with_sweep("torn");
    sweep(&place, "out");
    let before = place.files("out");
    let (torn, bytes) = &place.files("out/runs")[5];
    std::fs::write(place.path().join("out/runs").join(torn), &bytes[..bytes.len() / 2]).unwrap();
    let again = sweep(&place, "out");
    assert!(again.out.starts_with("6 points, 24 runs: 1 made, 23 found\n"), "{}", again.out);
    assert_eq!(place.files("out"), before);
}

#[test]
fn a_changed_scenario_is_run_anew() {
    let place = with_sweep("changed");
    sweep(&place, "out");
    place.write("first.toml", &scenario("first.toml").replace("1.536 Mbit/s", "2 Mbit/s"));
    let again = sweep(&place, "out");
    assert!(again.out.starts_with("6 points, 24 runs: 24 made, 0 found\n"), "{}", again.out);
}

#[test]
fn a_point_that_cannot_be_is_found_before_the_first_run() {
    let place = with_sweep("impossible");
    place.write("sweep.toml", &SWEEP.replace("\"2 %\"", "\"200 %\"").replace("\"25 ms\", ", ""));
    let outcome = sweep(&place, "out");
    assert_eq!(outcome.status, Some(2));
    insta::assert_snapshot!("an_axis_of_unequal_lengths", outcome.err);
    place.write("sweep.toml", &SWEEP.replace("\"2 %\"", "\"200 %\""));
    let outcome = sweep(&place, "out");
    assert_eq!(outcome.status, Some(2));
    insta::assert_snapshot!("a_point_that_cannot_be", outcome.err);
    assert_eq!(place.names(), ["first.toml", "sweep.toml"]);
}

#[test]
fn a_broken_sweep_file_tells_all_its_faults() {
    let place = with_sweep("broken-sweep");
    let text = SWEEP
        .replace("repetitions = 4", "repetition = 4\ntables = [\"flow\"]")
        .replace("= [\"0 %\", \"2 %\"]", "= \"0 %\"");
    place.write("sweep.toml", &text);
    let outcome = sweep(&place, "out");
    assert_eq!(outcome.status, Some(2));
    insta::assert_snapshot!(outcome.err);
    place.write("sweep.toml", &SWEEP.replace("first.toml", "frist.toml"));
    let outcome = sweep(&place, "out");
    assert_eq!(outcome.status, Some(2));
    insta::assert_snapshot!("a_base_that_is_missing", outcome.err);
}
