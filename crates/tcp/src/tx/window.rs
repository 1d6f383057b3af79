//! The peer's receive window, as far as its segments have told.

/// SND.WND and what RFC 9293 keeps to tell a newer window from an older one.
#[derive(Debug)]
pub(crate) struct PeerWindow {
    /// The first offset that may not be sent.
    edge: u64,
    /// The last window advertised.
    latest: u64,
    /// The largest window ever advertised, an estimate of the peer's buffer.
    largest: u64,
    /// SND.WL1: the sequence of the segment of the last update, in the peer's offsets.
    updated_by: i64,
}

impl Default for PeerWindow {
    /// A window that is not known yet, and shut.
    fn default() -> Self {
        Self { edge: 0, latest: 0, largest: 0, updated_by: i64::MIN }
    }
}

impl PeerWindow {
    /// Takes in the window of an acceptable segment with `sequence`, that acknowledges up to `ack`.
    //= https://www.rfc-editor.org/rfc/rfc9293#section-3.10.7.4
    //# If (SND.WL1 < SEG.SEQ or (SND.WL1 = SEG.SEQ and SND.WL2 =< SEG.ACK))
    pub(crate) fn update(&mut self, sequence: i64, ack: u64, window: u64) {
        // An `ack` below SND.UNA does not come here, so that SND.WL2 =< SEG.ACK.
        if sequence >= self.updated_by {
            self.updated_by = sequence;
            self.edge = ack + window;
            self.latest = window;
            self.largest = self.largest.max(window);
        }
    }

    /// The first offset that may not be sent.
    pub(crate) const fn edge(&self) -> u64 {
        self.edge
    }

    /// The last window advertised, in bytes.
    pub(crate) const fn latest(&self) -> u64 {
        self.latest
    }

    /// The largest window advertised so far, in bytes.
    pub(crate) const fn largest(&self) -> u64 {
        self.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_counts_unless_its_segment_is_older_than_that_of_the_last_one() {
        let mut peer = PeerWindow::default();
        peer.update(-1, 0, 500);
        assert_eq!((peer.edge(), peer.latest(), peer.largest()), (500, 500, 500));
        peer.update(10, 100, 1_000);
        peer.update(9, 200, 5_000);
        assert_eq!((peer.edge(), peer.latest(), peer.largest()), (1_100, 1_000, 1_000));
        peer.update(10, 200, 700);
        assert_eq!((peer.edge(), peer.latest(), peer.largest()), (900, 700, 1_000));
        peer.update(11, 200, 0);
        assert_eq!((peer.edge(), peer.latest()), (200, 0));
    }
}
