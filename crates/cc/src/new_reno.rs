//! The window arithmetic of TCP's standard congestion control: RFC 5681, with the recoveries of RFC 6582 (no
//! SACK) and RFC 6675 (SACK).
//!
//! Which segment is lost, and where a recovery ends, is the transport's to know: it calls the method that
//! says what happened and reads back [`NewReno::cwnd`].

/// How much may be sent before the first acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// This many bytes.
    Bytes(u64),
    /// At most two segments (RFC 2581, section 3.1).
    Rfc2581,
    /// `min(4 * MSS, max(2 * MSS, 4380))` (RFC 3390, equation 1).
    Rfc3390,
    /// Two to four segments by their size (RFC 5681, section 3.1).
    Rfc5681,
    /// `min(10 * MSS, max(2 * MSS, 14600))` (RFC 6928, equation 1).
    Rfc6928,
    /// This many full segments.
    Segments(u32),
}

impl InitialWindow {
    /// The window in bytes for segments of at most `mss_bytes`.
    pub fn bytes(self, mss_bytes: u32) -> u64 {
        let mss = u64::from(mss_bytes);
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Rfc2581 => 2 * mss,
            Self::Rfc3390 => (4 * mss).min((2 * mss).max(4_380)),
            //= https://www.rfc-editor.org/rfc/rfc5681#section-3.1
            //# If SMSS > 2190 bytes:
            //#     IW = 2 * SMSS bytes and MUST NOT be more than 2 segments
            Self::Rfc5681 if mss > 2_190 => 2 * mss,
            Self::Rfc5681 if mss > 1_095 => 3 * mss,
            Self::Rfc5681 => 4 * mss,
            //= https://www.rfc-editor.org/rfc/rfc6928#section-2
            //# min (10*MSS, max (2*MSS, 14600))
            Self::Rfc6928 => (10 * mss).min((2 * mss).max(14_600)),
            Self::Segments(segments) => u64::from(segments) * mss,
        }
    }
}

/// How congestion avoidance adds one segment a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AvoidanceIncrease {
    /// One segment whenever a whole window has been acknowledged: what RFC 5681, section 3.1, recommends, and
    /// what a receiver that delays ACKs does not slow down.
    ByteCounting,
    /// `SMSS * SMSS / cwnd` for each ACK of new data (RFC 5681, equation 3), as classic Reno and ns-2 do.
    PerAck,
}

/// What happens to a window that the sender did not fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnusedWindow {
    /// It grows all the same: RFC 5681 by its letter.
    Grow,
    /// It stays, since nothing has shown that the network can carry more (the idea of RFC 2861, section 3.1).
    Hold,
}

/// The choices of one controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewRenoConfig {
    /// The sender maximum segment size, without headers. Not zero.
    pub mss_bytes: u32,
    /// The window before the first acknowledgement.
    pub initial_window: InitialWindow,
    /// The slow start threshold before the first loss; `None` is "arbitrarily high" (RFC 5681, section 3.1).
    pub initial_ssthresh_bytes: Option<u64>,
    /// The law of congestion avoidance.
    pub avoidance_increase: AvoidanceIncrease,
    /// Whether a window that was not used grows.
    pub unused_window: UnusedWindow,
    /// cwnd never exceeds this. A window far above what flow control lets through means nothing; the limit
    /// keeps a window that grows unused from overflowing.
    pub max_cwnd_bytes: u64,
}

impl NewRenoConfig {
    /// RFC 5681 with the initial window of RFC 6928.
    pub const fn new(mss_bytes: u32) -> Self {
        Self {
            mss_bytes,
            initial_window: InitialWindow::Rfc6928,
            initial_ssthresh_bytes: None,
            avoidance_increase: AvoidanceIncrease::ByteCounting,
            unused_window: UnusedWindow::Grow,
            max_cwnd_bytes: 1 << 30,
        }
    }
}

/// cwnd and ssthresh of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewReno {
    config: NewRenoConfig,
    cwnd: u64,
    ssthresh: u64,
    /// Bytes acknowledged in congestion avoidance since the last increase.
    counted: u64,
}

impl NewReno {
    /// A controller before its first packet.
    ///
    /// # Panics
    /// If the segment size is zero.
    pub fn new(config: NewRenoConfig) -> Self {
        assert!(config.mss_bytes > 0, "a segment carries at least one byte");
        let mss = u64::from(config.mss_bytes);
        // A window below one segment would let nothing out.
        let cwnd = config.initial_window.bytes(config.mss_bytes).max(mss).min(config.max_cwnd_bytes);
        let ssthresh = config.initial_ssthresh_bytes.unwrap_or(u64::MAX);
        Self { config, cwnd, ssthresh, counted: 0 }
    }

    /// The congestion window in bytes.
    pub const fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// The slow start threshold in bytes; `u64::MAX` before the first loss unless configured.
    pub const fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// The segment size in bytes.
    pub const fn mss(&self) -> u64 {
        self.config.mss_bytes as u64
    }

    /// Follows a change of the segment size. The window stays.
    ///
    /// # Panics
    /// If the segment size is zero.
    pub fn set_mss(&mut self, mss_bytes: u32) {
        assert!(mss_bytes > 0, "a segment carries at least one byte");
        self.config.mss_bytes = mss_bytes;
    }

    /// Whether the window doubles each round trip.
    pub const fn is_in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// A SYN or its ACK was lost: the initial window is one segment.
    //= https://www.rfc-editor.org/rfc/rfc5681#section-3.1
    //# Further, if the SYN or SYN/ACK is lost, the initial window
    //# used by a sender after a correctly transmitted SYN MUST be one
    //# segment consisting of at most SMSS bytes.
    pub fn on_handshake_loss(&mut self) {
        self.cwnd = self.mss().min(self.config.max_cwnd_bytes);
    }

    /// `acked_bytes` of new data were acknowledged outside of any recovery. `was_full`: the sender had as much
    /// in flight as the window allowed.
    pub fn on_ack(&mut self, acked_bytes: u64, was_full: bool) {
        if !was_full && self.config.unused_window == UnusedWindow::Hold {
            return;
        }
        let mss = self.mss();
        if self.is_in_slow_start() {
            //= https://www.rfc-editor.org/rfc/rfc5681#section-3.1
            //# cwnd += min (N, SMSS)                      (2)
            self.grow(acked_bytes.min(mss));
            return;
        }
        match self.config.avoidance_increase {
            AvoidanceIncrease::ByteCounting => {
                //= https://www.rfc-editor.org/rfc/rfc5681#section-3.1
                //# When the number of bytes acknowledged reaches cwnd,
                //# then cwnd can be incremented by up to SMSS bytes.
                self.counted += acked_bytes;
                if self.counted >= self.cwnd {
                    // A jump over several windows is one increase: at most SMSS bytes a round trip.
                    self.counted = self.counted.saturating_sub(self.cwnd).min(self.cwnd);
                    self.grow(mss);
                }
            }
            //= https://www.rfc-editor.org/rfc/rfc5681#section-3.1
            //# cwnd += SMSS*SMSS/cwnd                     (3)
            AvoidanceIncrease::PerAck => self.grow((mss * mss / self.cwnd).max(1)),
        }
    }

    /// A loss was seen by duplicate ACKs or SACK: halves the window. `flight_bytes` leaves out what limited
    /// transmit sent. Without SACK, [`inflate`](Self::inflate) follows for each duplicate seen so far.
    //= https://www.rfc-editor.org/rfc/rfc6675#section-5
    //# (4.2) ssthresh = cwnd = (FlightSize / 2)
    pub fn on_loss(&mut self, flight_bytes: u64) {
        self.reduce_ssthresh(flight_bytes);
        self.cwnd = self.ssthresh;
        self.counted = 0;
    }

    /// The retransmission timer expired. `ssthresh` is reduced only for a segment's first timeout: a repeated
    /// one says nothing new.
    //= https://www.rfc-editor.org/rfc/rfc5681#section-3.1
    //# Furthermore, upon a timeout (as specified in [RFC2988]) cwnd MUST be
    //# set to no more than the loss window, LW, which equals 1 full-sized
    //# segment (regardless of the value of IW).
    pub fn on_timeout(&mut self, flight_bytes: u64, is_first: bool) {
        if is_first {
            self.reduce_ssthresh(flight_bytes);
        }
        self.cwnd = self.mss();
        self.counted = 0;
    }

    /// In a recovery without SACK, `duplicates` more segments have left the network (RFC 5681, section 3.2,
    /// steps 3 and 4).
    pub fn inflate(&mut self, duplicates: u64) {
        self.grow(duplicates * self.mss());
    }

    /// In a recovery without SACK, an ACK covered only part of what was outstanding at its start.
    //= https://www.rfc-editor.org/rfc/rfc6582#section-3.2
    //# Deflate the congestion window by the amount of new data
    //# acknowledged by the Cumulative Acknowledgment field.  If the
    //# partial ACK acknowledges at least one SMSS of new data, then add
    //# back SMSS bytes to the congestion window.
    pub fn on_partial_ack(&mut self, acked_bytes: u64) {
        let add_back = if acked_bytes >= self.mss() { self.mss() } else { 0 };
        self.cwnd = (self.cwnd.saturating_sub(acked_bytes) + add_back).max(self.mss());
    }

    /// A recovery without SACK is over: the inflation goes, and so does a burst.
    //= https://www.rfc-editor.org/rfc/rfc6582#section-3.2
    //# (1) min (ssthresh, max(FlightSize, SMSS) + SMSS)
    pub fn on_full_ack(&mut self, flight_bytes: u64) {
        self.cwnd = self.ssthresh.min(flight_bytes.max(self.mss()) + self.mss());
        self.counted = 0;
    }

    /// Nothing was sent for longer than a timeout: back to the restart window.
    //= https://www.rfc-editor.org/rfc/rfc5681#section-4.1
    //# RW = min(IW,cwnd)
    pub fn on_idle_restart(&mut self) {
        let initial = self.config.initial_window.bytes(self.config.mss_bytes).max(self.mss());
        self.cwnd = self.cwnd.min(initial);
    }

    //= https://www.rfc-editor.org/rfc/rfc5681#section-3.1
    //# ssthresh = max (FlightSize / 2, 2*SMSS)            (4)
    fn reduce_ssthresh(&mut self, flight_bytes: u64) {
        self.ssthresh = (flight_bytes / 2).max(2 * self.mss());
    }

    fn grow(&mut self, bytes: u64) {
        self.cwnd = (self.cwnd + bytes).min(self.config.max_cwnd_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: u64 = 1_000;

    fn controller(initial_segments: u32) -> NewReno {
        NewReno::new(NewRenoConfig {
            initial_window: InitialWindow::Segments(initial_segments),
            ..NewRenoConfig::new(1_000)
        })
    }

    #[test]
    fn initial_windows_are_those_of_their_rfcs() {
        let table = |mss| {
            use InitialWindow::{Rfc2581, Rfc3390, Rfc5681, Rfc6928};
            [Rfc2581, Rfc3390, Rfc5681, Rfc6928].map(|window| window.bytes(mss))
        };
        assert_eq!(table(536), [1_072, 2_144, 2_144, 5_360]);
        assert_eq!(table(1_460), [2_920, 4_380, 4_380, 14_600]);
        assert_eq!([1_095, 1_096, 2_190, 2_191].map(|mss| table(mss)[2]), [4_380, 3_288, 6_570, 4_382]);
        assert_eq!(table(2_000), [4_000, 4_380, 6_000, 14_600]);
        assert_eq!(table(9_000), [18_000, 18_000, 18_000, 18_000]);
        assert_eq!(InitialWindow::Segments(30).bytes(536), 16_080);
    }

    #[test]
    fn slow_start_adds_a_segment_for_each_ack() {
        let mut reno = controller(2);
        reno.on_ack(MSS, true);
        reno.on_ack(3 * MSS, true);
        reno.on_ack(1, true);
        assert_eq!(reno.cwnd(), 4_001);
    }

    #[test]
    fn another_segment_size_leaves_the_window_and_sets_the_next_step() {
        let mut reno = controller(2);
        reno.set_mss(500);
        assert_eq!((reno.mss(), reno.cwnd()), (500, 2 * MSS));
        reno.on_ack(MSS, true);
        assert_eq!(reno.cwnd(), 2 * MSS + 500);
    }

    #[test]
    fn avoidance_adds_a_segment_a_window_by_either_law() {
        for (law, after) in [(AvoidanceIncrease::ByteCounting, 11_000), (AvoidanceIncrease::PerAck, 10_956)] {
            let mut reno = NewReno::new(NewRenoConfig {
                initial_window: InitialWindow::Segments(10),
                initial_ssthresh_bytes: Some(5_000),
                avoidance_increase: law,
                ..NewRenoConfig::new(1_000)
            });
            for _ in 0..10 {
                reno.on_ack(MSS, true);
            }
            assert_eq!(reno.cwnd(), after, "{law:?}");
        }
    }

    #[test]
    fn slow_start_ends_at_the_threshold_itself() {
        let config = NewRenoConfig { initial_ssthresh_bytes: Some(3_000), ..NewRenoConfig::new(1_000) };
        let mut reno = NewReno::new(NewRenoConfig { initial_window: InitialWindow::Segments(2), ..config });
        assert!(reno.is_in_slow_start());
        reno.on_ack(MSS, true);
        assert_eq!((reno.cwnd(), reno.is_in_slow_start()), (3_000, false));
        reno.on_ack(MSS, true);
        assert_eq!(reno.cwnd(), 3_000);
    }

    #[test]
    fn what_is_acknowledged_beyond_a_window_counts_for_the_next_one_and_no_further() {
        let at_threshold = || {
            NewReno::new(NewRenoConfig {
                initial_window: InitialWindow::Segments(10),
                initial_ssthresh_bytes: Some(10_000),
                ..NewRenoConfig::new(1_000)
            })
        };
        // 4000 of 14000 are left over: 7000 more make the 11000 of the next window.
        let mut reno = at_threshold();
        reno.on_ack(14_000, true);
        reno.on_ack(6_999, true);
        assert_eq!(reno.cwnd(), 11_000);
        reno.on_ack(1, true);
        assert_eq!(reno.cwnd(), 12_000);
        // Of 35000, one window at most is left over.
        let mut reno = at_threshold();
        reno.on_ack(35_000, true);
        reno.on_ack(999, true);
        assert_eq!(reno.cwnd(), 11_000);
        reno.on_ack(1, true);
        reno.on_ack(10_999, true);
        assert_eq!(reno.cwnd(), 12_000);
    }

    #[test]
    fn a_delayed_ack_slows_the_per_ack_law_only() {
        for (law, after) in [(AvoidanceIncrease::ByteCounting, 11_000), (AvoidanceIncrease::PerAck, 10_490)] {
            let mut reno = NewReno::new(NewRenoConfig {
                initial_window: InitialWindow::Segments(10),
                initial_ssthresh_bytes: Some(5_000),
                avoidance_increase: law,
                ..NewRenoConfig::new(1_000)
            });
            for _ in 0..5 {
                reno.on_ack(2 * MSS, true);
            }
            assert_eq!(reno.cwnd(), after, "{law:?}");
        }
    }

    #[test]
    fn loss_halves_the_flight_but_leaves_two_segments() {
        let mut reno = controller(20);
        reno.on_loss(15 * MSS);
        assert_eq!((reno.cwnd(), reno.ssthresh()), (7_500, 7_500));
        reno.on_loss(3 * MSS);
        assert_eq!((reno.cwnd(), reno.ssthresh()), (2_000, 2_000));
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_a_second_one_keeps_the_threshold() {
        let mut reno = controller(20);
        reno.on_timeout(20 * MSS, true);
        assert_eq!((reno.cwnd(), reno.ssthresh()), (MSS, 10 * MSS));
        reno.on_timeout(MSS, false);
        assert_eq!((reno.cwnd(), reno.ssthresh()), (MSS, 10 * MSS));
    }

    #[test]
    fn recovery_without_sack_inflates_deflates_and_ends_without_a_burst() {
        let mut reno = controller(20);
        reno.on_loss(20 * MSS);
        reno.inflate(3);
        assert_eq!(reno.cwnd(), 13_000);
        reno.inflate(9);
        reno.on_partial_ack(5 * MSS);
        assert_eq!(reno.cwnd(), 18_000);
        reno.on_partial_ack(1);
        assert_eq!(reno.cwnd(), 17_999);
        reno.on_full_ack(4 * MSS);
        assert_eq!(reno.cwnd(), 5_000);
        reno.on_full_ack(40 * MSS);
        assert_eq!(reno.cwnd(), 10_000);
    }

    #[test]
    fn an_unused_window_grows_only_by_choice() {
        let mut reno = controller(2);
        reno.on_ack(MSS, false);
        assert_eq!(reno.cwnd(), 3_000);
        let config = NewRenoConfig { unused_window: UnusedWindow::Hold, ..NewRenoConfig::new(1_000) };
        let mut reno = NewReno::new(config);
        reno.on_ack(MSS, false);
        assert_eq!(reno.cwnd(), 10_000);
    }

    #[test]
    fn after_an_idle_time_the_window_is_the_initial_one_at_most() {
        let mut reno = controller(4);
        for _ in 0..10 {
            reno.on_ack(MSS, true);
        }
        reno.on_idle_restart();
        assert_eq!(reno.cwnd(), 4_000);
        reno.on_handshake_loss();
        reno.on_idle_restart();
        assert_eq!(reno.cwnd(), 1_000);
    }

    proptest! {
        #[test]
        fn the_window_stays_between_a_segment_and_its_limit(
            events in proptest::collection::vec((0_u8..7, 0_u64..100_000), 0..300),
        ) {
            let mut reno = controller(3);
            for (event, bytes) in events {
                match event {
                    0 => reno.on_loss(bytes),
                    1 => reno.on_timeout(bytes, bytes % 2 == 0),
                    2 => reno.inflate(1),
                    3 => reno.on_partial_ack(bytes),
                    4 => reno.on_full_ack(bytes),
                    5 => reno.on_idle_restart(),
                    _ => reno.on_ack(bytes, true),
                }
                prop_assert!((MSS..=1 << 30).contains(&reno.cwnd()));
                prop_assert!(reno.ssthresh() >= 2 * MSS);
            }
        }
    }
}
