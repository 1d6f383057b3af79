//! Signalling: each layer's codec against its peer, what crosses a gateway, and whole networks.

use core::fmt;

pub mod gtt;
pub mod m2pa;
pub mod m3ua;
pub mod mtp3;
pub mod network;
pub mod sccp;

/// Delays of single messages, in microseconds of the clock.
#[derive(Clone, Copy, Debug)]
pub struct Delays {
    /// Name of the case.
    pub case: &'static str,
    /// Half took no longer.
    pub median_us: f64,
    /// Ninety-nine of a hundred took no longer.
    pub p99_us: f64,
    /// Largest delay allowed for ninety-nine of a hundred.
    pub limit_us: f64,
}

impl Delays {
    /// From the delays of single messages.
    ///
    /// # Panics
    /// If there are none.
    pub fn of(case: &'static str, mut delays_us: Vec<f64>, limit_us: f64) -> Self {
        delays_us.sort_by(f64::total_cmp);
        let at = |per_cent: usize| delays_us[(delays_us.len() - 1) * per_cent / 100];
        Self { case, median_us: at(50), p99_us: at(99), limit_us }
    }
}

impl fmt::Display for Delays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, median_us, p99_us, limit_us } = self;
        writeln!(f, "microseconds for one message")?;
        writeln!(f, "{:<38} {:>8} {:>8} {:>8}", "case", "median", "99 %", "limit")?;
        writeln!(f, "{case:<38} {median_us:>8.2} {p99_us:>8.2} {limit_us:>8.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_sorted_delays() {
        let delays = Delays::of("x", (0..=100).rev().map(f64::from).collect(), 20.0);
        assert_eq!((delays.median_us, delays.p99_us), (50.0, 99.0));
        let text = delays.to_string();
        let row: Vec<&str> = text.lines().nth(2).expect("a row").split_whitespace().collect();
        assert_eq!(row, ["x", "50.00", "99.00", "20.00"]);
    }
}
