//! Gateways, ASPs and application servers, once their names are resolved.

use slantpath_sigtran::asp;
use slantpath_sigtran::m3ua::{KeyDestination, TrafficKey};
use slantpath_simulation::{
    AdaptationConfig, AspConfig, AspId, GatewayConfig, GatewayId, M3uaConfig, ServedPointConfig,
    ServedPointId, ServerConfig, UserPlace,
};

use crate::signalling::names::{code, gateway_point, is_served, point_id};
use crate::signalling::point::build::sccp_of;
use crate::signalling::schema::{ApplicationServer, Signalling};

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
