//! The error queue of a socket: what routers, and the system itself, have said of packets that were sent.
//!
//! Nobody has proved that it is true. It goes to the host as the ICMP message that it was, which is heeded only as far
//! as the quoted packet bears an association's tag (RFC 9260, section 10).

use std::io::IoSliceMut;
use std::net::IpAddr;
use std::os::fd::AsRawFd;

use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};
use slantpath_wire::icmp::{IcmpError, Unreachable};
use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};

use super::End;
use crate::config::Carriage;

/// As much of a packet as is ever quoted to any purpose.
const LONGEST: usize = 2_048;
/// What is read at most before packets have their turn again.
const BATCH: usize = 64;
/// `SO_EE_ORIGIN_LOCAL`, `SO_EE_ORIGIN_ICMP` and `SO_EE_ORIGIN_ICMP6`.
const ORIGINS: [u8; 3] = [1, 2, 3];

/// What has been said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// The system has refused a packet to this destination as longer than its link, which carries so many bytes.
    LinkMtu(u32),
    /// What a router has said.
    Icmp {
        /// Who it was, as far as that is known; it decides nothing.
        router: IpAddr,
        /// What has become of the packet.
        error: IcmpError,
        /// The packet, from its IP header on, as far as it is quoted.
        about: Vec<u8>,
        /// The UDP port that it went to; zero without UDP.
        udp_port: u16,
    },
}

/// What a control message says of an error.
struct Said {
    origin: u8,
    kind: u8,
    code: u8,
    info: u32,
    router: Option<IpAddr>,
}

/// Reads what the error queue of a socket has.
pub(crate) fn read(end: &End, carriage: Carriage, reports: &mut Vec<Report>) {
    for _ in 0..BATCH {
        let mut quote = [0; LONGEST];
        let mut slices = [IoSliceMut::new(&mut quote)];
        let mut control = nix::cmsg_space!([u8; 256]);
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let message =
            recvmsg::<SockaddrStorage>(end.socket.as_raw_fd(), &mut slices, Some(&mut control), flags);
        let Ok(message) = message else { return };
        let len = message.bytes;
        let to = message.address.as_ref().and_then(address);
        let said = message.cmsgs().into_iter().flatten().find_map(|control| match control {
            ControlMessageOwned::Ipv4RecvErr(error, from) => Some(Said {
                origin: error.ee_origin,
                kind: error.ee_type,
                code: error.ee_code,
                info: error.ee_info,
                router: from.map(|from| IpAddr::from(from.sin_addr.s_addr.to_ne_bytes())),
            }),
            ControlMessageOwned::Ipv6RecvErr(error, from) => Some(Said {
                origin: error.ee_origin,
                kind: error.ee_type,
                code: error.ee_code,
                info: error.ee_info,
                router: from.map(|from| IpAddr::from(from.sin6_addr.s6_addr)),
            }),
            _ => None,
        });
        let Some(said) = said else { continue };
        reports.extend(report(end, carriage, &said, to, &quote[..len]));
    }
}

fn address(storage: &SockaddrStorage) -> Option<(IpAddr, u16)> {
    let v4 = storage.as_sockaddr_in().map(|to| (IpAddr::V4(to.ip()), to.port()));
    v4.or_else(|| storage.as_sockaddr_in6().map(|to| (IpAddr::V6(to.ip()), to.port())))
}

fn report(
    end: &End,
    carriage: Carriage,
    said: &Said,
    to: Option<(IpAddr, u16)>,
    quote: &[u8],
) -> Option<Report> {
    let [local, icmp, icmp_v6] = ORIGINS;
    let error = match said.origin {
        origin if origin == local => return Some(Report::LinkMtu(said.info)),
        origin if origin == icmp => error_v4(said, carriage)?,
        origin if origin == icmp_v6 => error_v6(said, carriage)?,
        _ => return None,
    };
    let is_quoted_whole = carriage == Carriage::Raw && end.address.is_ipv4();
    let (about, udp_port) = if is_quoted_whole {
        (quote.to_vec(), 0)
    } else {
        let (destination, port) = to?;
        (with_header(end.address, destination, quote)?, port)
    };
    let router = said.router.filter(|router| router.is_ipv4() == end.address.is_ipv4());
    Some(Report::Icmp { router: router.unwrap_or(end.address), error, about, udp_port })
}

/// The quoted packet with the IP header that was the system's.
fn with_header(source: IpAddr, destination: IpAddr, quote: &[u8]) -> Option<Vec<u8>> {
    if source.is_ipv4() != destination.is_ipv4() {
        return None;
    }
    let header = IpHeader {
        source,
        destination,
        protocol: protocol::SCTP,
        hop_limit: 64,
        traffic_class: 0,
        payload_len: u16::try_from(quote.len()).ok()?,
        fragmentation: Fragmentation::Forbidden,
    };
    let mut bytes = vec![0; header.header_len()];
    header.emit(&mut bytes);
    bytes.extend_from_slice(quote);
    Some(bytes)
}

fn error_v4(said: &Said, carriage: Carriage) -> Option<IcmpError> {
    match (said.kind, said.code) {
        (3, 0) => Some(IcmpError::Unreachable(Unreachable::Network)),
        (3, 1) => Some(IcmpError::Unreachable(Unreachable::Host)),
        (3, 2) => Some(IcmpError::Unreachable(Unreachable::Protocol)),
        (3, 3) => Some(IcmpError::Unreachable(Unreachable::Port)),
        (3, 4) => Some(too_big(said.info, carriage)),
        (11, 0) => Some(IcmpError::TimeExceeded),
        _ => None,
    }
}

fn error_v6(said: &Said, carriage: Carriage) -> Option<IcmpError> {
    match (said.kind, said.code) {
        (1, 0) => Some(IcmpError::Unreachable(Unreachable::Network)),
        (1, 3) => Some(IcmpError::Unreachable(Unreachable::Host)),
        (1, 4) => Some(IcmpError::Unreachable(Unreachable::Port)),
        (2, 0) => Some(too_big(said.info, carriage)),
        (3, 0) => Some(IcmpError::TimeExceeded),
        (4, 1) => Some(IcmpError::Unreachable(Unreachable::Protocol)),
        _ => None,
    }
}

/// What a link carries of SCTP in IP: in UDP, less by that header.
fn too_big(mtu_bytes: u32, carriage: Carriage) -> IcmpError {
    let overhead = u32::try_from(carriage.overhead_bytes()).expect("a small number");
    IcmpError::PacketTooBig { mtu_bytes: mtu_bytes.saturating_sub(overhead) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_udp_a_link_carries_less_by_a_header() {
        let said = |kind, code, info| Said { origin: 2, kind, code, info, router: None };
        let udp = Carriage::Udp { local_port: 0, remote_port: 9_899 };
        let too_big = |mtu_bytes| Some(IcmpError::PacketTooBig { mtu_bytes });
        assert_eq!(error_v4(&said(3, 4, 1_400), udp), too_big(1_392));
        assert_eq!(error_v6(&said(2, 0, 1_400), Carriage::Raw), too_big(1_400));
        assert_eq!(error_v4(&said(5, 0, 0), udp), None, "a redirect");
    }
}
