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
        "hosts.csv",
        "hosts.parquet",
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
fn runs_under_a_sky_are_equal_on_any_number_of_threads() {
    let place = Place::new("sky-threads");
    for name in ["sctp-over-iridium.toml", "iridium-london-boston.toml"] {
        place.write(name, &scenario(name));
    }
    let run = |jobs| {
        let values =
            ["scenario.duration=300 s", "sky.access.terminals.loss=1 %", "sky.isls.iridium.loss=1 %"];
        let values = values.iter().flat_map(|value| ["--set", value]);
        let head = ["run", "sctp-over-iridium.toml", "--reps", "2", "--jobs", jobs, "--json"];
        place.run(&head.into_iter().chain(values).collect::<Vec<_>>())
    };
    let (one, two) = (run("1"), run("2"));
    assert_eq!((one.status, one.err.as_str()), (Some(0), ""));
    let digests = |outcome: &Outcome| -> Vec<serde_json::Value> {
        let json: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
        json["runs"].as_array().unwrap().iter().map(|run| run["digest"].clone()).collect()
    };
    assert_eq!(digests(&one), digests(&two));
    assert_eq!(one, two);
    // Their losses differ.
    assert_ne!(digests(&one)[0], digests(&one)[1]);
}

#[test]
fn an_antenna_that_begins_without_a_satellite_has_changed_none() {
    let place = Place::new("sky-late");
    let late = "[scenario]\nname = \"late\"\nduration = \"30 s\"\n[sky]\nepoch = \"2026-03-01T00:00:00Z\"\n\
                constellations.geo.satellites = { kind = \"slots\", longitudes = [\"0 deg\"] }\n\
                ground.min_elevation = \"10 deg\"\naccess.all.rate = \"2 Mbit/s\"\n\
                sites.a = { latitude = \"40 deg\", longitude = \"5 deg\" }\n\
                sites.b = { latitude = \"30 deg\", longitude = \"15 deg\" }\n\
                outages = [{ node = \"b\", from = \"0 s\", until = \"10 s\" }]\n\
                [nodes]\na = { kind = \"host\", site = \"a\" }\nb = { kind = \"host\", site = \"b\" }\n\
                [flows.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"sctp\"\napplication = { kind = \"constant-rate\", \
                message_size = \"512 B\", interval = \"1 s\" }\n";
    place.write("late.toml", late);
    let outcome = place.run(&["run", "late.toml", "--out", "out"]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""), "{}", outcome.out);
    assert!(outcome.out.contains("Antennas changed their satellites 2 times."), "{}", outcome.out);
    let handovers = place.files("out").into_iter().find(|(name, _)| name == "handovers.csv").unwrap().1;
    assert_eq!(String::from_utf8(handovers).unwrap().lines().count(), 1 + 4, "one of each antenna at 0");
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

/// A flow whose association is never set up.
const HOPELESS: [&str; 6] = [
    "--set",
    "links.satellite.loss=100 %",
    "--set",
    "sctp.default.max_init_retransmits=1",
    "--set",
    "scenario.duration=10 s",
];

#[test]
fn flows_that_fail_are_told_and_are_the_exit_status() {
    let place = with_first("hopeless");
    let run = |more: &[&str]| place.run(&[&["run", "first.toml"][..], &HOPELESS, more].concat());
    let outcome = run(&[]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(3), "flows failed: signalling\n"));
    let told = outcome.out.lines().last().unwrap();
    let told = told.strip_prefix("run 0: flow `signalling` failed at ").unwrap();
    let (at, reason) = told.split_once(" s: ").unwrap();
    let at: f64 = at.parse().unwrap();
    let outcome = run(&["--json", "--reps", "2", "--out", "out"]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(3), "flows failed in 2 of 2 runs\n"));
    let json: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    let failures = serde_json::json!([{ "flow": "signalling", "reason": reason, "at_s": at }]);
    assert_eq!((&json["runs"][0]["failures"], &json["runs"][1]["failures"]), (&failures, &failures));
    // The results are whole all the same.
    assert_eq!(json["files"].as_array().map(Vec::len), Some(12));
    assert_eq!(place.files("out").len(), 12);
}

#[test]
fn the_json_form_holds_the_means_of_every_table_that_has_any() {
    let outcome = with_first("json-links").run(&["run", "first.toml", "--reps", "2", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    let links = json["links"].as_array().unwrap();
    let is_used =
        |row: &&serde_json::Value| row["measure"] == "utilisation_ratio" && row["direction"] == "forward";
    let used = links.iter().find(is_used).unwrap();
    assert_eq!((&used["link"], &used["runs"]), (&"satellite".into(), &2.into()));
    assert!(used["mean"].as_f64().is_some_and(|mean| mean > 0.05), "{used}");
    assert_eq!(json["runs"][0]["failures"], serde_json::json!([]));
}

#[test]
fn a_directory_of_results_holds_those_of_the_last_run_alone() {
    let place = with_first("used");
    let run = |more: &[&str]| {
        place.run(&[&["run", "first.toml", "--set", "scenario.duration=2 s", "--out", "out"], more].concat())
    };
    let first = run(&["--pcap", "satellite", "--set", "probes.queues=on change"]);
    assert_eq!((first.status, first.err.as_str()), (Some(0), ""));
    place.write("out/notes.txt", "mine");
    let second = run(&["--set", "probes.messages=false"]);
    assert_eq!((second.status, second.err.as_str()), (Some(0), ""));
    let left = [
        "flows.csv",
        "flows.parquet",
        "hosts.csv",
        "hosts.parquet",
        "links.csv",
        "links.parquet",
        "manifest.json",
        "notes.txt",
        "scenario.toml",
        "summary.csv",
        "summary.parquet",
    ];
    assert_eq!(names(&place.path().join("out")), left);
    let manifest = std::fs::read(place.path().join("out/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["files"].as_array().map(Vec::len), Some(9), "{manifest}");
    assert_eq!(manifest.get("state"), None);
}

#[test]
fn completions_name_every_command_and_every_option() {
    let place = Place::new("completions");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let outcome = place.run(&["completions", shell]);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""), "{shell}");
        for word in ["topology", "export-step", "reps", "completions"] {
            assert!(outcome.out.contains(word), "{shell} does not know `{word}`");
        }
    }
    // Bash itself completes with it.
    let program = Path::new(env!("CARGO_BIN_EXE_slantpath"));
    let script = "source <(./slantpath completions bash); COMP_WORDS=(slantpath to); COMP_CWORD=1; \
                  _slantpath slantpath to slantpath; echo \"${COMPREPLY[@]}\"";
    let script = script.replace("./slantpath", &format!("'{}'", program.display()));
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "topology\n", "{output:?}");
}

#[test]
fn every_command_has_its_page_of_the_manual() {
    let place = Place::new("man");
    let page = |arguments: &[&str]| {
        let outcome = place.run(&[&["man"], arguments].concat());
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""), "{arguments:?}");
        outcome.out
    };
    assert!(
        page(&[]).contains(".TH slantpath 1") && page(&[]).contains("slantpath\\-sweep(1)"),
        "{}",
        page(&[])
    );
    for command in [
        "check",
        "completions",
        "echo",
        "explain",
        "gateway",
        "keys",
        "load",
        "man",
        "new",
        "plan",
        "replay",
        "run",
        "schema",
        "sctp",
        "sweep",
        "topology",
        "traffic",
    ] {
        let page = page(&[command]);
        assert!(page.contains(&format!(".TH slantpath-{command} 1")), "{page}");
    }
    assert!(page(&["run"]).contains("\\-\\-reps"));
    let outcome = place.run(&["man", "rnu"]);
    let wanted = "error: there is no command `rnu`; commands: check, completions, echo, emulate, explain, gateway, \
     import, keys, load, man, new, plan, replay, run, schema, sctp, set, sweep, topology, traffic, help\n";
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(2), wanted));
}

#[test]
fn schema_prints_what_is_committed() {
    let outcome = Place::new("schema").run(&["schema"]);
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/slantpath.schema.json");
    assert_eq!(outcome.out, std::fs::read_to_string(committed).unwrap());
    let outcome = Place::new("plan-schema").run(&["schema", "plan"]);
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/plan.schema.json");
    assert_eq!(outcome.out, std::fs::read_to_string(committed).unwrap());
    let outcome = Place::new("sweep-schema").run(&["schema", "sweep"]);
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/sweep.schema.json");
    assert_eq!(outcome.out, std::fs::read_to_string(committed).unwrap());
}

#[test]
fn every_scenario_of_the_project_runs() {
    let names = names(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios").as_ref());
    assert!(names.len() >= 3, "the scenarios are gone");
    for name in names.iter().filter(|name| Path::new(name).extension().is_some_and(|kind| kind == "toml")) {
        let place = Place::new(name);
        // Traces and topologies are beside it.
        for file in &names {
            place.write(file, &scenario(file));
        }
        let text = scenario(name);
        // A topology stands still without a flow: it is asked and not run.
        let command = if text.contains("\n[topology]\n") { "topology" } else { "run" };
        let outcome = place.run(&[command, name]);
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

/// Complaints of tshark about a capture; nothing, loudly, where there is no tshark.
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
        // Of a profile that nothing uses there would be a warning.
        let size = if transport == "tcp" { "tcp.default.mss=1400 B" } else { "flows.signalling.end=50 s" };
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
            size,
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
    // What a run gives is written beside the name that it gets when it is whole.
    let kept = || {
        names(&unfinished)
            .iter()
            .filter(|name| Path::new(name).extension().is_some_and(|kind| kind == "run"))
            .count()
    };
    // As soon as a run is kept, Ctrl-C.
    while kept() == 0 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let interrupted: Outcome = child.wait_with_output().unwrap().into();
    assert_eq!(interrupted.status, Some(130), "{interrupted:?}");
    assert!(interrupted.err.ends_with("the same command goes on\n"), "{}", interrupted.err);
    let kept = kept();
    assert!((1..60).contains(&kept), "{kept} of 60 runs are kept");
    assert_eq!(names(&unfinished).len(), kept, "the run that was stopped leaves nothing");
    assert_eq!(names(&place.path().join("out")), ["unfinished"], "nothing else is written");
    assert_eq!(place.run(&arguments("out")).status, Some(0));
    assert_eq!(place.run(&arguments("whole")).status, Some(0));
    assert_eq!(names(&place.path().join("out")), names(&place.path().join("whole")));
    assert_eq!(place.files("out"), place.files("whole"));
}

#[test]
fn one_long_run_is_stopped_by_the_first_interrupt() {
    let place = with_first("interrupted-long");
    let arguments = [
        "run",
        "first.toml",
        "--out",
        "out",
        "--set",
        "scenario.duration=10000000 s",
        "--set",
        "probes.messages=false",
    ];
    let mut child = place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Once its directory is there, the run listens.
    while !place.path().join("out").exists() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let interrupted: Outcome = child.wait_with_output().unwrap().into();
    let wanted = "stopping in good order; Ctrl-C again ends at once\n\
                  interrupted: 0 of 1 runs are kept in out; the same command goes on\n";
    assert_eq!((interrupted.status, interrupted.err.as_str()), (Some(130), wanted));
    assert_eq!(interrupted.out, "");
    assert!(names(&place.path().join("out")).is_empty());
}

#[test]
fn a_directory_is_of_one_command_until_that_one_ends_however_it_ends() {
    let place = with_first("locked");
    place.write(
        "sweep.toml",
        "[sweep]\nscenario = \"first.toml\"\n\n[[axis]]\n\"links.satellite.loss\" = [\"0 %\"]\n",
    );
    place.write("sky.toml", &scenario("iridium-london-boston.toml"));
    let long = ["run", "first.toml", "--out", "out", "--set", "scenario.duration=10000000 s"];
    let quiet = ["--set", "probes.messages=false"];
    let mut first = place.command(&[&long[..], &quiet].concat()).stderr(Stdio::null()).spawn().unwrap();
    let out = place.path().join("out");
    // Once the run has begun to keep what it makes.
    while !out.join("unfinished").exists() && first.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let others: [&[&str]; 4] = [
        &["run", "first.toml", "--out", "out"],
        &["sweep", "sweep.toml", "--out", "out"],
        &["topology", "sky.toml", "--out", "out"],
        &["topology", "sky.toml", "--export", "out"],
    ];
    let refused = others.map(|arguments| place.run(arguments));
    let before = names(&out);
    first.kill().unwrap();
    first.wait().unwrap();
    for (arguments, outcome) in others.iter().zip(refused) {
        let wanted = "out: another command writes into it: wait for it, or name another directory\n";
        assert_eq!((outcome.status, outcome.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(outcome.err.ends_with(wanted), "{arguments:?}: {}", outcome.err);
    }
    assert_eq!(before, [".slantpath.lock", "unfinished"]);
    assert!(names(&out.join("unfinished")).iter().all(|name| name.ends_with(".partial")));
    // What the killed one left is no obstacle, and goes.
    std::fs::write(out.join(".old.csv.3.partial"), "x").unwrap();
    assert_eq!(place.run(&["run", "first.toml", "--out", "out"]).status, Some(0));
    assert_eq!(place.run(&["run", "first.toml", "--out", "whole"]).status, Some(0));
    assert_eq!(place.files("out"), place.files("whole"));
    assert_eq!(names(&out), names(&place.path().join("whole")));
}

#[test]
fn results_and_files_for_other_programs_may_lie_in_one_directory() {
    let place = Place::new("one-directory");
    place.write("sky.toml", &scenario("iridium-london-boston.toml"));
    let span = ["--set", "topology.span=60 s", "--export-step", "60 s"];
    let both = ["topology", "sky.toml", "--out", "out", "--export", "./out/../out"];
    let outcome = place.run(&[&both[..], &span].concat());
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(names(&place.path().join("out")).contains(&"hypatia".to_owned()));
}

#[test]
fn a_trace_has_its_name_once_it_is_whole() {
    let place = with_first("whole-trace");
    let arguments = [
        "run",
        "first.toml",
        "--trace",
        "signalling=calls.trace",
        "--set",
        "scenario.duration=10000000 s",
        "--set",
        "probes.messages=false",
    ];
    let mut child = place.command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let part = place.path().join(".calls.trace.0.partial");
    while !part.exists() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    assert_eq!(place.names(), [".calls.trace.0.partial", "first.toml"]);
    child.kill().unwrap();
    child.wait().unwrap();
    let run = ["run", "first.toml", "--trace", "signalling=calls.trace"];
    assert_eq!(place.run(&run).status, Some(0));
    assert_eq!(place.names(), ["calls.trace", "first.toml"]);
}

#[test]
fn antennas_that_carry_nothing_are_told_in_one_line() {
    let place = Place::new("idle-antennas");
    let head = r#"
        [scenario]
        name = "idle"
        duration = "10 s"
        [sky]
        epoch = "2026-03-01T00:00:00Z"
        [sky.constellations.geo]
        satellites = { kind = "slots", longitudes = ["0 deg"] }
        [sky.ground]
        min_elevation = "5 deg"
        [sky.access.all]
        rate = "2 Mbit/s"
        [flows.data]
        from = "a"
        to = "b"
        transport = "sctp"
        application = { kind = "constant-rate", message_size = "512 B", interval = "1 s" }
    "#;
    let node = |site: &str| {
        format!(
            "[sky.sites.{site}]\nlatitude = \"10 deg\"\nlongitude = \"0 deg\"\n\
             [nodes.{site}]\nkind = \"host\"\nsite = \"{site}\"\n"
        )
    };
    let text = head.to_owned() + &["a", "b", "c1", "c2", "c3", "c4"].map(node).concat();
    place.write("idle.toml", &text);
    let outcome = place.run(&["run", "idle.toml"]);
    let told = "\nAntennas that carried nothing: sky.c1, sky.c2, sky.c3, sky.c4.\n";
    assert!(outcome.out.contains(told), "{}", outcome.out);
    assert!(
        outcome.out.contains("\nsky.a  forward") && outcome.out.contains("\nsky.b  reverse"),
        "{}",
        outcome.out
    );
    assert!(!outcome.out.contains("\nsky.c"), "{}", outcome.out);
    let more = text + &node("c5");
    place.write("idle.toml", &more);
    let outcome = place.run(&["run", "idle.toml"]);
    let told = "\nAntennas that carried nothing: sky.c1, sky.c2, sky.c3, sky.c4 and 1 other.\n";
    assert!(outcome.out.contains(told), "{}", outcome.out);
    // The table of links keeps its rows.
    let outcome = place.run(&["run", "idle.toml", "--json"]);
    assert!(outcome.out.contains("sky.c5"), "{}", outcome.out);
}

#[test]
fn a_flow_that_never_comes_up_is_told() {
    for transport in ["sctp", "tcp"] {
        let place = with_first(&format!("unconnected-{transport}"));
        let set =
            ["run", "first.toml", "--set", "links.satellite.loss=100 %", "--set", "scenario.duration=5 s"];
        let of_tcp = ["--set", "flows.signalling.transport=tcp"];
        let outcome = place.run(&[&set[..], if transport == "tcp" { &of_tcp } else { &[] }].concat());
        assert_eq!(outcome.status, Some(0), "{}", outcome.err);
        let line = "run 0: flow `signalling` was not connected when the run ended";
        assert!(outcome.out.contains(line), "{}", outcome.out);
    }
    let outcome = with_first("connected").run(&["run", "first.toml"]);
    assert!(!outcome.out.contains("was not connected"), "{}", outcome.out);
}
