//! Spaces what a window lets out by the rate that a controller asks for.

use slantpath_base::{Duration, Instant};

use crate::control::{CongestionControl, Sent, Spacing};

/// By how much a host's clock may be late: what could have left since goes at once, and no more.
const MOST_LATE: Duration = Duration::from_millis(4);

/// What leaves is counted against the rate: a quantum at once, then nothing until as much time has passed as it takes
/// at that rate. So a timer is needed for each quantum, not for each packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pacer {
    /// When all that has left would have, at the rate.
    even_at: Instant,
    /// When the timer that waited for that expired last.
    released_at: Instant,
    is_holding: bool,
}

impl Pacer {
    /// When the next may leave, if not now.
    pub fn held_until(&self, now: Instant) -> Option<Instant> {
        (self.is_holding && now < self.even_at).then_some(self.even_at)
    }

    /// The timer that waited for what is held has expired. A simulation's is never late. That of a host has the ticks
    /// of its clock, and whoever waits for it other things to do: the rate is kept all the same, as what leaves now
    /// catches up on the time that has passed since.
    pub const fn release(&mut self, now: Instant) {
        self.released_at = now;
    }

    /// Tells a controller what was sent, and notes at which rate it may go on.
    #[inline]
    pub fn follow(&mut self, control: &mut impl CongestionControl, sent: Sent) {
        control.on_sent(sent);
        if let Some(spacing) = control.spacing(sent.bytes) {
            self.on_sent(sent.now, spacing);
        }
    }

    /// Something has left that is spaced so.
    #[inline]
    fn on_sent(&mut self, now: Instant, Spacing { gap, lead }: Spacing) {
        let behind = now.saturating_since(self.even_at);
        let missed = if now == self.released_at { behind.min(MOST_LATE) } else { Duration::ZERO };
        self.even_at = self.even_at.saturating_add(behind - missed).saturating_add(gap);
        self.is_holding = self.even_at.saturating_since(now) >= lead;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slantpath_base::{DataRate, Duration};

    use crate::control::Acknowledged;
    use crate::{Hybla, HyblaConfig, SlowStart};

    const RATE: DataRate = DataRate::from_bits_per_sec(8_000_000);

    /// When packets of 1,000 bytes leave, in milliseconds: as early as they may.
    fn departures(quantum: u64, count: usize) -> Vec<u64> {
        let mut pacer = Pacer::default();
        let mut now = Instant::from_millis(10);
        let mut at = Vec::new();
        for _ in 0..count {
            now = pacer.held_until(now).unwrap_or(now);
            pacer.on_sent(now, Spacing::at(RATE, 1_000, quantum));
            at.push(now.since_start().as_millis());
        }
        at
    }

    #[test]
    fn a_quantum_leaves_at_once_and_the_rate_is_kept() {
        assert_eq!(departures(0, 4), [10, 11, 12, 13]);
        assert_eq!(departures(1_000, 4), [10, 11, 12, 13]);
        assert_eq!(departures(3_000, 7), [10, 10, 10, 13, 13, 13, 16]);
        // A packet more than what fits begins the wait, which is as much longer.
        assert_eq!(departures(2_500, 7), [10, 10, 10, 13, 13, 13, 16]);
        assert_eq!(departures(u64::MAX, 5), [10; 5]);
    }

    #[test]
    fn time_in_which_nothing_was_sent_is_no_credit() {
        let mut pacer = Pacer::default();
        pacer.on_sent(Instant::from_millis(0), Spacing::at(RATE, 1_000, 1_000));
        let later = Instant::from_millis(500);
        assert_eq!(pacer.held_until(later), None);
        pacer.on_sent(later, Spacing::at(RATE, 1_000, 1_000));
        assert_eq!(pacer.held_until(later), Some(Instant::from_millis(501)));
    }

    /// How many packets of 1,000 bytes leave in a second at 1,000 of them a second, if each timer is so much late.
    fn in_a_second(late: Duration) -> u32 {
        let (mut pacer, mut now, mut count) = (Pacer::default(), Instant::START, 0);
        while now < Instant::from_secs(1) {
            while pacer.held_until(now).is_none() {
                pacer.on_sent(now, Spacing::at(RATE, 1_000, 1_000));
                count += 1;
            }
            now = pacer.held_until(now).expect("something is held") + late;
            pacer.release(now);
        }
        count
    }

    #[test]
    fn timers_that_are_late_do_not_slow_the_rate_down_unless_by_more_than_four_milliseconds() {
        // The last timer comes after the second is over, and what it lets go is counted, too.
        let counts = [0, 700, 3_300].map(|micros| in_a_second(Duration::from_micros(micros)));
        assert_eq!(counts, [1_000, 1_001, 1_001]);
        // Behind the first packet, every ten milliseconds: four are caught up on, and one is waited for again.
        assert_eq!(in_a_second(Duration::from_millis(9)), 1 + 99 * 5);
    }

    #[test]
    fn only_what_leaves_as_the_timer_expires_catches_up() {
        let mut pacer = Pacer::default();
        pacer.on_sent(Instant::START, Spacing::at(RATE, 1_000, 1_000));
        pacer.release(Instant::from_millis(3));
        // Nothing was there to be sent then.
        let later = Instant::from_millis(5);
        pacer.on_sent(later, Spacing::at(RATE, 1_000, 1_000));
        assert_eq!(pacer.held_until(later), Some(Instant::from_millis(6)));
    }

    #[test]
    fn at_no_rate_nothing_more_leaves() {
        let mut pacer = Pacer::default();
        pacer.on_sent(Instant::START, Spacing::at(DataRate::from_bits_per_sec(0), 1, 0));
        assert_eq!(pacer.held_until(Instant::from_secs(1)), Some(Instant::FAR_FUTURE));
    }

    proptest! {
        #[test]
        fn what_leaves_waits_once_a_quantum_is_ahead_of_the_rate(
            rate in 1_000_u64..100_000_000_000,
            bytes in 1_u64..10_000,
            quantum in 1_u64..200_000,
            packets in 1_u64..100,
        ) {
            let rate = DataRate::from_bits_per_sec(rate);
            let (mut pacer, now) = (Pacer::default(), Instant::from_millis(7));
            for _ in 0..packets {
                pacer.on_sent(now, Spacing::at(rate, bytes, quantum));
                let ahead = rate.size_in(pacer.even_at.saturating_since(now)).as_bytes();
                prop_assert_eq!(pacer.held_until(now).is_some(), ahead >= quantum);
            }
        }
    }

    #[test]
    fn what_a_controller_is_told_of_is_spaced_by_it() {
        let hybla = HyblaConfig {
            segment_bytes: 1_000,
            initial_cwnd_bytes: 10_000,
            initial_ssthresh_bytes: None,
            max_cwnd_bytes: 1 << 20,
            slow_start: SlowStart::Standard,
        };
        let (mut control, mut pacer) = (Hybla::new(hybla), Pacer::default());
        let now = Instant::from_secs(1);
        let sent = Sent { now, bytes: 1_000, in_flight_before: 0 };
        pacer.follow(&mut control, sent);
        assert_eq!(pacer.held_until(now), None, "no round trip is known, and so no rate");
        let round_trip = Some(Duration::from_millis(100));
        control.on_acknowledged(&Acknowledged { round_trip, ..Acknowledged::of(now, 1_000, 1_000) });
        let gap = control.spacing(1_000).expect("it paces now").gap;
        let held = [(); 2].map(|()| {
            pacer.follow(&mut control, sent);
            pacer.held_until(now)
        });
        assert_eq!(held, [None, Some(now + gap + gap)], "two segments are a quantum");
    }

    #[test]
    fn what_is_held_leaves_at_its_time() {
        let mut pacer = Pacer::default();
        pacer.on_sent(Instant::from_millis(10), Spacing::at(RATE, 1_000, 1_000));
        let due = Some(Instant::from_millis(11));
        assert_eq!([10, 11, 12].map(|now| pacer.held_until(Instant::from_millis(now))), [due, None, None]);
    }
}
