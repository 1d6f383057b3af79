//! Follows the records of a trace, and keeps what explains it.
//!
//! What is kept does not grow with the length of a trace, but with what has gone wrong in it: of messages those are
//! kept that were retransmitted, and those that are on their way. Both are bounded; what is beyond is counted.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_sctp::{
    AssociationState, Notice, PathState, ReliabilityPolicy, Tsn, Unanswered, WaitReason, WindowCause,
};

use super::follow;
use crate::field::Evidence;
use crate::header::TraceHeader;
use crate::outcome::TraceOutcome;
use crate::record::{Record, What};

/// Greatest number of associations that are told apart.
const ASSOCIATIONS_MAX: usize = 1_024;

/// Story that a trace has told.
#[derive(Clone, Debug)]
pub struct Story {
    /// Header of the trace: its origin and settings.
    pub header: TraceHeader,
    /// Stories of its associations, by number.
    pub associations: BTreeMap<u32, AssociationStory>,
    /// The instant of the last record.
    pub until: Instant,
    /// True if the trace ends as a whole one does.
    pub is_whole: bool,
    /// Records that are missing in it.
    pub dropped: u64,
    /// Associations that are not told of, because there are too many.
    pub left_out: u64,
    idle: Duration,
    asked: Option<u64>,
}

/// Story of an association.
#[derive(Clone, Debug, Default)]
pub struct AssociationStory {
    /// Instant at which it was up.
    pub up: Option<Instant>,
    /// Instant at which it was gone, true if in order, and the reason.
    pub closed: Option<(Instant, bool, String)>,
    /// Steps of its paths and of itself, in order of time.
    pub steps: Vec<Step>,
    /// Steps that are not told.
    pub steps_left_out: u64,
    /// Paths of the association, in the order in which they were met.
    pub paths: Vec<PathStory>,
    /// Messages that were retransmitted, or had to be; of those without a number the chunk's counts.
    pub resent: BTreeMap<MessageKey, Message>,
    /// Messages that were retransmitted and are not kept.
    pub resent_left_out: u64,
    /// For how long nothing could leave, by the reason.
    pub waits: Vec<(WaitReason, Duration)>,
    /// Spans without DATA that were long.
    pub idles: Vec<Idle>,
    /// The highest number of a message that the trace tells of.
    pub latest_message: Option<u64>,
    /// Messages of which a part was sent.
    pub messages_sent: u64,
    /// Messages that the peer has acknowledged whole.
    pub messages_acknowledged: u64,
    /// Messages that will never be acknowledged.
    pub messages_failed: u64,
    /// Messages that were given up as their reliability asks, by the rule: unsent ones, and the others.
    pub messages_abandoned: BTreeMap<ReliabilityPolicy, [u64; 2]>,
    /// Number of times that the send buffer had room again after a message had been refused.
    pub rooms: u64,
    /// SACKs that have come.
    pub sacks: Sacks,
    /// DATA chunks that were put into packets.
    pub chunks_sent: u64,
    /// DATA chunks of those that were retransmitted.
    pub chunks_resent: u64,
    /// Chunks that were to be retransmitted, by the evidence.
    pub lost: BTreeMap<Evidence, u64>,
    /// Delays of the messages until their readers had them.
    pub delays: MessageDelays,
    /// From when a part of a message was first sent until the peer had acknowledged all of it.
    pub acknowledgements: MessageDelays,
    /// The message that is [asked for](Story::asking), if it was sent once and is settled.
    pub asked: Option<Message>,
    pub(super) asked_number: Option<u64>,
    pub(super) under_way: BTreeMap<MessageKey, Message>,
    /// Keys of `resent` whose messages are neither acknowledged nor given up.
    pub(super) resent_under_way: BTreeSet<MessageKey>,
    /// TSNs of messages without a number that are under way, lost or not, in the order in which they were sent.
    pub(super) unnumbered: VecDeque<u32>,
    /// TSN up to which the latest SACK has acknowledged all.
    pub(super) covered: Option<Tsn>,
    /// Addresses of ours that no packet can leave from.
    pub(super) links_down: BTreeSet<IpAddr>,
    pub(super) waiting: Option<(Instant, WaitReason)>,
    /// Since when the peer's window lets nothing out, and for how many bytes it has room.
    pub(super) peer_window: Option<(Instant, u64)>,
    /// The span since the last DATA.
    pub(super) idle: Option<Idle>,
    /// Path to which new DATA went last.
    pub(super) latest_new: Option<IpAddr>,
}

/// Key by which a message is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageKey {
    /// By its number.
    Number(u64),
    /// TSN of a chunk of it, if it has no number.
    Tsn(u32),
}

impl fmt::Display for MessageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "message {number}"),
            Self::Tsn(tsn) => write!(f, "TSN {tsn}"),
        }
    }
}

/// A message: what became of each of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Chunks of the message, in the order in which they were first sent.
    pub parts: Vec<MessagePart>,
    /// Instant at which the peer had acknowledged all of it.
    pub acknowledged: Option<Instant>,
    /// Instant at which its reader had it, and instant at which it was offered to the transport.
    pub delivered: Option<(Instant, Instant)>,
    /// Instant at which it was given up.
    pub failed: Option<Instant>,
}

/// A chunk of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagePart {
    /// TSN of the chunk.
    pub tsn: u32,
    /// Transmissions of the chunk, in order of time.
    pub sent: Vec<Transmission>,
}

/// A chunk, sent once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Instant of the transmission.
    pub at: Instant,
    /// Path on which it was sent.
    pub path: IpAddr,
    /// If it had to be retransmitted after that: when that was found, and how.
    pub lost: Option<Loss>,
}

/// Way in which the loss of a chunk was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Instant at which it was noticed.
    pub at: Instant,
    /// Evidence of the loss.
    pub evidence: Evidence,
    /// Number of SACKs that reported it missing, if they did.
    pub reports: Option<u16>,
    /// The time for reordering, if it was overtaken.
    pub reordering_window: Option<Duration>,
    /// True if it counted as lost in error.
    pub is_restored: bool,
}

/// A span in which no DATA was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The last DATA before it.
    pub from: Instant,
    /// The first behind it.
    pub to: Instant,
    /// For how long for which reason, in the order in which they came first.
    pub reasons: Vec<(WaitReason, Duration)>,
}

/// A step in the life of an association.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Instant of the step.
    pub at: Instant,
    /// Of which path, if of one.
    pub path: Option<IpAddr>,
    /// Kind of the step.
    pub kind: StepKind,
}

/// Event of an association or of one of its paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// The association is up.
    Up,
    /// The path is known for the first time, in this state.
    Known(PathState),
    /// T3-rtx has expired after this RTO, and so many bytes were given up. The oldest of what was outstanding on the
    /// path left then.
    TimedOut(Duration, u64, Option<Instant>),
    /// Something was not answered; the error counters of the path and of the association.
    Unanswered(Unanswered, u32, u32),
    /// The path is in this state from now on. Behind it what had not been answered in a row until then; nothing, if it
    /// is inactive because our address has no link.
    Became(PathState, Vec<(Instant, Unanswered)>),
    /// The path has answered after errors in a row: a HEARTBEAT after this time, or DATA.
    Answered(Option<Duration>, u32),
    /// The path has become the primary one.
    Primary,
    /// New DATA goes here from this message on, and went elsewhere before.
    NewData(MessageKey),
    /// The window of the path was reduced.
    Reduced(Reduction),
    /// So many chunks that had been sent here counted as lost at once, by this evidence.
    Lost(u64, Evidence),
    /// The peer's window holds nothing up any more: since then it had room for so many bytes, which was too little for
    /// the next chunk.
    PeerWindowClosed(Instant, u64),
    /// Another path has become the primary one by itself.
    SwitchedOver,
    /// The association is in this state from now on.
    State(AssociationState),
    /// So many chunks at once that the peer had acknowledged and has thrown away.
    Revoked(u64),
    /// So many messages at once of a stream that were given up by a rule, behind that whether a part had been sent.
    Abandoned(u64, u16, ReliabilityPolicy, bool),
    /// Event that the association has told, in the words of SCTP's dictionary.
    Told(Notice),
    /// Packets can leave from this address of ours, or cannot.
    LocalLink(IpAddr, bool),
    /// The association is gone; in order or not, and why.
    Closed(bool, String),
}

/// A window that was reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// Cause of the reduction.
    pub cause: WindowCause,
    /// The congestion window before, in bytes.
    pub from: u64,
    /// The congestion window behind it, in bytes.
    pub to: u64,
    /// The slow-start threshold behind it, in bytes.
    pub ssthresh: u64,
}

/// Story of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathStory {
    /// The peer's address.
    pub address: IpAddr,
    /// Our address, once known.
    pub source: Option<IpAddr>,
    /// State of the path, once known.
    pub state: Option<PathState>,
    /// True if it is the primary path.
    pub is_primary: bool,
    /// Time that it was in each state.
    pub spans: Vec<(PathState, Duration)>,
    /// DATA chunks that were sent here for the first time.
    pub chunks_sent: u64,
    /// DATA chunks that were retransmitted here.
    pub chunks_resent: u64,
    /// DATA chunks that were sent here last when they counted as lost.
    pub chunks_lost: u64,
    /// Expiries of T3-rtx.
    pub timeouts: u64,
    /// HEARTBEATs that were sent and answered.
    pub heartbeats: [u64; 2],
    /// The congestion window: the least, the greatest and the last, in bytes.
    pub cwnd: [u64; 3],
    /// Reductions of the window, by the cause.
    pub reductions: Vec<(WindowCause, u64)>,
    /// The smoothed round-trip time: the least, the greatest and the last.
    pub srtt: Option<[Duration; 3]>,
    /// The RTO: the least, the greatest and the last.
    pub rto: Option<[Duration; 3]>,
    pub(super) since: Instant,
    pub(super) errors: VecDeque<(Instant, Unanswered)>,
    pub(super) error_count: u32,
    pub(super) answered: Option<(Instant, Duration)>,
}

/// SACKs that have come to an association, as far as the trace knows: older ones do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sacks {
    /// Number of them.
    pub count: u64,
    /// Number of them that had Gap Ack Blocks.
    pub with_gaps: u64,
    /// The least, the greatest and the last room that the peer had, in bytes.
    pub a_rwnd_bytes: Option<[u32; 3]>,
}

/// Delays of messages, as far as the trace knows: until the reader had each, or until it was acknowledged.
#[derive(Clone, Debug, Default)]
pub struct MessageDelays {
    /// Messages of which it is known.
    pub messages: u64,
    /// The sum of their delays, in nanoseconds.
    pub sum_ns: u128,
    /// The longest, and its message.
    pub longest: Option<(Duration, MessageKey)>,
    /// Instants at which the delay was over for the first and for the last one.
    pub span: Option<(Instant, Instant)>,
    /// The longest time between two such instants, and when it began.
    pub longest_gap: Option<(Duration, Instant)>,
}

impl Story {
    /// Nothing yet of a trace with this header. Spans of at least `idle` without DATA are told; no shorter ones.
    pub fn new(header: TraceHeader, idle: Duration) -> Self {
        Self {
            header,
            associations: BTreeMap::new(),
            until: Instant::START,
            is_whole: false,
            dropped: 0,
            left_out: 0,
            idle,
            asked: None,
        }
    }

    /// Keeps the message of this number also if it does not have to be retransmitted.
    #[must_use]
    pub const fn asking(mut self, message: Option<u64>) -> Self {
        self.asked = message;
        self
    }

    /// Follows the next record.
    pub fn follow(&mut self, record: &Record) {
        self.until = record.at;
        match record.what {
            What::Dropped { records } => {
                self.dropped = self.dropped.saturating_add(records);
                return;
            }
            What::End {} => {
                self.is_whole = true;
                return;
            }
            _ => {}
        }
        let is_full = self.associations.len() >= ASSOCIATIONS_MAX;
        if is_full && !self.associations.contains_key(&record.association) {
            self.left_out += u64::from(matches!(record.what, What::Up { .. }));
            return;
        }
        let (idle, asked) = (self.idle, self.asked);
        let association = self.associations.entry(record.association).or_default();
        association.asked_number = asked;
        association.follow(record.at, &record.what, idle);
    }

    /// Follows all records; the trace is over behind the last.
    pub fn of<E>(
        header: TraceHeader,
        idle: Duration,
        records: impl IntoIterator<Item = Result<Record, E>>,
    ) -> Result<Self, E> {
        let mut story = Self::new(header, idle);
        for record in records {
            story.follow(&record?);
        }
        story.finish();
        Ok(story)
    }

    /// Nothing follows: what lasts has lasted until the last record.
    pub fn finish(&mut self) {
        let (until, idle) = (self.until, self.idle);
        self.associations.values_mut().for_each(|association| association.finish(until, idle));
    }

    /// The share of their time, 0 to 1, for which associations had something to send and were not allowed to.
    pub fn held_up(&self) -> f64 {
        let waits = self.associations.values().flat_map(|association| &association.waits);
        let mut times = [0.0; 2];
        for (reason, time) in waits {
            times[usize::from(*reason == WaitReason::NothingToSend)] += time.as_secs_f64();
        }
        let [held_up, unasked] = times;
        if held_up > 0.0 { held_up / (held_up + unasked) } else { 0.0 }
    }

    /// Gives the numbers by which two runs are compared.
    pub fn outcome(&self) -> TraceOutcome {
        TraceOutcome::of(self)
    }
}

impl Message {
    pub(super) fn send(&mut self, tsn: u32, sent: Transmission) {
        if let Some(part) = self.parts.iter_mut().find(|part| part.tsn == tsn) {
            if part.sent.len() < follow::REPEATS_MAX {
                part.sent.push(sent);
            }
        } else if self.parts.len() < follow::REPEATS_MAX {
            self.parts.push(MessagePart { tsn, sent: vec![sent] });
        }
    }
}

impl Sacks {
    pub(super) fn add(&mut self, gap_blocks: u16, a_rwnd: u32) {
        self.count += 1;
        self.with_gaps += u64::from(gap_blocks > 0);
        let [least, greatest, _] = self.a_rwnd_bytes.unwrap_or([a_rwnd; 3]);
        self.a_rwnd_bytes = Some([least.min(a_rwnd), greatest.max(a_rwnd), a_rwnd]);
    }
}

impl MessageDelays {
    pub(super) fn add(&mut self, at: Instant, offered: Instant, key: MessageKey) {
        let delay = at.saturating_since(offered);
        self.messages += 1;
        self.sum_ns += u128::from(delay.as_nanos());
        if self.longest.is_none_or(|(longest, _)| longest < delay) {
            self.longest = Some((delay, key));
        }
        if let Some((_, last)) = self.span {
            let gap = at.saturating_since(last);
            if self.longest_gap.is_none_or(|(longest, _)| longest < gap) {
                self.longest_gap = Some((gap, last));
            }
        }
        self.span = Some((self.span.map_or(at, |(first, _)| first), at));
    }

    /// Adds the delays of another association: gaps are those within one.
    pub(crate) fn join(&mut self, other: &Self) {
        self.messages += other.messages;
        self.sum_ns += other.sum_ns;
        self.longest = self.longest.max(other.longest);
        self.longest_gap = self.longest_gap.max(other.longest_gap);
        self.span = match (self.span, other.span) {
            (Some((first, last)), Some((begin, end))) => Some((first.min(begin), last.max(end))),
            (one, another) => one.or(another),
        };
    }

    /// Their mean; `None` if there were none.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum_ns.checked_div(u128::from(self.messages))?;
        Some(Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)))
    }
}
