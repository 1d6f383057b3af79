//! The run digest: 64 bits that tell whether two runs were the same.

use core::fmt;

use crate::Instant;

/// An order-sensitive digest of a run's events. Equal runs have equal digests; two runs that differ in one
/// event have equal ones with a probability of about 2⁻⁶⁴. It is no protection against an adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunDigest(u64);

impl Default for RunDigest {
    fn default() -> Self {
        Self(0x243f_6a88_85a3_08d3)
    }
}

impl RunDigest {
    /// Takes in one event: when, which component, and what `detail` tells it from its like.
    #[inline]
    pub fn record(&mut self, time: Instant, component: usize, detail: u64) {
        // The two constants are the next digits of pi after the initial value.
        let event = fold(detail ^ 0x1319_8a2e_0370_7344, component as u64 ^ 0xa409_3822_299f_31d0);
        self.0 = fold(self.0.rotate_left(17) ^ event, time.as_nanos() ^ 0x082e_fa98_ec4e_6c89);
    }

    /// The digest as a number.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

impl fmt::Display for RunDigest {
    /// Sixteen hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The halves of the 128-bit product, added without carry: every bit of the result depends on every bit of
/// both factors.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn digest(events: &[(u64, usize, u64)]) -> RunDigest {
        let mut digest = RunDigest::default();
        for &(time, component, detail) in events {
            digest.record(Instant::from_nanos(time), component, detail);
        }
        digest
    }

    #[test]
    fn the_order_the_time_the_component_and_the_detail_all_count() {
        let base = digest(&[(1, 2, 3), (4, 5, 6)]);
        assert_eq!(base, digest(&[(1, 2, 3), (4, 5, 6)]));
        for other in [
            &[(4, 5, 6), (1, 2, 3)][..],
            &[(1, 2, 3), (4, 5, 7)],
            &[(1, 2, 3), (4, 6, 6)],
            &[(1, 2, 3), (5, 5, 6)],
            &[(1, 2, 3)],
            &[(1, 3, 2), (4, 5, 6)],
        ] {
            assert_ne!(base, digest(other), "{other:?}");
        }
    }

    #[test]
    fn small_differences_do_not_collide() {
        let mut seen = BTreeSet::new();
        for time in 0..40 {
            for component in 0..40 {
                for detail in 0..40 {
                    assert!(seen.insert(digest(&[(time, component, detail)]).as_u64()));
                }
            }
        }
    }
}
