//! Traffic of a link that is lost, until the first of its messages is handed to another link: how long signalling takes
//! to fail over.

use std::collections::BTreeSet;

use crate::mtp3::node::held::Held;
use crate::mtp3::node::id::Mtp3LinkId;
use crate::mtp3::node::{ManagementEvent, Node};

/// Traffic that a link carried when it was lost.
#[derive(Clone, Debug)]
pub(super) struct LostTraffic {
    link: Mtp3LinkId,
    /// Bundles and SLS of it.
    slots: BTreeSet<(u16, u8)>,
    /// Bundle of each destination at that time.
    bundles: Vec<u16>,
}

impl Node {
    /// A link is lost with what it carries.
    pub(super) fn note_lost_traffic(&mut self, link: Mtp3LinkId) {
        self.forget_lost_traffic(link);
        let is_its = |(bundle, sls): &(u16, u8)| self.table.slot(*bundle, *sls).link == Some(link);
        let slots: BTreeSet<_> = self.table.positions().filter(is_its).collect();
        if !slots.is_empty() {
            let bundles = self.table.destinations.iter().map(|destination| destination.bundle).collect();
            self.lost_traffic.push(LostTraffic { link, slots, bundles });
        }
    }

    /// A link carries its traffic again.
    pub(super) fn forget_lost_traffic(&mut self, link: Mtp3LinkId) {
        self.lost_traffic.retain(|lost| lost.link != link);
    }

    /// A message is handed to a link: tells if it is the first of a link that was lost.
    #[cold]
    pub(super) fn note_handed(&mut self, link: Mtp3LinkId, message: &Held) {
        let Ok(destination) = usize::try_from(message.destination) else { return };
        let sls = self.table.sls_of(message.sls);
        let is_of = |lost: &LostTraffic| {
            let bundle = lost.bundles.get(destination);
            bundle.is_some_and(|bundle| lost.slots.contains(&(*bundle, sls)))
        };
        let Some(place) = self.lost_traffic.iter().position(is_of) else { return };
        let from = self.lost_traffic.remove(place).link;
        self.report(ManagementEvent::TrafficDiverted { from, to: link });
    }
}
