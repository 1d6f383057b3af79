//! Queues of links: how packets are sent and dropped, and how long they are on their way, in scenarios that choose.
use std::path::Path;

use slantpath_results::{CellValue, Table};
use slantpath_runner::{RunOutput, Scenario, files_in};

use crate::alone::run_text;
use crate::project::run_file;

/// The place of a row of the table of links.
fn row(links: &Table, link: &str, direction: &str) -> usize {
    let is = |column: &str, row: usize, wanted: &str| match links.column(column).unwrap().at(row) {
        CellValue::Text(text) => text == wanted,
        other => panic!("{other:?} is no name"),
    };
    (0..links.rows()).find(|&row| is("link", row, link) && is("direction", row, direction)).unwrap()
}

fn count(output: &RunOutput, link: &str, direction: &str, column: &str) -> u64 {
    cell(output, link, direction, column).unwrap_or_else(|| panic!("{column} is missing"))
}

fn cell(output: &RunOutput, link: &str, direction: &str, column: &str) -> Option<u64> {
    let links = output.table("links").unwrap();
    match links.column(column).unwrap().at(row(links, link, direction)) {
        CellValue::U64(count) => Some(count),
        CellValue::Missing => None,
        other => panic!("{other:?} is no count"),
    }
}

fn number(output: &RunOutput, link: &str, direction: &str, column: &str) -> f64 {
    let links = output.table("links").unwrap();
    match links.column(column).unwrap().at(row(links, link, direction)) {
        CellValue::F64(number) => number,
        other => panic!("{other:?} is no number"),
    }
}

fn dropped(output: &RunOutput, link: &str, direction: &str) -> [u64; 4] {
    ["codel", "early", "forced", "queue_full"]
        .map(|cause| count(output, link, direction, &format!("dropped_{cause}_packets")))
}

/// Milliseconds that each message of a flow took.
fn delays_ms(output: &RunOutput, flow: &str) -> Vec<f64> {
    let messages = output.table("messages").unwrap();
    let column = |name: &str| messages.column(name).unwrap();
    (0..messages.rows())
        .filter(|&row| matches!(column("flow").at(row), CellValue::Text(name) if name == flow))
        .filter_map(|row| match column("delay_s").at(row) {
            CellValue::F64(seconds) => Some(seconds * 1e3),
            _ => None,
        })
        .collect()
}

#[test]
fn codel_keeps_a_queue_short_that_drop_tail_lets_stand() {
    let managed = run_file("codel.toml", &[]);
    let [codel, early, forced, full] = dropped(&managed, "bottleneck", "forward");
    assert!(codel > 10, "{codel}");
    assert_eq!([early, forced, full], [0; 3]);
    // 5 ms of 5 Mbit/s are two packets of 1,500 bytes; the sawtooth of four transfers stands a little above.
    let queue = number(&managed, "bottleneck", "forward", "queue_mean_packets");
    assert!((1.0..15.0).contains(&queue), "{queue} packets");
    assert!(number(&managed, "bottleneck", "forward", "utilisation_ratio") > 0.9);
    // The other direction has a queue of the plain kind: three of these mean nothing there.
    assert_eq!(cell(&managed, "bottleneck", "reverse", "dropped_queue_full_packets"), Some(0));
    for reason in ["codel", "early", "forced"] {
        assert_eq!(cell(&managed, "bottleneck", "reverse", &format!("dropped_{reason}_packets")), None);
    }
}

#[test]
fn pie_keeps_a_queue_at_its_target_by_marks_alone() {
    let output = run_file("pie.toml", &[]);
    assert_eq!(dropped(&output, "bottleneck", "forward"), [0; 4]);
    assert!(count(&output, "bottleneck", "forward", "marked_packets") > 10);
    // 15 ms of 5 Mbit/s are six packets of 1,500 bytes.
    let queue = number(&output, "bottleneck", "forward", "queue_mean_packets");
    assert!((3.0..15.0).contains(&queue), "{queue} packets");
    assert!(number(&output, "bottleneck", "forward", "utilisation_ratio") > 0.95);
}

#[test]
fn red_keeps_the_average_between_its_thresholds_and_names_its_drops() {
    let output = run_file("red.toml", &[]);
    let [codel, early, _, full] = dropped(&output, "bottleneck", "forward");
    assert!(early > 10, "{early}");
    assert_eq!([codel, full], [0; 2]);
    let queue = number(&output, "bottleneck", "forward", "queue_mean_packets");
    assert!((3.0..15.0).contains(&queue), "{queue} packets");
}

#[test]
fn what_a_link_does_not_do_has_no_count() {
    let output = run_file("first.toml", &["scenario.duration = \"5 s\"", "scenario.warm_up = \"1 s\""]);
    let links = output.table("links").unwrap();
    for name in [
        "dropped_codel_packets",
        "dropped_early_packets",
        "dropped_forced_packets",
        "dropped_given_up_packets",
        "dropped_header_context_packets",
        "dropped_policed_packets",
        "marked_packets",
        "repeated_packets",
        "compressed_packets",
        "green_packets",
        "yellow_packets",
        "red_packets",
    ] {
        let column = links.column(name).unwrap_or_else(|| panic!("{name} is a column of every run"));
        assert_eq!(column.missing(), links.rows(), "{name}");
    }
    assert_eq!(links.column("dropped_queue_full_packets").unwrap().missing(), 0);
}

#[test]
fn marked_packets_are_spared_by_either_kind_of_red() {
    let output = run_file("assured-forwarding.toml", &[]);
    for direction in ["forward", "reverse"] {
        let [codel, early, forced, full] = dropped(&output, "bottleneck", direction);
        assert!(early + forced > 10, "{direction}: {early} and {forced}");
        assert_eq!([codel, full], [0; 2]);
    }
    for (flow, least) in [("forward-marked", 1.9), ("reverse-marked", 1.9)] {
        let delays = delays_ms(&output, flow);
        // 250 messages a second, all of which came; a retransmission would show as a delay of a round trip and more.
        assert!(delays.len() as f64 > 250.0 * 28.0 * least / 2.0, "{flow}: {}", delays.len());
    }
}

#[test]
fn a_message_of_a_high_class_waits_for_one_packet_at_most() {
    let output = run_file("priority.toml", &[]);
    let delays = delays_ms(&output, "signalling");
    assert!(delays.len() > 1_000, "{}", delays.len());
    // 11 ms on the way, 1,508 bytes before it and its own 156 on the line, and both on the access.
    let most = 11.0 + (1_508.0 + 160.0) * 8.0 / 2e3 + 0.2;
    let worst = delays.iter().copied().fold(0.0, f64::max);
    assert!(worst < most, "{worst} ms");
    // The files fill the line all the same.
    assert!(number(&output, "line", "forward", "utilisation_ratio") > 0.98);
    let without = run_file("priority.toml", &["nodes.signalling.dscp = \"CS0\""]);
    let worst = delays_ms(&without, "signalling").into_iter().fold(0.0, f64::max);
    assert!(worst > 5.0 * most, "best effort: {worst} ms");
}

#[test]
fn the_delay_of_messages_is_that_of_the_file_when_they_left() {
    let output = run_file("delay-trace.toml", &[]);
    let delays = delays_ms(&output, "pings");
    assert_eq!(delays.len(), 358);
    // The first at 1 s: 5.706 ms fall by 0.36 in ten seconds; the one at 90 s overhead; a packet takes 0.1 ms.
    let sent_ms = (delays[0] - 5.669_869, delays[178] - delays[0]);
    assert!((0.0..0.2).contains(&sent_ms.0), "{} ms", delays[0]);
    assert!(delays[178] < delays[0] && delays[178] > 3.669, "{} ms", delays[178]);
    let shortest = delays.iter().copied().fold(f64::MAX, f64::min);
    assert_eq!(shortest, delays[178]);
}

fn faults(text: &str) -> String {
    match Scenario::parse("t.toml", text, &[], files_in(Path::new(""))) {
        Err(diagnostics) => diagnostics.to_string(),
        Ok(scenario) => panic!("it is taken for right:\n{}", scenario.merged()),
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_what_would() {
    let with = |keys: &str| {
        faults(&format!(
            "[scenario]\nname = \"t\"\nduration = \"1 s\"\n\
             [nodes]\na = {{ kind = \"host\" }}\nb = {{ kind = \"host\" }}\n\
             [links.l]\nends = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\n{keys}\n"
        ))
    };
    for (keys, fault) in [
        ("delay = \"1 ms\"\ndiscipline = { kind = \"blue\" }", "has no kind `blue`"),
        (
            "delay = \"1 ms\"\ndiscipline = { kind = \"red\", min = \"5 packets\", max = \"5 packets\" }",
            "nothing lies between",
        ),
        (
            "delay = \"1 ms\"\ndiscipline = { kind = \"red\", min = \"5 packets\", max = \"15 kB\" }",
            "a threshold of 15 kB cannot be compared with the others",
        ),
        (
            "delay = \"1 ms\"\ndiscipline = { kind = \"red\", min = \"1 packet\", max = \"3 packets\", weight = 0.0 }",
            "an average of such a weight never moves",
        ),
        (
            "delay = \"1 ms\"\ndiscipline = { kind = \"red\", min = \"1 packet\", max = \"3 packets\", weight = 1.5 }",
            "with it the average is the queue itself",
        ),
        (
            "delay = \"1 ms\"\ndiscipline = { kind = \"codel\", interval = \"0 s\" }",
            "`interval` of zero is none",
        ),
        ("delay = \"1 ms\"\ndelay_trace = { file = \"x.csv\" }", "`delay` and `delay_trace` are both given"),
        ("delay_trace = { file = \"nowhere.csv\" }", "trace `nowhere.csv` cannot be read"),
        ("", "lacks `delay`"),
        (
            "delay = \"1 ms\"\n[[script]]\nat = \"0.5 s\"\nlink = \"l\"\naction = \"set\"\nreorder = \"1 %\"",
            "`reorder` is set without `reorder_delay`",
        ),
    ] {
        let shown = with(keys);
        assert!(shown.contains(fault), "{keys}: {shown}");
    }
}

#[test]
fn a_script_sets_duplication_and_reordering() {
    let text = r#"
[scenario]
name = "t"
duration = "10 s"
[nodes]
a = { kind = "host" }
b = { kind = "host" }
[links.l]
ends = ["a", "b"]
rate = "1 Mbit/s"
delay = "1 ms"
[flows.f]
transport = "sctp"
from = "a"
to = "b"
application = { kind = "constant-rate", message_size = "100 B", interval = "10 ms" }
[[script]]
at = "5 s"
link = "l"
direction = "forward"
action = "set"
duplicate = "100 %"
reorder = "100 %"
reorder_delay = "50 ms"
"#;
    let output = run_text(text);
    let copies = count(&output, "l", "forward", "duplicated_packets");
    let carried = count(&output, "l", "forward", "carried_packets");
    assert!(copies * 3 > carried - 20 && copies * 3 < carried + 20, "{copies} copies of {carried}");
    let delays = delays_ms(&output, "f");
    let longest = |range: std::ops::Range<usize>| delays[range].iter().copied().fold(0.0, f64::max);
    assert!(longest(10..490) < 3.0, "{} ms", longest(10..490));
    assert!(longest(510..990) > 20.0, "{} ms", longest(510..990));
}

/// Number of retransmissions of each flow since the warm-up, in the order of their names.
fn retransmissions(output: &RunOutput) -> Vec<(String, u64)> {
    let table = output.table("flow_intervals").unwrap();
    let column = |name: &str| table.column(name).unwrap();
    let mut sums = std::collections::BTreeMap::<String, u64>::new();
    for row in 0..table.rows() {
        let (CellValue::Text(flow), CellValue::F64(start), CellValue::U64(count)) =
            (column("flow").at(row), column("start_s").at(row), column("retransmissions").at(row))
        else {
            panic!("an interval of a flow")
        };
        *sums.entry(flow.to_owned()).or_default() += if start >= 10.0 { count } else { 0 };
    }
    sums.into_iter().collect()
}

#[test]
fn marks_in_place_of_drops_give_the_same_throughput_and_nothing_is_sent_again() {
    let dropping = ["links.bottleneck.forward.discipline.ecn = false"];
    let neither_end = ["tcp.marked.ecn = false", "sctp.marked.ecn = false"];
    let tcp_does_not = ["tcp.marked.ecn = false"];
    let [marking, queue_drops, nobody_asks] =
        [&[][..], &dropping, &neither_end].map(|overrides| run_file("ecn.toml", overrides));
    let early = |output: &RunOutput| count(output, "bottleneck", "forward", "dropped_early_packets");
    let again = |output: &RunOutput| retransmissions(output).into_iter().map(|(_, count)| count).sum::<u64>();
    // What may not be marked is dropped as before: heartbeats, and answers to marks that find no DATA to ride on.
    let marked = count(&marking, "bottleneck", "forward", "marked_packets");
    assert!(marked > 300, "{marked}");
    assert!(early(&marking) < marked / 20, "{}", early(&marking));
    let flows = retransmissions(&marking);
    let expected = ["files.0", "files.1", "messages.0", "messages.1"].map(|flow| (flow.to_owned(), 0));
    assert_eq!(flows, expected);
    for output in [&queue_drops, &nobody_asks] {
        assert!(early(output) > 300 && again(output) > 300, "{} and {}", early(output), again(output));
        assert!(retransmissions(output).iter().all(|(_, count)| *count > 50));
        assert!(number(output, "bottleneck", "forward", "utilisation_ratio") > 0.99);
    }
    assert_eq!(count(&nobody_asks, "bottleneck", "forward", "marked_packets"), 0);
    assert_eq!(cell(&queue_drops, "bottleneck", "forward", "marked_packets"), None);
    assert!(number(&marking, "bottleneck", "forward", "utilisation_ratio") > 0.99);
    // The queue is held as short: a mark slows a sender down as a drop does.
    let [long, short] =
        [&marking, &queue_drops].map(|output| number(output, "bottleneck", "forward", "queue_mean_packets"));
    assert!((long - short).abs() < 0.1 * short, "{long} and {short} packets");
    // Who does not ask is dropped beside those who do.
    let mixed = run_file("ecn.toml", &tcp_does_not);
    let of = |flow: &str| retransmissions(&mixed).iter().find(|(name, _)| name == flow).unwrap().1;
    assert_eq!([of("messages.0"), of("messages.1")], [0; 2]);
    assert!(of("files.0") > 50 && of("files.1") > 50, "{} and {}", of("files.0"), of("files.1"));
}

#[test]
fn codel_marks_too() {
    let codel = ["links.bottleneck.forward.discipline = { kind = \"codel\", ecn = true }"];
    let output = run_file("ecn.toml", &codel);
    let marked = count(&output, "bottleneck", "forward", "marked_packets");
    assert!(marked > 50, "{marked}");
    assert!(retransmissions(&output).iter().all(|(_, count)| *count == 0), "{:?}", retransmissions(&output));
    assert!(count(&output, "bottleneck", "forward", "dropped_codel_packets") < marked / 10);
    assert!(number(&output, "bottleneck", "forward", "utilisation_ratio") > 0.9);
}

/// Throughput of a flow from end to end after the warm-up, in bit/s.
fn throughput(output: &RunOutput, flow: &str) -> f64 {
    let flows = output.table("flows").unwrap();
    let column = |name: &str| flows.column(name).unwrap();
    let row = (0..flows.rows())
        .find(|&row| matches!(column("flow").at(row), CellValue::Text(name) if name == flow));
    match column("throughput_bit_per_s").at(row.unwrap()) {
        CellValue::F64(rate) => rate,
        other => panic!("{other:?} is no rate"),
    }
}

#[test]
fn classes_share_a_rate_by_their_quanta_and_flows_alike() {
    // Where two transfers stand in their sawtooth decides who has had more: a minute evens it out.
    let output = run_file("fair-queueing.toml", &["scenario.duration=60 s"]);
    let ratio = throughput(&output, "gold") / throughput(&output, "silver");
    assert!((ratio - 3.0).abs() < 0.15, "4,500 bytes a turn against 1,500: {ratio}");
    assert!(number(&output, "bottleneck", "forward", "utilisation_ratio") > 0.97);
    let [first, second] = ["back.0", "back.1"].map(|flow| throughput(&output, flow));
    assert!((first / second - 1.0).abs() < 0.1, "{first} and {second}");
    // 22 ms of way and its own 0.3 ms; before it at most what is being sent, a packet of each transfer, 2.4 ms each,
    // and acknowledgements of two flows.
    let call = delays_ms(&output, "call");
    let worst = call.iter().skip(500).fold(0.0_f64, |worst, &delay| worst.max(delay));
    assert!(call.len() > 1_400 && worst < 33.0, "{worst} ms");
    // In one queue it waits for the transfers, or is dropped with them.
    let together = run_file("fair-queueing.toml", &["links.bottleneck.reverse.discipline.kind=codel"]);
    let worst = delays_ms(&together, "call").iter().skip(500).fold(0.0_f64, |worst, &delay| worst.max(delay));
    assert!(worst > 35.0, "{worst} ms");
}

/// A shaper that never has a packet wait has the transmitter choose packet by packet, where it else knows all
/// departures beforehand: RED, WRED and RIO-C decide alike, with and without marks.
#[test]
fn a_queue_that_drops_early_does_so_whether_or_not_departures_are_known_beforehand() {
    let mut early = 0;
    for (name, link, direction) in [
        ("red.toml", "bottleneck", "forward"),
        ("ecn.toml", "bottleneck", "forward"),
        ("assured-forwarding.toml", "bottleneck", "forward"),
        ("assured-forwarding.toml", "bottleneck", "reverse"),
    ] {
        let shaper = format!("links.{link}.{direction}.shaper");
        let [rate, burst] = ["rate=1 Gbit/s", "burst=1 MB"].map(|value| format!("{shaper}.{value}"));
        let chosen = run_file(name, &[&rate, &burst]);
        let known = run_file(name, &[]);
        assert_eq!(chosen.table("flows"), known.table("flows"), "{name} {direction}");
        let columns = ["dropped_early_packets", "dropped_forced_packets", "carried_packets"];
        for column in columns {
            let [ours, wanted] = [&chosen, &known].map(|output| count(output, link, direction, column));
            assert_eq!(ours, wanted, "{name} {direction} {column}");
        }
        let [ours, wanted] =
            [&chosen, &known].map(|output| number(output, link, direction, "queue_mean_packets"));
        assert!((ours / wanted - 1.0).abs() < 1e-9, "{name} {direction}: {ours} and {wanted}");
        early += count(&known, link, direction, "dropped_early_packets");
    }
    assert!(early > 100, "{early}");
}

/// Checks that queued packets are dropped as the link goes down, and count for no average when it is up again.
#[test]
fn a_queue_that_drops_early_forgets_what_waited_whether_or_not_departures_were_known() {
    let file = include_str!("../../../../scenarios/assured-forwarding.toml");
    let script = "[[script]]\nat = \"15 s\"\nlink = \"bottleneck\"\naction = \"down\"\n\
                  [[script]]\nat = \"15100 ms\"\nlink = \"bottleneck\"\naction = \"up\"\n";
    let shaper = "[links.bottleneck.forward.shaper]\nrate = \"1 Gbit/s\"\nburst = \"1 MB\"\n";
    let [known, chosen] = ["", shaper].map(|shaper| run_text(&format!("{file}\n{shaper}{script}")));
    assert_eq!(chosen.table("flows"), known.table("flows"));
    let columns = ["dropped_early_packets", "dropped_forced_packets", "dropped_link_down_packets"];
    let [ours, wanted] =
        [&chosen, &known].map(|output| columns.map(|column| count(output, "bottleneck", "forward", column)));
    assert_eq!(ours, wanted);
    assert!(ours[0] > 20 && ours[2] > 5, "{ours:?}");
}

/// Four transfers over a link that repeats what is lost, one that compresses headers, and a terminal's slots.
#[test]
fn a_queue_drops_early_before_a_link_that_repeats_or_compresses_and_before_a_terminal() {
    const FILE: &str = r#"
[scenario]
name = "early"
duration = "60 s"
warm_up = "10 s"
[probes]
messages = false
[nodes]
left = { kind = "host" }
right = { kind = "host" }
[flows.bulk]
transport = "tcp"
from = "left"
to = "right"
count = 4
application = { kind = "bulk", message_size = "64 KiB", total = "unlimited" }
[links.wire]
ends = ["left", "right"]
delay = "20 ms"
queue = "200 packets"
"#;
    let links = [
        "rate = \"2 Mbit/s\"\nloss = \"1 %\"\narq = { tries = 5 }",
        "rate = \"2 Mbit/s\"\nheader_compression = { compressed = \"4 B\" }",
        "access = { system = \"satellite\", permanent = \"2 Mbit/s\", most = \"2 Mbit/s\" }\n\
         [access.satellite]\ncarriers = 2\ncarrier_rate = \"8 Mbit/s\"\nframe = \"20 ms\"\nslots = 50\n\
         hop = \"20 ms\"\nask_every = \"500 ms\"\nplan_every = \"500 ms\"",
    ];
    let disciplines = [
        "kind = \"red\", min = \"10 packets\", max = \"40 packets\"",
        "kind = \"wred\", ",
        "kind = \"rio-c\", ",
    ];
    let levels = "low = { min = \"30 packets\", max = \"60 packets\" }, \
                  medium = { min = \"20 packets\", max = \"50 packets\" }, \
                  high = { min = \"10 packets\", max = \"40 packets\" }";
    for link in links {
        let plain = run_text(&format!("{FILE}{link}\n"));
        let full = number(&plain, "wire", "forward", "queue_mean_packets");
        for discipline in disciplines {
            let levels = if discipline.ends_with(' ') { levels } else { "" };
            let managed = run_text(&format!("{FILE}discipline = {{ {discipline}{levels} }}\n{link}\n"));
            let [codel, early, _, queue_full] = dropped(&managed, "wire", "forward");
            let queue = number(&managed, "wire", "forward", "queue_mean_packets");
            assert!(early > 20 && codel + queue_full == 0, "{link} {discipline}: {early} {queue_full}");
            assert!(queue < 40.0 && full > 80.0, "{link} {discipline}: {queue} of {full}");
        }
    }
}

/// Outputs of a network alone, and with another link, whose name comes first and which nothing uses.
fn with_a_link_beside(file: &str, overrides: &[&str]) -> [RunOutput; 2] {
    let beside = [
        "nodes.aaa={ kind = \"host\" }",
        "nodes.aab={ kind = \"host\" }",
        "links.aaa={ ends = [\"aaa\", \"aab\"], rate = \"1 Mbit/s\", delay = \"1 ms\" }",
    ];
    [run_file(file, overrides), run_file(file, &[overrides, &beside].concat())]
}

#[test]
fn a_link_beside_moves_no_flow_to_another_queue() {
    let few = "links.bottleneck.reverse.discipline={ kind = \"fq-codel\", queues = 3 }";
    for seed in ["scenario.seed=1", "scenario.seed=2", "scenario.seed=3"] {
        let [alone, beside] = with_a_link_beside("fair-queueing.toml", &[few, seed]);
        assert_eq!(delays_ms(&alone, "call"), delays_ms(&beside, "call"), "{seed}");
        let dropped = |output| dropped(output, "bottleneck", "reverse");
        assert_eq!(dropped(&alone), dropped(&beside), "{seed}");
    }
}

#[test]
fn a_link_beside_changes_no_colour() {
    let [alone, beside] = with_a_link_beside("traffic-conditioning.toml", &[]);
    let colours = |output| {
        ["green_packets", "yellow_packets", "red_packets"]
            .map(|column| count(output, "satellite", "forward", column))
    };
    assert_eq!(colours(&alone), colours(&beside));
}
