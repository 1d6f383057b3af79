//! Propagation: when a packet that has left the transmitter arrives.

use std::sync::Arc;

use slantpath_base::{Duration, Instant};

use crate::link::contact_delay::ContactDelay;

/// Time that packets take from the transmitter to the far end.
#[derive(Clone, Debug, PartialEq)]
pub enum Delay {
    /// Always as long.
    Constant(Duration),
    /// As long as a curve says for the instant at which a packet leaves.
    Curve(DelayCurve),
}

impl Delay {
    /// The delay of what leaves at an instant.
    pub fn at(&self, departure: Instant) -> Duration {
        match self {
            Self::Constant(delay) => *delay,
            Self::Curve(curve) => curve.at(departure),
        }
    }

    /// Tells if the delay follows a curve.
    pub const fn is_curve(&self) -> bool {
        matches!(self, Self::Curve(_))
    }

    /// The longest that it ever is.
    pub fn max(&self) -> Duration {
        match self {
            Self::Constant(delay) => *delay,
            Self::Curve(curve) => {
                curve.points().iter().map(|&(_, delay)| delay).max().unwrap_or(Duration::ZERO)
            }
        }
    }
}

impl From<Duration> for Delay {
    fn from(delay: Duration) -> Self {
        Self::Constant(delay)
    }
}

/// A delay over time: given points, straight lines between them, and what the first and the last say before and
/// after them. Clones share the points.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayCurve(Arc<[(Instant, Duration)]>);

impl DelayCurve {
    /// A curve through points whose instants rise. `None` if they do not, or if there is no point.
    pub fn new(points: Vec<(Instant, Duration)>) -> Option<Self> {
        let rises = points.is_sorted_by(|(earlier, _), (later, _)| earlier < later);
        (rises && !points.is_empty()).then(|| Self(points.into()))
    }

    /// Points of the curve.
    pub fn points(&self) -> &[(Instant, Duration)] {
        &self.0
    }

    /// The delay at an instant, to the nearest nanosecond.
    pub fn at(&self, instant: Instant) -> Duration {
        self.between(instant, self.0.partition_point(|&(at, _)| at <= instant))
    }

    /// The delay at an instant that `after` points are not later than.
    fn between(&self, instant: Instant, after: usize) -> Duration {
        let points = &self.0;
        let (Some(&(from, low)), Some(&(to, high))) = (points.get(after.wrapping_sub(1)), points.get(after))
        else {
            return points[after.clamp(1, points.len()) - 1].1;
        };
        let (elapsed, span) = (i128::from((instant - from).as_nanos()), i128::from((to - from).as_nanos()));
        let rise = i128::from(high.as_nanos()) - i128::from(low.as_nanos());
        // Rounded to the nearest: half a nanosecond away from exact at most.
        let risen = (2 * rise * elapsed + span).div_euclid(2 * span);
        Duration::from_nanos(u64::try_from(i128::from(low.as_nanos()) + risen).expect("between two delays"))
    }
}

/// A [`Delay`] in a run: it keeps packets in order.
#[derive(Clone, Debug)]
pub(crate) enum Propagation {
    Constant(Duration),
    /// Delay of a contact, see [`DelayPiece`](super::contact_delay::DelayPiece).
    /// It stands here and not behind a pointer, so that it can be on its way
    /// from memory while the transmitter is looked at.
    Contact(ContactDelay),
    Curve(Box<Follower>),
}

/// Position of packets on a curve.
#[derive(Clone, Debug)]
pub(crate) struct Follower {
    curve: DelayCurve,
    /// Number of points that the last packet came after: packets leave in order.
    after: usize,
    /// Instant at which the last packet arrives. None overtakes it.
    last_arrival: Instant,
}

impl Propagation {
    pub(crate) fn new(delay: &Delay) -> Self {
        match delay {
            Delay::Constant(delay) => Self::Constant(*delay),
            Delay::Curve(curve) => {
                let curve = curve.clone();
                Self::Curve(Box::new(Follower { curve, after: 0, last_arrival: Instant::START }))
            }
        }
    }

    /// Instant at which a packet arrives that leaves at `departure`. Departures do not fall, but for what was [taken
    /// back](Self::take_back).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every packet passes it on each hop")]
    pub(crate) fn arrival(&mut self, departure: Instant) -> Instant {
        match self {
            Self::Constant(delay) => departure.saturating_add(*delay),
            Self::Contact(contact) => contact.arrival(departure),
            Self::Curve(follower) => follower.arrival(departure),
        }
    }

    /// The delay of what leaves at an instant.
    pub(crate) fn delay_at(&self, departure: Instant) -> Duration {
        match self {
            Self::Constant(delay) => *delay,
            Self::Contact(contact) => contact.delay_at(departure),
            Self::Curve(follower) => follower.curve.at(departure),
        }
    }

    /// Forgets packets that were not sent after all, with those that are still on their way.
    pub(crate) fn take_back(&mut self, departures: impl Iterator<Item = Instant>) {
        if let Self::Curve(follower) = self {
            (follower.after, follower.last_arrival) = (0, Instant::START);
            // One that overtook another lies before it.
            let mut departures: Vec<Instant> = departures.collect();
            departures.sort_unstable();
            for departure in departures {
                follower.arrival(departure);
            }
        }
    }
}

impl Follower {
    fn arrival(&mut self, departure: Instant) -> Instant {
        if departure == Instant::FAR_FUTURE {
            // It waits for the link to come up, and will be sent anew.
            return departure;
        }
        while self.curve.0.get(self.after).is_some_and(|&(at, _)| at <= departure) {
            self.after += 1;
        }
        let arrival = departure.saturating_add(self.curve.between(departure, self.after));
        self.last_arrival = self.last_arrival.max(arrival);
        self.last_arrival
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn curve(points: &[(u64, u64)]) -> DelayCurve {
        let points = points.iter().map(|&(at, delay)| (nanos(at), Duration::from_nanos(delay)));
        DelayCurve::new(points.collect()).expect("rising instants")
    }

    const fn nanos(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    fn follow(curve: DelayCurve) -> Propagation {
        Propagation::new(&Delay::Curve(curve))
    }

    #[test]
    fn between_points_the_delay_follows_a_straight_line() {
        let curve = curve(&[(1_000, 500), (2_000, 700), (2_100, 100)]);
        let delays = [0, 1_000, 1_001, 1_500, 1_999, 2_000, 2_050, 2_100, u64::MAX]
            .map(|at| curve.at(nanos(at)).as_nanos());
        assert_eq!(delays, [500, 500, 500, 600, 700, 700, 400, 100, 100]);
    }

    #[test]
    fn a_curve_has_points_that_rise() {
        let at = |nanos| (Instant::from_nanos(nanos), Duration::ZERO);
        assert_eq!(DelayCurve::new(vec![]), None);
        assert_eq!(DelayCurve::new(vec![at(1), at(1)]), None);
        assert_eq!(DelayCurve::new(vec![at(2), at(1)]), None);
        assert!(DelayCurve::new(vec![at(1), at(2)]).is_some());
    }

    #[test]
    fn where_the_delay_falls_faster_than_packets_follow_they_arrive_together() {
        // From 100 to 20 ns within 10 ns.
        let mut propagation = follow(curve(&[(1_000, 100), (1_010, 20)]));
        let arrivals = [1_000, 1_005, 1_010, 1_050, 1_090].map(|at| propagation.arrival(nanos(at)));
        assert_eq!(arrivals, [1_100, 1_100, 1_100, 1_100, 1_110].map(nanos));
        // Without a packet before it the same one is early.
        assert_eq!(follow(curve(&[(1_000, 100), (1_010, 20)])).arrival(nanos(1_010)), nanos(1_030));
    }

    #[test]
    fn what_was_taken_back_holds_nobody_up() {
        let mut propagation = follow(curve(&[(0, 50), (1_000, 1_000), (1_010, 20)]));
        assert_eq!(propagation.arrival(nanos(0)), nanos(50));
        assert_eq!(propagation.arrival(nanos(1_000)), nanos(2_000));
        propagation.take_back([nanos(0)].into_iter());
        assert_eq!(propagation.arrival(nanos(1_010)), nanos(1_030));
        assert_eq!(propagation.arrival(Instant::FAR_FUTURE), Instant::FAR_FUTURE);
        assert_eq!(propagation.arrival(nanos(1_020)), nanos(1_040));
    }

    fn any_curve() -> impl Strategy<Value = DelayCurve> {
        proptest::collection::btree_map(0_u64..1 << 62, 0_u64..1 << 40, 1..20)
            .prop_map(|points| curve(&points.into_iter().collect::<Vec<_>>()))
    }

    proptest! {
        #[test]
        fn the_delay_is_exact_to_half_a_nanosecond(curve in any_curve(), at in 0_u64..1 << 62) {
            let delay = i128::from(curve.at(nanos(at)).as_nanos());
            let value = |point: &(Instant, Duration)| {
                (i128::from(point.0.since_start().as_nanos()), i128::from(point.1.as_nanos()))
            };
            let points: Vec<(i128, i128)> = curve.points().iter().map(value).collect();
            let at = i128::from(at);
            if let Some(&[(from, low), (to, high)]) =
                points.windows(2).find(|two| (two[0].0..two[1].0).contains(&at))
            {
                // The distance to the line, times the span: exact in integers.
                let off = (delay - low) * (to - from) - (high - low) * (at - from);
                prop_assert!(2 * off.abs() <= to - from);
            } else {
                let end = if at < points[0].0 { points[0] } else { points[points.len() - 1] };
                prop_assert_eq!(delay, end.1);
            }
        }

        #[test]
        fn packets_arrive_in_order_and_never_early(
            curve in any_curve(),
            mut departures in proptest::collection::vec(0_u64..1 << 62, 1..50),
        ) {
            departures.sort_unstable();
            let mut propagation = follow(curve.clone());
            let mut last = Instant::START;
            for departure in departures.into_iter().map(nanos) {
                let (arrival, alone) = (propagation.arrival(departure), departure + curve.at(departure));
                prop_assert_eq!(arrival, alone.max(last));
                last = arrival;
            }
        }
    }
}
