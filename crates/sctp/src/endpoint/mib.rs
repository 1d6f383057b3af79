//! The counters of the SCTP MIB (RFC 3873, section 4, `sctpStats`), summed over the associations that there are and
//! those that have ended.

use slantpath_base::Duration;

use super::Endpoint;
use super::table::{AssociationId, Entry, State};
use crate::association::{Association, AssociationState, MibAssociation, MibState};
use crate::event::CloseReason;

/// The counters of RFC 3873, section 4, each named as there without `sctp`. Packets of no port of the endpoint count in
/// none; what is sent and received out of the blue, or in a setup, counts in packets and control chunks alone.
///
/// The last three are columns of `sctpAssocTable`, summed over all associations that there have been: a row is gone
/// with its association ([`Endpoint::mib_association`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MibCounters {
    /// `sctpCurrEstab`: associations that are ESTABLISHED, SHUTDOWN-RECEIVED or SHUTDOWN-PENDING now.
    pub curr_estab: u64,
    /// `sctpActiveEstabs`: associations that the layer above has begun and that were established.
    pub active_estabs: u64,
    /// `sctpPassiveEstabs`: associations that a peer has begun and that were established.
    pub passive_estabs: u64,
    /// `sctpAborteds`: associations that either end has aborted, in whatever state.
    pub aborteds: u64,
    /// `sctpShutdowns`: associations that have ended in order.
    pub shutdowns: u64,
    /// `sctpOutOfBlues`: packets out of the blue.
    pub out_of_blues: u64,
    /// `sctpChecksumErrors`: packets with a wrong checksum.
    pub checksum_errors: u64,
    /// `sctpOutCtrlChunks`: chunks sent that are not DATA.
    pub out_ctrl_chunks: u64,
    /// `sctpOutOrderChunks`: ordered DATA chunks sent, retransmissions not included.
    pub out_order_chunks: u64,
    /// `sctpOutUnorderChunks`: unordered DATA chunks sent, retransmissions not included.
    pub out_unorder_chunks: u64,
    /// `sctpInCtrlChunks`: chunks received that are not DATA.
    pub in_ctrl_chunks: u64,
    /// `sctpInOrderChunks`: ordered DATA chunks received, duplicates included.
    pub in_order_chunks: u64,
    /// `sctpInUnorderChunks`: unordered DATA chunks received, duplicates included.
    pub in_unorder_chunks: u64,
    /// `sctpFragUsrMsgs`: messages that were sent in fragments.
    pub frag_usr_msgs: u64,
    /// `sctpReasmUsrMsgs`: messages that came in fragments, whole.
    pub reasm_usr_msgs: u64,
    /// `sctpOutSCTPPacks`: packets sent.
    pub out_sctp_packs: u64,
    /// `sctpInSCTPPacks`: packets received, duplicates included.
    pub in_sctp_packs: u64,
    /// `sctpAssocT1expireds`: expirations of T1-init and T1-cookie, also in setups that failed.
    pub assoc_t1expireds: u64,
    /// `sctpAssocT2expireds`: expirations of T2-shutdown.
    pub assoc_t2expireds: u64,
    /// `sctpAssocRtxChunks`: DATA chunks retransmitted because T3-rtx had expired.
    pub assoc_rtx_chunks: u64,
}

impl MibCounters {
    /// Every counter with its name of RFC 3873, in its order.
    pub const fn named(&self) -> [(&'static str, u64); 20] {
        [
            ("sctpCurrEstab", self.curr_estab),
            ("sctpActiveEstabs", self.active_estabs),
            ("sctpPassiveEstabs", self.passive_estabs),
            ("sctpAborteds", self.aborteds),
            ("sctpShutdowns", self.shutdowns),
            ("sctpOutOfBlues", self.out_of_blues),
            ("sctpChecksumErrors", self.checksum_errors),
            ("sctpOutCtrlChunks", self.out_ctrl_chunks),
            ("sctpOutOrderChunks", self.out_order_chunks),
            ("sctpOutUnorderChunks", self.out_unorder_chunks),
            ("sctpInCtrlChunks", self.in_ctrl_chunks),
            ("sctpInOrderChunks", self.in_order_chunks),
            ("sctpInUnorderChunks", self.in_unorder_chunks),
            ("sctpFragUsrMsgs", self.frag_usr_msgs),
            ("sctpReasmUsrMsgs", self.reasm_usr_msgs),
            ("sctpOutSCTPPacks", self.out_sctp_packs),
            ("sctpInSCTPPacks", self.in_sctp_packs),
            ("sctpAssocT1expireds", self.assoc_t1expireds),
            ("sctpAssocT2expireds", self.assoc_t2expireds),
            ("sctpAssocRtxChunks", self.assoc_rtx_chunks),
        ]
    }

    /// Adds what an association has done.
    pub(super) fn add(&mut self, association: &Association) {
        let (stats, sent) = (association.stats(), association.path_stats());
        self.out_ctrl_chunks += stats.control_chunks_sent;
        let first_time = sent.data_chunks_sent - sent.retransmissions;
        self.out_order_chunks += first_time.saturating_sub(stats.unordered_chunks_sent);
        self.out_unorder_chunks += stats.unordered_chunks_sent;
        self.in_ctrl_chunks += stats.control_chunks_received;
        self.in_order_chunks += stats.data_chunks_received - stats.unordered_chunks_received;
        self.in_unorder_chunks += stats.unordered_chunks_received;
        self.frag_usr_msgs += stats.messages_fragmented;
        self.reasm_usr_msgs += stats.messages_reassembled;
        self.out_sctp_packs += sent.packets_sent;
        self.assoc_t1expireds += stats.t1_expiries;
        self.assoc_t2expireds += stats.t2_expiries;
        self.assoc_rtx_chunks += sent.timeout_retransmissions;
    }

    /// Counts the end of an association.
    pub(super) const fn count_end(&mut self, reason: &CloseReason) {
        match reason {
            CloseReason::Aborted(_) | CloseReason::PeerAborted(_) | CloseReason::PeerRestarted => {
                self.aborteds += 1;
            }
            CloseReason::ShutdownComplete => self.shutdowns += 1,
            CloseReason::PeerUnreachable | CloseReason::StaleCookie => {}
        }
    }
}

impl Endpoint {
    /// The counters of the SCTP MIB. It looks at every association.
    pub fn mib(&self) -> MibCounters {
        let mut mib = self.ended;
        mib.out_of_blues = self.stats.out_of_the_blue;
        mib.checksum_errors = self.stats.bad_checksums;
        mib.in_sctp_packs = self.stats.packets_received;
        mib.out_sctp_packs += self.outbox.packets_sent();
        mib.out_ctrl_chunks += self.outbox.control_chunks_sent();
        for Entry { state, .. } in self.table.entries() {
            mib.assoc_t1expireds += u64::from(state.t1_expiries_in_setup());
            if let State::Established(association) = state {
                mib.add(association);
                let is_current = matches!(
                    association.state(),
                    AssociationState::Established
                        | AssociationState::ShutdownPending
                        | AssociationState::ShutdownReceived
                );
                mib.curr_estab += u64::from(is_current);
            }
        }
        mib
    }

    /// Rows of an association in the tables of the SCTP MIB, in whatever state; `None` if there is no such association.
    pub fn mib_association(&self, id: AssociationId) -> Option<MibAssociation> {
        let entry = self.table.find(id)?;
        let state = match &entry.state {
            State::Established(association) => return Some(association.mib()),
            State::CookieWait(_) => MibState::CookieWait,
            State::CookieEchoed(_) => MibState::CookieEchoed,
        };
        Some(MibAssociation {
            local_port: self.ports[entry.port as usize].number,
            rem_port: entry.peer_port,
            rem_prim_addr: None,
            heart_beat_interval: entry.config.heartbeat_interval.unwrap_or(Duration::ZERO),
            state,
            in_streams: 0,
            out_streams: 0,
            max_retr: entry.config.association_max_retrans,
            t1expireds: entry.state.t1_expiries_in_setup().into(),
            t2expireds: 0,
            rtx_chunks: 0,
            start_time: None,
            local_addresses: Vec::new(),
            rem_addresses: Vec::new(),
        })
    }
}
