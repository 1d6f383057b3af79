//! The crate `dcsctp`, a Rust port of WebRTC's SCTP.

use std::collections::VecDeque;

use dcsctp::api::{
    DcSctpSocket, Message, Options, PpId, SendOptions, SocketEvent, SocketState, SocketTime, StreamId,
};
use slantpath_base::Instant;

use super::{Endpoint, Messages, Settings, Side};

/// One dcsctp socket and the packets that it wants sent.
pub struct Dcsctp {
    socket: Box<dyn DcSctpSocket>,
    outgoing: VecDeque<Vec<u8>>,
}

const STREAM: StreamId = StreamId(0);

impl Dcsctp {
    /// A closed socket.
    pub fn new(side: Side, settings: &Settings) -> Self {
        let name = match side {
            Side::Client => "client",
            Side::Server => "server",
        };
        let options = Options {
            mtu: settings.packet_bytes,
            max_receiver_window_buffer_size: settings.receive_window_bytes,
            ..Options::default()
        };
        Self { socket: dcsctp::new_socket(name, &options), outgoing: VecDeque::new() }
    }

    fn collect_events(&mut self) {
        while let Some(event) = self.socket.poll_event() {
            if let SocketEvent::SendPacket(packet) = event {
                self.outgoing.push_back(packet);
            }
        }
    }
}

impl Endpoint for Dcsctp {
    type Datagram = Vec<u8>;

    fn connect(&mut self, now: Instant) {
        self.socket.advance_time(socket_time(now));
        self.socket.connect();
    }

    fn is_established(&self) -> bool {
        self.socket.state() == SocketState::Connected
    }

    fn send(&mut self, now: Instant, bytes: usize, count: usize) {
        self.socket.advance_time(socket_time(now));
        let messages = (0..count).map(|_| Message::new(STREAM, PpId(0), vec![0; bytes])).collect();
        // A batch may be bundled; one by one, each short message would go out in a packet of its own.
        let taken = self.socket.send_many(messages, &SendOptions::default());
        assert!(taken.is_ok(), "the send queue holds what the benchmark keeps in it");
    }

    fn handle_datagram(&mut self, now: Instant, datagram: Vec<u8>) {
        self.socket.advance_time(socket_time(now));
        self.socket.handle_input(&datagram);
    }

    fn handle_deadline(&mut self, now: Instant) {
        self.socket.advance_time(socket_time(now));
    }

    fn poll_datagram(&mut self, _now: Instant) -> Option<Vec<u8>> {
        self.collect_events();
        self.outgoing.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        let timeout = self.socket.poll_timeout();
        if timeout == SocketTime::infinite_future() {
            return None;
        }
        let since_start = timeout - SocketTime::zero();
        Some(Instant::from_nanos(u64::try_from(since_start.as_nanos()).unwrap_or(u64::MAX)))
    }

    fn read(&mut self, _now: Instant) -> Messages {
        let mut received = Messages::default();
        while let Some(message) = self.socket.get_next_message() {
            received.count += 1;
            received.bytes += message.payload.len();
        }
        received
    }
}

fn socket_time(now: Instant) -> SocketTime {
    SocketTime::zero() + core::time::Duration::from_nanos(now.as_nanos())
}
