//! A token bucket in whole numbers: a token is a message, and a billion parts.

use slantpath_base::Instant;

/// Parts of a token: one for each nanosecond of a rate of one a second.
const TOKEN: u64 = 1_000_000_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    per_second: u64,
    /// The most parts that it holds.
    room: u64,
    parts: u64,
    filled_at: Instant,
}

impl Bucket {
    /// A full one, for `per_second` tokens a second and `burst` at once, at least one.
    pub(super) fn new(per_second: u32, burst: u32) -> Self {
        let room = u64::from(burst.max(1)) * TOKEN;
        Self { per_second: per_second.into(), room, parts: room, filled_at: Instant::START }
    }

    /// Has no more than a former one has left.
    pub(super) fn go_on_from(&mut self, former: &Self) {
        (self.parts, self.filled_at) = (former.parts.min(self.room), former.filled_at);
    }

    /// Tells if it has a token.
    pub(super) fn has_token(&mut self, now: Instant) -> bool {
        let elapsed = now.saturating_since(self.filled_at).as_nanos();
        self.parts = self.parts.saturating_add(elapsed.saturating_mul(self.per_second)).min(self.room);
        self.filled_at = now;
        self.parts >= TOKEN
    }

    /// Takes a token that it has.
    pub(super) const fn take(&mut self) {
        self.parts -= TOKEN;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_base::Duration;

    fn taken(bucket: &mut Bucket, now: Instant) -> bool {
        let has = bucket.has_token(now);
        if has {
            bucket.take();
        }
        has
    }

    #[test]
    fn a_burst_passes_and_then_as_many_as_the_rate_says() {
        let mut bucket = Bucket::new(3, 2);
        let start = Instant::START;
        assert_eq!([(); 3].map(|()| taken(&mut bucket, start)), [true, true, false]);
        // A third of a second and not a nanosecond less.
        assert!(!taken(&mut bucket, start + Duration::from_nanos(333_333_333)));
        assert!(taken(&mut bucket, start + Duration::from_nanos(333_333_334)));
        // However long nothing comes, it holds two.
        let late = start + Duration::from_secs(3_600_000);
        assert_eq!([(); 3].map(|()| taken(&mut bucket, late)), [true, true, false]);
    }

    #[test]
    fn a_burst_of_none_is_one_of_one() {
        let mut bucket = Bucket::new(1, 0);
        assert_eq!([(); 2].map(|()| taken(&mut bucket, Instant::START)), [true, false]);
    }

    #[test]
    fn in_the_long_run_the_rate_is_kept_to_the_message() {
        let mut bucket = Bucket::new(700, 2);
        let passed =
            (0..10_000_u64).filter(|at| taken(&mut bucket, Instant::START + Duration::from_millis(*at)));
        // 9.999 s at 700 a second, and the two of the start.
        assert_eq!(passed.count(), 7_001);
    }
}
