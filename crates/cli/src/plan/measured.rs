//! A run of the answer, and what is measured in it.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use slantpath_plan::print::{DURATION_S, ENDS_AT_S, STARTS_AT_S, STEPS_AT_S};
use slantpath_plan::{Answer, Measure, MessageCarrier, Question, print};
use slantpath_results::CellValue;
use slantpath_runner::{RunOptions, RunOutput, Scenario, run_while};

use crate::failure::Failure;
use crate::interrupt;

/// From when on what is outstanding and how long answers take counts, in seconds: before, the link comes into service
/// and finds messages that wait.
const SETTLED_S: f64 = STARTS_AT_S + 1.0;

const ASSOCIATIONS: &str = "association_intervals";
const LINKS: &str = "signalling_link_intervals";
const FLOWS: &str = "flows";
const FLOW_INTERVALS: &str = "flow_intervals";

/// Failure of the first of two paths, in seconds after the start: the load has settled.
const FAILS_AT_S: f64 = 90.0;

/// A setting of the answer that a run changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant {
    pub(crate) window: f64,
    pub(crate) step: f64,
    /// Break of the path.
    pub(crate) breaks: PathBreak,
}

/// Break of the path in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PathBreak {
    /// None: it lasts.
    None,
    /// The first of two paths fails for good.
    Fails,
    /// All paths fade for so many seconds.
    Fades(f64),
}

impl Variant {
    /// The answer as it stands.
    pub(crate) const ANSWERED: Self = Self { window: 1.0, step: 1.0, breaks: PathBreak::None };
}

/// Measurements of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    /// Bytes outstanding at most, of all associations of a gateway.
    pub(crate) outstanding: f64,
    /// The share of the messages since the step that did not arrive.
    pub(crate) loss: f64,
    /// The share of messages that SCTP retransmitted.
    pub(crate) repeated: f64,
    /// The longest delay of a message from gateway to gateway, in seconds.
    pub(crate) delay: f64,
    /// The longest mean of a quarter of a second from a message to its answer, in seconds.
    pub(crate) answer: f64,
    /// Number of times that links went out of service.
    pub(crate) outages: f64,
    /// Excess of the longest delay over the path and the gateways, in seconds: where the first path fails,
    /// how long nothing arrives.
    pub(crate) standstill: f64,
    /// Number of associations that ended.
    pub(crate) ended: f64,
}

impl Measured {
    /// Measurement that a promise is held to.
    pub(crate) fn of(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Loss => self.loss,
            Measure::Delay => self.delay,
            Measure::Outages => self.outages,
            Measure::Answer => self.answer,
            Measure::Repeated => self.repeated,
            Measure::Standstill => self.standstill,
            Measure::Ended => self.ended,
        }
    }
}

/// Simulates the answer, or what lies beside it.
pub(crate) fn measure(question: &Question, answer: &Answer, variant: Variant) -> Result<Measured, Failure> {
    let part = "a question without fault is whole";
    let load = question.signalling.whole().expect(part);
    let cwnd = answer.value("sctp.cwnd") * variant.window;
    // Before the step and after it, in parts of each other.
    let mut loads = (1.0, 1.0);
    let mut sets = vec![
        format!("sctp.gateway.fixed_cwnd={cwnd:.0} B"),
        format!("sctp.gateway.send_buffer={:.0} B", 2.0 * cwnd),
        format!("sctp.gateway.receive_buffer={:.0} B", (2.0 * cwnd).max(65_536.0)),
    ];
    let scenario = print::scenario(question, answer);
    if let Some((before, after)) = print::stepped(question, variant.step) {
        for direction in ["there", "back"] {
            sets.push(format!(
                "signalling.load.{direction}.steps=[{{ at = \"{STEPS_AT_S} s\", erlang_per_link = {after} }}]"
            ));
        }
        loads = (before, after);
    }
    match variant.breaks {
        PathBreak::None => {}
        PathBreak::Fails => {
            sets.push(format!(
                "script=[{{ at = \"{FAILS_AT_S} s\", link = \"satellite\", action = \"down\" }}]"
            ));
        }
        PathBreak::Fades(lasts) => {
            let works = FAILS_AT_S + lasts;
            let second = answer.setting("sctp.pf_max_retrans").map(|_| "second");
            let events = ["satellite"].into_iter().chain(second).flat_map(|link| {
                [(FAILS_AT_S, "down"), (works, "up")].map(|(at, action)| {
                    format!("{{ at = \"{at} s\", link = \"{link}\", action = \"{action}\" }}")
                })
            });
            sets.push(format!("script=[{}]", events.collect::<Vec<_>>().join(", ")));
            // Whoever has not been answered by then is not going to be.
            let duration = works + DURATION_S + 2.0 * answer.value("sctp.rto_max");
            sets.push(format!("scenario.duration={duration} s"));
        }
    }
    let files: slantpath_runner::Files = slantpath_runner::files_in(std::path::Path::new(""));
    let scenario = Scenario::parse("the answer", &scenario, &sets, files).map_err(Failure::Invalid)?;
    let stop = interrupt::flag();
    let mut go_on = |_| {
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let output = run_while(&scenario, &RunOptions::default(), &mut go_on)?;
    let output = output.ok_or_else(|| {
        Failure::Interrupted("interrupted: the answer stands, and is not verified".to_owned())
    })?;
    let of_gateway = |column: &str| of_host(&output, ASSOCIATIONS, "host", column);
    let outstanding = per_interval(&output, "outstanding_bytes").into_iter().fold(0.0, f64::max);
    if *load.carrier == MessageCarrier::Sctp {
        return Ok(of_flows(question, &output));
    }
    let sent = of_gateway("sent_messages").into_iter().flatten().sum::<f64>();
    let repeated = of_gateway("retransmissions").into_iter().flatten().sum::<f64>();
    let ended = of_gateway("times_lost").into_iter().flatten().sum::<f64>();
    let sum = |table: &str, column: &str| cells(&output, table, column).into_iter().flatten().sum::<f64>();
    let most =
        |table: &str, column: &str| cells(&output, table, column).into_iter().flatten().fold(0.0, f64::max);
    // What was sent before the step hardly counts.
    let (before, after) = (STEPS_AT_S - STARTS_AT_S, ENDS_AT_S - STEPS_AT_S);
    let part_after =
        if loads.1 == loads.0 { 1.0 } else { after * loads.1 / (before * loads.0 + after * loads.1) };
    let given = sum("signalling_load", "sent_messages");
    let lost = sum("signalling_load", "lost_messages");
    let starts = cells(&output, LINKS, "start_s");
    let answers = cells(&output, LINKS, "acknowledgement_delay_mean_s").into_iter().zip(starts);
    let answers = answers.filter(|(_, start)| start.is_some_and(|start| start >= SETTLED_S));
    let delay = most("signalling_load", "delay_max_s");
    let passage = passage(question);
    Ok(Measured {
        ended,
        standstill: (delay - passage).max(0.0),
        outstanding,
        loss: lost / (given * part_after).max(1.0),
        outages: sum("signalling_links", "times_unavailable"),
        repeated: repeated / sent.max(1.0),
        delay,
        answer: answers.filter_map(|(value, _)| value).fold(0.0, f64::max)
            + 2.0 * load.gateway_delay.as_secs_f64(),
    })
}

/// Measurements of a run whose messages are flows over SCTP alone.
fn of_flows(question: &Question, output: &RunOutput) -> Measured {
    let sum = |column: &str| cells(output, FLOWS, column).into_iter().flatten().sum::<f64>();
    let (sent, late, repeated) = (sum("messages_sent"), sum("messages_late"), sum("messages_retransmitted"));
    let delay = cells(output, FLOWS, "delay_max_s").into_iter().flatten().fold(0.0, f64::max);
    let failures = output.table(FLOWS).and_then(|table| table.column("failure"));
    let ended = failures.map_or(0, |failures| {
        (0..failures.len()).filter(|&row| matches!(failures.at(row), CellValue::Text(_))).count()
    });
    // Flows have no gateway whose processing takes time.
    let gateways = gateways(question);
    // Flows of one direction, all that have an interval together.
    let mut sums = std::collections::BTreeMap::<u64, f64>::new();
    let names = output.table(FLOW_INTERVALS).and_then(|table| table.column("flow"));
    let starts = cells(output, FLOW_INTERVALS, "start_s");
    let outstanding = cells(output, FLOW_INTERVALS, "outstanding_bytes");
    for (row, (start, bytes)) in starts.into_iter().zip(outstanding).enumerate() {
        let is_there = names.is_some_and(|names| match names.at(row) {
            CellValue::Text(name) => name.starts_with("there"),
            _ => false,
        });
        if let Some(start) = start.filter(|&start| is_there && start >= SETTLED_S) {
            *sums.entry(start.to_bits()).or_default() += bytes.unwrap_or(0.0);
        }
    }
    Measured {
        outstanding: sums.into_values().fold(0.0, f64::max),
        loss: late / sent.max(1.0),
        repeated: repeated / sent.max(1.0),
        delay: delay + gateways,
        answer: 0.0,
        outages: 0.0,
        standstill: (delay + gateways - passage(question)).max(0.0),
        ended: ended as f64,
    }
}

/// Time that messages spend in both gateways, in seconds.
fn gateways(question: &Question) -> f64 {
    question.signalling.whole().map_or(0.0, |load| 2.0 * load.gateway_delay.as_secs_f64())
}

/// Time from gateway to gateway where nothing waits, in seconds.
fn passage(question: &Question) -> f64 {
    let one_way = question.path.whole().map_or(0.0, |path| path.round_trip.as_secs_f64() / 2.0);
    one_way + gateways(question)
}

/// The sum over all associations of a gateway, for each interval once it has settled.
fn per_interval(output: &RunOutput, column: &str) -> Vec<f64> {
    let mut sums = std::collections::BTreeMap::<u64, f64>::new();
    let starts = of_host(output, ASSOCIATIONS, "host", "start_s");
    for (start, value) in starts.into_iter().zip(of_host(output, ASSOCIATIONS, "host", column)) {
        let start = start.unwrap_or(0.0);
        if start >= SETTLED_S {
            *sums.entry(start.to_bits()).or_default() += value.unwrap_or(0.0);
        }
    }
    sums.into_values().collect()
}

/// A column of the rows of the first gateway, which `key` names.
fn of_host(output: &RunOutput, table: &str, key: &str, column: &str) -> Vec<Option<f64>> {
    let hosts = output.table(table).and_then(|table| table.column(key));
    let is_of = |row: usize| hosts.is_some_and(|hosts| hosts.at(row) == CellValue::Text("gateway-a"));
    let values = cells(output, table, column).into_iter().enumerate();
    values.filter(|(row, _)| is_of(*row)).map(|(_, value)| value).collect()
}

fn cells(output: &RunOutput, table: &str, column: &str) -> Vec<Option<f64>> {
    let Some(column) = output.table(table).and_then(|table| table.column(column)) else { return Vec::new() };
    (0..column.len()).map(|row| column.at(row).number()).collect()
}
