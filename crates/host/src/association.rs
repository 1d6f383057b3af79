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

use crate::transport::{Peer, Segment, SegmentReport};

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
    /// Messages thrown away because too many waited for the transport's buffer, after congestion was told.
    pub discarded_full: u64,
}

/// How many messages wait at most for the transport's buffer. The layer above is told of congestion at the first that
/// does: what comes after that is its last burst. 16,384 are twice what M2PA keeps unless it is configured otherwise.
const WAITING_MAX: usize = 16_384;

/// Whether an end that opens the association opens it again after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    /// Whenever it is lost.
    Always,
    /// Not before it is asked to.
    Held,
}

#[derive(Debug)]
pub(crate) struct AssociationEnd {
    endpoint: sctp::Endpoint,
    port: u16,
    association: Option<sctp::AssociationId>,
    peer: Option<Peer>,
    /// When a lost association is opened again.
    open_at: Option<Instant>,
    /// The attempt to open it that is under way.
    attempt: Option<sctp::AssociationId>,
    opening: Opening,
    reopen_after: Duration,
    /// What the transport's buffer has not taken, oldest first.
    waiting: VecDeque<sctp::Message>,
    inputs: VecDeque<TransportInput>,
    deadline: Option<Instant>,
    /// A message that is longer than the receive buffer.
    partial: sctp::PartialMessage,
    counters: AssociationCounters,
}

impl AssociationEnd {
    pub(crate) fn new(config: AssociationConfig, stream: Stream) -> Self {
        let AssociationConfig { sctp, local_addresses, local_port: port, peer, reopen_after } = config;
        // The other end is set up alike: what it can send is what this one could.
        let partial = sctp::PartialMessage::new(sctp.send_buffer_bytes);
        let config = sctp::EndpointConfig { port, addresses: local_addresses, config: *sctp };
        let mut endpoint = sctp::Endpoint::new(config, stream);
        endpoint.listen(peer.is_none());
        Self {
            endpoint,
            port,
            association: None,
            open_at: peer.is_some().then_some(Instant::START),
            attempt: None,
            opening: Opening::Always,
            peer,
            reopen_after,
            waiting: VecDeque::new(),
            inputs: VecDeque::new(),
            deadline: None,
            partial,
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

    pub(crate) fn handle_report(&mut self, now: Instant, report: SegmentReport) {
        let SegmentReport { source: _, destination, error, quote } = report;
        self.endpoint.handle_input(now, sctp::Input::Icmp { destination, error, quote });
    }

    pub(crate) fn handle_deadline(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.endpoint.handle_input(now, sctp::Input::Deadline);
        }
    }

    /// Ends the association at once; it is opened again as after any loss.
    pub(crate) fn abort(&mut self, now: Instant) {
        for id in self.association.into_iter().chain(self.attempt.take()) {
            self.endpoint.abort(now, id, bytes::Bytes::new());
        }
    }

    /// Ends the association at once, and leaves it closed until [`AssociationEnd::open_again`].
    pub(crate) fn close(&mut self, now: Instant) {
        self.opening = Opening::Held;
        self.open_at = None;
        self.abort(now);
    }

    /// Opens an association that was closed, if this end opens it.
    pub(crate) fn open_again(&mut self, now: Instant) {
        if std::mem::replace(&mut self.opening, Opening::Always) == Opening::Held && self.peer.is_some() {
            self.open_at = Some(now);
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
        } else if self.waiting.len() < WAITING_MAX {
            self.waiting.push_back(message);
        } else {
            self.counters.discarded_full += 1;
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
                sctp::Output::Transmit { source, destination, packet, fragmentation } => {
                    return Some(Segment { source, destination, packet, fragmentation });
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
        let attempt = self.endpoint.connect(now, &options);
        self.open_at = attempt.is_err().then(|| now.saturating_add(self.reopen_after));
        self.attempt = attempt.ok();
    }

    fn handle_event(&mut self, now: Instant, id: sctp::AssociationId, event: sctp::Event) {
        match event {
            sctp::Event::Established { outbound_streams, .. } => {
                self.association = Some(id);
                self.attempt = None;
                self.counters.times_up += 1;
                self.inputs.push_back(TransportInput::Up { outbound_streams });
            }
            sctp::Event::Restarted => {
                if !self.waiting.is_empty() {
                    self.discard_waiting();
                    self.inputs.push_back(TransportInput::Congested(false));
                }
                self.inputs.push_back(TransportInput::Restart);
            }
            sctp::Event::Received(message) => self.received(id, message),
            sctp::Event::ReceivedPart(part) => match self.partial.push(part) {
                Ok(Some(message)) => self.received(id, message),
                Ok(None) => {}
                Err(error) => {
                    self.endpoint.abort(now, id, error.to_string().into());
                }
            },
            sctp::Event::SendBufferDrained { .. } => self.drain_waiting(now),
            sctp::Event::Closed(_) => self.closed(now, id),
            // The paths are SCTP's own affair, and what was not acknowledged M2PA hands back to MTP3.
            sctp::Event::Acknowledged { .. }
            | sctp::Event::PartialDeliveryAborted { .. }
            | sctp::Event::PathChanged { .. }
            | sctp::Event::PeerReported(_)
            | sctp::Event::PrimaryChanged { .. }
            | sctp::Event::SendFailed { .. }
            | sctp::Event::ShutdownReceived
            | sctp::Event::T3Rtx { .. }
            | sctp::Event::Transmitted { .. } => {}
        }
    }

    fn received(&mut self, id: sctp::AssociationId, message: sctp::ReceivedMessage) {
        if self.association != Some(id) {
            self.counters.discarded_down += 1;
            return;
        }
        self.counters.received += 1;
        self.inputs.push_back(TransportInput::Message {
            stream: StreamId(message.stream.0),
            payload_protocol: message.ppid.0,
            octets: message.payload,
        });
    }

    fn closed(&mut self, now: Instant, id: sctp::AssociationId) {
        if self.association == Some(id) {
            self.association = None;
            self.counters.times_lost += 1;
            self.discard_waiting();
            self.inputs.push_back(TransportInput::Down);
        }
        self.attempt = self.attempt.filter(|attempt| *attempt != id);
        if self.opening == Opening::Always && self.peer.is_some() && self.association.is_none() {
            self.open_at = Some(now.saturating_add(self.reopen_after));
        }
    }

    fn discard_waiting(&mut self) {
        self.counters.discarded_down += self.waiting.len() as u64;
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use slantpath_base::Seed;
    use slantpath_sigtran::transport::AssociationId;

    const PORT: u16 = 2905;

    /// Two ends without a network between them.
    struct Pair {
        now: Instant,
        ends: [AssociationEnd; 2],
    }

    impl Pair {
        fn connected() -> Self {
            let addresses: [IpAddr; 2] = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
            let end = |own: usize, peer| {
                let config = AssociationConfig {
                    sctp: Box::default(),
                    local_addresses: vec![addresses[own]],
                    local_port: PORT,
                    peer,
                    reopen_after: Duration::from_secs(1),
                };
                AssociationEnd::new(config, Seed::new(1, 0).stream(["first", "second"][own]))
            };
            let peer = Peer { addresses: vec![addresses[1]], port: PORT };
            let mut pair = Self { now: Instant::START, ends: [end(0, Some(peer)), end(1, None)] };
            pair.exchange();
            let is_up = |input| matches!(input, TransportInput::Up { .. });
            assert!(pair.ends.iter_mut().all(|end| end.poll_input().is_some_and(is_up)));
            pair
        }

        /// Carries packets until both ends are quiet for good.
        fn exchange(&mut self) {
            loop {
                let mut is_quiet = true;
                for from in [0, 1] {
                    while let Some(segment) = self.ends[from].poll_transmit(self.now) {
                        is_quiet = false;
                        let Segment { source, destination, packet, .. } = segment;
                        self.ends[1 - from].handle_packet(self.now, source, destination, packet);
                    }
                }
                let held = self.ends.iter().any(|end| !end.waiting.is_empty());
                if is_quiet && !held {
                    return;
                }
                if is_quiet {
                    self.now = self.ends.iter().filter_map(AssociationEnd::deadline).min().unwrap();
                    let now = self.now;
                    self.ends.iter_mut().for_each(|end| end.handle_deadline(now));
                }
            }
        }

        fn send(&mut self, number: u32) {
            let octets = Bytes::copy_from_slice(&number.to_be_bytes());
            let (association, stream) = (AssociationId(0), StreamId(1));
            let transmit = Transmit { association, stream, payload_protocol: 3, octets };
            self.ends[0].send(self.now, transmit);
        }
    }

    #[test]
    fn a_message_longer_than_the_receive_buffer_arrives_whole_and_in_its_place() {
        let mut pair = Pair::connected();
        let octets: Vec<u8> = (0..1_000_000_u32).map(|at| u8::try_from(at % 251).unwrap()).collect();
        pair.send(1);
        let (association, stream) = (AssociationId(0), StreamId(1));
        let octets = Bytes::from(octets);
        let transmit = Transmit { association, stream, payload_protocol: 3, octets: octets.clone() };
        pair.ends[0].send(pair.now, transmit);
        pair.send(2);
        pair.exchange();
        let received: Vec<Bytes> = std::iter::from_fn(|| pair.ends[1].poll_input())
            .map(|input| match input {
                TransportInput::Message { octets, .. } => octets,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(received.iter().map(Bytes::len).collect::<Vec<_>>(), [4, 1_000_000, 4]);
        assert!(received[1] == octets);
        assert_eq!(pair.ends[1].counters().received, 3);
    }

    #[test]
    fn congestion_is_told_before_too_many_wait_and_those_are_counted() {
        let mut pair = Pair::connected();
        let mut sent = 0;
        while pair.ends[0].counters().discarded_full < 5 {
            pair.send(sent);
            sent += 1;
            assert!(pair.ends[0].waiting.len() <= WAITING_MAX);
            if pair.ends[0].waiting.len() == 1 {
                assert_eq!(pair.ends[0].poll_input(), Some(TransportInput::Congested(true)));
            }
        }
        // The packets that hold the buffer go out, and so does what waits, in order.
        pair.exchange();
        assert_eq!(pair.ends[0].poll_input(), Some(TransportInput::Congested(false)));
        let received = std::iter::from_fn(|| pair.ends[1].poll_input()).map(|input| match input {
            TransportInput::Message { octets, .. } => u32::from_be_bytes(octets[..].try_into().unwrap()),
            other => panic!("{other:?}"),
        });
        assert!(received.eq(0..sent - 5));
        assert_eq!(pair.ends[0].counters().sent, u64::from(sent - 5));
    }
}
