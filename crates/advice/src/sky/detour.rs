//! Detours over satellites that forward: where an antenna holds one satellite, the two that it and the far end hold may
//! fly in different directions, and the way between them leads around the Earth.

use slantpath_base::Instant;
use slantpath_orbit::contact::ContactKind;
use slantpath_orbit::earth::{MEAN_RADIUS, SPEED_OF_LIGHT, great_circle_m};
use slantpath_orbit::route::{self, Path, Refresh, Router};
use slantpath_orbit::{ContactNodeId, Geodetic};
use slantpath_reader::{Fault, Faults};
use slantpath_scenario::SkyPlan;
use slantpath_scenario::schema::File;
use slantpath_scenario::sky_links::{Subject, carried, end_of_run, sites_of, subjects};

/// Number of instants of a run, evenly spread, at which paths are looked at.
const LOOKS: u64 = 8;
/// Factor over the shortest way up, along the great circle and down, from which on a path is a detour. Paths over
/// satellites that turn aside for a link or two are well below it.
const MOST: f64 = 2.0;

/// Looks at the path of one subject.
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
    for ends in all {
        report(ends, faults);
    }
}

/// Looks at the shortest path of a subject between sites of its ends, if there is one.
fn look_at(plan: &SkyPlan, router: &Router<'_>, ends: &mut Ends<'_>) {
    let place = |to: &ContactNodeId| router.destinations().iter().position(|known| known == to);
    let ways = ends.to.iter().filter_map(place).flat_map(|to| ends.from.iter().map(move |from| (*from, to)));
    let shortest = ways.filter_map(|(from, to)| Some((router.distance(from, to)?, from, to))).min();
    let Some((_, from, to)) = shortest else { return };
    let Some(path) = router.path(from, to) else { return };
    let now = router.now();
    let Some(shortest) = shortest_of(plan, &path, now) else { return };
    let delay = path.delay_nanos(&plan.contacts, now) * 1e-9;
    let found = &mut ends.found;
    found.paths += 1;
    if delay > MOST * shortest.delay {
        found.detours += 1;
        if found.worst.as_ref().is_none_or(|worst| delay > worst.delay) {
            found.worst = Some(Detour { delay, shortest });
        }
    }
}

/// The shortest that a path could be. Only of paths over links between satellites alone, of which an end has one
/// antenna.
fn shortest_of(plan: &SkyPlan, path: &Path, now: Instant) -> Option<Shortest> {
    let SkyPlan { bodies, contacts, .. } = plan;
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

/// Warns of a subject that has a detour more often than not.
fn report(ends: Ends<'_>, faults: &mut Faults) {
    let Ends { subject, found, .. } = ends;
    let Some(Detour { delay, shortest }) = found.worst.filter(|_| 2 * found.detours > found.paths) else {
        return;
    };
    let [from, to] = &shortest.sites;
    let message = format!(
        "{}: packets take up to {:.0} ms from `{from}` to `{to}`, {:.1} times the shortest way up, along the ground \
         and down ({:.0} ms): the satellites of both ends often fly in different directions",
        subject.name,
        delay * 1e3,
        delay / shortest.delay,
        shortest.delay * 1e3,
    );
    let single: Vec<String> = shortest.single.iter().map(|site| format!("`{site}`")).collect();
    let help = format!(
        "give {} a second antenna with another `criterion`, so that a route has a choice",
        single.join(" and ")
    );
    faults.warn_of_kind("detours", subject.place, Fault::new(message).help(help));
}
