//! Why no path over the sky joins two hosts: a gateway at which nobody stands, a cable that carries nothing, an outage.

use std::cell::OnceCell;

use slantpath_base::{Duration, Instant};
use slantpath_orbit::contact::ContactPlan;
use slantpath_orbit::outage::{Failing, Outage};
use slantpath_orbit::route::{self, Path, Router};
use slantpath_reader::Faults;
use slantpath_scenario::schema::{File, Flow};
use slantpath_scenario::sky_links::{carried, end_of_run, sites_of};
use slantpath_scenario::{SkyPlan, Watch};

/// Gives flows that no path joins, as faults so far say, the cure that fits their sky. Where
/// it has outages, its contacts are worked out once more without them.
pub(super) fn cures(file: &File, plan: &SkyPlan, watch: Watch<'_>, faults: &mut Faults) {
    let end = end_of_run(file);
    let undisturbed = OnceCell::new();
    faults.cure_since(0, |place| {
        let (_, flow) = file.flows.iter().find(|(_, flow)| flow.to.place() == place)?;
        if let Some(path) = path_of(file, flow, &plan.contacts, end) {
            return missing(file, plan, &path);
        }
        if plan.bodies.outages.is_empty() {
            return None;
        }
        let contacts = undisturbed.get_or_init(|| plan.without_outages(watch)).as_ref()?;
        Some(outage(file, plan, contacts, &path_of(file, flow, contacts, end)?))
    });
}

/// The first path between the ends of a flow over all sites and cables of a sky, whether nodes use them or not, in the
/// time of the run: contacts are known for a little longer.
fn path_of(file: &File, flow: &Flow, contacts: &ContactPlan, end: Instant) -> Option<Path> {
    let sites_of = |host: &str| sites_of(file, host).into_iter().filter_map(|site| contacts.node(&site));
    let (from, to): (Vec<_>, Vec<_>) = (sites_of(&flow.from).collect(), sites_of(&flow.to).collect());
    let mut router = Router::new(contacts, &to, route::RouteConfig::default());
    loop {
        let mut ways = (0..to.len()).flat_map(|place| from.iter().map(move |&from| (from, place)));
        if let Some(path) = ways.find_map(|(from, place)| router.path(from, place)) {
            return Some(path);
        }
        router.next_change().filter(|next| *next < end)?;
        router.step();
    }
}

/// Help on what a path needs that the scenario does not have.
fn missing(file: &File, plan: &SkyPlan, path: &Path) -> Option<String> {
    let names = plan.contacts.names();
    let stands_at = |name: &str| {
        file.nodes.iter().any(|(_, node)| node.site.as_ref().is_some_and(|site| **site == *name))
    };
    let sites = path.nodes.iter().filter(|node| plan.contacts.is_site(**node));
    if let Some(site) = sites.map(|node| &names[node.index()]).find(|name| !stands_at(name)) {
        return Some(format!(
            "let a router stand at `{site}`, over which the way leads: `[nodes.{site}]` with `kind = \"router\"` \
             and `site = \"{site}\"`"
        ));
    }
    let is_carried = carried(file, plan);
    let cable = path.contacts.iter().map(|&id| plan.contacts.contact(id)).find(|&id| !is_carried(id))?;
    let [one, other] = [cable.a, cable.b].map(|site| &names[site.index()]);
    Some(format!(
        "the way leads over the cable between `{one}` and `{other}`: write `[sky.terrestrial.default]` with \
         `rate = \"1 Gbit/s\"`, or a link with `cable = true`"
    ))
}

/// The outage that takes a path away which would be there without outages.
fn outage(file: &File, plan: &SkyPlan, contacts: &ContactPlan, path: &Path) -> String {
    let names: Vec<&str> = path.nodes.iter().map(|node| contacts.names()[node.index()].as_str()).collect();
    let strikes = |outage: &&Outage| match &outage.what {
        Failing::Node(node) => names.contains(&node.as_str()),
        Failing::Link(a, b) => {
            let of = |pair: &[&str]| pair == [a, b] || pair == [b, a];
            names.windows(2).any(of)
        }
    };
    let start = file.sky.as_ref().map_or(Duration::ZERO, |sky| *sky.0.start);
    // That of an end leaves no other path; of others the longest.
    let ends = [names.first(), names.last()];
    let weight = |outage: &&Outage| {
        let is_of_end = matches!(&outage.what, Failing::Node(node) if ends.contains(&Some(&node.as_str())));
        (is_of_end, outage.until - outage.from)
    };
    let Some(outage) = plan.bodies.outages.iter().filter(strikes).max_by_key(weight) else {
        return "there would be one without the outages of the topology: shorten or remove some".to_owned();
    };
    let what = match &outage.what {
        Failing::Node(node) => format!("`{node}`"),
        Failing::Link(a, b) => format!("the link between `{a}` and `{b}`"),
    };
    // The topology counts from its epoch.
    let until = outage.until.since_start().saturating_add(start);
    format!(
        "an outage takes {what} away until {until}: let it end earlier, or the run last longer or start later"
    )
}
