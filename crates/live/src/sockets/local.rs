//! What the machine is asked: its addresses, the address towards a destination, and who has a port.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixDatagram};

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

/// Those of them that hosts elsewhere can send to: none of the loopback, nor of a link alone.
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

/// A name that one program of a network namespace has. The kernel knows no ports of raw sockets: programs of this
/// project keep theirs from each other by names of sockets that nothing is ever sent to.
#[derive(Debug)]
pub(crate) struct Claim {
    _holder: UnixDatagram,
}

impl Claim {
    /// Claims an SCTP port at an address; `None` if another has it.
    pub(crate) fn port(address: IpAddr, port: u16) -> io::Result<Option<Self>> {
        Self::of(&format!("slantpath/sctp/{address}/{port}"))
    }

    /// Claims to be the one that answers, for an address, what is of no port.
    pub(crate) fn out_of_the_blue(address: IpAddr) -> io::Result<Option<Self>> {
        Self::of(&format!("slantpath/sctp/{address}"))
    }

    fn of(name: &str) -> io::Result<Option<Self>> {
        match UnixDatagram::bind_addr(&UnixAddr::from_abstract_name(name)?) {
            Ok(holder) => Ok(Some(Self { _holder: holder })),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_one_programs_at_each_address_until_it_gives_it_back() {
        let address = |last| IpAddr::from([127, 0, 9, last]);
        let first = Claim::port(address(1), 60_001).unwrap();
        assert!(first.is_some());
        assert!(Claim::port(address(1), 60_001).unwrap().is_none());
        assert!(Claim::port(address(2), 60_001).unwrap().is_some());
        drop(first);
        assert!(Claim::port(address(1), 60_001).unwrap().is_some());
    }

    #[test]
    fn the_machine_has_a_loopback_and_reaches_itself_from_there() {
        let loopback: IpAddr = Ipv4Addr::LOCALHOST.into();
        assert!(own_addresses().contains(&loopback));
        assert_eq!(source_towards(loopback).unwrap(), loopback);
    }
}
