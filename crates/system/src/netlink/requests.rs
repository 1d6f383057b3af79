//! Requests of rtnetlink, one function each.

use std::net::IpAddr;
use std::os::fd::AsRawFd as _;

use super::message::Message;
use super::{KernelRoute, Veth};

/// Kinds of requests: RTM_NEWLINK, RTM_DELLINK, RTM_GETLINK, RTM_NEWADDR and RTM_NEWROUTE.
const NEW_LINK: u16 = 16;
const DELETE_LINK: u16 = 17;
const GET_LINK: u16 = 18;
const NEW_ADDRESS: u16 = 20;
const NEW_ROUTE: u16 = 24;
/// NLM_F_CREATE and NLM_F_EXCL: there is none yet.
const NEW: u16 = 0x400 | 0x200;
/// Attributes of a link.
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_LINKINFO: u16 = 18;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_GSO_MAX_SIZE: u16 = 41;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
/// Flag of a link that is up (IFF_UP).
const UP: u32 = 1;
/// Attributes of an address.
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
/// Flag of an address that is used without asking others (IFA_F_NODAD).
const WITHOUT_DETECTION: u8 = 0x02;
/// Attributes of a route.
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_PREFSRC: u16 = 7;
/// RT_TABLE_MAIN, RTPROT_STATIC, RT_SCOPE_UNIVERSE, RT_SCOPE_LINK and RTN_UNICAST.
const MAIN: u8 = 254;
const STATIC: u8 = 4;
const EVERYWHERE: u8 = 0;
const ON_LINK: u8 = 253;
const UNICAST: u8 = 1;

pub(super) fn add_veth(veth: &Veth<'_>) -> Message {
    let mut message = Message::new(NEW_LINK, NEW, &link(0, 0));
    end(&mut message, veth, veth.name, veth.address);
    message.nested(IFLA_LINKINFO, |info| {
        info.string(IFLA_INFO_KIND, "veth").nested(IFLA_INFO_DATA, |data| {
            data.nested(VETH_INFO_PEER, |peer| {
                peer.fixed(&link(0, 0));
                end(peer, veth, veth.peer, veth.peer_address);
                peer.attribute(IFLA_NET_NS_FD, &veth.peer_namespace.as_raw_fd().to_ne_bytes());
            });
        });
    });
    message
}

/// Attributes that either end of a wire has.
fn end(message: &mut Message, veth: &Veth<'_>, name: &str, address: [u8; 6]) {
    message
        .string(IFLA_IFNAME, name)
        .attribute(IFLA_ADDRESS, &address)
        .attribute(IFLA_MTU, &veth.mtu.to_ne_bytes())
        .attribute(IFLA_GSO_MAX_SIZE, &veth.gso_max_size.to_ne_bytes());
}

pub(super) fn set_up(name: &str) -> Message {
    let mut message = Message::new(NEW_LINK, 0, &link(UP, UP));
    message.string(IFLA_IFNAME, name);
    message
}

pub(super) fn tell_link(name: &str) -> Message {
    let mut message = Message::new(GET_LINK, 0, &link(0, 0));
    message.string(IFLA_IFNAME, name);
    message
}

pub(super) fn remove_link(name: &str) -> Message {
    let mut message = Message::new(DELETE_LINK, 0, &link(0, 0));
    message.string(IFLA_IFNAME, name);
    message
}

pub(super) fn add_address(index: u32, address: IpAddr, prefix_len: u8) -> Message {
    let (family, octets) = octets(address);
    let flags = if address.is_ipv6() { WITHOUT_DETECTION } else { 0 };
    // `struct ifaddrmsg`.
    let mut fixed = vec![family, prefix_len, flags, EVERYWHERE];
    fixed.extend(index.to_ne_bytes());
    let mut message = Message::new(NEW_ADDRESS, NEW, &fixed);
    message.attribute(IFA_LOCAL, &octets).attribute(IFA_ADDRESS, &octets);
    message
}

pub(super) fn add_route(route: &KernelRoute<'_>, index: u32) -> Message {
    let (address, len) = route.destination;
    let (family, destination) = octets(address);
    // IPv6 knows no scopes of routes.
    let is_on_link = route.gateway.is_none() && address.is_ipv4();
    let scope = if is_on_link { ON_LINK } else { EVERYWHERE };
    // `struct rtmsg`: no prefix of sources, no class of service; flags at the end.
    let fixed = [family, len, 0, 0, MAIN, STATIC, scope, UNICAST, 0, 0, 0, 0];
    let mut message = Message::new(NEW_ROUTE, NEW, &fixed);
    message.attribute(RTA_DST, &destination).attribute(RTA_OIF, &index.to_ne_bytes());
    for (kind, address) in [(RTA_GATEWAY, route.gateway), (RTA_PREFSRC, route.source)] {
        if let Some(address) = address {
            message.attribute(kind, &octets(address).1);
        }
    }
    if let Some(metric) = route.metric {
        message.attribute(RTA_PRIORITY, &metric.to_ne_bytes());
    }
    message
}

/// `struct ifinfomsg` of a link that is known by its name: family, kind and number are 0.
fn link(flags: u32, changed: u32) -> [u8; 16] {
    let mut fixed = [0; 16];
    fixed[8..12].copy_from_slice(&flags.to_ne_bytes());
    fixed[12..].copy_from_slice(&changed.to_ne_bytes());
    fixed
}

/// AF_INET or AF_INET6, and the address.
fn octets(address: IpAddr) -> (u8, Vec<u8>) {
    match address {
        IpAddr::V4(address) => (2, address.octets().to_vec()),
        IpAddr::V6(address) => (10, address.octets().to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;

    /// An attribute as it should be on the wire.
    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let len = u16::try_from(4 + value.len()).unwrap();
        let mut octets = [len, kind].map(u16::to_ne_bytes).concat();
        octets.extend(value);
        octets.resize(octets.len().next_multiple_of(4), 0);
        octets
    }

    /// A message behind its header, with its kind and its flags.
    fn parts(message: Message) -> (u16, u16, Vec<u8>) {
        let octets = message.finish(1);
        assert_eq!(octets[..4], u32::try_from(octets.len()).unwrap().to_ne_bytes());
        let (kind, flags) = ([octets[4], octets[5]], [octets[6], octets[7]]);
        (u16::from_ne_bytes(kind), u16::from_ne_bytes(flags), octets[16..].to_vec())
    }

    #[test]
    fn a_wire_has_equal_attributes_at_its_ends_and_a_namespace_at_its_far_one() {
        let namespace = std::fs::File::open("/proc/self/ns/net").unwrap();
        let veth = Veth {
            name: "near",
            address: [2, 0, 0, 0, 0, 1],
            peer: "far",
            peer_address: [2, 0, 0, 0, 0, 2],
            peer_namespace: namespace.as_fd(),
            mtu: 1_400,
            gso_max_size: 65_000,
        };
        let both =
            [attribute(4, &1_400_u32.to_ne_bytes()), attribute(41, &65_000_u32.to_ne_bytes())].concat();
        let end = |name: &[u8], last| {
            [attribute(3, name), attribute(1, &[2, 0, 0, 0, 0, last]), both.clone()].concat()
        };
        let descriptor = attribute(28, &namespace.as_raw_fd().to_ne_bytes());
        let peer = attribute(1, &[vec![0; 16], end(b"far\0", 2), descriptor].concat());
        let info = [attribute(1, b"veth\0"), attribute(2, &peer)].concat();
        let expected = [vec![0; 16], end(b"near\0", 1), attribute(18, &info)].concat();
        assert_eq!(parts(add_veth(&veth)), (16, 0x605, expected));
    }

    #[test]
    fn a_link_is_known_by_its_name() {
        let name = attribute(3, b"lo\0");
        let up = [[0_u32, 0, 1, 1].map(u32::to_ne_bytes).concat(), name.clone()].concat();
        assert_eq!(parts(set_up("lo")), (16, 5, up));
        let body = [vec![0; 16], name].concat();
        assert_eq!(parts(remove_link("lo")), (17, 5, body.clone()));
        assert_eq!(parts(tell_link("lo")), (18, 5, body));
    }

    #[test]
    fn an_address_of_ipv6_is_used_at_once() {
        let v4 = add_address(3, [10, 0, 0, 1].into(), 24);
        let attributes = [attribute(2, &[10, 0, 0, 1]), attribute(1, &[10, 0, 0, 1])].concat();
        let fixed = |octets: [u8; 4]| [octets, 3_u32.to_ne_bytes()].concat();
        assert_eq!(parts(v4), (20, 0x605, [fixed([2, 24, 0, 0]), attributes].concat()));
        let address: std::net::Ipv6Addr = "fd00::1".parse().unwrap();
        let octets = address.octets();
        let attributes = [attribute(2, &octets), attribute(1, &octets)].concat();
        let v6 = add_address(3, address.into(), 64);
        assert_eq!(parts(v6), (20, 0x605, [fixed([10, 64, 2, 0]), attributes].concat()));
    }

    #[test]
    fn a_route_is_on_its_link_or_by_a_router() {
        let mut route = KernelRoute {
            destination: ([10, 1, 0, 0].into(), 16),
            gateway: None,
            interface: "lo",
            source: None,
            metric: None,
        };
        let to = [attribute(1, &[10, 1, 0, 0]), attribute(4, &1_u32.to_ne_bytes())].concat();
        let fixed = |scope| vec![2, 16, 0, 0, 254, 4, scope, 1, 0, 0, 0, 0];
        assert_eq!(parts(add_route(&route, 1)), (24, 0x605, [fixed(253), to.clone()].concat()));
        route.gateway = Some([10, 0, 0, 1].into());
        route.source = Some([10, 0, 0, 2].into());
        route.metric = Some(9);
        let others =
            [attribute(5, &[10, 0, 0, 1]), attribute(7, &[10, 0, 0, 2]), attribute(6, &9_u32.to_ne_bytes())];
        assert_eq!(parts(add_route(&route, 1)), (24, 0x605, [fixed(0), to, others.concat()].concat()));
        route = KernelRoute { gateway: None, source: None, metric: None, ..route };
        route.destination = ("fd00::".parse().unwrap(), 64);
        assert_eq!(parts(add_route(&route, 1)).2[..8], [10, 64, 0, 0, 254, 4, 0, 1]);
    }
}
