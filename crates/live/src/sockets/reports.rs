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
/// Number of reports that are read at most before packets have their turn again.
const BATCH: usize = 64;
/// `SO_EE_ORIGIN_LOCAL`, `SO_EE_ORIGIN_ICMP` and `SO_EE_ORIGIN_ICMP6`.
const ORIGINS: [u8; 3] = [1, 2, 3];

/// Report about a packet that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// The system has refused a packet to this destination as longer than its link, which carries so many bytes.
    LinkMtu(u32),
    /// ICMP message of a router.
    Icmp {
        /// Sender of the message, as far as it is known; it decides nothing.
        router: IpAddr,
        /// Error that the packet met.
        error: IcmpError,
        /// The packet, from its IP header on, as far as it is quoted.
        about: Vec<u8>,
        /// The UDP port that it went to; zero without UDP.
        udp_port: u16,
    },
}

/// Content of a control message about an error.
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
        reports.extend(report(end.address, carriage, &said, to, &quote[..len]));
    }
}

fn address(storage: &SockaddrStorage) -> Option<(IpAddr, u16)> {
    let v4 = storage.as_sockaddr_in().map(|to| (IpAddr::V4(to.ip()), to.port()));
    v4.or_else(|| storage.as_sockaddr_in6().map(|to| (IpAddr::V6(to.ip()), to.port())))
}

/// Makes the report about a packet that left from `own`.
fn report(
    own: IpAddr,
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
    let (about, udp_port) = match carriage {
        // What a raw socket was given with its header, of IPv4 or IPv6, it quotes with it.
        Carriage::Raw => (quote.to_vec(), 0),
        Carriage::Udp { .. } => {
            let (destination, port) = to?;
            (with_header(own, destination, quote)?, port)
        }
    };
    let router = said.router.filter(|router| router.is_ipv4() == own.is_ipv4());
    Some(Report::Icmp { router: router.unwrap_or(own), error, about, udp_port })
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

/// Size of an SCTP packet in IP that a link carries: in UDP, less by that header.
fn too_big(mtu_bytes: u32, carriage: Carriage) -> IcmpError {
    let overhead = u32::try_from(carriage.overhead_bytes()).expect("a small number");
    IcmpError::PacketTooBig { mtu_bytes: mtu_bytes.saturating_sub(overhead) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Binding, LiveConfig};
    use crate::sockets::Sockets;
    use slantpath_base::Duration;
    use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};

    const UDP: Carriage = Carriage::Udp { local_port: 0, remote_port: 9_899 };
    /// The first bytes of SCTP: ports and a tag.
    const QUOTE: [u8; 12] = [0x13, 0x88, 0x4e, 0x20, 1, 2, 3, 4, 0, 0, 0, 0];

    /// Two ends, of IPv4 and of IPv6.
    fn ends() -> [[IpAddr; 2]; 2] {
        [["10.0.0.1", "10.0.0.2"], ["fd00::1", "fd00::2"]].map(|ends| ends.map(|end| end.parse().unwrap()))
    }

    fn said(kind: u8, code: u8, info: u32, is_v4: bool) -> Said {
        Said { origin: if is_v4 { 2 } else { 3 }, kind, code, info, router: None }
    }

    #[test]
    fn each_message_means_the_same_in_both_versions_and_in_udp_a_link_carries_less_by_a_header() {
        let unreachable = |what| Some(IcmpError::Unreachable(what));
        let too_big = |mtu_bytes| Some(IcmpError::PacketTooBig { mtu_bytes });
        let cases = [
            ((3, 0), (1, 0), unreachable(Unreachable::Network)),
            ((3, 1), (1, 3), unreachable(Unreachable::Host)),
            ((3, 2), (4, 1), unreachable(Unreachable::Protocol)),
            ((3, 3), (1, 4), unreachable(Unreachable::Port)),
            ((3, 4), (2, 0), too_big(1_400)),
            ((11, 0), (3, 0), Some(IcmpError::TimeExceeded)),
            // A redirect; a router's words of its own.
            ((5, 0), (137, 0), None),
            ((3, 9), (1, 1), None),
        ];
        for ((kind, code), (kind_v6, code_v6), meant) in cases {
            let in_udp = if meant == too_big(1_400) { too_big(1_392) } else { meant };
            for (carriage, meant) in [(Carriage::Raw, meant), (UDP, in_udp)] {
                assert_eq!(error_v4(&said(kind, code, 1_400, true), carriage), meant, "{kind}, {code}");
                let read = error_v6(&said(kind_v6, code_v6, 1_400, false), carriage);
                assert_eq!(read, meant, "{kind_v6}, {code_v6}");
            }
        }
    }

    #[test]
    fn a_packet_is_quoted_from_its_ip_header_on_in_both_versions_and_in_udp() {
        for [own, peer] in ends() {
            let whole = with_header(own, peer, &QUOTE).unwrap();
            let said = unreachable_host(own, None);
            let cases = [(Carriage::Raw, &whole[..], 0), (UDP, &QUOTE[..], 40_000)];
            for (carriage, quote, port) in cases {
                let read = report(own, carriage, &said, Some((peer, port)), quote);
                let expected = Report::Icmp {
                    router: own,
                    error: IcmpError::Unreachable(Unreachable::Host),
                    about: whole.clone(),
                    udp_port: port,
                };
                assert_eq!(read, Some(expected), "{own}, {carriage:?}");
                let (header, header_len) = IpHeader::parse_header(&whole).unwrap();
                assert_eq!((header.destination, &whole[header_len..]), (peer, &QUOTE[..]));
            }
        }
    }

    /// A message in the version of `own` that the destination host cannot be reached.
    fn unreachable_host(own: IpAddr, router: Option<IpAddr>) -> Said {
        let (kind, code) = if own.is_ipv4() { (3, 1) } else { (1, 3) };
        Said { router, ..said(kind, code, 0, own.is_ipv4()) }
    }

    #[test]
    fn a_message_is_of_its_router_or_of_the_own_address_where_none_of_that_version_is_known() {
        let [v4, v6] = ends();
        for ([own, router], [_, other]) in [(v4, v6), (v6, v4)] {
            for (known, sender) in [(Some(router), router), (Some(other), own), (None, own)] {
                for carriage in [Carriage::Raw, UDP] {
                    let said = unreachable_host(own, known);
                    let read = report(own, carriage, &said, Some((router, 40_000)), &QUOTE);
                    let Some(Report::Icmp { router, .. }) = read else { panic!("{read:?}") };
                    assert_eq!(router, sender, "{known:?}, {carriage:?}");
                }
            }
        }
    }

    #[test]
    fn a_packet_in_udp_whose_destination_is_unknown_or_of_the_other_version_is_not_reported() {
        let [v4, v6] = ends();
        for ([own, _], [_, other]) in [(v4, v6), (v6, v4)] {
            for to in [None, Some((other, 40_000))] {
                assert_eq!(report(own, UDP, &unreachable_host(own, None), to, &QUOTE), None, "{own}, {to:?}");
            }
        }
    }

    #[test]
    fn the_machine_itself_says_where_nobody_listens_in_both_versions() {
        for own in [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()] {
            let config = LiveConfig {
                addresses: vec![own],
                binding: Binding::Listed,
                carriage: UDP,
                ports: Vec::new(),
                socket_buffer_bytes: LiveConfig::SOCKET_BUFFER_BYTES,
            };
            let sockets = Sockets::open(&config).unwrap();
            let [end] = &sockets.ends[..] else { panic!("{sockets:?}") };
            // A port that was free a moment ago.
            let free = UdpSocket::bind((own, 0)).and_then(|socket| socket.local_addr()).unwrap();
            end.socket.send_to(&QUOTE, &free.into()).unwrap();
            let (mut ready, mut reports) = (Vec::new(), Vec::new());
            while ready.is_empty() {
                sockets.wait(Duration::from_secs(60), &mut ready).unwrap();
            }
            read(end, UDP, &mut reports);
            let expected = Report::Icmp {
                router: own,
                error: IcmpError::Unreachable(Unreachable::Port),
                about: with_header(own, free.ip(), &QUOTE).unwrap(),
                udp_port: free.port(),
            };
            assert_eq!(reports, [expected]);
        }
    }

    #[test]
    fn what_the_system_says_of_its_own_link_is_its_mtu_in_both_versions() {
        for [own, _] in ends() {
            let said = Said { origin: 1, kind: 0, code: 0, info: 1_300, router: None };
            for carriage in [Carriage::Raw, UDP] {
                assert_eq!(report(own, carriage, &said, None, &QUOTE), Some(Report::LinkMtu(1_300)));
            }
        }
    }
}
