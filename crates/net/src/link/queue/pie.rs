//! PIE (RFC 8033): packets are dropped at random as they come, with a probability that leads the wait to a target.
//!
//! At fixed intervals the probability changes by how far the wait is from the target and by how much it has grown
//! (section 4.2), in small steps as long as it is small. After a time without a queue a burst may wait (section 4.4).
//! The wait is that of the packet that left last, which section 4.3 allows in place of an estimate of the rate, or none
//! while nothing waits. Of the additions of section 5 there are marks (5.1) and the limit of a step (5.5), but neither
//! derandomization nor a queue that PIE leaves alone below a third of its limit.
//!
//! Nothing has to wake up for an update: those that are due are made when a packet comes or leaves, which is all that
//! they depend on.

use slantpath_base::{Duration, Instant, Probability, Stream};

use crate::link::admission::{CongestionSignal, QueueLimit, Waiting};
use crate::link::counters::DropReason;
use crate::link::lane::Outlet;
use crate::link::queue::class::Class;
use crate::link::queue::discipline::{PortTerms, QueueDiscipline};
use crate::link::service::Service;
use crate::parcel::Parcel;

/// A PIE queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieConfig {
    /// Limit of what may be queued in any case.
    pub limit: QueueLimit,
    /// The wait that the queue is led to (QDELAY_REF). Not zero.
    pub target: Duration,
    /// Time from one update of the probability to the next (T_UPDATE). Not zero.
    pub update_interval: Duration,
    /// Time for which a queue that forms drops nothing (MAX_BURST).
    pub max_burst: Duration,
    /// Greatest probability at which a packet is marked in place of being dropped (mark_ecnth).
    pub mark_threshold: Probability,
    /// Treatment of a packet that is chosen.
    pub signal: CongestionSignal,
}

impl PieConfig {
    /// With the RFC's target of 15 ms, updates each 15 ms, bursts of 150 ms and marks up to 10 % (sections 4 and 5.1),
    /// and drops.
    pub fn new(limit: QueueLimit) -> Self {
        Self {
            limit,
            target: Duration::from_millis(15),
            update_interval: Duration::from_millis(15),
            max_burst: Duration::from_millis(150),
            mark_threshold: Probability::new(0.1).expect("it lies between 0 and 1"),
            signal: CongestionSignal::Drop,
        }
    }
}

/// A [`PieConfig`] with what waits.
#[derive(Clone, Debug)]
pub(crate) struct Pie {
    law: Law,
    class: Class,
    stream: Stream,
    limit: QueueLimit,
    mark_threshold: f64,
    signal: CongestionSignal,
    /// As long as no more than that waits, nothing is dropped: two packets.
    spared_bytes: u64,
}

/// Gains of the controller for the distance of the wait from the target and for its growth, in 1/s (section 4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// Bounds of the probability below which a change of it is divided by so much (section 4.2).
const STEPS: [(f64, f64); 6] =
    [(1e-6, 2_048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
/// From this probability on a change is no more than the other (section 5.5).
const CAP: (f64, f64) = (0.1, 0.02);
/// Part of the probability that an update leaves while nothing waits (section 4.2).
const DECAY: f64 = 0.98;
/// Below this probability nothing is dropped if the wait is short (section 4.1).
const SMALL: f64 = 0.2;

/// The control law, which knows no queue: it is told of what leaves, and asked about what comes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Law {
    target: Duration,
    update_interval: Duration,
    max_burst: Duration,
    probability: f64,
    /// The wait at present, and at the last update.
    delay: Duration,
    delay_before: Duration,
    /// Time for which nothing is dropped yet.
    burst: Duration,
    next_update: Instant,
}

impl Law {
    fn new(config: &PieConfig) -> Self {
        let update_interval = config.update_interval.max(Duration::from_nanos(1));
        Self {
            target: config.target,
            update_interval,
            max_burst: config.max_burst,
            probability: 0.0,
            delay: Duration::ZERO,
            delay_before: Duration::ZERO,
            burst: config.max_burst,
            next_update: Instant::START.saturating_add(update_interval),
        }
    }

    /// Makes the updates that are due by `now`.
    fn advance(&mut self, now: Instant) {
        while self.next_update <= now {
            let before = *self;
            self.update();
            // The wait stays until a packet leaves: after an update that changes nothing no other does.
            let is_settled = *self == before;
            self.next_update = self.next_update.saturating_add(self.update_interval);
            if is_settled && self.next_update <= now {
                let further = (now - self.next_update).as_nanos() / self.update_interval.as_nanos() + 1;
                self.next_update =
                    self.next_update.saturating_add(self.update_interval.saturating_mul(further));
            }
        }
    }

    fn update(&mut self) {
        let [delay, before, target] =
            [self.delay, self.delay_before, self.target].map(|time| time.as_nanos() as f64 / 1e9);
        let change = ALPHA * (delay - target) + BETA * (delay - before);
        let divisor = STEPS.iter().find(|(below, _)| self.probability < *below).map_or(1.0, |(_, by)| *by);
        let mut change = change / divisor;
        if self.probability >= CAP.0 {
            change = change.min(CAP.1);
        }
        self.probability += change;
        if self.delay.is_zero() && self.delay_before.is_zero() {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst = self.burst.saturating_sub(self.update_interval);
        if self.probability == 0.0 && self.is_short(self.delay) && self.is_short(self.delay_before) {
            self.burst = self.max_burst;
        }
        self.delay_before = self.delay;
    }

    fn is_short(&self, delay: Duration) -> bool {
        // Doubled, and not halved: of a nanosecond there is no half.
        delay.saturating_mul(2) < self.target
    }

    /// The chance that a packet that comes now is dropped, if there is one: no update is due.
    fn chance(&self) -> Option<f64> {
        let is_spared =
            !self.burst.is_zero() || (self.is_short(self.delay_before) && self.probability < SMALL);
        (!is_spared && self.probability > 0.0).then_some(self.probability)
    }
}

impl QueueDiscipline for Pie {
    type Config = PieConfig;

    const IS_MANAGED: bool = true;
    const DECIDES_EARLY: bool = true;

    fn new(config: &PieConfig, port: &PortTerms<'_>) -> Self {
        Self {
            law: Law::new(config),
            class: Class::default(),
            stream: port.seed.stream(&format!("{}/pie", port.path)),
            limit: config.limit,
            mark_threshold: config.mark_threshold.as_f64(),
            signal: config.signal,
            spared_bytes: 2 * u64::from(port.mtu_bytes),
        }
    }

    /// No limit: it keeps to its own before it gives a mark.
    fn limit(_: &PieConfig) -> QueueLimit {
        QueueLimit::Unlimited
    }

    fn signal(config: &PieConfig) -> CongestionSignal {
        config.signal
    }

    fn admit(
        &mut self,
        now: Instant,
        parcel: Parcel,
        waiting: Waiting,
        _: &Service,
        _: &Outlet<'_>,
    ) -> Result<Parcel, DropReason> {
        self.law.advance(now);
        if !waiting.is_idle() && !self.limit.admits(waiting.packets, waiting.bytes, parcel.length()) {
            return Err(DropReason::QueueFull);
        }
        match self.law.chance() {
            Some(chance) if waiting.bytes > self.spared_bytes && self.stream.uniform() < chance => {
                let signal = if chance <= self.mark_threshold { self.signal } else { CongestionSignal::Drop };
                signal.mark(parcel).ok_or(DropReason::Early)
            }
            _ => Ok(parcel),
        }
    }

    fn has_room(&mut self, _: QueueLimit, _: Parcel, _: Option<Parcel>) -> bool {
        true
    }

    fn push(&mut self, now: Instant, parcel: Parcel, _: &Outlet<'_>) {
        self.class.push(now, parcel);
    }

    fn pop(&mut self, at: Instant, _: &mut Outlet<'_>) -> Option<Parcel> {
        self.law.advance(at);
        let (since, parcel) = self.class.pop()?;
        self.law.delay = if self.class.is_empty() { Duration::ZERO } else { at - since };
        Some(parcel)
    }

    fn take(&mut self) -> Vec<Parcel> {
        self.law.delay = Duration::ZERO;
        self.class.take().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn law() -> Law {
        Law::new(&PieConfig::new(QueueLimit::Unlimited))
    }

    /// A law with such a probability and such waits, at present and before, whose next update is made.
    fn updated(probability: f64, delay_ms: u64, before_ms: u64) -> Law {
        let mut law = Law { probability, delay: millis(delay_ms), delay_before: millis(before_ms), ..law() };
        law.advance(Instant::from_millis(15));
        law
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    }

    #[test]
    fn a_probability_follows_the_distance_from_the_target_and_the_growth_of_the_wait() {
        // 5 ms above the target, and 3 ms more than before.
        assert_close(updated(0.2, 20, 17).probability, 0.2 + 0.125 * 0.005 + 1.25 * 0.003);
        assert_close(updated(0.2, 15, 15).probability, 0.2);
        assert_close(updated(0.2, 10, 12).probability, 0.2 - 0.125 * 0.005 - 1.25 * 0.002);
    }

    #[test]
    fn a_small_probability_changes_in_small_steps() {
        let change = 0.125 * 0.015;
        for (probability, divisor) in [
            (0.0, 2_048.0),
            (9.9e-7, 2_048.0),
            (1e-6, 512.0),
            (1e-5, 128.0),
            (1e-4, 32.0),
            (1e-3, 8.0),
            (1e-2, 2.0),
            (0.1, 1.0),
            (0.9, 1.0),
        ] {
            assert_close(updated(probability, 30, 30).probability, probability + change / divisor);
        }
    }

    #[test]
    fn from_a_tenth_on_a_step_is_a_fiftieth_at_most() {
        assert_close(updated(0.1, 500, 100).probability, 0.12);
        let below = 0.125 * 0.485 + 1.25 * 0.4;
        assert_close(updated(0.09, 500, 100).probability, 0.09 + below / 2.0);
        assert_close(updated(0.99, 500, 100).probability, 1.0);
        assert_close(updated(0.9, 0, 400).probability, 0.9 - 0.125 * 0.015 - 1.25 * 0.4);
    }

    #[test]
    fn without_a_wait_the_probability_decays_and_does_not_fall_below_zero() {
        assert_close(updated(0.5, 0, 0).probability, (0.5 - 0.125 * 0.015) * 0.98);
        assert_close(updated(0.5, 0, 1).probability, 0.5 - 0.125 * 0.015 - 1.25 * 0.001);
        assert_close(updated(1e-9, 0, 0).probability, 0.0);
    }

    #[test]
    fn a_burst_passes_for_ten_updates_and_counts_anew_once_nothing_has_waited() {
        let mut law = law();
        law.delay = millis(40);
        for update in 1..10 {
            law.advance(Instant::from_millis(15 * update));
            assert_eq!(law.chance(), None, "at {} ms", 15 * update);
        }
        law.advance(Instant::from_millis(149));
        assert_eq!(law.chance(), None);
        law.advance(Instant::from_millis(150));
        assert_eq!(law.chance(), Some(law.probability));
        // Half of the target is no short wait; less is, once the probability has come down.
        (law.delay, law.probability) = (Duration::from_micros(7_500), 0.0);
        law.advance(Instant::from_millis(180));
        assert_eq!((law.probability, law.burst), (0.0, Duration::ZERO));
        law.delay = Duration::from_micros(7_499);
        law.advance(Instant::from_millis(195));
        assert_eq!(law.burst, Duration::ZERO, "the wait before was not short");
        law.advance(Instant::from_millis(210));
        assert_eq!(law.burst, millis(150));
    }

    #[test]
    fn nothing_is_dropped_while_the_wait_was_short_and_the_probability_is_small() {
        let chance = |probability, delay_before| {
            Law { burst: Duration::ZERO, delay_before, probability, ..law() }.chance()
        };
        let short = Duration::from_micros(7_499);
        assert_eq!(chance(0.199, short), None);
        assert_eq!(chance(0.2, short), Some(0.2));
        assert_eq!(chance(0.001, Duration::from_micros(7_500)), Some(0.001));
        assert_eq!(chance(0.0, millis(30)), None);
    }

    #[test]
    fn a_day_without_packets_is_made_up_for_at_once() {
        let mut resting = law();
        resting.update();
        assert_eq!(resting, law(), "an update at rest changes nothing");
        let mut law = law();
        (law.delay, law.probability) = (millis(30), 0.3);
        law.advance(Instant::from_millis(1_000));
        law.delay = Duration::ZERO;
        law.advance(Instant::from_secs(86_400));
        assert_eq!(law, Law { next_update: Instant::from_millis(86_400_015), ..self::law() });
    }

    /// At updates each microsecond a day has too many to be made one by one.
    #[test]
    fn a_wait_that_stands_for_a_day_is_made_up_for_at_once() {
        let interval = Duration::from_micros(1);
        let config = PieConfig { update_interval: interval, ..PieConfig::new(QueueLimit::Unlimited) };
        for (delay_ms, probability) in [(0, 0.0), (10, 0.0), (15, 0.5), (30, 1.0), (86_400_000, 1.0)] {
            let mut law = Law { probability: 0.5, delay: millis(delay_ms), ..Law::new(&config) };
            law.delay_before = law.delay;
            law.advance(Instant::from_secs(86_400));
            assert_close(law.probability, probability);
            assert_eq!(law.next_update, Instant::from_secs(86_400) + interval, "{delay_ms} ms");
            let burst = if delay_ms == 0 { config.max_burst } else { Duration::ZERO };
            assert_eq!(law.burst, burst, "{delay_ms} ms");
        }
    }

    #[test]
    fn the_shortest_target_leaves_room_for_bursts_and_the_longest_for_all() {
        let day = Duration::from_secs(86_400);
        for (target, delay) in
            [(Duration::from_nanos(1), Duration::ZERO), (day, day / 2 - Duration::from_nanos(1))]
        {
            let config = PieConfig { target, ..PieConfig::new(QueueLimit::Unlimited) };
            let mut law = Law { burst: Duration::ZERO, delay, delay_before: delay, ..Law::new(&config) };
            law.advance(Instant::from_millis(15));
            assert_eq!((law.probability, law.burst), (0.0, config.max_burst), "{target}");
        }
    }

    proptest! {
        /// Updates are the same whether or not something came in between, and those at rest are left out.
        #[test]
        fn updates_come_to_the_same_however_seldom_they_are_asked_for(
            waits in proptest::collection::vec((0_u64..60_000, 0_u64..400), 1..60),
            looks in 1_u64..40,
        ) {
            let (mut seldom, mut often) = (law(), law());
            let mut now = Instant::START;
            for (wait_micros, pause_ms) in waits {
                let next = now + millis(pause_ms);
                for look in 1..looks {
                    often.advance(now + millis(pause_ms) / looks * look);
                }
                for law in [&mut seldom, &mut often] {
                    law.advance(next);
                    law.delay = Duration::from_micros(wait_micros);
                }
                prop_assert_eq!(&seldom, &often);
                prop_assert!((0.0..=1.0).contains(&seldom.probability));
                prop_assert!(seldom.next_update > next && seldom.next_update <= next + millis(15));
                prop_assert!(seldom.burst <= millis(150));
                now = next;
            }
        }
    }
}
