//! Differences of two configurations of an entity, in words.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use slantpath_signalling::network::{NetworkConfig, SignallingEntity};
use slantpath_ss7::sccp::NodeConfig;

use crate::association::SeatAssociation;

/// Names what is added, removed and changed, each kind in one piece.
pub(crate) fn difference(
    (before, old, old_associations): &(&NetworkConfig, SignallingEntity, Vec<SeatAssociation>),
    (after, new, associations): &(&NetworkConfig, SignallingEntity, &Vec<SeatAssociation>),
) -> Vec<String> {
    let mut words = Vec::new();
    compare(
        "association",
        old_associations.iter().map(|own| (own.name.clone(), own)),
        associations.iter().map(|own| (own.name.clone(), own)),
        |one, other| one.goes_on_as(other),
        &mut words,
    );
    let addresses = |own: &[SeatAssociation]| -> BTreeSet<IpAddr> {
        own.iter().flat_map(|own| own.port.local_addresses.clone()).collect()
    };
    let known = addresses(old_associations);
    let new_addresses = addresses(associations).into_iter().filter(|own| !known.contains(own));
    words.extend(new_addresses.map(|own| format!("own address {own} added")));
    if let (SignallingEntity::Point(old), SignallingEntity::Point(new)) = (old, new) {
        let (old, new) = (&before.points[old.0], &after.points[new.0]);
        let links = |config: &slantpath_ss7::mtp3::node::Config| {
            let of_sets = config.link_sets.iter().flat_map(|set| &set.links);
            of_sets.map(|link| (link.name.clone(), link.clone())).collect::<Vec<_>>()
        };
        compare("link", links(&old.mtp3), links(&new.mtp3), |one, other| one == other, &mut words);
        let routes = |config: &slantpath_ss7::mtp3::node::Config| {
            let of = config.destinations.iter();
            of.map(|to| (to.point_code.0.to_string(), to.routes.clone())).collect::<Vec<_>>()
        };
        compare("destination", routes(&old.mtp3), routes(&new.mtp3), |one, other| one == other, &mut words);
        compare_titles(old.sccp.as_ref(), new.sccp.as_ref(), &mut words);
        let is_other = old.mtp3.timers != new.mtp3.timers || old.mtp3.held_limit != new.mtp3.held_limit;
        words.extend(is_other.then(|| "settings of MTP3 changed".to_owned()));
    }
    let servers = |network: &NetworkConfig| {
        let all = network.m3ua.servers.iter();
        all.map(|server| (server.routing_context.to_string(), server.clone())).collect::<Vec<_>>()
    };
    let is_same = |one: &slantpath_signalling::network::ServerConfig,
                   other: &slantpath_signalling::network::ServerConfig| {
        let names = |network: &NetworkConfig, server: &slantpath_signalling::network::ServerConfig| {
            let asps = server.asps.iter().map(|asp| network.m3ua.asps[asp.0].name.clone());
            (network.m3ua.points[server.point.0].code, asps.collect::<Vec<_>>())
        };
        names(before, one) == names(after, other)
            && (&one.name, &one.opcs, &one.services, one.traffic_mode, one.needed_active)
                == (&other.name, &other.opcs, &other.services, other.traffic_mode, other.needed_active)
    };
    compare("application server of context", servers(before), servers(after), is_same, &mut words);
    words
}

/// Title rules by their names.
fn compare_titles(before: Option<&NodeConfig>, after: Option<&NodeConfig>, words: &mut Vec<String>) {
    let rules = |config: Option<&NodeConfig>| {
        let rules = config.map(|config| config.translator.rules().to_vec()).unwrap_or_default();
        rules.into_iter().map(|rule| (rule.name.clone(), rule)).collect::<Vec<_>>()
    };
    compare("translation", rules(before), rules(after), |one, other| one == other, words);
}

/// At most so many names of a kind are told.
const NAMES_MAX: usize = 8;

fn compare<T>(
    kind: &str,
    before: impl IntoIterator<Item = (String, T)>,
    after: impl IntoIterator<Item = (String, T)>,
    is_same: impl Fn(&T, &T) -> bool,
    words: &mut Vec<String>,
) {
    let mut known: BTreeMap<String, T> = before.into_iter().collect();
    let (mut added, mut changed) = (Vec::new(), Vec::new());
    for (name, own) in after {
        match known.remove(&name) {
            None => added.push(name),
            Some(before) if !is_same(&before, &own) => changed.push(name),
            Some(_) => {}
        }
    }
    let removed: Vec<String> = known.into_keys().collect();
    for (names, verb) in [(added, "added"), (changed, "changed"), (removed, "removed")] {
        if names.is_empty() {
            continue;
        }
        let more = names.len().saturating_sub(NAMES_MAX);
        let told = names[..names.len() - more].join(", ");
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        words.push(format!("{kind} {told}{more} {verb}"));
    }
}
