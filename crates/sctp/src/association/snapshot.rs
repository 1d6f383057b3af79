//! STATUS: an association at one moment (RFC 9260, section 11.1.8).

use slantpath_base::Instant;

use super::{Association, AssociationState};
use crate::path::{Path, PathSnapshot};
use crate::types::Tsn;

/// What has happened in an association since it was established.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssociationStats {
    /// Packets that arrived.
    pub packets_received: u64,
    /// DATA chunks that arrived, duplicates included.
    pub data_chunks_received: u64,
    /// SACKs that arrived.
    pub sacks_received: u64,
    /// SACKs that were sent.
    pub sacks_sent: u64,
    /// Chunks that arrived and could not be read.
    pub malformed_chunks: u64,
    /// Chunks that were dropped since they were not authenticated as they should have been, and wrong AUTH chunks.
    pub unauthenticated_chunks: u64,
}

/// An association at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssociationSnapshot {
    /// Its state.
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
    /// Whether Fast Recovery is in progress.
    pub is_in_fast_recovery: bool,
    /// Retransmissions in a row without an answer.
    pub error_count: u32,
    /// Counts.
    pub stats: AssociationStats,
}

impl Association {
    /// The state.
    pub const fn state(&self) -> AssociationState {
        self.state.public()
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
            stats: self.stats,
        }
    }

    /// The paths now, in the order in which the peer listed its addresses.
    pub fn path_snapshots(&self, now: Instant) -> impl Iterator<Item = PathSnapshot> + '_ {
        let primary = self.paths.primary();
        self.paths.ids().map(move |id| self.paths[id].snapshot(now, id, id == primary))
    }
}
