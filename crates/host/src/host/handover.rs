//! A host leaves one of its addresses for another while an association of its goes on (RFC 5061): as a terminal does
//! that goes over to another ground station.

use std::net::IpAddr;

use slantpath_base::Instant;
use slantpath_sctp::chunk::AddressChange;

use super::SocketHost;
use crate::application::Application;
use crate::ids::SocketId;

/// Move of a socket's association from one address to another at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressHandover {
    /// Instant of the move.
    pub at: Instant,
    /// The address that it leaves.
    pub from: IpAddr,
    /// The address that takes its place; one of the host's.
    pub to: IpAddr,
}

impl<A: Application> SocketHost<A> {
    /// Has packets to `destination` leave by the interface of one of the host's own addresses. `false` if it is none.
    pub fn leave_from(&mut self, destination: IpAddr, address: IpAddr) -> bool {
        self.interfaces.leave_from(destination, address)
    }

    /// Moves an association whose time has come.
    pub(super) fn hand_over(&mut self, now: Instant, socket: SocketId, handover: AddressHandover) {
        let AddressHandover { from, to, .. } = handover;
        let destinations = self.sockets.paths(socket).unwrap_or_default().to_vec();
        for destination in destinations {
            self.interfaces.leave_from(destination, to);
        }
        let changes = [AddressChange::Add(to), AddressChange::SetPrimary(to), AddressChange::Delete(from)];
        let is_asked = self.sockets.association(socket).is_some_and(|association| {
            let sctp = &mut self.stack.sctp;
            let port = sctp.local_port(association);
            port.is_some_and(|port| sctp.add_port_address(port, to))
                && sctp.change_addresses(now, association, &changes).is_ok()
        });
        if !is_asked {
            // It is not established, or its peer knows no such thing: the flow ends as over a dead path.
            self.drops.refused_handovers += 1;
        }
    }
}
