//! Control of an emulation: what clients ask of it, and what they are told.

use std::collections::VecDeque;
use std::io;

use slantpath_base::{Duration, Instant};
use slantpath_control::{
    Command, ControlAnswer, ControlEvent, ControlStatus, InterfaceStatus, Json, NextHandover, Refusal,
};
use slantpath_emulate::{DoorReport, Doors, EndedProgram};
use slantpath_operation::ControlSocket;
use slantpath_runner::{
    AskedChange, AttachedInterface, Attachment, Diagnostics, Scenario, ScriptEvent, SkyHandover, Turn,
    script_events,
};

use super::told::{self, Faces};

/// A socket for control, with what its clients are still to be told.
pub(super) struct Control {
    socket: ControlSocket,
    /// Events of scripts that have not happened, in the order of time.
    coming: VecDeque<ScriptEvent>,
    /// True once a client has asked for the end.
    is_to_stop: bool,
}

impl Control {
    pub(super) fn new(socket: ControlSocket, scenario: &Scenario) -> Self {
        Self { socket, coming: script_events(scenario).into(), is_to_stop: false }
    }

    pub(super) const fn is_to_stop(&self) -> bool {
        self.is_to_stop
    }

    /// Has turns of the network end when a client comes.
    pub(super) fn begin(&self, doors: &Doors) -> io::Result<()> {
        doors.wake_by(self.socket.woken())
    }

    /// Tells of events of scripts that have happened.
    pub(super) fn tell_events(&mut self, now: Instant) {
        while let Some(event) = self.coming.pop_front_if(|event| Instant::START + event.at <= now) {
            self.socket.tell(&script_event(&event));
        }
    }

    /// Tells of programs that have ended.
    pub(super) fn tell_ended(&mut self, now: Instant, ended: Vec<EndedProgram>) {
        for EndedProgram { node, code } in ended {
            self.socket.tell(&ControlEvent::ProgramEnded { at_s: seconds(now), node, status: code });
        }
    }

    /// Tells that the run says nothing any more.
    pub(super) fn tell_void(&mut self, now: Instant, void: &str) {
        self.socket.tell(&ControlEvent::Void { at_s: seconds(now), reason: void.to_owned() });
    }

    /// Tells of an antenna that has another satellite than before.
    pub(super) fn tell_handover(&mut self, now: Instant, handover: SkyHandover) {
        let SkyHandover { at, antenna, from, to, cause } = handover;
        self.socket.tell(&ControlEvent::Handover {
            at_s: seconds(at),
            antenna,
            from,
            to,
            cause: cause.to_owned(),
            late_s: now.saturating_since(at).as_secs_f64(),
        });
    }

    /// Answers what clients ask. Turns end from now on when one that has come says something.
    pub(super) fn look(
        &mut self,
        turn: &mut Turn<'_>,
        doors: &mut Doors,
        attachments: &[Attachment],
        void: Option<&str>,
    ) -> io::Result<()> {
        let come = self.answer(turn, doors, attachments, void);
        come.into_iter()
            .filter_map(|number| self.socket.client(number))
            .try_for_each(|client| doors.wake_by(client))
    }

    /// Answers what clients ask. Gives those that have come.
    pub(super) fn answer(
        &mut self,
        turn: &mut Turn<'_>,
        doors: &mut impl Faces,
        attachments: &[Attachment],
        void: Option<&str>,
    ) -> Vec<u64> {
        let next_handover = turn.next_handover();
        let Self { socket, coming, is_to_stop } = self;
        let mut change = |asked: &AskedChange<'_>, at: Instant| match turn.change(at, asked) {
            Ok(events) => {
                let answer = events.iter().map(|event| script_event(event).to_json()).collect::<Vec<_>>();
                for event in events {
                    let place = coming.partition_point(|other| other.at <= event.at);
                    coming.insert(place, event);
                }
                ControlAnswer::Done(answer.into())
            }
            Err(faults) => ControlAnswer::Refused(refusal(&faults)),
        };
        socket.look(&mut |command| match command {
            Command::Capture(_) => {
                let refusal = Refusal::new("an emulation begins no capture while it runs");
                ControlAnswer::Refused(refusal.help("write `[captures]` into its file before it starts"))
            }
            Command::Do(table) => change(&AskedChange::Event(&table), doors.now()),
            Command::Events(is_wanted) => ControlAnswer::Done(is_wanted.into()),
            Command::Explain(_) => {
                let refusal = Refusal::new("an emulation translates no global titles");
                ControlAnswer::Refused(refusal.help("ask a live gateway"))
            }
            Command::Reload => {
                let refusal = Refusal::new("an emulation does not read its file anew");
                ControlAnswer::Refused(
                    refusal.help("`set` changes its values, and `do` does what a script may"),
                )
            }
            Command::Set(settings) => change(&AskedChange::Settings(&settings), doors.now()),
            Command::Status => match status(doors, attachments, (void, next_handover.clone())) {
                Ok(status) => ControlAnswer::Done(status.to_json()),
                Err(error) => {
                    ControlAnswer::Refused(Refusal::new(format!("the system does not say: {error}")))
                }
            },
            Command::Trace(_) => {
                let refusal = Refusal::new("an emulation traces no messages of signalling");
                ControlAnswer::Refused(refusal.help("ask a live gateway"))
            }
            Command::Stop => {
                *is_to_stop = true;
                ControlAnswer::Done(Json::Null)
            }
        })
    }
}

fn status(
    doors: &mut impl Faces,
    attachments: &[Attachment],
    (void, next_handover): (Option<&str>, Option<(Instant, String)>),
) -> io::Result<ControlStatus> {
    let reports = doors.reports()?;
    let interfaces = attachments.iter().flat_map(|node| node.interfaces.iter().map(move |own| (node, own)));
    let interface = |((node, own), report): ((&Attachment, &AttachedInterface), &DoorReport)| {
        let report = told::interface(report);
        InterfaceStatus {
            node: node.node.clone(),
            link: own.link.clone(),
            packets_in: report.counts.packets_in,
            packets_out: report.counts.packets_out,
            late: report.counts.late,
            lateness_s: report.lateness.map(|of| of.map(Duration::as_secs_f64)),
        }
    };
    Ok(ControlStatus {
        at_s: seconds(doors.now()),
        interfaces: interfaces.zip(&reports).map(interface).collect(),
        next_handover: next_handover.map(|(at, antenna)| NextHandover { at_s: seconds(at), antenna }),
        void: void.map(str::to_owned),
    })
}

fn script_event(event: &ScriptEvent) -> ControlEvent {
    ControlEvent::Script {
        at_s: event.at.as_secs_f64(),
        kind: event.kind.to_owned(),
        name: event.name.clone(),
        part: event.part.clone(),
        event: event.event.clone(),
    }
}

fn seconds(instant: Instant) -> f64 {
    instant.saturating_since(Instant::START).as_secs_f64()
}

/// Faults as one refusal: a command line has room for all of them.
fn refusal(faults: &Diagnostics) -> Refusal {
    let (shown, _) = faults.shown();
    let messages: Vec<&str> = shown.iter().map(|fault| fault.message.as_str()).collect();
    let helps: Vec<&str> = shown.iter().filter_map(|fault| fault.help.as_deref()).collect();
    let refusal = Refusal::new(messages.join("; "));
    if helps.is_empty() { refusal } else { refusal.help(helps.join("; ")) }
}
