//! `slantpath check`: what a file's command would say, and no run.

use crate::place::{Place, scenario};

#[test]
fn a_file_of_each_kind_is_checked_and_nothing_is_made() {
    let place = Place::new("check");
    place.write("first.toml", &scenario("first.toml"));
    place.write("sweep.toml", "[sweep]\nscenario = \"first.toml\"\n[[axis]]\n\"scenario.seed\" = [1, 2]\n");
    place.write("sky.toml", &scenario("geo-london-boston.toml"));
    place.write(
        "plan.toml",
        "[path]\nround_trip = \"650 ms\"\n[band]\npermanent = \"1 Mbit/s\"\non_demand = \"1 Mbit/s\"\n\
         allocation_time = \"500 ms\"\n[signalling]\nerlang_per_link = 0.2\noctets = 120\n",
    );
    for (file, told) in [
        ("first.toml", "first.toml: a scenario, no errors, no warnings\n"),
        ("sweep.toml", "sweep.toml: a sweep, no errors, no warnings\n"),
        ("sky.toml", "sky.toml: a topology, no errors, no warnings\n"),
    ] {
        let outcome = place.run(&["check", file]);
        assert_eq!((outcome.status, outcome.out.as_str(), outcome.err.as_str()), (Some(0), told, ""));
    }
    let plan = place.run(&["check", "plan.toml"]);
    assert_eq!(plan.status, Some(0));
    assert!(plan.out.starts_with("warning: plan.toml:6:19: an allocation within 500 ms"), "{}", plan.out);
    assert!(plan.out.ends_with("plan.toml: a plan, no errors, 1 warning\n"), "{}", plan.out);
    assert_eq!(place.names(), ["first.toml", "plan.toml", "sky.toml", "sweep.toml"]);
}

#[test]
fn a_warning_is_printed_and_is_no_failure_and_an_error_is_one() {
    let place = Place::new("check-warnings");
    let text = scenario("first.toml") + "\n[tcp.default]\nrto_min = \"1 s\"\n";
    place.write("w.toml", &text);
    let outcome = place.run(&["check", "w.toml"]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    let warned = "profile `[tcp.default]` is used by nothing\n  help: ";
    assert!(outcome.out.starts_with("warning: w.toml:") && outcome.out.contains(warned), "{}", outcome.out);
    assert!(outcome.out.ends_with("w.toml: a scenario, no errors, 1 warning\n"), "{}", outcome.out);
    let json = place.run(&["check", "w.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!((&json["kind"], &json["errors"]), (&"run".into(), &serde_json::json!([])));
    let line = text.lines().position(|line| line == "[tcp.default]").expect("a table") + 1;
    assert_eq!(json["warnings"][0]["line"], line);

    let run = place.run(&["run", "w.toml", "--set", "flows.signalling.transport=SCTP"]);
    let check = place.run(&["check", "w.toml", "--set", "flows.signalling.transport=SCTP"]);
    assert_eq!((check.status, check.out.as_str()), (Some(2), ""));
    assert_eq!(check.err, run.err);
    assert!(check.err.contains("did you mean `sctp`?"), "{}", check.err);
    let json = place.run(&["check", "w.toml", "--json", "--set", "links.satellite.rate=2 Mbps"]);
    assert_eq!(json.status, Some(2));
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(json["errors"][0]["help"], "did you mean `Mbit/s`?");
    assert_eq!((&json["errors"][0]["file"], &json["errors"][0]["line"]), (&"--set".into(), &1.into()));
}

#[test]
fn a_path_of_a_topology_that_leads_around_the_earth_is_told_and_with_a_second_antenna_it_is_not() {
    let place = Place::new("check-detour");
    let text = scenario("starlink-madrid-nairobi.toml").replace("\"disjoint-first\"", "\"least-delay\"");
    let text = text.split("[paths.second]").next().unwrap_or_default();
    place.write("two.toml", text);
    let told = place.run(&["check", "two.toml"]);
    assert_eq!((told.status, told.out.as_str()), (Some(0), "two.toml: a topology, no errors, no warnings\n"));
    let antennas = "[[sites.madrid.antennas]]\ncriterion = \"longest-remaining\"\n";
    let one = text.replace(antennas, "").replace(&antennas.replace("madrid", "nairobi"), "");
    place.write("one.toml", &one);
    let told = place.run(&["check", "one.toml"]);
    let line = one.lines().position(|line| line == "to = \"nairobi\"").expect("a path") + 1;
    let begins = format!("warning: one.toml:{line}:6: path `first`: packets take up to ");
    assert!(told.out.starts_with(&begins), "{}", told.out);
    assert!(told.out.contains("\n  help: give `madrid` and `nairobi` a second antenna"), "{}", told.out);
    assert_eq!(told.out.matches("warning: ").count(), 1, "{}", told.out);
}
