//! Spaces what a window lets out by the rate that a controller asks for.

use slantpath_base::{DataRate, DataSize, Instant};

use crate::control::{CongestionControl, Sent};

/// What leaves is counted against the rate: a quantum at once, then nothing until as much time has passed as it takes
/// at that rate. So a timer is needed for each quantum, not for each packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pacer {
    /// When all that has left would have, at the rate.
    even_at: Instant,
    is_holding: bool,
}

impl Pacer {
    /// When the next may leave, if not now.
    pub fn held_until(&self, now: Instant) -> Option<Instant> {
        (self.is_holding && now < self.even_at).then_some(self.even_at)
    }

    /// Tells a controller what was sent, and notes at which rate it may go on.
    #[inline]
    pub fn follow(&mut self, control: &mut impl CongestionControl, sent: Sent) {
        control.on_sent(sent);
        if let Some(rate) = control.pacing_rate() {
            self.on_sent(sent.now, sent.bytes, rate, control.send_quantum());
        }
    }

    /// So many bytes have left, at a rate and with a quantum in bytes.
    #[inline]
    fn on_sent(&mut self, now: Instant, bytes: u64, rate: DataRate, quantum: u64) {
        self.even_at = self.even_at.max(now).saturating_add(rate.time_to_send(DataSize::from_bytes(bytes)));
        self.is_holding = rate.size_in(self.even_at.saturating_since(now)).as_bytes() >= quantum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: DataRate = DataRate::from_bits_per_sec(8_000_000);

    /// When packets of 1,000 bytes leave, in milliseconds: as early as they may.
    fn departures(quantum: u64, count: usize) -> Vec<u64> {
        let mut pacer = Pacer::default();
        let mut now = Instant::from_millis(10);
        let mut at = Vec::new();
        for _ in 0..count {
            now = pacer.held_until(now).unwrap_or(now);
            pacer.on_sent(now, 1_000, RATE, quantum);
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
        pacer.on_sent(Instant::from_millis(0), 1_000, RATE, 1_000);
        let later = Instant::from_millis(500);
        assert_eq!(pacer.held_until(later), None);
        pacer.on_sent(later, 1_000, RATE, 1_000);
        assert_eq!(pacer.held_until(later), Some(Instant::from_millis(501)));
    }

    #[test]
    fn at_no_rate_nothing_more_leaves() {
        let mut pacer = Pacer::default();
        pacer.on_sent(Instant::START, 1, DataRate::from_bits_per_sec(0), 0);
        assert_eq!(pacer.held_until(Instant::from_secs(1)), Some(Instant::FAR_FUTURE));
    }

    #[test]
    fn what_is_held_leaves_at_its_time() {
        let mut pacer = Pacer::default();
        pacer.on_sent(Instant::from_millis(10), 1_000, RATE, 1_000);
        let due = Some(Instant::from_millis(11));
        assert_eq!([10, 11, 12].map(|now| pacer.held_until(Instant::from_millis(now))), [due, None, None]);
    }
}
