//! Addresses that change (RFC 5061): of a port, and of its associations by their numbers.

use std::net::IpAddr;

use slantpath_base::Instant;

use super::port::Following;
use super::receive::Received;
use super::table::{Entry, State};
use super::{AssociationId, Endpoint, PortId};
use crate::address::is_usable;
use crate::addressing::AddressError;
use crate::chunk::{AddressChange, Chunk};
use crate::packet::ParsedPacket;

impl Endpoint {
    /// Takes packets to another address for the first port of a number; associations that are set up from now on use
    /// it, others once they [add](Self::add_address) it. `false` if the port has not been bound, or the address names
    /// no single host.
    pub fn add_port_address(&mut self, port: u16, address: IpAddr) -> bool {
        self.port(port).is_some_and(|port| self.add_address_at(port, address))
    }

    /// Variant of [`add_port_address`](Self::add_port_address) for a port by its name. `false` if the address names no
    /// single host.
    pub fn add_address_at(&mut self, PortId(place): PortId, address: IpAddr) -> bool {
        if is_usable(address) {
            self.ports[place as usize].add_address(address);
        }
        is_usable(address)
    }

    /// Takes an address away from a port: associations that are set up from now on do not have it. Those that are up go
    /// on at it until they [remove](Self::remove_address) it. `false` if the port has not been bound, or has no other
    /// address.
    pub fn remove_port_address(&mut self, port: u16, address: IpAddr) -> bool {
        let Some(&place) = self.by_number.get(&port) else { return false };
        let port = &mut self.ports[place as usize];
        let has_others = port.addresses.iter().any(|one| *one != address);
        if has_others {
            port.remove_address(address);
            self.table.forget_latest();
        }
        has_others
    }

    /// No packet can leave from an address of ours until it is back: see
    /// [`Association::local_address_is_down`](crate::Association::local_address_is_down).
    pub fn local_address_is_down(&mut self, now: Instant, address: IpAddr) {
        for slot in self.table.occupied() {
            if let Some(Entry { state: State::Established(association), .. }) = self.table.get_mut(slot)
                && association.local_address_is_down(now, address)
            {
                self.wake(slot);
                // Another address of ours may lead there.
                self.ask_for_paths(slot);
            }
        }
    }

    /// Packets can leave from an address of ours again, which had gone, or whose link had: see
    /// [`Association::local_address_is_back`](crate::Association::local_address_is_back). Associations that are being
    /// set up go on by their own timer.
    pub fn local_address_is_back(&mut self, now: Instant, address: IpAddr) {
        for slot in self.table.occupied() {
            if let Some(Entry { state: State::Established(association), .. }) = self.table.get_mut(slot)
                && association.local_address_is_back(now, address)
            {
                self.wake(slot);
            }
            // A path that has had to leave from elsewhere may leave from there now, and the reverse.
            self.ask_for_paths(slot);
        }
    }

    /// The host has another address, and all ports take packets to it. Associations that are set up from now on use it;
    /// established ones add it, if their ends have agreed to change addresses.
    pub fn add_host_address(&mut self, now: Instant, address: IpAddr) {
        if is_usable(address) {
            self.ports.iter_mut().for_each(|port| port.follow_arrival(address));
            self.follow_host(now);
        }
    }

    /// The host has an address no more, for good. Ports take packets to it no more, unless it is their last;
    /// established associations delete it, if their ends have agreed to change addresses and another address of theirs
    /// reaches the peer. Those that have not agreed keep it: it may come back.
    pub fn remove_host_address(&mut self, now: Instant, address: IpAddr) {
        self.ports.iter_mut().for_each(|port| port.follow_departure(address));
        self.table.forget_latest();
        self.follow_host(now);
    }

    fn follow_host(&mut self, now: Instant) {
        for slot in self.table.occupied() {
            self.follow_port(now, slot);
        }
    }

    /// Has an established association follow the addresses of a port that follows those of its host.
    pub(super) fn follow_port(&mut self, now: Instant, slot: u32) {
        let Some(Entry { state: State::Established(association), port, .. }) = self.table.get_mut(slot)
        else {
            return;
        };
        let port = &self.ports[*port as usize];
        if port.following != Following::Nobody && association.follow_addresses(now, &port.addresses) {
            self.wake(slot);
            self.follow_routes(slot);
        }
    }

    /// Asks for the routes of an association whose addresses have changed.
    fn follow_routes(&mut self, slot: u32) {
        if let Some(Entry { state: State::Established(association), .. }) = self.table.get_mut(slot)
            && association.takes_other_routes()
        {
            self.ask_for_paths(slot);
        }
    }

    /// Changes our addresses in an association: see
    /// [`Association::change_addresses`](crate::Association::change_addresses). Those that are added must be the
    /// port's.
    pub fn change_addresses(
        &mut self,
        now: Instant,
        id: AssociationId,
        changes: &[AddressChange],
    ) -> Result<(), AddressError> {
        let Some(Entry { state: State::Established(association), port, .. }) = self.table.find_mut(id) else {
            return Err(AddressError::NotEstablished);
        };
        let ours = &self.ports[*port as usize].addresses;
        for change in changes {
            if let AddressChange::Add(address) = change
                && !ours.contains(address)
            {
                return Err(AddressError::Unusable(*address));
            }
        }
        let result = association.change_addresses(now, changes);
        self.wake(id.slot());
        self.follow_routes(id.slot());
        result
    }

    /// Tells the peer of another address of ours, which is the port's.
    pub fn add_address(
        &mut self,
        now: Instant,
        id: AssociationId,
        address: IpAddr,
    ) -> Result<(), AddressError> {
        self.change_addresses(now, id, &[AddressChange::Add(address)])
    }

    /// Tells the peer that an address of ours is none any more. Packets leave from others at once.
    pub fn remove_address(
        &mut self,
        now: Instant,
        id: AssociationId,
        address: IpAddr,
    ) -> Result<(), AddressError> {
        self.change_addresses(now, id, &[AddressChange::Delete(address)])
    }

    /// Asks the peer to send to this address of ours.
    pub fn request_peer_primary(
        &mut self,
        now: Instant,
        id: AssociationId,
        address: IpAddr,
    ) -> Result<(), AddressError> {
        self.change_addresses(now, id, &[AddressChange::SetPrimary(address)])
    }

    /// Follows the addresses of a peer that a packet has changed.
    #[cold]
    pub(super) fn follow_addresses(&mut self, slot: u32) {
        if let State::Established(association) = &mut self.table[slot].state
            && let Some(addresses) = association.take_new_addresses()
        {
            self.table.readdress(slot, addresses.into_iter());
        }
        self.follow_routes(slot);
    }

    /// The association of a packet from an address that is not known yet, by the address parameter of its ASCONF.
    pub(super) fn slot_of_asconf(&self, received: Received<'_>) -> Option<u32> {
        //= https://www.rfc-editor.org/rfc/rfc5061#section-5.2
        //# D2)  If the association is not found, use the address found in the
        //# Address Parameter TLV combined with the port number found in the
        //# SCTP common header.
        let address = address_of_asconf(received.packet)?;
        self.table.slot_at(received.port, received.own_port(), address, received.peer_port())
    }
}

fn address_of_asconf(packet: &ParsedPacket<'_>) -> Option<IpAddr> {
    packet.chunks().find_map(|chunk| match chunk {
        Ok(Chunk::Asconf(asconf)) => Some(asconf.address),
        _ => None,
    })
}
