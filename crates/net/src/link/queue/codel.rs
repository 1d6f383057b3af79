//! CoDel (RFC 8289): packets are dropped when they leave, if all have waited for too long for too long.
//!
//! This file is the control law and knows no queue: it is told of each packet that is taken off, and says
//! whether that one is to be dropped.

use slantpath_base::{Duration, Instant};

use crate::link::admission::{CongestionSignal, QueueLimit};

/// A CoDel queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelConfig {
    /// Limit of what may be queued in any case.
    pub limit: QueueLimit,
    /// The wait that may stand.
    pub target: Duration,
    /// The time within which a queue that is no standing one falls below the target; the longest usual round-trip
    /// time.
    pub interval: Duration,
    /// Treatment of a packet that is chosen.
    pub signal: CongestionSignal,
}

impl CoDelConfig {
    //= https://www.rfc-editor.org/rfc/rfc8289#section-5.3
    //# time_t TARGET = MS2TIME(5); // 5 ms TARGET queue delay
    //# time_t INTERVAL = MS2TIME(100); // 100 ms sliding-minimum window
    /// With the RFC's target of 5 ms and interval of 100 ms, and drops.
    pub const fn new(limit: QueueLimit) -> Self {
        let (target, interval) = (Duration::from_millis(5), Duration::from_millis(100));
        Self { limit, target, interval, signal: CongestionSignal::Drop }
    }
}

/// State of the queue that a packet shows that is taken off it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departing {
    /// Time that the packet has waited in the queue.
    pub(crate) sojourn: Duration,
    /// Number of bytes that are queued behind it.
    pub(crate) bytes_behind: u64,
}

/// The state of RFC 8289, section 5.2.
#[derive(Clone, Debug)]
pub(crate) struct CoDel {
    target: Duration,
    interval: Duration,
    /// As long as no more than that waits, nothing is dropped.
    packet_bytes_max: u32,
    /// Instant at which packets will have waited for too long for an interval, if they do now.
    first_above: Option<Instant>,
    /// Instant at which the next packet is dropped; in the state of dropping only.
    drop_next: Instant,
    count: u32,
    last_count: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Dropping,
    Idle,
}

impl CoDel {
    //= https://www.rfc-editor.org/rfc/rfc8289#section-5.3
    //# u_int maxpacket = 512; // Maximum packet size in bytes
    //# // (SHOULD use interface MTU)
    pub(crate) const fn new(config: &CoDelConfig, mtu_bytes: u32) -> Self {
        Self {
            target: config.target,
            interval: config.interval,
            packet_bytes_max: mtu_bytes,
            first_above: None,
            drop_next: Instant::START,
            count: 0,
            last_count: 0,
            state: State::Idle,
        }
    }

    /// Takes packets off the queue by `take` until one may leave, and hands those that are chosen to `signal`: it marks
    /// a packet and gives it back to leave, or drops it. The RFC drops only; where one is marked, this does what Linux
    /// does (`codel_dequeue` of `include/net/codel_impl.h`): the marked packet counts like a dropped one and leaves.
    pub(crate) fn dequeue<P>(
        &mut self,
        now: Instant,
        mut take: impl FnMut() -> Option<(P, Departing)>,
        mut signal: impl FnMut(P) -> Option<P>,
    ) -> Option<P> {
        let mut next = take();
        let mut is_excess = self.is_excess(now, next.as_ref().map(|(_, departing)| *departing));
        match self.state {
            State::Dropping => {
                if !is_excess {
                    self.state = State::Idle;
                }
                //= https://www.rfc-editor.org/rfc/rfc8289#section-5.5
                //# A large backlog might
                //# // result in drop rates so high that the next drop should
                //# // happen now, hence the 'while' loop.
                while now >= self.drop_next && self.state == State::Dropping {
                    self.count = self.count.saturating_add(1);
                    if let Some(marked) = next.take().and_then(|(packet, _)| signal(packet)) {
                        self.drop_next = self.control_law(self.drop_next);
                        return Some(marked);
                    }
                    next = take();
                    is_excess = self.is_excess(now, next.as_ref().map(|(_, departing)| *departing));
                    if is_excess {
                        self.drop_next = self.control_law(self.drop_next);
                    } else {
                        self.state = State::Idle;
                    }
                }
            }
            State::Idle if is_excess => {
                let marked = next.take().and_then(|(packet, _)| signal(packet));
                if marked.is_none() {
                    next = take();
                    // Its sojourn time counts, but it leaves whatever that says.
                    self.is_excess(now, next.as_ref().map(|(_, departing)| *departing));
                }
                self.state = State::Dropping;
                //= https://www.rfc-editor.org/rfc/rfc8289#section-5.5
                //# // If min went above TARGET close to when it last went
                //# // below, assume that the drop rate that controlled the
                //# // queue on the last cycle is a good starting point to
                //# // control it now.
                let delta = self.count.wrapping_sub(self.last_count);
                let is_recent = now.saturating_since(self.drop_next) < self.interval.saturating_mul(16);
                self.count = if delta > 1 && is_recent { delta } else { 1 };
                self.drop_next = self.control_law(now);
                self.last_count = self.count;
                if marked.is_some() {
                    return marked;
                }
            }
            State::Idle => {}
        }
        next.map(|(packet, _)| packet)
    }

    //= https://www.rfc-editor.org/rfc/rfc8289#section-5.6
    //# return t + INTERVAL / sqrt(count);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "no more than the interval")]
    fn control_law(&self, from: Instant) -> Instant {
        let nanos = self.interval.as_nanos() as f64 / libm::sqrt(f64::from(self.count));
        from.saturating_add(Duration::from_nanos(nanos as u64))
    }

    /// Tells if packets have waited for longer than the target for an interval (`dodequeue`, section 5.6).
    fn is_excess(&mut self, now: Instant, next: Option<Departing>) -> bool {
        let Some(Departing { sojourn, bytes_behind }) = next else {
            self.first_above = None;
            return false;
        };
        if sojourn < self.target || bytes_behind <= u64::from(self.packet_bytes_max) {
            self.first_above = None;
            return false;
        }
        let first_above = *self.first_above.get_or_insert(now.saturating_add(self.interval));
        now >= first_above
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: u32 = 1_500;

    /// A queue whose packets are numbered and have all waited for as long.
    struct Standing {
        law: CoDel,
        next: u32,
        dropped: Vec<u32>,
    }

    impl Standing {
        fn new() -> Self {
            let law = CoDel::new(&CoDelConfig::new(QueueLimit::Unlimited), MTU);
            Self { law, next: 0, dropped: Vec::new() }
        }

        /// Takes a packet off at so many milliseconds; returns how many were dropped before it.
        fn take(&mut self, at_ms: u64, sojourn_ms: u64, bytes_behind: u64) -> usize {
            let before = self.dropped.len();
            let next = &mut self.next;
            let take = || {
                *next += 1;
                let sojourn = Duration::from_millis(sojourn_ms);
                Some((*next, Departing { sojourn, bytes_behind }))
            };
            let dropped = &mut self.dropped;
            let given = self.law.dequeue(Instant::from_millis(at_ms), take, |packet| {
                dropped.push(packet);
                None
            });
            assert_eq!(given, Some(self.next), "the packet that leaves is the last that was taken");
            self.dropped.len() - before
        }

        /// Instants of drops in milliseconds, while one packet leaves every millisecond.
        fn drops(&mut self, from_ms: u64, to_ms: u64, sojourn_ms: u64) -> Vec<u64> {
            let mut times = Vec::new();
            for at in from_ms..to_ms {
                times.extend(std::iter::repeat_n(at, self.take(at, sojourn_ms, 100_000)));
            }
            times
        }
    }

    #[test]
    fn nothing_is_dropped_until_packets_have_waited_for_an_interval() {
        let mut queue = Standing::new();
        assert_eq!(queue.drops(0, 100, 6), []);
        assert_eq!(queue.take(100, 6, 100_000), 1);
    }

    #[test]
    fn a_single_packet_below_the_target_starts_the_interval_anew() {
        let mut queue = Standing::new();
        assert_eq!(queue.drops(0, 100, 5), [], "the target itself is above");
        assert_eq!(queue.take(100, 4, 100_000), 0);
        assert_eq!(queue.drops(101, 201, 5), []);
        assert_eq!(queue.take(201, 5, 100_000), 1);
    }

    #[test]
    fn as_little_as_one_packet_behind_is_no_standing_queue() {
        let mut queue = Standing::new();
        for at in 0..500 {
            assert_eq!(queue.take(at, 50, u64::from(MTU)), 0);
        }
        assert_eq!(queue.take(500, 50, u64::from(MTU) + 1), 0);
        assert_eq!(queue.take(600, 50, u64::from(MTU) + 1), 1);
    }

    #[test]
    fn drops_come_closer_by_the_inverse_of_the_square_root_of_their_number() {
        let mut queue = Standing::new();
        // The first after an interval, the next 100 ms / sqrt(n) after the one before: 200, 270.71, 328.45, 378.45,
        // 423.17, 463.99, 501.79. Packets leave at whole milliseconds.
        assert_eq!(queue.drops(0, 510, 6), [100, 200, 271, 329, 379, 424, 464, 502]);
        let exact =
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0_f64].iter().map(|n| 100.0 / n.sqrt()).sum::<f64>()
                + 100.0;
        let drop_next = queue.law.drop_next.since_start().as_millis_f64();
        assert!((drop_next - exact).abs() < 1e-4, "{drop_next} is not {exact}");
    }

    #[test]
    fn a_large_backlog_has_several_dropped_at_once() {
        let mut queue = Standing::new();
        assert_eq!(queue.drops(0, 101, 6), [100]);
        // Nothing left until 300 ms: those due at 200 and 270.7 ms are dropped together.
        assert_eq!(queue.take(300, 200, 100_000), 2);
        assert_eq!(queue.law.count, 3);
    }

    #[test]
    fn below_the_target_dropping_ends_and_goes_on_at_its_last_rate_if_it_is_needed_soon() {
        let mut queue = Standing::new();
        assert_eq!(queue.drops(0, 380, 6), [100, 200, 271, 329, 379]);
        assert_eq!(queue.take(380, 4, 100_000), 0);
        // Five were dropped, four of them since the first: 100 ms / sqrt(4) after the next.
        assert_eq!(queue.drops(381, 535, 6), [481, 531]);

        let mut late = Standing::new();
        assert_eq!(late.drops(0, 380, 6), [100, 200, 271, 329, 379]);
        assert_eq!(late.take(380, 4, 100_000), 0);
        // 16 intervals after the last drop would have been due all is forgotten.
        assert_eq!(late.drops(2_100, 2_310, 6), [2_200, 2_300]);
    }

    #[test]
    fn marked_packets_leave_one_at_a_time_by_the_law_of_drops() {
        let mut law = CoDel::new(&CoDelConfig::new(QueueLimit::Unlimited), MTU);
        let mut taken = 0_u32;
        let mut marked_at = Vec::new();
        for at in 0..600 {
            // None leaves between 424 and 510 ms: those due at 463.99 and 501.79 are marked one after the other.
            if (425..510).contains(&at) {
                continue;
            }
            let before = taken;
            let take = || {
                taken += 1;
                Some((taken, Departing { sojourn: Duration::from_millis(6), bytes_behind: 100_000 }))
            };
            let given = law.dequeue(Instant::from_millis(at), take, |packet| {
                marked_at.push(at);
                Some(packet + 1_000_000)
            });
            let is_marked = marked_at.last() == Some(&at);
            assert_eq!(taken, before + 1, "no other is taken in its place");
            assert_eq!(given, Some(if is_marked { taken + 1_000_000 } else { taken }));
        }
        assert_eq!(marked_at, [100, 200, 271, 329, 379, 424, 510, 511, 538, 571]);
    }

    #[test]
    fn an_empty_queue_is_below_the_target() {
        let mut queue = Standing::new();
        assert_eq!(queue.drops(0, 100, 6), []);
        let none = queue.law.dequeue(Instant::from_millis(100), || None::<(u32, Departing)>, |_| None);
        assert_eq!(none, None);
        assert_eq!(queue.drops(101, 201, 6), []);
        assert_eq!(queue.take(201, 6, 100_000), 1);
    }
}
