//! Figures of flows that say what their names say.

use crate::alone::run_text;
use crate::cells::cells;

/// A flow of 10 s on a link that may die.
pub(crate) fn text(transport: &str, keys: &str, more: &str) -> String {
    format!(
        r#"
[scenario]
name = "told"
duration = "60 s"
[nodes]
a = {{ kind = "host" }}
b = {{ kind = "host" }}
[links.l]
ends = ["a", "b"]
rate = "1 Mbit/s"
delay = "10 ms"
[flows.f]
transport = "{transport}"
from = "a"
to = "b"
end = "10 s"
{keys}
application = {{ kind = "constant-rate", message_size = "1000 B", interval = "100 ms" }}
{more}
"#
    )
}

const DEATH: &str = "[[script]]\nat = \"2.05 s\"\nlink = \"l\"\naction = \"down\"";

#[test]
fn a_flow_that_is_not_finished_counts_until_the_run_ends() {
    for transport in ["sctp", "tcp"] {
        let throughput = |more: &str| {
            let output = run_text(&text(transport, "", more));
            cells(&output, "flows", "throughput_bit_per_s")[0].unwrap()
        };
        // 100 messages in 10 s; the last is acknowledged within 0.3 s.
        let whole = throughput("");
        assert!((77_500.0..=80_000.0).contains(&whole), "{whole} over {transport}");
        // 21 messages in 60 s, and one for which there was no time.
        let cut = throughput(DEATH) * 60.0 / 8_000.0;
        assert!((20.0..=21.0).contains(&cut), "{cut} messages over {transport}");
    }
}

#[test]
fn a_message_that_went_out_again_counts_though_it_was_never_delivered() {
    // What has been delivered by then has been acknowledged.
    let output = run_text(&text("sctp", "", &DEATH.replace("2.05 s", "1.93 s")));
    let cell = |column: &str| cells(&output, "flows", column)[0];
    let (delivered, again) = (cell("messages_delivered").unwrap(), cell("messages_retransmitted").unwrap());
    assert_eq!((delivered, again), (19.0, 1.0));
    assert_eq!(cell("retransmitted_delay_mean_s"), None, "none of those was delivered");
}

#[test]
fn messages_without_a_stamp_in_a_stream_of_bytes_are_not_counted_as_none() {
    let delivered = |transport, content: &str| {
        let keys = format!("content = \"{content}\"");
        let output = run_text(&text(transport, &keys, "[probes]\nintervals = \"5 s\"\nmessages = false"));
        let intervals = cells(&output, "flow_intervals", "messages_delivered");
        (cells(&output, "flows", "messages_delivered")[0], intervals[1])
    };
    assert_eq!(delivered("tcp", "pattern"), (None, None));
    for (transport, content) in [("tcp", "stamped"), ("sctp", "pattern"), ("sctp", "stamped")] {
        assert_eq!(delivered(transport, content), (Some(100.0), Some(50.0)), "{transport} {content}");
    }
}

#[test]
fn no_interval_sees_more_read_than_the_rate_allows() {
    for (transport, size) in [("sctp", "4000 B"), ("sctp", "100 B"), ("tcp", "4000 B")] {
        let application =
            format!("application = {{ kind = \"bulk\", message_size = \"{size}\", total = \"1 MB\" }}");
        let keys = "read_rate = \"2 Mbit/s\"";
        let constant =
            "application = { kind = \"constant-rate\", message_size = \"1000 B\", interval = \"100 ms\" }";
        let text = text(transport, keys, "[probes]\nintervals = \"100 ms\"").replace(constant, &application);
        let output = run_text(&text.replace("rate = \"1 Mbit/s\"", "rate = \"1 Gbit/s\""));
        let read: Vec<f64> =
            cells(&output, "flow_intervals", "delivered_bytes").into_iter().map(Option::unwrap).collect();
        assert_eq!(read.iter().sum::<f64>(), 1e6, "{transport}");
        // A piece that is read takes its time behind its delivery: one is beyond the rate at most.
        let most = read.iter().copied().fold(0.0, f64::max);
        assert!(most <= 25_000.0 + 4_000.0, "{most} bytes of {transport} in 100 ms, messages of {size}");
        // It is always at it: 4 s for 1 MB, after the handshake.
        assert!(read[1..39].iter().all(|bytes| *bytes >= 25_000.0 - 4_000.0), "{read:?} of {transport}");
    }
}
