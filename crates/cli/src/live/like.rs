//! `slantpath load --like`: a flow of a scenario as a load of a real path, and the same load on the scenario's network.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use slantpath_base::{Duration, Instant};
use slantpath_live::{
    Carriage, Echo, EchoConfig, EchoMode, Load, LoadConfig, LoadReport, Pace, Program as _, SctpConfig,
    Station,
};
use slantpath_scenario::{FlowRequest, RunOptions, Scenario, run_with_programs};
use slantpath_scenario::{LoadError, Workload};

use crate::arguments::LoadArguments;
use crate::failure::Failure;
use crate::interrupt;
use crate::table::TextTable;

/// How much of simulated time passes between two words about it.
const BETWEEN_WORDS: Duration = Duration::from_secs(60);

/// The flow that a load is like.
pub(super) struct Like {
    path: PathBuf,
    scenario: Scenario,
    request: FlowRequest,
    pace: Pace,
    message_bytes: u32,
    /// Of each association, if there is an end.
    messages: Option<u64>,
}

impl Like {
    /// Reads the scenario and finds the flow.
    pub(super) fn read(arguments: &LoadArguments) -> Result<Option<Self>, Failure> {
        let Some(path) = &arguments.like else { return Ok(None) };
        let scenario = Scenario::load(path, &[]).map_err(|error| match error {
            LoadError::Invalid(diagnostics) => Failure::Invalid(diagnostics),
            unreadable @ LoadError::Unreadable { .. } => Failure::Misused(unreadable.to_string()),
        })?;
        let misused = |error: String| Failure::Misused(format!("{}: {error}", path.display()));
        let request =
            scenario.flow_request(arguments.flow.as_deref()).map_err(|error| misused(error.to_string()))?;
        let (size, pace, total) = match &request.workload {
            Workload::Bulk { message, total } => (*message, Pace::AsFastAsPossible, *total),
            Workload::Bursts { message, messages_per_burst, interval, jitter } if jitter.is_zero() => {
                let pace = Pace::Bursts { messages: *messages_per_burst, every: *interval };
                (*message, pace, None)
            }
            Workload::ConstantRate { message, interval } => (*message, Pace::Every(*interval), None),
            Workload::Poisson { message, mean_interval } => (*message, Pace::Poisson(*mean_interval), None),
            Workload::Bursts { .. } => {
                return Err(misused(format!(
                    "flow `{}` has bursts with jitter, which a load has not",
                    request.name
                )));
            }
            Workload::Mixed { .. } => {
                return Err(misused(format!(
                    "flow `{}` sends messages of several kinds, which a load does not",
                    request.name
                )));
            }
            Workload::Trace { .. } => {
                return Err(misused(format!("flow `{}` plays a trace, which a load does not", request.name)));
            }
        };
        let least = LoadConfig::LEAST_MESSAGE_BYTES as u64;
        let message_bytes = u32::try_from(size.as_bytes()).unwrap_or(u32::MAX);
        if size.as_bytes() < least {
            return Err(misused(format!(
                "messages of flow `{}` have {size}: those of a load need {least} bytes for their number and time",
                request.name
            )));
        }
        let messages = total.map(|total| total.as_bytes().div_ceil(size.as_bytes()));
        Ok(Some(Self { path: path.clone(), scenario, request, pace, message_bytes, messages }))
    }

    /// The arguments of the flow, with what was said beside it.
    pub(super) fn arguments(&self, said: &LoadArguments) -> Result<LoadArguments, Failure> {
        let associations = u16::try_from(self.request.count).ok().filter(|count| *count <= 10_000);
        let too_many = || {
            Failure::Misused(format!(
                "flow `{}` has {} associations, and a load 10000 at most",
                self.request.name, self.request.count
            ))
        };
        let lasts = self.messages.is_none().then_some(self.request.lasts);
        let is_bounded = said.count.is_some() || said.duration.is_some();
        Ok(LoadArguments {
            associations: associations.ok_or_else(too_many)?,
            size: self.message_bytes,
            streams: self.request.streams,
            unordered: self.request.unordered,
            count: if is_bounded { said.count } else { self.messages },
            duration: if is_bounded { said.duration } else { lasts },
            ..said.clone()
        })
    }

    /// When messages are sent.
    pub(super) const fn pace(&self) -> Pace {
        self.pace
    }

    /// SCTP's settings of the sender, with what the carriage leaves of the path MTU.
    pub(super) fn sctp(&self, carriage: Carriage) -> SctpConfig {
        let overhead = u16::try_from(carriage.overhead_bytes()).unwrap_or_default();
        let sctp = self.request.sctp[0].clone();
        SctpConfig { initial_path_mtu: sctp.initial_path_mtu.saturating_sub(overhead), ..sctp }
    }

    /// The same load between the two hosts of the flow on the network of the scenario, beside all its other traffic.
    pub(super) fn simulate(&self, load: &LoadConfig) -> Result<LoadReport, Failure> {
        let stop = interrupt::flag();
        let mut next_word = Instant::START + BETWEEN_WORDS;
        let mut go_on = |now: Instant, station: &Station<Load>| {
            if now >= next_word {
                // When nobody listens the work goes on.
                let _ = writeln!(io::stderr(), "simulated: {now}");
                next_word = now + BETWEEN_WORDS;
            }
            if station.program.is_over() || stop.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let sit = |[from, to]: [slantpath_scenario::End; 2]| {
            let mut host = from.host;
            let program = Load::open(LoadConfig { port: from.port, ..load.clone() }, &mut host, from.stream);
            let from = Station { host, program };
            let mode = if load.is_echoed { EchoMode::Echo } else { EchoMode::Discard };
            let mut host = to.host;
            let config =
                EchoConfig { port: to.port, mode, associations: None, patience: Duration::from_secs(30) };
            let echo = Echo::open(config, &mut host, to.stream);
            (from, Station { host, program: echo })
        };
        let options = RunOptions::default();
        let ran = run_with_programs(&self.scenario, &self.request, &options, sit, &mut go_on);
        let (mut from, _, now) = ran.map_err(|error| Failure::Failed(error.to_string()))?;
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted("stopped while it was simulated: nothing was sent".to_owned()));
        }
        Ok(from.program.report(&mut from.host, now))
    }

    /// The hash of the scenario.
    pub(super) fn hash(&self) -> String {
        self.scenario.hash()
    }

    /// What was compared, for programs.
    pub(super) fn place(&self) -> Value {
        json!({
            "scenario": self.path.display().to_string(),
            "scenario_hash": self.scenario.hash(),
            "flow": self.request.name,
        })
    }

    /// Both, side by side.
    pub(super) fn print(
        &self,
        live: &LoadReport,
        simulated: &LoadReport,
        out: &mut impl Write,
    ) -> io::Result<()> {
        writeln!(
            out,
            "\nflow `{}` of {}: this path, and the scenario's network",
            self.request.name,
            self.path.display()
        )?;
        let mut table = TextTable::default();
        table.row(["", "live", "simulated", ""].map(str::to_owned));
        let mut row = |name: &str, unit: &str, of: &dyn Fn(&LoadReport) -> String| {
            table.row([name.to_owned(), of(live), of(simulated), unit.to_owned()]);
        };
        let millis = |time: Option<Duration>| {
            time.map_or_else(|| "–".to_owned(), |time| format!("{:.3}", time.as_millis_f64()))
        };
        row("up after", "ms", &|report| millis(report.setup));
        row("sent", "messages", &|report| report.sent.to_string());
        row("back", "messages", &|report| report.echoed.to_string());
        row("throughput", "Mbit/s", &|report| format!("{:.3}", report.throughput_bit_per_s / 1e6));
        row("latency, mean", "ms", &|report| millis(report.latency_mean));
        for (place, name) in ["50 %", "90 %", "95 %", "99 %", "99.9 %", "at most"].into_iter().enumerate() {
            row(name, "ms", &|report| millis(report.latency.map(|all| all[place])));
        }
        row("longest gap", "ms", &|report| millis(report.longest_gap.map(|(gap, _)| gap)));
        row("sent again", "chunks", &|report| {
            report.paths.iter().map(|path| path.retransmissions).sum::<u64>().to_string()
        });
        table.print(1, out)?;
        for failure in &simulated.failures {
            writeln!(out, "simulated: {failure}")?;
        }
        Ok(())
    }
}
