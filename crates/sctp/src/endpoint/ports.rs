//! Ports by their numbers: several may have one, at different addresses.

use slantpath_base::Stream;

use super::port::{Acceptance, Port, PortConfig, PortId};
use super::{AssociationId, Endpoint};
use crate::address::is_usable;

impl Endpoint {
    /// Begins to use a port whose number others may have, at other addresses.
    ///
    /// # Panics
    /// As [`bind`](Self::bind) does.
    pub fn bind_beside(&mut self, port: PortConfig, stream: Stream) -> PortId {
        assert!(port.port != 0, "port 0 must not be used");
        assert!(!port.addresses.is_empty(), "a port has an address");
        assert!(port.addresses.iter().all(|address| is_usable(*address)), "an address names no single host");
        let thresholds = port.config.thresholds().check();
        assert!(thresholds.is_ok(), "{thresholds:?}");
        let place = u32::try_from(self.ports.len()).expect("fewer than 2^32 ports");
        let last = self.places(port.port).last();
        match last {
            Some(last) => self.ports[last as usize].beside = Some(place),
            None => {
                self.by_number.insert(port.port, place);
            }
        }
        self.ports.push(Port::new(port, stream));
        PortId(place)
    }

    /// Places of the ports of a number, in the order in which they were bound.
    pub(super) fn places(&self, number: u16) -> impl Iterator<Item = u32> + '_ {
        let first = self.by_number.get(&number).copied();
        core::iter::successors(first, |place| self.ports[*place as usize].beside)
    }

    /// Name of the port of this number that was bound first; `None` if none has been.
    pub fn port(&self, number: u16) -> Option<PortId> {
        self.by_number.get(&number).copied().map(PortId)
    }

    /// Name of the own port of an association, in whatever state; `None` if there is no such association.
    pub fn port_of(&self, id: AssociationId) -> Option<PortId> {
        self.table.find(id).map(|entry| PortId(entry.port))
    }

    /// Sets the treatment of INITs to the first port of a number from now on. `false` if none has been bound.
    pub fn listen(&mut self, port: u16, acceptance: Acceptance) -> bool {
        let Some(port) = self.port(port) else { return false };
        self.listen_at(port, acceptance);
        true
    }

    /// Sets the treatment of INITs to a port from now on.
    pub fn listen_at(&mut self, PortId(place): PortId, acceptance: Acceptance) {
        self.ports[place as usize].accept(acceptance);
    }
}
