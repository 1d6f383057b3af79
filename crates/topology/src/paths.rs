//! The questions: ends that are sites, and routes of nodes that are there.

use std::collections::BTreeMap;

use slantpath_orbit::ContactNodeId;
use slantpath_orbit::pair::SitePair;
use slantpath_orbit::site::Relay;
use slantpath_orbit::topology::RouteChoice;
use slantpath_reader::{Fault, Faults, Lookup, suggest};

use super::outages::unknown;
use crate::schema::{Followed, RouteSelection};
use crate::written::{SiteTable, TopologyFile};

pub(super) fn check(file: &TopologyFile, nodes: &BTreeMap<String, ContactNodeId>, faults: &mut Faults) {
    let known: Vec<&str> = nodes.keys().map(String::as_str).collect();
    for (name, path) in file.paths.iter() {
        for end in [&path.from, &path.to] {
            if matches!(file.sites.lookup(end), Lookup::Unknown) {
                let help = suggest(end, "sites", &file.sites.names());
                faults.report(end.place(), Fault::new(format!("there is no site `{}`", **end)).help(help));
            }
        }
        if *path.from == *path.to {
            let fault = Fault::new(format!("path `{name}` leads from `{}` to itself", *path.from));
            faults.report(path.to.place(), fault.help("let it end at another site"));
        }
        if let Some(constellation) = &path.constellation
            && matches!(file.constellations.lookup(constellation), Lookup::Unknown)
        {
            let help = suggest(constellation, "constellations", &file.constellations.names());
            let fault = Fault::new(format!("there is no constellation `{}`", **constellation));
            faults.report(constellation.place(), fault.help(help));
        }
        match (&path.via, *path.selection) {
            (Some(via), RouteSelection::Fixed) => {
                for node in via.iter() {
                    if !nodes.contains_key(node) {
                        faults.report(via.place(), unknown(node, &known));
                    } else if !relays(file, node) {
                        let fault = Fault::new(format!("the fixed path `{name}` passes the site `{node}`"));
                        let help = "let it be a gateway with `relay = \"gateway\"`, or leave it out of `via`";
                        faults.report(via.place(), fault.help(help));
                    }
                }
                if via.is_empty() {
                    faults.report(via.place(), leads_nowhere(name));
                }
            }
            (None, RouteSelection::Fixed) => faults.report(path.selection.place(), leads_nowhere(name)),
            (Some(via), selection) => {
                let fault = Fault::new(format!("a path of `{selection}` finds its own nodes"));
                faults.report(via.place(), fault.help("write `selection = \"fixed\"`, or leave `via` out"));
            }
            (None, _) => {}
        }
        if *path.selection == RouteSelection::Disjoint {
            let narrow = |end: &&str| site(file, end).is_some_and(|site| site.antennas.len() < 2);
            if let Some(end) = [path.from.as_str(), path.to.as_str()].into_iter().find(narrow) {
                let fault = Fault::new(format!("`{end}` has one antenna and cannot begin or end two paths"));
                let help = format!("give it a second one with `[[sites.{end}.antennas]]`");
                faults.report(path.selection.place(), fault.help(help));
            }
        }
    }
}

/// Puts nodes in the place of the names of each path, once all of them are there.
pub(super) fn resolve(file: &mut TopologyFile, nodes: &BTreeMap<String, ContactNodeId>) {
    for (_, path) in file.paths.iter_mut() {
        let node = |name: &String| nodes.get(name).copied();
        let via =
            || path.via.iter().flat_map(|via| via.iter()).map(node).collect::<Option<Vec<ContactNodeId>>>();
        let ends = node(&path.from).zip(node(&path.to));
        let followed = ends.and_then(|(from, to)| {
            let selection = match *path.selection {
                RouteSelection::Disjoint => RouteChoice::Disjoint,
                RouteSelection::DisjointFirst => RouteChoice::DisjointFirst,
                RouteSelection::Fixed => RouteChoice::Fixed([vec![from], via()?, vec![to]].concat()),
                RouteSelection::LeastDelay => RouteChoice::LeastDelay,
                RouteSelection::LeastHops => RouteChoice::LeastHops,
            };
            Some(Followed { ends: (from, to), selection })
        });
        path.followed.resolve(followed);
    }
}

/// Pairs that the paths ask of satellites that do not forward: one for each two ends, and a second one where two paths
/// must share no satellite.
pub(super) fn pairs(file: &TopologyFile) -> Vec<SitePair> {
    let mut pairs: Vec<SitePair> = Vec::new();
    for (_, path) in file.paths.iter() {
        let via = path.via.iter().flat_map(|via| via.iter());
        let pair = SitePair {
            constellation: path.constellation.as_ref().map(|name| (**name).clone()),
            satellites: via.filter(|node| site(file, node).is_none()).cloned().collect(),
            ..SitePair::new(&path.from, &path.to)
        };
        let second = SitePair { is_apart: true, ..pair.clone() };
        let wanted =
            if *path.selection == RouteSelection::Disjoint { vec![pair, second] } else { vec![pair] };
        for pair in wanted {
            let turned = SitePair { from: pair.to.clone(), to: pair.from.clone(), ..pair.clone() };
            if !pairs.contains(&pair) && !pairs.contains(&turned) {
                pairs.push(pair);
            }
        }
    }
    pairs
}

fn leads_nowhere(name: &str) -> Fault {
    let help = "write `via = [\"iridium-1-4\"]`, with all nodes between the two sites";
    Fault::new(format!("the fixed path `{name}` does not say where it leads")).help(help)
}

fn site<'f>(file: &'f TopologyFile, name: &str) -> Option<&'f SiteTable> {
    file.sites.iter().find(|(known, _)| *known == name).map(|(_, table)| &**table)
}

/// Tells whether paths may pass a node: any satellite, and sites that are gateways.
fn relays(file: &TopologyFile, node: &str) -> bool {
    site(file, node).is_none_or(|site| site.relay.policy() == Relay::Gateway)
}
