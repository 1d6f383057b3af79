//! Gateways, ASPs and application servers, once their names are resolved.

use slantpath_signalling::network::{
    self, AdaptationConfig, AspId, GatewayId, M3uaConfig, ServedPointId, UserPlace,
};
use slantpath_sigtran::asp;
use slantpath_sigtran::m3ua::{KeyDestination, TrafficKey};

use crate::by_point::ByPoint;
use crate::names::{Unresolved, code, gateway_point, is_served, known, point_id};
use crate::point::build::sccp_of;
use crate::schema::{ApplicationServer, Signalling};

/// Names of the points whose users are above M3UA, in their order.
fn served(signalling: &Signalling) -> impl Iterator<Item = &str> {
    signalling.points.iter().map(|(name, _)| name).filter(|name| is_served(signalling, name))
}

/// Place of the users of a point: at a point with MTP3, or above M3UA.
pub(crate) fn place(signalling: &Signalling, point: &str) -> Result<UserPlace, Unresolved> {
    match point_id(signalling, point) {
        Some(id) => Ok(UserPlace::Point(id)),
        None => served_point(signalling, point).map(UserPlace::Served),
    }
}

/// The number of a point whose users are above M3UA.
fn served_point(signalling: &Signalling, point: &str) -> Result<ServedPointId, Unresolved> {
    known(served(signalling).position(|name| name == point), point).map(ServedPointId)
}

/// The routing key of an application server.
pub(crate) fn traffic_key(
    signalling: &Signalling,
    server: &ApplicationServer,
) -> Result<TrafficKey, Unresolved> {
    let destination = KeyDestination {
        dpc: code(signalling, &server.dpc)?,
        service_indicators: server.si.to_vec(),
        opcs: server.opc.iter().map(|opc| code(signalling, opc)).collect::<Result<_, _>>()?,
    };
    let network_appearance = server.network_appearance.map(|network| *network);
    Ok(TrafficKey { network_appearance, destinations: vec![destination] })
}

/// Everything that speaks M3UA.
pub(crate) fn m3ua(signalling: &Signalling, by_point: &ByPoint<'_>) -> Result<M3uaConfig, Unresolved> {
    let asp_id = |name: &String| known(signalling.asps.position(name), name).map(AspId);
    let gateways = signalling.gateways.iter().map(|(name, table)| {
        let point = gateway_point(signalling, name);
        Ok(network::GatewayConfig {
            point: known(by_point.id(point), point)?,
            name: name.to_owned(),
            gateway: asp::GatewayConfig {
                recovery: *table.t_r,
                heartbeat: table.t_beat.map(|beat| *beat),
                ..asp::GatewayConfig::default()
            },
            queue: table.queue_limits(),
            format: known(signalling.points.find(point), point)?.format.policy(),
            dynamic_servers: table
                .dynamic_servers
                .map_or(0, |most| usize::try_from(*most).unwrap_or(usize::MAX)),
        })
    });
    let asps = signalling.asps.iter().map(|(name, table)| network::AspConfig {
        name: name.to_owned(),
        process: asp::ProcessConfig {
            acknowledgement: *table.t_ack,
            heartbeat: table.t_beat.map(|beat| *beat),
            ..asp::ProcessConfig::default()
        },
        audit: *table.audit,
    });
    let points = served(signalling).map(|name| {
        let (code, sccp) = (code(signalling, name)?, sccp_of(signalling, by_point, name)?);
        Ok(network::ServedPointConfig { name: name.to_owned(), code, sccp })
    });
    let servers = signalling.application_servers.iter().map(|(name, table)| {
        Ok(network::ServerConfig {
            name: name.to_owned(),
            routing_context: *table.routing_context,
            network_appearance: table.network_appearance.map(|network| *network),
            point: served_point(signalling, &table.dpc)?,
            opcs: table.opc.iter().map(|opc| code(signalling, opc)).collect::<Result<_, _>>()?,
            services: table.si.to_vec(),
            traffic_mode: table.traffic_mode.mode(),
            needed_active: usize::from(*table.needed_active),
            asps: table.asps.iter().map(asp_id).collect::<Result<_, _>>()?,
            registration: table.registration.map(|choice| choice.way()).unwrap_or_default(),
        })
    });
    let associations = signalling.associations.iter().map(|(_, table)| {
        let gateway = known(signalling.gateways.position(&table.gateway), &table.gateway)?;
        Ok(AdaptationConfig { gateway: GatewayId(gateway), asp: asp_id(&table.asp)? })
    });
    Ok(M3uaConfig {
        gateways: gateways.collect::<Result<_, _>>()?,
        asps: asps.collect(),
        points: points.collect::<Result<_, _>>()?,
        servers: servers.collect::<Result<_, _>>()?,
        associations: associations.collect::<Result<_, _>>()?,
    })
}
