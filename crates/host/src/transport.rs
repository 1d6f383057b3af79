//! Configuration of a socket: transport with its settings, local addresses and port, and peer.

use std::net::IpAddr;

use slantpath_sctp as sctp;
use slantpath_tcp as tcp;
use slantpath_wire::ip::IpFields;

/// Transport of a socket, and its settings.
#[derive(Clone, Debug)]
pub enum Protocol {
    /// Echo requests of ICMP, each of which the peer answers. Both ends have one port, the identifier.
    Echo(Box<DatagramConfig>),
    /// One SCTP association.
    Sctp(Box<sctp::SctpConfig>),
    /// One TCP connection.
    Tcp(Box<tcp::TcpConfig>),
    /// Datagrams of UDP between two ports.
    Udp(Box<DatagramConfig>),
}

/// Settings of an end that sends or receives datagrams, of which each stands for itself.
#[derive(Clone, Copy, Debug)]
pub struct DatagramConfig {
    /// Fields of the IP header of what it sends.
    pub ip: IpFields,
    /// Greatest length of an IPv6 packet that is not cut where it is sent. IPv4 packets are cut where a link asks for
    /// it.
    pub source_mtu: u16,
    /// Port of the peer of an end that does not open; one that opens knows its peer. Zero opens the port to all: what
    /// comes is [answered](crate::Application::answer), and nothing is told.
    pub peer_port: u16,
}

/// One end of an association or connection.
#[derive(Clone, Debug)]
pub struct TransportConfig {
    /// The protocol and its settings.
    pub protocol: Protocol,
    /// The host's addresses that it uses; a TCP connection is opened from that of the interface towards its
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
