//! `[signalling.links.<name>]`: signalling links, and what carries them.

use std::sync::Arc;

use slantpath_base::{DataRate, Duration, Probability};
use slantpath_reader::{
    Later, OneOf, Origin, Pair, Place, Resolved, Setting, Spent, Stage, choice, policy, section, tagged,
};
use slantpath_sigtran::m2pa::{self, T7From};
use slantpath_ss7::mtp2;

use crate::bounds::{DELAY, LINE_RATE, LINK_SET, LOOP, MESSAGES, MSU, TIMER, UNITS};
use slantpath_profiles::Interval;
use slantpath_profiles::sctp::SctpProfile;

section! {
    /// A signalling link between two points.
    pub struct SignallingLink<S> {
        /// The points that it joins, first and second.
        between: Setting<Pair<String>>;
        /// Number of such links, up to 16 of a link set. They are called `<name>-1` and so on, with as many digits as
        /// the last has. One if absent.
        count: Spent<S, Option<Setting<u32>>>, at most LINK_SET;
        /// Code of the link within the link set of these two points (SLC); by the order of names if absent.
        slc: Later<S, Setting<u8>>;
        /// Keeps the link in reserve (Q.704, section 12.2): both points activate it when another link between them has
        /// failed, and deactivate it when that one is back.
        backup: Setting<bool> = false;
        /// Carrier of the link.
        carrier: OneOf<Carrier<S>>;
    }
}

tagged! {
    /// Carrier of a signalling link.
    pub enum Carrier<S> {
        /// An SCTP association of the two points' hosts, with M2PA (RFC 4165).
        M2pa<S> = "m2pa",
        /// A line with MTP2 (Q.703) at both ends.
        Mtp2<S> = "mtp2",
    }
}

/// A number that nobody exceeds.
fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Inverse of [`count`].
fn usize_of(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A terminal of MTP2 where nobody says otherwise.
fn terminal() -> mtp2::Config {
    mtp2::Config::default()
}

/// An end of M2PA where nobody says otherwise.
fn end() -> m2pa::LinkConfig {
    m2pa::LinkConfig::default()
}

/// Timers of such an end.
fn timers() -> m2pa::Timers {
    end().timers
}

/// Proving of such an end: interval, and octets of filler.
fn usual_proving() -> (Duration, u32) {
    match m2pa::Proving::default() {
        m2pa::Proving::Every { interval, filler_octets } => (interval, count(filler_octets)),
        m2pa::Proving::Omitted => unreachable!("by default associations are proved"),
    }
}

section! {
    /// A line with MTP2 (Q.703) at both ends. Timers are those of 64 kbit/s.
    pub struct Mtp2<S> {
        /// Delay of the line, one way.
        delay: Setting<Duration>, at most DELAY;
        /// Of the line.
        rate: Setting<DataRate> = terminal().rate, at most LINE_RATE;
        /// Probability that a bit arrives wrong.
        bit_error_rate: Setting<Probability> = Probability::NEVER;
        /// Method by which messages that the line has damaged are repeated.
        error_correction: Setting<ErrorCorrection> = ErrorCorrection::Basic;
        /// N1 of preventive cyclic retransmission: so many messages unacknowledged force their repetition.
        n1: Setting<u32> = 127, at most MESSAGES;
        /// N2 of preventive cyclic retransmission: so many octets unacknowledged force it; one more than fits into the
        /// loop if absent.
        n2: Later<S, Setting<u32>>, at most LOOP;
        /// T1: aligned ready.
        t1: Setting<Duration> = terminal().t1, at most TIMER;
        /// T2: not aligned.
        t2: Setting<Duration> = terminal().t2, at most TIMER;
        /// T3: aligned.
        t3: Setting<Duration> = terminal().t3, at most TIMER;
        /// T4 normal: the proving period.
        t4_normal: Setting<Duration> = terminal().t4_normal, at most TIMER;
        /// T4 emergency.
        t4_emergency: Setting<Duration> = terminal().t4_emergency, at most TIMER;
        /// T5: sending SIB.
        t5: Setting<Duration> = terminal().t5, at most TIMER;
        /// T6: remote congestion.
        t6: Setting<Duration> = terminal().t6, at most TIMER;
        /// T7: excessive delay of acknowledgement.
        t7: Setting<Duration> = terminal().t7, at most TIMER;
        /// T of the signal unit error rate monitor: so many errors, leaking, take the link out.
        error_threshold: Setting<u32> = terminal().error_threshold, at most UNITS;
        /// D: so many units let the monitor forget one error.
        error_leak: Setting<u32> = terminal().error_leak, at most UNITS;
        /// Tin: errors that abort a normal proving period.
        proving_errors_normal: Setting<u32> = terminal().proving_errors_normal, at most UNITS;
        /// Tie: errors that abort an emergency proving period.
        proving_errors_emergency: Setting<u32> = terminal().proving_errors_emergency, at most UNITS;
        /// M: proving periods before alignment is not possible.
        proving_attempts: Setting<u32> = terminal().proving_attempts, at most UNITS;
        /// Messages in the transmit and retransmit buffers at which congestion of status 1, 2 and 3 sets in. It abates
        /// at three quarters of that.
        congestion: Setting<Vec<u32>> = terminal().congestion_onset.into_iter().map(count).collect(), at most MESSAGES;
        /// Messages that the transmit buffer holds; what comes beyond is refused and counted.
        transmit_buffer: Setting<u32> = count(terminal().transmit_buffer), at most MESSAGES;
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
    pub struct M2pa<S> {
        /// The association's configuration, `[sctp.<profile>]`; `default` if absent.
        profile: Later<S, Setting<String>>;
        /// The second point's link of the packet network that is used first; its first link in alphabetical order if
        /// absent; of a host with several cables of a sky, that by which the way leads at the start.
        primary: Later<S, Setting<String>>;
        /// Time after a loss at which the first point opens the association again.
        reopen_after: Setting<Duration> = Duration::from_secs(1), at most TIMER;
        /// Use of proving before the association carries messages.
        proving: Setting<Proving> = Proving::Used;
        /// With proving: from one of its messages to the next.
        proving_interval: Setting<Duration> = usual_proving().0, at most TIMER;
        /// With proving: octets of filler in each of its messages.
        proving_filler: Setting<u32> = usual_proving().1, at most MSU;
        /// Messages that may be sent and not yet acknowledged.
        window: Setting<u32> = count(end().outstanding_max), at most MESSAGES;
        /// Messages that may wait or be unacknowledged together; what comes beyond is refused and counted.
        buffer: Setting<u32> = count(end().buffer_max), at most MESSAGES;
        /// Messages that may wait for the association; what comes beyond is refused and counted. As many as `buffer`
        /// takes if absent.
        transmission_queue: Option<Setting<u32>>, at most MESSAGES;
        /// Numbers of messages queued or unacknowledged at which congestion of status 1, 2 and 3 begins and ends: one
        /// to three pairs, rising.
        congestion: Setting<Vec<Pair<u32>>> = usual_congestion(), at most MESSAGES;
        /// Received messages that are held during a processor outage or congestion of this end at most.
        held: Setting<u32> = count(end().held_max), at most MESSAGES;
        /// Octets of the longest message, from its service information octet on.
        longest_msu: Setting<u32> = count(end().longest_msu), at most MSU;
        /// Whose ranges the timers keep.
        timer_ranges: Setting<TimerRanges> = TimerRanges::Kbit64;
        /// T1: aligned ready.
        t1: Setting<Duration> = timers().t1, at most TIMER;
        /// T2: not aligned.
        t2: Setting<Duration> = timers().t2, at most TIMER;
        /// T3: aligned.
        t3: Setting<Duration> = timers().t3, at most TIMER;
        /// T4 normal: the proving period.
        t4_normal: Setting<Duration> = timers().t4_normal, at most TIMER;
        /// T4 emergency.
        t4_emergency: Setting<Duration> = timers().t4_emergency, at most TIMER;
        /// T5: how often Busy is repeated while this end is congested.
        t5: Setting<Interval> = timers().t5.map_or(Interval::Off, Interval::Every), at most TIMER;
        /// T6: remote congestion.
        t6: Setting<Duration> = timers().t6, at most TIMER;
        /// T7: excessive delay of acknowledgement.
        t7: Setting<Duration> = timers().t7, at most TIMER;
        /// From when on it runs for a message.
        t7_from: Setting<T7FromChoice> = T7FromChoice::of(end().t7_from);
        /// Settings of the association, those of `profile`.
        settings: Later<S, Resolved<Arc<SctpProfile>>>;
    }
}

policy! {
    /// From when on a message counts as unacknowledged for T7 of M2PA. RFC 4165, section 4.2.1, leaves it open.
    pub struct T7FromChoice of T7From {
        /// Time of its first transmission: nothing that is queued counts.
        FirstTransmission = "first-transmission",
        /// Time at which MTP3 gives it: what is queued above the association counts too.
        Given = "given",
        /// Time at which it is handed over to the association: what is queued in SCTP's send buffer counts, what is
        /// queued above it does not.
        HandOver = "hand-over",
        /// Time at which it is handed over, or that of the last acknowledgement of another if that comes later, as in
        /// Q.703.
        LastAcknowledgement = "last-acknowledgement",
    }
}

choice! {
    /// Use of proving on an association.
    pub enum Proving {
        /// Not at all.
        Omitted = "omitted",
        /// By messages at an interval over T4.
        Used = "used",
    }
}

choice! {
    /// The ranges of Q.703, section 12.3, by the kind of link.
    pub enum TimerRanges {
        /// None: a timer is what the equipment has it be.
        Free = "free",
        /// 1.5 and 2 Mbit/s (Annex A).
        HighRate = "high-rate",
        /// 4.8 kbit/s.
        Kbit4_8 = "4.8 kbit/s",
        /// 64 kbit/s.
        Kbit64 = "64 kbit/s",
    }
}

/// Numbers of messages at which congestion of an association begins and ends by default.
fn usual_congestion() -> Vec<Pair<u32>> {
    end().congestion.iter().map(|status| Pair(count(status.onset), count(status.abatement))).collect()
}

impl M2pa {
    /// Configuration of both ends.
    pub fn config(&self) -> m2pa::LinkConfig {
        let status = |Pair(onset, abatement): &Pair<u32>| m2pa::CongestionThreshold {
            onset: usize_of(*onset),
            abatement: usize_of(*abatement),
        };
        m2pa::LinkConfig {
            timers: m2pa::Timers {
                t1: *self.t1,
                t2: *self.t2,
                t3: *self.t3,
                t4_normal: *self.t4_normal,
                t4_emergency: *self.t4_emergency,
                t5: self.t5.quantity(),
                t6: *self.t6,
                t7: *self.t7,
            },
            ranges: match *self.timer_ranges {
                TimerRanges::Free => m2pa::TimerRanges::Free,
                TimerRanges::HighRate => m2pa::TimerRanges::HighRate,
                TimerRanges::Kbit4_8 => m2pa::TimerRanges::Kbit4_8,
                TimerRanges::Kbit64 => m2pa::TimerRanges::Kbit64,
            },
            t7_from: self.t7_from.policy(),
            proving: match *self.proving {
                Proving::Omitted => m2pa::Proving::Omitted,
                Proving::Used => m2pa::Proving::Every {
                    interval: *self.proving_interval,
                    filler_octets: usize_of(*self.proving_filler),
                },
            },
            outstanding_max: usize_of(*self.window),
            buffer_max: usize_of(*self.buffer),
            waiting_max: self.transmission_queue.map(|most| usize_of(*most)),
            congestion: self.congestion.iter().map(status).collect(),
            held_max: usize_of(*self.held),
            longest_msu: usize_of(*self.longest_msu),
        }
    }

    /// The line of a timer.
    pub fn timer_place(&self, timer: m2pa::TimerName) -> Place {
        use m2pa::TimerName as Name;
        match timer {
            Name::T1 => self.t1.place(),
            Name::T2 => self.t2.place(),
            Name::T3 => self.t3.place(),
            Name::T4Emergency => self.t4_emergency.place(),
            Name::T4Normal => self.t4_normal.place(),
            Name::T5 => self.t5.place(),
            Name::T6 => self.t6.place(),
            Name::T7 => self.t7.place(),
        }
    }

    /// The line that an error of the configuration is about, and its cure.
    pub(crate) fn cure(&self, error: &m2pa::ConfigError) -> (Place, &'static str) {
        use m2pa::ConfigError as Error;
        match error {
            Error::BufferBelowCongestion { .. } if self.congestion.origin() == Origin::Default => {
                (self.buffer.place(), "let the buffer hold more, or `congestion` begin earlier")
            }
            Error::BufferBelowCongestion { .. }
            | Error::CongestionStatuses(_)
            | Error::CongestionOrder(_) => (
                self.congestion.place(),
                "a pair is where a status begins and where it ends, like `[[4096, 2048]]`",
            ),
            Error::OutstandingMax(_) => (self.window.place(), "4096 is usual"),
            Error::LongestMsu(_) => (self.longest_msu.place(), "273 is usual"),
            Error::ProvingInterval => (self.proving_interval.place(), "\"10 ms\" is usual"),
            Error::Timer { timer, .. } => (
                self.timer_place(*timer),
                "the ranges are those of Q.703, section 12.3; `timer_ranges` chooses whose",
            ),
        }
    }
}

impl<S: Stage> Mtp2<S> {
    /// Octets that fit into the loop of a line.
    pub fn loop_octets(&self) -> u32 {
        let octets = self.rate.as_bits_per_sec() as f64 * 2.0 * self.delay.as_secs_f64() / 8.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let octets = octets as u32;
        octets
    }
}

impl Mtp2 {
    /// Configuration of both terminals.
    pub(crate) fn config(&self) -> mtp2::Config {
        mtp2::Config {
            rate: *self.rate,
            error_correction: match *self.error_correction {
                ErrorCorrection::Basic => mtp2::ErrorCorrection::Basic,
                ErrorCorrection::PreventiveCyclic => mtp2::ErrorCorrection::PreventiveCyclic {
                    messages: usize_of(*self.n1),
                    octets: usize_of(*self.n2),
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
            error_threshold: *self.error_threshold,
            error_leak: *self.error_leak,
            proving_errors_normal: *self.proving_errors_normal,
            proving_errors_emergency: *self.proving_errors_emergency,
            proving_attempts: *self.proving_attempts,
            // A list that is shorter or longer is refused before.
            congestion_onset: core::array::from_fn(|status| {
                self.congestion.get(status).map_or(0, |at| usize_of(*at))
            }),
            transmit_buffer: usize_of(*self.transmit_buffer),
        }
    }

    /// The line that an error of the configuration is about, and its cure.
    pub(crate) fn cure(&self, error: &mtp2::ConfigError) -> (Place, &'static str) {
        use mtp2::ConfigError as Error;
        match error {
            Error::Congestion { .. } if self.congestion.origin() == Origin::Default => {
                (self.transmit_buffer.place(), "let the buffer hold more, or `congestion` begin earlier")
            }
            Error::Congestion { .. } => (
                self.congestion.place(),
                "write three rising numbers below `transmit_buffer`, like `[200, 300, 400]`",
            ),
            Error::Cyclic { messages, .. } if (1..=127).contains(messages) => {
                (self.n2.place(), "leave `n2` out for one more than fits into the loop")
            }
            Error::Cyclic { .. } => (self.n1.place(), "127 is usual"),
            Error::Monitor { name } => {
                let setting = match *name {
                    "the error threshold T" => &self.error_threshold,
                    "the error leak D" => &self.error_leak,
                    "Tin" => &self.proving_errors_normal,
                    "Tie" => &self.proving_errors_emergency,
                    _ => &self.proving_attempts,
                };
                (setting.place(), "Q.703 has 64 for T, 256 for D, 4 for Tin, 1 for Tie and 5 for M")
            }
            Error::NoRate => (self.rate.place(), "\"64 kbit/s\" is usual"),
            Error::Timer { timer, .. } => {
                let setting = match *timer {
                    "T1" => &self.t1,
                    "T2" => &self.t2,
                    "T3" => &self.t3,
                    "T4n" => &self.t4_normal,
                    "T4e" => &self.t4_emergency,
                    "T5" => &self.t5,
                    "T6" => &self.t6,
                    _ => &self.t7,
                };
                (setting.place(), "the ranges are those of Q.703, section 12.3, for 64 kbit/s")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use slantpath_reader::{Document, Faults, Finish, Section, Written};

    use super::*;

    fn read<S: Section>(text: &str) -> S {
        let (entries, _) = Document::parse("t", text).entries().unwrap();
        S::read(&entries, "carrier", Place::default(), &mut Faults::default()).unwrap()
    }

    const TIMERS: &str = r#"
        t1 = "41 s"
        t2 = "42 s"
        t3 = "1300 ms"
        t4_normal = "9 s"
        t4_emergency = "440 ms"
        t5 = "85 ms"
        t6 = "3600 ms"
        t7 = "700 ms"
    "#;

    #[test]
    fn each_timer_of_m2pa_reaches_its_place() {
        let ms = Duration::from_millis;
        let text = format!("profile = \"default\"\nprimary = \"wire\"\n{TIMERS}");
        let mut m2pa = read::<M2pa<Written>>(&text);
        m2pa.settings.resolve(Some(Arc::new(read(""))));
        let timers = m2pa.finish().unwrap().config().timers;
        let waits =
            [timers.t1, timers.t2, timers.t3, timers.t4_normal, timers.t4_emergency, timers.t6, timers.t7];
        assert_eq!(waits, [41_000, 42_000, 1_300, 9_000, 440, 3_600, 700].map(ms));
        assert_eq!(timers.t5, Some(ms(85)));
    }

    #[test]
    fn each_timer_of_mtp2_reaches_its_place() {
        let ms = Duration::from_millis;
        let line = read::<Mtp2<Written>>(&format!("delay = \"1 ms\"\nn2 = 1\n{TIMERS}"));
        let line = line.finish().unwrap().config();
        let waits = [line.t1, line.t2, line.t3, line.t4_normal, line.t4_emergency, line.t5, line.t6, line.t7];
        assert_eq!(waits, [41_000, 42_000, 1_300, 9_000, 440, 85, 3_600, 700].map(ms));
    }
}
