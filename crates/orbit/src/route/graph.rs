//! The graph of an instant: links between relaying nodes, and the access links of sites that only send and
//! receive.

use slantpath_base::Instant;

use crate::contact::{ContactId, ContactPlan};
use crate::network::NodeId;

/// Farther than anything.
pub(super) const UNREACHABLE: u32 = u32::MAX;
/// The longest delay of one link, nanoseconds: 2.1 s is beyond the Moon.
const WEIGHT_MAX: f64 = (1_u32 << 31) as f64;

/// What a route keeps small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// The sum of delays, to the nanosecond.
    #[default]
    Delay,
    /// The number of links; among equals the sum of delays, to the microsecond.
    Hops,
}

/// The weight of one link in the metric of least hops, besides its delay in units of 1,024 ns: more than the
/// delays of any path together, which may sum up to 1.07 s.
const HOP: u32 = 1 << 20;

impl Metric {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by WEIGHT_MAX")]
    fn weight(self, delay_nanos: f64) -> u32 {
        let nanos = libm::round(delay_nanos.clamp(0.0, WEIGHT_MAX)) as u32;
        match self {
            Self::Delay => nanos.max(1),
            Self::Hops => HOP + (nanos >> 10),
        }
    }
}

/// One direction of a core link, kept with the node that it leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub(super) peer: u32,
    pub(super) slot: u32,
}

/// A site's link into the core.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) contact: ContactId,
    pub(super) satellite: u32,
    pub(super) weight: u32,
}

/// The contacts that hold at one instant, with their weights.
pub(super) struct Graph<'p> {
    plan: &'p ContactPlan,
    metric: Metric,
    /// For each node, the core links that leave it.
    pub(super) arcs: Vec<Vec<Arc>>,
    /// Core links by slot; an empty slot weighs [`UNREACHABLE`].
    pub(super) ends: Vec<(u32, u32)>,
    pub(super) weights: Vec<u32>,
    contacts: Vec<ContactId>,
    free: Vec<u32>,
    /// The slot of each core contact that holds, by contact.
    slots: Vec<u32>,
    /// For each site, its access links.
    pub(super) access: Vec<Vec<Access>>,
}

/// What a change did to the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// An access link of this site came or went.
    Access(usize),
    /// A core link came, in this slot.
    CoreGained(u32),
    /// A core link went from this slot, which stays reserved until [`Graph::release`].
    CoreLost(u32),
}

impl<'p> Graph<'p> {
    pub(super) fn new(plan: &'p ContactPlan, metric: Metric) -> Self {
        let (nodes, sites) = (plan.names().len(), plan.names().len() - plan.satellite_count());
        Self {
            plan,
            metric,
            arcs: vec![Vec::new(); nodes],
            ends: Vec::new(),
            weights: Vec::new(),
            contacts: Vec::new(),
            free: Vec::new(),
            slots: vec![u32::MAX; plan.contacts().len()],
            access: vec![Vec::new(); sites],
        }
    }

    /// Whether a node takes part in the core.
    pub(super) fn is_core(&self, node: NodeId) -> bool {
        self.plan.relays(node)
    }

    fn site(&self, node: NodeId) -> usize {
        node.index() - self.plan.satellite_count()
    }

    fn weigh(&self, contact: ContactId, now: Instant) -> u32 {
        self.metric.weight(self.plan.delay(contact).nanos_at(now))
    }

    /// Takes in a contact that begins.
    pub(super) fn begin(&mut self, id: ContactId, now: Instant) -> Effect {
        let contact = self.plan.contact(id);
        let weight = self.weigh(id, now);
        if !self.is_core(contact.b) {
            let site = self.site(contact.b);
            self.access[site].push(Access { contact: id, satellite: contact.a.0, weight });
            return Effect::Access(site);
        }
        let ends = (contact.a.0, contact.b.0);
        let slot = self.free.pop().unwrap_or_else(|| {
            self.ends.push(ends);
            self.weights.push(UNREACHABLE);
            self.contacts.push(id);
            u32::try_from(self.ends.len() - 1).unwrap_or(u32::MAX)
        });
        let index = slot as usize;
        (self.ends[index], self.weights[index], self.contacts[index]) = (ends, weight, id);
        self.slots[id.index()] = slot;
        self.arcs[ends.0 as usize].push(Arc { peer: ends.1, slot });
        self.arcs[ends.1 as usize].push(Arc { peer: ends.0, slot });
        Effect::CoreGained(slot)
    }

    /// Lets go of a contact that ends.
    pub(super) fn end(&mut self, id: ContactId) -> Effect {
        let contact = self.plan.contact(id);
        if !self.is_core(contact.b) {
            let site = self.site(contact.b);
            self.access[site].retain(|access| access.contact != id);
            return Effect::Access(site);
        }
        let slot = core::mem::replace(&mut self.slots[id.index()], u32::MAX);
        self.weights[slot as usize] = UNREACHABLE;
        let (a, b) = self.ends[slot as usize];
        for node in [a, b] {
            self.arcs[node as usize].retain(|arc| arc.slot != slot);
        }
        Effect::CoreLost(slot)
    }

    /// Makes the slot of a lost link free again, once no tree refers to it.
    pub(super) fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Reads all delays anew.
    pub(super) fn refresh(&mut self, now: Instant) {
        for slot in 0..self.weights.len() {
            if self.weights[slot] != UNREACHABLE {
                self.weights[slot] = self.weigh(self.contacts[slot], now);
            }
        }
        for site in 0..self.access.len() {
            for index in 0..self.access[site].len() {
                self.access[site][index].weight = self.weigh(self.access[site][index].contact, now);
            }
        }
    }

    /// The contact in a slot.
    pub(super) fn contact_in(&self, slot: u32) -> ContactId {
        self.contacts[slot as usize]
    }

    /// The heaviest link, for the queue.
    pub(super) fn weight_max(&self) -> u32 {
        let core = self.weights.iter().copied().filter(|&weight| weight != UNREACHABLE);
        core.chain(self.access.iter().flatten().map(|access| access.weight)).max().unwrap_or(0)
    }
}
