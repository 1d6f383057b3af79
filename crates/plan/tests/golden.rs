//! Whole answers, number by number: what a changed formula moves is seen here.

use slantpath_plan::{Question, plan, print};

/// Over a satellite, with capacity on demand and a step.
const GEO: &str = r#"
path = { round_trip = "650 ms" }
band = { permanent = "2048 kbit/s", on_demand = "250 kbit/s", allocation_time = "1.5 s" }
signalling = { erlang_per_link = 0.88, step_erlang = 0.08, octets = 270, bundling_delay = "5 ms" }
"#;

/// On the ground, with another path.
const GROUND: &str = r#"
path = { round_trip = "40 ms", backup_round_trip = "60 ms" }
band = { permanent = "512 kbit/s" }
signalling = { links = 4, erlang_per_link = 0.3, octets = 120, gateway_delay = "10 ms" }
limits = { failover = "800 ms" }
"#;

fn answer(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let question = Question::parse("golden", text, &sets).unwrap_or_else(|error| panic!("{error}"));
    let answer = plan(&question);
    let numbers = answer.settings.iter().map(|setting| {
        format!(
            "{} {} {:?} {:?} {:?}\n",
            setting.name, setting.value, setting.least, setting.most, setting.sensitivity
        )
    });
    let whole = (answer.injected_most, &answer.largest_step, answer.framing);
    print::text(&answer) + "\n" + &numbers.collect::<String>() + &format!("{whole:?}")
}

#[test]
fn capacity_on_demand_over_a_satellite() {
    insta::assert_snapshot!(answer(GEO, &[]));
}

#[test]
fn a_path_on_the_ground_that_has_to_be_left_in_time() {
    insta::assert_snapshot!(answer(GROUND, &[]));
}

#[test]
fn eight_associations_without_bundling_and_a_break_while_capacity_changes() {
    let sets = [
        "signalling.associations=8",
        "signalling.bundling_delay=0 s",
        "signalling.octets=120",
        "signalling.erlang_per_link=0.3",
        "signalling.step_erlang=0.15",
        "band.interruption=200 ms",
        "band.on_demand=900 kbit/s",
    ];
    insta::assert_snapshot!(answer(GEO, &sets));
}

#[test]
fn a_window_a_timer_and_a_queue_that_are_set() {
    let sets = ["limits.cwnd=100 kB", "limits.rto_max=1.2 s", "limits.queue=50", "path.loss=0.001"];
    insta::assert_snapshot!(answer(GEO, &sets));
    insta::assert_snapshot!(answer(GROUND, &["limits.cwnd=9 kB", "limits.rto_max=5 s", "limits.queue=500"]));
}

#[test]
fn a_load_and_a_step_beyond_the_band() {
    let alone = ["signalling.octets=120", "signalling.erlang_per_link=0.5", "signalling.bundling_delay=0 s"];
    insta::assert_snapshot!(answer(GEO, &alone));
    insta::assert_snapshot!(answer(GEO, &["band.on_demand=20 kbit/s"]));
    // What there is of bundling is not enough, and a message more in each packet is.
    let few = ["signalling.octets=120", "signalling.erlang_per_link=0.6", "signalling.associations=4"];
    insta::assert_snapshot!(answer(GEO, &[&few[..], &["signalling.bundling_delay=1 ms"]].concat()));
}

#[test]
fn the_same_for_programs() {
    let question = Question::parse("golden", GROUND, &[]).unwrap_or_else(|error| panic!("{error}"));
    insta::assert_snapshot!(format!("{:#}", print::json(&plan(&question))));
}

#[test]
fn a_narrow_band_with_loss() {
    let sets = ["band.permanent=64 kbit/s", "signalling.links=1", "path.loss=0.01", "limits.failover=300 ms"];
    insta::assert_snapshot!(answer(GROUND, &sets));
}
