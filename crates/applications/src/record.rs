//! Records of each message and each flow, kept while it runs, for the tables of the results.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use slantpath_base::{DataSize, Duration, Instant};
use slantpath_host::{PathSample, SocketId};
use slantpath_interface::Journey;
use slantpath_sctp::ReliabilityPolicy;

use crate::failover::Failover;
use crate::ids::SessionSourceId;
use crate::timeline::PathEvent;

/// A message as its sender knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// Bytes of the message.
    pub size: u32,
    /// Instant at which the application called SEND.
    pub sent: Instant,
    /// Instant of the first transmission of its first byte; `None` if there was none.
    pub first_transmitted: Option<Instant>,
    /// Instant of the last first transmission of a part of it: all of it has been transmitted by then, once it is
    /// delivered.
    pub last_part_transmitted: Option<Instant>,
    /// The path of that first transmission, an index into [`SenderReport::paths`].
    pub first_path: u8,
    /// The path of the latest transmission.
    pub last_path: u8,
    /// Instant of the last retransmission of a part of it; `None` if nothing was retransmitted.
    pub retransmitted: Option<Instant>,
    /// Retransmissions of any part of it.
    pub retransmissions: u16,
}

/// A message as its receiver knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveredMessage {
    /// The number in its stamp.
    pub number: u32,
    /// Instant at which the transport delivered it.
    pub delivered: Instant,
    /// Journey of the packet with which the last of it came; only if that is recorded, by a network that tells.
    pub journey: Option<Journey>,
}

/// Everything that a sender remembers of its flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
// In this order in memory: what every message touches at the end, where the sender's configuration follows.
#[repr(C)]
pub struct SenderReport {
    /// Peer addresses, one a path, in the order of the association; one for TCP.
    pub paths: Vec<IpAddr>,
    /// Instant at which the association or connection came up.
    pub connected: Option<Instant>,
    /// Messages that the transport gave up on, and said so (SCTP).
    pub messages_failed: u64,
    /// Messages and their fates, by number, without those that were [taken](crate::Flows::take_sender_records); empty
    /// unless messages are recorded.
    pub messages: VecDeque<SentMessage>,
    /// Instants at which the messages were sent, by number, without those that were taken; empty unless that is
    /// recorded.
    pub sent: Vec<Instant>,
    /// Echoes of messages, in order of time, without those that were taken; empty unless instants of sending are
    /// recorded.
    pub replies: Vec<DeliveredMessage>,
    /// Number of retransmissions of a part of a message (SCTP) or of the byte stream (TCP); counted if messages are
    /// traced.
    pub retransmissions: u64,
    /// Path samples in order of time, without those that were taken; empty unless paths are probed.
    pub samples: Vec<PathSample>,
    /// Events of the paths, in order of time, without those that were taken; empty unless they are recorded.
    pub timeline: Vec<PathEvent>,
    /// Failovers, in order of time, without those that were taken (SCTP).
    pub failovers: Vec<Failover>,
    /// Why the flow ended before its time, if it did.
    pub failure: Option<String>,
    /// Instant at which the flow ended: closed in order, or with [`failure`](Self::failure).
    pub ended: Option<Instant>,
    /// Messages that were given up as their reliability asks (SCTP), once one was.
    pub(crate) abandoned: Option<Box<AbandonedMessages>>,
    /// Messages handed to the transport.
    pub messages_sent: u64,
    /// Bytes of these messages.
    pub bytes_sent: u64,
}

/// Records that were taken out of a sender: it has forgotten them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SenderRecords {
    /// Messages, the numbers of which follow those of the messages that were taken before.
    pub messages: Vec<SentMessage>,
    /// Instants at which messages were sent, the numbers of which follow those of the messages that were taken before.
    pub sent: Vec<Instant>,
    /// Echoes of messages, in order of time.
    pub replies: Vec<DeliveredMessage>,
    /// Path samples, in order of time.
    pub samples: Vec<PathSample>,
    /// Events of the paths.
    pub timeline: Vec<PathEvent>,
    /// Failovers, in order of time.
    pub failovers: Vec<Failover>,
}

/// Choice of the records that are taken out of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finality {
    /// All of them: the run is over.
    Over,
    /// Records that nothing will change: of messages the first ones, as far as all have been acknowledged for good. No
    /// record before the paths are known.
    Settled,
}

/// A session as its sender knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SentSession {
    /// The source that began it.
    pub source: SessionSourceId,
    /// Number of the session among those of the source.
    pub number: u32,
    /// Instant at which it began.
    pub begun: Instant,
    /// Size of the data that it carries, or asks for in all.
    pub size: DataSize,
    /// Instant at which it was opened: later than it began if it had to wait, `None` if it was refused or still waits.
    pub admitted: Option<Instant>,
    /// Port that it was opened from; `None` if it was not opened.
    pub port: Option<u16>,
    /// Instant at which the association or connection came up.
    pub connected: Option<Instant>,
    /// Number of its bytes that the transport has taken.
    pub bytes_sent: u64,
    /// DATA chunks or segments that were retransmitted; `None` if the transport has forgotten it.
    pub retransmissions: Option<u64>,
    /// Instant at which it ended: closed in order, or with `failure`; `None` if it has not.
    pub ended: Option<Instant>,
    /// Why it ended before its time, if it did.
    pub failure: Option<String>,
    /// Answers to its opener; `None` if it has not been opened, or does not ask.
    pub answers: Option<Answers>,
}

impl SentSession {
    /// One that has begun, and has not been opened yet.
    pub const fn new(source: SessionSourceId, number: u32, begun: Instant, size: DataSize) -> Self {
        Self {
            source,
            number,
            begun,
            size,
            admitted: None,
            port: None,
            connected: None,
            bytes_sent: 0,
            retransmissions: None,
            ended: None,
            failure: None,
            answers: None,
        }
    }
}

/// Answers to the requests of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Bytes that were delivered to the opener.
    pub bytes_delivered: u64,
    /// Instant at which the last of them were delivered.
    pub last_delivery: Option<Instant>,
    /// The requests, in the order in which they were made.
    pub requests: Vec<Request>,
}

/// A request, as the one who made it knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Size of the answer that was asked for.
    pub size: DataSize,
    /// Instant at which the request was made.
    pub asked: Instant,
    /// Instant at which the first byte of the answer was delivered, if one was.
    pub first_delivery: Option<Instant>,
    /// Instant at which the last byte of the answer was delivered.
    pub answered: Option<Instant>,
}

/// A session as its receiver knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedSession {
    /// The server that accepted it.
    pub server: SocketId,
    /// The sender's address and port; `None` if the transport has forgotten it.
    pub peer: Option<SocketAddr>,
    /// Instant at which it was accepted; `None` if nothing has come of it yet.
    pub accepted: Option<Instant>,
    /// Number of bytes that were delivered.
    pub bytes_delivered: u64,
    /// Instant at which the last byte was delivered.
    pub last_delivery: Option<Instant>,
    /// DATA chunks or segments of answers that were retransmitted; `None` for one that is not asked anything, or if the
    /// transport has forgotten it.
    pub retransmissions: Option<u64>,
}

/// A session that is opened, as its source knows it. What comes in from its port belongs to it until another is opened
/// from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedSession {
    /// The source that began it.
    pub source: SessionSourceId,
    /// Number of the session among those of the source.
    pub number: u32,
    /// From which port.
    pub port: u16,
    /// Instant at which it is opened.
    pub at: Instant,
}

/// Sessions that are over, or were not at the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRecords {
    /// Sessions that have been opened since such records were last taken, over or not, in order of time.
    pub opened: Vec<OpenedSession>,
    /// Sessions that the host's sources have begun.
    pub sent: Vec<SentSession>,
    /// Sessions that the host's servers have accepted.
    pub received: Vec<ReceivedSession>,
}

/// Everything that a receiver remembers of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
// In this order in memory: what all that is delivered touches in front.
#[repr(C)]
pub struct ReceiverReport {
    /// Bytes delivered.
    pub bytes_delivered: u64,
    /// Instant at which the first byte was delivered.
    pub first_delivery: Option<Instant>,
    /// Instant at which the last byte was delivered.
    pub last_delivery: Option<Instant>,
    /// Longest time between two deliveries.
    pub gap_max: Duration,
    /// Messages delivered.
    pub messages_delivered: u64,
    /// Delivered messages in order of delivery, without those that were [taken](crate::Flows::take_deliveries); empty
    /// unless messages are recorded.
    pub messages: Vec<DeliveredMessage>,
    /// Messages whose bytes are not what was sent. More than none is a defect of the transport.
    pub messages_corrupt: u64,
    /// Messages that broke the order of their stream. More than none is a defect of the transport.
    pub messages_out_of_order: u64,
    /// Instant and reason of the end of the peer's association or connection, as this end saw it.
    pub ended: Option<(Instant, String)>,
}

/// Messages that were given up, by stream and policy: unsent ones, and those of which a part had been sent.
pub(crate) type AbandonedMessages = BTreeMap<(u16, ReliabilityPolicy), [u64; 2]>;

impl SenderReport {
    /// Messages that were given up as their reliability asks (SCTP). What was sent of one may have been delivered.
    pub fn messages_abandoned(&self) -> u64 {
        self.abandoned_by_stream().map(|(_, [unsent, sent])| unsent + sent).sum()
    }

    /// Counts of [`messages_abandoned`](Self::messages_abandoned) by stream and policy (RFC 7496, section 4.3): unsent
    /// messages, and those of which a part had been sent.
    pub fn abandoned_by_stream(&self) -> impl Iterator<Item = ((u16, ReliabilityPolicy), [u64; 2])> + '_ {
        self.abandoned.iter().flat_map(|abandoned| abandoned.iter().map(|(of, counts)| (*of, *counts)))
    }

    /// Takes samples out. The last of each path stay, to tell whether the next ones are new.
    pub(crate) fn take_samples(&mut self, finality: Finality) -> Vec<PathSample> {
        let kept = match finality {
            Finality::Over => 0,
            Finality::Settled => self.paths.len().max(1),
        };
        self.samples.drain(..self.samples.len().saturating_sub(kept)).collect()
    }

    /// Keeps a sample unless nothing has changed on its path since the last one.
    pub(crate) fn push_sample(&mut self, sample: PathSample) {
        let last =
            self.samples.iter().rev().take(self.paths.len().max(1)).find(|last| last.path == sample.path);
        if last.is_none_or(|last| PathSample { at: sample.at, ..*last } != sample) {
            self.samples.push(sample);
        }
    }
}
