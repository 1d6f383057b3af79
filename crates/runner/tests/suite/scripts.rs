//! The table of what scripts do.

use slantpath_results::CellValue;

use crate::alone::run_text;

const SCRIPTED: &str = r#"
[scenario]
name = "scripted"
duration = "20 s"

[nodes]
a = { kind = "host" }
b = { kind = "host" }

[links]
wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }

[sctp.default]
extensions = ["stream-reconfiguration"]

[flows.calls]
transport = "sctp"
from = "a"
to = "b"
application = { kind = "constant-rate", message_size = "200 B", rate = "16 kbit/s" }

[[flows.calls.script]]
at = "3 s"
action = "add-streams"
outgoing = 2
incoming = 1

[[flows.calls.script]]
at = "5 s"
action = "reset-streams"
end = "receiver"
streams = [0, 1]

[[script]]
at = "4 s"
link = "wire"
action = "set"
rate = "64 kbit/s"
delay = "250 ms"
loss = "5 %"
bit_error_rate = 1e-6
duplicate = 0.01
reorder = 0.1
reorder_delay = "20 ms"

[[script]]
at = "2 s"
link = "wire"
direction = "reverse"
action = "down"

[[script]]
at = "2 s"
link = "wire"
action = "up"

[signalling.points]
left = { point_code = "1-1-1", subsystems = [6] }
right = { point_code = "1-1-2" }

[signalling.links]
line = { between = ["left", "right"], carrier = { kind = "mtp2", delay = "5 ms" } }

[[signalling.script]]
at = "10 s"
action = "fail"
link = "line"

[[signalling.script]]
at = "1 s"
action = "processor-outage"
point = "left"
link = "line"

[[signalling.script]]
at = "1500 ms"
action = "processor-recovered"
point = "left"

[[signalling.script]]
at = "7 s"
action = "subsystem-goes"
point = "left"
subsystem = 6
"#;

#[test]
fn events_of_all_scripts_are_rows_in_the_order_of_time() {
    let output = run_text(SCRIPTED);
    let table = output.table("script").unwrap();
    let cell = |row: usize, name: &str| match table.column(name).unwrap().at(row) {
        CellValue::Text(text) => text.to_owned(),
        CellValue::F64(number) => number.to_string(),
        CellValue::Missing => "–".to_owned(),
        other => panic!("{name} is {other:?}"),
    };
    let row = |row| ["at_s", "kind", "name", "part", "event"].map(|name| cell(row, name)).join(" | ");
    let rows: Vec<String> = (0..table.rows()).map(row).collect();
    let expected = [
        "1 | signalling link | line | left | processor-outage",
        "1.5 | point | left | – | processor-recovered",
        "2 | link | wire | reverse | down",
        "2 | link | wire | – | up",
        "3 | flow | calls | sender | add-streams outgoing 2, incoming 1",
        "4 | link | wire | – | set rate 64 kbit/s, delay 250 ms, loss 0.05, bit_error_rate 1e-6, duplicate 0.01, \
         reorder 0.1, reorder_delay 20 ms",
        "5 | flow | calls | receiver | reset-streams streams 0 1",
        "7 | point | left | subsystem 6 | subsystem-goes",
        "10 | signalling link | line | – | fail",
    ];
    assert_eq!(rows, expected);
    assert!(run_text(&SCRIPTED[..SCRIPTED.find("[[flows").unwrap()]).table("script").is_none());
}
