//! Shortest time for which a transport goes on without an answer: its error counter on one line of time.

use slantpath_base::Duration;
use slantpath_cc::{RtoConfig, RttEstimator};

/// Times of a transport's last try and of its end, without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    /// Time of the last try that is early enough to be saved by an answer: a path that comes back later may not be
    /// found.
    pub(super) last_try: Duration,
    /// Earliest time at which it may end.
    pub(super) end: Duration,
}

/// HEARTBEATs that nobody answers.
#[derive(Clone, Copy, Debug)]
struct Heartbeats {
    interval: Duration,
    /// Time at which the first of them counts as an error.
    first: Duration,
}

/// An association or a connection that stands, from its last answer on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Established {
    /// Of RTO.Min on, since any measurement gives a longer time-out.
    pub(super) rto: RtoConfig,
    /// HB.interval, where there are HEARTBEATs.
    pub(super) heartbeats: Option<Duration>,
    /// Paths, each with time-outs of its own that all count against the one limit.
    pub(super) paths: u32,
}

/// HEARTBEATs may begin behind each of so many time-outs: beyond them a step of the back-off changes little.
const PHASES: u32 = 64;

impl Established {
    /// Gives its life if so many errors in a row are borne.
    pub(super) fn life(&self, limit: u32) -> Life {
        // Of paths that break together, each adds its errors. New DATA goes on over a path as soon as what was lost
        // there is given up, so that their timers run side by side.
        let limit = limit / self.paths.max(1);
        // The last time-out that is borne sends what saves. An unanswered HEARTBEAT may take its place in the count, or
        // come so soon behind it that the answer is too late: then it is the one before.
        let unsure = if self.heartbeats.is_some() { 2 } else { 1 };
        let last_try = limit.checked_sub(unsure).map_or(Duration::ZERO, |limit| self.end(limit));
        Life { last_try, end: self.end(limit) }
    }

    /// Gives the earliest time of the first error that is more than so many.
    ///
    /// DATA is outstanding all the time, and its first time-out comes as soon as the path is gone. When HEARTBEATs
    /// begin is not known, nor their jitter. They end an association soonest where they come as often as the jitter
    /// lets them, and the first comes right behind a time-out of DATA: that has then been restarted with an RTO which
    /// this error has not yet backed off. Behind which one it is worst is tried out.
    fn end(&self, limit: u32) -> Duration {
        let Some(interval) = self.heartbeats else { return self.timeline(limit, None) };
        let mut rtt = self.estimator();
        let mut first = Duration::ZERO;
        let mut soonest = self.timeline(limit, Some(Heartbeats { interval, first }));
        for _ in 0..limit.min(PHASES) {
            let before = rtt.rto();
            rtt.back_off();
            if rtt.rto() == before {
                break;
            }
            first = first.saturating_add(rtt.rto());
            soonest = soonest.min(self.timeline(limit, Some(Heartbeats { interval, first })));
        }
        soonest
    }

    /// A time-out as short as it can be.
    fn estimator(&self) -> RttEstimator {
        let mut rtt = RttEstimator::new(self.rto);
        rtt.sample(Duration::ZERO);
        rtt
    }

    /// Gives the time at which one error more than so many has been counted on one path: T3-rtx and the HEARTBEATs'
    /// timer back off one RTO and raise one counter.
    fn timeline(&self, limit: u32, heartbeats: Option<Heartbeats>) -> Duration {
        let mut rtt = self.estimator();
        let (mut errors, mut data) = (0, Duration::ZERO);
        let (mut awaited, mut due) = (heartbeats.map(|heartbeats| heartbeats.first), None::<Duration>);
        loop {
            if let Some(at) = due.filter(|at| *at < data) {
                // Sent, to be answered within an RTO.
                (awaited, due) = (Some(at.saturating_add(rtt.rto())), None);
                continue;
            }
            let unanswered = awaited.filter(|at| *at < data);
            let now = unanswered.unwrap_or(data);
            rtt.back_off();
            if let (Some(_), Some(Heartbeats { interval, .. })) = (unanswered, heartbeats) {
                // RTO plus HB.interval, less the jitter of half an RTO (RFC 9260, section 8.3).
                (awaited, due) = (None, Some(now.saturating_add(interval).saturating_add(rtt.rto() / 2)));
            } else {
                data = now.saturating_add(rtt.rto());
            }
            errors += 1;
            if errors > limit {
                return now;
            }
        }
    }
}

/// Set-up of an association or a connection, from its first try on.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetUp {
    pub(super) rto: RtoConfig,
    /// Addresses that are tried in turn, each with a time-out of its own.
    pub(super) addresses: u32,
}

impl SetUp {
    /// Gives its life with so many repetitions of the first packet.
    pub(super) fn life(&self, repetitions: u32) -> Life {
        let addresses = self.addresses.max(1) as usize;
        let mut waits = vec![self.rto.initial.min(self.rto.max); addresses];
        let (mut last_try, mut end) = (Duration::ZERO, Duration::ZERO);
        for (_, address) in (0..=repetitions).zip((0..addresses).cycle()) {
            last_try = end;
            end = end.saturating_add(waits[address]);
            waits[address] = waits[address].saturating_mul(2).min(self.rto.max);
        }
        Life { last_try, end }
    }
}

#[cfg(test)]
mod tests {
    use slantpath_base::{Seed, Stream};

    use super::*;

    fn seconds(life: Life) -> [u64; 2] {
        [life.last_try, life.end].map(|at| at.as_millis() / 1_000)
    }

    #[test]
    fn heartbeats_take_a_third_of_the_life_that_time_outs_alone_would_have() {
        let rto = RtoConfig::sctp();
        let life = |heartbeats, paths| Established { rto, heartbeats, paths }.life(10);
        // 2 + 4 + 8 + 16 + 32 + 60 + …: eleven time-outs from the first on.
        assert_eq!(seconds(life(None, 1)), [302, 362]);
        assert_eq!(seconds(life(Some(Duration::from_secs(30)), 1)), [150, 226]);
        // Of two paths that break together each brings half of the errors.
        assert_eq!(seconds(life(Some(Duration::from_secs(30)), 2)), [6, 30]);
    }

    #[test]
    fn a_set_up_tries_each_address_in_turn() {
        let life = |addresses, repetitions| SetUp { rto: RtoConfig::sctp(), addresses }.life(repetitions);
        assert_eq!(seconds(life(1, 8)), [183, 243]);
        assert_eq!(seconds(life(2, 4)), [6, 10]);
        assert_eq!(seconds(life(1, 0)), [0, 1]);
    }

    /// Whenever HEARTBEATs come, whatever their jitter, however long the first time-out: no association ends sooner.
    #[test]
    fn no_line_of_time_is_shorter_than_the_worst_one() {
        let mut random = Seed::new(7, 0).stream("lives");
        for _ in 0..40 {
            let min = Duration::from_millis(100 + random.below(2_000));
            let rto = RtoConfig { min, max: min * (1 + random.below(60)), initial: min, ..RtoConfig::sctp() };
            let interval = Duration::from_millis(1_000 + random.below(40_000));
            let limit = u32::try_from(random.below(30)).unwrap();
            let worst = Established { rto, heartbeats: Some(interval), paths: 1 }.life(limit);
            for _ in 0..300 {
                let drawn = drawn(rto, interval, limit, &mut random);
                assert!(drawn.end >= worst.end, "{drawn:?} {worst:?}");
                assert!(drawn.last_try >= worst.last_try, "{drawn:?} {worst:?}");
            }
        }
    }

    /// One line of time with whatever chance brings.
    fn drawn(rto: RtoConfig, interval: Duration, limit: u32, random: &mut Stream) -> Life {
        let mut rtt = RttEstimator::new(rto);
        rtt.sample(Duration::from_nanos(random.below(rto.min.as_nanos())));
        let mut below = |most: Duration| Duration::from_nanos(random.below(most.as_nanos() + 1));
        let mut data = below(rto.min);
        let mut heartbeat = below(interval + rto.max * 2);
        let (mut is_awaited, mut errors, mut tries) = (true, 0, vec![Duration::ZERO]);
        let end = loop {
            let now = data.min(heartbeat);
            if heartbeat <= data && !is_awaited {
                tries.push(now);
                heartbeat = now + rtt.rto();
                is_awaited = true;
                continue;
            }
            errors += 1;
            rtt.back_off();
            if errors > limit {
                break now;
            }
            if heartbeat <= data {
                heartbeat = now + interval + rtt.rto() / 2 + below(rtt.rto());
                is_awaited = false;
            } else {
                tries.push(now);
                data = now + rtt.rto();
            }
        };
        let last_try = tries.into_iter().rfind(|&at| at + rto.initial <= end).unwrap_or_default();
        Life { last_try, end }
    }
}
