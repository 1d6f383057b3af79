//! The crate `rtc-sctp`, sans-IO SCTP for WebRTC data channels.

#![expect(clippy::disallowed_types, reason = "the peer's interface speaks std::time::Instant")]

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use rtc_sctp::{
    Association, AssociationHandle, ClientConfig, DatagramEvent, EndpointConfig, Event, Payload,
    PayloadProtocolIdentifier, ServerConfig, StreamEvent, TransportConfig, max_payload_size_for_mtu,
};
use rtc_shared::TransportProtocol;
use slantpath_base::Instant;

use super::{Endpoint, Messages, Settings, Side};

const STREAM: u16 = 1;

/// One endpoint with the one association that it has.
pub struct RtcSctp {
    endpoint: rtc_sctp::Endpoint,
    association: Option<(AssociationHandle, Association)>,
    is_established: bool,
    transport: Arc<TransportConfig>,
    outgoing: VecDeque<Bytes>,
    peer: SocketAddr,
    zero: std::time::Instant,
}

impl RtcSctp {
    /// An endpoint that accepts associations.
    pub fn new(_side: Side, settings: &Settings) -> Self {
        let receive_window = u32::try_from(settings.receive_window_bytes).expect("a window is 32 bits wide");
        let transport = TransportConfig::default().with_max_receive_buffer_size(receive_window);
        let mut config = EndpointConfig::new();
        let mtu = u32::try_from(settings.packet_bytes).expect("a packet is short");
        config.max_payload_size(max_payload_size_for_mtu(mtu));
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 5000));
        let server = Some(Arc::new(ServerConfig::new(transport.clone())));
        Self {
            endpoint: rtc_sctp::Endpoint::new(here, TransportProtocol::UDP, Arc::new(config), server),
            association: None,
            is_established: false,
            transport: Arc::new(transport),
            outgoing: VecDeque::new(),
            peer: here,
            zero: std::time::Instant::now(),
        }
    }

    fn peer_time(&self, now: Instant) -> std::time::Instant {
        self.zero + core::time::Duration::from_nanos(now.as_nanos())
    }

    fn established(&mut self) -> &mut Association {
        &mut self.association.as_mut().expect("connected before it is used").1
    }
}

impl Endpoint for RtcSctp {
    type Datagram = Bytes;

    fn connect(&mut self, now: Instant) {
        let mut config = ClientConfig::new((*self.transport).clone());
        config.transport = Arc::clone(&self.transport);
        let connected = self.endpoint.connect(self.peer_time(now), config, self.peer);
        self.association = Some(connected.expect("the configuration is valid"));
    }

    fn is_established(&self) -> bool {
        self.is_established
    }

    fn send(&mut self, now: Instant, bytes: usize, count: usize) {
        let now = self.peer_time(now);
        let association = self.established();
        if association.stream(STREAM).is_err() {
            association.open_stream(STREAM, PayloadProtocolIdentifier::Binary).expect("no such stream yet");
        }
        let message = Bytes::from(vec![0; bytes]);
        let mut stream = association.stream(STREAM).expect("opened above");
        for _ in 0..count {
            let written = stream.write_chunk(now, &message).expect("the stream is open");
            assert_eq!(written, bytes, "a message is taken whole");
        }
    }

    fn handle_datagram(&mut self, now: Instant, datagram: Bytes) {
        let now = self.peer_time(now);
        match self.endpoint.handle(now, self.peer, None, datagram) {
            Some((handle, DatagramEvent::NewAssociation(association))) => {
                self.association = Some((handle, association));
            }
            Some((_, DatagramEvent::AssociationEvent(event))) => self.established().handle_event(event),
            _ => {}
        }
        if let Some((_, association)) = &mut self.association {
            while let Some(event) = association.poll() {
                self.is_established |= matches!(event, Event::Connected);
                if matches!(event, Event::Stream(StreamEvent::Opened { .. })) {
                    let _stream = association.accept_stream();
                }
            }
        }
    }

    fn handle_deadline(&mut self, now: Instant) {
        let now = self.peer_time(now);
        self.established().handle_timeout(now);
    }

    fn poll_datagram(&mut self, now: Instant) -> Option<Bytes> {
        let now = self.peer_time(now);
        if let (true, Some((_, association))) = (self.outgoing.is_empty(), &mut self.association) {
            while let Some(transmit) = association.poll_transmit(now) {
                if let Payload::RawEncode(packets) = transmit.message {
                    self.outgoing.extend(packets);
                }
            }
        }
        self.outgoing.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        let (_, association) = self.association.as_ref()?;
        let since_start = association.poll_timeout()?.saturating_duration_since(self.zero);
        Some(Instant::from_nanos(u64::try_from(since_start.as_nanos()).unwrap_or(u64::MAX)))
    }

    fn read(&mut self, _now: Instant) -> Messages {
        let mut received = Messages::default();
        let Some((_, association)) = &mut self.association else { return received };
        let Ok(mut stream) = association.stream(STREAM) else { return received };
        while let Ok(Some(chunks)) = stream.read() {
            received.count += 1;
            received.bytes += chunks.len();
        }
        received
    }
}
