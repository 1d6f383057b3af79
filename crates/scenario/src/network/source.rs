//! Source of the changes and next hops of a run: the scenario alone, or the sky over it.

use slantpath_applications::Host;
use slantpath_base::Instant;
use slantpath_net::{
    Change, Changeable, DestinationId, DirectionId, Leaving, Links, Network, NetworkGraph, NodeId, Planned,
    Source, Way,
};
use slantpath_sat::{AntennaHandover, OnDemand, PathChange, Sky, SkySource};

use crate::checked::Checked;
use crate::sky_links;
use crate::sky_links::pieces::SkyPiece;

/// The network of a run: capacity on demand stands beside the source of its other changes.
pub type RunNetwork<'p> = Network<Host, OnDemand<RunSource<'p>>>;

/// The source of its changes and next hops.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one in a run, and every packet without a sky passes the first"
)]
pub enum RunSource<'p> {
    /// Links and script of the scenario.
    Planned(Planned),
    /// Links and script of the scenario under a sky.
    Sky(Box<SkySource<'p>>),
}

impl<'p> RunSource<'p> {
    /// The source of a scenario, whose graph has the sky in it.
    pub fn new(scenario: &'p Checked, sky: Option<&'p Sky>, graph: &NetworkGraph) -> Self {
        let parts = scenario.sky.as_ref().zip(scenario.sky_plan()).zip(sky);
        match parts {
            Some(((table, plan), sky)) => {
                let routes = sky_links::build::routes(table);
                let (balances, pinned) = sky_links::routes::build(scenario, plan);
                let source = SkySource::new(&plan.contacts, sky, graph, routes);
                let source = source.steering(graph, &balances, &pinned);
                Self::Sky(Box::new(match table.recompute_every {
                    Some(interval) => source.recomputing_every(*interval),
                    None => source,
                }))
            }
            None => Self::Planned(Planned::new(graph)),
        }
    }

    /// Follows the paths of ways, if there is a sky.
    pub fn follow(&mut self, graph: &NetworkGraph, ways: impl Iterator<Item = Way>) {
        if let Self::Sky(sky) = self {
            sky.follow(graph, &ways.collect::<Vec<_>>());
        }
    }

    /// Follows a longer plan of the sky from now on.
    pub fn go_on_over(&mut self, piece: &'p SkyPiece, links: &mut Links<'_>) {
        if let Self::Sky(sky) = self {
            sky.go_on_over(&piece.contacts, &piece.sky, links);
        }
    }

    /// Keeps handovers of antennas for whoever wants to be told of them soon.
    pub fn tell_handovers(&mut self) {
        if let Self::Sky(sky) = self {
            sky.tell_handovers();
        }
    }

    /// Takes the handovers that are to be told.
    pub fn take_told_handovers(&mut self) -> Vec<AntennaHandover> {
        match self {
            Self::Planned(_) => Vec::new(),
            Self::Sky(sky) => sky.take_told_handovers(),
        }
    }

    /// Instant at which one of some antennas begins or ends a contact next, as far as the sky is planned, and which.
    pub fn next_handover(&self, is_meant: &dyn Fn(usize) -> bool) -> Option<(Instant, usize)> {
        match self {
            Self::Planned(_) => None,
            Self::Sky(sky) => sky.next_handover(is_meant),
        }
    }

    /// Takes the paths that have changed since this was last called.
    pub fn take_path_changes(&mut self) -> Vec<PathChange> {
        match self {
            Self::Planned(_) => Vec::new(),
            Self::Sky(sky) => sky.take_path_changes(),
        }
    }

    /// Takes the handovers that have happened at antennas since this was last called.
    pub fn take_handovers(&mut self) -> Vec<AntennaHandover> {
        match self {
            Self::Planned(_) => Vec::new(),
            Self::Sky(sky) => sky.take_handovers(),
        }
    }
}

impl Changeable for RunSource<'_> {
    fn add_change(&mut self, graph: &NetworkGraph, at: Instant, direction: DirectionId, change: Change) {
        match self {
            Self::Planned(planned) => planned.add_change(graph, at, direction, change),
            Self::Sky(sky) => sky.add_change(graph, at, direction, change),
        }
    }
}

impl Source for RunSource<'_> {
    fn begin(&mut self, links: &mut Links<'_>) {
        match self {
            Self::Planned(planned) => planned.begin(links),
            Self::Sky(sky) => sky.begin(links),
        }
    }

    fn next_change(&self) -> Instant {
        match self {
            Self::Planned(planned) => planned.next_change(),
            Self::Sky(sky) => sky.next_change(),
        }
    }

    fn apply(&mut self, now: Instant, links: &mut Links<'_>) {
        match self {
            Self::Planned(planned) => planned.apply(now, links),
            Self::Sky(sky) => sky.apply(now, links),
        }
    }

    #[inline]
    fn next_hop(&mut self, node: NodeId, destination: DestinationId) -> Option<DirectionId> {
        match self {
            Self::Planned(planned) => planned.next_hop(node, destination),
            Self::Sky(sky) => sky.next_hop(node, destination),
        }
    }

    fn steer(&mut self, leaving: &Leaving<'_>) -> Option<(DirectionId, DestinationId)> {
        match self {
            Self::Planned(planned) => planned.steer(leaving),
            Self::Sky(sky) => sky.steer(leaving),
        }
    }

    fn leave(
        &mut self,
        direction: DirectionId,
        destination: DestinationId,
    ) -> Option<(DirectionId, DestinationId)> {
        match self {
            Self::Planned(planned) => planned.leave(direction, destination),
            Self::Sky(sky) => sky.leave(direction, destination),
        }
    }
}
