//! Our own endpoint.

use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::{Instant, Seed};
use slantpath_sctp::{
    Acceptance, AssociationId, ConnectOptions, Endpoint, Event, Extension, Extensions, Input, LossDetection,
    Message, Output, PartialMessage, PortConfig, Ppid, Reliability, SctpConfig, SendOptions, StreamId,
    StreamScheduling,
};
use slantpath_wire::{Checksum, Packet};

use crate::duel::Peer;

pub(crate) struct OurPeer {
    endpoint: Endpoint,
    own: IpAddr,
    other: IpAddr,
    association: Option<AssociationId>,
    is_established: bool,
    is_closed: bool,
    deadline: Option<Instant>,
    messages: Vec<(u16, Vec<u8>)>,
    partial: PartialMessage,
    /// Number of parts of messages that were received.
    parts: u64,
    /// Until when messages are held back.
    pause: Option<Instant>,
}

impl OurPeer {
    /// Both ports are 5000, as the others have it.
    pub(crate) fn new(seed: u64, is_second: bool) -> Self {
        Self::with_config(seed, is_second, &SctpConfig::default())
    }

    /// With extensions, streams in turn, and losses by time or by miss indications.
    pub(crate) fn extended(seed: u64, extensions: &[Extension]) -> Self {
        let config = SctpConfig {
            extensions: Extensions::of(extensions),
            stream_scheduling: StreamScheduling::RoundRobin,
            loss_detection: [LossDetection::MissIndications, LossDetection::Rack][(seed % 2) as usize],
            ..SctpConfig::default()
        };
        Self::with_config(seed, false, &config)
    }

    /// With a buffer that the longest messages do not fit into, and that closes while nothing is read until `pause`.
    pub(crate) fn cramped(seed: u64, pause: Option<Instant>) -> Self {
        let config = SctpConfig { receive_buffer_bytes: 12_000, ..SctpConfig::default() };
        Self { pause, ..Self::with_config(seed, false, &config) }
    }

    fn with_config(seed: u64, is_second: bool, config: &SctpConfig) -> Self {
        let (first, second) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let (own, other) = if is_second { (second, first) } else { (first, second) };
        let config = SctpConfig { initial_path_mtu: 1_200, ..config.clone() };
        let port = PortConfig { port: 5_000, addresses: vec![own], config };
        let mut endpoint = Endpoint::default();
        endpoint.bind(port, Seed::new(seed, 0).stream("endpoint")).unwrap();
        endpoint.listen(5_000, Acceptance::InTurn);
        Self {
            endpoint,
            own,
            other,
            association: None,
            is_established: false,
            is_closed: false,
            deadline: None,
            messages: Vec::new(),
            partial: PartialMessage::new(u64::MAX),
            parts: 0,
            pause: None,
        }
    }

    fn take(&mut self, id: AssociationId, event: Event) {
        match event {
            Event::Established { .. } => {
                self.association = Some(id);
                self.is_established = true;
                if self.pause.is_some() {
                    assert!(self.endpoint.pause_delivery(id));
                }
            }
            Event::Received(message) => self.messages.push((message.stream.0, message.payload.to_vec())),
            Event::ReceivedPart(part) => {
                self.parts += 1;
                if let Some(message) = self.partial.push(part).unwrap() {
                    self.messages.push((message.stream.0, message.payload.to_vec()));
                }
            }
            Event::PartialDeliveryAborted { stream, is_unordered, .. } => {
                self.partial.abort(stream, is_unordered);
            }
            Event::Closed(_) => self.is_closed = true,
            _ => {}
        }
    }
}

impl Peer for OurPeer {
    fn connect(&mut self, now: Instant) {
        let options = ConnectOptions {
            local_port: 5_000,
            peer_addresses: vec![self.other],
            peer_port: 5_000,
            ..ConnectOptions::default()
        };
        self.association = Some(self.endpoint.connect(now, &options).unwrap());
    }

    fn handle_packet(&mut self, now: Instant, bytes: &[u8]) {
        let packet = Packet::copied(bytes, Checksum::Complete);
        let input = Input::Packet {
            source: self.other,
            destination: self.own,
            ip: slantpath_wire::ip::IpFields::default(),
            packet,
        };
        self.endpoint.handle_input(now, input);
    }

    fn handle_deadline(&mut self, now: Instant) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.endpoint.handle_input(now, Input::Deadline);
        }
        if let Some(association) = self.association
            && self.pause.take_if(|until| *until <= now).is_some()
        {
            assert!(self.endpoint.resume_delivery(association));
        }
    }

    fn take_packets(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        loop {
            let mut packet = Packet::default();
            match self.endpoint.poll_output(now, &mut packet) {
                Output::Transmit { .. } => packets.push(packet.contiguous().to_vec()),
                Output::Event(id, event) => self.take(id, event),
                Output::Wait(deadline) => {
                    self.deadline = deadline;
                    return packets;
                }
            }
        }
    }

    fn next_deadline(&mut self) -> Option<Instant> {
        self.deadline.into_iter().chain(self.pause).min()
    }

    fn parts(&self) -> u64 {
        self.parts
    }

    fn send(&mut self, now: Instant, stream: u16, payload: &[u8]) -> bool {
        self.send_with(now, stream, payload, Reliability::Full)
    }

    fn send_perishable(&mut self, now: Instant, stream: u16, payload: &[u8]) -> bool {
        self.send_with(now, stream, payload, Reliability::Retransmissions(0))
    }

    fn take_messages(&mut self) -> Vec<(u16, Vec<u8>)> {
        std::mem::take(&mut self.messages)
    }

    fn shutdown(&mut self, now: Instant) {
        assert!(self.endpoint.shutdown(now, self.association.unwrap()));
    }

    fn is_established(&self) -> bool {
        self.is_established
    }

    fn is_closed(&self) -> bool {
        self.is_closed
    }
}

impl OurPeer {
    fn send_with(&mut self, now: Instant, stream: u16, payload: &[u8], reliability: Reliability) -> bool {
        let options = (reliability != Reliability::Full)
            .then(|| Box::new(SendOptions { reliability, ..SendOptions::default() }));
        let message = Message {
            stream: StreamId(stream),
            ppid: Ppid(53),
            payload: Bytes::copy_from_slice(payload),
            is_unordered: false,
            context: 0,
            options,
        };
        self.endpoint.send(now, self.association.unwrap(), message).is_ok()
    }
}
