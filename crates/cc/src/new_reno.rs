//! The window arithmetic of TCP's standard congestion control: RFC 5681, with the recoveries of RFC 6582 (no
//! SACK) and RFC 6675 (SACK).
//!
//! Which segment is lost, and where a recovery ends, is the transport's to know; what it does to the window while
//! one lasts without SACK is [`InflatedWindow`](crate::InflatedWindow).

use crate::control::{Acknowledged, Congestion, CongestionControl, LossEvent, Sent, TimedOut};
use crate::slow_start::{Arrival, ByteCounting, Departure, Opening, SlowStart, Verdict};

/// Limit of the data that may be sent before the first acknowledgement.
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

/// Rule by which congestion avoidance adds one segment a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AvoidanceIncrease {
    /// One segment whenever a whole window has been acknowledged: what RFC 5681, section 3.1, recommends, and
    /// what a receiver that delays ACKs does not slow down.
    ByteCounting,
    /// `SMSS * SMSS / cwnd` for each ACK of new data (RFC 5681, equation 3), as classic Reno and ns-2 do.
    PerAck,
}

/// Treatment of a window that the sender did not fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnusedWindow {
    /// Window that grows all the same: RFC 5681 by its letter.
    Grow,
    /// Window that stays, since nothing has shown that the network can carry more (the idea of RFC 2861, section 3.1).
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
    /// Rule by which the first slow start ends.
    pub slow_start: SlowStart,
    /// By how many segments one ACK may open the window in slow start (L of RFC 3465); after a timeout it is one.
    pub byte_counting_limit: u32,
    /// The law of congestion avoidance.
    pub avoidance_increase: AvoidanceIncrease,
    /// Treatment of a window that was not used.
    pub unused_window: UnusedWindow,
    /// The sender's own limit on what is in flight; a window that reaches it is used as far as it can be.
    pub window_limit_bytes: u64,
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
            slow_start: SlowStart::Standard,
            byte_counting_limit: 1,
            avoidance_increase: AvoidanceIncrease::ByteCounting,
            unused_window: UnusedWindow::Grow,
            window_limit_bytes: u64::MAX,
            max_cwnd_bytes: 1 << 30,
        }
    }
}

/// cwnd and ssthresh of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
// In this order in memory: what is asked for with each packet in front.
#[repr(C)]
pub struct NewReno {
    cwnd: u64,
    ssthresh: u64,
    /// Bytes acknowledged in congestion avoidance since the last increase.
    counted: u64,
    opening: Opening,
    byte_counting: ByteCounting,
    config: NewRenoConfig,
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
        Self {
            config,
            cwnd,
            ssthresh,
            opening: Opening::new(config.slow_start, Departure::Clocked),
            byte_counting: ByteCounting::Configured,
            counted: 0,
        }
    }

    /// Tells if the window doubles each round trip.
    pub const fn is_in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Has the last loss leave this threshold in place of half of what was in flight, and this window.
    pub(crate) const fn resume_at(&mut self, ssthresh: u64, cwnd: u64) {
        (self.ssthresh, self.cwnd) = (ssthresh, cwnd);
    }

    const fn mss(&self) -> u64 {
        self.config.mss_bytes as u64
    }

    /// `acked_bytes` of new data were acknowledged in congestion avoidance.
    fn avoid(&mut self, acked_bytes: u64) {
        let mss = self.mss();
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

    /// Takes in an acknowledgement of a slow start: apart, since most are of none.
    #[inline(never)]
    fn open(&mut self, bytes: u64, may_grow: bool, arrival: Arrival) {
        if may_grow {
            //= https://www.rfc-editor.org/rfc/rfc5681#section-3.1
            //# cwnd += min (N, SMSS)                      (2)
            let mss = self.mss();
            let limit = self.byte_counting.limit(self.config.byte_counting_limit.into(), mss);
            self.grow(self.opening.growth(bytes, mss, limit));
        }
        if self.opening.observe(arrival, self.cwnd, self.mss()) == Verdict::Over {
            self.ssthresh = self.cwnd;
        }
    }

    //= https://www.rfc-editor.org/rfc/rfc5681#section-3.1
    //# ssthresh = max (FlightSize / 2, 2*SMSS)            (4)
    fn reduce_ssthresh(&mut self, flight_bytes: u64) {
        self.opening.end();
        self.ssthresh = (flight_bytes / 2).max(2 * self.mss());
    }

    fn grow(&mut self, bytes: u64) {
        self.cwnd = (self.cwnd + bytes).min(self.config.max_cwnd_bytes);
    }
}

impl CongestionControl for NewReno {
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn on_sent(&mut self, _: Sent) {}

    #[inline]
    fn on_acknowledged(&mut self, acknowledged: &Acknowledged) {
        if acknowledged.is_recovering || acknowledged.bytes == 0 {
            return;
        }
        let may_grow = match self.config.unused_window {
            UnusedWindow::Grow => true,
            UnusedWindow::Hold => {
                let limit = self.cwnd.min(self.config.window_limit_bytes);
                acknowledged.in_flight_before + self.mss() > limit
            }
        };
        if !self.is_in_slow_start() {
            self.byte_counting = ByteCounting::Configured;
            if may_grow {
                self.avoid(acknowledged.bytes);
            }
            return;
        }
        self.open(acknowledged.bytes, may_grow, Arrival::of(acknowledged));
    }

    //= https://www.rfc-editor.org/rfc/rfc6675#section-5
    //# (4.2) ssthresh = cwnd = (FlightSize / 2)
    fn on_lost(&mut self, congestion: Congestion) {
        self.reduce_ssthresh(congestion.in_flight);
        self.cwnd = self.ssthresh;
        self.counted = 0;
    }

    //= https://www.rfc-editor.org/rfc/rfc5681#section-3.1
    //# Furthermore, upon a timeout (as specified in [RFC2988]) cwnd MUST be
    //# set to no more than the loss window, LW, which equals 1 full-sized
    //# segment (regardless of the value of IW).
    fn on_timed_out(&mut self, timed_out: TimedOut) {
        // A repeated timeout of one segment says nothing new.
        if timed_out.loss == LossEvent::New {
            self.reduce_ssthresh(timed_out.in_flight);
        }
        self.byte_counting = ByteCounting::AfterTimeout;
        self.cwnd = self.mss();
        self.counted = 0;
    }

    //= https://www.rfc-editor.org/rfc/rfc3168#section-6.1.2
    //# That is, the TCP source
    //# halves the congestion window "cwnd" and reduces the slow start
    //# threshold "ssthresh".
    fn on_marked(&mut self, congestion: Congestion) {
        self.on_lost(congestion);
    }

    //= https://www.rfc-editor.org/rfc/rfc5681#section-4.1
    //# RW = min(IW,cwnd)
    fn on_idle(&mut self, _: u64) {
        let initial = self.config.initial_window.bytes(self.config.mss_bytes).max(self.mss());
        self.cwnd = self.cwnd.min(initial);
    }

    fn limit_cwnd(&mut self, at_most: u64) {
        self.cwnd = self.cwnd.min(at_most);
    }

    fn set_segment_bytes(&mut self, segment_bytes: u64) {
        self.config.mss_bytes = u32::try_from(segment_bytes).expect("a segment is shorter than 4 GiB");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InflatedWindow;
    use proptest::prelude::*;

    use slantpath_base::Instant;

    const MSS: u64 = 1_000;

    fn acknowledged(bytes: u64, in_flight_before: u64) -> Acknowledged {
        Acknowledged::of(Instant::START, bytes, in_flight_before)
    }

    fn timed_out(in_flight: u64, loss: LossEvent) -> TimedOut {
        TimedOut { in_flight, loss }
    }

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
        reno.on_acknowledged(&acknowledged(MSS, 1 << 30));
        reno.on_acknowledged(&acknowledged(3 * MSS, 1 << 30));
        reno.on_acknowledged(&acknowledged(1, 1 << 30));
        assert_eq!(reno.cwnd(), 4_001);
    }

    #[test]
    fn slow_start_adds_what_is_acknowledged_up_to_the_byte_counting_limit_and_one_segment_after_a_timeout() {
        let mut reno = NewReno::new(NewRenoConfig {
            byte_counting_limit: 2,
            initial_window: InitialWindow::Segments(2),
            ..NewRenoConfig::new(1_000)
        });
        for (bytes, cwnd) in [(3 * MSS, 4_000), (1_500, 5_500), (MSS, 6_500)] {
            reno.on_acknowledged(&acknowledged(bytes, 1 << 30));
            assert_eq!(reno.cwnd(), cwnd);
        }
        let timed_out = |reno: &mut NewReno| {
            reno.on_timed_out(TimedOut { in_flight: 4 * MSS, loss: LossEvent::New });
            reno.on_acknowledged(&acknowledged(2 * MSS, 1 << 30));
            reno.cwnd()
        };
        assert_eq!(timed_out(&mut reno), 2_000);
        // Twice in a row, and in the slow start after congestion avoidance again.
        assert_eq!(timed_out(&mut reno), 2_000);
        reno.on_acknowledged(&acknowledged(1, 1 << 30));
        reno.limit_cwnd(MSS);
        reno.on_acknowledged(&acknowledged(2 * MSS, 1 << 30));
        assert_eq!(reno.cwnd(), 3_000);
    }

    #[test]
    fn another_segment_size_leaves_the_window_and_sets_the_next_step() {
        let mut reno = controller(2);
        reno.set_segment_bytes(500);
        assert_eq!((reno.mss(), reno.cwnd()), (500, 2 * MSS));
        reno.on_acknowledged(&acknowledged(MSS, 1 << 30));
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
                reno.on_acknowledged(&acknowledged(MSS, 1 << 30));
            }
            assert_eq!(reno.cwnd(), after, "{law:?}");
        }
    }

    #[test]
    fn slow_start_ends_at_the_threshold_itself() {
        let config = NewRenoConfig { initial_ssthresh_bytes: Some(3_000), ..NewRenoConfig::new(1_000) };
        let mut reno = NewReno::new(NewRenoConfig { initial_window: InitialWindow::Segments(2), ..config });
        assert!(reno.is_in_slow_start());
        reno.on_acknowledged(&acknowledged(MSS, 1 << 30));
        assert_eq!((reno.cwnd(), reno.is_in_slow_start()), (3_000, false));
        reno.on_acknowledged(&acknowledged(MSS, 1 << 30));
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
        reno.on_acknowledged(&acknowledged(14_000, 1 << 30));
        reno.on_acknowledged(&acknowledged(6_999, 1 << 30));
        assert_eq!(reno.cwnd(), 11_000);
        reno.on_acknowledged(&acknowledged(1, 1 << 30));
        assert_eq!(reno.cwnd(), 12_000);
        // Of 35000, one window at most is left over.
        let mut reno = at_threshold();
        reno.on_acknowledged(&acknowledged(35_000, 1 << 30));
        reno.on_acknowledged(&acknowledged(999, 1 << 30));
        assert_eq!(reno.cwnd(), 11_000);
        reno.on_acknowledged(&acknowledged(1, 1 << 30));
        reno.on_acknowledged(&acknowledged(10_999, 1 << 30));
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
                reno.on_acknowledged(&acknowledged(2 * MSS, 1 << 30));
            }
            assert_eq!(reno.cwnd(), after, "{law:?}");
        }
    }

    #[test]
    fn loss_halves_the_flight_but_leaves_two_segments() {
        let mut reno = controller(20);
        reno.on_lost(Congestion { in_flight: 15 * MSS });
        assert_eq!((reno.cwnd(), reno.ssthresh()), (7_500, 7_500));
        reno.on_lost(Congestion { in_flight: 3 * MSS });
        assert_eq!((reno.cwnd(), reno.ssthresh()), (2_000, 2_000));
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_a_second_one_keeps_the_threshold() {
        let mut reno = controller(20);
        reno.on_timed_out(timed_out(20 * MSS, LossEvent::New));
        assert_eq!((reno.cwnd(), reno.ssthresh()), (MSS, 10 * MSS));
        reno.on_timed_out(timed_out(MSS, LossEvent::Known));
        assert_eq!((reno.cwnd(), reno.ssthresh()), (MSS, 10 * MSS));
    }

    #[test]
    fn a_mark_halves_the_window_like_a_loss_and_a_limit_only_closes_it() {
        let mut reno = controller(20);
        reno.on_marked(Congestion { in_flight: 15 * MSS });
        assert_eq!((reno.cwnd(), reno.ssthresh()), (7_500, 7_500));
        reno.limit_cwnd(5 * MSS);
        reno.limit_cwnd(6 * MSS);
        assert_eq!((reno.cwnd(), reno.ssthresh()), (5_000, 7_500));
    }

    #[test]
    fn neither_a_recovery_nor_an_acknowledgement_of_nothing_opens_the_window() {
        let per_ack = NewRenoConfig {
            initial_ssthresh_bytes: Some(1_000),
            avoidance_increase: AvoidanceIncrease::PerAck,
            ..NewRenoConfig::new(1_000)
        };
        let mut reno = NewReno::new(per_ack);
        reno.on_acknowledged(&acknowledged(0, 10_000));
        reno.on_acknowledged(&Acknowledged { is_recovering: true, ..acknowledged(1_000, 10_000) });
        assert_eq!(reno.cwnd(), 10_000);
        reno.on_acknowledged(&acknowledged(1, 10_000));
        assert_eq!(reno.cwnd(), 10_100);
    }

    #[test]
    fn a_window_is_full_once_no_segment_fits_into_it_or_into_the_sender_s_own_limit() {
        let held = NewRenoConfig { unused_window: UnusedWindow::Hold, ..NewRenoConfig::new(1_000) };
        for (window_limit_bytes, least) in [(u64::MAX, 9_001), (5_000, 4_001)] {
            let mut reno = NewReno::new(NewRenoConfig { window_limit_bytes, ..held });
            reno.on_acknowledged(&acknowledged(1_000, least - 1));
            assert_eq!(reno.cwnd(), 10_000);
            reno.on_acknowledged(&acknowledged(1_000, least));
            assert_eq!(reno.cwnd(), 11_000);
        }
    }

    #[test]
    fn an_unused_window_grows_only_by_choice() {
        let mut reno = controller(2);
        reno.on_acknowledged(&acknowledged(MSS, 0));
        assert_eq!(reno.cwnd(), 3_000);
        let config = NewRenoConfig { unused_window: UnusedWindow::Hold, ..NewRenoConfig::new(1_000) };
        let mut reno = NewReno::new(config);
        reno.on_acknowledged(&acknowledged(MSS, 0));
        assert_eq!(reno.cwnd(), 10_000);
    }

    #[test]
    fn after_an_idle_time_the_window_is_the_initial_one_at_most() {
        let mut reno = controller(4);
        for _ in 0..10 {
            reno.on_acknowledged(&acknowledged(MSS, 1 << 30));
        }
        reno.on_idle(1);
        assert_eq!(reno.cwnd(), 4_000);
        reno.limit_cwnd(MSS);
        reno.on_idle(1);
        assert_eq!(reno.cwnd(), 1_000);
    }

    #[test]
    fn longer_round_trips_end_the_first_slow_start_alone() {
        let config = NewRenoConfig { slow_start: SlowStart::HyStartPlusPlus, ..NewRenoConfig::new(1_000) };
        let round = |reno: &mut NewReno, round_trip_ms| {
            for ack in 0..8 {
                let round_trip = Some(slantpath_base::Duration::from_millis(round_trip_ms));
                let starts_round = ack == 0;
                reno.on_acknowledged(&Acknowledged {
                    round_trip,
                    starts_round,
                    ..acknowledged(MSS, 1 << 30)
                });
            }
        };
        let mut reno = NewReno::new(config);
        round(&mut reno, 100);
        round(&mut reno, 120);
        assert_eq!((reno.cwnd(), reno.ssthresh()), (26_000, u64::MAX));
        // Conservative slow start: a quarter of a segment for each of 32; then congestion avoidance.
        for _ in 0..4 {
            round(&mut reno, 120);
        }
        assert_eq!((reno.cwnd(), reno.ssthresh()), (34_000, u64::MAX));
        round(&mut reno, 120);
        assert_eq!((reno.cwnd(), reno.ssthresh()), (34_250, 34_250));
        let mut reno = NewReno::new(config);
        round(&mut reno, 100);
        reno.on_timed_out(timed_out(100 * MSS, LossEvent::New));
        for round_trip in [120, 150, 200, 250, 300] {
            round(&mut reno, round_trip);
        }
        assert_eq!((reno.cwnd(), reno.ssthresh()), (41_000, 50_000));
    }

    proptest! {
        #[test]
        fn the_window_stays_between_a_segment_and_its_limit(
            events in proptest::collection::vec((0_u8..7, 0_u64..100_000), 0..300),
        ) {
            let mut reno = controller(3);
            for (event, bytes) in events {
                match event {
                    0 => reno.on_lost(Congestion { in_flight: bytes }),
                    1 => reno.on_timed_out(timed_out(bytes, LossEvent::New)),
                    2 => reno.on_timed_out(timed_out(bytes, LossEvent::Known)),
                    3 => reno.limit_cwnd(InflatedWindow::limit_at_end(bytes, MSS)),
                    4 => reno.on_marked(Congestion { in_flight: bytes }),
                    5 => reno.on_idle(bytes + 1),
                    _ => reno.on_acknowledged(&acknowledged(bytes, 1 << 30)),
                }
                prop_assert!((MSS..=1 << 30).contains(&reno.cwnd()));
                prop_assert!(reno.ssthresh() >= 2 * MSS);
            }
        }
    }
}
