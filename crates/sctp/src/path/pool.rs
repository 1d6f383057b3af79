//! Pooled windows of paths (CMT/RP: Dreibholz et al. 2010, 2011): all of them together are to open as fast as one, and
//! a loss on one halves all of them, at its own expense.

use slantpath_cc::sctp::PoolShare;
use slantpath_cc::{CongestionControl, Controller};

use super::{Path, PathState, Paths};
use crate::policy::Multipath;

/// Round-trip time that is assumed for a path without a measured one, in nanoseconds: an RTO.Initial.
const UNKNOWN_ROUND_TRIP_NS: u64 = 1_000_000_000;

impl Path {
    /// Weight of the path in the pool of windows.
    fn weight(&self, policy: Multipath) -> u128 {
        let weight = match policy {
            Multipath::PooledV2 => {
                let round_trip =
                    self.rtt.srtt().map_or(UNKNOWN_ROUND_TRIP_NS, slantpath_base::Duration::as_nanos);
                // Bytes a second.
                u128::from(self.cc.cwnd()) * 1_000_000_000 / u128::from(round_trip.max(1))
            }
            // A path that has seen no congestion has no ssthresh worth the name.
            Multipath::Off | Multipath::Concurrent | Multipath::PooledV1 => match self.cc.ssthresh() {
                ssthresh if ssthresh < u64::from(u32::MAX) => ssthresh.into(),
                _ => self.cc.cwnd().into(),
            },
        };
        weight.max(1)
    }
}

impl Paths {
    /// Tells the window of each active path what there is of the others.
    #[cold]
    pub(crate) fn pool(&mut self, policy: Multipath) {
        let active = || self.iter().filter(|path| path.state == PathState::Active);
        let whole: u128 = active().map(|path| path.weight(policy)).sum();
        let cwnds: u64 = active().map(|path| path.cc.cwnd()).sum();
        for path in self.iter_mut() {
            let (part, cwnd, pmdcs) = (path.weight(policy), path.cc.cwnd(), path.pmdcs() as u64);
            let is_active = path.state == PathState::Active;
            let Controller::Standard(controller) = &mut path.cc else { continue };
            let share = |bytes: u64| {
                u64::try_from((u128::from(bytes) * part).div_ceil(whole.max(1))).unwrap_or(u64::MAX)
            };
            controller.set_pool(
                is_active.then(|| match policy {
                    Multipath::PooledV2 => PoolShare {
                        part,
                        whole,
                        // Half of what all paths carry together, in time with this one's round trips.
                        reduction: u64::try_from(u128::from(cwnd) * whole / (2 * part))
                            .unwrap_or(u64::MAX)
                            .max(cwnd / 2),
                        least: pmdcs,
                    },
                    Multipath::Off | Multipath::Concurrent | Multipath::PooledV1 => PoolShare {
                        part,
                        whole,
                        reduction: cwnds.div_ceil(2),
                        least: share(4 * pmdcs).max(pmdcs),
                    },
                }),
            );
        }
    }
}
