//! Ports of the ends of flows, which follow from the order of the flows.

use crate::schema::{Adaptation, Flow, Transport};

/// Ports from which senders and receivers take theirs, one a flow.
const SENDER_PORTS: u16 = 20_000;
const RECEIVER_PORTS: u16 = 40_000;
/// Port of GTP-U (3GPP TS 29.281, section 4.4.2.3).
const GTP_U_PORT: u16 = 2_152;

/// The ports of the flows of a table: of the sender and of the receiver.
pub(crate) fn ports_of(flow: &Flow) -> impl Iterator<Item = [u16; 2]> + use<> {
    let service = service(flow);
    flow.numbers.0.clone().map(move |number| ports(service, number))
}

/// Kind of a flow, by the ports that its ends have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Service {
    /// Echo requests, whose identifier stands for both ports.
    Echo,
    /// Receivers with the port of GTP-U; they are told apart by the ports of their senders.
    GtpU,
    Other,
}

pub(super) fn service(flow: &Flow) -> Service {
    match (*flow.transport, *flow.adaptation) {
        (Transport::Icmp, _) => Service::Echo,
        (_, Adaptation::GtpU) => Service::GtpU,
        _ => Service::Other,
    }
}

/// The ports of flow `number`.
pub(super) fn ports(service: Service, number: u16) -> [u16; 2] {
    let sender = SENDER_PORTS + number;
    match service {
        Service::Echo => [sender; 2],
        Service::GtpU => [sender, GTP_U_PORT],
        Service::Other => [sender, RECEIVER_PORTS + number],
    }
}
