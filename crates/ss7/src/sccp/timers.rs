//! SCCP's timers and their ranges (Q.714, annex C, table C.1).

use slantpath_base::Duration;

/// The values of a node's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timers {
    /// T(conn est): waiting for CC or CREF.
    pub connection_establishment: Duration,
    /// T(ias): sending nothing on a connection, before IT is sent.
    pub inactivity_send: Duration,
    /// T(iar): receiving nothing on a connection, before it is released.
    pub inactivity_receive: Duration,
    /// T(rel): waiting for RLC.
    pub release: Duration,
    /// T(repeat rel): between further RLSD after T(rel).
    pub repeat_release: Duration,
    /// T(int): waiting for RLC after T(rel), before the connection is given up.
    pub interval: Duration,
    /// T(guard): after a restart, before connections are made again.
    pub guard: Duration,
    /// T(reset): waiting for RSC.
    pub reset: Duration,
    /// T(reass): waiting for all segments.
    pub reassembly: Duration,
    /// T(stat info): before the first SST about a subsystem; it doubles with each.
    pub status_information: Duration,
    /// Longest value that T(stat info) grows to.
    pub status_information_longest: Duration,
    /// T(coord chg): waiting for SOG.
    pub coordinated_change: Duration,
    /// T(ignore SST): after SOG, SST is not answered. Chosen by management.
    pub ignore_status_test: Duration,
    /// Ta: after an MTP-STATUS, further ones count no more.
    pub attack: Duration,
    /// Td: without an MTP-STATUS, the restriction decays by a step.
    pub decay: Duration,
    /// Time for which a reference is not used again. Longer than any message can be under way.
    pub reference_freeze: Duration,
}

impl Default for Timers {
    /// The lower ends of the ranges, but for what the recommendation leaves open: SST is ignored for half a minute,
    /// Ta and Td are 0.4 s and 2 s, and references stay frozen for as long as an MTP route may hold messages.
    fn default() -> Self {
        Self {
            connection_establishment: Duration::from_secs(60),
            inactivity_send: Duration::from_secs(5 * 60),
            inactivity_receive: Duration::from_secs(11 * 60),
            release: Duration::from_secs(10),
            repeat_release: Duration::from_secs(10),
            interval: Duration::from_secs(60),
            guard: Duration::from_secs(23 * 60),
            reset: Duration::from_secs(10),
            reassembly: Duration::from_secs(10),
            status_information: Duration::from_secs(5),
            status_information_longest: Duration::from_secs(10 * 60),
            coordinated_change: Duration::from_secs(60),
            ignore_status_test: Duration::from_secs(30),
            attack: Duration::from_millis(400),
            decay: Duration::from_secs(2),
            reference_freeze: Duration::from_secs(10),
        }
    }
}

/// A timer outside of its range, or two that do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimerError {
    /// A value that the recommendation does not allow.
    #[error("{timer} is {value}; Q.714 allows {low} to {high}")]
    OutOfRange {
        /// The timer's name.
        timer: &'static str,
        /// Value that it is set to.
        value: Duration,
        /// The least allowed.
        low: Duration,
        /// The most allowed.
        high: Duration,
    },
    /// A timer that must be the longer one is not.
    #[error("{longer} is {longer_value} and {shorter} is {shorter_value}: the first must be longer")]
    NotLonger {
        /// The timer that must be longer.
        longer: &'static str,
        /// Value of the timer that must be longer.
        longer_value: Duration,
        /// The timer that must be shorter.
        shorter: &'static str,
        /// Value of the timer that must be shorter.
        shorter_value: Duration,
    },
}

impl Timers {
    /// Checks that all timers lie in their ranges, and that none contradicts another.
    pub fn check(&self) -> Result<(), TimerError> {
        self.faults().into_iter().next().map_or(Ok(()), Err)
    }

    /// Every timer outside of its range (Q.714, annex C, table C.1), and every two that contradict each other.
    pub fn faults(&self) -> Vec<TimerError> {
        let seconds = Duration::from_secs;
        let ranges = [
            ("T(conn est)", self.connection_establishment, seconds(60), seconds(120)),
            ("T(ias)", self.inactivity_send, seconds(5 * 60), seconds(10 * 60)),
            ("T(iar)", self.inactivity_receive, seconds(11 * 60), seconds(21 * 60)),
            ("T(rel)", self.release, seconds(10), seconds(20)),
            ("T(repeat rel)", self.repeat_release, seconds(10), seconds(20)),
            ("T(int)", self.interval, seconds(1), seconds(60)),
            ("T(guard)", self.guard, seconds(23 * 60), seconds(25 * 60)),
            ("T(reset)", self.reset, seconds(10), seconds(20)),
            ("T(reass)", self.reassembly, seconds(10), seconds(20)),
            ("T(stat info)", self.status_information, seconds(5), seconds(10)),
            ("T(stat info), longest", self.status_information_longest, seconds(10 * 60), seconds(20 * 60)),
            ("T(coord chg)", self.coordinated_change, seconds(60), seconds(120)),
            ("Ta", self.attack, Duration::from_millis(60), seconds(1)),
            ("Td", self.decay, Duration::from_millis(100), seconds(60)),
        ];
        let outside = ranges.into_iter().filter(|(_, value, low, high)| value < low || value > high);
        let mut faults: Vec<TimerError> = outside
            .map(|(timer, value, low, high)| TimerError::OutOfRange { timer, value, low, high })
            .collect();
        let pairs = [
            ("T(iar)", self.inactivity_receive, "T(ias)", self.inactivity_send),
            ("T(int)", self.interval, "T(repeat rel)", self.repeat_release),
            ("Td", self.decay, "Ta", self.attack),
        ];
        for (longer, longer_value, shorter, shorter_value) in pairs {
            if longer_value <= shorter_value {
                faults.push(TimerError::NotLonger { longer, longer_value, shorter, shorter_value });
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_lie_in_their_ranges() {
        assert_eq!(Timers::default().check(), Ok(()));
    }

    #[test]
    fn a_timer_outside_its_range_is_named_with_both_ends() {
        let timers = Timers { release: Duration::from_secs(21), ..Timers::default() };
        assert_eq!(timers.check().unwrap_err().to_string(), "T(rel) is 21 s; Q.714 allows 10 s to 20 s");
    }

    #[test]
    fn timers_that_contradict_each_other_are_named_with_both_values() {
        let timers = Timers { interval: Duration::from_secs(9), ..Timers::default() };
        assert_eq!(
            timers.check().unwrap_err().to_string(),
            "T(int) is 9 s and T(repeat rel) is 10 s: the first must be longer"
        );
    }
}
