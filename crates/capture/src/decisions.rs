//! Associations of SCTP as one point sees them: what each end did, and what that tells of why, as records of traces.
//!
//! Each direction is the story of its sender. What a sender decides is not seen, but what it sends is: a TSN that
//! leaves once more was given up, and the SACKs before it say for what. What cannot be seen is not told: windows,
//! timers that did not expire, and packets that were lost before they came here.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use bytes::Bytes;
use rustc_hash::FxHashMap;
use slantpath_base::{Duration, Instant};
use slantpath_sctp::chunk::{Sack, kind};
use slantpath_sctp::packet::{ChunkOutline, PacketOutline};
use slantpath_sctp::{AssociationState, Chunk, CloseReason, Notice, Tsn, UserDataOutline};
use slantpath_trace::{Evidence, Record, TimerChange, What};

use crate::file::CapturedFrame;
use crate::frame::{Carried, carried};
use crate::ip::{Datagram, IpReader, Read};

/// Most associations that are followed, each with two stories.
const ASSOCIATIONS_MAX: usize = 512;
/// Most DATA chunks that are outstanding in one direction.
const OUTSTANDING_MAX: u32 = 65_536;
/// Most interleaved messages and most paths of a direction.
const PLACES_MAX: usize = 4_096;
/// SACKs that report a chunk missing until it is retransmitted (RFC 9260, section 7.2.4).
const REPORTS: u16 = 3;
/// Time that an answer takes at most where the sender is captured.
const A_MOMENT: Duration = Duration::from_millis(10);
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
}

/// A DATA chunk that is outstanding.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    message: u64,
    ends_message: bool,
    transmission: u32,
    at: Instant,
    path: IpAddr,
    interface: u32,
    len: usize,
    reports: u16,
    /// Instant at which the last report that it takes was seen.
    reported: Option<Instant>,
    is_acknowledged: bool,
}

#[derive(Clone, Debug)]
struct Sender {
    direction: CapturedDirection,
    /// Outstanding chunks from the first TSN that is not acknowledged on.
    first: Option<Tsn>,
    chunks: VecDeque<Option<Outstanding>>,
    messages: u64,
    /// Numbers of interleaved messages, by stream, order and identifier.
    interleaved: BTreeMap<(u16, bool, u32), u64>,
    /// Instant at which the cumulative TSN last moved.
    moved: Instant,
    /// Instants at which T3-rtx has expired last, by path, and of HEARTBEATs under way.
    expired: BTreeMap<IpAddr, Instant>,
    /// From a packet to the sender until its answer was seen, as the handshake has shown: twice the way between the
    /// sender and here.
    turnaround: Option<Duration>,
    /// Instant of a chunk of the handshake that the sender answers at once.
    asked: Option<Instant>,
    /// Paths that have not answered since, each with its first time-out.
    unanswered: BTreeMap<IpAddr, Instant>,
    /// By path: the instant at which the newest packet left that it has answered.
    answered: BTreeMap<IpAddr, Instant>,
    /// The path of the latest new DATA.
    new_data: Option<IpAddr>,
    heartbeats: BTreeMap<IpAddr, Instant>,
}

#[derive(Clone, Debug)]
struct Association {
    senders: [Sender; 2],
    /// Tags of the packets of each sender, once known.
    tags: [Option<u32>; 2],
    streams: [u16; 2],
    is_up: bool,
    is_closed: bool,
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
}

impl CapturedAssociations {
    /// A retransmission without a SACK that asks for it is a time-out after at least `rto_min`.
    pub fn new(rto_min: Duration) -> Self {
        Self {
            rto_min,
            ip: IpReader::default(),
            base: None,
            now: Instant::START,
            followed: Vec::new(),
            by_key: FxHashMap::default(),
            by_way: FxHashMap::default(),
            left_out: 0,
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

    /// Ends the stories of associations that have fallen silent. Gives all directions, and how many packets were of
    /// associations beyond the most that are followed.
    pub fn finish(mut self, out: &mut impl FnMut(Record)) -> (Vec<CapturedDirection>, u64) {
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
        (senders.map(|sender| sender.direction).collect(), self.left_out)
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
            self.by_key.insert(key, (place, 1 - sender));
        }
        for chunk in chunks {
            let Ok(chunk) = chunk else { return };
            if let Ok(Some(data)) = chunk.user_data() {
                association.senders[sender].sends(
                    now,
                    interface,
                    datagram.destination,
                    &data,
                    self.rto_min,
                    out,
                );
            } else if let Ok(chunk) = chunk.chunk() {
                association.takes(now, sender, way, &chunk, out);
            }
        }
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
            self.by_key.insert(key, (place, 1 - sender));
            return Some((place, sender));
        }
        let (place, sender) = self.add(way)?;
        self.followed[place].tags[1 - sender] = Some(initiate_tag);
        self.by_key.insert(key, (place, 1 - sender));
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
        self.by_key.insert(key, (place, sender));
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
    /// Takes a chunk other than user data from one end.
    fn takes(&mut self, now: Instant, sender: usize, way: Way, chunk: &Chunk, out: &mut impl FnMut(Record)) {
        let other = 1 - sender;
        let tell = |senders: &[Sender; 2], of: usize, what: What, out: &mut dyn FnMut(Record)| {
            out(Record { at: now, association: senders[of].direction.number, what });
        };
        match chunk {
            Chunk::Sack(sack) => self.senders[other].acknowledged(now, sack, out),
            Chunk::Heartbeat(_) => {
                let path = way.1;
                let heartbeats = &mut self.senders[sender].heartbeats;
                if heartbeats.len() < PLACES_MAX {
                    heartbeats.insert(path, now);
                }
                tell(&self.senders, sender, What::HeartbeatSent { path }, out);
            }
            Chunk::HeartbeatAck(_) => {
                let path = way.0;
                if let Some(sent) = self.senders[other].heartbeats.remove(&path) {
                    let round_trip_ns = now.saturating_since(sent);
                    self.senders[other].note_answered(path, sent);
                    tell(&self.senders, other, What::HeartbeatAnswered { path, round_trip_ns }, out);
                    self.senders[other].answers(now, path, out);
                }
            }
            Chunk::CookieEcho(_) if self.restarts == Some(sender) => {
                self.restarts = None;
                tell(&self.senders, other, What::Notice(Notice::Restarted {}), out);
                self.senders.iter_mut().for_each(Sender::forget);
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

impl Sender {
    fn new(number: u32, source_port: u16, destination_port: u16) -> Self {
        let direction = CapturedDirection {
            number,
            sources: Vec::new(),
            source_port,
            destinations: Vec::new(),
            destination_port,
            is_seen: false,
            is_from_the_start: false,
        };
        Self {
            direction,
            first: None,
            chunks: VecDeque::new(),
            messages: 0,
            interleaved: BTreeMap::new(),
            moved: Instant::START,
            expired: BTreeMap::new(),
            turnaround: None,
            asked: None,
            unanswered: BTreeMap::new(),
            answered: BTreeMap::new(),
            new_data: None,
            heartbeats: BTreeMap::new(),
        }
    }

    fn sees(&mut self, (source, destination, ..): Way) {
        let CapturedDirection { sources, destinations, is_seen, .. } = &mut self.direction;
        *is_seen = true;
        for (known, address) in [(sources, source), (destinations, destination)] {
            if !known.contains(&address) && known.len() < 16 {
                known.push(address);
            }
        }
    }

    /// Tells if what leaves so long after a SACK may be the answer to it: the SACK has been there, and not for long.
    fn reacts(&self, elapsed: Duration, rto_min: Duration) -> bool {
        let (least, most) = match self.turnaround.map(Duration::as_nanos) {
            Some(turnaround) => (turnaround / 2, turnaround.saturating_mul(2).max(A_MOMENT.as_nanos())),
            None => (0, rto_min.as_nanos() / 2),
        };
        (least..=most).contains(&elapsed.as_nanos())
    }

    /// Notes a chunk of the handshake that the sender answers at once, or its answer.
    fn asks(&mut self, at: Instant) {
        self.asked.get_or_insert(at);
    }

    fn answered_handshake(&mut self, at: Instant) {
        if let Some(asked) = self.asked.take() {
            self.turnaround.get_or_insert(at.saturating_since(asked));
        }
    }

    /// Begins anew: nothing is outstanding.
    fn forget(&mut self) {
        self.first = None;
        self.chunks.clear();
        self.interleaved.clear();
    }

    /// Takes user data that leaves.
    fn sends(
        &mut self,
        now: Instant,
        interface: u32,
        path: IpAddr,
        data: &UserDataOutline<'_>,
        rto_min: Duration,
        out: &mut impl FnMut(Record),
    ) {
        let first = *self.first.get_or_insert(data.tsn);
        if data.tsn.is_before(first) {
            // Acknowledged, and sent once more: its SACK was lost, or it was captured twice.
            return;
        }
        if data.tsn.distance_from(first) >= OUTSTANDING_MAX {
            self.forget();
            self.first = Some(data.tsn);
        }
        let place = data.tsn.distance_from(self.first.unwrap_or(data.tsn)) as usize;
        if self.chunks.len() <= place {
            self.chunks.resize(place + 1, None);
        }
        let number = self.direction.number;
        let mut tell = |what: What| out(Record { at: now, association: number, what });
        let Some(before) = self.chunks[place] else {
            let message = self.number(place, data);
            if let Some(failover) = self.moves(now, path, message) {
                tell(What::Notice(failover));
            }
            let sent = What::Sent { message: Some(message), tsn: data.tsn.0, path, transmission: 1 };
            tell(sent);
            self.chunks[place] = Some(Outstanding {
                message,
                ends_message: data.flags.is_ending(),
                transmission: 1,
                at: now,
                path,
                interface,
                len: data.len,
                reports: 0,
                reported: None,
                is_acknowledged: false,
            });
            return;
        };
        // Seen at another interface: it is the same packet.
        if before.interface != interface {
            return;
        }
        // A SACK that was seen may not have come to the sender yet: it restarts the timer only if that then ran for
        // long enough.
        let ran = |since: Instant| now.saturating_since(since);
        let rto =
            Some(ran(self.moved.max(before.at))).filter(|rto| *rto >= rto_min).unwrap_or(ran(before.at));
        let has_expired = self.expired.get(&before.path).is_some_and(|expired| before.at < *expired);
        let is_reported = before.reported.is_some_and(|reported| self.reacts(ran(reported), rto_min));
        let times_out = !is_reported && !has_expired && rto >= rto_min;
        if times_out {
            let outstanding = self.chunks.iter().flatten();
            let outstanding = outstanding.filter(|chunk| chunk.path == before.path && !chunk.is_acknowledged);
            let outstanding: usize = outstanding.map(|chunk| chunk.len).sum();
            if self.expired.len() < PLACES_MAX {
                self.expired.insert(before.path, now);
                self.unanswered.entry(before.path).or_insert(now);
            }
            tell(What::T3Rtx {
                path: before.path,
                change: TimerChange::Expired,
                rto_ns: Some(rto),
                outstanding_bytes: Some(outstanding as u64),
            });
        }
        let (evidence, reports) = match before.reports {
            reports if is_reported => (Evidence::MissIndications, Some(reports)),
            _ if times_out || has_expired => (Evidence::TimedOut, None),
            0 => (Evidence::Unknown, None),
            reports => (Evidence::MissIndications, Some(reports)),
        };
        let (message, tsn, transmission) = (Some(before.message), data.tsn.0, before.transmission + 1);
        tell(What::Lost {
            message,
            tsn,
            path: before.path,
            evidence,
            reports,
            age_ns: None,
            reordering_window_ns: None,
            mtu_bytes: None,
        });
        tell(What::Sent { message, tsn, path, transmission });
        self.chunks[place] =
            Some(Outstanding { transmission, at: now, path, reports: 0, reported: None, ..before });
    }

    /// Notes the path of new DATA: a failover, if the former one has not answered.
    fn moves(&mut self, now: Instant, path: IpAddr, message: u64) -> Option<Notice> {
        let former = self.new_data.replace(path).filter(|former| *former != path)?;
        let first_timeout = *self.unanswered.get(&former)?;
        Some(Notice::FailedOver {
            path,
            former,
            message: Some(message),
            unanswered_ns: self.answered.get(&former).map(|left| now.saturating_since(*left)),
            first_timeout_ns: Some(now.saturating_since(first_timeout)),
            decided_ns: None,
        })
    }

    /// Notes that a path has answered a packet that left at this time.
    fn note_answered(&mut self, path: IpAddr, left: Instant) {
        if self.answered.len() < PLACES_MAX || self.answered.contains_key(&path) {
            let known = self.answered.entry(path).or_insert(left);
            *known = left.max(*known);
        }
    }

    /// The number of the message that a chunk belongs to, which is new.
    fn number(&mut self, place: usize, data: &UserDataOutline<'_>) -> u64 {
        let is_beginning = data.flags.is_beginning();
        let before = match data.place {
            None => place.checked_sub(1).and_then(|before| self.chunks[before]).map(|chunk| chunk.message),
            Some(at) => {
                let key = (data.stream.0, data.flags.is_unordered(), at.message_id.0);
                let known = self.interleaved.get(&key).copied();
                if data.flags.is_ending() {
                    self.interleaved.remove(&key);
                } else if is_beginning && self.interleaved.len() < PLACES_MAX {
                    self.interleaved.insert(key, self.messages);
                }
                known
            }
        };
        if let Some(number) = before.filter(|_| !is_beginning) {
            return number;
        }
        self.messages += 1;
        self.messages - 1
    }

    /// Notes that a path has answered, which ends the errors on it.
    fn answers(&mut self, at: Instant, path: IpAddr, out: &mut impl FnMut(Record)) {
        if self.unanswered.remove(&path).is_some() {
            let what =
                What::T3Rtx { path, change: TimerChange::Stopped, rto_ns: None, outstanding_bytes: None };
            out(Record { at, association: self.direction.number, what });
        }
    }

    /// Takes a SACK of what it has sent.
    fn acknowledged(&mut self, now: Instant, sack: &Sack, out: &mut impl FnMut(Record)) {
        let Some(first) = self.first else { return };
        let cumulative = sack.cumulative_tsn_ack;
        let beyond = cumulative.next().distance_from(first);
        // Older than what is known, or none of this direction.
        if cumulative.is_before(first.minus(1)) || beyond > OUTSTANDING_MAX {
            return;
        }
        let number = self.direction.number;
        let taken = (beyond as usize).min(self.chunks.len());
        if beyond > 0 {
            self.moved = now;
        }
        let mut answered = None;
        let mut newest = Vec::new();
        for chunk in self.chunks.drain(..taken).flatten() {
            // Of a chunk that was sent more than once, nobody knows which of them is answered.
            if chunk.transmission == 1 && !chunk.is_acknowledged {
                newest.push((chunk.path, chunk.at));
            }
            if self.expired.get(&chunk.path).is_some_and(|expired| chunk.at >= *expired) {
                answered = Some(chunk.path);
            }
            if chunk.ends_message {
                let what = What::Acknowledged { message: Some(chunk.message) };
                out(Record { at: now, association: number, what });
            }
        }
        if let Some(path) = answered {
            self.answers(now, path, out);
        }
        self.first = Some(cumulative.next());
        // Gap Ack Blocks count from the cumulative TSN.
        let mut highest = None;
        for block in &sack.gap_ack_blocks {
            let (start, end) = (usize::from(block.start), usize::from(block.end).min(self.chunks.len()));
            for place in start.max(1) - 1..end {
                if let Some(chunk) = &mut self.chunks[place]
                    && !chunk.is_acknowledged
                {
                    chunk.is_acknowledged = true;
                    highest = Some(place);
                    if chunk.transmission == 1 {
                        newest.push((chunk.path, chunk.at));
                    }
                }
            }
        }
        for (path, left) in newest {
            self.note_answered(path, left);
        }
        for chunk in self.chunks.iter_mut().take(highest.unwrap_or(0)).flatten() {
            chunk.reports += u16::from(!chunk.is_acknowledged && chunk.reports < u16::MAX);
            if chunk.reports == REPORTS {
                chunk.reported.get_or_insert(now);
            }
        }
    }
}

#[cfg(test)]
mod tests;
