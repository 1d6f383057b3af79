//! Flows: one direction of an association, a connection, or of the datagrams between two ports.

use std::net::IpAddr;

use bytes::Bytes;
use rustc_hash::FxHashMap;
use slantpath_base::{Duration, Instant};
use slantpath_sctp::{Tsn, UserDataOutline};

use super::report::Finding;
use crate::arrivals::{Bytestream, Tsns};
use crate::messages::{Message, Messages};
use crate::trace::{self, Base, Line, Trace};

/// Most flows that are kept.
pub const FLOWS_MAX: usize = 1_000;
/// Sizes that a scenario's messages may have.
const SIZES: std::ops::RangeInclusive<usize> = 8..=65_536;
/// Most addresses of an end.
const ADDRESSES_MAX: usize = 16;
/// Most beginnings of flows that are remembered.
const BEGUN_MAX: usize = 4_096;

/// Transport of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CapturedProtocol {
    /// SCTP, over IP or in UDP.
    Sctp,
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
}

impl CapturedProtocol {
    /// Name of the protocol.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sctp => "sctp",
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        }
    }
}

/// Addresses and ports of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Way {
    pub(crate) protocol: CapturedProtocol,
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
}

impl Way {
    const fn reversed(self) -> Self {
        Self {
            protocol: self.protocol,
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
        }
    }
}

/// Identity of a flow. The addresses of an association may change; its tag and ports stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Sctp { tag: u32, source_port: u16, destination_port: u16 },
    Other(Way),
}

#[derive(Clone, Debug)]
enum Follower {
    Sctp { tsns: Tsns, messages: Messages },
    Tcp { stream: Bytestream, initial: u32 },
    Udp,
}

/// Beginning of a flow, as far as it was seen.
#[derive(Clone, Copy, Debug, Default)]
struct Beginning {
    /// First TSN of it, or the number of its first byte.
    first: Option<u32>,
    /// First TSN of the opposite direction, whose tag nobody knows yet.
    first_of_opposite: Option<u32>,
}

/// A flow that is being followed.
#[derive(Clone, Debug)]
struct Flow {
    report: FlowReport,
    trace: Trace,
    follower: Follower,
}

/// Account of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowReport {
    /// Name of the flow in its scenario, and of its trace but for `.csv`.
    pub name: String,
    /// Transport of the flow.
    pub protocol: CapturedProtocol,
    /// Addresses of the sender that were seen.
    pub sources: Vec<IpAddr>,
    /// Addresses of the receiver that were seen.
    pub destinations: Vec<IpAddr>,
    /// Port of the sender.
    pub source_port: u16,
    /// Port of the receiver.
    pub destination_port: u16,
    /// Number of messages: of SCTP's messages, segments of TCP with new data, datagrams of UDP.
    pub messages: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Instant of the first.
    pub first: Instant,
    /// Instant of the last.
    pub last: Instant,
    /// DATA chunks, or segments without anything new, that were sent once more.
    pub repeated: u64,
    /// DATA chunks of SCTP or bytes of TCP that the capture lacks.
    pub missing: u64,
    /// Messages of which a fragment is missing.
    pub incomplete: u64,
    /// Messages whose size was changed to one that a scenario's messages may have.
    pub resized: u64,
    /// Messages that came out of order and were moved.
    pub late: u64,
    /// Longest time by which one was moved.
    pub latest: Duration,
    /// Number of streams of SCTP.
    pub streams: u16,
    /// Messages that may overtake others.
    pub unordered: u64,
    /// Longest message, in bytes.
    pub longest: u32,
    /// True if the beginning was seen: INIT or INIT ACK, or SYN.
    pub is_from_the_start: bool,
    /// True if anything of the other direction was seen.
    pub is_answered: bool,
}

/// All flows of a capture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows {
    followed: Vec<Flow>,
    by_key: FxHashMap<Key, usize>,
    by_way: FxHashMap<Way, usize>,
    /// Flows whose beginning was seen, before there was data.
    begun: FxHashMap<Key, Beginning>,
    pub(crate) base: Base,
    of_protocol: [usize; 3],
    /// True if messages of SCTP are wanted for the signalling in them alone.
    is_sctp_silent: bool,
}

impl Flows {
    pub(crate) fn new(is_sctp_silent: bool) -> Self {
        Self { is_sctp_silent, ..Self::default() }
    }

    /// Notes that an association begins, of which the packets that answer an INIT have this key.
    pub(crate) fn init(&mut self, answers: Key, initial: Tsn) {
        let beginning = self.begins(answers);
        beginning.first_of_opposite = Some(initial.0);
    }

    /// Notes that an INIT was answered: the key of the answer, and that of what will come to it.
    pub(crate) fn init_ack(&mut self, answers: Key, initial: Tsn, back: Key) {
        let beginning = self.begins(answers);
        beginning.first = Some(initial.0);
        let first = beginning.first_of_opposite;
        *self.begins(back) = Beginning { first, first_of_opposite: None };
    }

    fn begins(&mut self, key: Key) -> &mut Beginning {
        if self.begun.len() >= BEGUN_MAX && !self.begun.contains_key(&key) {
            self.begun.clear();
        }
        self.begun.entry(key).or_default()
    }

    /// Notes that a connection begins at this number, which may be another one between ports that had one.
    pub(crate) fn connects(&mut self, way: Way, initial: u32) {
        let key = Key::Other(way);
        if let Some(&place) = self.by_key.get(&key) {
            if let Follower::Tcp { initial: known, .. } = self.followed[place].follower
                && known == initial
            {
                return;
            }
            self.by_key.remove(&key);
        }
        self.begins(key).first = Some(initial.wrapping_add(1));
    }

    /// Notes a packet, whatever it has: it answers the flow of the other direction.
    pub(crate) fn passes(&mut self, way: Way) {
        if let Some(&place) = self.by_way.get(&way.reversed()) {
            self.followed[place].report.is_answered = true;
        }
    }

    /// Finds the flow of data, or begins to follow it.
    fn of(
        &mut self,
        key: Key,
        way: Way,
        follower: impl FnOnce(Option<u32>) -> Follower,
    ) -> Result<(&mut Flow, &mut Base), TooMany> {
        let place = if let Some(&place) = self.by_key.get(&key) {
            place
        } else {
            if self.followed.len() >= FLOWS_MAX {
                return Err(TooMany);
            }
            let number = &mut self.of_protocol[way.protocol as usize];
            *number += 1;
            let name = format!("{}-{number}", way.protocol.name());
            let mut report = FlowReport::new(name, way);
            let beginning = self.begun.remove(&key);
            report.is_from_the_start = beginning.is_some();
            report.is_answered = self.by_way.contains_key(&way.reversed());
            let follower = follower(beginning.and_then(|beginning| beginning.first));
            self.followed.push(Flow { report, trace: Trace::default(), follower });
            let place = self.followed.len() - 1;
            self.by_key.insert(key, place);
            // What passes from now on answers this flow, and no former one between the same ports.
            self.by_way.remove(&way);
            place
        };
        let flow = &mut self.followed[place];
        let FlowReport { sources, destinations, .. } = &mut flow.report;
        if !(sources.contains(&way.source) && destinations.contains(&way.destination)) {
            for (known, address) in [(&mut *sources, way.source), (&mut *destinations, way.destination)] {
                if !known.contains(&address) && known.len() < ADDRESSES_MAX {
                    known.push(address);
                }
            }
        }
        if self.by_way.len() < 4 * FLOWS_MAX {
            self.by_way.entry(way).or_insert(place);
        }
        Ok((flow, &mut self.base))
    }

    /// Takes user data of SCTP. Gives the message that it completes, or that there are too many flows.
    pub(crate) fn user_data(
        &mut self,
        at: Instant,
        key: Key,
        way: Way,
        data: &UserDataOutline<'_>,
        keeps_bytes: bool,
        share: impl FnOnce(&[u8]) -> Bytes,
    ) -> Result<Option<Message>, TooMany> {
        let new = |first: Option<u32>| {
            let tsns = Tsns::new(first.map_or(data.tsn, Tsn));
            Follower::Sctp { tsns, messages: Messages::default() }
        };
        let is_silent = self.is_sctp_silent;
        let (flow, base) = self.of(key, way, new)?;
        let Follower::Sctp { tsns, messages } = &mut flow.follower else { return Ok(None) };
        if !tsns.is_first(data.tsn) {
            flow.report.repeated += 1;
            return Ok(None);
        }
        let Some(message) = messages.take(at, data, keeps_bytes, share) else { return Ok(None) };
        flow.report.streams = flow.report.streams.max(message.stream.0.saturating_add(1));
        flow.report.unordered += u64::from(message.is_unordered);
        if !is_silent {
            flow.push(message.at, message.len, base);
        }
        Ok(Some(message))
    }

    /// Takes a segment of TCP with data.
    pub(crate) fn segment(
        &mut self,
        at: Instant,
        way: Way,
        sequence: u32,
        len: usize,
    ) -> Result<(), TooMany> {
        let new = |first: Option<u32>| {
            let first = first.unwrap_or(sequence);
            Follower::Tcp { stream: Bytestream::new(first), initial: first.wrapping_sub(1) }
        };
        let (flow, base) = self.of(Key::Other(way), way, new)?;
        let Follower::Tcp { stream, .. } = &mut flow.follower else { return Ok(()) };
        match stream.first_bytes(sequence, u32::try_from(len).unwrap_or(u32::MAX)) {
            0 => flow.report.repeated += 1,
            new => flow.push(at, new as usize, base),
        }
        Ok(())
    }

    /// Takes a datagram of UDP.
    pub(crate) fn datagram(&mut self, at: Instant, way: Way, len: usize) -> Result<(), TooMany> {
        let (flow, base) = self.of(Key::Other(way), way, |_| Follower::Udp)?;
        flow.push(at, len, base);
        Ok(())
    }

    /// Hands out the lines that are due, or without an instant whatever there is.
    pub(crate) fn write<E>(
        &mut self,
        now: Option<Instant>,
        out: &mut impl FnMut(&str, &str) -> Result<(), E>,
    ) -> Result<(), E> {
        let traces = self.followed.iter_mut().map(|Flow { report, trace, .. }| (&*report.name, trace));
        trace::write(traces, now, &mut self.base, out)
    }

    /// Reports of all flows, once everything was written. First come those that have messages; of the others nothing
    /// became whole, or their messages are wanted for the signalling in them alone.
    pub(crate) fn reports(&self) -> (Vec<FlowReport>, Vec<FlowReport>) {
        self.followed.iter().map(Flow::finished).partition(|report| report.messages > 0)
    }
}

/// Answer to what belongs to a flow beyond [`FLOWS_MAX`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct TooMany;

impl Flow {
    fn push(&mut self, at: Instant, len: usize, base: &mut Base) {
        let size = len.clamp(*SIZES.start(), *SIZES.end());
        self.report.resized += u64::from(size != len);
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        self.report.longest = self.report.longest.max(size);
        self.trace.push(Line { at, size, sls: None }, base);
        // Between the times at which all are written, no trace grows without a bound.
        self.trace.settle(at, base);
    }

    fn finished(&self) -> FlowReport {
        let Trace { messages, bytes, first, last, late, latest, .. } = &self.trace;
        let (missing, incomplete) = match &self.follower {
            Follower::Sctp { tsns, messages } => (tsns.missing(), messages.incomplete()),
            Follower::Tcp { stream, .. } => (stream.missing(), 0),
            Follower::Udp => (0, 0),
        };
        FlowReport {
            messages: *messages,
            bytes: *bytes,
            first: first.unwrap_or_default(),
            last: *last,
            late: *late,
            latest: *latest,
            missing,
            incomplete,
            ..self.report.clone()
        }
    }
}

impl FlowReport {
    const fn new(name: String, way: Way) -> Self {
        Self {
            name,
            protocol: way.protocol,
            sources: Vec::new(),
            destinations: Vec::new(),
            source_port: way.source_port,
            destination_port: way.destination_port,
            messages: 0,
            bytes: 0,
            first: Instant::START,
            last: Instant::START,
            repeated: 0,
            missing: 0,
            incomplete: 0,
            resized: 0,
            late: 0,
            latest: Duration::ZERO,
            streams: 1,
            unordered: 0,
            longest: 0,
            is_from_the_start: false,
            is_answered: false,
        }
    }

    /// Facts that whoever uses the flow should know.
    pub(crate) fn findings(&self) -> impl Iterator<Item = Finding> + use<> {
        let Self { name, .. } = self;
        let is_connected = self.protocol != CapturedProtocol::Udp && self.messages > 0;
        let told = [
            (is_connected && !self.is_answered).then(|| Finding {
                message: format!("{name}: only this direction was captured: what was answered is not known"),
                help: "capture where both directions pass, or on both interfaces",
            }),
            (is_connected && !self.is_from_the_start).then(|| Finding {
                message: format!("{name}: it was under way when the capture began: what came before is lacking"),
                help: "begin to capture before the association or the connection is opened",
            }),
            (self.missing > 0).then(|| Finding {
                message: format!(
                    "{name}: the capture lacks {} {} between others of it",
                    self.missing,
                    if self.protocol == CapturedProtocol::Sctp { "DATA chunks" } else { "bytes" },
                ),
                help: "give the capturing program a larger buffer, or see that all links of the host are captured",
            }),
            (self.incomplete > 0).then(|| Finding {
                message: format!("{name}: {} messages lack a fragment, and are left out", self.incomplete),
                help: "capture from before they are sent until all of them have passed",
            }),
            (self.resized > 0).then(|| Finding {
                message: format!(
                    "{name}: {} messages were below 8 or above 65536 bytes, and are so long now",
                    self.resized
                ),
                help: "a scenario's messages have between 8 and 65536 bytes",
            }),
            Finding::late(name, self.late, self.latest),
        ];
        told.into_iter().flatten()
    }
}
