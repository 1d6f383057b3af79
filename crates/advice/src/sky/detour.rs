//! Detours over satellites that forward: where an antenna holds one satellite, the two that it and the far end hold may
//! fly in different directions, and the way between them leads around the Earth.

use slantpath_base::{Duration, Instant};
use slantpath_orbit::contact::{ContactKind, ContactPlan, Planner};
use slantpath_orbit::earth::{MEAN_RADIUS, SPEED_OF_LIGHT, great_circle_m};
use slantpath_orbit::route::{self, Path, Refresh, Router};
use slantpath_orbit::{ContactNetwork, ContactNodeId, Geodetic};
use slantpath_reader::{Fault, Faults};
use slantpath_scenario::SkyPlan;
use slantpath_scenario::schema::File;
use slantpath_scenario::sky_links::{Subject, carried, end_of_run, sites_of, subjects};

/// Number of instants of a run, evenly spread, at which paths are looked at.
const LOOKS: u64 = 8;
/// Number of such instants where contacts are worked out for each: of a large constellation they take a while.
const PLANNED_LOOKS: u64 = 4;
/// Factor over the shortest way up, along the great circle and down, from which on a path is a detour. Paths over
/// satellites that turn aside for a link or two are well below it.
const MOST: f64 = 2.0;
/// Span of the contacts of an instant.
const SHORT: Duration = Duration::from_secs(1);

/// Looks at one path.
#[derive(Clone, Debug, Default)]
struct Found {
    /// Looks at which there was a path that may be judged.
    paths: usize,
    /// Looks at which it was a detour.
    detours: usize,
    worst: Option<Detour>,
}

/// The longest path of a subject.
#[derive(Clone, Debug)]
struct Detour {
    /// Delay in seconds.
    delay: f64,
    shortest: Shortest,
}

/// The shortest that a path could be.
#[derive(Clone, Debug)]
struct Shortest {
    /// Up, along the great circle, and down, in seconds.
    delay: f64,
    /// The two sites.
    sites: [String; 2],
    /// Sites of them that have one antenna.
    single: Vec<String>,
}

/// Ends of a subject: the sites by which it may go up, and come down.
struct Ends<'a> {
    subject: Subject<'a>,
    from: Vec<ContactNodeId>,
    to: Vec<ContactNodeId>,
    found: Found,
}

/// Remarks on subjects that have a detour more often than not.
pub(crate) fn remark(file: &File, plan: &SkyPlan, faults: &mut Faults) {
    let contacts = &plan.contacts;
    let sites = |node: &str| sites_of(file, node).iter().filter_map(|site| contacts.node(site)).collect();
    let ends = subjects(file).into_iter().map(|subject| {
        let (from, to) = (sites(&subject.from), sites(&subject.to));
        Ends { subject, from, to, found: Found::default() }
    });
    let mut all: Vec<Ends<'_>> = ends.filter(|ends| !ends.from.is_empty() && !ends.to.is_empty()).collect();
    let mut destinations: Vec<ContactNodeId> = all.iter().flat_map(|ends| &ends.to).copied().collect();
    destinations.sort_unstable();
    destinations.dedup();
    let is_usable = carried(file, plan);
    // Trees are repaired at the instants that are looked at.
    let config = route::RouteConfig { refresh: Refresh::Changed, ..route::RouteConfig::default() };
    let mut router = Router::within(contacts, &destinations, config, &is_usable);
    let every = (end_of_run(file) - Instant::START) / LOOKS;
    for look in 0..LOOKS {
        let at = Instant::START + every / 2 + every * look;
        router.advance(at);
        router.reread(at);
        for ends in &mut all {
            look_at(plan, &router, ends);
        }
    }
    for Ends { subject, found, .. } in all {
        if let Some(fault) = found.fault(&subject.name) {
            faults.warn_of_kind("detours", subject.place, fault);
        }
    }
}

/// Looks at the shortest path of a subject between sites of its ends, if there is one.
fn look_at(plan: &SkyPlan, router: &Router<'_>, ends: &mut Ends<'_>) {
    let place = |to: &ContactNodeId| router.destinations().iter().position(|known| known == to);
    let ways = ends.to.iter().filter_map(place).flat_map(|to| ends.from.iter().map(move |from| (*from, to)));
    let shortest = ways.filter_map(|(from, to)| Some((router.distance(from, to)?, from, to))).min();
    let Some((_, from, to)) = shortest else { return };
    ends.found.look(&plan.bodies, router, (from, to));
}

impl Found {
    /// Looks at the route from a node to a destination of a router, by its index.
    fn look(&mut self, bodies: &ContactNetwork, router: &Router<'_>, (from, to): (ContactNodeId, usize)) {
        let Some(path) = router.path(from, to) else { return };
        let (contacts, now) = (router.plan(), router.now());
        let Some(shortest) = shortest_of(bodies, contacts, &path, now) else { return };
        let delay = path.delay_nanos(contacts, now) * 1e-9;
        self.paths += 1;
        if delay > MOST * shortest.delay {
            self.detours += 1;
            if self.worst.as_ref().is_none_or(|worst| delay > worst.delay) {
                self.worst = Some(Detour { delay, shortest });
            }
        }
    }

    /// The fault of a path that is a detour more often than not; `what` has it.
    fn fault(self, what: &str) -> Option<Fault> {
        let Detour { delay, shortest } = self.worst.filter(|_| 2 * self.detours > self.paths)?;
        let [from, to] = &shortest.sites;
        let message = format!(
            "{what}: packets take up to {:.0} ms from `{from}` to `{to}`, {:.1} times the shortest way up, along the \
             ground and down ({:.0} ms): the satellites of both ends often fly in different directions",
            delay * 1e3,
            delay / shortest.delay,
            shortest.delay * 1e3,
        );
        let single: Vec<String> = shortest.single.iter().map(|site| format!("`{site}`")).collect();
        let help = format!(
            "give {} a second antenna with another `criterion`, so that a route has a choice; across the seam of polar \
             planes it gains less",
            single.join(" and ")
        );
        Some(Fault::new(message).help(help))
    }
}

/// Remarks on paths between sites under a sky that lasts so long, each by what has it: those that lead over satellites
/// alone, and lead around the Earth at most of a few instants. Contacts are worked out for these instants alone.
pub fn detours<'n>(
    network: &ContactNetwork,
    span: Duration,
    paths: impl IntoIterator<Item = (&'n str, [ContactNodeId; 2])>,
) -> Vec<(&'n str, Fault)> {
    let mut all: Vec<_> = paths.into_iter().map(|(what, ends)| (what, ends, Found::default())).collect();
    let every = span / PLANNED_LOOKS;
    for look in 0..PLANNED_LOOKS {
        let bodies = network.starting_after(every / 2 + every * look);
        // What cannot be worked out is said by whoever works out all of it.
        let Ok(planner) = Planner::new(&bodies, SHORT) else { return Vec::new() };
        let Ok(contacts) = planner.plan(&mut |_, _| {}) else { return Vec::new() };
        let destinations: Vec<ContactNodeId> = all.iter().map(|(_, [_, to], _)| *to).collect();
        let router = Router::new(&contacts, &destinations, route::RouteConfig::default());
        for (to, (_, [from, _], found)) in all.iter_mut().enumerate() {
            found.look(&bodies, &router, (*from, to));
        }
    }
    all.into_iter()
        .filter_map(|(what, _, found)| Some((what, found.fault(&format!("path `{what}`"))?)))
        .collect()
}

/// The shortest that a path could be. Only of paths over links between satellites alone, of which an end has one
/// antenna.
fn shortest_of(
    bodies: &ContactNetwork,
    contacts: &ContactPlan,
    path: &Path,
    now: Instant,
) -> Option<Shortest> {
    let kinds: Vec<ContactKind> = path.contacts.iter().map(|&id| contacts.contact(id).kind).collect();
    let [ContactKind::Ground { .. }, between @ .., ContactKind::Ground { .. }] = &kinds[..] else {
        return None;
    };
    if between.is_empty() || between.iter().any(|kind| !matches!(kind, ContactKind::InterSatellite)) {
        return None;
    }
    let [first, up, .., down, last] = path.nodes[..] else { return None };
    let names = [first, last].map(|node| contacts.names()[node.index()].clone());
    let site = |name: &String| bodies.sites.get(bodies.site_index(name)?);
    let (one, other) = (site(&names[0])?, site(&names[1])?);
    let single = [one, other].into_iter().filter(|site| site.antennas.len() == 1);
    let single: Vec<String> = single.map(|site| site.name.clone()).collect();
    if single.is_empty() {
        return None;
    }
    let date = bodies.epoch.after(now.since_start());
    let height = |node: ContactNodeId| {
        let satellite = bodies.satellites().nth(node.index())?;
        Some(satellite.orbit.fixed(date).ok()?.position.norm() - MEAN_RADIUS)
    };
    let [one, other] = [one, other].map(|site| Geodetic::from_fixed(site.place.at(now).position));
    let ground = great_circle_m(&one, &other);
    let delay = (ground + height(up)? + height(down)?) / SPEED_OF_LIGHT;
    Some(Shortest { delay, sites: names, single })
}
