//! An SCTP association of a host for an adaptation layer above it: M2PA, whose links are kept up for ever.
//!
//! One end opens the association, and again whenever it is lost; the other listens. What the transport's buffer does
//! not take waits here, in order, and the layer above is told of congestion meanwhile.

use std::collections::VecDeque;
use std::net::IpAddr;

use slantpath_base::{Duration, Instant, Stream};
use slantpath_sctp as sctp;
use slantpath_sigtran::transport::{StreamId, Transmit, TransportInput};
use slantpath_wire::Packet;

use crate::transport::{Peer, Segment};

/// One end of an association.
#[derive(Clone, Debug)]
pub struct AssociationConfig {
    /// SCTP's settings.
    pub sctp: Box<sctp::SctpConfig>,
    /// The host's addresses that it uses.
    pub local_addresses: Vec<IpAddr>,
    /// The host's port.
    pub local_port: u16,
    /// Whom to connect to; a listener has nobody.
    pub peer: Option<Peer>,
    /// How long after a loss, or a failed attempt, the association is opened again.
    pub reopen_after: Duration,
}

/// What became of the messages of an association's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssociationCounters {
    /// Messages given to SCTP.
    pub sent: u64,
    /// Messages received.
    pub received: u64,
    /// How often the association was up.
    pub times_up: u64,
    /// How often it was lost.
    pub times_lost: u64,
    /// Messages thrown away: the association was lost before they were sent, or down when they came.
    pub discarded_down: u64,
}

#[derive(Debug)]
pub(crate) struct AssociationEnd {
    endpoint: sctp::Endpoint,
    port: u16,
    association: Option<sctp::AssociationId>,
    peer: Option<Peer>,
    /// When a lost association is opened again.
    open_at: Option<Instant>,
    reopen_after: Duration,
    /// What the transport's buffer has not taken, oldest first.
    waiting: VecDeque<sctp::Message>,
    inputs: VecDeque<TransportInput>,
    deadline: Option<Instant>,
    counters: AssociationCounters,
}

impl AssociationEnd {
    pub(crate) fn new(config: AssociationConfig, stream: Stream) -> Self {
        let AssociationConfig { sctp, local_addresses, local_port: port, peer, reopen_after } = config;
        let config = sctp::EndpointConfig { port, addresses: local_addresses, config: *sctp };
        let mut endpoint = sctp::Endpoint::new(config, stream);
        endpoint.listen(peer.is_none());
        Self {
            endpoint,
            port,
            association: None,
            open_at: peer.is_some().then_some(Instant::START),
            peer,
            reopen_after,
            waiting: VecDeque::new(),
            inputs: VecDeque::new(),
            deadline: None,
            counters: AssociationCounters::default(),
        }
    }

    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    pub(crate) const fn counters(&self) -> AssociationCounters {
        self.counters
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadline.into_iter().chain(self.open_at).min()
    }

    pub(crate) fn has_input(&self) -> bool {
        !self.inputs.is_empty()
    }

    /// What the layer above has to know, oldest first.
    pub(crate) fn poll_input(&mut self) -> Option<TransportInput> {
        self.inputs.pop_front()
    }

    pub(crate) fn handle_packet(
        &mut self,
        now: Instant,
        source: IpAddr,
        destination: IpAddr,
        packet: Packet,
    ) {
        self.endpoint.handle_input(now, sctp::Input::Packet { source, destination, packet });
    }

    pub(crate) fn handle_packet_too_big(&mut self, now: Instant, destination: IpAddr, mtu: u16) {
        self.endpoint.handle_input(now, sctp::Input::PacketTooBig { destination, mtu });
    }

    pub(crate) fn handle_deadline(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.endpoint.handle_input(now, sctp::Input::Deadline);
        }
    }

    pub(crate) fn send(&mut self, now: Instant, transmit: Transmit) {
        let message = sctp::Message {
            stream: sctp::StreamId(transmit.stream.0),
            ppid: sctp::Ppid(transmit.payload_protocol),
            payload: transmit.octets,
            is_unordered: false,
            context: 0,
        };
        if self.association.is_none() {
            self.counters.discarded_down += 1;
            return;
        }
        if self.waiting.is_empty() {
            self.offer(now, message);
            if !self.waiting.is_empty() {
                self.inputs.push_back(TransportInput::Congested(true));
            }
        } else {
            self.waiting.push_back(message);
        }
    }

    /// Gives a message to SCTP, or lets it wait in front of all others. Says whether there is room for more.
    fn offer(&mut self, now: Instant, message: sctp::Message) -> bool {
        let Some(association) = self.association else { return false };
        match self.endpoint.send(now, association, message.clone()) {
            Ok(()) => self.counters.sent += 1,
            Err(sctp::SendError::BufferFull { .. }) => {
                self.waiting.push_front(message);
                return false;
            }
            // It ends, which the layer above is told by the event that follows.
            Err(_) => self.counters.discarded_down += 1,
        }
        true
    }

    fn drain_waiting(&mut self, now: Instant) {
        if self.waiting.is_empty() {
            return;
        }
        while let Some(message) = self.waiting.pop_front() {
            if !self.offer(now, message) {
                return;
            }
        }
        self.inputs.push_back(TransportInput::Congested(false));
    }

    pub(crate) fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        if self.open_at.is_some_and(|at| at <= now) {
            self.open(now);
        }
        loop {
            match self.endpoint.poll_output(now) {
                sctp::Output::Transmit { source, destination, packet } => {
                    return Some(Segment { source, destination, packet });
                }
                sctp::Output::Event(id, event) => self.handle_event(now, id, event),
                sctp::Output::Wait(deadline) => {
                    self.deadline = deadline;
                    return None;
                }
            }
        }
    }

    fn open(&mut self, now: Instant) {
        let Some(peer) = &self.peer else { return };
        let options = sctp::ConnectOptions {
            peer_addresses: peer.addresses.clone(),
            peer_port: peer.port,
            primary: peer.addresses.first().copied(),
        };
        // What keeps an attempt from beginning may be over by the next one.
        self.open_at = match self.endpoint.connect(now, &options) {
            Ok(_) => None,
            Err(_) => Some(now.saturating_add(self.reopen_after)),
        };
    }

    fn handle_event(&mut self, now: Instant, id: sctp::AssociationId, event: sctp::Event) {
        match event {
            sctp::Event::Established { outbound_streams, .. } => {
                self.association = Some(id);
                self.counters.times_up += 1;
                self.inputs.push_back(TransportInput::Up { outbound_streams });
            }
            sctp::Event::Restarted => {
                self.discard_waiting();
                self.inputs.push_back(TransportInput::Restart);
            }
            sctp::Event::Received(message) if self.association == Some(id) => {
                self.counters.received += 1;
                self.inputs.push_back(TransportInput::Message {
                    stream: StreamId(message.stream.0),
                    payload_protocol: message.ppid.0,
                    octets: message.payload,
                });
            }
            sctp::Event::Received(_) => self.counters.discarded_down += 1,
            sctp::Event::SendBufferDrained { .. } => self.drain_waiting(now),
            sctp::Event::Closed(_) => self.closed(now, id),
            // The paths are SCTP's own affair, and what was not acknowledged M2PA hands back to MTP3.
            sctp::Event::Acknowledged { .. }
            | sctp::Event::PathChanged { .. }
            | sctp::Event::PeerReported(_)
            | sctp::Event::PrimaryChanged { .. }
            | sctp::Event::SendFailed { .. }
            | sctp::Event::ShutdownReceived
            | sctp::Event::T3Rtx { .. }
            | sctp::Event::Transmitted { .. } => {}
        }
    }

    fn closed(&mut self, now: Instant, id: sctp::AssociationId) {
        if self.association == Some(id) {
            self.association = None;
            self.counters.times_lost += 1;
            self.discard_waiting();
            self.inputs.push_back(TransportInput::Down);
        }
        if self.peer.is_some() && self.association.is_none() {
            self.open_at = Some(now.saturating_add(self.reopen_after));
        }
    }

    fn discard_waiting(&mut self) {
        self.counters.discarded_down += self.waiting.len() as u64;
        self.waiting.clear();
    }
}
