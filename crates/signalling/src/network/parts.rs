//! Points and processes of a network, each made by itself.

use std::collections::BTreeSet;

use slantpath_base::Instant;
use slantpath_sigtran::asp::{self, Members, ServerName, TrafficMode};
use slantpath_sigtran::m3ua::{
    self, AvailabilityPolicy, KeyDestination, ServedServer, SgpConfig, TrafficKey,
};
use slantpath_sigtran::transport::AssociationNumber;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{CongestionMethod, Mtp3LinkId};

use super::{
    AdaptationId, AspId, Carried, GatewayId, LinkCarrier, NetworkConfig, NetworkConfigError, PointId,
    ServerConfig, Side, SignallingLinkId,
};
use crate::gateway;
use crate::level2::Level2Config;
use crate::point::{self, LinkEndConfig, SignallingPoint};
use crate::process::{Role, ServerProcess, ServerProcessConfig};

impl NetworkConfig {
    /// The number by which points and processes know the association that carries a link or M3UA.
    pub fn association(&self, carried: Carried) -> AssociationNumber {
        let place = match carried {
            Carried::Adaptation(id) => self.links.len() + id.0,
            Carried::Link(id) => id.0,
        };
        AssociationNumber(u32::try_from(place).unwrap_or(u32::MAX))
    }

    /// The links at a point, by the numbers of its MTP3: which link, and which end of it is there.
    ///
    /// # Panics
    /// If there is no such point, or a link names one that the point's MTP3 does not know.
    pub fn links_at(&self, id: PointId) -> Vec<(SignallingLinkId, Side)> {
        let count = self.points[id.0].mtp3.link_sets.iter().map(|link_set| link_set.links.len()).sum();
        let mut at = vec![(SignallingLinkId(usize::MAX), Side::First); count];
        for (number, side, link) in self.ends_at(id) {
            at[usize::from(link.0)] = (SignallingLinkId(number), side);
        }
        at
    }

    /// The gateway whose point it is, if it is one's.
    pub fn gateway_at(&self, id: PointId) -> Option<GatewayId> {
        self.m3ua.gateways.iter().position(|gateway| gateway.point == id).map(GatewayId)
    }

    /// Makes a point. Its links begin to align when it is first polled.
    ///
    /// # Errors
    /// The first thing that is wrong.
    ///
    /// # Panics
    /// If there is no such point, or a link names one that the point's MTP3 does not know.
    pub fn make_point(&self, now: Instant, id: PointId) -> Result<SignallingPoint, NetworkConfigError> {
        SignallingPoint::new(now, self.point_parts(id)).map_err(|error| self.error_of_point(id, error))
    }

    /// Makes a point that is to take the place of a running one, and knows its associations by these numbers.
    ///
    /// # Errors
    /// The first thing that is wrong.
    ///
    /// # Panics
    /// If there is no such point, or a link names one that the point's MTP3 does not know.
    pub fn prepare_point(
        &self,
        id: PointId,
        number: impl Fn(AssociationNumber) -> AssociationNumber,
    ) -> Result<SignallingPoint, NetworkConfigError> {
        let mut parts = self.point_parts(id);
        for end in &mut parts.links {
            if let Level2Config::Association(association, _) = &mut end.level2 {
                *association = number(*association);
            }
        }
        if let Some(gateway) = &mut parts.gateway {
            gateway.associations.iter_mut().for_each(|own| *own = number(*own));
            for server in &mut gateway.sgp.servers {
                if let Members::Only(members) = &mut server.server.members {
                    for own in members {
                        *own = number(*own);
                    }
                }
            }
        }
        SignallingPoint::prepared(parts).map_err(|error| self.error_of_point(id, error))
    }

    fn point_parts(&self, id: PointId) -> point::PointConfig {
        let super::PointConfig { mtp3, sccp, processor } = self.points[id.0].clone();
        let link_end = |(number, _, link): (usize, Side, Mtp3LinkId)| {
            let level2 = match &self.links[number].carrier {
                LinkCarrier::Association(config) => {
                    let association = self.association(Carried::Link(SignallingLinkId(number)));
                    Level2Config::Association(association, config.clone())
                }
                LinkCarrier::Line(config) => Level2Config::Line(config.terminal.clone()),
            };
            LinkEndConfig { link, level2 }
        };
        point::PointConfig {
            gateway: self.gateway_at(id).map(|gateway| self.gateway(gateway, mtp3.congestion)),
            mtp3,
            sccp,
            processor,
            links: self.ends_at(id).map(link_end).collect(),
        }
    }

    fn error_of_point(&self, id: PointId, error: point::ConfigError) -> NetworkConfigError {
        let at = self.links_at(id);
        let names = |link: Mtp3LinkId| self.links[at[usize::from(link.0)].0.0].name.clone();
        let gateway = self.gateway_at(id).map(|gateway| self.m3ua.gateways[gateway.0].name.clone());
        NetworkConfigError::of_point(error, self.points[id.0].mtp3.name.clone(), gateway, names)
    }

    /// Makes an application server process.
    ///
    /// # Errors
    /// The first thing that is wrong.
    ///
    /// # Panics
    /// If there is no such process.
    pub fn make_process(&self, id: AspId) -> Result<ServerProcess, NetworkConfigError> {
        self.prepare_process(id, |number| number)
    }

    /// Makes an application server process that is to take the place of a running one, and knows its associations by
    /// these numbers.
    ///
    /// # Errors
    /// The first thing that is wrong.
    ///
    /// # Panics
    /// If there is no such process.
    pub fn prepare_process(
        &self,
        id: AspId,
        number: impl Fn(AssociationNumber) -> AssociationNumber,
    ) -> Result<ServerProcess, NetworkConfigError> {
        let wrong = |error| NetworkConfigError::M3ua { name: self.m3ua.asps[id.0].name.clone(), error };
        let mut config = self.server_process(id);
        config.asp.gateways.iter_mut().for_each(|own| *own = number(*own));
        for destination in &mut config.asp.destinations {
            destination.gateways.iter_mut().for_each(|(own, _)| *own = number(*own));
        }
        ServerProcess::new(config).map_err(wrong)
    }

    /// Ends of links at a point: the number of the link, its end, and what MTP3 calls it.
    fn ends_at(&self, id: PointId) -> impl Iterator<Item = (usize, Side, Mtp3LinkId)> {
        self.links.iter().enumerate().flat_map(move |(number, link)| {
            let ends = link.ends.into_iter().zip(Side::BOTH).filter(move |(end, _)| end.point == id);
            ends.map(move |(end, side)| (number, side, end.link))
        })
    }

    /// Configuration that makes a point a gateway, whose MTP3 has that method of congestion.
    fn gateway(&self, id: GatewayId, congestion: CongestionMethod) -> gateway::GatewayConfig {
        let all = self.m3ua.associations.iter().enumerate();
        let own = all.filter(|(_, association)| association.gateway == id);
        gateway::GatewayConfig {
            sgp: self.sgp(id, congestion),
            network: self.m3ua.network_of(id),
            associations: own
                .map(|(number, _)| self.association(Carried::Adaptation(AdaptationId(number))))
                .collect(),
        }
    }

    /// Configuration of an application server process.
    fn server_process(&self, id: AspId) -> ServerProcessConfig {
        let role = |server: &ServerConfig| {
            let place = match server.traffic_mode {
                TrafficMode::Override => server.asps.iter().position(|asp| *asp == id).unwrap_or_default(),
                TrafficMode::Broadcast | TrafficMode::Loadshare => 0,
            };
            Role { routing_context: server.routing_context, place: u32::try_from(place).unwrap_or(u32::MAX) }
        };
        let servers = self.m3ua.servers.iter().filter(|server| server.asps.contains(&id));
        ServerProcessConfig { asp: self.asp(id), roles: servers.map(role).collect() }
    }

    /// Configuration of the process of a gateway, whose MTP3 has that method of congestion.
    fn sgp(&self, id: GatewayId, congestion: CongestionMethod) -> SgpConfig {
        let gateway = &self.m3ua.gateways[id.0];
        let server = |server: &ServerConfig| {
            let members = server
                .asps
                .iter()
                .flat_map(|asp| self.m3ua.associations_of(id, *asp))
                .map(|id| self.association(Carried::Adaptation(id)));
            let destination = KeyDestination {
                dpc: self.m3ua.points[server.point.0].code,
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
            servers: self.m3ua.servers_of(id).map(|(_, config)| server(config)).collect(),
            point_codes: gateway.format,
            queue: gateway.queue,
            international: match congestion {
                CongestionMethod::International => vec![self.m3ua.network_of(id)],
                CongestionMethod::National => Vec::new(),
            },
            ..SgpConfig::default()
        }
    }

    /// Configuration of a process: it may speak to every point but those that it serves.
    fn asp(&self, id: AspId) -> m3ua::AspConfig {
        let asp = &self.m3ua.asps[id.0];
        let own = || self.m3ua.associations.iter().enumerate().filter(move |(_, own)| own.asp == id);
        let servers: Vec<&ServerConfig> =
            self.m3ua.servers.iter().filter(|server| server.asps.contains(&id)).collect();
        let served: BTreeSet<PointCode> =
            servers.iter().map(|server| self.m3ua.points[server.point.0].code).collect();
        let networks: BTreeSet<Option<u32>> =
            own().map(|(_, own)| self.m3ua.network_of(own.gateway)).collect();
        let codes = || {
            let points = self.points.iter().map(|point| point.mtp3.point_code);
            let codes = points.chain(self.m3ua.points.iter().map(|point| point.code));
            codes.filter(|code| !served.contains(code)).collect::<BTreeSet<_>>()
        };
        let destinations = networks.into_iter().flat_map(|network_appearance| {
            let gateways = own().filter(|(_, own)| self.m3ua.network_of(own.gateway) == network_appearance);
            let gateways: Vec<_> = gateways
                .map(|(number, _)| (self.association(Carried::Adaptation(AdaptationId(number))), 0))
                .collect();
            codes().into_iter().map(move |point_code| {
                let gateways = gateways.clone();
                m3ua::Destination { network_appearance, point_code, gateways }
            })
        });
        m3ua::AspConfig {
            process: asp.process,
            gateways: own()
                .map(|(number, _)| self.association(Carried::Adaptation(AdaptationId(number))))
                .collect(),
            servers: servers
                .iter()
                .map(|server| ServedServer {
                    name: ServerName::Named(server.routing_context),
                    network_appearance: server.network_appearance,
                    point_codes: vec![self.m3ua.points[server.point.0].code],
                    traffic_mode: Some(server.traffic_mode),
                })
                .collect(),
            destinations: destinations.collect(),
            availability: AvailabilityPolicy::Announced,
            audit: asp.audit,
        }
    }
}
