//! Operation of a live point: the socket by which it is controlled, figures for Prometheus, and the service manager
//! that has started it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use serde_json::json;
use slantpath_base::{Duration, Instant};
use slantpath_control::{Command, ControlAnswer, Json, Refusal};
use slantpath_gateway::{Happening, Measuring, Seat};
use slantpath_live::{Live, Station};
use slantpath_operation::{ControlSocket, ScrapeSocket, Supervisor};

use super::kept::Kept;
use super::reload::Reloads;
use crate::arguments::OperationArguments;
use crate::failure::Failure;
use crate::live::server::ORDER;
use crate::terminal;

/// Interval at which clients are looked for: an answer takes no longer, and a look costs a few calls of the system.
const LOOK: Duration = Duration::from_millis(50);

/// Everybody who operates a live point.
pub(super) struct Operation {
    control: Option<ControlSocket>,
    scraped: Option<ScrapeSocket>,
    /// Figures over time, while they are told.
    measuring: Option<Measuring>,
    supervisor: Option<Supervisor>,
    next_look: Instant,
    /// True once a client has asked for the end.
    is_to_stop: bool,
}

impl Operation {
    /// Opens what is asked for, before the point is live: by a flag, else by the file.
    pub(super) fn open(
        arguments: &OperationArguments,
        of_file: &BTreeMap<&'static str, String>,
    ) -> Result<Self, Failure> {
        let control = arguments.control.as_deref().or_else(|| of_file.get("control").map(Path::new));
        let control = control.map(ControlSocket::open).transpose();
        let control = control.map_err(|error| Failure::Misused(format!("--control: {error}")))?;
        let at = |address| {
            let refused =
                |error| Failure::Misused(format!("--metrics {address}: {error}: name another port"));
            ScrapeSocket::open(address).map_err(refused)
        };
        // The check of the file has read it.
        let of_file = || of_file.get("metrics").and_then(|at| at.parse().ok());
        let scraped = arguments.metrics.or_else(of_file).map(at).transpose()?;
        let supervisor = Supervisor::of_environment();
        let supervisor = supervisor.map_err(|error| Failure::Failed(error.to_string()))?;
        let next_look = Instant::START;
        Ok(Self { control, scraped, measuring: None, supervisor, next_look, is_to_stop: false })
    }

    /// The point is live from now on.
    pub(super) fn begin(
        &mut self,
        name: &str,
        live: &mut Live<Station<Seat>>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if let Some(scraped) = &self.scraped {
            let now = live.now();
            let Station { host, program } = live.host_mut();
            self.measuring = Some(Measuring::begin(now, program, host));
            writeln!(out, "figures are at http://{}/metrics", scraped.address()?)?;
        }
        if let Some(supervisor) = &self.supervisor
            && let Err(error) = supervisor.ready(&format!("`{name}` is live"))
        {
            terminal::warn(&format!("the service manager does not hear: {error}"))?;
        }
        out.flush()
    }

    pub(super) const fn is_to_stop(&self) -> bool {
        self.is_to_stop
    }

    /// The point has been asked to end.
    pub(super) fn stopping(&self) {
        if let Some(supervisor) = &self.supervisor {
            // One that does not hear waits for the end itself.
            let _ = supervisor.stopping();
        }
    }

    /// Instant up to which nobody need be looked for, and no later than that.
    pub(super) fn until(&self, latest: Instant) -> Instant {
        let is_any = self.control.is_some() || self.scraped.is_some() || self.supervisor.is_some();
        if is_any { self.next_look.min(latest) } else { latest }
    }

    /// Tells clients of something that has happened.
    pub(super) fn tell(&mut self, happening: &Happening) {
        if let Some(control) = &mut self.control {
            control.tell(&happening.to_event());
        }
    }

    /// Answers what clients ask, and gives a sign of life.
    pub(super) fn look(&mut self, live: &mut Live<Station<Seat>>, reloads: &Reloads, kept: &mut Kept) {
        let now = live.now();
        if now < self.next_look {
            return;
        }
        self.next_look = now.saturating_add(LOOK);
        if let Some(supervisor) = &mut self.supervisor {
            supervisor.look(now);
        }
        if let (Some(scraped), Some(measuring)) = (&mut self.scraped, &mut self.measuring) {
            let Station { host, program } = live.host_mut();
            measuring.follow(now, program, host);
            scraped.look(now, &mut || measuring.text(now, program, host));
        }
        let Self { control, is_to_stop, .. } = self;
        if let Some(control) = control {
            control.look(&mut |command| answer(command, live, (reloads, &mut *kept), is_to_stop));
            if !control.is_heard() {
                // Whoever asked for a trace has gone.
                live.host_mut().program.end_trace();
            }
            // What a client cannot read so quickly waits for the next look.
            while control.has_room()
                && let Some(traced) = live.host_mut().program.poll_traced(now)
            {
                control.tell(&traced);
            }
        }
    }
}

fn answer(
    command: Command,
    live: &mut Live<Station<Seat>>,
    (reloads, kept): (&Reloads, &mut Kept),
    is_to_stop: &mut bool,
) -> ControlAnswer {
    match command {
        Command::Capture(Some(path)) => match kept.begin_capture(live, &path) {
            Ok(()) => ControlAnswer::Done(Json::Null),
            Err(refusal) => ControlAnswer::Refused(refusal),
        },
        Command::Capture(None) => match kept.end_capture(live) {
            Ok(path) => ControlAnswer::Done(path.display().to_string().into()),
            Err(refusal) => ControlAnswer::Refused(refusal),
        },
        Command::Do(pairs) => {
            let order = |own: &mut Station<Seat>, now| own.program.order(now, &mut own.host, &pairs);
            let words = Command::Do(pairs.clone()).to_line();
            match live.order(ORDER, &words, order) {
                Ok(event) => ControlAnswer::Done(Json::from(vec![event.to_json()])),
                Err(refusal) => ControlAnswer::Refused(refusal),
            }
        }
        Command::Events(is_wanted) => ControlAnswer::Done(is_wanted.into()),
        Command::Explain(title) => match live.host().program.explain_title(&title) {
            Ok(told) => ControlAnswer::Done(json!({ "lines": told.lines, "arrives": told.arrives })),
            Err(refusal) => ControlAnswer::Refused(refusal),
        },
        Command::Reload => {
            reloads.ask();
            ControlAnswer::Done(Json::Null)
        }
        Command::Set(_) => {
            let refusal = Refusal::new("a gateway has no values that are set while it runs");
            ControlAnswer::Refused(refusal.help("write them into its file, and ask it to `reload`"))
        }
        Command::Status => {
            let now = live.now();
            let Station { host, program } = live.host_mut();
            ControlAnswer::Done(program.status(now, host).to_json())
        }
        Command::Stop => {
            *is_to_stop = true;
            ControlAnswer::Done(Json::Null)
        }
        Command::Trace(request) => match live.host_mut().program.trace_messages(&request) {
            Ok(()) => ControlAnswer::Done(Json::Null),
            Err(refusal) => ControlAnswer::Refused(refusal),
        },
    }
}
