//! New DATA over several paths at once (CMT-SCTP: Iyengar, Amer, Stewart 2006): which path takes the next packet, and
//! how much of the buffers each may fill.

use smallvec::SmallVec;

use super::outstanding::{ChunkState, OutstandingChunk};
use super::transmit::retransmission_path;
use super::{Sender, Turn};
use crate::config::SctpConfig;
use crate::path::{PathId, PathState, Paths};

/// Number of chunks waiting to be retransmitted that are looked at for one that another path could take.
const LOOKED_AT: usize = 256;

/// State of the paths that share the DATA.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread {
    /// The path that was chosen last.
    last: PathId,
    /// Payload bytes of the chunks that were sent to each path last and have not been acknowledged cumulatively.
    outstanding: SmallVec<[(PathId, u64); 2]>,
}

impl Spread {
    pub(super) fn new(config: &SctpConfig) -> Option<Box<Self>> {
        config.multipath.is_on().then(Box::default)
    }

    fn of(&mut self, path: PathId) -> &mut u64 {
        let place = self.outstanding.iter().position(|(id, _)| *id == path).unwrap_or_else(|| {
            self.outstanding.push((path, 0));
            self.outstanding.len() - 1
        });
        &mut self.outstanding[place].1
    }

    /// A chunk goes out to `path` for the first time.
    pub(super) fn add(&mut self, path: PathId, payload_len: u64) {
        *self.of(path) += payload_len;
    }

    /// A chunk goes elsewhere.
    pub(super) fn shift(&mut self, from: PathId, to: PathId, payload_len: u64) {
        self.remove(from, payload_len);
        self.add(to, payload_len);
    }

    /// A chunk has been acknowledged cumulatively.
    pub(super) fn remove(&mut self, path: PathId, payload_len: u64) {
        let outstanding = self.of(path);
        *outstanding = outstanding.checked_sub(payload_len).expect("a chunk leaves a path once");
    }

    /// Payload bytes that were sent to a path last and have not been acknowledged cumulatively.
    pub(super) fn outstanding_on(&self, path: PathId) -> u64 {
        self.outstanding.iter().find(|(id, _)| *id == path).map_or(0, |(_, outstanding)| *outstanding)
    }

    /// An address of the peer is deleted.
    pub(super) fn forget_path(&mut self, path: PathId) {
        self.outstanding.retain(|(id, _)| *id != path);
    }
}

impl Sender {
    /// The next path with room in its window, round and round; `None` if none has any. `waits`: what was lost there
    /// waits for its window.
    #[inline(never)]
    pub(super) fn spread(&mut self, turn: &mut Turn<'_>, waits: Option<PathId>) -> Option<PathId> {
        let last = self.spread.as_ref()?.last;
        let mut has_active = false;
        for id in turn.paths.after(last) {
            if turn.paths[id].state != PathState::Active {
                continue;
            }
            has_active = true;
            let path = &mut turn.paths[id];
            path.decay_when_idle(turn.now);
            if Some(id) != waits
                && path.may_send_data()
                && !path.is_held(turn.now)
                && self.has_share(turn.paths, id, turn.config)
            {
                self.spread.as_mut()?.last = id;
                return Some(id);
            }
        }
        let current = turn.paths.current();
        (!has_active && Some(current) != waits).then_some(current)
    }

    /// DATA that is to be retransmitted on another path than `waits`, whose window keeps the lowest chunk back: the
    /// path, and the length of the first chunk in a packet. Paths do not wait for each other.
    #[inline(never)]
    pub(super) fn lost_elsewhere(&self, turn: &mut Turn<'_>, waits: PathId) -> Option<(PathId, usize)> {
        let open: SmallVec<[PathId; 2]> = turn
            .paths
            .ids()
            .filter(|&id| id != waits && turn.paths[id].may_send_data() && !turn.paths[id].is_held(turn.now))
            .collect();
        if open.is_empty() {
            return None;
        }
        let place = self.lost_behind(turn, |path| open.contains(&path))?;
        let chunk = self.outstanding.find(self.lost[place])?;
        let len = usize::try_from(chunk.wire_len()).unwrap_or(usize::MAX);
        Some((retransmission_path(chunk, turn.paths, turn.config), len))
    }

    /// The place of the lowest chunk behind the lowest of all that is to be retransmitted and that goes to such a path,
    /// as far as a look at the next few tells.
    pub(super) fn lost_behind(&self, turn: &Turn<'_>, is_meant: impl Fn(PathId) -> bool) -> Option<usize> {
        let places = 1..self.lost.len().min(LOOKED_AT);
        places.into_iter().find(|place| {
            self.steps.take(1);
            let chunk = self.outstanding.find(self.lost[*place]);
            chunk.is_some_and(|chunk| {
                matches!(chunk.state, ChunkState::Lost(_))
                    && is_meant(retransmission_path(chunk, turn.paths, turn.config))
            })
        })
    }

    /// Tells if `path` may take more of the buffers (buffer splitting by outstanding bytes: Dreibholz, Becke, Rathgeb,
    /// Tüxen 2010): with n paths, no path has more than the nth part of what sender and receiver can hold, so that a
    /// slow path cannot fill them with what the others wait for.
    pub(super) fn has_share(&self, paths: &Paths, path: PathId, config: &SctpConfig) -> bool {
        let Some(spread) = self.spread.as_ref().filter(|_| config.split_buffers) else { return true };
        let active = paths.iter().filter(|path| path.state == PathState::Active).count().max(1) as u64;
        let at_peer = self.peer_window.advertised() + self.outstanding.acked_payload();
        let share = at_peer.min(config.send_buffer_bytes) / active;
        // One packet may always leave.
        let outstanding = spread.outstanding_on(path);
        outstanding == 0 || outstanding + paths[path].pmdcs() as u64 <= share
    }

    /// Path for a chunk that timed out on `last`: the active path with the largest window among the others (RTX-CWND:
    /// Iyengar et al. 2006, section IV).
    pub(super) fn widest(paths: &Paths, last: PathId) -> Option<PathId> {
        let others = paths.ids().filter(|&id| id != last && paths[id].state == PathState::Active);
        others.max_by_key(|&id| (paths[id].cwnd(), core::cmp::Reverse(id)))
    }

    /// A chunk is retransmitted, to `path`.
    pub(super) fn note_shift(spread: Option<&mut Box<Spread>>, chunk: &OutstandingChunk, path: PathId) {
        if let Some(spread) = spread
            && chunk.path != path
        {
            spread.shift(chunk.path, path, chunk.payload_len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_outstanding_on_a_path_that_has_gone() {
        let mut spread = Spread::default();
        spread.add(PathId(1), 100);
        spread.add(PathId(2), 50);
        spread.shift(PathId(1), PathId(2), 30);
        spread.remove(PathId(2), 10);
        assert_eq!([1, 2].map(|path| spread.outstanding_on(PathId(path))), [70, 70]);
        spread.forget_path(PathId(1));
        assert_eq!([1, 2].map(|path| spread.outstanding_on(PathId(path))), [0, 70]);
    }
}
