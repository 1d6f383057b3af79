//! Use of sockets by a program outside of the host, and queries that only a host on a real network is asked.

use std::net::SocketAddr;

use bytes::Bytes;
use slantpath_base::{Instant, Stream};
use slantpath_sctp as sctp;

use super::{Host, UnboundPorts};
use crate::application::Application;
use crate::ids::SocketId;
use crate::program::{Program, ProgramConfig, ProgramEvent, ProgramMessage, Refused};
use crate::socket::{Peers, SocketState, Traces};
use crate::transport::Peer;

impl Host {
    /// Opens a port for a program. All its chance, the secret of its cookies among it, comes from `stream`.
    ///
    /// # Panics
    /// If its port is in use.
    pub fn add_program(&mut self, config: &ProgramConfig, stream: Stream) -> SocketId {
        let mut state = SocketState::bind(&mut self.stack, config.transport(), stream, Traces::default());
        if config.peer.is_none() {
            state.listen(&mut self.stack, Peers::Many);
        }
        self.sockets.add(state, Application::Program(Box::new(Program::new(config))), &self.stack)
    }

    /// Opens an association from a program's port, whether that listens or not, to a peer with which it has none.
    pub fn connect(
        &mut self,
        now: Instant,
        port: SocketId,
        peer: &Peer,
    ) -> Result<SocketId, sctp::ConnectError> {
        self.sockets.call(now, port, peer, &mut self.stack)
    }

    /// Lets nobody open an association to a program's port any more. `false` if there is no such socket.
    pub fn refuse_callers(&mut self, port: SocketId) -> bool {
        let Some((_, socket)) = self.sockets.command(port, &mut self.stack) else { return false };
        socket.stack.sctp.listen(socket.state.port(), sctp::Acceptance::Refused)
    }

    /// Gives back the socket of an association that came to a program's port, or was opened from it, and whose end has
    /// been told: another will have its name. `false` if there is no such socket, or its end has not.
    pub fn release(&mut self, id: SocketId) -> bool {
        self.sockets.release(id)
    }

    /// Takes the next event for a program: all of one socket, oldest first, before the next.
    pub fn next_program_event(&mut self) -> Option<(SocketId, ProgramEvent)> {
        self.sockets.next_program_event()
    }

    /// Sends a message on a program's association.
    pub fn send(&mut self, now: Instant, id: SocketId, message: ProgramMessage) -> Result<(), Refused> {
        match self.sockets.command(id, &mut self.stack) {
            Some((Application::Program(program), mut socket)) => program.send(now, message, &mut socket),
            _ => Err(Refused::Never(format!("no program has a socket {}", id.0))),
        }
    }

    /// Sends a message on a program's association, and says in SCTP's own words why it is not taken; that there is room
    /// in a full buffer again is told by [`ProgramEvent::Writable`].
    pub fn send_sctp(
        &mut self,
        now: Instant,
        id: SocketId,
        message: ProgramMessage,
    ) -> Result<(), sctp::SendError> {
        match self.sockets.command(id, &mut self.stack) {
            Some((Application::Program(program), mut socket)) => program.send_sctp(now, message, &mut socket),
            _ => Err(sctp::SendError::NoAssociation),
        }
    }

    /// Ends a program's association once all that was sent has been delivered. `false` if there is no such socket.
    pub fn shut_down(&mut self, now: Instant, id: SocketId) -> bool {
        self.sockets.command(id, &mut self.stack).map(|(_, mut socket)| socket.close(now)).is_some()
    }

    /// Ends a program's association at once. `false` if there is no such socket.
    pub fn abort(&mut self, now: Instant, id: SocketId) -> bool {
        self.sockets.command(id, &mut self.stack).map(|(_, mut socket)| socket.abort(now)).is_some()
    }

    /// Ends a program's association at once, and tells the peer why, in the program's own words. `false` if there is no
    /// such socket.
    pub fn abort_because(&mut self, now: Instant, id: SocketId, reason: Bytes) -> bool {
        let command = self.sockets.command(id, &mut self.stack);
        command.map(|(_, mut socket)| socket.abort_because(now, reason)).is_some()
    }

    /// The first address of the other end of a socket's association, and its port; `None` without one.
    pub fn peer(&self, id: SocketId) -> Option<SocketAddr> {
        self.sockets.peer(id, &self.stack)
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
        let (_, socket) = self.sockets.command(id, &mut self.stack)?;
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

    /// Has packets to a destination without a route leave by the interface whose address they bear: where the operating
    /// system knows the routes, and peers come from anywhere.
    pub const fn route_by_source(&mut self) {
        self.interfaces.route_by_source();
    }

    /// Has SCTP answer packets to ports that nobody has as RFC 9260, section 8.4, says. Not for a host that shares its
    /// addresses with another's SCTP, of whose ports it knows nothing.
    pub const fn answer_out_of_the_blue(&mut self) {
        self.unbound_ports = UnboundPorts::Answered;
    }
}
