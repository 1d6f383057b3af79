//! The instants at which a reconfiguration grid lets antennas choose.

use super::TOGETHER;

/// The ticks of a reconfiguration grid.
pub(in crate::contact) struct Ticks {
    period: f64,
    offset: f64,
}

impl Ticks {
    pub(in crate::contact) fn new(period: f64, offset: f64) -> Self {
        // A period of nothing would tick for ever at one instant.
        Self { period: period.max(1e-3), offset }
    }

    pub(in crate::contact) fn is_one(&self, t: f64) -> bool {
        let ticks = (t - self.offset) / self.period;
        ticks > -1e-9 && libm::fabs(ticks - libm::round(ticks)) * self.period <= TOGETHER
    }

    pub(in crate::contact) fn after(&self, t: f64) -> f64 {
        let ticks = libm::floor((t + TOGETHER - self.offset) / self.period) + 1.0;
        self.offset + ticks.max(0.0) * self.period
    }
}
