//! Answers for carriers other than M2PA, loads in messages a second, and a file for osmo-stp.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use slantpath_plan::{Answer, Question, plan, print};

const GEO: &str = r#"
path = { round_trip = "650 ms" }
band = { permanent = "2048 kbit/s", on_demand = "250 kbit/s", allocation_time = "1.5 s" }
signalling = { erlang_per_link = 0.88, step_erlang = 0.08, octets = 270, bundling_delay = "5 ms" }
"#;

fn question(sets: &[&str]) -> Question {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    Question::parse("geo", GEO, &sets).unwrap_or_else(|error| panic!("{error}"))
}

fn answer(sets: &[&str]) -> Answer {
    plan(&question(sets))
}

/// A question of its own, with this load.
fn of_load(round_trip: &str, load: &str) -> Answer {
    let text = format!(
        "path = {{ round_trip = \"{round_trip}\" }}\nband = {{ permanent = \"1 Mbit/s\" }}\nsignalling = {{ {load} }}\n"
    );
    plan(&Question::parse("load", &text, &[]).unwrap())
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6 * expected.abs().max(1.0), "{value}, not {expected}");
}

#[test]
fn a_carrier_is_planned_with_its_own_octets_timers_and_queues() {
    let names =
        |sets: &[&str]| answer(sets).settings.into_iter().map(|setting| setting.name).collect::<Vec<_>>();
    let of_m2pa =
        |name: &&str| name.starts_with("mtp3.") || name.starts_with("m2pa.") || name.starts_with("gateway.");
    let m3ua = ["signalling.carrier=m3ua"];
    let timers = ["m3ua.t_ack", "m3ua.t_r", "m3ua.queue"];
    assert_eq!(names(&m3ua)[names(&m3ua).len() - 3..], timers);
    assert!(!names(&m3ua).iter().any(of_m2pa));
    let sctp = of_load("650 ms", "carrier = \"sctp\", octets = 200, messages_per_second = 300");
    assert!(sctp.settings.iter().all(|setting| setting.name.starts_with("sctp.")));
    // A chunk of 216, headers of 50, and SACKs by themselves: 66 for every second packet.
    assert_eq!((sctp.framing.chunk, sctp.framing.ethernet), (216.0, 216.0 + 50.0 + 33.0));
    assert_eq!(sctp.ethernet.as_bits_per_sec(), 299 * 8 * 300);
    // 120 octets on a link: 109 of a user part, padded, behind 32 of M3UA and 16 of the DATA chunk.
    let m3ua = answer(&["signalling.carrier=m3ua", "signalling.octets=120"]);
    assert_eq!((m3ua.framing.chunk, m3ua.framing.window), (160.0, 160.0));
}

#[test]
fn a_load_in_messages_a_second_is_that_in_erlang() {
    // 0.3 Erlang of ten lines of 64 kbit/s are 200 messages of 120 octets.
    let text = |load: &str| of_load("300 ms", &format!("links = 10, octets = 120, {load}"));
    let (erlang, messages) = (
        text("erlang_per_link = 0.3, step_erlang = 0.03"),
        text("messages_per_second = 200, step_messages_per_second = 20"),
    );
    for setting in &erlang.settings {
        near(messages.value(setting.name), setting.value);
    }
    assert_eq!(erlang.load, messages.load);
    let beyond = text("messages_per_second = 2000");
    assert_eq!(beyond.impossible[0].possible, "802 messages a second with their step");
}

#[test]
fn osmo_stp_gets_a_whole_file_and_what_nobody_has_said_is_a_blank() {
    let file = |sets: &[&str]| {
        let sets = [&["signalling.carrier=m3ua"], sets].concat();
        let question = question(&sets);
        print::osmo_stp(&question, &plan(&question))
    };
    let blank = file(&[]);
    assert_eq!(blank.blanks.len(), 5);
    assert!(blank.blanks.iter().all(|blank| blank.contains("--")), "{:?}", blank.blanks);
    assert!(
        blank.text.contains("  local-ip FILL-IN-ADDRESS\n")
            && blank.text.contains(" point-code FILL-IN-POINT-CODE\n")
    );
    let whole = file(&[
        "gateway.addresses=[\"192.0.2.1\", \"198.51.100.1\"]",
        "gateway.peer_addresses=[\"192.0.2.9\"]",
        "gateway.point_code=2-1-1",
        "gateway.peer_point_code=2-1-2",
        "gateway.routing_context=7",
        "signalling.associations=2",
    ]);
    assert_eq!((whole.blanks.len(), whole.text.contains("FILL-IN")), (0, false));
    insta::assert_snapshot!(whole.text);
}
