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
fn a_key_that_acts_only_beside_another_setting_is_told_and_a_default_that_is_written_is_not() {
    let told = |transport: &str, profile: &str| -> Vec<String> {
        let text = text(transport, "", &format!("[{transport}.default]\n{profile}"));
        let found = warnings(&text);
        // Nobody minds a default that is written out.
        assert_eq!(warnings(&parse(&text).merged()).len(), found.len(), "{profile}");
        found.into_iter().map(|line| line.split_once(": ").unwrap().1.to_owned()).collect()
    };
    let rack = "loss_detection = \"rack\"";
    for (transport, profile, when, key) in [
        ("sctp", "fast_convergence = false".to_owned(), "without CUBIC", "fast_convergence"),
        ("tcp", "fast_convergence = false".to_owned(), "without CUBIC", "fast_convergence"),
        (
            "sctp",
            "congestion_control = \"cubic\"\ncwnd_growth = \"cumulative-advance\"".to_owned(),
            "with another controller than RFC 9260's own",
            "cwnd_growth",
        ),
        (
            "sctp",
            format!("congestion_control = \"bbr\"\n{rack}\ninitial_ssthresh = \"20 kB\""),
            "with a controller that has no ssthresh",
            "initial_ssthresh",
        ),
        (
            "sctp",
            "fixed_cwnd = \"60 kB\"\ninitial_cwnd = \"10 kB\"".to_owned(),
            "beside a fixed window",
            "initial_cwnd",
        ),
        (
            "sctp",
            "path_mtu_discovery = \"probing\"\ninitial_path_mtu = \"1300 B\"".to_owned(),
            "where probes look for the path MTU",
            "initial_path_mtu",
        ),
        (
            "tcp",
            "initial_cwnd = \"10 kB\"\ninitial_window = \"rfc5681\"".to_owned(),
            "beside `initial_cwnd`",
            "initial_window",
        ),
        ("tcp", "max_ack_delay = \"25 ms\"".to_owned(), "without loss probes", "max_ack_delay"),
    ] {
        assert_eq!(told(transport, &profile), [format!("{when}, `{key}` has no effect")], "{profile}");
    }
    for (transport, profile) in [
        ("sctp", "congestion_control = \"cubic\"\nfast_convergence = false"),
        ("sctp", "cwnd_growth = \"cumulative-advance\"\nfast_retransmit_window = \"keep\""),
        ("sctp", "initial_ssthresh = \"20 kB\"\ninitial_path_mtu = \"1300 B\""),
        ("tcp", "loss_detection = \"rack\"\nmax_ack_delay = \"25 ms\""),
        ("tcp", "congestion_control = \"cubic\"\nfast_convergence = false\ninitial_window = \"rfc5681\""),
    ] {
        assert_eq!(told(transport, profile), Vec::<String>::new(), "{profile}");
    }
}

#[test]
fn a_sweep_over_controllers_is_not_told_of_a_key_that_one_of_them_reads() {
    let directory = std::env::temp_dir().join(format!("slantpath-swept-keys-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let profile = "[sctp.default]\nfast_convergence = false";
    std::fs::write(directory.join("base.toml"), text("sctp", "", profile)).unwrap();
    let told = |values: &str| {
        let axis = format!("[[axis]]\n\"sctp.default.congestion_control\" = [{values}]\n");
        let sweep = format!("[sweep]\nscenario = \"base.toml\"\n{axis}");
        std::fs::write(directory.join("sweep.toml"), sweep).unwrap();
        Sweep::load(&directory.join("sweep.toml"), &[]).unwrap().warnings().len()
    };
    assert_eq!((told("\"rfc9260\", \"cubic\""), told("\"rfc9260\", \"hybla\"")), (0, 1));
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_path_between_satellites_that_fly_in_different_directions_is_told_with_a_second_antenna_as_its_cure() {
    let told = |antennas: [&str; 2]| -> Vec<(String, Option<String>)> {
        let [madrid, nairobi] = antennas;
        let sky = format!(
            "[scenario]\nname = \"detour\"\nduration = \"10 min\"\n[sky]\nepoch = \"2026-03-01T00:00:00Z\"\n\
             [sky.constellations.starlink]\nsatellites = {{ kind = \"preset\", preset = \"starlink-shell-1\" }}\n\
             [sky.ground]\ncriterion = \"highest\"\nreselect = \"grid\"\ngrid_period = \"15 s\"\n\
             [sky.sites.madrid]\nlatitude = \"40.4 deg\"\nlongitude = \"-3.7 deg\"\n{madrid}\n\
             [sky.sites.nairobi]\nlatitude = \"-1.3 deg\"\nlongitude = \"36.8 deg\"\n{nairobi}\n\
             [sky.access.dishes]\nrate = \"20 Mbit/s\"\n[sky.isls.lasers]\nrate = \"1 Gbit/s\"\n\
             [nodes]\nmadrid = {{ kind = \"host\", site = \"madrid\" }}\n\
             nairobi = {{ kind = \"host\", site = \"nairobi\" }}\n\
             [flows.telemetry]\ntransport = \"sctp\"\nfrom = \"madrid\"\nto = \"nairobi\"\n\
             application = {{ kind = \"constant-rate\", message_size = \"500 B\", interval = \"1 s\" }}\n"
        );
        let read = parse(&sky);
        assert_eq!(read.warnings(), []);
        read.remarks().iter().map(|told| (told.message.clone(), told.help.clone())).collect()
    };
    let two = "antennas = [{}, { criterion = \"longest-remaining\" }]";
    let [(message, help)] = &told(["", ""])[..] else { panic!("one warning") };
    assert!(message.starts_with("flow `telemetry`: packets take up to "), "{message}");
    assert!(
        message.contains(" ms from `madrid` to `nairobi`, ") && message.contains(" times the shortest way")
    );
    let cure = "give `madrid` and `nairobi` a second antenna with another `criterion`, so that a route has a choice; \
                across the seam of polar planes it gains less";
    assert_eq!(help.as_deref(), Some(cure));
    assert_eq!(told([two, two]), []);
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
