//! `[sky]`: the topology, and what its links are like.

use std::net::IpAddr;

use slantpath_base::{DataRate, DataSize, Duration};
use slantpath_net::AtHandover;
use slantpath_orbit::route::{Metric, Refresh};
use slantpath_reader::{
    Flat, Later, Model, Named, Nested, Pair, Resolved, Setting, Spent, Tables, Written, choice, policy,
    section,
};
use slantpath_topology::schema::{
    CableTable, ConstellationTable, Date, GroundTable, OutageOrFile, RefreshText, SiteTable, ValidityTable,
};

use super::port::SkyPort;
use crate::access::schema::TerminalAccess;
use crate::bounds::{AGE, PACKET, RATE};
use crate::link::channel::Channel;
use crate::link::schema::LinkParameters;
use crate::link::trace::FadeTrace;
use crate::script::schema::Which;

section! {
    /// A sky over the network: satellites and sites of a topology, whose contacts are links. Nodes stand at its sites.
    pub struct SkyTable<S> {
        /// The topology file, relative to the scenario. Its span does not count. If absent, its tables stand here.
        topology: Option<Setting<String>>;
        /// The hash of the topology file, written by `--show`. If it is given, the file must still have it.
        digest: Option<Setting<String>>;
        /// Tables of a topology file, in place of one.
        held: Flat<HeldTopology<S>>;
        /// Time after the topology's epoch at which the run starts.
        start: Setting<Duration> = Duration::ZERO, at most AGE;
        /// Metric that a route over satellites keeps small.
        metric: Setting<MetricName> = MetricName::of(Metric::Delay);
        /// Links whose delays are read when a contact begins or ends; routes are worked out from them then. `all`:
        /// every link, so that each route is the shortest at that instant. `changed`: links of contacts that begin or
        /// end. A time such as `1 s`: every link if that was last done so long ago, else as `changed`. The last two
        /// cost less in large constellations.
        refresh: Setting<RefreshText> = RefreshText(Refresh::All), at most AGE;
        /// Interval at which routes are worked out besides, with all delays of then. Only when a contact changes if
        /// absent.
        recompute_every: Option<Setting<Duration>>, at most AGE;
        /// Links between antennas and satellites. An antenna has the first table, in alphabetical order, that names its
        /// site; if none does, the first that names its constellation; else the first that names neither.
        access: Tables<AccessTable<S>>;
        /// Links between satellites. Those of a constellation have the first table, in alphabetical order, that names
        /// it; else the first that names none.
        isls: Tables<IslLinks<S>>;
        /// Cables of the topology that carry packets. A cable between two nodes has the first table, in alphabetical
        /// order, that names its sites; if none does, the first that names none. It becomes a link of the scenario.
        terrestrial: Spent<S, Tables<TerrestrialLinks>>;
        /// Fades of links of the sky, from files.
        fades: Tables<Fade<S>>;
        /// Routes between two sites that are not the shortest.
        routes: Tables<SiteRouteTable>;
        /// The nodes under the sky, in the order of their sites.
        stands: Later<S, Resolved<Vec<Standing>>>;
    }
}

/// A node at a site of the topology.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Number of the site.
    pub(crate) site: usize,
    /// Name of the node.
    pub(crate) node: String,
    /// Antennas of the site, in their order.
    pub(crate) antennas: Vec<StandingAntenna>,
}

/// An antenna of a node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StandingAntenna {
    /// Name of its links.
    pub(crate) name: String,
    /// Address of the node on its links.
    pub(crate) address: IpAddr,
    /// Number of the table of its links, in alphabetical order.
    pub(crate) table: usize,
}

section! {
    /// A route between two sites, either way.
    pub struct SiteRouteTable {
        /// The two sites.
        ends: Setting<Pair<String>>;
        /// Selection of the route.
        selection: Setting<SiteSelection>;
        /// The satellites and gateways of a fixed route, from the first end to the second.
        via: Option<Setting<Vec<String>>>;
    }
}

choice! {
    /// Selection of the route that packets take between two sites.
    pub enum SiteSelection {
        /// Routes of the first two antennas of either end to the other share no satellite, and the delays of both have
        /// the least sum; where there are no two such routes, the second shares as few satellites with the first as can
        /// be.
        Disjoint = "disjoint",
        /// Along the nodes of `via` while all the contacts between them hold, and not at all otherwise.
        Fixed = "fixed",
    }
}

section! {
    /// The tables of a topology file that say where satellites and sites are.
    pub struct HeldTopology<S> {
        /// The date from which the sky's time counts, in UTC.
        epoch: Option<Setting<Date>>;
        /// Sets of satellites by name.
        constellations: Tables<ConstellationTable<S>>;
        /// Places on the ground, at sea or in the air by name.
        sites: Tables<SiteTable<S>>;
        /// Rules by which antennas choose their satellites, where an antenna does not say otherwise.
        ground: Option<Nested<Model<GroundTable<Written>>>>;
        /// Cables between sites that relay.
        cables: Vec<Named<CableTable>>;
        /// Outages of nodes and links, from when to when after `start`.
        outages: Vec<Named<OutageOrFile>>;
        /// Times from their epoch for which element sets may be used.
        validity: Option<Nested<ValidityTable>>;
    }
}

policy! {
    /// Metric that a route keeps small.
    pub struct MetricName of Metric {
        /// The sum of propagation delays.
        Delay = "least-delay",
        /// The number of links; among equals the sum of delays.
        Hops = "least-hops",
    }
}

section! {
    /// Links between antennas and satellites. What stands in the table itself holds for both directions; `uplink` and
    /// `downlink` replace what they name.
    pub struct AccessTable<S> {
        /// Sites whose antennas have these links. All that no other table names if absent.
        sites: Option<Setting<Vec<String>>>;
        /// The constellation whose antennas have these links. Any if absent.
        constellation: Option<Setting<String>>;
        /// Largest IP packet.
        mtu: Setting<DataSize> = DataSize::from_bytes(1_500), at most PACKET;
        /// Gives a satellite one transmitter for all antennas that it serves by these links, in place of one for each.
        shared_downlink: Setting<bool> = true;
        /// Parameters of both directions.
        both: Spent<S, Flat<SkyDirection<Written>>>;
        /// From an antenna to its satellite.
        uplink: Nested<SkyDirection<S>>;
        /// From a satellite to an antenna. A satellite that repeats has no transmitter of its own: its downlink has
        /// losses and bit errors alone, and `rate` is that of the antennas that send up.
        downlink: Nested<SkyDirection<S>>;
    }
}

section! {
    /// A fade of the links of an antenna, or of a link between satellites: rate, losses and bit errors that follow a
    /// file. Contacts come and go as before.
    pub struct Fade<S> {
        /// The antenna, by its name (`sky.london`), or a link between satellites as the table
        /// `inter_satellite_links` has it.
        link: Setting<String>;
        /// Directions of the link: `forward` leads up, or to the second satellite.
        direction: Setting<Which> = Which::Both;
        /// Trace of the fade, from a file.
        trace: Flat<FadeTrace<S>>;
    }
}

section! {
    /// Links between satellites.
    pub struct IslLinks<S> {
        /// The constellation whose satellites have these links. Any if absent.
        constellation: Option<Setting<String>>;
        /// Largest IP packet.
        mtu: Setting<DataSize> = DataSize::from_bytes(1_500), at most PACKET;
        /// Parameters of either direction.
        both: Flat<SkyDirection<S>>;
    }
}

section! {
    /// Cables between sites. How long they are and when they are out of service, the topology says.
    pub struct TerrestrialLinks {
        /// The two sites of the cable that has these links. Any that no other table names if absent.
        ends: Option<Setting<Pair<String>>>;
        /// Largest IP packet.
        mtu: Setting<DataSize> = DataSize::from_bytes(1_500), at most PACKET;
        /// Parameters of either direction.
        both: Flat<LinkParameters<Written>>;
    }
}

section! {
    /// One direction of a link of the sky. How long it is, is for the sky to say.
    pub struct SkyDirection<S> {
        /// Rate of the transmitter.
        rate: Option<Setting<DataRate>>, at most RATE;
        /// An antenna's uplink alone: it sends on shared carriers, in place of `rate`.
        access: Option<Nested<TerminalAccess>>;
        /// Queue before the transmitter, and what is put around it.
        port: Flat<SkyPort<S>>;
        /// Errors and repetitions that packets meet on their way.
        channel: Flat<Channel<S>>;
        /// Fate of packets that are queued when the contact ends. `kept` if absent.
        at_handover: Later<S, Setting<Waiting>>;
    }
}

choice! {
    /// Fate of packets that are queued when a contact ends. The one that is being sent is lost, unless the next contact
    /// has begun before.
    pub enum Waiting {
        /// At an antenna they wait for its next satellite, and so does what comes while it has none; a satellite sends
        /// them on by the routes that hold then.
        Kept = "kept",
        /// They are dropped.
        Lost = "lost",
    }
}

impl Waiting {
    /// As it is at an antenna.
    pub(crate) const fn at_antenna(self) -> AtHandover {
        match self {
            Self::Kept => AtHandover::Held,
            Self::Lost => AtHandover::Lost,
        }
    }

    /// As it is at a satellite.
    pub(crate) const fn at_satellite(self) -> AtHandover {
        match self {
            Self::Kept => AtHandover::HandedOver,
            Self::Lost => AtHandover::Lost,
        }
    }
}
