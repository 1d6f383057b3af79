//! From a network to its contact plan, in steps that a caller may spread over threads and report on.

use core::sync::atomic::{AtomicBool, Ordering};
use std::collections::BTreeMap;

use slantpath_base::{Angle, Duration, Instant};

use super::delay::fit;
use super::ephemeris::Ephemeris;
use super::isl;
use super::joint::Joint;
use super::plan::{Contact, ContactChange, ContactId, ContactKind, ContactPlan};
use super::selection::{Hold, SiteView, select};
use super::stretch::{ContactCause, Stretch, without};
use super::visibility::{Pass, Viewpoint, culmination, sight, stretches};
use crate::elements::Stale;
use crate::network::{ContactNetwork, ContactNodeId, NetworkError};
use crate::outage::OutageTable;
use crate::site::{Relay, Site};
use crate::vector::State;

/// Works a plan out. [`Planner::plan`] does everything; or call [`Planner::passes`] for each site, on any
/// thread, and give the results to [`Planner::finish`].
pub struct Planner<'n> {
    network: &'n ContactNetwork,
    span: Duration,
    /// The span of which this is a part.
    whole: Duration,
    ephemeris: Ephemeris,
    outages: OutageTable,
    warnings: Vec<Stale>,
    stop: &'n AtomicBool,
}

/// Stop flag that is never set.
static NEVER: AtomicBool = AtomicBool::new(false);

/// The passes of one site, for each of its antennas.
#[derive(Clone, Debug, PartialEq)]
pub struct SitePasses {
    pub(super) lists: Vec<Vec<Pass>>,
    /// For each antenna, its list.
    pub(super) of_antenna: Vec<usize>,
}

impl SitePasses {
    /// The passes that an antenna may use, in order of start.
    pub fn of_antenna(&self, antenna: usize) -> &[Pass] {
        &self.lists[self.of_antenna[antenna]]
    }

    /// The passes of each set of antennas that see the same sky, with the first of these antennas.
    pub fn skies(&self) -> impl Iterator<Item = (usize, &[Pass])> {
        let first = |list: usize| self.of_antenna.iter().position(|&of| of == list).unwrap_or(0);
        self.lists.iter().enumerate().map(move |(list, passes)| (first(list), passes.as_slice()))
    }

    /// Tells if the site has no antenna: it is reached by cable only.
    pub fn has_no_antenna(&self) -> bool {
        self.of_antenna.is_empty()
    }

    /// The times at which any antenna has a satellite to choose, seconds from the start, in order.
    pub fn union(&self) -> Vec<(f64, f64)> {
        union(self.lists.iter().flatten())
    }
}

impl<'n> Planner<'n> {
    /// Checks the network and samples its orbits over a span from its epoch.
    pub fn new(network: &'n ContactNetwork, span: Duration) -> Result<Self, NetworkError> {
        Self::until(network, span, &NEVER)
    }

    /// Variant of [`Self::new`] that another thread can stop by setting `stop`: then this and all that the planner does
    /// ends within milliseconds, with [`NetworkError::Stopped`].
    pub fn until(
        network: &'n ContactNetwork,
        span: Duration,
        stop: &'n AtomicBool,
    ) -> Result<Self, NetworkError> {
        Self::part(network, (span, span), stop)
    }

    /// Variant of [`Self::until`] for a span up to some time of it. As far as nothing depends on what comes behind
    /// that, the plan is the beginning of the whole one to the last bit: of a part, the first half as a rule, which
    /// [`ContactPlan::agrees_with`] tells of a longer part.
    pub fn part(
        network: &'n ContactNetwork,
        (span, until): (Duration, Duration),
        stop: &'n AtomicBool,
    ) -> Result<Self, NetworkError> {
        let until = until.min(span);
        let warnings = network.check(until)?;
        let outages = OutageTable::new(&network.outages, &network.nodes_by_name()?)?;
        let ephemeris = Ephemeris::new(network, (span, until), stop)?;
        Ok(Self { network, span: until, whole: span, ephemeris, outages, warnings, stop })
    }

    /// Every pair of satellites that may have a link at some time, the lower node first.
    pub fn neighbours(&self) -> Vec<(ContactNodeId, ContactNodeId)> {
        let network = self.network;
        let pairs = network.constellations.iter().enumerate().flat_map(|(index, constellation)| {
            isl::neighbours(constellation, network.first_node(index), network.epoch)
        });
        pairs.map(|(a, b)| (ContactNodeId::new(a.min(b)), ContactNodeId::new(a.max(b)))).collect()
    }

    fn go_on(&self) -> Result<(), NetworkError> {
        if self.stop.load(Ordering::Relaxed) { Err(NetworkError::Stopped) } else { Ok(()) }
    }

    /// Element sets that are used further from their epoch than is wise.
    pub fn warnings(&self) -> &[Stale] {
        &self.warnings
    }

    /// Everything, on this thread. `progress` hears of each site that is done, out of all.
    pub fn plan(&self, progress: &mut dyn FnMut(usize, usize)) -> Result<ContactPlan, NetworkError> {
        let count = self.network.sites.len();
        let mut passes = Vec::with_capacity(count);
        for site in 0..count {
            passes.push(self.passes(site)?);
            progress(site + 1, count);
        }
        self.finish(&passes)
    }

    /// The passes of every satellite that a site's antennas may use. Sites are independent of each other.
    pub fn passes(&self, site: usize) -> Result<SitePasses, NetworkError> {
        let description = &self.network.sites[site];
        let viewpoint = Viewpoint::new(&description.place);
        let node = self.network.site_node(site);
        let mut lists: Vec<Vec<Pass>> = Vec::new();
        let mut keys: BTreeMap<(Option<&str>, u64), usize> = BTreeMap::new();
        let mut of_antenna = Vec::new();
        for antenna in &description.antennas {
            // Antennas that see the same sky share a list.
            let key = (antenna.constellation.as_deref(), antenna.min_elevation.as_radians().to_bits());
            let list = *keys.entry(key).or_insert(lists.len());
            of_antenna.push(list);
            if list < lists.len() {
                continue;
            }
            let mut passes: Vec<Pass> = Vec::new();
            let mut sees_any = false;
            for satellite in self.satellites_of(antenna.constellation.as_deref()) {
                self.go_on()?;
                let seen = stretches(
                    &viewpoint,
                    &description.horizon,
                    antenna.min_elevation,
                    &self.ephemeris,
                    satellite,
                );
                sees_any |= !seen.is_empty();
                let usable = without(seen, &self.outages.of_link(ContactNodeId::new(satellite), node));
                let pass = |stretch| Pass { satellite: ContactNodeId::new(satellite).0, stretch };
                passes.extend(usable.into_iter().map(pass));
            }
            passes.sort_by(|a, b| {
                a.stretch.start.total_cmp(&b.stretch.start).then(a.satellite.cmp(&b.satellite))
            });
            // What an outage takes away is a gap: the site stands where it can see.
            if !sees_any {
                return Err(self.never_sees(
                    description,
                    &viewpoint,
                    antenna.constellation.as_deref(),
                    antenna.min_elevation.as_degrees(),
                ));
            }
            lists.push(passes);
        }
        Ok(SitePasses { lists, of_antenna })
    }

    /// Time of a site's pass at which the satellite is highest, seconds after the start of the span, and its elevation
    /// then.
    pub fn culmination(&self, site: usize, pass: &Pass) -> (f64, Angle) {
        culmination(&Viewpoint::new(&self.network.sites[site].place), &self.ephemeris, pass)
    }

    fn satellites_of(&self, constellation: Option<&str>) -> Vec<usize> {
        let mut nodes = Vec::new();
        for (index, candidate) in self.network.constellations.iter().enumerate() {
            if constellation.is_none_or(|name| name == candidate.name) {
                let first = self.network.first_node(index);
                nodes.extend(first..first + candidate.satellites.len());
            }
        }
        nodes
    }

    fn never_sees(
        &self,
        site: &Site,
        viewpoint: &Viewpoint<'_>,
        constellation: Option<&str>,
        elevation_deg: f64,
    ) -> NetworkError {
        let mut best = -1.0_f64;
        for satellite in self.satellites_of(constellation) {
            if self.go_on().is_err() {
                return NetworkError::Stopped;
            }
            let mut t = 0.0;
            while t <= self.ephemeris.span() {
                let sight = sight(&viewpoint.stance(t), &self.ephemeris.state(satellite, t));
                best = best.max(sight.upward / sight.range);
                t += 60.0;
            }
        }
        NetworkError::NeverSees {
            site: site.name.clone(),
            constellation: constellation.unwrap_or("any constellation").to_owned(),
            elevation_deg,
            best_deg: libm::asin(best.clamp(-1.0, 1.0)).to_degrees(),
        }
    }

    /// Lets the antennas choose, links the satellites, and lays the delays.
    ///
    /// # Panics
    /// If `passes` does not hold the passes of every site in order.
    pub fn finish(&self, passes: &[SitePasses]) -> Result<ContactPlan, NetworkError> {
        let network = self.network;
        assert_eq!(passes.len(), network.sites.len(), "the passes of every site are needed");
        let beams = network.beams();
        let followers = network.followers();
        let joint = Joint::new(network, passes, &self.ephemeris, &self.outages, &beams);
        let views: Vec<SiteView<'_>> = network
            .sites
            .iter()
            .zip(passes)
            .enumerate()
            .map(|(index, (site, passes))| SiteView {
                viewpoint: Viewpoint::new(&site.place),
                antennas: &site.antennas,
                // What pairs hold chooses nothing for itself.
                passes: (0..site.antennas.len())
                    .map(|antenna| if joint.binds(index, antenna) { &[] } else { passes.of_antenna(antenna) })
                    .collect(),
            })
            .collect();
        let holds = select(&views, &self.ephemeris, &beams, &followers, joint, self.stop);
        self.go_on()?;
        let mut builder = Builder { contacts: Vec::new(), pieces: Vec::new() };
        for hold in &holds {
            self.go_on()?;
            self.lay_ground(hold, &views[hold.site].viewpoint, &mut builder);
        }
        for (index, constellation) in network.constellations.iter().enumerate() {
            let first = network.first_node(index);
            let links =
                isl::links(constellation, first, network.epoch, &self.ephemeris, &self.outages, self.stop);
            for link in links {
                self.go_on()?;
                let range = |t: f64| {
                    let (a, b) = (self.ephemeris.state(link.a, t), self.ephemeris.state(link.b, t));
                    range_of(&a, &b)
                };
                let ends = (ContactNodeId::new(link.a), ContactNodeId::new(link.b));
                for stretch in &link.stretches {
                    builder.add(ends, ContactKind::InterSatellite, *stretch, range);
                }
            }
        }
        self.go_on()?;
        self.lay_cables(&mut builder);
        let covered = passes.iter().map(SitePasses::union).collect();
        Ok(builder.finish(self, covered))
    }

    /// Cables are known for the whole span.
    fn lay_cables(&self, builder: &mut Builder) {
        let whole = Stretch {
            start: 0.0,
            end: self.whole.as_secs_f64(),
            opens: ContactCause::SpanBegins,
            closes: ContactCause::SpanEnds,
        };
        for cable in &self.network.cables {
            let sites = cable.ends.each_ref().map(|name| self.network.site_index(name));
            let [Some(a), Some(b)] = sites else { continue };
            let forwards = |site: usize| self.network.sites[site].relay == Relay::Gateway;
            let (a, b) = if forwards(a) { (a, b) } else { (b, a) };
            let ends = (self.network.site_node(a), self.network.site_node(b));
            let metres = self.network.cable_metres(cable);
            for stretch in without(vec![whole], &self.outages.of_link(ends.0, ends.1)) {
                builder.add(ends, ContactKind::Terrestrial, stretch, |_| (metres, 0.0));
            }
        }
    }

    fn lay_ground(&self, hold: &Hold, viewpoint: &Viewpoint<'_>, builder: &mut Builder) {
        let range = |t: f64| {
            let stance = viewpoint.stance(t);
            let site = State { position: stance.position, velocity: stance.velocity };
            range_of(&site, &self.ephemeris.state(hold.satellite, t))
        };
        let ends = (ContactNodeId::new(hold.satellite), self.network.site_node(hold.site));
        let antenna = u16::try_from(hold.antenna).unwrap_or(u16::MAX);
        builder.add(ends, ContactKind::Ground { antenna }, hold.stretch, range);
    }
}

fn range_of(a: &State, b: &State) -> (f64, f64) {
    let (line, motion) = (b.position - a.position, b.velocity - a.velocity);
    let range = line.norm();
    (range, line.dot(motion) / range)
}

/// The union of passes, in order.
fn union<'a>(passes: impl Iterator<Item = &'a Pass>) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = passes.map(|pass| (pass.stretch.start, pass.stretch.end)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut joined: Vec<(f64, f64)> = Vec::new();
    for (start, end) in all {
        match joined.last_mut() {
            Some(last) if last.1 >= start => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    joined
}

struct Builder {
    contacts: Vec<Contact>,
    pieces: Vec<super::delay::Piece>,
}

impl Builder {
    fn add(
        &mut self,
        (a, b): (ContactNodeId, ContactNodeId),
        kind: ContactKind,
        stretch: Stretch,
        range: impl Fn(f64) -> (f64, f64),
    ) {
        let instant = |seconds: f64| Instant::START + Duration::from_secs_f64(seconds);
        let (start, end) = (instant(stretch.start), instant(stretch.end));
        // Shorter than a nanosecond: nothing can be sent in it.
        if end <= start {
            return;
        }
        let first = self.pieces.len();
        fit(range, (stretch.start, stretch.end), &mut self.pieces);
        let count = self.pieces.len() - first;
        let index =
            |value: usize| u32::try_from(value).expect("a plan of more than four thousand million pieces");
        let (first_piece, piece_count) = (index(first), index(count));
        let (opens, closes) = (stretch.opens, stretch.closes);
        self.contacts.push(Contact { a, b, kind, start, end, opens, closes, first_piece, piece_count });
    }

    fn finish(mut self, planner: &Planner<'_>, passes: Vec<Vec<(f64, f64)>>) -> ContactPlan {
        self.contacts.sort_by_key(|contact| (contact.start, contact.kind, contact.a, contact.b));
        let mut changes = Vec::with_capacity(2 * self.contacts.len());
        for (index, contact) in self.contacts.iter().enumerate() {
            let contact_id = ContactId(u32::try_from(index).expect("too many contacts"));
            changes.push(ContactChange { at: contact.start, contact: contact_id, begins: true });
            changes.push(ContactChange { at: contact.end, contact: contact_id, begins: false });
        }
        changes.sort_by_key(|change| (change.at, change.begins, change.contact));
        let network = planner.network;
        ContactPlan {
            epoch: network.epoch,
            span: planner.span,
            names: network.names(),
            payloads: network.payloads(),
            relays: network.sites.iter().map(|site| site.relay).collect(),
            contacts: self.contacts,
            pieces: self.pieces,
            changes,
            passes,
        }
    }
}
