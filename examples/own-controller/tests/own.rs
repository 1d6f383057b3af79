//! Scenarios that name what this crate brings along.

use std::path::Path;

use slantpath_own_controller::kinds;
use slantpath_runner::{OwnKinds, RunOptions, RunOutput, Scenario, Watch, files_in, json_schema_with, run};

const LOSSY: &str = r#"
[scenario]
name = "lossy"
duration = "30 s"

[nodes]
left = { kind = "host" }
right = { kind = "host" }

[links.link]
ends = ["left", "right"]
rate = "2 Mbit/s"
delay = "100 ms"
queue = "20 kB"
loss = "0.5 %"

[tcp.default]
congestion_control = "new-reno"

[sctp.default]
congestion_control = "rfc9260"

[flows.one]
transport = "tcp"
from = "left"
to = "right"
application = { kind = "bulk", total = "unlimited" }

[flows.other]
transport = "sctp"
from = "left"
to = "right"
application = { kind = "bulk", total = "unlimited" }
"#;

fn read(own: &OwnKinds, set: &[&str]) -> Result<Scenario, String> {
    let set: Vec<String> = set.iter().map(|one| (*one).to_owned()).collect();
    let read =
        Scenario::parse_observed("a.toml", LOSSY, &set, files_in(Path::new("")), own, Watch::new(&|_| {}));
    read.map_err(|faults| faults.to_string())
}

fn digest(scenario: &Scenario) -> String {
    let RunOutput { digest, .. } = run(scenario, &RunOptions::default()).expect("a run");
    digest
}

const OWN: [&str; 3] = [
    "tcp.default.congestion_control={ kind = \"gentle\", keep = 0.9 }",
    "sctp.default.congestion_control=gentle",
    "links.link.discipline={ kind = \"newest-first\" }",
];

#[test]
fn an_own_controller_and_an_own_queue_run_and_are_named_in_the_merged_form() {
    let own = kinds();
    let scenario = read(&own, &OWN).unwrap();
    let merged = scenario.canonical();
    assert!(merged.contains("congestion_control = { kind = \"gentle\", keep = 0.9 }\n"), "{merged}");
    assert!(merged.contains("congestion_control = { kind = \"gentle\", keep = 0.7 }\n"), "{merged}");
    assert!(merged.contains("kind = \"newest-first\"\npatience = \"500 ms\"\n"), "{merged}");
    let again =
        Scenario::parse_observed("b.toml", &merged, &[], files_in(Path::new("")), &own, Watch::new(&|_| {}));
    let again = again.unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!((again.hash(), digest(&again)), (scenario.hash(), digest(&scenario)));
    let mut digests = vec![digest(&scenario), digest(&read(&own, &[]).unwrap())];
    digests.extend(OWN.map(|one| digest(&read(&own, &[one]).unwrap())));
    let other = read(&own, &["tcp.default.congestion_control={ kind = \"gentle\", keep = 0.5 }"]).unwrap();
    digests.push(digest(&other));
    digests.sort_unstable();
    let count = digests.len();
    digests.dedup();
    assert_eq!(digests.len(), count, "each of them does something");
}

#[test]
fn what_nobody_has_registered_is_refused_with_what_is_like_it() {
    let told = |set: &str| read(&kinds(), &[set]).unwrap_err();
    for (set, right) in [
        ("tcp.default.congestion_control=gentel", "did you mean `gentle`?"),
        ("sctp.default.congestion_control=xyz", "`rfc9260`, `gentle`"),
        ("tcp.default.congestion_control={ kind = \"gentle\", kep = 0.9 }", "did you mean `keep`?"),
        ("tcp.default.congestion_control={ kind = \"gentle\", keep = \"most\" }", "write `keep = 0.7`"),
        ("tcp.default.congestion_control={ kind = \"gentle\", code = \"1\" }", "take `code` away"),
        ("tcp.default.congestion_control={ kind = \"cubic\", keep = 1 }", "`cubic` has no parameter `keep`"),
        ("links.link.discipline={ kind = \"newest-frist\" }", "did you mean `newest-first`?"),
        ("links.link.discipline={ kind = \"newest-first\", patienc = 1 }", "did you mean `patience`?"),
    ] {
        assert!(told(set).contains(right), "{}", told(set));
    }
    let elsewhere = read(&OwnKinds::none(), &OWN).unwrap_err();
    assert!(elsewhere.contains("`gentle` is none of the choices"), "{elsewhere}");
    assert!(elsewhere.contains("`links.link.discipline` has no kind `newest-first`"), "{elsewhere}");
}

#[test]
fn the_schema_has_the_own_kinds() {
    let schema = json_schema_with(&kinds());
    for words in [
        "AIMD that keeps most of its window at a loss.",
        "Share of the window that a loss leaves.",
        "\"newest-first\"",
        "Longest time that a packet waits.",
    ] {
        assert!(schema.contains(words), "{words}");
        assert!(!slantpath_runner::json_schema().contains(words), "{words}");
    }
}

#[test]
fn the_command_runs_with_them() {
    let directory = std::env::temp_dir().join(format!("slantpath-own-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("a.toml");
    std::fs::write(&file, LOSSY).unwrap();
    let check = |set: &str| {
        let args = ["slantpath", "check", file.to_str().unwrap(), "--set", set];
        slantpath_cli::main_with(args.map(Into::into), None, &kinds())
    };
    assert_eq!(check("tcp.default.congestion_control=gentle"), 0);
    assert_ne!(check("tcp.default.congestion_control=brutal"), 0);
    std::fs::remove_dir_all(&directory).unwrap();
}
