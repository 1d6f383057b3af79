//! The statistics of `slantpath_results`, for lists of numbers.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slantpath_results::Moments;

/// Mean and half width of its confidence interval, of independent observations (Student's t).
/// The half width of a single observation is infinite.
#[pyfunction]
#[pyo3(signature = (observations, level = 0.99))]
pub(crate) fn mean_interval(observations: Vec<f64>, level: f64) -> PyResult<(f64, f64)> {
    if !(level > 0.0 && level < 1.0) {
        return Err(PyValueError::new_err(format!(
            "a confidence level lies between 0 and 1, not at {level}"
        )));
    }
    let interval = Moments::from_iter(observations).interval(level);
    interval
        .map(|interval| (interval.mean, interval.half_width))
        .ok_or_else(|| PyValueError::new_err("a mean needs at least one observation"))
}

/// The quantile of Student's distribution with so many degrees of freedom.
#[pyfunction]
pub(crate) fn student_t_quantile(probability: f64, degrees: f64) -> PyResult<f64> {
    if !(probability > 0.0 && probability < 1.0 && degrees > 0.0) {
        return Err(PyValueError::new_err(format!(
            "a probability lies between 0 and 1 and degrees of freedom are positive: {probability}, {degrees}"
        )));
    }
    Ok(slantpath_results::student_t_quantile(probability, degrees))
}

/// The value below which a share of the observations lies, interpolated between neighbours.
#[pyfunction]
pub(crate) fn quantile(observations: Vec<f64>, share: f64) -> PyResult<f64> {
    if !(0.0..=1.0).contains(&share) {
        return Err(PyValueError::new_err(format!("a share lies between 0 and 1, not at {share}")));
    }
    slantpath_results::quantile(observations, share)
        .ok_or_else(|| PyValueError::new_err("a quantile needs at least one observation"))
}
