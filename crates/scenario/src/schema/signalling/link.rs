//! `[signalling.links.<name>]` and `[[signalling.script]]`: signalling links, and what happens to them.

use slantpath_base::{DataRate, Duration, Probability};
use slantpath_sigtran::m2pa;
use slantpath_ss7::mtp2;

use crate::section::{OneOf, Setting, section, tagged};
use crate::value::{Pair, choice};

section! {
    /// A signalling link between two points.
    pub struct SignallingLink {
        /// The points that it joins, first and second.
        between: Setting<Pair<String>>;
        /// Its code within the link set of these two points; by the order of names if absent.
        slc: Option<Setting<u8>>;
        /// What carries it.
        carrier: OneOf<Carrier>;
    }
}

tagged! {
    /// What carries a signalling link.
    pub enum Carrier {
        /// An SCTP association of the two points' hosts, with M2PA (RFC 4165).
        M2pa = "m2pa",
        /// A line with MTP2 (Q.703) at both ends.
        Mtp2 = "mtp2",
    }
}

/// A terminal of MTP2 where nobody says otherwise.
fn terminal() -> mtp2::Config {
    mtp2::Config::default()
}

/// Timers of M2PA where nobody says otherwise.
fn timers() -> m2pa::Timers {
    m2pa::Timers::default()
}

section! {
    /// A line with MTP2 (Q.703) at both ends. Timers are those of 64 kbit/s.
    pub struct Mtp2 {
        /// One way.
        delay: Setting<Duration>;
        /// Of the line.
        rate: Setting<DataRate> = terminal().rate;
        /// Probability that a bit arrives wrong.
        bit_error_rate: Setting<Probability> = Probability::NEVER;
        /// How messages that the line has damaged are repeated.
        error_correction: Setting<ErrorCorrection> = ErrorCorrection::Basic;
        /// N1 of preventive cyclic retransmission: so many messages unacknowledged force their repetition.
        n1: Setting<u32> = 127;
        /// N2 of preventive cyclic retransmission: so many octets unacknowledged force it; one more than fits into the
        /// loop if absent.
        n2: Option<Setting<u32>>;
        /// T1: aligned ready.
        t1: Setting<Duration> = terminal().t1;
        /// T2: not aligned.
        t2: Setting<Duration> = terminal().t2;
        /// T3: aligned.
        t3: Setting<Duration> = terminal().t3;
        /// T4 normal: the proving period.
        t4_normal: Setting<Duration> = terminal().t4_normal;
        /// T4 emergency.
        t4_emergency: Setting<Duration> = terminal().t4_emergency;
        /// T5: sending SIB.
        t5: Setting<Duration> = terminal().t5;
        /// T6: remote congestion.
        t6: Setting<Duration> = terminal().t6;
        /// T7: excessive delay of acknowledgement.
        t7: Setting<Duration> = terminal().t7;
    }
}

choice! {
    /// Error correction of MTP2.
    pub enum ErrorCorrection {
        /// Positive and negative acknowledgement, for one-way delays below 15 ms.
        Basic = "basic",
        /// Repetition of what is not acknowledged whenever there is nothing else to send, for satellites.
        PreventiveCyclic = "preventive-cyclic",
    }
}

section! {
    /// An SCTP association of the two points' hosts, with M2PA (RFC 4165). Timers are those of 64 kbit/s.
    pub struct M2pa {
        /// The association's configuration, `[sctp.<profile>]`; `default` if absent.
        profile: Option<Setting<String>>;
        /// The second point's link of the packet network that is used first; its first link in alphabetical order if
        /// absent.
        primary: Option<Setting<String>>;
        /// How long after a loss the first point opens the association again.
        reopen_after: Setting<Duration> = Duration::from_secs(1);
        /// Whether the association is proved before it carries messages.
        proving: Setting<Proving> = Proving::Used;
        /// Messages that may be sent and not yet acknowledged.
        window: Setting<u32> = 4_096;
        /// T1: aligned ready.
        t1: Setting<Duration> = timers().t1;
        /// T2: not aligned.
        t2: Setting<Duration> = timers().t2;
        /// T3: aligned.
        t3: Setting<Duration> = timers().t3;
        /// T4 normal: the proving period.
        t4_normal: Setting<Duration> = timers().t4_normal;
        /// T4 emergency.
        t4_emergency: Setting<Duration> = timers().t4_emergency;
        /// T6: remote congestion.
        t6: Setting<Duration> = timers().t6;
        /// T7: excessive delay of acknowledgement.
        t7: Setting<Duration> = timers().t7;
    }
}

choice! {
    /// Whether an association is proved.
    pub enum Proving {
        /// Not at all.
        Omitted = "omitted",
        /// By messages of 100 octets every 10 ms over T4.
        Used = "used",
    }
}

section! {
    /// Something that happens to a signalling link. A link of M2PA fails with the links of the packet network below it.
    pub struct LinkEvent {
        /// When, from the start of the run.
        at: Setting<Duration>;
        /// The link.
        link: Setting<String>;
        /// What happens.
        action: Setting<LinkAction>;
    }
}

choice! {
    /// What happens to a signalling link.
    pub enum LinkAction {
        /// Management at both ends brings it into service.
        Activate = "activate",
        /// Management at both ends takes it out of service.
        Deactivate = "deactivate",
        /// Its line breaks.
        Fail = "fail",
        /// Its line works again.
        Restore = "restore",
    }
}

impl M2pa {
    /// What both ends are set to.
    pub(crate) fn config(&self) -> m2pa::LinkConfig {
        let base = m2pa::LinkConfig::default();
        m2pa::LinkConfig {
            timers: m2pa::Timers {
                t1: *self.t1,
                t2: *self.t2,
                t3: *self.t3,
                t4_normal: *self.t4_normal,
                t4_emergency: *self.t4_emergency,
                t5: None,
                t6: *self.t6,
                t7: *self.t7,
            },
            proving: match *self.proving {
                Proving::Omitted => m2pa::Proving::Omitted,
                Proving::Used => base.proving,
            },
            outstanding_max: usize::try_from(*self.window).unwrap_or(usize::MAX),
            ..base
        }
    }
}

impl Mtp2 {
    /// Octets that fit into the loop of a line.
    pub(crate) fn loop_octets(&self) -> u32 {
        let octets = self.rate.as_bits_per_sec() as f64 * 2.0 * self.delay.as_secs_f64() / 8.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let octets = octets as u32;
        octets
    }

    /// What both terminals are set to.
    pub(crate) fn config(&self) -> mtp2::Config {
        let octets = self.n2.map_or_else(|| self.loop_octets().saturating_add(1), |n2| *n2);
        let usize_of = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        mtp2::Config {
            rate: *self.rate,
            error_correction: match *self.error_correction {
                ErrorCorrection::Basic => mtp2::ErrorCorrection::Basic,
                ErrorCorrection::PreventiveCyclic => mtp2::ErrorCorrection::PreventiveCyclic {
                    messages: usize_of(*self.n1),
                    octets: usize_of(octets),
                },
            },
            t1: *self.t1,
            t2: *self.t2,
            t3: *self.t3,
            t4_normal: *self.t4_normal,
            t4_emergency: *self.t4_emergency,
            t5: *self.t5,
            t6: *self.t6,
            t7: *self.t7,
            ..terminal()
        }
    }
}
