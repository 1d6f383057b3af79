//! Tests of `slantpath plan`.

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

/// Lines of what was simulated, behind the heading of that beginning.
fn simulated<'a>(out: &'a str, heading: &str) -> Vec<&'a str> {
    let behind = out.lines().skip_while(|line| !line.starts_with(heading)).skip(1);
    behind.take_while(|line| !line.is_empty()).collect()
}

#[test]
fn the_answer_is_simulated_with_its_neighbours() {
    let outcome = Place::new("plan-verify").run(&geo(&["--verify"]));
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let promises = simulated(&outcome.out, "simulated, as answered");
    assert_eq!(promises.len(), 10, "{promises:?}");
    assert!(promises.iter().all(|line| line.ends_with("   held")), "{promises:?}");
    let runs = simulated(&outcome.out, "beside it");
    let names =
        ["as answered", "half the window", "four windows", "half the step", "no step", "the largest step"];
    assert!(runs.iter().zip(names).all(|(run, name)| run.trim_start().starts_with(name)), "{runs:?}");
    assert_eq!(runs.len(), names.len());
}

#[test]
fn a_run_is_told_to_programs_and_as_a_comment_where_settings_are_read() {
    let place = Place::new("plan-verify-forms");
    let ground =
        ["plan", "--round-trip=20 ms", "--permanent=256 kbit/s", "--links=2", "--erlang=0.2", "--octets=60"];
    let verified = |format: &str| place.run(&[&ground[..], &["--verify", "--format", format]].concat());
    let json: serde_json::Value = serde_json::from_str(&verified("json").out).expect("it is JSON");
    let simulated = &json["simulated"];
    assert_eq!((&simulated["held"], &simulated["runs"][0]["run"]), (&true.into(), &"as answered".into()));
    let names = |list: &serde_json::Value, key: &str| -> Vec<String> {
        let list = list.as_array().expect("a list");
        list.iter().map(|one| one[key].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names(&simulated["promises"], "promise"), names(&json["promises"], "name"));
    place.write("answer.toml", &verified("toml").out);
    assert_eq!(place.run(&["run", "answer.toml", "--show"]).status, Some(0));
    let sysctl = verified("sysctl").out;
    assert!(
        sysctl.lines().all(|line| line.is_empty() || line.starts_with("# ") || line.starts_with("net.")),
        "{sysctl}"
    );
}

/// Question of a test, with its case, the settings that are refused, and the exit status.
struct Case {
    sets: &'static [&'static str],
    working: &'static str,
    refused: &'static [&'static str],
    status: i32,
}

const TRIAL: [&str; 5] = [
    "path.round_trip=650 ms",
    "band.permanent=1024 kbit/s",
    "band.on_demand=1126 kbit/s",
    "signalling.bundling_delay=5 ms",
    "band.allocation_time=1.5 s",
];

#[test]
fn questions_that_were_answered_wrong_run_as_they_are_answered() {
    let cases = [
        // The window holds what waits for capacity: what exceeds the permanent band, and not the whole load, waits.
        Case {
            sets: &[
                "signalling.erlang_per_link=0.42",
                "signalling.step_erlang=0.13",
                "signalling.octets=270",
                "limits.cwnd=154000 B",
            ],
            working: "C",
            refused: &[],
            status: 0,
        },
        // What waits for capacity waits in front of the terminal, and not in the queue above SCTP.
        Case {
            sets: &[
                "signalling.erlang_per_link=0.35",
                "signalling.step_erlang=0.15",
                "signalling.octets=120",
                "limits.queue=100",
            ],
            working: "A",
            refused: &["mtp3.t4", "mtp3.t5"],
            status: 3,
        },
        // Interruptions follow each other while an allocation grows: T7 outlasts no standstill of both directions.
        Case {
            sets: &[
                "band.allocation_time=1.3 s",
                "signalling.erlang_per_link=0.36",
                "signalling.step_erlang=0.04",
                "signalling.octets=120",
                "band.interruption=1 s",
            ],
            working: "A",
            refused: &["m2pa.t7", "mtp3.t2", "mtp3.t4", "mtp3.t5", "mtp3.t12", "mtp3.t14", "m2pa.t7"],
            status: 3,
        },
        // Messages that wait for the window share packets, and the band holds them; a window of two packets does not.
        Case {
            sets: &[
                "path.round_trip=90 ms",
                "band.permanent=512 kbit/s",
                "band.on_demand=0 bit/s",
                "signalling.bundling_delay=0 s",
                "signalling.links=8",
                "signalling.erlang_per_link=0.4",
                "signalling.octets=60",
            ],
            working: "A",
            refused: &[],
            status: 0,
        },
        // And on demand: what waits in the window and above it is not both of it at once.
        Case {
            sets: &[
                "band.permanent=256 kbit/s",
                "band.on_demand=256 kbit/s",
                "signalling.bundling_delay=0 s",
                "band.allocation_time=2 s",
                "signalling.links=4",
                "signalling.erlang_per_link=0.5",
                "signalling.step_erlang=0.1",
                "signalling.octets=60",
            ],
            working: "A",
            refused: &["mtp3.t4", "mtp3.t5", "mtp3.t12"],
            status: 3,
        },
        // A window that is full all the time, as the paper counts: some is refused, and no more than that.
        Case {
            sets: &[
                "band.permanent=2048 kbit/s",
                "band.on_demand=250 kbit/s",
                "signalling.erlang_per_link=0.9",
                "signalling.step_erlang=0.0677",
                "signalling.octets=270",
                "signalling.overhead=0.16",
                "limits.cwnd=154000 B",
            ],
            working: "C",
            refused: &["sctp.cwnd", "mtp3.t2", "mtp3.t4", "mtp3.t5", "mtp3.t12"],
            status: 3,
        },
        // Two packets of a slow link are acknowledged together.
        Case {
            sets: &[
                "path.round_trip=90 ms",
                "band.permanent=512 kbit/s",
                "band.on_demand=0 bit/s",
                "signalling.bundling_delay=0 s",
                "signalling.links=8",
                "signalling.erlang_per_link=0.4",
                "signalling.octets=60",
                "limits.cwnd=2769 B",
            ],
            working: "A",
            refused: &["sctp.cwnd", "mtp3.t2", "mtp3.t4", "mtp3.t5", "mtp3.t12"],
            status: 3,
        },
    ];
    for (number, Case { sets, working, refused, status }) in cases.into_iter().enumerate() {
        let mut command = vec!["plan", "--verify", "--format=json"];
        for set in TRIAL.iter().chain(sets) {
            command.extend(["--set", set]);
        }
        let outcome = Place::new(&format!("plan-answered-{number}")).run(&command);
        let answer: serde_json::Value = serde_json::from_str(&outcome.out).expect("it is JSON");
        let impossible = answer["impossible"].as_array().expect("a list");
        let concerns: Vec<&str> = impossible.iter().filter_map(|one| one["concerns"].as_str()).collect();
        assert_eq!((answer["case"].as_str(), &concerns[..]), (Some(working), refused), "{sets:?}");
        assert_eq!(outcome.status, Some(status), "{sets:?}: {}", outcome.err);
        let kept = answer["simulated"]["promises"].as_array().expect("a list");
        for one in kept {
            assert_eq!(one["borne_out"], true, "{sets:?}: {one}");
            // Nothing is lost where that is not refused.
            if one["promise"] == "loss" && !impossible.iter().any(|impossible| impossible["breaks"] == "loss")
            {
                assert_eq!(one["measured"], 0.0, "{sets:?}");
            }
        }
    }
}

#[test]
fn the_largest_step_loses_nothing_and_one_beyond_the_losing_step_does() {
    let asked = |step: &str| {
        let erlang = format!("--step={step}");
        let window = ["--set=limits.cwnd=154000 B", "--set=limits.queue=200", "--verify", "--format=json"];
        let mut command = vec!["plan", "--erlang=0.42", "--octets=270", &erlang];
        for set in TRIAL.iter().chain(&["band.allocation_time=3 s"]) {
            command.extend(["--set", set]);
        }
        let outcome = Place::new(&format!("plan-largest-{step}")).run(&[&command[..], &window].concat());
        let answer: serde_json::Value = serde_json::from_str(&outcome.out).expect("it is JSON");
        let runs = answer["simulated"]["runs"].as_array().expect("a list").clone();
        let lost = |name: &str| {
            let run = runs.iter().find(|run| run["run"] == name).expect("it is run");
            run["loss_ratio"].as_f64().expect("a number")
        };
        let step = |key: &str| answer[key].as_f64().expect("a number") / 1_920_000.0;
        (
            step("largest_step_bit_per_s"),
            step("losing_step_bit_per_s"),
            lost("as answered"),
            lost("the largest step"),
        )
    };
    let (largest, losing, small, at_largest) = asked("0.13");
    // Equation 5 has 155 kbit/s, 0.08 Erlang of each of 30 lines.
    assert!(largest > 0.15 && losing < 0.32, "{largest} {losing}");
    assert_eq!((small, at_largest), (0.0, 0.0));
    let (_, _, beyond, at_largest) = asked(&format!("{:.3}", losing + 0.005));
    assert!(beyond > 0.001 && at_largest == 0.0, "{beyond} {at_largest}");
}

#[test]
fn a_path_fails_and_what_was_under_way_comes_over_the_other_one_in_time() {
    let ground = [
        "plan",
        "--round-trip=40 ms",
        "--permanent=512 kbit/s",
        "--links=4",
        "--erlang=0.3",
        "--octets=120",
        "--set=path.backup_round_trip=60 ms",
        "--verify",
    ];
    let line = |limit: &str| {
        let outcome = Place::new(&format!("plan-failover-{limit}"))
            .run(&[&ground[..], &["--failover", limit]].concat());
        let line = outcome.out.lines().rev().find(|line| line.trim_start().starts_with("limits.failover"));
        (outcome.status, line.expect("a failover is demanded").to_owned())
    };
    let (status, held) = line("800 ms");
    assert!(status == Some(0) && held.ends_with("800 ms   held"), "{status:?} {held}");
    let (status, refused) = line("60 ms");
    assert!(status == Some(3) && refused.ends_with("not possible, as answered"), "{status:?} {refused}");
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
    let promises = simulated(&outcome.out, "simulated, as answered");
    let of = |name: &str| {
        promises.iter().find(|line| line.trim_start().starts_with(name)).expect("it is promised")
    };
    assert!(of("m2pa.t7").ends_with("not possible, as answered"), "{promises:?}");
    // What is lost with the link was not sure, and decides the status where nothing else does.
    assert!(of("loss").ends_with("NOT HELD: it was not sure"), "{promises:?}");
    let borne = Place::new("plan-nearly-lossless").run(&[&lossy[..], &["--loss=0.01 %"]].concat());
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
    for (format, line) in [("sysctl", "net.sctp.rto_min = 1370"), ("gateway", " minimum-rto 1370")] {
        let outcome = place.run(&geo(&["--format", format]));
        assert!(outcome.out.lines().any(|own| own == line), "{format}: {}", outcome.out);
    }
}

#[test]
fn osmo_stp_gets_what_the_flags_say_and_each_blank_is_named() {
    let place = Place::new("plan-osmo-stp");
    let m3ua = ["--carrier=m3ua", "--format=osmo-stp", "--address=192.0.2.1", "--peer-point-code=2.1.2"];
    let outcome = place.run(&geo(&m3ua));
    for line in
        [" asp satellite-1 2905 2905 m3ua", "  local-ip 192.0.2.1", "  remote-ip FILL-IN-PEER-ADDRESS"]
    {
        assert!(outcome.out.lines().any(|own| own == line), "{line}: {}", outcome.out);
    }
    for flag in ["--peer-address", "--point-code", "--routing-context"] {
        assert!(outcome.err.contains(flag), "{flag}: {}", outcome.err);
    }
    let m2pa = place.run(&geo(&["--format=osmo-stp"]));
    assert_eq!((m2pa.status, m2pa.out.as_str()), (Some(2), ""));
    assert!(m2pa.err.contains("--carrier m3ua"), "{}", m2pa.err);
}

#[test]
fn each_carrier_is_simulated_as_it_is_answered_and_its_association_outlives_the_fade() {
    for (carrier, more) in [("m3ua", "--step-messages=30"), ("sctp", "--backup-round-trip=60 ms")] {
        let place = Place::new(&format!("plan-{carrier}"));
        let carrier = format!("--carrier={carrier}");
        let ground = ["plan", "--round-trip=40 ms", "--permanent=1 Mbit/s", "--messages=200", "--octets=120"];
        let outcome = place.run(&[&ground[..], &[&carrier, more, "--fade=20 s", "--verify"]].concat());
        assert_eq!(outcome.status, Some(0), "{}{}", outcome.out, outcome.err);
        let promises = simulated(&outcome.out, "simulated, as answered");
        assert!(promises.iter().all(|line| line.ends_with("   held")), "{promises:?}");
        assert!(promises.iter().any(|line| line.trim_start().starts_with("path.fade")), "{promises:?}");
        // With what RFC 9260 has by itself the association ends.
        let scenario = place.run(&[&ground[..], &[&carrier, more, "--fade=20 s", "--format=toml"]].concat());
        assert!(!scenario.out.contains("\nassociation_max_retrans = 10\n"), "{}", scenario.out);
    }
}

#[test]
fn an_answer_is_kept_and_nothing_is_written_over_it() {
    let place = Place::new("plan-out");
    let outcome = place.run(&geo(&["--out", "kept"]));
    assert_eq!(outcome.status, Some(0), "{}", outcome.err);
    let files = place.files("kept");
    let text = |name: &str| {
        let (_, bytes) = files.iter().find(|(of, _)| of == name).expect("it is kept");
        String::from_utf8(bytes.clone()).expect("text")
    };
    let json = |name: &str| -> serde_json::Value { serde_json::from_str(&text(name)).expect("it is JSON") };
    let (plan, manifest) = (json("plan.json"), json("manifest.json"));
    assert_eq!((&plan["kind"], &manifest["kind"]), (&"plan".into(), &"plan".into()));
    assert_eq!(manifest["files"], serde_json::json!(["plan.json", "plan.toml", "scenario.toml"]));
    assert_eq!((&plan["hash"], &plan["version"]), (&manifest["hash"], &manifest["version"]));
    let input = &plan["inputs"]["path.round_trip"];
    assert_eq!((&input["value"], &input["unit"]), (&0.65.into(), &"s".into()));
    let printed = place.run(&geo(&["--format=json"]));
    assert_eq!(plan["answer"], serde_json::from_str::<serde_json::Value>(&printed.out).expect("it is JSON"));
    // The question that is kept has the same answer, and the scenario runs.
    let again = place.run(&["plan", "kept/plan.toml"]);
    assert_eq!((again.status, again.out), (Some(0), outcome.out));
    let shown = place.run(&["run", "kept/scenario.toml", "--show"]);
    let hash = plan["hash"].as_str().expect("a hash");
    assert!(shown.out.contains(&format!("# hash {hash}")), "{}", shown.out);
    let second = place.run(&geo(&["--out", "kept"]));
    assert_eq!((second.status, second.out.as_str()), (Some(2), ""));
    assert!(second.err.contains("kept holds results of an earlier command"), "{}", second.err);
    assert_eq!(place.files("kept"), files);
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
