//! Flows of a scenario, run.
use std::collections::BTreeSet;

use slantpath_results::{CellValue, Table};
use slantpath_runner::RunOutput;

use crate::alone::run_text;

/// 300 associations that each send a message every 10 s over a link that carries them all at 3 % of its rate.
const MANY: &str = r#"
[scenario]
name = "many"
duration = "30 s"

[nodes]
field = { kind = "host" }
centre = { kind = "host" }

[links.satellite]
ends = ["field", "centre"]
rate = "1 Mbit/s"
delay = "250 ms"

[flows.meter]
transport = "sctp"
from = "field"
to = "centre"
count = 300
start_jitter = "10 s"
application = { kind = "constant-rate", message_size = "100 B", interval = "10 s" }
"#;

/// The sum of a table's counters whose names begin and end so.
fn count(table: &Table, begin: &str, end: &str) -> u64 {
    let columns = table.columns().iter();
    let wanted = columns.filter(|column| column.name().starts_with(begin) && column.name().ends_with(end));
    let cells = wanted.flat_map(|column| (0..table.rows()).map(move |row| column.at(row)));
    cells
        .map(|cell| match cell {
            CellValue::U64(number) => number,
            // Of a link that does nothing of the kind.
            CellValue::Missing => 0,
            other => panic!("{other:?} is no count"),
        })
        .sum()
}

#[test]
fn flows_that_start_apart_connect_apart() {
    let output = run_text(MANY);
    let connected = output.table("flows").unwrap().column("connected_s").unwrap();
    let times: BTreeSet<u64> = (0..300)
        .map(|flow| match connected.at(flow) {
            CellValue::F64(seconds) => seconds.to_bits(),
            other => panic!("{other:?} is no time"),
        })
        .collect();
    assert!(times.len() > 290, "{} times at which 300 flows connect", times.len());
    assert_eq!(count(output.table("links").unwrap(), "dropped_", "_packets"), 0);
    // 300 INITs at one instant find room for 101 and are retransmitted at one instant.
    let at_once = run_text(&MANY.replace("start_jitter = \"10 s\"\n", ""));
    assert_eq!(count(at_once.table("links").unwrap(), "dropped_", "_packets"), 297);
}

#[test]
fn a_flow_with_a_jitter_connects_as_long_before_its_start_as_without() {
    let flow = "connect = \"1 s\"\nstart = \"3 s\"\nstart_jitter = \"10 s\"\n";
    let text = MANY.replace("start_jitter = \"10 s\"\n", flow).replace("count = 300", "count = 2");
    let output = run_text(&text);
    let messages = output.table("messages").unwrap();
    let [flows, sent] = ["flow", "sent_s"].map(|name| messages.column(name).unwrap());
    let connected = output.table("flows").unwrap().column("connected_s").unwrap();
    for (flow, name) in ["meter.0", "meter.1"].into_iter().enumerate() {
        let first = (0..messages.rows()).find(|row| flows.at(*row) == CellValue::Text(name)).unwrap();
        let (CellValue::F64(sent), CellValue::F64(connected)) = (sent.at(first), connected.at(flow)) else {
            panic!("times")
        };
        // Four packets over 250 ms each, and what they take to be sent.
        let ahead = sent - connected;
        assert!((0.99..1.0).contains(&ahead), "{name} is connected {ahead} s before its first message");
    }
}

#[test]
fn flows_that_are_staggered_start_one_after_the_other() {
    let flow = "start = \"3 s\"\nconnect = \"1 s\"\nstagger = \"2 s\"\n";
    let text = MANY.replace("start_jitter = \"10 s\"\n", flow).replace("count = 300", "count = 4");
    let output = run_text(&text);
    let messages = output.table("messages").unwrap();
    let [flows, sent] = ["flow", "sent_s"].map(|name| messages.column(name).unwrap());
    let connected = output.table("flows").unwrap().column("connected_s").unwrap();
    for (flow, name) in ["meter.0", "meter.1", "meter.2", "meter.3"].into_iter().enumerate() {
        let first = (0..messages.rows()).find(|row| flows.at(*row) == CellValue::Text(name)).unwrap();
        let (CellValue::F64(sent), CellValue::F64(connected)) = (sent.at(first), connected.at(flow)) else {
            panic!("times")
        };
        let later = 2.0 * flow as f64;
        assert!((sent - 3.0 - later).abs() < 1e-9, "{name} sends first at {sent} s");
        assert!((2.0..2.01).contains(&(connected - later)), "{name} is connected at {connected} s");
    }
}

/// One bulk transfer through a queue that overflows and a link that loses.
const BULK: &str = r#"
[scenario]
name = "bulk"
duration = "60 s"

[nodes]
left = { kind = "host" }
right = { kind = "host" }

[links.satellite]
ends = ["left", "right"]
rate = "4 Mbit/s"
delay = "150 ms"
queue = "75 kB"
loss = "0.02 %"

[flows.file]
transport = "TRANSPORT"
profile = "chosen"
from = "left"
to = "right"
application = { kind = "bulk", total = "unlimited" }

[TRANSPORT.chosen]
receive_buffer = "2 MiB"
CHOICE
"#;

#[test]
fn each_choice_of_congestion_control_makes_another_run_of_either_transport() {
    let hystart = "slow_start = \"hystart++\"";
    let cubic = "congestion_control = \"cubic\"";
    let with = |more: &str| format!("{cubic}\n{more}");
    let either =
        [String::new(), hystart.into(), cubic.into(), with(hystart), with("fast_convergence = false")];
    let tcp = [
        "sack_recovery = \"prr\"".into(),
        with("sack_recovery = \"prr\""),
        with("avoidance_increase = \"per-ack\""),
    ];
    for (transport, choices) in [("tcp", [&either[..], &tcp].concat()), ("sctp", either.to_vec())] {
        let digests: BTreeSet<_> = choices
            .iter()
            .map(|choice| run_text(&BULK.replace("TRANSPORT", transport).replace("CHOICE", choice)).digest)
            .collect();
        assert_eq!(digests.len(), choices.len(), "{transport}");
    }
}

/// One flow of a megabyte and a half over 4 Mbit/s, with these keys.
fn bulk(transport: &str, keys: &str) -> RunOutput {
    let flow = format!(
        "[probes]\ncaptures = [\"satellite\"]\n[flows.file]\ntransport = \"{transport}\"\nfrom = \"field\"\n\
         to = \"centre\"\n{keys}\napplication = {{ kind = \"bulk\", total = \"1500 kB\" }}\n"
    );
    let network = MANY.split("[flows").next().unwrap().replace("1 Mbit/s", "4 Mbit/s");
    run_text(&format!("{network}\n[{transport}.default]\nreceive_buffer = \"64 KiB\"\n{flow}"))
}

#[test]
fn a_flow_is_as_slow_as_its_receiver_reads() {
    for transport in ["sctp", "tcp"] {
        let delivered = |output: &RunOutput| match output
            .table("flows")
            .unwrap()
            .column("delivered_bytes")
            .unwrap()
            .at(0)
        {
            CellValue::U64(bytes) => bytes,
            other => panic!("{other:?} is no count"),
        };
        assert_eq!(delivered(&bulk(transport, "")), 1_500_000);
        // 30 s less the handshake at 200 kbit/s are 735 kB, and a buffer that has been taken and is being read.
        let slow = delivered(&bulk(transport, "read_rate = \"200 kbit/s\""));
        assert!((650_000..810_000).contains(&slow), "{transport}: {slow}");
    }
}

#[test]
fn every_packet_of_a_flow_has_its_code_point() {
    for transport in ["sctp", "tcp"] {
        // IPv4 headers without options, by type of service, time to live and protocol.
        let headers = |dscp: u8, keys: &str| {
            let output = bulk(transport, keys);
            let is_header =
                |at: &&[u8]| at[..2] == [0x45, dscp << 2] && at[8] == 64 && matches!(at[9], 6 | 132);
            output.captures[0].pcapng.windows(10).filter(is_header).count()
        };
        let links = bulk(transport, "dscp = \"EF\"");
        let packets = count(links.table("links").unwrap(), "offered_", "_packets");
        assert!(packets > 1_500, "{packets}");
        assert_eq!(headers(46, "dscp = \"EF\"") as u64, packets, "{transport}");
        assert_eq!(headers(46, ""), 0);
    }
}

#[test]
fn how_many_messages_went_out_again_is_left_open_where_nothing_records_them() {
    let lossy = MANY.replace("delay = \"250 ms\"", "delay = \"250 ms\"\nloss = \"10 %\"");
    let lossy =
        lossy.replace("count = 300", "count = 1").replace("interval = \"10 s\"", "interval = \"20 ms\"");
    let pattern = lossy.replace("count = 1\n", "count = 1\ncontent = \"pattern\"\n");
    for probes in ["", "messages = false\n", "messages = false\ndelays = \"1 %\"\n"] {
        for text in [&lossy, &pattern] {
            let output = run_text(&format!("[probes]\n{probes}\n{text}"));
            let flows = output.table("flows").unwrap();
            let again = flows.column("messages_retransmitted").unwrap().at(0);
            if probes.is_empty() && text == &lossy {
                assert!(matches!(again, CellValue::U64(messages) if messages > 50), "{again:?}");
            } else {
                assert_eq!(again, CellValue::Missing, "{probes:?}");
            }
        }
    }
}

#[test]
fn the_last_message_of_a_transfer_may_be_as_short_as_the_number_that_names_it() {
    let before = MANY.find("count = 300").expect("the flow's own keys come last");
    for (total, content, messages) in
        [("3000 B", "stamped", 3), ("3008 B", "stamped", 4), ("3001 B", "pattern", 4)]
    {
        let text = format!(
            "{}content = \"{content}\"\n\
             application = {{ kind = \"bulk\", message_size = \"1000 B\", total = \"{total}\" }}\n",
            &MANY[..before]
        );
        let output = run_text(&text);
        assert_eq!(count(output.table("flows").unwrap(), "messages_delivered", ""), messages, "{total}");
    }
}
