//! All sockets of the programs of a host, and the program that they are to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;

use slantpath_base::{Deadlines, Instant, Stream};
use slantpath_live::{BySocket, Host, Program, ProgramEvent, SocketId};
use slantpath_requests::OpenRequest;
use slantpath_sctp::{Extension, Extensions, SctpConfig};

use crate::association::{Association, AssociationNumber, LAST_WORD};
use crate::inbox::ForProgram;
use crate::news::{News, SocketNumber};
use crate::socket::{Place, Socket};

/// RFC 6458's sockets of the programs of a host.
#[derive(Debug)]
pub struct Sockets {
    /// Addresses of the host.
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) stream: Stream,
    pub(crate) open: BTreeMap<SocketNumber, Socket>,
    pub(crate) associations: BySocket<Association>,
    pub(crate) by_number: BTreeMap<AssociationNumber, SocketId>,
    pub(crate) places: BTreeMap<u16, Place>,
    /// Ports that have been claimed for this, whether in use or not.
    pub(crate) claimed: BTreeSet<u16>,
    /// Ports that are to be given back.
    pub(crate) releases: VecDeque<u16>,
    /// Ports that are to be claimed.
    pub(crate) claims: VecDeque<u16>,
    pub(crate) news: VecDeque<(SocketNumber, News)>,
    /// First port to which programs may be bound.
    pub(crate) first_port: u16,
    last_socket: u64,
    last_association: i32,
    /// Instants at which associations have idled for as long as they may, by their sockets at the host.
    pub(crate) idle: Deadlines<u32>,
    /// True if the program is to come to its end.
    pub(crate) is_stopping: bool,
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
            claimed: BTreeSet::new(),
            releases: VecDeque::new(),
            claims: VecDeque::new(),
            news: VecDeque::new(),
            first_port: 0,
            last_socket: 0,
            last_association: LAST_WORD,
            idle: Deadlines::default(),
            is_stopping: false,
        };
        sockets.fill_reserve();
        sockets
    }

    /// Refuses ports below this one to programs that name them, as a kernel does without `CAP_NET_BIND_SERVICE`.
    pub fn reserve_ports_below(&mut self, first: u16) {
        self.first_port = first;
    }

    /// Settings of sockets of programs that choose none, where Linux has others than RFC 9260: ten streams asked for
    /// and as many inbound ones as there may be, partial reliability, and its buffers.
    pub fn usual_settings() -> SctpConfig {
        SctpConfig {
            outbound_streams: 10,
            inbound_streams: u16::MAX,
            extensions: Extensions::of(&[Extension::PartialReliability]),
            receive_buffer_bytes: 212_992,
            send_buffer_bytes: 212_992,
            ..SctpConfig::default()
        }
    }

    /// Opens a socket, whose associations have these settings unless the program chooses others.
    pub fn open(&mut self, wish: OpenRequest, defaults: &Arc<SctpConfig>) -> SocketNumber {
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
        if let Some(place) = self.places.get_mut(&association.port) {
            place.alive += 1;
        }
        self.by_number.insert(association.number, id);
        self.associations.insert(id, association);
    }

    /// Takes what is told of a socket, oldest first.
    pub fn poll_news(&mut self) -> Option<(SocketNumber, News)> {
        self.news.pop_front()
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
        let socket = self.open.get_mut(&number)?;
        let wants_next = socket.choices.wants_next_info;
        let had_full_queue = socket.has_full_queue();
        let Some((piece, association)) = socket.inbox.next(wants_next) else {
            socket.is_readable_told = false;
            self.tell_end(number);
            return None;
        };
        if had_full_queue
            && let Some(port) =
                socket.bound.as_ref().filter(|_| !socket.has_full_queue()).map(|bound| bound.port)
            && let Some(place) = self.places.get(&port)
        {
            host.accept_callers(place.id);
        }
        if let Some(id) = association {
            match self.open.get_mut(&number).filter(|socket| socket.has_small_buffer()) {
                Some(socket) => socket.handed.push((id, piece.bytes.len())),
                None => self.note_read(now, host, id, piece.bytes.len()),
            }
        }
        Some(piece)
    }

    /// Tells if the next piece of a socket is to be taken only once the program has read the one before, which is said
    /// by [`Sockets::note_drained`]: its receive buffer is small.
    pub fn waits_for_reader(&self, number: SocketNumber) -> bool {
        self.open.get(&number).is_some_and(Socket::has_small_buffer)
    }

    /// The program has read all pieces of a socket that were taken.
    pub fn note_drained(&mut self, now: Instant, host: &mut Host, number: SocketNumber) {
        let Some(socket) = self.open.get_mut(&number) else { return };
        for (id, bytes) in std::mem::take(&mut socket.handed) {
            self.note_read(now, host, id, bytes);
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
