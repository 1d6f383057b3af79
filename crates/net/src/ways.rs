//! Ways that are watched: since when no packet gets through, and why.
//!
//! A way is looked at when a direction goes out of service or comes back, or when a contact begins or ends, and at no
//! other time.

use slantpath_base::Instant;

use crate::fabric::Fabric;
use crate::parcel::DestinationId;
use crate::source::Source;
use crate::{DirectionId, InterfaceId, LinkEnd, NodeId};

/// Way from an interface of one node to an address of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The interface by which packets leave their host.
    pub leaving: InterfaceId,
    /// Destination that the packets are bound for.
    pub destination: DestinationId,
    /// The node there.
    pub to: NodeId,
}

/// Reason for which a direction carries no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageCause {
    /// All packets are lost on it: its loss is 1, or its bit error rate.
    AllLost,
    /// A script has taken it down.
    Down,
    /// The direction has no contact.
    NoContact,
    /// No way leads to the destination.
    NoRoute,
}

impl OutageCause {
    /// Name of the cause, in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AllLost => "all packets lost",
            Self::Down => "link down",
            Self::NoContact => "no contact",
            Self::NoRoute => "no route",
        }
    }
}

/// State of a way that carries nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WayOutage {
    /// Reason for which nothing gets through.
    pub cause: OutageCause,
    /// The direction that carries nothing, or by which the last node was reached that knows no way.
    pub direction: DirectionId,
}

/// A watched way carries nothing from now on, for another reason, or carries packets again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WayChange {
    /// Instant of the change.
    pub at: Instant,
    /// The way, in the order in which they were given.
    pub way: usize,
    /// Outage from then on; `None` if packets get through.
    pub outage: Option<WayOutage>,
}

/// The ways that are watched, and what has happened to them.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchedWays {
    ways: Vec<(Way, Option<WayOutage>)>,
    changes: Vec<WayChange>,
}

impl WatchedWays {
    pub(crate) fn new(ways: Vec<Way>) -> Self {
        Self { ways: ways.into_iter().map(|way| (way, None)).collect(), changes: Vec::new() }
    }

    pub(crate) fn take_changes(&mut self) -> Vec<WayChange> {
        core::mem::take(&mut self.changes)
    }
}

impl Fabric {
    /// Looks at all ways that are watched.
    #[cold]
    pub(crate) fn look_at_ways(&mut self, source: &mut impl Source) {
        let Some(mut watched) = self.watched_ways.take() else { return };
        for (place, (way, known)) in watched.ways.iter_mut().enumerate() {
            let outage = self.outage_of(*way, source);
            // A way that stays out of service may be so at another link from now on.
            if outage.is_some() != known.is_some() {
                watched.changes.push(WayChange { at: self.now(), way: place, outage });
            }
            *known = outage;
        }
        self.watched_ways = Some(watched);
    }

    /// Follows the way that a packet would take if nothing changed until it arrives.
    fn outage_of(&self, way: Way, source: &mut impl Source) -> Option<WayOutage> {
        let (mut direction, mut destination) = (way.leaving.outbound(), way.destination);
        // A packet passes so many nodes at most.
        for _ in 0..u8::MAX {
            let no_route = WayOutage { cause: OutageCause::NoRoute, direction };
            let Some((chosen, label)) = source.leave(direction, destination) else { return Some(no_route) };
            (direction, destination) = (chosen, label);
            let link = &self.directions[direction.index()];
            if let Some(cause) = link.outage() {
                return Some(WayOutage { cause, direction });
            }
            let node = link.contact_receiver().unwrap_or_else(|| self.graph.node_of(direction.receiver()));
            if node == way.to {
                return None;
            }
            match source.next_hop(node, destination) {
                Some(next) => direction = next,
                None => return Some(WayOutage { cause: OutageCause::NoRoute, direction }),
            }
        }
        Some(WayOutage { cause: OutageCause::NoRoute, direction })
    }
}
