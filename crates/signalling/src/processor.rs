//! The central processor of a signalling gateway or transfer point: every message of a user part passes it on its way
//! from level 2 to MTP3. One is processed after the other, and each takes its way through the system besides.

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_ss7::mtp3::node::Mtp3LinkId;

/// Capacity of a processor and its delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorConfig {
    /// Time that a message takes besides waiting for the processor and occupying it: interfaces, buses, other
    /// processors.
    pub delay: Duration,
    /// Time for which a message occupies it: the inverse of its capacity. Zero is a processor without a limit.
    pub per_message: Duration,
    /// Messages that may wait for it; what comes beyond is thrown away and counted.
    pub waiting_max: u32,
    /// So many waiting are congestion, of which the origins of messages are told by transfer controlled.
    pub congestion_onset: u32,
    /// At so many it is over.
    pub congestion_abatement: u32,
}

/// Why a configuration is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProcessorError {
    /// Congestion ends where it begins, or above.
    #[error(
        "congestion of the processor would end at {abatement} waiting messages, not below its onset at {onset}"
    )]
    Abatement {
        /// Onset of the congestion.
        onset: u32,
        /// Abatement of the congestion.
        abatement: u32,
    },
    /// Messages would be thrown away before anybody was told.
    #[error(
        "{waiting_max} messages may wait for the processor, which are all there before congestion begins at {onset}"
    )]
    Onset {
        /// Onset of the congestion.
        onset: u32,
        /// Number of messages that may wait.
        waiting_max: u32,
    },
}

/// Counts of the messages that came, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessorCounters {
    /// Messages that passed the processor.
    pub processed: u64,
    /// Messages that were discarded because too many waited.
    pub queue_full: u64,
}

#[derive(Debug)]
pub(crate) struct Processor {
    config: ProcessorConfig,
    /// Messages that wait or are on their way, with the instant at which each has passed, in that order.
    inside: VecDeque<(Instant, Mtp3LinkId, Bytes)>,
    /// Instant at which it has nothing more to process.
    free_at: Instant,
    is_congested: bool,
    counters: ProcessorCounters,
}

impl ProcessorConfig {
    /// Checks that origins are told before messages are lost.
    ///
    /// # Errors
    /// If they are not.
    pub const fn check(&self) -> Result<(), ProcessorError> {
        let Self { waiting_max, congestion_onset: onset, congestion_abatement: abatement, .. } = *self;
        if abatement >= onset {
            return Err(ProcessorError::Abatement { onset, abatement });
        }
        if onset >= waiting_max {
            return Err(ProcessorError::Onset { onset, waiting_max });
        }
        Ok(())
    }
}

impl Processor {
    pub(crate) const fn new(config: ProcessorConfig) -> Self {
        Self {
            config,
            inside: VecDeque::new(),
            free_at: Instant::START,
            is_congested: false,
            counters: ProcessorCounters { processed: 0, queue_full: 0 },
        }
    }

    pub(crate) const fn config(&self) -> ProcessorConfig {
        self.config
    }

    /// Renumbers links: the former number of each, and the present one. What came over others is gone with them.
    pub(crate) fn renumbered(mut self, links: &[(Mtp3LinkId, Mtp3LinkId)]) -> Self {
        self.inside.retain_mut(|(_, link, _)| {
            let own = links.iter().find(|(before, _)| before == link).map(|(_, own)| *own);
            *link = own.unwrap_or(*link);
            own.is_some()
        });
        self
    }

    pub(crate) const fn counters(&self) -> ProcessorCounters {
        self.counters
    }

    /// Messages whose turn has not come.
    fn waiting(&self, now: Instant) -> u64 {
        let busy = self.free_at.saturating_since(now).as_nanos();
        let each = self.config.per_message.as_nanos();
        // The k-th from the end begins k times `each` before the processor is free.
        if each == 0 { 0 } else { busy.div_ceil(each).saturating_sub(1) }
    }

    pub(crate) fn push(&mut self, now: Instant, link: Mtp3LinkId, octets: Bytes) {
        if self.waiting(now) >= u64::from(self.config.waiting_max) {
            self.counters.queue_full += 1;
            return;
        }
        self.free_at = self.free_at.max(now).saturating_add(self.config.per_message);
        let passed_at = self.free_at.saturating_add(self.config.delay);
        self.inside.push_back((passed_at, link, octets));
    }

    /// The next message that has passed by `now`.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Mtp3LinkId, Bytes)> {
        let (_, link, octets) = self.inside.pop_front_if(|(passed_at, ..)| *passed_at <= now)?;
        self.counters.processed += 1;
        Some((link, octets))
    }

    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.inside.front().map(|(passed_at, ..)| *passed_at)
    }

    /// Gives the new state of congestion, if it has changed.
    pub(crate) fn new_congestion(&mut self, now: Instant) -> Option<bool> {
        let waiting = self.waiting(now);
        let is_congested = if self.is_congested {
            waiting > u64::from(self.config.congestion_abatement)
        } else {
            waiting >= u64::from(self.config.congestion_onset)
        };
        let was_congested = std::mem::replace(&mut self.is_congested, is_congested);
        (was_congested != is_congested).then_some(is_congested)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: Duration = Duration::from_millis(1);

    fn config() -> ProcessorConfig {
        ProcessorConfig {
            delay: MILLI * 30,
            per_message: MILLI * 2,
            waiting_max: 4,
            congestion_onset: 3,
            congestion_abatement: 1,
        }
    }

    fn at(millis: u64) -> Instant {
        Instant::START + MILLI * millis
    }

    fn push(processor: &mut Processor, now: u64, octet: u8) {
        processor.push(at(now), Mtp3LinkId(u16::from(octet)), Bytes::copy_from_slice(&[octet]));
    }

    #[test]
    fn a_message_takes_its_processing_and_its_delay_and_the_next_waits_for_the_processing_only() {
        let mut processor = Processor::new(config());
        push(&mut processor, 10, 1);
        push(&mut processor, 11, 2);
        push(&mut processor, 50, 3);
        assert_eq!(processor.deadline(), Some(at(42)));
        assert_eq!(processor.pop(at(41)), None);
        let passed =
            |processor: &mut Processor, now| processor.pop(at(now)).map(|(link, octets)| (link.0, octets[0]));
        assert_eq!(passed(&mut processor, 42), Some((1, 1)));
        assert_eq!(processor.deadline(), Some(at(44)));
        assert_eq!(passed(&mut processor, 44), Some((2, 2)));
        assert_eq!(processor.deadline(), Some(at(82)));
        assert_eq!(passed(&mut processor, 82), Some((3, 3)));
        assert_eq!((processor.deadline(), processor.counters().processed), (None, 3));
    }

    #[test]
    fn so_many_may_wait_beside_the_one_that_is_processed() {
        let mut processor = Processor::new(config());
        (0..7).for_each(|octet| push(&mut processor, 10, octet));
        assert_eq!((processor.waiting(at(10)), processor.counters().queue_full), (4, 2));
        // The second has begun when the first is done, and not before.
        assert_eq!(
            (processor.waiting(at(11)), processor.waiting(at(12)), processor.waiting(at(19))),
            (4, 3, 0)
        );
        push(&mut processor, 12, 9);
        push(&mut processor, 12, 9);
        assert_eq!(processor.counters().queue_full, 3);
    }

    #[test]
    fn congestion_begins_before_anything_is_lost_and_ends_below() {
        let mut processor = Processor::new(config());
        (0..3).for_each(|octet| push(&mut processor, 10, octet));
        assert_eq!(processor.new_congestion(at(10)), None);
        push(&mut processor, 10, 3);
        assert_eq!((processor.new_congestion(at(10)), processor.counters().queue_full), (Some(true), 0));
        assert_eq!(processor.new_congestion(at(13)), None);
        assert_eq!(processor.new_congestion(at(14)), Some(false));
        assert_eq!(processor.new_congestion(at(14)), None);
    }

    #[test]
    fn a_processor_without_a_limit_lets_nothing_wait() {
        let mut processor = Processor::new(ProcessorConfig { per_message: Duration::ZERO, ..config() });
        (0..100).for_each(|octet| push(&mut processor, 10, octet));
        assert_eq!((processor.deadline(), processor.counters().queue_full), (Some(at(40)), 0));
        assert_eq!(processor.new_congestion(at(10)), None);
    }

    #[test]
    fn origins_have_to_hear_of_it_in_time() {
        assert_eq!(config().check(), Ok(()));
        let late = ProcessorConfig { congestion_onset: 4, ..config() };
        assert_eq!(late.check(), Err(ProcessorError::Onset { onset: 4, waiting_max: 4 }));
        let never = ProcessorConfig { congestion_abatement: 3, ..config() };
        assert_eq!(never.check(), Err(ProcessorError::Abatement { onset: 3, abatement: 3 }));
    }
}
