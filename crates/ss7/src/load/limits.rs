//! The limits of Q.706 that a signalling relation must keep.

use slantpath_base::Duration;

use super::account::Report;

/// Limits of Q.706 that a measurement is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Not more than one message in 10⁷ is lost (Q.706, section 1.2).
    Loss,
    /// Not more than one message in 10¹⁰ is out of sequence or repeated (Q.706, section 1.2).
    MisSequence,
    /// A signalling route set is unavailable for not more than 10 minutes a year (Q.706, section 1.1).
    Unavailability,
}

/// Outcomes of comparing a measurement with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The limit is exceeded: by what was seen, with 95 % confidence.
    Exceeded,
    /// The limit is kept, with 95 % confidence.
    Kept,
    /// Too little was sent, or measured for too short, to tell.
    Inconclusive,
}

/// One limit beside what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Limit that is compared.
    pub limit: Limit,
    /// The share of messages, or of time, that the limit allows.
    pub allowed: f64,
    /// The share that was measured.
    pub measured: f64,
    /// Outcome of the comparison.
    pub verdict: Verdict,
}

/// 10 minutes of 365 days.
const UNAVAILABLE_SHARE: f64 = 10.0 / (365.0 * 24.0 * 60.0);

/// A shorter measurement tells nothing of a relation that was nearly always available.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3_600);

impl Report {
    /// The outcome beside each limit.
    pub fn compare(&self) -> [Comparison; 3] {
        let shares = [
            (Limit::Loss, 1e-7, self.lost),
            (Limit::MisSequence, 1e-10, self.out_of_sequence + self.repeated),
        ];
        let [loss, sequence] = shares.map(|(limit, allowed, events)| {
            // A late message has arrived: what a user still makes of it is no matter of the message transfer part.
            let settled = self.delivered + self.late + self.lost;
            let measured = if settled == 0 { 0.0 } else { events as f64 / settled as f64 };
            Comparison { limit, allowed, measured, verdict: verdict(events, settled as f64 * allowed) }
        });
        let span = self.span.as_secs_f64();
        let measured = if span > 0.0 { self.unavailable.as_secs_f64() / span } else { 0.0 };
        let verdict = match (measured > UNAVAILABLE_SHARE, self.span >= YEAR) {
            (false, false) => Verdict::Inconclusive,
            (false, true) => Verdict::Kept,
            (true, _) => Verdict::Exceeded,
        };
        let unavailability =
            Comparison { limit: Limit::Unavailability, allowed: UNAVAILABLE_SHARE, measured, verdict };
        [loss, sequence, unavailability]
    }
}

/// Judges a count of rare events against the count that the limit allows on average, both as Poisson counts: with 95 %
/// confidence, or not at all.
fn verdict(events: u64, allowed: f64) -> Verdict {
    // Above some hundreds a Poisson count is normal; 1.645 standard deviations leave 5 % on one side.
    if allowed > 500.0 {
        let deviations = (events as f64 - allowed) / allowed.sqrt();
        return match deviations {
            low if low < -1.645 => Verdict::Kept,
            high if high > 1.645 => Verdict::Exceeded,
            _ => Verdict::Inconclusive,
        };
    }
    // Far more than allowed need no sum.
    if events > 2_000 {
        return Verdict::Exceeded;
    }
    let mut term = libm::exp(-allowed);
    let (mut fewer, mut at_most) = (0.0, 0.0);
    for count in 0..=events {
        fewer = at_most;
        at_most += term;
        term *= allowed / (count + 1) as f64;
    }
    // How probable so few events are, and so many, when the limit is just kept.
    match (at_most <= 0.05, 1.0 - fewer <= 0.05) {
        (true, _) => Verdict::Kept,
        (_, true) => Verdict::Exceeded,
        (false, false) => Verdict::Inconclusive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_loss_in_a_thousand_messages_tells_nothing() {
        assert_eq!(verdict(0, 1_000.0 * 1e-7), Verdict::Inconclusive);
    }

    #[test]
    fn no_loss_in_thirty_million_messages_keeps_the_limit() {
        // e⁻³ is just below 5 %.
        assert_eq!(verdict(0, 3.0e7 * 1e-7), Verdict::Kept);
    }

    #[test]
    fn one_loss_in_a_thousand_messages_exceeds_the_limit() {
        assert_eq!(verdict(1, 1_000.0 * 1e-7), Verdict::Exceeded);
    }

    #[test]
    fn as_many_losses_as_allowed_tell_nothing() {
        assert_eq!(verdict(10, 10.0), Verdict::Inconclusive);
    }

    #[test]
    fn very_many_losses_exceed_the_limit() {
        assert_eq!(verdict(1_000_000, 900.0), Verdict::Exceeded);
        assert_eq!(verdict(1_000_000, 9.0), Verdict::Exceeded);
    }

    #[test]
    fn large_counts_are_judged_by_their_deviation() {
        assert_eq!(verdict(900, 900.0), Verdict::Inconclusive);
        assert_eq!(verdict(800, 900.0), Verdict::Kept);
        assert_eq!(verdict(1_000, 900.0), Verdict::Exceeded);
    }
}
