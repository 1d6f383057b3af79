//! The sender of one direction: its DATA that is outstanding, its paths, and what they tell of its decisions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_sctp::chunk::Sack;
use slantpath_sctp::{Notice, Tsn, UserDataOutline};
use slantpath_trace::{Evidence, Record, TimerChange, What};

use super::{CapturedDirection, Way};

/// Most DATA chunks that are outstanding in one direction.
const OUTSTANDING_MAX: u32 = 65_536;
/// Most interleaved messages and most paths of a direction.
const PLACES_MAX: usize = 4_096;
/// Time from a HEARTBEAT at one interface to its copy at another, at most: below any interval between two of them.
const COPIED_WITHIN: Duration = Duration::from_secs(1);
/// SACKs that report a chunk missing until it is retransmitted (RFC 9260, section 7.2.4).
const REPORTS: u16 = 3;
/// Time that an answer takes at most where the sender is captured.
const A_MOMENT: Duration = Duration::from_millis(10);

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

/// HEARTBEAT under way.
#[derive(Clone, Copy, Debug)]
struct Heartbeat {
    at: Instant,
    interface: u32,
    /// Another interface that had it, too.
    copied_at: Option<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) direction: CapturedDirection,
    /// Outstanding chunks from the first TSN that is not acknowledged on.
    first: Option<Tsn>,
    chunks: VecDeque<Option<Outstanding>>,
    messages: u64,
    /// Numbers of interleaved messages, by stream, order and identifier.
    interleaved: BTreeMap<(u16, bool, u32), u64>,
    /// Instant at which the cumulative TSN last moved.
    moved: Instant,
    /// Instants at which T3-rtx has expired last, by path.
    expired: BTreeMap<IpAddr, Instant>,
    /// Instant of a chunk of the handshake that the sender answers at once.
    asked: Option<Instant>,
    /// Paths that have not answered since, each with its first time-out.
    unanswered: BTreeMap<IpAddr, Instant>,
    /// By path: the instant at which the newest packet left that it has answered.
    answered: BTreeMap<IpAddr, Instant>,
    /// The last of them, of associations before a restart, too.
    pub(super) last_answered: Option<Instant>,
    /// True from when signalling has left it for another association until it carries some itself.
    pub(super) is_left: bool,
    /// The path of the latest new DATA.
    new_data: Option<IpAddr>,
    /// HEARTBEATs under way, by path.
    heartbeats: BTreeMap<IpAddr, Heartbeat>,
}

impl Sender {
    pub(super) fn new(number: u32, source_port: u16, destination_port: u16) -> Self {
        let direction = CapturedDirection {
            number,
            sources: Vec::new(),
            source_port,
            destinations: Vec::new(),
            destination_port,
            is_seen: false,
            is_from_the_start: false,
            turnaround: None,
        };
        Self {
            direction,
            first: None,
            chunks: VecDeque::new(),
            messages: 0,
            interleaved: BTreeMap::new(),
            moved: Instant::START,
            expired: BTreeMap::new(),
            asked: None,
            unanswered: BTreeMap::new(),
            answered: BTreeMap::new(),
            last_answered: None,
            is_left: false,
            new_data: None,
            heartbeats: BTreeMap::new(),
        }
    }

    pub(super) fn sees(&mut self, (source, destination, ..): Way) {
        let CapturedDirection { sources, destinations, is_seen, .. } = &mut self.direction;
        *is_seen = true;
        for (known, address) in [(sources, source), (destinations, destination)] {
            if !known.contains(&address) && known.len() < 16 {
                known.push(address);
            }
        }
    }

    /// Tells if what leaves so long after a SACK may be the answer to it: the SACK has been there, and not for long.
    /// Half of the turnaround is the way from here to the sender.
    fn reacts(&self, elapsed: Duration, rto_min: Duration) -> bool {
        let (least, most) = match self.direction.turnaround.map(Duration::as_nanos) {
            Some(turnaround) => (turnaround / 2, turnaround.saturating_mul(2).max(A_MOMENT.as_nanos())),
            None => (0, rto_min.as_nanos() / 2),
        };
        (least..=most).contains(&elapsed.as_nanos())
    }

    /// Notes a chunk of the handshake that the sender answers at once, or its answer.
    pub(super) fn asks(&mut self, at: Instant) {
        self.asked.get_or_insert(at);
    }

    pub(super) fn answered_handshake(&mut self, at: Instant) {
        if let Some(asked) = self.asked.take() {
            self.direction.turnaround.get_or_insert(at.saturating_since(asked));
        }
    }

    /// Begins anew: nothing is outstanding.
    pub(super) fn forget(&mut self) {
        self.first = None;
        self.chunks = VecDeque::new();
        self.interleaved.clear();
    }

    /// Begins anew after a restart, which also ends the errors on all paths (RFC 9260, section 5.2.4.1).
    pub(super) fn restarts(&mut self) {
        self.forget();
        self.expired.clear();
        self.unanswered.clear();
        self.answered.clear();
        self.new_data = None;
        self.heartbeats.clear();
    }

    /// Number of places for outstanding chunks that are held.
    pub(super) fn places(&self) -> usize {
        self.chunks.len()
    }

    /// Variant of [`places`](Self::places) for the time when a chunk of this TSN has left.
    pub(super) fn places_with(&self, tsn: Tsn) -> usize {
        match self.first {
            Some(first) if tsn.is_before(first) => self.chunks.len(),
            Some(first) if tsn.distance_from(first) < OUTSTANDING_MAX => {
                self.chunks.len().max(tsn.distance_from(first) as usize + 1)
            }
            Some(_) | None => 1,
        }
    }

    /// Notes a HEARTBEAT; true unless it is a packet that another interface had before.
    pub(super) fn heartbeat(&mut self, now: Instant, interface: u32, path: IpAddr) -> bool {
        if let Some(sent) = self.heartbeats.get_mut(&path)
            && sent.interface != interface
            && now.saturating_since(sent.at) < COPIED_WITHIN
        {
            sent.copied_at = Some(interface);
            return false;
        }
        if self.heartbeats.len() < PLACES_MAX || self.heartbeats.contains_key(&path) {
            self.heartbeats.insert(path, Heartbeat { at: now, interface, copied_at: None });
        }
        true
    }

    /// Takes the answer to a HEARTBEAT, and gives when that was sent.
    pub(super) fn heartbeat_answered(&mut self, interface: u32, path: IpAddr) -> Option<Instant> {
        // Where the copy was, the answer is seen early or late.
        self.heartbeats.get(&path).filter(|sent| sent.copied_at != Some(interface))?;
        self.heartbeats.remove(&path).map(|sent| sent.at)
    }

    /// Takes user data that leaves; true if it does so for the first time.
    pub(super) fn sends(
        &mut self,
        now: Instant,
        interface: u32,
        path: IpAddr,
        data: &UserDataOutline<'_>,
        rto_min: Duration,
        out: &mut impl FnMut(Record),
    ) -> bool {
        let first = *self.first.get_or_insert(data.tsn);
        if data.tsn.is_before(first) {
            // Acknowledged, and sent once more: its SACK was lost, or it was captured twice.
            return false;
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
            return true;
        };
        // A packet that another interface has, too, is no retransmission. But a host with several paths leaves by
        // several interfaces: what goes to another address is one.
        if before.interface != interface && before.path == path {
            return false;
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
        false
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

    /// Tells if a path has not answered since a time-out.
    pub(super) fn is_unanswered(&self) -> bool {
        !self.unanswered.is_empty()
    }

    /// Notes that a path has answered a packet that left at this time.
    pub(super) fn note_answered(&mut self, path: IpAddr, left: Instant) {
        self.last_answered = self.last_answered.max(Some(left));
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
    pub(super) fn answers(&mut self, at: Instant, path: IpAddr, out: &mut impl FnMut(Record)) {
        if self.unanswered.remove(&path).is_some() {
            let what =
                What::T3Rtx { path, change: TimerChange::Stopped, rto_ns: None, outstanding_bytes: None };
            out(Record { at, association: self.direction.number, what });
        }
    }

    /// Takes a SACK of what it has sent.
    pub(super) fn acknowledged(&mut self, now: Instant, sack: &Sack, out: &mut impl FnMut(Record)) {
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
        let mut answered = BTreeSet::new();
        let mut newest = Vec::new();
        for chunk in self.chunks.drain(..taken).flatten() {
            // Of a chunk that was sent more than once, nobody knows which of them is answered.
            if chunk.transmission == 1 && !chunk.is_acknowledged {
                newest.push((chunk.path, chunk.at));
            }
            if self.expired.get(&chunk.path).is_some_and(|expired| chunk.at >= *expired) {
                answered.insert(chunk.path);
            }
            if chunk.ends_message {
                let what = What::Acknowledged { message: Some(chunk.message) };
                out(Record { at: now, association: number, what });
            }
        }
        for path in answered {
            self.answers(now, path, out);
        }
        self.first = Some(cumulative.next());
        // Memory follows what is outstanding now.
        if self.chunks.capacity() > 1_024 && self.chunks.len() < self.chunks.capacity() / 4 {
            self.chunks.shrink_to(2 * self.chunks.len());
        }
        // Gap Ack Blocks count from the cumulative TSN.
        let mut highest = None;
        // A SACK may have thousands of blocks. They are in order, so that none is walked over twice.
        let mut walked = 0;
        for block in &sack.gap_ack_blocks {
            let (start, end) = (usize::from(block.start), usize::from(block.end).min(self.chunks.len()));
            let from = walked.max(start.saturating_sub(1));
            walked = walked.max(end);
            for place in from..end {
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
