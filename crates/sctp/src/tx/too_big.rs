//! A packet was longer than a link on its way carries (RFC 9260, sections 6.9 and 7.3).

use super::outstanding::{ChunkState, Loss};
use super::sack::insert_lost;
use super::{Sender, Turn, Urgent};
use crate::path::PathId;
use crate::trace::LossEvidence;
use crate::types::Tsn;

impl Sender {
    /// Nothing passes to `path` that needs an MTU of more than `mtu` bytes: what is in flight in such packets is sent
    /// again at once. It says nothing of congestion nor of the peer, so that neither window nor error counter changes.
    pub(crate) fn on_packet_too_big(&mut self, turn: &mut Turn<'_>, path: PathId, mtu: u16) {
        let too_big: Vec<Tsn> = self.outstanding.too_big_for(path, mtu).collect();
        if too_big.is_empty() {
            return;
        }
        for tsn in too_big {
            if let Some(chunk) = self.outstanding.set_state(tsn, ChunkState::Lost(Loss::TooBig)) {
                turn.paths[path].on_chunk_left(chunk.wire_len());
                turn.note_lost(chunk.context, tsn, path, LossEvidence::TooBig { mtu });
            }
            insert_lost(&mut self.lost, tsn);
        }
        self.settle_flight(turn, path);
        // They fit into the window that they had; whatever else has changed since, one packet leaves.
        self.urgent = Urgent::OnePacket;
    }
}
