//! Links of the network that is built, by their names.

use std::net::IpAddr;

use slantpath_net::{DirectionId, LinkId, NodeId, Way};

use crate::schema::Which;

/// A link by its name.
pub struct PlannedLink {
    /// Name of the link, or of a link of the sky.
    pub name: String,
    /// Number in the graph.
    pub id: LinkId,
    /// Name of its antenna, if it is a link between the ground and satellites.
    pub antenna: Option<String>,
    /// Number of its table among the sky's access links, in alphabetical order, if it is one of them.
    pub access_table: Option<usize>,
    /// Of its ends, but for satellites, which have none.
    pub addresses: [Option<IpAddr>; 2],
    /// True if a node of the scenario is at one of its ends; both are satellites if not.
    pub ends_at_node: bool,
    /// True for each direction that has a transmitter of its own, with a queue.
    pub has_queue: [bool; 2],
    /// Of each direction, whether something sends on it, and not only repeats.
    pub has_transmitter: [bool; 2],
}

impl PlannedLink {
    /// Tells whether it is the link of that name, or one of the antenna of that name.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.antenna.as_deref() == Some(name)
    }
}

/// Path from one host to an address of another, and back.
#[derive(Clone, Debug)]
pub struct PlannedPath {
    /// The host that sends.
    pub from: NodeId,
    /// The host with the address.
    pub to: NodeId,
    /// The address, by which the path is called.
    pub address: IpAddr,
    /// Name of the link at that address.
    pub link: String,
    /// Address of the host that sends, to which answers go.
    pub own: IpAddr,
    /// The way to the address, and that of the answers.
    pub ways: [Way; 2],
}

/// The link of that name.
pub fn find_link<'a>(links: &'a [PlannedLink], name: &str) -> Option<&'a PlannedLink> {
    // Links of the scenario have two addresses each, and stand in the order of their names.
    let (wires, of_sky) = links.split_at(links.partition_point(|link| link.addresses[1].is_some()));
    match wires.binary_search_by(|link| link.name.as_str().cmp(name)) {
        Ok(place) => Some(&wires[place]),
        Err(_) => of_sky.iter().find(|link| link.name == name),
    }
}

/// The directions of the link of a name, or of all links of the antenna of that name.
pub(crate) fn directions_called(links: &[PlannedLink], name: &str, which: Which) -> Vec<DirectionId> {
    let is_wire = |planned: &&PlannedLink| planned.addresses[1].is_some();
    let own: Vec<LinkId> = match find_link(links, name).filter(is_wire) {
        Some(wire) => vec![wire.id],
        None => links.iter().filter(|planned| planned.is_called(name)).map(|planned| planned.id).collect(),
    };
    let directions = |link: LinkId| match which {
        Which::Both => vec![link.forward(), link.reverse()],
        Which::Forward => vec![link.forward()],
        Which::Reverse => vec![link.reverse()],
    };
    own.into_iter().flat_map(directions).collect()
}
