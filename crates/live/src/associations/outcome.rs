//! Outcomes of commands to an association.

use std::fmt;

use slantpath_applications::ProgramMessage;
use slantpath_sctp::{self as sctp, Cause, CloseReason};

/// Reason for which an association was lost. Its `Display` text is meant for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lost {
    /// This end has aborted it, for a fault of the peer's or by command.
    Aborted(Cause),
    /// Failure of an association that was being set up, since nobody takes associations at that port of the peer: its
    /// SCTP has said so, or by ICMP the system of a host without one, or without anybody at the UDP port.
    Nobody,
    /// The peer has aborted it, for these causes.
    PeerAborted(Vec<Cause>),
    /// The peer has not answered as often as allowed.
    PeerUnreachable,
    /// The peer has refused the cookie as stale, again and again.
    StaleCookie,
    /// The peer has begun anew before the association was shut down.
    PeerRestarted,
    /// Something else, in words.
    Other(String),
}

impl Lost {
    /// Reason that the end of an association gives ([`slantpath_applications::ProgramEvent::Ended`]); `None` if it
    /// ended in order.
    pub fn of_end(failure: Option<String>, reason: Option<Box<CloseReason>>) -> Option<Self> {
        let failure = failure?;
        Some(match reason.map(|reason| *reason) {
            Some(CloseReason::Aborted(cause)) => Self::Aborted(cause),
            Some(CloseReason::PeerAborted(causes)) => Self::PeerAborted(causes),
            Some(CloseReason::PeerUnreachable) => Self::PeerUnreachable,
            Some(CloseReason::StaleCookie) => Self::StaleCookie,
            Some(CloseReason::PeerRestarted) => Self::PeerRestarted,
            Some(CloseReason::ShutdownComplete) | None => Self::Other(failure),
        })
    }
}

impl std::error::Error for Lost {}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aborted(cause) => CloseReason::Aborted(cause.clone()).fmt(f),
            Self::PeerAborted(causes) => CloseReason::PeerAborted(causes.clone()).fmt(f),
            Self::Nobody => f.write_str("nobody takes associations at that port of the peer"),
            Self::PeerUnreachable => CloseReason::PeerUnreachable.fmt(f),
            Self::StaleCookie => CloseReason::StaleCookie.fmt(f),
            Self::PeerRestarted => CloseReason::PeerRestarted.fmt(f),
            Self::Other(failure) => f.write_str(failure),
        }
    }
}

/// Why an association is not begun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectRefused {
    /// The endpoint is being closed.
    #[error("the endpoint is being closed")]
    Closing,
    /// SCTP does not begin one with this peer.
    #[error(transparent)]
    Refused(#[from] sctp::ConnectError),
}

impl ConnectRefused {
    /// Tells if it would be begun if the one before it had come to its end, to which it is on its way.
    pub const fn is_ending(&self) -> bool {
        matches!(self, Self::Refused(sctp::ConnectError::Ending(_)))
    }
}

/// Why a message is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendRefused {
    /// The association has ended: in order, or lost.
    #[error("the association has ended{}", .0.as_ref().map(|lost| format!(": {lost}")).unwrap_or_default())]
    Ended(Option<Lost>),
    /// Message that asks for an extension to which the ends of the association have not agreed.
    #[error("the other end has not agreed to \"{}\"", .0.name())]
    NotAgreed(sctp::Extension),
    /// SCTP does not take it: as it is, or now.
    #[error(transparent)]
    Message(sctp::SendError),
}

impl SendRefused {
    /// Tells if the message would be taken if there were room.
    pub const fn is_full(&self) -> bool {
        matches!(self, Self::Message(sctp::SendError::BufferFull { .. }))
    }
}

/// Outcome of asking for a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// The association has ended, and all that came has been received.
    Ended(Option<Lost>),
    /// A message.
    Message(ProgramMessage),
    /// None is there now.
    Nothing,
}
