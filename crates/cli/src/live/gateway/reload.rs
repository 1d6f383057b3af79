//! Reloads of a point that is live: its file is read beside it, and what that gives is taken or refused as a whole.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use slantpath_gateway::{RunningSeat, Seat, Successor};
use slantpath_live::{Live, Station};

use super::prepared::Prepared;
use crate::arguments::{SeatArguments, SeatOutputArguments};
use crate::failure::Failure;
use crate::interrupt;
use crate::live::nodes::call_behind;

/// Number of the command in a record: none has one, since what is recorded is not reloaded.
const RELOAD: u8 = 3;

/// The file of a point that is live, and whether it is to be read anew.
pub(super) struct Reloads {
    seat: SeatArguments,
    /// Why it may not be reloaded at all.
    forbidden: Option<&'static str>,
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
    pub(super) fn listen(seat: &SeatArguments, outputs: &SeatOutputArguments) -> Self {
        let keeps = outputs.record.is_some() || outputs.trace.is_some();
        let forbidden = "what is recorded or traced has one scenario: end it, and start it with the new one";
        Self {
            seat: seat.clone(),
            forbidden: keeps.then_some(forbidden),
            asked: interrupt::reload_flag(),
            reading: None,
        }
    }

    /// Asks for a reload, as SIGHUP does.
    pub(super) fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Goes on with a reload, if one has been asked for.
    pub(super) fn advance(&mut self, live: &mut Live<Station<Seat>>) {
        if self.reading.is_none() && self.asked.swap(false, Ordering::Relaxed) {
            if let Some(why) = self.forbidden {
                return refuse(live, why.to_owned());
            }
            let (seat, running) = (self.seat.clone(), live.host().program.running());
            self.reading = Some(thread::spawn(move || Next::read(&seat, &running)));
        }
        if self.reading.as_ref().is_none_or(|reading| !reading.is_finished()) {
            return;
        }
        let Some(reading) = self.reading.take() else { return };
        let next =
            reading.join().unwrap_or_else(|_| Err(Failure::Failed("the file cannot be read".to_owned())));
        let done = next.map_err(|failure| in_words(&failure)).and_then(|next| begin(live, next));
        if let Err(why) = done {
            refuse(live, why);
        }
    }
}

impl Next {
    fn read(seat: &SeatArguments, running: &RunningSeat) -> Result<Self, Failure> {
        let prepared = Prepared::of(seat, false)?;
        let successor = Successor::prepare(prepared.seat(), running);
        let successor = successor.map_err(|error| Failure::Failed(error.to_string()))?;
        Ok(Self { prepared, successor })
    }
}

/// Opens what is new, and hands the successor over, once it is known that it is taken.
fn begin(live: &mut Live<Station<Seat>>, next: Next) -> Result<(), String> {
    let Next { prepared, successor } = next;
    live.host().program.takes(&successor).map_err(|error| error.to_string())?;
    let wanted = prepared.live();
    if let Some(new) = wanted.addresses.iter().find(|own| !live.config().addresses.contains(own)) {
        return Err(format!("{new} is another own address: restart for this"));
    }
    for port in &wanted.ports {
        if !live.config().ports.contains(port) {
            live.add_port(*port).map_err(|error| error.to_string())?;
        }
    }
    call_behind(live, &prepared.udp_ports);
    let reload = |station: &mut Station<Seat>, now| station.program.reload(now, &mut station.host, successor);
    live.command(RELOAD, reload).map_err(|error| error.to_string())
}

/// Says why everything stays as it is.
fn refuse(live: &mut Live<Station<Seat>>, why: String) {
    let now = live.now();
    live.host_mut().program.refuse_reload(now, why);
}

/// Faults with their places and cures, in one line.
fn in_words(failure: &Failure) -> String {
    let mut text = Vec::new();
    match failure {
        Failure::Invalid(diagnostics) => return diagnostics.to_string(),
        other => drop(other.report(&mut text)),
    }
    let text = String::from_utf8_lossy(&text);
    text.trim().trim_start_matches("error: ").to_owned()
}
