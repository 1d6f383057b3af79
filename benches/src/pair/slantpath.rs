//! Our own SCTP: over contiguous bytes like the others, or over packets that share their payload with the message, as
//! in a simulation.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use slantpath_base::{Instant, Seed};
use slantpath_sctp::{
    self as sctp, Acceptance, AssociationId, ConnectOptions, PartPlace, PortConfig, Ppid, SctpConfig,
    StreamId,
};
use slantpath_wire::ip::{Envelope, IpFields};
use slantpath_wire::{Checksum, Packet, PacketBuffers};

use super::{Endpoint, Messages, Settings, Side};

const PORT: u16 = 5000;
const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
const IPV4_HEADER_BYTES: usize = 20;

/// The form in which a packet is handed over.
pub trait Form {
    /// As it goes to the wire, out of `buffers` if it has to be written anew.
    fn sent(packet: &mut Packet, buffers: &mut PacketBuffers) -> Self;

    /// As it comes from there, over `packet`.
    fn received(self, packet: &mut Packet);
}

impl Form for Bytes {
    fn sent(packet: &mut Packet, buffers: &mut PacketBuffers) -> Self {
        buffers.contiguous(packet)
    }

    fn received(self, packet: &mut Packet) {
        packet.compose(self, 0, Checksum::Complete, |_, _| 0);
    }
}

impl Form for Packet {
    fn sent(packet: &mut Packet, _: &mut PacketBuffers) -> Self {
        core::mem::take(packet)
    }

    fn received(self, packet: &mut Packet) {
        *packet = self;
    }
}

/// One endpoint with the one association that it has.
#[derive(Debug)]
pub struct Slantpath<F> {
    endpoint: sctp::Endpoint,
    here: IpAddr,
    peer: IpAddr,
    association: Option<AssociationId>,
    is_established: bool,
    received: Messages,
    outgoing: VecDeque<F>,
    /// Buffer into which the endpoint writes a packet, or from which it reads one.
    place: Packet,
    buffers: PacketBuffers,
    /// Payload of the last messages.
    payload: Bytes,
    deadline: Option<Instant>,
}

impl<F: Form> Slantpath<F> {
    /// An endpoint that accepts associations.
    pub fn new(side: Side, settings: &Settings) -> Self {
        let (here, peer) = match side {
            Side::Client => (CLIENT, SERVER),
            Side::Server => (SERVER, CLIENT),
        };
        let config = SctpConfig {
            initial_path_mtu: u16::try_from(settings.packet_bytes + IPV4_HEADER_BYTES)
                .expect("a packet is short"),
            receive_buffer_bytes: u32::try_from(settings.receive_window_bytes)
                .expect("a window is 32 bits wide"),
            send_buffer_bytes: 2 * (settings.receive_window_bytes + settings.send_queue_bytes) as u64,
            ..SctpConfig::default()
        };
        let port = PortConfig { port: PORT, addresses: vec![here], config };
        let mut endpoint = sctp::Endpoint::default();
        let stream = Seed::new(1, 0).stream(&format!("endpoint/{here}"));
        endpoint.bind(port, stream).expect("the only port");
        endpoint.listen(PORT, Acceptance::InTurn);
        Self {
            endpoint,
            here,
            peer,
            association: None,
            is_established: false,
            received: Messages::default(),
            outgoing: VecDeque::new(),
            place: Packet::default(),
            // As many as may be on their way, and as many answers.
            buffers: PacketBuffers::new(2 * settings.receive_window_bytes / settings.packet_bytes + 64),
            payload: Bytes::new(),
            deadline: None,
        }
    }

    /// Drains the endpoint until it waits.
    fn drain(&mut self, now: Instant) {
        while !self.endpoint.is_idle() {
            if self.endpoint.poll_transmit(now, &mut self.place).is_some() {
                self.outgoing.push_back(F::sent(&mut self.place, &mut self.buffers));
            }
            while let Some((association, event)) = self.endpoint.poll_event() {
                match event {
                    sctp::Event::Established { .. } => {
                        self.association = Some(association);
                        self.is_established = true;
                    }
                    sctp::Event::Received(message) => self.received.add(1, message.payload.len()),
                    sctp::Event::ReceivedPart(part) => {
                        self.received.add(usize::from(part.place == PartPlace::Last), part.payload.len());
                    }
                    _ => {}
                }
            }
        }
        self.deadline = self.endpoint.deadline();
    }
}

impl<F: Form> Endpoint for Slantpath<F> {
    type Datagram = F;

    fn connect(&mut self, now: Instant) {
        let options = ConnectOptions {
            local_port: PORT,
            peer_addresses: vec![self.peer],
            peer_port: PORT,
            ..ConnectOptions::default()
        };
        self.endpoint.connect(now, &options).expect("the peer's address is usable");
        self.drain(now);
    }

    fn is_established(&self) -> bool {
        self.is_established
    }

    fn send(&mut self, now: Instant, bytes: usize, count: usize) {
        let association = self.association.expect("connected before it is used");
        if self.payload.len() != bytes {
            self.payload = Bytes::from(vec![0; bytes]);
        }
        for _ in 0..count {
            let message = sctp::Message {
                stream: StreamId(0),
                ppid: Ppid(0),
                payload: self.payload.clone(),
                is_unordered: false,
                context: 0,
                options: None,
            };
            self.endpoint.send(now, association, message).expect("the send buffer holds what is kept in it");
        }
        self.drain(now);
    }

    fn handle_datagram(&mut self, now: Instant, datagram: F) {
        datagram.received(&mut self.place);
        let envelope = Envelope { source: self.peer, destination: self.here, fields: IpFields::default() };
        self.endpoint.handle_packet(now, &envelope, &self.place);
        self.drain(now);
    }

    fn handle_deadline(&mut self, now: Instant) {
        self.endpoint.handle_input(now, sctp::Input::Deadline);
        self.drain(now);
    }

    fn poll_datagram(&mut self, _now: Instant) -> Option<F> {
        self.outgoing.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn read(&mut self, _now: Instant) -> Messages {
        core::mem::take(&mut self.received)
    }
}
