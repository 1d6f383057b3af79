//! Timers of the layers above SCTP that wait for an answer over the path, with what their standards allow.

use slantpath_base::Duration;

/// A timer that waits for an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerTimer {
    /// Name of the timer as settings have it.
    pub(crate) name: &'static str,
    /// Answer that it waits for.
    pub(crate) waits_for: &'static str,
    /// The least that its standard allows.
    pub(crate) least: Duration,
    /// Greatest value that its standard allows.
    pub(crate) most: Duration,
    /// Place at which the standard says so.
    pub(crate) source: &'static str,
}

const fn timer(
    name: &'static str,
    waits_for: &'static str,
    least_ms: u64,
    most_ms: u64,
    source: &'static str,
) -> AnswerTimer {
    let (least, most) = (Duration::from_millis(least_ms), Duration::from_millis(most_ms));
    AnswerTimer { name, waits_for, least, most, source }
}

/// Timers of MTP3 that traffic needs.
pub(crate) const ANSWERS: [AnswerTimer; 6] = [
    timer("mtp3.t2", "the acknowledgement of a changeover", 700, 2_000, "Q.704, section 16.8"),
    timer("mtp3.t4", "the first acknowledgement of a changeback", 500, 1_200, "Q.704, section 16.8"),
    timer("mtp3.t5", "the second acknowledgement of a changeback", 500, 1_200, "Q.704, section 16.8"),
    timer("mtp3.t12", "the acknowledgement of an uninhibition", 800, 1_500, "Q.704, section 16.8"),
    timer("mtp3.t14", "the acknowledgement of an inhibition", 2_000, 3_000, "Q.704, section 16.8"),
    timer("mtp3.slt_t1", "the answer to a signalling link test", 4_000, 12_000, "Q.707, section 5.5"),
];

/// M2PA's.
pub(crate) const M2PA_T7: AnswerTimer =
    timer("m2pa.t7", "the acknowledgement of a message", 500, 2_000, "Q.703, section 12.3, by RFC 4165");
