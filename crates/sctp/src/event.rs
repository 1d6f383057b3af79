//! Messages, options and events that pass between an association and the layer above (RFC 9260, section 11); status
//! reports are not among them.

use std::fmt;
use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::Duration;
use slantpath_wire::ip::IpFields;

use crate::addressing::AddressEvent;
use crate::authentication::AuthenticationEvent;
use crate::cause::Cause;
use crate::chunk::ReconfigurationResult;
use crate::notice::Notice;
use crate::path::PathState;
use crate::reconfiguration::{StreamChange, StreamsChanged};
use crate::reliability::{Reliability, ReliabilityPolicy};
use crate::trace::TraceEvent;
use crate::types::{Ppid, StreamId, StreamSequence, Tsn};

/// A message to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// On which stream.
    pub stream: StreamId,
    /// Payload Protocol Identifier, for the peer's upper layer.
    pub ppid: Ppid,
    /// The bytes; at least one.
    pub payload: Bytes,
    /// True if the message may overtake others of its stream.
    pub is_unordered: bool,
    /// The sender's own number for it, handed back with whatever is said about the message.
    pub context: u64,
    /// Options that few messages have; behind a pointer, since every message is moved several times.
    pub options: Option<Box<SendOptions>>,
}

/// Options with which a message is sent, beyond what most need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SendOptions {
    /// True if the receiver is asked to acknowledge the message at once: its last DATA chunk has the I bit (RFC 7053,
    /// section 5.1).
    pub sack_immediately: bool,
    /// To which of the peer's addresses it is sent first, as long as that is active (RFC 9260, section 11.1.5, E), so
    /// not before that is confirmed;
    /// `None`: where all else goes. What is lost of it may be retransmitted elsewhere.
    pub destination: Option<IpAddr>,
    /// Limit at which the message is given up.
    pub reliability: Reliability,
}

impl SendOptions {
    /// As a [`Message`] has them: behind a pointer if they ask for anything.
    #[inline]
    pub fn for_message(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}

/// A message that has arrived whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedMessage {
    /// On which stream.
    pub stream: StreamId,
    /// Stream Sequence Number; without meaning if unordered.
    pub sequence: StreamSequence,
    /// Payload Protocol Identifier that the peer has given it.
    pub ppid: Ppid,
    /// TSN of its first chunk.
    pub tsn: Tsn,
    /// The bytes.
    pub payload: Bytes,
    /// True if the message may have overtaken others.
    pub is_unordered: bool,
    /// IP header fields of the packet that brought the last of it.
    pub ip: IpFields,
}

/// A part of a message that is too long for the receive buffer, or nearly so (RFC 6458, section 8.1.21). At most one
/// message of an association is delivered in parts at a time; whole messages of other streams may come between. Where
/// messages are interleaved (RFC 8260), at most one ordered and one unordered message of each stream is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedPart {
    /// On which stream.
    pub stream: StreamId,
    /// The message's number in that stream; without meaning if unordered.
    pub sequence: StreamSequence,
    /// Payload Protocol Identifier that the peer has given the message.
    pub ppid: Ppid,
    /// TSN of the message's first chunk.
    pub tsn: Tsn,
    /// The bytes, which follow those of the part before.
    pub payload: Bytes,
    /// True if the message may have overtaken others.
    pub is_unordered: bool,
    /// Position of the bytes in the message.
    pub place: PartPlace,
    /// IP header fields of the packet that had come last when the bytes were passed on.
    pub ip: IpFields,
}

/// Position of a part in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartPlace {
    /// Beginning of the message; more follows.
    First,
    /// More has come before, and more follows.
    Middle,
    /// End of the message.
    Last,
}

/// Events for the layer above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// COMMUNICATION UP: the association is there.
    Established {
        /// Number of streams that can be sent on.
        outbound_streams: u16,
        /// Number of streams that the peer may send on.
        inbound_streams: u16,
    },
    /// RESTART: the peer has begun anew; what was queued and not acknowledged may be lost.
    Restarted,
    /// The packet that is being taken in has brought the last of a message, which may still have to wait for others of
    /// its stream, or for the layer above; only if `trace_arrivals` is set. Unordered messages follow each other in the
    /// order in which this is said of them.
    Arrived {
        /// On which stream.
        stream: StreamId,
        /// Stream Sequence Number; without meaning if unordered.
        sequence: StreamSequence,
        /// True if the message may overtake others.
        is_unordered: bool,
    },
    /// A message has arrived.
    Received(ReceivedMessage),
    /// A part of a message has arrived that is longer than the partial delivery point.
    ReceivedPart(ReceivedPart),
    /// The rest of a message that was being delivered in parts will never come: the peer has given it up (RFC 3758,
    /// section 3.6), or the association ends or begins anew (RFC 6458, section 6.1.7).
    PartialDeliveryAborted {
        /// The message's stream.
        stream: StreamId,
        /// Stream Sequence Number; without meaning if unordered.
        sequence: StreamSequence,
        /// True if the message is unordered.
        is_unordered: bool,
    },
    /// The peer has acknowledged all of a message.
    Acknowledged {
        /// The number that the message was sent with.
        context: u64,
    },
    /// A DATA chunk has been put into a packet; only if `trace_messages` is set.
    Transmitted {
        /// The number that its message was sent with.
        context: u64,
        /// TSN of the chunk.
        tsn: Tsn,
        /// The address that it goes to.
        destination: IpAddr,
        /// 1 for the first time, 2 for the first retransmission, and so on.
        transmission: u32,
    },
    /// After a message was refused for want of room: there is room again.
    SendBufferDrained {
        /// Number of bytes that are free now.
        free: u64,
    },
    /// SEND FAILURE: the association has ended before a message was acknowledged.
    SendFailed {
        /// The message, as it was given, but without the options of one that has been sent.
        message: Message,
        /// True if it, or a part of it, has been sent: whether it has arrived is not known.
        was_sent: bool,
    },
    /// NETWORK STATUS CHANGE: an address of the peer has become reachable, unreachable or potentially failed.
    PathChanged {
        /// Address of the peer.
        address: IpAddr,
        /// New state of the path.
        state: PathState,
    },
    /// Another address of the peer has become the primary one without the user's command at that moment: a switchover
    /// (RFC 7829, section 5), or the one that was connected to first has answered after all.
    PrimaryChanged {
        /// Address that is now the primary one.
        address: IpAddr,
    },
    /// T3-rtx of an address of the peer has been started or stopped, or has expired; only if `trace_timers` is set.
    T3Rtx {
        /// Address of the peer.
        address: IpAddr,
        /// Change of the timer.
        change: T3RtxChange,
    },
    /// COMMUNICATION ERROR: the peer has reported something that is not fatal.
    PeerReported(Vec<Cause>),
    /// The peer has begun to shut down; nothing more can be sent.
    ShutdownReceived,
    /// The association is gone; nothing follows.
    Closed(CloseReason),
    /// Streams have been reset or added, by whosever request (RFC 6525).
    StreamsChanged(StreamsChanged),
    /// A request of ours to change streams is over.
    ReconfigurationAnswered {
        /// Request that is over.
        change: StreamChange,
        /// Answer of the peer; also a denial if the association has begun to shut down.
        result: ReconfigurationResult,
    },
    /// Addresses of either end have changed, or will not (RFC 5061).
    Addresses(AddressEvent),
    /// Chunks of the peer's are not authenticated as they should be (RFC 4895).
    Authentication(AuthenticationEvent),
    /// Event of the dictionary, for whoever asks for it. Behind a pointer, since few are told.
    Notice(Box<Notice>),
    /// SEND FAILURE: a message has been given up as its [`Reliability`] asks. What was sent of it may have arrived.
    Abandoned {
        /// The message, as it was given, but without its options.
        message: Message,
        /// By which rule.
        policy: ReliabilityPolicy,
        /// True if a part of it has been sent.
        was_sent: bool,
    },
    /// Reason for a decision; only if `trace` is set. Behind a pointer, since it is longer than most events.
    Trace(Box<TraceEvent>),
}

impl Event {
    /// The bytes of a message that it brings.
    pub(crate) const fn payload_len(&self) -> usize {
        match self {
            Self::Received(message) => message.payload.len(),
            Self::ReceivedPart(part) => part.payload.len(),
            _ => 0,
        }
    }

    /// Tells if the event is a message, or the last part of one.
    pub(crate) const fn ends_message(&self) -> bool {
        match self {
            Self::Received(_) => true,
            Self::ReceivedPart(part) => matches!(part.place, PartPlace::Last),
            _ => false,
        }
    }
}

/// Change of the retransmission timer of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum T3RtxChange {
    /// Expiry of the timer.
    Expired {
        /// The RTO before it is backed off.
        rto: Duration,
        /// Bytes of DATA chunks, sent to the address last, that are given up.
        outstanding: u64,
    },
    /// Restart of the timer while it ran, with this RTO.
    Restarted {
        /// The RTO.
        rto: Duration,
    },
    /// Start of the timer when it did not run, with this RTO.
    Started {
        /// The RTO.
        rto: Duration,
    },
    /// All that was outstanding has been acknowledged.
    Stopped,
}

/// Why an association has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// We aborted it, for a fault of the peer's or by command.
    Aborted(Cause),
    /// SHUTDOWN COMPLETE: in order.
    ShutdownComplete,
    /// The peer aborted it, for these causes.
    PeerAborted(Vec<Cause>),
    /// COMMUNICATION LOST: the peer has not answered as often as allowed.
    PeerUnreachable,
    /// The peer has refused our cookie as stale, again and again.
    StaleCookie,
    /// COMMUNICATION LOST: the peer has begun anew after the layer above had asked for the end, which counts as an
    /// ABORT from it (RFC 9260, section 5.2.4, action A).
    PeerRestarted,
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aborted(cause) => write!(f, "the association was aborted here: {cause}"),
            Self::ShutdownComplete => f.write_str("the association was shut down in order"),
            Self::PeerAborted(causes) if causes.is_empty() => {
                f.write_str("the peer has aborted the association, and does not say why")
            }
            Self::PeerAborted(causes) => {
                let texts: Vec<String> = causes.iter().map(Cause::to_string).collect();
                write!(f, "the peer has aborted the association: {}", texts.join(", "))
            }
            Self::PeerUnreachable => f.write_str("the peer does not answer"),
            Self::StaleCookie => f.write_str("the peer has refused the cookie as stale, again and again"),
            Self::PeerRestarted => {
                f.write_str("the peer has begun anew before the association was shut down")
            }
        }
    }
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// No such association, or not any more.
    #[error("there is no such association")]
    NoAssociation,
    /// The association is shutting down.
    #[error("the association is shutting down")]
    ShuttingDown,
    /// The message is to go to an address that is none of the peer's.
    #[error("{address} is none of the peer's addresses")]
    NoSuchDestination {
        /// The address asked for.
        address: IpAddr,
    },
    /// The stream was not negotiated.
    #[error("stream {stream} is not one of the {available} outbound streams")]
    NoSuchStream {
        /// The stream asked for.
        stream: StreamId,
        /// Number of outbound streams that there are.
        available: u16,
    },
    /// Longer than the whole send buffer: it will never fit.
    #[error("a message of {len} bytes exceeds the send buffer of {limit} bytes")]
    TooLong {
        /// The message's length.
        len: u64,
        /// The send buffer's size.
        limit: u64,
    },
    /// Nothing to send.
    #[error("a message of no bytes cannot be sent")]
    Empty,
    /// The send buffer has no room for it now.
    #[error("{wanted} bytes do not fit into the {free} free bytes of the send buffer")]
    BufferFull {
        /// The message's length.
        wanted: u64,
        /// Number of bytes that are free: zero, too, where the buffer holds as many messages as it may.
        free: u64,
    },
}
