//! Destinations, routes and the sharing of traffic over links: from point code and SLS to a link in a few loads.
//!
//! A destination points at a bundle: one link set, or the two of a combined link set. A bundle has one slot for each
//! value of the SLS, and a slot names a link. Thousands of destinations share a few bundles, so that a changeover
//! touches bundles only.

use crate::PointCode;
use crate::mtp3::node::config::Config;
use crate::mtp3::node::id::{LinkSetId, Mtp3LinkId};
use crate::mtp3::node::machines::congestion::RouteSetCongestion;
use crate::mtp3::node::machines::routes::RouteState;
use crate::mtp3::node::measurements::{DestinationMeasurements, Spells};
use crate::mtp3::node::succession::Renumbering;

/// The bundle of a destination that cannot be reached: its slots are empty for ever.
pub(super) const NOWHERE: u16 = 0;

const NO_PAGE: u16 = u16::MAX;
const NO_DESTINATION: u32 = u32::MAX;
const PAGE: usize = 256;

/// Target of a slot's messages: a link, or a diversion that holds them back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    /// The link; while held, the link that they took before.
    pub(super) link: Option<Mtp3LinkId>,
    /// The diversion that holds them back.
    pub(super) held: Option<u32>,
}

/// One link set, or two that share the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bundle {
    pub(super) first: Option<LinkSetId>,
    pub(super) second: Option<LinkSetId>,
}

impl Bundle {
    pub(super) fn link_sets(self) -> impl Iterator<Item = LinkSetId> {
        self.first.into_iter().chain(self.second)
    }
}

/// A way to a destination.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub(super) link_set: LinkSetId,
    pub(super) priority: u8,
    /// State of the route, as the point at the other end of the link set tells of the destination.
    pub(super) state: RouteState,
    pub(super) prohibited: Spells,
    pub(super) restricted: Spells,
}

#[derive(Clone, Debug)]
pub(super) struct Destination {
    pub(super) code: PointCode,
    /// Best priority first.
    pub(super) routes: Vec<Route>,
    pub(super) bundle: u16,
    /// The diversion that holds its messages back.
    pub(super) held: Option<u32>,
    /// Messages accepted before this count are from before it was cut off.
    pub(super) cut: u64,
    /// Messages since the last MTP-STATUS for congestion to users, modulo eight.
    pub(super) since_status: u8,
    /// Messages since the last transfer controlled to an originating point, modulo eight.
    pub(super) since_transfer_controlled: u8,
    pub(super) congestion: RouteSetCongestion,
    /// Points to which transfer restricted was broadcast for it, if any.
    pub(super) restricted: RestrictedTo,
}

/// Extent of a broadcast of transfer restricted for a destination that this transfer point reaches by an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RestrictedTo {
    Nobody,
    Adjacent,
}

#[derive(Clone, Debug)]
pub(super) struct Table {
    /// By the upper bits of the point code.
    pages: Vec<u16>,
    /// By page and the lower eight bits: the destination's index.
    entries: Vec<u32>,
    pub(super) destinations: Vec<Destination>,
    /// By the same index: beside them, so that a look-up does not drag it along.
    pub(super) measured: Vec<DestinationMeasurements>,
    pub(super) bundles: Vec<Bundle>,
    slots: Vec<Slot>,
    sls_values: usize,
}

impl Table {
    pub(super) fn new(config: &Config) -> Self {
        let pages = 1_usize << (config.format.bits() - 8);
        let sls_values = config.sls_values();
        let mut table = Self {
            pages: vec![NO_PAGE; pages],
            entries: Vec::new(),
            destinations: Vec::new(),
            measured: Vec::new(),
            bundles: vec![Bundle { first: None, second: None }],
            slots: vec![Slot::default(); sls_values],
            sls_values,
        };
        for (code, routes) in config.routes() {
            table.insert(code, routes);
        }
        table
    }

    fn insert(&mut self, code: PointCode, routes: Vec<Route>) {
        let (upper, lower) = (code.0 as usize / PAGE, code.0 as usize % PAGE);
        if self.pages[upper] == NO_PAGE {
            // At most one page a value of the upper bits, of which there are at most 2^16: the last is never given.
            self.pages[upper] = u16::try_from(self.entries.len() / PAGE).unwrap_or(NO_PAGE);
            self.entries.resize(self.entries.len() + PAGE, NO_DESTINATION);
        }
        let index = u32::try_from(self.destinations.len()).unwrap_or(NO_DESTINATION);
        self.entries[usize::from(self.pages[upper]) * PAGE + lower] = index;
        self.measured.push(DestinationMeasurements::default());
        self.destinations.push(Destination {
            code,
            routes,
            bundle: NOWHERE,
            held: None,
            cut: 0,
            since_status: 0,
            since_transfer_controlled: 0,
            congestion: RouteSetCongestion::default(),
            restricted: RestrictedTo::Nobody,
        });
    }

    /// The index of a destination.
    #[inline]
    pub(super) fn find(&self, code: PointCode) -> Option<u32> {
        let page = *self.pages.get(code.0 as usize / PAGE)?;
        let index = *self.entries.get(usize::from(page) * PAGE + code.0 as usize % PAGE)?;
        (index != NO_DESTINATION).then_some(index)
    }

    #[inline]
    pub(super) fn destination(&self, index: u32) -> &Destination {
        &self.destinations[index as usize]
    }

    #[inline]
    pub(super) fn measured_mut(&mut self, index: u32) -> &mut DestinationMeasurements {
        &mut self.measured[index as usize]
    }

    pub(super) fn destination_mut(&mut self, index: u32) -> &mut Destination {
        &mut self.destinations[index as usize]
    }

    #[inline]
    pub(super) fn slot(&self, bundle: u16, sls: u8) -> Slot {
        self.slots[usize::from(bundle) * self.sls_values + usize::from(sls) % self.sls_values]
    }

    pub(super) fn slot_mut(&mut self, bundle: u16, sls: u8) -> &mut Slot {
        &mut self.slots[usize::from(bundle) * self.sls_values + usize::from(sls) % self.sls_values]
    }

    /// The SLS by which slots are told apart.
    pub(super) fn sls_of(&self, sls: u8) -> u8 {
        u8::try_from(usize::from(sls) % self.sls_values).unwrap_or(sls)
    }

    /// Every slot of every bundle but the first, which is nowhere.
    pub(super) fn positions(&self) -> impl Iterator<Item = (u16, u8)> + use<> {
        let last = u8::try_from(self.sls_values - 1).unwrap_or(u8::MAX);
        let bundles = u16::try_from(self.bundles.len()).unwrap_or(u16::MAX);
        (1..bundles).flat_map(move |bundle| (0..=last).map(move |sls| (bundle, sls)))
    }

    /// The slots of one bundle.
    pub(super) fn slots_of(&self, bundle: u16) -> &[Slot] {
        &self.slots[usize::from(bundle) * self.sls_values..][..self.sls_values]
    }

    /// The bundle of these link sets, made if there is none yet.
    pub(super) fn bundle(&mut self, wanted: Bundle) -> u16 {
        if let Some(at) = self.bundles.iter().position(|bundle| *bundle == wanted) {
            return u16::try_from(at).unwrap_or(NOWHERE);
        }
        let Ok(index) = u16::try_from(self.bundles.len()) else { return NOWHERE };
        self.bundles.push(wanted);
        self.slots.resize(self.slots.len() + self.sls_values, Slot::default());
        index
    }

    /// Takes over the states of destinations, and where their traffic goes. Gives the own number of each that the
    /// former table had.
    ///
    /// Bundles stay apart, even if they are alike by now because a link set is gone: traffic moves from one to the
    /// other in order.
    pub(super) fn take_over(&mut self, former: Self, numbers: &Renumbering) -> Vec<Option<u32>> {
        let mut is_used = vec![false; former.bundles.len()];
        for known in former.destinations.iter().filter(|known| self.find(known.code).is_some()) {
            is_used[usize::from(known.bundle)] = true;
        }
        let mut bundles = vec![NOWHERE; former.bundles.len()];
        for (bundle, place) in former.bundles.iter().zip(0_u16..).skip(1) {
            let slots = former.slots_of(place);
            if !is_used[usize::from(place)] && slots.iter().all(|slot| slot.held.is_none()) {
                continue;
            }
            let mut link_sets = bundle.link_sets().filter_map(|link_set| numbers.link_set(link_set));
            bundles[usize::from(place)] = u16::try_from(self.bundles.len()).unwrap_or(NOWHERE);
            self.bundles.push(Bundle { first: link_sets.next(), second: link_sets.next() });
            let link = |link: &Mtp3LinkId| numbers.link(*link);
            let own = |slot: &Slot| Slot { link: slot.link.as_ref().and_then(link), held: slot.held };
            self.slots.extend(slots.iter().map(own));
        }
        let mut own_numbers = Vec::with_capacity(former.destinations.len());
        for (before, measured) in former.destinations.into_iter().zip(former.measured) {
            let index = self.find(before.code);
            own_numbers.push(index);
            let Some(index) = index else { continue };
            *self.measured_mut(index) = measured;
            let own = self.destination_mut(index);
            let mut routes = std::mem::take(&mut own.routes);
            for route in &mut routes {
                let mut known = before.routes.iter();
                let known = known.find(|known| numbers.link_set(known.link_set) == Some(route.link_set));
                if let Some(known) = known {
                    *route = Route { link_set: route.link_set, priority: route.priority, ..known.clone() };
                }
            }
            *own = Destination { routes, bundle: bundles[usize::from(before.bundle)], ..before };
        }
        own_numbers
    }
}
