//! Socket that an application holds: one association or connection of the host's, whichever the transport.
//!
//! An application opens it or listens, offers messages, pauses what comes in, and closes; what happens is told it by
//! `SocketEvent`s. It never sees a packet, and no other socket. SCTP and TCP themselves are one object each for the
//! whole host ([`Stack`]); a socket is borrowed together with them while its application is served.

pub(crate) mod event;
mod fill;
pub(crate) mod outgoing;
mod told;

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use slantpath_base::{Instant, Stream, StreamFamily};
use slantpath_interface::Journey;
use slantpath_sctp as sctp;
use slantpath_tcp as tcp;
use slantpath_wire::ip::{IpFields, protocol};

use crate::command_log::CommandLog;
use crate::datagrams::{Binding, DatagramState, Datagrams, Service};
use crate::reports::{MessageReports, Reports};
use crate::sample::{CongestionSample, PathSample};
use crate::trace::TraceBuffer;
use crate::transport::{Peer, Protocol, TransportConfig};
use event::{MessagePlace, path_number};
use fill::{refusal, sctp_message, write};
use outgoing::{Offer, OutgoingMessage};

/// Why a message is refused before there is anything to send it on.
const NOT_OPEN: &str = "nothing has been opened";

/// The transports of a host.
#[derive(Debug, Default)]
pub(crate) struct Stack {
    pub(crate) sctp: sctp::Endpoint,
    pub(crate) tcp: tcp::Endpoint,
    pub(crate) datagrams: Datagrams,
    /// Of the packet at hand, if the network tells.
    pub(crate) journey: Option<Journey>,
    /// Events of traced associations.
    pub(crate) trace: TraceBuffer,
    /// Commands that the host has given associations.
    pub(crate) commands: CommandLog,
}

impl Stack {
    /// Tells if no transport has anything to send or tell.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.sctp.is_idle() && self.tcp.is_idle() && self.datagrams.is_idle()
    }
}

/// History of a port: with a socket before, or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortUse {
    Again,
    First,
}

/// Association or connection that a socket has opened.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Opened {
    Association(sctp::AssociationId),
    Connection(tcp::ConnectionId),
}

/// Number of peers that a listening socket has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peers {
    /// Any number; each association or connection is a socket of its own.
    Many,
    /// One at a time, which the listening socket itself serves.
    One,
}

/// State of the association or connection of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link<I> {
    /// None has been opened, and none has come.
    None,
    Opening(I),
    Open(I),
    /// The association or connection has ended. Its last state can still be asked for until the transport forgets it.
    Over(I),
}

impl<I: Copy> Link<I> {
    /// The association or connection, if it may be acted on.
    const fn id(&self) -> Option<I> {
        match self {
            Self::Opening(id) | Self::Open(id) | Self::Over(id) => Some(*id),
            Self::None => None,
        }
    }
}

/// Readiness of an application to take what comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    Flowing,
    Paused,
}

/// A socket, apart from the transports.
#[derive(Debug)]
// In this order in memory: what is asked for with each packet, then what is when it opens.
#[repr(C)]
pub(crate) struct SocketState {
    kind: Kind,
    local_port: u16,
    reading: Reading,
    /// True if the application is told in SCTP's own words.
    verbatim: bool,
    /// If the association is traced: what its application has asked for.
    traced: Option<Reports>,
    /// The peer's addresses in the order in which paths are numbered.
    paths: Vec<IpAddr>,
    peer: Option<Peer>,
    /// Of associations that have ended: the instant at which the newest packet left that the peer has answered.
    answered: Option<Instant>,
}

#[derive(Debug)]
enum Kind {
    Datagram(Box<DatagramState>),
    Sctp {
        link: Link<sctp::AssociationId>,
        /// A message that is longer than the receive buffer: few associations ever have one.
        partial: Option<Box<sctp::PartialMessage>>,
        /// Greatest length of such a message, in bytes; a limit that does not fit here counts as this long.
        longest_message: u32,
    },
    Tcp {
        link: Link<tcp::ConnectionId>,
        /// `None` for one that has been accepted.
        origin: Option<Box<Origin>>,
    },
}

/// Settings that a connection is opened with.
#[derive(Debug)]
struct Origin {
    config: tcp::TcpConfig,
    local: IpAddr,
    stream: Stream,
}

impl SocketState {
    /// A socket on a port of its own, which is neither connected nor listening. The port may have had a socket with the
    /// same configuration, which is over.
    ///
    /// # Panics
    /// If the configuration has no local address, or the port is in use.
    pub(crate) fn bind(
        port_use: PortUse,
        stack: &mut Stack,
        config: TransportConfig,
        stream: Stream,
        reports: Reports,
    ) -> Self {
        let TransportConfig { protocol, local_addresses, local_port, peer } = config;
        let local = *local_addresses.first().expect("a socket has a local address");
        let mut traced = None;
        let kind = match protocol {
            Protocol::Sctp(config) => {
                let config = sctp::SctpConfig {
                    trace_messages: reports.messages == MessageReports::All,
                    trace_arrivals: reports.arrivals,
                    report_acknowledged: reports.messages >= MessageReports::Acknowledged,
                    trace_timers: reports.timers,
                    ..*config
                };
                let config = if config.trace { config.traced() } else { config };
                traced = config.trace.then_some(reports);
                // The other end is set up alike: what it can send is what this one could.
                let longest_message = u32::try_from(config.send_buffer_bytes).unwrap_or(u32::MAX);
                let port = sctp::PortConfig { port: local_port, addresses: local_addresses, config };
                // What is bound stays bound, and goes on drawing from the stream that it had.
                let bound = stack.sctp.bind(port, stream);
                assert!(
                    bound.is_ok() || port_use == PortUse::Again,
                    "a socket has a port of its own: {bound:?}"
                );
                Kind::Sctp { link: Link::None, partial: None, longest_message }
            }
            Protocol::Tcp(config) => {
                let tcp_reports = tcp::TcpReports {
                    acked: reports.messages == MessageReports::All,
                    transmitted: reports.messages == MessageReports::All,
                    arrived: reports.arrivals,
                };
                let config = tcp::TcpConfig { reports: tcp_reports, ..*config };
                Kind::Tcp { link: Link::None, origin: Some(Box::new(Origin { config, local, stream })) }
            }
            Protocol::Echo(config) => {
                let binding = Binding { service: Service::Echo, local: local_port, remote: local_port };
                Kind::Datagram(Box::new(DatagramState::new(binding, local, *config, reports)))
            }
            Protocol::Udp(config) => {
                let remote = peer.as_ref().map_or(config.peer_port, |peer| peer.port);
                let binding = Binding { service: Service::Udp, local: local_port, remote };
                Kind::Datagram(Box::new(DatagramState::new(binding, local, *config, reports)))
            }
        };
        let paths = peer.as_ref().map(|peer| peer.addresses.clone()).unwrap_or_default();
        let (verbatim, reading) = (reports.verbatim, Reading::Flowing);
        Self { kind, local_port, peer, paths, reading, verbatim, traced, answered: None }
    }

    /// Lets others open associations or connections to the port.
    pub(crate) fn listen(&mut self, stack: &mut Stack, peers: Peers) {
        match &mut self.kind {
            // What comes to its ports is its own.
            Kind::Datagram(_) => {}
            Kind::Sctp { .. } => {
                let acceptance = match peers {
                    Peers::Many => sctp::Acceptance::ByPeer,
                    Peers::One => sctp::Acceptance::InTurn,
                };
                assert!(stack.sctp.listen(self.local_port, acceptance), "the port has been bound");
            }
            Kind::Tcp { origin, .. } => {
                let origin = origin.as_mut().expect("what has been accepted does not listen");
                let chance = match peers {
                    Peers::Many => tcp::Chance::ByPeer(StreamFamily::new(&mut origin.stream)),
                    Peers::One => tcp::Chance::InTurn(origin.stream.clone()),
                };
                let listening = stack.tcp.listen(self.local_port, origin.config, chance);
                listening.expect("a socket that is set up has a port of its own");
            }
        }
    }

    /// The socket of an association or connection that has come to this one, which listens.
    pub(crate) fn accepted(&self) -> Self {
        let kind = match &self.kind {
            Kind::Datagram(_) => unreachable!("nothing is opened to a socket of datagrams"),
            // Nothing has come for the listening socket itself.
            &Kind::Sctp { longest_message, .. } => {
                Kind::Sctp { link: Link::None, partial: None, longest_message }
            }
            Kind::Tcp { .. } => Kind::Tcp { link: Link::None, origin: None },
        };
        let (local_port, traced) = (self.local_port, self.traced);
        Self {
            kind,
            local_port,
            peer: None,
            paths: Vec::new(),
            reading: Reading::Flowing,
            verbatim: self.verbatim,
            traced,
            answered: None,
        }
    }

    /// The socket of an association that is opened from this one's port, which listens or not, and its name.
    pub(crate) fn call(
        &self,
        now: Instant,
        stack: &mut Stack,
        own: Option<sctp::PortId>,
        peer: &Peer,
    ) -> Result<(Self, Opened), sctp::ConnectError> {
        let mut state = self.accepted();
        let options = sctp::ConnectOptions { own, ..connect_options(self.local_port, peer) };
        let id = stack.sctp.connect(now, &options)?;
        if let Kind::Sctp { link, .. } = &mut state.kind {
            *link = Link::Opening(id);
        }
        state.paths.clone_from(&peer.addresses);
        Ok((state, Opened::Association(id)))
    }

    /// The peer's addresses, by which paths are numbered.
    pub(crate) fn paths(&self) -> &[IpAddr] {
        &self.paths
    }

    /// Fields of the IP header of the packet that came last.
    pub(crate) fn received_ip(&self, stack: &Stack) -> Option<IpFields> {
        match &self.kind {
            Kind::Datagram(_) | Kind::Sctp { .. } => None,
            Kind::Tcp { link, .. } => stack.tcp.snapshot(link.id()?)?.received_ip,
        }
    }

    /// Reads the congestion state of the association or connection, if there is one.
    pub(crate) fn congestion(&self, now: Instant, stack: &mut Stack) -> Option<CongestionSample> {
        match &self.kind {
            Kind::Datagram(_) => None,
            Kind::Sctp { link, .. } => {
                let paths: Vec<_> = stack.sctp.path_snapshots(now, link.id()?).collect();
                let most = paths.iter().max_by_key(|path| (path.flight_size, path.is_primary))?;
                Some(CongestionSample {
                    cwnd_bytes: most.cwnd,
                    outstanding_bytes: paths.iter().map(|path| path.flight_size).sum(),
                    srtt: most.srtt,
                    retransmissions: paths.iter().map(|path| path.stats.retransmissions).sum(),
                })
            }
            Kind::Tcp { link, .. } => {
                let snapshot = stack.tcp.snapshot(link.id()?)?;
                Some(CongestionSample {
                    cwnd_bytes: snapshot.cwnd_bytes,
                    outstanding_bytes: snapshot.pipe_bytes,
                    srtt: snapshot.srtt,
                    retransmissions: snapshot.retransmissions,
                })
            }
        }
    }

    /// Instant at which the newest packet left that the peer has answered, of this association or one before it.
    pub(crate) fn last_answered(&self, stack: &Stack) -> Option<Instant> {
        let Kind::Sctp { link, .. } = &self.kind else { return None };
        self.answered.max(link.id().and_then(|id| stack.sctp.last_answered(id)))
    }

    /// The peer's address and port, as long as the transport knows the association or connection.
    pub(crate) fn peer_socket(&self, stack: &Stack) -> Option<SocketAddr> {
        match &self.kind {
            Kind::Datagram(_) => None,
            Kind::Sctp { link, .. } => {
                let peer = stack.sctp.peer(link.id()?)?;
                Some(SocketAddr::new(*peer.addresses.first()?, peer.port))
            }
            Kind::Tcp { link, .. } => Some(stack.tcp.snapshot(link.id()?)?.remote),
        }
    }

    /// The association or connection that is being opened.
    #[inline]
    pub(crate) const fn opened(&self) -> Option<Opened> {
        match &self.kind {
            Kind::Sctp { link: Link::Opening(id), .. } => Some(Opened::Association(*id)),
            Kind::Tcp { link: Link::Opening(id), .. } => Some(Opened::Connection(*id)),
            Kind::Datagram(_) | Kind::Sctp { .. } | Kind::Tcp { .. } => None,
        }
    }

    /// The connection, if the socket has opened or accepted one itself.
    #[inline]
    pub(crate) const fn connection(&self) -> Option<tcp::ConnectionId> {
        match &self.kind {
            Kind::Tcp { link, .. } => link.id(),
            Kind::Datagram(_) | Kind::Sctp { .. } => None,
        }
    }

    /// The association, if the socket has one.
    #[inline]
    pub(crate) const fn association(&self) -> Option<sctp::AssociationId> {
        match &self.kind {
            Kind::Sctp { link, .. } => link.id(),
            Kind::Datagram(_) | Kind::Tcp { .. } => None,
        }
    }

    /// Tells if the end of the association or connection has come to the socket.
    #[inline]
    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.kind, Kind::Sctp { link: Link::Over(_), .. } | Kind::Tcp { link: Link::Over(_), .. })
    }

    /// Asks the processor for the memory of the association or connection.
    #[inline]
    pub(crate) fn prefetch(&self, stack: &Stack) {
        if let Some(id) = self.association() {
            stack.sctp.prefetch(id);
        } else if let Some(id) = self.connection() {
            stack.tcp.prefetch(id);
        }
    }

    /// Tells if an association is the one that the socket has now.
    #[inline]
    pub(crate) fn is_of_association(&self, id: sctp::AssociationId) -> bool {
        matches!(&self.kind, Kind::Sctp { link, .. } if link.id() == Some(id))
    }

    #[inline]
    pub(crate) fn protocol(&self) -> u8 {
        match &self.kind {
            Kind::Datagram(datagram) => datagram.binding.service.protocol(datagram.local),
            Kind::Sctp { .. } => protocol::SCTP,
            Kind::Tcp { .. } => protocol::TCP,
        }
    }

    /// State of a socket of datagrams.
    #[inline]
    pub(crate) fn datagram(&self) -> Option<&DatagramState> {
        match &self.kind {
            Kind::Datagram(datagram) => Some(datagram),
            Kind::Sctp { .. } | Kind::Tcp { .. } => None,
        }
    }

    #[inline]
    pub(crate) const fn port(&self) -> u16 {
        self.local_port
    }
}

/// A socket in the hands of its application.
#[derive(Debug)]
pub struct Socket<'a> {
    pub(crate) state: &'a mut SocketState,
    pub(crate) stack: &'a mut Stack,
}

impl Socket<'_> {
    /// Opens the association or connection. What keeps it from even trying is told as its end.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn open(&mut self, now: Instant) -> Result<(), String> {
        let peer = self.state.peer.as_ref().ok_or("a listener cannot connect")?;
        match &mut self.state.kind {
            Kind::Datagram(datagram) => datagram.open(&peer.addresses, &mut self.stack.datagrams)?,
            Kind::Sctp { link, .. } => {
                let options = connect_options(self.state.local_port, peer);
                let id = self.stack.sctp.connect(now, &options).map_err(|error| error.to_string())?;
                *link = Link::Opening(id);
            }
            Kind::Tcp { link, origin } => {
                let remote = *peer.addresses.first().ok_or("the peer has no address")?;
                let Origin { config, local, stream } = &mut **origin.as_mut().ok_or(NOT_OPEN)?;
                let local = SocketAddr::new(*local, self.state.local_port);
                let remote = SocketAddr::new(remote, peer.port);
                let id = self.stack.tcp.connect(now, local, remote, *config, stream);
                *link = Link::Opening(id.map_err(|error| error.to_string())?);
            }
        }
        Ok(())
    }

    /// Hands a message over, or says why not.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a message is large to move")]
    pub fn send(&mut self, now: Instant, message: OutgoingMessage) -> Offer {
        match &self.state.kind {
            Kind::Datagram(datagram) => self.stack.datagrams.offer(datagram, &self.state.paths, message),
            Kind::Sctp { .. } => self.send_message(now, sctp_message(message)),
            Kind::Tcp { link, .. } => {
                let Some(connection) = link.id() else { return Offer::Refused(NOT_OPEN.to_owned()) };
                write(&mut self.stack.tcp, now, connection, message.payload)
            }
        }
    }

    /// Writes bytes into a connection of TCP, whatever room there is. Tells if that is to be the last before
    /// [`SocketEvent::Writable`](crate::SocketEvent) comes: more than half of the send buffer is in use. `None` if
    /// there is no connection that takes them.
    pub fn write(&mut self, now: Instant, bytes: Bytes) -> Option<bool> {
        let Kind::Tcp { link, .. } = &self.state.kind else { return None };
        let connection = link.id()?;
        self.stack.tcp.write(now, connection, bytes).ok()?;
        Some(self.stack.tcp.is_filled(connection))
    }

    /// Hands a message of SCTP over.
    ///
    /// # Errors
    /// Why SCTP does not take it.
    pub fn send_sctp(&mut self, now: Instant, message: sctp::Message) -> Result<(), sctp::SendError> {
        let association = self.state.association().ok_or(sctp::SendError::NoAssociation)?;
        self.stack.sctp.send(now, association, message)
    }

    /// Variant of [`Socket::send`] for an association, which says in SCTP's own words why it does not take a message.
    ///
    /// # Errors
    /// Why SCTP does not take it.
    pub fn send_over_sctp(&mut self, now: Instant, message: OutgoingMessage) -> Result<(), sctp::SendError> {
        self.send_sctp(now, sctp_message(message))
    }

    /// Offers a message of SCTP's own kind; a socket of TCP refuses it.
    #[inline]
    pub fn send_message(&mut self, now: Instant, message: sctp::Message) -> Offer {
        let Some(association) = self.state.association() else { return Offer::Refused(NOT_OPEN.to_owned()) };
        match self.stack.sctp.send(now, association, message) {
            Ok(()) => Offer::Accepted,
            Err(error) => refusal(&error),
        }
    }

    /// Closes in order, once everything has been acknowledged.
    pub fn close(&mut self, now: Instant) {
        match &mut self.state.kind {
            Kind::Datagram(datagram) => datagram.close(&mut self.stack.datagrams),
            Kind::Sctp { link, .. } => {
                if let Some(association) = link.id() {
                    self.stack.sctp.shutdown(now, association);
                }
            }
            Kind::Tcp { link, .. } => {
                if let Some(connection) = link.id() {
                    close(&mut self.stack.tcp, now, connection);
                }
            }
        }
    }

    /// Ends the association or connection at once. SCTP tells its end like any other; TCP tells nothing.
    pub fn abort(&mut self, now: Instant) {
        self.abort_because(now, Bytes::new());
    }

    /// Variant of [`Socket::abort`] that gives the peer a reason, where the transport has words for it.
    pub fn abort_because(&mut self, now: Instant, reason: Bytes) {
        match &mut self.state.kind {
            Kind::Datagram(datagram) => datagram.close(&mut self.stack.datagrams),
            Kind::Sctp { link, .. } => {
                if let Some(association) = link.id() {
                    self.stack.sctp.abort(now, association, reason);
                }
            }
            Kind::Tcp { link, .. } => {
                if let Some(connection) = link.id() {
                    // One that is over has nothing to break off.
                    let _ = self.stack.tcp.abort(now, connection);
                    *link = Link::Over(connection);
                }
            }
        }
    }

    /// Takes nothing more that comes in, until [`Socket::resume`]: it fills the receive buffer, and closes the window.
    pub fn pause(&mut self, now: Instant) {
        self.state.reading = Reading::Paused;
        self.hold_back(now);
    }

    /// Takes what has come in meanwhile, and all that follows.
    pub fn resume(&mut self, now: Instant) {
        self.state.reading = Reading::Flowing;
        match &self.state.kind {
            Kind::Sctp { link: Link::Open(id), .. } => {
                self.stack.sctp.resume_delivery(*id);
            }
            Kind::Tcp { link: Link::Open(id), .. } => {
                // One that is over delivers nothing anyway.
                let _ = self.stack.tcp.release(now, *id);
            }
            Kind::Datagram(_) | Kind::Sctp { .. } | Kind::Tcp { .. } => {}
        }
    }

    /// Takes the next piece of what has come in meanwhile: a message, or a segment. What follows it goes on waiting.
    pub fn resume_for_one(&mut self, now: Instant) {
        match &self.state.kind {
            Kind::Sctp { link: Link::Open(id), .. } => {
                let is_paused = self.stack.sctp.deliver_next(*id);
                self.state.reading = if is_paused { Reading::Paused } else { Reading::Flowing };
            }
            // Each piece is told apart, and the application pauses before the next.
            Kind::Datagram(_) | Kind::Sctp { .. } | Kind::Tcp { .. } => self.resume(now),
        }
    }

    /// Has the transport hold back what comes in if the application has paused, as soon as there is an association or
    /// connection to tell it of.
    fn hold_back(&mut self, now: Instant) {
        match (&self.state.kind, self.state.reading) {
            (Kind::Sctp { link: Link::Open(id), .. }, Reading::Paused) => {
                self.stack.sctp.pause_delivery(*id);
            }
            (Kind::Tcp { link: Link::Open(id), .. }, Reading::Paused) => {
                // One that is over delivers nothing anyway.
                let _ = self.stack.tcp.hold(now, *id);
            }
            (Kind::Datagram(_) | Kind::Sctp { .. } | Kind::Tcp { .. }, _) => {}
        }
    }

    /// Tells if no transport of the host has anything to send or tell.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.stack.is_idle()
    }

    /// Port that the socket has, or that it came to.
    pub const fn port(&self) -> u16 {
        self.state.port()
    }

    /// The peer's addresses, by which paths are numbered.
    pub fn paths(&self) -> &[IpAddr] {
        self.state.paths()
    }

    /// The peer's address and port, as long as the transport knows the association or connection.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.state.peer_socket(self.stack)
    }

    /// Reads the congestion state of the association or connection, if there is one.
    pub fn congestion(&mut self, now: Instant) -> Option<CongestionSample> {
        self.state.congestion(now, self.stack)
    }

    /// Journey of the packet at hand, if the network tells.
    #[inline]
    pub const fn journey(&self) -> Option<Journey> {
        self.stack.journey
    }

    /// Does what is due for the association or connection.
    #[inline]
    pub(crate) fn handle_due(&mut self, now: Instant) {
        match &self.state.kind {
            Kind::Datagram(_) => {}
            Kind::Sctp { link, .. } => {
                if let Some(id) = link.id() {
                    self.stack.sctp.handle_due(now, id);
                }
            }
            Kind::Tcp { link, .. } => {
                if let Some(id) = link.id() {
                    self.stack.tcp.handle_due(now, id);
                }
            }
        }
    }

    /// Place of the first message of the latest failover (SCTP).
    pub fn failed_over_with(&self) -> Option<MessagePlace> {
        let association = self.stack.sctp.association(self.state.association()?)?;
        let (stream, sequence) = association.failed_over_with()?;
        Some(MessagePlace::Ordered { stream: stream.0, sequence: sequence.0 })
    }

    /// Reads the congestion state of each path.
    pub fn sample_paths(&mut self, now: Instant, mut keep: impl FnMut(PathSample)) {
        match &self.state.kind {
            Kind::Datagram(_) => {}
            Kind::Sctp { link, .. } => {
                let Some(association) = link.id() else { return };
                for snapshot in self.stack.sctp.path_snapshots(now, association) {
                    let Some(path) = path_number(&self.state.paths, snapshot.destination) else { continue };
                    keep(PathSample {
                        at: now,
                        path,
                        cwnd_bytes: snapshot.cwnd,
                        ssthresh_bytes: snapshot.ssthresh,
                        outstanding_bytes: snapshot.flight_size,
                        rto: snapshot.rto,
                        srtt: snapshot.srtt,
                    });
                }
            }
            Kind::Tcp { link, .. } => {
                let Some(snapshot) = link.id().and_then(|id| self.stack.tcp.snapshot(id)) else { return };
                keep(PathSample {
                    at: now,
                    path: 0,
                    cwnd_bytes: snapshot.cwnd_bytes,
                    ssthresh_bytes: snapshot.ssthresh_bytes,
                    outstanding_bytes: snapshot.pipe_bytes,
                    rto: snapshot.rto,
                    srtt: snapshot.srtt,
                });
            }
        }
    }
}

/// The first of a peer's addresses is the primary one.
fn connect_options(local_port: u16, peer: &Peer) -> sctp::ConnectOptions {
    sctp::ConnectOptions {
        local_port,
        peer_addresses: peer.addresses.clone(),
        peer_port: peer.port,
        primary: peer.addresses.first().copied(),
        ..sctp::ConnectOptions::default()
    }
}

/// Closes a connection unless it is gone already, in which case its end has been told.
fn close(endpoint: &mut tcp::Endpoint, now: Instant, connection: tcp::ConnectionId) {
    match endpoint.close(now, connection) {
        Ok(()) | Err(tcp::CommandError::ClosedForWriting | tcp::CommandError::NoConnection) => {}
        Err(error @ tcp::CommandError::AddressInUse) => unreachable!("closing says: {error}"),
    }
}
