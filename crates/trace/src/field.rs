//! Values of the names in a line: numbers, addresses, times and words.

use std::net::IpAddr;

use serde_json::Value;
use slantpath_base::{Duration, Instant};
use slantpath_sctp::{
    AssociationState, PathState, ReliabilityPolicy, Unanswered, WaitReason, WindowCause, notice,
};

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

/// A value of SCTP's dictionary, as a file has it; `None` if it is left out.
pub(crate) fn written(value: notice::Value) -> Option<Value> {
    match value {
        notice::Value::Nothing => None,
        notice::Value::Flag(flag) => Some(flag.into()),
        notice::Value::Number(number) => Some(number.into()),
        notice::Value::Text(text) => Some(text.into()),
        notice::Value::Address(address) => Some(address.to_string().into()),
        notice::Value::Streams(streams) => Some(streams.into()),
    }
}

/// A value of SCTP's dictionary that a file has, or lacks; `None` if it can be none.
pub(crate) fn taken(value: Option<&Value>) -> Option<notice::Value> {
    Some(match value {
        None | Some(Value::Null) => notice::Value::Nothing,
        Some(Value::Bool(flag)) => notice::Value::Flag(*flag),
        Some(Value::Number(number)) => notice::Value::Number(number.as_u64()?),
        Some(Value::String(text)) => notice::Value::Text(text.clone()),
        Some(Value::Array(streams)) => {
            let streams = streams.iter().map(|number| u16::try_from(number.as_u64()?).ok());
            notice::Value::Streams(streams.collect::<Option<_>>()?)
        }
        Some(Value::Object(_)) => return None,
    })
}

macro_rules! of_dictionary {
    ($($Type:ident),+) => { $(
        impl Field for $Type {
            fn kind() -> String {
                <Self as notice::Field>::kind()
            }

            fn write(&self) -> Option<Value> {
                written(notice::Field::value(self))
            }

            fn read(value: Option<&Value>) -> Option<Self> {
                notice::Field::of(taken(value)?)
            }
        }
    )+ };
}
of_dictionary!(PathState, ReliabilityPolicy);

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
    /// None that was seen where the packets were captured.
    Unknown,
}

/// Change of T3-rtx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerChange {
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
        Unknown = "unknown",
    }
    TimerChange {
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
