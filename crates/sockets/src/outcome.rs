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

/// Error for a change of addresses that is not asked for.
pub(crate) const fn of_address(error: &sctp::AddressError) -> Errno {
    match error {
        sctp::AddressError::NotSupported => Errno::EPERM,
        sctp::AddressError::TooMany => Errno::EAGAIN,
        sctp::AddressError::Unknown(_) => Errno::EADDRNOTAVAIL,
        _ => Errno::EINVAL,
    }
}

/// Error for a key that is not taken.
pub(crate) const fn of_key(error: sctp::KeyError) -> Errno {
    match error {
        sctp::KeyError::NotSupported => Errno::EACCES,
        sctp::KeyError::TooManyKeys => Errno::ENOMEM,
        _ => Errno::EINVAL,
    }
}

/// Error for a change of streams that is not asked for.
pub(crate) const fn of_reconfiguration(error: &sctp::ReconfigurationError) -> Errno {
    match error {
        sctp::ReconfigurationError::NotSupported => Errno::ENOPROTOOPT,
        sctp::ReconfigurationError::TooSoon => Errno::EAGAIN,
        sctp::ReconfigurationError::TooManyStreams => Errno::ENOMEM,
        _ => Errno::EINVAL,
    }
}
