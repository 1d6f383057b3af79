//! Writing the record of an emulation while it runs.

use std::io::{self, Write};

use slantpath_base::{Duration, Instant};
use slantpath_net::{CarriageTerms, InjectError, InterfaceId};
use slantpath_reader::Diagnostics;
use slantpath_wire::Packet;
use slantpath_wire::record::{RecordKind, RecordWriter};

use super::entries::{self, EmulatedRun, RecordedChange, RecordedDeparture, RecordedInterface};
use crate::run::{
    AskedChange, Attachment, Inside, InterfaceReport, Outside, ScriptEvent, SkyHandover, Turn, Work,
};
use crate::scenario::Scenario;

/// Content that is held before it becomes a block: little memory, and few calls of the system.
const BLOCK_BYTES: usize = 64 << 10;
/// Time of the run after which what there is becomes a block: as much is missing of one that is killed.
const BLOCK_TIME: Duration = Duration::from_secs(1);

/// Recorder between a network and what is outside of it.
///
/// The run has the seed of its scenario and number 0.
pub struct EmulationRecording<'a, W> {
    outside: &'a mut dyn Outside,
    sink: W,
    writer: RecordWriter,
    run: EmulatedRun,
    /// Interfaces of the network, by their numbers in the record.
    interfaces: Vec<InterfaceId>,
    content: Vec<u8>,
    file: Vec<u8>,
    /// Instant up to which the network was let run, if the record does not say so yet. Stretches in which nothing
    /// comes are one: how a run is cut into stretches changes nothing of it.
    ran: Option<Instant>,
    /// Instant of the last block.
    written: Instant,
}

impl<'a, W: Write> EmulationRecording<'a, W> {
    /// Begins a record in `sink`. Files that the scenario names are found in `directory`.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub fn begin(
        scenario: &Scenario,
        directory: &str,
        sink: W,
        outside: &'a mut dyn Outside,
    ) -> io::Result<Self> {
        let run = EmulatedRun {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            directory: directory.to_owned(),
            scenario: scenario.canonical(),
            interfaces: Vec::new(),
        };
        let mut file = Vec::new();
        let mut recording = Self {
            outside,
            sink,
            writer: RecordWriter::begin(RecordKind::Emulated, &mut file),
            run,
            interfaces: Vec::new(),
            content: Vec::new(),
            file,
            ran: None,
            written: Instant::START,
        };
        recording.write()?;
        Ok(recording)
    }

    /// Ends the record of a run that came to this digest.
    ///
    /// # Errors
    /// If the record cannot be written.
    pub fn finish(mut self, digest: &str) -> io::Result<()> {
        self.close_stretch();
        entries::ended(digest, &mut self.content);
        self.write()?;
        self.sink.flush().map_err(unwritten)
    }

    fn close_stretch(&mut self) {
        if let Some(until) = self.ran.take() {
            entries::ran(until, &mut self.content);
        }
    }

    fn write(&mut self) -> io::Result<()> {
        self.writer.write(&self.content, &mut self.file);
        self.content.clear();
        let written = self.sink.write_all(&self.file);
        self.file.clear();
        written.map_err(unwritten)
    }

    fn place(&self, interface: InterfaceId) -> Option<u16> {
        place(&self.interfaces, interface)
    }
}

fn place(interfaces: &[InterfaceId], interface: InterfaceId) -> Option<u16> {
    let place = interfaces.iter().position(|own| *own == interface)?;
    u16::try_from(place).ok()
}

#[expect(clippy::needless_pass_by_value, reason = "it is called by `map_err`")]
fn unwritten(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the record of the run: {error}"))
}

/// Network of a turn, what reaches it kept.
struct KeptInside<'a> {
    inside: &'a mut dyn Inside,
    content: &'a mut Vec<u8>,
    ran: &'a mut Option<Instant>,
    interfaces: &'a [InterfaceId],
}

impl KeptInside<'_> {
    /// Keeps an entry of this stretch, unless the network refuses what it tells of.
    fn keep<T, E>(
        &mut self,
        emit: impl FnOnce(&mut Vec<u8>),
        act: impl FnOnce(&mut dyn Inside) -> Result<T, E>,
    ) -> Result<T, E> {
        let start = self.content.len();
        if let Some(until) = *self.ran {
            entries::ran(until, self.content);
        }
        emit(self.content);
        let outcome = act(self.inside);
        match outcome {
            Ok(_) => *self.ran = None,
            Err(_) => self.content.truncate(start),
        }
        outcome
    }
}

impl Inside for KeptInside<'_> {
    fn inject(&mut self, at: Instant, interface: InterfaceId, mut packet: Packet) -> Result<(), InjectError> {
        let place = place(self.interfaces, interface);
        let mut entry = Vec::new();
        if let Some(place) = place {
            // What is written down is what a repeated run gets, to the state of its checksums.
            packet.complete();
            entries::arrived(at, place, &packet.contiguous(), &mut entry);
        }
        self.keep(|content| content.append(&mut entry), |inside| inside.inject(at, interface, packet))
    }

    fn next_handover(&mut self) -> Option<(Instant, String)> {
        self.inside.next_handover()
    }

    fn carriage_terms(&self, interface: InterfaceId) -> CarriageTerms {
        self.inside.carriage_terms(interface)
    }

    fn change(&mut self, at: Instant, asked: &AskedChange<'_>) -> Result<Vec<ScriptEvent>, Diagnostics> {
        let change = RecordedChange::of(asked);
        self.keep(|content| entries::changed(at, &change, content), |inside| inside.change(at, asked))
    }
}

impl<W: Write> Outside for EmulationRecording<'_, W> {
    fn begin(&mut self, attachments: &[Attachment]) -> io::Result<()> {
        for node in attachments {
            for own in &node.interfaces {
                self.interfaces.push(own.id);
                self.run
                    .interfaces
                    .push(RecordedInterface { node: node.node.clone(), link: own.link.clone() });
            }
        }
        entries::about(&self.run, &mut self.content);
        self.write()?;
        self.outside.begin(attachments)
    }

    fn wait(&mut self, turn: &mut Turn<'_>) -> io::Result<Option<Instant>> {
        let now = turn.now;
        if self.content.len() >= BLOCK_BYTES || now.saturating_since(self.written) >= BLOCK_TIME {
            self.close_stretch();
            self.write()?;
            self.written = now;
        }
        let Self { outside, content, ran, interfaces, .. } = self;
        let mut kept = KeptInside { inside: &mut *turn.inside, content, ran, interfaces };
        let until = outside.wait(&mut Turn { now, next: turn.next, quiet: turn.quiet, inside: &mut kept })?;
        if until.is_some() {
            self.ran = until;
        }
        Ok(until)
    }

    fn depart(&mut self, at: Instant, interface: InterfaceId, packet: Packet) -> io::Result<()> {
        if let Some(place) = self.place(interface) {
            let departure = RecordedDeparture::of(at, place, &packet.observed());
            entries::departed(&departure, &mut self.content);
        }
        if self.content.len() >= BLOCK_BYTES {
            self.write()?;
        }
        self.outside.depart(at, interface, packet)
    }

    fn beside(&mut self, work: Work) {
        self.outside.beside(work);
    }

    fn handed_over(&mut self, handovers: Vec<SkyHandover>) {
        self.outside.handed_over(handovers);
    }

    fn fail(&mut self, at: Instant, reason: String) {
        self.outside.fail(at, reason);
    }

    fn end(&mut self) -> io::Result<Vec<InterfaceReport>> {
        self.outside.end()
    }
}
