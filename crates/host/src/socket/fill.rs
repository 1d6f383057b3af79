//! Messages go over from an application to its transport: one, or as many as the transport takes.

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_sctp as sctp;
use slantpath_tcp as tcp;

use super::outgoing::{MessageSource, Offer, OutgoingMessage};
use super::{Kind, Socket};

/// The number of what no application counts: theirs have 32 bits.
const UNNUMBERED: u64 = u64::MAX;

impl Socket<'_> {
    /// Hands message after message of a source over, as long as the association or connection has nothing to send or to
    /// tell: a send buffer takes thousands once it is half empty.
    #[inline(never)]
    pub fn fill(&mut self, now: Instant, source: &mut impl MessageSource) {
        match &self.state.kind {
            Kind::Datagram(datagram) => {
                while self.stack.datagrams.is_idle()
                    && let Some(message) = source.next_message(now)
                {
                    let size = message.payload.len();
                    match self.stack.datagrams.offer(datagram, &self.state.paths, message) {
                        Offer::Accepted => source.accepted(now, size),
                        offer => source.offered(now, size, offer),
                    }
                }
            }
            Kind::Sctp { link, .. } => {
                let Some(association) = link.id() else { return };
                self.stack.sctp.lend(association, |association| {
                    while !association.has_output()
                        && let Some(message) = source.next_message(now)
                    {
                        let size = message.payload.len();
                        match association.send(now, sctp_message(message)) {
                            Ok(()) => source.accepted(now, size),
                            Err(error) => source.offered(now, size, refusal(&error)),
                        }
                    }
                });
            }
            Kind::Tcp { link, .. } => {
                let Some(connection) = link.id() else { return };
                while self.stack.tcp.is_idle()
                    && let Some(message) = source.next_message(now)
                {
                    let size = message.payload.len();
                    match write(&mut self.stack.tcp, now, connection, message.payload) {
                        Offer::Accepted => source.accepted(now, size),
                        offer => source.offered(now, size, offer),
                    }
                }
            }
        }
    }
}

/// A message as SCTP takes it.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a message is large to move")]
pub(super) fn sctp_message(message: OutgoingMessage) -> sctp::Message {
    sctp::Message {
        stream: sctp::StreamId(message.stream),
        ppid: sctp::Ppid(message.payload_protocol),
        payload: message.payload,
        is_unordered: message.unordered,
        context: message.number.map_or(UNNUMBERED, u64::from),
        options: message.options,
    }
}

/// Why SCTP has not taken a message.
#[cold]
pub(super) fn refusal(error: &sctp::SendError) -> Offer {
    match error {
        sctp::SendError::BufferFull { .. } => Offer::Full,
        error => Offer::Refused(error.to_string()),
    }
}

/// Writes a message into a connection, whole.
#[inline]
pub(super) fn write(
    endpoint: &mut tcp::Endpoint,
    now: Instant,
    connection: tcp::ConnectionId,
    payload: Bytes,
) -> Offer {
    if endpoint.writable_bytes(connection) < payload.len() as u64 {
        return Offer::Full;
    }
    match endpoint.write(now, connection, payload) {
        Ok(()) => Offer::Accepted,
        Err(error) => Offer::Refused(error.to_string()),
    }
}
