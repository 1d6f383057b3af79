//! All sockets of the programs of a host, and the program that they are to it.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use slantpath_base::{Deadlines, Instant, Stream};
use slantpath_live::{BySocket, Host, Program, ProgramEvent, SocketId};
use slantpath_requests::OpenRequest;
use slantpath_sctp::{Acceptance, Extension, Extensions, PortId, SctpConfig};

use crate::association::{Association, AssociationNumber, LAST_WORD};
use crate::inbox::ForProgram;
use crate::news::{News, SocketNumber};
use crate::ports::Ports;
use crate::socket::{Place, Socket};
use crate::told::{Log, Told};

/// RFC 6458's sockets of the programs of a host.
#[derive(Debug)]
pub struct Sockets {
    /// Addresses of the host.
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) stream: Stream,
    pub(crate) open: BTreeMap<SocketNumber, Socket>,
    pub(crate) associations: BySocket<Association>,
    pub(crate) by_number: BTreeMap<AssociationNumber, SocketId>,
    pub(crate) places: BTreeMap<PortId, Place>,
    /// Places of each port, the oldest first.
    pub(crate) places_of: BTreeMap<u16, Vec<PortId>>,
    /// Association of each socket with each peer, by the peer's first address.
    pub(crate) by_peer: BTreeMap<(SocketNumber, SocketAddr), SocketId>,
    pub(crate) ports: Ports,
    pub(crate) news: VecDeque<(SocketNumber, News)>,
    last_socket: u64,
    last_association: i32,
    /// Instants at which associations have idled for as long as they may, by their sockets at the host.
    pub(crate) idle: Deadlines<u32>,
    /// True if the program is to come to its end.
    pub(crate) is_stopping: bool,
    pub(crate) log: Log,
}

impl Sockets {
    /// Sockets of a host with these addresses, all of whose chance comes from `stream`.
    pub fn new(addresses: Vec<IpAddr>, stream: Stream) -> Self {
        let mut sockets = Self {
            addresses,
            stream,
            open: BTreeMap::new(),
            associations: BySocket::default(),
            by_number: BTreeMap::new(),
            places: BTreeMap::new(),
            places_of: BTreeMap::new(),
            by_peer: BTreeMap::new(),
            ports: Ports::default(),
            news: VecDeque::new(),
            last_socket: 0,
            last_association: LAST_WORD,
            idle: Deadlines::default(),
            is_stopping: false,
            log: Log::default(),
        };
        sockets.fill_reserve();
        sockets
    }

    /// Settings of sockets of programs that choose none, where Linux has others than RFC 9260: ten streams asked for
    /// and as many inbound ones as there may be, and partial reliability.
    pub fn usual_settings() -> SctpConfig {
        SctpConfig {
            outbound_streams: 10,
            inbound_streams: u16::MAX,
            extensions: Extensions::of(&[Extension::PartialReliability]),
            ..SctpConfig::default()
        }
    }

    /// Opens a socket, whose associations have these settings unless the program chooses others.
    pub fn open(&mut self, wish: OpenRequest, defaults: &Arc<SctpConfig>) -> SocketNumber {
        self.log.note(&Told::Opened(wish));
        self.insert(Socket::new(wish.style, wish.family, Arc::clone(defaults)))
    }

    pub(crate) fn insert(&mut self, socket: Socket) -> SocketNumber {
        self.last_socket += 1;
        let number = SocketNumber(self.last_socket);
        self.open.insert(number, socket);
        number
    }

    pub(crate) fn next_association(&mut self) -> AssociationNumber {
        loop {
            self.last_association =
                if self.last_association == i32::MAX { LAST_WORD + 1 } else { self.last_association + 1 };
            let number = AssociationNumber(self.last_association);
            if !self.by_number.contains_key(&number) {
                return number;
            }
        }
    }

    /// Takes an association in.
    pub(crate) fn keep(&mut self, id: SocketId, association: Association) {
        if let Some(place) = self.places.get_mut(&association.place) {
            place.alive += 1;
        }
        self.by_number.insert(association.number, id);
        if let Some(owner) = association.owner {
            self.by_peer.insert((owner, association.peer), id);
        }
        self.associations.insert(id, association);
    }

    /// An association has another socket, or none any more.
    pub(crate) fn give_to(&mut self, id: SocketId, owner: Option<SocketNumber>) {
        let Some(association) = self.associations.get_mut(id) else { return };
        let before = std::mem::replace(&mut association.owner, owner);
        let peer = association.peer;
        if let Some(before) = before
            && self.by_peer.get(&(before, peer)) == Some(&id)
        {
            self.by_peer.remove(&(before, peer));
        }
        if let Some(owner) = owner {
            self.by_peer.insert((owner, peer), id);
        }
    }

    /// Takes what is told of a socket, oldest first; of one that has been closed nothing.
    pub fn poll_news(&mut self) -> Option<(SocketNumber, News)> {
        loop {
            let (socket, news) = self.news.pop_front()?;
            if self.open.contains_key(&socket) {
                return Some((socket, news));
            }
        }
    }

    /// Number of sockets that are open.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Tells if no socket is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Number of associations that are not over, those of sockets that have been closed included.
    pub const fn association_count(&self) -> usize {
        self.associations.len()
    }

    /// Takes the next piece for a socket's program, for which there is room in its pair.
    pub fn next(&mut self, now: Instant, host: &mut Host, number: SocketNumber) -> Option<ForProgram> {
        self.log.note(&Told::Read(number));
        let socket = self.open.get_mut(&number)?;
        let Some((piece, association)) = socket.inbox.next() else {
            socket.is_readable_told = false;
            self.tell_end(number);
            return None;
        };
        if let Some(id) = association {
            self.note_read(now, host, id, piece.bytes.len());
        }
        Some(piece)
    }

    /// The program has accepted the association of a socket, which waits in its listener's queue no longer.
    pub fn accepted(&mut self, host: &mut Host, number: SocketNumber) {
        self.log.note(&Told::Accepted(number));
        let at = self.open.get_mut(&number).and_then(|socket| socket.queued_at.take());
        if let Some(listener) = at {
            self.leave_queue(host, listener);
        }
    }

    /// A caller waits in a listener's queue no longer.
    pub(crate) fn leave_queue(&mut self, host: &mut Host, listener: SocketNumber) {
        let Some(socket) = self.open.get_mut(&listener) else { return };
        let was_full = socket.has_full_queue();
        socket.queued = socket.queued.saturating_sub(1);
        if was_full
            && let Some(bound) = socket.bound.as_ref().filter(|_| !socket.has_full_queue())
            && self.places.get(&bound.place).is_some_and(|place| place.listener == Some(listener))
        {
            host.listen_at(bound.place, Acceptance::ByPeer);
        }
    }

    pub(crate) fn tell(&mut self, socket: SocketNumber, news: News) {
        self.news.push_back((socket, news));
    }

    /// Tells that there is something to read, unless that is known.
    pub(crate) fn tell_readable(&mut self, number: SocketNumber) {
        if let Some(socket) = self.open.get_mut(&number)
            && !std::mem::replace(&mut socket.is_readable_told, true)
        {
            self.tell(number, News::Readable);
        }
    }

    /// Tells that there is something to read if there is.
    pub(crate) fn tell_readable_if_any(&mut self, number: SocketNumber) {
        if self.open.get(&number).is_some_and(|socket| !socket.inbox.is_empty()) {
            self.tell_readable(number);
        }
    }

    /// Tells that nothing follows, once all has been taken.
    pub(crate) fn tell_end(&mut self, number: SocketNumber) {
        if let Some(socket) = self.open.get_mut(&number)
            && socket.is_reading_shut
            && socket.inbox.is_empty()
            && !std::mem::replace(&mut socket.is_end_told, true)
        {
            self.tell(number, News::Ended);
        }
    }
}

impl Program for Sockets {
    fn handle_event(&mut self, now: Instant, host: &mut Host, id: SocketId, event: ProgramEvent) {
        self.note_event(now, host, id, event);
    }

    fn handle_deadline(&mut self, now: Instant, host: &mut Host) {
        self.close_idle(now, host);
    }

    fn deadline(&self) -> Option<Instant> {
        self.idle.earliest()
    }

    fn stop(&mut self, now: Instant, host: &mut Host) {
        let is_second = std::mem::replace(&mut self.is_stopping, true);
        self.end_all(now, host, is_second);
    }

    fn is_over(&self) -> bool {
        self.is_stopping && self.associations.is_empty()
    }
}
