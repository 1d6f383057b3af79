//! Users of a seat that are elsewhere: they are told what comes for them, and send by its entity.

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_signalling::network::{ServedPointId, UserPlace};
use slantpath_ss7::PointCode;
use slantpath_ss7::sccp::Ssn;
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use super::{ENTITY, Seat};

/// Something that comes for the users of a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UserEvent {
    /// A message to a user part.
    Arrived(Transfer),
    /// A unitdata to a subsystem of the point of this code.
    ArrivedUnitdata(PointCode, Ssn, Bytes),
    /// An indication of a destination.
    Indication(UserPlace, TransferIndication),
}

impl Seat {
    /// Has everything for the users handed out to who asks for it.
    pub(crate) fn hand_users_out(&mut self) {
        self.outside = Some(std::collections::VecDeque::new());
    }

    /// The next thing that has come for users, if they are elsewhere.
    pub(crate) fn poll_user(&mut self) -> Option<UserEvent> {
        self.outside.as_mut()?.pop_front()
    }

    pub(super) fn hand_out(&mut self, event: impl FnOnce() -> UserEvent) {
        if let Some(outside) = &mut self.outside {
            outside.push_back(event());
        }
    }

    /// A user part at a place sends. Says whether the message was taken; what has come of it is done when the seat is
    /// driven next, at once.
    pub(crate) fn transfer(&mut self, now: Instant, place: UserPlace, transfer: &Transfer) -> bool {
        self.deadlines.set(ENTITY, Some(now));
        self.entity.transfer(now, served(place), transfer)
    }

    /// Tells if users at a place reach a destination by this seat.
    pub(crate) fn reaches(&self, place: UserPlace, destination: PointCode) -> bool {
        self.entity.is_accessible(served(place), destination)
    }

    /// Tells if a message of users at a place can leave by this seat: above M3UA if the process is active for an
    /// application server of that traffic.
    pub(crate) fn carries(&self, place: UserPlace, transfer: &Transfer) -> bool {
        let UserPlace::Served(point) = place else { return true };
        let service = transfer.service.indicator.value();
        let of_traffic = self.network.m3ua.servers.iter().filter(|server| {
            server.point == point && (server.services.is_empty() || server.services.contains(&service))
        });
        let mut contexts = of_traffic.map(|server| server.routing_context);
        contexts.any(|context| self.entity.is_active(context)) && self.reaches(place, transfer.label.dpc)
    }
}

const fn served(place: UserPlace) -> Option<ServedPointId> {
    match place {
        UserPlace::Point(_) => None,
        UserPlace::Served(point) => Some(point),
    }
}
