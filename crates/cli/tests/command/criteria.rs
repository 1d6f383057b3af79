//! `run --until` and `run --within`.

use crate::place::Place;

/// Calls by the first of two links, which fails at a time that suits no message of them.
const CALLS: &str = r#"
[scenario]
name = "calls"
duration = "20 s"

[nodes]
exchange = { kind = "host" }
station = { kind = "host" }

[links]
one = { ends = ["exchange", "station"], rate = "2 Mbit/s", delay = "100 ms" }
other = { ends = ["exchange", "station"], rate = "2 Mbit/s", delay = "100 ms" }

[sctp.default]
path_max_retrans = 1

[flows.calls]
transport = "sctp"
from = "exchange"
to = "station"
primary = "one"
application = { kind = "poisson", message_size = "200 B", rate = "8 kbit/s" }

[[script]]
at = "10 s"
link = "one"
action = "down"
"#;

#[test]
fn runs_are_made_until_the_failover_time_is_known_well_enough() {
    let place = Place::new("criteria-until");
    place.write("calls.toml", CALLS);
    let criteria = ["--until", "failover ± 2 %", "--within", "failover 3500 ms", "--within", "gap 1 ms"];
    let of_json = |out: Option<&str>| {
        let mut arguments = vec!["run", "calls.toml", "--json"];
        arguments.extend(criteria);
        arguments.extend(out.iter().flat_map(|out| ["--out", out]));
        let outcome = place.run(&arguments);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
        serde_json::from_str::<serde_json::Value>(&outcome.out).expect("JSON")
    };
    let told = of_json(None);
    let runs = told["until"]["runs"].as_u64().expect("a number");
    assert!(told["until"]["reached"] == true && runs > 30, "{}", told["until"]);
    let summary = told["summary"].as_array().expect("rows");
    let failover = summary.iter().find(|row| row["measure"] == "failover_max_s").expect("a measure");
    let [mean, half_width] = ["mean", "half_width"].map(|name| failover[name].as_f64().expect("a number"));
    assert!(failover["runs"] == runs && half_width <= 0.02 * mean, "{failover}");
    let [kept, gap] = [0, 1].map(|row| told["within"][row].clone());
    assert!(kept["runs"] == runs && gap["runs_within"] == 0 && gap["share"] == 0.0, "{kept} {gap}");
    let [share, low, high] = ["share", "low", "high"].map(|name| kept[name].as_f64().expect("a number"));
    assert!(low < share && share < high && low > 0.0 && high < 1.0, "{kept}");
    // What is written is the same, and what is kept meanwhile is not made anew.
    let written = of_json(Some("out"));
    assert_eq!((&written["until"], &written["within"]), (&told["until"], &told["within"]));
    let words = place.run(&[&["run", "calls.toml"], &criteria[..]].concat());
    assert_eq!(words.status, Some(0));
    for line in [format!("failover ± 2 %: reached by {runs} runs"), format!("of {runs} runs: ")] {
        assert!(words.out.contains(&line), "{line}\n{}", words.out);
    }
    assert!(words.out.contains("calls  longest failover"), "{}", words.out);
}

#[test]
fn a_precision_that_is_not_reached_ends_with_a_status_of_three_and_says_what_would_do() {
    let place = Place::new("criteria-unreached");
    place.write("calls.toml", CALLS);
    let outcome = place.run(&["run", "calls.toml", "--until", "failover ± 0.1 %", "--reps", "40"]);
    assert_eq!(outcome.status, Some(3));
    assert!(
        outcome.err.contains("`failover ± 0.1 %` is not reached by 40 runs: some 320 would do"),
        "{}",
        outcome.err
    );
    let alone = CALLS.replace("other = {", "# other = {");
    place.write("alone.toml", &alone);
    let outcome = place.run(&["run", "alone.toml", "--until", "failover ± 5 %"]);
    assert_eq!(outcome.status, Some(3));
    assert!(outcome.err.contains("nothing fails over in 30 runs"), "{}", outcome.err);
    let outcome = place.run(&["run", "alone.toml", "--until", "late ± 5 %"]);
    assert!(outcome.err.contains("no flow has a `late` in 30 runs"), "{}", outcome.err);
    let outcome = place.run(&["run", "calls.toml", "--until", "failure ± 5 %"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.err.contains("`failure` is no measure"), "{}", outcome.err);
}

/// A link of M2PA with two paths, which moves to the other.
const M2PA: &str = r#"
[scenario]
name = "trunk"
duration = "45 s"

[nodes]
london = { kind = "host" }
boston = { kind = "host" }

[links]
cable = { ends = ["london", "boston"], rate = "1 Mbit/s", delay = "30 ms" }
satellite = { ends = ["london", "boston"], rate = "1 Mbit/s", delay = "270 ms" }

[sctp.quick]
rto_min = "150 ms"
rto_initial = "300 ms"
sack_delay = "20 ms"
potentially_failed_max_retrans = 0

[signalling.points]
london = { point_code = "1-1-1", restart = "omitted" }
boston = { point_code = "1-1-2", restart = "omitted" }

[signalling.links.trunk]
between = ["london", "boston"]
carrier = { kind = "m2pa", profile = "quick", primary = "cable" }

[signalling.load.calls]
from = "london"
to = ["boston"]
links = 4
lengths = [60]
erlang_per_link = 0.02
start = "10 s"

[[script]]
at = "20 s"
link = "cable"
action = "down"
"#;

#[test]
fn failovers_of_signalling_keep_limits_too_and_where_nothing_fails_over_it_is_said_with_the_cure() {
    let place = Place::new("criteria-signalling");
    place.write("trunk.toml", M2PA);
    let told = place.run(&["run", "trunk.toml", "--reps", "3", "--within", "failover 5 s"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    for end in ["london", "boston"] {
        let line = format!("path trunk@{end}: failover within 5 s in 3 of 3 runs: 100 %");
        assert!(told.out.contains(&line), "{line}\n{}", told.out);
        assert!(told.out.contains(&format!("path trunk@{end}  longest failover")), "{}", told.out);
    }
    place.write("whole.toml", M2PA.split("[[script]]").next().unwrap_or_default());
    let arguments = ["run", "whole.toml", "--reps", "2", "--within", "failover 5 s", "--within", "gap 1 s"];
    let told = place.run(&arguments);
    let cure = "failover 5 s: nothing fails over in 2 runs, so that there is no `failover`: let a path";
    assert!(told.out.contains(cure), "{}", told.out);
    assert!(told.out.contains("gap 1 s: no flow has a `gap` in 2 runs"), "{}", told.out);
    let told = place.run(&[&arguments[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&told.out).expect("JSON");
    assert_eq!(json["unmeasured"][0]["question"], "failover 5 s");
    assert_eq!(json["unmeasured"].as_array().map(Vec::len), Some(2), "{json}");
}
