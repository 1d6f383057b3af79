//! Named random streams: every component draws from its own, keyed by seed, run number and path.
//!
//! A stream is PCG-64 seeded by BLAKE3 over (seed, run, path), so that adding a component, or drawing more
//! in one, changes no other's draws. Transcendental functions come from `libm`, so that draws are equal on
//! every platform.
//!
//! A program with unknown peers makes its streams of a secret instead ([`Stream::secret`]): what they draw cannot be
//! told from what they drew before. Whoever is handed a stream does not know the difference.

use core::fmt;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::{Duration, Probability};

/// Origin of all streams of one run: the scenario's seed and the number of the replication.
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
        Stream::simulated(*hasher.finalize().as_bytes())
    }
}

/// One component's source of chance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream(Source);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    Secret(Box<Secret>),
    Simulated(Pcg64),
}

impl Stream {
    fn simulated(seed: [u8; 32]) -> Self {
        Self(Source::Simulated(Pcg64::from_seed(seed)))
    }

    /// A stream that nobody can foretell who does not know `key`, whatever he has seen of it: BLAKE3 as a keyed
    /// function, read on and on. The key is for the program to take from the operating system, and for one stream only.
    pub fn secret(key: [u8; 32]) -> Self {
        Self(Source::Secret(Box::new(Secret {
            key: Key(key),
            block: [0; BLOCK_LEN],
            taken: BLOCK_LEN,
            blocks: 0,
        })))
    }

    /// A stream of its own for a part of the component, as secret as this one is, so that what the part draws later
    /// changes nothing here.
    #[must_use]
    pub fn fork(&mut self, name: &str) -> Self {
        if let Source::Simulated(_) = self.0 {
            return Seed::new(self.next_u64(), self.next_u64()).stream(name);
        }
        let mut key = [0; 32];
        self.fill(&mut key);
        Self::secret(key)
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        match &mut self.0 {
            Source::Secret(secret) => secret.next_u64(),
            Source::Simulated(pcg) => pcg.next_u64(),
        }
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

    /// Draws whether an event of probability `p` happens. A draw is made also when the answer is certain, so that
    /// changing a probability leaves later draws in place (common random numbers).
    pub fn happens(&mut self, p: Probability) -> bool {
        self.uniform() < p.as_f64()
    }

    /// Draws the number of trials of probability `p` that fail before the first that succeeds: geometric, with mean `(1
    /// − p) / p`. [`u64::MAX`] for an event that never happens, and only then.
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

/// Octets that are not to be printed.
#[derive(Clone, PartialEq, Eq)]
struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Key")
    }
}

const BLOCK_LEN: usize = 64;

/// The output of BLAKE3 under a key, block by block.
#[derive(Clone, PartialEq, Eq)]
struct Secret {
    key: Key,
    block: [u8; BLOCK_LEN],
    /// Bytes of the block that have been handed out.
    taken: usize,
    /// Blocks that have been begun.
    blocks: u64,
}

impl Secret {
    fn next_u64(&mut self) -> u64 {
        if self.taken == BLOCK_LEN {
            let mut reader = blake3::Hasher::new_keyed(&self.key.0).finalize_xof();
            reader.set_position(self.blocks * BLOCK_LEN as u64);
            reader.fill(&mut self.block);
            self.blocks += 1;
            self.taken = 0;
        }
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.block[self.taken..self.taken + 8]);
        // What has been handed out is forgotten.
        self.block[self.taken..self.taken + 8].fill(0);
        self.taken += 8;
        u64::from_le_bytes(bytes)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

/// The streams of a component's members, of which nobody knows beforehand how many come and in which order: each is
/// named by octets of its own, so that none changes what another draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFamily {
    /// Key from which the members' seeds or keys derive.
    key: Key,
    is_secret: bool,
}

impl StreamFamily {
    /// A family whose key is drawn from `stream`; its members are as secret as that is.
    pub fn new(stream: &mut Stream) -> Self {
        let mut key = Key([0; 32]);
        stream.fill(&mut key.0);
        Self { key, is_secret: matches!(stream.0, Source::Secret(_)) }
    }

    /// The stream of the member with this name, from its beginning.
    pub fn member(&self, name: &[u8]) -> Stream {
        let seed = *blake3::keyed_hash(&self.key.0, name).as_bytes();
        if self.is_secret { Stream::secret(seed) } else { Stream::simulated(seed) }
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

    #[test]
    fn a_secret_stream_is_blake3_under_its_key_from_block_to_block() {
        let mut expected = [0; 136];
        blake3::Hasher::new_keyed(&[7; 32]).finalize_xof().fill(&mut expected);
        let mut drawn = [0; 136];
        let mut stream = Stream::secret([7; 32]);
        stream.fill(&mut drawn);
        assert_eq!(drawn, expected);
        assert!(!format!("{stream:?}").contains('7'), "a key is not for a log");
    }

    #[test]
    fn what_is_forked_goes_its_own_way_and_stays_as_secret() {
        for (mut stream, is_secret) in
            [(Stream::secret([1; 32]), true), (Seed::new(1, 0).stream("parent"), false)]
        {
            let mut other = stream.clone();
            let (mut fork, mut twin) = (stream.fork("part"), other.fork("part"));
            assert_eq!(fork.next_u64(), twin.next_u64());
            fork.next_u64();
            assert_eq!(stream.next_u64(), other.next_u64(), "later draws change nothing here");
            assert_eq!(matches!(fork.0, Source::Secret(_)), is_secret);
            assert_ne!(fork.next_u64(), stream.next_u64());
        }
    }

    #[test]
    fn members_of_a_family_draw_by_their_names_alone() {
        for mut stream in [Stream::secret([1; 32]), Seed::new(1, 0).stream("family")] {
            let is_secret = matches!(stream.0, Source::Secret(_));
            let family = StreamFamily::new(&mut stream);
            let first = family.member(b"a").next_u64();
            assert_ne!(first, family.member(b"b").next_u64());
            assert_eq!(first, family.member(b"a").next_u64());
            assert_ne!(first, StreamFamily::new(&mut stream).member(b"a").next_u64());
            assert_eq!(matches!(family.member(b"a").0, Source::Secret(_)), is_secret);
        }
    }

    const GOLDEN: [u64; 2] = [554_623_500_305_766_323, 216_244];
}
