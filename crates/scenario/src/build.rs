//! From a scenario to a network with hosts and flows, ready to run.

use slantpath_applications::Host;
use slantpath_base::Seed;
use slantpath_net::{InterfaceId, LinkEnd, NetworkGraph, NodeId, Routes, Way};
use slantpath_sat::Sky;
use slantpath_simulation::SignallingSimulation;

use crate::checked::Checked;
use crate::network::site::{End, Site};
use crate::network::{self, Built};
use crate::sky_links::entrances::departures;
use crate::{flow, sessions, signalling};

pub use crate::access::build::systems as access_systems;
pub use crate::access::schema::rate_of;
pub use crate::build_error::BuildError;
pub use crate::flow::build::{PlannedFlow, Seats, when_blocked, workload, workload_streams};
pub use crate::flow::message::{Destinations, options_of, reliabilities};
pub use crate::flow::script::action_of;
pub use crate::flow::transport::stream_values;
pub use crate::network::Attached;
pub use crate::network::node::{HostNumber, ip_fields};
pub use crate::network::planned::{PlannedLink, PlannedPath};
pub use crate::network::site::address_on;
pub use crate::network::source::{RunNetwork, RunSource};
pub use crate::script::asked::{event_of_table, events_of_settings};
pub use crate::script::build::changes_of;
pub use crate::sessions::build::PlannedSessions;
pub use crate::signalling::{
    PlannedAssociation, SignallingEnd, gateways_of, side_name, signalling_ends, with_mtp3,
};

/// A network to be run, and what its parts are called.
pub struct Plan {
    /// Nodes, links and their changes.
    pub graph: NetworkGraph,
    /// Hosts, with the ends of flows and associations, in the order of the graph.
    pub hosts: Vec<Host>,
    /// Links, by their numbers.
    pub links: Vec<PlannedLink>,
    /// Flows in the order of names, but for one that is left to others.
    pub flows: Vec<PlannedFlow>,
    /// Tables of sessions in the order of names.
    pub sessions: Vec<PlannedSessions>,
    /// The signalling network, if there is one.
    pub signalling: Option<SignallingSimulation>,
    /// Ends of the associations that carry signalling, both of each in turn.
    pub associations: Vec<PlannedAssociation>,
    /// Links and antennas of the sky, if there is one.
    pub sky: Option<Sky>,
    /// The ways of flows under a sky, with the names of the flow and of the link at its end.
    pub ways: Vec<(String, String, Way)>,
    /// The paths between the hosts of flows, and of associations that carry signalling.
    pub paths: Vec<PlannedPath>,
    /// Places of the ends of the flow that others take over.
    pub seats: Option<Seats>,
}

/// Parts of a scenario that others play in a run, or that are watched.
#[derive(Clone, Copy, Debug)]
pub struct Roles<'a> {
    /// A flow that is left to others.
    pub vacant: Option<&'a str>,
    /// Flows of which the sender's association is traced, and those of [`signalling_ends`] that are.
    pub traced: &'a [String],
    /// Flows and sessions that end at an outside node are left out.
    pub attached: Attached,
}

/// Builds the network of a scenario with its hosts and what they do.
pub fn plan(scenario: &Checked, seed: Seed, roles: Roles<'_>) -> Result<Plan, BuildError> {
    let Roles { vacant, traced, attached } = roles;
    let Built { graph, links, nodes, sky } = network::build(scenario, scenario.sky_plan(), attached)?;
    let mut hosts = hosts(&graph, &links);
    let mut routes = Routes::new(&graph);
    let mut site = Site {
        links: &links,
        graph: &graph,
        routes: &mut routes,
        hosts: &mut hosts,
        sky: sky.as_ref(),
        departures: scenario.sky_plan().map(|plan| departures(scenario, plan)).unwrap_or_default(),
        ends: End::all(scenario, &nodes, &graph),
    };
    if attached == Attached::Outside {
        site.join_outside()?;
    }
    network::serve::place(scenario, seed, &mut site);
    let (flows, seats) = flow::build::place(scenario, seed, vacant, traced, &mut site)?;
    let sessions = sessions::build::place(scenario, seed, &mut site)?;
    let (signalling, associations) = signalling::plan(scenario, seed, traced, &mut site)?;
    let ways = site.ways(scenario);
    let paths = site.paths(scenario, signalling.as_ref());
    Ok(Plan { graph, hosts, links, flows, sessions, signalling, associations, sky, ways, paths, seats })
}

fn hosts(graph: &NetworkGraph, links: &[PlannedLink]) -> Vec<Host> {
    let addresses = |node: NodeId| {
        let own = |interface: &InterfaceId| {
            let [first, second] = links[interface.link().index()].addresses;
            let is_first = *interface == interface.link().first();
            Some((if is_first { first } else { second }?, *interface))
        };
        graph.interfaces(node).iter().filter_map(own).collect()
    };
    graph.hosts().iter().map(|node| Host::new(addresses(*node))).collect()
}
