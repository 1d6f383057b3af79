//! A host leaves one of its addresses for another while an association of its goes on (RFC 5061): as a terminal does
//! that goes over to another ground station.

use std::net::IpAddr;

use slantpath_base::Instant;
use slantpath_sctp::chunk::AddressChange;

use super::Host;
use crate::sockets::SocketId;

/// When a socket's association moves, and from where to where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handover {
    /// When.
    pub at: Instant,
    /// The address that it leaves.
    pub from: IpAddr,
    /// The address that takes its place; one of the host's.
    pub to: IpAddr,
}

/// The handovers of a host that are still to come.
#[derive(Debug, Default)]
pub(super) struct Handovers {
    /// The next one last.
    planned: Vec<(Handover, SocketId)>,
}

impl Handovers {
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.planned.last().map(|(handover, _)| handover.at)
    }
}

impl Host {
    /// Has packets to `destination` leave by the interface of one of the host's own addresses. `false` if it is none.
    pub fn leave_from(&mut self, destination: IpAddr, address: IpAddr) -> bool {
        self.interfaces.leave_from(destination, address)
    }

    /// Has the SCTP association of a socket move to another address of the host.
    pub fn add_handover(&mut self, socket: SocketId, handover: Handover) {
        self.handovers.planned.push((handover, socket));
        self.handovers.planned.sort_by_key(|(handover, _)| std::cmp::Reverse(handover.at));
    }

    /// Moves the associations whose time has come.
    #[cold]
    pub(super) fn hand_over(&mut self, now: Instant) {
        while let Some((Handover { from, to, .. }, socket)) =
            self.handovers.planned.pop_if(|(handover, _)| handover.at <= now)
        {
            let destinations = self.sockets.paths(socket).unwrap_or_default().to_vec();
            for destination in destinations {
                self.interfaces.leave_from(destination, to);
            }
            let changes =
                [AddressChange::Add(to), AddressChange::SetPrimary(to), AddressChange::Delete(from)];
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
}
