//! What happened to gateways, processes and application servers, and what passed over their associations.

use slantpath_base::Instant;
use slantpath_sigtran::asp::{AsState, AspState, ErrorCode, Request, Status};
use slantpath_ss7::PointCode;
use slantpath_ss7::transfer::StatusCause;

use super::config::{AspId, GatewayId, ServerId};
use crate::signalling::config::AdaptationId;

/// Who tells of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Witness {
    /// A process.
    Asp(AspId),
    /// A gateway.
    Gateway(GatewayId),
}

/// Something that happened, as a gateway or a process saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdaptationEvent {
    /// When.
    pub at: Instant,
    /// Who saw it.
    pub witness: Witness,
    /// On which association, if on one.
    pub association: Option<AdaptationId>,
    /// To which application server, if to one.
    pub server: Option<ServerId>,
    /// What.
    pub kind: AdaptationEventKind,
}

/// What may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdaptationEventKind {
    /// The application server has another state.
    As(AsState),
    /// The process has another state within the application server.
    Asp(AspState),
    /// The association is lost.
    AssociationDown,
    /// The association is up.
    AssociationUp,
    /// The way to a destination is congested: 0 not at all, to 3.
    Congestion(PointCode, u8),
    /// The peer has sent an ERR.
    Error(ErrorCode),
    /// No answer came to a request, as often as it was sent.
    NotAcknowledged(Request),
    /// NTFY.
    Notified(Status),
    /// A destination cannot be reached any more.
    Pause(PointCode),
    /// The peer is silent: the association is aborted.
    PeerUnavailable,
    /// A destination can be reached.
    Resume(PointCode),
    /// A destination lacks a user part.
    UserPartUnavailable(PointCode),
}

impl AdaptationEventKind {
    /// What MTP-STATUS is as an event.
    pub(super) const fn of_status(affected: PointCode, cause: StatusCause) -> Self {
        match cause {
            StatusCause::Congestion(level) => Self::Congestion(affected, level),
            StatusCause::UserPartUnavailable { .. } => Self::UserPartUnavailable(affected),
        }
    }

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::As(AsState::Active) => "as-active",
            Self::As(AsState::Down) => "as-down",
            Self::As(AsState::Inactive) => "as-inactive",
            Self::As(AsState::Pending) => "as-pending",
            Self::Asp(AspState::Active) => "asp-active",
            Self::Asp(AspState::Down) => "asp-down",
            Self::Asp(AspState::Inactive) => "asp-inactive",
            Self::AssociationDown => "association-down",
            Self::AssociationUp => "association-up",
            Self::Congestion(..) => "congestion",
            Self::Error(_) => "error-received",
            Self::NotAcknowledged(_) => "not-acknowledged",
            Self::Notified(Status::AS_ACTIVE) => "notify-as-active",
            Self::Notified(Status::AS_INACTIVE) => "notify-as-inactive",
            Self::Notified(Status::AS_PENDING) => "notify-as-pending",
            Self::Notified(Status::INSUFFICIENT_ASP_RESOURCES) => "notify-insufficient-asps",
            Self::Notified(Status::ALTERNATE_ASP_ACTIVE) => "notify-alternate-asp-active",
            Self::Notified(Status::ASP_FAILURE) => "notify-asp-failure",
            Self::Notified(_) => "notify-other",
            Self::Pause(_) => "destination-unavailable",
            Self::PeerUnavailable => "peer-unavailable",
            Self::Resume(_) => "destination-available",
            Self::UserPartUnavailable(_) => "user-part-unavailable",
        }
    }

    /// The destination that it is about, if it is about one.
    pub const fn destination(self) -> Option<PointCode> {
        match self {
            Self::Congestion(code, _)
            | Self::Pause(code)
            | Self::Resume(code)
            | Self::UserPartUnavailable(code) => Some(code),
            _ => None,
        }
    }
}

/// What one end of an association has sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdaptationTally {
    /// DATA given to the transport.
    pub data_sent: u64,
    /// DATA that came.
    pub data_received: u64,
    /// Other messages given to the transport.
    pub other_sent: u64,
    /// Other messages that came.
    pub other_received: u64,
    /// How often the association came up.
    pub times_up: u64,
    /// How often it was lost.
    pub times_lost: u64,
}

impl AdaptationTally {
    pub(super) fn sent(&mut self, octets: &[u8]) {
        let count = if is_data(octets) { &mut self.data_sent } else { &mut self.other_sent };
        *count += 1;
    }

    pub(super) fn received(&mut self, octets: &[u8]) {
        let count = if is_data(octets) { &mut self.data_received } else { &mut self.other_received };
        *count += 1;
    }
}

/// Class 1 are the transfer messages (RFC 4666, section 3.1.2).
const fn is_data(octets: &[u8]) -> bool {
    matches!(octets, [_, _, 1, ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfer_messages_are_told_from_all_others() {
        let mut tally = AdaptationTally::default();
        tally.sent(&[1, 0, 1, 1]);
        tally.sent(&[1, 0, 3, 1]);
        tally.received(&[1, 0, 2, 1]);
        tally.received(&[1]);
        assert_eq!((tally.data_sent, tally.other_sent), (1, 1));
        assert_eq!((tally.data_received, tally.other_received), (0, 2));
    }
}
