//! Configuration of a socket: transport with its settings, local addresses and port, and peer.

use std::net::IpAddr;

use slantpath_sctp as sctp;
use slantpath_tcp as tcp;

/// Transport that a flow runs over, and its settings.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// One SCTP association.
    Sctp(Box<sctp::SctpConfig>),
    /// One TCP connection.
    Tcp(Box<tcp::TcpConfig>),
}

/// Layer between the application and the association.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adaptation {
    /// M3UA (RFC 4666): messages are MSUs, their streams are signalling link selections. Over SCTP only.
    M3ua,
    /// No adaptation layer.
    #[default]
    None,
}

/// One end of a flow's transport.
#[derive(Clone, Debug)]
pub struct TransportConfig {
    /// The protocol and its settings.
    pub protocol: Protocol,
    /// Adaptation layer above the transport.
    pub adaptation: Adaptation,
    /// The host's addresses that the flow uses; a TCP connection is opened from that of the interface towards its
    /// peer, or else from the first.
    pub local_addresses: Vec<IpAddr>,
    /// The host's port.
    pub local_port: u16,
    /// Whom to connect to; a listener has nobody.
    pub peer: Option<Peer>,
}

/// Whom to connect to.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The peer's addresses that are known beforehand, at least one. The first is the primary; SCTP learns
    /// others in its handshake.
    pub addresses: Vec<IpAddr>,
    /// The peer's port.
    pub port: u16,
}
