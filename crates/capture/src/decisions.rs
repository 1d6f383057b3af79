//! Associations of SCTP as one point sees them: what each end did, and what that tells of why, as records of traces.
//!
//! Each direction is the story of its sender. What a sender decides is not seen, but what it sends is: a TSN that
//! leaves once more was given up, and the SACKs before it say for what. What cannot be seen is not told: windows,
//! timers that did not expire, and packets that were lost before they came here.

mod diversions;
mod sender;

use std::net::IpAddr;

use bytes::Bytes;
use rustc_hash::FxHashMap;
use slantpath_base::{Duration, Instant};
use slantpath_sctp::chunk::kind;
use slantpath_sctp::packet::{ChunkOutline, PacketOutline};
use slantpath_sctp::{AssociationState, Chunk, CloseReason, Notice};
use slantpath_ss7::PointCodeFormat;
use slantpath_trace::{Record, What};

use crate::file::CapturedFrame;
use crate::frame::{Carried, carried};
use crate::ip::{Datagram, IpReader, Read};
use diversions::Diversions;
use sender::Sender;

pub use diversions::CapturedDiversion;

/// Most associations that are followed, each with two stories.
const ASSOCIATIONS_MAX: usize = 512;
/// Most DATA chunks that are outstanding in all directions together. Memory is bounded by it.
const HELD_MAX: usize = 1 << 20;
/// Most tags that are known: each INIT may bring a new one.
const KEYS_MAX: usize = 64 * ASSOCIATIONS_MAX;
/// Time without a packet, before the end of a capture, from which on an association counts as silent: twice the usual
/// HB.interval, in which each end would have been heard.
const SILENT: Duration = Duration::from_secs(60);

/// Identity of a direction: the tag of its packets, and their ports.
type Key = (u32, u16, u16);
/// Addresses and ports of a packet.
type Way = (IpAddr, IpAddr, u16, u16);

/// Story of one direction, by the number of its records.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CapturedDirection {
    /// Number by which records name it.
    pub number: u32,
    /// Addresses of the sender.
    pub sources: Vec<IpAddr>,
    /// Port of the sender.
    pub source_port: u16,
    /// Addresses of the receiver.
    pub destinations: Vec<IpAddr>,
    /// Port of the receiver.
    pub destination_port: u16,
    /// True if anything of its sender was seen.
    pub is_seen: bool,
    /// True if the handshake was seen.
    pub is_from_the_start: bool,
    /// Time from a packet to the sender until its answer was seen, as the handshake has shown.
    pub turnaround: Option<Duration>,
}

/// Directions of a capture, and what signalling did in them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CapturedEnds {
    /// All directions, in the order of their numbers.
    pub directions: Vec<CapturedDirection>,
    /// Signalling that has left one for another, in order of time.
    pub diversions: Vec<CapturedDiversion>,
    /// Number of packets of associations beyond the most that are followed.
    pub left_out: u64,
}

#[derive(Clone, Debug)]
struct Association {
    senders: [Sender; 2],
    /// Tags of the packets of each sender, once known.
    tags: [Option<u32>; 2],
    streams: [u16; 2],
    is_up: bool,
    is_closed: bool,
    /// Signalling has said that the link, or the process at an end, takes no traffic.
    is_out_of_service: bool,
    shutdowns: [bool; 2],
    /// An INIT with another tag has come from this end.
    restarts: Option<usize>,
    last: Instant,
}

/// Follows the associations of a capture.
#[derive(Debug)]
pub struct CapturedAssociations {
    rto_min: Duration,
    ip: IpReader,
    base: Option<Instant>,
    now: Instant,
    followed: Vec<Association>,
    by_key: FxHashMap<Key, (usize, usize)>,
    by_way: FxHashMap<Way, (usize, usize)>,
    left_out: u64,
    /// Places for outstanding chunks of all associations.
    held: usize,
    diversions: Diversions,
}

impl CapturedAssociations {
    /// A retransmission without a SACK that asks for it is a time-out after at least `rto_min`. Point codes of
    /// signalling are read in the given format: no message says which one is its.
    pub fn new(rto_min: Duration, format: PointCodeFormat) -> Self {
        Self {
            rto_min,
            ip: IpReader::default(),
            base: None,
            now: Instant::START,
            followed: Vec::new(),
            by_key: FxHashMap::default(),
            by_way: FxHashMap::default(),
            left_out: 0,
            held: 0,
            diversions: Diversions::new(format),
        }
    }

    /// Takes a frame. Times of records count from the first one.
    pub fn frame(&mut self, frame: &CapturedFrame, out: &mut impl FnMut(Record)) {
        let Some(time) = frame.time else { return };
        let base = *self.base.get_or_insert(time);
        self.now = self.now.max(Instant::START + time.saturating_since(base));
        let Carried::Ip(packet) = carried(frame.link, &frame.bytes) else { return };
        let Read::Whole(datagram) = self.ip.read(time, &packet) else { return };
        if let Some(payload) = datagram.sctp() {
            self.packet(frame.interface, &datagram, &payload, out);
        }
    }

    /// Ends the stories of associations that have fallen silent.
    pub fn finish(mut self, out: &mut impl FnMut(Record)) -> CapturedEnds {
        let now = self.now;
        for association in &mut self.followed {
            let silent = now.saturating_since(association.last);
            if !association.is_closed && silent >= SILENT {
                let reason = format!("nothing of it was seen for {silent}, until the capture ended");
                association.close(now, [reason.clone(), reason], false, out);
            }
        }
        out(Record { at: now, association: 0, what: What::End {} });
        let senders = self.followed.into_iter().flat_map(|association| association.senders);
        CapturedEnds {
            directions: senders.map(|sender| sender.direction).collect(),
            diversions: self.diversions.found,
            left_out: self.left_out,
        }
    }

    fn packet(&mut self, interface: u32, datagram: &Datagram, payload: &Bytes, out: &mut impl FnMut(Record)) {
        let Ok(outline) = PacketOutline::parse(payload) else { return };
        let (now, tag) = (self.now, outline.header.verification_tag.0);
        let (source_port, destination_port) = (outline.header.source_port, outline.header.destination_port);
        let way = (datagram.source, datagram.destination, source_port, destination_port);
        let mut chunks = outline.peekable();
        let first = chunks.peek().and_then(|chunk| chunk.as_ref().ok()).copied();
        let Some(first) = first else { return };
        let (place, sender) = match first.kind() {
            kind::INIT => match first.chunk() {
                Ok(Chunk::Init(init)) => {
                    let fields = init.fields;
                    let Some(found) = self.begins(way, fields.initiate_tag.0) else { return };
                    self.followed[found.0].streams[found.1] = fields.outbound_streams;
                    found
                }
                _ => return,
            },
            _ => match self.find(&first, tag, way) {
                Some(found) => found,
                None => return,
            },
        };
        let association = &mut self.followed[place];
        association.last = now;
        association.senders[sender].sees(way);
        match first.kind() {
            kind::INIT => association.senders[1 - sender].asks(now),
            kind::INIT_ACK => {
                association.senders[sender].answered_handshake(now);
                association.senders[1 - sender].asks(now);
            }
            kind::COOKIE_ECHO => association.senders[sender].answered_handshake(now),
            _ => {}
        }
        if first.kind() == kind::INIT_ACK
            && let Ok(Chunk::InitAck(init)) = first.chunk()
        {
            let key = (init.fields.initiate_tag.0, destination_port, source_port);
            association.streams[sender] = init.fields.outbound_streams;
            if association.restarts.is_none() {
                association.tags[1 - sender] = Some(key.0);
            }
            remember(&mut self.by_key, key, (place, 1 - sender));
        }
        let elsewhere = self.held - association.places();
        for chunk in chunks {
            let Ok(chunk) = chunk else { break };
            if let Ok(Some(data)) = chunk.user_data() {
                let opposite = association.senders[1 - sender].places();
                if elsewhere + opposite + association.senders[sender].places_with(data.tsn) > HELD_MAX {
                    association.senders[sender].forget();
                }
                let is_new = association.senders[sender].sends(
                    now,
                    interface,
                    datagram.destination,
                    &data,
                    self.rto_min,
                    out,
                );
                if is_new {
                    self.diversions.sends(&data, [source_port, destination_port], payload);
                }
            } else if let Ok(chunk) = chunk.chunk() {
                association.takes(now, interface, sender, way, &chunk, out);
            }
        }
        self.held = elsewhere + association.places();
        self.diversions.settle(now, &mut self.followed, (place, sender));
    }

    /// An INIT: the association that it begins, or begins anew.
    fn begins(&mut self, way: Way, initiate_tag: u32) -> Option<(usize, usize)> {
        let (source, destination, source_port, destination_port) = way;
        // The tag of what will come back.
        let key = (initiate_tag, destination_port, source_port);
        if let Some(&(place, other)) = self.by_key.get(&key) {
            return Some((place, 1 - other));
        }
        let known = self.by_way.get(&way).copied().filter(|(place, _)| !self.followed[*place].is_closed);
        if let Some((place, sender)) = known
            && self.followed[place].is_up
        {
            self.followed[place].restarts = Some(sender);
            remember(&mut self.by_key, key, (place, 1 - sender));
            return Some((place, sender));
        }
        let (place, sender) = self.add(way)?;
        self.followed[place].tags[1 - sender] = Some(initiate_tag);
        remember(&mut self.by_key, key, (place, 1 - sender));
        let reversed = (destination, source, destination_port, source_port);
        self.by_way.insert(way, (place, sender));
        self.by_way.insert(reversed, (place, 1 - sender));
        Some((place, sender))
    }

    /// The association and the sender of a packet that is no INIT.
    fn find(&mut self, chunk: &ChunkOutline<'_>, tag: u32, way: Way) -> Option<(usize, usize)> {
        let (source, destination, source_port, destination_port) = way;
        let key = (tag, source_port, destination_port);
        if let Some(&found) = self.by_key.get(&key) {
            if self.by_way.len() < ASSOCIATIONS_MAX * 16 {
                self.by_way.entry(way).or_insert(found);
                let reversed = (destination, source, destination_port, source_port);
                self.by_way.entry(reversed).or_insert((found.0, 1 - found.1));
            }
            return Some(found);
        }
        // The T bit: the tag is that of the sender's own packets from the other end.
        let ends = matches!(chunk.kind(), kind::ABORT | kind::SHUTDOWN_COMPLETE);
        let is_reflected = ends
            && match chunk.chunk() {
                Ok(Chunk::Abort(abort)) => abort.is_tag_reflected,
                Ok(Chunk::ShutdownComplete(complete)) => complete.is_tag_reflected,
                _ => false,
            };
        if is_reflected {
            let (place, other) = *self.by_key.get(&(tag, destination_port, source_port))?;
            return Some((place, 1 - other));
        }
        // What ends or begins nothing that was seen tells nothing.
        if ends || chunk.kind() == kind::INIT_ACK {
            return None;
        }
        // The capture began later: the other direction may be known.
        let known = self.by_way.get(&way).copied();
        let known = known.filter(|(place, sender)| {
            self.followed[*place].tags[*sender].is_none() && !self.followed[*place].is_closed
        });
        let (place, sender) = if let Some(found) = known {
            found
        } else {
            let found = self.add(way)?;
            let reversed = (destination, source, destination_port, source_port);
            self.by_way.insert(way, found);
            self.by_way.insert(reversed, (found.0, 1 - found.1));
            found
        };
        self.followed[place].tags[sender] = Some(tag);
        remember(&mut self.by_key, key, (place, sender));
        Some((place, sender))
    }

    fn add(&mut self, way: Way) -> Option<(usize, usize)> {
        let place = self.followed.len();
        if place >= ASSOCIATIONS_MAX {
            self.left_out += 1;
            return None;
        }
        let (source, destination, source_port, destination_port) = way;
        let number = u32::try_from(2 * place + 1).unwrap_or(u32::MAX);
        let senders = [
            Sender::new(number, source_port, destination_port),
            Sender::new(number + 1, destination_port, source_port),
        ];
        self.followed.push(Association {
            senders,
            tags: [None; 2],
            streams: [0; 2],
            is_up: false,
            is_closed: false,
            is_out_of_service: false,
            shutdowns: [false; 2],
            restarts: None,
            last: self.now,
        });
        let senders = &mut self.followed[place].senders;
        senders[1].direction.sources.push(destination);
        senders[1].direction.destinations.push(source);
        Some((place, 0))
    }
}

impl Association {
    /// Number of places for outstanding chunks that both senders hold.
    fn places(&self) -> usize {
        self.senders.iter().map(Sender::places).sum()
    }

    /// Tells if what this end sends is not answered, or takes no traffic.
    fn is_failing(&self, sender: usize) -> bool {
        self.is_closed || self.is_out_of_service || self.senders[sender].is_unanswered()
    }

    /// Takes a chunk other than user data from one end.
    fn takes(
        &mut self,
        now: Instant,
        interface: u32,
        sender: usize,
        way: Way,
        chunk: &Chunk,
        out: &mut impl FnMut(Record),
    ) {
        let other = 1 - sender;
        let tell = |senders: &[Sender; 2], of: usize, what: What, out: &mut dyn FnMut(Record)| {
            out(Record { at: now, association: senders[of].direction.number, what });
        };
        match chunk {
            Chunk::Sack(sack) => self.senders[other].acknowledged(now, sack, out),
            Chunk::Heartbeat(_) => {
                let path = way.1;
                if self.senders[sender].heartbeat(now, interface, path) {
                    tell(&self.senders, sender, What::HeartbeatSent { path }, out);
                }
            }
            Chunk::HeartbeatAck(_) => {
                let path = way.0;
                if let Some(sent) = self.senders[other].heartbeat_answered(interface, path) {
                    let round_trip_ns = now.saturating_since(sent);
                    self.senders[other].note_answered(path, sent);
                    tell(&self.senders, other, What::HeartbeatAnswered { path, round_trip_ns }, out);
                    self.senders[other].answers(now, path, out);
                }
            }
            Chunk::CookieEcho(_) if self.restarts == Some(sender) => {
                self.restarts = None;
                tell(&self.senders, other, What::Notice(Notice::Restarted {}), out);
                self.senders.iter_mut().for_each(Sender::restarts);
            }
            Chunk::CookieAck(_) if !self.is_up => {
                self.is_up = true;
                for of in [0, 1] {
                    self.senders[of].direction.is_from_the_start = true;
                    let (outbound_streams, inbound_streams) = (self.streams[of], self.streams[1 - of]);
                    tell(&self.senders, of, What::Up { outbound_streams, inbound_streams }, out);
                }
            }
            Chunk::Error(error) => {
                let causes: Vec<String> = error.causes.iter().map(ToString::to_string).collect();
                let notice = Notice::PeerReported { causes: causes.join(", ") };
                tell(&self.senders, other, What::Notice(notice), out);
            }
            Chunk::Shutdown(_) if !std::mem::replace(&mut self.shutdowns[sender], true) => {
                tell(&self.senders, sender, What::State { state: AssociationState::ShutdownSent }, out);
                tell(&self.senders, other, What::Notice(Notice::ShutdownReceived {}), out);
            }
            Chunk::ShutdownAck(_) if !std::mem::replace(&mut self.shutdowns[sender], true) => {
                tell(&self.senders, sender, What::State { state: AssociationState::ShutdownAckSent }, out);
            }
            Chunk::ShutdownComplete(_) if !self.is_closed => {
                let reason = CloseReason::ShutdownComplete.to_string();
                self.close(now, [reason.clone(), reason], true, out);
            }
            Chunk::Abort(abort) if !self.is_closed => {
                let here = match abort.causes.first() {
                    Some(cause) => CloseReason::Aborted(cause.clone()).to_string(),
                    None => "the association was aborted here".to_owned(),
                };
                let there = CloseReason::PeerAborted(abort.causes.clone()).to_string();
                let reasons = if sender == 0 { [here, there] } else { [there, here] };
                self.close(now, reasons, false, out);
            }
            _ => {}
        }
    }

    fn close(&mut self, at: Instant, reasons: [String; 2], orderly: bool, out: &mut impl FnMut(Record)) {
        self.is_closed = true;
        for (sender, reason) in self.senders.iter().zip(reasons) {
            out(Record { at, association: sender.direction.number, what: What::Closed { orderly, reason } });
        }
    }
}

fn remember(by_key: &mut FxHashMap<Key, (usize, usize)>, key: Key, found: (usize, usize)) {
    if by_key.len() < KEYS_MAX || by_key.contains_key(&key) {
        by_key.insert(key, found);
    }
}

#[cfg(test)]
mod tests;
