//! Gateways, application server processes, and the application servers between them.

use std::collections::BTreeSet;

use slantpath_base::Duration;
use slantpath_signalling as signalling;
use slantpath_signalling::{Role, ServerProcessConfig};
use slantpath_sigtran::asp::{self, Members, ProcessConfig, ServerName, TrafficMode};
use slantpath_sigtran::m3ua::{
    self, AvailabilityPolicy, KeyDestination, QueueLimits, ServedServer, SgpConfig, TrafficKey,
};
use slantpath_sigtran::transport::AssociationNumber;
use slantpath_ss7::mtp3::node::CongestionMethod;
use slantpath_ss7::{PointCode, PointCodeFormat, sccp};

use crate::config::{AdaptationId, PointId};

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

/// M3UA of a network, with the numbers that associations have there.
pub(crate) struct Plan<'a> {
    pub(crate) config: &'a M3uaConfig,
    /// Number of the first association of M3UA.
    pub(crate) first_association: u32,
}

impl Plan<'_> {
    fn association(&self, id: AdaptationId) -> AssociationNumber {
        AssociationNumber(self.first_association.saturating_add(u32::try_from(id.0).unwrap_or(u32::MAX)))
    }

    /// Configuration that makes a point a gateway, whose MTP3 has that method of congestion.
    pub(crate) fn gateway(&self, id: GatewayId, congestion: CongestionMethod) -> signalling::GatewayConfig {
        let all = self.config.associations.iter().enumerate();
        let own = all.filter(|(_, association)| association.gateway == id);
        signalling::GatewayConfig {
            sgp: self.sgp(id, congestion),
            network: self.config.network_of(id),
            associations: own.map(|(number, _)| self.association(AdaptationId(number))).collect(),
        }
    }

    /// Configuration of an application server process, in a network with points of these codes.
    pub(crate) fn server_process(&self, id: AspId, points: &[PointCode]) -> ServerProcessConfig {
        let role = |server: &ServerConfig| {
            let place = match server.traffic_mode {
                TrafficMode::Override => server.asps.iter().position(|asp| *asp == id).unwrap_or_default(),
                TrafficMode::Broadcast | TrafficMode::Loadshare => 0,
            };
            Role { routing_context: server.routing_context, place: u32::try_from(place).unwrap_or(u32::MAX) }
        };
        let servers = self.config.servers.iter().filter(|server| server.asps.contains(&id));
        ServerProcessConfig { asp: self.asp(id, points), roles: servers.map(role).collect() }
    }

    /// Configuration of the process of a gateway, whose MTP3 has that method of congestion.
    fn sgp(&self, id: GatewayId, congestion: CongestionMethod) -> SgpConfig {
        let gateway = &self.config.gateways[id.0];
        let server = |server: &ServerConfig| {
            let members = server
                .asps
                .iter()
                .flat_map(|asp| self.config.associations_of(id, *asp))
                .map(|id| self.association(id));
            let destination = KeyDestination {
                dpc: self.config.points[server.point.0].code,
                service_indicators: server.services.clone(),
                opcs: server.opcs.clone(),
            };
            let network_appearance = server.network_appearance;
            m3ua::ApplicationServer {
                routing_context: server.routing_context,
                key: TrafficKey { network_appearance, destinations: vec![destination] },
                server: asp::ServerConfig {
                    traffic_mode: Some(server.traffic_mode),
                    needed_active: server.needed_active,
                    members: Members::Only(members.collect()),
                },
            }
        };
        SgpConfig {
            gateway: gateway.gateway,
            servers: self.config.servers_of(id).map(|(_, config)| server(config)).collect(),
            point_codes: gateway.format,
            queue: gateway.queue,
            international: match congestion {
                CongestionMethod::International => vec![self.config.network_of(id)],
                CongestionMethod::National => Vec::new(),
            },
            ..SgpConfig::default()
        }
    }

    /// Configuration of a process: it may speak to every point but those that it serves.
    fn asp(&self, id: AspId, points: &[PointCode]) -> m3ua::AspConfig {
        let asp = &self.config.asps[id.0];
        let own = || self.config.associations.iter().enumerate().filter(move |(_, own)| own.asp == id);
        let servers: Vec<&ServerConfig> =
            self.config.servers.iter().filter(|server| server.asps.contains(&id)).collect();
        let served: BTreeSet<PointCode> =
            servers.iter().map(|server| self.config.points[server.point.0].code).collect();
        let networks: BTreeSet<Option<u32>> =
            own().map(|(_, own)| self.config.network_of(own.gateway)).collect();
        let codes = || {
            let codes = points.iter().copied().chain(self.config.points.iter().map(|point| point.code));
            codes.filter(|code| !served.contains(code)).collect::<BTreeSet<_>>()
        };
        let destinations = networks.into_iter().flat_map(|network_appearance| {
            let gateways = own().filter(|(_, own)| self.config.network_of(own.gateway) == network_appearance);
            let gateways: Vec<_> =
                gateways.map(|(number, _)| (self.association(AdaptationId(number)), 0)).collect();
            codes().into_iter().map(move |point_code| {
                let gateways = gateways.clone();
                m3ua::Destination { network_appearance, point_code, gateways }
            })
        });
        m3ua::AspConfig {
            process: asp.process,
            gateways: own().map(|(number, _)| self.association(AdaptationId(number))).collect(),
            servers: servers
                .iter()
                .map(|server| ServedServer {
                    name: ServerName::Named(server.routing_context),
                    network_appearance: server.network_appearance,
                    point_codes: vec![self.config.points[server.point.0].code],
                    traffic_mode: Some(server.traffic_mode),
                })
                .collect(),
            destinations: destinations.collect(),
            availability: AvailabilityPolicy::Announced,
            audit: asp.audit,
        }
    }
}

impl M3uaConfig {
    fn associations_of(&self, gateway: GatewayId, asp: AspId) -> impl Iterator<Item = AdaptationId> {
        let all = self.associations.iter().enumerate();
        all.filter(move |(_, own)| own.gateway == gateway && own.asp == asp)
            .map(|(number, _)| AdaptationId(number))
    }

    /// The servers of a gateway: those with a process that has an association to it.
    fn servers_of(&self, gateway: GatewayId) -> impl Iterator<Item = (ServerId, &ServerConfig)> {
        let is_served = move |server: &ServerConfig| {
            server.asps.iter().any(|asp| self.associations_of(gateway, *asp).next().is_some())
        };
        let all = self.servers.iter().enumerate();
        all.filter(move |(_, server)| is_served(server)).map(|(number, server)| (ServerId(number), server))
    }

    /// The network of a gateway's point codes, as its servers have it.
    fn network_of(&self, gateway: GatewayId) -> Option<u32> {
        self.servers_of(gateway).find_map(|(_, server)| server.network_appearance)
    }
}
