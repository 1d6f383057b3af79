//! Segments were longer than a link on their way carries (RFC 1191).

use core::num::NonZeroU64;

use slantpath_base::Instant;
use slantpath_cc::CongestionControl;

use super::Tx;
use super::recovery::Recovery;

impl Tx {
    /// The largest segment, in bytes of data.
    pub(crate) const fn mss(&self) -> u64 {
        self.mss
    }

    /// Segments are of at most `mss_bytes` from now on. Longer ones that are in flight are cut anew and retransmitted
    /// at once. That is no sign of congestion, so that the window stays; nor is what acknowledgements show to be
    /// missing until all that was in flight has arrived.
    pub(crate) fn reduce_mss(&mut self, now: Instant, mss_bytes: u32) {
        self.mss = mss_bytes.into();
        self.control.set_segment_bytes(self.mss);
        if !self.board.recut(self.mss, self.stream.end()) {
            return;
        }
        // What duplicates have inflated the window by belongs to the recovery that ends here.
        self.end_inflation();
        let point = self.board.nxt();
        self.recover = NonZeroU64::new(point);
        self.recovery = Recovery::Timeout { point };
        self.early = None;
        self.timing.forget();
        self.start_timer(now);
    }
}
