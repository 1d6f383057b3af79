//! Several paths at once: what two orbits carry together, and what pooled windows leave to others.

use slantpath_results::{CellValue, Table};
use slantpath_runner::RunOutput;

use crate::alone::run_text;
use crate::project;

/// Goodput of a flow, in Mbit/s of messages over so many seconds.
fn goodput(output: &RunOutput, flow: &str, seconds: f64) -> f64 {
    let table: &Table = output.table("flows").unwrap();
    let names = table.column("flow").unwrap();
    let row = (0..table.rows()).find(|row| names.at(*row) == CellValue::Text(flow)).unwrap();
    match table.column("messages_delivered").unwrap().at(row) {
        CellValue::U64(messages) => messages as f64 * 1_452.0 * 8.0 / seconds / 1e6,
        other => panic!("{other:?}"),
    }
}

/// Goodput over LEO alone, GEO alone and both.
fn over_two_orbits(edit: impl Fn(String) -> String) -> [f64; 3] {
    let path = project::path("concurrent-multipath-over-geo-and-leo.toml");
    let output = run_text(&edit(std::fs::read_to_string(path).unwrap()));
    ["leo", "geo", "both"].map(|flow| goodput(&output, flow, 60.0))
}

fn with(buffer: &str, detection: &str, more: &str) -> [f64; 3] {
    over_two_orbits(|text| {
        text.replace("receive_buffer = \"8 MiB\"", &format!("receive_buffer = \"{buffer}\"\n{more}"))
            .replace("loss_detection = \"rack\"", &format!("loss_detection = \"{detection}\""))
    })
}

#[test]
fn two_orbits_carry_more_than_either_once_the_buffer_holds_what_the_slow_one_makes_wait() {
    for detection in ["rfc9260", "rack"] {
        for buffer in ["64 KiB", "1 MiB", "8 MiB"] {
            let [leo, geo, both] = with(buffer, detection, "");
            let [.., whole] = with(buffer, detection, "split_buffers = false");
            println!("{detection} {buffer}: {leo:.2} {geo:.2} {both:.2}, buffers not split {whole:.2}");
            if buffer == "8 MiB" {
                assert!(both > 1.2 * leo.max(geo), "{both} of {leo} and {geo} Mbit/s, {detection}");
            }
        }
    }
}

/// An association over two paths that meet in one link, beside another over one path: what each delivers.
fn over_one_bottleneck(policy: &str) -> [f64; 2] {
    let output = run_text(&format!(
        r#"
[scenario]
name = "bottleneck"
duration = "120 s"

[probes]
messages = false

[nodes]
a = {{ kind = "host" }}
b = {{ kind = "host" }}
near = {{ kind = "router" }}
far = {{ kind = "router" }}
c = {{ kind = "host" }}
d = {{ kind = "host" }}

[links]
a-1 = {{ ends = ["a", "near"], rate = "100 Mbit/s", delay = "5 ms" }}
a-2 = {{ ends = ["a", "near"], rate = "100 Mbit/s", delay = "5 ms" }}
b-1 = {{ ends = ["far", "b"], rate = "100 Mbit/s", delay = "5 ms" }}
b-2 = {{ ends = ["far", "b"], rate = "100 Mbit/s", delay = "5 ms" }}
c = {{ ends = ["c", "near"], rate = "100 Mbit/s", delay = "5 ms" }}
d = {{ ends = ["far", "d"], rate = "100 Mbit/s", delay = "5 ms" }}
shared = {{ ends = ["near", "far"], rate = "10 Mbit/s", delay = "20 ms", queue = "75 kB" }}

[sctp.several]
multipath = "{policy}"

[sctp.one]

[flows.several]
transport = "sctp"
profile = "several"
from = "a"
to = "b"
application = {{ kind = "bulk", total = "unlimited", message_size = "1452 B" }}

[flows.one]
transport = "sctp"
profile = "one"
from = "c"
to = "d"
application = {{ kind = "bulk", total = "unlimited", message_size = "1452 B" }}
"#
    ));
    ["several", "one"].map(|flow| goodput(&output, flow, 120.0))
}

#[test]
fn pooled_windows_take_no_more_of_a_shared_link_than_one() {
    let share = |policy| {
        let [several, one] = over_one_bottleneck(policy);
        println!("{policy}: {several:.2} beside {one:.2}");
        several / (several + one)
    };
    let [off, concurrent, first, second] = ["off", "concurrent", "pooled-v1", "pooled-v2"].map(share);
    assert!((0.4..=0.6).contains(&off), "{off}");
    assert!(concurrent > 0.6, "{concurrent}");
    assert!(first < concurrent && second < concurrent, "{first}, {second} of {concurrent}");
}
