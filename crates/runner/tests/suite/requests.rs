//! Sessions that ask: how long answers take where users think and share a link, and what is written of it.

use std::sync::Arc;

use slantpath_runner::{Files, RunOptions, RunOutput, Scenario, run};

use crate::cells::cells;

/// None is asked for.
fn no_files() -> Files {
    Arc::new(|name: &str| Err(std::io::Error::other(format!("{name} is not there"))))
}

/// Ten users, who begin within 10 ms and never end, over a link of 2 Mbit/s on which flows take turns.
fn users(sizes: &str, overrides: &[&str]) -> RunOutput {
    let text = format!(
        "\
[scenario]
name = \"users\"
duration = \"12000 s\"
[nodes]
client = {{ kind = \"host\" }}
server = {{ kind = \"host\" }}
[links.wire]
ends = [\"client\", \"server\"]
rate = \"2 Mbit/s\"
delay = \"100 us\"
queue = \"100000 packets\"
discipline = {{ kind = \"fq-codel\", target = \"1000 s\", quantum = \"1500 B\" }}
[sessions.web]
transport = \"tcp\"
from = \"client\"
to = \"server\"
arrivals = {{ kind = \"constant\", interval = \"1 ms\" }}
end = \"9500 us\"
message_size = \"14600 B\"
sizes = {sizes}
[sessions.web.requests]
count = {{ kind = \"fixed\", count = 100000 }}
think = {{ kind = \"exponential\", mean = \"2 s\" }}
[probes]
messages = false
"
    );
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let scenario = Scenario::parse("users.toml", &text, &overrides, no_files());
    run(&scenario.unwrap_or_else(|error| panic!("{error}")), &RunOptions::default()).unwrap()
}

/// Mean value analysis of a closed network of one station that shares alike and `users` who think: Reiser and
/// Lavenberg, Journal of the ACM 27(2), 1980. The mean response time, exact for any distribution of what is asked for.
fn response_by_mean_values(users: u32, service_s: f64, think_s: f64) -> f64 {
    let (mut queue, mut response) = (0.0, 0.0);
    for users in 1..=users {
        response = service_s * (1.0 + queue);
        queue = f64::from(users) / (response + think_s) * response;
    }
    response
}

#[test]
fn users_who_ask_and_think_wait_as_long_as_in_a_closed_network_of_queues() {
    // With headers of 40 bytes in 1,500 it takes 205 ms to send 50 kB: eight tenths of the link are used. The request,
    // 440 bytes, and the way of the last packet take 2 ms, in which nobody waits.
    let (service, way) = (50e3 * 8.0 / 2e6 * 1_500.0 / 1_460.0, 440.0 * 8.0 / 2e6 + 200e-6);
    let expected = way + response_by_mean_values(10, service, 2.0 + way);
    for sizes in ["{ kind = \"fixed\", size = \"50 kB\" }", "{ kind = \"exponential\", mean = \"50 kB\" }"] {
        let output = users(sizes, &[]);
        let of = |column| cells(&output, "request_sources", column)[0].unwrap();
        let (asked, mean) = (of("asked_requests"), of("response_mean_s"));
        assert!(asked > 45_000.0 && asked - of("answered_requests") <= 10.0, "{asked}");
        assert!((mean / expected - 1.0).abs() < 0.02, "{sizes}: {mean} s, and {expected} s by mean values");
        assert!(of("first_delivery_mean_s") < 0.3 * mean);
        assert!(of("response_p50_s") < of("response_p90_s") && of("response_p90_s") < of("response_p99_s"));
    }
}

#[test]
fn each_request_has_a_row_and_sessions_sum_them_up() {
    let output = users(
        "{ kind = \"pareto\", mean = \"20 kB\", shape = 1.5 }",
        &[
            "sessions.web.requests.count={ kind = \"geometric\", mean = 4 }",
            "sessions.web.end=1 s",
            "sessions.web.arrivals.interval=10 ms",
            "links.wire.loss=1 %",
        ],
    );
    let column = |name: &str| cells(&output, "requests", name);
    let number = |name: &str| -> Vec<f64> { column(name).into_iter().flatten().collect() };
    let (sessions, numbers, sizes) = (number("session"), number("number"), number("size_bytes"));
    // A hundred sessions of four requests, with a standard deviation of 35 in all.
    assert!((280..520).contains(&sizes.len()), "{}", sizes.len());
    let (asked, first, answered) = (number("asked_s"), number("first_delivery_s"), number("answered_s"));
    assert_eq!((first.len(), answered.len()), (sizes.len(), sizes.len()), "all are answered");
    for row in 0..sizes.len() {
        assert!(asked[row] < first[row] && first[row] <= answered[row]);
        assert!((number_of(&column("response_s"), row) - (answered[row] - asked[row])).abs() < 1e-9);
        if row > 0 && sessions[row] == sessions[row - 1] {
            assert!(asked[row] > answered[row - 1] && numbers[row] == numbers[row - 1] + 1.0);
        } else {
            assert_eq!(numbers[row], 0.0);
        }
    }
    let carried = cells(&output, "sessions", "size_bytes");
    let delivered = cells(&output, "sessions", "delivered_bytes");
    assert_eq!((carried.len(), &carried), (100, &delivered));
    for (session, carried) in (0..).zip(carried) {
        let of_it = sizes.iter().zip(&sessions).filter(|(_, of)| **of == f64::from(session));
        assert_eq!(of_it.map(|(size, _)| size).sum::<f64>(), carried.unwrap());
    }
    assert_eq!(cells(&output, "session_sources", "completed_sessions")[0], Some(100.0));
    assert_eq!(cells(&output, "session_sources", "throughput_mean_bit_per_s")[0], None);
    // What was lost of 8 MB at 1 %.
    let again = cells(&output, "session_sources", "retransmissions")[0].unwrap();
    assert!((40.0..200.0).contains(&again), "{again}");
}

fn number_of(column: &[Option<f64>], row: usize) -> f64 {
    column[row].unwrap()
}

#[test]
fn a_load_of_answers_is_warned_of_by_the_way_that_they_take() {
    let text = |rate: &str| {
        format!(
            "\
[scenario]
name = \"asymmetric\"
duration = \"60 s\"
[nodes]
client = {{ kind = \"host\" }}
server = {{ kind = \"host\" }}
[links.wire]
ends = [\"client\", \"server\"]
delay = \"1 ms\"
forward = {{ rate = \"64 kbit/s\" }}
reverse = {{ rate = \"{rate}\" }}
[sessions.web]
transport = \"tcp\"
from = \"client\"
to = \"server\"
arrivals = {{ kind = \"poisson\", mean_interval = \"1 s\" }}
sizes = {{ kind = \"fixed\", size = \"10 kB\" }}
requests = {{ count = {{ kind = \"geometric\", mean = 5 }}, think = {{ kind = \"fixed\", time = \"0 s\" }} }}
"
        )
    };
    let warnings = |rate: &str| {
        let scenario = Scenario::parse("asymmetric.toml", &text(rate), &[], no_files());
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        scenario.warnings().iter().map(ToString::to_string).collect::<String>()
    };
    // 50 kB a second: 400 kbit/s.
    assert_eq!(warnings("401 kbit/s"), "");
    assert!(warnings("400 kbit/s").contains("100 % of what link `wire` does"), "{}", warnings("400 kbit/s"));
}
