//! SCTP and TCP as a flow uses them: one association or connection, and one set of events.

use std::net::{IpAddr, SocketAddr};

use bytes::Bytes;
use slantpath_base::{Instant, Stream};
use slantpath_sctp as sctp;
use slantpath_tcp as tcp;
use slantpath_wire::Packet;
use slantpath_wire::icmp::IcmpError;
use slantpath_wire::ip::protocol;

use crate::record::PathSample;
use crate::sender::{Acknowledged, Offer, Outgoing, Sent};
use crate::timeline::PathEventKind;

/// Why a message is refused before there is anything to send it on.
const NOT_OPEN: &str = "nothing has been opened";

/// The number of what no application sent: theirs have 32 bits.
const MANAGEMENT: u64 = u64::MAX;

/// Which transport a flow runs over, and its settings.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// One SCTP association.
    Sctp(Box<sctp::SctpConfig>),
    /// One TCP connection.
    Tcp(Box<tcp::TcpConfig>),
}

/// What lies between the application and the association.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adaptation {
    /// M3UA (RFC 4666): messages are MSUs, their streams are signalling link selections. Over SCTP only.
    M3ua,
    /// Nothing.
    #[default]
    None,
}

/// One end of a flow's transport.
#[derive(Clone, Debug)]
pub struct TransportConfig {
    /// The protocol and its settings.
    pub protocol: Protocol,
    /// What lies above it.
    pub adaptation: Adaptation,
    /// The host's addresses that the flow uses; TCP uses the first.
    pub local_addresses: Vec<IpAddr>,
    /// The host's port.
    pub local_port: u16,
    /// Whom to connect to; a listener has nobody.
    pub peer: Option<Peer>,
}

/// Whom to connect to.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The peer's addresses that are known beforehand, at least one. The first is the primary; SCTP learns
    /// others in its handshake.
    pub addresses: Vec<IpAddr>,
    /// The peer's port.
    pub port: u16,
}

/// A segment on its way down to IP.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) packet: Packet,
    pub(crate) fragmentation: sctp::Fragmentation,
}

/// What ICMP says of a segment that was sent.
#[derive(Debug)]
pub(crate) struct SegmentReport {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) error: IcmpError,
    /// As much of it as is quoted, from the transport's header on.
    pub(crate) quote: Bytes,
}

/// What a transport has to say, in its user's words.
#[derive(Debug)]
pub(crate) enum TransportEvent {
    /// The peer has a part of the flow for good. Only if messages are traced.
    Acknowledged(Acknowledged),
    /// The next bytes of the stream (TCP).
    Bytes(Bytes),
    Connected {
        paths: Vec<IpAddr>,
        outbound_streams: u16,
    },
    /// The association or connection is over, in order or for the reason given.
    Ended {
        failure: Option<String>,
    },
    /// A whole message (SCTP).
    Message {
        stream: u16,
        payload_protocol: u32,
        payload: Bytes,
    },
    /// A message will never be acknowledged (SCTP).
    MessageFailed,
    /// Something has happened to a path (SCTP).
    Path {
        path: u8,
        kind: PathEventKind,
    },
    Transmitted {
        sent: Sent,
        path: u8,
        again: bool,
    },
    Writable,
}

pub(crate) enum Output {
    Event(TransportEvent),
    Transmit(Segment),
    Wait(Option<Instant>),
}

/// What a transport reports besides what its user must know.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traces {
    /// Every transmission, and what is acknowledged.
    pub(crate) messages: bool,
    /// What happens to the retransmission timer of each path (SCTP).
    pub(crate) timers: bool,
}

#[derive(Debug)]
pub(crate) struct Transport {
    kind: Kind,
    local_port: u16,
    local_address: IpAddr,
    peer: Option<Peer>,
    /// The peer's addresses in the order in which paths are numbered.
    paths: Vec<IpAddr>,
}

#[derive(Debug)]
enum Kind {
    Sctp {
        endpoint: Box<sctp::Endpoint>,
        association: Option<sctp::AssociationId>,
        /// A message that is longer than the receive buffer.
        partial: sctp::PartialMessage,
    },
    Tcp {
        endpoint: Box<tcp::Endpoint>,
        config: Box<tcp::TcpConfig>,
        connection: Option<tcp::ConnectionId>,
    },
}

impl Transport {
    /// A transport that is neither connected nor listening.
    ///
    /// # Panics
    /// If the configuration has no local address.
    pub(crate) fn new(config: TransportConfig, stream: Stream, traces: Traces) -> Self {
        let TransportConfig { protocol, adaptation: _, local_addresses, local_port, peer } = config;
        let local_address = *local_addresses.first().expect("a flow has a local address");
        let kind = match protocol {
            Protocol::Sctp(config) => {
                let config = sctp::SctpConfig {
                    trace_messages: traces.messages,
                    report_acknowledged: traces.messages,
                    trace_timers: traces.timers,
                    ..*config
                };
                // The other end is set up alike: what it can send is what this one could.
                let partial = sctp::PartialMessage::new(config.send_buffer_bytes);
                let addresses = local_addresses.into_iter().collect();
                let config = sctp::EndpointConfig { port: local_port, addresses, config };
                let endpoint = Box::new(sctp::Endpoint::new(config, stream));
                Kind::Sctp { endpoint, association: None, partial }
            }
            Protocol::Tcp(config) => {
                let reports = tcp::Reports { acked: traces.messages, transmitted: traces.messages };
                let config = Box::new(tcp::TcpConfig { reports, ..*config });
                Kind::Tcp { endpoint: Box::new(tcp::Endpoint::new(stream)), config, connection: None }
            }
        };
        let paths = peer.as_ref().map(|peer| peer.addresses.clone()).unwrap_or_default();
        Self { kind, local_port, local_address, peer, paths }
    }

    pub(crate) const fn protocol(&self) -> u8 {
        match self.kind {
            Kind::Sctp { .. } => protocol::SCTP,
            Kind::Tcp { .. } => protocol::TCP,
        }
    }

    pub(crate) const fn port(&self) -> u16 {
        self.local_port
    }

    /// Takes the peer's association or connection when it comes.
    pub(crate) fn listen(&mut self) {
        match &mut self.kind {
            Kind::Sctp { endpoint, .. } => endpoint.listen(true),
            Kind::Tcp { endpoint, config, .. } => {
                let listening = endpoint.listen(self.local_port, **config);
                listening.expect("an endpoint of its own has every port free");
            }
        }
    }

    /// Opens the association or connection. What keeps it from even trying is told as its end.
    pub(crate) fn connect(&mut self, now: Instant) -> Result<(), String> {
        let peer = self.peer.as_ref().ok_or("a listener cannot connect")?;
        match &mut self.kind {
            Kind::Sctp { endpoint, association, .. } => {
                let options = sctp::ConnectOptions {
                    peer_addresses: peer.addresses.clone(),
                    peer_port: peer.port,
                    primary: peer.addresses.first().copied(),
                };
                *association = Some(endpoint.connect(now, &options).map_err(|error| error.to_string())?);
            }
            Kind::Tcp { endpoint, config, connection } => {
                let remote = *peer.addresses.first().ok_or("the peer has no address")?;
                let local = SocketAddr::new(self.local_address, self.local_port);
                let remote = SocketAddr::new(remote, peer.port);
                let id = endpoint.connect(now, local, remote, **config).map_err(|error| error.to_string())?;
                *connection = Some(id);
            }
        }
        Ok(())
    }

    /// Hands a message over, or says why not.
    #[inline]
    pub(crate) fn send(&mut self, now: Instant, message: Outgoing) -> Offer {
        match &mut self.kind {
            Kind::Sctp { endpoint, association, .. } => {
                let Some(association) = *association else { return Offer::Refused(NOT_OPEN.to_owned()) };
                let message = sctp::Message {
                    stream: sctp::StreamId(message.stream),
                    ppid: sctp::Ppid(message.payload_protocol),
                    payload: message.payload,
                    is_unordered: message.unordered,
                    context: u64::from(message.number),
                };
                match endpoint.send(now, association, message) {
                    Ok(()) => Offer::Accepted,
                    Err(sctp::SendError::BufferFull { .. }) => Offer::Full,
                    Err(error) => Offer::Refused(error.to_string()),
                }
            }
            Kind::Tcp { endpoint, connection, .. } => {
                let Some(connection) = *connection else { return Offer::Refused(NOT_OPEN.to_owned()) };
                if endpoint.writable_bytes(connection) < message.payload.len() as u64 {
                    return Offer::Full;
                }
                match endpoint.write(now, connection, message.payload) {
                    Ok(()) => Offer::Accepted,
                    Err(error) => Offer::Refused(error.to_string()),
                }
            }
        }
    }

    /// Hands over a message of the adaptation layer's own, which no application counts (SCTP). It is one of a handful:
    /// whatever keeps it from being sent keeps the layer from coming up, and T(ack) sends it again.
    pub(crate) fn send_management(
        &mut self,
        now: Instant,
        stream: u16,
        payload_protocol: u32,
        payload: Bytes,
    ) -> Offer {
        match &mut self.kind {
            Kind::Sctp { endpoint, association: Some(association), .. } => {
                let message = sctp::Message {
                    stream: sctp::StreamId(stream),
                    ppid: sctp::Ppid(payload_protocol),
                    payload,
                    is_unordered: false,
                    context: MANAGEMENT,
                };
                match endpoint.send(now, *association, message) {
                    Ok(()) => Offer::Accepted,
                    Err(sctp::SendError::BufferFull { .. }) => Offer::Full,
                    Err(error) => Offer::Refused(error.to_string()),
                }
            }
            Kind::Sctp { association: None, .. } | Kind::Tcp { .. } => Offer::Refused(NOT_OPEN.to_owned()),
        }
    }

    /// Closes in order, once everything has been acknowledged.
    pub(crate) fn close(&mut self, now: Instant) {
        match &mut self.kind {
            Kind::Sctp { endpoint, association, .. } => {
                if let Some(association) = *association {
                    endpoint.shutdown(now, association);
                }
            }
            Kind::Tcp { endpoint, connection, .. } => {
                if let Some(connection) = *connection {
                    close(endpoint, now, connection);
                }
            }
        }
    }

    #[inline]
    pub(crate) fn handle_packet(
        &mut self,
        now: Instant,
        source: IpAddr,
        destination: IpAddr,
        packet: Packet,
    ) {
        match &mut self.kind {
            Kind::Sctp { endpoint, .. } => {
                endpoint.handle_input(now, sctp::Input::Packet { source, destination, packet });
            }
            Kind::Tcp { endpoint, .. } => {
                endpoint.handle_input(now, tcp::Input::Packet { source, destination, packet });
            }
        }
    }

    /// Whether a message is about what was really sent is for the transport to judge.
    pub(crate) fn handle_report(&mut self, now: Instant, report: SegmentReport) {
        let SegmentReport { source, destination, error, quote } = report;
        match &mut self.kind {
            Kind::Sctp { endpoint, .. } => {
                endpoint.handle_input(now, sctp::Input::Icmp { destination, error, quote });
            }
            Kind::Tcp { endpoint, .. } => {
                // All else is left to the connection's own timers (RFC 5461).
                if let IcmpError::PacketTooBig { mtu_bytes } = error {
                    let input = tcp::Input::PacketTooBig { source, destination, mtu_bytes, quote };
                    endpoint.handle_input(now, input);
                }
            }
        }
    }

    pub(crate) fn handle_deadline(&mut self, now: Instant) {
        match &mut self.kind {
            Kind::Sctp { endpoint, .. } => endpoint.handle_input(now, sctp::Input::Deadline),
            Kind::Tcp { endpoint, .. } => endpoint.handle_input(now, tcp::Input::Deadline),
        }
    }

    #[inline]
    pub(crate) fn poll_output(&mut self, now: Instant) -> Output {
        match &mut self.kind {
            Kind::Sctp { endpoint, association, partial } => loop {
                let event = match endpoint.poll_output(now) {
                    sctp::Output::Transmit { source, destination, packet, fragmentation } => {
                        return Output::Transmit(Segment { source, destination, packet, fragmentation });
                    }
                    sctp::Output::Wait(deadline) => return Output::Wait(deadline),
                    sctp::Output::Event(id, event) => {
                        association.get_or_insert(id);
                        match event {
                            sctp::Event::ReceivedPart(part) => match partial.push(part) {
                                Ok(Some(message)) => sctp::Event::Received(message),
                                Ok(None) => continue,
                                Err(error) => {
                                    endpoint.abort(now, id, error.to_string().into());
                                    continue;
                                }
                            },
                            event => event,
                        }
                    }
                };
                if let Some(event) = sctp_event(event, &mut self.paths) {
                    return Output::Event(event);
                }
            },
            Kind::Tcp { endpoint, connection, .. } => loop {
                let event = match endpoint.poll_output(now) {
                    tcp::Output::Transmit { source, destination, packet } => {
                        let fragmentation = sctp::Fragmentation::Forbidden;
                        return Output::Transmit(Segment { source, destination, packet, fragmentation });
                    }
                    tcp::Output::Wait(deadline) => return Output::Wait(deadline),
                    tcp::Output::Event(id, event) => {
                        let connection = *connection.get_or_insert(id);
                        if event == tcp::Event::PeerClosed {
                            // Flows are one-way: the receiver has nothing to say and closes, too.
                            close(endpoint, now, connection);
                        }
                        event
                    }
                };
                if let Some(event) = tcp_event(event, &self.paths) {
                    return Output::Event(event);
                }
            },
        }
    }

    /// Reads the congestion state of each path.
    pub(crate) fn sample_paths(&mut self, now: Instant, mut keep: impl FnMut(PathSample)) {
        match &mut self.kind {
            Kind::Sctp { endpoint, association, .. } => {
                let Some(association) = *association else { return };
                for snapshot in endpoint.path_snapshots(now, association) {
                    let Some(path) = path_number(&self.paths, snapshot.destination) else { continue };
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
            Kind::Tcp { endpoint, connection, .. } => {
                let Some(snapshot) = connection.and_then(|id| endpoint.snapshot(id)) else { return };
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

/// Closes a connection unless it is gone already, in which case its end has been told.
fn close(endpoint: &mut tcp::Endpoint, now: Instant, connection: tcp::ConnectionId) {
    match endpoint.close(now, connection) {
        Ok(()) | Err(tcp::CommandError::ClosedForWriting | tcp::CommandError::NoConnection) => {}
        Err(error @ tcp::CommandError::AddressInUse) => unreachable!("closing says: {error}"),
    }
}

/// The number of the path to `address`.
fn path_number(paths: &[IpAddr], address: IpAddr) -> Option<u8> {
    u8::try_from(paths.iter().position(|path| *path == address)?).ok()
}

/// The number of the path to `address`, which is new if it is met for the first time.
fn number_path(paths: &mut Vec<IpAddr>, address: IpAddr) -> u8 {
    path_number(paths, address).unwrap_or_else(|| {
        paths.push(address);
        path_number(paths, address).unwrap_or(u8::MAX)
    })
}

fn sctp_event(event: sctp::Event, paths: &mut Vec<IpAddr>) -> Option<TransportEvent> {
    match event {
        sctp::Event::Acknowledged { context } => {
            let number = u32::try_from(context).ok()?;
            Some(TransportEvent::Acknowledged(Acknowledged::Message(number)))
        }
        sctp::Event::Established { outbound_streams, .. } => {
            Some(TransportEvent::Connected { paths: paths.clone(), outbound_streams })
        }
        sctp::Event::Received(message) => Some(TransportEvent::Message {
            stream: message.stream.0,
            payload_protocol: message.ppid.0,
            payload: message.payload,
        }),
        sctp::Event::Transmitted { context, destination, transmission, .. } => {
            let path = number_path(paths, destination);
            // What an adaptation layer sends for itself has no number.
            let number = u32::try_from(context).ok()?;
            Some(TransportEvent::Transmitted { sent: Sent::Message(number), path, again: transmission > 1 })
        }
        sctp::Event::PathChanged { address, state } => {
            let kind = match state {
                sctp::PathState::Active => PathEventKind::Active,
                sctp::PathState::Inactive => PathEventKind::Inactive,
                sctp::PathState::PotentiallyFailed => PathEventKind::PotentiallyFailed,
                // Nothing becomes unconfirmed.
                sctp::PathState::Unconfirmed => return None,
            };
            Some(TransportEvent::Path { path: number_path(paths, address), kind })
        }
        sctp::Event::PrimaryChanged { address } => {
            Some(TransportEvent::Path { path: number_path(paths, address), kind: PathEventKind::Primary })
        }
        sctp::Event::T3Rtx { address, change } => {
            let kind = match change {
                sctp::T3RtxChange::Expired { rto, outstanding } => {
                    PathEventKind::T3RtxExpired { rto, outstanding_bytes: outstanding }
                }
                sctp::T3RtxChange::Restarted { rto } => PathEventKind::T3RtxRestarted { rto },
                sctp::T3RtxChange::Started { rto } => PathEventKind::T3RtxStarted { rto },
                sctp::T3RtxChange::Stopped => PathEventKind::T3RtxStopped,
            };
            Some(TransportEvent::Path { path: number_path(paths, address), kind })
        }
        sctp::Event::SendBufferDrained { .. } => Some(TransportEvent::Writable),
        sctp::Event::SendFailed { .. } => Some(TransportEvent::MessageFailed),
        sctp::Event::Closed(reason) => Some(TransportEvent::Ended {
            failure: (reason != sctp::CloseReason::ShutdownComplete).then(|| format!("{reason:?}")),
        }),
        // Parts have been put together; else nothing that a flow's application acts on or counts.
        sctp::Event::PartialDeliveryAborted { .. }
        | sctp::Event::ReceivedPart(_)
        | sctp::Event::PeerReported(_)
        | sctp::Event::Restarted
        | sctp::Event::ShutdownReceived => None,
    }
}

fn tcp_event(event: tcp::Event, paths: &[IpAddr]) -> Option<TransportEvent> {
    match event {
        tcp::Event::Acked { up_to_bytes } => {
            Some(TransportEvent::Acknowledged(Acknowledged::Bytes(up_to_bytes)))
        }
        tcp::Event::Connected => {
            Some(TransportEvent::Connected { paths: paths.to_vec(), outbound_streams: 1 })
        }
        tcp::Event::Data(bytes) => Some(TransportEvent::Bytes(bytes)),
        tcp::Event::Transmitted { start_bytes, end_bytes, transmissions } => {
            Some(TransportEvent::Transmitted {
                sent: Sent::Bytes(start_bytes..end_bytes),
                path: 0,
                again: transmissions > 1,
            })
        }
        tcp::Event::Writable => Some(TransportEvent::Writable),
        tcp::Event::Closed => Some(TransportEvent::Ended { failure: None }),
        tcp::Event::Reset(cause) => Some(TransportEvent::Ended { failure: Some(format!("{cause:?}")) }),
        tcp::Event::PeerClosed => None,
    }
}
