//! The window, and how many there are.

use super::estimate::{Estimate, Load};
use super::{Numbers, Recommendation, Unit, kbit, size, time};

/// Numbers that its choice rests on.
pub(super) struct Window {
    pub(super) cwnd: f64,
    pub(super) cwnd_least: f64,
    /// From where on a time-out repeats it for ever.
    pub(super) collapse: f64,
    pub(super) estimate: Estimate,
    pub(super) load: Load,
    /// Bits a second of the whole band.
    pub(super) total: f64,
    /// A bundling delay that makes the load fit the band, and what it is then.
    pub(super) bundled: Option<(f64, f64)>,
}

impl Numbers {
    pub(super) fn window_settings(&self, window: &Window) -> Vec<Recommendation> {
        let Window { cwnd, cwnd_least, collapse, estimate, load, total, bundled } = window;
        let needed = 8.0 * load.alone.ethernet * load.after;
        let fills = total * load.acknowledged
            / (8.0 * load.alone.ethernet_per_window() * f64::from(self.associations));
        let shares = if needed > *total {
            let instead = bundled.map_or(String::new(), |(delay, ethernet)| {
                format!(
                    " (a bundling delay of {} makes them {} without that wait)",
                    time(delay),
                    kbit(ethernet)
                )
            });
            format!(
                "{} are more than the band until messages wait for the window and share packets, which makes them \
                 {}{instead}; ",
                kbit(needed),
                kbit(8.0 * load.full.ethernet * load.after)
            )
        } else {
            String::new()
        };
        vec![
            Recommendation::new("sctp.associations", f64::from(self.associations), Unit::Count)
                .because("windows add up: more associations are a larger window, and need no less of it \
                 (equation 7); a second one is for the failure of a host"),
            Recommendation::new("sctp.cwnd", *cwnd, Unit::Byte)
                .within(Some(*cwnd_least), (self.on_demand > 0.0 || self.cwnd.is_some()).then_some(*collapse))
                .because(format!(
                    "{shares}it carries {} over {}, from a message to its acknowledgement, with bursts of messages \
                     that come at random, and what waits for capacity, {} in all; {} would fill the whole band; it \
                     is sent within RTO.Max, so that no time-out repeats it for ever",
                    kbit(needed.min(*total)),
                    time(load.acknowledged),
                    size(estimate.outstanding.most),
                    size(fills),
                )),
        ]
    }
}
