//! `drops`: the packets that were dropped, one by one, if that is asked for.

use slantpath_net::{DroppedPacket, LinkEnd};
use slantpath_results::Table;
use slantpath_scenario::build::RunNetwork;
use slantpath_wire::ip::protocol;

use crate::columns::{Count, Number, Text, columns};
use crate::output::TableKind;

columns! {
    /// Columns of `drops`.
    pub(in crate::run) struct Columns {
        /// Instant of the drop; of a packet that was lost on the way that at which it would have arrived.
        at_s: Number,
        /// Name of the link.
        link: Text,
        /// Direction of the link among whose counters the drop is: `forward` or `reverse`.
        direction: Text,
        /// Reason of the drop, as the columns `dropped_…_packets` of [`links`](#links) have it.
        reason: Text,
        /// Length of the packet in bytes, from the IP header on.
        packet_bytes: Count,
        /// Protocol of the packet: `icmp`, `sctp`, `tcp`, `udp`, or its number. Missing, like the next four, where the
        /// bytes are no IP.
        protocol: Text,
        /// Address from which the packet came.
        source: Text,
        /// Address for which it was.
        destination: Text,
        /// Port from which it came. Missing for a fragment and where the protocol has no ports.
        source_port: Count,
        /// Port for which it was. Missing likewise.
        destination_port: Count,
        /// TSN of its first chunk of data. Missing where it has none.
        tsn: Count,
    }
}

/// A row for each of these drops.
pub(in crate::run) fn rows(network: &RunNetwork<'_>, drops: &[DroppedPacket]) -> Table {
    let mut columns = Columns::new();
    let graph = network.graph();
    for drop in drops {
        columns.at_s.push_instant(drop.time);
        columns.link.push(graph.link_name(drop.direction.sender().link()));
        columns.direction.push(drop.direction.name());
        columns.reason.push(drop.reason.name());
        columns.packet_bytes.push(u64::from(drop.bytes));
        columns.protocol.push_optional(drop.flow.map(|flow| protocol_name(flow.protocol)).as_deref());
        columns.source.push_optional(drop.flow.map(|flow| flow.source.to_string()).as_deref());
        columns.destination.push_optional(drop.flow.map(|flow| flow.destination.to_string()).as_deref());
        let ports = drop.flow.and_then(|flow| flow.ports);
        columns.source_port.push_optional(ports.map(|[source, _]| u64::from(source)));
        columns.destination_port.push_optional(ports.map(|[_, destination]| u64::from(destination)));
        columns.tsn.push_optional(drop.tsn.map(u64::from));
    }
    columns.finish(TableKind::Drops)
}

fn protocol_name(number: u8) -> String {
    match number {
        protocol::ICMP | protocol::ICMPV6 => "icmp".to_owned(),
        protocol::SCTP => "sctp".to_owned(),
        protocol::TCP => "tcp".to_owned(),
        protocol::UDP => "udp".to_owned(),
        other => other.to_string(),
    }
}
