//! Services that answer whoever comes: echo (RFC 862), discard (RFC 863) and the character generator (RFC 864), over
//! TCP, UDP and SCTP.
//!
//! What one peer costs is bounded: its connection by the buffers of the transport, for what does not fit is not read;
//! and the number of peers at once. One of whom nothing is heard for two hours is let go.

use std::collections::VecDeque;
use std::net::SocketAddr;

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Seed, Stream};
use slantpath_host::{
    MessagePlace, Offer, OutgoingMessage, Peers, Protocol, Reaction, Reports, Served, Socket, SocketEvent,
    SocketId, TransportConfig,
};

use crate::application::{Application, Host, Kind, SharedState};

/// Service that a host offers at a well-known port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Sends lines of characters as long as anybody takes them (RFC 864).
    Chargen,
    /// Takes everything and says nothing (RFC 863).
    Discard,
    /// Sends back what has come (RFC 862).
    Echo,
}

impl Service {
    /// The well-known port.
    pub const fn port(self) -> u16 {
        match self {
            Self::Chargen => 19,
            Self::Discard => 9,
            Self::Echo => 7,
        }
    }
}

/// Number of peers that a service has at once over TCP, and as many over SCTP.
pub const SERVICE_PEERS_MAX: u32 = 256;

/// Time after which a peer of whom nothing is heard is let go: that of keep-alives.
//= https://www.rfc-editor.org/rfc/rfc9293#section-3.8.4
//# This interval MUST
//# be configurable (MUST-27) and MUST default to no less than two hours
//# (MUST-28).
const SILENCE_MAX: Duration = Duration::from_secs(2 * 60 * 60);

/// Ports of UDP at which services answer whatever comes, so that two would answer each other for ever: echo, daytime,
/// quote of the day, chargen and time.
const PORTS_THAT_ANSWER: [u16; 5] = [7, 13, 17, 19, 37];

/// Greatest number of characters in a datagram of the character generator (RFC 864).
const DATAGRAM_MAX: u64 = 512;

/// Characters of a line, with its end.
const LINE_LEN: usize = 74;
/// Characters that are printed, each of which begins a line.
const PRINTED: usize = 95;
/// Length of the lines until they begin anew, in bytes.
const CYCLE_LEN: usize = LINE_LEN * PRINTED;
/// Lines of a message of SCTP: as many as a packet of 1,500 bytes carries.
const MESSAGE_LEN: usize = CYCLE_LEN / 5;

/// Lines as RFC 864 recommends them: each of 72 characters, and begun one character further on.
static LINES: [u8; CYCLE_LEN] = {
    let mut lines = [0; CYCLE_LEN];
    let mut place = 0;
    while place < CYCLE_LEN {
        let (line, column) = (place / LINE_LEN, place % LINE_LEN);
        lines[place] = match column {
            72 => b'\r',
            73 => b'\n',
            // The result is one of the 95 printed characters.
            #[expect(clippy::cast_possible_truncation, reason = "it is less than 95")]
            _ => b' ' + ((line + column) % PRINTED) as u8,
        };
        place += 1;
    }
    lines
};

/// Host that offers services.
pub trait Services {
    /// Opens the port of a service over one transport, whose chance derives from `seed` and `path`. Its port is the
    /// service's.
    ///
    /// # Panics
    /// If the port is in use.
    fn add_service(
        &mut self,
        service: Service,
        transport: TransportConfig,
        seed: Seed,
        path: &str,
    ) -> SocketId;
}

impl Services for Host {
    fn add_service(
        &mut self,
        service: Service,
        transport: TransportConfig,
        seed: Seed,
        path: &str,
    ) -> SocketId {
        let transport = TransportConfig { local_port: service.port(), peer: None, ..transport };
        let carrier = match &transport.protocol {
            Protocol::Echo(_) | Protocol::Udp(_) => Carrier::Datagrams,
            Protocol::Sctp(_) => Carrier::Messages,
            Protocol::Tcp(_) => Carrier::Stream,
        };
        let serving = Serving::new(service, carrier, seed.stream(&format!("{path}/lengths")));
        let application = Application(Kind::Service(Box::new(serving)));
        let stream = seed.stream(&format!("{path}/transport"));
        let id = self.add(transport, Some(Peers::Many), Reports::default(), stream, application);
        if carrier == Carrier::Stream {
            self.limit_connections(id, SERVICE_PEERS_MAX as usize);
        }
        id
    }
}

/// Kind of transport below a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carrier {
    Datagrams,
    Messages,
    Stream,
}

/// State of a peer's association or connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// State before it is up, and that of the port.
    Listening,
    Open,
    /// State once it has ended, or is not wanted.
    Over,
}

/// A service at its port, or at the association or connection of one peer.
#[derive(Debug)]
pub(crate) struct Serving {
    service: Service,
    carrier: Carrier,
    phase: Phase,
    /// Number of streams on which messages may be sent.
    streams: u16,
    /// Messages that wait for room, oldest first. While there are any, nothing is read.
    waiting: VecDeque<OutgoingMessage>,
    /// True if the transport may have room for characters.
    may_send: bool,
    /// Place in the lines.
    place: usize,
    /// Instant at which something was heard of the peer last.
    heard: Instant,
    /// Of the lengths of datagrams.
    lengths: Stream,
}

impl Serving {
    fn new(service: Service, carrier: Carrier, lengths: Stream) -> Self {
        Self {
            service,
            carrier,
            phase: Phase::Listening,
            streams: 1,
            waiting: VecDeque::new(),
            may_send: false,
            place: 0,
            heard: Instant::START,
            lengths,
        }
    }

    /// The end of a peer that has come to this port.
    pub(crate) fn accept(&self) -> Self {
        Self::new(self.service, self.carrier, self.lengths.clone())
    }

    pub(crate) const fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    pub(crate) fn handle_event(
        &mut self,
        now: Instant,
        event: SocketEvent,
        socket: &mut Socket<'_>,
        shared: &mut SharedState,
    ) -> Reaction {
        self.heard = now;
        match event {
            SocketEvent::Connected { outbound_streams, .. } => {
                // TCP counts by itself, and those with that are not up.
                if self.carrier == Carrier::Messages && shared.served == SERVICE_PEERS_MAX {
                    self.phase = Phase::Over;
                    socket.abort_because(now, Bytes::from_static(b"too many peers"));
                    return Reaction::Serve;
                }
                shared.served += u32::from(self.carrier == Carrier::Messages);
                self.phase = Phase::Open;
                self.streams = outbound_streams.max(1);
                self.may_send = self.service == Service::Chargen;
            }
            SocketEvent::Bytes(bytes) => {
                // What is written is never refused, so that nothing is lost when the peer has no more to say.
                if self.service == Service::Echo && socket.write(now, bytes) == Some(true) {
                    socket.pause(now);
                }
            }
            SocketEvent::Message { stream, place, payload_protocol, payload, .. } => {
                if self.service == Service::Echo {
                    let stream = stream % self.streams;
                    let unordered = place == MessagePlace::Unordered;
                    self.waiting.push_back(message(stream, unordered, payload_protocol, payload));
                    self.send_waiting(now, socket);
                }
            }
            SocketEvent::Writable => {
                self.may_send = self.service == Service::Chargen;
                self.send_waiting(now, socket);
                if self.waiting.is_empty() {
                    socket.resume(now);
                }
            }
            // What its former self was owed is of no use to it.
            SocketEvent::Restarted => {
                self.waiting.clear();
                self.may_send = self.service == Service::Chargen;
                socket.resume(now);
            }
            SocketEvent::Ended { .. } => {
                let was_served = self.phase == Phase::Open && self.carrier == Carrier::Messages;
                shared.served -= u32::from(was_served);
                self.phase = Phase::Over;
            }
            SocketEvent::Abandoned(_)
            | SocketEvent::Acknowledged(_)
            | SocketEvent::Arrived(_)
            | SocketEvent::MessageFailed { .. }
            | SocketEvent::Path { .. }
            | SocketEvent::Sctp(_)
            | SocketEvent::Transmitted { .. } => return Reaction::None,
        }
        Reaction::Serve
    }

    fn send_waiting(&mut self, now: Instant, socket: &mut Socket<'_>) {
        while let Some(message) = self.waiting.front() {
            if socket.send(now, message.clone()) == Offer::Full {
                socket.pause(now);
                return;
            }
            // What is refused for good is of an association that ends.
            self.waiting.pop_front();
        }
    }

    /// Sends the next characters, and lets a peer go of whom nothing is heard.
    pub(crate) fn serve(&mut self, now: Instant, socket: &mut Socket<'_>) -> Served {
        if self.phase != Phase::Open {
            return Served::Idle(None);
        }
        let silent = self.heard + SILENCE_MAX;
        if now >= silent {
            socket.abort_because(now, Bytes::from_static(b"nothing heard for two hours"));
            if self.carrier == Carrier::Stream {
                // TCP tells no end of what is aborted.
                self.phase = Phase::Over;
            }
            return Served::Idle(None);
        }
        if !self.may_send {
            return Served::Idle(Some(silent));
        }
        match self.carrier {
            Carrier::Datagrams => return Served::Idle(None),
            Carrier::Messages => {
                let lines = Bytes::from_static(&LINES).slice(self.place..self.place + MESSAGE_LEN);
                match socket.send(now, message(0, false, 0, lines)) {
                    Offer::Accepted => self.place = (self.place + MESSAGE_LEN) % CYCLE_LEN,
                    Offer::Full | Offer::Refused(_) => self.may_send = false,
                }
            }
            Carrier::Stream => {
                self.may_send = socket.write(now, Bytes::from_static(&LINES)) == Some(false);
            }
        }
        Served::Again
    }

    /// Answers a datagram, unless whoever sent it would answer that.
    pub(crate) fn answer(&mut self, from: SocketAddr, datagram: Bytes) -> Option<Bytes> {
        if PORTS_THAT_ANSWER.contains(&from.port()) {
            return None;
        }
        match self.service {
            Service::Chargen => {
                let len = usize::try_from(self.lengths.below(DATAGRAM_MAX + 1)).unwrap_or(0);
                // Every datagram begins with a line.
                let begin = LINE_LEN * self.place;
                self.place = (self.place + 1) % (PRINTED - LINES_OF_DATAGRAM);
                Some(Bytes::from_static(&LINES).slice(begin..begin + len))
            }
            Service::Discard => None,
            Service::Echo => Some(datagram),
        }
    }
}

/// Lines of which the longest datagram has a part.
const LINES_OF_DATAGRAM: usize = 7;

const fn message(stream: u16, unordered: bool, payload_protocol: u32, payload: Bytes) -> OutgoingMessage {
    OutgoingMessage { number: None, stream, unordered, payload_protocol, payload, options: None }
}
