//! An emulation again, from its record.

use core::fmt;
use std::collections::VecDeque;
use std::io::{self, Read};

use slantpath_base::Instant;
use slantpath_net::InterfaceId;
use slantpath_wire::Packet;

use super::entries::{EmulatedRun, Entries, Entry, Next, RecordedDeparture, RecordedInterface, ReplayFault};
use super::passage::{InterfacePassage, Passage};
use crate::run::{
    Attachment, InterfaceReport, Outside, RunError, RunOptions, Turn, run_attached_without_records,
};
use crate::scenario::Scenario;

/// Outside of a network, from the record of an emulation: the same packets at the same instants.
pub struct EmulationReplay<R> {
    entries: Entries<R>,
    /// Interfaces of the network, by their numbers in the record.
    interfaces: Vec<InterfaceId>,
    /// Departures of the stretch that runs, as recorded; not looked at over another network.
    departures: Option<VecDeque<RecordedDeparture>>,
    passage: Passage,
    packets_in: u64,
    packets_out: u64,
    until: Instant,
    end: Option<Next>,
    difference: Option<Difference>,
    fault: Option<ReplayFault>,
}

/// An emulation that has been repeated.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Repetition {
    /// Instant up to which it was repeated.
    pub until: Instant,
    /// Packets that came from attached nodes.
    pub packets_in: u64,
    /// Packets that went to them.
    pub packets_out: u64,
    /// First thing that is not as recorded. Never one over another network.
    pub difference: Option<Difference>,
    /// True if the record ends before the run did: what was repeated is what stands in it.
    pub is_cut: bool,
    /// Digest of the repetition.
    pub digest: String,
    /// Packets by interface.
    pub interfaces: Vec<InterfacePassage>,
}

/// First thing in which a repetition is not the run of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// Packet to an attached node.
    Departure {
        /// The earlier of both instants.
        at: Instant,
        /// Interface of that packet.
        interface: RecordedInterface,
        /// Packet of the record, if it has one.
        recorded: Option<RecordedDeparture>,
        /// Packet of the repetition, if there is one.
        repeated: Option<RecordedDeparture>,
    },
    /// All packets are the same, and the digest of the run is not.
    Digest {
        /// Digest of the record.
        recorded: String,
        /// Digest of the repetition.
        repeated: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, interface, recorded, repeated) = match self {
            Self::Departure { at, interface, recorded, repeated } => (at, interface, recorded, repeated),
            Self::Digest { recorded, repeated } => {
                return write!(
                    f,
                    "all packets are the same, but the digest is {repeated}, recorded is {recorded}"
                );
            }
        };
        write!(f, "first difference at {at}, `{}` at `{}`: ", interface.node, interface.link)?;
        match (recorded, repeated) {
            (Some(recorded), Some(repeated)) if recorded.at != repeated.at => {
                write!(f, "a packet that went at {} goes at {}", recorded.at, repeated.at)
            }
            (Some(recorded), Some(repeated)) if recorded.place != repeated.place => {
                write!(f, "the packet went to another interface")
            }
            (Some(recorded), Some(repeated)) if recorded.len_bytes != repeated.len_bytes => {
                write!(f, "a packet of {} bytes, recorded has {}", repeated.len_bytes, recorded.len_bytes)
            }
            (Some(_), Some(_)) => write!(f, "a packet with other bytes"),
            (Some(_), None) => write!(f, "a packet of the record does not go"),
            (None, _) => write!(f, "a packet goes that the record does not have"),
        }
    }
}

/// Why nothing is repeated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RepeatError {
    /// The record is not what it should be.
    #[error(transparent)]
    Record(#[from] ReplayFault),
    /// The network cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl<R: Read> EmulationReplay<R> {
    /// Opens a record.
    ///
    /// # Errors
    /// If it is no record of an emulation, or has been changed.
    pub fn open(source: R) -> Result<Self, ReplayFault> {
        Ok(Self {
            entries: Entries::open(source)?,
            interfaces: Vec::new(),
            departures: None,
            passage: Passage::new(&[]),
            packets_in: 0,
            packets_out: 0,
            until: Instant::START,
            end: None,
            difference: None,
            fault: None,
        })
    }

    /// The run that it is of.
    pub const fn run(&self) -> &EmulatedRun {
        self.entries.run()
    }

    /// Repeats the run over the network of its scenario, and compares it with the record up to the first difference.
    pub fn repeat(mut self, scenario: &Scenario) -> Result<Repetition, RepeatError> {
        self.departures = Some(VecDeque::new());
        self.played(scenario)
    }

    /// Lets the same packets come at the same instants from outside of another network.
    pub fn repeat_elsewhere(self, scenario: &Scenario) -> Result<Repetition, RepeatError> {
        self.played(scenario)
    }

    fn played(mut self, scenario: &Scenario) -> Result<Repetition, RepeatError> {
        let output = run_attached_without_records(scenario, &RunOptions::default(), &mut self);
        if let Some(fault) = self.fault {
            return Err(fault.into());
        }
        let digest = output?.digest;
        let mut difference = self.difference;
        if let (Some(Next::Ended { digest: recorded }), Some(_), None) =
            (&self.end, &self.departures, &difference)
            && *recorded != digest
        {
            difference = Some(Difference::Digest { recorded: recorded.clone(), repeated: digest.clone() });
        }
        Ok(Repetition {
            until: self.until,
            packets_in: self.packets_in,
            packets_out: self.packets_out,
            difference,
            is_cut: matches!(self.end, Some(Next::Cut)),
            digest,
            interfaces: self.passage.summary(),
        })
    }

    fn differs(&mut self, recorded: Option<RecordedDeparture>, repeated: Option<RecordedDeparture>) {
        let both = [recorded, repeated].into_iter().flatten();
        if let Some(first) = both.min_by_key(|departure| departure.at) {
            let interface = self.run().interfaces[usize::from(first.place)].clone();
            self.difference = Some(Difference::Departure { at: first.at, interface, recorded, repeated });
        }
    }

    /// Tells what came in the next stretch, and gives its end. `None` if there is none.
    fn next_stretch(&mut self, turn: &mut Turn<'_>) -> Result<Option<Instant>, ReplayFault> {
        if self.difference.is_none()
            && let Some(left) = self.departures.as_mut().and_then(VecDeque::pop_front)
        {
            self.differs(Some(left), None);
        }
        if self.difference.is_some() {
            return Ok(None);
        }
        loop {
            match self.entries.next()? {
                Next::Entry(Entry::Arrived { at, place, packet }) => {
                    self.in_order(at)?;
                    let place = usize::from(place);
                    self.packets_in += 1;
                    self.passage.arrived(at, place, &packet);
                    turn.inject(at, self.interfaces[place], packet)
                        .map_err(|error| ReplayFault::Refused { at, error })?;
                }
                Next::Entry(Entry::Changed { at, change }) => {
                    self.in_order(at)?;
                    turn.change(at, &change.asked())
                        .map_err(|faults| ReplayFault::ChangeRefused { at, told: faults.to_string() })?;
                }
                Next::Entry(Entry::Departed(departure)) => {
                    if let Some(departures) = &mut self.departures {
                        departures.push_back(departure);
                    }
                }
                Next::Entry(Entry::Ran(until)) => {
                    self.in_order(until)?;
                    self.until = until;
                    return Ok(Some(until));
                }
                end => {
                    // What went in a stretch whose end is not known: the network has not run through it.
                    if let (Next::Ended { .. }, Some(departures)) = (&end, &mut self.departures)
                        && let Some(left) = departures.pop_front()
                    {
                        self.differs(Some(left), None);
                    }
                    self.end = Some(end);
                    return Ok(None);
                }
            }
        }
    }

    fn in_order(&self, at: Instant) -> Result<(), ReplayFault> {
        let before = self.until;
        if at < before { Err(ReplayFault::Disordered { at, before }) } else { Ok(()) }
    }

    /// Finds the interfaces of the record among those of the network.
    fn find_interfaces(&mut self, attachments: &[Attachment]) -> Result<(), ReplayFault> {
        let mut interfaces = Vec::new();
        for RecordedInterface { node, link } in &self.entries.run().interfaces {
            let own = attachments.iter().filter(|own| own.node == *node).flat_map(|own| &own.interfaces);
            let found = own.clone().find(|own| own.link == *link);
            let unknown = || ReplayFault::UnknownInterface { node: node.clone(), link: link.clone() };
            interfaces.push(found.ok_or_else(unknown)?.id);
        }
        self.interfaces = interfaces;
        self.passage = Passage::new(attachments);
        Ok(())
    }
}

impl<R: Read> Outside for EmulationReplay<R> {
    fn begin(&mut self, attachments: &[Attachment]) -> io::Result<()> {
        self.fault = self.find_interfaces(attachments).err();
        Ok(())
    }

    fn wait(&mut self, turn: &mut Turn<'_>) -> io::Result<Option<Instant>> {
        if self.fault.is_some() {
            return Ok(None);
        }
        let until = self.next_stretch(turn);
        Ok(until.unwrap_or_else(|fault| {
            self.fault = Some(fault);
            None
        }))
    }

    fn depart(&mut self, at: Instant, interface: InterfaceId, packet: Packet) -> io::Result<()> {
        let packet = packet.observed();
        let Some(place) = self.interfaces.iter().position(|own| *own == interface) else { return Ok(()) };
        if self.difference.is_some() {
            return Ok(());
        }
        if let Some(departures) = &mut self.departures {
            let recorded = departures.pop_front();
            let place = u16::try_from(place).unwrap_or(u16::MAX);
            let repeated = Some(RecordedDeparture::of(at, place, &packet));
            if recorded != repeated {
                self.differs(recorded, repeated);
                return Ok(());
            }
        }
        self.packets_out += 1;
        self.passage.departed(at, place, &packet);
        Ok(())
    }

    fn end(&mut self) -> io::Result<Vec<InterfaceReport>> {
        Ok(vec![InterfaceReport::default(); self.interfaces.len()])
    }
}
