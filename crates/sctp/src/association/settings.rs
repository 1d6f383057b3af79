//! Settings that change while an association lives.

use std::net::IpAddr;
use std::sync::Arc;

use slantpath_base::Duration;

use super::Association;
use crate::config::SctpConfig;

impl Association {
    /// Settings of the association.
    pub fn config(&self) -> &SctpConfig {
        &self.config
    }

    /// HB.interval of an address of the peer, `Some(None)` without HEARTBEATs; `None` if it is none of the peer's.
    pub fn heartbeat_interval(&self, address: IpAddr) -> Option<Option<Duration>> {
        self.paths.find(address).map(|path| self.paths[path].heartbeat_interval)
    }

    /// Goes on with other settings. Those that both ends have agreed on stay as they are, as do buffers, windows and
    /// path MTUs that exist.
    pub(crate) fn configure(&mut self, config: Arc<SctpConfig>) {
        let rto = (config.rto() != self.config.rto()).then(|| config.rto());
        let interval = config.heartbeat_interval;
        let has_other_interval = interval != self.config.heartbeat_interval;
        self.paths.for_each(|path| {
            if let Some(rto) = rto {
                path.rtt.configure(rto);
            }
            if has_other_interval {
                path.heartbeat_interval = interval;
            }
        });
        self.config = config;
    }
}
