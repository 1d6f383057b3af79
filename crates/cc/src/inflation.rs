//! The window of a fast recovery without SACK: what leaves the network is counted by duplicate ACKs (RFC 5681, section
//! 3.2, and RFC 6582).

/// cwnd while such a recovery lasts. It begins with the window that the loss has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InflatedWindow {
    bytes: u64,
}

impl InflatedWindow {
    /// The recovery begins with so many duplicate ACKs and a controller's reduced window, `cwnd`.
    pub fn new(cwnd: u64, duplicates: u64, mss: u64) -> Self {
        let mut window = Self { bytes: cwnd };
        window.inflate(duplicates, mss);
        window
    }

    /// Number of bytes that may be in flight.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// `duplicates` more segments have left the network (RFC 5681, section 3.2, steps 3 and 4).
    pub fn inflate(&mut self, duplicates: u64, mss: u64) {
        self.bytes += duplicates * mss;
    }

    /// An ACK covered only part of what was outstanding at the start.
    //= https://www.rfc-editor.org/rfc/rfc6582#section-3.2
    //# Deflate the congestion window by the amount of new data
    //# acknowledged by the Cumulative Acknowledgment field.  If the
    //# partial ACK acknowledges at least one SMSS of new data, then add
    //# back SMSS bytes to the congestion window.
    pub fn on_partial_ack(&mut self, acked_bytes: u64, mss: u64) {
        let add_back = if acked_bytes >= mss { mss } else { 0 };
        self.bytes = (self.bytes.saturating_sub(acked_bytes) + add_back).max(mss);
    }

    /// The most that the window may be once the recovery is over, beside ssthresh, lest a burst leave.
    //= https://www.rfc-editor.org/rfc/rfc6582#section-3.2
    //# (1) min (ssthresh, max(FlightSize, SMSS) + SMSS)
    pub fn limit_at_end(flight_bytes: u64, mss: u64) -> u64 {
        flight_bytes.max(mss) + mss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_inflates_by_segments_and_deflates_by_what_a_partial_ack_covers() {
        let mut window = InflatedWindow::new(10_000, 3, 1_000);
        assert_eq!(window.bytes(), 13_000);
        window.inflate(9, 1_000);
        window.on_partial_ack(5_000, 1_000);
        assert_eq!(window.bytes(), 18_000);
        window.on_partial_ack(999, 1_000);
        assert_eq!(window.bytes(), 17_001);
        window.on_partial_ack(90_000, 1_000);
        assert_eq!(window.bytes(), 1_000);
    }

    #[test]
    fn what_is_left_in_flight_at_the_end_limits_the_window_to_one_more_segment_and_two_at_least() {
        assert_eq!(
            [4_000, 999, 1_001].map(|flight| InflatedWindow::limit_at_end(flight, 1_000)),
            [5_000, 2_000, 2_001]
        );
    }
}
