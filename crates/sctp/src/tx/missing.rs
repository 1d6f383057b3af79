//! List of the TSNs that gap reports have shown to be missing, and the point up to which the reports have been read.
//!
//! A TSN enters the list once, when a SACK first reaches beyond it, and leaves it when it is acknowledged or
//! given up; in between it is touched once a miss indication. So the work is bounded by the losses, not by
//! the window.

use crate::types::Tsn;

/// The TSNs that are missing and have not been given up.
#[derive(Clone, Debug)]
pub(crate) struct MissingReports {
    /// Candidates in ascending order.
    candidates: Vec<Tsn>,
    /// Every TSN up to here has been looked at.
    examined: Tsn,
}

impl MissingReports {
    /// Nothing at or before `cumulative_ack` can be missing.
    pub(crate) const fn new(cumulative_ack: Tsn) -> Self {
        Self { candidates: Vec::new(), examined: cumulative_ack }
    }

    /// The first TSN that has not been looked at, given that all up to `cumulative_ack` have arrived.
    pub(crate) fn unexamined(&mut self, cumulative_ack: Tsn) -> Tsn {
        if self.examined.is_before(cumulative_ack) {
            self.examined = cumulative_ack;
        }
        self.examined.next()
    }

    /// Every TSN up to `tsn` has now been looked at.
    pub(crate) const fn set_examined(&mut self, tsn: Tsn) {
        self.examined = tsn;
    }

    /// Notes that `tsn` is missing.
    pub(crate) fn add(&mut self, tsn: Tsn) {
        if self.candidates.last().is_none_or(|last| last.is_before(tsn)) {
            self.candidates.push(tsn);
            return;
        }
        let index = self.candidates.partition_point(|candidate| candidate.is_before(tsn));
        if self.candidates[index] != tsn {
            self.candidates.insert(index, tsn);
        }
    }

    /// Visits each candidate before `limit`, lowest first; it stays in the list if `stays` says so.
    pub(crate) fn visit_before(&mut self, limit: Tsn, mut stays: impl FnMut(Tsn) -> bool) {
        let end = self.candidates.partition_point(|candidate| candidate.is_before(limit));
        let mut kept = 0;
        for index in 0..end {
            let tsn = self.candidates[index];
            if stays(tsn) {
                self.candidates[kept] = tsn;
                kept += 1;
            }
        }
        self.candidates.drain(kept..end);
    }

    /// Candidates of the list.
    #[cfg(test)]
    pub(crate) fn candidates(&self) -> &[Tsn] {
        &self.candidates
    }

    /// Forgets candidates up to `cumulative_ack`.
    pub(crate) fn forget_up_to(&mut self, cumulative_ack: Tsn) {
        if self.candidates.first().is_some_and(|first| first.is_at_or_before(cumulative_ack)) {
            let end = self.candidates.partition_point(|candidate| candidate.is_at_or_before(cumulative_ack));
            self.candidates.drain(..end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_before_the_limit_are_visited_lowest_first_and_may_leave() {
        let mut missing = MissingReports::new(Tsn(u32::MAX));
        for tsn in [1, 4, 2, 4] {
            missing.add(Tsn(tsn));
        }
        let mut visited = Vec::new();
        missing.visit_before(Tsn(4), |tsn| {
            visited.push(tsn.0);
            tsn == Tsn(2)
        });
        assert_eq!(visited, [1, 2]);
        assert_eq!(missing.candidates, [Tsn(2), Tsn(4)]);
        missing.forget_up_to(Tsn(2));
        assert_eq!(missing.candidates, [Tsn(4)]);
    }

    #[test]
    fn examination_never_goes_back_behind_the_cumulative_ack() {
        let mut missing = MissingReports::new(Tsn(9));
        assert_eq!(missing.unexamined(Tsn(9)), Tsn(10));
        missing.set_examined(Tsn(15));
        assert_eq!(missing.unexamined(Tsn(12)), Tsn(16));
        assert_eq!(missing.unexamined(Tsn(20)), Tsn(21));
    }
}
