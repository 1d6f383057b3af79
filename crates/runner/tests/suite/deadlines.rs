//! Messages that miss their deadline, held to the record of each message.

use slantpath_results::{CellValue, Table};

use crate::alone::run_text;

/// A message each 20 ms for 10 s over a link that is down from 4 s to 6 s, with a deadline of 300 ms.
fn run_with(family: &str, transport: &str, messages: bool) -> (Table, Option<Table>) {
    let output = run_text(&format!(
        r#"
[scenario]
name = "deadline"
duration = "10 s"
warm_up = "1 s"

[nodes]
a = {{ kind = "host" }}
b = {{ kind = "host" }}

[links]
wire = {{ ends = ["a", "b"], rate = "1 Mbit/s", delay = "100 ms", loss = "2 %", family = "{family}" }}

[flows.load]
transport = "{transport}"
from = "a"
to = "b"
application = {{ kind = "constant-rate", message_size = "100 B", interval = "20 ms" }}

[probes]
deadline = "300 ms"
messages = {messages}

[[script]]
at = "4 s"
link = "wire"
action = "down"

[[script]]
at = "6 s"
link = "wire"
action = "up"
"#
    ));
    let table = |name| output.table(name).cloned();
    (table("flows").unwrap(), table("messages"))
}

fn late(flows: &Table) -> u64 {
    match flows.column("messages_late").unwrap().at(0) {
        CellValue::U64(count) => count,
        other => panic!("{other:?}"),
    }
}

#[test]
fn messages_that_miss_their_deadline_are_those_of_the_record() {
    let families = ["ipv4", "ipv6"];
    let cases =
        families.iter().flat_map(|family| ["sctp", "tcp", "udp"].map(|transport| (*family, transport)));
    for (family, transport) in cases {
        let (flows, messages) = run_with(family, transport, true);
        let messages = messages.unwrap();
        let time = |name: &str, row| match messages.column(name).unwrap().at(row) {
            CellValue::F64(seconds) => seconds,
            CellValue::Missing => f64::INFINITY,
            other => panic!("{name} is {other:?}"),
        };
        let missed = (0..messages.rows()).filter(|row| {
            let (sent, delivered) = (time("sent_s", *row), time("delivered_s", *row));
            sent >= 1.0 && sent + 0.3 < delivered.min(10.0)
        });
        let missed = missed.count() as u64;
        assert!((90..400).contains(&missed), "{transport}: {missed}");
        assert_eq!(late(&flows), missed, "{transport} over {family}");
        assert_eq!(late(&run_with(family, transport, false).0), missed, "{transport} without records");
    }
}
