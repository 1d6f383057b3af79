//! An address of the peer is deleted (RFC 5061): what is in flight there is sent elsewhere at once.

use super::outstanding::{ChunkState, Loss};
use super::sack::insert_lost;
use super::{Recovery, Remainder, Sender, Turn, Urgent};
use crate::path::PathId;
use crate::types::Tsn;

impl Sender {
    /// All that was sent to `path`, which is about to be taken away, counts as sent to `heir`, and what is in flight
    /// there is retransmitted. No window is reduced: nothing tells of congestion.
    pub(crate) fn move_flight(&mut self, turn: &mut Turn<'_>, path: PathId, heir: PathId) {
        let mut in_flight: Vec<Tsn> = Vec::new();
        for chunk in self.outstanding.iter_mut().filter(|chunk| chunk.path == path) {
            Self::note_shift(self.spread.as_mut(), chunk, heir);
            chunk.path = heir;
            // What the other path has delivered is counted apart.
            let path_to = &mut turn.paths[heir];
            chunk.departure = path_to.delivery.depart(
                turn.now,
                path_to.flight_size == 0,
                path_to.flight_size + chunk.wire_len(),
            );
            chunk.is_ambiguous = true;
            match chunk.state {
                ChunkState::InFlight => {
                    turn.paths[path].on_chunk_left(chunk.wire_len());
                    in_flight.push(chunk.data.tsn);
                }
                ChunkState::Acked => {
                    if let Some(timing) = &mut turn.paths[heir].timing {
                        timing.on_out_of_order();
                    }
                }
                ChunkState::Lost(_) | ChunkState::Abandoned => {}
            }
        }
        for tsn in in_flight {
            // Nothing is wrong with the path that it goes to now.
            self.outstanding.set_state(tsn, ChunkState::Lost(Loss::Refused));
            insert_lost(&mut self.lost, tsn);
        }
        self.flight_order.remove(path);
        if let Some(spread) = &mut self.spread {
            spread.forget_path(path);
        }
        if let Some(abandonment) = &mut self.abandonment {
            abandonment.replace_path(path, heir);
        }
        if let Recovery::Fast { halved, .. } = &mut self.recovery {
            halved.retain(|id| *id != path);
        }
        if self.urgent == Urgent::LossProbe(path) {
            self.urgent = Urgent::No;
        }
        self.remainder = Remainder::Free;
        self.refresh_earliest(turn);
    }
}
