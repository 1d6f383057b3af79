//! Answers to whole questions.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use proptest::prelude::*;
use slantpath_plan::window::WorkingCase;
use slantpath_plan::{Answer, Question, plan, print};

const GEO: &str = r#"
[path]
round_trip = "650 ms"

[band]
permanent = "2048 kbit/s"
on_demand = "250 kbit/s"
allocation_time = "1.5 s"

[signalling]
erlang_per_link = 0.88
step_erlang = 0.08
octets = 270
bundling_delay = "5 ms"
"#;

fn question(sets: &[&str]) -> Question {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    Question::parse("geo", GEO, &sets).unwrap_or_else(|error| panic!("{error}"))
}

fn answer(sets: &[&str]) -> Answer {
    plan(&question(sets))
}

fn faults(sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    Question::parse("geo", GEO, &sets).unwrap_err().to_string()
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6 * expected.abs().max(1.0), "{value}, not {expected}");
}

#[test]
fn a_load_beyond_the_permanent_band_waits_for_capacity_and_all_timers_know_it() {
    let answer = answer(&[]);
    // 30 links of 64 kbit/s at 0.88 Erlang; 4 messages of 300 octets with theirs share 50 of headers.
    assert_eq!(answer.load.as_bits_per_sec(), 1_689_600);
    near(answer.framing.ethernet, 312.5);
    let ethernet = 0.96 * 30.0 * 64_000.0 * 312.5 / 270.0;
    // What exceeds 2,048 kbit/s comes for 1.5 s and is sent at that rate.
    let wait = (ethernet - 2_048_000.0) * 1.5 / 2_048_000.0;
    let rto_min = answer.setting("sctp.rto_min").unwrap();
    near(rto_min.least.unwrap(), 0.65 + 0.1 + 0.005 + wait);
    near(rto_min.value, 0.9);
    near(rto_min.margin().unwrap(), (0.9 - rto_min.least.unwrap()) / 0.9);
    let cwnd = answer.setting("sctp.cwnd").unwrap();
    let k = 312.5 / 300.0;
    near(cwnd.least.unwrap(), ethernet * (0.65 + wait) / (8.0 * k));
    assert!(cwnd.value >= cwnd.least.unwrap() && cwnd.value < cwnd.most.unwrap());
    assert!(answer.impossible.is_empty(), "{:?}", answer.impossible);
    let queue = answer.setting("gateway.transmission_queue").unwrap();
    near(queue.least.unwrap(), ethernet / 8.0 / 312.5);
    // Of a tenth more load less than a tenth is beyond the permanent band before, and nearly all of it then.
    let changes: Vec<&str> = cwnd.sensitivity.iter().map(|(of, _)| *of).collect();
    assert_eq!(changes, ["round trip", "load", "step", "allocation time"]);
}

#[test]
fn a_window_that_is_set_is_judged() {
    let paper = |sets: &[&str]| {
        let mut all =
            vec!["limits.cwnd=154 kB", "signalling.erlang_per_link=0.7", "signalling.step_erlang=0.06"];
        all.extend_from_slice(sets);
        answer(&all)
    };
    // 750 ms near the permanent band, and nothing on demand: case B. 650 ms with 250 kbit/s on demand: hardly C, with
    // 1.16 octets of Ethernet each; with the 1.04 of our own count, B.
    assert_eq!(paper(&["path.round_trip=750 ms", "band.on_demand=0 bit/s"]).case, WorkingCase::B);
    assert_eq!(paper(&["band.permanent=1900 kbit/s"]).case, WorkingCase::C);
    let large = paper(&["limits.cwnd=384 kB"]);
    assert_eq!(large.case, WorkingCase::A);
    // It takes 1.56 s at the permanent rate, and a round trip: RTO.Max of 1 s expires meanwhile.
    let short = paper(&["limits.cwnd=384 kB", "limits.rto_max=1 s"]);
    let unmet = short.impossible.iter().find(|unmet| unmet.demand == "RTO.Max of 1.00 s").unwrap();
    assert!(unmet.why.contains("a window of 384000 B takes 1.56 s at 2048 kbit/s"), "{}", unmet.why);
    assert!(!large.impossible.iter().any(|unmet| unmet.demand.contains("RTO.Max")));
    let small = paper(&["limits.cwnd=64 kB"]);
    let unmet =
        small.impossible.iter().find(|unmet| unmet.demand.contains("with a window of 64000 B")).unwrap();
    assert!(unmet.why.contains("it lets out 821 kbit/s"), "{}", unmet.why);
}

#[test]
fn on_a_geostationary_path_800_ms_cannot_be_met_and_on_the_ground_they_can() {
    let geo = answer(&["limits.failover=800 ms", "signalling.erlang_per_link=0.5"]);
    let unmet = geo.impossible.iter().find(|unmet| unmet.demand == "failover within 800 ms").unwrap();
    assert!(unmet.why.contains("no setting helps"), "{}", unmet.why);
    // A round trip of 500 ms leaves 300 for the other path, and no time for a SACK.
    let nearly =
        answer(&["limits.failover=800 ms", "path.round_trip=500 ms", "signalling.erlang_per_link=0.5"]);
    let unmet = nearly.impossible.iter().find(|unmet| unmet.demand == "failover within 800 ms").unwrap();
    assert!(unmet.why.contains("T3 of 670 ms must outlast"), "{}", unmet.why);
    let ground = answer(&[
        "limits.failover=800 ms",
        "path.round_trip=40 ms",
        "band.allocation_time=40 ms",
        "signalling.erlang_per_link=0.5",
    ]);
    assert!(!ground.impossible.iter().any(|unmet| unmet.demand.contains("failover")));
    // RTO.Min of 80 ms: 80, 160 and 200 of RTO.Max and 20 on the way are 460, 200 more are 660, and again 860.
    near(ground.value("sctp.rto_min"), 0.08);
    let retrans = ground.setting("sctp.path_max_retrans").unwrap();
    near(retrans.value, 3.0);
    assert!(retrans.reason.contains("4 time-outs from RTO.Min on"), "{}", retrans.reason);
    near(ground.value("sctp.pf_max_retrans"), 0.0);
    assert!(print::linux_sysctl(&ground).contains("net.sctp.pf_retrans = 0\n"));
    // Where no time is demanded, a path is passed over when it is given up.
    assert_eq!(answer(&[]).setting("sctp.pf_max_retrans"), None);
    assert!(print::linux_sysctl(&answer(&[])).contains("net.sctp.pf_retrans = 5\n"));
    let scenario = print::scenario(&question(&["limits.failover=3 s"]), &answer(&["limits.failover=3 s"]));
    assert!(scenario.contains("\npotentially_failed_max_retrans = 0\n"), "{scenario}");
}

#[test]
fn what_the_band_or_the_queue_cannot_hold_is_said_with_what_it_could() {
    let beyond =
        answer(&["signalling.erlang_per_link=0.96", "signalling.step_erlang=0", "signalling.links=40"]);
    let unmet = &beyond.impossible[0];
    assert!(
        unmet.demand.contains("2458 kbit/s of signalling, which are 2844 kbit/s on Ethernet"),
        "{}",
        unmet.demand
    );
    assert!(unmet.why.contains("2298 kbit/s in all"), "{}", unmet.why);
    assert_eq!(unmet.possible, "0.78 Erlang a link");
    let step = answer(&["band.on_demand=20 kbit/s"]);
    let unmet = &step.impossible[0];
    assert!(unmet.demand.contains("a step to 2133 kbit/s on Ethernet"), "{}", unmet.demand);
    assert_eq!(unmet.possible, "a step of 0.051 Erlang a link");
    let queue = answer(&["limits.queue=40", "band.interruption=1 s"]);
    let unmet = queue.impossible.iter().find(|unmet| unmet.demand == "a queue of 40 messages").unwrap();
    assert!(unmet.why.contains("wait while capacity is allocated"), "{}", unmet.why);
}

#[test]
fn timers_keep_their_standards_or_are_said_to_exceed_them() {
    let usual = answer(&["signalling.erlang_per_link=0.5"]);
    for (name, least, most) in [("mtp3.t4", 0.71, 1.2), ("mtp3.slt_t1", 4.0, 12.0), ("m2pa.t7", 0.71, 2.0)] {
        let value = usual.value(name);
        assert!((least..=most).contains(&value), "{name} of {value}");
    }
    let slow = answer(&["signalling.erlang_per_link=0.5", "path.round_trip=1.9 s"]);
    let demands: Vec<&str> = slow.impossible.iter().map(|unmet| unmet.demand.as_str()).collect();
    assert!(demands.iter().any(|demand| demand.starts_with("mtp3.t4 of 1.2 s at most")), "{demands:?}");
    assert!(!demands.iter().any(|demand| demand.starts_with("m2pa.t7")), "{demands:?}");
    near(slow.value("m2pa.t7"), 2.0);
}

#[test]
fn a_lossy_path_wants_another_controller_where_newreno_is_not_enough() {
    let reason = |loss: &str| {
        let answer = answer(&[&format!("path.loss={loss}"), "signalling.erlang_per_link=0.5"]);
        answer.setting("sctp.congestion_control").unwrap().reason.clone()
    };
    assert!(reason("1 %").contains("take a controller"));
    assert!(reason("0.001 %").contains("it is enough"));
    assert_eq!(answer(&[]).setting("sctp.congestion_control"), None);
}

#[test]
fn what_cannot_be_asked_is_refused_with_the_reason() {
    let error = faults(&["band.allocation_time=0 s"]);
    assert!(error.contains("capacity on demand takes time"), "{error}");
    let error = faults(&["signalling.erlang_per_link=0.95"]);
    assert!(error.contains("after the step a link carries 1.03 Erlang: the lines cannot"), "{error}");
    for (set, expected) in [
        ("path.round_trip=0 s", "a round trip of nothing"),
        ("band.permanent=0 bit/s", "with nothing permanent"),
        ("signalling.links=0", "with no links nothing is carried"),
        ("signalling.associations=0", "with no associations nothing is carried"),
        ("signalling.octets=11", "has no label"),
        ("signalling.octets=280", "is too large"),
        ("signalling.erlang_per_link=0", "a load is more than nothing"),
        ("path.round_trips=1 s", "round_trip"),
    ] {
        let error = faults(&[set]);
        assert!(error.contains(expected), "{set}: {error}");
    }
}

#[test]
fn each_form_says_the_same() {
    let question = question(&["signalling.associations=2"]);
    let answer = plan(&question);
    let text = print::text(&answer);
    let rto_min = text.lines().find(|line| line.starts_with("sctp.rto_min")).unwrap();
    assert!(text.contains("\ncase ") && rto_min.contains("930 ms   at least 840 ms, margin 10 %"), "{text}");
    let json = print::json(&answer);
    let of = |name: &str| {
        let settings = json["settings"].as_array().unwrap();
        settings.iter().find(|setting| setting["name"] == name).unwrap()["value"].as_f64().unwrap()
    };
    near(of("sctp.rto_min"), answer.value("sctp.rto_min"));
    let sysctl = print::linux_sysctl(&answer);
    assert!(
        sysctl.contains("net.sctp.rto_min = 930\n") && sysctl.contains("net.sctp.sack_timeout = 100\n"),
        "{sysctl}"
    );
    let gateway = print::signalling_gateway(&answer);
    assert!(gateway.contains(&format!("init-cwnd-size {:.0}\n", answer.value("sctp.cwnd"))), "{gateway}");
    assert_eq!(print::osmo_stp(&answer).matches(" asp satellite-").count(), 2);
    let scenario = print::scenario(&question, &answer);
    assert!(scenario.contains("rto_min = \"930 ms\"") && scenario.contains("count = 2"), "{scenario}");
}

proptest! {
    /// Whatever is asked is answered with numbers, and each keeps its bounds unless it was set or cannot be.
    #[test]
    fn every_question_has_an_answer_within_its_bounds(
        (round_trip, permanent, on_demand) in (1_u32..3_000, 64_u32..100_000, 0_u32..100_000),
        (allocation, interruption) in (1_u32..5_000, 0_u32..3_000),
        (links, octets, associations, bundling) in (1_u32..2_000, 12_u32..280, 1_u32..17, 0_u32..20),
        (erlang, step) in (0.001..0.6_f64, 0.0..0.4_f64),
        failover in 1_u32..60_000,
    ) {
        let sets = [
            format!("path.round_trip={round_trip} ms"),
            format!("band.permanent={permanent} kbit/s"),
            format!("band.on_demand={on_demand} kbit/s"),
            format!("band.allocation_time={allocation} ms"),
            format!("band.interruption={interruption} ms"),
            format!("signalling.links={links}"),
            format!("signalling.octets={octets}"),
            format!("signalling.associations={associations}"),
            format!("signalling.bundling_delay={bundling} ms"),
            format!("signalling.erlang_per_link={erlang}"),
            format!("signalling.step_erlang={step}"),
            format!("limits.failover={failover} ms"),
        ];
        let question = Question::parse("random", "", &sets).unwrap();
        let answer = plan(&question);
        for setting in &answer.settings {
            prop_assert!(setting.value.is_finite() && setting.value >= 0.0, "{setting:?}");
            let standard = setting.name.starts_with("mtp3") || setting.name.starts_with("m2pa");
            let least = setting.least.unwrap_or(0.0);
            prop_assert!(standard || setting.value >= least - 1.0 - least * 1e-9, "{setting:?}");
        }
        let cwnd = answer.setting("sctp.cwnd").unwrap();
        prop_assert!(cwnd.most.is_none_or(|most| cwnd.value <= most * 1.001), "{cwnd:?}");
        prop_assert!(!print::text(&answer).contains("NaN"));
    }
}
