//! Requests of programs about their sockets.

use std::net::SocketAddr;

use slantpath_base::Instant;
use slantpath_live::Host;
use slantpath_requests::{self as requests, Errno, Half, Reply};

use crate::association::{AssociationNumber, Stage};
use crate::layout::Given;
use crate::news::{Answered, SocketNumber, Token};
use crate::options::Call;
use crate::socket::Socket;
use crate::sockets::Sockets;
use crate::told::Told;

impl Sockets {
    /// Serves a request about a socket. `None`: the answer comes later, by [`News::Replied`](crate::News::Replied) with
    /// the token.
    pub fn request(
        &mut self,
        now: Instant,
        host: &mut Host,
        number: SocketNumber,
        token: Token,
        request: &requests::Request,
    ) -> Option<Answered> {
        self.log.note(&Told::Asked(number, token, request));
        let answer = match *request {
            requests::Request::Bind(address) => done(self.bind(now, host, number, token, address)?),
            requests::Request::Connect { peer, waits } => {
                let waiting = waits.then_some(token);
                let mut call = Call { now, host, number, given: Given(&[]), token, waiting };
                self.connect(&mut call, &[peer], false)?
            }
            requests::Request::Listen { backlog } => done(self.listen(now, host, number, backlog)),
            requests::Request::LocalName => named(self.local_name(number)),
            requests::Request::PeerName => named(self.peer_name(number)),
            requests::Request::Shutdown(half) => done(self.shut(now, host, number, half)),
            requests::Request::Ended { waits } => done(self.why_ended(number, waits)),
            requests::Request::MaySend { stream, association, length, destination } => {
                match self.may_send(number, stream, (association, destination), length) {
                    Ok(streams) => Reply { number: streams.into(), ..Reply::default() }.into(),
                    Err(error) => Answered::failed(error),
                }
            }
            requests::Request::MayEnd { association, destination, is_for_all } => {
                let one = Some((association, destination)).filter(|_| !is_for_all);
                done(self.may_end(now, host, number, one))
            }
            requests::Request::Begin { ref init, ref peers } => {
                let init = init.as_ref().map_or(&[][..], |init| &init[..]);
                let mut call = Call { now, host, number, given: Given(init), token, waiting: None };
                done(self.begin_as_told(&mut call, peers))
            }
            requests::Request::GetOption { level, name, room, ref value, waits } => {
                let waiting = waits.then_some(token);
                let mut call = Call { now, host, number, given: Given(value), token, waiting };
                self.get_option(&mut call, level, name, room)?
            }
            requests::Request::SetOption { level, name, ref value, waits } => {
                let waiting = waits.then_some(token);
                let mut call = Call { now, host, number, given: Given(value), token, waiting };
                self.set_option(&mut call, level, name)?
            }
        };
        Some(answer)
    }

    /// Serves `shutdown` of a socket.
    fn shut(&mut self, now: Instant, host: &mut Host, number: SocketNumber, half: Half) -> Result<(), Errno> {
        let socket = self.open.get_mut(&number).ok_or(Errno::EBADF)?;
        if !socket.is_one_to_one() {
            return Err(Errno::EOPNOTSUPP);
        }
        let id = socket.association().ok_or(Errno::ENOTCONN)?;
        if half != Half::Write {
            socket.is_reading_shut = true;
        }
        if half != Half::Read {
            socket.is_writing_shut = true;
            self.shut_down(now, host, id);
        }
        self.tell_end(number);
        Ok(())
    }

    /// Tells a receive that has found the end if that is an error. As on Linux nothing can follow, once this end has
    /// shut the association down, that the peer has not ended: who waits for it is told so.
    fn why_ended(&mut self, number: SocketNumber, waits: bool) -> Result<(), Errno> {
        let socket = self.open.get_mut(&number).ok_or(Errno::EBADF)?;
        match socket.error.take() {
            Some(error) => Err(error),
            None if waits && socket.is_end_own => Err(Errno::ENOTCONN),
            None => Ok(()),
        }
    }

    /// Tells if a message may end its association, which it names, or all. On Linux no socket of one
    /// association sends such a message, but one that was peeled off.
    fn may_end(
        &self,
        now: Instant,
        host: &mut Host,
        number: SocketNumber,
        named: Option<(i32, Option<SocketAddr>)>,
    ) -> Result<(), Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        if socket.is_one_to_one() && !socket.is_peeled_off {
            return Err(Errno::EINVAL);
        }
        let Some((association, destination)) = named else { return Ok(()) };
        let (id, otherwise) = match destination {
            _ if socket.is_one_to_one() => (socket.association(), Errno::EPIPE),
            Some(peer) => {
                let peer = socket.address_from(peer)?;
                (self.association_at(now, host, number, peer), Errno::EINVAL)
            }
            None => (self.by_number.get(&AssociationNumber(association)).copied(), Errno::EPIPE),
        };
        id.filter(|id| socket.associations.contains(id)).map(|_| ()).ok_or(otherwise)
    }

    /// Tells if a message would be taken, and how many streams its association has; 0 if that is not known.
    fn may_send(
        &self,
        number: SocketNumber,
        stream: u16,
        (association, destination): (i32, Option<SocketAddr>),
        length: u32,
    ) -> Result<u16, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        if u64::from(length) > socket.config.send_buffer_bytes
            || (socket.choices.has_no_fragments && length > fragment_len(socket))
        {
            return Err(Errno::EMSGSIZE);
        }
        let id = if socket.is_one_to_one() {
            if socket.backlog.is_some() || socket.is_writing_shut {
                return Err(Errno::EPIPE);
            }
            if socket.associations.is_empty() {
                let may_begin = destination.is_some() && !socket.is_over && !socket.is_peeled_off;
                return if may_begin { Ok(0) } else { Err(Errno::EPIPE) };
            }
            socket.association()
        } else if association == 0 {
            // By its address, which may begin one; without any it is that of the defaults.
            let peer = destination.map(|peer| socket.address_from(peer)).transpose()?;
            let known = peer.and_then(|peer| self.association_with(number, peer));
            let asked_for = socket.config.outbound_streams;
            let default = AssociationNumber(socket.choices.defaults.association);
            match known {
                Some(id) => Some(id),
                None if destination.is_none() => self.by_number.get(&default).copied(),
                None if stream >= asked_for => return Err(Errno::EINVAL),
                None => return Ok(0),
            }
        } else {
            self.by_number.get(&AssociationNumber(association)).copied()
        };
        let association =
            id.filter(|id| socket.associations.contains(id)).and_then(|id| self.associations.get(id));
        let association = association.ok_or(Errno::EPIPE)?;
        match association.stage {
            Stage::Opening => Ok(0),
            Stage::Ending if socket.is_one_to_one() => Err(Errno::EPIPE),
            Stage::Ending => Err(Errno::ESHUTDOWN),
            Stage::Up if stream >= association.outbound_streams => Err(Errno::EINVAL),
            Stage::Up => Ok(association.outbound_streams),
        }
    }
}

/// Longest message of a socket that needs no fragments.
fn fragment_len(socket: &Socket) -> u32 {
    let packet = u32::from(socket.config.initial_path_mtu).saturating_sub(HEADERS);
    match socket.choices.max_segment {
        0 => packet,
        asked => asked.min(packet),
    }
}

/// Bytes of headers around the payload of a fragment: of IPv4, SCTP and DATA.
const HEADERS: u32 = 20 + 12 + 16;

fn done(outcome: Result<(), Errno>) -> Answered {
    outcome.map_or_else(Answered::failed, |()| Answered::done())
}

fn named(outcome: Result<SocketAddr, Errno>) -> Answered {
    match outcome {
        Ok(address) => Reply { address: Some(address), ..Reply::default() }.into(),
        Err(error) => Answered::failed(error),
    }
}
