//! Batch means: an interval from one long run whose observations depend on their neighbours.

use super::moments::Moments;

/// The means of `batches` consecutive stretches of equal length, whose interval is that of the long-run mean
/// if each stretch is much longer than the dependence (Law, Simulation Modeling and Analysis, section 9.5.3).
/// What does not fill the last stretch is left out; nothing if there are fewer observations than batches.
///
/// # Panics
/// If `batches` is zero.
pub fn batch_means(observations: &[f64], batches: usize) -> Option<Moments> {
    assert!(batches > 0, "there is at least one batch");
    let length = observations.len() / batches;
    let mean_of = |batch: &[f64]| batch.iter().copied().collect::<Moments>().mean();
    (length > 0).then(|| observations.chunks_exact(length).take(batches).filter_map(mean_of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_of_equal_length_and_the_rest_is_left_out() {
        let means = batch_means(&[1.0, 3.0, 5.0, 7.0, 100.0], 2).unwrap();
        assert_eq!((means.count(), means.mean(), means.variance()), (2, Some(4.0), Some(8.0)));
        assert_eq!(batch_means(&[1.0], 2), None);
    }

    /// A first-order autoregression: the naive interval of dependent observations is far too narrow, that of
    /// batch means covers the true mean about as often as it says.
    #[test]
    fn batch_means_cover_where_dependent_observations_do_not() {
        let mut stream = slantpath_base::Seed::new(11, 0).stream("batches");
        let (mut naive, mut batched, runs) = (0, 0, 400);
        for _ in 0..runs {
            let mut value = 0.0;
            let series: Vec<f64> = (0..2_000)
                .map(|_| {
                    value = 0.9 * value + (stream.uniform() - 0.5);
                    value
                })
                .collect();
            let plain: Moments = series.iter().copied().collect();
            naive += usize::from(plain.interval(0.95).unwrap().contains(0.0));
            batched += usize::from(batch_means(&series, 10).unwrap().interval(0.95).unwrap().contains(0.0));
        }
        assert!(naive < runs * 60 / 100, "naive {naive} of {runs}");
        assert!(batched > runs * 90 / 100, "batched {batched} of {runs}");
    }
}
