//! One association of a load.

use slantpath_applications::Schedule;
use slantpath_base::{Instant, Stream};

use super::LoadClientConfig;

/// One association of the load.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) standing: Standing,
    /// Over how many streams its messages go.
    pub(super) streams: u16,
    /// Number of messages that have come back, or been given up: one that did both counts twice.
    pub(super) settled: u64,
    pub(super) source: Source,
    /// Instant under which the association stands among the due times.
    pub(super) noted: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Opening,
    Up,
    Over,
}

/// Source of the messages of an association.
#[derive(Debug)]
pub(super) enum Source {
    /// Nothing yet; its instants will be drawn from this.
    ToBegin(Stream),
    Begun(Schedule),
}

impl Source {
    /// The messages, of which the first is due now, or a time from now on, if nothing has been sent before.
    pub(super) fn begin(&mut self, now: Instant, config: &LoadClientConfig) -> &mut Schedule {
        if let Self::ToBegin(draws) = self {
            let draws = draws.clone();
            *self = Self::Begun(Schedule::new(config.workload.clone(), config.when_blocked, now, draws));
        }
        match self {
            Self::Begun(schedule) => schedule,
            Self::ToBegin(_) => unreachable!("it has begun"),
        }
    }
}

impl Caller {
    pub(super) const fn new(draws: Stream) -> Self {
        let source = Source::ToBegin(draws);
        Self { standing: Standing::Opening, streams: 1, settled: 0, source, noted: None }
    }

    pub(super) fn is_up(&self) -> bool {
        self.standing == Standing::Up
    }

    /// Number of messages that have been sent.
    pub(super) const fn sent(&self) -> u64 {
        match &self.source {
            Source::ToBegin(_) => 0,
            Source::Begun(schedule) => schedule.taken(),
        }
    }

    /// Instant at which it sends the next of so many messages at most, unless it waits for room or for nothing more.
    pub(super) fn next(&self, most: u64) -> Option<Instant> {
        match &self.source {
            Source::Begun(schedule) if self.is_up() && schedule.may_offer() && schedule.taken() < most => {
                schedule.due()
            }
            Source::Begun(_) | Source::ToBegin(_) => None,
        }
    }

    /// Tells if all of so many messages at most has been sent.
    pub(super) fn has_sent(&self, most: u64) -> bool {
        match (self.standing, &self.source) {
            (Standing::Over, _) => true,
            (Standing::Opening, _) => false,
            (Standing::Up, Source::ToBegin(_)) => most == 0,
            (Standing::Up, Source::Begun(schedule)) => schedule.taken() >= most || schedule.due().is_none(),
        }
    }

    /// There may be room again.
    pub(super) fn try_again(&mut self) {
        if let Source::Begun(schedule) = &mut self.source {
            schedule.try_again();
        }
    }
}
