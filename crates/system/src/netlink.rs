//! Links, addresses and routes of a network namespace (rtnetlink).

mod message;
mod requests;

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::sys::socket::NetlinkAddr;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use crate::clock::monotonic;
use crate::{interface, options};
use message::{Answer, Heard, Message, answer, messages};

/// SOL_NETLINK and its options NETLINK_CAP_ACK and NETLINK_EXT_ACK.
const SOL_NETLINK: i32 = 270;
const CAP_ACK: i32 = 10;
const EXT_ACK: i32 = 11;
/// NETLINK_ADD_MEMBERSHIP, NETLINK_DROP_MEMBERSHIP and the groups RTNLGRP_LINK and RTNLGRP_IPV6_ROUTE.
const ADD_MEMBERSHIP: i32 = 1;
const DROP_MEMBERSHIP: i32 = 2;
const LINKS: u32 = 1;
const ROUTES_OF_IPV6: u32 = 11;
/// Longer than the kernel takes to have a new address, by far.
const SOON: Duration = Duration::from_secs(1);
/// Flag of a link that is up (IFF_UP).
const UP: u32 = 1;
/// Longer than any answer to a request here.
const LONGEST: usize = 8_192;

/// Socket to the kernel, for the network namespace of the thread that has opened it. Any thread may use it.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    /// Hears news, as long as they are waited for.
    listener: OwnedFd,
    sequence: u32,
}

/// Pair of links that are the two ends of one wire.
#[derive(Clone, Copy, Debug)]
pub struct Veth<'a> {
    /// Name of the near end, at most 15 bytes.
    pub name: &'a str,
    /// Ethernet address of the near end.
    pub address: [u8; 6],
    /// Name of the far end, at most 15 bytes.
    pub peer: &'a str,
    /// Ethernet address of the far end.
    pub peer_address: [u8; 6],
    /// Network namespace of the far end.
    pub peer_namespace: BorrowedFd<'a>,
    /// Longest IP packet of both ends, in bytes: 68 to 65,535.
    pub mtu: u32,
    /// Longest IP packet that an end takes before it is cut into segments, in bytes.
    pub gso_max_size: u32,
}

/// State of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceState {
    /// True if it is set up, with a carrier or without.
    pub is_up: bool,
    /// True if it is a port of another link, as of a bridge.
    pub is_enslaved: bool,
    /// Longest IP packet, in bytes.
    pub mtu: u32,
    /// Addresses that the machine has there.
    pub addresses: Vec<IpAddr>,
}

/// Route of the main table.
#[derive(Clone, Copy, Debug)]
pub struct KernelRoute<'a> {
    /// Destinations, as an address without host bits and the length of the prefix.
    pub destination: (IpAddr, u8),
    /// Next router, of the same family; without one destinations are on the link.
    pub gateway: Option<IpAddr>,
    /// Link that packets leave by.
    pub interface: &'a str,
    /// Source address that is preferred.
    pub source: Option<IpAddr>,
    /// Metric: the kernel takes the least, and 0 (IPv4) or 1,024 (IPv6) if it is not said.
    pub metric: Option<u32>,
}

/// Request that was refused, before the kernel or by it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetlinkError {
    /// Refused before the kernel has seen it.
    #[error("{request}: {reason}")]
    Invalid {
        /// Request in words.
        request: String,
        /// Fault, and the right form.
        reason: String,
    },
    /// Refused by the kernel.
    #[error("{request}: {source}{}", in_brackets(detail.as_ref()))]
    Refused {
        /// Request in words.
        request: String,
        /// Reason of the kernel.
        source: io::Error,
        /// Words of the kernel, where it has any.
        detail: Option<String>,
    },
    /// The socket has failed.
    #[error("{request}: the netlink socket: {source}")]
    Socket {
        /// Request in words.
        request: String,
        /// Reason of the system.
        source: io::Error,
    },
}

fn in_brackets(detail: Option<&String>) -> String {
    detail.map_or_else(String::new, |detail| format!(" ({detail})"))
}

impl Netlink {
    /// Opens a socket in the network namespace of the calling thread.
    pub fn open() -> io::Result<Self> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        // NETLINK_ROUTE is the protocol 0.
        let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
        for option in [CAP_ACK, EXT_ACK] {
            options::set(&socket, SOL_NETLINK, option, &1_i32.to_ne_bytes())?;
        }
        let listener = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
        nix::sys::socket::bind(listener.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
        Ok(Self { socket, listener, sequence: 0 })
    }

    /// Adds both ends of a wire, which are down.
    pub fn add_veth(&mut self, veth: &Veth<'_>) -> Result<(), NetlinkError> {
        let request = format!("add the links {} and {}", veth.name, veth.peer);
        checked(&request, interface::check(veth.name))?;
        checked(&request, interface::check(veth.peer))?;
        self.ask(request, requests::add_veth(veth))
    }

    /// Sets a link up.
    pub fn set_up(&mut self, name: &str) -> Result<(), NetlinkError> {
        let request = format!("set the link {name} up");
        checked(&request, interface::check(name))?;
        self.ask(request, requests::set_up(name))
    }

    /// Waits until a link is up and has a carrier: until then what is sent there is lost. The two ends of a wire have
    /// one soon after both are up. `false` if the time is over before that.
    pub fn wait_until_running(&mut self, name: &str, timeout: Duration) -> Result<bool, NetlinkError> {
        let request = format!("wait until the link {name} is running");
        let index = checked(&request, interface::index_of(&self.socket, name))?;
        checked(&request, self.listen(LINKS, true))?;
        let mut is_running = false;
        let told = self.ask_for(request.clone(), requests::tell_link(name), |heard| {
            is_running |= heard.is_running(index);
        });
        let heard = told.and_then(|()| {
            Ok(is_running || checked(&request, self.hear(timeout, |heard| heard.is_running(index)))?)
        });
        checked(&request, self.listen(LINKS, false))?;
        heard
    }

    /// State of a link.
    pub fn link_state(&mut self, name: &str) -> Result<DeviceState, NetlinkError> {
        let request = format!("look at the link {name}");
        let index = checked(&request, interface::index_of(&self.socket, name))?;
        let mut found = None;
        self.ask_for(request.clone(), requests::tell_link(name), |heard| {
            found = found.or_else(|| heard.state(index));
        })?;
        let (flags, mtu, is_enslaved) =
            checked(&request, found.ok_or_else(|| io::ErrorKind::NotFound.into()))?;
        let all = checked(&request, nix::ifaddrs::getifaddrs().map_err(io::Error::from))?;
        let own = all.filter(|own| own.interface_name == name).filter_map(|own| own.address);
        let address = |own: nix::sys::socket::SockaddrStorage| {
            let v4 = own.as_sockaddr_in().map(|own| IpAddr::from(own.ip()));
            v4.or_else(|| own.as_sockaddr_in6().map(|own| own.ip().into()))
        };
        let addresses = own.filter_map(address).collect();
        Ok(DeviceState { is_up: flags & UP != 0, is_enslaved, mtu, addresses })
    }

    /// Removes a link, and the other end of its wire with it.
    pub fn remove_link(&mut self, name: &str) -> Result<(), NetlinkError> {
        let request = format!("remove the link {name}");
        checked(&request, interface::check(name))?;
        self.ask(request, requests::remove_link(name))
    }

    /// Adds an address to a link. One of IPv6 can be used at once: nobody is asked if it has the address.
    pub fn add_address(&mut self, name: &str, address: IpAddr, prefix_len: u8) -> Result<(), NetlinkError> {
        let request = format!("add the address {address}/{prefix_len} to the link {name}");
        checked(&request, prefix(address, prefix_len))?;
        let index = checked(&request, interface::index_of(&self.socket, name))?;
        let message = requests::add_address(index, address, prefix_len);
        let IpAddr::V6(address) = address else { return self.ask(request, message) };
        // The kernel says that it has the address before it takes packets to it.
        checked(&request, self.listen(ROUTES_OF_IPV6, true))?;
        let added = self.ask(request.clone(), message).and_then(|()| {
            // It does so by and by if the link is down.
            checked(&request, self.hear(SOON, |heard| heard.is_own(address))).map(|_| ())
        });
        checked(&request, self.listen(ROUTES_OF_IPV6, false))?;
        added
    }

    /// Adds a route, of which there is none yet.
    pub fn add_route(&mut self, route: &KernelRoute<'_>) -> Result<(), NetlinkError> {
        let (address, len) = route.destination;
        let by = route.gateway.map_or_else(String::new, |gateway| format!(" by {gateway}"));
        let request = format!("add the route to {address}/{len}{by} over the link {}", route.interface);
        checked(&request, prefix(address, len))?;
        for other in [route.gateway, route.source].into_iter().flatten() {
            checked(&request, same_family(address, other))?;
        }
        let index = checked(&request, interface::index_of(&self.socket, route.interface))?;
        self.ask(request, requests::add_route(route, index))
    }

    /// Hears the news of a group from now on, or no more.
    fn listen(&self, group: u32, is_heard: bool) -> io::Result<()> {
        let option = if is_heard { ADD_MEMBERSHIP } else { DROP_MEMBERSHIP };
        options::set(&self.listener, SOL_NETLINK, option, &group.to_ne_bytes())?;
        if !is_heard {
            // What is left would be heard the next time.
            let mut octets = [0; LONGEST];
            while rustix::net::recv(&self.listener, &mut octets[..], RecvFlags::DONTWAIT).is_ok() {}
        }
        Ok(())
    }

    /// Waits for news. `false` if the time is over before that.
    fn hear(&self, timeout: Duration, is_it: impl Fn(Heard<'_>) -> bool) -> io::Result<bool> {
        let end = monotonic().saturating_add(timeout);
        loop {
            let mut octets = [0; LONGEST];
            match rustix::net::recv(&self.listener, &mut octets[..], RecvFlags::DONTWAIT) {
                Ok((len, _)) if messages(&octets[..len]).any(&is_it) => return Ok(true),
                // Of very many some are lost, and it may be among them.
                Ok(_) | Err(rustix::io::Errno::INTR | rustix::io::Errno::NOBUFS) => {}
                Err(rustix::io::Errno::AGAIN) => {
                    let left = end.saturating_sub(monotonic());
                    if left.is_zero() {
                        return Ok(false);
                    }
                    let left = Timespec::try_from(left).map_err(|_| io::ErrorKind::InvalidInput)?;
                    let mut ready = [PollFd::new(&self.listener, PollFlags::IN)];
                    match rustix::event::poll(&mut ready, Some(&left)) {
                        Ok(_) | Err(rustix::io::Errno::INTR) => {}
                        Err(errno) => return Err(errno.into()),
                    }
                }
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Sends a request and waits for the kernel's answer, which comes at once.
    fn ask(&mut self, request: String, message: Message) -> Result<(), NetlinkError> {
        self.ask_for(request, message, |_| {})
    }

    /// Does so, and hands over what comes before the answer.
    fn ask_for(
        &mut self,
        request: String,
        message: Message,
        mut before: impl FnMut(Heard<'_>),
    ) -> Result<(), NetlinkError> {
        self.sequence = self.sequence.wrapping_add(1);
        let failed = |errno: rustix::io::Errno| (errno.into(), ());
        let outcome = (|| {
            let octets = message.finish(self.sequence);
            rustix::net::send(self.socket.as_fd(), &octets, SendFlags::empty()).map_err(failed)?;
            loop {
                let mut octets = [0; LONGEST];
                let received = rustix::net::recv(self.socket.as_fd(), &mut octets[..], RecvFlags::empty());
                let (len, _) = match received {
                    Err(rustix::io::Errno::INTR) => continue,
                    other => other.map_err(failed)?,
                };
                messages(&octets[..len]).for_each(&mut before);
                if let Some(answer) = answer(&octets[..len], self.sequence) {
                    return Ok(answer);
                }
            }
        })();
        match outcome {
            Ok(Answer::Done) => Ok(()),
            Ok(Answer::Refused { errno, detail }) => {
                let source = io::Error::from_raw_os_error(errno);
                Err(NetlinkError::Refused { request, source, detail })
            }
            Err((source, ())) => Err(NetlinkError::Socket { request, source }),
        }
    }
}

fn checked<T>(request: &str, result: io::Result<T>) -> Result<T, NetlinkError> {
    result.map_err(|error| NetlinkError::Invalid { request: request.to_owned(), reason: error.to_string() })
}

fn prefix(address: IpAddr, len: u8) -> io::Result<()> {
    let longest = if address.is_ipv4() { 32 } else { 128 };
    if len <= longest {
        return Ok(());
    }
    Err(io::Error::other(format!("a prefix of {len} bits: {longest} at most for {address}")))
}

fn same_family(one: IpAddr, other: IpAddr) -> io::Result<()> {
    if one.is_ipv4() == other.is_ipv4() {
        return Ok(());
    }
    Err(io::Error::other(format!("{one} and {other} are of two families: both IPv4 or both IPv6")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(result: Result<(), NetlinkError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_is_refused_before_the_kernel_sees_it() {
        let mut netlink = Netlink::open().unwrap();
        let own: IpAddr = [10, 0, 0, 1].into();
        assert_eq!(
            told(netlink.add_address("lo", own, 200)),
            "add the address 10.0.0.1/200 to the link lo: a prefix of 200 bits: 32 at most for 10.0.0.1"
        );
        assert_eq!(
            told(netlink.add_address("nowhere0", own, 24)),
            "add the address 10.0.0.1/24 to the link nowhere0: interface `nowhere0`: No such device (os error 19)"
        );
        assert_eq!(
            told(netlink.set_up("a-name-that-is-too-long")),
            "set the link a-name-that-is-too-long up: the name `a-name-that-is-too-long` of an interface has 23 \
             bytes: 15 at most"
        );
        let gateway = Some("fd00::1".parse().unwrap());
        let route =
            KernelRoute { destination: (own, 32), gateway, interface: "lo", source: None, metric: None };
        assert_eq!(
            told(netlink.add_route(&route)),
            "add the route to 10.0.0.1/32 by fd00::1 over the link lo: 10.0.0.1 and fd00::1 are of two families: \
             both IPv4 or both IPv6"
        );
    }

    #[test]
    fn the_kernel_s_refusal_is_told_with_the_request() {
        let mut netlink = Netlink::open().unwrap();
        // Whoever may change links has none of this name, and whoever may not is told so.
        let error = netlink.remove_link("nowhere0").unwrap_err();
        let NetlinkError::Refused { request, source, .. } = error else { panic!("{error}") };
        assert_eq!(request, "remove the link nowhere0");
        assert!(matches!(source.raw_os_error(), Some(1 | 19)), "{source}");
    }
}
