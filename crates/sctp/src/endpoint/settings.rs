//! Settings that change while a port is in use.

use std::net::IpAddr;
use std::sync::Arc;

use slantpath_base::Duration;

use super::table::State;
use super::{AssociationId, Endpoint, PortId};
use crate::config::SctpConfig;

impl Endpoint {
    /// Gives a port other settings and other addresses, for associations that are set up from now on. Those that there
    /// are keep theirs, and what a port may hold together stays as it is.
    ///
    /// # Panics
    /// As [`bind`](Self::bind) does.
    pub fn configure_port(&mut self, PortId(place): PortId, addresses: &[IpAddr], config: SctpConfig) {
        assert!(!addresses.is_empty(), "a port has an address");
        let thresholds = config.thresholds().check();
        assert!(thresholds.is_ok(), "{thresholds:?}");
        self.ports[place as usize].configure(config, addresses);
        self.table.forget_latest();
    }

    /// Settings of an association, in whatever state; `None` if there is no such association.
    pub fn settings(&self, id: AssociationId) -> Option<&SctpConfig> {
        self.table.find(id).map(|entry| &*entry.config)
    }

    /// Changes settings of an association: timeouts, thresholds, intervals, delays of SACKs, bursts and reports hold
    /// from now on. What both ends have agreed on stays as it is, as do buffers, windows and path MTUs that exist.
    /// `false` if there is no such association, or the new settings contradict each other: then nothing changes.
    pub fn change_settings(&mut self, id: AssociationId, change: impl FnOnce(&mut SctpConfig)) -> bool {
        let Some(entry) = self.table.find_mut(id) else { return false };
        let before = &entry.config;
        let mut config = (**before).clone();
        change(&mut config);
        // A send buffer that holds more than it may cannot be reckoned with.
        config.send_buffer_bytes = config.send_buffer_bytes.max(before.send_buffer_bytes);
        if config.rto_min > config.rto_max || config.thresholds().check().is_err() {
            return false;
        }
        let config = Arc::new(config);
        entry.config = Arc::clone(&config);
        if let State::Established(association) = &mut entry.state {
            association.configure(config);
            self.wake(id.slot());
        }
        true
    }

    /// HB.interval of an address of an association's peer: see [`Association::heartbeat_interval`].
    ///
    /// [`Association::heartbeat_interval`]: crate::Association::heartbeat_interval
    pub fn heartbeat_interval(&self, id: AssociationId, address: IpAddr) -> Option<Option<Duration>> {
        self.association(id)?.heartbeat_interval(address)
    }
}
