//! How a signalling gateway process is configured.

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
    /// The point codes' format: one that has more bits is invalid.
    pub point_codes: PointCodeFormat,
    /// What ASPs may register.
    pub registration: Registration,
    /// Destinations whose state ASPs may not know.
    pub undisclosed: Vec<PointCode>,
    /// The messages that wait while no ASP is active, for each application server.
    pub queue: QueueLimits,
}

/// An application server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationServer {
    /// What names it.
    pub routing_context: u32,
    /// Its traffic.
    pub key: TrafficKey,
    /// Its ASPs.
    pub server: ServerConfig,
}

/// What ASPs may register (RFC 4666, section 4.4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Registration {
    /// New application servers, each with a routing context of its own.
    Dynamic {
        /// How many may be added.
        servers_max: usize,
        /// The lowest routing context to give away.
        first_routing_context: u32,
        /// Point codes that no ASP may register.
        denied: Vec<PointCode>,
        /// Point codes whose registration ASPs may not end.
        permanent: Vec<PointCode>,
        /// Whether a registration that names a routing context may change that application server's key.
        changes: KeyChanges,
    },
    /// Membership in application servers that are configured.
    Provisioned,
    /// Nothing: the messages are of an unsupported class.
    #[default]
    Unsupported,
}

/// Whether the key of an application server may be changed by registration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyChanges {
    /// It may, by an ASP that is registered in it.
    Allowed,
    /// It may not.
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
            point_codes: PointCodeFormat::Itu,
            registration: Registration::default(),
            undisclosed: Vec::new(),
            queue: QueueLimits::default(),
        }
    }
}

impl SgpConfig {
    /// What contradicts itself. Timers are checked by the gateway.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let mut contexts = BTreeSet::new();
        for server in &self.servers {
            if !contexts.insert(server.routing_context) {
                let value = server.routing_context.into();
                return Err(ConfigError::Twice { what: "routing context", value });
            }
            for destination in &server.key.destinations {
                in_range("destination point code", destination.dpc.0, 0, self.largest_code())?;
            }
        }
        self.queue.check()
    }

    /// The largest point code of the format.
    pub(super) const fn largest_code(&self) -> u32 {
        (1 << self.point_codes.bits()) - 1
    }
}

fn in_range(what: &'static str, value: u32, min: u32, max: u32) -> Result<(), ConfigError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let (value, min, max) = (value.into(), min.into(), max.into());
    Err(ConfigError::NumberOutOfRange { what, value, min, max })
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
        let queue = QueueLimits { max: 10, onset: 10, abatement: 1 };
        assert!(SgpConfig { queue, ..SgpConfig::default() }.check().is_err());
        assert_eq!(SgpConfig::default().check(), Ok(()));
    }
}
