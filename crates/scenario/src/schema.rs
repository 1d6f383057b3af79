//! The scenario file, table by table. What stands here is what may stand in a file; [`crate::check`] says
//! which of it makes sense together.

pub use crate::access::schema::{AccessSystem, AskFor, TerminalAccess};
pub use crate::bounds::KERNEL_BUFFER;
pub use crate::flow::application::{
    self, Application, BlockedBehaviour, Bulk, Bursts, ConstantRate, Content, Poisson, Total, Trace,
};
pub use crate::flow::event::{AssociationAction, AssociationEvent, End};
pub use crate::flow::schema::{Adaptation, Flow, Transport};
pub use crate::head::{Head, Routing};
pub use crate::link::arq::Arq;
pub use crate::link::channel::Channel;
pub use crate::link::conditioner::{
    Conditioner, Meter, Mode, RuleScope, SrTcm, TrTcm, Treatment, Tsw2cm, TswTcm, Window,
};
pub use crate::link::discipline::*;
pub use crate::link::gilbert_elliott::{ChannelState, GilbertElliott};
pub use crate::link::header_compression::HeaderCompression;
pub use crate::link::own_discipline::AnyDiscipline;
pub use crate::link::port::Port;
pub use crate::link::queue_size::{QueueMost, QueueSize};
pub use crate::link::schema::{Family, Link, LinkParameters, WhileDownChoice};
pub use crate::link::trace::{DelayTrace, FadeTrace};
pub use crate::link::wan_emulator::WanEmulator;
pub use crate::link::wiring::Wiring;
pub use crate::live::{AdmittedCallers, LiveNode};
pub use crate::network::existing::ExistingNamespace;
pub use crate::network::node::{NamedDscp, Node, NodeKind};
pub use crate::probes::schema::{Probes, QueueSampling};
pub use crate::script::schema::{Action, Event, Which};
pub use crate::sessions::schema::{self as sessions, Sessions};
pub use crate::sky_links::schema::{
    AccessTable, IslLinks, MetricName, SiteRouteTable, SiteSelection, SkyDirection, SkyTable,
    TerrestrialLinks, Waiting,
};
pub use slantpath_points::schema::{self as signalling, Signalling};
pub use slantpath_profiles::Interval;
pub use slantpath_profiles::sctp::schema as sctp;
pub use slantpath_profiles::sctp::{AuthenticatedChunk, SctpProfile, Threshold};
pub use slantpath_profiles::tcp::schema::{self as tcp, TcpProfile};

use slantpath_reader::{Named, Nested, Part, Spent, Tables, section};

section! {
    /// A Slantpath scenario: all that a run depends on, but its seed's replications and the traces it names.
    pub struct File<S> {
        /// Name, length and seed of the run.
        scenario: Part<Head>;
        /// Hosts and routers.
        nodes: Tables<Node>;
        /// Links between two nodes each.
        links: Tables<Link<S>>;
        /// Delay lines between two nodes each, as laboratories put them in the place of a satellite.
        wan_emulators: Spent<S, Tables<WanEmulator>>;
        /// Carriers of a satellite that terminals share, with capacity on demand.
        access: Tables<AccessSystem>;
        /// Satellites, and the links by which they carry packets.
        sky: Option<Nested<SkyTable<S>>>;
        /// SCTP configurations by name. A flow that names none uses `default`.
        sctp: Tables<SctpProfile>;
        /// TCP configurations by name. A flow that names none uses `default`.
        tcp: Tables<TcpProfile>;
        /// Flows of messages from one host to another.
        flows: Tables<Flow<S>>;
        /// Transfers that begin one after the other.
        sessions: Tables<Sessions<S>>;
        /// Events at links while the scenario runs.
        script: Vec<Named<Event>>;
        /// Signalling points of SS7, their links and their load.
        signalling: Part<Signalling<S>>;
        /// Measurements and captures.
        probes: Part<Probes>;
        /// Nodes on the real network, for points that are live. Nothing of a run depends on them.
        live: Spent<S, Tables<LiveNode>>;
    }
}

impl File {
    /// Nodes, and the links that join them.
    pub const fn wiring(&self) -> Wiring<'_> {
        Wiring { nodes: &self.nodes, links: &self.links }
    }
}
