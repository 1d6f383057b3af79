//! Counters of a terminal.

use slantpath_base::Duration;

/// Units and messages by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Messages that level 3 gave.
    pub messages_given: u64,
    /// Of those, refused: the transmit buffer was full.
    pub refused_buffer_full: u64,
    /// Of those, refused: the link was not in service.
    pub refused_out_of_service: u64,
    /// Messages sent for the first time.
    pub messages_sent: u64,
    /// Messages retransmitted.
    pub messages_repeated: u64,
    /// Messages that the peer is known to have accepted.
    pub messages_acknowledged: u64,
    /// From when level 3 gave these until that was known, all together.
    pub acknowledged_after: Duration,
    /// Messages given to level 3.
    pub messages_received: u64,
    /// Messages discarded: their number had been accepted before.
    pub discarded_repeated: u64,
    /// Messages discarded: an earlier one was missing.
    pub discarded_out_of_sequence: u64,
    /// Messages discarded: the link was not in service, or a processor was out.
    pub discarded_not_in_service: u64,
    /// Messages thrown away by `FlushBuffers` or a start with old messages in the buffers.
    pub flushed: u64,
    /// Units that the line damaged, and runs of octets without a unit that count as one.
    pub errored_units: u64,
    /// Retransmissions asked for.
    pub negative_acknowledgements_sent: u64,
    /// Retransmissions that the peer asked for.
    pub negative_acknowledgements_received: u64,
    /// Forced retransmission cycles of preventive cyclic retransmission.
    pub forced_retransmissions: u64,
}
