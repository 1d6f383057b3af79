//! Statistics of many runs together: moments, intervals, quantiles, time averages and batch means.
//!
//! Sums are taken in the order of the samples, never in the order in which threads finish.

mod batch;
mod histogram;
mod moments;
mod proportion;
mod quantile;
mod stopping;
mod student;
mod time_weighted;

pub use batch::batch_means;
pub use histogram::{Bin, Histogram, Precision};
pub use moments::{ConfidenceInterval, Moments, WeightedMean};
pub use proportion::Proportion;
pub use quantile::{Quantiles, median, quantile, quantiles_in_passes};
pub use stopping::{StoppingRule, WantedPrecision};
pub use student::{student_t_cdf, student_t_quantile};
pub use time_weighted::TimeWeighted;
