//! Time of the next SACK: at once, or a little later together with the next one.

use slantpath_base::{Duration, Instant, Timer};

use crate::config::SctpConfig;

/// SACK.Delay is never more than this.
const MAX_SACK_DELAY: Duration = Duration::from_millis(500);

/// Kinds of DATA that a packet brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Brought {
    /// A DATA chunk that had not been received before.
    pub(crate) new: bool,
    /// A DATA chunk that had been received before, or that had to be dropped.
    pub(crate) duplicate_or_dropped: bool,
    /// A DATA chunk with the I bit (RFC 7053).
    pub(crate) immediate: bool,
}

impl Brought {
    /// Tells if it brought any DATA.
    pub(crate) const fn any(self) -> bool {
        self.new || self.duplicate_or_dropped
    }
}

/// The acknowledgement that is owed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AckSchedule {
    /// None, and no DATA has come yet: the first will be acknowledged at once.
    Fresh,
    /// No acknowledgement is owed.
    #[default]
    Nothing,
    /// For some packets; it may wait for another one or for DATA of our own.
    Delayed {
        /// Instant up to which it may wait.
        deadline: Instant,
        /// Number of packets with DATA that it is to acknowledge.
        packets: u32,
    },
    /// Acknowledgement owed at once.
    Due,
}

impl AckSchedule {
    /// A packet with DATA has been processed; `has_gaps` says whether TSNs are missing now.
    pub(crate) fn on_packet(&mut self, now: Instant, brought: Brought, has_gaps: bool, config: &SctpConfig) {
        if !brought.any() {
            return;
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2
        //# In
        //# other words, an implementation MAY lower the value of 'SACK.Delay'
        //# below 500 ms but MUST NOT raise it above 500 ms.
        let delay = config.sack_delay.min(MAX_SACK_DELAY);
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2
        //# When a packet arrives with duplicate DATA chunk(s) and with no new
        //# DATA chunk(s), the endpoint MUST immediately send a SACK chunk with
        //# no delay.

        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2
        //# the receiver SHOULD immediately respond with the
        //# corresponding SACK chunk.

        //= https://www.rfc-editor.org/rfc/rfc9260#section-7.2.4
        //# whenever an endpoint notices a hole in the
        //# arriving TSN sequence, it SHOULD start sending a SACK chunk back
        //# every time a packet arrives carrying data until the hole is filled.
        let packets = match *self {
            Self::Delayed { packets, .. } => packets + 1,
            Self::Fresh | Self::Nothing | Self::Due => 1,
        };
        let is_urgent = brought.duplicate_or_dropped || brought.immediate || has_gaps || delay.is_zero();
        *self = match *self {
            _ if is_urgent || packets >= config.sack_frequency => Self::Due,
            //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1
            //# After the reception of the first DATA chunk in an association, the
            //# endpoint MUST immediately respond with a SACK chunk to acknowledge
            //# the DATA chunk.
            Self::Fresh | Self::Due => Self::Due,
            //= https://www.rfc-editor.org/rfc/rfc9260#section-6.2
            //# an
            //# acknowledgement SHOULD be generated for at least every second packet
            //# (not every second DATA chunk) received and SHOULD be generated within
            //# 200 ms of the arrival of any unacknowledged DATA chunk.
            Self::Nothing => Self::Delayed { deadline: config.coarse_deadline(now, delay), packets },
            Self::Delayed { deadline, .. } => Self::Delayed { deadline, packets },
        };
    }

    /// The time has come to look at the delay.
    pub(crate) fn handle_deadline(&mut self, now: Instant) {
        if let Self::Delayed { deadline, .. } = *self
            && deadline <= now
        {
            *self = Self::Due;
        }
    }

    /// Instant at which a delayed SACK falls due.
    pub(crate) const fn deadline(self) -> Timer {
        match self {
            Self::Delayed { deadline, .. } => Timer::set(deadline),
            Self::Fresh | Self::Nothing | Self::Due => Timer::OFF,
        }
    }

    /// Tells if a SACK could usefully be bundled with a packet that goes out now.
    pub(crate) const fn is_owed(self) -> bool {
        !matches!(self, Self::Fresh | Self::Nothing)
    }

    /// Tells if a SACK must go out now.
    pub(crate) const fn is_due(self) -> bool {
        matches!(self, Self::Due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> SctpConfig {
        SctpConfig::default()
    }

    const NEW: Brought = Brought { new: true, duplicate_or_dropped: false, immediate: false };

    #[test]
    fn sacks_that_are_held_back_leave_together() {
        let config = SctpConfig { timer_granularity: Duration::from_millis(4), ..config() };
        for at_us in [1, 3_999] {
            let mut schedule = AckSchedule::Nothing;
            schedule.on_packet(Instant::from_nanos(at_us * 1_000), NEW, false, &config);
            assert_eq!(schedule.deadline(), Timer::set(Instant::from_millis(200)));
        }
    }

    #[test]
    fn the_second_packet_is_acknowledged_at_once() {
        let mut schedule = AckSchedule::default();
        schedule.on_packet(Instant::START, NEW, false, &config());
        assert_eq!(schedule.deadline(), Timer::set(Instant::from_millis(200)));
        schedule.on_packet(Instant::from_millis(1), NEW, false, &config());
        assert!(schedule.is_due());
    }

    #[test]
    fn a_lone_packet_is_acknowledged_after_the_delay() {
        let mut schedule = AckSchedule::default();
        schedule.on_packet(Instant::START, NEW, false, &config());
        schedule.handle_deadline(Instant::from_millis(199));
        assert!(!schedule.is_due() && schedule.is_owed());
        schedule.handle_deadline(Instant::from_millis(200));
        assert!(schedule.is_due());
    }

    #[test]
    fn the_delay_runs_from_the_first_packet_and_none_means_at_once() {
        let mut schedule = AckSchedule::default();
        let patient = SctpConfig { sack_frequency: 3, ..config() };
        for (at_ms, is_due) in [(0, false), (100, false), (150, true)] {
            schedule.on_packet(Instant::from_millis(at_ms), NEW, false, &patient);
            assert_eq!(schedule.is_due(), is_due, "{at_ms} ms");
            assert_eq!(schedule.deadline(), (!is_due).then_some(Instant::from_millis(200)).into());
        }
        let mut schedule = AckSchedule::default();
        let hasty = SctpConfig { sack_delay: Duration::ZERO, ..patient };
        schedule.on_packet(Instant::START, NEW, false, &hasty);
        assert!(schedule.is_due());
    }

    #[test]
    fn no_setting_delays_a_sack_by_more_than_500_ms() {
        for (set_ms, expected_ms) in [(499, 499), (500, 500), (501, 500), (60_000, 500)] {
            let mut schedule = AckSchedule::default();
            let config = SctpConfig { sack_delay: Duration::from_millis(set_ms), ..config() };
            schedule.on_packet(Instant::from_millis(7), NEW, false, &config);
            assert_eq!(schedule.deadline(), Timer::set(Instant::from_millis(7 + expected_ms)), "{set_ms} ms");
        }
    }

    #[test]
    fn gap_duplicate_and_immediate_bit_do_not_wait() {
        let urgent = [
            (NEW, true),
            (Brought { immediate: true, ..NEW }, false),
            (Brought { new: false, duplicate_or_dropped: true, immediate: false }, false),
        ];
        for (brought, has_gaps) in urgent {
            let mut schedule = AckSchedule::default();
            schedule.on_packet(Instant::START, brought, has_gaps, &config());
            assert!(schedule.is_due(), "{brought:?}, gaps: {has_gaps}");
        }
    }

    #[test]
    fn the_first_data_of_all_does_not_wait() {
        let mut schedule = AckSchedule::Fresh;
        assert!(!schedule.is_owed() && !schedule.is_due() && schedule.deadline().is_off());
        schedule.on_packet(Instant::START, Brought::default(), false, &config());
        assert_eq!(schedule, AckSchedule::Fresh);
        schedule.on_packet(Instant::START, NEW, false, &config());
        assert!(schedule.is_due());
    }

    #[test]
    fn a_packet_without_data_owes_nothing() {
        let mut schedule = AckSchedule::default();
        schedule.on_packet(Instant::START, Brought::default(), true, &config());
        assert_eq!(schedule, AckSchedule::Nothing);
    }
}
