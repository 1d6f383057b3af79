//! Course of a load that changes while it runs: by steps and ramps.

use slantpath_base::{Duration, Instant};

/// A change of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadStep {
    /// Instant at which the load begins to change.
    pub at: Instant,
    /// Duration of the change, the load rising or falling evenly; 0 makes it a step.
    pub over: Duration,
    /// The Erlang per link from then on; with 0 nothing is sent.
    pub erlang_per_link: f64,
}

/// The load over time as a multiple of a reference, in pieces that rise, fall or stay.
///
/// Messages come as they would with an even load, in a time that runs as fast as the load is high: a gap of that time
/// ends where the area under the load has grown by it.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    pieces: Vec<Piece>,
    /// The piece that the last message was in.
    current: usize,
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    begin: Instant,
    /// The last one has none.
    end: Option<Instant>,
    /// The load at its beginning.
    level: f64,
    /// Growth of the load in a second.
    slope: f64,
}

/// The share of the greatest load below which the load at the start is no reference: gaps of it would be longer than
/// time can say, and short again at the greatest.
const LEAST_REFERENCE: f64 = 1e-3;

/// The load that gaps are drawn for: that at the start, or the greatest where that is nearly nothing; 0 if all are.
pub(super) fn reference(erlang_per_link: f64, steps: &[LoadStep]) -> f64 {
    let greatest = steps.iter().map(|step| step.erlang_per_link).fold(erlang_per_link, f64::max);
    if erlang_per_link < greatest * LEAST_REFERENCE { greatest } else { erlang_per_link }
}

impl Profile {
    /// Steps in order of time, none before another has ended. `erlang_per_link` is the load before the first,
    /// `reference` that of gaps, above 0.
    pub(super) fn new(start: Instant, erlang_per_link: f64, steps: &[LoadStep], reference: f64) -> Self {
        let level = erlang_per_link / reference;
        let mut pieces = vec![Piece { begin: start, end: None, level, slope: 0.0 }];
        for step in steps {
            let last = pieces.last_mut().expect("there is a first piece");
            last.end = Some(step.at);
            let (before, level) = (last.level, step.erlang_per_link / reference);
            let settled = step.at.saturating_add(step.over);
            if !step.over.is_zero() {
                let slope = (level - before) / step.over.as_secs_f64();
                pieces.push(Piece { begin: step.at, end: Some(settled), level: before, slope });
            }
            pieces.push(Piece { begin: settled, end: None, level, slope: 0.0 });
        }
        Self { pieces, current: 0 }
    }

    /// Gives the instant at which a gap that begins at `from` ends, if it does. Calls are in order of time.
    pub(super) fn after(&mut self, from: Instant, gap: Duration) -> Option<Instant> {
        let mut from = from;
        let mut needed = gap.as_secs_f64();
        loop {
            let piece = *self.pieces.get(self.current)?;
            let level = piece.slope.mul_add((from - piece.begin).as_secs_f64(), piece.level);
            let Some(end) = piece.end else {
                return (level > 0.0).then(|| from.saturating_add(Duration::from_secs_f64(needed / level)));
            };
            let left = end.saturating_since(from).as_secs_f64();
            let area = left * (piece.slope * left).mul_add(0.5, level);
            if needed < area {
                // The root of level t + slope t² / 2 = needed, in the form that a slope of 0 does not spoil.
                let root = (2.0 * piece.slope).mul_add(needed, level * level).max(0.0).sqrt();
                return Some(
                    from.saturating_add(Duration::from_secs_f64(2.0 * needed / (level + root))).min(end),
                );
            }
            needed -= area;
            from = from.max(end);
            self.current += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Instant {
        Instant::START + Duration::from_secs_f64(seconds)
    }

    fn step(from: f64, over: f64, erlang_per_link: f64) -> LoadStep {
        LoadStep { at: at(from), over: Duration::from_secs_f64(over), erlang_per_link }
    }

    /// Messages of even gaps of 10 ms at 0.2 Erlang, counted by second.
    fn counts(steps: &[LoadStep], seconds: usize) -> Vec<u32> {
        let mut profile = Profile::new(Instant::START, 0.2, steps, 0.2);
        let (mut counts, mut now) = (vec![0; seconds], Instant::START);
        while let Some(next) = profile.after(now, Duration::from_millis(10)) {
            assert!(next > now, "time goes on");
            let second = usize::try_from((next - Instant::START).as_nanos() / 1_000_000_000).expect("small");
            let Some(count) = counts.get_mut(second) else { break };
            *count += 1;
            now = next;
        }
        counts
    }

    fn about(counts: &[u32], expected: &[u32]) {
        let are_near = counts.iter().zip(expected).all(|(count, expected)| count.abs_diff(*expected) <= 1);
        assert!(are_near && counts.len() == expected.len(), "{counts:?}, not {expected:?}");
    }

    #[test]
    fn a_step_changes_the_load_at_once_and_a_gap_that_lies_over_it_is_shared() {
        about(&counts(&[step(2.0, 0.0, 0.6), step(3.0, 0.0, 0.1)], 5), &[100, 100, 300, 50, 50]);
        let mut profile = Profile::new(Instant::START, 0.2, &[step(2.0, 0.0, 0.8)], 0.2);
        // Half of the gap at the old load, half of it four times as fast.
        let end = profile.after(at(1.0), Duration::from_secs(2)).expect("there is one");
        assert_eq!(end, at(2.25));
    }

    #[test]
    fn a_ramp_rises_evenly() {
        // From 1 to 3 within two seconds: areas 1.5 and 2.5.
        about(&counts(&[step(1.0, 2.0, 0.6)], 4), &[100, 150, 250, 300]);
        about(&counts(&[step(1.0, 2.0, 0.0)], 4), &[100, 75, 25, 0]);
    }

    #[test]
    fn the_reference_is_the_load_at_the_start_unless_that_is_nearly_nothing() {
        for (first, steps, expected) in [
            (0.2, &[][..], 0.2),
            (0.2, &[step(1.0, 0.0, 0.6)][..], 0.2),
            (0.2, &[step(1.0, 0.0, 0.0)][..], 0.2),
            (0.001, &[step(1.0, 0.0, 0.6), step(2.0, 0.0, 1.0)][..], 0.001),
            (0.000_9, &[step(1.0, 0.0, 0.6), step(2.0, 0.0, 1.0)][..], 1.0),
            (1e-20, &[step(1.0, 0.0, 0.6), step(2.0, 0.0, 0.2)][..], 0.6),
            (0.0, &[step(1.0, 0.0, 0.6)][..], 0.6),
            (0.0, &[step(1.0, 0.0, 0.0)][..], 0.0),
        ] {
            assert_eq!(reference(first, steps), expected, "{first} {steps:?}");
        }
    }

    #[test]
    fn a_load_of_nothing_ends_or_pauses() {
        about(&counts(&[step(1.0, 0.0, 0.0)], 3), &[100, 0, 0]);
        about(&counts(&[step(1.0, 0.0, 0.0), step(2.0, 0.0, 0.2)], 4), &[100, 0, 100, 100]);
        about(&counts(&[step(1.0, 1.0, 0.0), step(2.0, 1.0, 0.2)], 4), &[100, 50, 50, 100]);
    }
}
