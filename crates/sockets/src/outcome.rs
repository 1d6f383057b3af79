//! Linux's numbers for what becomes of associations.

use slantpath_requests::Errno;
use slantpath_sctp::{self as sctp, Cause, CloseReason};

/// Error that the end of an association leaves to its socket; `None` if it ended in order. `was_up` tells if it had
/// been set up.
pub(crate) fn of_end(reason: Option<&CloseReason>, was_up: bool) -> Option<Errno> {
    Some(match reason? {
        CloseReason::ShutdownComplete => return None,
        CloseReason::Aborted(Cause::UserInitiatedAbort(_)) => Errno::ECONNABORTED,
        CloseReason::Aborted(_) | CloseReason::PeerAborted(_) if was_up => Errno::ECONNRESET,
        CloseReason::Aborted(_) | CloseReason::PeerAborted(_) => Errno::ECONNREFUSED,
        CloseReason::PeerRestarted => Errno::ECONNRESET,
        CloseReason::PeerUnreachable | CloseReason::StaleCookie => Errno::ETIMEDOUT,
    })
}

/// Error for an association that cannot be begun.
pub(crate) const fn of_connect(error: &sctp::ConnectError) -> Errno {
    match error {
        sctp::ConnectError::AlreadyAssociated(_) => Errno::EISCONN,
        sctp::ConnectError::Ending(_) => Errno::EADDRNOTAVAIL,
        sctp::ConnectError::Unreachable => Errno::EHOSTUNREACH,
        sctp::ConnectError::TooManyAssociations => Errno::ENOBUFS,
        _ => Errno::EINVAL,
    }
}

/// Error for a message that is not taken.
pub(crate) const fn of_send(error: &sctp::SendError) -> Errno {
    match error {
        sctp::SendError::BufferFull { .. } => Errno::EAGAIN,
        sctp::SendError::ShuttingDown => Errno::ESHUTDOWN,
        sctp::SendError::TooLong { .. } => Errno::EMSGSIZE,
        sctp::SendError::NoSuchStream { .. }
        | sctp::SendError::Empty
        | sctp::SendError::NoSuchDestination { .. } => Errno::EINVAL,
        _ => Errno::EPIPE,
    }
}
