//! Settings that cannot work, or not as they seem to.

use slantpath_base::{DataSize, Duration};
use slantpath_cc::sctp::WindowPolicy;

use super::SctpConfig;
use crate::extension::{Extension, Extensions};
use crate::policy::{PotentiallyFailed, SwitchoverTooEarly};

/// Consequence of a finding for the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Configuration that is refused.
    Error,
    /// Configuration that is taken, with a warning to the user.
    Warning,
}

/// Buffer that limits a window before it is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitingBuffer {
    /// The peer's, which is taken to be as large as the own one.
    Receive,
    /// The own one, which holds what is in flight.
    Send,
}

/// Something in a configuration that contradicts itself, or does nothing. Its text names both values and what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigFinding {
    /// RTO.Min above RTO.Max.
    #[error("RTO.Min of {min} is above RTO.Max of {max}: no time-out satisfies both")]
    RtoMinAboveMax {
        /// RTO.Min.
        min: Duration,
        /// RTO.Max.
        max: Duration,
    },
    /// RTO.Initial below RTO.Min or above RTO.Max.
    #[error("RTO.Initial of {initial} is outside of RTO.Min of {min} and RTO.Max of {max}")]
    RtoInitialOutside {
        /// RTO.Initial.
        initial: Duration,
        /// RTO.Min.
        min: Duration,
        /// RTO.Max.
        max: Duration,
    },
    /// RTO.Min that is not above SACK.Delay.
    #[error(
        "RTO.Min of {min} is not above SACK.Delay of {delay}: where the round trip is short and the peer holds its \
         acknowledgements back as long, a lone message is retransmitted without need, and its window closes"
    )]
    RtoMinWithinSackDelay {
        /// RTO.Min.
        min: Duration,
        /// SACK.Delay.
        delay: Duration,
    },
    /// SACK.Delay above what RFC 9260 allows.
    #[error(
        "SACK.Delay of {delay} is above the {most} that RFC 9260, section 6.2, allows: peers would send again first"
    )]
    SackDelayTooLong {
        /// SACK.Delay.
        delay: Duration,
        /// Longest delay that is allowed.
        most: Duration,
    },
    /// Dynamic addresses without what they want.
    #[error(
        "dynamic addresses (RFC 5061) are never agreed on without authentication (RFC 4895): no address will change"
    )]
    AddressesNeverAuthenticated,
    /// Extensions without which there is to be no association, and that are never agreed on.
    #[error(
        "required and never agreed on, as they are not offered in full: {missing}; there will be no association"
    )]
    NeverAgreed {
        /// Extensions that are never agreed on.
        missing: Extensions,
    },
    /// Path.Max.Retrans that is not below Association.Max.Retrans.
    #[error(
        "Path.Max.Retrans of {path} is not below Association.Max.Retrans of {association}: where nothing is answered \
         the association ends before a path is given up"
    )]
    PathOutlivesAssociation {
        /// Path.Max.Retrans.
        path: u32,
        /// Association.Max.Retrans.
        association: u32,
    },
    /// PotentiallyFailed.Max.Retrans that is not below Path.Max.Retrans.
    #[error(
        "PotentiallyFailed.Max.Retrans of {potentially_failed} is not below Path.Max.Retrans of {path}: a path is \
         inactive before it is potentially failed"
    )]
    NeverPotentiallyFailed {
        /// PotentiallyFailed.Max.Retrans.
        potentially_failed: u32,
        /// Path.Max.Retrans.
        path: u32,
    },
    /// Primary.Switchover.Max.Retrans below what makes the path stop.
    #[error(transparent)]
    SwitchoverTooEarly(#[from] SwitchoverTooEarly),
    /// A fixed window, or the greatest, that a buffer does not hold.
    #[error(
        "a window of {} is never filled: the {} buffer holds {}",
        DataSize::from_bytes(*cwnd_bytes),
        match buffer { LimitingBuffer::Receive => "receive", LimitingBuffer::Send => "send" },
        DataSize::from_bytes(*buffer_bytes)
    )]
    WindowBeyondBuffer {
        /// Size of the window, in bytes.
        cwnd_bytes: u64,
        /// Buffer that limits it.
        buffer: LimitingBuffer,
        /// Capacity of the buffer, in bytes.
        buffer_bytes: u64,
    },
    /// A receive buffer below the least that an INIT may advertise.
    #[error("a receive buffer of {bytes} bytes is less than the {least} that an INIT has to advertise")]
    ReceiveBufferTooSmall {
        /// Size of the buffer, in bytes.
        bytes: u32,
        /// Least size that is allowed, in bytes.
        least: u32,
    },
    /// A path MTU that has no room for chunks and what goes in front of them.
    #[error("a path MTU of {mtu} bytes is less than the {least} that every host takes, encapsulation apart")]
    PathMtuTooSmall {
        /// The path MTU that paths begin with, or do not exceed.
        mtu: u16,
        /// Least path MTU that is allowed, in bytes.
        least: u16,
    },
}

impl ConfigFinding {
    /// Tells if the configuration is refused for it, or only a warning is given.
    pub const fn severity(&self) -> Severity {
        match self {
            Self::RtoMinAboveMax { .. }
            | Self::RtoInitialOutside { .. }
            | Self::SwitchoverTooEarly(_)
            | Self::SackDelayTooLong { .. }
            | Self::ReceiveBufferTooSmall { .. }
            | Self::NeverAgreed { .. }
            | Self::PathMtuTooSmall { .. } => Severity::Error,
            Self::AddressesNeverAuthenticated
            | Self::RtoMinWithinSackDelay { .. }
            | Self::PathOutlivesAssociation { .. }
            | Self::NeverPotentiallyFailed { .. }
            | Self::WindowBeyondBuffer { .. } => Severity::Warning,
        }
    }
}

/// The least receive buffer that an INIT may advertise (RFC 9260, section 3.3.2).
const LEAST_RECEIVE_BUFFER: u32 = 1_500;
/// The least path MTU: 576 bytes (RFC 791, section 3.1), of which a UDP header may take 8 (RFC 6951).
const LEAST_PATH_MTU: u16 = 576 - 8;
//= https://www.rfc-editor.org/rfc/rfc9260#section-6.2
//# An implementation MUST NOT allow the maximum delay (protocol
//# parameter 'SACK.Delay') to be configured to be more than 500 ms.
const LONGEST_SACK_DELAY: Duration = Duration::from_millis(500);

impl SctpConfig {
    /// Finds what cannot work, or not as it seems to; errors first. The peer is taken to have the same settings.
    pub fn check(&self) -> Vec<ConfigFinding> {
        let mut findings = Vec::new();
        let (initial, min, max) = (self.rto_initial, self.rto_min, self.rto_max);
        if min > max {
            findings.push(ConfigFinding::RtoMinAboveMax { min, max });
        } else if !(min..=max).contains(&initial) {
            findings.push(ConfigFinding::RtoInitialOutside { initial, min, max });
        }
        findings.extend(self.thresholds().check().err().map(ConfigFinding::SwitchoverTooEarly));
        if self.receive_buffer_bytes < LEAST_RECEIVE_BUFFER {
            let (bytes, least) = (self.receive_buffer_bytes, LEAST_RECEIVE_BUFFER);
            findings.push(ConfigFinding::ReceiveBufferTooSmall { bytes, least });
        }
        let missing = self.lacking(self.extensions);
        if !missing.is_empty() {
            findings.push(ConfigFinding::NeverAgreed { missing });
        }
        let mtu = self.initial_path_mtu.min(self.max_path_mtu);
        if mtu < LEAST_PATH_MTU {
            findings.push(ConfigFinding::PathMtuTooSmall { mtu, least: LEAST_PATH_MTU });
        }
        if self.sack_delay > LONGEST_SACK_DELAY {
            let (delay, most) = (self.sack_delay, LONGEST_SACK_DELAY);
            findings.push(ConfigFinding::SackDelayTooLong { delay, most });
        }
        // Where every packet is acknowledged at once, the delay delays nothing.
        if min <= self.sack_delay && !self.sack_delay.is_zero() && self.sack_frequency > 1 {
            findings.push(ConfigFinding::RtoMinWithinSackDelay { min, delay: self.sack_delay });
        }
        //= https://www.rfc-editor.org/rfc/rfc9260#section-8.2
        //# Note: When configuring the SCTP endpoint, the user ought to avoid
        //# having the value of 'Association.Max.Retrans' larger than the
        //# summation of the 'Path.Max.Retrans' of all the destination addresses
        //# for the remote endpoint.
        // The reverse is as useless: the association is over when the first path would be given up.
        let (path, association) = (self.path_max_retrans, self.association_max_retrans);
        if path >= association {
            findings.push(ConfigFinding::PathOutlivesAssociation { path, association });
        }
        if let PotentiallyFailed::Above(potentially_failed) = self.potentially_failed
            && potentially_failed >= path
        {
            findings.push(ConfigFinding::NeverPotentiallyFailed { potentially_failed, path });
        }
        findings.extend(self.window_beyond_buffer());
        // `agreed` leaves them out.
        if self.extensions.contain(Extension::DynamicAddresses)
            && !self.agreed(self.extensions).contain(Extension::DynamicAddresses)
        {
            findings.push(ConfigFinding::AddressesNeverAuthenticated);
        }
        findings
    }

    /// The greatest window, if there is one, and the lesser buffer, if it holds less.
    fn window_beyond_buffer(&self) -> Option<ConfigFinding> {
        let cwnd_bytes = match self.congestion.window {
            WindowPolicy::Fixed { cwnd } => cwnd,
            WindowPolicy::Adaptive => self.congestion.max_cwnd?,
        };
        let receive = u64::from(self.receive_buffer_bytes);
        let (buffer, buffer_bytes) = if self.send_buffer_bytes < receive {
            (LimitingBuffer::Send, self.send_buffer_bytes)
        } else {
            (LimitingBuffer::Receive, receive)
        };
        (cwnd_bytes > buffer_bytes).then_some(ConfigFinding::WindowBeyondBuffer {
            cwnd_bytes,
            buffer,
            buffer_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extension::Extensions;
    use crate::policy::PrimarySwitchover;

    fn texts(config: &SctpConfig) -> Vec<(Severity, String)> {
        config.check().iter().map(|finding| (finding.severity(), finding.to_string())).collect()
    }

    const fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn no_preset_has_a_finding() {
        for config in [
            SctpConfig::default(),
            SctpConfig::rfc2960(),
            SctpConfig::multi_link_standard(),
            SctpConfig::multi_link_modified(),
            SctpConfig::mb9(),
            SctpConfig::mb9_sat(),
        ] {
            assert_eq!(config.check(), []);
        }
    }

    #[test]
    fn timeouts_that_contradict_each_other_are_errors() {
        let config = SctpConfig { rto_min: millis(2_000), rto_max: millis(1_500), ..SctpConfig::default() };
        let text = "RTO.Min of 2 s is above RTO.Max of 1.5 s: no time-out satisfies both";
        assert_eq!(texts(&config), [(Severity::Error, text.to_owned())]);
        for (initial, is_found) in [(999, true), (1_000, false), (60_000, false), (60_001, true)] {
            let config = SctpConfig { rto_initial: millis(initial), ..SctpConfig::default() };
            assert_eq!(!config.check().is_empty(), is_found, "{initial} ms");
        }
    }

    #[test]
    fn a_least_timeout_within_the_delay_of_a_sack_is_warned_of() {
        for (min, delay, frequency, is_found) in
            [(200, 200, 2, true), (201, 200, 2, false), (100, 200, 1, false), (0, 0, 2, false)]
        {
            let config = SctpConfig {
                rto_min: millis(min),
                sack_delay: millis(delay),
                sack_frequency: frequency,
                ..SctpConfig::default()
            };
            let found = ConfigFinding::RtoMinWithinSackDelay { min: millis(min), delay: millis(delay) };
            assert_eq!(config.check(), if is_found { vec![found] } else { vec![] }, "{min} {delay}");
            assert_eq!(found.severity(), Severity::Warning);
        }
    }

    #[test]
    fn a_path_mtu_that_no_host_has_is_an_error() {
        let of = |initial_path_mtu, max_path_mtu| {
            SctpConfig { initial_path_mtu, max_path_mtu, ..SctpConfig::default() }.check()
        };
        assert_eq!(of(568, 568), []);
        let found = ConfigFinding::PathMtuTooSmall { mtu: 567, least: 568 };
        assert_eq!([of(567, 1_500), of(1_500, 567)], [[found], [found]]);
        assert_eq!(found.severity(), Severity::Error);
        let text = "a path MTU of 567 bytes is less than the 568 that every host takes, encapsulation apart";
        assert_eq!(found.to_string(), text);
    }

    #[test]
    fn a_sack_may_be_held_back_for_500_ms_and_no_longer() {
        let of = |sack_delay| SctpConfig { sack_delay, ..SctpConfig::default() }.check();
        assert_eq!(of(millis(500)), []);
        let found = ConfigFinding::SackDelayTooLong { delay: millis(501), most: millis(500) };
        assert_eq!((of(millis(501)), found.severity()), (vec![found], Severity::Error));
        let text = "SACK.Delay of 501 ms is above the 500 ms that RFC 9260, section 6.2, allows: ";
        assert!(found.to_string().starts_with(text), "{found}");
    }

    #[test]
    fn what_is_required_and_never_agreed_on_is_an_error() {
        let of = |extensions: &[Extension], required: &[Extension]| {
            let (extensions, required_extensions) = (Extensions::of(extensions), Extensions::of(required));
            SctpConfig { extensions, required_extensions, ..SctpConfig::default() }.check()
        };
        let (addresses, authentication) = (Extension::DynamicAddresses, Extension::Authentication);
        assert_eq!(of(&[authentication], &[authentication]), []);
        assert_eq!(of(&[authentication, addresses], &[addresses]), []);
        let found = |missing| ConfigFinding::NeverAgreed { missing: Extensions::of(&[missing]) };
        assert_eq!(of(&[], &[authentication]), [found(authentication)]);
        assert_eq!(of(&[addresses], &[addresses])[0], found(addresses));
        assert_eq!(found(addresses).severity(), Severity::Error);
        let text = "required and never agreed on, as they are not offered in full: authentication; ";
        assert!(found(authentication).to_string().starts_with(text), "{}", found(authentication));
    }

    #[test]
    fn addresses_that_nothing_authenticates_are_warned_of() {
        let of = |extensions: &[Extension], unauthenticated_addresses| {
            let extensions = Extensions::of(extensions);
            SctpConfig { extensions, unauthenticated_addresses, ..SctpConfig::default() }.check()
        };
        let found = ConfigFinding::AddressesNeverAuthenticated;
        assert_eq!(
            (of(&[Extension::DynamicAddresses], false), found.severity()),
            (vec![found], Severity::Warning)
        );
        assert_eq!(of(&[Extension::DynamicAddresses], true), []);
        assert_eq!(of(&[Extension::DynamicAddresses, Extension::Authentication], false), []);
    }

    #[test]
    fn thresholds_that_are_never_reached_are_warned_of() {
        let of = |path_max_retrans, potentially_failed| {
            SctpConfig { path_max_retrans, potentially_failed, ..SctpConfig::default() }.check()
        };
        assert_eq!(of(9, PotentiallyFailed::Off), []);
        let found = ConfigFinding::PathOutlivesAssociation { path: 10, association: 10 };
        assert_eq!(of(10, PotentiallyFailed::Off), [found]);
        assert_eq!(of(5, PotentiallyFailed::Above(4)), []);
        let found = ConfigFinding::NeverPotentiallyFailed { potentially_failed: 5, path: 5 };
        assert_eq!(of(5, PotentiallyFailed::Above(5)), [found]);
        assert_eq!(found.severity(), Severity::Warning);
    }

    #[test]
    fn a_switchover_that_is_too_early_is_an_error() {
        let primary_switchover = PrimarySwitchover::Above(4);
        let config = SctpConfig { primary_switchover, ..SctpConfig::default() };
        let found = ConfigFinding::SwitchoverTooEarly(SwitchoverTooEarly { given: 4, least: 5 });
        assert_eq!(config.check(), [found]);
        assert_eq!(found.severity(), Severity::Error);
    }

    #[test]
    fn a_window_that_a_buffer_does_not_hold_is_warned_of() {
        let mut config = SctpConfig { receive_buffer_bytes: 100_000, ..SctpConfig::default() };
        config.congestion.window = WindowPolicy::Fixed { cwnd: 100_000 };
        assert_eq!(config.check(), []);
        config.send_buffer_bytes = 99_999;
        let text = "a window of 100 kB is never filled: the send buffer holds 99999 B";
        assert_eq!(texts(&config), [(Severity::Warning, text.to_owned())]);
        config.congestion.window = WindowPolicy::Adaptive;
        assert_eq!(config.check(), []);
        config.congestion.max_cwnd = Some(200_000);
        config.send_buffer_bytes = 1_000_000;
        let buffer = LimitingBuffer::Receive;
        let found = ConfigFinding::WindowBeyondBuffer { cwnd_bytes: 200_000, buffer, buffer_bytes: 100_000 };
        assert_eq!(config.check(), [found]);
    }

    #[test]
    fn a_receive_buffer_that_no_init_may_advertise_is_an_error() {
        let of = |receive_buffer_bytes| SctpConfig { receive_buffer_bytes, ..SctpConfig::default() }.check();
        assert_eq!(of(1_500), []);
        let found = ConfigFinding::ReceiveBufferTooSmall { bytes: 1_499, least: 1_500 };
        assert_eq!(of(1_499), [found]);
        assert_eq!(found.severity(), Severity::Error);
    }
}
