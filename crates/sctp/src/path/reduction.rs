//! For what the window of a path was reduced last: the marks and losses of one window of data reduce it once (RFC 3168,
//! section 6.1.2).

use slantpath_cc::CongestionControl;
use slantpath_cc::control;

use super::Path;
use crate::types::Tsn;

/// The last reduction, until something is acknowledged that was sent after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    /// For something lost, when `up_to` was the highest TSN sent.
    ForLoss { up_to: Tsn },
    /// For something marked.
    ForMark { up_to: Tsn },
    /// None, or long ago.
    None,
}

impl Path {
    /// The peer says that the chunk `tsn`, which was sent here last and is outstanding, came with a mark of congestion;
    /// `highest_sent` is outstanding, too.
    pub(crate) fn on_marked(&mut self, tsn: Tsn, highest_sent: Tsn) {
        if let Reduction::ForLoss { up_to } | Reduction::ForMark { up_to } = self.reduction
            && tsn.is_at_or_before(up_to)
        {
            return;
        }
        self.cc.on_marked(control::Congestion { in_flight: self.flight_size });
        self.reduction = Reduction::ForMark { up_to: highest_sent };
        // A loss that was none takes back what it took, not this.
        self.forget_undo();
        self.stats.mark_reductions += 1;
    }

    /// The window has been reduced for a loss.
    pub(crate) const fn on_reduced_for_loss(&mut self, highest_sent: Tsn) {
        self.reduction = Reduction::ForLoss { up_to: highest_sent };
    }

    /// Everything up to `cumulative` is acknowledged.
    #[inline]
    pub(crate) fn settle_reduction(&mut self, cumulative: Tsn) {
        if let Reduction::ForLoss { up_to } | Reduction::ForMark { up_to } = self.reduction
            && up_to.is_before(cumulative)
        {
            self.reduction = Reduction::None;
        }
    }

    /// Tells if the chunks being acknowledged were sent before a mark reduced the window: no reason to open it again.
    #[inline]
    pub(crate) const fn is_in_marked_window(&self) -> bool {
        matches!(self.reduction, Reduction::ForMark { .. })
    }

    /// Tells if the window has been reduced for a mark since `tsn` was sent: its loss is of the same congestion.
    pub(crate) fn has_reduced_for_mark(&self, tsn: Tsn) -> bool {
        matches!(self.reduction, Reduction::ForMark { up_to } if tsn.is_at_or_before(up_to))
            && !self.cc.rules_recovery()
    }
}
