//! Configuration of an application server process.

use std::collections::BTreeSet;

use slantpath_base::Duration;
use slantpath_ss7::PointCode;

use crate::asp::{ConfigError, ProcessConfig, ServerName, TrafficMode};
use crate::transport::AssociationNumber;

/// An application server process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AspConfig {
    /// T(ack), heartbeats, the ASP identifier: the same towards every gateway.
    pub process: ProcessConfig,
    /// The gateway processes, each by its association.
    pub gateways: Vec<AssociationNumber>,
    /// The application servers that it serves, at every gateway.
    pub servers: Vec<ServedServer>,
    /// The destinations that it speaks to. It is told of no others.
    pub destinations: Vec<Destination>,
    /// Condition on which a destination counts as available.
    pub availability: AvailabilityPolicy,
    /// Time after bad news of a destination until the gateway is asked again, and interval from then on. The RFC gives
    /// no value; 30 seconds are Q.704's T10, which asks for routes that are prohibited.
    pub audit: Duration,
}

impl Default for AspConfig {
    fn default() -> Self {
        Self {
            process: ProcessConfig::default(),
            gateways: Vec::new(),
            servers: Vec::new(),
            destinations: Vec::new(),
            availability: AvailabilityPolicy::default(),
            audit: Duration::from_secs(30),
        }
    }
}

/// An application server, as its ASP knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedServer {
    /// Routing context of the application server, if messages name it.
    pub name: ServerName<u32>,
    /// The network of its point codes.
    pub network_appearance: Option<u32>,
    /// The point codes that its messages come from; any if none is given.
    pub point_codes: Vec<PointCode>,
    /// The traffic mode to ask for.
    pub traffic_mode: Option<TrafficMode>,
}

/// A destination and the ways to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Network of the destination.
    pub network_appearance: Option<u32>,
    /// Point code of the destination.
    pub point_code: PointCode,
    /// The gateways that lead there, each with a priority: the lowest number that is usable carries the traffic, and
    /// equal ones share it by signalling link selection.
    pub gateways: Vec<(AssociationNumber, u8)>,
}

/// Condition on which a destination counts as available over a gateway where traffic flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AvailabilityPolicy {
    /// Unless the gateway announces otherwise: for gateways that answer no audit.
    Assumed,
    /// Available once the gateway has announced it: a route that was never up is not available.
    #[default]
    Announced,
}

impl AspConfig {
    /// Checks that nothing contradicts itself. Timers of the process are checked there.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let mut gateways = BTreeSet::new();
        for gateway in &self.gateways {
            once(&mut gateways, *gateway, "association", gateway.0)?;
        }
        let mut points = BTreeSet::new();
        for destination in &self.destinations {
            let place = (destination.network_appearance, destination.point_code);
            once(&mut points, place, "destination", destination.point_code.0)?;
            let value = destination.point_code.0.into();
            if destination.gateways.is_empty() {
                return Err(ConfigError::Lacks { what: "destination", value, lacks: "gateway" });
            }
            let mut ways = BTreeSet::new();
            for (gateway, _) in &destination.gateways {
                once(&mut ways, *gateway, "a destination's association", gateway.0)?;
                if !gateways.contains(gateway) {
                    let value = gateway.0.into();
                    return Err(ConfigError::Unknown { what: "a destination's association", value });
                }
            }
        }
        let mut names = BTreeSet::new();
        for server in &self.servers {
            let value = server.name.key().copied().unwrap_or_default();
            once(&mut names, server.name.clone(), "routing context", value)?;
        }
        crate::asp::config::AUDIT.check(self.audit)
    }
}

fn once<T: Ord>(seen: &mut BTreeSet<T>, item: T, what: &'static str, value: u32) -> Result<(), ConfigError> {
    if seen.insert(item) { Ok(()) } else { Err(ConfigError::Twice { what, value: value.into() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_has_ways_and_each_is_a_gateway() {
        let over = |gateways: &[u32]| {
            let gateways = gateways.iter().map(|gateway| (AssociationNumber(*gateway), 0)).collect();
            let destination = Destination { network_appearance: None, point_code: PointCode(9), gateways };
            let gateways = vec![AssociationNumber(1), AssociationNumber(2)];
            AspConfig { gateways, destinations: vec![destination], ..AspConfig::default() }.check()
        };
        assert_eq!(over(&[1, 2]), Ok(()));
        assert_eq!(over(&[]), Err(ConfigError::Lacks { what: "destination", value: 9, lacks: "gateway" }));
        let what = "a destination's association";
        assert_eq!(over(&[1, 3]), Err(ConfigError::Unknown { what, value: 3 }));
        assert_eq!(over(&[1, 1]), Err(ConfigError::Twice { what, value: 1 }));
    }
}
