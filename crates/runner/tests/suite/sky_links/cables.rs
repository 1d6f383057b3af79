//! Cables of a topology that carry packets: sites without antennas, and whichever gateway is the nearest.

use std::sync::Arc;

use slantpath_base::{Duration, Instant};
use slantpath_orbit::contact::{ContactKind, Planner};
use slantpath_orbit::topology::{RouteChoice, follow};
use slantpath_runner::{Files, RunOutput, Scenario};
use slantpath_topology::Topology;

use super::{number, run_once, text};

/// A ship, and a point of presence without antennas behind two gateways.
const SITES: &str = r#"
    [sites.ship]
    latitude = "45 deg"
    longitude = "-30 deg"
    [sites.cork]
    latitude = "51.9 deg"
    longitude = "-8.5 deg"
    relay = "gateway"
    [sites.lisbon]
    latitude = "38.7 deg"
    longitude = "-9.1 deg"
    relay = "gateway"
    [sites.paris]
    latitude = "48.9 deg"
    longitude = "2.4 deg"
    [[cables]]
    ends = ["paris", "cork"]
    delay = "5 ms"
    [[cables]]
    ends = ["lisbon", "paris"]
"#;

const IRIDIUM: &str = "[constellations.all]\nsatellites = { kind = \"preset\", preset = \"iridium\" }\n";
/// Of satellites that only repeat.
const ONEWEB: &str = "[constellations.all]\nsatellites = { kind = \"preset\", preset = \"oneweb\" }\n";

fn topology(constellation: &str, more: &str) -> String {
    let head = "[topology]\nname = \"t\"\nepoch = \"2026-03-01T00:00:00Z\"\nspan = \"1 h\"\n";
    format!("{head}{constellation}{SITES}{more}")
}

fn scenario(topology: &str, more: &str, routing: &str) -> Scenario {
    read(topology, &file(more, routing))
}

fn read(topology: &str, file: &str) -> Scenario {
    let topology = topology.to_owned();
    let files: Files = Arc::new(move |_| Ok(topology.clone()));
    Scenario::parse("f.toml", file, &[], files).unwrap_or_else(|error| panic!("{error}"))
}

fn file(more: &str, routing: &str) -> String {
    format!(
        r#"
        [scenario]
        name = "cables"
        duration = "1800 s"
        routing = "{routing}"
        [sky]
        topology = "sky.toml"
        [sky.access.all]
        rate = "2 Mbit/s"
        [sky.isls.all]
        rate = "25 Mbit/s"
        [sky.terrestrial.all]
        rate = "100 Mbit/s"
        [nodes.ship]
        kind = "host"
        site = "ship"
        [nodes.gateway-cork]
        kind = "router"
        site = "cork"
        [nodes.gateway-lisbon]
        kind = "router"
        site = "lisbon"
        [nodes.pop]
        kind = "router"
        site = "paris"
        [nodes.server]
        kind = "host"
        [links.hall]
        ends = ["pop", "server"]
        rate = "1 Gbit/s"
        delay = "1 ms"
        [probes]
        messages = true
        [flows.up]
        from = "ship"
        to = "server"
        transport = "sctp"
        end = "1790 s"
        application = {{ kind = "constant-rate", message_size = "512 B", interval = "1 s" }}
        [flows.down]
        from = "server"
        to = "ship"
        transport = "sctp"
        end = "1790 s"
        application = {{ kind = "constant-rate", message_size = "512 B", interval = "1 s" }}
        {more}
        "#
    )
}

fn carried(output: &RunOutput, link: &str) -> f64 {
    let links = output.table("links").expect("always");
    let rows = (0..links.rows()).filter(|&row| text(links, row, "link") == link);
    rows.map(|row| number(links, row, "carried_packets")).sum()
}

fn all_arrive(output: &RunOutput) {
    let flows = output.table("flows").expect("always");
    for row in 0..flows.rows() {
        assert_eq!(number(flows, row, "messages_delivered"), number(flows, row, "messages_sent"));
        assert!(number(flows, row, "messages_sent") > 1_700.0);
    }
}

#[test]
fn packets_take_the_shortest_way_over_satellites_and_cables_either_way() {
    let text_of_sky = topology(IRIDIUM, "");
    let output = run_once(&scenario(&text_of_sky, "", "dynamic"));
    all_arrive(&output);
    for cable in ["paris--cork", "lisbon--paris"] {
        assert!(carried(&output, cable) > 500.0, "{cable} carried {}", carried(&output, cable));
    }
    // Each delay is that of the topology's path: 560 bytes at the rate of each link, each link as long as it is when
    // they leave it, and a millisecond in the hall.
    let files: Files = Arc::new(|_| Ok(String::new()));
    let sky = Topology::parse("sky.toml", &text_of_sky, &[], files).unwrap_or_else(|error| panic!("{error}"));
    let planner = Planner::new(sky.network(), Duration::from_secs(1_801)).expect("a sound topology");
    let plan = planner.plan(&mut |_, _| {}).expect("a sound topology");
    let node = |name| plan.node(name).expect("it is there");
    let messages = output.table("messages").expect("asked for");
    let instant = |seconds| Instant::START + Duration::from_secs_f64(seconds);
    let bits = 8.0 * 560.0;
    for (flow, from, to) in [("up", "ship", "paris"), ("down", "paris", "ship")] {
        let timeline = follow(&plan, node(from), node(to), &RouteChoice::LeastDelay);
        let mut seen = 0;
        for row in 0..messages.rows() {
            let (sent, delivered) =
                (number(messages, row, "first_transmitted_s"), number(messages, row, "delivered_s"));
            if text(messages, row, "flow") != flow || number(messages, row, "transmissions") > 1.0 {
                continue;
            }
            let hall = |at: f64| at + bits / 1e9 + 1e-3;
            let departed = if flow == "up" { sent } else { hall(sent) };
            let path_at = |at| timeline.leg_at(instant(at)).and_then(|leg| leg.path.as_ref());
            // What is under way at a handover is another matter.
            let Some(path) = path_at(departed).filter(|path| path_at(delivered) == Some(*path)) else {
                continue;
            };
            let arrived = path.contacts.iter().fold(departed, |at, &contact| {
                let rate = match plan.contact(contact).kind {
                    ContactKind::Ground { .. } => 2e6,
                    ContactKind::InterSatellite => 25e6,
                    ContactKind::Terrestrial => 100e6,
                };
                let left = at + bits / rate;
                left + plan.delay(contact).nanos_at(instant(left)) * 1e-9
            });
            let arrived = if flow == "up" { hall(arrived) } else { arrived };
            let off = delivered - arrived;
            assert!(off.abs() < 2e-8, "{flow}, sent at {sent} s: {off} s");
            seen += 1;
        }
        assert!(seen > 1_500, "{flow}: {seen}");
    }
}

#[test]
fn over_satellites_that_repeat_a_site_without_antennas_is_joined_by_whichever_gateway_sees_the_same_one() {
    // A ship to which the way by one gateway is about as long as by the other.
    let sky = topology(ONEWEB, "")
        .replace("45 deg", "44.5 deg")
        .replace("-30 deg", "-13 deg")
        .replace("5 ms", "7 ms");
    let output = run_once(&scenario(&sky, "", "dynamic"));
    all_arrive(&output);
    for cable in ["paris--cork", "lisbon--paris"] {
        assert!(carried(&output, cable) > 100.0, "{cable} carried {}", carried(&output, cable));
    }
}

/// Satellites that a path goes by at a time, as the table says.
fn path_at(output: &RunOutput, flow: &str, at: f64) -> String {
    let paths = output.table("sky_paths").expect("there is a sky");
    let is_it = |&row: &usize| text(paths, row, "flow") == flow && number(paths, row, "at_s") <= at;
    text(paths, (0..paths.rows()).rev().find(is_it).expect("from the start"), "satellites")
}

#[test]
fn a_cable_that_is_out_of_service_carries_nothing_and_the_other_gateway_is_taken() {
    let outages = "[[outages]]\nlink = [\"cork\", \"paris\"]\nfrom = \"0 s\"\nuntil = \"600 s\"\n\
                   [[outages]]\nlink = [\"lisbon\", \"paris\"]\nfrom = \"600 s\"\nuntil = \"1200 s\"\n";
    let more = "[[script]]\nat = \"1 s\"\nlink = \"hall\"\naction = \"set\"\nloss = \"0 %\"\n";
    for routing in ["dynamic", "static"] {
        let output = run_once(&scenario(&topology(IRIDIUM, outages), more, routing));
        all_arrive(&output);
        for (at, gateway) in [(1.0, "lisbon"), (300.0, "lisbon"), (601.0, "cork"), (1_199.0, "cork")] {
            for flow in ["up", "down"] {
                let path = path_at(&output, flow, at);
                assert!(path.contains(gateway), "{routing}, {flow} at {at} s: {path}");
            }
        }
        // What was on a cable as it failed is lost; nothing else is.
        let links = output.table("links").expect("always");
        let lost: f64 = (0..links.rows()).map(|row| number(links, row, "dropped_link_down_packets")).sum();
        assert!(lost < 5.0, "{routing}: {lost}");
    }
}

#[test]
fn a_host_at_the_end_of_its_only_cable_hears_nothing_while_that_is_out_of_service() {
    let outage = "[[outages]]\nlink = [\"cork\", \"paris\"]\nfrom = \"600 s\"\nuntil = \"630 s\"\n";
    let sky = topology(IRIDIUM, outage).replace("[[cables]]\n    ends = [\"lisbon\", \"paris\"]\n", "");
    // The server itself stands at the end of the cable.
    let hall = "[links.hall]\n        ends = [\"pop\", \"server\"]\n        \
                rate = \"1 Gbit/s\"\n        delay = \"1 ms\"\n";
    let server = "[nodes.server]\n        kind = \"host\"\n";
    let mut text = file("", "static");
    for gone in [hall, server] {
        assert!(text.contains(gone));
        text = text.replace(gone, "");
    }
    let text = text.replace("[nodes.pop]\n        kind = \"router\"", "[nodes.pop]\n        kind = \"host\"");
    let output = run_once(&read(&sky, &text.replace("\"server\"", "\"pop\"")));
    all_arrive(&output);
    let messages = output.table("messages").expect("asked for");
    let delivered = (0..messages.rows()).filter(|&row| {
        let at = number(messages, row, "delivered_s");
        super::text(messages, row, "flow") == "up" && (600.1..630.0).contains(&at)
    });
    assert_eq!(delivered.count(), 0);
    let links = output.table("links").expect("always");
    let lost: f64 = (0..links.rows()).map(|row| number(links, row, "dropped_link_down_packets")).sum();
    assert!(lost > 5.0, "{lost}");
}

#[test]
fn the_merged_form_of_a_scenario_with_cables_is_the_same_scenario() {
    let sky = topology(IRIDIUM, "");
    let first = scenario(&sky, "", "dynamic");
    let merged = first.canonical();
    assert!(merged.contains("[links.lisbon--paris]"), "{merged}");
    let files: Files = Arc::new(move |_| Ok(sky.clone()));
    let again = Scenario::parse("f.toml", &merged, &[], files).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.canonical(), merged);
    assert_eq!(again.hash(), first.hash());
}

#[test]
fn the_scenario_of_two_gateways_goes_by_the_other_one_while_a_cable_is_cut() {
    let path = crate::project::path("gateways-by-cable.toml");
    let output = run_once(&Scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}")));
    let flows = output.table("flows").expect("always");
    assert_eq!(number(flows, 0, "messages_delivered"), 9_000.0);
    for (at, gateway) in [(599.9, "cork"), (600.0, "lisbon"), (1_199.9, "lisbon"), (1_280.0, "cork")] {
        let path = path_at(&output, "positions", at);
        assert!(path.contains(gateway), "at {at} s: {path}");
    }
    let intervals = output.table("link_intervals").expect("asked for");
    let by_cork = |cut: bool| -> f64 {
        let is_asked_for = |&row: &usize| {
            let is_cut = (600.0..1_200.0).contains(&number(intervals, row, "start_s"));
            text(intervals, row, "link") == "cork--paris" && is_cut == cut
        };
        let rows = (0..intervals.rows()).filter(is_asked_for);
        rows.map(|row| number(intervals, row, "carried_packets")).sum()
    };
    assert!(by_cork(false) > 3_000.0, "{}", by_cork(false));
    assert_eq!(by_cork(true), 0.0);
}
