//! Changes of a gateway's configuration while it serves: application servers and ASPs that stay notice nothing.

use slantpath_base::Instant;

use crate::asp::config::{self, ConfigError};
use crate::asp::gateway::server::{Members, Server, ServerConfig};
use crate::asp::gateway::{Gateway, GatewayConfig, GatewayEvent, Key};
use crate::asp::{AdaptationLayer, AsState, AspState, RemoteAspInput};
use crate::transport::AssociationNumber;

impl GatewayConfig {
    /// Refuses a timer out of its range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        config::RECOVERY.check(self.recovery)?;
        self.heartbeat.map_or(Ok(()), |beat| config::HEARTBEAT.check(beat))
    }
}

impl<L: AdaptationLayer> Gateway<L> {
    /// Takes other settings. Those of heartbeats hold for associations that come up from now on.
    ///
    /// # Errors
    /// If a timer is out of its range; nothing changes then.
    pub fn reconfigure(&mut self, config: GatewayConfig) -> Result<(), ConfigError> {
        config.check()?;
        self.config = config;
        Ok(())
    }

    /// Adds an application server while ASPs are up: they are told of it.
    pub fn begin_server(&mut self, now: Instant, key: &Key<L>, config: ServerConfig) {
        self.servers.insert(key.clone(), Server::new(config));
        self.admit(now, key);
    }

    /// Gives an application server other settings. ASPs that may serve it no longer give its traffic back, and all of
    /// them do if it is to be shared in another mode: they ask for it anew.
    pub fn change_server(&mut self, now: Instant, key: &Key<L>, config: ServerConfig) {
        let Some(server) = self.servers.get(key) else { return self.begin_server(now, key, config) };
        if *server.config() == config {
            return;
        }
        let has_other_mode = server.config().traffic_mode != config.traffic_mode;
        let leaves = |asp: &AssociationNumber| has_other_mode || !server.would_admit(&config, *asp);
        let leaving: Vec<_> = server.active.iter().copied().filter(leaves).collect();
        for asp in leaving {
            self.withdraw(now, asp, std::slice::from_ref(key), RemoteAspInput::LockoutOfTraffic, false);
        }
        let Some(server) = self.servers.get_mut(key) else { return };
        let gone = server.reconfigure(config);
        for asp in gone {
            self.event(GatewayEvent::Asp(asp, key.clone(), AspState::Down));
        }
        self.admit(now, key);
    }

    /// Ends an application server: its ASPs give the traffic back, and nothing waits for them.
    pub fn end_server(&mut self, now: Instant, key: &Key<L>) {
        self.block(now, key);
        let Some(server) = self.servers.remove(key) else { return };
        for asp in server.up() {
            self.event(GatewayEvent::Asp(asp, key.clone(), AspState::Down));
        }
        if server.state != AsState::Down {
            self.event(GatewayEvent::As(key.clone(), AsState::Down));
        }
    }

    /// Forgets an ASP whose association is down, and will not come up again.
    pub fn forget(&mut self, association: AssociationNumber) {
        self.asps.remove(&association);
        for server in self.servers.values_mut().filter(|server| server.config().members == Members::Any) {
            server.deregister(association);
        }
    }

    /// ASPs that are up already become inactive in an application server that they may serve now.
    fn admit(&mut self, now: Instant, key: &Key<L>) {
        let Some(server) = self.servers.get(key) else { return };
        let up = self.asps.iter().filter(|(_, asp)| asp.is_up).map(|(association, _)| *association);
        let is_new =
            |asp: &AssociationNumber| server.may_serve(*asp) && server.state_of(*asp) == AspState::Down;
        let new: Vec<_> = up.filter(is_new).collect();
        for asp in &new {
            self.set_state(*asp, key, AspState::Inactive);
        }
        if !self.settle(now, key) {
            for asp in new {
                self.notify_state(asp, key);
            }
        }
    }
}
