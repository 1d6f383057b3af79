//! Losses by time: the RACK algorithm (RFC 8985), whose names are in brackets.
//!
//! Something is lost if what was sent after it has arrived, and a reordering window has passed. Nothing here knows what
//! is outstanding: a transport asks about the oldest transmission first ([`SentOrder`](crate::SentOrder)) and stops at
//! the first that is not lost.

use slantpath_base::{Duration, Instant};

/// Time for which a round trip counts for the least one.
//= https://www.rfc-editor.org/rfc/rfc8985#section-6.2
//# The sender SHOULD
//# track a windowed min-filtered estimate of recent RTT measurements
//# that can adapt when migrating to significantly longer paths rather
//# than tracking a simple global minimum of all RTT measurements.
const LEAST_ROUND_TRIP_WINDOW: Duration = Duration::from_secs(10);

/// For how many recoveries a grown reordering window is kept.
const KEPT_RECOVERIES: u32 = 16;

/// The last transmission of something. The later one is the greater: by time, then by where it ends.
//= https://www.rfc-editor.org/rfc/rfc8985#section-6.2
//# Else if t1 == t2 AND seq1 > seq2:
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transmission {
    /// Instant at which it was sent last (Segment.xmit_ts).
    pub sent_at: Instant,
    /// Point at which it ends (Segment.end_seq), in numbers that never wrap.
    pub end: u64,
}

/// State of the repair of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// None is; so many pieces have arrived out of order.
    None {
        /// RACK.segs_sacked.
        out_of_order: u32,
    },
    /// In fast recovery, or after a timeout.
    Running,
}

/// Knowledge of delivery times on one path.
#[derive(Clone, Debug)]
pub struct Rack {
    /// Of all that has arrived, what was sent last (RACK.segment).
    newest: Option<Transmission>,
    /// The round trip of what was sent last of all that the last acknowledgement told of (RACK.rtt).
    round_trip: Duration,
    least: LeastRoundTrip,
    /// The end of the farthest that has arrived (RACK.fack).
    farthest: u64,
    is_reordering_seen: bool,
    /// RACK.reo_wnd_mult.
    multiplier: u32,
    /// RACK.reo_wnd_persist.
    persists: u32,
    /// Until this is acknowledged, duplicates belong to a round that has counted (RACK.dsack_round).
    duplicate_round: Option<u64>,
    duplicate_threshold: u32,
    ack: Ack,
}

/// News that one acknowledgement has told so far.
#[derive(Clone, Copy, Debug, Default)]
struct Ack {
    newest: Option<Transmission>,
    /// Of what was sent once.
    newest_original: Option<Transmission>,
    farthest: u64,
}

impl Rack {
    /// Nothing has been sent. So many pieces out of order mean a loss while no reordering has been seen (DupThresh).
    pub const fn new(duplicate_threshold: u32) -> Self {
        Self {
            newest: None,
            round_trip: Duration::ZERO,
            least: LeastRoundTrip::NONE,
            farthest: 0,
            is_reordering_seen: false,
            multiplier: 1,
            persists: 0,
            duplicate_round: None,
            duplicate_threshold,
            ack: Ack { newest: None, newest_original: None, farthest: 0 },
        }
    }

    /// The acknowledgement at hand tells of something for the first time, which was sent `transmissions` times.
    pub fn on_delivered(&mut self, now: Instant, sent: Transmission, transmissions: u32) {
        let round_trip = now.saturating_since(sent.sent_at);
        if transmissions == 1 {
            self.least.on_round_trip(now, round_trip);
            self.ack.newest_original = self.ack.newest_original.max(Some(sent));
            // Within one acknowledgement nothing is out of order.
            if sent.end < self.farthest {
                self.is_reordering_seen = true;
            }
        }
        self.ack.farthest = self.ack.farthest.max(sent.end);
        //= https://www.rfc-editor.org/rfc/rfc8985#section-6.2
        //# The segment was last retransmitted less than RACK.min_rtt ago.
        if transmissions > 1 && self.least.shortest().is_some_and(|least| round_trip < least) {
            return;
        }
        self.ack.newest = self.ack.newest.max(Some(sent));
    }

    /// The acknowledgement has been read. `is_spurious`: it shows that what was retransmitted had arrived before, so
    /// that the times of repetitions mean nothing.
    pub fn end_of_ack(&mut self, now: Instant, is_spurious: bool) {
        let Ack { newest, newest_original, farthest } = core::mem::take(&mut self.ack);
        self.farthest = self.farthest.max(farthest);
        if let Some(newest) = if is_spurious { newest_original } else { newest } {
            self.round_trip = now.saturating_since(newest.sent_at);
            self.newest = self.newest.max(Some(newest));
        }
    }

    /// The peer reports that something came twice, while everything before `acknowledged` is acknowledged and
    /// everything before `next` was sent.
    //= https://www.rfc-editor.org/rfc/rfc8985#section-6.2
    //# RACK.reo_wnd increases linearly for every round trip in which the sender receives
    //# some DSACK option
    pub fn on_duplicate_reported(&mut self, acknowledged: u64, next: u64) {
        if self.duplicate_round.is_some_and(|round| acknowledged < round) {
            return;
        }
        self.duplicate_round = Some(next);
        self.multiplier = self.multiplier.saturating_add(1);
        self.persists = KEPT_RECOVERIES;
    }

    /// Something that was retransmitted has arrived by its first transmission: from now on what is out of order is
    /// waited for.
    pub const fn on_reordering_seen(&mut self) {
        self.is_reordering_seen = true;
    }

    /// A recovery, fast or after a timeout, has ended.
    pub const fn on_recovery_ended(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.multiplier = 1;
        }
    }

    /// Time for which data that is out of order may be on its way (RACK.reo_wnd).
    pub fn reordering_window(&self, smoothed_round_trip: Option<Duration>, repair: Repair) -> Duration {
        let is_settled = match repair {
            Repair::Running => true,
            Repair::None { out_of_order } => out_of_order >= self.duplicate_threshold,
        };
        if !self.is_reordering_seen && is_settled {
            return Duration::ZERO;
        }
        let least = self.least.shortest().unwrap_or(Duration::ZERO);
        let window = Duration::from_nanos(least.as_nanos() / 4).saturating_mul(self.multiplier.into());
        window.min(smoothed_round_trip.unwrap_or(window))
    }

    /// Instant at which something outstanding counts as lost unless it is acknowledged before; `None` while nothing
    /// that was sent after it has arrived.
    //= https://www.rfc-editor.org/rfc/rfc8985#section-6.2
    //# now >= Segment.xmit_ts + RACK.reo_wnd + RACK.rtt
    pub fn lost_at(&self, sent: Transmission, reordering_window: Duration) -> Option<Instant> {
        let is_overtaken = self.newest.is_some_and(|newest| newest > sent);
        is_overtaken.then(|| sent.sent_at.saturating_add(self.round_trip).saturating_add(reordering_window))
    }

    /// Tells if something was sent so long ago that a timeout may take it for lost (RFC 8985, section 6.3).
    pub fn is_overdue(&self, now: Instant, sent_at: Instant, reordering_window: Duration) -> bool {
        sent_at.saturating_add(self.round_trip).saturating_add(reordering_window) <= now
    }
}

/// The least round trip of the last ten to twenty seconds (RACK.min_RTT).
#[derive(Clone, Copy, Debug)]
struct LeastRoundTrip {
    /// Of the span that began at `since`, and of the one before.
    spans: [Option<Duration>; 2],
    since: Instant,
}

impl LeastRoundTrip {
    const NONE: Self = Self { spans: [None, None], since: Instant::START };

    fn on_round_trip(&mut self, now: Instant, round_trip: Duration) {
        if now.saturating_since(self.since) >= LEAST_ROUND_TRIP_WINDOW {
            self.spans = [None, self.spans[0]];
            self.since = now;
        }
        self.spans[0] = Some(self.spans[0].map_or(round_trip, |least| least.min(round_trip)));
    }

    fn shortest(&self) -> Option<Duration> {
        self.spans.into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Repair = Repair::None { out_of_order: 0 };

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn sent(millis: u64, end: u64) -> Transmission {
        Transmission { sent_at: at(millis), end }
    }

    /// Takes in at `now` the arrival of segments that were sent at these times, ending at these points and so many
    /// times.
    fn ack(rack: &mut Rack, now: u64, delivered: &[(u64, u64, u32)]) {
        for &(millis, end, transmissions) in delivered {
            rack.on_delivered(at(now), sent(millis, end), transmissions);
        }
        rack.end_of_ack(at(now), false);
    }

    /// RFC 8985, section 3.4: P1 to P3, of which P1 and P3 are lost; the probe P3' comes through after P2.
    #[test]
    fn what_was_sent_before_something_that_has_arrived_is_lost_a_quarter_of_a_round_trip_later() {
        let mut rack = Rack::new(3);
        ack(&mut rack, 100, &[(0, 1, 1)]);
        ack(&mut rack, 200, &[(101, 3, 1)]);
        let window = rack.reordering_window(Some(ms(100)), OPEN);
        assert_eq!(window, Duration::from_micros(24_750));
        assert_eq!(rack.lost_at(sent(100, 2), window), Some(at(199) + window));
        assert_eq!(rack.lost_at(sent(102, 4), window), None);
        // Of the same instant, what ends before.
        assert_eq!(rack.lost_at(sent(101, 2), window), Some(at(200) + window));
        assert_eq!([3, 4].map(|end| rack.lost_at(sent(101, end), window)), [None; 2]);
    }

    #[test]
    fn nothing_is_waited_for_in_a_recovery_or_after_three_out_of_order_until_reordering_is_seen() {
        let mut rack = Rack::new(3);
        ack(&mut rack, 100, &[(0, 1, 1), (0, 3, 1)]);
        let windows = |rack: &Rack| {
            [OPEN, Repair::None { out_of_order: 2 }, Repair::None { out_of_order: 3 }, Repair::Running]
                .map(|repair| rack.reordering_window(None, repair).as_millis())
        };
        assert_eq!(windows(&rack), [25, 25, 0, 0]);
        // Retransmitted, it may have been held up: that is no reordering.
        ack(&mut rack, 110, &[(0, 2, 2)]);
        assert_eq!(windows(&rack), [25, 25, 0, 0]);
        ack(&mut rack, 120, &[(20, 2, 1)]);
        assert_eq!(windows(&rack), [25; 4]);
    }

    #[test]
    fn what_is_told_to_have_been_out_of_order_is_waited_for() {
        let mut rack = Rack::new(3);
        ack(&mut rack, 100, &[(0, 1, 1)]);
        assert_eq!(rack.reordering_window(None, Repair::Running), Duration::ZERO);
        rack.on_reordering_seen();
        assert_eq!(rack.reordering_window(None, Repair::Running), ms(25));
    }

    #[test]
    fn what_one_acknowledgement_tells_in_any_order_is_no_reordering() {
        let mut rack = Rack::new(3);
        ack(&mut rack, 100, &[(0, 9, 1), (0, 4, 1)]);
        assert_eq!(rack.reordering_window(None, Repair::Running), Duration::ZERO);
        ack(&mut rack, 101, &[(0, 9, 1)]);
        assert_eq!(rack.reordering_window(None, Repair::Running), Duration::ZERO);
        ack(&mut rack, 101, &[(0, 5, 1)]);
        assert_eq!(rack.reordering_window(None, Repair::Running), ms(25));
    }

    #[test]
    fn the_round_trip_is_that_of_what_was_sent_last_of_one_acknowledgement() {
        let mut rack = Rack::new(3);
        ack(&mut rack, 100, &[(20, 2, 1), (0, 1, 1)]);
        assert_eq!(rack.lost_at(sent(10, 9), ms(0)), Some(at(90)));
        // Something older arrives: the newest stays, the round trip is its own.
        ack(&mut rack, 110, &[(10, 3, 1)]);
        assert_eq!(rack.lost_at(sent(15, 9), ms(0)), Some(at(115)));
    }

    #[test]
    fn a_repetition_that_comes_back_too_soon_tells_nothing() {
        let mut rack = Rack::new(3);
        ack(&mut rack, 100, &[(0, 1, 1)]);
        ack(&mut rack, 250, &[(151, 2, 2)]);
        assert_eq!(rack.lost_at(sent(1, 1), ms(0)), None);
        ack(&mut rack, 251, &[(151, 2, 2)]);
        assert_eq!(rack.lost_at(sent(1, 1), ms(0)), Some(at(101)));
    }

    #[test]
    fn repetitions_that_were_in_vain_tell_no_times() {
        let mut rack = Rack::new(3);
        ack(&mut rack, 100, &[(0, 1, 1)]);
        rack.on_delivered(at(300), sent(150, 2), 2);
        rack.on_delivered(at(300), sent(120, 3), 1);
        rack.end_of_ack(at(300), true);
        assert_eq!(rack.lost_at(sent(130, 4), ms(0)), None);
        assert_eq!(rack.lost_at(sent(110, 4), ms(0)), Some(at(290)));
    }

    #[test]
    fn the_window_grows_by_each_round_with_duplicates_up_to_a_round_trip_and_is_kept_for_sixteen_recoveries()
    {
        let mut rack = Rack::new(3);
        ack(&mut rack, 100, &[(0, 1, 1)]);
        let window = |rack: &Rack| rack.reordering_window(Some(ms(90)), OPEN).as_millis();
        assert_eq!(window(&rack), 25);
        rack.on_duplicate_reported(1, 10);
        rack.on_duplicate_reported(9, 12);
        assert_eq!(window(&rack), 50);
        rack.on_duplicate_reported(10, 20);
        assert_eq!(window(&rack), 75);
        rack.on_duplicate_reported(20, 30);
        assert_eq!(window(&rack), 90);
        for _ in 0..15 {
            rack.on_recovery_ended();
        }
        assert_eq!(window(&rack), 90);
        rack.on_recovery_ended();
        assert_eq!(window(&rack), 25);
    }

    #[test]
    fn the_least_round_trip_is_forgotten_when_the_path_has_become_longer() {
        let mut rack = Rack::new(3);
        let window = |rack: &Rack| rack.reordering_window(None, OPEN).as_millis();
        ack(&mut rack, 40, &[(0, 1, 1)]);
        ack(&mut rack, 10_000, &[(9_880, 2, 1)]);
        assert_eq!(window(&rack), 10);
        ack(&mut rack, 19_999, &[(19_879, 3, 1)]);
        assert_eq!(window(&rack), 10);
        ack(&mut rack, 20_000, &[(19_880, 4, 1)]);
        assert_eq!(window(&rack), 30);
    }

    #[test]
    fn a_timeout_takes_for_lost_what_is_older_than_a_round_trip_and_the_window() {
        let mut rack = Rack::new(3);
        ack(&mut rack, 100, &[(0, 1, 1)]);
        assert_eq!([999, 1_000].map(|now| rack.is_overdue(at(now), at(890), ms(10))), [false, true]);
    }
}
