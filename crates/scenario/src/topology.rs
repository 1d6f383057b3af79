//! The network that a scenario's nodes, links and script describe.

use std::collections::BTreeMap;
use std::net::IpAddr;

use slantpath_base::Instant;
use slantpath_net::{
    Change, Delay, DirectionConfig, DirectionId, LinkId, NetworkBuilder, NodeId, QueueConfig, QueueLimit,
    Reordering, Routing, Topology, TopologyError, WhileDown,
};

use crate::schema::{self, Action, Direction, Event, File, NodeKind, Which};

/// A network and what its parts are called.
pub(crate) struct Built {
    pub(crate) topology: Topology,
    /// In the order of their names, which is that of their numbers.
    pub(crate) links: Vec<PlannedLink>,
    pub(crate) nodes: BTreeMap<String, NodeId>,
}

/// A link by its name.
pub(crate) struct PlannedLink {
    pub(crate) name: String,
    pub(crate) id: LinkId,
    pub(crate) addresses: [IpAddr; 2],
}

/// Builds the network of a file that has been checked.
pub(crate) fn build(file: &File) -> Result<Built, TopologyError> {
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
    let links = links(file, &nodes, &mut builder);
    script(file, &links, &mut builder);
    Ok(Built { topology: builder.build()?, links, nodes })
}

fn links(file: &File, nodes: &BTreeMap<String, NodeId>, builder: &mut NetworkBuilder) -> Vec<PlannedLink> {
    let mut links = Vec::new();
    for (name, link) in file.links.iter() {
        let [forward, reverse] = [&link.forward, &link.reverse].map(|parameters| {
            let direction = parameters.complete().expect("a check completes every link");
            direction_config(&direction, u32::try_from(link.mtu.as_bytes()).unwrap_or(u32::MAX))
        });
        let (first, second) = (nodes[link.ends.0.as_str()], nodes[link.ends.1.as_str()]);
        let id = builder.link(name, first, second, forward, reverse);
        let addresses = link.addresses.as_ref().expect("a check assigns addresses");
        let addresses = [addresses.0, addresses.1];
        builder.address(id.first(), addresses[0]).address(id.second(), addresses[1]);
        links.push(PlannedLink { name: name.to_owned(), id, addresses });
    }
    links
}

fn direction_config(direction: &Direction, mtu_bytes: u32) -> DirectionConfig {
    let queue = match direction.queue {
        schema::QueueLimit::Bytes(size) => QueueLimit::Bytes(size),
        schema::QueueLimit::Packets(count) => QueueLimit::Packets(count),
        schema::QueueLimit::Unlimited => QueueLimit::Unlimited,
    };
    DirectionConfig {
        rate: direction.rate,
        overhead_bytes: 0,
        delay: Delay::Constant(direction.delay),
        queue: QueueConfig::DropTail(queue),
        mtu_bytes,
        loss: direction.loss,
        bit_errors: direction.bit_error_rate,
        duplication: direction.duplicate,
        reordering: Reordering { probability: direction.reorder, extra_delay_max: direction.reorder_delay },
        while_down: match direction.while_down {
            schema::WhileDown::Drop => WhileDown::Drop,
            schema::WhileDown::Hold => WhileDown::Hold,
        },
    }
}

fn script(file: &File, links: &[PlannedLink], builder: &mut NetworkBuilder) {
    for event in &file.script {
        let id = links.iter().find(|link| link.name == *event.link).expect("a check resolves links").id;
        let directions: &[DirectionId] = match *event.direction {
            Which::Both => &[id.forward(), id.reverse()],
            Which::Forward => &[id.forward()],
            Which::Reverse => &[id.reverse()],
        };
        let at = Instant::START + *event.at;
        for direction in directions {
            for change in changes(event) {
                builder.change(at, *direction, change);
            }
        }
    }
}

fn changes(event: &Event) -> Vec<Change> {
    match *event.action {
        Action::Down => vec![Change::Down],
        Action::Up => vec![Change::Up],
        Action::Set => [
            event.rate.map(|rate| Change::Rate(*rate)),
            event.delay.map(|delay| Change::Delay(*delay)),
            event.loss.map(|loss| Change::Loss(*loss)),
            event.bit_error_rate.map(|rate| Change::BitErrors(*rate)),
        ]
        .into_iter()
        .flatten()
        .collect(),
    }
}
