//! The primitives between the message transfer part and its users (Q.701, section 8; RFC 4666, section 1.6.1).
//!
//! MTP3 and M3UA give them, SCCP, ISUP and traffic generators take them: a user part does not know which of the
//! two carries it.

use bytes::Bytes;

use crate::PointCode;
use crate::mtp3::{RoutingLabel, ServiceIndicator, ServiceInformation};

/// MTP-TRANSFER: a user part's message with its label, as request and as indication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Service information octet.
    pub service: ServiceInformation,
    /// Destination, origin and link selection.
    pub label: RoutingLabel,
    /// Octets that follow the label.
    pub user_data: Bytes,
}

/// Indications of the message transfer part to a user part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransferIndication {
    /// MTP-PAUSE: the destination cannot be reached.
    Pause(PointCode),
    /// MTP-RESUME: it can be reached again.
    Resume(PointCode),
    /// MTP-STATUS: the destination is congested or lacks the user part.
    Status {
        /// Destination that the status is about.
        affected: PointCode,
        /// Cause for which the status is given.
        cause: StatusCause,
    },
    /// MTP-TRANSFER: a message for this node.
    Transfer(Transfer),
}

/// Why MTP-STATUS is given (Q.701, section 8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusCause {
    /// The signalling network towards it is congested: 0 not at all, to 3. International networks have one level
    /// only and say 1.
    Congestion(u8),
    /// The user part there is not available.
    UserPartUnavailable {
        /// User part that is not available.
        user: ServiceIndicator,
        /// Reason for which it is not.
        reason: UserPartUnavailability,
    },
}

/// Why a remote user part is unavailable (Q.704, section 15.17.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UserPartUnavailability {
    /// Reason that is not known.
    Unknown,
    /// There is no such user part.
    Unequipped,
    /// There is one, and it cannot be reached.
    Inaccessible,
}
