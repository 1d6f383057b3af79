//! Antennas that hold no satellite in a whole run, since satellites that do not forward join two sites one by one.

use std::collections::BTreeSet;

use slantpath_orbit::contact::{ContactKind, bound_antennas};
use slantpath_reader::{Fault, Faults};
use slantpath_scenario::SkyPlan;
use slantpath_scenario::schema::File;

/// Warns of nodes that are to use more antennas than hold a satellite: those that spread their packets, and hosts,
/// whose associations have a path for each. A router's may be spare.
pub(super) fn check(file: &File, plan: &SkyPlan, faults: &mut Faults) {
    let bound = bound_antennas(&plan.bodies);
    for (_, node) in file.nodes.iter() {
        let Some(place) = &node.site else { continue };
        let sites = &plan.bodies.sites;
        let Some(index) = sites.iter().position(|site| site.name == **place) else { continue };
        // Of satellites that forward no antenna is bound to anybody's: then contacts are not looked through.
        if bound[index].is_empty() || node.balance.is_none() && !node.kind.ends_flows() {
            continue;
        }
        let body = plan.bodies.site_node(index);
        let holds: BTreeSet<usize> = plan
            .contacts
            .contacts()
            .iter()
            .filter(|contact| contact.b == body)
            .filter_map(|contact| match contact.kind {
                ContactKind::Ground { antenna } => Some(usize::from(antenna)),
                ContactKind::InterSatellite | ContactKind::Terrestrial => None,
            })
            .collect();
        let follows = |antenna: usize| &sites[index].antennas[antenna].constellation;
        // One of several to the same satellites, of which others hold some.
        let is_idle = |antenna: &&usize| {
            !holds.contains(*antenna) && holds.iter().any(|&other| follows(other) == follows(**antenna))
        };
        let idle = bound[index].iter().filter(is_idle).count();
        if idle == 0 {
            continue;
        }
        let site = &sites[index].name;
        let message = format!(
            "of the {} antennas of site `{site}` {idle} hold{} no satellite in this run: where satellites do not \
             forward, two sites are joined by one satellite, or by two if packets are spread over them",
            sites[index].antennas.len(),
            if idle == 1 { "s" } else { "" },
        );
        let is_spread =
            plan.bodies.pairs.iter().any(|pair| pair.is_apart && [&pair.from, &pair.to].contains(&site));
        let help = if is_spread {
            "give the constellation links between its satellites (`isl`), or the site at most two antennas"
        } else {
            "give the constellation links between its satellites (`isl`), or the site one antenna; or both sites \
             `balance` or disjoint routes, for two"
        };
        faults.warn_of_kind("idle antennas", place.place(), Fault::new(message).help(help));
    }
}
