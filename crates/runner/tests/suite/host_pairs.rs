//! Packets between hosts: what the table of pairs says of them is what messages and links say, too.

use slantpath_runner::RunOutput;

use crate::alone::run_text;
use crate::cells::cells;

const COUNTED: &str = "host_pairs = true";

/// A host that sends one message a packet to another, which has only acknowledgements to send. What is sent before
/// the warm-up is over sets the association up.
fn run_with(satellite: &str, probes: &str) -> RunOutput {
    let text = format!(
        r#"
[scenario]
name = "pairs"
duration = "60 s"
warm_up = "5 s"

[nodes]
near = {{ kind = "host" }}
router = {{ kind = "router" }}
far = {{ kind = "host" }}

[links.access]
ends = ["near", "router"]
rate = "10 Mbit/s"
delay = "1 ms"

[links.satellite]
ends = ["router", "far"]
rate = "1 Mbit/s"
delay = "100 ms"
queue = "1000 packets"
{satellite}

[sctp.reports]
preset = "rfc9260"
hb_interval = "off"
initial_cwnd = "1 MiB"
send_buffer = "1 MiB"

[flows.reports]
from = "near"
to = "far"
transport = "sctp"
profile = "reports"
unordered = true
application = {{ kind = "poisson", message_size = "1000 B", mean_interval = "10 ms" }}

[probes]
{probes}
"#
    );
    run_text(&text)
}

fn numbers(output: &RunOutput, table: &str, column: &str) -> Vec<f64> {
    cells(output, table, column).into_iter().flatten().collect()
}

/// Of packets from `near` to `far`, whose row is the second.
fn pair(output: &RunOutput, column: &str) -> f64 {
    numbers(output, "host_pairs", column)[1]
}

fn close(one: f64, other: f64) {
    assert!((one - other).abs() <= 1e-9 * one.abs().max(other.abs()), "{one} and {other}");
}

#[test]
fn delays_of_packets_are_those_of_the_messages_that_they_carry() {
    let output = run_with("", COUNTED);
    let table = output.table("host_pairs").unwrap();
    let names = |column: &str| {
        let column = table.column(column).unwrap();
        (0..column.len()).map(|row| format!("{:?}", column.at(row))).collect::<Vec<_>>()
    };
    assert!(names("from")[1].contains("near") && names("to")[1].contains("far"));
    assert!(names("from")[0].contains("far") && names("to")[0].contains("near"));
    assert_eq!(table.rows(), 2);
    let messages = output.table("messages").unwrap();
    // All were delivered but the last, and rows come in the order in which they were sent.
    let before = numbers(&output, "messages", "sent_s").iter().filter(|&&sent| sent < 5.0).count();
    let delays = &numbers(&output, "messages", "delay_s")[before..];
    assert!(
        delays.len() > 4_000 && numbers(&output, "messages", "sender_wait_s").iter().all(|&wait| wait == 0.0)
    );
    assert_eq!(pair(&output, "received_packets"), delays.len() as f64);
    assert_eq!(pair(&output, "sent_packets"), (messages.rows() - before) as f64);
    close(pair(&output, "delay_mean_s"), delays.iter().sum::<f64>() / delays.len() as f64);
    let changes = delays.windows(2).map(|two| (two[1] - two[0]).abs()).sum::<f64>();
    close(pair(&output, "delay_change_mean_s"), changes / (delays.len() - 1) as f64);
    close(pair(&output, "delay_first_s"), delays[0]);
    close(pair(&output, "delay_last_s"), *delays.last().unwrap());
    close(pair(&output, "delay_min_s"), delays.iter().copied().fold(f64::INFINITY, f64::min));
    close(pair(&output, "delay_max_s"), delays.iter().copied().fold(0.0, f64::max));
}

#[test]
fn what_is_lost_or_damaged_is_sent_and_not_received() {
    let output = run_with("forward = { loss = \"2 %\", bit_error_rate = \"1e-6\" }", COUNTED);
    // The second link is the satellite's, forward before reverse.
    let [offered, lost, damaged] = ["offered_packets", "dropped_loss_packets", "damaged_packets"]
        .map(|column| numbers(&output, "links", column)[2]);
    let missing = pair(&output, "sent_packets") - pair(&output, "received_packets");
    assert!(lost > 30.0 && damaged > 10.0, "{lost} {damaged}");
    assert!(offered > pair(&output, "received_packets"));
    // What was on its way at either end of the time that is measured is counted by one of both.
    assert!((missing - lost - damaged).abs() <= 30.0, "{missing} are missing, {lost} and {damaged}");
}

#[test]
fn a_copy_counts_as_the_packet_that_it_was_made_of() {
    let twice = run_with("forward = { duplicate = \"100 %\" }", COUNTED);
    let under_way = 2.0 * pair(&twice, "sent_packets") - pair(&twice, "received_packets");
    assert!((0.0..60.0).contains(&under_way), "{under_way}");
}

#[test]
fn to_count_packets_changes_nothing_of_a_run() {
    let counted = run_with("", COUNTED);
    let not_counted = run_with("", "");
    assert_eq!(counted.digest, not_counted.digest);
    assert!(not_counted.table("host_pairs").is_none());
}
