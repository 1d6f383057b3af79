//! Loads that are live: sent, awaited, and accounted for.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::Ordering;

use serde_json::json;
use slantpath_base::{Duration, Instant, Stream};
use slantpath_gateway::{FarEnd, LinkLoadReport, StatusCounts, TrafficBench};
use slantpath_live::{Carriage, Live};
use slantpath_runner::{RunOutput, signalling_load_table};

use super::beside::Beside;
use super::prepared::{Part, PreparedTraffic};
use crate::arguments::TrafficArguments;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::live::nodes::call_behind;
use crate::live::outputs::{print_machine, say_changes};
use crate::live::server::STOP;
use crate::live::settings::{failed, not_opened};
use crate::terminal::Visible;
use crate::{files, interrupt, summary};

/// Interval at which Ctrl-C is looked for, and whether all has arrived.
const GLANCE: Duration = Duration::from_millis(200);

/// Time between two lines of progress.
const BETWEEN_WORDS: Duration = Duration::from_secs(1);

/// Time for which a program that is to stop waits for messages on their way.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Stage of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Sending,
    /// Nothing is sent any more; until then messages may arrive.
    Waiting(Instant),
    Leaving,
}

/// Sends and receives until all loads are over, and gives the account.
pub(super) fn serve(
    prepared: &PreparedTraffic,
    arguments: &TrafficArguments,
    beside: Option<&Beside>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let directory = arguments.out.as_ref().map(|path| Directory::open(path, files::of_account()));
    let mut directory = directory.transpose()?;
    let stream = Stream::secret(slantpath_live::secret().map_err(failed)?);
    let bench = TrafficBench::open(Instant::START, prepared.bench.clone(), stream);
    let bench = bench.map_err(|error| Failure::Failed(error.to_string()))?;
    let mut live = Live::open(&prepared.live(), bench).map_err(|error| not_opened(&error))?;
    call_behind(&mut live, &prepared.udp_ports);
    let epoch = nanos_of_day().saturating_sub(live.now().as_nanos());
    live.host_mut().set_epoch(epoch);
    for (name, seat) in prepared.names.iter().zip(&prepared.bench.seats) {
        let addresses: Vec<String> = seat.addresses.iter().map(ToString::to_string).collect();
        let within = match prepared.carriage {
            Carriage::Raw => "in IP".to_owned(),
            Carriage::Udp { local_port, .. } => format!("in UDP port {local_port}"),
        };
        writeln!(out, "`{name}` is live at {}, {within}", addresses.join(" and "))?;
    }
    out.flush()?;
    let account = drive(&mut live, prepared, arguments)?;
    tell(&live, prepared, &account, directory.as_mut(), beside, out)
}

/// Reports on each load, in the order of their names, and what its users have heard.
type Account = Vec<(Vec<LinkLoadReport>, StatusCounts)>;

fn account(live: &mut Live<TrafficBench>, prepared: &PreparedTraffic) -> Account {
    let now = live.now();
    let bench = live.host_mut();
    let of = |part: &Part| (bench.load_reports(now, part.number()), bench.heard(part.number()));
    prepared.loads.values().map(of).collect()
}

/// Nanoseconds of the machine's clock of the day: what two synchronised machines have in common.
#[expect(clippy::disallowed_types, reason = "a stamp tells another machine when a message was sent")]
fn nanos_of_day() -> u64 {
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Gives the account before the entities leave traffic: that destinations are out of reach then is nobody's fault.
fn drive(
    live: &mut Live<TrafficBench>,
    prepared: &PreparedTraffic,
    arguments: &TrafficArguments,
) -> Result<Account, Failure> {
    let stop = interrupt::flag();
    let end =
        arguments.duration.map_or(Instant::FAR_FUTURE, |duration| Instant::START.saturating_add(duration));
    let is_watched = io::stderr().is_terminal();
    let mut at_end = None;
    let mut is_stopped = false;
    let (mut stage, mut next_word) = (Stage::Sending, Instant::START.saturating_add(BETWEEN_WORDS));
    while !live.host().is_over() {
        let now = live.now();
        stage = match stage {
            Stage::Sending | Stage::Waiting(_) if !is_stopped && stop.load(Ordering::Relaxed) => {
                is_stopped = true;
                live.host_mut().halt();
                let latest = now.saturating_add(LAST_WAIT);
                Stage::Waiting(if let Stage::Waiting(until) = stage { until.min(latest) } else { latest })
            }
            Stage::Sending if now >= end => {
                live.host_mut().halt();
                Stage::Waiting(now.saturating_add(longest_wait(prepared)))
            }
            Stage::Sending if live.host_mut().is_done(now) => Stage::Waiting(now),
            Stage::Waiting(until) if now >= until || live.host_mut().is_settled(now) => {
                at_end = Some(account(live, prepared));
                live.command(STOP, TrafficBench::stop);
                Stage::Leaving
            }
            other => other,
        };
        live.step(live.now().saturating_add(GLANCE)).map_err(failed)?;
        say_changes(live);
        say_happenings(live, prepared);
        if is_watched && stage != Stage::Leaving && live.now() >= next_word {
            next_word = live.now().saturating_add(BETWEEN_WORDS);
            say_progress(live, prepared);
        }
    }
    say_happenings(live, prepared);
    Ok(at_end.unwrap_or_else(|| account(live, prepared)))
}

/// The longest time for which any of the loads waits for a message.
fn longest_wait(prepared: &PreparedTraffic) -> Duration {
    let loads = prepared.bench.seats[0].seat.network.loads.iter();
    loads.map(|load| load.give_up_after).max().unwrap_or_default()
}

/// Writes one line for each happening, with the entity that it happened to.
fn say_happenings(live: &mut Live<TrafficBench>, prepared: &PreparedTraffic) {
    for (seat, name) in live.host_mut().seats().zip(&prepared.names) {
        while let Some(happening) = seat.poll_happening() {
            // When nobody listens the work goes on.
            let _ = writeln!(Visible(io::stderr().lock()), "{happening} at={name}");
        }
    }
}

fn say_progress(live: &mut Live<TrafficBench>, prepared: &PreparedTraffic) {
    let now = live.now();
    for (name, part) in &prepared.loads {
        let reports = live.host_mut().load_reports(now, part.number());
        let sum = |of: fn(&LinkLoadReport) -> u64| reports.iter().map(of).sum::<u64>();
        let _ = writeln!(
            Visible(io::stderr().lock()),
            "{:.0} s: load {name}: {} sent, {} delivered, {} outstanding, {} lost",
            now.since_start().as_secs_f64(),
            sum(|link| link.report.sent),
            sum(|link| link.report.delivered),
            sum(|link| link.report.outstanding),
            sum(|link| link.report.lost),
        );
    }
}

/// Prints and writes the account.
fn tell(
    live: &Live<TrafficBench>,
    prepared: &PreparedTraffic,
    account: &Account,
    directory: Option<&mut Directory>,
    beside: Option<&Beside>,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let reports = prepared.loads.keys().zip(account);
    let reports = reports.map(|(name, (reports, _))| (name.as_str(), reports.clone()));
    let output = RunOutput {
        seed: *prepared.scenario.scenario.seed,
        run: 0,
        digest: String::new(),
        events: 0,
        packet_hops: 0,
        failures: Vec::new(),
        tables: vec![signalling_load_table(reports)],
        captures: Vec::new(),
    };
    summary::print_loads(&output, out)?;
    writeln!(out)?;
    for ((name, part), (reports, heard)) in prepared.loads.iter().zip(account) {
        let refused: u64 = reports.iter().map(|link| link.report.refused).sum();
        match part {
            Part::Receives(_) => writeln!(out, "load {name}: sent elsewhere")?,
            Part::Sends(_, far) => {
                let known = if *far == FarEnd::Elsewhere { "; it arrives elsewhere" } else { "" };
                writeln!(
                    out,
                    "load {name}: {refused} messages refused; told of congestion {} times, and {} times that there is \
                     no user{known}",
                    heard.congested, heard.no_user
                )?;
            }
        }
    }
    writeln!(out, "{} messages of no load came to user parts", live.host().of_no_load())?;
    print_machine(live, out)?;
    if let Some(beside) = beside {
        beside.print(&output, out)?;
    }
    if let Some(directory) = directory {
        let scenario = &prepared.scenario;
        let manifest = json!({
            "program": "slantpath",
            "version": env!("CARGO_PKG_VERSION"),
            "scenario": *scenario.scenario.name,
            "hash": scenario.hash(),
            "seed": *scenario.scenario.seed,
            "live": { "entities": prepared.names, "loads": prepared.loads.keys().collect::<Vec<_>>() },
        });
        // What was measured is written though the command is to stop.
        let go_on = std::sync::atomic::AtomicBool::new(false);
        let written = files::write_account(scenario, &output, manifest, directory, &go_on)?;
        writeln!(out, "\n{} files in {}", written.len(), directory.path().display())?;
    }
    Ok(())
}
