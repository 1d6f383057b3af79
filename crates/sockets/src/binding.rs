//! Addresses and ports of sockets.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use slantpath_base::Instant;
use slantpath_live::{Host, ProgramConfig, Programs};
use slantpath_requests::Errno;
use slantpath_sctp as sctp;

use crate::layout::Given;
use crate::news::{Answered, News, SocketNumber, Token};
use crate::options::Call;
use crate::socket::{Binding, Bound, Place, Wanted};
use crate::sockets::Sockets;

/// The first port that is assigned to nobody (RFC 6335, section 6): those whose first two bits are set.
const DYNAMIC_FIRST: u16 = 0xc000;
/// Ports that are held ready for sockets that may have any.
const RESERVE: usize = 2;

impl Sockets {
    /// A port that is to be claimed from the machine, so that nobody else has it. It is answered by
    /// [`Sockets::port_claimed`] as soon as may be: requests wait for it.
    pub fn poll_claim(&mut self) -> Option<u16> {
        self.claims.pop_front()
    }

    /// A claimed port that nobody has any more: it may be given back to the machine.
    pub fn poll_release(&mut self) -> Option<u16> {
        self.releases.pop_front()
    }

    /// An association of a port is over.
    pub(crate) fn forget_at_port(&mut self, port: u16) {
        if let Some(place) = self.places.get_mut(&port) {
            place.alive = place.alive.saturating_sub(1);
        }
        self.give_back(port);
    }

    /// Gives a port back that nobody has, unless it is held ready for others.
    fn give_back(&mut self, port: u16) {
        let free = self.claimed.iter().filter(|one| **one >= DYNAMIC_FIRST && self.is_free(**one)).count();
        let is_spare = port < DYNAMIC_FIRST || free > RESERVE;
        let is_wanted =
            self.open.values().any(|socket| socket.binding.as_ref().is_some_and(|one| one.port == port));
        if is_spare && !is_wanted && self.is_free(port) && self.claimed.remove(&port) {
            self.releases.push_back(port);
        }
    }

    /// A port has been claimed, or is another's.
    pub fn port_claimed(&mut self, now: Instant, host: &mut Host, port: u16, outcome: Result<(), Errno>) {
        if outcome.is_ok() {
            self.claimed.insert(port);
        }
        let waiting: Vec<(SocketNumber, Binding)> = self
            .open
            .iter_mut()
            .filter(|(_, socket)| socket.binding.as_ref().is_some_and(|binding| binding.port == port))
            .filter_map(|(number, socket)| socket.binding.take().map(|binding| (*number, binding)))
            .collect();
        for (number, Binding { token, wanted, .. }) in waiting {
            let bound = outcome.and_then(|()| match wanted {
                Wanted::One(own) => self.bind_at(now, host, number, own),
                Wanted::More(list) => self.bindx(now, host, number, Given(&list), true),
            });
            let answer = bound.map_or_else(Answered::failed, |()| Answered::done());
            self.tell(number, News::Replied(token, answer));
        }
        self.fill_reserve();
    }

    /// Has ports claimed until there are enough that nobody uses.
    pub(crate) fn fill_reserve(&mut self) {
        let free = self.claimed.iter().filter(|port| **port >= DYNAMIC_FIRST && self.is_free(**port)).count();
        for _ in free + self.claims.len()..RESERVE {
            let port = DYNAMIC_FIRST | u16::try_from(self.stream.next_u32() >> 18).unwrap_or_default();
            if !self.claimed.contains(&port) && !self.claims.contains(&port) {
                self.claims.push_back(port);
            }
        }
    }

    fn is_free(&self, port: u16) -> bool {
        self.places.get(&port).is_none_or(Place::is_free)
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
        self.reclaim(address.port());
        let may_have = self.may_have(address.port());
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
        if let Err(error) = may_have {
            return Some(Err(error));
        }
        if own.port() == 0 || self.claimed.contains(&own.port()) {
            return Some(self.bind_at(now, host, number, own));
        }
        socket.binding = Some(Binding { token, port: own.port(), wanted: Wanted::One(own) });
        self.claim(own.port());
        None
    }

    /// Tells if programs may have a port.
    const fn may_have(&self, port: u16) -> Result<(), Errno> {
        if port != 0 && port < self.first_port { Err(Errno::EACCES) } else { Ok(()) }
    }

    /// Takes a port back that is to be given back and has not been.
    fn reclaim(&mut self, port: u16) {
        let before = self.releases.len();
        self.releases.retain(|one| *one != port);
        if self.releases.len() < before {
            self.claimed.insert(port);
        }
    }

    fn claim(&mut self, port: u16) {
        if !self.claims.contains(&port) {
            self.claims.push_back(port);
        }
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
            0 => {
                let is_any = |port: &&u16| **port >= DYNAMIC_FIRST && self.is_free(**port);
                *self.claimed.iter().find(is_any).ok_or(Errno::EADDRINUSE)?
            }
            port => port,
        };
        if let Some(place) = self.places.get(&port)
            && !place.users.is_empty()
            && (place.listener.is_some() || !(socket.choices.reuses_address || socket.choices.reuses_port))
        {
            return Err(Errno::EADDRINUSE);
        }
        let addresses = if own.ip().is_unspecified() { Vec::new() } else { vec![own.ip()] };
        let bound = Bound { port, addresses };
        let used = self.addresses_of(number, &bound);
        if used.is_empty() {
            return Err(Errno::EADDRNOTAVAIL);
        }
        if !self.places.contains_key(&port) {
            let config = ProgramConfig {
                sctp: Box::new((*socket.config).clone()),
                local_addresses: used,
                local_port: port,
                peer: None,
            };
            let id = host.add_program_told_all(&config, self.stream.fork(&format!("port/{port}")));
            host.refuse_callers(id);
            self.places.insert(port, Place { id, listener: None, users: BTreeSet::new(), alive: 0 });
        }
        if let Some(place) = self.places.get_mut(&port) {
            place.users.insert(number);
        }
        if let Some(socket) = self.open.get_mut(&number) {
            socket.bound = Some(bound);
        }
        self.fill_reserve();
        Ok(())
    }

    /// Addresses of the host that a socket uses.
    pub(crate) fn addresses_of(&self, number: SocketNumber, bound: &Bound) -> Vec<IpAddr> {
        let Some(socket) = self.open.get(&number) else { return Vec::new() };
        if !bound.addresses.is_empty() {
            return bound.addresses.clone();
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
            host.configure_port(sctp::PortConfig { port: bound.port, addresses, config });
        }
    }

    /// A socket has the port of another, too.
    pub(crate) fn join_port(&mut self, of: SocketNumber, number: SocketNumber) {
        if let Ok(port) = self.port_of(of)
            && let Some(place) = self.places.get_mut(&port)
        {
            place.users.insert(number);
        }
    }

    /// Serves `sctp_bindx`: `None` if the answer has to wait until the port has been claimed.
    pub(crate) fn bind_more(&mut self, call: &mut Call<'_>, is_added: bool) -> Option<Answered> {
        let port =
            call.given.addresses().ok().and_then(|wanted| wanted.first().copied()).map(|one| one.port());
        if let Some(port) = port {
            self.reclaim(port);
        }
        if is_added && let Err(error) = port.map_or(Ok(()), |port| self.may_have(port)) {
            return Some(Answered::failed(error));
        }
        let socket = self.open.get_mut(&call.number)?;
        if let Some(port) = port
            && is_added
            && socket.bound.is_none()
            && port != 0
            && !self.claimed.contains(&port)
        {
            let wanted = call.given.0.to_vec();
            socket.binding = Some(Binding { token: call.token, port, wanted: Wanted::More(wanted) });
            self.claim(port);
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
        let socket = self.open.get_mut(&number).ok_or(Errno::EBADF)?;
        let bound = socket.bound.as_mut().ok_or(Errno::EINVAL)?;
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
        if socket.backlog.is_some() {
            self.configure_port(host, number);
        }
        // Peers that have agreed to it are told.
        for id in associations {
            for address in &changed {
                host.add_port_address(port, *address);
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

    /// A socket has its port no more.
    pub(crate) fn leave_port(&mut self, host: &mut Host, number: SocketNumber, port: u16) {
        let Some(place) = self.places.get_mut(&port) else { return };
        place.users.remove(&number);
        if place.listener == Some(number) {
            place.listener = None;
            host.refuse_callers(place.id);
        }
        self.give_back(port);
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
        let was_listening = socket.backlog.is_some();
        if backlog == 0 && !was_listening {
            return Ok(());
        }
        self.ensure_bound(now, host, number)?;
        let Some(socket) = self.open.get_mut(&number) else { return Err(Errno::EBADF) };
        let port = socket.bound.as_ref().map_or(0, |bound| bound.port);
        let place = self.places.get_mut(&port).ok_or(Errno::EINVAL)?;
        if place.listener.is_some_and(|other| other != number) {
            return Err(Errno::EADDRINUSE);
        }
        if backlog == 0 {
            socket.backlog = None;
            place.listener = None;
            host.refuse_callers(place.id);
            return Ok(());
        }
        socket.backlog = Some(backlog);
        place.listener = Some(number);
        let id = place.id;
        self.configure_port(host, number);
        if !was_listening {
            host.accept_callers(id);
        }
        Ok(())
    }

    /// Serves `getsockname` of a socket.
    pub(crate) fn local_name(&self, number: SocketNumber) -> Result<SocketAddr, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        let any = socket.any_address();
        let Some(bound) = &socket.bound else { return Ok(SocketAddr::new(any, 0)) };
        let ip = bound.addresses.first().copied().unwrap_or(any);
        Ok(socket.address_for(SocketAddr::new(ip, bound.port)))
    }

    /// Serves `getpeername` of a socket.
    pub(crate) fn peer_name(&self, number: SocketNumber) -> Result<SocketAddr, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        let association = socket.association().and_then(|id| self.associations.get(id));
        let association = association.ok_or(Errno::ENOTCONN)?;
        Ok(socket.address_for(association.peer))
    }
}
