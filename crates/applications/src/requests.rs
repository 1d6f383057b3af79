//! Requests with think times: sessions that ask for one thing after the other, as somebody reads pages.
//!
//! The opener of a session sends a request, the other end answers it with as many bytes as it asks for, and some time
//! after the last of them the next request follows, over the same association or connection.

mod client;
mod request;
mod server;

use slantpath_base::{DataSize, Duration, Stream};

pub(crate) use client::Client;
pub use request::HEADER_LEN;
pub(crate) use server::Server;

use crate::sessions::SessionSizes;

/// Requests that the opener of a session makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestsConfig {
    /// Number of requests that a session makes.
    pub count: RequestCount,
    /// Bytes of each request: from [`HEADER_LEN`] to [`MAX_MESSAGE_LEN`](crate::message::MAX_MESSAGE_LEN).
    pub size: DataSize,
    /// From the last byte of an answer to the next request.
    pub think: ThinkTime,
}

/// Number of requests that a session makes: one at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequestCount {
    /// Always as many.
    Fixed {
        /// Number of requests of each session.
        count: u32,
    },
    /// After each request another one follows with the same chance.
    Geometric {
        /// The mean, 1 or more.
        mean: f64,
    },
}

/// From the last byte of an answer to the next request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ThinkTime {
    /// An exponential distribution.
    Exponential {
        /// Mean of the distribution.
        mean: Duration,
    },
    /// Always as long.
    Fixed {
        /// Time until the next request.
        time: Duration,
    },
    /// A Pareto distribution: P(X > x) = (m / x)^shape for x ≥ m, where m = mean (shape − 1) / shape.
    Pareto {
        /// Mean of the distribution.
        mean: Duration,
        /// Shape of the distribution, more than one, without which there is no mean.
        shape: f64,
    },
}

impl RequestCount {
    /// The count below or at which a share `u` of all sessions lies, 0 ≤ u < 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "more than 2^32 requests are as good as 2^32"
    )]
    pub fn quantile(&self, u: f64) -> u32 {
        match *self {
            Self::Fixed { count } => count,
            Self::Geometric { mean } => {
                let further = libm::log1p(-u) / libm::log1p(-1.0 / mean);
                (further as u32).saturating_add(1)
            }
        }
    }
}

impl ThinkTime {
    /// The time below which a share `u` of all lies, 0 ≤ u < 1.
    pub fn quantile(&self, u: f64) -> Duration {
        let seconds = match *self {
            Self::Exponential { mean } => -libm::log1p(-u) * mean.as_secs_f64(),
            Self::Fixed { time } => return time,
            Self::Pareto { mean, shape } => {
                let least = mean.as_secs_f64() * (shape - 1.0) / shape;
                least * libm::pow(1.0 - u, -1.0 / shape)
            }
        };
        Duration::from_secs_f64(seconds)
    }
}

/// The requests of one session that are still to be made, drawn as they are asked for.
#[derive(Clone, Debug)]
pub(crate) struct RequestPlan {
    config: RequestsConfig,
    sizes: SessionSizes,
    stream: Stream,
    left: u32,
}

/// A request that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedRequest {
    /// Size of the answer that is asked for.
    pub(crate) size: DataSize,
    /// Time that the next request waits after the answer.
    pub(crate) think: Duration,
}

impl RequestPlan {
    /// `stream` is the session's own.
    pub(crate) fn new(config: RequestsConfig, sizes: SessionSizes, mut stream: Stream) -> Self {
        let left = config.count.quantile(stream.uniform());
        Self { config, sizes, stream, left }
    }

    /// All that the session asks for.
    pub(crate) fn total(&self) -> DataSize {
        let bytes = self.clone().map(|request| request.size.as_bytes());
        DataSize::from_bytes(bytes.fold(0, u64::saturating_add))
    }

    /// Bytes of each request.
    pub(crate) const fn request_size(&self) -> DataSize {
        self.config.size
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.left == 0
    }
}

impl Iterator for RequestPlan {
    type Item = PlannedRequest;

    fn next(&mut self) -> Option<PlannedRequest> {
        self.left = self.left.checked_sub(1)?;
        let size = self.sizes.quantile(self.stream.uniform());
        let think = self.config.think.quantile(self.stream.uniform());
        Some(PlannedRequest { size, think })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slantpath_base::Seed;

    fn mean(draw: impl Fn(f64) -> f64) -> f64 {
        let mut stream = Seed::new(1, 0).stream("quantiles");
        (0..100_000).map(|_| draw(stream.uniform())).sum::<f64>() / 1e5
    }

    #[test]
    fn counts_are_geometric_from_one_on() {
        let count = RequestCount::Geometric { mean: 5.0 };
        let drawn = mean(|u| f64::from(count.quantile(u)));
        // The standard deviation is sqrt(20): 0.014 of the mean of 100,000.
        assert!((drawn - 5.0).abs() < 0.06, "{drawn}");
        // A fifth of all make one request, and 16 % two.
        assert_eq!([0.0, 0.199, 0.201, 0.359, 0.361].map(|u| count.quantile(u)), [1, 1, 2, 2, 3]);
        assert_eq!([0.0, 0.999].map(|u| RequestCount::Geometric { mean: 1.0 }.quantile(u)), [1, 1]);
        assert_eq!(RequestCount::Fixed { count: 7 }.quantile(0.5), 7);
    }

    #[test]
    fn think_times_have_their_means_and_quantiles() {
        let second = Duration::from_secs(1);
        let exponential = ThinkTime::Exponential { mean: second };
        let drawn = mean(|u| exponential.quantile(u).as_secs_f64());
        assert!((drawn - 1.0).abs() < 0.01, "{drawn}");
        let pareto = ThinkTime::Pareto { mean: second, shape: 3.0 };
        let drawn = mean(|u| pareto.quantile(u).as_secs_f64());
        assert!((drawn - 1.0).abs() < 0.01, "{drawn}");
        assert_eq!(pareto.quantile(0.0), Duration::from_secs_f64(2.0 / 3.0));
        // Of each 8 one is longer than twice the least.
        assert!((pareto.quantile(0.875).as_secs_f64() - 4.0 / 3.0).abs() < 1e-9);
        assert_eq!(ThinkTime::Fixed { time: second }.quantile(0.9), second);
    }

    #[test]
    fn a_plan_says_what_it_asks_for_in_all_before_it_does() {
        let config = RequestsConfig {
            count: RequestCount::Fixed { count: 3 },
            size: DataSize::from_bytes(100),
            think: ThinkTime::Exponential { mean: Duration::from_secs(2) },
        };
        let sizes = SessionSizes::Exponential { mean: DataSize::from_bytes(1_000) };
        let mut plan = RequestPlan::new(config, sizes, Seed::new(1, 0).stream("session"));
        let total = plan.total().as_bytes();
        assert!(!plan.is_over());
        let asked: Vec<PlannedRequest> = plan.by_ref().collect();
        assert!(plan.is_over());
        assert_eq!(
            (asked.len(), asked.iter().map(|request| request.size.as_bytes()).sum::<u64>()),
            (3, total)
        );
        assert!(asked[0] != asked[1] && asked[1] != asked[2]);
    }
}
