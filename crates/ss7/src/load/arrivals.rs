//! Processes of arrival: the instants at which messages are generated.

use slantpath_base::{Duration, Instant, Stream};

use super::profile::Profile;
use crate::mtp3::Sls;

/// The process by which the messages of one link arrive. Where it has no times of its own, the mean gap between two
/// messages is what gives the link its Erlang.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// At equal gaps, from a random part of the first one on, so that links do not beat in step.
    Constant,
    /// A Poisson process during periods of activity, nothing between them; both are exponential. The gaps are shorter
    /// by the share of active time, so that the Erlang hold over both.
    OnOff {
        /// Mean length of a period of activity.
        mean_on: Duration,
        /// Mean length of a pause.
        mean_off: Duration,
    },
    /// A Poisson process.
    Poisson,
    /// As a trace has them, in order of time; the link's Erlang are what they are.
    Trace(Vec<TracedArrival>),
}

/// A message of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedArrival {
    /// Arrival time of the message, from the start of the load on.
    pub at: Duration,
    /// Length of the message in octets on the line, if the trace says so.
    pub octets: Option<usize>,
    /// Signalling link selection of the message, if the trace says so.
    pub sls: Option<Sls>,
}

impl TracedArrival {
    /// One of which only the time is known.
    pub const fn at(at: Duration) -> Self {
        Self { at, octets: None, sls: None }
    }
}

/// The process of one link, under way.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    arrivals: Arrivals,
    stream: Stream,
    start: Instant,
    /// Instant at which the load ends.
    stop: Instant,
    /// Mean gap, in activity.
    gap: Duration,
    /// Until when the period of activity lasts.
    active_until: Instant,
    taken: usize,
    due: Option<Instant>,
    /// Course of the load over time, if it changes.
    profile: Option<Profile>,
}

impl Clock {
    /// `mean_gap` is over all time, or that of the profile's reference; without one only a trace has messages. A load
    /// whose arrivals have times of their own does not change.
    pub(super) fn new(
        arrivals: Arrivals,
        mean_gap: Option<Duration>,
        (start, stop): (Instant, Instant),
        profile: Option<Profile>,
        stream: Stream,
    ) -> Self {
        let is_idle = mean_gap.is_none() && !matches!(arrivals, Arrivals::Trace(_));
        let mean_gap = mean_gap.unwrap_or(Duration::MAX);
        let gap = match &arrivals {
            Arrivals::OnOff { mean_on, mean_off } => {
                let share = mean_on.as_secs_f64() / (mean_on.as_secs_f64() + mean_off.as_secs_f64());
                Duration::from_secs_f64(mean_gap.as_secs_f64() * share)
            }
            Arrivals::Constant | Arrivals::Poisson | Arrivals::Trace(_) => mean_gap,
        };
        let mut clock =
            Self { arrivals, stream, start, stop, gap, active_until: start, taken: 0, due: None, profile };
        if !is_idle {
            clock.due = clock.first();
        }
        clock
    }

    /// Gives the instant at which the next message is due; `None` after the last one of a trace.
    pub(super) const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Gives the entry of a trace for the message that is due; `None` where the arrivals are no trace.
    pub(super) fn traced(&self) -> Option<TracedArrival> {
        match &self.arrivals {
            Arrivals::Trace(messages) => messages.get(self.taken).copied(),
            Arrivals::Constant | Arrivals::OnOff { .. } | Arrivals::Poisson => None,
        }
    }

    /// The message that was due has been taken.
    pub(super) fn advance(&mut self) {
        self.taken += 1;
        self.due = self.due.and_then(|due| self.after(due));
    }

    fn first(&mut self) -> Option<Instant> {
        match &self.arrivals {
            Arrivals::Constant => {
                let phase = self.stream.duration_between(Duration::ZERO, self.gap);
                self.gap_after(self.start, phase)
            }
            Arrivals::OnOff { .. } | Arrivals::Poisson | Arrivals::Trace(_) => self.after(self.start),
        }
    }

    /// Gives the instant at which a gap that begins at `from` ends; a profile stretches or shortens it with the load.
    fn gap_after(&mut self, from: Instant, gap: Duration) -> Option<Instant> {
        match &mut self.profile {
            None => Some(from.saturating_add(gap)),
            Some(profile) => profile.after(from, gap),
        }
    }

    fn after(&mut self, from: Instant) -> Option<Instant> {
        match self.arrivals {
            Arrivals::Constant => self.gap_after(from, self.gap),
            Arrivals::Poisson => {
                let gap = self.stream.exponential(self.gap);
                self.gap_after(from, gap)
            }
            Arrivals::OnOff { mean_on, mean_off } => {
                let mut at = from.saturating_add(self.stream.exponential(self.gap));
                // A Poisson process has no memory: what falls behind the end of activity is drawn anew in the next.
                while at > self.active_until {
                    let begin = self.active_until.saturating_add(self.stream.exponential(mean_off));
                    if begin >= self.stop {
                        return None;
                    }
                    self.active_until = begin.saturating_add(self.stream.exponential(mean_on));
                    at = begin.saturating_add(self.stream.exponential(self.gap));
                }
                Some(at)
            }
            Arrivals::Trace(ref messages) => {
                messages.get(self.taken).map(|message| self.start.saturating_add(message.at))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_base::Seed;

    fn counts(arrivals: &Arrivals, seconds: u64) -> Vec<u64> {
        let stream = Seed::new(5, 0).stream("arrivals");
        let span = (Instant::START, Instant::FAR_FUTURE);
        let mut clock = Clock::new(arrivals.clone(), Some(Duration::from_millis(10)), span, None, stream);
        let mut counts = vec![0; usize::try_from(seconds).expect("small")];
        while let Some(due) = clock.due() {
            let second = usize::try_from((due - Instant::START).as_nanos() / 1_000_000_000).expect("small");
            let Some(count) = counts.get_mut(second) else { break };
            *count += 1;
            clock.advance();
        }
        counts
    }

    /// Mean and variance of messages a second.
    fn moments(arrivals: &Arrivals) -> (f64, f64) {
        let counts = counts(arrivals, 2_000);
        let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        let variance =
            counts.iter().map(|count| (*count as f64 - mean).powi(2)).sum::<f64>() / counts.len() as f64;
        (mean, variance)
    }

    #[test]
    fn constant_arrivals_are_as_many_every_second() {
        let (mean, variance) = moments(&Arrivals::Constant);
        assert!((mean - 100.0).abs() < 0.01 && variance < 1.0, "{mean} {variance}");
    }

    #[test]
    fn poisson_arrivals_vary_as_much_as_they_are() {
        let (mean, variance) = moments(&Arrivals::Poisson);
        assert!((mean - 100.0).abs() < 1.0 && (variance / mean - 1.0).abs() < 0.15, "{mean} {variance}");
    }

    #[test]
    fn on_off_arrivals_keep_the_mean_and_vary_more() {
        let second = Duration::from_secs(1);
        let (mean, variance) = moments(&Arrivals::OnOff { mean_on: second, mean_off: second });
        assert!((mean - 100.0).abs() < 8.0 && variance / mean > 10.0, "{mean} {variance}");
    }

    #[test]
    fn a_trace_is_played_and_ends() {
        let messages = [0, 5, 5, 1_200].map(|at| TracedArrival::at(Duration::from_millis(at))).to_vec();
        assert_eq!(counts(&Arrivals::Trace(messages), 2), [3, 1]);
    }
}
