//! `slantpath plan`.

use crate::place::Place;

const GEO: [&str; 11] = [
    "plan",
    "--permanent=2048 kbit/s",
    "--on-demand=250 kbit/s",
    "--allocation-time=1.5 s",
    "--round-trip=650 ms",
    "--erlang=0.88",
    "--step=0.08",
    "--octets=270",
    "--links=30",
    "--set",
    "signalling.bundling_delay=5 ms",
];

fn geo<'a>(more: &[&'a str]) -> Vec<&'a str> {
    GEO.into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn flags_alone_are_a_question_and_the_answer_gives_reasons() {
    let outcome = Place::new("plan").run(&geo(&[]));
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
    insta::assert_snapshot!(outcome.out);
}

#[test]
fn the_answer_is_simulated_with_its_neighbours() {
    let outcome = Place::new("plan-verify").run(&geo(&["--verify"]));
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let simulated: Vec<&str> =
        outcome.out.lines().skip_while(|line| !line.starts_with("simulated")).skip(1).collect();
    assert_eq!(simulated.len(), 5, "{simulated:?}");
    assert!(simulated.iter().all(|line| line.ends_with("the formulas held")), "{simulated:?}");
    // What half a window refuses is lost.
    assert!(
        simulated[1].contains("half the window") && !simulated[1].contains("   0.0 %    0.0 %"),
        "{}",
        simulated[1]
    );
}

#[test]
fn the_formulas_hold_for_ordinary_questions() {
    let questions: [&[&str]; 4] = [
        // Eight windows of which some have four lines and some three; nothing is bundled.
        &[
            "--round-trip=600 ms",
            "--permanent=2048 kbit/s",
            "--erlang=0.3",
            "--octets=120",
            "--set=signalling.associations=8",
        ],
        // A path on the ground, half full.
        &["--round-trip=20 ms", "--permanent=2048 kbit/s", "--erlang=0.1", "--octets=60"],
        // The trial's band with as much on demand.
        &[
            "--round-trip=650 ms",
            "--permanent=1024 kbit/s",
            "--on-demand=1126 kbit/s",
            "--allocation-time=1.5 s",
            "--erlang=0.45",
            "--step=0.06",
            "--octets=120",
            "--set=signalling.bundling_delay=5 ms",
        ],
        // A line of 64 kbit/s that is nearly full: packets of 445 octets wait for each other.
        &["--round-trip=5 ms", "--permanent=64 kbit/s", "--links=1", "--erlang=0.5", "--octets=270"],
    ];
    for (number, question) in questions.into_iter().enumerate() {
        let place = Place::new(&format!("plan-holds-{number}"));
        let outcome = place.run(&[&["plan", "--verify"], question].concat());
        let held = outcome.out.lines().filter(|line| line.contains("the formulas held")).count();
        assert!(held >= 3 && !outcome.out.contains("NOT HELD"), "{question:?}: {}", outcome.out);
        let answered = outcome.out.lines().find(|line| line.contains("as answered")).unwrap_or("");
        assert!(answered.contains("   0.0 %    0.0 %"), "{question:?}: {answered}");
    }
}

#[test]
fn without_a_file_it_says_which_flags_are_needed() {
    let outcome =
        Place::new("plan-flags").run(&["plan", "--octets=120", "--set", "path.round_trip = 600 ms"]);
    assert_eq!((outcome.status, outcome.out.as_str()), (Some(2), ""));
    assert!(
        outcome.err.contains("--permanent '2048 kbit/s'") && outcome.err.contains("--erlang 0.2"),
        "{}",
        outcome.err
    );
    assert!(!outcome.err.contains("--octets") && !outcome.err.contains("--round-trip"), "{}", outcome.err);
}

#[test]
fn where_the_formulas_do_not_hold_it_says_so() {
    let interrupted = [
        "plan",
        "--permanent=1024 kbit/s",
        "--on-demand=1126 kbit/s",
        "--allocation-time=1.5 s",
        "--round-trip=650 ms",
        "--erlang=0.36",
        "--step=0.06",
        "--octets=120",
        "--set=band.interruption=1 s",
        "--verify",
    ];
    let outcome = Place::new("plan-not-held").run(&interrupted);
    // Timers of MTP3 cannot outlast the wait: the answer says so, and the status.
    assert_eq!(outcome.status, Some(3), "{}", outcome.err);
    assert!(outcome.err.contains("demands cannot be met: see the answer"), "{}", outcome.err);
    assert!(outcome.out.contains("NOT POSSIBLE: mtp3.t4 of 1.2 s at most"), "{}", outcome.out);
    assert!(outcome.out.contains("NOT HELD: "), "{}", outcome.out);
}

#[test]
fn a_loss_that_takes_links_out_of_service_is_said_before_it_is_simulated() {
    let lossy = [
        "plan",
        "--round-trip=650 ms",
        "--permanent=2048 kbit/s",
        "--erlang=0.2",
        "--octets=120",
        "--verify",
    ];
    let outcome = Place::new("plan-lossy").run(&[&lossy[..], &["--loss=1 %"]].concat());
    assert_eq!(
        (outcome.status, outcome.err.contains("a demand cannot be met")),
        (Some(3), true),
        "{}",
        outcome.err
    );
    let answered = outcome.out.lines().find(|line| line.contains("as answered")).unwrap_or("");
    assert!(answered.contains("the formulas held; links went out of service"), "{answered}");
    let borne = Place::new("plan-nearly-lossless").run(&[&lossy[..], &["--loss=0.05 %"]].concat());
    assert_eq!(borne.status, Some(0), "{}{}", borne.out, borne.err);
}

#[test]
fn each_form_is_taken_by_whom_it_is_for() {
    let place = Place::new("plan-forms");
    let scenario = place.run(&geo(&["--format=toml"]));
    place.write("answer.toml", &scenario.out);
    let run = place.run(&["run", "answer.toml", "--set", "scenario.duration=70 s"]);
    assert_eq!(run.status, Some(0), "{}", run.err);
    let json = place.run(&geo(&["--format=json"]));
    let answer: serde_json::Value = serde_json::from_str(&json.out).expect("it is JSON");
    assert_eq!(answer["case"], "A");
    for (format, line) in [
        ("sysctl", "net.sctp.rto_min = 1100"),
        ("gateway", " minimum-rto 1100"),
        ("osmo-stp", " asp satellite-1 2905 2905 m3ua"),
        // No two INITs are further apart than RTO.Max.
        ("osmo-stp", "  sctp-param init timeout 2200"),
    ] {
        let outcome = place.run(&geo(&["--format", format]));
        assert!(outcome.out.lines().any(|own| own == line), "{format}: {}", outcome.out);
    }
}

#[test]
fn a_file_is_read_with_its_places() {
    let place = Place::new("plan-file");
    place.write("question.toml", "[path]\nround_trip = \"650 ms\"\n\n[band]\npermanent = \"0 bit/s\"\n");
    let outcome = place.run(&["plan", "question.toml", "--erlang=0.2", "--octets=120"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.err.contains("question.toml:5:13"), "{}", outcome.err);
    assert!(outcome.err.contains("the first message waits for an allocation"), "{}", outcome.err);
    let missing = place.run(&["plan", "nowhere.toml"]);
    assert_eq!(missing.status, Some(2));
    assert!(missing.err.contains("nowhere.toml"), "{}", missing.err);
}
