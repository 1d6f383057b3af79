//! One direction of the line between two terminals: delay, and bit errors at random.

use std::collections::VecDeque;

use slantpath_base::{Duration, Instant, Stream};

use super::link::Transmission;
use super::unit::SignalUnit;

/// Units as they come out at the far end of the line, when their last bit has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A unit whose check bits do not fit.
    Errored,
    /// A good unit, and whether it repeats from now on with this period.
    Unit(SignalUnit, Option<Duration>),
}

/// Bit errors as a Poisson process in time.
#[derive(Clone, Debug)]
struct Errors {
    stream: Stream,
    mean_between: Duration,
    next: Instant,
}

impl Errors {
    /// Tells if an error falls before `end`; all that do are used up.
    fn hit_before(&mut self, end: Instant) -> bool {
        let hit = self.next < end;
        while self.next < end {
            self.next += self.stream.exponential(self.mean_between);
        }
        hit
    }
}

/// A unit that repeats on the line.
#[derive(Clone, Debug)]
struct Repeating {
    unit: SignalUnit,
    /// End of the next copy that matters.
    copy_end: Instant,
    period: Duration,
    was_delivered: bool,
}

/// One direction of a line. What goes in comes out in order, later by the delay.
#[derive(Clone, Debug)]
pub struct Bearer {
    delay: Duration,
    errors: Option<Errors>,
    repeating: Option<Repeating>,
    arrivals: VecDeque<(Instant, Arrival)>,
}

impl Bearer {
    /// A line of this one-way delay, without errors.
    pub const fn new(delay: Duration) -> Self {
        Self { delay, errors: None, repeating: None, arrivals: VecDeque::new() }
    }

    /// Adds bit errors to the line, so far apart on average: `1 / (rate × bit error rate)`.
    #[must_use]
    pub fn with_errors(mut self, mean_between: Duration, mut stream: Stream) -> Self {
        let next = Instant::START + stream.exponential(mean_between);
        self.errors = Some(Errors { stream, mean_between, next });
        self
    }

    /// A terminal begins to send. What repeated until now ends.
    pub fn carry(&mut self, transmission: Transmission) {
        self.settle(transmission.start);
        self.repeating = None;
        if transmission.repeats {
            let period = transmission.end - transmission.start;
            let (unit, copy_end) = (transmission.unit, transmission.end);
            self.repeating = Some(Repeating { unit, copy_end, period, was_delivered: false });
        } else {
            let is_hit = self.errors.as_mut().is_some_and(|errors| errors.hit_before(transmission.end));
            let arrival = if is_hit { Arrival::Errored } else { Arrival::Unit(transmission.unit, None) };
            self.arrivals.push_back((transmission.end + self.delay, arrival));
        }
    }

    /// Gives the instant at which the next arrival is due, if nothing new is sent until then.
    pub fn next_arrival(&self) -> Option<Instant> {
        let queued = self.arrivals.front().map(|(at, _)| *at);
        queued.or_else(|| self.next_copy_that_matters().map(|end| end + self.delay))
    }

    /// Gives the next unit that has arrived by `now`, in order; `now` must not jump over an arrival.
    pub fn poll_arrival(&mut self, now: Instant) -> Option<Arrival> {
        if self.arrivals.front().is_none()
            && let Some(end) = self.next_copy_that_matters()
            && end + self.delay <= now
        {
            self.settle(end);
        }
        let (at, _) = self.arrivals.front()?;
        if *at > now {
            return None;
        }
        self.arrivals.pop_front().map(|(_, arrival)| arrival)
    }

    /// The end of the next copy that is the first good one, or that is damaged.
    fn next_copy_that_matters(&self) -> Option<Instant> {
        let repeating = self.repeating.as_ref()?;
        if !repeating.was_delivered {
            return Some(repeating.copy_end);
        }
        let next = self.errors.as_ref()?.next;
        let (first, period) = (repeating.copy_end, repeating.period);
        if next < first {
            return Some(first);
        }
        // A copy ends after its last bit: an error at that instant is in the copy behind.
        let copies = (next - first).as_nanos() / period.as_nanos() + 1;
        Some(first + period * copies)
    }

    /// Makes arrivals of all copies that have ended by `until`.
    fn settle(&mut self, until: Instant) {
        while let Some(end) = self.next_copy_that_matters().filter(|end| *end <= until) {
            let Some(repeating) = &mut self.repeating else { return };
            let is_hit = self.errors.as_mut().is_some_and(|errors| errors.hit_before(end));
            let arrival = if is_hit {
                Arrival::Errored
            } else {
                repeating.was_delivered = true;
                Arrival::Unit(repeating.unit.clone(), Some(repeating.period))
            };
            repeating.copy_end = end + repeating.period;
            self.arrivals.push_back((end + self.delay, arrival));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mtp2::Header;
    use slantpath_base::Seed;

    const FILL: SignalUnit = SignalUnit::FillIn(Header { bsn: 0, bib: true, fsn: 0, fib: true });

    fn fill_from(start: Instant) -> Transmission {
        Transmission { unit: FILL, start, end: start + Duration::from_micros(750), repeats: true }
    }

    #[test]
    fn a_repeating_unit_arrives_once() {
        let mut bearer = Bearer::new(Duration::from_millis(10));
        bearer.carry(fill_from(Instant::START));
        let at = bearer.next_arrival().unwrap();
        assert_eq!(at, Instant::START + Duration::from_micros(10_750));
        assert_eq!(bearer.poll_arrival(at), Some(Arrival::Unit(FILL, Some(Duration::from_micros(750)))));
        assert_eq!(bearer.next_arrival(), None);
    }

    #[test]
    fn errors_in_idle_time_arrive_as_often_as_bits_are_hit() {
        let mean = Duration::from_millis(500);
        let mut bearer =
            Bearer::new(Duration::from_millis(10)).with_errors(mean, Seed::new(1, 0).stream("line"));
        bearer.carry(fill_from(Instant::START));
        let end = Instant::START + Duration::from_secs(1_000);
        let (mut errored, mut good) = (0_u32, 0_u32);
        while let Some(at) = bearer.next_arrival().filter(|at| *at < end) {
            match bearer.poll_arrival(at) {
                Some(Arrival::Errored) => errored += 1,
                Some(Arrival::Unit(..)) => good += 1,
                None => panic!("an arrival was announced"),
            }
        }
        assert_eq!(good, 1);
        // 2,000 expected; the standard deviation is 45.
        assert!((1_820..2_180).contains(&errored), "{errored}");
    }

    #[test]
    fn a_damaged_first_copy_is_followed_by_the_next_one() {
        // An error in every copy but one in e²: the first good copy comes late, after as many errored ones.
        let mean = Duration::from_micros(375);
        let mut bearer = Bearer::new(Duration::ZERO).with_errors(mean, Seed::new(3, 0).stream("line"));
        bearer.carry(fill_from(Instant::START));
        let mut errored = 0;
        loop {
            let at = bearer.next_arrival().unwrap();
            match bearer.poll_arrival(at).unwrap() {
                Arrival::Errored => errored += 1,
                Arrival::Unit(unit, _) => {
                    assert_eq!(unit, FILL);
                    assert_eq!(at, Instant::START + Duration::from_micros(750) * (errored + 1));
                    break;
                }
            }
        }
    }
}
