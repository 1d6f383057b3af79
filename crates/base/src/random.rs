//! Named random streams: every component draws from its own, keyed by seed, run number and path.
//!
//! A stream is PCG-64 seeded by BLAKE3 over (seed, run, path), so that adding a component, or drawing more
//! in one, changes no other's draws. Transcendental functions come from `libm`, so that draws are equal on
//! every platform.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::{Duration, Probability};

/// What all streams of one run derive from: the scenario's seed and the number of the replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed {
    seed: u64,
    run: u64,
}

impl Seed {
    /// The streams of replication `run` under `seed`.
    pub const fn new(seed: u64, run: u64) -> Self {
        Self { seed, run }
    }

    /// The stream of the component at `path`, for example `links/satellite/forward/loss`.
    pub fn stream(self, path: &str) -> Stream {
        let mut hasher = blake3::Hasher::new_derive_key("slantpath 2026 named random stream");
        hasher.update(&self.seed.to_le_bytes());
        hasher.update(&self.run.to_le_bytes());
        hasher.update(path.as_bytes());
        Stream(Pcg64::from_seed(*hasher.finalize().as_bytes()))
    }
}

/// One component's source of chance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream(Pcg64);

impl Stream {
    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// Fills `bytes` with random bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let draw = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&draw[..chunk.len()]);
        }
    }

    /// Uniform in `0.0..1.0`, 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform in `0..bound`, without bias (Lemire 2019). `bound` must not be zero.
    #[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a draw below zero has no outcome");
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// Whether an event of probability `p` happens. Draws also when the answer is certain, so that changing
    /// a probability leaves later draws in place (common random numbers).
    pub fn happens(&mut self, p: Probability) -> bool {
        self.uniform() < p.as_f64()
    }

    /// How many trials of probability `p` fail before the first that succeeds: geometric, with mean
    /// `(1 − p) / p`. [`u64::MAX`] for what never happens, and only then.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
    pub fn failures_before(&mut self, p: Probability) -> u64 {
        let uniform = self.uniform();
        if p.is_never() {
            return u64::MAX;
        }
        // What always happens divides by minus infinity: no failure.
        let failures = libm::log1p(-uniform) / libm::log1p(-p.as_f64());
        (failures as u64).min(u64::MAX - 1)
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: Duration) -> Duration {
        Duration::from_secs_f64(-libm::log1p(-self.uniform()) * mean.as_secs_f64())
    }

    /// Uniform in `low..=high`.
    pub fn duration_between(&mut self, low: Duration, high: Duration) -> Duration {
        let span = high.saturating_sub(low).as_nanos();
        match span.checked_add(1) {
            Some(bound) => low + Duration::from_nanos(self.below(bound)),
            None => Duration::from_nanos(self.next_u64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_its_name_seed_and_run_and_nothing_else() {
        let draw = |seed, run, path: &str| Seed::new(seed, run).stream(path).next_u64();
        assert_eq!(draw(1, 0, "a"), draw(1, 0, "a"));
        assert_ne!(draw(1, 0, "a"), draw(1, 0, "b"));
        assert_ne!(draw(1, 0, "a"), draw(1, 1, "a"));
        assert_ne!(draw(1, 0, "a"), draw(2, 0, "a"));
    }

    #[test]
    fn draws_are_the_same_on_every_machine() {
        let mut stream = Seed::new(1, 0).stream("golden");
        let draws = [stream.next_u64(), stream.below(1_000_000)];
        assert_eq!(draws, GOLDEN, "a change here changes the outcome of every scenario ever run");
    }

    #[test]
    fn means_lie_inside_four_standard_errors() {
        let n = 100_000_u32;
        let mut stream = Seed::new(7, 0).stream("moments");
        let mut mean_of = |draw: &mut dyn FnMut(&mut Stream) -> f64| {
            (0..n).map(|_| draw(&mut stream)).sum::<f64>() / f64::from(n)
        };
        let root = f64::from(n).sqrt();
        let uniform = mean_of(&mut Stream::uniform);
        assert!((uniform - 0.5).abs() < 4.0 * 0.2887 / root, "{uniform}");
        let below = mean_of(&mut |s| s.below(10) as f64);
        assert!((below - 4.5).abs() < 4.0 * 2.872 / root, "{below}");
        let exponential = mean_of(&mut |s| s.exponential(Duration::from_secs(2)).as_secs_f64());
        assert!((exponential - 2.0).abs() < 4.0 * 2.0 / root, "{exponential}");
        // Probability 0.1: mean 9, variance 90.
        let p = Probability::new(0.1).unwrap();
        let failures = mean_of(&mut |s| s.failures_before(p) as f64);
        assert!((failures - 9.0).abs() < 4.0 * 9.487 / root, "{failures}");
    }

    #[test]
    fn certain_trials_fail_never_or_always() {
        let mut stream = Seed::new(1, 0).stream("certain");
        assert_eq!(stream.failures_before(Probability::ALWAYS), 0);
        assert_eq!(stream.failures_before(Probability::NEVER), u64::MAX);
        assert_ne!(stream.failures_before(Probability::new(f64::MIN_POSITIVE).unwrap()), u64::MAX);
    }

    const GOLDEN: [u64; 2] = [554_623_500_305_766_323, 216_244];
}
