//! The answer and its neighbours, simulated: whether the formulas held, and where they did not.

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

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
}

/// What the formulas say of it.
struct Predicted {
    outstanding: f64,
    loss: f64,
    /// Whether a time-out repeats the whole window for ever.
    collapses: bool,
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
    writeln!(out, "\nsimulated: outstanding at most, messages lost, sent again, the longest delay")?;
    for (neighbour, predicted, measured) in &rows {
        let differs = |measured: f64, predicted: f64| (measured - predicted).abs() > TOLERANCE * predicted;
        let mut faults = Vec::new();
        if predicted.collapses {
            if measured.repeated < 0.1 {
                faults.push(
                    "no time-out repeats the window, though its time is longer than RTO.Max".to_owned(),
                );
            }
        } else {
            if differs(measured.outstanding, predicted.outstanding) {
                faults.push(format!("{:.0} B outstanding were expected", predicted.outstanding));
            }
            if (measured.loss - predicted.loss).abs() > LOSS_TOLERANCE {
                faults.push(format!("{:.1} % lost were expected", 100.0 * predicted.loss));
            }
            if measured.repeated > LOSS_TOLERANCE {
                faults.push("nothing was expected to be sent again".to_owned());
            }
        }
        let verdict = if faults.is_empty() {
            "the formulas held".to_owned()
        } else {
            format!("NOT HELD: {}", faults.join("; "))
        };
        writeln!(
            out,
            "  {:<16} {:>9.0} B  {:>5.1} %  {:>5.1} %  {:>6.2} s   {verdict}",
            neighbour.name,
            measured.outstanding,
            100.0 * measured.loss,
            100.0 * measured.repeated,
            measured.longest,
        )?;
    }
    Ok(())
}

/// Equation 5 with what exceeds the permanent band in place of the step, equation 3, and T_W against RTO.Max.
fn predict(question: &Question, answer: &Answer, neighbour: &Neighbour) -> Predicted {
    let part = "a question without fault is whole";
    let (path, band) = (question.path.whole().expect(part), question.band.whole().expect(part));
    let load = question.signalling.whole().expect(part);
    let framing = answer.framing;
    let k = framing.ethernet_per_window();
    let trip = path.round_trip.as_secs_f64();
    let line = f64::from(*load.links) * load.line_rate.as_bits_per_sec() as f64;
    let demand =
        line * (*load.erlang_per_link + neighbour.step * *load.step_erlang) * framing.window_per_line();
    let permanent = band.permanent.as_bits_per_sec() as f64 / k;
    let total = permanent + band.on_demand.as_bits_per_sec() as f64 / k;
    let cwnd = answer.value("sctp.cwnd") * neighbour.window * f64::from(*load.associations);
    let excess = (demand - permanent).max(0.0);
    let backlog = if excess > 0.0 {
        excess * band.allocation_time.as_secs_f64() + demand * band.interruption.as_secs_f64()
    } else {
        0.0
    };
    let outstanding = (demand.min(total) * trip + backlog) / 8.0;
    let carried = demand.min(8.0 * cwnd / trip).min(total);
    let fills = outstanding >= cwnd || demand > total;
    let window_time = 8.0 * cwnd / permanent;
    Predicted {
        outstanding: outstanding.min(cwnd),
        loss: 1.0 - carried / demand,
        collapses: fills && window_time > answer.value("sctp.rto_max"),
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
    let files: slantpath_scenario::TraceFiles = slantpath_scenario::trace_files(std::path::Path::new(""));
    let scenario = Scenario::parse("the answer", &text, &sets, files).map_err(Failure::Invalid)?;
    let stop = interrupt::flag();
    let mut go_on =
        |_| if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let output = run_while(&scenario, &RunOptions::default(), &mut go_on)?;
    let output = output.ok_or_else(|| {
        Failure::Interrupted("interrupted: the answer stands, and is not verified".to_owned())
    })?;
    let of_gateway = |column: &str| of_host(&output, column, "gateway-a");
    let outstanding = per_interval(&output, "outstanding_bytes").into_iter().fold(0.0, f64::max);
    let sum = |column: &str| cells(&output, "signalling_load", column).into_iter().flatten().sum::<f64>();
    let sent = of_gateway("sent_messages").into_iter().flatten().sum::<f64>();
    let repeated = of_gateway("retransmissions").into_iter().flatten().sum::<f64>();
    let arrived = sum("delivered_messages") + sum("late_messages");
    Ok(Measured {
        outstanding,
        loss: late_loss(&output, question, neighbour).unwrap_or(1.0 - arrived / sum("sent_messages")),
        repeated: repeated / sent.max(1.0),
        longest: cells(&output, "signalling_load", "delay_max_s").into_iter().flatten().fold(0.0, f64::max),
    })
}

/// What is lost of the load after the step, once it has settled: what the formulas speak of.
fn late_loss(output: &RunOutput, question: &Question, neighbour: &Neighbour) -> Option<f64> {
    const FROM_S: f64 = 90.0;
    const TO_S: f64 = 118.0;
    let load = question.signalling.whole()?;
    let starts = of_host(output, "start_s", "gateway-a");
    let sent = of_host(output, "sent_bytes", "gateway-a");
    let octets =
        |(start, bytes): (Option<f64>, Option<f64>)| (FROM_S..TO_S).contains(&start?).then_some(bytes?);
    let bytes: f64 = starts.into_iter().zip(sent).filter_map(octets).sum();
    let erlang = *load.erlang_per_link + neighbour.step * *load.step_erlang;
    let line = f64::from(*load.links) * load.line_rate.as_bits_per_sec() as f64 * erlang / 8.0;
    // A message that was handed to SCTP has eleven octets more than on its line.
    let per_line = (f64::from(*load.octets) + 11.0) / f64::from(*load.octets);
    Some((1.0 - bytes / (line * per_line * (TO_S - FROM_S))).max(0.0))
}

/// The sum over all associations of a gateway, for each interval.
fn per_interval(output: &RunOutput, column: &str) -> Vec<f64> {
    let mut sums = std::collections::BTreeMap::<u64, f64>::new();
    for (start, value) in
        of_host(output, "start_s", "gateway-a").into_iter().zip(of_host(output, column, "gateway-a"))
    {
        *sums.entry(start.unwrap_or(0.0).to_bits()).or_default() += value.unwrap_or(0.0);
    }
    sums.into_values().collect()
}

fn of_host(output: &RunOutput, column: &str, host: &str) -> Vec<Option<f64>> {
    let hosts = output.table("association_intervals").and_then(|table| table.column("host"));
    let is_of = |row: usize| hosts.is_some_and(|hosts| hosts.at(row) == Value::Text(host));
    let values = cells(output, "association_intervals", column).into_iter().enumerate();
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
