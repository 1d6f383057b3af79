//! Scenarios under a sky: packets go where contacts lead, and the tables say what happened there.

mod cables;
mod errors;
mod events;
mod gaps;
mod parts;
mod pieces;
mod steering;
mod ways;
mod whole;

use slantpath_base::{Duration, Instant};
use slantpath_orbit::contact::{ContactKind, Planner};
use slantpath_orbit::topology::{RouteChoice, follow};
use slantpath_results::{CellValue, Table};
use slantpath_runner::{RunOptions, RunOutput, Scenario, files_in, run};
use slantpath_topology::Topology;

use crate::project;

fn load(overrides: &[&str]) -> Scenario {
    project::load("sctp-over-iridium.toml", overrides)
}

fn run_once(scenario: &Scenario) -> RunOutput {
    run(scenario, &RunOptions::default()).expect("it runs")
}

fn number(table: &Table, row: usize, column: &str) -> f64 {
    match table.column(column).unwrap_or_else(|| panic!("no column {column}")).at(row) {
        CellValue::U64(number) => number as f64,
        CellValue::F64(number) => number,
        other => panic!("{column}: {other:?}"),
    }
}

fn text(table: &Table, row: usize, column: &str) -> String {
    match table.column(column).unwrap_or_else(|| panic!("no column {column}")).at(row) {
        CellValue::Text(text) => text.to_owned(),
        _ => String::new(),
    }
}

/// Ten messages a second between hosts at two sites.
const LONDON_TO_BOSTON: &str = r#"
    [nodes.a]
    kind = "host"
    site = "london"

    [nodes.b]
    kind = "host"
    site = "boston"

    [flows.f]
    from = "a"
    to = "b"
    transport = "sctp"
    application = { kind = "constant-rate", message_size = "512 B", interval = "100 ms" }

    [sky.access.all]
    rate = "2 Mbit/s"

    [sky.isls.all]
    rate = "25 Mbit/s"
"#;

#[test]
fn an_association_lives_through_every_handover_and_no_message_is_missing() {
    let scenario =
        load(&["flows.telemetry.connect=0 s", "flows.telemetry.end=3500 s", "scenario.warm_up=0 s"]);
    let output = run_once(&scenario);
    let flows = output.table("flows").expect("always");
    // From 1 s to 3,500 s, one every 20 ms.
    assert_eq!(number(flows, 0, "messages_sent"), 174_950.0);
    assert_eq!(number(flows, 0, "messages_delivered"), 174_950.0);
    let handovers = output.table("handovers").expect("there is a sky");
    let of_london: Vec<(String, String)> = (0..handovers.rows())
        .filter(|&row| text(handovers, row, "link") == "sky.london")
        .map(|row| (text(handovers, row, "from"), text(handovers, row, "to")))
        .collect();
    assert!(of_london.len() > 8, "{of_london:?}");
    assert_eq!(of_london[0].0, "");
    // Each satellite is left for the next.
    assert!(of_london.windows(2).all(|pair| pair[0].1 == pair[1].0));
    assert_eq!(output.failures, []);
    // The path is known at any time, and begins and ends with the satellites that the antennas have.
    let paths = output.table("sky_paths").expect("there is a sky");
    let row_at = |table: &Table, at: f64, of: &dyn Fn(usize) -> bool| {
        (0..table.rows())
            .rev()
            .find(|&row| of(row) && number(table, row, "at_s") <= at)
            .expect("from the start")
    };
    for at in [0.0, 200.0, 400.0, 1_000.0, 2_000.0, 3_000.0] {
        let path = text(paths, row_at(paths, at, &|_| true), "satellites");
        let satellites: Vec<&str> = path.split(" > ").collect();
        for (link, satellite) in
            [("sky.london", satellites[0]), ("sky.boston", satellites[satellites.len() - 1])]
        {
            let of_link = |row| text(handovers, row, "link") == link;
            assert_eq!(text(handovers, row_at(handovers, at, &of_link), "to"), satellite, "{link} at {at} s");
        }
    }
}

#[test]
fn delays_are_those_of_the_topology() {
    // Each message is one packet that nothing waits before it: 512 bytes of data, 16 of chunk, 12 of SCTP, 20 of IP.
    let scenario = load(&["scenario.duration=300 s", "scenario.warm_up=0 s", "probes.messages=true"]);
    let output = run_once(&scenario);
    let messages = output.table("messages").expect("asked for");
    let delay = |row| number(messages, row, "delivered_s") - number(messages, row, "sent_s");
    let topology = Topology::load(&project::path("iridium-london-boston.toml"), &[])
        .unwrap_or_else(|error| panic!("{error}"));
    let plan = delays(&topology);
    for row in [10, 5_000, 9_000, 12_000] {
        let sent = number(messages, row, "sent_s");
        let off = delay(row) - plan(sent, 8.0 * 560.0);
        assert!(off.abs() < 1e-8, "row {row}: {off}");
    }
}

/// Time that so many bits take from London to Boston that are sent at a time: at 1.5 Mbit/s up and down, and at 25
/// between satellites, each link as long as it is when they leave.
fn delays(topology: &Topology) -> impl Fn(f64, f64) -> f64 {
    let planner = Planner::new(topology.network(), Duration::from_secs(301)).expect("a sound topology");
    let plan = planner.plan(&mut |_, _| {}).expect("a sound topology");
    let node = |name| plan.node(name).expect("it is there");
    let timeline = follow(&plan, node("london"), node("boston"), &RouteChoice::LeastDelay);
    move |sent, bits| {
        let instant = |seconds| Instant::START + Duration::from_secs_f64(seconds);
        let path = timeline.leg_at(instant(sent)).and_then(|leg| leg.path.as_ref()).expect("there is a path");
        let arrived = path.contacts.iter().fold(sent, |at, &contact| {
            let between = plan.contact(contact).kind == ContactKind::InterSatellite;
            let departure = at + bits / if between { 25e6 } else { 1.5e6 };
            departure + plan.delay(contact).nanos_at(instant(departure)) * 1e-9
        });
        arrived - sent
    }
}

#[test]
fn a_run_under_a_sky_is_alike_whoever_makes_it() {
    let scenario = load(&["scenario.duration=400 s"]);
    let merged = Scenario::parse("merged.toml", &scenario.merged(), &[], files_in(&project::path("")))
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(merged.hash(), scenario.hash());
    let (one, other) = (run_once(&scenario), run_once(&merged));
    assert_eq!(one.digest, other.digest);
    assert_eq!(one, other);
    // The sky is part of the hash: another one, or another time, is another scenario.
    let later =
        scenario.with("--set", &["sky.start=6 h".to_owned()]).unwrap_or_else(|error| panic!("{error}"));
    assert_ne!(later.hash(), scenario.hash());
    assert_ne!(run_once(&later).digest, one.digest);
    // One that was made of another shares its contacts.
    let again =
        scenario.with("--set", &["scenario.seed=1".to_owned()]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run_once(&again).digest, one.digest);
}

#[test]
fn what_waits_at_a_handover_is_kept_or_lost_as_asked() {
    // More is offered than the antenna sends, so that packets always wait.
    let slow = [
        "scenario.duration=800 s",
        "scenario.warm_up=0 s",
        "sky.access.terminals.rate=\"250 kbit/s\"",
        "flows.telemetry.application.interval=\"14 ms\"",
    ];
    let lost_of = |more: &[&str]| {
        let output = run_once(&load(&[&slow[..], more].concat()));
        let handovers = output.table("handovers").expect("there is a sky").clone();
        let sum =
            |column: &str| -> f64 { (0..handovers.rows()).map(|row| number(&handovers, row, column)).sum() };
        let links = output.table("links").expect("always").clone();
        let of_links =
            |column: &str| -> f64 { (0..links.rows()).map(|row| number(&links, row, column)).sum() };
        let lost = sum("uplink_lost_packets") + sum("downlink_lost_packets");
        assert_eq!(of_links("dropped_handover_packets"), lost);
        assert_eq!(of_links("held_packets"), sum("uplink_held_packets"));
        assert_eq!(of_links("handed_over_packets"), sum("downlink_handed_over_packets"));
        (lost, sum("uplink_held_packets") + sum("downlink_handed_over_packets"))
    };
    let (lost, kept) = lost_of(&[]);
    let (all_lost, none_kept) = lost_of(&["sky.access.terminals.at_handover=\"lost\""]);
    assert!(kept > 0.0 && lost > 0.0, "{kept} {lost}");
    assert!(all_lost > lost, "{all_lost} {lost}");
    assert_eq!(none_kept, 0.0);
}

#[test]
fn counts_of_contacts_belong_to_links_of_a_sky() {
    let output = project::run_file("dumbbell.toml", &["scenario.duration=2 s", "scenario.warm_up=0 s"]);
    let links = output.table("links").expect("always");
    for column in
        ["dropped_handover_packets", "dropped_no_contact_packets", "held_packets", "handed_over_packets"]
    {
        assert_eq!(links.column(column).expect("a column of every run").missing(), links.rows(), "{column}");
    }
    assert!(output.table("handovers").is_none());
}

/// A ship and a server behind a teleport, joined by satellites that only repeat.
const BENT_PIPE: &str = r#"
    [scenario]
    name = "bent-pipe"
    duration = "900 s"

    [sky]
    topology = "sky.toml"

    [sky.access.all]
    rate = "5 Mbit/s"

    [nodes.ship]
    kind = "host"
    site = "ship"

    [nodes.teleport]
    kind = "router"
    site = "teleport"

    [nodes.server]
    kind = "host"

    [links.fibre]
    ends = ["teleport", "server"]
    rate = "1 Gbit/s"
    delay = "5 ms"

    [flows.reports]
    from = "ship"
    to = "server"
    transport = "sctp"
    end = "890 s"
    application = { kind = "constant-rate", message_size = "512 B", interval = "20 ms" }
"#;

const SHIP_AND_TELEPORT: &str = r#"
    [topology]
    name = "ship"
    epoch = "2026-03-01T00:00:00Z"
    span = "1 h"

    [constellations.oneweb]
    satellites = { kind = "preset", preset = "oneweb" }

    [sites.ship]
    latitude = "50 deg"
    longitude = "-10 deg"

    [sites.teleport]
    latitude = "51.5 deg"
    longitude = "-4 deg"
    relay = "gateway"
"#;

#[test]
fn over_satellites_that_repeat_both_antennas_choose_the_same_one() {
    let files: slantpath_runner::Files = std::sync::Arc::new(|_| Ok(SHIP_AND_TELEPORT.to_owned()));
    let scenario =
        Scenario::parse("ship.toml", BENT_PIPE, &[], files).unwrap_or_else(|error| panic!("{error}"));
    let output = run_once(&scenario);
    let flows = output.table("flows").expect("always");
    assert_eq!(number(flows, 0, "messages_delivered"), number(flows, 0, "messages_sent"));
    let handovers = output.table("handovers").expect("there is a sky");
    let of = |link: &str| -> Vec<(String, String)> {
        let rows = (0..handovers.rows()).filter(|&row| text(handovers, row, "link") == link);
        rows.map(|row| (format!("{:.6}", number(handovers, row, "at_s")), text(handovers, row, "to")))
            .collect()
    };
    let (ship, teleport) = (of("sky.ship"), of("sky.teleport"));
    assert!(ship.len() > 2, "{ship:?}");
    assert_eq!(ship, teleport);
    let links = output.table("links").expect("always");
    let unreachable: f64 =
        (0..links.rows()).map(|row| number(links, row, "dropped_unreachable_packets")).sum();
    // What was on its way up at a handover comes to a satellite that has nobody to send it down to.
    assert!(unreachable <= 2.0 * ship.len() as f64, "{unreachable}");
    let paths = output.table("sky_paths").expect("there is a sky");
    assert!((0..paths.rows()).all(|row| text(paths, row, "satellites").ends_with(" > teleport")));
}

#[test]
fn a_host_behind_two_gateways_is_reached_by_the_other_one_when_a_cable_breaks_or_an_antenna_is_out() {
    let reserve =
        "[sites.reserve]\nlatitude = \"48 deg\"\nlongitude = \"2 deg\"\nrelay = \"gateway\"\n\n[sites.ship]";
    let sky = SHIP_AND_TELEPORT.replace("[sites.ship]", reserve);
    let ground = r#"
        [nodes.core]
        kind = "router"

        [nodes.reserve]
        kind = "router"
        site = "reserve"

        [links.lan]
        ends = ["core", "server"]
        rate = "1 Gbit/s"
        delay = "1 ms"

        [links.other-fibre]
        ends = ["reserve", "core"]
        rate = "1 Gbit/s"
        delay = "30 ms"

        [[script]]
        at = "100 s"
        link = "LINK"
        action = "down"

        [[script]]
        at = "150 s"
        link = "LINK"
        action = "up"
    "#;
    // A cable, or rain at the antenna of a gateway.
    for link in ["fibre", "sky.teleport"] {
        by_the_other_gateway(&sky, &ground.replace("LINK", link));
    }
}

fn by_the_other_gateway(sky: &str, ground: &str) {
    let sky = sky.to_owned();
    let files: slantpath_runner::Files = std::sync::Arc::new(move |_| Ok(sky.clone()));
    let file =
        BENT_PIPE.replace("ends = [\"teleport\", \"server\"]", "ends = [\"teleport\", \"core\"]") + ground;
    let overrides = ["scenario.routing=dynamic", "scenario.duration=200 s", "flows.reports.end=190 s"];
    let overrides = overrides.map(str::to_owned);
    let scenario =
        Scenario::parse("ship.toml", &file, &overrides, files).unwrap_or_else(|error| panic!("{error}"));
    let output = run_once(&scenario);
    let paths = output.table("sky_paths").expect("there is a sky");
    let gateway = |at: f64| {
        let row =
            (0..paths.rows()).rev().find(|&row| number(paths, row, "at_s") <= at).expect("from the start");
        text(paths, row, "satellites").rsplit(" > ").next().unwrap_or_default().to_owned()
    };
    let gateways = [99.0, 101.0, 149.0, 151.0].map(gateway);
    assert_eq!(gateways, ["teleport", "reserve", "reserve", "teleport"]);
    let flows = output.table("flows").expect("always");
    assert_eq!(number(flows, 0, "messages_delivered"), number(flows, 0, "messages_sent"));
}

/// One geostationary satellite, for which London has two antennas; of the two constellations only Iridium has links
/// between satellites.
const TWO_ORBITS: &str = r#"
    [topology]
    name = "two-orbits"
    epoch = "2026-03-01T00:00:00Z"
    span = "1 h"

    [constellations.iridium]
    satellites = { kind = "preset", preset = "iridium" }

    [constellations.geo]
    satellites = { kind = "slots", longitudes = ["-30 deg"] }

    [ground]
    min_elevation = "8.2 deg"

    [sites.london]
    latitude = "51.5 deg"
    longitude = "-0.1 deg"

    [[sites.london.antennas]]
    constellation = "geo"

    [[sites.london.antennas]]
    constellation = "geo"

    [[sites.london.antennas]]
    constellation = "iridium"

    [sites.boston]
    latitude = "42.3 deg"
    longitude = "-71.1 deg"

    [[sites.boston.antennas]]
    constellation = "geo"

    [[sites.boston.antennas]]
    constellation = "iridium"
"#;

#[test]
fn an_antenna_that_never_holds_a_satellite_carries_nothing_and_stops_nobody() {
    let file = r#"
        [scenario]
        name = "left-over"
        duration = "30 s"

        [sky]
        topology = "two-orbits.toml"

        [sky.access.all]
        rate = "2 Mbit/s"

        [sky.isls.of-low-orbit]
        constellation = "iridium"
        rate = "25 Mbit/s"

        [nodes.london]
        kind = "host"
        site = "london"

        [nodes.boston]
        kind = "host"
        site = "boston"

        [flows.f]
        from = "london"
        to = "boston"
        transport = "sctp"
        end = "25 s"
        application = { kind = "constant-rate", message_size = "512 B", interval = "100 ms" }
    "#;
    let files: slantpath_runner::Files = std::sync::Arc::new(|_| Ok(TWO_ORBITS.to_owned()));
    let scenario = Scenario::parse("f.toml", file, &[], files).unwrap_or_else(|error| panic!("{error}"));
    let output = run_once(&scenario);
    let flows = output.table("flows").expect("always");
    assert!(number(flows, 0, "messages_sent") > 200.0);
    assert_eq!(number(flows, 0, "messages_delivered"), number(flows, 0, "messages_sent"));
    let links = output.table("links").expect("always");
    let carried = |name: &str| -> f64 {
        let rows = (0..links.rows()).filter(|&row| text(links, row, "link") == name);
        rows.map(|row| number(links, row, "carried_packets")).sum()
    };
    // Of two antennas that could hold the one satellite, the second has none.
    assert!(carried("sky.london.1") > 0.0);
    assert_eq!(carried("sky.london.2"), 0.0);
}

#[test]
fn a_capture_of_an_antenna_has_what_it_sends_by_each_satellite_that_it_holds() {
    let sky = r#"
        [topology]
        name = "overlap"
        epoch = "2026-03-01T00:00:00Z"
        span = "1 h"

        [constellations.iridium]
        satellites = { kind = "preset", preset = "iridium" }

        [ground]
        handover = "make-before-break"
        handover_time = "20 s"

        [sites.london]
        latitude = "51.5 deg"
        longitude = "-0.1 deg"

        [sites.boston]
        latitude = "42.3 deg"
        longitude = "-71.1 deg"
    "#;
    let file = r#"
        [scenario]
        name = "overlap"
        duration = "1200 s"

        [sky]
        topology = "overlap.toml"

        [probes]
        captures = ["sky.london"]
        intervals = "100 s"
    "#
    .to_owned()
        + LONDON_TO_BOSTON;
    let files: slantpath_runner::Files = std::sync::Arc::new(move |_| Ok(sky.to_owned()));
    let scenario = Scenario::parse("f.toml", &file, &[], files).unwrap_or_else(|error| panic!("{error}"));
    let output = run_once(&scenario);
    let links = output.table("links").expect("always");
    let offered = |name: &str| -> f64 {
        let rows = (0..links.rows()).filter(|&row| text(links, row, "link") == name);
        rows.map(|row| number(links, row, "offered_packets")).sum()
    };
    let further = offered("sky.london (2)");
    assert!(further > 0.0, "the second link is never used");
    let [capture] = &output.captures[..] else { panic!("{} captures", output.captures.len()) };
    assert_eq!(capture.link, "sky.london");
    let packets = enhanced_packets(&capture.pcapng);
    assert_eq!(packets as f64, offered("sky.london") + further);
    // A downlink that antennas share has no queue of its own, over intervals neither.
    let intervals = output.table("link_intervals").expect("there are intervals");
    let mut seen = [false; 2];
    for row in 0..intervals.rows() {
        let queue = intervals.column("queue_max_packets").expect("it is there").at(row);
        let has_none = matches!(queue, CellValue::Missing);
        let is_downlink = text(intervals, row, "direction") == "reverse";
        let is_access = text(intervals, row, "link").starts_with("sky.london");
        if is_access {
            assert_eq!(has_none, is_downlink, "row {row}");
            seen[usize::from(is_downlink)] = true;
        }
    }
    assert_eq!(seen, [true; 2]);
    // Its queue is its satellite's, and what all of them were offered over intervals is what they were offered.
    let (shared, over) = ("shared_downlinks", "shared_downlink_intervals");
    for column in ["offered_packets", "offered_bytes", "handed_over_packets"] {
        let sum = |table: &str| -> f64 {
            let table = output.table(table).expect("there is a sky");
            (0..table.rows()).map(|row| number(table, row, column)).sum()
        };
        assert_eq!(sum(over), sum(shared), "{column}");
    }
    let over = output.table(over).expect("there are intervals");
    let mut most: std::collections::BTreeMap<String, f64> = std::collections::BTreeMap::new();
    for row in 0..over.rows() {
        assert!((number(over, row, "end_s") - number(over, row, "start_s")) <= 100.0);
        let most = most.entry(text(over, row, "satellite")).or_default();
        *most = most.max(number(over, row, "queue_max_packets"));
    }
    let shared = output.table(shared).expect("there is a sky");
    for row in 0..shared.rows() {
        let satellite = text(shared, row, "satellite");
        assert_eq!(most[&satellite], number(shared, row, "queue_max_packets"), "{satellite}");
        // Nothing is dropped, so that all that is offered waits.
        let waited = |table: &Table, row| {
            let packets = number(table, row, "offered_packets");
            if packets == 0.0 { 0.0 } else { packets * number(table, row, "wait_mean_s") }
        };
        let rows = (0..over.rows()).filter(|&row| text(over, row, "satellite") == satellite);
        let (parts, whole) = (rows.map(|row| waited(over, row)).sum::<f64>(), waited(shared, row));
        // But what comes as an interval ends waits in the next one, which may have no other.
        assert!((parts - whole).abs() <= 1e-3 * whole, "{satellite}: {parts} of {whole} s");
    }
}

/// Number of packets in a pcapng file: blocks of type 6, each with its length.
fn enhanced_packets(pcapng: &[u8]) -> usize {
    let word = |at: usize| u32::from_le_bytes(pcapng[at..at + 4].try_into().expect("four octets"));
    let mut at = 0;
    let mut packets = 0;
    while at < pcapng.len() {
        packets += usize::from(word(at) == 6);
        at += word(at + 4) as usize;
    }
    packets
}

#[test]
fn terminals_of_two_satellites_meet_over_gateways_that_a_link_of_the_scenario_joins() {
    let sky: String = [("west", -90), ("east", 30)].iter().fold(
        "[topology]\nname = \"two\"\nepoch = \"2026-03-01T00:00:00Z\"\nspan = \"1 h\"\n".to_owned(),
        |sky, (name, longitude)| {
            let slot = format!(
                "[constellations.geo-{name}]\npayload = \"regenerative\"\n\
                 satellites = {{ kind = \"slots\", longitudes = [\"{longitude} deg\"] }}\n"
            );
            let site = |kind: &str, latitude: u8| {
                format!(
                    "[sites.{kind}-{name}]\nlatitude = \"{latitude} deg\"\nlongitude = \"{longitude} deg\"\n\
                     antennas = [{{ constellation = \"geo-{name}\", min_elevation = \"0 deg\" }}]\n"
                )
            };
            sky + &slot + &site("gateway", 0) + &site("terminal", 40)
        },
    );
    let node = |kind: &str, name: &str, role: &str| {
        format!("[nodes.{kind}-{name}]\nkind = \"{role}\"\nsite = \"{kind}-{name}\"\n")
    };
    let nodes: String = ["west", "east"]
        .iter()
        .map(|name| node("gateway", name, "router") + &node("terminal", name, "host"))
        .collect();
    let parse = |ground: &str| {
        let files: slantpath_runner::Files = std::sync::Arc::new({
            let sky = sky.clone();
            move |_| Ok(sky.clone())
        });
        let file = format!(
            "[scenario]\nname = \"two\"\nduration = \"60 s\"\n[sky]\ntopology = \"sky.toml\"\n\
             [sky.access.all]\nrate = \"2 Mbit/s\"\n{nodes}{ground}\
             [flows.reports]\nfrom = \"terminal-west\"\nto = \"terminal-east\"\n\
             transport = \"sctp\"\nend = \"50 s\"\n\
             application = {{ kind = \"constant-rate\", message_size = \"512 B\", interval = \"1 s\" }}\n"
        );
        Scenario::parse("two.toml", &file, &[], files)
    };
    let apart = parse("").expect_err("nothing joins the satellites").to_string();
    assert!(apart.contains("no path over the sky ever joins"), "{apart}");
    let fibre = "[links.fibre]\nends = [\"gateway-west\", \"gateway-east\"]\n\
                 rate = \"100 Mbit/s\"\ndelay = \"30 ms\"\n";
    let output = run_once(&parse(fibre).unwrap_or_else(|error| panic!("{error}")));
    let flows = output.table("flows").expect("always");
    assert_eq!(number(flows, 0, "messages_delivered"), number(flows, 0, "messages_sent"));
    let paths = output.table("sky_paths").expect("there is a sky");
    assert_eq!(text(paths, 0, "satellites"), "geo-west-1 > gateway-west > gateway-east > geo-east-1");
}

#[test]
fn links_between_satellites_repeat_what_an_error_hits() {
    let scenario = load(&[
        "scenario.duration=10 min",
        "scenario.warm_up=0 s",
        "flows.telemetry.connect=0 s",
        "flows.telemetry.end=9 min",
        "sky.isls.iridium.bit_error_rate=1e-5",
        "sky.isls.iridium.arq={ tries = 4 }",
    ]);
    let output = run_once(&scenario);
    let isls = output.table("inter_satellite_links").expect("there is a sky");
    let sum = |column: &str| (0..isls.rows()).map(|row| number(isls, row, column)).sum::<f64>();
    let (carried, repeated) = (sum("carried_packets"), sum("repeated_packets"));
    assert_eq!((sum("damaged_packets"), sum("dropped_loss_packets")), (0.0, 0.0));
    assert!(sum("dropped_given_up_packets") < 1e-3 * carried);
    // The mean length says how many are hit of all that is sent: within a tenth, lengths being unlike.
    let hit = 1e-5 * 8.0 * sum("carried_bytes") / carried;
    let share = repeated / (carried + repeated);
    assert!((share / hit - 1.0).abs() < 0.1, "{share} of all is repeated, {hit} is hit");
    let flows = output.table("flows").expect("always");
    assert_eq!(number(flows, 0, "messages_sent"), number(flows, 0, "messages_delivered"));
}
