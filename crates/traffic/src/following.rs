//! A load that another program sends, followed where its messages arrive: the same generator says what was sent.

use slantpath_base::{Duration, Instant};
use slantpath_ss7::load::LoadStamp;

/// Relation of the sender's clock to the receiver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocks {
    /// Two clocks that nothing relates: delays count from the least so far, and are its variation.
    Apart,
    /// One clock, or two that something keeps together.
    Together,
}

/// Messages that are taken for lost before one that arrives, at most: a number further ahead is none of the load.
pub(crate) const MOST_AHEAD: u64 = 1_000_000;

/// Knowledge of the sender of a load.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Following {
    clocks: Clocks,
    /// The sender's clock at the receiver's start, as far as both are one: nanoseconds.
    epoch: u64,
    /// The receiver's nanoseconds at the sender's start, which may be before its own.
    origin: Option<i128>,
    /// The least difference of the receiver's clock from the sender's at a message, in nanoseconds.
    least: Option<i128>,
}

impl Following {
    pub(crate) const fn new(clocks: Clocks, epoch: u64) -> Self {
        Self { clocks, epoch, origin: None, least: None }
    }

    /// Instant at which a message was to be sent; that of its arrival while nothing else is known.
    pub(crate) fn sent(&self, due: Instant, now: Instant) -> Instant {
        let nanos = self.origin.map(|origin| origin + i128::from(due.as_nanos()));
        nanos.map_or(now, |nanos| instant(nanos, now))
    }

    /// Instant from which the delay of a message counts that has just come. `due` is that of the schedule.
    pub(crate) fn counts_from(
        &mut self,
        now: Instant,
        due: Option<Instant>,
        stamp: LoadStamp,
    ) -> Option<Instant> {
        let told = stamp.sent.map(|nanos| i128::from(nanos) - i128::from(self.epoch));
        let own = i128::from(now.as_nanos());
        let from = match (told, self.clocks) {
            (Some(told), Clocks::Together) => Some(instant(told, now)),
            (Some(told), Clocks::Apart) => {
                let least = self.least.map_or(own - told, |least| least.min(own - told));
                self.least = Some(least);
                Some(instant(told + least, now))
            }
            (None, _) => None,
        };
        if let (None, Some(due)) = (self.origin, due) {
            self.origin = Some(i128::from(from.unwrap_or(now).as_nanos()) - i128::from(due.as_nanos()));
        }
        from
    }

    /// Instant of the sender's schedule, once a message has come.
    pub(crate) fn schedule(&self, now: Instant) -> Option<Instant> {
        let nanos = i128::from(now.as_nanos()) - self.origin?;
        Some(Instant::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)))
    }

    /// Time between the receiver's start and the sender's, if that is later.
    pub(crate) fn begins(&self) -> Duration {
        let nanos = self.origin.unwrap_or_default().max(0);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// An instant at the receiver's: none before its start, and none to come.
fn instant(nanos: i128, now: Instant) -> Instant {
    Instant::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)).min(now)
}

#[cfg(test)]
mod tests;
