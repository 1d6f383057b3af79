//! Questions to the machine: its addresses, and the address towards a destination.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use nix::ifaddrs::getifaddrs;

use crate::config::is_for_others;

/// The machine's addresses, in the order in which it lists them.
pub fn own_addresses() -> Vec<IpAddr> {
    let mut addresses = Vec::new();
    for interface in getifaddrs().into_iter().flatten() {
        let Some(storage) = interface.address else { continue };
        let v4 = storage.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
        let v6 = storage.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip()));
        addresses.extend(v4.or(v6));
    }
    addresses
}

/// Addresses of the machine to which hosts elsewhere can send: none of the loopback, nor of a link alone.
pub fn addresses_for_others() -> Vec<IpAddr> {
    own_addresses().into_iter().filter(|address| is_for_others(*address)).collect()
}

/// The own address from which packets to `destination` leave, by the routes as they are. Nothing is sent.
pub fn source_towards(destination: IpAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match destination {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind(SocketAddr::new(any, 0))?;
    socket.connect(SocketAddr::new(destination, 9))?;
    Ok(socket.local_addr()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_a_loopback_and_reaches_itself_from_there() {
        let loopback: IpAddr = Ipv4Addr::LOCALHOST.into();
        assert!(own_addresses().contains(&loopback));
        assert_eq!(source_towards(loopback).unwrap(), loopback);
    }
}
