//! Decisions of a site with several antennas about every packet that it sends up: the antenna by which it goes, and the
//! way from there.
//!
//! Satellites know where a packet goes by its destination. Where there is more than one way to it, the site at which
//! the packet goes up writes a label in its place: a destination, and which of its ways. No packet carries more for
//! that.

use rustc_hash::FxHashMap;
use slantpath_net::{DestinationId, NetworkGraph};
use slantpath_orbit::ContactNodeId;
use slantpath_orbit::route::{Path, Router};

/// Methods by which a node spreads what it sends over its antennas to one sky.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balance {
    /// The antenna at which a packet would wait least; of equals the next in turn.
    ByBacklog,
    /// Each flow has an antenna of its own, by a hash of nodes, links and ports, while that has a way to its goal.
    PerFlow,
    /// Antennas take turns, packet by packet.
    PerPacket,
}

/// Routes of packets between two sites, either way, if not the shortest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteRoute {
    /// Two routes that share no satellite, or as few as can be, for what two sites send to each other by two antennas
    /// each.
    Disjoint {
        /// The sites, each with its two antennas (from 0).
        ends: [(ContactNodeId, [u16; 2]); 2],
    },
    /// By these nodes, both ends included, while all contacts between them hold; otherwise not at all.
    Fixed(Vec<ContactNodeId>),
}

/// A way from one site to another that packets take by its label.
#[derive(Clone, Debug)]
pub(crate) struct LabelledWay {
    pub(crate) path: Option<Path>,
    /// True if packets that come to a node beside the path take the shortest route from there.
    pub(crate) may_leave: bool,
}

/// The ways from one site to another.
#[derive(Clone, Debug)]
pub(crate) struct Pinned {
    route: SiteRoute,
    /// True for the way back.
    is_turned: bool,
    /// Number of times that routes had been worked out when its ways were.
    as_of: Option<usize>,
    /// Number of relaying nodes that two ways share, if there are two.
    shared: Option<u32>,
}

/// The ways from one site to another, as they are at present.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ways {
    /// The first of two, which are of these antennas of the site where they begin.
    Disjoint { first: usize, antennas: [u16; 2], shared: Option<u32> },
    /// One, or none at all.
    Fixed(usize),
}

/// Memory of a site that spreads its packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Balancer {
    pub(crate) balance: Balance,
    /// Whose turn it is among its antennas.
    pub(crate) turn: usize,
}

/// Place at which packets for a destination come down.
#[derive(Clone, Debug)]
pub(crate) struct Goal {
    pub(crate) site: ContactNodeId,
    /// The tree of all that go without a label.
    pub(crate) tree: usize,
    /// The trees of its antennas, if it spreads what comes down.
    pub(crate) columns: Vec<usize>,
    /// Whose turn it is among them.
    pub(crate) turn: usize,
}

/// Balances and routes of sites, and what they have come to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steering {
    destinations: usize,
    /// Greatest number of antennas by which packets come down at a site.
    columns: usize,
    /// By site of the plan.
    pub(crate) balancers: Vec<Option<Balancer>>,
    pinned: Vec<Pinned>,
    /// By pair of sites, from the first to the second.
    pinned_of: FxHashMap<(ContactNodeId, ContactNodeId), usize>,
    /// Two for each of those.
    ways: Vec<LabelledWay>,
    /// By group and destination.
    pub(crate) goals: Vec<Vec<Option<Goal>>>,
}

/// Meaning of a label beside the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// The antenna by which it comes down.
    Column(usize),
    /// Place of the way.
    Way(usize),
}

impl Steering {
    pub(crate) fn new(
        graph: &NetworkGraph,
        (sites, groups, columns): (usize, usize, usize),
        balances: &[(usize, Balance)],
        routes: &[SiteRoute],
    ) -> Self {
        let mut balancers = vec![None; sites];
        for &(site, balance) in balances {
            balancers[site] = Some(Balancer { balance, turn: 0 });
        }
        let mut steering = Self {
            destinations: graph.destination_count(),
            columns,
            balancers,
            goals: vec![Vec::new(); groups],
            ..Self::default()
        };
        for route in routes {
            let (ends, may_leave) = match route {
                SiteRoute::Disjoint { ends: [(one, _), (other, _)] } => ([*one, *other], true),
                SiteRoute::Fixed(nodes) => ([nodes[0], *nodes.last().expect("a route has two ends")], false),
            };
            for (is_turned, [from, to]) in [(false, ends), (true, [ends[1], ends[0]])] {
                steering.pinned_of.insert((from, to), steering.pinned.len());
                steering.pinned.push(Pinned { route: route.clone(), is_turned, as_of: None, shared: None });
                steering.ways.extend([(); 2].map(|()| LabelledWay { path: None, may_leave }));
            }
        }
        // So that nobody finds one too many in the middle of a run.
        DestinationId::from_index(steering.destinations * (1 + steering.stride()));
        steering
    }

    fn stride(&self) -> usize {
        self.columns + self.ways.len()
    }

    /// The sites from which routes lead.
    pub(crate) fn pinned_sites(&self) -> impl Iterator<Item = ContactNodeId> + '_ {
        self.pinned_of.keys().map(|&(from, _)| from)
    }

    /// Tells if packets have no labels at all.
    pub(crate) fn is_idle(&self) -> bool {
        self.destinations == 0
    }

    /// The label of a way to a destination.
    pub(crate) fn label(&self, destination: DestinationId, of: Label) -> DestinationId {
        let place = match of {
            Label::Column(column) => column,
            Label::Way(way) => self.columns + way,
        };
        DestinationId::from_index(self.destinations + destination.index() * self.stride() + place)
    }

    /// Gives the meaning of a label: the destination, and the way to it; nothing of a destination.
    pub(crate) fn read(&self, label: DestinationId) -> Option<(DestinationId, Label)> {
        let number = label.index().checked_sub(self.destinations).filter(|_| !self.is_idle())?;
        let place = number % self.stride();
        let of = match place.checked_sub(self.columns) {
            None => Label::Column(place),
            Some(way) => Label::Way(way),
        };
        Some((DestinationId::from_index(number / self.stride()), of))
    }

    pub(crate) fn way(&self, way: usize) -> &LabelledWay {
        &self.ways[way]
    }

    /// The ways from one site to another that are no shortest routes, as of so many times that routes were worked out.
    pub(crate) fn ways(
        &mut self,
        router: &Router<'_>,
        revision: usize,
        (from, to): (ContactNodeId, ContactNodeId),
    ) -> Option<Ways> {
        let place = *self.pinned_of.get(&(from, to))?;
        let pinned = &mut self.pinned[place];
        if pinned.as_of.replace(revision) != Some(revision) {
            // When they are asked for, once.
            let paths = match &pinned.route {
                SiteRoute::Disjoint { ends: [one, other] } => {
                    let [from, to] = if pinned.is_turned { [other, one] } else { [one, other] };
                    let standing = [0, 1].map(|own| self.ways[2 * place + own].path.as_ref());
                    disjoint(router, *from, *to, standing)
                }
                SiteRoute::Fixed(nodes) => {
                    let mut nodes = nodes.clone();
                    if pinned.is_turned {
                        nodes.reverse();
                    }
                    [router.fixed_path(&nodes), None]
                }
            };
            pinned.shared = match &paths {
                [Some(one), Some(other)] => Some(shared(one, other)),
                _ => None,
            };
            for (way, path) in self.ways[2 * place..].iter_mut().zip(paths) {
                way.path = path;
            }
        }
        let Pinned { route, is_turned, shared, .. } = &self.pinned[place];
        Some(match route {
            SiteRoute::Disjoint { ends } => {
                let (_, antennas) = ends[usize::from(*is_turned)];
                Ways::Disjoint { first: 2 * place, antennas, shared: *shared }
            }
            SiteRoute::Fixed(_) => Ways::Fixed(2 * place),
        })
    }
}

/// The two routes between two sites. Where one has broken, the other stays as it is if a route beside it is found: what
/// breaks one of them moves the other at no instant.
fn disjoint(
    router: &Router<'_>,
    from: (ContactNodeId, [u16; 2]),
    to: (ContactNodeId, [u16; 2]),
    standing: [Option<&Path>; 2],
) -> [Option<Path>; 2] {
    let holds = |path: &&Path| router.fixed_path(&path.nodes).is_some_and(|again| again == **path);
    let (leaving, kept) = match standing.map(|path| path.filter(holds)) {
        [Some(kept), None] => (1, Some(kept)),
        [None, Some(kept)] => (0, Some(kept)),
        _ => (0, None),
    };
    if let Some(kept) = kept
        && let Some(new) = router.route_beside((from.0, from.1[leaving]), to, &kept.nodes)
        && shared(kept, &new) == 0
    {
        let kept = Some(kept.clone());
        return if leaving == 1 { [kept, Some(new)] } else { [Some(new), kept] };
    }
    router.disjoint_by_antenna(from, to)
}

/// Counts the relaying nodes that two paths have in common.
fn shared(one: &Path, other: &Path) -> u32 {
    let inner = &one.nodes[1..one.nodes.len() - 1];
    let shared = inner.iter().filter(|node| other.nodes.contains(node)).count();
    u32::try_from(shared).expect("few nodes")
}

impl Ways {
    /// Gives the way of an antenna of the site where they begin.
    pub(crate) fn of_antenna(self, antenna: usize) -> Option<usize> {
        match self {
            Self::Disjoint { first, antennas, .. } => {
                antennas.iter().position(|&own| usize::from(own) == antenna).map(|own| first + own)
            }
            Self::Fixed(way) => Some(way),
        }
    }
}
