//! The sockets of a host: who holds which port, association and connection, who has something to do, and when.
//!
//! Nothing here is searched: ports are found by hash, associations and connections by their place in the transport's
//! own table, `Deadlines` say who is due, and the sockets that are to be served lie in a heap.

use std::collections::{BinaryHeap, VecDeque};
use std::net::{IpAddr, SocketAddr};

use rustc_hash::FxHashMap;
use slantpath_base::{CACHED, Deadlines, Instant, prefetch};
use slantpath_sctp as sctp;
use slantpath_tcp as tcp;
use slantpath_wire::ip::{IpFields, protocol};

use crate::application::{Application, Others, Reaction, Served};
use crate::datagrams::{Binding, DatagramState};
use crate::ids::SocketId;
use crate::sample::CongestionSample;
use crate::socket::event::SocketEvent;
use crate::socket::{Opened, Socket, SocketState, Stack};
use crate::transport::Peer;

/// Reason for which a socket is to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readiness {
    /// A time has come that its transport or its application waited for.
    Due,
    /// Both that and what is below.
    DueAndTouched,
    /// Something has happened to it.
    Touched,
    /// No reason to be served.
    Waiting,
}

/// Of many sockets none is in the cache when a packet comes: what packets touch fills one line of it.
#[derive(Debug)]
#[repr(C, align(64))]
struct Slot<A> {
    readiness: Readiness,
    /// Until when the application has nothing to do unless it is told something.
    idle_until: Instant,
    /// The user of the socket; `None` once it is over.
    application: Option<A>,
    state: SocketState,
}

/// Order in which ready sockets are served: those whose applications come first in the order in which they were added,
/// then all others in the opposite order. It depends on nothing that a packet or a timer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Other(u32),
    First(std::cmp::Reverse<u32>),
}

impl Turn {
    const fn socket(self) -> SocketId {
        let (Self::Other(number) | Self::First(std::cmp::Reverse(number))) = self;
        SocketId(number)
    }
}

/// The port that a packet came to, and whose it is.
#[derive(Clone, Copy, Debug)]
struct LatestPort {
    /// Of IP, or more than that can be: none has come.
    protocol: u16,
    port: u16,
    socket: SocketId,
}

impl Default for LatestPort {
    fn default() -> Self {
        Self { protocol: u16::MAX, port: 0, socket: SocketId(0) }
    }
}

#[derive(Debug)]
pub(crate) struct Sockets<A: Application> {
    slots: Vec<Slot<A>>,
    by_port: FxHashMap<(u8, u16), SocketId>,
    /// Sockets of datagrams, which have no port to themselves.
    by_binding: FxHashMap<Binding, SocketId>,
    /// The port of the last packet: the next is often for the same.
    latest_port: LatestPort,
    /// By the association's place in SCTP's table.
    by_association: Vec<Option<(sctp::AssociationId, SocketId)>>,
    /// By the connection's place in TCP's table.
    by_connection: Vec<Option<(tcp::ConnectionId, SocketId)>>,
    ready: BinaryHeap<Turn>,
    /// Instants at which applications want to be served.
    deadlines: Deadlines<u32>,
    /// Sockets whose applications are over, and that have no port to themselves, the oldest first.
    retired: VecDeque<SocketId>,
    /// Places of sockets that have been given back.
    vacant: Vec<SocketId>,
    /// State that the applications share.
    pub(crate) shared: A::Shared,
}

impl<A: Application> Default for Sockets<A> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            by_port: FxHashMap::default(),
            by_binding: FxHashMap::default(),
            latest_port: LatestPort::default(),
            by_association: Vec::new(),
            by_connection: Vec::new(),
            ready: BinaryHeap::new(),
            deadlines: Deadlines::default(),
            retired: VecDeque::new(),
            vacant: Vec::new(),
            shared: A::Shared::default(),
        }
    }
}

impl<A: Application> Sockets<A> {
    /// Adds a socket, which has its port to itself, and is served at once.
    pub(crate) fn add(&mut self, state: SocketState, application: A, stack: &Stack) -> SocketId {
        if let Some(binding) = state.datagram().map(|datagram| datagram.binding) {
            let id = self.push(state, application);
            let before = self.by_binding.insert(binding, id);
            assert!(before.is_none(), "a socket has its ports to itself: {binding:?}");
            self.touch(id);
            return id;
        }
        let port = (state.protocol(), state.port());
        let before = self.by_port.get(&port).copied();
        // A socket whose port has had another takes the place of that: as many places are enough as there are ports.
        match before {
            Some(before) if self.is_spent(before, stack) => self.give_back(before),
            Some(before) => {
                self.retired.push_back(before);
                self.give_back_retired(stack);
            }
            None => {}
        }
        let id = self.push(state, application);
        self.by_port.insert(port, id);
        if before.is_some() {
            self.latest_port = LatestPort::default();
        }
        self.touch(id);
        id
    }

    /// Identifier that the next socket gets.
    fn next(&self) -> SocketId {
        let new = || SocketId(u32::try_from(self.slots.len()).expect("fewer than 2^32 sockets"));
        self.vacant.last().copied().unwrap_or_else(new)
    }

    fn push(&mut self, state: SocketState, application: A) -> SocketId {
        let application = Some(application);
        if let Some(id) = self.vacant.pop() {
            // If it still is among those that are ready, it is served, which does no harm.
            let slot = &mut self.slots[id.index()];
            (slot.state, slot.application, slot.idle_until) = (state, application, Instant::START);
            return id;
        }
        let id = self.next();
        let (readiness, idle_until) = (Readiness::Waiting, Instant::START);
        self.slots.push(Slot { readiness, idle_until, application, state });
        id
    }

    /// Opens an association from the port of another socket, which has that to itself.
    pub(crate) fn call(
        &mut self,
        now: Instant,
        port: SocketId,
        own: Option<sctp::PortId>,
        peer: &Peer,
        application: A,
        stack: &mut Stack,
    ) -> Result<SocketId, sctp::ConnectError> {
        let slot = self.slots.get(port.index()).filter(|_| self.holds_port(port));
        let (state, opened) =
            slot.ok_or(sctp::ConnectError::NotBound(0))?.state.call(now, stack, own, peer)?;
        let id = self.push(state, application);
        self.note(opened, id);
        Ok(id)
    }

    /// Gives back a socket whose association's end has come to it, unless it has a port to itself. `false` if there is
    /// none, or it has not, or it has no application any more: what is still told of it would be told of the next.
    pub(crate) fn release(&mut self, id: SocketId) -> bool {
        let Some(slot) = self.slots.get(id.index()) else { return false };
        if slot.application.is_none() || !slot.state.is_over() || self.holds_port(id) {
            return false;
        }
        self.end(id);
        self.give_back(id);
        true
    }

    /// Tells if a socket has a port to itself.
    fn holds_port(&self, id: SocketId) -> bool {
        let state = &self.slots[id.index()].state;
        self.at_port(state.protocol(), state.port()) == Some(id)
    }

    /// The socket has no application any more.
    fn end(&mut self, id: SocketId) {
        let slot = &mut self.slots[id.index()];
        slot.application = None;
        slot.idle_until = Instant::FAR_FUTURE;
        self.deadlines.set(id.0, None);
    }

    /// Tells if a socket's application is over, and the transport knows no more of it.
    fn is_spent(&self, id: SocketId, stack: &Stack) -> bool {
        let slot = &self.slots[id.index()];
        slot.application.is_none() && slot.state.peer_socket(stack).is_none()
    }

    /// The place of a socket whose association or connection is gone may be another's.
    fn give_back(&mut self, id: SocketId) {
        let state = &self.slots[id.index()].state;
        if let Some(association) = state.association() {
            unset(&mut self.by_association, association.index(), (association, id));
        }
        if let Some(connection) = state.connection() {
            unset(&mut self.by_connection, connection.index(), (connection, id));
        }
        self.vacant.push(id);
    }

    /// Gives back the sockets that have come in and are gone. One of them that the transport still has to
    /// do with holds back those behind it: connections end in the order in which they are over, or nearly so.
    fn give_back_retired(&mut self, stack: &Stack) {
        while let Some(&id) = self.retired.front()
            && self.is_spent(id, stack)
        {
            self.retired.pop_front();
            self.give_back(id);
        }
    }

    /// The user of a socket; `None` without one.
    #[inline]
    pub(crate) fn application(&self, id: SocketId) -> Option<&A> {
        self.slots.get(id.index())?.application.as_ref()
    }

    /// Variant of [`Sockets::application`] that gives it mutably, with what all share: it is not served for that.
    #[inline]
    pub(crate) fn application_mut(&mut self, id: SocketId) -> Option<(&mut A, &mut A::Shared)> {
        Some((self.slots.get_mut(id.index())?.application.as_mut()?, &mut self.shared))
    }

    /// All users of sockets, in the order of these.
    pub(crate) fn applications(&self) -> impl Iterator<Item = &A> {
        self.slots.iter().filter_map(|slot| slot.application.as_ref())
    }

    /// Shows each user of a socket with that. They are not served for it.
    pub(crate) fn visit(&mut self, stack: &mut Stack, mut visit: impl FnMut(&A, &mut Socket<'_>)) {
        for slot in &mut self.slots {
            if let Some(application) = &slot.application {
                visit(application, &mut Socket { state: &mut slot.state, stack });
            }
        }
    }

    /// The peer's addresses, by which paths are numbered.
    pub(crate) fn paths(&self, id: SocketId) -> Option<&[IpAddr]> {
        Some(self.slots.get(id.index())?.state.paths())
    }

    /// The peer's address and port, as long as the transport knows them.
    pub(crate) fn peer(&self, id: SocketId, stack: &Stack) -> Option<SocketAddr> {
        self.slots.get(id.index())?.state.peer_socket(stack)
    }

    /// The association of a socket, as long as it can be asked for.
    pub(crate) fn association(&self, id: SocketId) -> Option<sctp::AssociationId> {
        self.slots.get(id.index())?.state.association()
    }

    /// Fields of the IP header of the packet that came last.
    pub(crate) fn received_ip(&self, id: SocketId, stack: &Stack) -> Option<IpFields> {
        self.slots.get(id.index())?.state.received_ip(stack)
    }

    /// Instant at which the newest packet left that the peer has answered.
    pub(crate) fn last_answered(&self, id: SocketId, stack: &Stack) -> Option<Instant> {
        self.slots.get(id.index())?.state.last_answered(stack)
    }

    /// The congestion state of a socket's association or connection. The socket is not served for it.
    pub(crate) fn congestion(
        &self,
        now: Instant,
        id: SocketId,
        stack: &mut Stack,
    ) -> Option<CongestionSample> {
        self.slots.get(id.index())?.state.congestion(now, stack)
    }

    /// A socket with its application and what all share, in the hands of whoever commands it; it is served afterwards.
    pub(crate) fn command<'a>(
        &'a mut self,
        id: SocketId,
        stack: &'a mut Stack,
    ) -> Option<(Option<&'a mut A>, Socket<'a>, &'a mut A::Shared)> {
        if id.index() < self.slots.len() {
            self.touch(id);
        }
        let Slot { application, state, .. } = self.slots.get_mut(id.index())?;
        Some((application.as_mut(), Socket { state, stack }, &mut self.shared))
    }

    /// The socket that has a port to itself.
    #[inline]
    pub(crate) fn at_port(&self, protocol: u8, port: u16) -> Option<SocketId> {
        self.by_port.get(&(protocol, port)).copied()
    }

    /// Variant of [`Sockets::at_port`] for a packet that has come: it notes the socket found.
    #[inline]
    pub(crate) fn find_at_port(&mut self, protocol: u8, port: u16) -> Option<SocketId> {
        let latest = self.latest_port;
        if latest.protocol == u16::from(protocol) && latest.port == port {
            return Some(latest.socket);
        }
        self.find_at_other_port(protocol, port)
    }

    /// Variant of [`Sockets::find_at_port`] for a packet to another socket than the last one's: what packets touch of
    /// the socket may be in no cache.
    #[inline(never)]
    fn find_at_other_port(&mut self, protocol: u8, port: u16) -> Option<SocketId> {
        let socket = self.at_port(protocol, port)?;
        if self.slots.len() > CACHED {
            prefetch(&self.slots[socket.index()]);
        }
        self.latest_port = LatestPort { protocol: protocol.into(), port, socket };
        Some(socket)
    }

    /// The connection that a socket has itself.
    #[inline]
    pub(crate) fn connection(&self, id: SocketId) -> Option<tcp::ConnectionId> {
        self.slots[id.index()].state.connection()
    }

    /// The socket has something to do.
    #[inline]
    pub(crate) fn touch(&mut self, id: SocketId) {
        self.make(id, Readiness::Touched);
    }

    /// A packet has come for the socket. Its application is told by an event if that concerns it; else it is served
    /// only if it would have acted by now anyway.
    #[inline]
    pub(crate) fn note_packet(&mut self, now: Instant, id: SocketId) {
        if self.slots[id.index()].idle_until <= now {
            self.touch(id);
        }
    }

    /// Asks the processor for the memory of a socket's application and of its association or connection: it is going to
    /// be served.
    fn prefetch(&self, id: SocketId, stack: &Stack) {
        if self.slots.len() > CACHED {
            let slot = &self.slots[id.index()];
            slot.application.iter().for_each(A::prefetch);
            slot.state.prefetch(stack);
        }
    }

    fn make(&mut self, id: SocketId, readiness: Readiness) {
        let slot = &mut self.slots[id.index()];
        if slot.readiness == Readiness::Waiting {
            let turn = if slot.application.as_ref().is_some_and(A::is_served_first) {
                Turn::First(std::cmp::Reverse(id.0))
            } else {
                Turn::Other(id.0)
            };
            self.ready.push(turn);
        }
        slot.readiness = match slot.readiness {
            Readiness::Waiting => readiness,
            before if before == readiness => readiness,
            _ => Readiness::DueAndTouched,
        };
    }

    /// Makes ready whatever is due.
    pub(crate) fn handle_deadline(&mut self, now: Instant, stack: &mut Stack) {
        while let Some(id) = stack.sctp.take_due(now) {
            match self.by_association.get(id.index()).copied().flatten() {
                Some((known, socket))
                    if known == id && self.slots[socket.index()].state.is_of_association(id) =>
                {
                    self.make(socket, Readiness::Due);
                }
                // It was a socket's once, and ends by itself.
                _ => stack.sctp.handle_due(now, id),
            }
        }
        while let Some(id) = stack.tcp.take_due(now) {
            match self.by_connection.get(id.index()).copied().flatten() {
                Some((known, socket)) if known == id => {
                    // Most retransmission timers are put off before they expire: nobody is served for that.
                    if self.slots[socket.index()].idle_until <= now || !stack.tcp.postpone(now, id) {
                        self.make(socket, Readiness::Due);
                    }
                }
                _ => stack.tcp.handle_due(now, id),
            }
        }
        while let Some(socket) = self.deadlines.take_due(now) {
            self.prefetch(SocketId(socket), stack);
            self.make(SocketId(socket), Readiness::Due);
        }
    }

    /// Instant at which the first application wants to be served.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadlines.earliest()
    }

    /// Tells if any socket is to be served.
    #[inline]
    pub(crate) fn is_any_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Serves the next socket; `false` if none is ready. The transport is to be drained before the next is served.
    #[inline]
    pub(crate) fn serve_next(&mut self, now: Instant, stack: &mut Stack) -> bool {
        self.is_any_ready() && self.serve_ready(now, stack)
    }

    #[inline(never)]
    fn serve_ready(&mut self, now: Instant, stack: &mut Stack) -> bool {
        let Some(turn) = self.ready.pop() else { return false };
        let id = turn.socket();
        let slot = &mut self.slots[id.index()];
        let mut socket = Socket { state: &mut slot.state, stack };
        let readiness = std::mem::replace(&mut slot.readiness, Readiness::Waiting);
        let served = match readiness {
            Readiness::Due | Readiness::DueAndTouched => {
                socket.handle_due(now);
                if readiness == Readiness::Due && slot.idle_until > now {
                    // A timer of the transport: the application is told by an event of what concerns it.
                    return true;
                }
                if let Some(application) = &mut slot.application {
                    application.handle_deadline(now);
                }
                Served::Again
            }
            Readiness::Touched | Readiness::Waiting => match &mut slot.application {
                None => Served::Idle(None),
                Some(application) => {
                    let others = if self.ready.is_empty() { Others::Idle } else { Others::Wait };
                    let mut served = application.serve(now, others, &mut socket);
                    while matches!(served, Served::Again) && others == Others::Idle && socket.is_quiet() {
                        served = application.serve(now, others, &mut socket);
                    }
                    served
                }
            },
        };
        let opened = slot.state.opened();
        if let Some(opened) = opened {
            self.note(opened, id);
        }
        if self.retire(now, id, stack) {
            return true;
        }
        let slot = &mut self.slots[id.index()];
        if let Some(application) = &mut slot.application {
            application.note_served(id, &mut self.shared);
        }
        match served {
            Served::Again => self.touch(id),
            Served::Idle(deadline) => {
                let until = slot.application.as_ref().map(|application| application.idle_until(deadline));
                slot.idle_until = until.unwrap_or(Instant::FAR_FUTURE);
                self.deadlines.set(id.0, deadline);
            }
        }
        true
    }

    /// Drops an application that is over.
    fn retire(&mut self, now: Instant, id: SocketId, stack: &mut Stack) -> bool {
        let Slot { application: Some(application), state, .. } = &mut self.slots[id.index()] else {
            return false;
        };
        if !application.retire(now, id, &mut Socket { state, stack }, &mut self.shared) {
            return false;
        }
        if !self.holds_port(id) {
            self.retired.push_back(id);
        }
        self.end(id);
        true
    }

    /// Tells if a port is nobody's, or that of a socket that is over.
    pub(crate) fn is_free(&self, protocol: u8, port: u16) -> bool {
        self.at_port(protocol, port).is_none_or(|id| self.slots[id.index()].application.is_none())
    }

    /// Tells an association's socket what has happened to it.
    pub(crate) fn handle_sctp(
        &mut self,
        now: Instant,
        stack: &mut Stack,
        id: sctp::AssociationId,
        event: sctp::Event,
    ) {
        let known = self.by_association.get(id.index()).copied().flatten();
        let socket = match known {
            Some((known, socket)) if known == id => socket,
            _ => {
                let Some(owner) =
                    stack.sctp.local_port(id).and_then(|port| self.at_port(protocol::SCTP, port))
                else {
                    return;
                };
                let socket = self.accept(owner, stack);
                self.note(Opened::Association(id), socket);
                socket
            }
        };
        let slot = &mut self.slots[socket.index()];
        let mut view = Socket { state: &mut slot.state, stack };
        let reaction = match (view.read_sctp(now, socket, id, event), &mut slot.application) {
            (Some(event), Some(application)) => {
                application.handle_event(now, socket, event, &mut view, &mut self.shared)
            }
            _ => Reaction::None,
        };
        if reaction == Reaction::Serve || slot.idle_until <= now {
            self.touch(socket);
        }
    }

    /// Tells a connection's socket what has happened to it.
    pub(crate) fn handle_tcp(
        &mut self,
        now: Instant,
        stack: &mut Stack,
        id: tcp::ConnectionId,
        event: tcp::Event,
    ) {
        let known = self.by_connection.get(id.index()).copied().flatten();
        let socket = match known {
            Some((known, socket)) if known == id => socket,
            _ => {
                let port = stack.tcp.snapshot(id).map(|snapshot| snapshot.local.port());
                let Some(owner) = port.and_then(|port| self.at_port(protocol::TCP, port)) else { return };
                let socket = self.accept(owner, stack);
                self.note(Opened::Connection(id), socket);
                socket
            }
        };
        let slot = &mut self.slots[socket.index()];
        let mut view = Socket { state: &mut slot.state, stack };
        let reaction = match (view.read_tcp(now, id, event), &mut slot.application) {
            (Some(event), Some(application)) => {
                application.handle_event(now, socket, event, &mut view, &mut self.shared)
            }
            _ => Reaction::None,
        };
        if reaction == Reaction::Serve || slot.idle_until <= now {
            self.touch(socket);
        }
    }

    /// The socket of datagrams between these ports, with its state.
    pub(crate) fn datagram(&self, binding: Binding) -> Option<(SocketId, &DatagramState)> {
        let id = *self.by_binding.get(&binding)?;
        Some((id, self.slots[id.index()].state.datagram()?))
    }

    /// Tells a socket of datagrams what has happened to it.
    pub(crate) fn handle_datagram(
        &mut self,
        now: Instant,
        stack: &mut Stack,
        binding: Binding,
        event: SocketEvent,
    ) {
        let Some(socket) = self.by_binding.get(&binding).copied() else { return };
        let slot = &mut self.slots[socket.index()];
        let mut view = Socket { state: &mut slot.state, stack };
        let reaction = match &mut slot.application {
            Some(application) => application.handle_event(now, socket, event, &mut view, &mut self.shared),
            None => Reaction::None,
        };
        if reaction == Reaction::Serve || slot.idle_until <= now {
            self.touch(socket);
        }
    }

    /// The socket of what has come to a port: a new one of a listener's, or the one that has the port.
    fn accept(&mut self, owner: SocketId, stack: &Stack) -> SocketId {
        self.give_back_retired(stack);
        let slot = &self.slots[owner.index()];
        let Some(application) = slot.application.as_ref().and_then(|application| application.accept(owner))
        else {
            return owner;
        };
        let state = slot.state.accepted();
        self.push(state, application)
    }

    /// Notes whose an association or connection is.
    fn note(&mut self, opened: Opened, socket: SocketId) {
        match opened {
            Opened::Association(id) => set(&mut self.by_association, id.index(), (id, socket)),
            Opened::Connection(id) => set(&mut self.by_connection, id.index(), (id, socket)),
        }
    }
}

fn set<T: Copy>(places: &mut Vec<Option<T>>, index: usize, value: T) {
    if places.len() <= index {
        places.resize(index + 1, None);
    }
    places[index] = Some(value);
}

fn unset<T: PartialEq>(places: &mut [Option<T>], index: usize, value: T) {
    if let Some(place) = places.get_mut(index)
        && *place == Some(value)
    {
        *place = None;
    }
}
