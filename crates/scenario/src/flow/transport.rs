//! The transports at both ends of a flow.

use std::collections::BTreeMap;
use std::net::IpAddr;

use slantpath_host::{DatagramConfig, Peer, Protocol, TransportConfig};
use slantpath_reader::Tables;
use slantpath_sctp::StreamId;

use crate::schema::{Adaptation, Flow, Node};

/// Ports and addresses of a flow's ends.
pub(crate) struct Ends {
    pub(crate) sender_port: u16,
    pub(crate) receiver_port: u16,
    /// The sender's addresses; the one that it sends from to the primary address first.
    pub(crate) sender: Vec<IpAddr>,
    /// The receiver's addresses to which a route leads, the primary one first.
    pub(crate) receiver: Vec<IpAddr>,
    /// Longest packet that every link carries, in bytes.
    pub(crate) source_mtu: u16,
}

/// The configuration of the sending end and of the receiving end.
pub(crate) fn configs(nodes: &Tables<Node>, flow: &Flow, ends: Ends) -> (TransportConfig, TransportConfig) {
    // M3UA keeps stream 0 for itself.
    let own = u16::from(*flow.adaptation == Adaptation::M3ua);
    let streams = flow.streams.saturating_add(own);
    let (peer_port, source_mtu) = (ends.sender_port, ends.source_mtu);
    let protocol = |node: &str| {
        let mut protocol = flow.settings.protocol(nodes, node, flow.dscp, streams);
        if let Protocol::Echo(datagrams) | Protocol::Udp(datagrams) = &mut protocol {
            **datagrams = DatagramConfig { peer_port, source_mtu, ..**datagrams };
        }
        protocol
    };
    let receiving = TransportConfig {
        protocol: protocol(&flow.to),
        local_addresses: ends.receiver.clone(),
        local_port: ends.receiver_port,
        peer: None,
    };
    let sending = TransportConfig {
        protocol: protocol(&flow.from),
        local_addresses: ends.sender,
        local_port: ends.sender_port,
        peer: Some(Peer { addresses: ends.receiver, port: ends.receiver_port }),
    };
    let mut sending = sending;
    if let Protocol::Sctp(config) = &mut sending.protocol {
        config.stream_values = stream_values(flow);
    }
    (sending, receiving)
}

/// Priority or weight of each stream of the sending end.
pub fn stream_values(flow: &Flow) -> BTreeMap<StreamId, u16> {
    let values = flow.stream_values.iter().flat_map(|values| values.iter().copied());
    (0..).map(StreamId).zip(values).collect()
}
