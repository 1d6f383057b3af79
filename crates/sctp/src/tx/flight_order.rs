//! Which chunk in flight to a path has the lowest TSN.

use std::collections::VecDeque;

use smallvec::SmallVec;

use super::outstanding::{ChunkState, Outstanding, OutstandingChunk};
use super::sack::insert_lost;
use super::steps::Steps;
use crate::path::PathId;
use crate::types::Tsn;

/// The TSNs sent to each path, ascending. One that is in flight there no more is taken out when it is met at the head,
/// so that each transmission is met once and the window never searched.
#[derive(Clone, Debug, Default)]
pub(super) struct FlightOrder {
    paths: SmallVec<[VecDeque<Tsn>; 2]>,
}

impl FlightOrder {
    /// `tsn` is in flight to `path` from now on.
    pub(super) fn add(&mut self, path: PathId, tsn: Tsn) {
        if self.paths.len() <= path.index() {
            self.paths.resize_with(path.index() + 1, VecDeque::new);
        }
        insert_lost(&mut self.paths[path.index()], tsn);
    }

    /// The lowest TSN in flight to `path`.
    pub(super) fn first(&mut self, path: PathId, outstanding: &Outstanding, steps: &Steps) -> Option<Tsn> {
        let order = self.paths.get_mut(path.index())?;
        let stands = |chunk: &OutstandingChunk| chunk.state == ChunkState::InFlight && chunk.path == path;
        while let Some(&tsn) = order.front() {
            steps.take(1);
            if outstanding.find(tsn).is_some_and(stands) {
                return Some(tsn);
            }
            order.pop_front();
        }
        None
    }
}
