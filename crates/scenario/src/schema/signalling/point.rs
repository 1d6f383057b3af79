//! `[signalling.points.<name>]`: a signalling point.

use slantpath_base::Duration;
use slantpath_ss7::PointCodeFormat;
use slantpath_ss7::mtp3::NetworkIndicator;
use slantpath_ss7::mtp3::node::{TIMER_RANGES, Timer, Timers};

use crate::section::{Setting, section};
use crate::value::choice;

/// The default of a timer of Q.704 or Q.707: the middle of its range, rounded.
fn middle(timer: Timer) -> Duration {
    TIMER_RANGES[timer as usize].default
}

section! {
    /// A signalling point.
    pub struct Point {
        /// Its point code, as a number or as three with dashes.
        point_code: Setting<String>;
        /// How point codes are written and sent.
        format: Setting<Format> = Format::Itu;
        /// The network that its messages carry.
        network: Setting<NetworkName> = NetworkName::International;
        /// Whether it transfers messages for others.
        function: Setting<Function> = Function::EndPoint;
        /// The host of the packet network that carries its links of M2PA; the node of the point's name if absent.
        node: Option<Setting<String>>;
        /// Its subsystems of SCCP, by their numbers. A point with one, or with translations, has SCCP.
        subsystems: Setting<Vec<u8>> = Vec::new();
        /// Whether traffic waits for the restart procedure (Q.704, section 9), up to T20 at the start.
        restart: Setting<Restart> = Restart::Used;
        /// Q.704 T1: delay against mis-sequencing on changeover.
        t1: Setting<Duration> = middle(Timer::T1);
        /// Q.704 T2: waiting for changeover acknowledgement.
        t2: Setting<Duration> = middle(Timer::T2);
        /// Q.704 T3: delay against mis-sequencing on changeback by time.
        t3: Setting<Duration> = middle(Timer::T3);
        /// Q.704 T4: waiting for changeback acknowledgement, first attempt.
        t4: Setting<Duration> = middle(Timer::T4);
        /// Q.704 T5: waiting for changeback acknowledgement, second attempt.
        t5: Setting<Duration> = middle(Timer::T5);
        /// Q.704 T6: delay against mis-sequencing on controlled rerouting.
        t6: Setting<Duration> = middle(Timer::T6);
        /// Q.704 T17: delay before a link that could not be aligned is tried again.
        t17: Setting<Duration> = middle(Timer::T17);
        /// Q.704 T18: restart of a transfer point, for links and routing information to come.
        t18: Setting<Duration> = middle(Timer::T18);
        /// Q.704 T20: the whole restart.
        t20: Setting<Duration> = middle(Timer::T20);
        /// Q.704 T21: the whole restart of an adjacent point.
        t21: Setting<Duration> = middle(Timer::T21);
        /// Q.707 T1: waiting for the acknowledgement of a link test.
        link_test_t1: Setting<Duration> = middle(Timer::TestT1);
        /// Q.707 T2: from one link test to the next.
        link_test_t2: Setting<Duration> = middle(Timer::TestT2);
    }
}

choice! {
    /// How point codes are written and sent.
    pub enum Format {
        /// 24 bits, 8-8-8: ANSI.
        Ansi = "ansi",
        /// 14 bits, 3-8-3: ITU-T.
        Itu = "itu",
        /// 16 bits, 5-4-7: TTC.
        Ttc = "ttc",
    }
}

choice! {
    /// The network indicator.
    pub enum NetworkName {
        /// The international network.
        International = "international",
        /// Spare, for international use.
        InternationalSpare = "international-spare",
        /// The national network.
        National = "national",
        /// Reserved for national use.
        NationalSpare = "national-spare",
    }
}

choice! {
    /// What a signalling point does for others.
    pub enum Function {
        /// Nothing: it originates and receives.
        EndPoint = "end-point",
        /// It transfers messages (STP).
        TransferPoint = "transfer-point",
    }
}

choice! {
    /// Whether the restart procedure is used.
    pub enum Restart {
        /// Traffic flows as soon as links do.
        Omitted = "omitted",
        /// Traffic waits for it after isolation.
        Used = "used",
    }
}

impl Format {
    /// The point codes that it stands for.
    pub const fn point_codes(self) -> PointCodeFormat {
        match self {
            Self::Ansi => PointCodeFormat::Ansi,
            Self::Itu => PointCodeFormat::Itu,
            Self::Ttc => PointCodeFormat::Ttc,
        }
    }
}

impl NetworkName {
    /// The indicator that it stands for.
    pub const fn indicator(self) -> NetworkIndicator {
        match self {
            Self::International => NetworkIndicator::International,
            Self::InternationalSpare => NetworkIndicator::InternationalSpare,
            Self::National => NetworkIndicator::National,
            Self::NationalSpare => NetworkIndicator::NationalSpare,
        }
    }
}

impl Point {
    /// The timers that a scenario sets, with their values.
    pub(crate) fn timer_settings(&self) -> [(Timer, &Setting<Duration>); 12] {
        [
            (Timer::T1, &self.t1),
            (Timer::T2, &self.t2),
            (Timer::T3, &self.t3),
            (Timer::T4, &self.t4),
            (Timer::T5, &self.t5),
            (Timer::T6, &self.t6),
            (Timer::T17, &self.t17),
            (Timer::T18, &self.t18),
            (Timer::T20, &self.t20),
            (Timer::T21, &self.t21),
            (Timer::TestT1, &self.link_test_t1),
            (Timer::TestT2, &self.link_test_t2),
        ]
    }

    /// MTP3's timers.
    pub fn timers(&self) -> Timers {
        let with = |timers: Timers, (timer, value): (Timer, &Setting<Duration>)| timers.with(timer, **value);
        self.timer_settings().into_iter().fold(Timers::default(), with)
    }
}
