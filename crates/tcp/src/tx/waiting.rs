//! Shortcuts that tell without a closer look that nothing may be sent before something happens.

use slantpath_base::Instant;

use super::recovery::Recovery;
use super::{Tx, Urgent};

impl Tx {
    /// Tells if [`next_segment`](Self::next_segment) would find nothing and change nothing if it were asked again,
    /// right after it has given a segment. Only the usual case is looked into: new data that is held back by the
    /// window, or by the controller's rate.
    #[inline]
    pub(crate) fn is_spent(&mut self, now: Instant) -> bool {
        self.urgent == Urgent::Nothing
            && matches!(self.recovery, Recovery::Open { .. })
            && !self.board.may_have_lost()
            && self.unsent() > 0
            && (self.sendable(self.cwnd()).is_none() || self.is_held(now))
    }

    /// Tells if a whole segment is queued until an acknowledgement lets it out: when it was last found that nothing may
    /// be sent, and nothing has happened since, nothing may be sent behind it either.
    #[inline]
    pub(crate) fn has_a_segment_waiting(&self) -> bool {
        self.urgent == Urgent::Nothing
            && self.held_until.is_off()
            && !self.board.is_empty()
            && self.data_ready() == self.mss
    }
}
