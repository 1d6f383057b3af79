//! Cables of the topology: links of the scenario whose delay and outages the topology says.

use std::collections::{BTreeMap, BTreeSet};

use slantpath_base::{Duration, Instant};
use slantpath_net::{Change, NetworkBuilder, NodeId};
use slantpath_orbit::ContactNetwork;
use slantpath_orbit::contact::{Contact, ContactKind, ContactPlan};
use slantpath_orbit::earth::SPEED_OF_LIGHT;
use slantpath_orbit::pair::{Cable, CableDelay};
use slantpath_reader::{
    Awaited, Fault, Faults, Nested, Pair, Passing, Place, Setting, Stage, Tables, Written, suggest,
};
use slantpath_sat::CableLink;

use super::plan::SkyPlan;
use super::schema::{SkyTable, TerrestrialLinks};
use super::topology;
use crate::link::schema::{Link, nothing};
use crate::network::planned::{PlannedLink, find_link};
use crate::schema::{File, Node};

/// Puts a link in the place of each cable that a table is for and between whose sites nobody has written one, and
/// gives all links that are cables their delay.
pub(super) fn expand(
    sky: &mut SkyTable<Written>,
    nodes: &Tables<Node>,
    links: &mut Tables<Link<Written>>,
    network: &ContactNetwork,
    faults: &mut Faults,
) {
    let tables = core::mem::take(&mut *sky.terrestrial);
    check_tables(&tables, network, topology::place(sky), faults);
    let nodes = nodes_by_site(nodes);
    let written: Vec<&Cable> = links.iter().filter_map(|(_, link)| cable_of(link, &nodes, network)).collect();
    for cable in network.cables.iter().filter(|cable| !written.contains(cable)) {
        let stand = cable.ends.each_ref().map(|site| nodes.get(site));
        let [Some(first), Some(second)] = stand else { continue };
        let Some((table, place)) = table_of(&tables, cable) else { continue };
        let name = format!("{}--{}", cable.ends[0], cable.ends[1]);
        if links.names().contains(&name.as_str()) {
            let fault = Fault::new(format!("a link is called `{name}`, as this cable would be"));
            let help = "write `cable = true` into it if it is the cable, or give it another name";
            faults.report(place, fault.help(help));
            continue;
        }
        let link = Link {
            ends: Setting::derived(Pair(first.clone(), second.clone()), "as the cable", place),
            family: Awaited::open(),
            addresses: Awaited::open(),
            mtu: table.mtu,
            cable: Some(Setting::derived(true, "of the topology", place)),
            report_mtu: None,
            both: Passing(table.both.clone()),
            forward: Nested(nothing(place)),
            reverse: Nested(nothing(place)),
        };
        links.add(&name, link, place);
    }
    for (name, link) in links.iter_mut() {
        let Some(place) = link.cable.filter(|cable| **cable).map(|cable| cable.place()) else { continue };
        if let Some(cable) = cable_of(link, &nodes, network) {
            set_delay(name, link, delay_of(network, cable), place, faults);
            continue;
        }
        let message =
            format!("the topology has no cable between the sites of `{}` and `{}`", link.ends.0, link.ends.1);
        let help = "write `[[cables]]` with the two sites into it, or leave `cable` out and give a delay";
        faults.report(place, Fault::new(message).help(help));
    }
}

/// Reports links that are to be cables where there is no sky.
pub(super) fn without_a_sky(links: &Tables<Link<Written>>, faults: &mut Faults) {
    for (_, link) in links.iter() {
        if let Some(cable) = link.cable.filter(|cable| **cable) {
            let fault = Fault::new("`cable` has no meaning without a sky");
            faults.report(cable.place(), fault.help("leave it out, and give the link a `delay`"));
        }
    }
}

/// The node at each site.
fn nodes_by_site(nodes: &Tables<Node>) -> BTreeMap<String, String> {
    let standing =
        nodes.iter().filter_map(|(name, node)| Some(((**node.site.as_ref()?).clone(), name.to_owned())));
    standing.collect()
}

/// Tables name cables that are there.
fn check_tables(
    tables: &Tables<TerrestrialLinks>,
    network: &ContactNetwork,
    sky: Place,
    faults: &mut Faults,
) {
    if network.cables.is_empty() && !tables.is_empty() {
        let fault = Fault::new("the topology has no cables for `sky.terrestrial` to be about");
        faults.report(sky, fault.help("write `[[cables]]` into the topology, or remove the table"));
        return;
    }
    let known: Vec<String> = network.cables.iter().map(|cable| cable.ends.join(", ")).collect();
    for (_, table) in tables.iter() {
        let Some(ends) = &table.ends else { continue };
        if !network.cables.iter().any(|cable| joins(cable, &ends.0, &ends.1)) {
            let named = format!("{}, {}", ends.0, ends.1);
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let help = suggest(&named, "cables of the topology", &known);
            let fault = Fault::new(format!("no cable joins `{}` and `{}`", ends.0, ends.1));
            faults.report(ends.place(), fault.help(help));
        }
    }
}

/// The table of a cable: the first that names its ends, else the first that names none.
fn table_of<'a>(
    tables: &'a Tables<TerrestrialLinks>,
    cable: &Cable,
) -> Option<(&'a TerrestrialLinks, Place)> {
    let named =
        |table: &TerrestrialLinks| table.ends.as_ref().is_some_and(|ends| joins(cable, &ends.0, &ends.1));
    let find = |fits: &dyn Fn(&TerrestrialLinks) -> bool| {
        tables.iter().map(|(_, table)| (&**table, table.place())).find(|(table, _)| fits(table))
    };
    find(&named).or_else(|| find(&|table| table.ends.is_none()))
}

fn joins(cable: &Cable, one: &str, other: &str) -> bool {
    let [a, b] = cable.ends.each_ref().map(String::as_str);
    (a, b) == (one, other) || (a, b) == (other, one)
}

/// The cable that a link is, if it says so and there is one.
fn cable_of<'a, S: Stage>(
    link: &Link<S>,
    nodes: &BTreeMap<String, String>,
    network: &'a ContactNetwork,
) -> Option<&'a Cable> {
    link.cable.filter(|cable| **cable)?;
    let stands = |site: &String, node: &String| nodes.get(site) == Some(node);
    network.cables.iter().find(|cable| {
        let ([a, b], Pair(first, second)) = (&cable.ends, &*link.ends);
        stands(a, first) && stands(b, second) || stands(a, second) && stands(b, first)
    })
}

fn delay_of(network: &ContactNetwork, cable: &Cable) -> Duration {
    match cable.delay {
        CableDelay::Fixed(delay) => delay,
        CableDelay::GreatCircle => Duration::from_secs_f64(network.cable_metres(cable) / SPEED_OF_LIGHT),
    }
}

/// Gives a link the delay of its cable; one that is written must be the same.
fn set_delay(name: &str, link: &mut Link<Written>, delay: Duration, place: Place, faults: &mut Faults) {
    for parameters in [&link.both.0, &link.forward.0, &link.reverse.0] {
        let other = parameters.delay.filter(|given| **given != delay).map(|given| given.place());
        let other = other.or(parameters.delay_trace.as_ref().map(|trace| trace.0.file.place()));
        if let Some(other) = other {
            let fault =
                Fault::new(format!("the cable that link `{name}` is takes {delay}, as the topology says"));
            faults.report(other, fault.help("leave the delay out, or change the topology"));
            return;
        }
    }
    link.both.0.0.delay = Some(Setting::derived(delay, "of the topology", place));
}

/// The cables that carry packets: between which bodies of the plan, by which links.
pub(super) fn links(
    file: &File,
    plan: &SkyPlan,
    links: &[PlannedLink],
    nodes: &BTreeMap<String, NodeId>,
) -> Vec<CableLink> {
    let by_site = nodes_by_site(&file.nodes);
    let found = file.links.iter().filter_map(|(name, link)| {
        let cable = cable_of(link, &by_site, &plan.bodies)?;
        // The first end of the link as of the cable.
        let is_turned = by_site[&cable.ends[0]] != link.ends.0;
        let [one, other] =
            cable.ends.each_ref().map(|site| plan.contacts.node(site).expect("a site of the plan"));
        let ends = if is_turned { [other, one] } else { [one, other] };
        let nodes = [&link.ends.0, &link.ends.1].map(|node| nodes[node.as_str()]);
        Some(CableLink { link: find_link(links, name)?.id, ends, nodes })
    });
    found.collect()
}

/// The link that is the cable of a contact.
pub(super) fn link_of(file: &File, plan: &SkyPlan, contact: &Contact) -> Option<String> {
    let by_site = nodes_by_site(&file.nodes);
    let names = plan.contacts.names();
    let [one, other] = [contact.a, contact.b].map(|site| names[site.index()].as_str());
    let mut links = file.links.iter();
    links.find_map(|(name, link)| {
        cable_of(link, &by_site, &plan.bodies)
            .filter(|cable| joins(cable, one, other))
            .map(|_| name.to_owned())
    })
}

/// Tells whether a contact of the plan carries packets: that of a site at which a node stands, a cable that is a link,
/// and every one of two satellites.
pub fn carried(file: &File, plan: &SkyPlan) -> impl Fn(&Contact) -> bool + use<> {
    let by_site = nodes_by_site(&file.nodes);
    let cables = file.links.iter().filter_map(|(_, link)| cable_of(link, &by_site, &plan.bodies));
    let ends: Vec<_> =
        cables.map(|cable| cable.ends.each_ref().map(|site| plan.contacts.node(site))).collect();
    let stands: BTreeSet<_> = by_site.keys().filter_map(|site| plan.contacts.node(site)).collect();
    move |contact| {
        let (a, b) = (Some(contact.a), Some(contact.b));
        match contact.kind {
            ContactKind::InterSatellite => true,
            ContactKind::Ground { .. } => stands.contains(&contact.b),
            ContactKind::Terrestrial => ends.contains(&[a, b]) || ends.contains(&[b, a]),
        }
    }
}

/// Takes cables down while the plan has no contact for them.
pub(super) fn schedule(plan: &ContactPlan, cables: &[CableLink], builder: &mut NetworkBuilder) {
    for cable in cables {
        let [one, other] = cable.ends;
        let is_it = |contact: &&Contact| {
            contact.kind == ContactKind::Terrestrial
                && ([contact.a, contact.b] == [one, other] || [contact.a, contact.b] == [other, one])
        };
        let mut spans: Vec<_> =
            plan.contacts().iter().filter(is_it).map(|contact| (contact.start, contact.end)).collect();
        spans.sort_unstable();
        let mut change = |at, change: Change| {
            for direction in [cable.link.forward(), cable.link.reverse()] {
                builder.change(at, direction, change);
            }
        };
        if spans.first().is_none_or(|(start, _)| *start > Instant::START) {
            change(Instant::START, Change::Down);
        }
        for &(start, end) in &spans {
            if start > Instant::START {
                change(start, Change::Up);
            }
            change(end, Change::Down);
        }
    }
}
