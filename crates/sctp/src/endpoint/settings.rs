//! Settings that change while a port is in use.

use super::{Endpoint, PortConfig};

impl Endpoint {
    /// Gives a port other settings and other addresses, for associations that are set up from now on. Those that there
    /// are keep theirs, and what a port may hold together stays as it is. `false` if the port has not been bound.
    ///
    /// # Panics
    /// As [`bind`](Self::bind) does.
    pub fn configure_port(&mut self, port: PortConfig) -> bool {
        let PortConfig { port, addresses, config } = port;
        assert!(!addresses.is_empty(), "a port has an address");
        let thresholds = config.thresholds().check();
        assert!(thresholds.is_ok(), "{thresholds:?}");
        let Some(&place) = self.by_number.get(&port) else { return false };
        self.ports[place as usize].configure(config, &addresses);
        true
    }
}
