//! Two paths of an association of which one is dead for a time: where DATA goes, and how long messages wait.

use slantpath_results::{Table, Value};
use slantpath_runner::RunOutput;

use crate::alone::run_text;

/// Two links between two hosts, and one flow over both; `more` is the flow's application and the script.
fn between(geo: &str, backup: &str, profile: &str, more: &str) -> RunOutput {
    run_text(&format!(
        r#"
[scenario]
name = "failover"
duration = "120 s"

[nodes]
a = {{ kind = "host" }}
b = {{ kind = "host" }}

[links]
one = {{ ends = ["a", "b"], {geo} }}
other = {{ ends = ["a", "b"], {backup} }}

[sctp.both]
{profile}

[flows.load]
transport = "sctp"
profile = "both"
from = "a"
to = "b"
primary = "one"
{more}
"#
    ))
}

fn numbers(table: &Table, column: &str) -> Vec<f64> {
    let column = table.column(column).unwrap();
    let cell = |row| match column.at(row) {
        Value::F64(number) => Some(number),
        Value::U64(number) => Some(number as f64),
        Value::Missing => None,
        other => panic!("{other:?} is no number"),
    };
    (0..table.rows()).filter_map(cell).collect()
}

/// The octets of payload that went over each link forwards.
fn carried(output: &RunOutput) -> [f64; 2] {
    let links = output.table("links").unwrap();
    let bytes = numbers(links, "carried_bytes");
    ["one", "other"].map(|name| {
        let is_it = |row: &usize| {
            links.column("link").unwrap().at(*row) == Value::Text(name)
                && links.column("direction").unwrap().at(*row) == Value::Text("forward")
        };
        (0..links.rows()).filter(is_it).map(|row| bytes[row]).sum()
    })
}

#[test]
fn one_init_lost_over_geo_leaves_the_data_to_geo_and_not_to_the_slow_backup() {
    let output = between(
        "rate = \"10 Mbit/s\", delay = \"270 ms\"",
        "rate = \"64 kbit/s\", delay = \"30 ms\"",
        "",
        r#"
application = { kind = "bulk", total = "4 MB", message_size = "1000 B" }

[[script]]
at = "0 s"
link = "one"
action = "set"
loss = "100 %"

[[script]]
at = "500 ms"
link = "one"
action = "set"
loss = "0 %"
"#,
    );
    let [geo, backup] = carried(&output);
    assert!(geo > 4e6 && backup < 20e3, "{geo} {backup}");
    assert_eq!(numbers(output.table("flows").unwrap(), "messages_delivered"), [4_000.0]);
}

/// The median, the 99th percentile and the longest of what messages waited, in seconds, with these settings, while two
/// paths fail in turn every ten seconds: one dies as the other is well again.
fn failing_in_turn(profile: &str) -> [f64; 3] {
    let turn = |turn: usize| {
        let [dead, well] = if turn.is_multiple_of(2) { ["one", "other"] } else { ["other", "one"] };
        let set = |link, loss| {
            let at = 10 + 10 * turn;
            format!(
                "\n[[script]]\nat = \"{at} s\"\nlink = \"{link}\"\naction = \"set\"\nloss = \"{loss} %\"\n"
            )
        };
        [set(well, 0), set(dead, 100)].concat()
    };
    let application =
        "application = { kind = \"constant-rate\", message_size = \"200 B\", rate = \"16 kbit/s\" }\n";
    let more = application.to_owned() + &(0..10).map(turn).collect::<String>();
    let link = "rate = \"2 Mbit/s\", delay = \"100 ms\"";
    let output = between(link, link, profile, &more);
    let messages = output.table("messages").unwrap();
    let mut delays = numbers(messages, "delay_s");
    assert_eq!(delays.len() + 1, messages.rows(), "the last one is under way at the end");
    delays.sort_by(f64::total_cmp);
    [50, 99, 100].map(|percent| delays[(delays.len() - 1) * percent / 100])
}

/// No longer than the time-outs by which the last active path is found to be dead, and the round trip by which the
/// other one answers that it is asked then, or within RTO.Initial as it is.
#[test]
fn messages_of_paths_that_fail_in_turn_wait_for_the_death_of_the_last_and_no_longer() {
    for (profile, percentile_ms, longest_ms) in [
        ("path_max_retrans = 0", 907, 1_106),
        ("path_max_retrans = 1", 3_007, 3_107),
        ("path_max_retrans = 2", 7_007, 7_107),
        ("potentially_failed_max_retrans = 0", 1_107, 1_207),
        ("rto_min = \"400 ms\"\npath_max_retrans = 2", 2_807, 2_907),
        ("rto_min = \"400 ms\"\npotentially_failed_max_retrans = 0", 912, 1_107),
    ] {
        let [_, percentile, longest] = failing_in_turn(profile);
        let rounded = [percentile, longest].map(|seconds| (seconds * 1e3).round());
        assert_eq!(rounded, [percentile_ms, longest_ms].map(f64::from), "{profile}");
    }
}
