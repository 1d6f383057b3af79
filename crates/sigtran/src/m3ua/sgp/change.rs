//! Changes of the configuration while ASPs are served.

use std::collections::BTreeSet;

use slantpath_base::Instant;

use crate::asp::ConfigError;
use crate::m3ua::sgp::{ApplicationServer, Sgp, SgpConfig};
use crate::m3ua::{NetworkPoint, TrafficKey};
use crate::transport::AssociationNumber;

impl SgpConfig {
    /// Names the first setting that a running process keeps as it is, of those that differ from another
    /// configuration's.
    pub fn fixed_difference(&self, to: &Self) -> Option<&'static str> {
        let differs = [
            (self.point_codes != to.point_codes, "format of point codes"),
            (self.international != to.international, "international networks"),
        ];
        differs.into_iter().find(|(differs, _)| *differs).map(|(_, name)| name)
    }
}

impl Sgp {
    /// Takes another configuration. Application servers are known by their routing contexts: one that is in both, with
    /// all its ASPs, goes on, and what waits there waits. An ASP that is to serve no longer gets an ASP Inactive Ack,
    /// and so do all of an application server that goes, or whose traffic mode changes. One that registration has made
    /// goes if a configured one takes its place.
    ///
    /// # Errors
    /// If the configuration contradicts itself; nothing changes then.
    pub fn reconfigure(&mut self, now: Instant, config: SgpConfig) -> Result<(), ConfigError> {
        config.check()?;
        self.gateway.reconfigure(config.gateway)?;
        let is_kept = |context: u32| config.servers.iter().any(|own| own.routing_context == context);
        let displaces = |own: &ApplicationServer, context: u32, key: &TrafficKey| {
            own.routing_context == context || own.key.overlaps(key)
        };
        let goes = |(context, key): (u32, &TrafficKey)| {
            let goes = if self.dynamic.contains(&context) {
                config.servers.iter().any(|own| displaces(own, context, key))
            } else {
                !is_kept(context)
            };
            goes.then_some(context)
        };
        let gone: Vec<u32> = self.table.keys().filter_map(goes).collect();
        let mut touched: BTreeSet<(u32, NetworkPoint)> = BTreeSet::new();
        for context in gone {
            touched.extend(self.places(context).map(|place| (context, place)));
            self.end_congestion(context);
            self.gateway.end_server(now, &context);
            self.follow_gateway();
            self.discard_queue(context);
            self.distribution.remove(&context);
            self.dynamic.remove(&context);
            self.table.remove(context);
        }
        for own in &config.servers {
            let context = own.routing_context;
            if self.key(context) == Some(&own.key) {
                continue;
            }
            touched.extend(self.places(context).map(|place| (context, place)));
            self.end_congestion(context);
            self.table.insert(context, own.key.clone());
            touched.extend(own.key.points().map(|place| (context, place)));
        }
        self.network_appearances = config.network_appearances.iter().copied().collect();
        self.network_appearances.extend(self.table.keys().filter_map(|(_, key)| key.network_appearance));
        self.config = config;
        for own in self.config.servers.clone() {
            self.gateway.change_server(now, &own.routing_context, own.server);
        }
        self.follow_gateway();
        for (context, place) in touched {
            self.follow_availability_of(context, &[place]);
        }
        self.follow_congestion();
        Ok(())
    }

    /// Gives its configuration.
    pub const fn config(&self) -> &SgpConfig {
        &self.config
    }

    /// Forgets an ASP whose association is down, and will not come up again.
    pub fn forget(&mut self, association: AssociationNumber) {
        self.links.remove(&association);
        self.gateway.forget(association);
    }

    fn places(&self, context: u32) -> impl Iterator<Item = NetworkPoint> {
        self.key(context).into_iter().flat_map(TrafficKey::points)
    }
}
