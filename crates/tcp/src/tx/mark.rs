//! Effect of an echoed mark of congestion on the window (RFC 3168, section 6.1.2).

use core::num::NonZeroU64;

use slantpath_cc::CongestionControl;
use slantpath_cc::control;

use super::recovery::Recovery;
use super::{Range, Tx};

/// Record of the marks that the sending half has been told of.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// SND.NXT when the window was last reduced because of one.
    point: Option<NonZeroU64>,
    /// True if the peer has not been told yet of the last reduction, whatever that was for.
    is_reduction_untold: bool,
    /// Number of times that the window was reduced because of a mark.
    reductions: u64,
}

impl Marks {
    /// The window has been reduced.
    pub(super) const fn on_reduced(&mut self) {
        self.is_reduction_untold = true;
    }
}

impl Tx {
    /// The peer says that something was marked; it acknowledges what lies before `ack`.
    pub(super) fn handle_echo(&mut self, ack: u64) {
        let Recovery::Open { limited_transmit, .. } = self.recovery else { return };
        //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.2
        //# That is, the TCP sender's congestion window should be reduced
        //# only once in response to a series of dropped and/or CE packets from a
        //# single window of data.
        let last = self.recover.max(self.marks.point);
        if self.board.is_empty() || last.is_some_and(|point| ack <= point.get()) {
            return;
        }
        //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.2
        //= type=exception
        //= reason=A window of one segment is only left by a timeout here, and opens with the next acknowledgement
        //# Therefore, the sending TCP MUST reset the
        //# retransmit timer on receiving the ECN-Echo packet when the congestion
        //# window is one.
        self.control.on_marked(control::Congestion { in_flight: self.board.flight() - limited_transmit });
        let reductions = self.marks.reductions + 1;
        self.marks =
            Marks { point: NonZeroU64::new(self.board.nxt()), is_reduction_untold: true, reductions };
        // A loss that was none takes back what it took, not this.
        self.timing.undo = None;
    }

    /// Number of times that an echo has reduced the window.
    pub(crate) const fn mark_reductions(&self) -> u64 {
        self.marks.reductions
    }

    /// Tells if the window has been reduced for a mark since the first of the outstanding segments was sent. A loss of
    /// it is of the same congestion.
    pub(super) fn is_reduced_for_mark(&self) -> bool {
        self.marks.point.is_some_and(|point| self.board.una() < point.get()) && !self.control.rules_recovery()
    }

    /// Tells if the peer is to be told of a reduction by the next segment of new data; it then counts as told.
    pub(crate) const fn take_reduction(&mut self) -> bool {
        core::mem::replace(&mut self.marks.is_reduction_untold, false)
    }

    /// Tells if a segment ends beyond what the peer's window allows: a probe.
    pub(crate) const fn is_beyond_window(&self, range: Range) -> bool {
        range.end > self.peer.edge()
    }
}
