//! Names of addresses, by node and link. What is drawn for a flow follows them and not the addresses, which move with
//! links that the flow does not use.

use std::net::IpAddr;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use slantpath_base::Seed;
use slantpath_interface::InterfaceId;

use crate::conditioner::FlowKey;
use crate::graph::NetworkGraph;
use crate::header::AddressKey;
use crate::id::LinkEnd as _;

/// Addresses of a network, each with what it is called by in flows. One that no node has keeps its own octets.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressNames(Arc<FxHashMap<AddressKey, AddressKey>>);

impl AddressNames {
    pub(crate) fn of(graph: &NetworkGraph) -> Self {
        let named = graph.interfaces.iter().enumerate().flat_map(|(index, interface)| {
            let node = &graph.nodes[interface.node.index()].name;
            #[expect(clippy::cast_possible_truncation, reason = "numbered by 32 bits")]
            let link = graph.link_name(InterfaceId::new(index as u32).link());
            interface.addresses.iter().enumerate().map(move |(place, address)| {
                let mut name = Seed::new(0, 0).stream(&format!("addresses/{node}/{link}/{place}"));
                let [high, low] = [name.next_u64(), name.next_u64()].map(u64::to_be_bytes);
                let octets = core::array::from_fn(|at| if at < 8 { high[at] } else { low[at - 8] });
                (key_of(*address), AddressKey::ipv6(octets))
            })
        });
        Self(Arc::new(named.collect()))
    }

    /// The flow with names in place of addresses.
    pub(crate) fn named(&self, flow: FlowKey) -> FlowKey {
        let named = |address| self.0.get(&address).copied().unwrap_or(address);
        FlowKey { source: named(flow.source), destination: named(flow.destination), ..flow }
    }
}

fn key_of(address: IpAddr) -> AddressKey {
    match address {
        IpAddr::V4(address) => AddressKey::ipv4(address.octets()),
        IpAddr::V6(address) => AddressKey::ipv6(address.octets()),
    }
}
