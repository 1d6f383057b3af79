//! Reloads of a point that is live: its file is read beside it, and what that gives is taken or refused as a whole.

use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use serde_json::{Value, json};
use slantpath_base::Instant;
use slantpath_gateway::{ReloadError, RunningSeat, Seat, Successor};
use slantpath_live::{InterfaceId, Live, Station};
use slantpath_runner::{OwnKinds, Scenario, Watch, files_in};

use super::kept::Kept;
use super::prepared::Prepared;
use crate::arguments::{SeatArguments, SeatOutputArguments};
use crate::failure::Failure;
use crate::interrupt;
use crate::live::nodes::call_behind;

/// Number of the command in a record, whose words are those of [`Reloaded`].
pub(in crate::live) const RELOAD: u8 = 3;

/// The file of a point that is live, and whether it is to be read anew.
pub(super) struct Reloads {
    seat: SeatArguments,
    own: OwnKinds,
    command: Vec<String>,
    is_traced: bool,
    asked: &'static AtomicBool,
    /// The file as it is read and checked, which may take its time.
    reading: Option<JoinHandle<Result<Next, Failure>>>,
}

/// Everything that the point needs to go on with its file.
struct Next {
    prepared: Prepared,
    successor: Successor,
}

impl Reloads {
    /// Begins to listen for SIGHUP.
    pub(super) fn listen(
        seat: &SeatArguments,
        own: &OwnKinds,
        outputs: &SeatOutputArguments,
        command: &[String],
    ) -> Self {
        Self {
            seat: seat.clone(),
            own: own.clone(),
            command: command.to_vec(),
            is_traced: outputs.trace.is_some(),
            asked: interrupt::reload_flag(),
            reading: None,
        }
    }

    /// Asks for a reload, as SIGHUP does.
    pub(super) fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Goes on with a reload, if one has been asked for.
    pub(super) fn advance(&mut self, live: &mut Live<Station<Seat>>, kept: &mut Kept) {
        if self.reading.is_none() && self.asked.swap(false, Ordering::Relaxed) {
            let (seat, own, is_traced) = (self.seat.clone(), self.own.clone(), self.is_traced);
            let running = live.host().program.running();
            self.reading = Some(thread::spawn(move || Next::read(&seat, &own, is_traced, &running)));
        }
        if self.reading.as_ref().is_none_or(|reading| !reading.is_finished()) {
            return;
        }
        let Some(reading) = self.reading.take() else { return };
        let next =
            reading.join().unwrap_or_else(|_| Err(Failure::Failed("the file cannot be read".to_owned())));
        let begun = next
            .map_err(|failure| in_words(&failure))
            .and_then(|next| begin(live, kept, &self.command, next));
        if let Err(why) = begun {
            refuse(live, why);
        }
    }
}

impl Next {
    fn read(
        seat: &SeatArguments,
        own: &OwnKinds,
        is_traced: bool,
        running: &RunningSeat,
    ) -> Result<Self, Failure> {
        let prepared = Prepared::of(seat, own, is_traced)?;
        let successor = successor(&prepared, running)?;
        Ok(Self { prepared, successor })
    }
}

fn successor(prepared: &Prepared, running: &RunningSeat) -> Result<Successor, Failure> {
    let successor = Successor::prepare(prepared.seat(), running);
    successor.map_err(|error| Failure::Failed(error.to_string()))
}

/// Opens what is new, and hands the successor over, once it is known that it is taken.
fn begin(
    live: &mut Live<Station<Seat>>,
    kept: &mut Kept,
    command: &[String],
    next: Next,
) -> Result<(), String> {
    let Next { prepared, successor } = next;
    live.host().program.takes(&successor).map_err(|error| error.to_string())?;
    kept.check(&prepared).map_err(|failure| in_words(&failure))?;
    let wanted = prepared.live();
    if wanted.carriage != live.config().carriage {
        return Err(
            "another UDP port, or IP in place of UDP, cannot be taken while it runs: restart for this"
                .to_owned(),
        );
    }
    let mut addresses = Vec::new();
    for address in wanted.addresses {
        if !live.host().host.has_address(address) {
            let interface = live.add_address(address).map_err(|error| error.to_string())?;
            addresses.push((address, interface));
        }
    }
    for port in &wanted.ports {
        if !live.config().ports.contains(port) {
            live.add_port(*port).map_err(|error| error.to_string())?;
        }
    }
    // Last of all that can be refused: the numbers of associations that stay away are those of others next time.
    kept.go_on(command, &successor).map_err(|failure| in_words(&failure))?;
    call_behind(live, &prepared.udp_ports);
    let words = kept.words_of_reload(&prepared, &addresses);
    let successor = successor.with_addresses(addresses);
    live.order(RELOAD, &words, |station, now| take(station, now, successor))
        .map_err(|error| error.to_string())
}

fn take(station: &mut Station<Seat>, now: Instant, successor: Successor) -> Result<(), ReloadError> {
    station.program.reload(now, &mut station.host, successor)
}

/// A reload as a record has it: the scenario as it was read, and addresses that the host got, with their interfaces.
pub(in crate::live) struct Reloaded {
    scenario: String,
    hash: String,
    pub(in crate::live) addresses: Vec<(IpAddr, InterfaceId)>,
}

impl Reloaded {
    pub(super) fn words(next: &Prepared, addresses: &[(IpAddr, InterfaceId)]) -> String {
        let addresses = addresses.iter().map(|(address, interface)| json!([address, interface.number()]));
        json!({
            "scenario": next.scenario.canonical_with_live(),
            "scenario_hash": next.hash,
            "addresses": addresses.collect::<Vec<_>>(),
        })
        .to_string()
    }

    pub(in crate::live) fn read(words: &str) -> Option<Self> {
        let words: Value = serde_json::from_str(words).ok()?;
        let address = |pair: &Value| {
            let number = u32::try_from(pair[1].as_u64()?).ok()?;
            Some((pair[0].as_str()?.parse().ok()?, InterfaceId::new(number)))
        };
        Some(Self {
            scenario: words["scenario"].as_str()?.to_owned(),
            hash: words["scenario_hash"].as_str()?.to_owned(),
            addresses: words["addresses"].as_array()?.iter().map(address).collect::<Option<_>>()?,
        })
    }

    /// Makes what a point in the state of the repetition goes on with.
    pub(in crate::live) fn successor(
        &self,
        record: &Path,
        (seat, own): (&SeatArguments, &OwnKinds),
        is_traced: bool,
        running: &RunningSeat,
    ) -> Result<Successor, Failure> {
        let scenario = parsed(record, seat, own, &self.scenario)?;
        let prepared = Prepared::within(scenario, &in_record(seat), is_traced)?;
        if prepared.hash != self.hash {
            let why = "the scenario of a reload has another hash than it had: it is of another version";
            return Err(Failure::Misused(format!("{}: {why}", record.display())));
        }
        Ok(successor(&prepared, running)?.with_addresses(self.addresses.clone()))
    }

    /// Does what the reload did.
    pub(in crate::live) fn repeat(
        station: &mut Station<Seat>,
        now: Instant,
        successor: Successor,
    ) -> Result<(), Failure> {
        take(station, now, successor)
            .map_err(|error| Failure::Failed(format!("a reload is refused: {error}")))
    }
}

/// A scenario that a record holds.
pub(in crate::live) fn parsed(
    record: &Path,
    seat: &SeatArguments,
    own: &OwnKinds,
    text: &str,
) -> Result<Scenario, Failure> {
    let files = files_in(seat.scenario.parent().unwrap_or(Path::new("")));
    let (name, watch) = (record.display().to_string(), Watch::new(&|_| {}));
    Scenario::parse_observed(&name, text, &[], files, own, watch).map_err(Failure::Invalid)
}

/// Arguments for a scenario of a record. Settings that were laid over it are in it; their file may be another one by
/// now.
pub(in crate::live) fn in_record(seat: &SeatArguments) -> SeatArguments {
    SeatArguments { settings: None, ..seat.clone() }
}

/// Says why everything stays as it is.
fn refuse(live: &mut Live<Station<Seat>>, why: String) {
    let now = live.now();
    live.host_mut().program.refuse_reload(now, why);
}

/// Faults with their places and cures, in one line.
pub(super) fn in_words(failure: &Failure) -> String {
    let mut text = Vec::new();
    match failure {
        Failure::Invalid(diagnostics) => return diagnostics.to_string(),
        other => drop(other.report(&mut text)),
    }
    let text = String::from_utf8_lossy(&text);
    text.trim().trim_start_matches("error: ").to_owned()
}
