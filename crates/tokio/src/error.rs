//! Errors of endpoints and associations.

use std::io;
use std::sync::Arc;

use slantpath_live::{ConnectRefused, Lost};
use slantpath_sctp as sctp;

/// Why an endpoint does nothing more.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Endpoint that has been closed.
    #[error("the endpoint has been closed")]
    Closed,
    /// Endpoint with sockets that cannot be used any more, or without the runtime that it was bound in.
    #[error("the sockets of the endpoint: {0}")]
    Failed(#[source] Arc<io::Error>),
}

/// Why there is no association.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The endpoint does nothing more.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// Association that has not come up.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// SCTP does not begin one with this peer.
    #[error(transparent)]
    Refused(#[from] sctp::ConnectError),
}

impl From<ConnectRefused> for ConnectError {
    fn from(refused: ConnectRefused) -> Self {
        match refused {
            ConnectRefused::Refused(error) => Self::Refused(error),
            _ => Self::Endpoint(EndpointError::Closed),
        }
    }
}

impl From<AssociationError> for ConnectError {
    fn from(error: AssociationError) -> Self {
        match error {
            AssociationError::Endpoint(error) => Self::Endpoint(error),
            AssociationError::Lost(lost) => Self::Lost(lost),
        }
    }
}

/// Why an association is no more, other than in order.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssociationError {
    /// The endpoint does nothing more.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// Association that was aborted, or whose peer does not answer.
    #[error(transparent)]
    Lost(#[from] Lost),
}

/// Why no message is received without waiting.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TryReceiveError {
    /// None is there now.
    #[error("no message is there now")]
    Nothing,
    /// The association has ended in order, and all that came has been received.
    #[error("the association has ended")]
    Ended,
    /// The association was lost, or the endpoint does nothing more.
    #[error(transparent)]
    Failed(#[from] AssociationError),
}

/// Why a message was not sent.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The association has ended in order.
    #[error("the association has ended")]
    Ended,
    /// The endpoint does nothing more.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The association was aborted, or its peer does not answer.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The message asks to be given up, and the ends have not agreed to the extension for that.
    #[error("the other end has not agreed to \"{}\"", .0.name())]
    NotAgreed(sctp::Extension),
    /// SCTP does not take the message: its stream is not there, it is too long, the association is shutting down. From
    /// [`Association::try_send`](crate::Association::try_send) also that there is no room
    /// ([`sctp::SendError::BufferFull`]).
    #[error(transparent)]
    Refused(#[from] sctp::SendError),
}

impl SendError {
    /// Tells if the send buffer has no room now: the message can be sent later.
    pub const fn is_full(&self) -> bool {
        matches!(self, Self::Refused(sctp::SendError::BufferFull { .. }))
    }
}
