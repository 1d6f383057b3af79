//! Settings of a link, and the checks that refuse contradictory ones.

use slantpath_base::Duration;

use crate::m2pa::SHORTEST_MSU;

/// Everything that can be chosen for a link. Both ends should choose alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// T1 to T7.
    pub timers: Timers,
    /// Whose ranges the timers must keep; those of 64 kbit/s unless chosen, since their T7 suits most paths.
    pub ranges: TimerRanges,
    /// From when on T7 runs for a message.
    pub t7_from: T7From,
    /// Proving of the association before it carries messages.
    pub proving: Proving,
    /// Messages that may be sent and not yet acknowledged (N2 of Q.703). 4,096: with MSUs of 100 octets that is
    /// 4 Mbit/s over a round trip of 700 ms.
    pub outstanding_max: usize,
    /// Messages that may wait or be unacknowledged together; MTP3's are refused beyond. 8,192: twice the window.
    pub buffer_max: usize,
    /// Messages that may wait for the association: what gateways call the transmission queue. As many as the buffer
    /// takes unless chosen.
    pub waiting_max: Option<usize>,
    /// Thresholds of onset and abatement of congestion, for status 1, 2 and 3; one to three, rising. Unless chosen, one
    /// as in the international network (Q.704, section 3.8), at half the buffer and a quarter.
    pub congestion: Vec<CongestionThreshold>,
    /// Received messages that may be held during a local processor outage or receive congestion. 8,192: as many as a
    /// peer with our own window may still send, twice.
    pub held_max: usize,
    /// Octets of the longest MSU, from its service information octet on: 273 as in Q.703, section 2.3.8, which is a
    /// signalling information field of 272.
    pub longest_msu: usize,
}

/// The timers of Q.703, section 12.3, without T8, which guards a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timers {
    /// Aligned ready: how long the peer may take to become ready. 45 s: the middle of its range.
    pub t1: Duration,
    /// Not aligned: how long the peer may take to answer Alignment. 30 s: some reconnections of an association.
    pub t2: Duration,
    /// Aligned: how long the peer may take to begin to prove. 1.5 s: the most, for long paths.
    pub t3: Duration,
    /// Normal proving period. 8.2 s: Q.703's nominal value.
    pub t4_normal: Duration,
    /// Emergency proving period. 500 ms: Q.703's nominal value.
    pub t4_emergency: Duration,
    /// Interval at which Busy is repeated while receive congestion lasts. Not at all, since the association loses
    /// nothing (RFC 4165, section 4.1.5).
    pub t5: Option<Duration>,
    /// Remote congestion: how long the peer may be busy. 5 s: long enough for a short overload.
    pub t6: Duration,
    /// Excessive delay of acknowledgement: how long any message may be unacknowledged. 2 s: the most.
    pub t7: Duration,
}

/// From when on a message counts as unacknowledged for T7.
///
/// RFC 4165, section 4.2.1, has T7 expire "if any message is unacknowledged after a period equal to the T7 value", and
/// leaves open where that period begins: MTP2 sends what it takes out of its buffer, M2PA hands it to a transport that
/// may keep it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum T7From {
    /// From the instant at which MTP3 gave it: time that it is queued above the association counts too.
    Given,
    /// From the hand-over to the association: time in SCTP's send buffer counts, time in the queue above it does not.
    #[default]
    HandOver,
    /// From the first transmission by SCTP: no time in a queue counts.
    FirstTransmission,
    /// From the hand-over, or from the last acknowledgement of a message if that came later: the one timer of Q.703,
    /// section 5.3.1, which only a standstill lets expire.
    LastAcknowledgement,
}

/// The ranges of Q.703, section 12.3, by the kind of link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerRanges {
    /// None: a timer is what the equipment has it be.
    Free,
    /// 1.5 and 2 Mbit/s (Annex A).
    HighRate,
    /// 4.8 kbit/s.
    Kbit4_8,
    /// 64 kbit/s.
    Kbit64,
}

/// Proving of the association before it carries messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proving {
    /// Not at all, where both ends agree on it (RFC 4165, section 4.1.3).
    Omitted,
    /// By messages at an interval for the period T4.
    Every {
        /// The Proving_Interval: together with the filler it is the load that the link is proved with.
        interval: Duration,
        /// Octets of filler in each message, which should be about what User Data has.
        filler_octets: usize,
    },
}

/// Onset and abatement of one status of congestion, in messages waiting or unacknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionThreshold {
    /// The status holds from so many on.
    pub onset: usize,
    /// The status ends at so many.
    pub abatement: usize,
}

/// Why a configuration is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Messages would be refused before congestion was told.
    #[error(
        "the buffer of {buffer_max} messages is full before congestion begins at {onset}: lower the onset"
    )]
    BufferBelowCongestion {
        /// Messages that the buffer takes.
        buffer_max: usize,
        /// Onset of the last status.
        onset: usize,
    },
    /// No, or more than three, statuses of congestion.
    #[error("{0} congestion thresholds: give one to three")]
    CongestionStatuses(usize),
    /// A status ends where it begins, or later ones begin or end earlier.
    #[error(
        "congestion status {0} does not end below its onset, or does not begin and end above the one before"
    )]
    CongestionOrder(usize),
    /// Fewer than no messages can be sent, or so many that sequence numbers become ambiguous.
    #[error("{0} unacknowledged messages: give 1 to {OUTSTANDING_LIMIT}")]
    OutstandingMax(usize),
    /// The longest MSU cannot carry the shortest.
    #[error("a longest MSU of {0} octets is shorter than the shortest, {SHORTEST_MSU}")]
    LongestMsu(usize),
    /// Proving messages without end.
    #[error("a proving interval of 0 would send without end")]
    ProvingInterval,
    /// A timer is outside its range.
    #[error("{timer} of {value} is outside {least} to {most}")]
    Timer {
        /// Timer that is out of range.
        timer: TimerName,
        /// Value that was chosen.
        value: Duration,
        /// The least that Q.703 allows.
        least: Duration,
        /// The most that Q.703 allows.
        most: Duration,
    },
}

/// A timer of the link, by its name in Q.703.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimerName {
    /// Aligned ready: wait for the peer to be ready.
    T1,
    /// Not aligned: wait until the peer is heard.
    T2,
    /// Aligned: wait until the peer proves.
    T3,
    /// Emergency proving period.
    T4Emergency,
    /// Normal proving period.
    T4Normal,
    /// Interval of sending Busy.
    T5,
    /// Remote congestion: time that the peer may be busy.
    T6,
    /// Excessive delay of acknowledgement.
    T7,
}

impl core::fmt::Display for TimerName {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::T1 => "T1",
            Self::T2 => "T2",
            Self::T3 => "T3",
            Self::T4Emergency => "T4 (emergency)",
            Self::T4Normal => "T4 (normal)",
            Self::T5 => "T5",
            Self::T6 => "T6",
            Self::T7 => "T7",
        })
    }
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            timers: Timers::default(),
            ranges: TimerRanges::Kbit64,
            t7_from: T7From::default(),
            proving: Proving::default(),
            outstanding_max: 4_096,
            buffer_max: 8_192,
            waiting_max: None,
            congestion: vec![CongestionThreshold { onset: 4_096, abatement: 2_048 }],
            held_max: 8_192,
            longest_msu: 273,
        }
    }
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            t1: Duration::from_secs(45),
            t2: Duration::from_secs(30),
            t3: Duration::from_millis(1_500),
            t4_normal: Duration::from_millis(8_200),
            t4_emergency: Duration::from_millis(500),
            t5: None,
            t6: Duration::from_secs(5),
            t7: Duration::from_secs(2),
        }
    }
}

impl Default for Proving {
    /// A message of 100 octets every 10 ms: 80 kbit/s, what a well-filled link of 64 kbit/s carries.
    fn default() -> Self {
        Self::Every { interval: Duration::from_millis(10), filler_octets: 80 }
    }
}

impl LinkConfig {
    /// Checks that all settings can hold together.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.timers.check(self.ranges)?;
        if self.outstanding_max == 0 || self.outstanding_max > OUTSTANDING_LIMIT {
            return Err(ConfigError::OutstandingMax(self.outstanding_max));
        }
        if self.longest_msu < SHORTEST_MSU {
            return Err(ConfigError::LongestMsu(self.longest_msu));
        }
        if matches!(self.proving, Proving::Every { interval, .. } if interval.is_zero()) {
            return Err(ConfigError::ProvingInterval);
        }
        self.check_congestion()
    }

    fn check_congestion(&self) -> Result<(), ConfigError> {
        if !(1..=3).contains(&self.congestion.len()) {
            return Err(ConfigError::CongestionStatuses(self.congestion.len()));
        }
        let mut below = CongestionThreshold { onset: 0, abatement: 0 };
        for (at, &threshold) in self.congestion.iter().enumerate() {
            let rises = threshold.onset > below.onset && (at == 0 || threshold.abatement > below.abatement);
            if threshold.abatement >= threshold.onset || !rises {
                return Err(ConfigError::CongestionOrder(at + 1));
            }
            below = threshold;
        }
        //= https://www.rfc-editor.org/rfc/rfc4165#section-4.2.2
        //# M2PA SHALL detect transmit congestion in its buffers according to the
        //# requirements for signaling link transmit congestion in MTP3, e.g.,
        //# Q.704 [Q.704], Section 3.8.
        if below.onset >= self.buffer_max {
            return Err(ConfigError::BufferBelowCongestion {
                buffer_max: self.buffer_max,
                onset: below.onset,
            });
        }
        Ok(())
    }
}

impl Timers {
    /// Checks that each timer is in its range.
    //= https://www.rfc-editor.org/rfc/rfc4165#section-4
    //# In particular, the corresponding applicable timer value defaults and
    //# ranges specified for the applicable MTP2 standard should be used for
    //# the M2PA timers.
    pub fn check(&self, ranges: TimerRanges) -> Result<(), ConfigError> {
        use TimerName as N;
        let chosen = [
            (N::T1, Some(self.t1)),
            (N::T2, Some(self.t2)),
            (N::T3, Some(self.t3)),
            (N::T4Normal, Some(self.t4_normal)),
            (N::T4Emergency, Some(self.t4_emergency)),
            (N::T5, self.t5),
            (N::T6, Some(self.t6)),
            (N::T7, Some(self.t7)),
        ];
        for (timer, value) in chosen {
            let Some(value) = value else { continue };
            let (least, most) = ranges.of(timer);
            if !(least..=most).contains(&value) {
                return Err(ConfigError::Timer { timer, value, least, most });
            }
        }
        Ok(())
    }
}

impl TimerRanges {
    /// The least and the most that a timer may be (Q.703, section 12.3, and Annex A for high rates).
    pub const fn of(self, timer: TimerName) -> (Duration, Duration) {
        use TimerName as N;
        let (least, most) = match (self, timer) {
            (Self::Kbit64, N::T1) => (40_000, 50_000),
            (Self::Kbit4_8, N::T1) => (500_000, 600_000),
            (Self::HighRate, N::T1) => (25_000, 350_000),
            (Self::Free, _) => return (Duration::from_nanos(1), Duration::MAX),
            (_, N::T2) => (5_000, 150_000),
            (_, N::T3) => (1_000, 2_000),
            (Self::Kbit64, N::T4Normal) => (7_500, 9_500),
            (Self::Kbit4_8, N::T4Normal) => (100_000, 120_000),
            (Self::HighRate, N::T4Normal) => (3_000, 70_000),
            (Self::Kbit4_8, N::T4Emergency) => (6_000, 8_000),
            (_, N::T4Emergency) => (400, 600),
            (_, N::T5) => (80, 120),
            (Self::Kbit4_8, N::T6) => (8_000, 12_000),
            (_, N::T6) => (3_000, 6_000),
            (Self::Kbit4_8, N::T7) => (4_000, 6_000),
            (_, N::T7) => (500, 2_000),
        };
        (Duration::from_millis(least), Duration::from_millis(most))
    }
}

/// Beyond half the sequence numbers, old and new ones could not be told apart.
const OUTSTANDING_LIMIT: usize = 1 << 23;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_sound() {
        assert_eq!(LinkConfig::default().check(), Ok(()));
    }

    #[test]
    fn a_timer_outside_its_range_is_named_with_the_range() {
        let timers = Timers { t7: Duration::from_millis(400), ..Timers::default() };
        let error = timers.check(TimerRanges::Kbit64).unwrap_err();
        assert_eq!(error.to_string(), "T7 of 400 ms is outside 500 ms to 2 s");
        let timers = Timers { t5: Some(Duration::from_millis(121)), ..Timers::default() };
        assert!(matches!(
            timers.check(TimerRanges::Kbit64),
            Err(ConfigError::Timer { timer: TimerName::T5, .. })
        ));
    }

    #[test]
    fn t3_may_be_what_it_may_be_over_mtp2() {
        use slantpath_ss7::mtp2;
        for millis in [999, 1_000, 1_501, 2_000, 2_001] {
            let t3 = Duration::from_millis(millis);
            let over_mtp2 = mtp2::Config { t3, ..mtp2::Config::default() }.check().is_ok();
            let ranges = [TimerRanges::Kbit64, TimerRanges::HighRate];
            assert_eq!(over_mtp2, (1_000..=2_000).contains(&millis), "{millis} ms");
            let over_m2pa = ranges.map(|ranges| {
                let (least, most) = ranges.of(TimerName::T3);
                (least..=most).contains(&t3)
            });
            assert_eq!(over_m2pa, [over_mtp2; 2], "{millis} ms");
        }
    }

    #[test]
    fn the_slow_ranges_allow_a_longer_t7() {
        let slow = Timers {
            t1: Duration::from_secs(550),
            t4_normal: Duration::from_secs(110),
            t4_emergency: Duration::from_secs(7),
            t6: Duration::from_secs(10),
            t7: Duration::from_secs(5),
            ..Timers::default()
        };
        assert_eq!(slow.check(TimerRanges::Kbit4_8), Ok(()));
        assert!(slow.check(TimerRanges::Kbit64).is_err());
    }

    #[test]
    fn congestion_must_begin_before_the_buffer_is_full() {
        let config = LinkConfig { buffer_max: 4_096, ..LinkConfig::default() };
        let error = ConfigError::BufferBelowCongestion { buffer_max: 4_096, onset: 4_096 };
        assert_eq!(config.check(), Err(error));
    }

    #[test]
    fn congestion_statuses_must_rise() {
        let threshold = |onset, abatement| CongestionThreshold { onset, abatement };
        let with = |congestion: Vec<_>| LinkConfig { congestion, ..LinkConfig::default() }.check();
        assert_eq!(with(vec![]), Err(ConfigError::CongestionStatuses(0)));
        assert_eq!(with(vec![threshold(10, 10)]), Err(ConfigError::CongestionOrder(1)));
        assert_eq!(with(vec![threshold(10, 5), threshold(10, 6)]), Err(ConfigError::CongestionOrder(2)));
        assert_eq!(with(vec![threshold(10, 5), threshold(20, 15), threshold(30, 25)]), Ok(()));
    }

    #[test]
    fn what_would_never_end_or_never_send_is_refused() {
        let proving = Proving::Every { interval: Duration::ZERO, filler_octets: 0 };
        assert_eq!(
            LinkConfig { proving, ..LinkConfig::default() }.check(),
            Err(ConfigError::ProvingInterval)
        );
        assert_eq!(
            LinkConfig { outstanding_max: 0, ..LinkConfig::default() }.check(),
            Err(ConfigError::OutstandingMax(0))
        );
        assert_eq!(
            LinkConfig { longest_msu: 2, ..LinkConfig::default() }.check(),
            Err(ConfigError::LongestMsu(2))
        );
    }
}
