//! A run of the answer, and what is measured in it.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use slantpath_plan::print::{ENDS_AT_S, STARTS_AT_S, STEPS_AT_S};
use slantpath_plan::{Answer, Measure, Question, print};
use slantpath_results::CellValue;
use slantpath_runner::{RunOptions, RunOutput, Scenario, run_while};

use crate::failure::Failure;
use crate::interrupt;

/// From when on what is outstanding and how long answers take counts, in seconds: before, the link comes into service
/// and finds messages that wait.
const SETTLED_S: f64 = STARTS_AT_S + 1.0;

const ASSOCIATIONS: &str = "association_intervals";
const LINKS: &str = "signalling_link_intervals";

/// Failure of the first of two paths, in seconds after the start: the load has settled.
const FAILS_AT_S: f64 = 90.0;

/// A setting of the answer that a run changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variant {
    pub(crate) window: f64,
    pub(crate) step: f64,
    /// True if the first of two paths fails.
    pub(crate) fails: bool,
}

impl Variant {
    /// The answer as it stands.
    pub(crate) const ANSWERED: Self = Self { window: 1.0, step: 1.0, fails: false };
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
        }
    }
}

/// Simulates the answer, or what lies beside it.
pub(crate) fn measure(question: &Question, answer: &Answer, variant: Variant) -> Result<Measured, Failure> {
    let part = "a question without fault is whole";
    let load = question.signalling.whole().expect(part);
    let cwnd = answer.value("sctp.cwnd") * variant.window;
    let mut sets = vec![
        format!("sctp.gateway.fixed_cwnd={cwnd:.0} B"),
        format!("sctp.gateway.send_buffer={:.0} B", 2.0 * cwnd),
        format!("sctp.gateway.receive_buffer={:.0} B", (2.0 * cwnd).max(65_536.0)),
    ];
    if *load.step_erlang > 0.0 {
        let after = *load.erlang_per_link + variant.step * *load.step_erlang;
        for direction in ["there", "back"] {
            sets.push(format!(
                "signalling.load.{direction}.steps=[{{ at = \"{STEPS_AT_S} s\", erlang_per_link = {after} }}]"
            ));
        }
    }
    if variant.fails {
        sets.push(format!("script=[{{ at = \"{FAILS_AT_S} s\", link = \"satellite\", action = \"down\" }}]"));
    }
    let text = print::scenario(question, answer);
    let files: slantpath_runner::Files = slantpath_runner::files_in(std::path::Path::new(""));
    let scenario = Scenario::parse("the answer", &text, &sets, files).map_err(Failure::Invalid)?;
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
    let sent = of_gateway("sent_messages").into_iter().flatten().sum::<f64>();
    let repeated = of_gateway("retransmissions").into_iter().flatten().sum::<f64>();
    let sum = |table: &str, column: &str| cells(&output, table, column).into_iter().flatten().sum::<f64>();
    let most =
        |table: &str, column: &str| cells(&output, table, column).into_iter().flatten().fold(0.0, f64::max);
    // What was sent before the step hardly counts.
    let (before, after) = (STEPS_AT_S - STARTS_AT_S, ENDS_AT_S - STEPS_AT_S);
    let part_after = if *load.step_erlang > 0.0 {
        let stepped = *load.erlang_per_link + variant.step * *load.step_erlang;
        after * stepped / (before * *load.erlang_per_link + after * stepped)
    } else {
        1.0
    };
    let given = sum("signalling_load", "sent_messages");
    let lost = sum("signalling_load", "lost_messages");
    let starts = cells(&output, LINKS, "start_s");
    let answers = cells(&output, LINKS, "acknowledgement_delay_mean_s").into_iter().zip(starts);
    let answers = answers.filter(|(_, start)| start.is_some_and(|start| start >= SETTLED_S));
    let delay = most("signalling_load", "delay_max_s");
    let path = question.path.whole().expect(part);
    let passage = path.round_trip.as_secs_f64() / 2.0 + 2.0 * load.gateway_delay.as_secs_f64();
    Ok(Measured {
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
