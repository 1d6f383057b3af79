//! Columns hold what their names say: a number of each is kept, from runs in which no two columns of a table are alike,
//! so that two that are swapped are noticed.
//!
//! `tests/columns.txt` has them: a sum of each column of numbers, the texts of each other one. A change that moves them
//! on purpose makes the file anew with `SLANTPATH_UPDATE=1`, and says in the commit why. What is alike, or holds
//! nothing, in all runs of its table is in `tests/columns-alike.txt`, each with the reason: the fewer, the better.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use slantpath_effects::{PlainColumn, PlainTable};
use slantpath_runner::TABLES;
use slantpath_testkit::page;

use crate::effects::{plain, run_base};

/// A run, what is set in it, and the tables that are taken from it.
const RUNS: &[(&str, &[&str], &[&str])] = &[
    (
        "unequal",
        &[],
        &[
            "flows",
            "hosts",
            "links",
            "messages",
            "paths",
            "queues",
            "delays",
            "delay_bins",
            "flow_intervals",
            "link_intervals",
            "host_pairs",
            "timelines",
            "failovers",
            "host_paths",
            "outages",
        ],
    ),
    (
        "unequal",
        &[
            "script=[{ at = \"1 s\", link = \"tidy\", action = \"down\" }, { at = \"1300 ms\", link = \"tidy\", \
           action = \"up\" }, { at = \"2 s\", link = \"tidy\", action = \"down\" }, \
           { at = \"4200 ms\", link = \"tidy\", action = \"up\" }]",
        ],
        &["failovers", "host_paths", "outages", "script"],
    ),
    (
        "flows",
        &[
            "flows.f.streams=3",
            "flows.f.lifetime=30 ms",
            "flows.f.script=[{ at = \"1 s\", action = \"add-streams\", outgoing = 2 }, \
             { at = \"2 s\", end = \"receiver\", action = \"reset-outgoing-streams\" }]",
        ],
        &["abandonments", "association_commands"],
    ),
    ("unequal", &["probes.deadline=150 ms"], &["flows"]),
    ("unequal", &["probes.drops=true"], &["drops"]),
    ("datagrams", &[], &["datagrams", "round_trips"]),
    (
        "fetch",
        &[
            "sessions.s.requests={ size = \"3 kB\", count = { kind = \"fixed\", count = 3 }, \
             think = { kind = \"fixed\", time = \"200 ms\" } }",
            "sessions.s.sizes={ kind = \"exponential\", mean = \"20 kB\" }",
            "sessions.s.admission={ max_sessions = 2, otherwise = \"wait\", max_waiting = 1 }",
        ],
        &["sessions", "session_sources", "requests", "request_sources"],
    ),
    (
        "antennas",
        &["probes.sky=20 s"],
        &[
            "antennas",
            "handovers",
            "inter_satellite_links",
            "sky_contacts",
            "sky_nodes",
            "sky_paths",
            "sky_positions",
            "shared_downlinks",
            "shared_downlink_intervals",
        ],
    ),
    ("vsat", &["links.rate.forward.access={ system = \"inroute\" }", "probes.access=true"], &["access"]),
    (
        "quad",
        &["probes.intervals=10 s"],
        &[
            "mtp3",
            "mtp3_destinations",
            "mtp3_link_sets",
            "mtp3_links",
            "mtp3_routes",
            "sccp",
            "script",
            "signalling_discards",
            "signalling_events",
            "signalling_link_intervals",
            "signalling_failovers",
            "signalling_links",
            "signalling_load",
            "signalling_service",
        ],
    ),
    (
        "gateway",
        &["probes.intervals=5 s", "probes.paths=1 s"],
        &[
            "association_intervals",
            "association_paths",
            "signalling_associations",
            "signalling_drops",
            "signalling_failovers",
            "signalling_service",
            "signalling_processes",
            "signalling_server_events",
            "signalling_servers",
        ],
    ),
    (
        "antennas",
        &[
            "sky.isls.all.bit_error_rate=1e-5",
            "sky.isls.all.arq={ tries = 2 }",
            "sky.isls.all.conditioners.r={ red = \"drop\", meter = { kind = \"tr-tcm\", \
             committed_rate = \"20 kbit/s\", peak_rate = \"40 kbit/s\", committed_burst = \"1500 B\", \
             peak_burst = \"3000 B\" } }",
        ],
        &["inter_satellite_links"],
    ),
    (
        "antennas",
        &[
            "flows.f.application.rate=90 kbit/s",
            "sky.isls.all.rate=30 kbit/s",
            "sky.isls.all.queue=20 packets",
            "sky.isls.all.discipline={ kind = \"codel\", target = \"5 ms\", interval = \"50 ms\" }",
        ],
        &["inter_satellite_links"],
    ),
    (
        "antennas",
        &["sky.isls.all.bit_error_rate=1e-4", "sky.isls.all.header_compression={ compressed = \"6 B\" }"],
        &["inter_satellite_links"],
    ),
    (
        "antennas",
        &[
            "sctp.default.ecn=true",
            "flows.f.application.rate=90 kbit/s",
            "sky.isls.all.rate=30 kbit/s",
            "sky.isls.all.queue=12 packets",
            "sky.isls.all.discipline={ kind = \"red\", min = \"2 packets\", max = \"4 packets\", ecn = true }",
        ],
        &["inter_satellite_links"],
    ),
    (
        "antennas",
        &[
            "flows.f.application.rate=90 kbit/s",
            "sky.isls.all.rate=30 kbit/s",
            "sky.isls.all.queue=12 packets",
            "sky.isls.all.discipline={ kind = \"red\", min = \"1 packets\", max = \"2 packets\", \
             typical_packet = \"10 kB\" }",
        ],
        &["inter_satellite_links"],
    ),
    // What the runs above leave alike or empty.
    (
        "pair",
        &[
            "links.l.mtu=300 B",
            "links.l.loss=1 %",
            "links.l.duplicate=3 %",
            "flows.there.application.burst_size=14 kB",
        ],
        &["hosts", "links", "flows"],
    ),
    (
        "pair",
        &[
            "links.l.duplicate=3 %",
            "links.l.bit_error_rate=2e-6",
            "links.l.discipline={ kind = \"red\", min = \"3 packets\", max = \"6 packets\", \
             typical_packet = \"10 kB\" }",
            "links.l.queue=20 packets",
            "links.l.conditioners.r={ red = \"AF13\", meter = { kind = \"sr-tcm\", committed_rate = \"100 kbit/s\", \
             committed_burst = \"3 kB\" } }",
            "flows.there.application={ kind = \"bulk\", message_size = \"1000 B\", total = \"30 kB\" }",
            "flows.back.unordered=true",
        ],
        &["links", "flows"],
    ),
    (
        "pair",
        &[
            "links.l.discipline={ kind = \"codel\", ecn = true }",
            "sctp.default.ecn=true",
            "probes.intervals=500 ms",
            "links.l.conditioners.r={ red = \"drop\", flows = [\"there\"], meter = { kind = \"sr-tcm\", \
             committed_rate = \"900 kbit/s\", committed_burst = \"30 kB\" } }",
        ],
        &["links", "link_intervals"],
    ),
    (
        "pair",
        &[
            "links.l.discipline={ kind = \"codel\" }",
            "links.l.arq={ tries = 2 }",
            "links.l.bit_error_rate=1e-4",
        ],
        &["links", "flows"],
    ),
    (
        "pair",
        &[
            "links.l.header_compression={ compressed = \"6 B\" }",
            "links.l.loss=5 %",
            "links.l.queue=5 packets",
        ],
        &["links"],
    ),
    (
        "paths",
        &[
            "flows.f.application.total=40 kB",
            "sctp.default.association_max_retrans=1",
            "script=[{ at = \"300 ms\", link = \"one\", action = \"down\" }, \
             { at = \"300 ms\", link = \"two\", action = \"down\" }, { at = \"300 ms\", link = \"wide\", \
             action = \"down\" }]",
        ],
        &["flows"],
    ),
    ("fetch", &["links.one.loss=4 %"], &["sessions", "session_sources"]),
    (
        "handover",
        &[
            "sky.access.all.uplink.at_handover=lost",
            "sky.isls.all.loss=1 %",
            "sky.isls.all.bit_error_rate=1e-6",
            "sky.isls.all.rate=60 kbit/s",
            "sky.isls.all.queue=20 packets",
            "sky.isls.all.mtu=400 B",
            "sky.constellations.leo.isl.cut_off_latitude=50 deg",
            "scenario.duration=20 min",
        ],
        &["antennas", "handovers", "inter_satellite_links", "links"],
    ),
    (
        "quad",
        &[
            "probes.intervals=10 s",
            "signalling.points.left.processing={ delay = \"20 ms\", capacity = 30, congestion = [20, 10] }",
            "signalling.points.register.users=[3, 5, 7]",
            "signalling.points.register.sccp.longest_message=100 B",
            "signalling.points.left.held_limit=1",
            "signalling.script.0.point=left",
            "signalling.load.enquiries.erlang_per_link=0.9",
            "signalling.points.left.subsystems=[6]",
            "signalling.points.register.sccp.backup=left",
            "signalling.script.7={ at = \"175 s\", action = \"subsystem-asks\", point = \"register\", subsystem = 6 }",
        ],
        &[
            "mtp3",
            "mtp3_destinations",
            "mtp3_links",
            "sccp",
            "script",
            "signalling_events",
            "signalling_links",
            "signalling_link_intervals",
            "signalling_load",
        ],
    ),
    (
        "quad",
        &[
            "signalling.links.exchange-left-2.carrier.delay=249 ms",
            "signalling.links.exchange-left-1.carrier.delay=249 ms",
            "signalling.links.exchange-right.carrier.delay=249 ms",
            "signalling.links.left-right.carrier.delay=249 ms",
            "signalling.points.exchange.t4=500 ms",
            "signalling.load.calls.erlang_per_link=0.6",
            "signalling.load.bulk.erlang_per_link=5.0",
            "signalling.points.right.restart=omitted",
            "signalling.script.6.action=fail",
        ],
        &["mtp3", "mtp3_destinations", "mtp3_links", "sccp", "signalling_links", "signalling_load"],
    ),
    (
        "line",
        &[
            "scenario.duration=600 s",
            "probes.intervals=10 s",
            "signalling.links.other={ between = [\"a\", \"b\"], carrier = { kind = \"mtp2\", delay = \"8 ms\", \
             transmit_buffer = 20, congestion = [5, 8, 10] } }",
            "signalling.load.there.erlang_per_link=2.6",
            "signalling.load.there.overload=true",
            "signalling.points.a.link_test_t1=4 s",
            "signalling.points.a.link_test_t2=30 s",
            "signalling.script=[{ at = \"32 s\", link = \"line\", point = \"a\", action = \"inhibit\" }]",
        ],
        &["mtp3", "mtp3_links", "signalling_links", "signalling_link_intervals", "signalling_load"],
    ),
    (
        "quad",
        &[
            "signalling.script.6={ at = \"160 s\", action = \"restart\", point = \"left\" }",
            "signalling.script.4.at=121 s",
            "signalling.script.5={ at = \"130 s\", action = \"restore\", link = \"register-left\" }",
            "signalling.script.7={ at = \"250 s\", action = \"subsystem-asks\", point = \"register\", subsystem = 6 }",
            "signalling.script.8={ at = \"260 s\", action = \"subsystem-comes\", point = \"register\", subsystem = 6 }",
            "signalling.points.left.subsystems=[6]",
            "signalling.points.register.sccp.backup=left",
            "signalling.load.enquiries.erlang_per_link=0.9",
        ],
        &["mtp3", "sccp"],
    ),
    ("quad", &["signalling.script.6.action=fail"], &["mtp3"]),
    ("handover", &[], &["antennas", "handovers", "links"]),
    (
        "flows",
        &[
            "flows.f.lifetime=30 ms",
            "sctp.default.send_buffer=2 kB",
            "flows.f.when_blocked=queue",
            "links.ar.rate=40 kbit/s",
        ],
        &["abandonments"],
    ),
    (
        "fetch",
        &[
            "sessions.s.requests={ size = \"3 kB\", count = { kind = \"fixed\", count = 3 }, \
             think = { kind = \"fixed\", time = \"20 ms\" } }",
            "script=[{ at = \"1 s\", link = \"one\", action = \"down\" }]",
        ],
        &["request_sources", "session_sources"],
    ),
    (
        "quad",
        &[
            "signalling.script.7={ at = \"175 s\", action = \"subsystem-asks\", point = \"register\", subsystem = 6 }",
            "signalling.points.left.subsystems=[6]",
            "signalling.points.register.sccp.backup=left",
            "signalling.points.register.sccp.concerned=[\"right\"]",
        ],
        &["sccp"],
    ),
    ("line", &["probes.intervals=10 s"], &["mtp3", "signalling_links", "signalling_link_intervals"]),
    (
        "line",
        &[
            "scenario.duration=600 s",
            "signalling.links.other={ between = [\"a\", \"b\"], carrier = { kind = \"mtp2\", delay = \"8 ms\" } }",
            "signalling.script=[{ at = \"32 s\", link = \"line\", point = \"a\", action = \"inhibit\" }]",
        ],
        &["mtp3"],
    ),
    (
        "gateway",
        &[
            "signalling.application_servers.register.traffic_mode=broadcast",
            "signalling.script=[{ at = \"25 s\", asp = \"asp-1\", action = \"fail\" }, \
             { at = \"25 s\", asp = \"asp-2\", action = \"fail\" }, { at = \"28 s\", asp = \"asp-1\", \
             action = \"restore\" }, \
             { at = \"32 s\", asp = \"asp-1\", action = \"fail\" }, { at = \"34 s\", asp = \"asp-1\", \
             action = \"restore\" }]",
        ],
        &["signalling_load", "signalling_processes", "signalling_servers"],
    ),
    (
        "gateway",
        &[
            "signalling.screening=[{ at = \"gateway\", opc = [\"exchange\"], dpc = [\"exchange\"], \
             action = \"allow\" }, { at = \"gateway\", from = [\"exchange\"], action = \"allow\", copy = true }]",
            "signalling.rates=[{ at = \"gateway\", from = \"exchange\", rate = 1, burst = 5 }, \
             { at = \"gateway\", from = \"register\", rate = 1, burst = 9 }]",
        ],
        &["signalling_screening"],
    ),
    (
        "handover",
        &[
            "probes.intervals=30 s",
            "sky.access.all.shared_downlink=true",
            "sky.access.all.rate=100 kbit/s",
            "sky.access.all.downlink.queue=12 packets",
            "sky.access.all.downlink.discipline={ kind = \"red\", min = \"3 packets\", max = \"10 packets\", \
             ecn = true }",
            "sctp.default.ecn=true",
            "sky.ground.handover_time=2 s",
        ],
        &["links", "shared_downlinks", "shared_downlink_intervals"],
    ),
];

fn cells(column: &PlainColumn) -> String {
    format!("{column:?}")
}

fn is_empty(column: &PlainColumn) -> bool {
    match column {
        PlainColumn::Numbers(cells) => cells.iter().all(|cell| cell.is_none_or(|number| number == 0.0)),
        PlainColumn::Texts(cells) => cells.iter().all(Option::is_none),
    }
}

fn summed(column: &PlainColumn) -> String {
    match column {
        PlainColumn::Numbers(cells) => {
            let sum: f64 = cells.iter().flatten().sum();
            // Nine digits: sums of floats depend on nothing else.
            format!("{sum:.8e}")
        }
        PlainColumn::Texts(cells) => {
            let texts: BTreeSet<&str> = cells.iter().flatten().map(String::as_str).collect();
            let texts: Vec<&str> = texts.into_iter().take(4).collect();
            texts.join(", ")
        }
    }
}

/// Columns that cannot be told apart in the runs of a table.
#[derive(Default)]
struct Alike {
    seen: BTreeSet<String>,
    /// Columns without a cell other than zero.
    empty: BTreeSet<String>,
    /// Pairs of columns that are equal in every row.
    pairs: BTreeSet<(String, String)>,
}

impl Alike {
    fn take_in(&mut self, table: &PlainTable) {
        for (place, (name, column)) in table.columns.iter().enumerate() {
            let is_new = self.seen.insert(name.clone());
            if !is_empty(column) {
                self.empty.remove(name);
            } else if is_new {
                self.empty.insert(name.clone());
            }
            for (other, cells_of_other) in &table.columns[place + 1..] {
                let pair = (name.clone(), other.clone());
                let is_equal = cells(column) == cells(cells_of_other);
                if !is_equal {
                    self.pairs.remove(&pair);
                } else if is_new && !is_empty(column) {
                    self.pairs.insert(pair);
                }
            }
        }
    }
}

#[test]
fn no_two_columns_are_alike_and_each_holds_what_it_held() {
    let mut page = String::new();
    // By table: what is alike in each run of it that has both columns.
    let mut by_table: BTreeMap<&str, Alike> = BTreeMap::new();
    for (base, settings, wanted) in RUNS {
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let tables = run_base(base, &settings).unwrap();
        for &name in *wanted {
            let table = tables.iter().find(|table| table.name == name);
            let table = table.unwrap_or_else(|| panic!("{base} gives no table `{name}`"));
            writeln!(page, "{name} of {base}").unwrap();
            for (column, cells) in &table.columns {
                writeln!(page, "    {column} {}", summed(cells)).unwrap();
            }
            by_table.entry(name).or_default().take_in(table);
        }
    }
    let attached = plain(crate::attached::output().table("attached_interfaces").unwrap());
    writeln!(page, "{} of attached", attached.name).unwrap();
    for (column, cells) in &attached.columns {
        writeln!(page, "    {column} {}", summed(cells)).unwrap();
    }
    by_table.entry("attached_interfaces").or_default().take_in(&attached);
    page::hold("crates/runner/tests/columns.txt", &page);
    let missing: Vec<&&str> = TABLES.iter().filter(|name| !by_table.contains_key(**name)).collect();
    assert!(missing.is_empty(), "tables that no run of this test gives: {missing:?}");
    let mut found = String::new();
    for (table, alike) in &by_table {
        for column in &alike.empty {
            writeln!(found, "{table}: {column} holds nothing").unwrap();
        }
        for (one, other) in &alike.pairs {
            writeln!(found, "{table}: {one} = {other}").unwrap();
        }
    }
    let listed = include_str!("../columns-alike.txt").lines().filter(|line| !line.starts_with('#'));
    let listed: BTreeMap<&str, &str> =
        listed.map(|line| line.split_once(" | ").unwrap_or_else(|| panic!("no reason: {line}"))).collect();
    let wrong: Vec<&&str> =
        listed.iter().filter(|(_, reason)| reason.trim().is_empty()).map(|(entry, _)| entry).collect();
    assert!(wrong.is_empty(), "no reason: {wrong:?}");
    let unlisted: Vec<&str> = found.lines().filter(|line| !listed.contains_key(line)).collect();
    assert!(unlisted.is_empty(), "{} columns cannot be told apart:\n{}", unlisted.len(), unlisted.join("\n"));
    let needless: Vec<&&str> =
        listed.keys().filter(|entry| !found.lines().any(|line| line == **entry)).collect();
    assert!(needless.is_empty(), "listed without need: {needless:#?}");
}
