//! The graph of an instant: links between relaying nodes, and the access links of sites that only send and
//! receive.

use slantpath_base::Instant;

use super::sweep::Sweep;
use crate::contact::{ContactDelayCurve, ContactId, ContactKind, ContactPlan};
use crate::network::ContactNodeId;

/// Farther than anything: a path of 2.1 s. Two distances and a weight then add up without overflow.
pub(super) const UNREACHABLE: u32 = u32::MAX >> 1;
/// The longest delay of one link, nanoseconds: 1.07 s is 320,000 km. [`Sweep`] relies on the bound.
const WEIGHT_MAX: f64 = (1_u32 << 30) as f64 - 1.0;

/// Quantity that a route keeps small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// The sum of delays, to the nanosecond.
    #[default]
    Delay,
    /// The number of links; among equals the sum of delays, to the microsecond.
    Hops,
}

/// By which satellite routes lead while an antenna holds two, as at a handover that makes the new link before it breaks
/// the old one. It does not concern gateways, of which each link counts by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    /// Routes by either satellite.
    #[default]
    Either,
    /// By the one that it took last: the other only finishes what it has.
    Latest,
}

/// The weight of one link in the metric of least hops, besides its delay in units of 1,024 ns: more than the
/// delays of any path together, which may sum up to 1.07 s.
const HOP: u32 = 1 << 20;

impl Metric {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded by WEIGHT_MAX")]
    fn weight(self, delay_nanos: f64) -> u32 {
        let nanos = (delay_nanos.clamp(0.0, WEIGHT_MAX) + 0.5) as u32;
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
    /// The antenna that holds the satellite; none at a cable.
    pub(super) antenna: Option<u16>,
    /// True if routes pass it over, see [`Overlap`].
    pub(super) is_superseded: bool,
    pub(super) satellite: u32,
    pub(super) weight: u32,
}

/// The contacts that hold at one instant, with their weights.
pub(super) struct Graph<'p> {
    plan: &'p ContactPlan,
    metric: Metric,
    overlap: Overlap,
    /// The core links that leave each node, one node's after another's, and where each node's begin: as of
    /// [`Self::prepare`].
    arcs: Vec<Arc>,
    first_arc: Vec<u32>,
    /// Core links by slot; an empty slot weighs [`UNREACHABLE`].
    pub(super) ends: Vec<(u32, u32)>,
    pub(super) weights: Vec<u32>,
    /// The two ends of each slot, one exclusive-or the other: from one it leads to the other.
    pub(super) across: Vec<u32>,
    sources: Vec<Source<'p>>,
    free: Vec<u32>,
    /// The slot of each core contact that holds, by contact.
    slots: Vec<u32>,
    /// For each site, its access links.
    pub(super) access: Vec<Vec<Access>>,
    sweep: Sweep,
    /// True if core links have come or gone since arcs and sweep were laid out.
    layout_is_old: bool,
}

/// Source of the weight in a slot.
#[derive(Clone, Copy)]
struct Source<'p> {
    contact: ContactId,
    curve: ContactDelayCurve<'p>,
    /// The piece of the curve that was read last.
    piece: u32,
}

/// Effect of a change on the graph.
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
    /// Follows a longer plan that agrees with the present one so far.
    pub(super) fn go_on_over(&mut self, plan: &'p ContactPlan) {
        self.plan = plan;
        self.slots.resize(plan.contacts().len(), u32::MAX);
        for source in &mut self.sources {
            source.curve = plan.delay(source.contact);
        }
    }

    pub(super) fn new(plan: &'p ContactPlan, metric: Metric, overlap: Overlap) -> Self {
        let (nodes, sites) = (plan.names().len(), plan.names().len() - plan.satellite_count());
        Self {
            plan,
            metric,
            overlap,
            arcs: Vec::new(),
            first_arc: vec![0; nodes + 1],
            ends: Vec::new(),
            weights: Vec::new(),
            across: Vec::new(),
            sources: Vec::new(),
            free: Vec::new(),
            slots: vec![u32::MAX; plan.contacts().len()],
            access: vec![Vec::new(); sites],
            sweep: Sweep::default(),
            layout_is_old: true,
        }
    }

    /// Tells if a node takes part in the core.
    pub(super) fn is_core(&self, node: ContactNodeId) -> bool {
        self.plan.relays(node)
    }

    fn site(&self, node: ContactNodeId) -> usize {
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
            let antenna = match contact.kind {
                ContactKind::Ground { antenna } => Some(antenna),
                ContactKind::InterSatellite | ContactKind::Terrestrial => None,
            };
            let satellite = contact.a.0;
            self.access[site].push(Access { contact: id, antenna, is_superseded: false, satellite, weight });
            self.supersede(site, antenna);
            return Effect::Access(site);
        }
        let ends = (contact.a.0, contact.b.0);
        let source = Source { contact: id, curve: self.plan.delay(id), piece: 0 };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.ends.push(ends);
            self.weights.push(UNREACHABLE);
            self.across.push(0);
            self.sources.push(source);
            u32::try_from(self.ends.len() - 1).unwrap_or(u32::MAX)
        });
        let index = slot as usize;
        (self.ends[index], self.weights[index], self.sources[index]) = (ends, weight, source);
        self.across[index] = ends.0 ^ ends.1;
        self.layout_is_old = true;
        self.slots[id.index()] = slot;
        Effect::CoreGained(slot)
    }

    /// Lets go of a contact that ends.
    pub(super) fn end(&mut self, id: ContactId) -> Effect {
        let contact = self.plan.contact(id);
        if !self.is_core(contact.b) {
            let site = self.site(contact.b);
            let ended = self.access[site].iter().position(|access| access.contact == id);
            if let Some(place) = ended {
                let Access { antenna, .. } = self.access[site].remove(place);
                self.supersede(site, antenna);
            }
            return Effect::Access(site);
        }
        let slot = core::mem::replace(&mut self.slots[id.index()], u32::MAX);
        self.weights[slot as usize] = UNREACHABLE;
        self.layout_is_old = true;
        Effect::CoreLost(slot)
    }

    /// Finds out which of an antenna's satellites routes lead by.
    fn supersede(&mut self, site: usize, antenna: Option<u16>) {
        if self.overlap == Overlap::Latest && antenna.is_some() {
            let own = self.access[site].iter_mut().filter(|access| access.antenna == antenna);
            let mut own = own.rev();
            own.next().into_iter().for_each(|latest| latest.is_superseded = false);
            own.for_each(|older| older.is_superseded = true);
        }
    }

    /// Makes the slot of a lost link free again, once no tree refers to it.
    pub(super) fn release(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Reads all delays anew.
    pub(super) fn refresh(&mut self, now: Instant) {
        let metric = self.metric;
        for (weight, source) in self.weights.iter_mut().zip(&mut self.sources) {
            if *weight != UNREACHABLE {
                *weight = metric.weight(source.curve.nanos_onwards(now, &mut source.piece));
            }
        }
        for site in 0..self.access.len() {
            for index in 0..self.access[site].len() {
                self.access[site][index].weight = self.weigh(self.access[site][index].contact, now);
            }
        }
    }

    /// Lays arcs and sweep out for the links and weights of now: before searches and repairs.
    pub(super) fn prepare(&mut self) {
        if self.layout_is_old {
            self.lay_arcs_out();
            self.sweep.lay_out(&self.ends, &self.weights);
            self.layout_is_old = false;
        } else {
            self.sweep.take_weights(&self.weights);
        }
    }

    fn lay_arcs_out(&mut self) {
        self.first_arc.fill(0);
        let is_live = |slot: usize| self.weights[slot] != UNREACHABLE;
        for (_, &(a, b)) in self.ends.iter().enumerate().filter(|&(slot, _)| is_live(slot)) {
            self.first_arc[a as usize] += 1;
            self.first_arc[b as usize] += 1;
        }
        // From counts to ends; filling backwards turns each end into its beginning.
        let mut sum = 0;
        for first in &mut self.first_arc {
            sum += *first;
            *first = sum;
        }
        self.arcs.clear();
        self.arcs.resize(sum as usize, Arc { peer: 0, slot: 0 });
        for (slot, &(a, b)) in (0..).zip(&self.ends) {
            if !is_live(slot as usize) {
                continue;
            }
            for (node, peer) in [(a, b), (b, a)] {
                let first = &mut self.first_arc[node as usize];
                *first -= 1;
                self.arcs[*first as usize] = Arc { peer, slot };
            }
        }
    }

    /// The core links that leave a node, as of [`Self::prepare`].
    #[inline]
    pub(super) fn arcs(&self, node: u32) -> &[Arc] {
        let node = node as usize;
        &self.arcs[self.first_arc[node] as usize..self.first_arc[node + 1] as usize]
    }

    /// The number of nodes.
    pub(super) fn node_count(&self) -> usize {
        self.first_arc.len() - 1
    }

    /// All core links, as of [`Self::prepare`].
    pub(super) fn sweep(&self) -> &Sweep {
        &self.sweep
    }

    /// The contact in a slot.
    pub(super) fn contact_in(&self, slot: u32) -> ContactId {
        self.sources[slot as usize].contact
    }

    /// The heaviest link, for the queue.
    pub(super) fn weight_max(&self) -> u32 {
        let core = self.weights.iter().copied().filter(|&weight| weight != UNREACHABLE);
        core.chain(self.access.iter().flatten().map(|access| access.weight)).max().unwrap_or(0)
    }
}
