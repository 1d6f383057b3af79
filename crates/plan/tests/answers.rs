//! Answers to whole questions.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use proptest::prelude::*;
use slantpath_plan::bursts::{longest_wait, poisson_most};
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
    // 30 links of 64 kbit/s at 0.88 Erlang. Of 782 messages a second one comes in 5 ms for all but 2 % of M2PA's
    // acknowledgements; four of 300 octets share 50 of headers and, with every second packet, a SACK.
    assert_eq!(answer.load.as_bits_per_sec(), 1_689_600);
    let alone = libm::exp(-1_689_600.0 / 8.0 / 270.0 * 0.005);
    let window = 300.0 + 32.0 * alone;
    let octets = window + (1.0 + alone) / 4.0 * (50.0 + 20.5);
    near(answer.framing.ethernet, octets);
    let ethernet = 0.96 * 30.0 * 64_000.0 * octets / 270.0;
    // What exceeds 2,048 kbit/s comes for 1.5 s and is sent at that rate.
    let wait = (ethernet - 2_048_000.0) * 1.5 / 2_048_000.0;
    let cwnd = answer.setting("sctp.cwnd").unwrap();
    let k = octets / window;
    // Until the acknowledgement is back: 5 ms of bundling, four messages at the permanent rate, and a second packet.
    let per_packet = octets / (1.0 + alone) * 4.0;
    let [packet, second] = [per_packet * 8.0 / 2_048_000.0, per_packet * 8.0 / ethernet];
    let acknowledged = 0.65 + 0.005 + packet + second;
    near(cwnd.least.unwrap(), ethernet * (acknowledged + wait) / (8.0 * k));
    // Some 580 messages under way are 710 once in a million looks, and 20 acknowledgements.
    let under_way = ethernet / 8.0 / octets * acknowledged;
    let burst = 300.0 * poisson_most(under_way)
        + 32.0 * poisson_most(under_way * alone)
        + ethernet * wait / (8.0 * k);
    assert!(burst > 1.1 * cwnd.least.unwrap());
    near(cwnd.value, burst.ceil());
    assert!(cwnd.value < cwnd.most.unwrap());
    // With what is on demand messages wait for each other, and the answer is a packet, too.
    let queueing = longest_wait(ethernet / 8.0 / octets, 8.0 * octets / 2_298_000.0);
    let rto_min = answer.setting("sctp.rto_min").unwrap();
    near(rto_min.least.unwrap(), 0.65 + 0.1 + 0.005 + 2.0 * packet + queueing + wait);
    near(rto_min.value, 1.1);
    near(rto_min.margin().unwrap(), (1.1 - rto_min.least.unwrap()) / 1.1);
    assert!(answer.impossible.is_empty(), "{:?}", answer.impossible);
    let queue = answer.setting("gateway.transmission_queue").unwrap();
    near(queue.least.unwrap(), ethernet / 8.0 / octets);
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
    // 1.16 octets of Ethernet each; with the 1.06 of our own count, B.
    assert_eq!(paper(&["path.round_trip=750 ms", "band.on_demand=0 bit/s"]).case, WorkingCase::B);
    assert_eq!(paper(&["band.permanent=1900 kbit/s"]).case, WorkingCase::C);
    let large = paper(&["limits.cwnd=384 kB"]);
    assert_eq!(large.case, WorkingCase::A);
    // It takes 1.59 s at the permanent rate, and a round trip: RTO.Max of 1 s expires meanwhile.
    let short = paper(&["limits.cwnd=384 kB", "limits.rto_max=1 s"]);
    let unmet = short.impossible.iter().find(|unmet| unmet.demand == "RTO.Max of 1.00 s").unwrap();
    assert!(unmet.why.contains("a window of 384000 B takes 1.59 s at 2048 kbit/s"), "{}", unmet.why);
    assert!(!large.impossible.iter().any(|unmet| unmet.demand.contains("RTO.Max")));
    let small = paper(&["limits.cwnd=64 kB"]);
    let unmet =
        small.impossible.iter().find(|unmet| unmet.demand.contains("with a window of 64000 B")).unwrap();
    assert!(unmet.why.contains("it lets out 833 kbit/s"), "{}", unmet.why);
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
    assert!(unmet.why.contains("T3 of 700 ms must outlast"), "{}", unmet.why);
    let ground = answer(&[
        "limits.failover=800 ms",
        "path.round_trip=40 ms",
        "band.allocation_time=40 ms",
        "signalling.erlang_per_link=0.5",
    ]);
    assert!(!ground.impossible.iter().any(|unmet| unmet.demand.contains("failover")));
    near(ground.value("sctp.rto_min"), 0.11);
    // One way of 20 ms behind RTO.Min: 129 ms are too few, 131 enough.
    let within = |limit: &str| {
        let limit = format!("limits.failover={limit}");
        let sets =
            ["path.round_trip=40 ms", "band.allocation_time=40 ms", "signalling.erlang_per_link=0.5", &limit];
        !answer(&sets).impossible.iter().any(|unmet| unmet.concerns == "limits.failover")
    };
    assert_eq!([within("129 ms"), within("131 ms")], [false, true]);
    let scenario = print::scenario(&question(&["limits.failover=3 s"]), &answer(&["limits.failover=3 s"]));
    assert!(scenario.contains("\npotentially_failed_max_retrans = 0\n"), "{scenario}");
}

#[test]
fn what_the_band_or_the_queue_cannot_hold_is_said_with_what_it_could() {
    let beyond =
        answer(&["signalling.erlang_per_link=0.96", "signalling.step_erlang=0", "signalling.links=40"]);
    let unmet = &beyond.impossible[0];
    assert!(
        unmet.demand.contains("2458 kbit/s of signalling, which are 2893 kbit/s on Ethernet"),
        "{}",
        unmet.demand
    );
    assert!(unmet.why.contains("2298 kbit/s in all"), "{}", unmet.why);
    assert_eq!(unmet.possible, "0.76 Erlang a link");
    let step = answer(&["band.on_demand=20 kbit/s"]);
    let unmet = &step.impossible[0];
    assert!(unmet.demand.contains("a step to 2175 kbit/s on Ethernet"), "{}", unmet.demand);
    assert_eq!(unmet.possible, "a step of 0.033 Erlang a link");
    // 120 octets at 0.4 Erlang: of 321 octets each, 6 kbit/s too many, until they share packets.
    let alone = [
        "signalling.octets=120",
        "signalling.erlang_per_link=0.4",
        "signalling.step_erlang=0",
        "signalling.bundling_delay=0 s",
        "band.on_demand=0 bit/s",
    ];
    let unmet = answer(&alone).impossible.remove(0);
    assert!(unmet.why.ends_with("2048 kbit/s in all, unless messages wait for each other and share packets"));
    assert_eq!(
        unmet.possible,
        "a bundling delay of 1 ms, which makes them 1342 kbit/s; or 0.40 Erlang a link"
    );
    let bundled = answer(&[&alone[..], &["signalling.bundling_delay=1 ms"]].concat());
    assert!(bundled.impossible.is_empty(), "{:?}", bundled.impossible);
    assert_eq!(bundled.ethernet.as_bits_per_sec() / 1_000, 1_342);
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
fn paths_are_passed_over_given_up_and_lost_with_their_association_in_that_order() {
    let names = ["sctp.pf_max_retrans", "sctp.path_max_retrans", "sctp.association_max_retrans"];
    let values = |sets: &[&str]| {
        let answer = answer(sets);
        names.map(|name| answer.setting(name).map(|setting| setting.value))
    };
    // A single path goes with its association; of two each has half of what that has.
    assert_eq!(values(&[]), [None, Some(10.0), Some(10.0)]);
    assert_eq!(values(&["path.backup_round_trip=60 ms"]), [Some(0.0), Some(5.0), Some(10.0)]);
    assert_eq!(values(&["limits.failover=2 s"]), [Some(0.0), Some(5.0), Some(10.0)]);
    // RTO.Min of 1,100 ms and RTO.Max of 2,200: eleven time-outs.
    let single = answer(&[]);
    let reason = &single.setting("sctp.association_max_retrans").unwrap().reason;
    assert!(reason.contains("after 11 time-outs in a row, 23.10 s at the least"), "{reason}");
}

#[test]
fn a_loss_that_t7_does_not_outlast_often_enough_cannot_be_carried() {
    let quiet = [
        "signalling.octets=120",
        "signalling.erlang_per_link=0.2",
        "signalling.step_erlang=0",
        "signalling.bundling_delay=0 s",
        "band.on_demand=0 bit/s",
    ];
    let unmet = |loss: &str| {
        let loss = format!("path.loss={loss}");
        let answer = answer(&[&quiet[..], &[loss.as_str()]].concat());
        answer.impossible.into_iter().filter(|unmet| unmet.concerns == "path.loss").collect::<Vec<_>>()
    };
    assert_eq!(unmet("0.1 %"), []);
    // 400 messages a second with their acknowledgements, both ways: of 1,600 packets each 10,000th is lost twice.
    let [one] = &unmet("1 %")[..] else { panic!("{:?}", unmet("1 %")) };
    assert!(one.why.contains("a packet and its retransmission are lost every 6.25 s"), "{}", one.why);
    // Out of service for 4 s each time, for a fiftieth of the time: 200 s apart.
    assert!(one.possible.contains("a loss below 0.177 %"), "{}", one.possible);
    assert!(unmet("0.176 %").is_empty() && unmet("0.178 %").len() == 1);
    // Of half nothing more can be carried than the band, of all nothing.
    assert!(unmet("60 %")[0].why.contains("kbit/s of 2048 kbit/s"), "{:?}", unmet("60 %"));
    assert_eq!(unmet("100 %")[0].why, "nothing arrives");
}

#[test]
fn a_window_that_follows_losses_is_judged_by_what_it_needs() {
    let control = |loss: &str| {
        let answer = answer(&[&format!("path.loss={loss}"), "signalling.erlang_per_link=0.5"]);
        let unmet = print::linux_sysctl(&answer).contains("# NOT ENOUGH");
        let setting = answer.setting("sctp.congestion_control").unwrap();
        (setting.value >= setting.least.unwrap(), unmet)
    };
    assert_eq!([control("1 %"), control("0.001 %")], [(false, true), (true, false)]);
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
    assert!(text.contains("\ncase ") && rto_min.contains("1410 ms   at least 1277 ms, margin 9 %"), "{text}");
    let json = print::json(&answer);
    let of = |name: &str| {
        let settings = json["settings"].as_array().unwrap();
        settings.iter().find(|setting| setting["name"] == name).unwrap()["value"].as_f64().unwrap()
    };
    near(of("sctp.rto_min"), answer.value("sctp.rto_min"));
    let sysctl = print::linux_sysctl(&answer);
    assert!(
        sysctl.contains("net.sctp.rto_min = 1410\n") && sysctl.contains("net.sctp.sack_timeout = 100\n"),
        "{sysctl}"
    );
    let gateway = print::signalling_gateway(&answer);
    assert!(gateway.contains(&format!("init-cwnd-size {:.0}\n", answer.value("sctp.cwnd"))), "{gateway}");
    assert_eq!(print::osmo_stp(&answer).matches(" asp satellite-").count(), 2);
    let scenario = print::scenario(&question, &answer);
    assert!(scenario.contains("rto_min = \"1410 ms\"") && scenario.contains("count = 2"), "{scenario}");
}

proptest! {
    /// Whatever is asked is answered with numbers, and each keeps its bounds unless it was set or cannot be.
    #[test]
    fn every_question_has_an_answer_within_its_bounds(
        (round_trip, permanent, on_demand) in (1_u32..3_000, 64_u32..100_000, 0_u32..100_000),
        (allocation, interruption) in (1_u32..5_000, 0_u32..3_000),
        (links, octets, associations, bundling) in (1_u32..2_000, 12_u32..280, 1_u32..17, 0_u32..20),
        (erlang, step) in (0.001..0.6_f64, 0.0..0.4_f64),
        (failover, loss, backup) in (1_u32..60_000, 0_u32..=100, proptest::option::of(1_u32..3_000)),
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
            format!("path.loss={loss} %"),
        ];
        let backup = backup.map(|trip| format!("path.backup_round_trip={trip} ms"));
        let sets: Vec<String> = sets.into_iter().chain(backup).collect();
        let question = Question::parse("random", "", &sets).unwrap();
        let answer = plan(&question);
        for setting in &answer.settings {
            prop_assert!(setting.value.is_finite() && setting.value >= 0.0, "{setting:?}");
            let standard = setting.name.starts_with("mtp3")
                || setting.name.starts_with("m2pa")
                || setting.name == "sctp.congestion_control";
            let least = setting.least.unwrap_or(0.0);
            prop_assert!(standard || setting.value >= least - 1.0 - least * 1e-9, "{setting:?}");
        }
        let cwnd = answer.setting("sctp.cwnd").unwrap();
        prop_assert!(cwnd.most.is_none_or(|most| cwnd.value <= most * 1.001), "{cwnd:?}");
        prop_assert!(!print::text(&answer).contains("NaN"));
        prop_assert!(loss < 100 || answer.impossible.iter().any(|unmet| unmet.concerns == "path.loss"));
        taken_by_linux(&print::linux_sysctl(&answer))?;
    }
}

/// Ranges of `net/sctp/sysctl.c` and `net/core/sysctl_net_core.c`, in the order in which the lines are written,
/// beginning with anything that the kernel may hold.
fn taken_by_linux(text: &str) -> Result<(), TestCaseError> {
    const INT_MAX: u64 = 2_147_483_647;
    for (mut rto_min, mut rto_max) in [(1_000, 60_000), (1, 1), (86_400_000, 86_400_000)] {
        let mut retransmissions = std::collections::BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (key, value) = line.split_once(" = ").unwrap();
            let value: u64 = value.parse().map_err(|_| TestCaseError::fail(line.to_owned()))?;
            let range = match key {
                "net.sctp.rto_initial" => 1..=86_400_000,
                "net.sctp.rto_min" => 1..=rto_max,
                "net.sctp.rto_max" => rto_min..=86_400_000,
                "net.sctp.sack_timeout" => 1..=500,
                "net.sctp.pf_retrans" => 0..=0xffff,
                "net.sctp.path_max_retrans" | "net.sctp.association_max_retrans" => 1..=INT_MAX,
                "net.core.rmem_max" => 2_304..=INT_MAX,
                "net.core.wmem_max" => 4_608..=INT_MAX,
                other => return Err(TestCaseError::fail(format!("no range of {other} is known"))),
            };
            prop_assert!(range.contains(&value), "{}: {:?}", line, range);
            match key {
                "net.sctp.rto_min" => rto_min = value,
                "net.sctp.rto_max" => rto_max = value,
                _ => drop(retransmissions.insert(key, value)),
            }
        }
        // A path is passed over before it is given up, or with it; an association outlives no more than its two paths.
        let [potentially_failed, path, association] =
            ["pf_retrans", "path_max_retrans", "association_max_retrans"]
                .map(|name| retransmissions[format!("net.sctp.{name}").as_str()]);
        prop_assert!(potentially_failed <= path && association <= 2 * path, "{}", text);
    }
    Ok(())
}
