//! The crate dcsctp.

use dcsctp::api::{
    DcSctpSocket, ErrorKind, Message, Options, PpId, SendOptions, SocketEvent, SocketState, SocketTime,
    StreamId,
};
use slantpath_base::Instant;

use crate::duel::Peer;

pub(crate) struct DcsctpPeer {
    socket: Box<dyn DcSctpSocket>,
    is_established: bool,
    messages: Vec<(u16, Vec<u8>)>,
    packets: Vec<Vec<u8>>,
}

fn time(now: Instant) -> SocketTime {
    SocketTime::zero() + core::time::Duration::from_nanos(now.as_nanos())
}

impl DcsctpPeer {
    pub(crate) fn new() -> Self {
        Self::with_options(&Options { mtu: 1_180, ..Options::default() })
    }

    /// One that interleaves messages.
    pub(crate) fn interleaving() -> Self {
        let enable_message_interleaving = true;
        Self::with_options(&Options { mtu: 1_180, enable_message_interleaving, ..Options::default() })
    }

    fn with_options(options: &Options) -> Self {
        let socket = dcsctp::new_socket("peer", options);
        Self { socket, is_established: false, messages: Vec::new(), packets: Vec::new() }
    }

    fn send_with(&mut self, stream: u16, payload: &[u8], options: &SendOptions) -> bool {
        let message = Message::new(StreamId(stream), PpId(53), payload.to_vec());
        let is_taken = self.socket.send(message, options).is_ok();
        self.drain();
        is_taken
    }

    fn drain(&mut self) {
        while let Some(event) = self.socket.poll_event() {
            match event {
                SocketEvent::SendPacket(bytes) => self.packets.push(bytes),
                SocketEvent::OnConnected() => self.is_established = true,
                SocketEvent::OnAborted(kind, text) => panic!("dcsctp aborts: {kind:?}, {text}"),
                // It reports what a wire has damaged, and our report of its own extensions, which RFC 9260
                // prescribes.
                SocketEvent::OnError(ErrorKind::ParseFailed, _) => {}
                SocketEvent::OnError(ErrorKind::PeerReported, text) if text.ends_with("type=8") => {}
                SocketEvent::OnError(kind, text) => panic!("dcsctp reports: {kind:?}, {text}"),
                _ => {}
            }
        }
        while let Some(message) = self.socket.get_next_message() {
            self.messages.push((message.stream_id.0, message.payload));
        }
    }
}

impl Peer for DcsctpPeer {
    fn connect(&mut self, now: Instant) {
        self.socket.advance_time(time(now));
        self.socket.connect();
        self.drain();
    }

    fn handle_packet(&mut self, now: Instant, bytes: &[u8]) {
        self.socket.advance_time(time(now));
        self.socket.handle_input(bytes);
        self.drain();
    }

    fn handle_deadline(&mut self, now: Instant) {
        self.socket.advance_time(time(now));
        self.drain();
    }

    fn take_packets(&mut self, _now: Instant) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.packets)
    }

    fn next_deadline(&mut self) -> Option<Instant> {
        let deadline = self.socket.poll_timeout();
        if deadline == SocketTime::infinite_future() {
            return None;
        }
        let nanos = (deadline - SocketTime::zero()).as_nanos();
        Some(Instant::from_nanos(u64::try_from(nanos).unwrap()))
    }

    fn send(&mut self, now: Instant, stream: u16, payload: &[u8]) -> bool {
        self.socket.advance_time(time(now));
        self.send_with(stream, payload, &SendOptions::default())
    }

    fn send_perishable(&mut self, now: Instant, stream: u16, payload: &[u8]) -> bool {
        self.socket.advance_time(time(now));
        self.send_with(
            stream,
            payload,
            &SendOptions { max_retransmissions: Some(0), ..SendOptions::default() },
        )
    }

    fn take_messages(&mut self) -> Vec<(u16, Vec<u8>)> {
        std::mem::take(&mut self.messages)
    }

    fn shutdown(&mut self, now: Instant) {
        self.socket.advance_time(time(now));
        self.socket.shutdown();
        self.drain();
    }

    fn is_established(&self) -> bool {
        self.is_established
    }

    fn is_closed(&self) -> bool {
        self.is_established && self.socket.state() == SocketState::Closed
    }
}
