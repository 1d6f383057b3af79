//! Gateways, application server processes, and the application servers between them.

use slantpath_base::Duration;
use slantpath_sigtran::asp::{self, ProcessConfig, TrafficMode};
use slantpath_sigtran::m3ua::QueueLimits;
use slantpath_ss7::{PointCode, PointCodeFormat, sccp};

use super::{AdaptationId, PointId};

/// A signalling gateway: its number in the order of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GatewayId(pub usize);

/// An application server process: its number in the order of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AspId(pub usize);

/// An application server: its number in the order of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub usize);

/// A point whose user parts are above M3UA: its number in the order of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServedPointId(pub usize);

/// Parts of a network that speak M3UA.
#[derive(Clone, Debug, Default)]
pub struct M3uaConfig {
    /// Signalling gateways of the network.
    pub gateways: Vec<GatewayConfig>,
    /// Application server processes.
    pub asps: Vec<AspConfig>,
    /// Points whose user parts are above M3UA.
    pub points: Vec<ServedPointConfig>,
    /// Application servers of the network.
    pub servers: Vec<ServerConfig>,
    /// Associations between gateways and processes.
    pub associations: Vec<AdaptationConfig>,
}

/// A signalling gateway: a point with MTP3 towards the SS7 network, and a process towards its ASPs.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// Point of the gateway, whose MTP3 serves the points of its application servers.
    pub point: PointId,
    /// The point's name.
    pub name: String,
    /// T(r) and heartbeats.
    pub gateway: asp::GatewayConfig,
    /// The messages that wait for an ASP.
    pub queue: QueueLimits,
    /// Format in which point codes are written.
    pub format: PointCodeFormat,
    /// Number of application servers that processes may register beside those of the configuration, for the same
    /// points.
    pub dynamic_servers: usize,
}

/// An application server process.
#[derive(Clone, Debug)]
pub struct AspConfig {
    /// Name of the process.
    pub name: String,
    /// T(ack) and heartbeats.
    pub process: ProcessConfig,
    /// Interval at which destinations without good news are asked for.
    pub audit: Duration,
}

/// A point whose user parts are above M3UA.
#[derive(Clone, Debug)]
pub struct ServedPointConfig {
    /// Name of the point.
    pub name: String,
    /// Point code of the point.
    pub code: PointCode,
    /// SCCP of the point, if it has one, which all processes of the point share.
    pub sccp: Option<sccp::NodeConfig>,
}

/// An application server: what it serves and who serves it.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Name of the server.
    pub name: String,
    /// Routing context that names it in messages; no two servers have the same.
    pub routing_context: u32,
    /// The network of its point codes, where messages name it.
    pub network_appearance: Option<u32>,
    /// The point whose messages it gets.
    pub point: ServedPointId,
    /// Only messages from these points; from any if there is none.
    pub opcs: Vec<PointCode>,
    /// Only these service indicators; any if there is none.
    pub services: Vec<u8>,
    /// Mode in which its processes share traffic.
    pub traffic_mode: TrafficMode,
    /// Number of processes that must be active before traffic starts.
    pub needed_active: usize,
    /// The processes that serve it; in override mode the first takes the traffic while it can.
    pub asps: Vec<AspId>,
    /// Way in which the processes become its members.
    pub registration: ServerRegistration,
}

/// Way in which processes become members of an application server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerRegistration {
    /// Both ends have it by configuration.
    #[default]
    Static,
    /// Each process registers the routing key at the gateway.
    Dynamic,
}

/// An association between a gateway, its first end, and a process, its second, which opens it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdaptationConfig {
    /// Gateway at the first end.
    pub gateway: GatewayId,
    /// Process at the second end.
    pub asp: AspId,
}

/// Process that speaks M3UA (RFC 4666, section 1.2: a signalling process).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SignallingProcess {
    /// An application server process.
    Asp(AspId),
    /// A gateway's process.
    Gateway(GatewayId),
}

impl M3uaConfig {
    pub(super) fn associations_of(
        &self,
        gateway: GatewayId,
        asp: AspId,
    ) -> impl Iterator<Item = AdaptationId> {
        let all = self.associations.iter().enumerate();
        all.filter(move |(_, own)| own.gateway == gateway && own.asp == asp)
            .map(|(number, _)| AdaptationId(number))
    }

    /// The servers of a gateway: those with a process that has an association to it.
    pub(super) fn servers_of(&self, gateway: GatewayId) -> impl Iterator<Item = (ServerId, &ServerConfig)> {
        let is_served = move |server: &ServerConfig| {
            server.asps.iter().any(|asp| self.associations_of(gateway, *asp).next().is_some())
        };
        let all = self.servers.iter().enumerate();
        all.filter(move |(_, server)| is_served(server)).map(|(number, server)| (ServerId(number), server))
    }

    /// The network of a gateway's point codes, as its servers have it.
    pub(super) fn network_of(&self, gateway: GatewayId) -> Option<u32> {
        self.servers_of(gateway).find_map(|(_, server)| server.network_appearance)
    }
}
