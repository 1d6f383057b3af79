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
    let header = "links.satellite.loss_ratio,links.satellite.delay_s,links.satellite.queue_packets,run,flow,";
    assert!(lines[0].starts_with(header), "{}", lines[0]);
    assert!(lines[1].starts_with("0.0,0.025,10,0,signalling,"), "{}", lines[1]);
    assert!(lines[24].starts_with("0.02,0.35,30,3,signalling,"), "{}", lines[24]);
}

#[test]
fn what_is_doubtful_about_the_points_is_said_once_before_they_run() {
    let place = with_sweep("doubts");
    // Of the base, and so of each point; and of two values, each of three points.
    let profile = "\n[sctp.default]\nreceive_buffer = \"20 kB\"\ncongestion_control = \"backlog\"\n\
                   loss_detection = \"rack\"\nknown_capacity = \"9 Gbit/s\"\n";
    place.write("first.toml", &(scenario("first.toml") + profile));
    let initial = "\n[[axis]]\n\"sctp.default.initial_cwnd\" = [\"30 kB\", \"9 MiB\", \"15 kB\"]\n";
    let loss = "[[axis]]\n\"links.satellite.loss\" = [\"0 %\", \"1 %\", \"2 %\"]\n";
    place.write("sweep.toml", &format!("[sweep]\nscenario = \"first.toml\"\n{initial}{loss}"));
    let outcome = sweep(&place, "out");
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let said = |text: &str| outcome.err.matches(text).count();
    assert_eq!(said("warning: "), 3, "{}", outcome.err);
    assert_eq!(said("9 Gbit/s is more than ten times what link `satellite`"), 1, "{}", outcome.err);
    assert_eq!(said("an initial window of 30 kB is never filled: `receive_buffer` holds 20 kB"), 1);
    assert_eq!(said("an initial window of 9 MiB is never filled"), 1);
    assert_eq!(said("sweep.toml:5"), 2, "{}", outcome.err);
}

#[test]
fn of_many_doubtful_points_the_first_are_told_and_the_others_counted() {
    let place = with_sweep("many-doubts");
    let profile = "\n[sctp.default]\nreceive_buffer = \"20 kB\"\n";
    place.write("first.toml", &(scenario("first.toml").replace("60 s", "1 s") + profile));
    let values: Vec<String> = (21..43).map(|kilobytes| format!("\"{kilobytes} kB\"")).collect();
    let axis = format!("[[axis]]\n\"sctp.default.initial_cwnd\" = [{}]\n", values.join(", "));
    place.write("sweep.toml", &format!("[sweep]\nscenario = \"first.toml\"\n{axis}"));
    let outcome = sweep(&place, "out");
    let said = |text: &str| outcome.err.matches(text).count();
    assert_eq!((outcome.status, said("is never filled")), (Some(0), 20), "{}", outcome.err);
    assert_eq!(said("2 points have further warnings"), 1, "{}", outcome.err);
}

#[test]
fn each_point_has_its_means_with_intervals() {
    let place = with_sweep("means");
    assert_eq!(sweep(&place, "out").status, Some(0));
    let read = |name: &str| std::fs::read_to_string(place.path().join("out").join(name)).unwrap();
    let summary = read("flows_summary.csv");
    let header = "links.satellite.loss_ratio,links.satellite.delay_s,links.satellite.queue_packets,flow,measure,mean,\
                  half_width,low,high,median,p99,runs";
    assert_eq!(summary.lines().next(), Some(header));
    let delays: Vec<&str> =
        summary.lines().filter(|line| line.contains(",signalling,delay_mean_s,")).collect();
    assert_eq!(delays.len(), 6);
    assert!(delays[5].starts_with("0.02,0.35,30,signalling,delay_mean_s,0.") && delays[5].ends_with(",4"));
    // The mean is that of the point's runs.
    let flows = read("flows.csv");
    let column = flows.lines().next().unwrap().split(',').position(|name| name == "delay_mean_s").unwrap();
    let runs =
        flows.lines().skip(1 + 20).map(|line| line.split(',').nth(column).unwrap().parse::<f64>().unwrap());
    let mean: f64 = delays[5].split(',').nth(5).unwrap().parse().unwrap();
    assert!((runs.sum::<f64>() / 4.0 - mean).abs() < 1e-12, "{mean}");
    assert!(read("links_summary.csv").contains(",satellite,forward,utilisation_ratio,"));
}

#[test]
fn the_manifest_tells_what_a_sweep_came_from_and_what_it_left() {
    let place = with_sweep("manifest");
    assert_eq!(sweep(&place, "out").status, Some(0));
    let files = place.files("out");
    let bytes = |name: &str| &files.iter().find(|(own, _)| own == name).unwrap().1;
    let manifest: serde_json::Value = serde_json::from_slice(bytes("manifest.json")).unwrap();
    let axes = serde_json::json!([
        { "links.satellite.loss": ["\"0 %\"", "\"2 %\""] },
        {
            "links.satellite.delay": ["\"25 ms\"", "\"250 ms\"", "\"350 ms\""],
            "links.satellite.queue": ["\"10 packets\"", "\"20 packets\"", "\"30 packets\""],
        },
    ]);
    assert_eq!((&manifest["axes"], &manifest["sweep_of"]), (&axes, &"first".into()));
    assert_eq!((&manifest["repetitions"], &manifest["first_run"]), (&4.into(), &0.into()));
    let runs = manifest["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 24);
    let places: Vec<_> =
        runs.iter().map(|run| (run["point"].as_u64().unwrap(), run["run"].as_u64().unwrap())).collect();
    assert_eq!(places, (0..24).map(|job| (job / 4, job % 4)).collect::<Vec<_>>());
    assert!(
        runs.iter().all(|run| run["seed"] == 1 && run["digest"].as_str().is_some_and(|hex| hex.len() >= 16))
    );
    // The merged scenario is the base: its hash is that of a run of the file alone.
    let shown = place.run(&["run", "first.toml", "--show"]).out;
    assert_eq!(shown.lines().last().unwrap(), format!("# hash {}", manifest["hash"].as_str().unwrap()));
    assert!(shown.starts_with(std::str::from_utf8(bytes("scenario.toml")).unwrap()));
    let names: Vec<&str> =
        files.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "manifest.json").collect();
    let mut listed: Vec<&str> =
        manifest["files"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    listed.sort_unstable();
    assert_eq!(listed, names);
    // Again, with nothing to do: byte for byte the same.
    sweep(&place, "out");
    assert_eq!(place.files("out"), files);
}

#[test]
fn every_table_that_a_run_gives_can_be_swept() {
    let place = Place::new("tables");
    place.write("ss7-quad.toml", &scenario("ss7-quad.toml"));
    let tables = place.run(&["run", "ss7-quad.toml", "--out", "run"]);
    assert_eq!(tables.status, Some(0), "{}", tables.err);
    let names: Vec<String> = names(&place.path().join("run"))
        .into_iter()
        .filter_map(|name| name.strip_suffix(".csv").map(str::to_owned))
        .filter(|name| name != "summary")
        .collect();
    assert!(names.contains(&"mtp3_routes".to_owned()), "{names:?}");
    place.write("sweep.toml", &format!("[sweep]\nscenario = \"ss7-quad.toml\"\ntables = {names:?}\n"));
    let outcome = sweep(&place, "out");
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    for name in names {
        assert!(place.path().join("out").join(format!("{name}.csv")).exists(), "{name}");
    }
}

#[test]
fn a_path_that_is_varied_twice_is_refused_before_the_first_run() {
    let place = with_sweep("twice");
    let axis = |text: &str| format!("{SWEEP}\n[[axis]]\n{text}\n");
    place.write("sweep.toml", &axis("\"links.satellite.delay\" = [\"1 ms\"]"));
    let outcome = sweep(&place, "out");
    assert_eq!(outcome.status, Some(2));
    insta::assert_snapshot!("a_path_on_two_axes", outcome.err);
    place.write("sweep.toml", &axis("\"links.satellite\" = [{ rate = \"1 Mbit/s\" }]"));
    let outcome = sweep(&place, "out");
    assert_eq!(outcome.status, Some(2));
    insta::assert_snapshot!("an_axis_around_an_axis", outcome.err);
    place.write("sweep.toml", &axis("\"links.satellite.loss.x\" = [1]"));
    let outcome = sweep(&place, "out");
    let wanted = "`links.satellite.loss.x` is a part of `links.satellite.loss`, which is varied already";
    assert!(outcome.status == Some(2) && outcome.err.contains(wanted), "{}", outcome.err);
    assert_eq!(place.names(), ["first.toml", "sweep.toml"]);
}

#[test]
fn a_grid_beyond_all_disks_is_refused() {
    let place = with_sweep("beyond");
    let thousand: Vec<String> = (0..1_000).map(|n| format!("\"{n} ms\"")).collect();
    let axis = |path: &str| format!("[[axis]]\n\"links.satellite.{path}\" = [{}]\n", thousand.join(", "));
    let axes = ["delay", "reorder_delay", "a", "b", "c", "d", "e"].map(axis);
    for (axes, runs) in [(&axes[..2], "4000000 runs"), (&axes[..], "more runs than can be counted")] {
        let text = format!("[sweep]\nscenario = \"first.toml\"\nrepetitions = 4\n{}", axes.concat());
        place.write("sweep.toml", &text);
        let outcome = sweep(&place, "out");
        assert_eq!(outcome.status, Some(2));
        assert!(outcome.err.contains(&format!("this sweep has {runs}")), "{}", outcome.err);
    }
}

#[test]
fn values_of_several_types_on_one_axis_make_one_column() {
    let place = with_sweep("types");
    let text =
        "[sweep]\nscenario = \"first.toml\"\n[[axis]]\n\"links.satellite.loss\" = [0, 0.01, \"2 %\"]\n";
    place.write("sweep.toml", text);
    let outcome = sweep(&place, "out");
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    let flows = std::fs::read_to_string(place.path().join("out/flows.csv")).unwrap();
    let cells: Vec<&str> = flows.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(cells, ["links.satellite.loss_ratio", "0.0", "0.01", "0.02"]);
}

#[test]
fn flows_that_fail_in_a_sweep_are_its_exit_status() {
    let place = with_sweep("hopeless-sweep");
    let text = "[sweep]\nscenario = \"first.toml\"\ntables = [\"links\", \"paths\"]\nrepetitions = 2\n[[axis]]\n\
                \"links.satellite.loss\" = [\"0 %\", \"100 %\"]\n";
    place.write("sweep.toml", text);
    let set = "sctp.default.max_init_retransmits=1";
    let outcome = place.run(&["sweep", "sweep.toml", "--out", "out", "--set", set]);
    let wanted = "warning: no run gives the table `paths`: the scenario does not ask for it\n\
                  flows failed in 2 of 4 runs\n";
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(3), wanted));
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
