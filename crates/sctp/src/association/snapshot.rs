//! STATUS: an association at one moment (RFC 9260, section 11.1.8).

use slantpath_base::Instant;

use super::{Association, AssociationState};
use crate::extension::Extensions;
use crate::path::{Path, PathSnapshot, PathStats};
use crate::tx::{AbandonmentCounts, StreamAbandonment};
use crate::types::{StreamId, StreamSequence, Tsn};

/// Counts of an association since it was established.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssociationStats {
    /// Packets that arrived.
    pub packets_received: u64,
    /// DATA chunks that arrived, duplicates included.
    pub data_chunks_received: u64,
    /// DATA chunks that arrived behind a gap.
    pub chunks_ahead_received: u64,
    /// DATA chunks that had arrived before.
    pub duplicates_received: u64,
    /// SACKs that arrived.
    pub sacks_received: u64,
    /// Gap Ack Blocks of the SACKs that arrived.
    pub gap_ack_blocks_received: u64,
    /// SACKs that were sent.
    pub sacks_sent: u64,
    /// Chunks that arrived and could not be read.
    pub malformed_chunks: u64,
    /// Packets that were sent without a checksum (RFC 9653).
    pub zero_checksums_sent: u64,
    /// Chunks that were dropped since they were not authenticated as they should have been, and wrong AUTH chunks.
    pub unauthenticated_chunks: u64,
    /// Messages that were given up before any part of them was sent (RFC 7496, section 4.4).
    pub abandoned_unsent: u64,
    /// Messages that were given up after a part of them had been sent.
    pub abandoned_sent: u64,
    /// FORWARD TSN and I-FORWARD-TSN chunks that were sent.
    pub forward_tsns_sent: u64,
    /// FORWARD TSN and I-FORWARD-TSN chunks that arrived.
    pub forward_tsns_received: u64,
    /// Chunks that arrived and are not DATA, SACKs included, but for those that belong to the setup: INIT, INIT ACK,
    /// COOKIE ECHO.
    pub control_chunks_received: u64,
    /// Chunks that were sent and are not DATA, SACKs included, but for those that belong to the setup.
    pub control_chunks_sent: u64,
    /// DATA chunks with the U bit that arrived, duplicates included.
    pub unordered_chunks_received: u64,
    /// DATA chunks with the U bit that were sent, retransmissions not included.
    pub unordered_chunks_sent: u64,
    /// Messages that were sent in fragments.
    pub messages_fragmented: u64,
    /// Messages that arrived whole in fragments, but for those that were interleaved.
    pub messages_reassembled: u64,
    /// Expirations of T1-init and T1-cookie, before it was established.
    pub t1_expiries: u64,
    /// Expirations of T2-shutdown.
    pub t2_expiries: u64,
    /// Answers that were left out, since all answers to a packet have to fit one packet.
    pub responses_omitted: u64,
}

/// An association at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssociationSnapshot {
    /// State of the association.
    pub state: AssociationState,
    /// Bytes that the peer has room for beyond what is in flight.
    pub peer_rwnd: u64,
    /// Bytes handed over and not acknowledged.
    pub send_buffered: u64,
    /// DATA chunks that have a TSN and have not been acknowledged cumulatively.
    pub outstanding_chunks: usize,
    /// All our DATA chunks up to here have been acknowledged.
    pub cumulative_tsn_acked: Tsn,
    /// All the peer's DATA chunks up to here have arrived.
    pub cumulative_tsn_received: Tsn,
    /// Bytes that have arrived and wait for order, for fragments or for the layer above.
    pub receive_buffered: u64,
    /// True if Fast Recovery is in progress.
    pub is_in_fast_recovery: bool,
    /// Retransmissions in a row without an answer.
    pub error_count: u32,
    /// Counts since the association was established.
    pub stats: AssociationStats,
}

impl Association {
    /// State of the association.
    pub const fn state(&self) -> AssociationState {
        self.state.public()
    }

    /// The extensions that both ends have agreed on.
    pub const fn extensions(&self) -> Extensions {
        self.tcb.extensions
    }

    /// Tells if both ends have announced that they take packets without a checksum, for the same reason (RFC 9653).
    pub const fn omits_checksums(&self) -> bool {
        self.tcb.omits_checksum
    }

    /// The association now.
    pub fn snapshot(&self) -> AssociationSnapshot {
        AssociationSnapshot {
            state: self.state(),
            peer_rwnd: self.sender.peer_rwnd(),
            send_buffered: self.sender.buffered_bytes(),
            outstanding_chunks: self.sender.outstanding_chunks(),
            cumulative_tsn_acked: self.sender.cumulative_ack(),
            cumulative_tsn_received: self.receiver.cumulative_tsn(),
            receive_buffered: self.receiver.buffered_bytes(),
            is_in_fast_recovery: self.sender.in_fast_recovery()
                || self.paths.iter().any(Path::is_in_fast_recovery),
            error_count: self.error_count,
            stats: self.stats(),
        }
    }

    /// Instant at which the newest packet left that the peer has answered, on whatever path.
    pub(crate) fn last_answered(&self) -> Option<Instant> {
        self.paths.iter().filter_map(|path| path.last_answered).max()
    }

    /// First message of the latest failover: its stream and its number there, of an identifier the last 16 bits. `None`
    /// if there was none, and if the message may overtake others.
    pub const fn failed_over_with(&self) -> Option<(StreamId, StreamSequence)> {
        self.paths.moved_with
    }

    /// Counts since the association was established.
    pub(crate) fn stats(&self) -> AssociationStats {
        let AbandonmentCounts { unsent, sent, forward_tsns } = self.sender.abandonment_counts();
        let (unordered_chunks_sent, messages_fragmented) = self.sender.cut_counts();
        let oddities = self.receiver.oddities();
        AssociationStats {
            chunks_ahead_received: oddities.ahead,
            duplicates_received: oddities.duplicates,
            t1_expiries: self.t1_expiries.into(),
            abandoned_unsent: unsent,
            abandoned_sent: sent,
            forward_tsns_sent: forward_tsns,
            control_chunks_received: self.stats.control_chunks_received + self.stats.sacks_received,
            control_chunks_sent: self.stats.control_chunks_sent + self.stats.sacks_sent,
            unordered_chunks_sent,
            messages_fragmented,
            messages_reassembled: self.receiver.messages_reassembled(),
            ..self.stats
        }
    }

    /// Numbers of messages that were given up, by stream and policy (RFC 7496, section 4.3); only those that are not
    /// zero.
    pub fn abandoned_by_stream(&self) -> impl Iterator<Item = StreamAbandonment> + '_ {
        self.sender.abandoned_by_stream()
    }

    /// Counts of all its paths together, those included that it has no more.
    pub(crate) fn path_stats(&self) -> PathStats {
        let removed = self.addresses.as_ref().map(|state| state.removed_stats());
        self.paths.iter().map(Path::stats).fold(removed.unwrap_or_default(), PathStats::plus)
    }

    /// The paths now, in the order in which the peer listed its addresses.
    pub fn path_snapshots(&self, now: Instant) -> impl Iterator<Item = PathSnapshot> + '_ {
        let primary = self.paths.primary();
        self.paths.ids().map(move |id| self.paths[id].snapshot(now, id, id == primary))
    }
}
