//! Changes of the configuration while user parts are served.

use std::collections::BTreeMap;

use slantpath_base::Instant;

use crate::asp::{AspState, ConfigError, Process, ProcessEvent, ServerName};
use crate::m3ua::asp::network::RouteSet;
use crate::m3ua::asp::{Asp, AspConfig, AspOutput, Peer, Server};
use crate::m3ua::{DestinationState, NetworkPoint};

impl Asp {
    /// Takes another configuration. Gateways, application servers and destinations that are in both go on. What is to
    /// be served no longer ought to be inactive by now: the gateway is told nothing. A gateway is asked for what is
    /// new there.
    ///
    /// # Errors
    /// If the configuration contradicts itself; nothing changes then.
    pub fn reconfigure(&mut self, now: Instant, config: AspConfig) -> Result<(), ConfigError> {
        config.check()?;
        let mut added = Vec::new();
        for gateway in config.gateways.iter().filter(|gateway| !self.gateways.contains_key(gateway)) {
            added.push((*gateway, Process::new(config.process)?));
        }
        for peer in self.gateways.values_mut() {
            peer.process.reconfigure(config.process)?;
        }
        let gone = self.gateways.keys().copied().filter(|gateway| !config.gateways.contains(gateway));
        for gateway in gone.collect::<Vec<_>>() {
            self.forget_registrations(gateway);
            self.gateways.remove(&gateway);
        }
        let added = added.into_iter().map(|(at, process)| (at, Peer { process, link: None, audit_at: None }));
        self.gateways.extend(added);
        self.change_servers(now, &config);
        let before = self.change_destinations(&config);
        self.config = config;
        self.settle_routes();
        for gateway in self.gateways.keys().copied().collect::<Vec<_>>() {
            let is_active = self.gateways.get(&gateway).is_some_and(|peer| peer.process.is_active());
            let mut routes = self.routes.iter();
            if is_active && routes.any(|(place, set)| set.is_new_over(gateway, before.get(place))) {
                self.audit(now, gateway);
            }
        }
        Ok(())
    }

    fn change_servers(&mut self, now: Instant, config: &AspConfig) {
        let is_kept = |name: &ServerName<u32>| config.servers.iter().any(|own| own.name == *name);
        let configured = self.servers.iter().filter(|own| own.registered_at.is_none());
        let gone: Vec<_> =
            configured.map(|own| own.served.name.clone()).filter(|name| !is_kept(name)).collect();
        self.servers.retain(|own| own.registered_at.is_some());
        let own = config.servers.iter().cloned().map(|served| Server { served, registered_at: None });
        self.servers.extend(own);
        for gateway in self.gateways.keys().copied().collect::<Vec<_>>() {
            for name in &gone {
                if self.state(gateway, name) != AspState::Down {
                    let event = ProcessEvent::Asp(name.clone(), AspState::Down);
                    self.outputs.push_back(AspOutput::Event(gateway, event));
                }
                self.command(now, gateway, |process| process.remove_server(name));
            }
            for served in &config.servers {
                let (name, mode) = (served.name.clone(), served.traffic_mode);
                self.command(now, gateway, |process| process.add_server(name, mode));
            }
        }
    }

    /// Gives the former routes.
    fn change_destinations(&mut self, config: &AspConfig) -> BTreeMap<NetworkPoint, RouteSet> {
        let before = std::mem::take(&mut self.routes);
        let own = |destination| {
            let (place, new) = RouteSet::new(destination);
            let former = before.get(&place);
            (place, former.map_or(new, |former| RouteSet::succeeding(destination, former)))
        };
        self.routes = config.destinations.iter().map(own).collect();
        for (place, set) in &before {
            if !self.routes.contains_key(place) {
                self.indicate(*place, set.state(), DestinationState::default());
            }
        }
        before
    }

    /// Gives its configuration.
    pub const fn config(&self) -> &AspConfig {
        &self.config
    }
}
