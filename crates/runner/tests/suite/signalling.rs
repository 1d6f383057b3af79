//! Signalling networks from scenario files: accounts that add up, changeover in sequence, equal runs, warnings.
mod servers;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use slantpath_results::{CellValue, Table};
use slantpath_runner::{RunOptions, RunOutput, Scenario, run};

use crate::alone::parse;
use crate::project::load;

fn assert_the_seed_decides(output: impl Fn(&[&str]) -> RunOutput) {
    let [first, second] = [(); 2].map(|()| output(&[]));
    assert_eq!(first, second);
    assert_ne!(first.digest, output(&["scenario.seed=2"]).digest);
}

fn scenario(overrides: &[&str]) -> Scenario {
    load("ss7-over-geo.toml", overrides)
}

fn output(overrides: &[&str]) -> RunOutput {
    run(&scenario(overrides), &RunOptions::default()).unwrap()
}

fn cells(table: &Table, column: &str) -> Vec<u64> {
    let column = table.column(column).unwrap();
    let cells = (0..table.rows()).map(|row| match column.at(row) {
        CellValue::U64(number) => number,
        other => panic!("{other:?} is no count"),
    });
    cells.collect()
}

fn sum(table: &Table, column: &str) -> u64 {
    cells(table, column).iter().sum()
}

/// Sums of sent, lost, repeated and out of sequence, when every message has been delivered, late, lost or none of that
/// yet.
fn settle(output: &RunOutput) -> [u64; 4] {
    let load = output.table("signalling_load").unwrap();
    let settled = ["delivered_messages", "late_messages", "lost_messages", "outstanding_messages"]
        .map(|name| sum(load, name));
    assert_eq!(sum(load, "sent_messages"), settled.iter().sum::<u64>());
    ["sent_messages", "lost_messages", "repeated_messages", "out_of_sequence_messages"]
        .map(|name| sum(load, name))
}

/// A table as text, with seconds to the millisecond.
fn text(table: &Table) -> String {
    let mut text = String::new();
    for column in table.columns() {
        let _ = write!(text, "{}:", column.name());
        for row in 0..table.rows() {
            let _ = match column.at(row) {
                CellValue::F64(number) => write!(text, " {number:.3}"),
                CellValue::U64(number) => write!(text, " {number}"),
                CellValue::Text(word) => write!(text, " {}", word.replace(' ', "_")),
                CellValue::Missing => write!(text, " -"),
                other => write!(text, " {other:?}"),
            };
        }
        text.push('\n');
    }
    text
}

#[test]
fn ss7_over_a_satellite_gives_these_results() {
    let output = output(&[]);
    let tables = ["signalling_load", "signalling_links", "signalling_events"];
    let texts = tables.map(|name| format!("{name}\n{}", text(output.table(name).unwrap())));
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn failures_by_script_lose_repeat_and_reorder_nothing() {
    let [sent, rest @ ..] = settle(&output(&[]));
    assert!(sent > 1_000, "{sent}");
    assert_eq!(rest, [0, 0, 0]);
}

#[test]
fn an_outage_of_the_satellite_is_accounted_for_message_by_message() {
    let text = scenario(&[]).canonical()
        + "\n[[script]]\nat = \"40 s\"\nlink = \"satellite\"\naction = \"down\"\n\
           \n[[script]]\nat = \"48 s\"\nlink = \"satellite\"\naction = \"up\"\n";
    let output = run(&parse(&text), &RunOptions::default()).unwrap();
    let [sent, ..] = settle(&output);
    assert!(sent > 1_000, "{sent}");
    let links = output.table("signalling_links").unwrap();
    // T7 takes both associations out; the line carries on.
    assert!(sum(links, "times_unavailable") >= 6, "{}", self::text(links));
}

#[test]
fn a_load_is_shared_by_titles_and_point_codes_and_another_of_its_service_is_told_apart() {
    let file = "ss7-calls-and-enquiries.toml";
    let output = |sets: &[&str]| run(&load(file, sets), &RunOptions::default()).unwrap();
    let whole = output(&[]);
    let [sent, lost, repeated, out_of_sequence] = settle(&whole);
    assert_eq!([lost, repeated, out_of_sequence], [0, 0, 0]);
    let count = |output: &RunOutput, table: &str, column: &str| sum(output.table(table).unwrap(), column);
    let shared: u64 = cells(whole.table("signalling_load").unwrap(), "sent_messages")[2..].iter().sum();
    assert!(shared > 2_000 && shared < sent, "{shared} of {sent}");
    // Of both links' messages three of ten are translated, and none of the other load's.
    let translated = count(&whole, "sccp", "translated_messages");
    assert!((translated as f64 - 0.3 * shared as f64).abs() < 2.0, "{translated} of {shared}");
    // The draws are those of the load alone, and of one that goes one way.
    for set in ["signalling.load.background.service=7", "signalling.load.traffic.title_share=\"60 %\""] {
        let other = output(&[set]);
        let of = |output: &RunOutput| cells(output.table("signalling_load").unwrap(), "sent_messages");
        assert_eq!(of(&other), of(&whole), "{set}");
    }
}

#[test]
fn equal_seeds_give_equal_runs_and_others_do_not() {
    assert_the_seed_decides(output);
}

#[test]
fn what_one_lost_packet_lets_expire_is_warned_of_with_both_values() {
    let short = [
        "signalling.points.london.t4=800 ms",
        "signalling.points.london.t5=800 ms",
        "signalling.points.boston.t4=800 ms",
        "signalling.points.boston.t5=800 ms",
        "signalling.links.association-1.carrier.t4_emergency=500 ms",
        "signalling.links.association-2.carrier.t4_emergency=500 ms",
        "signalling.links.line.carrier.t4_emergency=500 ms",
    ];
    let warnings: Vec<String> = scenario(&short)
        .warnings()
        .iter()
        .map(|warning| format!("{}: {}", warning.line, warning.message))
        .collect();
    insta::assert_snapshot!(warnings.join("\n"));
}

#[test]
fn a_link_outlives_the_failover_that_nobody_warns_of() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/warned/signalling-failover-beyond-t7.toml");
    let outcome = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        let scenario = Scenario::load(&path, &overrides).unwrap_or_else(|error| panic!("{error}"));
        let is_warned = scenario.warnings().iter().any(|warning| warning.message.contains("fails over"));
        let output = run(&scenario, &RunOptions::default()).unwrap();
        (is_warned, sum(output.table("signalling_links").unwrap(), "times_unavailable"))
    };
    assert_eq!(outcome(&[]), (true, 1));
    assert_eq!(outcome(&["sctp.s.path_max_retrans=0", "sctp.s.rto_min=300 ms"]), (false, 0));
}

#[test]
fn every_kind_of_arrival_and_routing_runs() {
    for arrivals in [
        &["signalling.load.isup.arrivals=constant"][..],
        &[
            "signalling.load.isup.arrivals=on-off",
            "signalling.load.isup.mean_on=1 s",
            "signalling.load.isup.mean_off=1 s",
        ],
        &["signalling.load.isup.lengths=isup-calls"],
    ] {
        let mut overrides = vec!["scenario.duration=100 s"];
        overrides.extend(arrivals);
        let [sent, rest @ ..] = settle(&output(&overrides));
        assert!(sent > 300, "{arrivals:?}: {sent}");
        assert_eq!(rest, [0, 0, 0], "{arrivals:?}");
    }
}

/// Three points in a row, of which the middle one translates for enquiries to a subsystem of the last.
fn titles(arrivals: &str) -> String {
    r#"
[scenario]
name = "titles"
duration = "80 s"

[signalling.points]
exchange = { point_code = 1, restart = "omitted" }
translator = { point_code = 2, restart = "omitted", function = "transfer-point" }
register = { point_code = "0-0-3", restart = "omitted", subsystems = [6] }

[signalling.links]
near = { between = ["exchange", "translator"], carrier = { kind = "mtp2", delay = "5 ms" } }
far = { between = ["translator", "register"], carrier = { kind = "mtp2", delay = "5 ms" } }

[[signalling.translations]]
at = "translator"
digits = "49*"
to = ["register"]
to_subsystem = 6

[signalling.load.enquiries]
from = "exchange"
to = ["register"]
routing = "global-title"
translator = "translator"
called = ["4912345"]
subsystem = 6
erlang_per_link = 0.2
lengths = [120]
start = "20 s"
"#
    .replace("point_code = 1", "point_code = \"1\"")
    .replace("point_code = 2", "point_code = \"2\"")
        + arrivals
}

#[test]
fn every_timer_of_sccp_is_written_out_for_points_that_have_one() {
    let text = titles("").replace("subsystems = [6]", "subsystems = [6], sccp = { t_reass = \"15 s\" }");
    let first = parse(&text);
    let merged = first.merged();
    assert_eq!(merged.matches(".sccp]").count(), 2, "{merged}");
    assert_eq!(merged.matches("t_reass = \"10 s\"  # default").count(), 1, "{merged}");
    assert_eq!(merged.matches("t_reass = \"15 s\"\n").count(), 1, "{merged}");
    assert_eq!(merged.matches("t24 = \"500 ms\"  # default").count(), 3, "{merged}");
    let again = parse(&merged);
    assert_eq!((again.hash(), again.canonical()), (first.hash(), first.canonical()));
}

/// The lengths and selections that came over a line, by a trace of `lines`.
fn traced(lines: &'static str, keys: &str) -> RunOutput {
    let text = titles("arrivals = \"trace\"\ntrace = \"times.csv\"\n").replace("lengths = [120]", keys);
    let files = std::sync::Arc::new(move |_: &str| Ok(lines.to_owned()));
    let scenario = Scenario::parse("titles", &text, &[], files).unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions::default()).unwrap()
}

#[test]
fn a_trace_that_offers_more_than_a_line_carries_for_ten_seconds_is_warned_of() {
    let text = titles("arrivals = \"trace\"\ntrace = \"times.csv\"\n");
    let warnings = |each: &str| {
        // So many messages of 120 octets a second from the 20th second on, and one in each second before.
        let per_second: u32 = each.parse().unwrap();
        let line = |ms: u32| format!("{ms} ms\n");
        let first = (0..20).map(|second| line(1_000 * second));
        let lines: String =
            first.chain((0..10 * per_second).map(|n| line(20_000 + n * 1_000 / per_second))).collect();
        let files = std::sync::Arc::new(move |_: &str| Ok(lines.clone()));
        let scenario = Scenario::parse("titles", &text, &[], files).unwrap_or_else(|error| panic!("{error}"));
        scenario.warnings().iter().map(|warning| warning.message.clone()).collect::<Vec<_>>()
    };
    // A line carries 66.7 of them.
    assert_eq!(warnings("60"), Vec::<String>::new());
    let beyond = warnings("80");
    assert!(beyond.iter().any(|warning| warning.contains("offers 77 kbit/s to")), "{beyond:?}");
}

#[test]
fn a_trace_says_lengths_and_selections_if_it_is_asked() {
    let lines = "0 s,60 B,3\n1 s,270 B,4\n1.5 s,120 B,3\n";
    let octets = |output: &RunOutput| sum(output.table("mtp3_links").unwrap(), "received_bytes");
    let fixed = traced(lines, "lengths = [120]");
    let said = traced(lines, "lengths = \"trace\"\nselection = \"trace\"");
    for output in [&fixed, &said] {
        assert_eq!(settle(output), [3, 0, 0, 0]);
    }
    // Three of 120 octets, and one of each: 90 more, at each of two points.
    assert_eq!(octets(&said) - octets(&fixed), 2 * 90);
}

#[test]
fn weights_decide_how_often_a_length_comes() {
    let mix = |first: u32| {
        let keys = format!(
            "lengths = [{{ octets = 60, weight = {first} }}, {{ octets = 260, weight = 1 }}]\nstart = \"20 s\""
        );
        let text = titles("").replace("lengths = [120]\nstart = \"20 s\"", &keys);
        let scenario = parse(&text);
        let merged = scenario.merged();
        assert!(merged.contains(&format!("weight = {first}.0 }}")), "{merged}");
        assert_eq!(parse(&merged).hash(), scenario.hash());
        let output = run(&scenario, &RunOptions::default()).unwrap();
        let [sent, ..] = settle(&output);
        let register = sum(output.table("mtp3_links").unwrap(), "received_bytes") as f64;
        register / sent as f64
    };
    // Nine in ten of 60 octets are shorter than one in two, by 80 octets at each of two points.
    let [short, even] = [9, 1].map(mix);
    assert!((even - short - 160.0).abs() < 40.0, "{even} {short}");
}

/// A translator makes an IMSI a mobile global title, and a gateway shares those titles among two registers, 3 to 1.
const IMSI: &str = r#"
[scenario]
name = "imsi"
duration = "80 s"

[signalling.points]
exchange = { point_code = "1", restart = "omitted" }
translator = { point_code = "2", restart = "omitted", function = "transfer-point" }
gateway = { point_code = "3", restart = "omitted", function = "transfer-point" }
first = { point_code = "4", restart = "omitted", subsystems = [6] }
second = { point_code = "5", restart = "omitted", subsystems = [6] }

[signalling.links]
near = { between = ["exchange", "translator"], carrier = { kind = "mtp2", delay = "5 ms" } }
middle = { between = ["translator", "gateway"], carrier = { kind = "mtp2", delay = "5 ms" } }
to-first = { between = ["gateway", "first"], carrier = { kind = "mtp2", delay = "5 ms" } }
to-second = { between = ["gateway", "second"], carrier = { kind = "mtp2", delay = "5 ms" } }

[[signalling.translations]]
at = "translator"
digits = "26201*"
plan = 6
delete = 5
insert = "49171"
to_plan = 7
to_nature = 4
to = ["gateway"]
route_on = "global-title"

[[signalling.translations]]
at = "gateway"
digits = "491711234567890"
plan = 7
to = ["first", "second"]
weights = [3, 1]
sharing = "link-selection"

[signalling.load.updates]
from = "exchange"
to = ["first", "second"]
routing = "global-title"
translator = "translator"
called = ["262011234567890"]
plan = 6
subsystem = 6
links = 16
erlang_per_link = 0.02
lengths = [120]
arrivals = "constant"
start = "20 s"
"#;

#[test]
fn an_imsi_becomes_a_mobile_title_that_two_registers_share_by_weight() {
    let output = run(&parse(IMSI), &RunOptions::default()).unwrap();
    let [sent, rest @ ..] = settle(&output);
    assert!(sent > 500, "{sent}");
    assert_eq!(rest, [0, 0, 0]);
    let links = output.table("signalling_links").unwrap();
    let [names, points, given] = ["link", "point", "given_messages"].map(|name| links.column(name).unwrap());
    let by_gateway = |link: &str| {
        let mut rows = 0..links.rows();
        let row = rows.find(|row| {
            names.at(*row) == CellValue::Text(link) && points.at(*row) == CellValue::Text("gateway")
        });
        match given.at(row.unwrap()) {
            CellValue::U64(messages) => messages as f64,
            other => panic!("{other:?} is no count"),
        }
    };
    // Twelve of sixteen link selections, each with as many messages; tests of links and subsystems come on top.
    let share = by_gateway("to-first") / (by_gateway("to-first") + by_gateway("to-second"));
    assert!((share - 0.75).abs() < 0.02, "{share}");
}

#[test]
fn a_share_that_gets_nothing_is_told_with_the_link_selections_that_there_are() {
    let told = |keys: &str| {
        let text = IMSI.replace("weights = [3, 1]", "weights = [1000, 1]");
        let text = text.replace("links = 16\n", "").replace("arrivals = \"constant\"\n", keys);
        let files = std::sync::Arc::new(|file: &str| {
            let second = if file == "one.csv" { "" } else { "1 s,60 B,4\n2 s,60 B,3\n" };
            Ok(format!("0 s,60 B,3\n{second}"))
        });
        let scenario = Scenario::parse("imsi", &text, &[], files).unwrap_or_else(|error| panic!("{error}"));
        let warnings: Vec<String> =
            scenario.warnings().iter().map(|warning| warning.message.clone()).collect();
        let begin = "load `updates`: `second` gets nothing of what it shares: ";
        let told = warnings.iter().find_map(|warning| warning.strip_prefix(begin));
        let told = told.unwrap_or_else(|| panic!("{keys}: {warnings:?}"));
        told.split_once(" to the others").unwrap_or_else(|| panic!("{told}")).0.to_owned()
    };
    // Each link has one until there are no more.
    for (links, selections) in [(15, "15"), (16, "16"), (17, "16"), (20, "16")] {
        assert_eq!(told(&format!("links = {links}\n")), format!("{selections} link selections go"));
    }
    // A trace uses those that it says, whatever the links.
    let trace = "links = 16\narrivals = \"trace\"\ntrace = \"t.csv\"\nselection = \"trace\"\n";
    assert_eq!(told(trace), "2 link selections go");
    let trace = "arrivals = \"trace\"\ntrace = \"one.csv\"\nselection = \"trace\"\n";
    assert_eq!(told(trace), "1 link selection goes");
}

#[test]
fn titles_are_translated_on_the_way_and_traces_set_the_pace() {
    let text = titles("arrivals = \"trace\"\ntrace = \"times.csv\"\n");
    let files = std::sync::Arc::new(|_: &str| Ok("0 s,100 B\n1 s,100 B\n1.5 s,100 B\n".to_owned()));
    let scenario = Scenario::parse("titles", &text, &[], files).unwrap_or_else(|error| panic!("{error}"));
    let output = run(&scenario, &RunOptions::default()).unwrap();
    assert_eq!(settle(&output), [3, 0, 0, 0]);
}

/// The DSCP of the packets of SCTP in the capture of a link, by their source.
fn code_points(scenario: &Scenario) -> Vec<u8> {
    let options = RunOptions { captures: vec!["satellite".to_owned()], ..RunOptions::default() };
    let output = run(scenario, &options).unwrap();
    // An IPv4 header without options whose checksum is right.
    let is_header = |at: &&[u8]| {
        let words = at.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
        at[0] == 0x45 && at[9] == 132 && words.sum::<u32>() % 0xffff == 0
    };
    let mut by_source: BTreeMap<&[u8], Vec<u8>> = BTreeMap::new();
    for header in output.captures[0].pcapng.windows(20).filter(is_header) {
        by_source.entry(&header[12..16]).or_default().push(header[1] >> 2);
    }
    let of_one = by_source.values().map(|code_points| {
        assert!(code_points.len() > 100, "{}", code_points.len());
        assert!(code_points.iter().all(|code_point| *code_point == code_points[0]), "{code_points:?}");
        code_points[0]
    });
    let mut code_points: Vec<u8> = of_one.collect();
    code_points.sort_unstable();
    code_points
}

#[test]
fn associations_of_m2pa_and_m3ua_have_the_code_point_of_their_node() {
    let london = "nodes.london.dscp = \"EF\"";
    assert_eq!(code_points(&scenario(&[london, "nodes.boston.dscp = \"AF41\""])), [34, 46]);
    assert_eq!(code_points(&scenario(&[london])), [0, 46]);
    let gateway = |overrides: &[&str]| load("sigtran-gateway-over-geo.toml", overrides);
    assert_eq!(code_points(&gateway(&[london, "nodes.boston-2.dscp = \"AF41\""])), [0, 34, 46]);
}
