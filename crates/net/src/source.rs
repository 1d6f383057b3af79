//! What a network asks for from outside: when it changes, and where packets go.

use slantpath_base::{Duration, Instant};
use slantpath_des::Kernel;

use crate::link::LinkDirection;
use crate::parcel::PacketStore;
use crate::script::Change;
use crate::slots::Slots;
use crate::{DestinationId, DirectionId, NodeId};

/// Changes of the network and next hops. The network calls [`apply`](Self::apply) at each instant that
/// [`next_change`](Self::next_change) names, before anything else of that instant, and asks for a next hop whenever a
/// router has a packet to send on. [`Planned`](crate::Planned) is the source of a plan whose changes are all known.
pub trait Source {
    /// When the network changes next; [`Instant::FAR_FUTURE`] if it does not.
    fn next_change(&self) -> Instant;

    /// Carries out all that is due by `now`. The next change must then be later.
    fn apply(&mut self, now: Instant, links: &mut Links<'_>);

    /// The direction that a packet for `destination` takes at a router; `None` if no way leads there.
    fn next_hop(&mut self, node: NodeId, destination: DestinationId) -> Option<DirectionId>;
}

/// The links of a network in a run, as a [`Source`] changes them.
pub struct Links<'a> {
    pub(crate) directions: &'a mut [LinkDirection],
    pub(crate) packets: &'a mut PacketStore,
    pub(crate) kernel: &'a mut Kernel,
}

impl Links<'_> {
    /// Changes a direction, for packets whose transmission has not begun.
    pub fn change(&mut self, direction: DirectionId, change: Change) {
        let changed = &mut self.directions[direction.index()];
        changed.change(self.kernel.now(), change, self.packets);
        self.kernel.schedule(Slots::direction(direction.index()), changed.next_event());
    }

    /// Whether a direction sends packets at present.
    pub fn is_up(&self, direction: DirectionId) -> bool {
        self.directions[direction.index()].is_up()
    }

    /// The propagation delay of what leaves at present.
    pub fn delay(&self, direction: DirectionId) -> Duration {
        self.directions[direction.index()].delay_at(self.kernel.now())
    }
}
