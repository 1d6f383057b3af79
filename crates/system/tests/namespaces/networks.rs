//! Addresses, routes and settings of two networks.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use slantpath_system::SystemStep;
use slantpath_system::netlink::{KernelRoute, Netlink, NetlinkError};
use slantpath_system::network::{NetNamespace, write_setting};
use slantpath_system::offloads::{self, OF_SCTP};
use slantpath_system::packet::PacketSocket;
use slantpath_system::process::ProgramCommand;
use slantpath_system::reentry::{self, Entered};

use crate::frames::Wire;
use crate::outside::{LIMIT, PASSED};
use crate::programs;

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn add(network: &NetNamespace, link: &str, addresses: &[(&str, u8)]) {
    network
        .run(|| {
            let mut netlink = Netlink::open().unwrap();
            for (text, len) in addresses {
                netlink.add_address(link, address(text), *len).unwrap();
            }
        })
        .unwrap();
}

/// Sends a datagram there and one back.
fn exchange(wire: &Wire, near: &str, far: &str) {
    let bind = |network: &NetNamespace, text: &str| {
        let local = SocketAddr::new(address(text), 0);
        let socket = network.run(|| UdpSocket::bind(local)).unwrap().unwrap();
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        socket
    };
    let (one, other) = (bind(&wire.near, near), bind(&wire.far, far));
    for (from, to) in [(&one, &other), (&other, &one)] {
        from.send_to(b"across", to.local_addr().unwrap()).unwrap();
        let mut octets = [0; 16];
        let (len, source) = to.recv_from(&mut octets).unwrap();
        assert_eq!((&octets[..len], source), (&b"across"[..], from.local_addr().unwrap()));
    }
}

pub(crate) fn datagrams(_: &Entered) -> u8 {
    let wire = Wire::new();
    add(&wire.near, "near", &[("10.9.0.1", 24), ("fd09::1", 64)]);
    add(&wire.far, "far", &[("10.9.0.2", 24), ("fd09::2", 64), ("10.77.0.1", 32), ("fd77::1", 128)]);
    exchange(&wire, "10.9.0.1", "10.9.0.2");
    exchange(&wire, "fd09::1", "fd09::2");
    let route = |destination, len, gateway| KernelRoute {
        destination: (address(destination), len),
        gateway: Some(address(gateway)),
        interface: "near",
        source: None,
        metric: Some(7),
    };
    wire.near
        .run(|| {
            let mut netlink = Netlink::open().unwrap();
            netlink.add_route(&route("10.77.0.0", 16, "10.9.0.2")).unwrap();
            netlink.add_route(&route("fd77::", 16, "fd09::2")).unwrap();
            let on_link = KernelRoute { gateway: None, ..route("10.78.0.0", 16, "10.9.0.2") };
            netlink.add_route(&on_link).unwrap();
            let error = netlink.add_route(&route("10.77.0.0", 16, "10.9.0.2")).unwrap_err();
            let NetlinkError::Refused { source, .. } = &error else { panic!("{error}") };
            assert_eq!(source.kind(), std::io::ErrorKind::AlreadyExists, "{error}");
        })
        .unwrap();
    exchange(&wire, "10.9.0.1", "10.77.0.1");
    exchange(&wire, "fd09::1", "fd77::1");
    // A link without a carrier is not waited for for ever.
    wire.far
        .run(|| {
            let mut netlink = Netlink::open().unwrap();
            assert!(!netlink.wait_until_running("lo", Duration::from_millis(1)).unwrap());
            netlink.set_up("lo").unwrap();
            assert!(netlink.wait_until_running("lo", LIMIT).unwrap());
        })
        .unwrap();
    // The other end goes with a link.
    wire.near.run(|| Netlink::open().unwrap().remove_link("near").unwrap()).unwrap();
    wire.far
        .run(|| {
            let error = Netlink::open().unwrap().set_up("far").unwrap_err();
            assert!(error.to_string().starts_with("set the link far up: No such device"), "{error}");
        })
        .unwrap();
    PASSED
}

pub(crate) fn refusals(_: &Entered) -> u8 {
    let wire = Wire::new();
    wire.near
        .run(|| {
            let mut netlink = Netlink::open().unwrap();
            for (address, len, told) in [
                ("10.0.0.1", 200, "a prefix of 200 bits: 32 at most for 10.0.0.1"),
                ("10.0.0.1", 33, "a prefix of 33 bits: 32 at most for 10.0.0.1"),
                ("fd00::1", 129, "a prefix of 129 bits: 128 at most for fd00::1"),
            ] {
                let error = netlink.add_address("near", address.parse().unwrap(), len).unwrap_err();
                assert!(error.to_string().ends_with(told), "{error}");
            }
            // The kernel's own words.
            let route = KernelRoute {
                destination: (address("10.0.0.1"), 8),
                gateway: None,
                interface: "near",
                source: None,
                metric: None,
            };
            let error = netlink.add_route(&route).unwrap_err();
            let NetlinkError::Refused { detail, .. } = &error else { panic!("{error}") };
            assert!(detail.as_ref().is_some_and(|words| words.contains("prefix")), "{error}");
            for (name, told) in [
                ("nowhere0", "cannot find the interface: interface `nowhere0`: No such device (os error 19)"),
                (
                    "sixteen-bytes-xx",
                    "cannot find the interface: the name `sixteen-bytes-xx` of an interface has 16 bytes: 15 at most",
                ),
            ] {
                let failure = PacketSocket::open(name, 1 << 16, 1_514, false).unwrap_err();
                assert_eq!((failure.step, failure.to_string().as_str()), (SystemStep::Interface, told));
            }
            let failure = PacketSocket::open("near", 0, 1_514, false).unwrap_err();
            assert_eq!(failure.step, SystemStep::Ring);
        })
        .unwrap();
    PASSED
}

pub(crate) fn offloads(_: &Entered) -> u8 {
    let wire = Wire::new();
    let is_on = |feature: &str| offloads::is_on("far", feature).unwrap();
    wire.far
        .run(|| {
            assert_eq!(OF_SCTP.map(is_on), [true, true]);
            offloads::switch_off("far", &OF_SCTP).unwrap();
            assert_eq!(OF_SCTP.map(is_on), [false, false]);
            // And nothing else.
            assert!(is_on("tx-tcp-segmentation"));
            let error = offloads::switch_off("far", &["tx-nothing"]).unwrap_err();
            let told = "`tx-nothing` of the interface far is not known: `ethtool -k` has the names";
            assert_eq!(error.to_string(), told);
            let error = offloads::switch_off("nowhere0", &OF_SCTP).unwrap_err();
            assert_eq!(error.to_string(), "interface `nowhere0`: No such device (os error 19)");
        })
        .unwrap();
    PASSED
}

/// A limit of the machine, which only a user namespace has for itself alone.
pub(crate) fn limits(entered: &Entered) -> u8 {
    if entered.uid == 0 {
        return PASSED;
    }
    let limit = |setting: &str| std::fs::write(format!("/proc/sys/user/{setting}"), "0").unwrap();
    let network = NetNamespace::new().unwrap();
    limit("max_net_namespaces");
    let failure = NetNamespace::new().unwrap_err();
    assert_eq!(
        (failure.step, failure.setting()),
        (SystemStep::NetworkNamespace, Some("user.max_net_namespaces"))
    );
    limit("max_user_namespaces");
    let program = programs::program(&network, ProgramCommand::Shell("true".into()));
    let failure = program.spawn().unwrap_err();
    assert_eq!(
        (failure.step, failure.setting()),
        (SystemStep::UserNamespace, Some("user.max_user_namespaces"))
    );
    let failure = reentry::reenter("SLANTPATH_SYSTEM_NEVER_SET").unwrap_err();
    assert_eq!(failure.step, SystemStep::NetworkNamespace, "{failure}");
    PASSED
}

pub(crate) fn work(origin: &Entered) -> u8 {
    let network = NetNamespace::new().unwrap();
    let own = NetNamespace::own().unwrap().number().unwrap();
    let numbers = [own, network.number().unwrap(), origin.network.number().unwrap()];
    let mut different = numbers.to_vec();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 3, "{numbers:?}");
    // Where the work is done, and not where it was asked for.
    assert_eq!(network.run(|| NetNamespace::own().unwrap().number().unwrap()).unwrap(), numbers[1]);
    assert_eq!(NetNamespace::own().unwrap().number().unwrap(), own);
    let read = || std::fs::read_to_string("/proc/sys/net/ipv4/ip_forward").unwrap();
    network.run(|| write_setting("ipv4/ip_forward", "1").unwrap()).unwrap();
    assert_eq!((network.run(read).unwrap(), read()), ("1\n".to_owned(), "0\n".to_owned()));
    let error = network.run(|| write_setting("ipv4/no_such_setting", "1")).unwrap().unwrap_err();
    assert!(error.to_string().starts_with("/proc/sys/net/ipv4/no_such_setting = 1: "), "{error}");
    PASSED
}
