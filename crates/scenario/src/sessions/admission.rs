//! `admission` of a table of sessions: which may begin, and what becomes of the others.

use slantpath_applications::AdmissionConfig;
use slantpath_base::{DataRate, Duration};
use slantpath_profiles::fault::positive;
use slantpath_reader::{Fault, Faults, Origin, Place, Setting, choice, section};

use crate::bounds::{FLOWS, RATE, TIMER};

section! {
    /// Limits on the sessions that may begin, by what those that are under way from the same table have at that moment.
    /// Each limit that is given holds. Where none is under way one may always begin.
    pub struct Admission {
        /// Number of sessions that may be under way.
        max_sessions: Option<Setting<u32>>, at most FLOWS;
        /// The longest mean of their smoothed round-trip times at which another may begin.
        max_round_trip: Option<Setting<Duration>>, at most TIMER;
        /// The least mean of their throughputs at which another may begin. That of a session is what it has outstanding
        /// over its smoothed round-trip time.
        min_throughput: Option<Setting<DataRate>>, at most RATE;
        /// Fate of a session that may not begin.
        otherwise: Setting<Otherwise> = Otherwise::Refuse;
        /// Number of sessions that wait at most; further ones are refused.
        max_waiting: Setting<u32> = 100, at most FLOWS;
        /// Interval at which round trips and throughputs are checked while one waits: with such limits one begins at
        /// each check, and one as another ends.
        recheck_interval: Setting<Duration> = Duration::from_secs(1), at most TIMER;
    }
}

choice! {
    /// Fate of a session that may not begin.
    pub enum Otherwise {
        /// Ends the session at once.
        Refuse = "refuse",
        /// Lets the session wait behind those that came before it, and begin when it may.
        Wait = "wait",
    }
}

impl Admission {
    /// Reports what admits nobody, or everybody.
    pub(crate) fn check(&self, place: Place, faults: &mut Faults) {
        if self.max_sessions.is_none() && self.max_round_trip.is_none() && self.min_throughput.is_none() {
            let fault = Fault::new("nothing says which sessions may begin");
            let help = "give `max_sessions`, `max_round_trip` or `min_throughput`, or leave `admission` out";
            faults.report(place, fault.help(help));
        }
        if let Some(most) = self.max_sessions.filter(|most| **most == 0) {
            let fault = Fault::new("of no sessions none ever begins");
            faults.report(most.place(), fault.help("let `max_sessions` be 1 or more"));
        }
        if let Some(longest) = &self.max_round_trip {
            positive(longest, "a round trip", faults);
        }
        positive(&self.recheck_interval, "an interval", faults);
        let of_waiting = [
            ("max_waiting", self.max_waiting.origin(), self.max_waiting.place()),
            ("recheck_interval", self.recheck_interval.origin(), self.recheck_interval.place()),
        ];
        let given = of_waiting.into_iter().filter(|(_, origin, _)| *origin == Origin::Given);
        for (key, _, place) in given.filter(|_| *self.otherwise == Otherwise::Refuse) {
            let fault = Fault::new(format!("`{key}` is about sessions that wait, and these are refused"));
            faults.report(place, fault.help(format!("remove `{key}`, or write `otherwise = \"wait\"`")));
        }
    }

    /// Configuration of it in `host`.
    pub(crate) fn config(&self) -> AdmissionConfig {
        let otherwise = match *self.otherwise {
            Otherwise::Refuse => slantpath_applications::Otherwise::Refuse,
            Otherwise::Wait => slantpath_applications::Otherwise::Wait {
                most: *self.max_waiting,
                recheck_interval: *self.recheck_interval,
            },
        };
        AdmissionConfig {
            max_sessions: self.max_sessions.map(|most| *most),
            max_round_trip: self.max_round_trip.map(|longest| *longest),
            min_throughput: self.min_throughput.map(|least| *least),
            otherwise,
        }
    }
}
