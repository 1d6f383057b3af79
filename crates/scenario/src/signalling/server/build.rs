//! Gateways, ASPs and application servers, once their names are resolved.

use std::collections::BTreeSet;

use slantpath_sigtran::asp;
use slantpath_sigtran::m3ua::{KeyDestination, TrafficKey};
use slantpath_simulation::{
    AdaptationConfig, AspConfig, AspId, GatewayConfig, GatewayId, M3uaConfig, PointId, ServedPointConfig,
    ServedPointId, ServerConfig, UserPlace,
};
use slantpath_ss7::PointCode;

use crate::signalling::schema::{ApplicationServer, Signalling};
use crate::signalling::{code, sccp_of};

/// Tells whether a point's users are above M3UA: an application server has it as its DPC.
pub fn is_served(signalling: &Signalling, point: &str) -> bool {
    signalling.application_servers.iter().any(|(_, server)| *server.dpc == point)
}

/// The number of a point with MTP3; none for one whose users are above M3UA.
pub(crate) fn point_id(signalling: &Signalling, point: &str) -> Option<PointId> {
    with_mtp3(signalling).find(|(_, name)| *name == point).map(|(id, _)| id)
}

/// The points with MTP3, by their numbers.
pub fn with_mtp3(signalling: &Signalling) -> impl Iterator<Item = (PointId, &str)> {
    let names = signalling.points.iter().map(|(name, _)| name);
    let names = names.filter(|name| !is_served(signalling, name));
    names.enumerate().map(|(number, name)| (PointId(number), name))
}

/// Names of the points whose users are above M3UA, in their order.
fn served(signalling: &Signalling) -> impl Iterator<Item = &str> {
    signalling.points.iter().map(|(name, _)| name).filter(|name| is_served(signalling, name))
}

/// Place of the users of a point: at a point with MTP3, or above M3UA.
pub(crate) fn place(signalling: &Signalling, point: &str) -> UserPlace {
    if let Some(id) = point_id(signalling, point) {
        return UserPlace::Point(id);
    }
    let number = served(signalling).position(|name| name == point);
    UserPlace::Served(ServedPointId(number.expect("a check resolves points")))
}

/// The point of a gateway.
pub fn gateway_point<'a>(signalling: &'a Signalling, gateway: &'a str) -> &'a str {
    let table = signalling.gateways.find(gateway);
    table.and_then(|table| table.point.as_ref()).map_or(gateway, |point| point.as_str())
}

/// The host of an ASP.
pub fn asp_node<'a>(signalling: &'a Signalling, asp: &'a str) -> &'a str {
    let table = signalling.asps.find(asp);
    table.and_then(|table| table.node.as_ref()).map_or(asp, |node| node.as_str())
}

/// The gateways that the ASPs of an application server have associations to.
pub fn gateways_of<'a>(signalling: &'a Signalling, server: &ApplicationServer) -> BTreeSet<&'a str> {
    let own = signalling.associations.iter().filter(|(_, own)| server.asps.contains(&*own.asp));
    own.map(|(_, own)| own.gateway.as_str()).collect()
}

/// The routing key of an application server.
pub(crate) fn traffic_key(signalling: &Signalling, server: &ApplicationServer) -> TrafficKey {
    let destination = KeyDestination {
        dpc: code(signalling, &server.dpc),
        service_indicators: server.si.to_vec(),
        opcs: server.opc.iter().map(|opc| code(signalling, opc)).collect(),
    };
    let network_appearance = server.network_appearance.map(|network| *network);
    TrafficKey { network_appearance, destinations: vec![destination] }
}

/// The point codes behind the gateway at a point, if there is one.
pub(crate) fn codes_behind(signalling: &Signalling, point: &str) -> Vec<PointCode> {
    let servers = signalling.application_servers.iter().filter(|(_, server)| {
        gateways_of(signalling, server).iter().any(|gateway| gateway_point(signalling, gateway) == point)
    });
    let codes: BTreeSet<PointCode> = servers.map(|(_, server)| code(signalling, &server.dpc)).collect();
    codes.into_iter().collect()
}

/// Everything that speaks M3UA.
pub(crate) fn m3ua(signalling: &Signalling) -> M3uaConfig {
    let asp_id = |name: &str| AspId(signalling.asps.position(name).expect("a check resolves ASPs"));
    let gateways = signalling.gateways.iter().map(|(name, table)| {
        let point = gateway_point(signalling, name);
        GatewayConfig {
            point: point_id(signalling, point).expect("a check gives gateways points with links"),
            name: name.to_owned(),
            gateway: asp::GatewayConfig {
                recovery: *table.t_r,
                heartbeat: table.t_beat.map(|beat| *beat),
                ..asp::GatewayConfig::default()
            },
            queue: table.queue_limits(),
            format: signalling.points.find(point).expect("just found").format.policy(),
        }
    });
    let asps = signalling.asps.iter().map(|(name, table)| AspConfig {
        name: name.to_owned(),
        process: asp::ProcessConfig {
            acknowledgement: *table.t_ack,
            heartbeat: table.t_beat.map(|beat| *beat),
            ..asp::ProcessConfig::default()
        },
        audit: *table.audit,
    });
    let points = served(signalling).map(|name| ServedPointConfig {
        name: name.to_owned(),
        code: code(signalling, name),
        sccp: sccp_of(signalling, name),
    });
    let servers = signalling.application_servers.iter().map(|(name, table)| {
        let point = served(signalling).position(|point| *table.dpc == point);
        ServerConfig {
            name: name.to_owned(),
            routing_context: *table.routing_context,
            network_appearance: table.network_appearance.map(|network| *network),
            point: ServedPointId(point.expect("its point is served")),
            opcs: table.opc.iter().map(|opc| code(signalling, opc)).collect(),
            services: table.si.to_vec(),
            traffic_mode: table.traffic_mode.mode(),
            needed_active: usize::from(*table.needed_active),
            asps: table.asps.iter().map(|asp| asp_id(asp)).collect(),
        }
    });
    let associations = signalling.associations.iter().map(|(_, table)| AdaptationConfig {
        gateway: GatewayId(signalling.gateways.position(&table.gateway).expect("a check resolves gateways")),
        asp: asp_id(&table.asp),
    });
    M3uaConfig {
        gateways: gateways.collect(),
        asps: asps.collect(),
        points: points.collect(),
        servers: servers.collect(),
        associations: associations.collect(),
    }
}
