//! Ports that need a privilege.

use std::io;

use rustix::thread::CapabilitySet;

/// First such port where the kernel does not say it.
const USUAL: u16 = 1_024;

/// First port that this process may be bound to: all may be, with `CAP_NET_BIND_SERVICE`.
pub fn first_that_may_be_bound() -> io::Result<u16> {
    if rustix::thread::capabilities(None)?.effective.contains(CapabilitySet::NET_BIND_SERVICE) {
        return Ok(0);
    }
    let first = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start").ok();
    Ok(first.and_then(|first| first.trim().parse().ok()).unwrap_or(USUAL))
}
