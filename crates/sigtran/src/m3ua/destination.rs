//! The state of signalling destinations, and what the messages about them name.

use slantpath_ss7::PointCode;

use crate::affected::CODES_MAX;
use crate::m3ua::{AffectedDestinations, Message};

/// Availability of a destination. One that nobody has told of cannot be reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Availability {
    /// Destination that cannot be reached.
    #[default]
    Unavailable,
    /// Destination that can be reached, and another way is better.
    Restricted,
    /// Destination that can be reached.
    Available,
}

/// A destination in a network.
pub type NetworkPoint = (Option<u32>, PointCode);

/// Known state of a destination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DestinationState {
    /// Availability of the destination.
    pub availability: Availability,
    /// The congestion towards it, 0 to 3.
    pub congestion: u8,
}

/// The messages that tell an availability of point codes.
pub(super) fn availability_messages(
    availability: Availability,
    network_appearance: Option<u32>,
    routing_contexts: &[u32],
    codes: &[(u8, PointCode)],
) -> Vec<Message> {
    messages(network_appearance, routing_contexts, codes, |affected| match availability {
        Availability::Unavailable => Message::Duna(affected),
        Availability::Restricted => Message::Drst(affected),
        Availability::Available => Message::Dava(affected),
    })
}

/// The messages that tell the congestion of point codes; no level where networks have only one.
pub(super) fn congestion_messages(
    congestion_level: Option<u8>,
    network_appearance: Option<u32>,
    routing_contexts: &[u32],
    codes: &[(u8, PointCode)],
) -> Vec<Message> {
    messages(network_appearance, routing_contexts, codes, |affected| Message::Scon {
        affected,
        concerned: None,
        congestion_level,
    })
}

/// The messages that ask for the state of point codes.
pub(super) fn audits(
    network_appearance: Option<u32>,
    routing_contexts: &[u32],
    codes: &[(u8, PointCode)],
) -> Vec<Message> {
    messages(network_appearance, routing_contexts, codes, Message::Daud)
}

/// One message for as many point codes as it holds.
fn messages(
    network_appearance: Option<u32>,
    routing_contexts: &[u32],
    codes: &[(u8, PointCode)],
    about: impl Fn(AffectedDestinations) -> Message,
) -> Vec<Message> {
    let chunks = codes.chunks(CODES_MAX);
    chunks.map(|codes| about(affected(network_appearance, routing_contexts, codes))).collect()
}

/// The parameters of a message about point codes.
pub(super) fn affected(
    network_appearance: Option<u32>,
    routing_contexts: &[u32],
    codes: &[(u8, PointCode)],
) -> AffectedDestinations {
    AffectedDestinations {
        network_appearance,
        routing_contexts: routing_contexts.to_vec(),
        point_codes: codes.to_vec(),
        info: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_told_in_several_messages() {
        let codes: Vec<_> = (0..600).map(|code| (0, PointCode(code))).collect();
        assert_eq!(availability_messages(Availability::Available, None, &[1], &codes).len(), 3);
    }
}
