//! The end of a session that answers.

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_host::{Offer, OutgoingMessage, Reaction, Served, Socket, SocketEvent};

use super::request::RequestReader;
use crate::message::{Content, compose};
use crate::record::ReceiverReport;

/// Answers requests with as many bytes as they ask for, in the order in which they come. What it holds does not grow
/// with what is asked.
#[derive(Debug)]
pub(crate) struct Server {
    /// Number of bytes handed to the transport at a time.
    message_len: usize,
    reader: RequestReader,
    /// Bytes that have been asked for and not been handed to the transport.
    owed: u64,
    /// True if the transport may have room.
    may_offer: bool,
    /// Messages handed over.
    messages_sent: u32,
    retransmissions: u64,
    /// True if the server has aborted the session.
    is_aborted: bool,
    report: ReceiverReport,
}

impl Server {
    /// # Panics
    /// If `message_len` is none, or more than the longest message has.
    pub(crate) fn new(message_len: usize) -> Self {
        assert!(
            (1..=crate::message::MAX_MESSAGE_LEN).contains(&message_len),
            "no message is of {message_len} bytes"
        );
        Self {
            message_len,
            reader: RequestReader::default(),
            owed: 0,
            may_offer: true,
            messages_sent: 0,
            retransmissions: 0,
            is_aborted: false,
            report: ReceiverReport::default(),
        }
    }

    /// Report of the requests that have come in.
    pub(crate) const fn report(&self) -> &ReceiverReport {
        &self.report
    }

    /// Tells if the server has aborted the session: TCP reports no end then.
    pub(crate) const fn is_aborted(&self) -> bool {
        self.is_aborted
    }

    /// Number of retransmissions of a part of an answer, if messages are traced.
    pub(crate) const fn retransmissions(&self) -> u64 {
        self.retransmissions
    }

    pub(crate) fn handle_event(
        &mut self,
        now: Instant,
        event: SocketEvent,
        socket: &mut Socket<'_>,
    ) -> Reaction {
        match event {
            SocketEvent::Bytes(bytes) => self.handle_bytes(now, &bytes, socket),
            SocketEvent::Message { payload, .. } => self.handle_bytes(now, &payload, socket),
            SocketEvent::Writable => self.may_offer = true,
            SocketEvent::Transmitted { again, .. } => {
                self.retransmissions += u64::from(again);
                return Reaction::None;
            }
            SocketEvent::Ended { .. } => self.owed = 0,
            SocketEvent::Acknowledged(_)
            | SocketEvent::Arrived(_)
            | SocketEvent::Connected { .. }
            | SocketEvent::Abandoned(_)
            | SocketEvent::Sctp(_)
            | SocketEvent::MessageFailed { .. }
            | SocketEvent::Path { .. }
            | SocketEvent::Restarted => return Reaction::None,
        }
        Reaction::Serve
    }

    fn handle_bytes(&mut self, now: Instant, bytes: &Bytes, socket: &mut Socket<'_>) {
        self.report.bytes_delivered += bytes.len() as u64;
        self.report.first_delivery.get_or_insert(now);
        self.report.last_delivery = Some(now);
        if self.reader.push(bytes, |answer| self.owed = self.owed.saturating_add(answer)).is_err() {
            // What follows cannot be told apart.
            self.report.messages_corrupt += 1;
            (self.owed, self.is_aborted) = (0, true);
            socket.abort(now);
        }
    }

    /// Hands the next part of what is owed to the transport.
    pub(crate) fn serve(&mut self, now: Instant, socket: &mut Socket<'_>) -> Served {
        if self.owed == 0 || !self.may_offer {
            return Served::Idle(None);
        }
        let len = usize::try_from(self.owed).unwrap_or(usize::MAX).min(self.message_len);
        let payload = compose(Content::Pattern, self.messages_sent, len);
        let number = Some(self.messages_sent);
        let outgoing = OutgoingMessage {
            number,
            stream: 0,
            unordered: false,
            payload_protocol: 0,
            payload,
            options: None,
        };
        match socket.send(now, outgoing) {
            Offer::Accepted => {
                self.owed -= len as u64;
                self.messages_sent = self.messages_sent.wrapping_add(1);
            }
            Offer::Full => self.may_offer = false,
            Offer::Refused(reason) => {
                // The association or connection is on its way out: its end is told by itself.
                self.owed = 0;
                self.report.ended.get_or_insert((now, reason));
            }
        }
        Served::Again
    }
}
