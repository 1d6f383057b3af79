//! Counts of the messages that a link has sent, taken and discarded, and why.

/// Counts of a link since it was made. Nothing is thrown away without one of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// MSUs that MTP3 gave and that were queued.
    pub accepted: u64,
    /// MSUs that the peer is known to have taken.
    pub acknowledged: u64,
    /// MSUs sent, each time that it was.
    pub sent: u64,
    /// MSUs that were retransmitted: the peer had not taken them when an outage ended, or at alignment.
    pub sent_again: u64,
    /// MSUs delivered to MTP3.
    pub delivered: u64,
    /// MSUs handed back to MTP3 for changeover.
    pub retrieved: u64,
    /// Acknowledgements with a backward sequence number that explains nothing.
    pub unreasonable_bsn: u64,
    /// MSUs and messages that were discarded.
    pub discarded: Discarded,
}

/// Counts of what was discarded, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Discarded {
    /// Received: held during an outage, and flushed by MTP3, or received after that until the outage ended.
    pub flushed_received: u64,
    /// To send: flushed by MTP3 at a processor outage.
    pub flushed_to_send: u64,
    /// Received: held, and the link went out of service before it could be delivered; the peer retrieves it.
    pub held_at_failure: u64,
    /// Received: more than may be held.
    pub held_too_many: u64,
    /// Received: not a message of M2PA, or of an unsupported version, class or type.
    pub malformed: u64,
    /// To send: MTP3 started the link again without retrieving it.
    pub not_retrieved: u64,
    /// Received: a forward sequence number that is not the next.
    pub out_of_sequence: u64,
    /// Received: another payload protocol than M2PA's.
    pub payload_protocol: u64,
    /// Requests of MTP3 that mean nothing in the link's state.
    pub request_ignored: u64,
    /// Received: sent before the end of an outage had been agreed; the peer sends it again.
    pub resynchronizing: u64,
    /// Received: a link status that means nothing in the link's state.
    pub status_ignored: u64,
    /// Received: an MSU longer than the link carries.
    pub too_long: u64,
    /// To send: MTP3 gave an MSU longer or shorter than the link carries.
    pub unsuitable_to_send: u64,
    /// Received: User Data while the link carries none.
    pub user_data_out_of_service: u64,
    /// To send: the buffer was full.
    pub buffer_full: u64,
    /// To send: as many as may wait for the association did.
    pub queue_full: u64,
    /// Received: a stream that M2PA does not use, or User Data on the Link Status stream.
    pub wrong_stream: u64,
    /// Associations refused because they had fewer than two streams.
    pub too_few_streams: u64,
}
