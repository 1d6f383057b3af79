//! Parameters of a link (Q.703, section 12.3 and annex A).

use slantpath_base::{DataRate, DataSize, Duration};

/// Methods by which messages that the line has damaged are retransmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorCorrection {
    /// Positive and negative acknowledgement, for one-way delays below 15 ms (Q.703, section 5).
    Basic,
    /// Preventive cyclic retransmission, for satellites (Q.703, section 6).
    PreventiveCyclic {
        /// N1: so many messages unacknowledged force their retransmission; at most 127.
        messages: usize,
        /// N2: so many octets unacknowledged force it; one more than what fits into the loop delay.
        octets: usize,
    },
}

/// Parameters of one terminal.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The bearer's rate.
    pub rate: DataRate,
    /// Method of error correction. Both terminals must agree.
    pub error_correction: ErrorCorrection,
    /// T1: aligned and ready, the peer is not.
    pub t1: Duration,
    /// T2: not aligned.
    pub t2: Duration,
    /// T3: aligned.
    pub t3: Duration,
    /// T4 normal: the proving period.
    pub t4_normal: Duration,
    /// T4 emergency.
    pub t4_emergency: Duration,
    /// T5: between two SIB.
    pub t5: Duration,
    /// T6: how long the peer may be busy.
    pub t6: Duration,
    /// T7: how long an acknowledgement may take.
    pub t7: Duration,
    /// T of the signal unit error rate monitor: so many errors, leaking, take the link out.
    pub error_threshold: u32,
    /// D: so many units let one error be forgotten.
    pub error_leak: u32,
    /// Tin: errors that abort a normal proving period.
    pub proving_errors_normal: u32,
    /// Tie: errors that abort an emergency proving period.
    pub proving_errors_emergency: u32,
    /// M: proving periods before alignment is not possible.
    pub proving_attempts: u32,
    /// Messages in the transmit and retransmit buffers at which congestion of level 1, 2, 3 sets in, rising. A level
    /// abates at three quarters of its onset.
    pub congestion_onset: [usize; 3],
    /// Messages that the transmit buffer holds; what comes beyond is refused and counted.
    pub transmit_buffer: usize,
}

impl Default for Config {
    /// The values of Q.703 for 64 kbit/s, in the middle of their ranges where it gives a range.
    fn default() -> Self {
        Self {
            rate: DataRate::from_bits_per_sec(64_000),
            error_correction: ErrorCorrection::Basic,
            t1: Duration::from_secs(45),
            t2: Duration::from_secs(60),
            t3: Duration::from_millis(1_500),
            t4_normal: Duration::from_millis(8_200),
            t4_emergency: Duration::from_millis(500),
            t5: Duration::from_millis(100),
            t6: Duration::from_millis(4_500),
            t7: Duration::from_millis(1_000),
            error_threshold: 64,
            error_leak: 256,
            proving_errors_normal: 4,
            proving_errors_emergency: 1,
            proving_attempts: 5,
            congestion_onset: [200, 300, 400],
            transmit_buffer: 1_000,
        }
    }
}

/// Why a configuration is refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// The congestion levels do not rise, or lie beyond the buffer: congestion must be told before a message is
    /// refused.
    #[error(
        "congestion onsets {onsets:?} must rise and lie below the {buffer} messages of the transmit buffer"
    )]
    Congestion {
        /// Congestion onsets, in messages, lowest level first.
        onsets: [usize; 3],
        /// Size of the transmit buffer in messages.
        buffer: usize,
    },
    /// N1 outside 1 to 127, or N2 zero.
    #[error("N1 = {messages} must be 1 to 127 and N2 = {octets} at least 1")]
    Cyclic {
        /// N1.
        messages: usize,
        /// N2.
        octets: usize,
    },
    /// A monitor that no error, or every unit, would trip.
    #[error("{name} must be at least 1")]
    Monitor {
        /// Name of the parameter.
        name: &'static str,
    },
    /// No bit ever leaves.
    #[error("a line of rate 0 carries nothing")]
    NoRate,
    /// A timer outside the range of Q.703, section 12.3.
    #[error("{timer} = {value} is outside {low} to {high} (Q.703, section 12.3)")]
    Timer {
        /// Name of the timer.
        timer: &'static str,
        /// Value of the timer that was asked for.
        value: Duration,
        /// Least value that is allowed.
        low: Duration,
        /// Greatest value that is allowed.
        high: Duration,
    },
}

impl Config {
    /// Checks every range.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.rate == DataRate::from_bits_per_sec(0) {
            return Err(ConfigError::NoRate);
        }
        let ms = Duration::from_millis;
        // Ranges for 64 kbit/s, with T1's for 4.8 kbit/s, and T4's lower bounds of slower bearers left out.
        let timers = [
            ("T1", self.t1, ms(40_000), ms(50_000)),
            ("T2", self.t2, ms(5_000), ms(150_000)),
            ("T3", self.t3, ms(1_000), ms(2_000)),
            ("T4n", self.t4_normal, ms(7_500), ms(9_500)),
            ("T4e", self.t4_emergency, ms(400), ms(600)),
            ("T5", self.t5, ms(80), ms(120)),
            ("T6", self.t6, ms(3_000), ms(6_000)),
            ("T7", self.t7, ms(500), ms(2_000)),
        ];
        for (timer, value, low, high) in timers {
            if value < low || value > high {
                return Err(ConfigError::Timer { timer, value, low, high });
            }
        }
        let monitors = [
            ("the error threshold T", self.error_threshold),
            ("the error leak D", self.error_leak),
            ("Tin", self.proving_errors_normal),
            ("Tie", self.proving_errors_emergency),
            ("M", self.proving_attempts),
        ];
        if let Some((name, _)) = monitors.into_iter().find(|(_, value)| *value == 0) {
            return Err(ConfigError::Monitor { name });
        }
        if let ErrorCorrection::PreventiveCyclic { messages, octets } = self.error_correction
            && (!(1..=127).contains(&messages) || octets == 0)
        {
            return Err(ConfigError::Cyclic { messages, octets });
        }
        let [first, second, third] = self.congestion_onset;
        if first == 0 || first >= second || second >= third || third >= self.transmit_buffer {
            return Err(ConfigError::Congestion {
                onsets: self.congestion_onset,
                buffer: self.transmit_buffer,
            });
        }
        Ok(())
    }

    /// Gives the time that so many octets take on the line.
    pub(super) fn time_of(&self, octets: usize) -> Duration {
        self.rate.time_to_send(DataSize::from_bytes(octets as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_within_every_range() {
        assert_eq!(Config::default().check(), Ok(()));
    }

    #[test]
    fn a_line_without_a_rate_is_refused() {
        let config = |bits| Config { rate: DataRate::from_bits_per_sec(bits), ..Config::default() };
        assert_eq!([0, 1].map(|bits| config(bits).check()), [Err(ConfigError::NoRate), Ok(())]);
    }

    #[test]
    fn a_timer_out_of_range_is_refused_with_the_range() {
        let config = Config { t7: Duration::from_millis(400), ..Config::default() };
        let message = config.check().expect_err("T7 is too short").to_string();
        assert_eq!(message, "T7 = 400 ms is outside 500 ms to 2 s (Q.703, section 12.3)");
    }

    #[test]
    fn congestion_must_be_told_before_a_message_is_refused() {
        let config = Config { transmit_buffer: 400, ..Config::default() };
        assert!(matches!(config.check(), Err(ConfigError::Congestion { .. })));
    }
}
