//! Transport of the adaptation layers: associations with streams of ordered messages. SCTP is one; nothing here knows
//! it.

use bytes::Bytes;

/// An association, numbered by whoever drives the layer. A lost one keeps its number when it comes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssociationNumber(pub u32);

/// A stream of an association, numbered from 0; messages of one stream arrive in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamNumber(pub u16);

/// Inputs from the transport of an association.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportInput {
    /// Send buffer is full, and the message that was handed over last waits for room: what can wait should not be
    /// handed over now. Or, with `false`, there is room again.
    Congested(bool),
    /// SCTP-COMMUNICATION DOWN: it is lost, or was shut down.
    Down,
    /// A message came.
    Message {
        /// Stream on which it came.
        stream: StreamNumber,
        /// Payload protocol identifier; 0 if the sender gave none.
        payload_protocol: u32,
        /// From the version on.
        octets: Bytes,
    },
    /// SCTP-RESTART: the peer has begun anew.
    Restart,
    /// The message that asked for it with this number ([`Transmit::report`]) was sent for the first time.
    Transmitted(u32),
    /// A message that was handed over comes back, since the association is lost or has begun anew, and nothing of it
    /// was ever sent: after [`Down`](Self::Down) or [`Restart`](Self::Restart), one by one and in their order.
    Unsent(Bytes),
    /// SCTP-COMMUNICATION UP.
    Up {
        /// Number of streams on which we may send, at least one.
        outbound_streams: u16,
    },
}

/// A message for the transport to send, in order on its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Over which association.
    pub association: AssociationNumber,
    /// On which stream.
    pub stream: StreamNumber,
    /// Payload protocol identifier.
    pub payload_protocol: u32,
    /// The number that [`TransportInput::Transmitted`] is to tell when the message is first sent, if it is.
    pub report: Option<u32>,
    /// From the version on.
    pub octets: Bytes,
}
