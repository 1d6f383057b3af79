//! SACKs that come back by another path than their DATA went: what a controller takes from them.

use slantpath_results::CellValue;

use crate::alone::run_text;

/// A satellite that loses 1 % in either direction, and a path of a tenth of its delay beside it.
const TWO_PATHS: &str = r#"
[scenario]
name = "two paths"
duration = "60 s"
seed = 1

[nodes]
left = { kind = "host" }
right = { kind = "host" }

[links.satellite]
ends = ["left", "right"]
rate = "2 Mbit/s"
delay = "280 ms"
queue = "140 kB"
loss = "1 %"

[links.wire]
ends = ["left", "right"]
rate = "2 Mbit/s"
delay = "25 ms"
queue = "140 kB"
loss = "1 %"

[sctp.default]
receive_buffer = "2 MiB"
send_buffer = "2 MiB"
loss_detection = "rack"
congestion_control = "backlog"
sack_path = "gap-reports-on-lowest-delay"

[flows.data]
transport = "sctp"
from = "left"
to = "right"
primary = "satellite"
application = { kind = "bulk", message_size = "1000 B", total = "unlimited" }
"#;

/// Reports of gaps come back in 305 ms, all others in 560. If the former were taken for the path's round trip, the
/// latter would look like a queue of 255 ms, and the window would be closed until it went.
#[test]
fn a_report_that_comes_by_a_shorter_path_makes_no_queue_of_the_longer_one() {
    let output = run_text(TWO_PATHS);
    let flows = output.table("flows").unwrap();
    let CellValue::U64(messages) = flows.column("messages_delivered").unwrap().at(0) else {
        panic!("{flows:?}")
    };
    assert!(messages * 8_000 > 60 * 1_000_000, "{messages} messages of 1,000 bytes in 60 s over 2 Mbit/s");
}
