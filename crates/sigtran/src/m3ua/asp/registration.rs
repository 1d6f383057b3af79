//! Registration at a gateway (RFC 4666, section 4.4).

use slantpath_base::Instant;

use crate::asp::{ServerName, TrafficMode};
use crate::m3ua::asp::{Asp, AspOutput, ServedServer, Server};
use crate::m3ua::{
    DeregistrationResult, DeregistrationStatus, Message, RegistrationResult, RegistrationStatus, RoutingKey,
};
use crate::transport::AssociationNumber;

/// A registration is asked for before the gateway has granted ASP Up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("association {} is not up: register after ASP Up is granted", .0.0)]
pub struct NotUp(pub AssociationNumber);

impl Asp {
    /// Registers routing keys; each comes out as [`AspOutput::Registered`]. One that is granted adds an application
    /// server, which is served when it is activated, until the ASP goes down.
    ///
    /// # Errors
    /// If the ASP is not up at that gateway.
    pub fn register(&mut self, gateway: AssociationNumber, keys: Vec<RoutingKey>) -> Result<(), NotUp> {
        if !self.is_up(gateway) {
            return Err(NotUp(gateway));
        }
        for key in &keys {
            self.registering.insert((gateway, key.local_identifier), key.clone());
        }
        self.send(gateway, &Message::RegReq { keys });
        Ok(())
    }

    /// Ends registrations; each comes out as [`AspOutput::Deregistered`].
    ///
    /// # Errors
    /// If the ASP is not up at that gateway.
    pub fn deregister(
        &mut self,
        gateway: AssociationNumber,
        routing_contexts: Vec<u32>,
    ) -> Result<(), NotUp> {
        if !self.is_up(gateway) {
            return Err(NotUp(gateway));
        }
        self.send(gateway, &Message::DeregReq { routing_contexts });
        Ok(())
    }

    pub(super) fn handle_registered(
        &mut self,
        now: Instant,
        from: AssociationNumber,
        results: Vec<RegistrationResult>,
    ) {
        for result in results {
            let Some(key) = self.registering.remove(&(from, result.local_identifier)) else {
                self.counters.ignored += 1;
                continue;
            };
            // One that is registered already comes with its routing context.
            if matches!(
                result.status,
                RegistrationStatus::REGISTERED | RegistrationStatus::ALREADY_REGISTERED
            ) {
                self.add_registered(now, from, result.routing_context, &key);
            }
            self.outputs.push_back(AspOutput::Registered(from, result));
        }
    }

    fn add_registered(&mut self, now: Instant, gateway: AssociationNumber, context: u32, key: &RoutingKey) {
        let name = ServerName::Named(context);
        let traffic_mode = key.traffic_mode.and_then(|mode| TrafficMode::from_number(mode).ok());
        let served = ServedServer {
            name: name.clone(),
            network_appearance: key.network_appearance,
            point_codes: key.destinations.iter().map(|destination| destination.dpc).collect(),
            traffic_mode,
        };
        // A context that is granted again keeps what has been asked for it, and granted.
        self.servers.retain(|server| !server.is_registered(gateway, &name));
        self.servers.push(Server { served, registered_at: Some(gateway) });
        self.command(now, gateway, |process| process.add_server(name, traffic_mode));
    }

    pub(super) fn handle_deregistered(
        &mut self,
        from: AssociationNumber,
        results: Vec<DeregistrationResult>,
    ) {
        for result in results {
            if result.status == DeregistrationStatus::DEREGISTERED {
                self.remove_registered(from, result.routing_context);
            }
            self.outputs.push_back(AspOutput::Deregistered(from, result));
        }
        self.settle_routes();
    }

    fn remove_registered(&mut self, gateway: AssociationNumber, context: u32) {
        let name = ServerName::Named(context);
        let before = self.servers.len();
        self.servers.retain(|server| !server.is_registered(gateway, &name));
        if self.servers.len() < before
            && let Some(peer) = self.gateways.get_mut(&gateway)
        {
            peer.process.remove_server(&name);
        }
    }

    /// The gateway holds the ASP for down, and so for deregistered.
    pub(super) fn forget_registrations(&mut self, gateway: AssociationNumber) {
        self.registering.retain(|(at, _), _| *at != gateway);
        let of_gateway = self.servers.iter().filter(|server| server.registered_at == Some(gateway));
        let contexts: Vec<u32> = of_gateway.filter_map(|server| server.served.name.key().copied()).collect();
        for context in contexts {
            self.remove_registered(gateway, context);
        }
    }
}
