//! Broken input: one clear message with place and cure, exit status 2, nothing written.

use crate::place::{Place, scenario};

#[test]
fn a_broken_scenario_is_drawn_with_its_faults_and_nothing_is_written() {
    let place = Place::new("broken");
    let text =
        scenario("first.toml").replace("250 ms", "-250 ms").replace("exchange\"\nto", "exchnage\"\nto");
    place.write("broken.toml", &text);
    let outcome = place.run(&["run", "broken.toml", "--out", "out"]);
    assert_eq!(outcome.status, Some(2));
    assert_eq!(outcome.out, "");
    insta::assert_snapshot!(outcome.err);
    assert_eq!(place.names(), ["broken.toml"]);
}

#[test]
fn a_wrong_override_is_drawn_in_the_override() {
    let place = Place::new("override");
    place.write("first.toml", &scenario("first.toml"));
    let outcome = place.run(&["run", "first.toml", "--set", "links.satellite.loss=120 %"]);
    assert_eq!(outcome.status, Some(2));
    insta::assert_snapshot!(outcome.err);
}

#[test]
fn a_missing_file_is_named() {
    let place = Place::new("missing");
    let outcome = place.run(&["run", "nowhere.toml"]);
    assert_eq!(outcome.status, Some(2));
    let beginning = "error: nowhere.toml: No such file or directory (os error 2)";
    assert_eq!(outcome.err, format!("{beginning}; `slantpath new --list` tells of files to begin with\n"));
    place.write("nowhere2.toml", "");
    let near = place.run(&["check", "nowhere.toml"]);
    assert_eq!((near.status, near.err), (Some(2), format!("{beginning}; did you mean `nowhere2.toml`?\n")));
    let trace = place.run(&["explain", "nowhere.trace"]);
    assert_eq!(trace.err, "error: nowhere.trace: No such file or directory (os error 2)\n");
}

#[test]
fn a_directory_in_the_place_of_a_file_is_told_with_what_is_in_it() {
    let place = Place::new("directory");
    place.write("results/manifest.json", "{}");
    place.write("results/scenario.toml", "");
    place.write("empty/x/y", "");
    let told = |command: &str, path: &str| {
        let outcome = place.run(&[command, path]);
        assert_eq!((outcome.status, outcome.out.as_str()), (Some(2), ""), "{command} {path}");
        outcome.err
    };
    let results = "error: results: this is a directory of results: `slantpath report results` shows them, and \
                   results/scenario.toml is what was run\n";
    for command in ["run", "check", "explain"] {
        assert_eq!(told(command, "results"), results);
    }
    assert_eq!(told("run", "empty"), "error: empty: this is a directory; name a file\n");
}

#[test]
fn a_link_that_cannot_be_captured_is_answered_with_those_that_can() {
    let place = Place::new("capture");
    place.write("first.toml", &scenario("first.toml"));
    let outcome = place.run(&["run", "first.toml", "--pcap", "satelite", "--out", "out"]);
    assert_eq!(outcome.status, Some(2));
    assert_eq!(outcome.err, "error: --pcap: there is no link `satelite`; links: satellite\n");
    assert_eq!(place.names(), ["first.toml"]);
}

#[test]
fn a_misused_command_says_how_it_is_used() {
    let place = Place::new("misused");
    for arguments in
        [&["run"][..], &["rnu", "x.toml"], &["run", "x.toml", "--reps", "0"], &["sweep", "x.toml"]]
    {
        let outcome = place.run(arguments);
        assert_eq!(outcome.status, Some(2), "{arguments:?}");
        assert!(outcome.err.contains("Usage:") || outcome.err.contains("--help"), "{}", outcome.err);
    }
}

#[test]
fn what_a_parser_refuses_is_told_with_what_would_be_right() {
    let place = Place::new("refused-values");
    place.write("first.toml", &scenario("first.toml"));
    for (arguments, cure) in [
        (&["load", "localhost"][..], "give an IP address, like 192.0.2.1 or 2001:db8::1\n"),
        (&["load", "127.0.0.1", "--size", "1 kbit"], "give 16 to 1000000 bytes, like `1000` or `1 kB`\n"),
        (&["load", "127.0.0.1", "--size", "1 MiB"], "give 16 to 1000000 bytes, like `1000` or `1 kB`\n"),
        (&["load", "127.0.0.1", "--rate", "1 kbit/s"], "; their length is `--size`\n"),
        (&["load", "127.0.0.1", "--count", "1e6"], "give a whole number, without unit or point\n"),
        (&["load", "127.0.0.1", "--sctp", "congestion_control=reno"], "did you mean `rfc9260`?\n"),
        (&["run", "first.toml", "--seed", "x"], "give a whole number, without unit or point\n"),
        (&["run", "first.toml", "--set", "links.satellite.latency=1 s"], "did you mean `delay`?\n"),
    ] {
        let outcome = place.run(arguments);
        assert_eq!((outcome.status, outcome.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(outcome.err.contains(cure), "{arguments:?}: {}", outcome.err);
    }
}

/// A run that nobody waits for: what is wrong with its output has to be found before it.
const ENDLESS: [&str; 4] = ["--set", "scenario.duration=10000000 s", "--set", "probes.messages=false"];

#[test]
fn an_output_that_cannot_be_written_is_found_before_the_run() {
    let place = Place::new("unwritable");
    place.write("first.toml", &scenario("first.toml"));
    place.write("sweep.toml", "[sweep]\nscenario = \"first.toml\"\n");
    place.write("sky.toml", &scenario("iridium-london-boston.toml"));
    place.write("out", "a file where a directory should be");
    let commands = [&["run", "first.toml"][..], &["sweep", "sweep.toml"], &["topology", "sky.toml"]];
    for command in commands {
        let overrides = if command[0] == "topology" { &[][..] } else { &ENDLESS[..] };
        let outcome = place.run(&[command, overrides, &["--out", "out"]].concat());
        let wanted = "error: --out: `out` is a file, not a directory; name another directory\n";
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(1), wanted), "{command:?}");
    }
    assert_eq!(place.names(), ["first.toml", "out", "sky.toml", "sweep.toml"]);
}

#[test]
fn a_file_that_someone_else_wrote_is_neither_overwritten_nor_waited_for() {
    let place = Place::new("someone-else");
    // The merged scenario would take the place of the scenario itself.
    place.write("out/scenario.toml", &scenario("first.toml"));
    let outcome = place.run(&[&["run", "out/scenario.toml", "--out", "out"][..], &ENDLESS].concat());
    assert_eq!(outcome.status, Some(2));
    let wanted = "error: --out: out/scenario.toml is there, no manifest.json says that this program wrote it, and \
                  results may overwrite it; name another directory, or move the file away\n";
    assert_eq!(outcome.err, wanted);
    assert_eq!(place.files("out"), [("scenario.toml".to_owned(), scenario("first.toml").into_bytes())]);
}

#[test]
fn more_threads_than_any_machine_has_processors_for_are_refused() {
    let place = Place::new("threads-bound");
    place.write("first.toml", &scenario("first.toml"));
    for jobs in ["1025", "100000", "99999999999999999999", "-1", "two"] {
        let outcome = place.run(&["run", "first.toml", &format!("--jobs={jobs}")]);
        assert_eq!(outcome.status, Some(2), "{jobs}");
        assert!(outcome.err.contains("--jobs") && outcome.err.contains("1024"), "{}", outcome.err);
    }
    // As many as are allowed start no more threads than there are runs.
    let outcome = place.run(&["run", "first.toml", "--jobs", "1024", "--set", "scenario.duration=1 s"]);
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
}

#[test]
fn an_escape_sequence_in_a_file_never_reaches_the_terminal() {
    let place = Place::new("escapes");
    // Clear the screen, set the title, and turn the order of letters: as TOML escapes, which are the characters.
    let hostile = "\\u001b[2J\\u001b]0;owned\\u0007\\u009b31m\\u202ex\\n";
    let named = scenario("first.toml").replace("name = \"first\"", &format!("name = \"{hostile}\""));
    place.write("named.toml", &named);
    place.write("faulty.toml", &named.replace("[nodes]", "[nodes]\n\"\\u001b[2J\" = { kind = \"host\" }"));
    // The character itself, where TOML refuses it.
    place.write("raw.toml", "[scenario]\nname = \"\u{1b}[2J\u{9b}31m\"\n");
    place.write(
        "sky.toml",
        &scenario("iridium-london-boston.toml")
            .replace("24 h", "2 min")
            .replace("name = \"iridium-london-boston\"", &format!("name = \"{hostile}\"")),
    );
    let commands = [
        &["run", "named.toml", "--set", "scenario.duration=2 s"][..],
        &["run", "named.toml", "--set", "scenario.duration=2 s", "--json"],
        &["run", "named.toml", "--show"],
        &["run", "faulty.toml"],
        &["run", "raw.toml"],
        &["run", "named.toml", "--set", "links.satellite.loss=\u{1b}[2J"],
        &["run", "named.toml", "--out", "out", "--pcap", "\u{1b}[2J"],
        &["run", "no\u{1b}[2J.toml"],
        &["topology", "sky.toml", "--rows", "1"],
    ];
    for command in commands {
        let outcome = place.run(command);
        let printed = outcome.out + &outcome.err;
        assert!(printed.contains("\\u001b[2J") || printed.contains("?[2J"), "{command:?}: {printed:?}");
        let acted_on = printed.chars().find(|c| slantpath_runner::is_acted_on(*c) && *c != '\n');
        assert_eq!(acted_on, None, "{command:?}: {printed:?}");
    }
    let first = place.run(commands[0]).out;
    assert!(first.lines().next().is_some_and(|line| line.contains("\\u000a: 1 run of 2 s")), "{first}");
    // What is shown is still the same scenario.
    let shown = place.run(&["run", "named.toml", "--show"]);
    place.write("shown.toml", &shown.out);
    assert_eq!(place.run(&["run", "shown.toml", "--show"]).out.lines().last(), shown.out.lines().last());
}

#[test]
fn help_and_version_are_no_errors() {
    let place = Place::new("help");
    for argument in ["--help", "--version"] {
        let outcome = place.run(&[argument]);
        assert_eq!((outcome.status, outcome.err.as_str()), (Some(0), ""));
        assert!(outcome.out.contains("slantpath") || outcome.out.contains("Simulates"));
    }
}

#[test]
fn of_very_many_errors_the_first_are_drawn_and_the_others_counted() {
    let place = Place::new("many-errors");
    let flows = (0..500).map(|flow| format!("[flows.f{flow}]\nfrm = \"a\"\n"));
    let flows = flows.collect::<Vec<_>>().concat();
    place.write("many.toml", &format!("{}{flows}", scenario("first.toml")));
    let outcome = place.run(&["run", "many.toml"]);
    assert_eq!(outcome.status, Some(2));
    let last = outcome.err.lines().last().unwrap();
    let count =
        last.strip_prefix("the first 20 of ").and_then(|rest| rest.strip_suffix(" errors; nothing was run"));
    assert!(count.is_some_and(|count| count.parse::<u32>().unwrap() >= 500), "{last}");
    assert_eq!(outcome.err.matches("many.toml:").count(), 20);
}

#[test]
fn a_fault_in_a_very_long_line_is_drawn_with_its_surroundings() {
    let place = Place::new("long-line");
    let entries = vec!["{at = \"1 s\", action = \"down\"}"; 20_000].join(", ");
    let line = format!("script = [{entries}, {{at = \"2 s\", action = down}}, {entries}]");
    place.write("long.toml", &format!("# A line.\n{line}\n"));
    let outcome = place.run(&["run", "long.toml"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.err.contains("action = down}") && outcome.err.len() < 2_000, "{}", outcome.err);
    let place = format!("[long.toml:2:{}]", 2 + line.find(" down}").unwrap());
    assert!(outcome.err.contains(&place), "{place} in {}", outcome.err);
}

#[cfg(unix)]
#[test]
fn a_file_without_an_end_is_refused_and_not_read_until_memory_is_gone() {
    let place = with_first("endless");
    place.write("delay.toml", &scenario("delay-trace.toml").replace("delay-trace.csv", "/dev/zero"));
    let text = "more than 256 MiB: none is so long";
    let rows: [(&[&str], &str); 5] = [
        (&["run", "/dev/zero"], text),
        (&["run", "delay.toml"], text),
        (&["plan", "/dev/zero"], text),
        (&["explain", "/dev/zero"], "not a trace"),
        (&["replay", "/dev/zero"], "not a record"),
    ];
    for (arguments, wanted) in rows {
        let outcome = place.run(arguments);
        assert_eq!(outcome.status, Some(2), "{arguments:?}: {outcome:?}");
        assert!(outcome.err.contains(wanted), "{arguments:?}: {}", outcome.err);
    }
}

#[test]
fn a_seed_that_no_scenario_can_have_is_the_fault_of_its_own_option() {
    let place = with_first("seeds");
    let most = place.run(&["run", "first.toml", "--seed", "9223372036854775807", "--show"]);
    assert_eq!((most.status, most.out.contains("seed = 9223372036854775807")), (Some(0), true), "{most:?}");
    let more = place.run(&["run", "first.toml", "--seed", "9223372036854775808", "--show"]);
    assert_eq!(more.status, Some(2));
    assert!(more.err.contains("'--seed <N>'") && !more.err.contains("--set"), "{}", more.err);
}

#[test]
fn a_link_whose_name_no_file_can_have_is_refused_before_the_run() {
    let place = Place::new("long-name");
    let name = "n".repeat(250);
    place.write("first.toml", &scenario("first.toml").replace("satellite", &name));
    assert_eq!(place.run(&["run", "first.toml"]).status, Some(0));
    let outcome = place.run(&["run", "first.toml", "--pcap", &name, "--out", "out"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.err.starts_with("error: --out: no file can be called out/nnn"), "{}", outcome.err);
}

fn with_first(test: &str) -> Place {
    let place = Place::new(test);
    place.write("first.toml", &scenario("first.toml"));
    place
}

#[test]
fn a_capture_without_a_directory_says_what_to_add_and_set_speaks_of_its_own_file() {
    let place = Place::new("pcap-out");
    place.write("first.toml", &scenario("first.toml"));
    let outcome = place.run(&["run", "first.toml", "--pcap", "satellite"]);
    let wanted =
        "error: --pcap: `satellite.pcapng` is written into a directory of results: add `--out DIR`\n";
    assert_eq!((outcome.status, outcome.err.as_str()), (Some(2), wanted));
    for (command, words) in
        [("run", "the scenario"), ("sweep", "the base scenario"), ("topology", "the topology")]
    {
        let help = place.run(&[command, "--help"]).out;
        assert!(help.contains(&format!("Replace a value of {words}, for example")), "{command}: {help}");
    }
}
