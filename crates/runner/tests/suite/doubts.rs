//! Warnings of what has no effect: profiles that nothing uses, messages of a trace that are never sent.

use std::path::Path;

use slantpath_runner::{RunOptions, Scenario, Sweep, files_in, run};

use crate::alone::parse;
use crate::cells::cells;
use crate::told::text;

fn warnings(text: &str) -> Vec<String> {
    parse(text).warnings().iter().map(|warning| format!("{}: {}", warning.line, warning.message)).collect()
}

#[test]
fn a_profile_that_nothing_uses_is_told_at_its_line() {
    let used = text("sctp", "profile = \"fast\"", "[sctp.fast]\nrto_min = \"500 ms\"");
    assert_eq!(warnings(&used), Vec::<String>::new());
    let lines = |text: &str, table: &str| text.lines().position(|line| line == table).unwrap() + 1;
    for (transport, table) in
        [("sctp", "[sctp.fast]"), ("tcp", "[tcp.fast]"), ("tcp", "[sctp.default]"), ("sctp", "[tcp.default]")]
    {
        let text = text(transport, "", table);
        let message = format!("{}: profile `{table}` is used by nothing", lines(&text, table));
        assert_eq!(warnings(&text), [message]);
    }
    // The other transport's profile of a name is another one.
    let text = text("tcp", "profile = \"fast\"", "[tcp.fast]\n[sctp.fast]");
    assert_eq!(
        warnings(&text),
        [format!("{}: profile `[sctp.fast]` is used by nothing", lines(&text, "[sctp.fast]"))]
    );
}

#[test]
fn a_trace_that_goes_on_behind_the_end_is_told() {
    let directory = std::env::temp_dir().join(format!("slantpath-told-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("t.csv"), "0 s,100 B\n8 s,100 B\n9 s,100 B\n70 s,100 B\n").unwrap();
    let constant = r#"{ kind = "constant-rate", message_size = "1000 B", interval = "100 ms" }"#;
    let told = |keys: &str| {
        let text = text("sctp", keys, "").replace(constant, r#"{ kind = "trace", file = "t.csv" }"#);
        let scenario = Scenario::parse("told", &text, &[], files_in(Path::new(&directory))).unwrap();
        let sent = cells(&run(&scenario, &RunOptions::default()).unwrap(), "flows", "messages_sent")[0];
        let warnings: Vec<String> = scenario.warnings().iter().map(|told| told.message.clone()).collect();
        (warnings, sent.unwrap())
    };
    // It begins at 1 s and ends at 10.
    let (warnings, sent) = told("start = \"1 s\"");
    assert_eq!(
        warnings,
        ["2 of 4 messages of this trace are due at 10 s, the end, or later: they are not sent"]
    );
    assert_eq!(sent, 2.0);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_delay_or_a_fade_that_begins_behind_the_end_is_told() {
    let directory = std::env::temp_dir().join(format!("slantpath-behind-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let told = |key: &str, content: &str| {
        std::fs::write(directory.join("t.csv"), content).unwrap();
        let link = "delay = \"10 ms\"\n";
        let text = text("sctp", "", "");
        assert!(text.contains(link));
        let own = if key == "delay_trace" { "" } else { link };
        let text = text.replace(link, &format!("{own}{key} = {{ file = \"t.csv\" }}\n"));
        let scenario = Scenario::parse("told", &text, &[], files_in(Path::new(&directory)))
            .unwrap_or_else(|error| panic!("{error}"));
        scenario.warnings().iter().map(|told| told.message.clone()).collect::<Vec<_>>()
    };
    // The run lasts for a minute.
    let behind = ["this trace begins at 60 s, and the run ends at 60 s: nothing of it happens"];
    assert_eq!(told("delay_trace", "60 s,10 ms\n70 s,20 ms\n"), behind);
    assert!(told("delay_trace", "59.9 s,10 ms\n70 s,20 ms\n").is_empty());
    assert!(told("delay_trace", "0 s,10 ms\n").is_empty());
    assert_eq!(told("fade_trace", "60 s,1 Mbit/s,,\n"), behind);
    assert!(told("fade_trace", "59.9 s,1 Mbit/s,,\n70 s,,1 %,\n").is_empty());
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn sessions_of_a_trace_that_begin_behind_the_end_are_told() {
    let directory = std::env::temp_dir().join(format!("slantpath-late-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("t.csv"), "0 s,1 kB\n49 s,1 kB\n50 s,1 kB\n").unwrap();
    let sessions = "[sessions.s]\nfrom = \"a\"\nto = \"b\"\ntransport = \"tcp\"\nstart = \"10 s\"\n\
                    arrivals = { kind = \"trace\", file = \"t.csv\" }\n";
    let text = text("sctp", "", sessions);
    let scenario = Scenario::parse("told", &text, &[], files_in(Path::new(&directory)))
        .unwrap_or_else(|error| panic!("{error}"));
    let warnings: Vec<&str> = scenario.warnings().iter().map(|told| told.message.as_str()).collect();
    let late = "1 of 3 sessions of this trace are due at 60 s, the end, or later: they are not sent";
    assert!(warnings.contains(&late.replace("sent", "begun").as_str()), "{warnings:?}");
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_sweep_is_told_of_a_profile_that_none_of_its_points_uses() {
    let directory = std::env::temp_dir().join(format!("slantpath-swept-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let profiles = "[sctp.one]\n[sctp.two]\n[sctp.three]";
    std::fs::write(directory.join("base.toml"), text("sctp", "profile = \"one\"", profiles)).unwrap();
    let sweep = "[sweep]\nscenario = \"base.toml\"\n[[axis]]\n\"flows.f.profile\" = [\"one\", \"two\"]\n";
    std::fs::write(directory.join("sweep.toml"), sweep).unwrap();
    let sweep = Sweep::load(&directory.join("sweep.toml"), &[]).unwrap();
    let told: Vec<&str> = sweep.warnings().iter().map(|told| told.message.as_str()).collect();
    assert_eq!(told, ["profile `[sctp.three]` is used by nothing"]);
    std::fs::remove_dir_all(&directory).unwrap();
}
