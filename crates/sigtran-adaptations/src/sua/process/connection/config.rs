//! Bounds and timers of connections.

use slantpath_base::Duration;
use slantpath_sigtran::asp;

/// Settings of connections at an ASP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionConfig {
    /// T(conn est): how long CORE may take, 1 to 2 minutes (Q.714, annex C).
    pub connect: Duration,
    /// T(rel): how long RELRE may take, 10 to 20 seconds.
    pub release: Duration,
    /// T(reset): how long RESRE may take, 10 to 20 seconds.
    pub reset: Duration,
    /// T(ias): after how long without sending COIT is sent, 5 to 10 minutes.
    pub inactivity_send: Duration,
    /// T(iar): after how long without receiving a connection is released, 11 to 21 minutes.
    pub inactivity_receive: Duration,
    /// Greatest number of connections.
    pub connections_max: usize,
    /// The window that is proposed in class 3 and granted at most, 1 to 127 messages. SCCP here has the same.
    pub credit: u8,
    /// Octets of a user's message that one CODT takes at most: what DT1 and DT2 do, so that the network behind a
    /// gateway can carry it (Q.713, section 3.16).
    pub part_octets: usize,
    /// Octets of one message of a user, sent or received.
    pub message_octets: usize,
    /// Number of parts of messages that may wait for the window of a connection of class 3.
    pub parts_max: usize,
}

impl Default for ConnectionConfig {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(60),
            release: Duration::from_secs(10),
            reset: Duration::from_secs(10),
            inactivity_send: Duration::from_secs(300),
            inactivity_receive: Duration::from_secs(660),
            connections_max: 10_000,
            credit: 8,
            part_octets: 255,
            message_octets: 65_536,
            parts_max: 1_024,
        }
    }
}

/// Octets for which one CODT has room beside its other parameters, whose lengths are of 16 bits.
const MOST_PART_OCTETS: u64 = 65_000;

impl ConnectionConfig {
    pub(in crate::sua) fn check(&self) -> Result<(), asp::ConfigError> {
        let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
        let tens = (Duration::from_secs(10), Duration::from_secs(20));
        for (timer, (min, max), value) in [
            ("T(conn est)", (minutes(1), minutes(2)), self.connect),
            ("T(rel)", tens, self.release),
            ("T(reset)", tens, self.reset),
            ("T(ias)", (minutes(5), minutes(10)), self.inactivity_send),
            ("T(iar)", (minutes(11), minutes(21)), self.inactivity_receive),
        ] {
            asp::TimerRange::new(timer, min, max).check(value)?;
        }
        let part_octets = u64::try_from(self.part_octets).unwrap_or(u64::MAX);
        for (what, value, max) in
            [("credit", self.credit.into(), 127), ("part_octets", part_octets, MOST_PART_OCTETS)]
        {
            if !(1..=max).contains(&value) {
                return Err(asp::ConfigError::NumberOutOfRange { what, value, min: 1, max });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_nothing_and_a_timer_out_of_its_range_are_refused() {
        assert_eq!(ConnectionConfig::default().check(), Ok(()));
        let refused = ConnectionConfig { credit: 0, ..ConnectionConfig::default() }.check();
        let expected = asp::ConfigError::NumberOutOfRange { what: "credit", value: 0, min: 1, max: 127 };
        assert_eq!(refused, Err(expected));
        let reset = Duration::from_secs(1);
        assert!(ConnectionConfig { reset, ..ConnectionConfig::default() }.check().is_err());
    }
}
