//! The packet network that a scenario's nodes, links and script describe: its graph, the paths through it, and what
//! `net` runs.

pub(crate) mod graph;
pub(crate) mod node;
pub(crate) mod site;
pub(crate) mod source;

use std::collections::BTreeMap;
use std::net::IpAddr;

use slantpath_net::{
    DirectionConfig, DirectionId, GraphError, LinkId, NetworkBuilder, NetworkGraph, NodeId, Routing,
};
use slantpath_sat::Sky;

use crate::flow::trace::Traces;
use crate::schema::{self, File, NodeKind, Which};
use crate::sky_links::plan::SkyPlan;
use crate::{link, script, sky_links};

pub use site::{address_on, addresses, host_place};

/// A network and what its parts are called.
pub struct Built {
    /// Nodes, links and their changes.
    pub graph: NetworkGraph,
    /// Links of the scenario in the order of their names, then those of the sky; by their numbers in any case.
    pub links: Vec<PlannedLink>,
    /// Numbers of the nodes by their names.
    pub nodes: BTreeMap<String, NodeId>,
    /// Links and antennas of the sky, if there is one.
    pub sky: Option<Sky>,
}

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

/// Builds the network of a file that has been checked.
pub fn build(file: &File, traces: &Traces, plan: Option<&SkyPlan>) -> Result<Built, GraphError> {
    let mut builder = NetworkBuilder::new();
    builder.routing(match *file.scenario.routing {
        schema::Routing::Dynamic => Routing::Dynamic,
        schema::Routing::Static => Routing::Static,
    });
    let nodes = file
        .nodes
        .iter()
        .map(|(name, node)| match *node.kind {
            NodeKind::Host => (name.to_owned(), builder.host(name)),
            NodeKind::Router => (name.to_owned(), builder.router(name)),
        })
        .collect();
    let mut links = links(file, traces, &nodes, &mut builder);
    let sky = plan.and_then(|plan| sky_links::build::declare(file, plan, &nodes, &mut links, &mut builder));
    link::fade_trace::schedule(file, traces, &links, &mut builder);
    sky_links::changes::schedule(file, traces, &links, &mut builder);
    script::build::schedule(file, &links, &mut builder);
    Ok(Built { graph: builder.build()?, links, nodes, sky })
}

fn links(
    file: &File,
    traces: &Traces,
    nodes: &BTreeMap<String, NodeId>,
    builder: &mut NetworkBuilder,
) -> Vec<PlannedLink> {
    let mut links = Vec::new();
    for (name, table) in file.links.iter() {
        let [forward, reverse] = [&table.forward, &table.reverse].map(|parameters| {
            let mtu_bytes = u32::try_from(table.mtu.as_bytes()).unwrap_or(u32::MAX);
            let is_mtu_reported = table.report_mtu.as_ref().is_none_or(|reported| **reported);
            let direction = link::build::direction(file, parameters, mtu_bytes, traces);
            DirectionConfig { is_mtu_reported, ..direction }
        });
        let (first, second) = (nodes[table.ends.0.as_str()], nodes[table.ends.1.as_str()]);
        let id = builder.link(name, first, second, forward, reverse);
        let addresses = table.addresses.as_ref().expect("a check assigns addresses");
        let addresses = [addresses.0, addresses.1];
        builder.address(id.first(), addresses[0]).address(id.second(), addresses[1]);
        links.push(PlannedLink {
            name: name.to_owned(),
            id,
            antenna: None,
            access_table: None,
            addresses: addresses.map(Some),
            ends_at_node: true,
            has_queue: [true; 2],
            has_transmitter: [true; 2],
        });
    }
    links
}
