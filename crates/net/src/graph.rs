//! The plan of a network: nodes, links, addresses and what is to change, checked and named.

mod prefixes;

use std::net::IpAddr;

use ipnet::IpNet;
use rustc_hash::{FxHashMap, FxHashSet};
use slantpath_base::{Duration, Instant};

use crate::address_names::AddressNames;
use crate::link::{DirectionConfig, FrameConfig, SendingConfig, ShaperConfig};
use crate::parcel::DestinationId;
use crate::script::Change;
use crate::{DirectionId, InterfaceId, LinkEnd, LinkId, NodeId, SharedPortId};
use prefixes::Prefixes;

/// Why a plan of a network cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Two interfaces have one address.
    #[error("`{first}` and `{second}` both have the address {address}")]
    AddressTaken {
        /// Address that both have.
        address: IpAddr,
        /// The node that had it.
        first: String,
        /// The node that wanted it too.
        second: String,
    },
    /// A link from a node to itself.
    #[error("link `{link}` joins `{node}` to itself")]
    Loop {
        /// The link's name.
        link: String,
        /// The node at both ends.
        node: String,
    },
    /// An MTU that no IP network may have.
    #[error("link `{link}` has an MTU of {mtu_bytes} bytes: {least} are the least for {version}")]
    MtuTooSmall {
        /// The link's name.
        link: String,
        /// MTU of the link, in bytes.
        mtu_bytes: u32,
        /// Least MTU that it may have, in bytes.
        least: u32,
        /// The version of IP that asks for it.
        version: &'static str,
    },
    /// Two nodes or two links have one name.
    #[error("there are two {kind}s named `{name}`")]
    NameTaken {
        /// `node` or `link`.
        kind: &'static str,
        /// Name that both have.
        name: String,
    },
    /// No packet would ever get through.
    #[error("link `{link}` has a rate of zero: take it down instead")]
    NoRate {
        /// The link's name.
        link: String,
    },
    /// A direction sends in frames that carry nothing.
    #[error("link `{link}` sends in frames: their slots have to carry something")]
    Frames {
        /// The link's name.
        link: String,
    },
    /// A shaper never lets the longest packet of its link pass.
    #[error("the shaper of link `{link}` needs a rate, and a burst of the MTU or more")]
    NoTokens {
        /// The link's name.
        link: String,
    },
    /// A link of frames that ends at a node of the network.
    #[error("link `{link}` carries frames, which `{node}` does not read: both its ends are outside nodes")]
    NotOfFrames {
        /// The link's name.
        link: String,
        /// The node at its end.
        node: String,
    },
    /// A prefix lies behind a node that takes packets for its own addresses alone.
    #[error("`{node}` is no outside node: {prefix} cannot lie behind it")]
    NotOutside {
        /// Prefix that was declared there.
        prefix: IpNet,
        /// Name of the node.
        node: String,
    },
    /// Two interfaces have one prefix, or one has it twice.
    #[error("{prefix} is declared twice, the second time at `{node}`")]
    PrefixTaken {
        /// Prefix that was declared twice.
        prefix: IpNet,
        /// The node of the second.
        node: String,
    },
    /// There is no route between two nodes.
    #[error("no route leads from `{from}` to `{to}` ({address})")]
    NoRoute {
        /// Name of the node where the packets would start.
        from: String,
        /// Whose address they should reach.
        to: String,
        /// Address that they should reach.
        address: IpAddr,
    },
    /// No interface of a host has the address.
    #[error("no host has the address {address}, which `{from}` should reach")]
    UnknownAddress {
        /// Name of the node where the packets would start.
        from: String,
        /// Address that they should reach.
        address: IpAddr,
    },
}

/// Way in which routes follow the state of links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// They are worked out anew whenever a link goes down or comes up.
    Dynamic,
    /// They are worked out once, with every link up.
    #[default]
    Static,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// With its place among the hosts.
    Host(usize),
    /// Whatever is not simulated.
    Outside,
    /// Sends on what it receives, as a satellite does that only turns its signal round.
    Repeater,
    Router,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) kind: NodeKind,
    pub(crate) interfaces: Vec<InterfaceId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Interface {
    pub(crate) node: NodeId,
    pub(crate) addresses: Vec<IpAddr>,
    /// Networks behind it.
    pub(crate) prefixes: Vec<IpNet>,
    /// True if its link carries frames.
    pub(crate) carries_frames: bool,
    /// If packets can be sent to it.
    pub(crate) destination: Option<DestinationId>,
}

/// Nodes, links and addresses of a network, checked and ready to be run with hosts of any kind.
#[derive(Clone, Debug, Default)]
pub struct NetworkGraph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) hosts: Vec<NodeId>,
    pub(crate) link_names: Vec<String>,
    pub(crate) interfaces: Vec<Interface>,
    pub(crate) directions: Vec<DirectionConfig>,
    pub(crate) destinations: Vec<InterfaceId>,
    by_address: FxHashMap<IpAddr, DestinationId>,
    by_prefix: Prefixes,
    pub(crate) changes: Vec<(Instant, DirectionId, Change)>,
    pub(crate) routing: Routing,
    /// Links that exist in contacts only.
    pub(crate) contact_links: Vec<LinkId>,
    /// The interface as which another of the same node receives.
    pub(crate) receives_as: FxHashMap<InterfaceId, InterfaceId>,
    /// Transmitters that directions of contact links share, by [`SharedPortId`].
    pub(crate) shared_ports: Vec<(String, DirectionConfig)>,
}

impl NetworkGraph {
    /// Tells if links change while the network runs: by its plan, or since they have contacts.
    pub fn changes_in_a_run(&self) -> bool {
        !self.changes.is_empty() || !self.contact_links.is_empty()
    }

    /// The hosts, in the order in which they were declared.
    pub fn hosts(&self) -> &[NodeId] {
        &self.hosts
    }

    /// The place of a host among all [hosts](Self::hosts); `None` for a router and an outside node.
    pub fn host_place(&self, node: NodeId) -> Option<usize> {
        match self.nodes[node.index()].kind {
            NodeKind::Host(place) => Some(place),
            NodeKind::Outside | NodeKind::Repeater | NodeKind::Router => None,
        }
    }

    /// The interface [as which](NetworkBuilder::receive_as) one receives: itself, unless that was declared.
    pub fn receiving_interface(&self, interface: InterfaceId) -> InterfaceId {
        self.receives_as.get(&interface).copied().unwrap_or(interface)
    }

    /// All nodes, in the order in which they were declared.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..u32::try_from(self.nodes.len()).unwrap_or(u32::MAX)).map(NodeId)
    }

    /// All links, in the order in which they were declared.
    pub fn links(&self) -> impl Iterator<Item = LinkId> + use<> {
        (0..u32::try_from(self.link_names.len()).unwrap_or(u32::MAX)).map(LinkId)
    }

    /// A node's name.
    pub fn node_name(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].name
    }

    /// A link's name.
    pub fn link_name(&self, link: LinkId) -> &str {
        &self.link_names[link.index()]
    }

    /// A direction's path, as its random streams are named: `links/satellite/forward`.
    pub fn direction_path(&self, direction: DirectionId) -> String {
        format!("links/{}/{}", self.link_name(direction.sender().link()), direction.name())
    }

    /// Names of the addresses, which what is drawn for a flow follows.
    pub(crate) fn address_names(&self) -> AddressNames {
        AddressNames::new(self.interfaces.iter().enumerate().flat_map(|(index, interface)| {
            let node = &*self.nodes[interface.node.index()].name;
            #[expect(clippy::cast_possible_truncation, reason = "numbered by 32 bits")]
            let link = self.link_name(InterfaceId::new(index as u32).link());
            interface.addresses.iter().enumerate().map(move |(place, address)| (*address, node, link, place))
        }))
    }

    /// A node's interfaces, in the order of their links.
    pub fn interfaces(&self, node: NodeId) -> &[InterfaceId] {
        &self.nodes[node.index()].interfaces
    }

    /// The node that an interface belongs to.
    pub fn node_of(&self, interface: InterfaceId) -> NodeId {
        self.interfaces[interface.index()].node
    }

    /// An interface's addresses.
    pub fn addresses(&self, interface: InterfaceId) -> &[IpAddr] {
        &self.interfaces[interface.index()].addresses
    }

    /// Tells if the link of an interface [carries frames](NetworkBuilder::carry_frames).
    pub fn carries_frames(&self, interface: InterfaceId) -> bool {
        self.interfaces[interface.index()].carries_frames
    }

    /// Configuration with which a direction was declared.
    pub fn direction(&self, direction: DirectionId) -> &DirectionConfig {
        &self.directions[direction.index()]
    }

    /// Destination by which packets for an address are named in a run: all those for one interface alike.
    pub fn destination(&self, address: IpAddr) -> Option<DestinationId> {
        self.by_address.get(&address).copied().or_else(|| self.by_prefix.find(address))
    }

    /// The interface that packets for a destination go to.
    pub(crate) fn interface_of(&self, destination: DestinationId) -> InterfaceId {
        self.destinations[destination.index()]
    }

    /// Number of destinations in the network.
    pub fn destination_count(&self) -> usize {
        self.destinations.len()
    }
}

/// Collects the parts of a network. Numbers are given out in the order of declaration and can be used at
/// once.
#[derive(Clone, Debug, Default)]
pub struct NetworkBuilder {
    graph: NetworkGraph,
}

impl NetworkBuilder {
    /// An empty network with static routes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares an end system.
    pub fn host(&mut self, name: &str) -> NodeId {
        let kind = NodeKind::Host(self.graph.hosts.len());
        let node = self.node(name, kind);
        self.graph.hosts.push(node);
        node
    }

    /// Declares a node that is not simulated: what comes from it is [injected](crate::Network::inject), and what
    /// comes to it is [polled](crate::Network::poll_outside). Its interfaces and addresses are like those of a host.
    pub fn outside(&mut self, name: &str) -> NodeId {
        self.node(name, NodeKind::Outside)
    }

    /// Declares a router.
    pub fn router(&mut self, name: &str) -> NodeId {
        self.node(name, NodeKind::Router)
    }

    /// Declares a node that sends on what it receives without reading it: no hop is counted, and what is broken stays
    /// so. Its next hops come from the [`Source`](crate::Source) of the run.
    pub fn repeater(&mut self, name: &str) -> NodeId {
        self.node(name, NodeKind::Repeater)
    }

    fn node(&mut self, name: &str, kind: NodeKind) -> NodeId {
        let id = u32::try_from(self.graph.nodes.len()).expect("fewer than 2^32 nodes");
        self.graph.nodes.push(Node { name: name.to_owned(), kind, interfaces: Vec::new() });
        NodeId(id)
    }

    /// Declares a link from `first` to `second`: `forward` leads there, `reverse` back.
    pub fn link(
        &mut self,
        name: &str,
        first: NodeId,
        second: NodeId,
        forward: DirectionConfig,
        reverse: DirectionConfig,
    ) -> LinkId {
        let id = u32::try_from(self.graph.link_names.len()).expect("fewer than 2^31 links");
        let link = LinkId(id);
        self.graph.link_names.push(name.to_owned());
        for (node, interface) in [(first, link.first()), (second, link.second())] {
            self.graph.interfaces.push(Interface {
                node,
                addresses: Vec::new(),
                prefixes: Vec::new(),
                carries_frames: false,
                destination: None,
            });
            self.graph.nodes[node.index()].interfaces.push(interface);
        }
        self.graph.directions.extend([forward, reverse]);
        link
    }

    /// Has a link between two outside nodes carry frames of Ethernet in place of IP packets: whatever one end sends
    /// comes to the other, and no router reads it. All lengths are of what a frame carries, behind its header and tags.
    /// Its class is that of its outermost tag or, without one, of its IP packet.
    pub fn carry_frames(&mut self, link: LinkId) -> &mut Self {
        for end in [link.first(), link.second()] {
            self.graph.interfaces[end.index()].carries_frames = true;
        }
        self
    }

    /// Declares a link that exists while the run's [`Source`](crate::Source) [says so](crate::Links::begin_contact),
    /// and whose far ends may be another node's each time. The ends and the delay that are declared are what the plan's
    /// own [`Routes`](crate::Routes) know of it.
    pub fn contact_link(
        &mut self,
        name: &str,
        first: NodeId,
        second: NodeId,
        forward: DirectionConfig,
        reverse: DirectionConfig,
    ) -> LinkId {
        let link = self.link(name, first, second, forward, reverse);
        self.graph.contact_links.push(link);
        link
    }

    /// Has a host receive by `interface` as if it were `other`, also its own: two links of one antenna, of which one
    /// takes over from the other.
    pub fn receive_as(&mut self, interface: InterfaceId, other: InterfaceId) -> &mut Self {
        self.graph.receives_as.insert(interface, other);
        self
    }

    /// Declares a transmitter, with its queue, that the directions of contact links [can share](crate::LinkContact). Of
    /// the configuration it takes what is the transmitter's; first in, first out, with or without early drops.
    pub fn shared_port(&mut self, name: &str, config: DirectionConfig) -> SharedPortId {
        let id = u32::try_from(self.graph.shared_ports.len()).expect("fewer than 2^32 ports");
        self.graph.shared_ports.push((name.to_owned(), config));
        SharedPortId(id)
    }

    /// Gives an interface an address; it may have several. A router's address serves as the source of its
    /// ICMP messages.
    pub fn address(&mut self, interface: InterfaceId, address: IpAddr) -> &mut Self {
        self.graph.interfaces[interface.index()].addresses.push(address);
        self
    }

    /// Lays a network behind an interface of an outside node: packets for its addresses come there, unless another
    /// interface has the address or a longer prefix of it.
    pub fn prefix(&mut self, interface: InterfaceId, prefix: IpNet) -> &mut Self {
        self.graph.interfaces[interface.index()].prefixes.push(prefix);
        self
    }

    /// Declares a change of a direction at a time.
    pub fn change(&mut self, at: Instant, direction: DirectionId, change: Change) -> &mut Self {
        self.graph.changes.push((at, direction, change));
        self
    }

    /// Declares how routes follow the state of links.
    pub fn routing(&mut self, routing: Routing) -> &mut Self {
        self.graph.routing = routing;
        self
    }

    /// Checks the plan and closes it.
    pub fn build(self) -> Result<NetworkGraph, GraphError> {
        let mut graph = self.graph;
        check_names("node", graph.nodes.iter().map(|node| &node.name))?;
        check_names("link", graph.link_names.iter())?;
        for link in graph.links() {
            check_link(&graph, link)?;
        }
        let mut owners = FxHashMap::default();
        for index in 0..graph.interfaces.len() {
            let Interface { node, ref addresses, ref prefixes, .. } = graph.interfaces[index];
            for &address in addresses {
                if let Some(first) = owners.insert(address, node) {
                    let [first, second] = [first, node].map(|node| graph.node_name(node).to_owned());
                    return Err(GraphError::AddressTaken { address, first, second });
                }
            }
            let kind = graph.nodes[node.index()].kind;
            if let (Some(&prefix), false) = (prefixes.first(), kind == NodeKind::Outside) {
                return Err(GraphError::NotOutside { prefix, node: graph.node_name(node).to_owned() });
            }
            let is_end = matches!(kind, NodeKind::Host(_) | NodeKind::Outside);
            if is_end && !(addresses.is_empty() && prefixes.is_empty()) {
                #[expect(clippy::cast_possible_truncation, reason = "at most as many as interfaces")]
                let destination = DestinationId(graph.destinations.len() as u32);
                for &address in addresses {
                    graph.by_address.insert(address, destination);
                }
                for &prefix in prefixes {
                    if !graph.by_prefix.insert(prefix, destination) {
                        return Err(GraphError::PrefixTaken {
                            prefix,
                            node: graph.node_name(node).to_owned(),
                        });
                    }
                }
                #[expect(clippy::cast_possible_truncation, reason = "numbered by 32 bits")]
                graph.destinations.push(InterfaceId::new(index as u32));
                graph.interfaces[index].destination = Some(destination);
            }
        }
        Ok(graph)
    }
}

fn check_names<'a>(kind: &'static str, names: impl Iterator<Item = &'a String>) -> Result<(), GraphError> {
    let mut seen = FxHashSet::default();
    for name in names {
        if !seen.insert(name) {
            return Err(GraphError::NameTaken { kind, name: name.clone() });
        }
    }
    Ok(())
}

fn check_link(graph: &NetworkGraph, link: LinkId) -> Result<(), GraphError> {
    let name = || graph.link_name(link).to_owned();
    let ends = [link.first(), link.second()].map(|end| graph.node_of(end));
    if ends[0] == ends[1] {
        return Err(GraphError::Loop { link: name(), node: graph.node_name(ends[0]).to_owned() });
    }
    let is_inside = |end: &&NodeId| graph.nodes[end.index()].kind != NodeKind::Outside;
    if let (true, Some(end)) = (graph.carries_frames(link.first()), ends.iter().find(is_inside)) {
        return Err(GraphError::NotOfFrames { link: name(), node: graph.node_name(*end).to_owned() });
    }
    let has_ipv6 =
        [link.first(), link.second()].iter().any(|&end| graph.addresses(end).iter().any(IpAddr::is_ipv6));
    //= https://www.rfc-editor.org/rfc/rfc8200#section-5
    //# IPv6 requires that every link in the Internet have an MTU of 1280
    //# octets or greater.
    let (least, version) = if has_ipv6 { (1_280, "IPv6") } else { (68, "IPv4") };
    for direction in [link.forward(), link.reverse()] {
        let config = graph.direction(direction);
        if config.rate.as_bits_per_sec() == 0 {
            return Err(GraphError::NoRate { link: name() });
        }
        match config.sending {
            SendingConfig::InFrames(FrameConfig { length, slots, slot_overhead, slot_payload_bytes }) => {
                let slot = length.as_nanos().checked_div(slots.into()).map(Duration::from_nanos);
                if slot_payload_bytes == 0 || slot.is_none_or(|slot| slot <= slot_overhead) {
                    return Err(GraphError::Frames { link: name() });
                }
            }
            SendingConfig::Shaped(ShaperConfig { rate, burst }) => {
                if rate.as_bits_per_sec() == 0 || burst.as_bytes() < u64::from(config.mtu_bytes) {
                    return Err(GraphError::NoTokens { link: name() });
                }
            }
            SendingConfig::Compressed(_) | SendingConfig::Plain | SendingConfig::Repeated(_) => {}
        }
        if config.mtu_bytes < least {
            let mtu_bytes = config.mtu_bytes;
            return Err(GraphError::MtuTooSmall { link: name(), mtu_bytes, least, version });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::QueueLimit;
    use crate::link::queue::QueueConfig;
    use slantpath_base::{DataRate, DataSize};

    const WIRE: &str = "wire";
    const NONE: DataRate = DataRate::from_bits_per_sec(0);
    const SLOWEST: DataRate = DataRate::from_bits_per_sec(1);
    const IPV4: [&str; 2] = ["10.0.0.1", "10.0.0.2"];

    fn clean() -> DirectionConfig {
        let queue = QueueConfig::DropTail(QueueLimit::Packets(10));
        DirectionConfig::new(DataRate::from_bits_per_sec(1_000_000), Duration::ZERO, queue)
    }

    fn shaping(rate: DataRate, burst_bytes: u64) -> DirectionConfig {
        let burst = DataSize::from_bytes(burst_bytes);
        DirectionConfig { sending: SendingConfig::Shaped(ShaperConfig { rate, burst }), ..clean() }
    }

    /// The fault of a link that is so in one direction, whichever that is, and clean in the other.
    fn fault_at(ends: [&str; 2], config: &DirectionConfig) -> Option<GraphError> {
        let directions = [(config.clone(), clean()), (clean(), config.clone())];
        let [forward, reverse] = directions.map(|(forward, reverse)| {
            let mut builder = NetworkBuilder::new();
            let hosts = ["first", "second"].map(|name| builder.host(name));
            let link = builder.link(WIRE, hosts[0], hosts[1], forward, reverse);
            for (end, address) in [link.first(), link.second()].into_iter().zip(ends) {
                builder.address(end, address.parse().unwrap());
            }
            builder.build().err()
        });
        assert_eq!(forward, reverse);
        forward
    }

    fn fault(config: &DirectionConfig) -> Option<GraphError> {
        fault_at(IPV4, config)
    }

    const fn frames(slots: u32, slot_overhead_nanos: u64, slot_payload_bytes: u32) -> FrameConfig {
        let slot_overhead = Duration::from_nanos(slot_overhead_nanos);
        FrameConfig { length: Duration::from_millis(10), slots, slot_overhead, slot_payload_bytes }
    }

    #[test]
    fn slots_of_a_frame_are_longer_than_what_carries_nothing_in_them_and_carry_something() {
        let is_right =
            |frames| match fault(&DirectionConfig { sending: SendingConfig::InFrames(frames), ..clean() }) {
                None => true,
                Some(GraphError::Frames { link }) if link == WIRE => false,
                Some(other) => panic!("{other}"),
            };
        // What a slot of 10 ms over their number is longer than, by a nanosecond.
        for (slots, longest) in [(1, 9_999_999), (2, 4_999_999), (3, 3_333_332)] {
            assert!(is_right(frames(slots, longest, 1)), "{slots}");
            assert!(!is_right(frames(slots, longest + 1, 1)), "{slots}");
        }
        assert!(!is_right(frames(0, 0, 1)) && !is_right(frames(1, 0, 0)));
    }

    #[test]
    fn a_direction_has_a_rate_and_its_shaper_tokens_for_the_longest_packet() {
        let mtu_bytes = u64::from(clean().mtu_bytes);
        let without_rate = DirectionConfig { rate: NONE, ..clean() };
        assert_eq!(fault(&without_rate), Some(GraphError::NoRate { link: WIRE.to_owned() }));
        assert_eq!(fault(&DirectionConfig { rate: SLOWEST, ..clean() }), None);
        for without_tokens in [shaping(NONE, mtu_bytes), shaping(SLOWEST, mtu_bytes - 1)] {
            assert_eq!(fault(&without_tokens), Some(GraphError::NoTokens { link: WIRE.to_owned() }));
        }
    }

    #[test]
    fn the_least_mtu_is_that_of_ipv6_where_either_end_has_it_and_else_of_ipv4() {
        let cases = [
            (IPV4, 68, "IPv4"),
            (["fd00::1", "fd00::2"], 1_280, "IPv6"),
            (["10.0.0.1", "fd00::2"], 1_280, "IPv6"),
            (["fd00::1", "10.0.0.2"], 1_280, "IPv6"),
        ];
        for (ends, least, version) in cases {
            let fault_of = |mtu_bytes| fault_at(ends, &DirectionConfig { mtu_bytes, ..clean() });
            let (link, mtu_bytes) = (WIRE.to_owned(), least - 1);
            assert_eq!(fault_of(least), None);
            assert_eq!(
                fault_of(mtu_bytes),
                Some(GraphError::MtuTooSmall { link, mtu_bytes, least, version })
            );
        }
    }

    #[test]
    fn a_link_joins_two_nodes() {
        let mut builder = NetworkBuilder::new();
        let host = builder.host("alone");
        builder.link(WIRE, host, host, clean(), clean());
        let fault = GraphError::Loop { link: WIRE.to_owned(), node: "alone".to_owned() };
        assert_eq!(builder.build().err(), Some(fault));
    }
}
