//! Search for subjects that need a path over the sky and have none: never in a run, or for longer than their transport
//! lives.

mod life;
mod report;
mod script;

use core::sync::atomic::{AtomicBool, Ordering};

use slantpath_base::Instant;
use slantpath_orbit::ContactNodeId;
use slantpath_orbit::route::{self, Router};
use slantpath_orbit::shells::shells_apart;
use slantpath_reader::{Fault, Faults, Place};
use slantpath_scenario::SkyPlan;
use slantpath_scenario::schema::File;
use slantpath_scenario::sky_links::{
    Bound, Subject, carried, end_of_run, fixed_routes, on_the_ground, relays as relays_of,
    sites_of as sites_of_node, subjects,
};

/// A time without a path.
#[derive(Clone, Copy, Debug)]
struct Gap {
    since: Instant,
    until: Instant,
}

/// Ends that are joined over the sky, and the times at which no path joins them.
struct Ends<'a> {
    subject: Subject<'a>,
    /// The sites by which it may go up, and come down.
    from: Vec<ContactNodeId>,
    to: Vec<ContactNodeId>,
    /// Link by which alone it can be reached, if there is one.
    bound: Option<Bound>,
    /// Since when there is no path, if there is none.
    apart_since: Option<Instant>,
    gaps: Vec<Gap>,
    has_met: bool,
}

/// Looks over the whole run which ends have a path, at every change of a contact, and of an antenna by a script; until
/// `stop` is set, which is at fault.
pub(super) fn check(file: &File, plan: &SkyPlan, stop: &AtomicBool, faults: &mut Faults) {
    let contacts = &plan.contacts;
    let end = end_of_run(file);
    let sites_of = |node: &str| -> Vec<ContactNodeId> {
        sites_of_node(file, node).iter().filter_map(|site| contacts.node(site)).collect()
    };
    let mut all: Vec<Ends<'_>> = Vec::new();
    for subject in subjects(file) {
        let bound = Bound::of(file, contacts, &subject);
        let to = bound.as_ref().map_or_else(|| sites_of(&subject.to), |bound| vec![bound.gateway]);
        let from = sites_of(&subject.from);
        let needs_sky = !on_the_ground(file, &subject.from).contains(subject.to.as_str());
        if needs_sky && !from.is_empty() && !to.is_empty() {
            all.push(Ends { subject, from, to, bound, apart_since: None, gaps: Vec::new(), has_met: false });
        }
    }
    let relays: Vec<Vec<ContactNodeId>> = relays_of(file)
        .iter()
        .map(|sites| sites.iter().filter_map(|site| contacts.node(site)).collect())
        .collect();
    let of_all = all.iter().flat_map(|ends| &ends.to);
    let mut destinations: Vec<ContactNodeId> = of_all.chain(relays.iter().flatten()).copied().collect();
    destinations.sort_unstable();
    destinations.dedup();
    let is_usable = carried(file, plan);
    let fixed = fixed_routes(file, plan);
    let mut router = Router::within(contacts, &destinations, route::RouteConfig::default(), &is_usable);
    let mut script = script::AntennaScript::new(file, contacts);
    let mut now = router.now();
    loop {
        if stop.load(Ordering::Relaxed) {
            let place = file.sky.as_ref().map_or_else(Place::default, |sky| sky.0.start.place());
            faults.report(
                place,
                Fault::new("it was stopped before its paths were looked through").help("read it again"),
            );
            return;
        }
        script.advance(now);
        for ends in &mut all {
            let is_joined = |from: ContactNodeId, to: ContactNodeId| {
                // A fixed route holds or does not; the sky has no other for its two sites.
                if let Some(nodes) = fixed.iter().find(|nodes| are_ends(nodes, from, to)) {
                    return router.fixed_path(nodes).is_some();
                }
                let place = destinations.binary_search(&to).expect("it is among them");
                router.distance(from, place).is_some()
            };
            let is_up = ends.bound.as_ref().is_none_or(|bound| bound.is_in_service(now));
            // Whether there ever is a path is for the sky to say: what a script takes away was there.
            ends.has_met = ends.has_met || is_up && ends.are_joined(&relays, &is_joined);
            let works = |site| !script.is_cut_off(site);
            let has_path =
                ends.are_joined(&relays, &|from, to| works(from) && works(to) && is_joined(from, to));
            ends.look(now, is_up && has_path);
        }
        let next = [router.next_change(), script.next_change()].into_iter().flatten().min();
        let Some(next) = next.filter(|next| *next < end) else { break };
        if router.next_change() == Some(next) {
            router.step();
        }
        now = next;
    }
    for mut ends in all {
        ends.close(end);
        let gaps: Vec<(Instant, Instant)> = ends.gaps.iter().map(|gap| (gap.since, gap.until)).collect();
        let apart = shells_apart(&plan.bodies, contacts, [&ends.from, &ends.to], &gaps);
        report::report(file, &ends, apart.as_ref(), end, faults);
    }
}

/// Tells whether a route is one between these two sites, either way.
fn are_ends(nodes: &[ContactNodeId], one: ContactNodeId, other: ContactNodeId) -> bool {
    let ends = [nodes.first(), nodes.last()];
    ends == [Some(&one), Some(&other)] || ends == [Some(&other), Some(&one)]
}

/// Tells whether packets get from some sites to others by the sky, the ground between sites where routers stand, and
/// the sky again, as often as it takes.
fn lead_over(
    relays: &[Vec<ContactNodeId>],
    from: &[ContactNodeId],
    to: &[ContactNodeId],
    leads: &dyn Fn(&[ContactNodeId], &[ContactNodeId]) -> bool,
) -> bool {
    let (mut waiting, mut reached) = (Vec::from([from]), vec![false; relays.len()]);
    while let Some(sites) = waiting.pop() {
        if leads(sites, to) {
            return true;
        }
        for (relay, reached) in relays.iter().zip(&mut reached).filter(|(_, reached)| !**reached) {
            if leads(sites, relay) {
                *reached = true;
                waiting.push(relay);
            }
        }
    }
    false
}

impl Ends<'_> {
    /// Tells whether there is a path, if sites are joined as `is_joined` has it.
    fn are_joined(
        &self,
        relays: &[Vec<ContactNodeId>],
        is_joined: &dyn Fn(ContactNodeId, ContactNodeId) -> bool,
    ) -> bool {
        let leads = |from: &[ContactNodeId], to: &[ContactNodeId]| {
            from.iter().any(|&from| to.iter().any(|&to| is_joined(from, to)))
        };
        leads(&self.from, &self.to) || lead_over(relays, &self.from, &self.to, &leads)
    }

    fn look(&mut self, now: Instant, has_path: bool) {
        if has_path {
            self.close(now);
        } else {
            self.apart_since.get_or_insert(now);
        }
    }

    /// Ends a time without a path, if there is one.
    fn close(&mut self, now: Instant) {
        if let Some(since) = self.apart_since.take()
            && since < now
        {
            self.gaps.push(Gap { since, until: now });
        }
    }
}
