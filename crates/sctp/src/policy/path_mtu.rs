//! Discovery of the path MTU of an address.

/// Method by which the path MTU is found (RFC 9260, section 7.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathMtuDiscovery {
    /// Begins with `initial_path_mtu` and follows ICMP downwards (RFC 1191, RFC 8201).
    #[default]
    Off,
    /// Probe packets look for it between `base_path_mtu` and `max_path_mtu`; ICMP is a hint where to look (RFC 8899).
    Probing,
}
