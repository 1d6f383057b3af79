//! Associations that programs begin.

use std::net::SocketAddr;
use std::sync::Arc;

use slantpath_base::Instant;
use slantpath_live::{Host, Peer, Programs, SocketId};
use slantpath_requests::{Errno, Reply};
use slantpath_sctp::{self as sctp, PortId};

use crate::association::{Association, Stage};
use crate::news::{Answered, News, SocketNumber};
use crate::options::Call;
use crate::outcome;
use crate::sockets::Sockets;

impl Sockets {
    /// Serves `connect` and `sctp_connectx`: `None` if the answer has to wait. `tells`: it has the number of the
    /// association.
    pub(crate) fn connect(
        &mut self,
        call: &mut Call<'_>,
        peers: &[SocketAddr],
        tells: bool,
    ) -> Option<Answered> {
        let id = match self.begin(call.now, call.host, call.number, peers) {
            Ok(id) => id,
            Err(Errno::EINVAL) if is_at_no_port(peers) => return Some(Answered::failed(Errno::ECONNREFUSED)),
            Err(error) => return Some(Answered::failed(error)),
        };
        let reply = if tells { self.begun(id).reply } else { Reply::default() };
        let Some(token) = call.waiting else {
            return Some(Reply { error: Some(Errno::EINPROGRESS), ..reply }.into());
        };
        self.open.get_mut(&call.number)?.connecting.push((token, id, reply));
        None
    }

    /// Begins an association.
    pub(crate) fn begin(
        &mut self,
        now: Instant,
        host: &mut Host,
        number: SocketNumber,
        peers: &[SocketAddr],
    ) -> Result<SocketId, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        if socket.is_one_to_one() {
            if socket.backlog.is_some() || socket.is_over {
                return Err(Errno::EISCONN);
            }
            if let Some(association) = socket.association().and_then(|id| self.associations.get(id)) {
                let is_opening = association.stage == Stage::Opening;
                return Err(if is_opening { Errno::EALREADY } else { Errno::EISCONN });
            }
        }
        let peers = peers.iter().map(|peer| socket.address_from(*peer)).collect::<Result<Vec<_>, _>>()?;
        let first = *peers.first().ok_or(Errno::EINVAL)?;
        if first.port() == 0 || peers.iter().any(|peer| peer.port() != first.port()) {
            return Err(Errno::EINVAL);
        }
        if let Some(id) = self.association_with(number, first) {
            let is_opening = self.associations.get(id).is_some_and(|one| one.stage == Stage::Opening);
            return Err(if is_opening { Errno::EALREADY } else { Errno::EISCONN });
        }
        let choices = socket.choices.clone();
        self.ensure_bound(now, host, number)?;
        self.configure_port(host, number);
        let id = self.place_of(number)?;
        let place = self.places.get(&id).ok_or(Errno::EINVAL)?;
        let listener = place.listener;
        let addresses = peers.iter().map(SocketAddr::ip).collect();
        let begun = host.connect_from(now, (place.id, id), &Peer { addresses, port: first.port() });
        if let Some(listener) = listener.filter(|listener| *listener != number) {
            self.configure_port(host, listener);
        }
        let ends = (id, first);
        let id = begun.map_err(|error| match error {
            // It is another socket's, such as one that was peeled off.
            sctp::ConnectError::AlreadyAssociated(_)
                if self.association_at(now, host, number, first).is_none() =>
            {
                Errno::EADDRNOTAVAIL
            }
            error => outcome::of_connect(&error),
        })?;
        let association = Association::opening(now, self.next_association(), number, ends, &choices);
        self.keep(id, association);
        if let Some(socket) = self.open.get_mut(&number) {
            socket.associations.insert(id);
        }
        Ok(id)
    }

    /// Begins an association with a message that says how, unless there is one with that peer. What is given is a
    /// `struct sctp_initmsg` for this association alone, or nothing.
    pub(crate) fn begin_as_told(&mut self, call: &mut Call<'_>, peers: &[SocketAddr]) -> Result<(), Errno> {
        let socket = self.open.get(&call.number).ok_or(Errno::EBADF)?;
        let first = socket.address_from(*peers.first().ok_or(Errno::EINVAL)?)?;
        if socket.association().or_else(|| self.association_with(call.number, first)).is_some() {
            return Ok(());
        }
        let (before, listens) = (Arc::clone(&socket.config), socket.backlog.is_some());
        if !call.given.0.is_empty() {
            self.set_initiation(call)?;
        }
        let begun = self.begin(call.now, call.host, call.number, peers);
        if let Some(socket) = self.open.get_mut(&call.number) {
            socket.config = before;
        }
        if listens {
            self.configure_port(call.host, call.number);
        }
        begun.map(|_| ())
    }

    pub(crate) fn port_of(&self, number: SocketNumber) -> Result<u16, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        socket.bound.as_ref().map(|bound| bound.port).ok_or(Errno::EINVAL)
    }

    pub(crate) fn place_of(&self, number: SocketNumber) -> Result<PortId, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        socket.bound.as_ref().map(|bound| bound.place).ok_or(Errno::EINVAL)
    }

    /// The association of a socket with a peer at this address, if there is one.
    pub(crate) fn association_with(&self, number: SocketNumber, peer: SocketAddr) -> Option<SocketId> {
        self.by_peer.get(&(number, peer)).copied()
    }

    /// The association of a socket with a peer that has this address, be it the first one or another.
    pub(crate) fn association_at(
        &self,
        now: Instant,
        host: &mut Host,
        number: SocketNumber,
        peer: SocketAddr,
    ) -> Option<SocketId> {
        let has_port =
            |id: &SocketId| self.associations.get(*id).is_some_and(|one| one.peer.port() == peer.port());
        let mut all = self.open.get(&number)?.associations.iter().copied().filter(has_port);
        let first = self.association_with(number, peer);
        first.or_else(|| {
            all.find(|id| host.sctp_paths(now, *id).iter().any(|path| path.destination == peer.ip()))
        })
    }

    /// Answers those that wait for an association to be up.
    pub(crate) fn answer_connecting(
        &mut self,
        number: SocketNumber,
        id: SocketId,
        outcome: Result<(), Errno>,
    ) {
        let Some(socket) = self.open.get_mut(&number) else { return };
        let (answered, waiting): (Vec<_>, Vec<_>) =
            std::mem::take(&mut socket.connecting).into_iter().partition(|(_, of, _)| *of == id);
        socket.connecting = waiting;
        if socket.is_one_to_one() {
            if let Err(error) = outcome
                && answered.is_empty()
            {
                // Whoever waits is told at once.
                socket.error = Some(error);
            }
            self.tell(number, outcome.map_or_else(News::Failed, |()| News::Connected));
        }
        for (token, _, reply) in answered {
            let reply = Reply { error: outcome.err(), ..reply };
            self.tell(number, News::Replied(token, reply.into()));
        }
    }
}

/// Tells if peers have port 0, which nobody may have (RFC 9260, section 3.1): Linux asks there, and is refused.
fn is_at_no_port(peers: &[SocketAddr]) -> bool {
    !peers.is_empty() && peers.iter().all(|peer| peer.port() == 0 && !peer.ip().is_unspecified())
}
