//! `[topology]`, `[paths.<name>]`, `[[outages]]`, `[validity]` and `[map]`.

use slantpath_base::Duration;
use slantpath_orbit::ContactNodeId;
use slantpath_orbit::route::Refresh;
use slantpath_orbit::topology::RouteChoice;
use slantpath_reader::{Later, Pair, Resolved, Setting, choice, section, word_or};

use super::values::{Date, RefreshText};
use crate::bounds::{AGE, DELAY};

section! {
    /// Name, epoch and span of a topology, and the sampling of its tables.
    pub struct TopologyHead<S> {
        /// Name of the topology.
        name: Setting<String>;
        /// Purpose of the topology.
        description: Setting<String> = String::new();
        /// The date at which it starts, in UTC.
        epoch: Setting<Date>;
        /// Length of the topology in time.
        span: Setting<Duration>, at most AGE;
        /// Interval at which the delay of each path is sampled for the table `delay`. Everything else is solved in time
        /// and not sampled.
        sample_every: Setting<Duration> = Duration::from_secs(10), at most AGE;
        /// Writes the table `access`. If absent, it is written where it has at most 200,000 rows.
        access: Option<Setting<bool>>;
        /// Interval at which the places of all satellites are written to the table `positions`. Every minute if absent,
        /// or as often as makes 200,000 rows if that is less.
        positions_every: Later<S, Setting<Positions>>, at most AGE;
    }
}

word_or! {
    /// Interval at which places of satellites are written.
    pub enum Positions {
        /// No interval: never.
        Off = "off",
        /// Again and again after this time.
        Every(Duration) like "60 s",
    }
}

section! {
    /// A question: how does one site reach another?
    pub struct PathTable<S> {
        /// The site that sends.
        from: Setting<String>;
        /// The site that receives.
        to: Setting<String>;
        /// The constellation over which it leads. Any if absent.
        constellation: Option<Setting<String>>;
        /// Selection of the route that is followed.
        selection: Setting<RouteSelection> = RouteSelection::LeastDelay;
        /// The satellites and gateways of a fixed route, in order.
        via: Option<Setting<Vec<String>>>;
        /// Links whose delays are read when a contact begins or ends; routes are worked out from them then. `all`:
        /// every link, so that each route is the shortest at that instant. `changed`: links of contacts that begin or
        /// end. A time such as `1 s`: every link if that was last done so long ago, else as `changed`. The last two
        /// cost less in large constellations.
        refresh: Setting<RefreshText> = RefreshText(Refresh::All), at most AGE;
        /// The route that is followed, with nodes in the place of names.
        followed: Later<S, Resolved<Followed>>;
    }
}

/// Route of a path, between two nodes of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The sites that send and receive.
    pub(crate) ends: (ContactNodeId, ContactNodeId),
    /// Selection of the route.
    pub(crate) selection: RouteChoice,
}

impl Followed {
    /// The sites that send and receive.
    pub const fn ends(&self) -> [ContactNodeId; 2] {
        [self.ends.0, self.ends.1]
    }
}

choice! {
    /// Selection of the route that is followed.
    pub enum RouteSelection {
        /// The longer of the two routes that share no relaying node and whose delays have the least sum: the
        /// second path of a multihomed host.
        Disjoint = "disjoint",
        /// The shorter of these two: its first path. It is that of least delay unless that one leaves no second,
        /// or only a worse one, where there is one. Where there are no two it is that of least delay.
        DisjointFirst = "disjoint-first",
        /// Along the nodes of `via`, whenever all the contacts between them hold.
        Fixed = "fixed",
        /// Route of least delay.
        LeastDelay = "least-delay",
        /// Fewest links, then least delay.
        LeastHops = "least-hops",
    }
}

section! {
    /// A cable between two sites, of which at least one is a gateway: `relay = "gateway"`.
    pub struct CableTable {
        /// The two sites.
        ends: Setting<Pair<String>>;
        /// Time that it takes to cross the cable.
        delay: Setting<CableTime> = CableTime::GreatCircle, at most DELAY;
    }
}

word_or! {
    /// Time that it takes to cross a cable.
    pub enum CableTime {
        /// Time of light in fibre (group index 1.468) along the great circle between the sites.
        GreatCircle = "great-circle",
        /// Time that is given.
        Stated(Duration) like "12 ms",
    }
}

section! {
    /// A node or a link that is out of service for a time, or a file of such.
    pub struct OutageOrFile {
        /// From when, after the start.
        from: Option<Setting<Duration>>, at most AGE;
        /// Until when, after the start.
        until: Option<Setting<Duration>>, at most AGE;
        /// The satellite or site that fails.
        node: Option<Setting<String>>;
        /// The two nodes between which every contact fails.
        link: Option<Setting<Pair<String>>>;
        /// A file, relative to the topology, of lines of `from, until, node` or `from, until, node, node`, in
        /// place of all else.
        file: Option<Setting<String>>;
        /// BLAKE3 of the file, written by `--show`. If it is given, the file must still have it.
        digest: Option<Setting<String>>;
    }
}

section! {
    /// Times from their epoch for which element sets may be used. The error of SGP4 grows by some 1 to 3 km a day in
    /// low orbit.
    pub struct ValidityTable {
        /// Beyond this distance in time there is a warning.
        warn_after: Setting<Duration> = Duration::from_secs(7 * 86_400), at most AGE;
        /// Beyond this distance in time a set is refused.
        refuse_after: Setting<Duration> = Duration::from_secs(30 * 86_400), at most AGE;
    }
}

section! {
    /// Instant and ground tracks that the map shows.
    pub struct MapTable {
        /// The instant, after the start.
        at: Setting<Duration> = Duration::ZERO, at most AGE;
        /// Time before and after that instant for which the ground tracks of the path's satellites are drawn.
        tracks: Setting<Duration> = Duration::from_secs(20 * 60), at most AGE;
    }
}
