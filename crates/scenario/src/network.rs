//! The packet network that a scenario's nodes, links and script describe: its graph, the paths through it, and what
//! `net` runs.

pub(crate) mod existing;
pub(crate) mod graph;
pub(crate) mod node;
pub(crate) mod planned;
pub(crate) mod serve;
pub(crate) mod site;
pub(crate) mod source;

use std::collections::BTreeMap;

use slantpath_net::{self as net, DirectionConfig, GraphError, NetworkBuilder, NetworkGraph, NodeId};
use slantpath_sat::Sky;

use crate::schema::{self, File, NodeKind};
use crate::sky_links::plan::SkyPlan;
use crate::{link, script, sky_links};

pub use planned::{PlannedLink, find_link};
pub use site::{address_on, addresses, leaving_for};

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

/// Role of attached nodes in a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attached {
    /// They are outside: packets come from them and go there, or frames over a link between two of them.
    Outside,
    /// They are hosts like others.
    Simulated,
}

/// Builds the network of a file that has been checked.
pub fn build(file: &File, plan: Option<&SkyPlan>, attached: Attached) -> Result<Built, GraphError> {
    let mut builder = NetworkBuilder::new();
    builder.routing(match *file.scenario.routing {
        schema::Routing::Dynamic => net::Routing::Dynamic,
        schema::Routing::Static => net::Routing::Static,
    });
    let nodes = file
        .nodes
        .iter()
        .map(|(name, node)| {
            let node = match (*node.kind, attached) {
                (NodeKind::Attached, Attached::Outside) => builder.outside(name),
                (NodeKind::Attached, Attached::Simulated) | (NodeKind::Host, _) => builder.host(name),
                (NodeKind::Router, _) => builder.router(name),
            };
            (name.to_owned(), node)
        })
        .collect();
    let mut links = links(file, &nodes, attached, &mut builder);
    let sky = plan.and_then(|plan| sky_links::build::declare(file, plan, &nodes, &mut links, &mut builder));
    link::fade_trace::schedule(file, &links, &mut builder);
    sky_links::changes::schedule(file, &links, &mut builder);
    script::build::schedule(file, &links, &mut builder);
    Ok(Built { graph: builder.build()?, links, nodes, sky })
}

fn links(
    file: &File,
    nodes: &BTreeMap<String, NodeId>,
    attached: Attached,
    builder: &mut NetworkBuilder,
) -> Vec<PlannedLink> {
    let mut links = Vec::new();
    for (name, table) in file.links.iter() {
        let [forward, reverse] = [&table.forward, &table.reverse].map(|parameters| {
            let mtu_bytes = u32::try_from(table.mtu.as_bytes()).unwrap_or(u32::MAX);
            let is_mtu_reported = table.report_mtu.as_ref().is_none_or(|reported| **reported);
            let direction = link::build::direction(file, parameters, mtu_bytes);
            DirectionConfig { is_mtu_reported, ..direction }
        });
        let (first, second) = (nodes[table.ends.0.as_str()], nodes[table.ends.1.as_str()]);
        let id = builder.link(name, first, second, forward, reverse);
        let addresses = [table.addresses.0, table.addresses.1];
        builder.address(id.first(), addresses[0]).address(id.second(), addresses[1]);
        if attached == Attached::Outside && table.joins_attached(&file.nodes) {
            builder.carry_frames(id);
        }
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
