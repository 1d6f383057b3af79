//! Message on its way from an application to its transport, and the answer of the transport.

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_sctp as sctp;

/// One message to be sent, as the transport needs it.
#[derive(Clone, Debug)]
pub struct OutgoingMessage {
    /// Number that names the message in reports of it; `None` for one that no application counts.
    pub number: Option<u32>,
    /// Stream to send it on (SCTP).
    pub stream: u16,
    /// True if it may overtake others (SCTP).
    pub unordered: bool,
    /// Payload protocol identifier (SCTP).
    pub payload_protocol: u32,
    /// The bytes.
    pub payload: Bytes,
    /// Further options that the message asks for (SCTP).
    pub options: Option<Box<sctp::SendOptions>>,
}

impl OutgoingMessage {
    /// A message that SCTP gives back, since it has not sent it: without options, since whoever sends it elsewhere has
    /// others.
    pub(super) fn given_back(message: sctp::Message) -> Self {
        let sctp::Message { stream, ppid, payload, is_unordered, .. } = message;
        Self {
            number: None,
            stream: stream.0,
            unordered: is_unordered,
            payload_protocol: ppid.0,
            payload,
            options: None,
        }
    }
}

/// Answer of a transport to an offered message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    /// The transport has taken the message.
    Accepted,
    /// The send buffer is full: offer again when it is writable.
    Full,
    /// The transport will never take the message, for this reason.
    Refused(String),
}

/// MessageSource of messages that an application hands over, as many as its transport takes at a time.
pub trait MessageSource {
    /// The message that may be offered now, if there is one.
    fn next_message(&self, now: Instant) -> Option<OutgoingMessage>;

    /// Notes that the transport has taken the message, which has so many bytes.
    fn accepted(&mut self, now: Instant, size: usize);

    /// Notes the transport's answer to the message.
    fn offered(&mut self, now: Instant, size: usize, offer: Offer);
}
