//! The primitives between MTP3 and a signalling link (Q.703 and Q.704, figure 23; RFC 4165, section 1.4).
//!
//! MTP2 and M2PA give the same service with sequence numbers of 7 and of 24 bits; MTP3 drives either, and a link set
//! may mix them.

use bytes::Bytes;

use crate::mtp3::Fsn;

/// Requests of MTP3 to a signalling link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkRequest {
    /// Continue after a processor outage, with what is in the buffers.
    Continue,
    /// Align with the emergency proving period from now on.
    Emergency,
    /// Align with the normal proving period from now on.
    EmergencyCeases,
    /// Throw the buffers away.
    FlushBuffers,
    /// Level 3 cannot be served: tell the peer.
    LocalProcessorOutage,
    /// Level 3 can be served again: the local processor outage has ended.
    LocalProcessorRecovered,
    /// For changeover: tell the backward sequence number of the last message acknowledged to the peer.
    RetrieveBsnt,
    /// For changeover: hand back what the peer has not got after this number, and what was never sent.
    RetrieveMessagesAfter(Fsn),
    /// For changeover without the peer's number: hand back what was never sent.
    RetrieveUnsent,
    /// Align and come into service.
    Start,
    /// Go out of service.
    Stop,
    /// Send a message, from its service information octet on.
    Transmit(Bytes),
}

/// Indications of a signalling link to MTP3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkIndication {
    /// The answer to `RetrieveBsnt`.
    Bsnt(Fsn),
    /// The answer to `RetrieveBsnt` when the number is not known.
    BsntNotRetrievable,
    /// The transmit queue has grown past a threshold, or shrunk below one: the status from 0, not congested, to 3.
    Congestion(u8),
    /// Aligned: traffic may flow.
    InService,
    /// The link has failed or could not be aligned.
    OutOfService(OutOfServiceReason),
    /// A message came, from its service information octet on.
    Received(Bytes),
    /// The peer's level 3 cannot be served.
    RemoteProcessorOutage,
    /// Level 3 of the peer can be served again.
    RemoteProcessorRecovered,
    /// All that could be retrieved has been.
    RetrievalComplete,
    /// Nothing can be retrieved after that number.
    RetrievalNotPossible,
    /// One retrieved message, oldest first.
    Retrieved(Bytes),
}

/// Why a link is out of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutOfServiceReason {
    /// Acknowledgements that nothing explains: an unreasonable BSN or FIB twice in three.
    AbnormalSequence,
    /// The transmission was not acknowledged in time (T7).
    AcknowledgementTimeout,
    /// Alignment was not possible.
    AlignmentNotPossible,
    /// Bearer of the link has failed: its error rate was too high, or the association was lost.
    BearerFailed,
    /// The peer was busy for too long (T6).
    PeerBusy,
    /// The peer is out of service or realigns.
    PeerOutOfService,
    /// The peer does not become ready in time (T1).
    PeerNotReady,
    /// MTP3 stopped it.
    Stopped,
}
