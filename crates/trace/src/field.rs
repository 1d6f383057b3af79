//! Values of the names in a line: numbers, addresses, times and words.

use std::net::IpAddr;

use serde_json::Value;
use slantpath_base::{Duration, Instant};
use slantpath_sctp::{AssociationState, PathState, ReliabilityPolicy, Unanswered, WaitReason, WindowCause};

/// A value of a record.
pub(crate) trait Field: Sized {
    /// Gives the kind of the value, for the page.
    fn kind() -> String;

    /// As it is written; `None` if it is left out.
    fn write(&self) -> Option<Value>;

    /// As it was written, if it was; `None` if that cannot be.
    fn read(value: Option<&Value>) -> Option<Self>;
}

macro_rules! numbers {
    ($($Number:ident),+) => { $(
        impl Field for $Number {
            fn kind() -> String {
                "number".to_owned()
            }

            fn write(&self) -> Option<Value> {
                Some((*self).into())
            }

            fn read(value: Option<&Value>) -> Option<Self> {
                Self::try_from(value?.as_u64()?).ok()
            }
        }
    )+ };
}
numbers!(u16, u32, u64);

impl Field for bool {
    fn kind() -> String {
        "`true` or `false`".to_owned()
    }

    fn write(&self) -> Option<Value> {
        Some((*self).into())
    }

    fn read(value: Option<&Value>) -> Option<Self> {
        value?.as_bool()
    }
}

impl Field for String {
    fn kind() -> String {
        "text".to_owned()
    }

    fn write(&self) -> Option<Value> {
        Some(self.as_str().into())
    }

    fn read(value: Option<&Value>) -> Option<Self> {
        value?.as_str().map(str::to_owned)
    }
}

impl Field for IpAddr {
    fn kind() -> String {
        "address".to_owned()
    }

    fn write(&self) -> Option<Value> {
        Some(self.to_string().into())
    }

    fn read(value: Option<&Value>) -> Option<Self> {
        value?.as_str()?.parse().ok()
    }
}

impl Field for Duration {
    fn kind() -> String {
        "nanoseconds".to_owned()
    }

    fn write(&self) -> Option<Value> {
        Some(self.as_nanos().into())
    }

    fn read(value: Option<&Value>) -> Option<Self> {
        value?.as_u64().map(Self::from_nanos)
    }
}

impl Field for Instant {
    fn kind() -> String {
        "nanoseconds since the start".to_owned()
    }

    fn write(&self) -> Option<Value> {
        Some(self.as_nanos().into())
    }

    fn read(value: Option<&Value>) -> Option<Self> {
        value?.as_u64().map(Self::from_nanos)
    }
}

impl Field for Vec<u16> {
    fn kind() -> String {
        "list of numbers".to_owned()
    }

    fn write(&self) -> Option<Value> {
        Some(self.as_slice().into())
    }

    fn read(value: Option<&Value>) -> Option<Self> {
        value?.as_array()?.iter().map(|number| u16::read(Some(number))).collect()
    }
}

impl<F: Field> Field for Option<F> {
    fn kind() -> String {
        format!("{}, or left out", F::kind())
    }

    fn write(&self) -> Option<Value> {
        self.as_ref().and_then(Field::write)
    }

    fn read(value: Option<&Value>) -> Option<Self> {
        match value {
            None | Some(Value::Null) => Some(None),
            some => F::read(some).map(Some),
        }
    }
}

/// Request of one end to the other about addresses (RFC 5061).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressRequest {
    /// To take one of ours into the association.
    Add,
    /// To take one of ours out of it.
    Delete,
    /// To send to one of ours from now on.
    SetPrimary,
    /// Something that is not known here.
    Unknown,
}

/// Change of an address of the peer (RFC 5061).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerAddress {
    /// The address is one from now on.
    Added,
    /// The peer wants DATA there.
    Primary,
    /// The address is none any more.
    Removed,
}

/// Request of ours to the peer about streams (RFC 6525).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamRequest {
    /// More streams for the peer to send on.
    AddInbound,
    /// More streams to send on.
    AddOutbound,
    /// To begin all streams and TSNs again.
    ResetAssociation,
    /// To begin streams again that the peer sends on.
    ResetInbound,
    /// To begin streams again that we send on.
    ResetOutbound,
}

/// Answer of the peer to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamAnswer {
    /// Another request is in its way.
    AlreadyInProgress,
    /// The request's number is not the one that was expected.
    BadSequenceNumber,
    /// The peer does not want to.
    Denied,
    /// The request is being performed.
    InProgress,
    /// There was nothing to do.
    NothingToDo,
    /// The request has been performed.
    Performed,
    /// Something that is not known here.
    Unknown,
    /// The request names a stream that does not exist.
    WrongStream,
}

/// Change of streams (RFC 6525).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamsStep {
    /// There are more.
    Added,
    /// All begin again, and TSNs too.
    AssociationReset,
    /// Streams that the peer sends on begin again.
    InboundReset,
    /// Streams that we send on begin again.
    OutboundReset,
}

/// Evidence about a chunk that is to be retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// SACKs have reported it missing.
    MissIndications,
    /// One that was sent to the same address after it has arrived.
    Overtaken,
    /// None: it is retransmitted to show whether the last ones were lost.
    Probed,
    /// The peer had no room for it, and has some now.
    Refused,
    /// The link of our address has gone: it cannot have left, or is not answered there.
    LinkDown,
    /// T3-rtx has expired.
    TimedOut,
    /// The packet was longer than a link carries.
    TooBig,
}

/// Change of T3-rtx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// The timer has expired.
    Expired,
    /// The timer ran and has been started anew.
    Restarted,
    /// The timer did not run and has been started.
    Started,
    /// Everything has been acknowledged.
    Stopped,
}

/// Enums that are written as words.
macro_rules! words {
    ($( $Type:ident { $( $Variant:ident = $word:literal, )+ } )+) => { $(
        impl Field for $Type {
            fn kind() -> String {
                [$(concat!("`", $word, "`")),+].join(", ")
            }

            fn write(&self) -> Option<Value> {
                Some(match self { $( Self::$Variant => $word, )+ }.into())
            }

            fn read(value: Option<&Value>) -> Option<Self> {
                match value?.as_str()? {
                    $( $word => Some(Self::$Variant), )+
                    _ => None,
                }
            }
        }
    )+ };
}

words! {
    AddressRequest {
        Add = "add",
        Delete = "delete",
        SetPrimary = "set-primary",
        Unknown = "unknown",
    }
    PeerAddress {
        Added = "added",
        Primary = "primary",
        Removed = "removed",
    }
    ReliabilityPolicy {
        Lifetime = "lifetime",
        Retransmissions = "retransmissions",
        Priority = "priority",
    }
    StreamAnswer {
        AlreadyInProgress = "already-in-progress",
        BadSequenceNumber = "bad-sequence-number",
        Denied = "denied",
        InProgress = "in-progress",
        NothingToDo = "nothing-to-do",
        Performed = "performed",
        Unknown = "unknown",
        WrongStream = "wrong-stream",
    }
    StreamRequest {
        AddInbound = "add-inbound",
        AddOutbound = "add-outbound",
        ResetAssociation = "reset-association",
        ResetInbound = "reset-inbound",
        ResetOutbound = "reset-outbound",
    }
    StreamsStep {
        Added = "added",
        AssociationReset = "association-reset",
        InboundReset = "inbound-reset",
        OutboundReset = "outbound-reset",
    }
    AssociationState {
        Established = "established",
        ShutdownPending = "shutdown-pending",
        ShutdownSent = "shutdown-sent",
        ShutdownReceived = "shutdown-received",
        ShutdownAckSent = "shutdown-ack-sent",
        Closed = "closed",
    }
    Evidence {
        LinkDown = "link-down",
        MissIndications = "miss-indications",
        Overtaken = "overtaken",
        Probed = "probed",
        Refused = "refused",
        TimedOut = "timed-out",
        TooBig = "too-big",
    }
    PathState {
        Active = "active",
        Inactive = "inactive",
        PotentiallyFailed = "potentially-failed",
        Unconfirmed = "unconfirmed",
    }
    Timer {
        Expired = "expired",
        Restarted = "restarted",
        Started = "started",
        Stopped = "stopped",
    }
    Unanswered {
        Data = "data",
        Heartbeat = "heartbeat",
        Shutdown = "shutdown",
        Asconf = "asconf",
        ReConfig = "re-config",
    }
    WaitReason {
        AfterTimeout = "after-timeout",
        Burst = "burst",
        Bundling = "bundling",
        CongestionWindow = "congestion-window",
        NothingToSend = "nothing-to-send",
        Pacing = "pacing",
        PeerWindow = "peer-window",
        TooManyOutstanding = "too-many-outstanding",
        OtherPath = "other-path",
    }
    WindowCause {
        Acknowledged = "acknowledged",
        Controller = "controller",
        LossFound = "loss-found",
        Marked = "marked",
        Recovering = "recovering",
        TimedOut = "timed-out",
        Unchanged = "unchanged",
        Undone = "undone",
    }
}
