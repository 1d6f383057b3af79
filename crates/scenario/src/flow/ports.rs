//! Ports of the ends of flows, which follow from the order of the flows.

use crate::schema::File;

/// Ports from which senders and receivers take theirs, one a flow.
const SENDER_PORTS: u16 = 20_000;
const RECEIVER_PORTS: u16 = 40_000;

/// The ports of the flows of that name: of the sender and of the receiver.
pub(crate) fn ports_of(file: &File, name: &str) -> impl Iterator<Item = [u16; 2]> + use<> {
    let before: u32 =
        file.flows.iter().take_while(|(other, _)| *other != name).map(|(_, flow)| *flow.count).sum();
    let count = file.flows.find(name).map_or(0, |flow| *flow.count);
    (before..before + count).map(|number| ports(number as usize))
}

/// The ports of flow `number`.
pub(super) fn ports(number: usize) -> [u16; 2] {
    let number = u16::try_from(number).expect("a check limits the number of flows");
    [SENDER_PORTS + number, RECEIVER_PORTS + number]
}
