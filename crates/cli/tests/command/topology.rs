//! Tests of `slantpath topology`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::place::{Place, scenario};

const FILES: [&str; 2] = ["manifest.json", "topology.toml"];

fn two_hours() -> String {
    scenario("iridium-london-boston.toml").replace("24 h", "2 h")
}

#[test]
fn a_topology_is_told_as_a_table_and_written_as_tables() {
    let place = Place::new("topology");
    place.write("sky.toml", &two_hours());
    let outcome = place.run(&["topology", "sky.toml", "--out", "out", "--rows", "3"]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(outcome.out);
    let names: Vec<String> = place.files("out").into_iter().map(|(name, _)| name).collect();
    let tables = [
        "access",
        "contacts",
        "coverage",
        "coverage_map",
        "delay",
        "gaps",
        "handovers",
        "hops",
        "legs",
        "map_journeys",
        "map_links",
        "map_nodes",
        "map_tracks",
        "passes",
        "positions",
        "sky_limits",
        "sky_tracks",
        "summary",
    ];
    let kinds = |table: &&str| ["csv", "parquet"].map(|kind| format!("{table}.{kind}"));
    let mut wanted: Vec<String> = tables.iter().flat_map(kinds).collect();
    wanted.extend(FILES.map(str::to_owned));
    wanted.sort();
    assert_eq!(names, wanted);
    assert_eq!(place.names(), ["out", "sky.toml"]);
}

#[test]
fn equal_topologies_leave_equal_files_on_any_number_of_threads() {
    let place = Place::new("topology-equal");
    place.write("sky.toml", &two_hours());
    for (directory, jobs) in [("a", "1"), ("b", "4")] {
        let outcome = place.run(&["topology", "sky.toml", "--out", directory, "--jobs", jobs]);
        assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    }
    assert_eq!(place.files("a"), place.files("b"));
}

#[test]
fn what_is_asked_for_as_json_is_json() {
    let place = Place::new("topology-json");
    place.write("sky.toml", &two_hours());
    let outcome = place.run(&["topology", "sky.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&outcome.out).expect("JSON");
    assert_eq!(json["satellites"], 66);
    assert_eq!(json["summary"][0]["path"], "main");
    assert_eq!(json["coverage"][1]["site"], "london");
}

#[test]
fn the_shown_topology_is_one_itself() {
    let place = Place::new("topology-show");
    place.write("sky.toml", &two_hours());
    let shown = place.run(&["topology", "sky.toml", "--show"]).out;
    place.write("shown.toml", &shown);
    assert_eq!(place.run(&["topology", "shown.toml", "--show"]).out.lines().last(), shown.lines().last());
}

#[test]
fn old_elements_are_warned_about_and_then_refused() {
    let place = Place::new("topology-old");
    let sets = "BIRD\n1 90001U 26001A   26060.00000000  .00000000  00000-0  00000+0 0  9993\n\
                2 90001  86.4000  30.0000 0002000  90.0000  60.0000 14.34217000    01\n";
    let file = |epoch: &str| {
        two_hours()
            .replace(
                "kind = \"preset\", preset = \"iridium\"",
                "kind = \"elements\", file = \"birds.tle\", checksums = \"ignore\"",
            )
            .replace("[sites.london]", "[ground]\nmin_elevation = \"0 deg\"\n\n[sites.london]")
            .replace("2026-03-01T00:00:00Z", epoch)
            .replace("2 h", "24 h")
    };
    place.write("birds.tle", sets);
    place.write("near.toml", &file("2026-03-01T00:00:00Z"));
    place.write("far.toml", &file("2026-03-11T00:00:00Z"));
    place.write("beyond.toml", &file("2026-05-11T00:00:00Z"));
    let near = place.run(&["topology", "near.toml"]);
    assert_eq!((near.status, near.err.as_str()), (Some(0), ""), "{}", near.out);
    let far = place.run(&["topology", "far.toml"]);
    assert_eq!(far.status, Some(0));
    assert!(
        far.err.starts_with("warning: birds.tle:2: BIRD: the element set is of 2026-03-01"),
        "{}",
        far.err
    );
    let beyond = place.run(&["topology", "beyond.toml"]);
    assert_eq!(beyond.status, Some(2));
    // The picture breaks lines where it likes.
    let told = beyond.err.replace(['│', '\n'], " ");
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("30 days are the limit") && told.contains("birds.tle:2:1"), "{}", beyond.err);
}

#[test]
fn the_schema_of_topologies_is_the_committed_one() {
    let place = Place::new("topology-schema");
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/topology.schema.json");
    let committed = std::fs::read_to_string(committed).expect("it is committed");
    assert_eq!(place.run(&["schema", "topology"]).out, committed);
}

#[test]
fn other_programs_get_their_files() {
    let place = Place::new("topology-export");
    place.write("sky.toml", &two_hours());
    let arguments = ["topology", "sky.toml", "--set", "topology.span=2 min", "--export", "other"];
    let outcome = place.run(&[&arguments[..], &["--export-step", "30 s"]].concat());
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    assert!(outcome.out.ends_with("14 files for other programs in other\n"), "{}", outcome.out);
    let scene: serde_json::Value = serde_json::from_slice(&place.files("other")[0].1).expect("CZML is JSON");
    let packets = scene.as_array().expect("a scene is a list");
    assert!(packets.iter().any(|packet| packet["id"] == "iridium-1-1"));
    assert!(packets.iter().any(|packet| packet["id"].as_str().is_some_and(|id| id.starts_with("path/"))));
    let names: Vec<String> = place.files("other/hypatia").into_iter().map(|(name, _)| name).collect();
    let wanted =
        ["description.txt", "ground_stations.txt", "gsl_interfaces_info.txt", "isls.txt", "tles.txt"];
    assert_eq!(names, wanted);
    let states = place.files("other/hypatia/dynamic_state_30000ms_for_120s");
    assert_eq!(states.len(), 8);
    assert!(states.iter().any(|(name, text)| name == "fstate_0.txt" && !text.is_empty()));
}

#[test]
fn a_step_that_no_directory_can_name_is_refused() {
    let place = Place::new("topology-step");
    place.write("sky.toml", &two_hours());
    for step in ["0 s", "1500 us", "1"] {
        let outcome = place.run(&["topology", "sky.toml", "--export", "other", "--export-step", step]);
        assert_eq!(outcome.status, Some(2), "{step}: {}", outcome.err);
        assert!(outcome.err.contains("--export-step"), "{}", outcome.err);
    }
    assert_eq!(place.names(), ["sky.toml"]);
}

#[test]
fn a_step_that_makes_very_many_files_is_told_and_one_that_makes_too_many_is_refused() {
    let place = Place::new("topology-many");
    place.write("sky.toml", &two_hours());
    let export = |step, span: &str| {
        let span = format!("topology.span={span}");
        place.run(&["topology", "sky.toml", "--export", "other", "--export-step", step, "--set", &span])
    };
    let outcome = export("1 ms", "2 h");
    let wanted = "error: --export-step: a step of 1 ms over 7200 s makes 14400000 files; 1000000 are the most: take a \
                  longer step or a shorter `topology.span`\n";
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(2), wanted));
    assert_eq!(place.names(), ["sky.toml"]);
    let outcome = export("10 ms", "5 s");
    let told =
        "1000 files of forwarding states will be written into other; a longer --export-step makes fewer\n";
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), told));
    assert_eq!(place.files("other/hypatia/dynamic_state_10ms_for_5s").len(), 1_000);
}

#[test]
fn an_interrupted_topology_goes_on_where_it_was_and_ends_alike() {
    use std::process::{Command, Stdio};
    let place = Place::new("topology-interrupted");
    let sites: Vec<String> = (-20..20)
        .map(|latitude| {
            let name = latitude + 20;
            format!("[sites.s{name}]\nlatitude = \"{latitude} deg\"\nlongitude = \"10 deg\"\n")
        })
        .collect();
    let sites = sites.concat();
    place.write("sky.toml", &format!("{}\n{sites}", scenario("iridium-london-boston.toml")));
    let arguments = |out| ["topology", "sky.toml", "--jobs", "1", "--rows", "1", "--out", out];
    let mut child =
        place.command(&arguments("out")).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let unfinished = place.path().join("out/unfinished");
    // As soon as a site is kept, Ctrl-C.
    while crate::place::names(&unfinished).is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let interrupted: crate::place::Outcome = child.wait_with_output().unwrap().into();
    assert_eq!(interrupted.status, Some(130), "{interrupted:?}");
    assert!(interrupted.err.ends_with("the same command goes on\n"), "{}", interrupted.err);
    let kept = crate::place::names(&unfinished).len();
    assert!((1..42).contains(&kept), "{kept} of 42 sites are kept");
    assert_eq!(place.run(&arguments("out")).status, Some(0));
    assert_eq!(place.run(&arguments("whole")).status, Some(0));
    assert_eq!(place.files("out"), place.files("whole"));
    assert_eq!(
        crate::place::names(&place.path().join("out")),
        crate::place::names(&place.path().join("whole"))
    );
}

#[test]
fn a_path_that_never_exists_ends_the_command_with_three() {
    let place = Place::new("topology-never");
    // Satellites over the equator, which neither end sees from beyond 81 degrees.
    let text = "[topology]\nname = \"never\"\nepoch = \"2026-03-01T00:00:00Z\"\nspan = \"10 min\"\n\
                [constellations.geo]\nsatellites = { kind = \"slots\", longitudes = [\"0 deg\"] }\n\
                [ground]\nmin_elevation = \"10 deg\"\n\
                [sites]\nhere = { latitude = \"0 deg\", longitude = \"10 deg\" }\n\
                there = { latitude = \"10 deg\", longitude = \"10 deg\" }\n\
                [paths]\na = { from = \"here\", to = \"there\" }\nb = { from = \"there\", to = \"here\" }\n";
    place.write("sky.toml", text);
    assert_eq!(place.run(&["topology", "sky.toml"]).status, Some(0));
    let out = text.to_owned() + "[[outages]]\nnode = \"geo-1\"\nfrom = \"0 s\"\nuntil = \"10 min\"\n";
    place.write("sky.toml", &out);
    for arguments in [["topology", "sky.toml", "--json"], ["topology", "sky.toml", "--out=out"]] {
        let outcome = place.run(&arguments);
        assert_eq!(outcome.status, Some(3), "{}", outcome.err);
        assert!(outcome.err.ends_with("paths that never exist: a, b\n"), "{}", outcome.err);
        assert!(!outcome.out.is_empty());
    }
}

#[test]
fn an_interrupt_while_figures_are_drawn_ends_the_command_and_the_next_one_goes_on() {
    let place = Place::new("drawn");
    place.write("sky.toml", &two_hours());
    let path = |name: &str| place.path().join(name).into_os_string();
    let arguments = || {
        let words = ["slantpath", "topology", "--json", "--out"].map(std::ffi::OsString::from);
        words.into_iter().chain([path("out"), path("sky.toml")])
    };
    let interrupted = |_: &Path, stop: &'static AtomicBool| {
        stop.store(true, Ordering::Relaxed);
        Err("KeyboardInterrupt".to_owned())
    };
    assert_eq!(slantpath_cli::main(arguments(), Some(&interrupted)), 130);
    assert!(place.path().join("out/unfinished").exists(), "what was worked out is kept");
    let draw = |directory: &Path, _: &'static AtomicBool| {
        std::fs::write(directory.join("map.svg"), "drawn").map_err(|error| error.to_string())?;
        Ok(vec!["map.svg".to_owned()])
    };
    assert_eq!(slantpath_cli::main(arguments(), Some(&draw)), 0);
    let manifest = std::fs::read_to_string(place.path().join("out/manifest.json")).unwrap();
    assert!(manifest.contains("\"map.svg\"") && !manifest.contains("\"state\""), "{manifest}");
    assert!(!place.path().join("out/unfinished").exists());
}
