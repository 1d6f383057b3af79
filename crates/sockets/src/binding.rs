//! Addresses and ports of sockets.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use slantpath_base::Instant;
use slantpath_live::{Host, ProgramConfig, Programs};
use slantpath_requests::{self as requests, Errno};
use slantpath_sctp::{self as sctp, PortId, SctpConfig};

use crate::layout::Given;
use crate::news::{Answered, News, SocketNumber, Token};
use crate::options::{Call, is_bindx_add};
use crate::socket::{Binding, Bound, Place, Socket, Wanted};
use crate::sockets::Sockets;
use crate::told::Told;

impl Sockets {
    /// A port that is to be claimed from the machine, so that nobody else has it. It is answered by
    /// [`Sockets::port_claimed`] as soon as may be: requests wait for it.
    pub fn poll_claim(&mut self) -> Option<u16> {
        self.log.note(&Told::ClaimPolled);
        self.ports.next_claim()
    }

    /// A claimed port that nobody has any more: it may be given back to the machine.
    pub fn poll_release(&mut self) -> Option<u16> {
        self.log.note(&Told::ReleasePolled);
        self.ports.next_release()
    }

    /// These sockets are about to ask: each of them that has no port may want any.
    pub fn foresee(&mut self, asking: &[SocketNumber]) {
        self.log.note(&Told::Foreseen(asking));
        let may_want = |number: &&SocketNumber| {
            self.open.get(*number).is_some_and(|socket| socket.bound.is_none() && !socket.is_over)
        };
        let wanted = asking.iter().filter(may_want).count();
        self.ports.fill_reserve(wanted, &mut self.stream);
    }

    /// An association of a place is over.
    pub(crate) fn forget_at(&mut self, place: PortId) {
        let Some(place) = self.places.get_mut(&place) else { return };
        place.alive = place.alive.saturating_sub(1);
        let port = place.port;
        self.give_back(port);
    }

    /// Gives a port back if nobody has it.
    fn give_back(&mut self, port: u16) {
        if self.is_free(port) {
            self.ports.give_back(port);
        }
    }

    /// A port has been claimed, or is another's.
    pub fn port_claimed(&mut self, now: Instant, host: &mut Host, port: u16, outcome: Result<(), Errno>) {
        self.log.note(&Told::Claimed(port, outcome));
        let waiting = self.ports.answered(port, outcome.is_ok());
        for number in waiting {
            let binding = self.open.get_mut(&number).and_then(|socket| socket.binding.take());
            let Some(Binding { token, wanted }) = binding else { continue };
            let bound = outcome.and_then(|()| match wanted {
                Wanted::One(own) => self.bind_at(now, host, number, own),
                Wanted::More(list) => self.bindx(now, host, number, Given(&list), true),
            });
            let answer = bound.map_or_else(Answered::failed, |()| Answered::done());
            self.tell(number, News::Replied(token, answer));
        }
        if self.is_free(port) {
            self.ports.note_free(port);
        }
        // Where the machine has no more, asking anew would not end.
        if matches!(outcome, Ok(()) | Err(Errno::EADDRINUSE)) {
            self.fill_reserve();
        }
    }

    /// Has ports claimed until there are enough that nobody uses.
    pub(crate) fn fill_reserve(&mut self) {
        self.ports.fill_reserve(0, &mut self.stream);
    }

    fn is_free(&self, port: u16) -> bool {
        self.places_at(port).all(|(_, place)| place.is_free())
    }

    /// Places of a port, the oldest first.
    fn places_at(&self, port: u16) -> impl Iterator<Item = (PortId, &Place)> {
        let places = self.places_of.get(&port).into_iter().flatten();
        places.filter_map(|id| self.places.get(id).map(|place| (*id, place)))
    }

    /// Binds a socket; `None` if the answer has to wait until the port has been claimed.
    pub(crate) fn bind(
        &mut self,
        now: Instant,
        host: &mut Host,
        number: SocketNumber,
        token: Token,
        address: SocketAddr,
    ) -> Option<Result<(), Errno>> {
        self.ports.reclaim(address.port());
        let socket = self.open.get_mut(&number)?;
        if socket.bound.is_some() || socket.binding.is_some() {
            return Some(Err(Errno::EINVAL));
        }
        let own = match socket.address_from(address) {
            Ok(own) => own,
            Err(error) => return Some(Err(error)),
        };
        if !own.ip().is_unspecified() && !self.addresses.contains(&own.ip()) {
            return Some(Err(Errno::EADDRNOTAVAIL));
        }
        if own.port() == 0 || self.ports.is_claimed(own.port()) {
            return Some(self.bind_at(now, host, number, own));
        }
        socket.binding = Some(Binding { token, wanted: Wanted::One(own) });
        self.ports.wait_for(own.port(), number);
        None
    }

    /// Port that a request names for a socket that has none, if nothing else is wrong with it: the program may need a
    /// right to have it.
    pub fn port_named(&self, number: SocketNumber, request: &requests::Request) -> Option<u16> {
        let first = match request {
            requests::Request::Bind(address) => *address,
            requests::Request::SetOption { level, name, value, .. } if is_bindx_add(*level, *name) => {
                *Given(value).addresses().ok()?.first()?
            }
            _ => return None,
        };
        let socket =
            self.open.get(&number).filter(|socket| socket.bound.is_none() && socket.binding.is_none())?;
        let own = socket.address_from(first).ok()?;
        let is_own = own.ip().is_unspecified() || self.addresses.contains(&own.ip());
        Some(own.port()).filter(|port| is_own && *port != 0)
    }

    /// Binds a socket to any port if it has none.
    pub(crate) fn ensure_bound(
        &mut self,
        now: Instant,
        host: &mut Host,
        number: SocketNumber,
    ) -> Result<(), Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        if socket.bound.is_some() {
            return Ok(());
        }
        let any = SocketAddr::new(socket.any_address(), 0);
        self.bind_at(now, host, number, any)
    }

    /// Binds a socket to a port that has been claimed, or to any.
    fn bind_at(
        &mut self,
        _now: Instant,
        host: &mut Host,
        number: SocketNumber,
        own: SocketAddr,
    ) -> Result<(), Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        let port = match own.port() {
            0 => self.ports.any().ok_or(Errno::EADDRINUSE)?,
            port => port,
        };
        let addresses = if own.ip().is_unspecified() { Vec::new() } else { vec![own.ip()] };
        let used = self.used_by(socket, &addresses);
        if used.is_empty() {
            return Err(Errno::EADDRNOTAVAIL);
        }
        if self.is_in_use(number, port, &used) {
            return Err(Errno::EADDRINUSE);
        }
        let config = Arc::clone(&socket.config);
        let id = self.place_for(host, port, &used, &config);
        if let Some(place) = self.places.get_mut(&id) {
            if place.is_free() {
                place.addresses.clear();
            }
            place.addresses.extend(used);
            place.users.insert(number);
        }
        self.ports.note_use(port, false);
        if let Some(socket) = self.open.get_mut(&number) {
            socket.bound = Some(Bound { place: id, port, addresses });
        }
        self.fill_reserve();
        Ok(())
    }

    /// Tells if another socket keeps this one from a port at some of these addresses. As Linux has it, two share an
    /// address only if both have asked for that, and the other does not listen.
    fn is_in_use(&self, number: SocketNumber, port: u16, used: &[IpAddr]) -> bool {
        let Some(socket) = self.open.get(&number) else { return false };
        let reuses = |one: &Socket| one.choices.reuses_address || one.choices.reuses_port;
        let users =
            self.places_at(port).flat_map(|(_, place)| &place.users).filter(|other| **other != number);
        let mut others = users.filter_map(|other| self.open.get(other));
        others.any(|other| {
            let shares = reuses(socket) && reuses(other) && other.backlog.is_none();
            let at = other.bound.as_ref().map(|bound| self.used_by(other, &bound.addresses));
            !shares && at.is_some_and(|at| at.iter().any(|address| used.contains(address)))
        })
    }

    /// The place for a socket at these addresses of a port: that of others at some of them, one that is free, or
    /// another.
    fn place_for(&mut self, host: &mut Host, port: u16, used: &[IpAddr], config: &SctpConfig) -> PortId {
        let shared = |place: &Place| !place.is_free() && used.iter().any(|one| place.addresses.contains(one));
        let fitting = self.places_at(port).find(|(_, place)| shared(place)).map(|(id, _)| id);
        let free = || self.places_at(port).find(|(_, place)| place.is_free()).map(|(id, _)| id);
        if let Some(id) = fitting.or_else(free) {
            return id;
        }
        let count = self.places_of.get(&port).map_or(0, Vec::len);
        let stream = self.stream.fork(&if count == 0 {
            format!("port/{port}")
        } else {
            format!("port/{port}/{count}")
        });
        let socket = self.places_at(port).next().map(|(_, place)| place.id);
        let (id, socket) = if let Some(socket) = socket {
            let config = sctp::PortConfig { port, addresses: used.to_vec(), config: config.clone() };
            (host.add_sctp_port(config, stream), socket)
        } else {
            let config = ProgramConfig {
                sctp: Box::new(config.clone()),
                local_addresses: used.to_vec(),
                local_port: port,
                peer: None,
            };
            let socket = host.add_program_told_all(&config, stream);
            (host.sctp_port(port).expect("its socket has it"), socket)
        };
        host.listen_at(id, sctp::Acceptance::Refused);
        let (addresses, users) = (BTreeSet::new(), BTreeSet::new());
        self.places.insert(id, Place { port, id: socket, addresses, listener: None, users, alive: 0 });
        self.places_of.entry(port).or_default().push(id);
        id
    }

    /// Addresses of the host that a socket uses.
    pub(crate) fn addresses_of(&self, number: SocketNumber, bound: &Bound) -> Vec<IpAddr> {
        let Some(socket) = self.open.get(&number) else { return Vec::new() };
        self.used_by(socket, &bound.addresses)
    }

    /// Addresses that a socket uses which has named these, or none.
    fn used_by(&self, socket: &Socket, named: &[IpAddr]) -> Vec<IpAddr> {
        if !named.is_empty() {
            return named.to_vec();
        }
        self.addresses.iter().copied().filter(|address| socket.has_family_of(*address)).collect()
    }

    /// Has the associations that are set up from now on at a socket's port use its settings and addresses.
    pub(crate) fn configure_port(&self, host: &mut Host, number: SocketNumber) {
        let Some(socket) = self.open.get(&number) else { return };
        let Some(bound) = &socket.bound else { return };
        let config = (*socket.config).clone();
        let config = if config.trace { config.traced() } else { config };
        let addresses = self.addresses_of(number, bound);
        if !addresses.is_empty() {
            host.configure_port(bound.place, &addresses, config);
        }
    }

    /// A socket has the port of another, too.
    pub(crate) fn join_port(&mut self, of: SocketNumber, number: SocketNumber) {
        if let Ok(place) = self.place_of(of)
            && let Some(place) = self.places.get_mut(&place)
        {
            place.users.insert(number);
        }
    }

    /// Serves `sctp_bindx`: `None` if the answer has to wait until the port has been claimed.
    pub(crate) fn bind_more(&mut self, call: &mut Call<'_>, is_added: bool) -> Option<Answered> {
        let port =
            call.given.addresses().ok().and_then(|wanted| wanted.first().copied()).map(|one| one.port());
        if let Some(port) = port {
            self.ports.reclaim(port);
        }
        let socket = self.open.get_mut(&call.number)?;
        if let Some(port) = port
            && is_added
            && socket.bound.is_none()
            && port != 0
            && !self.ports.is_claimed(port)
        {
            let wanted = call.given.0.to_vec();
            socket.binding = Some(Binding { token: call.token, wanted: Wanted::More(wanted) });
            self.ports.wait_for(port, call.number);
            return None;
        }
        let done = self.bindx(call.now, call.host, call.number, call.given, is_added);
        Some(done.map_or_else(Answered::failed, |()| Answered::done()))
    }

    /// Adds addresses to a socket, or takes some away.
    fn bindx(
        &mut self,
        now: Instant,
        host: &mut Host,
        number: SocketNumber,
        given: Given<'_>,
        is_added: bool,
    ) -> Result<(), Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        let wanted: Vec<SocketAddr> =
            given.addresses()?.into_iter().map(|one| socket.address_from(one)).collect::<Result<_, _>>()?;
        let is_own = |one: &SocketAddr| one.ip().is_unspecified() || self.addresses.contains(&one.ip());
        if !wanted.iter().all(is_own) {
            return Err(Errno::EADDRNOTAVAIL);
        }
        let was_bound = socket.bound.is_some();
        if !was_bound {
            let first = *wanted.first().filter(|_| is_added).ok_or(Errno::EINVAL)?;
            self.bind_at(now, host, number, first)?;
        }
        let port = self.port_of(number)?;
        if wanted.iter().any(|one| one.port() != port && one.port() != 0) {
            return Err(Errno::EINVAL);
        }
        let added: Vec<IpAddr> =
            wanted.iter().map(SocketAddr::ip).filter(|ip| !ip.is_unspecified()).collect();
        if is_added && self.is_in_use(number, port, &added) {
            if !was_bound {
                self.unbind(host, number);
            }
            return Err(Errno::EADDRINUSE);
        }
        let socket = self.open.get_mut(&number).ok_or(Errno::EBADF)?;
        let bound = socket.bound.as_mut().ok_or(Errno::EINVAL)?;
        let at = bound.place;
        let mut changed = Vec::new();
        for one in wanted.iter().map(SocketAddr::ip) {
            let has = bound.addresses.contains(&one);
            if one.is_unspecified() && is_added {
                bound.addresses.clear();
            } else if is_added && !has && (!bound.addresses.is_empty() || !was_bound) {
                bound.addresses.push(one);
                changed.push(one);
            } else if !is_added {
                if !has {
                    return Err(Errno::EINVAL);
                }
                if bound.addresses.len() == 1 {
                    return Err(Errno::EBUSY);
                }
                bound.addresses.retain(|other| *other != one);
                changed.push(one);
            }
        }
        let associations: Vec<_> = socket.associations.iter().copied().collect();
        if let Some(place) = self.places.get_mut(&at).filter(|_| is_added) {
            place.addresses.extend(&changed);
        }
        if socket.backlog.is_some() {
            self.configure_port(host, number);
        }
        // Peers that have agreed to it are told.
        for id in associations {
            for address in &changed {
                host.add_address_at(at, *address);
                if let Some((endpoint, id)) = host.sctp_association(id) {
                    let _ = if is_added {
                        endpoint.add_address(now, id, *address)
                    } else {
                        endpoint.remove_address(now, id, *address)
                    };
                }
            }
        }
        Ok(())
    }

    /// A socket has its place no more.
    pub(crate) fn leave_place(&mut self, host: &mut Host, number: SocketNumber, id: PortId) {
        let Some(place) = self.places.get_mut(&id) else { return };
        place.users.remove(&number);
        if place.listener == Some(number) {
            place.listener = None;
            host.listen_at(id, sctp::Acceptance::Refused);
        }
        let port = place.port;
        self.give_back(port);
    }

    /// Takes back what has been done of a bind that fails.
    fn unbind(&mut self, host: &mut Host, number: SocketNumber) {
        let bound = self.open.get_mut(&number).and_then(|socket| socket.bound.take());
        if let Some(bound) = bound {
            self.leave_place(host, number, bound.place);
        }
    }

    /// Serves `listen` of a socket.
    pub(crate) fn listen(
        &mut self,
        now: Instant,
        host: &mut Host,
        number: SocketNumber,
        backlog: u32,
    ) -> Result<(), Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        if socket.is_one_to_one() && (!socket.associations.is_empty() || socket.is_over) {
            return Err(Errno::EINVAL);
        }
        let (was_listening, was_full) = (socket.backlog.is_some(), socket.has_full_queue());
        if backlog == 0 && !was_listening {
            return Ok(());
        }
        self.ensure_bound(now, host, number)?;
        let bound = self.open.get(&number).and_then(|socket| socket.bound.clone()).ok_or(Errno::EINVAL)?;
        let used = self.addresses_of(number, &bound);
        let has_listener = self.places.get(&bound.place).is_some_and(|place| place.listener.is_some());
        if !was_listening && (has_listener || self.is_in_use(number, bound.port, &used)) {
            return Err(Errno::EADDRINUSE);
        }
        let Some(socket) = self.open.get_mut(&number) else { return Err(Errno::EBADF) };
        let place = self.places.get_mut(&bound.place).ok_or(Errno::EINVAL)?;
        if backlog == 0 {
            socket.backlog = None;
            place.listener = None;
            host.listen_at(bound.place, sctp::Acceptance::Refused);
            return Ok(());
        }
        socket.backlog = Some(backlog);
        let is_full = socket.has_full_queue();
        place.listener = Some(number);
        self.configure_port(host, number);
        if !was_listening || is_full != was_full {
            host.listen_at(bound.place, sctp::Acceptance::ByPeer);
        }
        if is_full {
            host.listen_at(bound.place, sctp::Acceptance::QueueFull);
        }
        Ok(())
    }

    /// Serves `getsockname` of a socket.
    pub(crate) fn local_name(&self, number: SocketNumber) -> Result<SocketAddr, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        let any = socket.any_address();
        let Some(bound) = &socket.bound else { return Ok(SocketAddr::new(any, 0)) };
        // As on Linux: with a peer, the one from which packets go to it.
        let ip = socket.own_address.or_else(|| bound.addresses.first().copied()).unwrap_or(any);
        Ok(socket.address_for(SocketAddr::new(ip, bound.port)))
    }

    /// Notes the own address of a socket's association, which is up.
    pub(crate) fn note_own_address(&mut self, now: Instant, host: &mut Host, number: SocketNumber) {
        let Some(socket) = self.open.get_mut(&number) else { return };
        let Some(id) = socket.association() else { return };
        let paths = host.sctp_paths(now, id);
        socket.own_address = paths.iter().find(|path| path.is_primary).map(|path| path.source);
    }

    /// Serves `getpeername` of a socket.
    pub(crate) fn peer_name(&self, number: SocketNumber) -> Result<SocketAddr, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        let association = socket.association().and_then(|id| self.associations.get(id));
        let association = association.ok_or(Errno::ENOTCONN)?;
        Ok(socket.address_for(association.peer))
    }
}
