//! Limits of paths: links of a lower MTU than the hosts first send, and paths of many links.
use std::fmt::Write;

use slantpath_results::{CellValue, Table};
use slantpath_runner::RunOutput;

use crate::alone::{parse, run_text};
use crate::project;

/// A cell of the row whose first columns are these.
fn cell(output: &RunOutput, table: &str, keys: &[&str], column: &str) -> f64 {
    let table: &Table = output.table(table).unwrap();
    let is_meant = |row: &usize| {
        table.columns().iter().zip(keys).all(|(column, key)| column.at(*row) == CellValue::Text(key))
    };
    let row = (0..table.rows()).find(is_meant).unwrap();
    match table.column(column).unwrap().at(row) {
        CellValue::U64(number) => number as f64,
        CellValue::F64(number) => number,
        other => panic!("{column} is {other:?}"),
    }
}

const HEAD: &str = r#"
[scenario]
name = "path-limits"
duration = "6 s"

[nodes]
a = { kind = "host" }
b = { kind = "host" }
"#;

fn flow(transport: &str) -> String {
    format!(
        r#"
[flows.f]
transport = "{transport}"
from = "a"
to = "b"
end = "3 s"
application = {{ kind = "constant-rate", message_size = "1400 B", interval = "10 ms" }}
"#
    )
}

fn link(name: &str, ends: [&str; 2], family: &str, mtu_bytes: u32) -> String {
    let [first, second] = ends;
    format!(
        r#"
[links.{name}]
ends = ["{first}", "{second}"]
rate = "10 Mbit/s"
delay = "20 ms"
family = "{family}"
mtu = "{mtu_bytes} B"
"#
    )
}

/// All is delivered, and nothing waits for a timeout, which takes a second.
fn assert_all_delivered(output: &RunOutput, what: &str) {
    let of_flow = |column| cell(output, "flows", &["f"], column);
    // One each 10 ms for 3 s, once the flow is connected.
    assert!(of_flow("messages_sent") > 260.0, "{what}: {}", of_flow("messages_sent"));
    assert_eq!(of_flow("messages_delivered"), of_flow("messages_sent"), "{what}");
    assert_eq!(of_flow("messages_corrupt"), 0.0, "{what}");
    assert!(of_flow("delay_p99_s") < 0.5, "{what}: {} s", of_flow("delay_p99_s"));
}

#[test]
fn every_message_crosses_a_narrow_link_be_it_the_first_or_behind_a_router() {
    for transport in ["sctp", "tcp"] {
        for family in ["ipv4", "ipv6"] {
            let own = link("narrow", ["a", "b"], family, 1_300);
            let behind = "r = { kind = \"router\" }\n".to_owned()
                + &link("wide", ["a", "r"], family, 1_500)
                + &link("narrow", ["r", "b"], family, 1_300);
            for network in [own, behind] {
                let text = format!("{HEAD}{network}{}", flow(transport));
                let what = format!("{transport} over {network}");
                let warnings = parse(&text).warnings().to_vec();
                assert_eq!(warnings.len(), 1, "{what}");
                assert!(warnings[0].message.contains("do not fit link `narrow`"), "{}", warnings[0]);
                let output = run_text(&text);
                assert_all_delivered(&output, &what);
                let dropped = cell(&output, "links", &["narrow", "forward"], "dropped_mtu_packets");
                assert!((1.0..=10.0).contains(&dropped), "{dropped} packets: {what}");
            }
        }
    }
}

/// The scenario of the repository, with other links if it is told so.
fn discovery(edit: impl Fn(String) -> String) -> RunOutput {
    run_text(&edit(std::fs::read_to_string(project::path("path-mtu-discovery.toml")).unwrap()))
}

#[test]
fn probes_find_the_path_mtu_whether_icmp_tells_of_it_or_not() {
    for family in ["ipv4", "ipv6"] {
        let output = discovery(|text| text.replace("family = \"ipv4\"", &format!("family = \"{family}\"")));
        for flow in ["told", "silent"] {
            let of_flow = |column| cell(&output, "flows", &[flow], column);
            assert!(of_flow("messages_sent") > 1_000.0, "{flow} over {family}");
            assert_eq!(of_flow("messages_delivered"), of_flow("messages_sent"), "{flow} over {family}");
            assert_eq!(of_flow("messages_corrupt"), 0.0);
            // No message waits for a timeout: nothing but probes is too long.
            assert!(of_flow("delay_p99_s") < 0.5, "{flow} over {family}: {} s", of_flow("delay_p99_s"));
        }
        let dropped = |link| cell(&output, "links", &[link, "forward"], "dropped_mtu_packets");
        // One probe of 1,500 bytes where ICMP says what passes; where not, three sizes that do not are tried three
        // times.
        assert_eq!([dropped("narrow"), dropped("filtered")], [1.0, 9.0], "{family}");
    }
}

#[test]
fn without_probes_a_filtered_report_leaves_long_messages_behind() {
    let output = discovery(|text| text.replace("path_mtu_discovery = \"probing\"", ""));
    let of_flow = |flow, column| cell(&output, "flows", &[flow], column);
    assert_eq!(of_flow("told", "messages_delivered"), of_flow("told", "messages_sent"));
    assert_eq!(of_flow("silent", "messages_delivered"), 0.0);
}

#[test]
fn a_link_narrower_than_any_path_mtu_is_crossed_in_fragments_that_are_counted() {
    let text = format!("{HEAD}{}{}", link("narrow", ["a", "b"], "ipv4", 400), flow("sctp"));
    let warnings = parse(&text).warnings().to_vec();
    assert!(warnings[0].message.contains("are cut into fragments"), "{}", warnings[0]);
    let output = run_text(&text);
    assert_all_delivered(&output, "400 bytes");
    let on_link = |column| cell(&output, "links", &["narrow", "forward"], column);
    let at_host = |column| cell(&output, "hosts", &["b"], column);
    // A message of 1,400 bytes takes three packets, of which two are longer than 400 bytes.
    assert!(on_link("fragmented_packets") > 500.0, "{}", on_link("fragmented_packets"));
    assert!(on_link("fragments_packets") >= 2.0 * on_link("fragmented_packets"));
    assert_eq!(at_host("fragments_received_packets"), on_link("fragments_packets"));
    assert_eq!(at_host("fragments_used_packets"), on_link("fragments_packets"));
    assert_eq!(at_host("reassembled_packets"), on_link("fragmented_packets"));
    assert_eq!(at_host("fragments_timed_out_packets"), 0.0);
}

/// Routers r1 .. between `a` and `b`, with so many links in all.
fn chain(links: usize) -> String {
    let mut text = String::new();
    for router in 1..links {
        writeln!(text, "r{router} = {{ kind = \"router\" }}").unwrap();
    }
    for number in 1..=links {
        let end = |place: usize| match place {
            0 => "a".to_owned(),
            place if place == links => "b".to_owned(),
            place => format!("r{place}"),
        };
        let (first, second) = (end(number - 1), end(number));
        write!(
            text,
            "[links.l{number}]\nends = [\"{first}\", \"{second}\"]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n"
        )
        .unwrap();
    }
    text
}

#[test]
fn packets_pass_sixty_four_links() {
    let output = run_text(&format!("{HEAD}{}{}", chain(64), flow("sctp")));
    assert_all_delivered(&output, "64 links");
}

#[test]
fn what_a_detour_of_too_many_links_drops_is_counted_under_its_name() {
    let shortcut = r#"
[links.shortcut]
ends = ["r1", "r64"]
rate = "100 Mbit/s"
delay = "1 ms"

[[script]]
at = "1 s"
link = "shortcut"
action = "down"
"#;
    let head = HEAD.replace("duration = \"6 s\"", "duration = \"6 s\"\nrouting = \"dynamic\"");
    let output = run_text(&format!("{head}{}{shortcut}{}", chain(65), flow("sctp")));
    assert!(cell(&output, "flows", &["f"], "messages_delivered") < 110.0);
    // The last of 64 routers finds the hop limit used up, and says so to the sender.
    let dropped = cell(&output, "links", &["l64", "forward"], "dropped_hop_limit_packets");
    assert!(dropped >= 4.0, "{dropped}");
    assert!(cell(&output, "links", &["l64", "reverse"], "carried_packets") >= dropped);
}
