//! `slantpath load --like`: a flow of a scenario as a load of a real path, and the same load on the scenario's network.

use std::io::{self, Write};
use std::net::IpAddr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use slantpath_base::{DataSize, Duration, Instant, Stream};
use slantpath_instruments::{
    Echo, EchoConfig, EchoMode, LoadClient, LoadClientConfig, LoadReport, WhenBlocked, Workload,
};
use slantpath_live::{
    Carriage, Extension, Host, Program as _, Reliability, SctpConfig, SctpSendOptions, Station,
};
use slantpath_runner::{FlowRequest, LoadError, OwnKinds, RunOptions, Scenario, run_with_programs};

use crate::arguments::LoadArguments;
use crate::failure::Failure;
use crate::interrupt;
use crate::table::TextTable;

/// Simulated time that passes between two lines of progress.
const BETWEEN_WORDS: Duration = Duration::from_secs(60);

/// The flow that a load is like.
pub(super) struct Like {
    path: PathBuf,
    scenario: Scenario,
    request: FlowRequest,
    /// The flow's, as long as it is to be. Its messages have no destination yet.
    workload: Workload,
    /// Options of messages whose kind does not set them. They have no destination yet either.
    options: SctpSendOptions,
}

impl Like {
    /// Reads the scenario and finds the flow.
    pub(super) fn read(arguments: &LoadArguments, own: &OwnKinds) -> Result<Option<Self>, Failure> {
        let Some(path) = &arguments.like else { return Ok(None) };
        let scenario = Scenario::load_observed(path, &[], own, &|_| {}).map_err(|error| match error {
            LoadError::Invalid(diagnostics) => Failure::Invalid(diagnostics),
            unreadable @ LoadError::Unreadable { .. } => Failure::Misused(unreadable.to_string()),
        })?;
        Self::of(path, scenario, arguments)
            .map(Some)
            .map_err(|error| Failure::Misused(format!("{}: {error}", path.display())))
    }

    pub(super) fn of(path: &Path, scenario: Scenario, arguments: &LoadArguments) -> Result<Self, String> {
        let request = scenario.flow_request(arguments.flow.as_deref()).map_err(|error| error.to_string())?;
        let mut workload = request.workload.clone();
        if let Workload::Bulk { total, .. } = &mut workload
            && (arguments.count.is_some() || arguments.duration.is_some())
        {
            // The end is another one.
            *total = None;
        }
        let options = request.options;
        check(&workload, &request)
            .and_then(|()| reaches_destinations(&request, arguments.peers.len()))
            .map_err(|error| format!("flow `{}`: {error}", request.name))?;
        Ok(Self { path: path.to_owned(), scenario, request, workload, options })
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
        // A transfer takes the time that it takes.
        let is_whole = matches!(self.workload, Workload::Bulk { total: Some(_), .. });
        let lasts = (!is_whole).then_some(self.request.lasts);
        let is_bounded = said.count.is_some() || said.duration.is_some();
        Ok(LoadArguments {
            associations: associations.ok_or_else(too_many)?,
            streams: self.request.streams,
            unordered: self.request.unordered,
            duration: if is_bounded { said.duration } else { lasts },
            ..said.clone()
        })
    }

    /// Gives the messages and their times, and the options of messages whose kind does not set them. The addresses of
    /// the peer stand for the links of the flow's receiver, the primary one first, then in the order of their names.
    pub(super) fn messages_to(&self, peers: &[IpAddr]) -> (Workload, SctpSendOptions) {
        self.directed(|link| {
            let place = self.request.links.iter().position(|own| own == link)?;
            peers.get(place).copied()
        })
    }

    /// Gives the messages and their options, directed to the addresses that the links have.
    fn directed(&self, address_on: impl Fn(&str) -> Option<IpAddr>) -> (Workload, SctpSendOptions) {
        let (mut workload, mut options) = (self.workload.clone(), self.options);
        self.request.destinations.resolve(&mut workload, &mut options, address_on);
        (workload, options)
    }

    /// The names of the kinds of messages, if there are several.
    pub(super) fn kinds(&self) -> &[String] {
        &self.request.kinds
    }

    /// Random streams from which each association draws the instants of its messages.
    pub(super) fn draws(&self) -> Vec<Stream> {
        self.request.draws.clone()
    }

    /// Behaviour of the flow while the send buffer is full.
    pub(super) const fn when_blocked(&self) -> WhenBlocked {
        self.request.when_blocked
    }

    /// Tells if any message may be given up.
    fn may_give_up(&self) -> bool {
        let of_kinds = self.workload.classes().iter().map(|class| class.options.reliability);
        of_kinds.chain([self.options.reliability]).any(|reliability| reliability != Reliability::Full)
    }

    /// SCTP's settings of the sender, with what the carriage leaves of the path MTU.
    pub(super) fn sctp(&self, carriage: Carriage) -> SctpConfig {
        let overhead = u16::try_from(carriage.overhead_bytes()).unwrap_or_default();
        let sctp = self.request.sctp[0].clone();
        SctpConfig {
            initial_path_mtu: sctp.initial_path_mtu.saturating_sub(overhead),
            max_path_mtu: sctp.max_path_mtu.saturating_sub(overhead),
            ..sctp
        }
    }

    /// Simulates the load between the two hosts of the flow on the network of the scenario, beside all its other
    /// traffic.
    pub(super) fn simulate(&self, load: &LoadClientConfig) -> Result<LoadReport, Failure> {
        self.simulate_traced(load, &mut |_| {})
    }

    /// Simulates the load as [`Like::simulate`] does. If the load is traced, `take` is called every few milliseconds of
    /// work to take what its host has told.
    pub(super) fn simulate_traced(
        &self,
        load: &LoadClientConfig,
        take: &mut dyn FnMut(&mut Host),
    ) -> Result<LoadReport, Failure> {
        let stop = interrupt::flag();
        let mut next_word = Instant::START + BETWEEN_WORDS;
        let mut go_on = |now: Instant, station: &mut Station<LoadClient>| {
            take(&mut station.host);
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
        let sit = |[from, to]: [slantpath_runner::ProgramEnd; 2]| {
            let mut host = from.host;
            let (workload, options) = self.directed(|link| from.destinations.get(link).copied());
            let mut config = LoadClientConfig { port: from.port, workload, options, ..load.clone() };
            config.port.sctp.trace = load.port.sctp.trace;
            let program = LoadClient::open(config, &mut host, from.stream);
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
        take(&mut from.host);
        Ok(from.program.report(&mut from.host, now))
    }

    /// The hash of the scenario.
    pub(super) fn hash(&self) -> String {
        self.scenario.hash()
    }

    /// Identity of the compared scenario and flow, for programs.
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
        row("up after", "ms", &|report| millis(report.setup));
        row("sent", "messages", &|report| report.sent.to_string());
        row("back", "messages", &|report| report.echoed.to_string());
        if self.may_give_up() {
            row("given up", "messages", &|report| report.abandoned.to_string());
        }
        row("throughput", "Mbit/s", &|report| format!("{:.3}", report.throughput_bit_per_s / 1e6));
        row("latency, mean", "ms", &|report| millis(report.latency_mean));
        for (place, name) in ["50 %", "90 %", "95 %", "99 %", "99.9 %", "at most"].into_iter().enumerate() {
            row(name, "ms", &|report| millis(report.latency.map(|all| all[place])));
        }
        row("longest gap", "ms", &|report| millis(report.longest_gap.map(|(gap, _)| gap)));
        row("retransmitted", "chunks", &|report| {
            report.paths.iter().map(|path| path.retransmissions).sum::<u64>().to_string()
        });
        table.print(1, out)?;
        let offered = &self.request.sctp[0];
        if !offered.extensions.is_empty() || offered.zero_checksum.is_some() {
            // What another end does not offer is used in one of both places only.
            let [live, simulated] = [live, simulated].map(in_use);
            writeln!(out, "extensions in use: {live} live; {simulated} simulated")?;
        }
        self.print_kinds([("live", live), ("simulated", simulated)], out)?;
        for failure in &simulated.failures {
            writeln!(out, "simulated: {failure}")?;
        }
        Ok(())
    }

    /// Prints the counts and latencies of each kind of messages, if there are several.
    fn print_kinds(&self, both: [(&str, &LoadReport); 2], out: &mut impl Write) -> io::Result<()> {
        if self.kinds().is_empty() {
            return Ok(());
        }
        let mut table = TextTable::default();
        table.row(["kind", "", "sent", "back", "mean", "50 %", "95 %", "99 %", "at most"].map(str::to_owned));
        table.row(["", "", "messages", "messages", "ms", "ms", "ms", "ms", "ms"].map(str::to_owned));
        for (place, name) in self.kinds().iter().enumerate() {
            for (row, (whose, report)) in both.iter().enumerate() {
                let Some(kind) = report.kinds.get(place) else { continue };
                let name = if row == 0 { name.as_str() } else { "" };
                let counts = [kind.sent, kind.echoed].map(|count| count.to_string());
                let latencies = [0, 2, 3, 5].map(|quantile| kind.latency.map(|all| all[quantile]));
                let latencies = std::iter::once(kind.latency_mean).chain(latencies).map(millis);
                let words = [name, whose].map(str::to_owned);
                table.row(words.into_iter().chain(counts).chain(latencies));
            }
        }
        writeln!(out)?;
        table.print(2, out)
    }
}

/// Refuses messages that go to a link of the flow's receiver for which no address of the real peer stands.
fn reaches_destinations(request: &FlowRequest, peers: usize) -> Result<(), String> {
    let beyond =
        |link: &&str| request.links.iter().position(|own| own == link).is_none_or(|own| own >= peers);
    let Some(link) = request.destinations.links().find(beyond) else { return Ok(()) };
    Err(format!(
        "messages go to `{link}` of its receiver, for which none of {peers} addresses stands: give one for each of its \
         links, in this order: {}",
        request.links.join(", ")
    ))
}

/// Refuses what does not fit into the messages of a load.
fn check(workload: &Workload, request: &FlowRequest) -> Result<(), String> {
    let least = DataSize::from_bytes(LoadClientConfig::LEAST_MESSAGE_BYTES as u64);
    let needs = format!("those of a load need {least} for their number, kind and time");
    let most = LoadClientConfig::MOST_KINDS;
    if request.kinds.len() > most {
        return Err(format!("it has {} kinds of messages, and a load {most} at most", request.kinds.len()));
    }
    if workload.sizes().is_none_or(|[shortest, _]| shortest >= least) {
        return Ok(());
    }
    Err(match workload {
        Workload::Trace { messages } => {
            let short = messages.iter().zip(1_u64..).find(|((_, size), _)| *size < least);
            let which = short.map_or_else(String::new, |((at, size), number)| {
                format!("message {number} of its trace, `{at},{size}`, is too short: ")
            });
            format!("{which}{needs}; write {least} or more in each line of the file")
        }
        Workload::Mixed { classes } => {
            let short = request.kinds.iter().zip(classes).find(|(_, class)| class.message < least);
            let which = short.map_or_else(String::new, |(name, class)| {
                format!("messages of kind `{name}` have {}: ", class.message)
            });
            format!("{which}{needs}; give each kind a `message_size` of {least} or more")
        }
        Workload::Bulk { message, total: Some(_) } if *message >= least => {
            format!("its last message is too short: {needs}; let `total` be a multiple of `message_size`")
        }
        Workload::Bulk { message, .. }
        | Workload::Bursts { message, .. }
        | Workload::ConstantRate { message, .. }
        | Workload::Ping { message, .. }
        | Workload::Poisson { message, .. }
        | Workload::Voice { message, .. } => {
            format!("messages have {message}: {needs}; let `message_size` be {least} or more")
        }
    })
}

/// The extensions that a load has used, packets without a checksum among them.
pub(super) fn in_use(report: &LoadReport) -> String {
    let zero_checksum = report.omits_checksums.then_some("zero-checksum");
    let names: Vec<_> = report.extensions.iter().map(Extension::name).chain(zero_checksum).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn millis(time: Option<Duration>) -> String {
    time.map_or_else(|| "–".to_owned(), |time| format!("{:.3}", time.as_millis_f64()))
}

#[cfg(test)]
mod tests;
