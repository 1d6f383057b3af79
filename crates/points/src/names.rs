//! Names of a signalling network: what they stand for, and what follows from them alone.

use std::collections::{BTreeMap, BTreeSet};

use slantpath_reader::{Fault, Faults, Place, Setting, Stage};
use slantpath_signalling::network::PointId;
use slantpath_ss7::PointCode;

use crate::by_point::ByPoint;
use crate::schema::{ApplicationServer, Point, Signalling};
use slantpath_reader::resolve;

/// Name that stands for nothing, or text that cannot be read, although nothing was found to be at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` stands for nothing")]
pub(crate) struct Unresolved(pub(crate) String);

/// Gives the meaning of a name; the error says which name has none.
pub(crate) fn known<T>(found: Option<T>, name: &str) -> Result<T, Unresolved> {
    found.ok_or_else(|| Unresolved(name.to_owned()))
}

/// Gives what was built of names; reports one that stands for nothing, which a check should have found.
pub(crate) fn resolved<T>(built: Result<T, Unresolved>, faults: &mut Faults) -> Option<T> {
    let report = |unresolved: Unresolved| {
        let fault = Fault::new(unresolved.to_string());
        faults.report(Place::default(), fault.help("report this: a check should have found it"));
    };
    built.map_err(report).ok()
}

/// The point code of a point.
pub(crate) fn code<S: Stage>(signalling: &Signalling<S>, point: &str) -> Result<PointCode, Unresolved> {
    let table = signalling.points.find(point);
    known(table.and_then(|table| S::known(&table.code)).map(|code| code.0), point)
}

/// Names of the links at a point by the far end, in the order of MTP3: link set by link set, by name.
pub fn link_sets<'a, S: Stage>(signalling: &'a Signalling<S>, point: &str) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut sets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, link) in signalling.links.iter() {
        let (first, second) = (link.between.0.as_str(), link.between.1.as_str());
        for (near, far) in [(first, second), (second, first)] {
            if near == point {
                sets.entry(far).or_default().push(name);
            }
        }
    }
    sets.into_iter().collect()
}

/// Tells whether a point has SCCP: a subsystem, or a translation.
pub(crate) fn has_sccp<S: Stage>(by_point: &ByPoint<'_>, name: &str, point: &Point<S>) -> bool {
    !point.subsystems.is_empty() || !by_point.translations(name).is_empty()
}

/// The host that carries the associations of a point.
pub fn node_of<S: Stage>(signalling: &Signalling<S>, point: &str) -> Setting<String> {
    let node = signalling.points.find(point).and_then(|point| point.node.clone());
    node.unwrap_or_else(|| Setting::default(point.to_owned(), Place::default()))
}

/// Tells whether a point's users are above M3UA: an application server has it as its DPC.
pub fn is_served<S: Stage>(signalling: &Signalling<S>, point: &str) -> bool {
    signalling.application_servers.iter().any(|(_, server)| *server.dpc == point)
}

/// The number of a point with MTP3; none for one whose users are above M3UA.
pub(crate) fn point_id<S: Stage>(signalling: &Signalling<S>, point: &str) -> Option<PointId> {
    with_mtp3(signalling).find(|(_, name)| *name == point).map(|(id, _)| id)
}

/// The points with MTP3, by their numbers.
pub fn with_mtp3<S: Stage>(signalling: &Signalling<S>) -> impl Iterator<Item = (PointId, &str)> {
    let names = signalling.points.iter().map(|(name, _)| name);
    let names = names.filter(|name| !is_served(signalling, name));
    names.enumerate().map(|(number, name)| (PointId(number), name))
}

/// The point of a gateway.
pub fn gateway_point<'a, S: Stage>(signalling: &'a Signalling<S>, gateway: &'a str) -> &'a str {
    let table = signalling.gateways.find(gateway);
    table.and_then(|table| S::known(&table.point)).map_or(gateway, |point| point.as_str())
}

/// The host of an ASP.
pub fn asp_node<'a, S: Stage>(signalling: &'a Signalling<S>, asp: &'a str) -> &'a str {
    let table = signalling.asps.find(asp);
    table.and_then(|table| S::known(&table.node)).map_or(asp, |node| node.as_str())
}

/// The gateways that the ASPs of an application server have associations to.
pub fn gateways_of<'a, S: Stage>(
    signalling: &'a Signalling<S>,
    server: &ApplicationServer,
) -> BTreeSet<&'a str> {
    let own = signalling.associations.iter().filter(|(_, own)| server.asps.contains(&*own.asp));
    own.map(|(_, own)| own.gateway.as_str()).collect()
}

/// The point that a name stands for; reports one that is none.
pub(crate) fn point<S: Stage>(signalling: &Signalling<S>, name: &str, place: Place, faults: &mut Faults) {
    resolve(&signalling.points, name, "signalling point", place, faults);
}
