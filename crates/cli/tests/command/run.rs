//! `slantpath run` and `slantpath schema`.

use std::path::Path;
use std::process::{Command, Stdio};

use slantpath_testkit::Tshark;

use crate::place::{Outcome, Place, names, scenario};

fn with_first(test: &str) -> Place {
    let place = Place::new(test);
    place.write("first.toml", &scenario("first.toml"));
    place
}

#[test]
fn a_run_prints_flows_and_links() {
    let outcome = with_first("prints").run(&["run", "first.toml"]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    let lines: Vec<&str> = outcome.out.lines().collect();
    assert!(lines[0].starts_with("first: 1 run of 60 s, seed 1, scenario "), "{}", lines[0]);
    assert!(lines.iter().any(|line| line.starts_with("signalling")), "{}", outcome.out);
    assert!(lines.iter().any(|line| line.starts_with("satellite  forward")), "{}", outcome.out);
}

#[test]
fn show_prints_a_scenario_that_runs_alike_and_writes_nothing() {
    let place = with_first("show");
    let shown = place.run(&["run", "first.toml", "--show", "--seed", "9"]);
    assert_eq!(shown.status, Some(0));
    assert_eq!(place.names(), ["first.toml"]);
    place.write("merged.toml", &shown.out);
    let again = place.run(&["run", "merged.toml", "--show"]);
    let hash = |text: &str| text.lines().last().map(str::to_owned);
    assert_eq!(hash(&shown.out), hash(&again.out));
    assert!(hash(&shown.out).is_some_and(|line| line.starts_with("# hash ")));
    let run = |file: &str, seed: &str| place.run(&["run", file, "--seed", seed, "--json"]).out;
    assert_eq!(run("first.toml", "9"), run("merged.toml", "9"));
    assert_ne!(run("first.toml", "9"), run("first.toml", "10"));
}

#[test]
fn files_are_equal_byte_for_byte_on_any_number_of_threads() {
    let place = with_first("threads");
    for (directory, jobs) in [("one", "1"), ("five", "5")] {
        let outcome = place.run(&[
            "run",
            "first.toml",
            "--reps",
            "6",
            "--jobs",
            jobs,
            "--out",
            directory,
            "--pcap",
            "satellite",
            "--set",
            "probes.paths=1 s",
            "--set",
            "probes.queues=on change",
            "--set",
            "scenario.duration=20 s",
        ]);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    }
    let files = place.files("one");
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "flows.csv",
        "flows.parquet",
        "links.csv",
        "links.parquet",
        "manifest.json",
        "messages.csv",
        "messages.parquet",
        "paths.csv",
        "paths.parquet",
        "queues.csv",
        "queues.parquet",
        "satellite.pcapng",
        "scenario.toml",
        "summary.csv",
        "summary.parquet",
    ];
    assert_eq!(names, expected);
    assert!(files.iter().all(|(_, bytes)| !bytes.is_empty()));
    assert_eq!(files, place.files("five"));
}

#[test]
fn the_json_form_holds_the_summary_and_what_it_came_from() {
    let outcome = with_first("json").run(&["run", "first.toml", "--reps", "3", "--json"]);
    assert_eq!(outcome.status, Some(0));
    let json: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(json["scenario"], "first");
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(3));
    let digests: Vec<_> = json["runs"].as_array().unwrap().iter().map(|run| &run["digest"]).collect();
    assert!(digests[0] != digests[1] && digests[1] != digests[2], "{digests:?}");
    let rows = json["summary"].as_array().unwrap();
    let delay = rows.iter().find(|row| row["measure"] == "delay_mean_s").unwrap();
    assert_eq!((&delay["flow"], &delay["runs"]), (&"signalling".into(), &3.into()));
    assert!(delay["half_width"].as_f64().is_some_and(|width| width > 0.0), "{delay}");
}

#[test]
fn schema_prints_what_is_committed() {
    let outcome = Place::new("schema").run(&["schema"]);
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/slantpath.schema.json");
    assert_eq!(outcome.out, std::fs::read_to_string(committed).unwrap());
    let outcome = Place::new("sweep-schema").run(&["schema", "sweep"]);
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/sweep.schema.json");
    assert_eq!(outcome.out, std::fs::read_to_string(committed).unwrap());
}

#[test]
fn every_scenario_of_the_project_runs() {
    let names = names(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios").as_ref());
    assert!(names.len() >= 3, "the scenarios are gone");
    for name in names {
        let place = Place::new(&name);
        let text = scenario(&name);
        place.write(&name, &text);
        // A topology stands still without a flow: it is asked and not run.
        let command = if text.contains("\n[topology]\n") { "topology" } else { "run" };
        let outcome = place.run(&[command, &name]);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""), "{name}");
        assert!(!outcome.out.contains("` failed: "), "{}", outcome.out);
    }
}

#[test]
fn a_reader_that_stops_early_is_no_failure() {
    let place = with_first("pipe");
    let program = env!("CARGO_BIN_EXE_slantpath");
    let script = format!("'{program}' schema | head -1; echo \"${{PIPESTATUS[0]}}\"");
    let output = Command::new("bash").args(["-c", &script]).current_dir(place.path()).output();
    assert_eq!(String::from_utf8_lossy(&output.unwrap().stdout), "{\n0\n");
}

/// What tshark finds wrong with a capture; nothing, loudly, where there is no tshark.
fn complaints_of_tshark(capture: &Path) -> Option<String> {
    let wrong =
        "_ws.malformed or ip.checksum.status == 0 or sctp.checksum.status == 0 or tcp.checksum.status == 0";
    Tshark::of_file(capture)
        .prefer("ip.check_checksum:TRUE")
        .prefer("tcp.check_checksum:TRUE")
        .prefer("sctp.checksum:TRUE")
        .print(&["-Y", wrong])
}

#[test]
fn captures_are_read_by_tshark_without_a_complaint() {
    let place = with_first("tshark");
    for (directory, transport, family) in
        [("a", "sctp", "ipv4"), ("b", "sctp", "ipv6"), ("c", "tcp", "ipv4"), ("d", "tcp", "ipv6")]
    {
        let (transport, family) =
            (format!("flows.signalling.transport={transport}"), format!("links.satellite.family={family}"));
        let outcome = place.run(&[
            "run",
            "first.toml",
            "--out",
            directory,
            "--pcap",
            "satellite",
            "--set",
            &transport,
            "--set",
            &family,
            "--set",
            "tcp.default.mss=1400 B",
            "--set",
            "flows.signalling.end=50 s",
        ]);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
        let capture = place.path().join(directory).join("satellite.pcapng");
        if let Some(complaints) = complaints_of_tshark(&capture) {
            assert_eq!(complaints, "", "{transport} {family}");
        }
    }
}

#[test]
fn an_interrupted_run_goes_on_where_it_was_and_ends_alike() {
    let place = with_first("interrupted-run");
    let arguments =
        |out| ["run", "first.toml", "--reps", "60", "--jobs", "1", "--pcap", "satellite", "--out", out];
    let mut child =
        place.command(&arguments("out")).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let unfinished = place.path().join("out/unfinished");
    // As soon as a run is kept, Ctrl-C.
    while names(&unfinished).is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let interrupted: Outcome = child.wait_with_output().unwrap().into();
    assert_eq!(interrupted.status, Some(130), "{interrupted:?}");
    assert!(interrupted.err.ends_with("the same command goes on\n"), "{}", interrupted.err);
    let kept = names(&unfinished).len();
    assert!((1..60).contains(&kept), "{kept} of 60 runs are kept");
    assert_eq!(names(&place.path().join("out")), ["unfinished"], "nothing else is written");
    assert_eq!(place.run(&arguments("out")).status, Some(0));
    assert_eq!(place.run(&arguments("whole")).status, Some(0));
    assert_eq!(names(&place.path().join("out")), names(&place.path().join("whole")));
    assert_eq!(place.files("out"), place.files("whole"));
}
