//! Delays and intervals: what they say is what messages and totals say, and they change nothing of the run.

use std::collections::BTreeMap;

use slantpath_results::{CellValue, Quantiles, Table};

use super::*;

/// A random network with a warm-up of 5 s, as long as most flows take.
fn short_swarm(seed: u64, probes: &[&str]) -> Scenario {
    let mut overrides = vec!["scenario.warm_up=5 s", "scenario.duration=100 s"];
    overrides.extend(probes);
    scenario(&case::toml(seed), &overrides)
}

fn made(scenario: &Scenario) -> RunOutput {
    run(scenario, &RunOptions::default()).unwrap()
}

fn text(table: &Table, column: &str, row: usize) -> String {
    match table.column(column).unwrap().at(row) {
        CellValue::Text(text) => text.to_owned(),
        other => panic!("{other:?} in {column}"),
    }
}

/// A number of a row; none where the cell is missing.
fn number(table: &Table, column: &str, row: usize) -> Option<f64> {
    match table.column(column).unwrap_or_else(|| panic!("no {column}")).at(row) {
        CellValue::F64(number) => Some(number),
        CellValue::U64(number) => Some(number as f64),
        _ => None,
    }
}

/// Delays of the messages of each flow that count for its statistics.
fn exact(output: &RunOutput, warm_up: f64) -> BTreeMap<String, Vec<f64>> {
    let messages = output.table("messages").unwrap();
    let mut delays = BTreeMap::<String, Vec<f64>>::new();
    for row in 0..messages.rows() {
        let delay = number(messages, "delay_s", row);
        if let Some(delay) = delay.filter(|_| number(messages, "sent_s", row).unwrap() >= warm_up) {
            delays.entry(text(messages, "flow", row)).or_default().push(delay);
        }
    }
    delays
}

fn assert_near(ours: Option<f64>, wanted: Option<f64>, ratio: f64, what: &str) {
    match (ours, wanted) {
        (Some(ours), Some(wanted)) => {
            assert!((ours - wanted).abs() <= ratio * wanted.abs() + 1e-12, "{what}: {ours} for {wanted}");
        }
        (ours, wanted) => assert_eq!(ours, wanted, "{what}"),
    }
}

#[test]
fn percentiles_of_histograms_lie_within_their_precision_of_those_of_the_messages() {
    let mut counted = 0.0;
    for (seed, precision) in (0..30).zip([0.1, 0.01, 0.001].into_iter().cycle()) {
        let output = made(&short_swarm(seed, &[&format!("probes.delays={precision}")]));
        let (delays, bins) = (output.table("delays").unwrap(), output.table("delay_bins").unwrap());
        let mut exact = exact(&output, 5.0);
        for row in 0..delays.rows() {
            let flow = text(delays, "flow", row);
            let sample = exact.remove(&flow).unwrap_or_default();
            let cell = |column| number(delays, column, row);
            assert_eq!(cell("messages"), Some(sample.len() as f64), "{flow} of {seed}");
            let in_bins = (0..bins.rows()).filter(|row| text(bins, "flow", *row) == flow);
            let in_bins: f64 = in_bins.map(|row| number(bins, "messages", row).unwrap()).sum();
            assert_eq!(cell("messages"), Some(in_bins), "{flow} of {seed}");
            counted += in_bins;
            let moments: slantpath_results::Moments = sample.iter().copied().collect();
            assert_near(cell("delay_mean_s"), moments.mean(), 1e-9, &flow);
            assert_near(cell("delay_deviation_s"), moments.standard_deviation(), 1e-6, &flow);
            assert_near(cell("delay_min_s"), moments.least(), 1e-9, &flow);
            assert_near(cell("delay_max_s"), moments.greatest(), 1e-9, &flow);
            let quantiles = Quantiles::of(sample);
            for (column, share) in [
                ("delay_p50_s", 0.5),
                ("delay_p90_s", 0.9),
                ("delay_p95_s", 0.95),
                ("delay_p99_s", 0.99),
                ("delay_p999_s", 0.999),
            ] {
                let kept = cell("precision_ratio").unwrap();
                assert!(kept <= precision);
                assert_near(
                    cell(column),
                    quantiles.at(share),
                    kept * (1.0 + 1e-9),
                    &format!("{column} of {flow}"),
                );
            }
        }
        assert!(exact.is_empty());
    }
    assert!(counted > 4_000.0, "{counted}");
}

#[test]
fn flows_have_their_delays_of_histograms_if_messages_are_not_recorded() {
    for seed in 0..10 {
        let whole = made(&short_swarm(seed, &[]));
        let without = made(&short_swarm(seed, &["probes.messages=false", "probes.delays=1 %"]));
        assert_eq!(whole.digest, without.digest);
        assert!(without.table("messages").is_none());
        let (wanted, ours) = (whole.table("flows").unwrap(), without.table("flows").unwrap());
        for row in 0..wanted.rows() {
            for (column, ratio) in [
                ("delay_mean_s", 1e-9),
                ("delay_max_s", 1e-9),
                ("delay_deviation_s", 1e-6),
                ("delay_median_s", 0.01),
                ("delay_p99_s", 0.01),
            ] {
                assert_near(number(ours, column, row), number(wanted, column, row), ratio, column);
            }
        }
    }
}

/// Scenarios with everything that has intervals.
fn with_intervals() -> Vec<(Scenario, Scenario, f64)> {
    let probes = ["probes.intervals=700 ms", "probes.messages=false"];
    let mut pairs: Vec<_> = (0..20)
        .map(|seed| (short_swarm(seed, &["probes.messages=false"]), short_swarm(seed, &probes), 5.0))
        .collect();
    for text in [
        include_str!("../../../../../scenarios/ss7-over-geo.toml"),
        include_str!("../../../../../scenarios/sigtran-gateway-over-geo.toml"),
        include_str!("../../../../../scenarios/codel.toml"),
        include_str!("../../../../../scenarios/priority.toml"),
        include_str!("../../../../../scenarios/ecn.toml"),
    ] {
        pairs.push((
            scenario(text, &["scenario.warm_up=5 s", "probes.intervals=off", probes[1]]),
            scenario(text, &[&["scenario.warm_up=5 s"][..], &probes].concat()),
            5.0,
        ));
    }
    pairs
}

/// Sums of the columns of intervals by what their rows are about, from an instant on.
fn sums(table: &Table, keys: &[&str], from: f64) -> BTreeMap<(Vec<String>, String), f64> {
    let mut sums = BTreeMap::new();
    let columns = table.columns().iter().map(Column::name).filter(|name| !keys.contains(name));
    for column in columns {
        for row in 0..table.rows() {
            if number(table, "start_s", row).unwrap() >= from {
                let Some(cell) = number(table, column, row) else { continue };
                let key: Vec<String> = keys.iter().map(|key| text(table, key, row)).collect();
                *sums.entry((key, column.to_owned())).or_default() += cell;
            }
        }
    }
    sums
}

/// Holds columns of a table of totals to the sums over intervals; gives the sum of all of them.
fn assert_sums(
    output: &RunOutput,
    intervals: &str,
    totals: &str,
    keys: &[&str],
    columns: &[&str],
    from: f64,
) -> f64 {
    let sums = sums(output.table(intervals).unwrap(), keys, from);
    let totals = output.table(totals).unwrap();
    let mut all = 0.0;
    for row in 0..totals.rows() {
        let key: Vec<String> = keys.iter().map(|key| text(totals, key, row)).collect();
        for column in columns {
            // Of a queue that marks nothing, neither has a cell.
            let wanted = number(totals, column, row);
            let ours = sums.get(&(key.clone(), (*column).to_owned())).copied();
            assert_eq!(ours, wanted, "{column} of {key:?} in {intervals}");
            all += wanted.unwrap_or(0.0);
        }
    }
    all
}

#[test]
fn intervals_sum_up_to_the_totals_and_change_nothing_of_a_run() {
    let (mut bytes, mut signals, mut marks) = (0.0, 0.0, 0.0);
    for (plain, probed, warm_up) in with_intervals() {
        let (wanted, output) = (made(&plain), made(&probed));
        assert_eq!((&output.digest, output.events), (&wanted.digest, wanted.events));
        for table in &wanted.tables {
            assert!(output.table(table.name()) == Some(table), "{}", table.name());
        }
        let columns = ["messages_sent", "messages_delivered", "sent_bytes", "delivered_bytes"];
        bytes += assert_sums(&output, "flow_intervals", "flows", &["flow"], &columns, warm_up);
        let columns = ["offered_packets", "offered_bytes", "carried_packets", "carried_bytes"];
        let direction = ["link", "direction"];
        bytes += assert_sums(&output, "link_intervals", "links", &direction, &columns, warm_up);
        assert_queues(&output, warm_up);
        if output.table("links").unwrap().column("marked_packets").is_some() {
            let columns = ["marked_packets"];
            marks += assert_sums(&output, "link_intervals", "links", &direction, &columns, warm_up);
        }
        if output.table("signalling_link_intervals").is_some() {
            let columns = ["given_messages", "refused_messages", "sent_messages", "repeated_messages"];
            let columns = [&columns[..], &["received_messages", "discarded_messages"]].concat();
            let end = ["link", "point"];
            signals +=
                assert_sums(&output, "signalling_link_intervals", "signalling_links", &end, &columns, 0.0);
        }
    }
    assert!(bytes > 1e6 && signals > 1e3 && marks > 100.0, "{bytes}, {signals} and {marks}");
}

/// Drops, means and peaks of queues over intervals are those of the whole, and intervals follow each other.
fn assert_queues(output: &RunOutput, warm_up: f64) {
    let (intervals, links) = (output.table("link_intervals").unwrap(), output.table("links").unwrap());
    let drops: Vec<&str> =
        links.columns().iter().map(Column::name).filter(|name| name.starts_with("dropped_")).collect();
    for row in 0..links.rows() {
        let key = |table: &Table, row| ["link", "direction"].map(|column| text(table, column, row));
        let (mut integral, mut peak, mut dropped, mut until) = (0.0, 0.0_f64, 0.0, 0.0);
        for interval in (0..intervals.rows()).filter(|interval| key(intervals, *interval) == key(links, row))
        {
            let cell = |column| number(intervals, column, interval).unwrap();
            assert_eq!(cell("start_s"), until);
            until = cell("end_s");
            assert!(until > cell("start_s") && until - cell("start_s") < 0.7 + 1e-9);
            if cell("start_s") >= warm_up {
                integral += cell("queue_mean_packets") * (until - cell("start_s"));
                peak = peak.max(cell("queue_max_packets"));
                dropped += cell("dropped_packets");
            }
        }
        let cell = |column| number(links, column, row).unwrap();
        assert_near(
            Some(integral / (until - warm_up)),
            number(links, "queue_mean_packets", row),
            1e-9,
            "queue",
        );
        assert_eq!(peak, cell("queue_max_packets"));
        assert_eq!(dropped, drops.iter().filter_map(|reason| number(links, reason, row)).sum::<f64>());
    }
}

#[test]
fn an_interval_has_the_delays_of_what_was_delivered_in_it_and_what_went_out_again() {
    let mut again = 0.0;
    for seed in 0..20 {
        let output = made(&short_swarm(seed, &["probes.intervals=700 ms"]));
        let (intervals, messages) =
            (output.table("flow_intervals").unwrap(), output.table("messages").unwrap());
        let mut retransmissions = BTreeMap::<String, f64>::new();
        for row in 0..intervals.rows() {
            let flow = text(intervals, "flow", row);
            let cell = |column| number(intervals, column, row);
            let (start, end) = (cell("start_s").unwrap(), cell("end_s").unwrap());
            let own = (0..messages.rows()).filter(|message| text(messages, "flow", *message) == flow);
            let within = |at: f64| at > start && at <= end;
            let delays = own.filter(|message| number(messages, "delivered_s", *message).is_some_and(within));
            let delays: Vec<f64> =
                delays.filter_map(|message| number(messages, "delay_s", message)).collect();
            let moments: slantpath_results::Moments = delays.iter().copied().collect();
            assert_near(cell("delay_mean_s"), moments.mean(), 1e-9, "mean");
            assert_near(cell("delay_max_s"), moments.greatest(), 1e-9, "max");
            *retransmissions.entry(flow).or_default() += cell("retransmissions").unwrap();
        }
        let flows = output.table("flows").unwrap();
        for row in 0..flows.rows() {
            let flow = text(flows, "flow", row);
            let own = (0..messages.rows()).filter(|message| text(messages, "flow", *message) == flow);
            let transmissions: f64 =
                own.map(|message| (number(messages, "transmissions", message).unwrap() - 1.0).max(0.0)).sum();
            again += retransmissions[&flow];
            // A segment of TCP may hold several messages, or a part of one.
            assert_eq!(transmissions > 0.0, retransmissions[&flow] > 0.0, "{flow} of {seed}");
            if text(flows, "transport", row) == "sctp" {
                assert_eq!(transmissions, retransmissions[&flow], "{flow} of {seed}");
            }
        }
    }
    assert!(again > 100.0, "{again}");
}

#[test]
fn what_is_idle_has_rows_of_zeros() {
    let output = made(&scenario(
        include_str!("../../../../../scenarios/first.toml"),
        &["scenario.duration=10 s", "flows.signalling.start=5 s", "probes.intervals=1 s"],
    ));
    let flows = output.table("flow_intervals").unwrap();
    assert_eq!(flows.rows(), 10);
    assert_eq!(number(flows, "throughput_bit_per_s", 2), Some(0.0));
    assert_eq!(number(flows, "delay_mean_s", 2), None);
    assert!(number(flows, "throughput_bit_per_s", 8).unwrap() > 0.0);
}

/// A link that management takes out of service every 30 s.
fn flapping(seconds: u64, probes: &[&str]) -> Scenario {
    let mut text = include_str!("../../../../../scenarios/ss7-over-geo.toml").to_owned();
    for at in (40..seconds - 25).step_by(30) {
        for (at, action) in [(at, "deactivate"), (at + 10, "activate")] {
            let head = format!("\n[[signalling.script]]\nat = \"{at} s\"\n");
            let tail = format!("link = \"association-1\"\naction = \"{action}\"\n");
            text.extend([head, tail]);
        }
    }
    let duration = format!("scenario.duration={seconds} s");
    scenario(&text, &[&[duration.as_str()][..], probes].concat())
}

#[test]
fn events_of_signalling_are_handed_over_as_they_happen() {
    let [short, long] = [400, 4_000].map(|seconds| {
        let scenario = flapping(seconds, &["signalling.load.isup.erlang_per_link=0.01"]);
        told(&scenario, &RunOptions::default())
    });
    let [few, many] = [&short, &long].map(Told::rows_in_all);
    assert!(few > 40 && many > 9 * few, "{many} and {few}");
    let [few, many] = [&short, &long].map(Told::rows_max);
    assert!(many <= few.max(20), "{many} rows at once");
}

#[test]
fn a_digest_holds_the_events_of_signalling_wherever_they_are() {
    let whole = made(&flapping(400, &[]));
    let events = whole.table("signalling_events").unwrap();
    let outputs = crate::replicate_without_records(
        &flapping(400, &[]),
        &RunOptions::default(),
        1,
        crate::Workers::new(1),
    );
    let without = outputs.unwrap().into_iter().flatten().next().unwrap();
    assert!(events.rows() > 40 && without.table("signalling_events").is_none());
    assert_eq!(without.digest, whole.digest);
    let other = made(&flapping(380, &[]));
    assert_ne!(other.digest, whole.digest);
}

/// A window of 20 segments over a link that a segment of 1,500 bytes takes 12 ms: all but what is under way waits.
#[test]
fn packets_wait_at_a_link_for_what_the_round_trip_is_longer_than_the_way() {
    let file = r#"
[scenario]
name = "window"
duration = "60 s"
[probes]
messages = false
intervals = "10 s"
[nodes]
left = { kind = "host" }
right = { kind = "host" }
[links.wire]
ends = ["left", "right"]
rate = "1 Mbit/s"
delay = "10 ms"
queue = "100 packets"
[tcp.default]
window_limit = "29200 B"
[flows.bulk]
transport = "tcp"
from = "left"
to = "right"
application = { kind = "bulk", message_size = "8 kB", total = "unlimited" }
"#;
    let output = made(&scenario(file, &[]));
    let (links, flows) = (output.table("link_intervals").unwrap(), output.table("flow_intervals").unwrap());
    let mut seen = 0;
    for row in 0..links.rows() {
        let start = number(links, "start_s", row).unwrap();
        if start < 10.0 {
            continue;
        }
        let wait = number(links, "wait_mean_s", row).unwrap();
        if text(links, "direction", row) == "reverse" {
            assert!(wait < 1e-3, "{wait} s");
            continue;
        }
        let flow = (0..flows.rows()).find(|row| number(flows, "start_s", *row) == Some(start)).unwrap();
        // Both ways, a segment and an acknowledgement of 40 bytes. Every second segment is acknowledged, so that they
        // leave in pairs, of which the first waits 12 ms less than the second, whose round trip is measured.
        let way = 0.02 + 0.012 + 0.000_32 + 0.006;
        let srtt = number(flows, "srtt_s", flow).unwrap();
        // Of 830 packets that come in an interval two may as well count in the next one.
        assert_near(Some(wait), Some(srtt - way), 0.003, "wait");
        seen += 1;
    }
    assert_eq!(seen, 5);
}

#[test]
fn signalling_has_the_time_until_its_far_end_has_taken_messages() {
    // What is taken in each run, of what was handed over, and the least and the greatest mean of an interval.
    let taken = |output: &RunOutput, [table, given]: [&str; 2]| {
        let table = output.table(table).unwrap();
        let sum = |column| -> f64 { (0..table.rows()).map(|row| number(table, column, row).unwrap()).sum() };
        let delays: Vec<f64> =
            (0..table.rows()).filter_map(|row| number(table, "acknowledgement_delay_mean_s", row)).collect();
        let least = delays.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = delays.iter().copied().fold(0.0, f64::max);
        (sum("acknowledged_messages") / sum(given), least, greatest)
    };
    let (links, associations) =
        (["signalling_link_intervals", "given_messages"], ["association_intervals", "sent_messages"]);
    let geo = include_str!("../../../../../scenarios/ss7-over-geo.toml");
    let output = made(&scenario(geo, &["probes.intervals=10 s"]));
    let (share, least, greatest) = taken(&output, links);
    // 270 ms each way, by a line and by associations.
    assert!((0.99..1.0).contains(&share) && (0.54..0.55).contains(&least), "{share} {least}");
    assert!((0.55..1.5).contains(&greatest), "{greatest}");
    let (share, least, greatest) = taken(&output, associations);
    assert!((0.99..=1.0).contains(&share) && (0.54..0.56).contains(&least), "{share} {least}");
    assert!((0.56..1.7).contains(&greatest), "{greatest}");
    let lines = include_str!("../../../../../scenarios/ss7-quad.toml");
    let (share, least, _) = taken(&made(&scenario(lines, &["probes.intervals=30 s"])), links);
    // 2 ms each way at the least, and a unit.
    assert!((0.999..1.0).contains(&share) && (0.004..0.01).contains(&least), "{share} {least}");
}

/// Rate, delay and loss of `satellite forward` as each interval ended.
fn terms(output: &RunOutput) -> Vec<[Option<f64>; 3]> {
    let table = output.table("link_intervals").unwrap();
    let is_own =
        |&row: &usize| text(table, "link", row) == "satellite" && text(table, "direction", row) == "forward";
    let columns = ["rate_bit_per_s", "delay_s", "loss_ratio"];
    (0..table.rows()).filter(is_own).map(|row| columns.map(|column| number(table, column, row))).collect()
}

#[test]
fn an_interval_ends_with_the_rate_the_delay_and_the_loss_that_a_script_left() {
    let text = r#"
        scenario = { name = "changed", duration = "6 s" }
        probes = { intervals = "1 s" }
        nodes = { here = { kind = "host" }, there = { kind = "host" } }
        script = [
            { at = "1 s", link = "satellite", action = "set", rate = "500 kbit/s" },
            { at = "2 s", link = "satellite", action = "set", delay = "20 ms", loss = "5 %" },
            { at = "3 s", link = "satellite", action = "down" },
            { at = "4.5 s", link = "satellite", action = "up" },
            { at = "5 s", link = "satellite", action = "set", loss = "100 %" },
        ]
        [links.satellite]
        ends = ["here", "there"]
        rate = "2 Mbit/s"
        delay = "250 ms"
        loss = "1 %"
        forward = { shaper = { rate = "1 Mbit/s", burst = "3 kB" } }
        [flows.data]
        transport = "sctp"
        from = "here"
        to = "there"
        application = { kind = "bulk", total = "1 kB" }
    "#;
    let changed = terms(&made(&scenario(text, &[])));
    let carried = |rate, delay, loss| [Some(rate), Some(delay), Some(loss)];
    let none = [Some(5e5), None, Some(1.0)];
    let expected = [carried(5e5, 0.25, 0.01), carried(5e5, 0.02, 0.05), none, none, none, none];
    assert_eq!(changed, expected);
}

#[test]
fn an_interval_of_a_link_with_capacity_on_demand_ends_with_what_was_allocated() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/capacity-on-demand.toml");
    let output = made(&scenario(&std::fs::read_to_string(path).unwrap(), &[]));
    let access = output.table("access").unwrap();
    let allocated: Vec<f64> =
        (0..access.rows()).filter_map(|row| number(access, "allocated_bit_per_s", row)).collect();
    let rates: Vec<f64> = terms(&output).iter().map(|[rate, ..]| rate.unwrap()).collect();
    assert!(rates.iter().all(|rate| allocated.contains(rate)), "{rates:?}, {allocated:?}");
    assert!(rates[10] >= 1_024_000.0 && rates[90] > 1.2 * rates[10], "{rates:?}");
}
