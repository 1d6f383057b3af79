//! A file in the place of another one is named as what it is, with the command that takes it.

use crate::place::{Place, scenario};

const SWEEP: &str = "[sweep]\nscenario = \"run.toml\"\n\n[[axis]]\n\"scenario.seed\" = [1, 2]\n";
const PLAN: &str = "[path]\nround_trip = \"650 ms\"\n[band]\npermanent = \"2 Mbit/s\"\n\
                    [signalling]\nerlang_per_link = 0.2\noctets = 120\n";

/// Each kind of file by its name, with the words for it and the command that takes it.
const FILES: [(&str, &str, &str); 6] = [
    ("run.toml", "a scenario", "`slantpath run run.toml` takes it"),
    ("sweep.toml", "a sweep", "`slantpath sweep sweep.toml` takes it"),
    ("sky.toml", "a topology", "`slantpath topology sky.toml` takes it"),
    ("plan.toml", "a plan", "`slantpath plan plan.toml` takes it"),
    ("x.trace", "a trace", "`slantpath explain x.trace` tells it in words"),
    ("x.pcapng", "a packet capture", "`slantpath import x.pcapng` makes scenarios of it"),
];

fn place(test: &str) -> Place {
    let place = Place::new(test);
    place.write("run.toml", &scenario("first.toml"));
    place.write("sweep.toml", SWEEP);
    place.write("sky.toml", &scenario("iridium-london-boston.toml").replace("24 h", "2 min"));
    place.write("plan.toml", PLAN);
    let run = ["run", "run.toml", "--set", "scenario.duration=2 s", "--out", "out", "--pcap", "satellite"];
    let outcome = place.run(&[&run[..], &["--trace", "signalling=x.trace"]].concat());
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    std::fs::rename(place.path().join("out/satellite.pcapng"), place.path().join("x.pcapng"))
        .expect("the capture of the run");
    place
}

#[test]
fn every_command_names_what_another_ones_file_is_in_one_error() {
    let place = place("other-file");
    let commands: [(&[&str], &[&str]); 6] = [
        (&["run"], &["run.toml"]),
        (&["sweep", "--out", "swept"], &["sweep.toml"]),
        (&["topology"], &["sky.toml"]),
        (&["plan"], &["plan.toml"]),
        (&["explain"], &["x.trace", "x.pcapng"]),
        (&["import"], &["x.pcapng"]),
    ];
    for (command, own) in commands {
        for (file, words, taken) in FILES.iter().filter(|(file, ..)| !own.contains(file)) {
            let outcome = place.run(&[command, &[file]].concat());
            assert_eq!((outcome.status, outcome.out.as_str()), (Some(2), ""), "{command:?} {file}");
            assert!(outcome.err.contains(&format!("this is {words}")), "{command:?} {file}: {}", outcome.err);
            let one_line = outcome.err.replace("\n        ", " ").replace('\n', " ");
            assert!(one_line.contains(taken), "{command:?} {file}: {}", outcome.err);
            assert!(!outcome.err.contains("errors"), "{command:?} {file}: {}", outcome.err);
        }
    }
    // Nothing was made.
    assert!(!place.path().join("swept").exists() && !place.path().join("x").exists());
}

#[test]
fn a_flag_that_replaces_a_value_makes_no_scenario_of_another_file() {
    let place = place("other-file-set");
    let outcome = place.run(&["run", "sweep.toml", "--seed", "3", "--set", "links.satellite.loss=3 %"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.err.contains("this is a sweep, not a scenario"), "{}", outcome.err);
    // The base of a sweep is a scenario, too.
    place.write("sweep.toml", &SWEEP.replace("run.toml", "sky.toml"));
    let outcome = place.run(&["sweep", "sweep.toml", "--out", "swept"]);
    assert!(outcome.err.contains("this is a topology, not a scenario"), "{}", outcome.err);
}

#[test]
fn what_is_of_no_kind_is_told_as_before() {
    let place = Place::new("other-file-none");
    place.write("x", "neither this nor that");
    let told = |command: &str| place.run(&[command, "x"]).err;
    assert!(told("run").contains("this is not TOML"), "{}", told("run"));
    assert!(told("explain").contains("not a trace"), "{}", told("explain"));
    assert!(told("import").contains("it is no capture"), "{}", told("import"));
}
