//! The TCP of one host: connections by their addresses and ports, listeners, deadlines.

mod limited;
mod table;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use slantpath_base::{Instant, Stream, StreamFamily};
use slantpath_wire::ip::{Envelope, IpFields};
use slantpath_wire::{Checksum, Packet, Reader};

use crate::config::{ChecksumPolicy, TcpConfig};
use crate::connection::{Connection, Ports, Snapshot, Written};
use crate::event::Event;
use crate::line::Line;
use crate::options::Options;
use crate::segment::{FixedHeader, Flags, Received, Segment, SequenceNumber};
use limited::Limited;
pub use table::ConnectionId;
use table::ConnectionTable;

/// The lowest port that [`Endpoint::connect`] gives out (RFC 6335, section 6).
const FIRST_DYNAMIC_PORT: u16 = 49_152;

/// Input of an endpoint.
#[derive(Debug)]
pub enum Input<'a> {
    /// The deadline of an earlier [`Output::Wait`] has come. It does no harm to say so too early.
    Deadline,
    /// A packet arrived.
    Packet {
        /// Address that it comes from.
        source: IpAddr,
        /// The own address that it went to.
        destination: IpAddr,
        /// Further fields of its IP header.
        ip: IpFields,
        /// From the TCP header on. Its data is taken out.
        packet: &'a mut Packet,
    },
    /// A router says that a packet of this endpoint was longer than a link carries, and so was dropped.
    PacketTooBig {
        /// The own address that it came from.
        source: IpAddr,
        /// Address that it was going to.
        destination: IpAddr,
        /// MTU of the link in bytes, IP header included; zero in the messages of very old routers.
        mtu_bytes: u32,
        /// As much of the packet as is quoted, from the TCP header on.
        quote: Bytes,
    },
}

/// Output of an endpoint.
#[derive(Debug)]
pub enum Output {
    /// Something happened that the layer above must know.
    Event(ConnectionId, Event),
    /// The packet that has been written is to be sent.
    Transmit(Envelope),
    /// Nothing more follows from what came in. By the deadline [`Input::Deadline`] must come in; it may turn
    /// out that nothing was due, since a timer that moves back is not told at once.
    Wait(Option<Instant>),
}

/// Why a command was not obeyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// There is a connection or listener of these addresses and ports.
    #[error("the address is in use")]
    AddressInUse,
    /// The own stream has ended.
    #[error("the connection is closed for writing")]
    ClosedForWriting,
    /// The connection is over.
    #[error("there is no such connection")]
    NoConnection,
}

/// Counts of packets that reached no connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Packets whose checksum or header was wrong. They were dropped.
    pub malformed: u64,
    /// Segments for no connection and no listener. They were answered with a reset, unless they were one.
    pub strays: u64,
    /// Calls to a listener that had as many connections as it takes. They were dropped.
    pub calls_beyond_limit: u64,
}

/// Random streams from which a listener's connections draw their initial sequence numbers.
#[derive(Clone, Debug)]
pub enum Chance {
    /// Each from a stream that its peer's address and port name, so that none changes what another draws: for a port
    /// that serves many.
    ByPeer(StreamFamily),
    /// All from one stream, one after the other: for a port that has one peer.
    InTurn(Stream),
}

#[derive(Debug)]
struct Listener {
    config: Arc<TcpConfig>,
    chance: Chance,
    limited: Option<Limited>,
}

impl Listener {
    fn draw(&mut self, now: Instant, remote: SocketAddr) -> u32 {
        //= https://www.rfc-editor.org/rfc/rfc9293#section-3.4.1
        //# ISN = M + F(localip, localport, remoteip, remoteport, secretkey)
        match &mut self.chance {
            Chance::ByPeer(family) => {
                let mut name = match remote.ip() {
                    IpAddr::V4(address) => address.octets().to_vec(),
                    IpAddr::V6(address) => address.octets().to_vec(),
                };
                name.extend(remote.port().to_be_bytes());
                // A peer that comes again from the same port finds other numbers: M goes on by one every 4 us.
                #[expect(clippy::cast_possible_truncation, reason = "it wraps")]
                let clock = (now.since_start().as_nanos() / 4_000) as u32;
                family.member(&name).next_u32().wrapping_add(clock)
            }
            Chance::InTurn(stream) => stream.next_u32(),
        }
    }
}

/// The TCP of one host.
#[derive(Debug)]
pub struct Endpoint {
    connections: ConnectionTable,
    listeners: BTreeMap<u16, Listener>,
    /// Connections that may have something to say, in the order in which they were touched.
    active: Line<ConnectionId>,
    /// True if the first of these has said all that it had, and its wake-up is noted: it stays there only in case its
    /// user answers what it was told last.
    is_first_settled: bool,
    /// Connections that are over, and let go once their last event has been read.
    over: Vec<ConnectionId>,
    /// Wake-ups. A connection's earliest one for a timer is never later than its next timer; it may be earlier, since
    /// most timers are put off again and again, and each wake-up that comes too early costs less than moving it
    /// every time. What a pacer holds has wake-ups of its own: they come soon, and would leave one for a timer behind
    /// each time.
    wakeups: Wakeups,
    /// Resets for segments that belong to no connection.
    strays: VecDeque<(Envelope, Packet)>,
    /// Of the last one that was sent.
    latest_stray: Option<Envelope>,
    statistics: Statistics,
    next_port: u16,
    latest_config: Option<Arc<TcpConfig>>,
}

/// Wake-ups, the earliest first.
type Wakeups = BinaryHeap<Reverse<Wakeup>>;

/// Instant of a wake-up and its connection, as one number in the order of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wakeup(u128);

impl Wakeup {
    fn new(at: Instant, id: ConnectionId) -> Self {
        Self(u128::from(at.as_nanos()) << 64 | u128::from(id.number()))
    }

    const fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 64) as u64)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    const fn id(self) -> ConnectionId {
        ConnectionId::of_number(self.0 as u64)
    }
}

/// Notes when a connection has to be woken, unless it will be by then anyway.
#[inline(always)]
#[expect(clippy::inline_always, reason = "it mostly comes to two comparisons")]
fn note_wakeup(wakeups: &mut Wakeups, connection: &mut Connection, id: ConnectionId) {
    if let Some(deadline) = connection.next_timer()
        && deadline < connection.timer_wakeup
    {
        connection.timer_wakeup = deadline;
        wakeups.push(Reverse(Wakeup::new(deadline, id)));
    }
    if let Some(release) = connection.next_release()
        && release < *connection.release_wakeup()
    {
        *connection.release_wakeup() = release;
        wakeups.push(Reverse(Wakeup::new(release, id)));
    }
}

/// Forgets wake-ups of a connection that have come. Returns whether there were any.
fn take_wakeups(connection: &mut Connection, now: Instant) -> bool {
    let mut has_come = false;
    if connection.timer_wakeup <= now {
        connection.timer_wakeup = Instant::FAR_FUTURE;
        has_come = true;
    }
    if *connection.release_wakeup() <= now {
        *connection.release_wakeup() = Instant::FAR_FUTURE;
        has_come = true;
    }
    has_come
}

impl Default for Endpoint {
    fn default() -> Self {
        Self {
            connections: ConnectionTable::default(),
            listeners: BTreeMap::new(),
            active: Line::default(),
            is_first_settled: false,
            over: Vec::new(),
            wakeups: BinaryHeap::new(),
            strays: VecDeque::new(),
            latest_stray: None,
            statistics: Statistics::default(),
            next_port: FIRST_DYNAMIC_PORT,
            latest_config: None,
        }
    }
}

impl Endpoint {
    /// Accepts connections to `port` on any own address. Each tells its
    /// [`Connected`](Event::Connected) under an identifier of its own.
    pub fn listen(&mut self, port: u16, config: TcpConfig, chance: Chance) -> Result<(), CommandError> {
        if self.listeners.contains_key(&port) {
            return Err(CommandError::AddressInUse);
        }
        let config = self.share(config);
        self.listeners.insert(port, Listener { config, chance, limited: None });
        Ok(())
    }

    /// Accepts no more connections to `port`; those that there are go on.
    pub fn stop_listening(&mut self, port: u16) {
        self.listeners.remove(&port);
    }

    /// Calls `remote` from `local`, whose port zero means any free one, with a sequence number drawn from `stream`.
    pub fn connect(
        &mut self,
        now: Instant,
        mut local: SocketAddr,
        remote: SocketAddr,
        config: TcpConfig,
        stream: &mut Stream,
    ) -> Result<ConnectionId, CommandError> {
        self.let_go();
        if local.port() == 0 {
            local.set_port(self.free_port(local, remote)?);
        } else if self.connections.find(local, remote).is_some() {
            return Err(CommandError::AddressInUse);
        }
        let iss = SequenceNumber(stream.next_u32());
        let config = self.share(config);
        let id = self.connections.insert(Connection::connect(now, config, local, remote, iss));
        self.activate(id);
        Ok(id)
    }

    /// Appends `bytes` to the stream of a connection, uncopied. More than
    /// [`writable_bytes`](Self::writable_bytes) is taken too: who writes without looking, waits in memory.
    pub fn write(&mut self, _now: Instant, id: ConnectionId, bytes: Bytes) -> Result<(), CommandError> {
        let connection = self.connections.get_mut(id).ok_or(CommandError::NoConnection)?;
        if connection.write(bytes).ok_or(CommandError::ClosedForWriting)? == Written::MayLeave {
            self.activate(id);
        }
        Ok(())
    }

    /// Ends the own stream behind what was written. The peer's goes on until it ends it.
    pub fn close(&mut self, _now: Instant, id: ConnectionId) -> Result<(), CommandError> {
        self.command(id, Connection::close)
    }

    /// Breaks a connection off with a reset. No event follows.
    pub fn abort(&mut self, _now: Instant, id: ConnectionId) -> Result<(), CommandError> {
        self.command(id, Connection::abort)
    }

    /// Delivers no more data, so that the receive window closes, until [`release`](Self::release).
    pub fn hold(&mut self, _now: Instant, id: ConnectionId) -> Result<(), CommandError> {
        self.command(id, Connection::hold)
    }

    /// Delivers data again.
    pub fn release(&mut self, _now: Instant, id: ConnectionId) -> Result<(), CommandError> {
        self.command(id, Connection::release)
    }

    /// Number of bytes that fit into the send buffer of a connection; none if it is over.
    pub fn writable_bytes(&self, id: ConnectionId) -> u64 {
        self.connections.get(id).map_or(0, Connection::writable)
    }

    /// Tells if more than half of the send buffer of a connection is in use, or was when something was written last:
    /// that it is free again is told by [`Writable`](Event::Writable). `false` if it is over.
    pub fn is_filled(&self, id: ConnectionId) -> bool {
        self.connections.get(id).is_some_and(Connection::is_filled)
    }

    /// State of a connection at present. After its last event it can still be asked until the next input.
    pub fn snapshot(&self, id: ConnectionId) -> Option<Snapshot> {
        self.connections.get(id).map(Connection::snapshot)
    }

    /// Counts of packets that reached no connection.
    pub const fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// The next connection whose wake-up has come, the earliest first, or none if it is over. Nothing has happened to
    /// it yet: whoever serves many users says by [`handle_due`](Self::handle_due) when it is its turn.
    pub fn take_due(&mut self, now: Instant) -> Option<ConnectionId> {
        let &Reverse(wakeup) = self.wakeups.peek()?;
        (wakeup.at() <= now).then(|| {
            self.wakeups.pop();
            wakeup.id()
        })
    }

    /// Asks the processor for the memory of a connection that is going to be served.
    pub fn prefetch(&self, id: ConnectionId) {
        self.connections.prefetch(id);
    }

    /// Tells if nothing of a connection that [`take_due`](Self::take_due) has given is due after all, since its timers
    /// were put off: it will be given again when something is.
    pub fn postpone(&mut self, now: Instant, id: ConnectionId) -> bool {
        let Some(connection) = self.connections.get_mut(id) else { return true };
        if connection.is_due(now) {
            return false;
        }
        if take_wakeups(connection, now) {
            note_wakeup(&mut self.wakeups, connection, id);
        }
        true
    }

    /// Does what is due for a connection, if anything is.
    pub fn handle_due(&mut self, now: Instant, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(id)
            && take_wakeups(connection, now)
        {
            connection.handle_deadline(now);
            self.activate(id);
        }
    }

    /// Instant at which [`Input::Deadline`] must come in, once all output has been polled. It may turn out that nothing
    /// was due, since a timer that moves back is not told at once.
    pub fn deadline(&self) -> Option<Instant> {
        self.wakeups.peek().map(|Reverse(wakeup)| wakeup.at())
    }

    /// Takes in a packet, or looks for deadlines that have passed.
    #[inline]
    pub fn handle_input(&mut self, now: Instant, input: Input<'_>) {
        self.let_go();
        match input {
            Input::Deadline => self.handle_deadline(now),
            Input::Packet { source, destination, ip, packet } => {
                self.handle_packet(now, None, &Envelope { source, destination, fields: ip }, packet);
            }
            Input::PacketTooBig { source, destination, mtu_bytes, quote } => {
                self.handle_packet_too_big(now, source, destination, mtu_bytes, &quote);
            }
        }
    }

    /// Tells if there is nothing to poll.
    #[inline]
    pub fn is_idle(&self) -> bool {
        (self.active.is_empty() || (self.is_first_settled && !self.active.has_others()))
            && self.strays.is_empty()
    }

    /// The next thing that follows. To be called until it says [`Output::Wait`]. If that is a packet to send, it has
    /// been written over `packet`, from the TCP header on.
    pub fn poll_output(&mut self, now: Instant, packet: &mut Packet) -> Output {
        if self.strays.is_empty()
            && let Some((id, event)) = self.poll_event()
        {
            return Output::Event(id, event);
        }
        if let Some(envelope) = self.poll_transmit(now, packet) {
            return Output::Transmit(*envelope);
        }
        match self.poll_event() {
            Some((id, event)) => Output::Event(id, event),
            None => Output::Wait(self.deadline()),
        }
    }

    /// Writes the next packet to send over `packet`, if it comes before the next event. Who polls packets and events
    /// apart goes on until [`is_idle`](Self::is_idle) says that there is neither.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<&Envelope> {
        if let Some((envelope, stray)) = self.strays.pop_front() {
            *packet = stray;
            return Some(self.latest_stray.insert(envelope));
        }
        self.is_first_settled = false;
        while let Some(&id) = self.active.front() {
            if let Some(connection) = self.connections.get_mut(id) {
                if connection.poll_transmit(now, packet) {
                    if connection.is_silent && !connection.has_event() && !connection.is_over() {
                        note_wakeup(&mut self.wakeups, connection, id);
                        self.is_first_settled = true;
                    }
                    break;
                }
                if connection.can_tell() {
                    return None;
                }
                connection.is_queued = false;
                if connection.is_over() {
                    self.over.push(id);
                } else {
                    note_wakeup(&mut self.wakeups, connection, id);
                }
            }
            self.active.pop();
        }
        let first = *self.active.front()?;
        self.connections.get(first).map(Connection::envelope)
    }

    /// The next event, if it comes before the next packet.
    #[inline]
    pub fn poll_event(&mut self) -> Option<(ConnectionId, Event)> {
        if self.is_first_settled {
            return None;
        }
        let id = *self.active.front()?;
        let connection = self.connections.get_mut(id).filter(|connection| connection.is_silent)?;
        let event = connection.poll_event()?;
        if !connection.has_event() && !connection.is_over() {
            // Nothing follows unless the user does something.
            note_wakeup(&mut self.wakeups, connection, id);
            self.is_first_settled = true;
        }
        Some((id, event))
    }

    /// A configuration, in one place with that of the last connection or listener if it is the same.
    fn share(&mut self, config: TcpConfig) -> Arc<TcpConfig> {
        let latest = self.latest_config.take().filter(|latest| **latest == config);
        Arc::clone(self.latest_config.insert(latest.unwrap_or_else(|| Arc::new(config))))
    }

    fn command(&mut self, id: ConnectionId, act: impl FnOnce(&mut Connection)) -> Result<(), CommandError> {
        act(self.connections.get_mut(id).ok_or(CommandError::NoConnection)?);
        self.activate(id);
        Ok(())
    }

    fn activate(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(id) {
            connection.is_silent = false;
            self.queue(id);
        }
    }

    /// Puts a connection behind those that may have something to say. One that has said all stands in nobody's way.
    #[inline(never)]
    fn queue(&mut self, id: ConnectionId) {
        if self.is_first_settled {
            self.is_first_settled = false;
            if let Some(first) = self.active.front().copied()
                && first != id
            {
                self.active.pop();
                if let Some(connection) = self.connections.get_mut(first) {
                    connection.is_queued = false;
                }
            }
        }
        if let Some(connection) = self.connections.get_mut(id)
            && !connection.is_queued
        {
            connection.is_queued = true;
            self.active.push(id);
        }
    }

    fn let_go(&mut self) {
        while let Some(id) = self.over.pop() {
            self.remove(id);
        }
    }

    fn handle_deadline(&mut self, now: Instant) {
        while let Some(id) = self.take_due(now) {
            self.handle_due(now, id);
        }
    }

    /// Takes in a packet, as [`Input::Packet`] does, for a caller who has a connection in mind that it is likely for.
    #[inline]
    pub fn handle_packet(
        &mut self,
        now: Instant,
        likely: Option<ConnectionId>,
        envelope: &Envelope,
        packet: &mut Packet,
    ) {
        if !self.over.is_empty() {
            self.let_go();
        }
        let Some((fixed, options)) = Segment::usual_header(packet) else {
            return self.handle_unusual(now, envelope, packet);
        };
        let mut read;
        let options = if options.is_empty() {
            &Options::NONE
        } else {
            read = Options::NONE;
            if read.read(options).is_err() {
                self.statistics.malformed += 1;
                return;
            }
            &read
        };
        let segment = Received::new(FixedHeader::read(fixed), options);
        let ports = Ports { local: segment.destination_port, remote: segment.source_port };
        if let Some(id) = likely
            && let Some(connection) = self.connections.get_mut(id)
            && connection.is_for(envelope, ports)
        {
            connection.take_in(now, envelope, segment, packet.tail_mut());
            if connection.is_queued && self.active.front() == Some(&id) {
                // It stands there already, and may have something to say again.
                self.is_first_settled = false;
            } else {
                self.queue(id);
            }
            return;
        }
        let checksum = packet.checksum();
        self.handle_elsewhere(now, envelope, segment, packet.tail_mut(), checksum);
    }

    #[inline(never)]
    fn handle_unusual(&mut self, now: Instant, envelope: &Envelope, packet: &Packet) {
        match Segment::parse(packet, envelope.source, envelope.destination) {
            Ok((segment, mut data)) => {
                let checksum = packet.checksum();
                self.handle_elsewhere(now, envelope, Received::from(&segment), &mut data, checksum);
            }
            Err(_) => self.statistics.malformed += 1,
        }
    }

    /// A segment of which nobody knows yet whom it is for.
    #[inline(never)]
    fn handle_elsewhere(
        &mut self,
        now: Instant,
        envelope: &Envelope,
        segment: Received<'_>,
        data: &mut Bytes,
        checksum: Checksum,
    ) {
        let local = SocketAddr::new(envelope.destination, segment.destination_port);
        let remote = SocketAddr::new(envelope.source, segment.source_port);
        if let Some(id) = self.connections.find(local, remote)
            && let Some(connection) = self.connections.get_mut(id)
        {
            connection.take_in(now, envelope, segment, data);
            self.queue(id);
        } else {
            self.handle_call_or_stray(now, envelope, segment, data, checksum);
        }
    }

    /// A segment that belongs to no connection.
    #[cold]
    fn handle_call_or_stray(
        &mut self,
        now: Instant,
        envelope: &Envelope,
        segment: Received<'_>,
        data: &Bytes,
        checksum: Checksum,
    ) {
        let local = SocketAddr::new(envelope.destination, segment.destination_port);
        let remote = SocketAddr::new(envelope.source, segment.source_port);
        let is_call =
            segment.flags.contains(Flags::SYN) && !segment.flags.intersects(Flags::RST | Flags::ACK);
        if is_call && self.listeners.contains_key(&local.port()) && !self.make_room(local.port()) {
            self.statistics.calls_beyond_limit += 1;
            return;
        }
        if is_call && let Some(listener) = self.listeners.get_mut(&local.port()) {
            let iss = SequenceNumber(listener.draw(now, remote));
            let config = Arc::clone(&listener.config);
            let mut connection = Connection::accept(now, config, local, remote, iss, segment);
            connection.received_ip = Some(envelope.fields);
            let id = self.connections.insert(connection);
            if let Some(limited) = &mut listener.limited {
                limited.note(id);
            }
            self.activate(id);
            return;
        }
        self.statistics.strays += 1;
        if !segment.flags.contains(Flags::RST) {
            self.refuse(segment, data, local, remote, checksum);
        }
    }

    fn handle_packet_too_big(
        &mut self,
        now: Instant,
        source: IpAddr,
        destination: IpAddr,
        mtu_bytes: u32,
        quote: &[u8],
    ) {
        let mut reader = Reader::new(quote);
        let (Ok(source_port), Ok(destination_port), Ok(sequence)) =
            (reader.u16(), reader.u16(), reader.u32())
        else {
            return;
        };
        let local = SocketAddr::new(source, source_port);
        let remote = SocketAddr::new(destination, destination_port);
        if let Some(id) = self.connections.find(local, remote)
            && let Some(connection) = self.connections.get_mut(id)
        {
            connection.handle_packet_too_big(now, SequenceNumber(sequence), mtu_bytes);
            self.activate(id);
        }
    }

    /// Answers a segment for which there is nobody (RFC 9293, section 3.10.7.1).
    fn refuse(
        &mut self,
        segment: Received<'_>,
        data: &Bytes,
        local: SocketAddr,
        remote: SocketAddr,
        checksum: Checksum,
    ) {
        let mut reset = Segment {
            source_port: local.port(),
            destination_port: remote.port(),
            sequence: segment.acknowledgment,
            acknowledgment: SequenceNumber(0),
            flags: Flags::RST,
            window: 0,
            options: Options::default(),
        };
        if !segment.flags.contains(Flags::ACK) {
            reset.sequence = SequenceNumber(0);
            reset.acknowledgment = segment.sequence.plus(segment.sequence_len(data));
            reset.flags = Flags::RST | Flags::ACK;
        }
        let policy = match checksum {
            Checksum::Complete => ChecksumPolicy::Complete,
            Checksum::Omitted => ChecksumPolicy::Omit,
        };
        let packet = reset.emit(Bytes::new(), local.ip(), remote.ip(), policy);
        let (source, destination) = (local.ip(), remote.ip());
        self.strays.push_back((Envelope { source, destination, fields: IpFields::default() }, packet));
    }

    fn free_port(&mut self, mut local: SocketAddr, remote: SocketAddr) -> Result<u16, CommandError> {
        for _ in FIRST_DYNAMIC_PORT..=u16::MAX {
            local.set_port(self.next_port);
            self.next_port = self.next_port.checked_add(1).unwrap_or(FIRST_DYNAMIC_PORT);
            if self.connections.find(local, remote).is_none() {
                return Ok(local.port());
            }
        }
        Err(CommandError::AddressInUse)
    }
}
