//! The crate sctp-proto. It takes real instants, which are counted from the moment of its making.

#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "its interface has real instants")]

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use sctp_proto::{
    Association, AssociationHandle, ClientConfig, DatagramEvent, Endpoint, EndpointConfig, Event, Payload,
    PayloadProtocolIdentifier, ServerConfig, StreamEvent, TransportConfig,
};
use slantpath_base::Instant;

use crate::duel::Peer;

pub(crate) struct SctpProtoPeer {
    start: std::time::Instant,
    now: std::time::Instant,
    endpoint: Endpoint,
    transport: Arc<TransportConfig>,
    association: Option<(AssociationHandle, Association)>,
    remote: SocketAddr,
    is_established: bool,
    messages: Vec<(u16, Vec<u8>)>,
    packets: Vec<Vec<u8>>,
}

impl SctpProtoPeer {
    pub(crate) fn new() -> Self {
        let transport = Arc::new(
            TransportConfig::default().with_max_num_outbound_streams(16).with_max_num_inbound_streams(16),
        );
        let mut server = ServerConfig::new();
        server.transport = Arc::clone(&transport);
        let start = std::time::Instant::now();
        Self {
            start,
            now: start,
            endpoint: Endpoint::new(Arc::new(EndpointConfig::new()), Some(Arc::new(server))),
            transport,
            association: None,
            remote: SocketAddr::from(([10, 0, 0, 1], 9_899)),
            is_established: false,
            messages: Vec::new(),
            packets: Vec::new(),
        }
    }

    fn advance(&mut self, now: Instant) {
        self.now = self.start + core::time::Duration::from_nanos(now.as_nanos());
    }

    fn push(packets: &mut Vec<Vec<u8>>, payload: Payload) {
        match payload {
            Payload::RawEncode(parts) => packets.extend(parts.into_iter().map(|part| part.to_vec())),
            Payload::PartialDecode(_) => panic!("what is sent is encoded"),
        }
    }

    fn drain(&mut self) {
        while let Some(transmit) = self.endpoint.poll_transmit() {
            Self::push(&mut self.packets, transmit.payload);
        }
        let Some((_, association)) = &mut self.association else { return };
        while let Some(transmit) = association.poll_transmit(self.now) {
            Self::push(&mut self.packets, transmit.payload);
        }
        while let Some(event) = association.poll() {
            match event {
                Event::Connected => self.is_established = true,
                Event::HandshakeFailed { reason } => panic!("sctp-proto fails: {reason}"),
                Event::Stream(StreamEvent::Readable { id }) => {
                    let Ok(mut stream) = association.stream(id) else { continue };
                    while let Ok(Some(chunks)) = stream.read_sctp() {
                        let mut payload = vec![0; chunks.len()];
                        chunks.read(&mut payload).unwrap();
                        self.messages.push((id, payload));
                    }
                }
                _ => {}
            }
        }
        while let Some(transmit) = association.poll_transmit(self.now) {
            Self::push(&mut self.packets, transmit.payload);
        }
    }
}

impl Peer for SctpProtoPeer {
    fn connect(&mut self, now: Instant) {
        self.advance(now);
        let mut config = ClientConfig::new();
        config.transport = Arc::clone(&self.transport);
        self.association = Some(self.endpoint.connect(config, self.remote).unwrap());
        self.drain();
    }

    fn handle_packet(&mut self, now: Instant, bytes: &[u8]) {
        self.advance(now);
        let bytes = Bytes::copy_from_slice(bytes);
        match self.endpoint.handle(self.now, self.remote, None, None, bytes) {
            // It makes an association of every INIT with a new tag; the first one is the test's.
            Some((handle, DatagramEvent::NewAssociation(association))) if self.association.is_none() => {
                self.association = Some((handle, association));
            }
            Some((handle, DatagramEvent::AssociationEvent(event))) => {
                if let Some((own, association)) = &mut self.association
                    && *own == handle
                {
                    association.handle_event(event);
                }
            }
            Some((_, DatagramEvent::NewAssociation(_))) | None => {}
        }
        self.drain();
    }

    fn handle_deadline(&mut self, now: Instant) {
        self.advance(now);
        if let Some((_, association)) = &mut self.association
            && association.poll_timeout().is_some_and(|deadline| deadline <= self.now)
        {
            association.handle_timeout(self.now);
        }
        self.drain();
    }

    fn take_packets(&mut self, _now: Instant) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.packets)
    }

    fn next_deadline(&mut self) -> Option<Instant> {
        let deadline = self.association.as_ref()?.1.poll_timeout()?;
        let nanos = deadline.saturating_duration_since(self.start).as_nanos();
        Some(Instant::from_nanos(u64::try_from(nanos).unwrap()))
    }

    fn send(&mut self, now: Instant, stream: u16, payload: &[u8]) -> bool {
        self.advance(now);
        let (_, association) = self.association.as_mut().unwrap();
        if association.stream(stream).is_err() {
            association.open_stream(stream, PayloadProtocolIdentifier::Binary).unwrap();
        }
        let mut opened = association.stream(stream).unwrap();
        let is_taken = opened.write_with_ppi(payload, PayloadProtocolIdentifier::Binary).is_ok();
        self.drain();
        is_taken
    }

    fn take_messages(&mut self) -> Vec<(u16, Vec<u8>)> {
        std::mem::take(&mut self.messages)
    }

    fn shutdown(&mut self, now: Instant) {
        self.advance(now);
        self.association.as_mut().unwrap().1.shutdown().unwrap();
        self.drain();
    }

    fn is_established(&self) -> bool {
        self.is_established
    }

    fn is_closed(&self) -> bool {
        self.association.as_ref().is_some_and(|(_, association)| association.is_closed())
    }
    fn needs_the_first_shutdown_complete(&self) -> bool {
        true
    }
}
