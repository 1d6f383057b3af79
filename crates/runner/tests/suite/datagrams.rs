//! Flows of datagrams: held to the counters of their links, to closed formulas, and to what another program reads.

use std::collections::BTreeSet;

use slantpath_runner::{RunOutput, TableKind};
use slantpath_testkit::{Tshark, pcap};

use crate::alone::{parse, run_text};
use crate::cells::cells;
use crate::project;

/// A flow from one host to another over a link of these properties.
fn run_over(link: &str, flow: &str) -> RunOutput {
    run_text(&text_of(link, flow))
}

fn text_of(link: &str, flow: &str) -> String {
    format!(
        r#"
[scenario]
name = "datagrams"
duration = "30 s"
[nodes]
a = {{ kind = "host" }}
b = {{ kind = "host" }}
[links.l]
ends = ["a", "b"]
rate = "8 Mbit/s"
delay = "50 ms"
{link}
[flows.f]
from = "a"
to = "b"
end = "25 s"
{flow}
[probes]
messages = false
captures = ["l"]
"#
    )
}

const STEADY: &str = r#"transport = "udp"
application = { kind = "constant-rate", message_size = "972 B", interval = "10 ms" }"#;

fn only(output: &RunOutput, table: &str, column: &str) -> f64 {
    let cells = cells(output, table, column);
    assert_eq!(cells.len(), 1, "{table} has one row");
    cells[0].unwrap()
}

/// Of the link's way there.
fn there(output: &RunOutput, column: &str) -> f64 {
    cells(output, "links", column)[0].unwrap()
}

#[test]
fn what_a_link_loses_and_repeats_is_what_a_flow_misses_and_has_twice() {
    for family in ["ipv4", "ipv6"] {
        let link = format!(
            "family = \"{family}\"\nloss = \"3 %\"\nduplicate = \"2 %\"\nreorder = \"5 %\"\n\
             reorder_delay = \"25 ms\""
        );
        let output = run_over(&link, STEADY);
        let of_flow = |column: &str| only(&output, "datagrams", column);
        let dropped = there(&output, "dropped_loss_packets");
        let repeated = there(&output, "duplicated_packets");
        assert_eq!(of_flow("sent_datagrams"), 2_500.0);
        assert!(dropped > 40.0 && repeated > 20.0, "{dropped} lost, {repeated} repeated");
        assert_eq!(of_flow("lost_datagrams"), dropped);
        assert_eq!(of_flow("duplicate_datagrams"), repeated);
        assert_eq!(of_flow("delivered_datagrams") + repeated, there(&output, "carried_packets"));
        assert_eq!(of_flow("lost_ratio"), dropped / 2_500.0);
        // 5 % are up to 25 ms late, at intervals of 10 ms: three of five come behind the next one, some behind two.
        let late = of_flow("reordered_ratio");
        assert!((0.02..0.04).contains(&late), "{late}");
        assert_eq!(of_flow("reordering_extent_max_datagrams"), 2.0);
        // 1 ms to send 1,000 bytes of an IPv4 packet, and 20 bytes more of IPv6.
        let least = if family == "ipv4" { 0.051 } else { 0.05102 };
        assert_eq!(of_flow("delay_min_s"), least);
        assert!(of_flow("delay_max_s") < least + 0.025);
        assert!(of_flow("jitter_max_s") > 0.001);
    }
}

#[test]
fn datagrams_over_a_quiet_link_have_one_delay_and_no_jitter() {
    let output = run_over("", STEADY);
    for (column, value) in [
        ("lost_datagrams", 0.0),
        ("duplicate_datagrams", 0.0),
        ("reordered_datagrams", 0.0),
        ("reordering_extent_max_datagrams", 0.0),
        ("delay_min_s", 0.051),
        ("delay_mean_s", 0.051),
        ("delay_max_s", 0.051),
        ("jitter_s", 0.0),
        ("jitter_max_s", 0.0),
    ] {
        assert_eq!(only(&output, "datagrams", column), value, "{column}");
    }
    // Delivered bits over the time until the end of the flow and the last delivery.
    let throughput = only(&output, "flows", "throughput_bit_per_s");
    assert_eq!(throughput, 2_500.0 * 972.0 * 8.0 / 25.041);
    assert_eq!(cells(&output, "flows", "connected_s"), [None]);
}

#[test]
fn long_datagrams_are_cut_by_the_link_or_where_they_are_sent() {
    let flow = r#"transport = "udp"
application = { kind = "constant-rate", message_size = "4000 B", interval = "100 ms" }"#;
    for (family, sent_by_host) in [("ipv4", 0.0), ("ipv6", 1_000.0)] {
        let output = run_over(&format!("family = \"{family}\"\nmtu = \"1280 B\""), flow);
        assert_eq!(only(&output, "datagrams", "lost_datagrams"), 0.0);
        assert_eq!(cells(&output, "hosts", "fragments_sent_packets")[0], Some(sent_by_host), "{family}");
        assert_eq!(cells(&output, "hosts", "reassembled_packets")[1], Some(250.0));
        assert_eq!(there(&output, "carried_packets"), 1_000.0, "four fragments each");
    }
}

#[test]
fn a_ping_measures_the_way_there_and_back() {
    let flow = |count: &str| {
        format!(
            "transport = \"icmp\"\n\
             application = {{ kind = \"ping\", message_size = \"972 B\", interval = \"20 ms\"{count} }}"
        )
    };
    for (family, expected) in [("ipv4", 0.102), ("ipv6", 0.10204)] {
        let output = run_over(&format!("family = \"{family}\""), &flow(", count = 100"));
        let of_flow = |column: &str| only(&output, "round_trips", column);
        assert_eq!((of_flow("sent_requests"), of_flow("answered_requests")), (100.0, 100.0), "{family}");
        for column in ["round_trip_min_s", "round_trip_mean_s", "round_trip_max_s"] {
            assert!((of_flow(column) - expected).abs() < 1e-9, "{family}, {column}: {}", of_flow(column));
        }
        // What goes there is counted as datagrams are.
        assert_eq!(only(&output, "datagrams", "delivered_datagrams"), 100.0);
    }
    let output = run_over("loss = \"5 %\"\nduplicate = \"1 %\"", &flow(""));
    let dropped = cells(&output, "links", "dropped_loss_packets");
    let of_flow = |column: &str| only(&output, "round_trips", column);
    assert_eq!(of_flow("sent_requests"), 1_250.0);
    // A request that comes twice is answered twice, so that not every loss leaves it without an answer.
    let all = dropped[0].unwrap() + dropped[1].unwrap();
    assert!(of_flow("lost_requests") <= all && of_flow("lost_requests") > 0.9 * all);
    assert!(of_flow("duplicate_replies") > 0.0);
    assert_eq!(of_flow("lost_ratio"), of_flow("lost_requests") / 1_250.0);
}

#[test]
fn a_ping_leaves_from_the_address_that_its_checksum_covers() {
    let flow =
        "transport = \"icmp\"\nprimary = \"m\"\napplication = { kind = \"ping\", interval = \"100 ms\" }";
    let text = text_of("family = \"ipv6\"", flow);
    let text = text.replace(
        "[flows.f]",
        "[links.m]\nends = [\"a\", \"b\"]\nrate = \"8 Mbit/s\"\ndelay = \"20 ms\"\nfamily = \"ipv6\"\n[flows.f]",
    );
    let output = run_text(&text);
    assert_eq!(only(&output, "round_trips", "answered_requests"), 250.0);
    assert!(only(&output, "round_trips", "round_trip_max_s") < 0.041, "over the second link");
}

#[test]
fn a_call_over_handovers_loses_little_and_waits_for_the_next_satellite() {
    let output = project::run_file("voice-over-leo.toml", &[]);
    let of = |column: &str| cells(&output, "datagrams", column).into_iter().flatten().collect::<Vec<_>>();
    let sent: f64 = of("sent_datagrams").iter().sum();
    // Two voices talk for 590 s at 50 packets a second, 39 % of the time: the deviation of 230 talkspurts is 9 %.
    let expected = 2.0 * 590.0 * 50.0 * 1.004 / (1.004 + 1.587);
    assert!((sent / expected - 1.0).abs() < 0.2, "{sent} and {expected}");
    let lost: f64 = of("lost_datagrams").iter().sum();
    let dropped: f64 = cells(&output, "antennas", "uplink_lost_packets").into_iter().flatten().sum();
    assert_eq!(lost, dropped, "those that were being sent as the contact ended");
    // A talkspurt at a handover waits for 200 ms, and the jitter remembers a sixteenth of that.
    let longest = of("delay_max_s").into_iter().fold(0.0, f64::max);
    assert!((0.2..0.3).contains(&longest), "{longest}");
    assert!(of("jitter_max_s").into_iter().fold(0.0, f64::max) > 0.18 / 16.0);
    assert!(of("jitter_s").into_iter().all(|jitter| jitter < 1e-3));
}

#[test]
fn tunnels_over_a_satellite_are_cut_and_lost_in_parts() {
    let output = project::run_file("gtp-u-over-geo.toml", &["scenario.warm_up=\"0 s\""]);
    let sum = |table: &str, column: &str| cells(&output, table, column).into_iter().flatten().sum::<f64>();
    // Each packet of 1,500 bytes is two fragments, and one that loses both is lost once.
    let (lost, dropped) = (sum("datagrams", "lost_datagrams"), sum("links", "dropped_loss_packets"));
    assert!(dropped >= lost && dropped < lost + 10.0, "{lost} lost, {dropped} dropped");
    assert_eq!(sum("links", "dropped_queue_full_packets"), 0.0);
    assert_eq!(sum("flows", "messages_corrupt"), 0.0);
    // Three links there and back, of 64 + 20 bytes each way, and what waits in front.
    let least = 2.0 * (0.002 + 0.26 + 0.0001);
    let shortest = only(&output, "round_trips", "round_trip_min_s");
    assert!((least..least + 0.001).contains(&shortest), "{shortest} s");
}

/// The fields that tshark reads of the packets of the run's capture that pass a filter.
fn read(output: &RunOutput, filter: &str, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let packets = pcap::read_pcapng(&output.captures[0].pcapng);
    let capture = pcap::write(101, packets);
    let mut arguments = vec!["-d", "udp.port==40000,rtp", "-Y", filter, "-T", "fields"];
    arguments.extend(fields.iter().flat_map(|field| ["-e", field]));
    let tshark = Tshark::of_octets("datagrams", &capture).prefer("udp.check_checksum:TRUE");
    let printed = tshark.print(&arguments)?;
    Some(printed.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
}

#[test]
fn another_program_reads_rtp_with_right_checksums() {
    for family in ["ipv4", "ipv6"] {
        let flow = "transport = \"udp\"\nadaptation = \"rtp\"\napplication = { kind = \"voice\" }";
        let output = run_over(&format!("family = \"{family}\""), flow);
        let sent = only(&output, "datagrams", "sent_datagrams");
        assert_eq!(only(&output, "datagrams", "delivered_datagrams"), sent);
        assert_eq!(only(&output, "flows", "messages_corrupt"), 0.0);
        for column in ["sent_bytes", "delivered_bytes"] {
            assert_eq!(only(&output, "flows", column), sent * 160.0, "media without headers");
        }
        let fields = ["rtp.seq", "rtp.timestamp", "rtp.marker", "rtp.p_type", "udp.checksum.status"];
        let Some(packets) = read(&output, "rtp", &fields) else { return };
        assert_eq!(packets.len() as f64, sent, "{family}");
        let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| u64::from(text == "True"));
        let mut before: Option<(u64, u64)> = None;
        for packet in &packets {
            let [sequence, timestamp, marker, kind, checksum] =
                <[u64; 5]>::try_from(packet.iter().map(|field| number(field)).collect::<Vec<_>>()).unwrap();
            assert_eq!((kind, checksum), (0, 1));
            if let Some((last, at)) = before {
                assert_eq!(sequence, last + 1);
                // 20 ms are 160 ticks: more is a silence, and the packet behind it is marked.
                assert_eq!(marker == 1, timestamp - at > 160, "{sequence}");
            }
            before = Some((sequence, timestamp));
        }
    }
}

#[test]
fn tunnels_to_one_host_share_a_port_and_are_told_apart() {
    let flow = "transport = \"udp\"\nadaptation = \"gtp-u\"\ncount = 3\n\
                application = { kind = \"constant-rate\", message_size = \"500 B\", interval = \"100 ms\" }";
    let output = run_over("", flow);
    assert_eq!(cells(&output, "datagrams", "delivered_datagrams"), [Some(250.0); 3]);
    assert_eq!(cells(&output, "flows", "messages_corrupt"), [Some(0.0); 3]);
    assert_eq!(cells(&output, "flows", "delivered_bytes"), [Some(125_000.0); 3]);
    let fields = ["udp.dstport", "gtp.length", "gtp.teid", "ip.len", "udp.checksum.status"];
    let Some(packets) = read(&output, "gtp", &fields) else { return };
    assert_eq!(packets.len(), 750);
    let tunnels: BTreeSet<&str> = packets.iter().map(|packet| packet[2].as_str()).collect();
    assert_eq!(tunnels.len(), 3, "{tunnels:?}");
    for packet in &packets {
        // The outer packet and the one inside, whose checksum of UDP is not set.
        assert_eq!(packet[0], "2152,9");
        assert_eq!(packet[1], "500");
        assert_eq!(packet[3], "536,500");
        assert!(packet[4].starts_with('1'), "{packet:?}");
    }
}

#[test]
fn what_was_sent_before_the_warm_up_counts_for_nothing() {
    let flow = STEADY.replace("constant-rate", "poisson").replace("interval", "mean_interval");
    let text = text_of("loss = \"10 %\"", &flow)
        .replace("duration = \"30 s\"", "duration = \"30 s\"\nwarm_up = \"10 s\"");
    let output = run_text(&text);
    let sent = only(&output, "datagrams", "sent_datagrams");
    assert!((1_300.0..1_700.0).contains(&sent), "{sent} in 15 s");
    assert_eq!(sent, only(&output, "flows", "messages_sent"));
    let lost = only(&output, "datagrams", "lost_datagrams");
    // What was on its way when the warm-up ended is lost before it, or in it.
    let dropped = there(&output, "dropped_loss_packets");
    assert!((lost - dropped).abs() < 3.0, "{lost} and {dropped}");
}

#[test]
fn a_flow_of_datagrams_has_no_profile_in_its_merged_form_and_is_read_again() {
    let scenario = parse(&text_of("", STEADY));
    let merged = scenario.merged();
    assert!(!merged.contains("profile"), "{merged}");
    assert_eq!(parse(&merged).canonical(), scenario.canonical());
    assert!(TableKind::Datagrams.given().contains("UDP"));
}

#[test]
fn a_flow_of_datagrams_has_no_trace_and_says_so() {
    let scenario = parse(&text_of("", STEADY));
    let error = scenario.trace_request(&["f".to_owned()]).unwrap_err().to_string();
    assert_eq!(error, "flow `f` has `transport = \"udp\"`: associations of SCTP are traced");
}
