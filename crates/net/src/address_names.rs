//! Names of addresses, by node and link. What is drawn for a flow follows them and not the addresses, which move with
//! links that the flow does not use.

use std::net::IpAddr;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use slantpath_base::Seed;

use crate::conditioner::FlowKey;
use crate::header::AddressKey;

/// Addresses of a network, each with what it is called by in flows. One that no node has keeps its own octets.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressNames(Arc<FxHashMap<AddressKey, AddressKey>>);

impl AddressNames {
    /// Takes the names, each of the address that an interface of this name has in this place.
    pub(crate) fn new<'a>(addresses: impl Iterator<Item = (IpAddr, &'a str, &'a str, usize)>) -> Self {
        let named = addresses.map(|(address, node, link, place)| {
            let mut name = Seed::new(0, 0).stream(&format!("addresses/{node}/{link}/{place}"));
            let [high, low] = [name.next_u64(), name.next_u64()].map(u64::to_be_bytes);
            let octets = core::array::from_fn(|at| if at < 8 { high[at] } else { low[at - 8] });
            (key_of(address), AddressKey::ipv6(octets))
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

#[cfg(test)]
mod tests {
    use slantpath_base::{DataRate, Duration};

    use super::*;
    use crate::{DirectionConfig, NetworkBuilder, QueueConfig, QueueLimit};

    /// Name of a flow between two hosts that have two links, over one of these.
    fn flow(link: usize, version: u8, is_back: bool, shift: u8) -> FlowKey {
        let config = DirectionConfig::new(
            DataRate::from_bits_per_sec(1_000),
            Duration::from_millis(1),
            QueueConfig::DropTail(QueueLimit::Unlimited),
        );
        let mut builder = NetworkBuilder::new();
        let (near, far) = (builder.host("near"), builder.host("far"));
        let mut keys = Vec::new();
        for (number, name) in ["one", "two"].into_iter().enumerate() {
            let link = builder.link(name, near, far, config.clone(), config.clone());
            for (end, interface) in [link.first(), link.second()].into_iter().enumerate() {
                let last = shift + u8::try_from(2 * number + end).unwrap();
                let addresses =
                    [IpAddr::from([10, 0, 0, last]), IpAddr::from([0xfd, 0, 0, 0, 0, 0, 0, last.into()])];
                for address in addresses {
                    builder.address(interface, address);
                }
                keys.push(addresses.map(key_of));
            }
        }
        let names = builder.build().expect("a sound network").address_names();
        let [near, far] = [2 * link, 2 * link + 1].map(|end| keys[end][usize::from(version == 6)]);
        let (source, destination) = if is_back { (far, near) } else { (near, far) };
        let flow = FlowKey { source, destination, protocol: 6, ports: [1, 2] };
        let named = names.named(flow);
        assert_eq!((named.protocol, named.ports), (6, [1, 2]));
        assert_ne!((named.source, named.destination), (source, destination));
        named
    }

    #[test]
    fn a_flow_is_called_by_its_links_and_ends_whatever_addresses_they_have() {
        let all = || {
            [(0, 4), (0, 6), (1, 4), (1, 6)]
                .into_iter()
                .flat_map(|(link, version)| [(link, version, false), (link, version, true)])
        };
        let called = |shift| {
            all().map(|(link, version, is_back)| flow(link, version, is_back, shift)).collect::<Vec<_>>()
        };
        let names = called(1);
        assert_eq!(names, called(100));
        for (place, name) in names.iter().enumerate() {
            assert!(!names[..place].contains(name), "{name:?}");
        }
    }

    #[test]
    fn an_address_that_no_node_has_keeps_its_octets() {
        let flow = FlowKey { source: key_of(IpAddr::from([192, 0, 2, 1])), ..FlowKey::default() };
        assert_eq!(AddressNames::default().named(flow), flow);
    }
}
