//! Ground tracks: where satellites, sites, links and a path lie on a map at an instant.

use slantpath_base::Instant;

use crate::contact::{ContactKind, ContactPlan};
use crate::earth::Geodetic;
use crate::network::{ContactNetwork, ContactNodeId};
use crate::route::Path;
use crate::sgp4::PropagationFault;

/// Content of a map of one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct GroundTrack {
    /// Every node's place, by node: the point below a satellite with its height, or the site.
    pub places: Vec<Geodetic>,
    /// Links between satellites.
    pub links: Vec<(ContactNodeId, ContactNodeId)>,
    /// Links between sites and satellites.
    pub accesses: Vec<(ContactNodeId, ContactNodeId)>,
    /// The nodes of the path, if one was given.
    pub path: Vec<ContactNodeId>,
}

/// The map of an instant.
pub fn at(
    network: &ContactNetwork,
    plan: &ContactPlan,
    now: Instant,
    path: Option<&Path>,
) -> Result<GroundTrack, PropagationFault> {
    let date = network.epoch.at(now);
    let mut places = Vec::with_capacity(network.node_count());
    for satellite in network.satellites() {
        places.push(Geodetic::from_fixed(satellite.orbit.fixed(date)?.position));
    }
    places.extend(network.sites.iter().map(|site| Geodetic::from_fixed(site.place.at(now).position)));
    let holding = || plan.contacts().iter().filter(move |contact| contact.holds_at(now));
    let of = |inter_satellite: bool| {
        holding()
            .filter(move |contact| (contact.kind == ContactKind::InterSatellite) == inter_satellite)
            .map(|contact| (contact.a, contact.b))
            .collect()
    };
    Ok(GroundTrack {
        places,
        links: of(true),
        accesses: of(false),
        path: path.map_or_else(Vec::new, |path| path.nodes.clone()),
    })
}
