//! The answer and its neighbours, simulated: whether the formulas held, and where they did not.

use std::io::Write;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::atomic::Ordering;

use slantpath_plan::bursts::largest_share;
use slantpath_plan::framing::Framing;
use slantpath_plan::{Answer, Question, print};
use slantpath_results::Value;
use slantpath_scenario::{Progress, RunOptions, RunOutput, Scenario, run_while};

use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Bar;

/// How far a measured value may lie from that of a formula.
const TOLERANCE: f64 = 0.15;
/// The share of messages that may differ between both.
const LOSS_TOLERANCE: f64 = 0.02;
/// From when to when losses are looked at, in seconds: after the step, once it has settled.
const LATE: std::ops::Range<f64> = 90.0..118.0;
/// From when on what is outstanding counts, in seconds: before, a link comes into service on which messages wait.
const SETTLED_S: f64 = 45.0;
/// What may be outstanding beyond a window: a packet that begins within it is sent (RFC 9260, section 6.1, rule B).
const PACKET: f64 = 1_468.0;

/// Intervals of associations.
const ASSOCIATIONS: &str = "association_intervals";

/// A neighbour of the answer.
struct Neighbour {
    name: &'static str,
    window: f64,
    step: f64,
}

/// What a run showed.
struct Measured {
    outstanding: f64,
    loss: f64,
    repeated: f64,
    longest: f64,
    /// How often links went out of service.
    failures: f64,
}

/// What the formulas say of it.
struct Predicted {
    /// On average after the step, and with the bursts of messages that come at random.
    outstanding: RangeInclusive<f64>,
    /// The share of messages that is carried: between none that shares a packet, and all in full ones, as those that
    /// wait for the window.
    carried: RangeInclusive<f64>,
    /// Whether links may go out of service, as the answer says: T7 outlasts no answer, or not what is lost.
    may_fail: bool,
    /// The share of packets that the path loses.
    loss: f64,
    /// Whether a time-out repeats the whole window for ever.
    collapses: bool,
}

impl Predicted {
    /// What did not come as the formulas say.
    fn faults(&self, measured: &Measured) -> Vec<String> {
        let mut faults = Vec::new();
        if self.collapses {
            if measured.repeated < 0.1 {
                faults.push(
                    "no time-out repeats the window, though its time is longer than RTO.Max".to_owned(),
                );
            }
            return faults;
        }
        let within = |value: f64, range: &RangeInclusive<f64>| {
            value >= (1.0 - TOLERANCE) * range.start() && value <= (1.0 + TOLERANCE) * range.end()
        };
        if !within(measured.outstanding, &self.outstanding) {
            let (least, most) = (self.outstanding.start(), self.outstanding.end());
            faults.push(format!("{least:.0} to {most:.0} B outstanding were expected"));
        }
        let is_carried = *self.carried.start() >= 1.0;
        let fits = if is_carried {
            if measured.failures > 0.0 { self.may_fail } else { measured.loss <= LOSS_TOLERANCE }
        } else {
            // A link that goes out of service, as a full one may by T7, loses more.
            measured.failures > 0.0 || within(1.0 - measured.loss, &self.carried)
        };
        if !fits {
            let lost = |carried: f64| 100.0 * (1.0 - carried);
            let (most, least) = (lost(*self.carried.start()), lost(*self.carried.end()));
            faults.push(format!("{least:.1} to {most:.1} % lost were expected"));
        }
        let repeated_most = self.loss + LOSS_TOLERANCE;
        if measured.repeated > repeated_most && !(self.may_fail && measured.failures > 0.0) {
            faults.push(format!("at most {:.1} % retransmitted were expected", 100.0 * repeated_most));
        }
        faults
    }
}

pub(super) fn verify(question: &Question, answer: &Answer, out: &mut impl Write) -> Result<(), Failure> {
    let has_step = question.signalling.whole().is_some_and(|load| *load.step_erlang > 0.0);
    let mut neighbours = vec![
        Neighbour { name: "as answered", window: 1.0, step: 1.0 },
        Neighbour { name: "half the window", window: 0.5, step: 1.0 },
        Neighbour { name: "four windows", window: 4.0, step: 1.0 },
    ];
    if has_step {
        neighbours.push(Neighbour { name: "half the step", window: 1.0, step: 0.5 });
        neighbours.push(Neighbour { name: "no step", window: 1.0, step: 0.0 });
    }
    let bar = Bar::or_lines("runs");
    let mut rows = Vec::new();
    for (done, neighbour) in neighbours.iter().enumerate() {
        let share = done as f64 / neighbours.len() as f64;
        bar.update(Progress { done, all: neighbours.len(), share });
        bar.show(neighbour.name);
        rows.push((neighbour, predict(question, answer, neighbour), measure(question, answer, neighbour)?));
    }
    drop(bar);
    writeln!(out, "\nsimulated: outstanding at most, messages lost, retransmitted, the longest delay")?;
    for (neighbour, predicted, measured) in &rows {
        let faults = predicted.faults(measured);
        let held = if faults.is_empty() {
            "the formulas held".to_owned()
        } else {
            format!("NOT HELD: {}", faults.join("; "))
        };
        let outages = if measured.failures > 0.0 {
            format!("; links went out of service {:.0} times", measured.failures)
        } else {
            String::new()
        };
        writeln!(
            out,
            "  {:<16} {:>9.0} B  {:>5.1} %  {:>5.1} %  {:>6.2} s   {held}{outages}",
            neighbour.name,
            measured.outstanding,
            100.0 * measured.loss,
            100.0 * measured.repeated,
            measured.longest,
        )?;
    }
    // Neighbours say how far the formulas hold; the answer itself has to.
    match rows.first() {
        Some((_, predicted, measured)) if !predicted.faults(measured).is_empty() => Err(Failure::NotHeld),
        _ => Ok(()),
    }
}

/// Equation 5 with what exceeds the permanent band beside the step, equation 3, and T_W against RTO.Max.
fn predict(question: &Question, answer: &Answer, neighbour: &Neighbour) -> Predicted {
    let part = "a question without fault is whole";
    let (path, band) = (question.path.whole().expect(part), question.band.whole().expect(part));
    let load = question.signalling.whole().expect(part);
    let (alone, full) = (answer.framing, Framing::full(*load.octets));
    let (trip, bundling) = (path.round_trip.as_secs_f64(), load.bundling_delay.as_secs_f64());
    let sack_delay = answer.value("sctp.sack_delay");
    let permanent = band.permanent.as_bits_per_sec() as f64;
    let total = permanent + band.on_demand.as_bits_per_sec() as f64;
    let associations = f64::from(*load.associations);
    let cwnd = answer.value("sctp.cwnd") * neighbour.window * associations;
    // Those with more lines than others fill their windows first.
    let fullest = associations * largest_share(*load.links, *load.associations);

    // In messages a second.
    let lines =
        f64::from(*load.links) * load.line_rate.as_bits_per_sec() as f64 / 8.0 / f64::from(*load.octets);
    let before = lines * *load.erlang_per_link;
    let demand = before + lines * neighbour.step * *load.step_erlang;
    let acknowledged = |framing: &Framing| {
        bundling + framing.acknowledged_after(trip, sack_delay, demand / associations, permanent)
    };
    let carried = |framing: &Framing, window: f64| {
        let by_window = window / framing.window / acknowledged(framing) / fullest;
        demand.min(by_window).min(total / 8.0 / framing.ethernet)
    };

    // What the step brings waits for an allocation; what exceeds the permanent band does where all comes at once.
    let waiting = |excess: f64| if excess > 0.0 { excess * band.allocation_time.as_secs_f64() } else { 0.0 };
    let beyond = demand - permanent / 8.0 / alone.ethernet;
    let interrupted = if beyond > 0.0 { demand * band.interruption.as_secs_f64() } else { 0.0 };
    let least = carried(&full, cwnd).min(carried(&alone, cwnd)) * trip + waiting(beyond.min(demand - before));
    // Bursts wait for each other.
    let rate = if beyond > 0.0 { total } else { permanent };
    let window_time = |framing: &Framing| 8.0 * cwnd * framing.ethernet_per_window() / permanent;
    let queueing = alone.longest_queueing(demand, rate).min(window_time(&alone));
    let most = alone.outstanding_most(demand * (acknowledged(&alone) + queueing))
        + alone.window * (waiting(beyond) + interrupted);
    let overrun = PACKET * associations;
    let least_carried = carried(&full, cwnd).min(carried(&alone, cwnd));
    let most_carried = carried(&full, cwnd + overrun).max(carried(&alone, cwnd));
    let fills = total / 8.0 / full.ethernet <= demand || least * full.window >= cwnd;
    Predicted {
        outstanding: (least * full.window).min(cwnd)..=most.min(cwnd + overrun),
        carried: least_carried / demand..=most_carried / demand,
        may_fail: answer.impossible.iter().any(|one| matches!(one.concerns, "m2pa.t7" | "path.loss")),
        loss: path.loss.as_f64(),
        collapses: fills && window_time(&full) > answer.value("sctp.rto_max"),
    }
}

fn measure(question: &Question, answer: &Answer, neighbour: &Neighbour) -> Result<Measured, Failure> {
    let cwnd = answer.value("sctp.cwnd") * neighbour.window;
    let load = question.signalling.whole().expect("a question without fault is whole");
    let mut sets = vec![
        format!("sctp.gateway.fixed_cwnd={cwnd:.0} B"),
        format!("sctp.gateway.send_buffer={:.0} B", 2.0 * cwnd),
        format!("sctp.gateway.receive_buffer={:.0} B", (2.0 * cwnd).max(65_536.0)),
    ];
    if *load.step_erlang > 0.0 {
        let after = *load.erlang_per_link + neighbour.step * *load.step_erlang;
        for direction in ["there", "back"] {
            sets.push(format!(
                "signalling.load.{direction}.steps=[{{ at = \"60 s\", erlang_per_link = {after} }}]"
            ));
        }
    }
    let text = print::scenario(question, answer);
    let files: slantpath_scenario::Files = slantpath_scenario::files_in(std::path::Path::new(""));
    let scenario = Scenario::parse("the answer", &text, &sets, files).map_err(Failure::Invalid)?;
    let stop = interrupt::flag();
    let mut go_on =
        |_| if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let output = run_while(&scenario, &RunOptions::default(), &mut go_on)?;
    let output = output.ok_or_else(|| {
        Failure::Interrupted("interrupted: the answer stands, and is not verified".to_owned())
    })?;
    let of_gateway = |column: &str| of_host(&output, ASSOCIATIONS, column);
    let outstanding = per_interval(&output, "outstanding_bytes").into_iter().fold(0.0, f64::max);
    let sent = of_gateway("sent_messages").into_iter().flatten().sum::<f64>();
    let repeated = of_gateway("retransmissions").into_iter().flatten().sum::<f64>();
    let sum = |table: &str, column: &str| cells(&output, table, column).into_iter().flatten().sum::<f64>();
    let failures = sum("signalling_links", "times_unavailable");
    let all_lost =
        || sum("signalling_load", "lost_messages") / sum("signalling_load", "sent_messages").max(1.0);
    Ok(Measured {
        outstanding,
        loss: if failures > 0.0 { all_lost() } else { late_loss(&output) },
        failures,
        repeated: repeated / sent.max(1.0),
        longest: cells(&output, "signalling_load", "delay_max_s").into_iter().flatten().fold(0.0, f64::max),
    })
}

/// The share of what was given to the links that they refused or threw away, once the load after the step has settled.
fn late_loss(output: &RunOutput) -> f64 {
    let table = "signalling_link_intervals";
    let starts = of_host(output, table, "start_s");
    let sum = |column: &str| {
        let values = of_host(output, table, column).into_iter().zip(&starts);
        let late = values.filter(|(_, start)| start.is_some_and(|start| LATE.contains(&start)));
        late.filter_map(|(value, _)| value).sum::<f64>()
    };
    (sum("refused_messages") + sum("discarded_messages")) / sum("given_messages").max(1.0)
}

/// The sum over all associations of a gateway, for each interval once it has settled.
fn per_interval(output: &RunOutput, column: &str) -> Vec<f64> {
    let mut sums = std::collections::BTreeMap::<u64, f64>::new();
    let starts = of_host(output, ASSOCIATIONS, "start_s");
    for (start, value) in starts.into_iter().zip(of_host(output, ASSOCIATIONS, column)) {
        let start = start.unwrap_or(0.0);
        if start >= SETTLED_S {
            *sums.entry(start.to_bits()).or_default() += value.unwrap_or(0.0);
        }
    }
    sums.into_values().collect()
}

/// A column of the rows of the first gateway.
fn of_host(output: &RunOutput, table: &str, column: &str) -> Vec<Option<f64>> {
    let key = if table == "association_intervals" { "host" } else { "point" };
    let hosts = output.table(table).and_then(|table| table.column(key));
    let is_of = |row: usize| hosts.is_some_and(|hosts| hosts.at(row) == Value::Text("gateway-a"));
    let values = cells(output, table, column).into_iter().enumerate();
    values.filter(|(row, _)| is_of(*row)).map(|(_, value)| value).collect()
}

fn cells(output: &RunOutput, table: &str, column: &str) -> Vec<Option<f64>> {
    let Some(column) = output.table(table).and_then(|table| table.column(column)) else { return Vec::new() };
    let number = |row| match column.at(row) {
        Value::F64(number) => Some(number),
        Value::U64(number) => Some(number as f64),
        _ => None,
    };
    (0..column.len()).map(number).collect()
}
