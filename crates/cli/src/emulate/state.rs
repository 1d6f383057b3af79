//! State of an emulation, however its packets reach programs: its end, what made it void, and who is told.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use slantpath_base::{Duration, Instant};
use slantpath_emulate::{DepartureLateness, DoorReport, Void};
#[cfg(target_os = "linux")]
use slantpath_emulate::{Doors, EndedProgram};
#[cfg(target_os = "linux")]
use slantpath_runner::Turn;
use slantpath_runner::{Attachment, InterfaceReport, Scenario, SkyHandover, SkyInPieces};

#[cfg(target_os = "linux")]
use super::control::Control;
use super::told::{self, StatusLine};
use crate::failure::Failure;
use crate::terminal;

pub(super) struct EmulationState<'a> {
    pub(super) attachments: Vec<Attachment>,
    pub(super) status: StatusLine,
    #[cfg(target_os = "linux")]
    pub(super) control: Option<Control>,
    /// End of what is known of the sky.
    sky_end: Option<Instant>,
    stop: &'a AtomicBool,
    /// Instant at which programs were asked to end.
    ending: Option<Instant>,
    /// Reason for which the run says nothing any more.
    pub(super) void: Option<String>,
    /// Lateness of handovers of antennas.
    handovers: DepartureLateness,
}

impl<'a> EmulationState<'a> {
    pub(super) fn new(
        scenario: &Scenario,
        limit: Duration,
        stop: &'a AtomicBool,
        has_program_terminal: bool,
    ) -> Self {
        let span = SkyInPieces::OPEN_ENDED.whole.max(*scenario.scenario.duration);
        Self {
            attachments: Vec::new(),
            status: StatusLine::new(has_program_terminal),
            #[cfg(target_os = "linux")]
            control: None,
            sky_end: scenario.sky.is_some().then(|| Instant::START + span),
            stop,
            ending: None,
            void: None,
            handovers: DepartureLateness::new(limit),
        }
    }

    /// Instant at which programs were asked to end, once the run is to: it `is_over` by itself, somebody wishes so, or
    /// the sky ends.
    pub(super) fn ending(&mut self, now: Instant, is_over: bool) -> Option<Instant> {
        let is_to_end = is_over
            || self.is_to_stop()
            || self.stop.load(Ordering::Relaxed)
            || self.sky_end.is_some_and(|end| now >= end);
        is_to_end.then(|| *self.ending.get_or_insert(now))
    }

    /// Tells if a client has asked for the end.
    #[cfg(target_os = "linux")]
    fn is_to_stop(&self) -> bool {
        self.control.as_ref().is_some_and(Control::is_to_stop)
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "elsewhere clients ask for it")]
    const fn is_to_stop(&self) -> bool {
        false
    }

    pub(super) fn changes_links(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.control.is_some();
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Says at once that the run is void, if it is since doors have seen why.
    pub(super) fn note_void(&mut self, now: Instant, seen: Option<Void>) {
        if let Some(void) = seen {
            self.fail(now, void.to_string());
        }
    }

    /// Makes the run void for a reason that is not one of the doors'.
    #[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "clients are told the instant"))]
    pub(super) fn fail(&mut self, at: Instant, reason: String) {
        if self.void.is_some() {
            return;
        }
        terminal::tell(&format_args!("warning: void: {reason}; what is measured from now on says nothing\n"));
        #[cfg(target_os = "linux")]
        if let Some(control) = &mut self.control {
            control.tell_void(at, &reason);
        }
        self.void = Some(reason);
    }

    /// Counts handovers of antennas, and tells of them.
    pub(super) fn handed_over(&mut self, now: Instant, handovers: Vec<SkyHandover>) {
        for handover in handovers {
            self.handovers.record(now.saturating_since(handover.at));
            #[cfg(target_os = "linux")]
            if let Some(control) = &mut self.control {
                control.tell_handover(now, handover);
            }
        }
    }

    /// Answers what clients ask, whose commands end turns.
    #[cfg(target_os = "linux")]
    pub(super) fn look(&mut self, turn: &mut Turn<'_>, doors: &mut Doors) -> io::Result<()> {
        let Some(control) = &mut self.control else { return Ok(()) };
        control.look(turn, doors, &self.attachments, self.void.as_deref())
    }

    /// Tells of programs that have ended.
    #[cfg(target_os = "linux")]
    pub(super) fn tell_ended(&mut self, now: Instant, ended: Vec<EndedProgram>) {
        if let Some(control) = &mut self.control {
            control.tell_ended(now, ended);
        }
    }

    /// Tells what passed the interfaces, and how late handovers were.
    pub(super) fn tell_reports(&mut self, reports: &[DoorReport]) -> Vec<InterfaceReport> {
        let reports: Vec<InterfaceReport> = reports.iter().map(told::interface).collect();
        self.status.clear();
        told::print(&self.attachments, &reports);
        told::print_handovers(&self.handovers.summary());
        reports
    }

    /// Ends the command, with what it has to say: `ended` where an interrupt has ended programs, `outcome` as they gave
    /// it.
    pub(super) fn conclude(
        &self,
        ended: Option<&str>,
        outcome: Option<Result<u8, String>>,
    ) -> Result<(), Failure> {
        if let Some(void) = &self.void {
            return Err(Failure::Void(format!("the run is void: {void}")));
        }
        if self.stop.load(Ordering::Relaxed) {
            // Without programs nothing else ends it.
            return ended.map_or(Ok(()), |ended| Err(Failure::Interrupted(format!("interrupted: {ended}"))));
        }
        match outcome {
            _ if self.is_to_stop() => Ok(()),
            Some(Ok(0)) => Ok(()),
            Some(Ok(status)) => Err(Failure::Ended(status)),
            Some(Err(reason)) => Err(Failure::Failed(reason)),
            None => Err(Failure::Interrupted(
                "the sky of an emulation goes on for 30 days, and for no longer: all programs were ended"
                    .to_owned(),
            )),
        }
    }
}
