//! Associations that programs begin.

use std::net::SocketAddr;

use slantpath_base::Instant;
use slantpath_live::{Host, Peer, Programs, SocketId};
use slantpath_requests::{Errno, Reply};
use slantpath_sctp as sctp;

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
        if let Some(id) = self.association_with(now, host, number, first) {
            let is_opening = self.associations.get(id).is_some_and(|one| one.stage == Stage::Opening);
            return Err(if is_opening { Errno::EALREADY } else { Errno::EISCONN });
        }
        let choices = socket.choices.clone();
        self.ensure_bound(now, host, number)?;
        self.configure_port(host, number);
        let port = self.port_of(number)?;
        let place = self.places.get(&port).ok_or(Errno::EINVAL)?;
        let listener = place.listener;
        let addresses = peers.iter().map(SocketAddr::ip).collect();
        let begun = host.connect(now, place.id, &Peer { addresses, port: first.port() });
        if let Some(listener) = listener.filter(|listener| *listener != number) {
            self.configure_port(host, listener);
        }
        let id = begun.map_err(|error| match error {
            // It is another socket's, such as one that was peeled off.
            sctp::ConnectError::AlreadyAssociated(_) => Errno::EADDRNOTAVAIL,
            error => outcome::of_connect(&error),
        })?;
        let association = Association::opening(now, self.next_association(), number, (port, first), &choices);
        self.keep(id, association);
        if let Some(socket) = self.open.get_mut(&number) {
            socket.associations.insert(id);
        }
        Ok(id)
    }

    pub(crate) fn port_of(&self, number: SocketNumber) -> Result<u16, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        socket.bound.as_ref().map(|bound| bound.port).ok_or(Errno::EINVAL)
    }

    /// The association of a socket with a peer that has this address, if there is one.
    pub(crate) fn association_with(
        &self,
        now: Instant,
        host: &mut Host,
        number: SocketNumber,
        peer: SocketAddr,
    ) -> Option<SocketId> {
        let of = |id: &SocketId| self.associations.get(*id).map(|association| association.peer);
        let all = &self.open.get(&number)?.associations;
        let first = all.iter().find(|id| of(id) == Some(peer));
        let mut others = all.iter().filter(|id| of(id).is_some_and(|one| one.port() == peer.port()));
        let is_at =
            |id: &&SocketId| host.sctp_paths(now, **id).iter().any(|path| path.destination == peer.ip());
        first.or_else(|| others.find(is_at)).copied()
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
