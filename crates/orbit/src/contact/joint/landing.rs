//! Pairs that choose together, the sites at which their ends land, and the antennas that they bind.

use std::collections::BTreeMap;

use super::{Chooser, State};
use crate::constellation::IslPattern;
use crate::ground::GroundPolicy;
use crate::network::ContactNetwork;
use crate::outage::OutageTable;
use crate::pair::SitePair;
use crate::site::Relay;

/// A site at which an end of a pair meets the satellites.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Landing {
    pub(super) site: usize,
    /// Length of the cables from the end to it, as metres of light in the void.
    pub(super) cables_m: f64,
    /// Times from which, and until which, one of these cables is out of service, in no order.
    out: Vec<(f64, f64)>,
}

impl Landing {
    /// Time at which the cables to it fail next, if they stand at a time.
    pub(super) fn stands_until(&self, now: f64) -> Option<f64> {
        let is_out = self.out.iter().any(|&(from, until)| from <= now && now < until);
        let next = self.out.iter().map(|&(from, _)| from).filter(|&from| from > now);
        (!is_out).then(|| next.fold(f64::INFINITY, f64::min))
    }

    /// Time at which a cable to it returns next.
    pub(super) fn returns_after(&self, now: f64) -> Option<f64> {
        self.out.iter().map(|&(_, until)| until).filter(|&until| until > now).min_by(f64::total_cmp)
    }
}

/// The pairs that choose together, in their order.
pub(super) fn choosers(network: &ContactNetwork, outages: &OutageTable) -> Vec<Chooser> {
    let of_pair = |pair| choosers_of(network, pair, outages).into_iter().map(move |chooser| (pair, chooser));
    let joint: Vec<(&SitePair, Chooser)> = network.pairs.iter().flat_map(of_pair).collect();
    let apart_from = |index: usize| {
        let (pair, _) = &joint[index];
        let others = |&other: &usize| {
            let (rival, _) = &joint[other];
            other != index && (pair.is_apart || rival.is_apart) && rival.has_ends_of(pair)
        };
        (0..joint.len()).filter(others).collect()
    };
    let apart_from: Vec<Vec<usize>> = (0..joint.len()).map(apart_from).collect();
    let of =
        |((_, chooser), apart_from): ((&SitePair, Chooser), Vec<usize>)| Chooser { apart_from, ..chooser };
    joint.into_iter().zip(apart_from).map(of).collect()
}

/// For each site, the antennas that hold what pairs need: every one that may use a satellite of theirs.
pub(super) fn bound_antennas(network: &ContactNetwork, choosers: &[Chooser]) -> Vec<Vec<usize>> {
    let mut bound = vec![Vec::new(); network.sites.len()];
    for (site, bound) in bound.iter_mut().enumerate() {
        for antenna in 0..network.sites[site].antennas.len() {
            let is_bound = |chooser: &Chooser| {
                chooser.sites.contains(&site)
                    && may_use(network, site, antenna, &constellations_of(network, chooser))
            };
            if choosers.iter().any(is_bound) {
                bound.push(antenna);
            }
        }
    }
    bound
}

/// The constellations, by index, of which a chooser may use a satellite.
fn constellations_of(network: &ContactNetwork, chooser: &Chooser) -> Vec<usize> {
    let has_usable = |&index: &usize| {
        let first = network.first_node(index);
        let count = network.constellations[index].satellites.len();
        chooser.usable[first..first + count].contains(&true)
    };
    (0..network.constellations.len()).filter(has_usable).collect()
}

fn may_use(network: &ContactNetwork, site: usize, antenna: usize, constellations: &[usize]) -> bool {
    let wanted = network.sites[site].antennas[antenna].constellation.as_deref();
    constellations.iter().any(|&index| wanted.is_none_or(|name| name == network.constellations[index].name))
}

/// A pair, once for each sky that it chooses from together: a constellation, or all of them where some antenna follows
/// any. A sky of which satellites forward to each other joins it without.
fn choosers_of(network: &ContactNetwork, pair: &SitePair, outages: &OutageTable) -> Vec<Chooser> {
    let site = |name: &str| network.sites.iter().position(|site| site.name == name);
    let [Some(from), Some(to)] = [site(&pair.from), site(&pair.to)] else { return Vec::new() };
    let landings = [from, to].map(|end| landings(network, end, outages));
    let follows = |landing: &Landing, is_it: &dyn Fn(Option<&str>) -> bool| {
        network.sites[landing.site].antennas.iter().any(|antenna| is_it(antenna.constellation.as_deref()))
    };
    let reaches = |landings: &Vec<Landing>, index: usize| {
        let name = &network.constellations[index].name;
        landings.iter().any(|landing| follows(landing, &|own| own.is_none_or(|own| own == name)))
    };
    let joining: Vec<usize> = (0..network.constellations.len())
        .filter(|&index| {
            pair.constellation.as_ref().is_none_or(|name| *name == network.constellations[index].name)
        })
        .filter(|&index| landings.iter().all(|landings| reaches(landings, index)))
        .collect();
    let is_one_sky = landings.iter().flatten().any(|landing| follows(landing, &|own| own.is_none()));
    let skies: Vec<&[usize]> = if is_one_sky {
        vec![&joining]
    } else {
        // The shells of a constellation have its name, and follow each other.
        let is_of_same =
            |a: &usize, b: &usize| network.constellations[*a].name == network.constellations[*b].name;
        joining.chunk_by(is_of_same).collect()
    };
    let forwards = |&index: &usize| network.constellations[index].isl.pattern != IslPattern::None;
    let is_joint = |sky: &&[usize]| !sky.is_empty() && !sky.iter().any(forwards);
    skies.into_iter().filter(is_joint).map(|sky| chooser(network, pair, landings.clone(), sky)).collect()
}

/// A pair that chooses together among the satellites of some constellations.
fn chooser(
    network: &ContactNetwork,
    pair: &SitePair,
    landings: [Vec<Landing>; 2],
    joining: &[usize],
) -> Chooser {
    let mut usable = vec![false; network.satellite_count()];
    for &index in joining {
        let first = network.first_node(index);
        for (node, satellite) in (first..).zip(&network.constellations[index].satellites) {
            usable[node] = pair.satellites.is_empty() || pair.satellites.contains(&satellite.name);
        }
    }
    let lands = |site: usize| landings.iter().flatten().any(|landing| landing.site == site);
    let is_gateway = |&site: &usize| {
        let gateway = &network.sites[site];
        gateway.relay == Relay::Gateway
            && gateway.antennas.len() > 1
            && !lands(site)
            && (0..gateway.antennas.len()).any(|antenna| may_use(network, site, antenna, joining))
    };
    let gateways: Vec<usize> = (0..network.sites.len()).filter(is_gateway).collect();
    let mut sites: Vec<usize> =
        landings.iter().flatten().map(|landing| landing.site).chain(gateways.iter().copied()).collect();
    sites.sort_unstable();
    sites.dedup();
    let policy = policy(network, &landings, joining);
    let state = State::Waiting(None);
    Chooser { landings, gateways, sites, policy, usable, apart_from: Vec::new(), state, decided_at: -1.0 }
}

/// Policy of the first antenna with which the end that sends may take part; its nearest landing comes first.
fn policy(network: &ContactNetwork, landings: &[Vec<Landing>; 2], joining: &[usize]) -> GroundPolicy {
    let antennas = landings[0].iter().flat_map(|landing| {
        let count = network.sites[landing.site].antennas.len();
        (0..count).map(move |antenna| (landing.site, antenna))
    });
    let first = antennas.into_iter().find(|&(site, antenna)| may_use(network, site, antenna, joining));
    first.map_or_else(GroundPolicy::default, |(site, antenna)| network.sites[site].antennas[antenna].policy)
}

/// Sites at which an end meets the satellites: its own, if it has antennas, and the gateways that cables join with it,
/// the nearest first. Cables lead on through gateways.
fn landings(network: &ContactNetwork, end: usize, outages: &OutageTable) -> Vec<Landing> {
    let site = |name: &str| network.sites.iter().position(|site| site.name == name);
    let here = Landing { site: end, cables_m: 0.0, out: Vec::new() };
    let mut away: BTreeMap<usize, Landing> = BTreeMap::from([(end, here)]);
    let mut to_do = vec![end];
    while let Some(here) = to_do.pop() {
        for cable in &network.cables {
            let [Some(a), Some(b)] = cable.ends.each_ref().map(|name| site(name)) else { continue };
            let Some(there) = (a == here).then_some(b).or((b == here).then_some(a)) else { continue };
            if network.sites[there].relay != Relay::Gateway {
                continue;
            }
            let cables_m = away[&here].cables_m + network.cable_metres(cable);
            if away.get(&there).is_none_or(|known| cables_m < known.cables_m) {
                let mut out = away[&here].out.clone();
                out.extend(outages.of_link(network.site_node(here), network.site_node(there)));
                away.insert(there, Landing { site: there, cables_m, out });
                to_do.push(there);
            }
        }
    }
    let mut landings: Vec<Landing> =
        away.into_values().filter(|landing| !network.sites[landing.site].antennas.is_empty()).collect();
    landings.sort_by(|a, b| a.cables_m.total_cmp(&b.cables_m).then(a.site.cmp(&b.site)));
    landings
}
