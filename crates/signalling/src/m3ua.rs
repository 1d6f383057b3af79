//! Events of a gateway or an application server process above M3UA, and counts of what passes over its associations.

use slantpath_sigtran::asp::{self, AsState, AspState, ErrorCode, Status};
use slantpath_sigtran::m3ua::{self, RegistrationStatus};
use slantpath_sigtran::transport::{AssociationNumber, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::transfer::StatusCause;

/// Something that happened, as the gateway or the process that gives it saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct M3uaEvent {
    /// On which association, if on one.
    pub association: Option<AssociationNumber>,
    /// To the application server of which routing context, if to one.
    pub routing_context: Option<u32>,
    /// Kind of the event.
    pub kind: M3uaEventKind,
}

impl M3uaEvent {
    /// Gives the event that the answer to a registration is, of a key with this destination in front.
    pub(crate) fn of_registration(
        association: AssociationNumber,
        result: m3ua::RegistrationResult,
        destination: Option<PointCode>,
    ) -> Self {
        let m3ua::RegistrationResult { status, routing_context, .. } = result;
        let is_registered = status == RegistrationStatus::REGISTERED;
        let kind = if is_registered {
            M3uaEventKind::Registered
        } else {
            M3uaEventKind::RegistrationRefused { status, destination }
        };
        Self {
            association: Some(association),
            routing_context: is_registered.then_some(routing_context),
            kind,
        }
    }
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum M3uaEventKind {
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
    NotAcknowledged(asp::Request),
    /// NTFY.
    Notified(Status),
    /// A destination cannot be reached any more.
    Pause(PointCode),
    /// The peer is silent: the association is aborted.
    PeerUnavailable,
    /// The process is registered in the application server.
    Registered,
    /// The process is no longer registered in the application server.
    Deregistered,
    /// A routing key has not been registered.
    RegistrationRefused {
        /// Reason of the gateway.
        status: RegistrationStatus,
        /// First destination of the key, if it has one.
        destination: Option<PointCode>,
    },
    /// A destination can be reached.
    Resume(PointCode),
    /// The first message that the process would have taken, which serves no longer, has been handed to another one.
    TrafficDiverted {
        /// Association of the process that takes it.
        to: AssociationNumber,
    },
    /// A destination lacks a user part.
    UserPartUnavailable(PointCode),
}

impl M3uaEventKind {
    /// Gives the event that an MTP-STATUS is.
    pub(crate) const fn of_status(affected: PointCode, cause: StatusCause) -> Self {
        match cause {
            StatusCause::Congestion(level) => Self::Congestion(affected, level),
            StatusCause::UserPartUnavailable { .. } => Self::UserPartUnavailable(affected),
        }
    }

    /// Gives the event that an input from an association is, if it is one.
    pub(crate) const fn of_transport(input: &TransportInput) -> Option<Self> {
        match input {
            TransportInput::Down => Some(Self::AssociationDown),
            TransportInput::Up { .. } => Some(Self::AssociationUp),
            TransportInput::Congested(_)
            | TransportInput::Message { .. }
            | TransportInput::Restart
            | TransportInput::Transmitted(_)
            | TransportInput::Unsent(_) => None,
        }
    }

    /// Gives the name of the event in results.
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
            Self::Deregistered => "deregistered",
            Self::Registered => "registered",
            Self::RegistrationRefused { .. } => "registration-refused",
            Self::Resume(_) => "destination-available",
            Self::TrafficDiverted { .. } => "traffic-diverted",
            Self::UserPartUnavailable(_) => "user-part-unavailable",
        }
    }

    /// The destination that it is about, if it is about one.
    pub const fn destination(self) -> Option<PointCode> {
        match self {
            Self::RegistrationRefused { destination, .. } => destination,
            Self::Congestion(code, _)
            | Self::Pause(code)
            | Self::Resume(code)
            | Self::UserPartUnavailable(code) => Some(code),
            _ => None,
        }
    }

    /// Gives the words of the reason, if it has one.
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::RegistrationRefused { status, .. } => Some(words_of(status)),
            _ => None,
        }
    }
}

/// The words of a registration's outcome (RFC 4666, section 3.6.2).
const fn words_of(status: RegistrationStatus) -> &'static str {
    match status {
        RegistrationStatus::REGISTERED => "successfully registered",
        RegistrationStatus::INVALID_DPC => "invalid DPC",
        RegistrationStatus::INVALID_NETWORK_APPEARANCE => "invalid network appearance",
        RegistrationStatus::INVALID_ROUTING_KEY => "invalid routing key",
        RegistrationStatus::PERMISSION_DENIED => "permission denied",
        RegistrationStatus::CANNOT_SUPPORT_UNIQUE_ROUTING => "cannot support unique routing",
        RegistrationStatus::NOT_PROVISIONED => "routing key not currently provisioned",
        RegistrationStatus::INSUFFICIENT_RESOURCES => "insufficient resources",
        RegistrationStatus::UNSUPPORTED_PARAMETER => "unsupported routing key parameter field",
        RegistrationStatus::UNSUPPORTED_TRAFFIC_MODE => "unsupported or invalid traffic handling mode",
        RegistrationStatus::CHANGE_REFUSED => "routing key change refused",
        RegistrationStatus::ALREADY_REGISTERED => "routing key already registered",
        _ => "unknown",
    }
}

/// Counts of the messages that one end of an association has sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssociationTally {
    /// DATA given to the transport.
    pub data_sent: u64,
    /// DATA that came.
    pub data_received: u64,
    /// Other messages given to the transport.
    pub other_sent: u64,
    /// Other messages that came.
    pub other_received: u64,
    /// Number of times that the association came up.
    pub times_up: u64,
    /// Number of times that it was lost.
    pub times_lost: u64,
}

impl AssociationTally {
    fn sent(&mut self, octets: &[u8]) {
        let count = if is_data(octets) { &mut self.data_sent } else { &mut self.other_sent };
        *count += 1;
    }

    fn received(&mut self, input: &TransportInput) {
        match input {
            TransportInput::Up { .. } => self.times_up += 1,
            TransportInput::Down => self.times_lost += 1,
            TransportInput::Message { octets, .. } if is_data(octets) => self.data_received += 1,
            TransportInput::Message { .. } => self.other_received += 1,
            TransportInput::Congested(_)
            | TransportInput::Restart
            | TransportInput::Transmitted(_)
            | TransportInput::Unsent(_) => {}
        }
    }
}

/// Class 1 are the transfer messages (RFC 4666, section 3.1.2).
const fn is_data(octets: &[u8]) -> bool {
    matches!(octets, [_, _, 1, ..])
}

/// The tallies of an entity's associations.
#[derive(Clone, Debug)]
pub(crate) struct Tallies(Vec<(AssociationNumber, AssociationTally)>);

impl Tallies {
    pub(crate) fn new(associations: impl IntoIterator<Item = AssociationNumber>) -> Self {
        let mut tallies: Vec<_> =
            associations.into_iter().map(|association| (association, AssociationTally::default())).collect();
        tallies.sort_unstable_by_key(|(association, _)| *association);
        Self(tallies)
    }

    pub(crate) fn associations(&self) -> impl Iterator<Item = AssociationNumber> {
        self.0.iter().map(|(association, _)| *association)
    }

    /// Gives the tally of an association; none of one that the entity does not have.
    pub(crate) fn of(&self, association: AssociationNumber) -> Option<AssociationTally> {
        let place = self.0.binary_search_by_key(&association, |(own, _)| *own).ok()?;
        Some(self.0[place].1)
    }

    fn of_mut(&mut self, association: AssociationNumber) -> Option<&mut AssociationTally> {
        let place = self.0.binary_search_by_key(&association, |(own, _)| *own).ok()?;
        Some(&mut self.0[place].1)
    }

    /// Goes on with the tallies of associations that both have.
    pub(crate) fn take_over(&mut self, former: &Self) {
        for (association, tally) in &mut self.0 {
            *tally = former.of(*association).unwrap_or_default();
        }
    }

    pub(crate) fn sent(&mut self, association: AssociationNumber, octets: &[u8]) {
        if let Some(tally) = self.of_mut(association) {
            tally.sent(octets);
        }
    }

    pub(crate) fn received(&mut self, association: AssociationNumber, input: &TransportInput) {
        if let Some(tally) = self.of_mut(association) {
            tally.received(input);
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use slantpath_sigtran::transport::StreamNumber;

    use super::*;

    #[test]
    fn transfer_messages_are_told_from_all_others() {
        let message = |octets: &'static [u8]| TransportInput::Message {
            stream: StreamNumber(1),
            payload_protocol: 3,
            octets: Bytes::from_static(octets),
        };
        let (one, other) = (AssociationNumber(7), AssociationNumber(3));
        let mut tallies = Tallies::new([one, other]);
        tallies.sent(one, &[1, 0, 1, 1]);
        tallies.sent(one, &[1, 0, 3, 1]);
        tallies.received(one, &message(&[1, 0, 2, 1]));
        tallies.received(one, &message(&[1]));
        let expected = AssociationTally {
            data_sent: 1,
            other_sent: 1,
            other_received: 2,
            ..AssociationTally::default()
        };
        assert_eq!(tallies.of(one), Some(expected));
        assert_eq!(tallies.of(other), Some(AssociationTally::default()));
        assert_eq!(tallies.of(AssociationNumber(1)), None);
    }
}
