//! Values that a notice has in its fields, and the words that some of them are.

use std::net::IpAddr;

use slantpath_base::Duration;

use crate::path::PathState;
use crate::reliability::ReliabilityPolicy;

/// Value of a field, in a form that a file or another language has, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Field that says nothing: it is left out of a file.
    Nothing,
    /// True or false.
    Flag(bool),
    /// A number.
    Number(u64),
    /// Text, also a word out of a few.
    Text(String),
    /// An IP address.
    Address(IpAddr),
    /// Numbers of streams.
    Streams(Vec<u16>),
}

/// Type of a field of a notice.
pub trait Field: Sized {
    /// Gives the kind of the value, for a page of documentation.
    fn kind() -> String;

    /// Names the type in Python.
    fn python() -> &'static str;

    /// Gives the value.
    fn value(&self) -> Value;

    /// Takes a value that was read, where an address may be text; `None` if it cannot be one of this type.
    fn of(value: Value) -> Option<Self>;
}

macro_rules! numbers {
    ($($Number:ident),+) => { $(
        impl Field for $Number {
            fn kind() -> String {
                "number".to_owned()
            }

            fn python() -> &'static str {
                "int"
            }

            fn value(&self) -> Value {
                Value::Number((*self).into())
            }

            fn of(value: Value) -> Option<Self> {
                if let Value::Number(number) = value { Self::try_from(number).ok() } else { None }
            }
        }
    )+ };
}
numbers!(u16, u32, u64);

impl Field for Duration {
    fn kind() -> String {
        "number of nanoseconds".to_owned()
    }

    fn python() -> &'static str {
        "int"
    }

    fn value(&self) -> Value {
        Value::Number(self.as_nanos())
    }

    fn of(value: Value) -> Option<Self> {
        if let Value::Number(nanos) = value { Some(Self::from_nanos(nanos)) } else { None }
    }
}

impl Field for bool {
    fn kind() -> String {
        "`true` or `false`".to_owned()
    }

    fn python() -> &'static str {
        "bool"
    }

    fn value(&self) -> Value {
        Value::Flag(*self)
    }

    fn of(value: Value) -> Option<Self> {
        if let Value::Flag(flag) = value { Some(flag) } else { None }
    }
}

impl Field for String {
    fn kind() -> String {
        "text".to_owned()
    }

    fn python() -> &'static str {
        "str"
    }

    fn value(&self) -> Value {
        Value::Text(self.clone())
    }

    fn of(value: Value) -> Option<Self> {
        if let Value::Text(text) = value { Some(text) } else { None }
    }
}

impl Field for IpAddr {
    fn kind() -> String {
        "address".to_owned()
    }

    fn python() -> &'static str {
        "str"
    }

    fn value(&self) -> Value {
        Value::Address(*self)
    }

    fn of(value: Value) -> Option<Self> {
        match value {
            Value::Address(address) => Some(address),
            Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl Field for Vec<u16> {
    fn kind() -> String {
        "list of numbers".to_owned()
    }

    fn python() -> &'static str {
        "Sequence[int]"
    }

    fn value(&self) -> Value {
        Value::Streams(self.clone())
    }

    fn of(value: Value) -> Option<Self> {
        if let Value::Streams(streams) = value { Some(streams) } else { None }
    }
}

impl<F: Field> Field for Option<F> {
    fn kind() -> String {
        format!("{}, or left out", F::kind())
    }

    fn python() -> &'static str {
        F::python()
    }

    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Nothing, Field::value)
    }

    fn of(value: Value) -> Option<Self> {
        match value {
            Value::Nothing => Some(None),
            some => F::of(some).map(Some),
        }
    }
}

/// Declares enums that are written as words.
macro_rules! words {
    ($(
        $(#[$attribute:meta])*
        enum $Type:ident {
            $( $(#[doc = $about:literal])+ $Variant:ident = $word:literal, )+
        }
    )+) => { $(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Type { $( $(#[doc = $about])+ $Variant, )+ }

        written! { $Type { $( $Variant = $word, )+ } }
    )+ };
}

/// Writes enums as words.
macro_rules! written {
    ($( $Type:ident { $( $Variant:ident = $word:literal, )+ } )+) => { $(
        impl Field for $Type {
            fn kind() -> String {
                [$(concat!("`", $word, "`")),+].join(", ")
            }

            fn python() -> &'static str {
                "str"
            }

            fn value(&self) -> Value {
                Value::Text(match self { $( Self::$Variant => $word, )+ }.to_owned())
            }

            fn of(value: Value) -> Option<Self> {
                let Value::Text(text) = value else { return None };
                match text.as_str() {
                    $( $word => Some(Self::$Variant), )+
                    _ => None,
                }
            }
        }
    )+ };
}

words! {
    /// Request of one end to the other about addresses (RFC 5061).
    enum AddressRequest {
        /// To take one of ours into the association.
        Add = "add",
        /// To take one of ours out of it.
        Delete = "delete",
        /// To send to one of ours from now on.
        SetPrimary = "set-primary",
        /// Something that is not known here.
        Unknown = "unknown",
    }
    /// Change of an address of the peer (RFC 5061).
    enum PeerAddress {
        /// The address is one from now on.
        Added = "added",
        /// The peer wants DATA there.
        Primary = "primary",
        /// The address is none any more.
        Removed = "removed",
    }
    /// Request of ours to the peer about streams (RFC 6525).
    enum StreamRequest {
        /// More streams for the peer to send on.
        AddInbound = "add-inbound",
        /// More streams to send on.
        AddOutbound = "add-outbound",
        /// To begin all streams and TSNs again.
        ResetAssociation = "reset-association",
        /// To begin streams again that the peer sends on.
        ResetInbound = "reset-inbound",
        /// To begin streams again that we send on.
        ResetOutbound = "reset-outbound",
    }
    /// Answer of the peer to that.
    enum StreamAnswer {
        /// Another request is in its way.
        AlreadyInProgress = "already-in-progress",
        /// The request's number is not the one that was expected.
        BadSequenceNumber = "bad-sequence-number",
        /// The peer does not want to.
        Denied = "denied",
        /// The request is being performed.
        InProgress = "in-progress",
        /// There was nothing to do.
        NothingToDo = "nothing-to-do",
        /// The request has been performed.
        Performed = "performed",
        /// Something that is not known here.
        Unknown = "unknown",
        /// The request names a stream that does not exist.
        WrongStream = "wrong-stream",
    }
    /// Change of streams (RFC 6525).
    enum StreamsStep {
        /// There are more.
        Added = "added",
        /// All begin again, and TSNs too.
        AssociationReset = "association-reset",
        /// Streams that the peer sends on begin again.
        InboundReset = "inbound-reset",
        /// Streams that we send on begin again.
        OutboundReset = "outbound-reset",
    }
}

written! {
    PathState {
        Active = "active",
        Inactive = "inactive",
        PotentiallyFailed = "potentially-failed",
        Unconfirmed = "unconfirmed",
    }
    ReliabilityPolicy {
        Lifetime = "lifetime",
        Retransmissions = "retransmissions",
        Priority = "priority",
    }
}
