//! Associations that programs begin.

use std::net::SocketAddr;

use slantpath_base::Instant;
use slantpath_live::{Host, Peer, Programs, SocketId};
use slantpath_requests::Errno;

use crate::association::{Association, Stage};
use crate::news::{Answered, News, SocketNumber, Token};
use crate::outcome;
use crate::sockets::Sockets;

impl Sockets {
    /// Serves `connect`: `None` if the answer has to wait.
    pub(crate) fn connect(
        &mut self,
        now: Instant,
        host: &mut Host,
        number: SocketNumber,
        peers: &[SocketAddr],
        waiting: Option<Token>,
    ) -> Option<Result<SocketId, Errno>> {
        let begun = self.begin(now, host, number, peers);
        match (begun, waiting) {
            (Ok(id), Some(token)) => {
                self.open.get_mut(&number)?.connecting.push((token, id));
                None
            }
            (Ok(_), None) => Some(Err(Errno::EINPROGRESS)),
            (Err(error), _) => Some(Err(error)),
        }
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
        let id = begun.map_err(|error| outcome::of_connect(&error))?;
        let association = Association::opening(self.next_association(), Some(number), first);
        self.by_number.insert(association.number, id);
        self.associations.insert(id, association);
        if let Some(socket) = self.open.get_mut(&number) {
            socket.associations.insert(id);
        }
        Ok(id)
    }

    pub(crate) fn port_of(&self, number: SocketNumber) -> Result<u16, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        socket.bound.as_ref().map(|bound| bound.port).ok_or(Errno::EINVAL)
    }

    /// The association of a socket with a peer at this address, if there is one.
    pub(crate) fn association_with(&self, number: SocketNumber, peer: SocketAddr) -> Option<SocketId> {
        let socket = self.open.get(&number)?;
        socket
            .associations
            .iter()
            .copied()
            .find(|id| self.associations.get(*id).is_some_and(|association| association.peer == peer))
    }

    /// Answers those that wait for an association to be up.
    pub(crate) fn answer_connecting(
        &mut self,
        number: SocketNumber,
        id: SocketId,
        outcome: Result<(), Errno>,
    ) {
        let Some(socket) = self.open.get_mut(&number) else { return };
        let (answered, waiting) =
            std::mem::take(&mut socket.connecting).into_iter().partition(|(_, of)| *of == id);
        socket.connecting = waiting;
        let answered: Vec<(Token, SocketId)> = answered;
        if socket.is_one_to_one() {
            match outcome {
                Ok(()) => self.tell(number, News::Connected),
                Err(error) => {
                    // Whoever waits is told at once.
                    if let Some(socket) = self.open.get_mut(&number)
                        && answered.is_empty()
                    {
                        socket.error = Some(error);
                    }
                    self.tell(number, News::Failed(error));
                }
            }
        }
        for (token, _) in answered {
            let answer = outcome.map_or_else(Answered::failed, |()| Answered::done());
            self.tell(number, News::Replied(token, answer));
        }
    }
}
