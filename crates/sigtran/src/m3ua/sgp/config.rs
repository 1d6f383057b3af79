//! Configuration of a signalling gateway process.

use std::collections::BTreeSet;

use slantpath_ss7::{PointCode, PointCodeFormat};

use crate::asp::{ConfigError, GatewayConfig, ServerConfig};
use crate::m3ua::TrafficKey;
use crate::queue::QueueLimits;

/// A signalling gateway process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SgpConfig {
    /// T(r), heartbeats, ASP identifiers.
    pub gateway: GatewayConfig,
    /// The application servers, each with its own routing context.
    pub servers: Vec<ApplicationServer>,
    /// The routing context of the application server that gets what no routing key matches, if any does.
    pub default_server: Option<u32>,
    /// Network appearances, beside those of the application servers.
    pub network_appearances: Vec<u32>,
    /// Networks where congestion has no levels and no status that lasts, as in the ITU international method: what MTP3
    /// tells of it is passed on each time, and an audit is not answered with it. All others have levels.
    pub international: Vec<Option<u32>>,
    /// The point codes' format: one that has more bits is invalid.
    pub point_codes: PointCodeFormat,
    /// Registrations that ASPs may ask for.
    pub registration: Registration,
    /// Destinations whose state ASPs may not know.
    pub undisclosed: Vec<PointCode>,
    /// The messages that wait while no ASP is active, for each application server.
    pub queue: QueueLimits,
    /// True if each message of an ASP is given out to be examined before it goes on.
    pub examines: bool,
}

/// An application server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationServer {
    /// Routing context that names the application server.
    pub routing_context: u32,
    /// Traffic of the application server.
    pub key: TrafficKey,
    /// Settings of the application server and its ASPs.
    pub server: ServerConfig,
}

/// Registrations that ASPs may ask for (RFC 4666, section 4.4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Registration {
    /// New application servers, each with a routing context of its own.
    Dynamic {
        /// Number of application servers that may be added.
        servers_max: usize,
        /// The lowest routing context to give away.
        first_routing_context: u32,
        /// Point codes that ASPs may register; any if none is given.
        permitted: Vec<PointCode>,
        /// Point codes that no ASP may register.
        denied: Vec<PointCode>,
        /// Point codes whose registration ASPs may not end.
        permanent: Vec<PointCode>,
        /// Permission for a registration that names a routing context to change that application server's key.
        changes: KeyChanges,
    },
    /// Membership in application servers that are configured.
    Provisioned,
    /// Nothing: the messages are of an unsupported class.
    #[default]
    Unsupported,
}

/// Permission to change the key of an application server by registration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyChanges {
    /// Change by an ASP that is registered in the application server is allowed.
    Allowed,
    /// Change is refused.
    #[default]
    Refused,
}

impl Default for SgpConfig {
    fn default() -> Self {
        Self {
            gateway: GatewayConfig::default(),
            servers: Vec::new(),
            default_server: None,
            network_appearances: Vec::new(),
            international: Vec::new(),
            point_codes: PointCodeFormat::Itu,
            registration: Registration::default(),
            undisclosed: Vec::new(),
            queue: QueueLimits::default(),
            examines: false,
        }
    }
}

impl SgpConfig {
    /// Checks that nothing contradicts itself. Timers are checked by the gateway.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let mut contexts = BTreeSet::new();
        for (at, server) in self.servers.iter().enumerate() {
            if !contexts.insert(server.routing_context) {
                let value = server.routing_context.into();
                return Err(ConfigError::Twice { what: "routing context", value });
            }
            for destination in &server.key.destinations {
                let (value, max) = (destination.dpc.0, self.largest_code());
                if value > max {
                    let (value, min, max) = (value.into(), 0, max.into());
                    return Err(ConfigError::NumberOutOfRange {
                        what: "destination point code",
                        value,
                        min,
                        max,
                    });
                }
            }
            //= https://www.rfc-editor.org/rfc/rfc4666#section-4.4.1
            //# An incoming signalling message received at an SGP
            //# should not match against more than one Routing Key.
            let earlier = self.servers.iter().take(at).find(|earlier| earlier.key.overlaps(&server.key));
            if let Some(earlier) = earlier {
                let (first, second) = (earlier.routing_context.into(), server.routing_context.into());
                return Err(ConfigError::Overlap { what: "routing contexts", first, second });
            }
            // What no key matches goes to the default application server alone.
            if server.key.destinations.is_empty() && self.default_server != Some(server.routing_context) {
                let value = server.routing_context.into();
                return Err(ConfigError::Lacks { what: "routing context", value, lacks: "point code" });
            }
        }
        let of_servers = self.servers.iter().filter_map(|server| server.key.network_appearance);
        let networks: BTreeSet<u32> = self.network_appearances.iter().copied().chain(of_servers).collect();
        if let Some(unknown) = self.international.iter().flatten().find(|named| !networks.contains(named)) {
            let (what, value) = ("an international network's appearance", (*unknown).into());
            return Err(ConfigError::Unknown { what, value });
        }
        if let Some(unknown) = self.default_server.filter(|context| !contexts.contains(context)) {
            let value = unknown.into();
            return Err(ConfigError::Unknown { what: "the default server's routing context", value });
        }
        self.queue.check()
    }

    /// The largest point code of the format.
    pub(super) const fn largest_code(&self) -> u32 {
        (1 << self.point_codes.bits()) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contradictions_are_refused_with_both_values() {
        let server = |routing_context, dpc| ApplicationServer {
            routing_context,
            key: TrafficKey::to_point_code(PointCode(dpc)),
            server: ServerConfig::default(),
        };
        let twice = SgpConfig { servers: vec![server(1, 10), server(1, 11)], ..SgpConfig::default() };
        assert_eq!(twice.check(), Err(ConfigError::Twice { what: "routing context", value: 1 }));
        let large = SgpConfig { servers: vec![server(1, 16_384)], ..SgpConfig::default() };
        assert!(large.check().unwrap_err().to_string().contains("16383"));
        let same = SgpConfig { servers: vec![server(1, 10), server(2, 10)], ..SgpConfig::default() };
        let overlap = ConfigError::Overlap { what: "routing contexts", first: 1, second: 2 };
        assert_eq!(same.check(), Err(overlap));
        let mut empty = server(2, 11);
        empty.key.destinations.clear();
        let with_default = |default_server| {
            let servers = vec![server(1, 10), empty.clone()];
            SgpConfig { servers, default_server, ..SgpConfig::default() }.check()
        };
        let lacks = |value| Err(ConfigError::Lacks { what: "routing context", value, lacks: "point code" });
        assert_eq!(with_default(Some(1)), lacks(2));
        assert_eq!(with_default(Some(2)), Ok(()));
        let network = SgpConfig { international: vec![None, Some(5)], ..SgpConfig::default() };
        let what = "an international network's appearance";
        assert_eq!(network.check(), Err(ConfigError::Unknown { what, value: 5 }));
        let default_server = Some(3);
        let unknown = SgpConfig { servers: vec![server(1, 10)], default_server, ..SgpConfig::default() };
        let what = "the default server's routing context";
        assert_eq!(unknown.check(), Err(ConfigError::Unknown { what, value: 3 }));
        let queue = QueueLimits { max: 10, onset: 10, abatement: 1 };
        assert!(SgpConfig { queue, ..SgpConfig::default() }.check().is_err());
        assert_eq!(SgpConfig::default().check(), Ok(()));
    }
}
