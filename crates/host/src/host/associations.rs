//! Commands to the associations and connections of sockets, and queries about them, whoever uses them.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use slantpath_base::{Instant, Stream};
use slantpath_interface::InterfaceId;
use slantpath_sctp as sctp;

use super::SocketHost;
use crate::application::Application;
use crate::ids::SocketId;
use crate::transport::Peer;

impl<A: Application> SocketHost<A> {
    /// Lets a socket's application take nothing more that comes in, so that it fills the receive buffer and closes the
    /// peer's window. `false` if there is no such socket.
    pub fn pause(&mut self, now: Instant, id: SocketId) -> bool {
        self.sockets.command(id, &mut self.stack).map(|(_, mut socket, _)| socket.pause(now)).is_some()
    }

    /// Lets it take what has come in meanwhile, and all that follows. `false` if there is no such socket.
    pub fn resume(&mut self, now: Instant, id: SocketId) -> bool {
        self.sockets.command(id, &mut self.stack).map(|(_, mut socket, _)| socket.resume(now)).is_some()
    }

    /// Opens an association for an application from the port of a socket, whether that listens or not, to a peer with
    /// which it has none.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn call(
        &mut self,
        now: Instant,
        port: SocketId,
        peer: &Peer,
        application: A,
    ) -> Result<SocketId, sctp::ConnectError> {
        self.sockets.call(now, port, None, peer, application, &mut self.stack)
    }

    /// Variant of [`SocketHost::call`] from one of the ports of SCTP that have the number of a socket's.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn call_from(
        &mut self,
        now: Instant,
        (port, own): (SocketId, sctp::PortId),
        peer: &Peer,
        application: A,
    ) -> Result<SocketId, sctp::ConnectError> {
        self.sockets.call(now, port, Some(own), peer, application, &mut self.stack)
    }

    /// Name of the port of SCTP that has this number; `None` without one.
    pub fn sctp_port(&self, number: u16) -> Option<sctp::PortId> {
        self.stack.sctp.port(number)
    }

    /// Opens another port of SCTP whose number a socket has, at other addresses. Its associations are the socket's.
    ///
    /// # Panics
    /// As [`SocketHost::add`] does.
    pub fn add_sctp_port(&mut self, port: sctp::PortConfig, stream: Stream) -> sctp::PortId {
        self.stack.sctp.bind_beside(port, stream)
    }

    /// Name of the port of SCTP that a socket's association has; `None` without one.
    pub fn sctp_port_of(&self, id: SocketId) -> Option<sctp::PortId> {
        self.stack.sctp.port_of(self.sockets.association(id)?)
    }

    /// Gives a port of SCTP other settings and other addresses, for associations that are set up from now on.
    ///
    /// # Panics
    /// As [`SocketHost::add`] does.
    pub fn configure_port(&mut self, port: sctp::PortId, addresses: &[IpAddr], config: sctp::SctpConfig) {
        self.stack.sctp.configure_port(port, addresses, config);
    }

    /// Sets whether a port of SCTP answers callers.
    pub fn listen_at(&mut self, port: sctp::PortId, acceptance: sctp::Acceptance) {
        self.stack.sctp.listen_at(port, acceptance);
    }

    /// Variant of [`SocketHost::add_port_address`] for a port by its name.
    pub fn add_address_at(&mut self, port: sctp::PortId, address: IpAddr) -> bool {
        self.stack.sctp.add_address_at(port, address)
    }

    /// Lets nobody open an association to a socket's port any more. `false` if there is no such socket.
    pub fn refuse_callers(&mut self, port: SocketId) -> bool {
        let Some((_, socket, _)) = self.sockets.command(port, &mut self.stack) else { return false };
        socket.stack.sctp.listen(socket.state.port(), sctp::Acceptance::Refused)
    }

    /// Has a listening port of SCTP answer callers after it has refused them. `false` if there is no such socket.
    pub fn accept_callers(&mut self, port: SocketId) -> bool {
        let Some((_, socket, _)) = self.sockets.command(port, &mut self.stack) else { return false };
        socket.stack.sctp.listen(socket.state.port(), sctp::Acceptance::ByPeer)
    }

    /// Lets a listening socket of TCP have at most so many connections at once: at the limit one that is not up gives
    /// way to a new one. `false` if there is no such socket.
    pub fn limit_connections(&mut self, port: SocketId, most: usize) -> bool {
        let Some((_, socket, _)) = self.sockets.command(port, &mut self.stack) else { return false };
        socket.stack.tcp.limit(socket.state.port(), most);
        true
    }

    /// Gives back the socket of an association that came to the port of another, or was opened from it, and whose end
    /// has been told: another will have its name. `false` if there is no such socket, or its end has not.
    pub fn give_back(&mut self, id: SocketId) -> bool {
        self.sockets.release(id)
    }

    /// Ends a socket's association once all that was sent has been delivered. `false` if there is no such socket.
    pub fn shut_down(&mut self, now: Instant, id: SocketId) -> bool {
        self.sockets.command(id, &mut self.stack).map(|(_, mut socket, _)| socket.close(now)).is_some()
    }

    /// Ends a socket's association at once. `false` if there is no such socket.
    pub fn abort(&mut self, now: Instant, id: SocketId) -> bool {
        self.sockets.command(id, &mut self.stack).map(|(_, mut socket, _)| socket.abort(now)).is_some()
    }

    /// Ends a socket's association at once, and tells the peer why, in the application's own words. `false` if there is
    /// no such socket.
    pub fn abort_because(&mut self, now: Instant, id: SocketId, reason: Bytes) -> bool {
        let command = self.sockets.command(id, &mut self.stack);
        command.map(|(_, mut socket, _)| socket.abort_because(now, reason)).is_some()
    }

    /// The first address of the other end of a socket's association, and its port; `None` without one.
    pub fn peer(&self, id: SocketId) -> Option<SocketAddr> {
        self.sockets.peer(id, &self.stack)
    }

    /// The peer's addresses, by which paths are numbered; `None` if there is no such socket.
    pub fn paths(&self, id: SocketId) -> Option<&[IpAddr]> {
        self.sockets.paths(id)
    }

    /// The paths of a socket's association as they are now; none without one.
    pub fn sctp_paths(&mut self, now: Instant, id: SocketId) -> Vec<sctp::PathSnapshot> {
        let association = self.sockets.association(id);
        association.map(|id| self.stack.sctp.path_snapshots(now, id).collect()).unwrap_or_default()
    }

    /// A socket's association as it is now; none without one.
    pub fn sctp_snapshot(&self, id: SocketId) -> Option<sctp::AssociationSnapshot> {
        let association = self.sockets.association(id)?;
        Some(self.stack.sctp.association(association)?.snapshot())
    }

    /// The SCTP of the host, and the number of a socket's association in it: for what only extensions have. `None`
    /// without one.
    pub fn sctp_association(&mut self, id: SocketId) -> Option<(&mut sctp::Endpoint, sctp::AssociationId)> {
        let (_, socket, _) = self.sockets.command(id, &mut self.stack)?;
        let association = socket.state.association()?;
        Some((&mut socket.stack.sctp, association))
    }

    /// The extensions that a socket's association uses; none without one.
    pub fn sctp_extensions(&self, id: SocketId) -> sctp::Extensions {
        let association = self.sockets.association(id).and_then(|id| self.stack.sctp.association(id));
        association.map_or(sctp::Extensions::NONE, sctp::Association::extensions)
    }

    /// Tells if the ends of a socket's association send each other packets without a checksum (RFC 9653).
    pub fn sctp_omits_checksums(&self, id: SocketId) -> bool {
        let association = self.sockets.association(id).and_then(|id| self.stack.sctp.association(id));
        association.is_some_and(sctp::Association::omits_checksums)
    }

    /// Counts of the packets that have come in for SCTP, and of their fates.
    pub const fn sctp_stats(&self) -> &sctp::EndpointStats {
        self.stack.sctp.stats()
    }

    /// The counters of the SCTP MIB (RFC 3873).
    pub fn sctp_mib(&self) -> sctp::MibCounters {
        self.stack.sctp.mib()
    }

    /// Entries of a socket's association in the tables of the SCTP MIB, in whatever state it is; `None` without one.
    pub fn sctp_mib_association(&self, id: SocketId) -> Option<sctp::MibAssociation> {
        self.stack.sctp.mib_association(self.sockets.association(id)?)
    }

    /// Tells if the host has an address.
    pub fn has_address(&self, address: IpAddr) -> bool {
        self.interfaces.owns(address)
    }

    /// Gives the host another address, at an interface. No port has it before it is [added](Self::add_port_address)
    /// there.
    pub fn add_own_address(&mut self, address: IpAddr, interface: InterfaceId) {
        self.interfaces.add_address(address, interface);
    }

    /// Takes packets to one of the host's addresses for an SCTP port. Associations that are set up from now on use it;
    /// others once they add it (RFC 5061). `false` if nobody has the port.
    pub fn add_port_address(&mut self, port: u16, address: IpAddr) -> bool {
        self.stack.sctp.add_port_address(port, address)
    }

    /// Takes packets to an address for an SCTP port no more, but for associations that are up: they go on at it until
    /// they remove it (RFC 5061). `false` if nobody has the port, or it has no other address.
    pub fn remove_port_address(&mut self, port: u16, address: IpAddr) -> bool {
        self.stack.sctp.remove_port_address(port, address)
    }

    /// Has packets to a destination without a route leave by the interface whose address they bear: where the operating
    /// system knows the routes, and peers come from anywhere.
    pub const fn route_by_source(&mut self) {
        self.interfaces.route_by_source();
    }
}
