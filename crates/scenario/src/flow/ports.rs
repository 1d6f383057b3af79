//! Ports of the ends of flows, which follow from the order of the flows.

use crate::schema::Flow;

/// Ports from which senders and receivers take theirs, one a flow.
const SENDER_PORTS: u16 = 20_000;
const RECEIVER_PORTS: u16 = 40_000;

/// The ports of the flows of a table: of the sender and of the receiver.
pub(crate) fn ports_of(flow: &Flow) -> impl Iterator<Item = [u16; 2]> + use<> {
    flow.numbers.0.clone().map(ports)
}

/// The ports of flow `number`.
pub(super) fn ports(number: u16) -> [u16; 2] {
    [SENDER_PORTS + number, RECEIVER_PORTS + number]
}
