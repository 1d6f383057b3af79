//! Signalling gateways with many lines: what a message takes to pass one, how many it passes, and what its associations
//! make of a satellite with capacity on demand.

use std::path::Path;

use slantpath_results::CellValue;
use slantpath_runner::{RunOptions, RunOutput, Scenario, run};

use crate::cells::cells;
use crate::project;

fn load(overrides: &[&str]) -> Result<Scenario, String> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    Scenario::load(&project::path("ss7-gateways-on-demand.toml"), &overrides)
        .map_err(|error| error.to_string())
}

fn run_with(overrides: &[&str]) -> RunOutput {
    let scenario = load(overrides).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions::default()).unwrap()
}

/// A column of texts, a cell that is missing as nothing.
fn texts(output: &RunOutput, table: &str, column: &str) -> Vec<String> {
    let column = output.table(table).unwrap().column(column).unwrap();
    let text = |row| match column.at(row) {
        CellValue::Text(text) => text.to_owned(),
        CellValue::Missing => String::new(),
        other => panic!("{other:?} is no text"),
    };
    (0..column.len()).map(text).collect()
}

fn sum(output: &RunOutput, table: &str, column: &str) -> f64 {
    cells(output, table, column).into_iter().flatten().sum()
}

/// Half a minute of load without the step.
const SHORT: [&str; 3] =
    ["scenario.duration=70 s", "links.satellite.access.interruption=0 s", "probes.access=false"];

fn short(overrides: &[&str]) -> RunOutput {
    let steps = ["a1", "a2", "b1", "b2"].map(|load| format!("signalling.load.{load}.steps=[]"));
    let steps = steps.iter().map(String::as_str);
    run_with(&SHORT.into_iter().chain(steps).chain(overrides.iter().copied()).collect::<Vec<_>>())
}

#[test]
fn fifteen_links_are_written_as_one() {
    let scenario = load(&[]).unwrap();
    let merged = scenario.merged();
    for name in ["a1-01", "a1-15", "b2-09"] {
        assert!(merged.contains(&format!("[signalling.links.{name}]")), "{name}");
    }
    assert!(!merged.contains("[signalling.links.a1]") && !merged.contains("[signalling.links.a1-16]"));
    let slcs = merged.lines().filter(|line| line.starts_with("slc = 14"));
    assert_eq!(slcs.count(), 4, "the codes of a link set run from 0 to 14");
}

#[test]
fn links_that_cannot_be_several_are_refused_with_the_reason() {
    let error = |overrides: &[&str]| load(overrides).unwrap_err();
    assert!(error(&["signalling.links.a1.count=0"]).contains("`a1` is no link at all"));
    let error_17 = error(&["signalling.links.a1.count=17"]);
    assert!(error_17.contains("a link set has no more: join the rest to another point"), "{error_17}");
    let error_slc = error(&["signalling.links.a1.slc=3"]);
    assert!(error_slc.contains("15 links cannot have one signalling link code"), "{error_slc}");
    let other = r#"{ between = ["tester-a1", "sg-a"], carrier = { kind = "mtp2", delay = "1 ms" } }"#;
    let error_name = error(&[&format!("signalling.links.a1-07={other}")]);
    assert!(error_name.contains("one of the 15 links is called `a1-07`, as another is"), "{error_name}");
}

#[test]
fn a_message_takes_the_delay_of_each_gateway_that_it_passes() {
    let delay = |overrides: &[&str]| {
        let output = short(overrides);
        assert_eq!(sum(&output, "signalling_load", "lost_messages"), 0.0);
        let least = cells(&output, "signalling_load", "delay_min_s").into_iter().flatten();
        least.fold(f64::INFINITY, f64::min)
    };
    let none = delay(&[
        "signalling.points.sg-a.processing.delay=0 s",
        "signalling.points.sg-b.processing.delay=0 s",
        "sctp.gateway.bundling_delay=0 s",
    ]);
    let both = delay(&["sctp.gateway.bundling_delay=0 s"]);
    // Delays of loads are counted to 0.3 ms; which slot of the frame a message meets changes with its delay.
    assert!((both - none - 0.04).abs() < 0.02, "{both} after {none}");
    let one = delay(&["sctp.gateway.bundling_delay=0 s", "signalling.points.sg-b.processing.delay=120 ms"]);
    assert!((one - both - 0.1).abs() < 0.001, "{one} after {both}");
}

#[test]
fn a_gateway_passes_its_capacity_and_tells_of_congestion_before_it_throws_away() {
    let output = short(&["signalling.points.sg-a.processing.capacity=600"]);
    let text = |column| texts(&output, "signalling_discards", column);
    let (points, layers, reasons) = (text("point"), text("layer"), text("reason"));
    let counts = cells(&output, "signalling_discards", "messages");
    let full = (0..counts.len())
        .filter(|&row| points[row] == "sg-a" && layers[row] == "processor" && reasons[row] == "queue-full")
        .map(|row| counts[row].unwrap());
    // 720 messages come from the testers and as many from the other gateway, of which it takes 600: 840 a second are
    // too many, for the 30 s of the load without the first 1,000, which wait.
    let full: f64 = full.sum();
    assert!((full - (840.0 * 30.0 - 1_000.0)).abs() < 300.0, "{full}");
    let at = cells(&output, "signalling_events", "at_s");
    let [point, link, event] =
        ["point", "link", "event"].map(|column| texts(&output, "signalling_events", column));
    let own =
        (0..at.len()).find(|&row| point[row] == "sg-a" && link[row].is_empty() && event[row] == "congestion");
    // The 500th waits after 0.6 s, and the 1,000th after 1.2 s.
    let own = at[own.expect("it tells of its congestion")].unwrap();
    assert!((30.4..31.0).contains(&own), "{own}");
    assert!(sum(&output, "mtp3", "sent_tfc_messages") > 1_000.0);
}

/// Bytes of the window of the left gateway's association in each second.
fn windows(output: &RunOutput) -> Vec<f64> {
    let hosts = texts(output, "association_intervals", "host");
    let windows = cells(output, "association_intervals", "cwnd_bytes").into_iter().zip(hosts);
    windows.filter(|(_, host)| host == "sg-a").map(|(cwnd, _)| cwnd.unwrap_or(0.0)).collect()
}

#[test]
fn the_window_of_mb9_opens_by_a_packet_a_round_trip_up_to_its_limit() {
    let output = run_with(&[
        "sctp.gateway.preset=mb9",
        "links.satellite.access.permanent=2048 kbit/s",
        "scenario.duration=150 s",
        "links.satellite.access.interruption=0 s",
    ]);
    let windows = windows(&output);
    assert_eq!(windows.iter().copied().fold(0.0, f64::max), 64_000.0);
    // 544 bytes of 576 are DATA, every 0.588 s.
    let opened = windows[60] - windows[40];
    assert!((opened - 20.0 / 0.588 * 544.0).abs() < 1_200.0, "{opened}");
    let open = windows.iter().position(|cwnd| *cwnd == 64_000.0).unwrap();
    assert!((85..105).contains(&open), "the limit is reached after {open} s");
}

/// Messages that the right gateway has taken from 200 s to 280 s, those that acknowledge among them, and what the
/// left one repeated.
fn late_interval(overrides: &[&str]) -> (f64, f64) {
    let output = run_with(overrides);
    let hosts = texts(&output, "association_intervals", "host");
    let starts = cells(&output, "association_intervals", "start_s");
    let of = |column: &str, host: &str| -> f64 {
        let values = cells(&output, "association_intervals", column);
        let rows = (0..values.len())
            .filter(|&row| hosts[row] == host && (200.0..280.0).contains(&starts[row].unwrap()));
        rows.map(|row| values[row].unwrap()).sum()
    };
    (of("received_messages", "sg-b") / 80.0, of("retransmissions", "sg-a") / 80.0)
}

#[test]
fn a_fixed_window_is_repeated_for_ever_once_capacity_has_been_interrupted_for_longer_than_the_timeout() {
    // 840 messages a second come, and as many as before go where nothing is interrupted.
    let (passed, repeated) = late_interval(&["links.satellite.access.interruption=0 s"]);
    assert!(passed > 840.0 && repeated == 0.0, "{passed}, {repeated} again");
    let (passed, repeated) = late_interval(&[]);
    assert!(passed < 640.0 && repeated > 250.0, "{passed}, {repeated} again");
}

#[test]
fn the_paths_of_associations_are_sampled_like_those_of_flows() {
    let output = short(&["sctp.gateway.preset=mb9", "probes.paths=500 ms"]);
    let column = |name: &str| cells(&output, "association_paths", name);
    let hosts = texts(&output, "association_paths", "host");
    assert!(texts(&output, "association_paths", "association").iter().all(|name| name == "trunk"));
    assert!(texts(&output, "association_paths", "path").iter().all(|path| path.starts_with("lan-")));
    let rows: Vec<usize> = (0..hosts.len()).filter(|&row| hosts[row] == "sg-a").collect();
    let (at, cwnd, rto) = (column("at_s"), column("cwnd_bytes"), column("rto_s"));
    let outstanding = column("outstanding_bytes");
    // A sample in each half second of load at most, and hardly less.
    let loaded: Vec<usize> =
        rows.iter().copied().filter(|&row| (32.0..60.0).contains(&at[row].unwrap())).collect();
    assert!((46..=56).contains(&loaded.len()), "{}", loaded.len());
    assert!(loaded.windows(2).all(|pair| at[pair[1]].unwrap() - at[pair[0]].unwrap() >= 0.5));
    assert!(loaded.windows(2).all(|pair| cwnd[pair[1]] >= cwnd[pair[0]]), "the window opens");
    // The window is full but for a packet and what rounds up to one.
    assert!(loaded.iter().all(|&row| outstanding[row].unwrap() > cwnd[row].unwrap() - 1_200.0));
    // Between the round trip and RTO.Max.
    assert!(loaded.iter().all(|&row| (0.58..=1.0).contains(&rto[row].unwrap())));
    assert!(run_with(&["scenario.duration=40 s"]).table("association_paths").is_none());
}

/// Warnings of the trial's scenario with other keys of the link between the gateways.
fn warnings(overrides: &[&str]) -> Vec<String> {
    let scenario = load(overrides).unwrap_or_else(|error| panic!("{error}"));
    scenario.warnings().iter().map(ToString::to_string).collect()
}

#[test]
fn each_reading_of_t7_that_the_window_keeps_waiting_is_told_with_both_values() {
    let told = |reading: &str, preset: &str, t7: &str| {
        let overrides = [
            format!("signalling.links.trunk.carrier.t7_from={reading}"),
            format!("signalling.links.trunk.carrier.t7={t7}"),
            format!("sctp.gateway.preset={preset}"),
        ];
        let told = warnings(&overrides.each_ref().map(String::as_str));
        let mut told =
            told.into_iter().filter(|text| text.contains("M2PA T7 of") && text.contains("t7_from"));
        told.next()
    };
    for reading in ["given", "hand-over", "first-transmission", "last-acknowledgement"] {
        // MB9's window opens by a packet a round trip, in both directions: acknowledgements wait, too.
        let text = told(reading, "mb9", "2 s").unwrap_or_else(|| panic!("{reading} is said to hold"));
        assert!(text.contains(&format!("M2PA T7 of 2 s with `t7_from = \"{reading}\"`")), "{text}");
        assert!(text.contains("the round trip of 574 ms"), "{text}");
        // The window of the other release is open from the start.
        assert_eq!(told(reading, "mb9-sat", "2 s"), None, "{reading}");
        assert_eq!(told(reading, "mb9", "60 s"), None, "{reading}");
    }
    // A timer between the round trip and what a frame and bundling add to it.
    let text = told("hand-over", "mb9-sat", "600 ms").expect("slots and bundling are known to wait");
    assert!(text.contains("acknowledged after up to"), "{text}");
}

#[test]
fn a_load_beyond_lines_is_told_unless_it_is_meant() {
    let with = |erlang: &str, meant: &str| {
        let overrides = [
            format!("signalling.load.a1.erlang_per_link={erlang}"),
            "signalling.load.a1.steps=[]".to_owned(),
            format!("signalling.load.a1.overload={meant}"),
        ];
        let told = warnings(&overrides.each_ref().map(String::as_str));
        told.into_iter().filter(|text| text.contains("overload")).collect::<Vec<_>>()
    };
    assert_eq!(with("1", "false"), Vec::<String>::new());
    let told = with("1.25", "false");
    assert_eq!(told.len(), 1, "{told:?}");
    // Each of fifteen lines at either end has one link of the load; the first is reported.
    assert!(
        told[0].contains("load `a1` offers 80 kbit/s to `a1-01` at `tester-a1` from 30 s on"),
        "{told:?}"
    );
    assert!(told[0].contains("the line carries 64 kbit/s") && told[0].contains("80 % of the load would do"));
    assert!(told[0].contains("(and 29 more like it)"), "{told:?}");
    assert_eq!(with("1.25", "true"), Vec::<String>::new());
    let told = with("1", "true");
    assert!(told[0].contains("no link has more of it than it carries"), "{told:?}");
}

#[test]
fn no_example_of_signalling_has_a_warning_of_loads_or_windows() {
    for name in ["ss7-quad", "ss7-over-geo", "ss7-gateways-on-demand", "sigtran-gateway-over-geo"] {
        let scenario = project::load(&format!("{name}.toml"), &[]);
        let told: Vec<String> = scenario.warnings().iter().map(ToString::to_string).collect();
        let kinds = ["offers", "overload", "never filled", "expires in service"];
        let own: Vec<&String> =
            told.iter().filter(|text| kinds.iter().any(|kind| text.contains(kind))).collect();
        assert!(own.is_empty(), "{name}: {own:?}");
    }
}

fn eight(overrides: &[&str]) -> Scenario {
    project::load("ss7-eight-associations.toml", overrides)
}

/// Messages that the right gateway has from each of eight associations, in links' worth of the load.
fn links_worth(overrides: &[&str]) -> Vec<f64> {
    // Nothing but acknowledgements goes the other way.
    let silent = [
        "scenario.duration=60 s",
        "signalling.load.b1.erlang_per_link=0.001",
        "signalling.load.b2.erlang_per_link=0.001",
    ];
    let overrides: Vec<&str> = silent.into_iter().chain(overrides.iter().copied()).collect();
    let output = run(&eight(&overrides), &RunOptions::default()).unwrap();
    let hosts = texts(&output, "association_intervals", "host");
    let names = texts(&output, "association_intervals", "association");
    let starts = cells(&output, "association_intervals", "start_s");
    let received = cells(&output, "association_intervals", "received_messages");
    let of = |name: &str| -> f64 {
        let rows = (0..hosts.len()).filter(|&row| hosts[row] == "sg-b" && names[row] == name);
        let rows = rows.filter(|&row| (35.0..45.0).contains(&starts[row].unwrap()));
        rows.map(|row| received[row].unwrap()).sum()
    };
    // 0.36 Erlang of 120 octets are 24 messages a second.
    (1..=8).map(|number| of(&format!("trunk-{number}")) / 240.0).collect()
}

#[test]
fn thirty_lines_share_eight_associations_by_their_link_codes() {
    assert!(eight(&[]).warnings().is_empty(), "{:?}", eight(&[]).warnings());
    let near = |shares: &[f64], expected: [f64; 8]| {
        let are = shares.iter().zip(expected).all(|(share, expected)| (share - expected).abs() < 0.3);
        assert!(are, "{shares:?}, not {expected:?}");
    };
    near(&links_worth(&[]), [4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 3.0, 3.0]);
    // Sixteen links' worth on fourteen lines: two lines carry two, and their associations with them.
    let sixteen = "signalling.load.a2.links=16";
    near(&links_worth(&[sixteen]), [5.0, 5.0, 4.0, 4.0, 4.0, 4.0, 3.0, 3.0]);
    let by_selection = "signalling.points.sg-a.spread=link-selection";
    near(&links_worth(&[sixteen, by_selection]), [4.0; 8]);
}

#[test]
fn a_wan_emulator_is_the_link_that_it_stands_for() {
    let text = |box_or_link: &str| {
        format!(
            "[scenario]\nname = \"x\"\nduration = \"10 s\"\n\
             [nodes]\na = {{ kind = \"host\" }}\nb = {{ kind = \"host\" }}\n\
             {box_or_link}\n\
             [flows.f]\ntransport = \"sctp\"\nfrom = \"a\"\nto = \"b\"\nstart = \"1 s\"\n\
             application = {{ kind = \"bulk\", total = \"100 kB\" }}\n"
        )
    };
    let scenario = |box_or_link: &str| {
        Scenario::parse("x", &text(box_or_link), &[], slantpath_runner::files_in(Path::new(".")))
    };
    let emulator = |keys: &str| {
        scenario(&format!("[wan_emulators.line]\nends = [\"a\", \"b\"]\nrate = \"2 Mbit/s\"\n{keys}"))
    };
    let digest = |scenario: Scenario| run(&scenario, &RunOptions::default()).unwrap().digest;
    let line = emulator("round_trip = \"640 ms\"\nloss = \"1 %\"\npriority = true").unwrap();
    let link = "[links.line]\nends = [\"a\", \"b\"]\nrate = \"2 Mbit/s\"\ndelay = \"320 ms\"\nloss = \"1 %\"\n\
                link_overhead = \"18 B\"\ndiscipline = { kind = \"priority\" }";
    let link = scenario(link).unwrap();
    assert_eq!(line.hash(), link.hash(), "{}", line.merged());
    assert!(line.merged().contains("half of `round_trip`"), "{}", line.merged());
    assert_eq!(digest(line), digest(link));
    assert!(emulator("round_trip = \"700 ms\"").is_ok() && emulator("round_trip = \"0 s\"").is_ok());
    let error = emulator("round_trip = \"700.001 ms\"").unwrap_err().to_string();
    assert!(error.contains("the delay line of the trial ends there"), "{error}");
}
