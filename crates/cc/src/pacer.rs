//! Spaces what a window lets out by the rate that a controller asks for.

use slantpath_base::{Duration, Instant};

use crate::control::{CongestionControl, Sent, Spacing};

/// Greatest lead over the rate that data gets because a host's timers are late.
const MOST_LATE: Duration = Duration::from_millis(4);

/// Count of the data that leaves, against the rate: a quantum at once, then nothing until as much time has passed as it
/// takes at that rate. So a timer is needed for each quantum, not for each packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pacer {
    /// Instant at which all that has left would have, at the rate.
    even_at: Instant,
    /// By how much the timer that waits for that has been late at most.
    late: Duration,
    is_holding: bool,
}

impl Pacer {
    /// Instant at which the next may leave, if not now.
    pub fn held_until(&self, now: Instant) -> Option<Instant> {
        (self.is_holding && self.even_at.saturating_since(now) > self.late).then(|| self.even_at - self.late)
    }

    /// The timer that waited for what is held has expired. A simulation's is never late. That of a host has the ticks
    /// of its clock, and whoever waits for it other things to do: the rate is kept all the same, since from now on what
    /// is held goes as much sooner as the timer was late.
    pub fn release(&mut self, now: Instant) {
        let late = now.saturating_add(self.late).saturating_since(self.even_at);
        self.late = self.late.max(late.min(MOST_LATE));
    }

    /// Tells a controller what was sent, and notes at which rate it may go on.
    #[inline]
    pub fn follow(&mut self, control: &mut (impl CongestionControl + ?Sized), sent: Sent) {
        control.on_sent(sent);
        if let Some(spacing) = control.spacing(sent.bytes) {
            self.on_sent(sent.now, spacing);
        }
    }

    /// Something has left that is spaced so.
    #[inline]
    fn on_sent(&mut self, now: Instant, Spacing { gap, lead }: Spacing) {
        self.even_at = self.even_at.max(now).saturating_add(gap);
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

    /// Times at which packets of 1,000 bytes leave, in milliseconds: as early as they may.
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

    /// Number of packets of 1,000 bytes that leave in a second at 1,000 of them a second, if each timer is so much
    /// late.
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
        // The first that is late costs as much as it is.
        let counts = [0, 700, 3_300].map(|micros| in_a_second(Duration::from_micros(micros)));
        assert_eq!(counts, [1_000, 1_000, 997]);
        // Behind the first packet, every ten milliseconds: four are caught up on, and one is waited for again.
        assert_eq!(in_a_second(Duration::from_millis(9)), 1 + 99 * 5);
    }

    #[test]
    fn what_leaves_gets_no_further_ahead_than_timers_have_been_late() {
        let mut pacer = Pacer::default();
        pacer.on_sent(Instant::START, Spacing::at(RATE, 1_000, 1_000));
        pacer.release(Instant::from_millis(3));
        // A pause is no credit: two packets for the two milliseconds, and the one that begins the next wait.
        let later = Instant::from_millis(500);
        let count = (1..10).find(|_| {
            pacer.on_sent(later, Spacing::at(RATE, 1_000, 1_000));
            pacer.held_until(later).is_some()
        });
        assert_eq!((count, pacer.held_until(later)), (Some(3), Some(Instant::from_millis(501))));
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
