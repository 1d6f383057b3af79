//! Measuring: what a node tells of its links, link sets, destinations and routes ([measurements](super::measurements)).

use slantpath_base::Instant;

use crate::PointCode;
use crate::mtp3::node::Node;
use crate::mtp3::node::id::{LinkSetId, Mtp3LinkId};
use crate::mtp3::node::measurements::{DestinationMeasurements, LinkMeasurements, RouteMeasurements, Spells};

impl Node {
    /// Gives the measurements of a link.
    ///
    /// # Panics
    /// If the node has no such link.
    pub fn link_measurements(&self, link: Mtp3LinkId) -> &LinkMeasurements {
        &self.link(link).measured
    }

    /// The time in which a link set had no available link, since it first had one.
    ///
    /// # Panics
    /// If the node has no such link set.
    pub fn link_set_unavailable(&self, link_set: LinkSetId) -> &Spells {
        &self.link_set(link_set).unavailable
    }

    /// Every destination, by point code, with what was measured of it.
    pub fn destination_measurements(&self) -> impl Iterator<Item = (PointCode, &DestinationMeasurements)> {
        self.table.destinations.iter().map(|known| known.code).zip(&self.table.measured)
    }

    /// Every route, by destination and priority, with what was measured of it.
    pub fn route_measurements(&self) -> impl Iterator<Item = RouteMeasurements> {
        self.table.destinations.iter().flat_map(|known| {
            known.routes.iter().map(|route| RouteMeasurements {
                destination: known.code,
                link_set: route.link_set,
                priority: route.priority,
                state: route.state,
                prohibited: route.prohibited,
                restricted: route.restricted,
            })
        })
    }

    /// A link has changed: what holds of it now is measured from now on.
    pub(super) fn measure(&mut self, now: Instant, link: Mtp3LinkId) {
        let link = self.link_mut(link);
        link.measured.follow(now, link.inhibited, link.blocked, link.congestion);
    }
}
