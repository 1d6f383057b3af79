//! Two SCTP endpoints in memory: one sends messages as fast as the protocol lets it, the other reads them.
//!
//! Every stack is driven by the same loop over the same wire: packets carry a CRC32c, each takes [`ONE_WAY_DELAY`] of
//! virtual time or is lost by a named stream of chance, and after every packet that a stack was handed its messages are
//! read and its answers taken. [`Settings`] are the same for all.

pub mod dcsctp;
pub mod rtc_sctp;
pub mod sctp_proto;
pub mod slantpath;

use std::collections::VecDeque;

use slantpath_base::{Duration, Instant, Probability, Seed, Stream};

/// From one endpoint to the other.
pub const ONE_WAY_DELAY: Duration = Duration::from_millis(1);

/// Settings that the stacks have in common.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Largest SCTP packet: 1,500 bytes less an IPv4 header.
    pub packet_bytes: usize,
    /// The receiver's window.
    pub receive_window_bytes: usize,
    /// Bytes that the sender holds beyond a full window, so that it never waits for the application.
    pub send_queue_bytes: usize,
    /// Of a packet, in either direction, once both ends are connected.
    pub loss: Probability,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            packet_bytes: 1_480,
            receive_window_bytes: 1 << 17,
            send_queue_bytes: 1 << 16,
            loss: Probability::NEVER,
        }
    }
}

/// End of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Connects, and sends.
    Client,
    /// Accepts, and reads.
    Server,
}

/// One end of an association, as this benchmark drives it.
pub trait Endpoint {
    /// A packet from the common header on.
    type Datagram;

    /// Starts the handshake.
    fn connect(&mut self, now: Instant);

    /// Tells if messages can be sent.
    fn is_established(&self) -> bool;

    /// Takes `count` messages of `bytes` bytes each to be sent in order on one stream.
    fn send(&mut self, now: Instant, bytes: usize, count: usize);

    /// A packet has arrived.
    fn handle_datagram(&mut self, now: Instant, datagram: Self::Datagram);

    /// The deadline has come.
    fn handle_deadline(&mut self, now: Instant);

    /// The next packet to be sent, if any.
    fn poll_datagram(&mut self, now: Instant) -> Option<Self::Datagram>;

    /// Instant at which [`handle_deadline`](Self::handle_deadline) is due.
    fn deadline(&self) -> Option<Instant>;

    /// Reads all messages that have arrived and returns how many, and their bytes.
    fn read(&mut self, now: Instant) -> Messages;
}

/// Messages that were sent or read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// Whole messages.
    pub count: usize,
    /// Bytes of user data.
    pub bytes: usize,
}

impl Messages {
    fn add(&mut self, count: usize, bytes: usize) {
        self.count += count;
        self.bytes += bytes;
    }
}

/// Why a transfer did not end.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TransferError {
    /// Difference between the messages that were read and those that were sent.
    #[error("sent {sent:?} and received {received:?}")]
    Differs {
        /// Messages that the sender was given.
        sent: Messages,
        /// Messages that the receiver read.
        received: Messages,
    },
    /// No packet is under way and no deadline is set.
    #[error("stalled after {0:?}")]
    Stalled(Messages),
}

/// A client, a server and the wire between them.
#[derive(Debug)]
pub struct Pair<E: Endpoint> {
    client: E,
    server: E,
    to_server: VecDeque<E::Datagram>,
    to_client: VecDeque<E::Datagram>,
    at_server: VecDeque<E::Datagram>,
    at_client: VecDeque<E::Datagram>,
    now: Instant,
    losses: Stream,
    /// By the server, since it was connected.
    received: Messages,
}

impl<E: Endpoint> Pair<E> {
    /// Connects the two.
    ///
    /// # Errors
    /// [`TransferError::Stalled`] if the handshake does not end.
    pub fn connected(client: E, server: E) -> Result<Self, TransferError> {
        let mut pair = Self {
            client,
            server,
            to_server: VecDeque::new(),
            to_client: VecDeque::new(),
            at_server: VecDeque::new(),
            at_client: VecDeque::new(),
            now: Instant::START,
            losses: Seed::new(1, 0).stream("wire/loss"),
            received: Messages::default(),
        };
        pair.client.connect(pair.now);
        while !(pair.client.is_established() && pair.server.is_established()) {
            pair.exchange(Probability::NEVER)?;
        }
        Ok(pair)
    }

    /// Sends `count` messages of `bytes` bytes from the client to the server and waits until all are read.
    ///
    /// # Errors
    /// [`TransferError`] if they are not.
    pub fn transfer(&mut self, bytes: usize, count: usize, settings: &Settings) -> Result<(), TransferError> {
        let most_on_the_way = (settings.receive_window_bytes + settings.send_queue_bytes) / bytes;
        // The wire itself is not to cost an allocation, whenever it is fullest.
        for queue in [&mut self.to_server, &mut self.to_client, &mut self.at_server, &mut self.at_client] {
            queue.reserve(most_on_the_way.saturating_sub(queue.len()));
        }
        let before = self.received;
        let mut sent = Messages::default();
        while self.received.count < before.count + count {
            let on_the_way = before.count + sent.count - self.received.count;
            let batch = (count - sent.count).min(most_on_the_way - on_the_way);
            if batch > 0 {
                self.client.send(self.now, bytes, batch);
                sent.add(batch, batch * bytes);
            }
            self.exchange(settings.loss)?;
        }
        let mut expected = before;
        expected.add(sent.count, sent.bytes);
        let received = self.received;
        if received == expected { Ok(()) } else { Err(TransferError::Differs { sent: expected, received }) }
    }

    /// One delay's worth of packets in each direction, or a step to the next deadline.
    fn exchange(&mut self, loss: Probability) -> Result<(), TransferError> {
        drain(&mut self.client, self.now, &mut self.to_server);
        drain(&mut self.server, self.now, &mut self.to_client);
        if self.to_server.is_empty() && self.to_client.is_empty() {
            let deadlines = [self.client.deadline(), self.server.deadline()];
            let next = deadlines.into_iter().flatten().min().ok_or(TransferError::Stalled(self.received))?;
            self.now = self.now.max(next);
        } else {
            self.now += ONE_WAY_DELAY;
        }
        core::mem::swap(&mut self.to_server, &mut self.at_server);
        core::mem::swap(&mut self.to_client, &mut self.at_client);
        if !loss.is_never() {
            self.at_server.retain(|_| !self.losses.happens(loss));
            self.at_client.retain(|_| !self.losses.happens(loss));
        }
        hand_over(&mut self.server, self.now, &mut self.at_server, &mut self.to_client, &mut self.received);
        // The client is sent no messages.
        let unread = &mut Messages::default();
        hand_over(&mut self.client, self.now, &mut self.at_client, &mut self.to_server, unread);
        Ok(())
    }
}

fn drain<E: Endpoint>(endpoint: &mut E, now: Instant, wire: &mut VecDeque<E::Datagram>) {
    while let Some(datagram) = endpoint.poll_datagram(now) {
        wire.push_back(datagram);
    }
}

/// Hands the incoming packets to the endpoint, reading its messages and taking its answers after each.
fn hand_over<E: Endpoint>(
    endpoint: &mut E,
    now: Instant,
    incoming: &mut VecDeque<E::Datagram>,
    outgoing: &mut VecDeque<E::Datagram>,
    received: &mut Messages,
) {
    for datagram in incoming.drain(..) {
        endpoint.handle_datagram(now, datagram);
        let read = endpoint.read(now);
        received.add(read.count, read.bytes);
        drain(endpoint, now, outgoing);
    }
    if endpoint.deadline().is_some_and(|deadline| deadline <= now) {
        endpoint.handle_deadline(now);
        drain(endpoint, now, outgoing);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use slantpath_wire::Packet;

    use super::*;

    fn transfers<E: Endpoint>(new: impl Fn(Side, &Settings) -> E) {
        let settings = Settings::default();
        let (client, server) = (new(Side::Client, &settings), new(Side::Server, &settings));
        let mut pair = Pair::connected(client, server).expect("the handshake ends");
        for bytes in [100, 1_024] {
            assert_eq!(pair.transfer(bytes, 5_000, &settings), Ok(()));
        }
    }

    #[test]
    fn dcsctp_transfers_every_message() {
        transfers(dcsctp::Dcsctp::new);
    }

    #[test]
    fn rtc_sctp_transfers_every_message() {
        transfers(rtc_sctp::RtcSctp::new);
    }

    #[test]
    fn sctp_proto_transfers_every_message() {
        transfers(sctp_proto::SctpProto::new);
    }

    #[test]
    fn slantpath_transfers_every_message() {
        transfers(slantpath::Slantpath::<Bytes>::new);
        transfers(slantpath::Slantpath::<Packet>::new);
    }

    #[test]
    fn what_is_lost_is_transferred_all_the_same_and_takes_longer() {
        let time = |loss| {
            let settings =
                Settings { loss: Probability::new(loss).expect("a probability"), ..Settings::default() };
            let new = slantpath::Slantpath::<Bytes>::new;
            let (client, server) = (new(Side::Client, &settings), new(Side::Server, &settings));
            let mut pair = Pair::connected(client, server).expect("the handshake ends");
            assert_eq!(pair.transfer(1_024, 5_000, &settings), Ok(()));
            pair.now
        };
        assert!(time(0.01) > time(0.0));
    }
}
