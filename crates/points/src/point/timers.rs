//! Timers of MTP3 of a signalling point, among the keys of its table.

use slantpath_base::Duration;
use slantpath_reader::{Setting, section};
use slantpath_ss7::mtp3::node::{self, Mtp3Timer, TIMER_RANGES};

use crate::bounds::TIMER;

/// The default of a timer of Q.704 or Q.707: the middle of its range, rounded.
fn middle(timer: Mtp3Timer) -> Duration {
    TIMER_RANGES[timer as usize].default
}

section! {
    /// Timers of Q.704, section 16.8, and of Q.707, section 5.5. Q.704 does not use T9.
    pub struct Mtp3Timers {
        /// Q.704 T1: delay against mis-sequencing on changeover.
        t1: Setting<Duration> = middle(Mtp3Timer::T1), at most TIMER;
        /// Q.704 T2: waiting for changeover acknowledgement.
        t2: Setting<Duration> = middle(Mtp3Timer::T2), at most TIMER;
        /// Q.704 T3: delay against mis-sequencing on changeback by time.
        t3: Setting<Duration> = middle(Mtp3Timer::T3), at most TIMER;
        /// Q.704 T4: waiting for changeback acknowledgement, first attempt.
        t4: Setting<Duration> = middle(Mtp3Timer::T4), at most TIMER;
        /// Q.704 T5: waiting for changeback acknowledgement, second attempt.
        t5: Setting<Duration> = middle(Mtp3Timer::T5), at most TIMER;
        /// Q.704 T6: delay against mis-sequencing on controlled rerouting.
        t6: Setting<Duration> = middle(Mtp3Timer::T6), at most TIMER;
        /// Q.704 T7: waiting for the acknowledgement of a data link connection. It never runs: every link has its line.
        t7: Setting<Duration> = middle(Mtp3Timer::T7), at most TIMER;
        /// Q.704 T8: from one transfer prohibited in answer to a message to the next.
        t8: Setting<Duration> = middle(Mtp3Timer::T8), at most TIMER;
        /// Q.704 T10: from one signalling route set test to the next.
        t10: Setting<Duration> = middle(Mtp3Timer::T10), at most TIMER;
        /// Q.704 T11: how long an alternative route is used before transfer restricted is sent.
        t11: Setting<Duration> = middle(Mtp3Timer::T11), at most TIMER;
        /// Q.704 T12: waiting for uninhibit acknowledgement.
        t12: Setting<Duration> = middle(Mtp3Timer::T12), at most TIMER;
        /// Q.704 T13: waiting for force uninhibit.
        t13: Setting<Duration> = middle(Mtp3Timer::T13), at most TIMER;
        /// Q.704 T14: waiting for inhibition acknowledgement.
        t14: Setting<Duration> = middle(Mtp3Timer::T14), at most TIMER;
        /// Q.704 T15: with national congestion, from transfer controlled to the route set congestion test.
        t15: Setting<Duration> = middle(Mtp3Timer::T15), at most TIMER;
        /// Q.704 T16: with national congestion, waiting for an update of the congestion status.
        t16: Setting<Duration> = middle(Mtp3Timer::T16), at most TIMER;
        /// Q.704 T17: delay before a link that could not be aligned is tried again.
        t17: Setting<Duration> = middle(Mtp3Timer::T17), at most TIMER;
        /// Q.704 T18: restart of a transfer point, for links and routing information to come.
        t18: Setting<Duration> = middle(Mtp3Timer::T18), at most TIMER;
        /// Q.704 T19: how long a further traffic restart allowed is taken for an echo.
        t19: Setting<Duration> = middle(Mtp3Timer::T19), at most TIMER;
        /// Q.704 T20: the whole restart.
        t20: Setting<Duration> = middle(Mtp3Timer::T20), at most TIMER;
        /// Q.704 T21: the whole restart of an adjacent point.
        t21: Setting<Duration> = middle(Mtp3Timer::T21), at most TIMER;
        /// Q.704 T22: from one test of an inhibition at this end to the next.
        t22: Setting<Duration> = middle(Mtp3Timer::T22), at most TIMER;
        /// Q.704 T23: from one test of an inhibition at the far end to the next.
        t23: Setting<Duration> = middle(Mtp3Timer::T23), at most TIMER;
        /// Q.704 T24: settling after a processor outage of this point.
        t24: Setting<Duration> = middle(Mtp3Timer::T24), at most TIMER;
        /// Q.707 T1: waiting for the acknowledgement of a link test.
        link_test_t1: Setting<Duration> = middle(Mtp3Timer::TestT1), at most TIMER;
        /// Q.707 T2: from one link test to the next.
        link_test_t2: Setting<Duration> = middle(Mtp3Timer::TestT2), at most TIMER;
    }
}

impl Mtp3Timers {
    /// Each timer with its value.
    pub(crate) fn settings(&self) -> [(Mtp3Timer, &Setting<Duration>); TIMER_RANGES.len()] {
        [
            (Mtp3Timer::T1, &self.t1),
            (Mtp3Timer::T2, &self.t2),
            (Mtp3Timer::T3, &self.t3),
            (Mtp3Timer::T4, &self.t4),
            (Mtp3Timer::T5, &self.t5),
            (Mtp3Timer::T6, &self.t6),
            (Mtp3Timer::T7, &self.t7),
            (Mtp3Timer::T8, &self.t8),
            (Mtp3Timer::T10, &self.t10),
            (Mtp3Timer::T11, &self.t11),
            (Mtp3Timer::T12, &self.t12),
            (Mtp3Timer::T13, &self.t13),
            (Mtp3Timer::T14, &self.t14),
            (Mtp3Timer::T15, &self.t15),
            (Mtp3Timer::T16, &self.t16),
            (Mtp3Timer::T17, &self.t17),
            (Mtp3Timer::T18, &self.t18),
            (Mtp3Timer::T19, &self.t19),
            (Mtp3Timer::T20, &self.t20),
            (Mtp3Timer::T21, &self.t21),
            (Mtp3Timer::T22, &self.t22),
            (Mtp3Timer::T23, &self.t23),
            (Mtp3Timer::T24, &self.t24),
            (Mtp3Timer::TestT1, &self.link_test_t1),
            (Mtp3Timer::TestT2, &self.link_test_t2),
        ]
    }

    /// The value of one.
    pub fn setting(&self, timer: Mtp3Timer) -> &Setting<Duration> {
        self.settings()[timer as usize].1
    }

    /// The values of all.
    pub fn timers(&self) -> node::Timers {
        let with = |timers: node::Timers, (timer, value): (Mtp3Timer, &Setting<Duration>)| {
            timers.with(timer, **value)
        };
        self.settings().into_iter().fold(node::Timers::default(), with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_reader::{Document, Faults, Place, Section};

    #[test]
    fn every_timer_of_mtp3_has_its_key() {
        let mut faults = Faults::default();
        let timers = Mtp3Timers::read(&std::collections::BTreeMap::new(), "", Place::default(), &mut faults);
        let timers = timers.expect("every key has a default");
        for ((range, place), (timer, value)) in TIMER_RANGES.iter().zip(0..).zip(timers.settings()) {
            assert_eq!((timer, timer as usize, **value), (range.timer, place, range.default));
        }
        assert_eq!(timers.timers(), node::Timers::default());
    }

    #[test]
    fn each_timer_of_mtp3_reaches_its_place() {
        let key = |timer: Mtp3Timer| match timer {
            Mtp3Timer::TestT1 => "link_test_t1".to_owned(),
            Mtp3Timer::TestT2 => "link_test_t2".to_owned(),
            timer => format!("{timer:?}").to_lowercase(),
        };
        let value = |timer: Mtp3Timer| Duration::from_millis(timer as u64 + 1);
        let lines = TIMER_RANGES.map(|range| format!("{} = \"{}\"", key(range.timer), value(range.timer)));
        let (entries, _) = Document::parse("t", &lines.join("\n")).entries().unwrap();
        let timers =
            Mtp3Timers::read(&entries, "", Place::default(), &mut Faults::default()).unwrap().timers();
        for range in TIMER_RANGES {
            assert_eq!(timers.value(range.timer), value(range.timer), "{:?}", range.timer);
        }
    }
}
