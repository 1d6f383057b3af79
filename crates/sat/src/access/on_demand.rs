//! A source of changes and next hops, with access systems beside it.

use slantpath_base::Instant;
use slantpath_net::{
    Change, Changeable, DestinationId, DirectionId, Leaving, Links, NetworkGraph, NodeId, Source,
};

use super::Access;

/// Links as `inner` has them, with capacity on demand. Next hops are asked of `inner` alone.
#[derive(Clone, Debug)]
pub struct OnDemand<S> {
    inner: S,
    systems: Vec<Access>,
    /// Instant at which a system has something to do next.
    next: Instant,
}

impl<S> OnDemand<S> {
    /// Puts access systems beside a source.
    pub fn new(inner: S, systems: Vec<Access>) -> Self {
        let next = next_of(&systems);
        Self { inner, systems, next }
    }

    /// The source that they are beside.
    pub fn inner_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The systems, in the order in which they were given.
    pub fn systems_mut(&mut self) -> &mut [Access] {
        &mut self.systems
    }
}

fn next_of(systems: &[Access]) -> Instant {
    systems.iter().map(Access::next_change).min().unwrap_or(Instant::FAR_FUTURE)
}

impl<S: Changeable> Changeable for OnDemand<S> {
    fn add_change(&mut self, graph: &NetworkGraph, at: Instant, direction: DirectionId, change: Change) {
        self.inner.add_change(graph, at, direction, change);
    }
}

impl<S: Source> Source for OnDemand<S> {
    fn begin(&mut self, links: &mut Links<'_>) {
        self.inner.begin(links);
        for system in &mut self.systems {
            system.begin(links);
        }
    }

    fn next_change(&self) -> Instant {
        self.inner.next_change().min(self.next)
    }

    fn apply(&mut self, now: Instant, links: &mut Links<'_>) {
        if self.inner.next_change() <= now {
            self.inner.apply(now, links);
        }
        if self.next <= now {
            for system in &mut self.systems {
                system.apply(now, links);
            }
            self.next = next_of(&self.systems);
        }
    }

    #[inline]
    fn next_hop(&mut self, node: NodeId, destination: DestinationId) -> Option<DirectionId> {
        self.inner.next_hop(node, destination)
    }

    #[inline]
    fn steer(&mut self, leaving: &Leaving<'_>) -> Option<(DirectionId, DestinationId)> {
        self.inner.steer(leaving)
    }

    fn leave(
        &mut self,
        direction: DirectionId,
        destination: DestinationId,
    ) -> Option<(DirectionId, DestinationId)> {
        self.inner.leave(direction, destination)
    }
}
