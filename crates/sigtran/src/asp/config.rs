//! The ranges of timers that all layers have.

use slantpath_base::Duration;

/// A value that an adaptation layer cannot be configured with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A timer outside its range.
    #[error("{timer} is {value}: choose between {min} and {max}")]
    TimerOutOfRange {
        /// The RFC's name.
        timer: &'static str,
        /// Value that was asked for.
        value: Duration,
        /// The smallest that makes sense.
        min: Duration,
        /// The largest that makes sense.
        max: Duration,
    },
    /// Two things that must differ are alike.
    #[error("{what} {value} is given twice: each needs its own")]
    Twice {
        /// Kind of the things that are alike.
        what: &'static str,
        /// Value that both have.
        value: u64,
    },
    /// Something that needs others has none.
    #[error("{what} {value} has no {lacks}: give it one at least")]
    Lacks {
        /// Kind of the thing that lacks others.
        what: &'static str,
        /// Value that names it.
        value: u64,
        /// Kind of the things that are lacking.
        lacks: &'static str,
    },
    /// A message could belong to both of two things.
    #[error("{what} {first} and {second} share traffic: a message can have one of them only")]
    Overlap {
        /// Kind of the things that share traffic.
        what: &'static str,
        /// The value of the one.
        first: u64,
        /// The value of the other.
        second: u64,
    },
    /// Something is named that is not configured.
    #[error("{what} {value} is not configured: configure it, or name another")]
    Unknown {
        /// Kind of the thing that is named.
        what: &'static str,
        /// Value that names it.
        value: u64,
    },
    /// Something stands on one side only that must stand on both.
    #[error("{what} {value} is given for one direction only: give it for both")]
    Unpaired {
        /// Kind of the thing that is given on one side only.
        what: &'static str,
        /// Value that names it.
        value: u64,
    },
    /// A number outside its range.
    #[error("{what} is {value}: choose between {min} and {max}")]
    NumberOutOfRange {
        /// Name of the number.
        what: &'static str,
        /// Value that was asked for.
        value: u64,
        /// Smallest value that is allowed.
        min: u64,
        /// Largest value that is allowed.
        max: u64,
    },
}

/// The range of a timer. The RFCs give defaults at most: the ranges are ours, wide enough for links over satellites
/// and narrow enough to find a wrong unit.
#[derive(Clone, Copy, Debug)]
pub struct TimerRange {
    timer: &'static str,
    min: Duration,
    max: Duration,
}

/// Range of T(ack), the time that an answer may take: 10 ms to 60 s.
pub(crate) const ACKNOWLEDGEMENT: TimerRange =
    TimerRange { timer: "T(ack)", min: Duration::from_millis(10), max: Duration::from_secs(60) };
/// Range of T(beat), the interval of heartbeats: 100 ms to 600 s.
pub(crate) const HEARTBEAT: TimerRange =
    TimerRange { timer: "T(beat)", min: Duration::from_millis(100), max: Duration::from_secs(600) };
/// T(r). Zero keeps nothing waiting.
pub(crate) const RECOVERY: TimerRange =
    TimerRange { timer: "T(r)", min: Duration::ZERO, max: Duration::from_secs(600) };

/// The period in which an ASP asks for destinations.
pub(crate) const AUDIT: TimerRange =
    TimerRange { timer: "the audit period", min: Duration::from_millis(100), max: Duration::from_secs(3600) };

impl TimerRange {
    /// Gives the range of a timer that a layer has of its own.
    pub const fn new(timer: &'static str, min: Duration, max: Duration) -> Self {
        Self { timer, min, max }
    }

    /// Refuses a value outside the range.
    pub fn check(self, value: Duration) -> Result<(), ConfigError> {
        let Self { timer, min, max } = self;
        if min <= value && value <= max {
            Ok(())
        } else {
            Err(ConfigError::TimerOutOfRange { timer, value, min, max })
        }
    }
}
