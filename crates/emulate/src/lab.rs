//! Places of attached nodes: a network namespace each, joined to the network by a pair of virtual Ethernet interfaces
//! for every link.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::Duration;

use slantpath_system::clock::rest;
use slantpath_system::netlink::{KernelRoute, Netlink, NetlinkError, Veth};
use slantpath_system::network::{NetNamespace, write_setting};
use slantpath_system::offloads;

use crate::doors::{DoorConfig, JOINED_BYTES_MAX};
use crate::frames::MacAddress;
use crate::node_routes::{NodeRoute, routes};
use crate::port::{OwnPort, as_root};

/// An attached node of which a place is to be made.
#[derive(Clone, Debug)]
pub struct PlaceConfig {
    /// Name of the node.
    pub name: String,
    /// Place of the node, if it exists already.
    pub existing: Option<ExistingPlace>,
    /// Interfaces of the node.
    pub interfaces: Vec<InterfaceConfig>,
    /// Addresses that it reaches, with the name of the node that has each and the place of the interface that leads
    /// there.
    pub reaches: Vec<(IpAddr, String, usize)>,
    /// Most that TCP keeps of what has come on a connection, and of what it sends, in bytes. As the machine has it if
    /// absent.
    pub tcp_buffers: [Option<u64>; 2],
}

/// Place that exists already.
#[derive(Clone, Debug)]
pub enum ExistingPlace {
    /// A network namespace.
    Namespace(Arc<NetNamespace>),
    /// Ports of the machine.
    Ports {
        /// Name of the port of each of the node's links.
        by_link: BTreeMap<String, String>,
        /// Network namespace that they are in.
        network: Arc<NetNamespace>,
    },
}

/// An interface of an attached node.
#[derive(Clone, Debug)]
pub struct InterfaceConfig {
    /// Name of its link.
    pub link: String,
    /// Addresses of the interface.
    pub addresses: Vec<IpAddr>,
    /// Largest IP packet, in bytes.
    pub mtu_bytes: u32,
    /// Addresses at the other end.
    pub other_end: Vec<IpAddr>,
    /// True if its link carries frames, and false if it carries IP.
    pub carries_frames: bool,
}

/// A place that stands.
#[derive(Debug)]
pub struct AttachedPlace {
    /// Name of the node.
    pub name: String,
    /// Network namespace of the node.
    pub network: Arc<NetNamespace>,
    /// Content of `/etc/hosts`: the names of all nodes that it reaches, and its own.
    pub hosts: String,
    /// Names of its interfaces.
    pub interfaces: Vec<String>,
    /// True if it was there before, with whoever runs in it.
    pub is_existing: bool,
}

/// Why a place could not be made.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {error}")]
pub struct PlaceError {
    /// Step that failed, with the node that it is about.
    pub what: String,
    /// Answer of the system.
    pub error: Box<dyn std::error::Error + Send + Sync>,
}

/// Longest time for which an interface may be without a carrier after it is up.
pub(crate) const CARRIER_TIMEOUT: Duration = Duration::from_secs(5);
/// Time between two attempts to make an interface whose name is taken, and their number: three seconds.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
const ATTEMPTS_MAX: u32 = 150;
/// Longest name of an interface, in bytes.
const NAME_MAX: usize = 15;

/// Places that stand, and the doors to them.
#[derive(Debug)]
pub struct Lab {
    /// Places of nodes, but for those that are ports.
    pub places: Vec<AttachedPlace>,
    /// Doors that are to be opened, in the order of nodes and their interfaces.
    pub doors: Vec<DoorConfig>,
    /// Things that will be missed, or that disturb, each in a sentence.
    pub notes: Vec<String>,
}

/// Makes a place of every node that has none, with interfaces whose other ends are in the network namespace of the
/// calling thread. In one that exists interfaces are made as well; they end with that namespace.
///
/// # Errors
/// At the first step that the system refuses.
pub fn build(nodes: &[PlaceConfig]) -> Result<Lab, PlaceError> {
    // The kernel has nothing to say at the doors: no neighbour discovery of its own.
    step("IPv6 at the doors", || without_ipv6("default"))?;
    let mut near = step("the doors", Netlink::open)?;
    let mut lab = Lab { places: Vec::new(), doors: Vec::new(), notes: Vec::new() };
    let mut made = Vec::new();
    for (number, node) in (0..).zip(nodes) {
        let network = match &node.existing {
            Some(ExistingPlace::Ports { by_link, network }) => {
                lab.add_ports(node, number, by_link, network)?;
                continue;
            }
            Some(ExistingPlace::Namespace(network)) => {
                let what = format!("the network of `{}`", node.name);
                let entered = network.run(|| ());
                entered.map_err(|failure| PlaceError { what, error: as_root(&failure) })?;
                Arc::clone(network)
            }
            None => Arc::new(step(&format!("the network of `{}`", node.name), NetNamespace::new)?),
        };
        let interfaces = interface_names(&node.interfaces);
        for (((place, config), name), mac) in (0..).zip(&node.interfaces).zip(&interfaces).zip(macs(number)) {
            let door = format!("n{number}i{place}");
            step(&format!("interface `{name}` of `{}`", node.name), || {
                let veth = Veth {
                    name: &door,
                    address: mac.kernel.0,
                    peer: name,
                    peer_address: mac.attached.0,
                    peer_namespace: network.as_fd(),
                    mtu: config.mtu_bytes,
                    gso_max_size: JOINED_BYTES_MAX,
                };
                once_gone(|| near.add_veth(&veth), || rest(LOOK_AGAIN))?;
                near.set_up(&door)
            })?;
            lab.doors.push(DoorConfig {
                interface: door,
                own: mac.own,
                attached: mac.attached,
                addresses: config.addresses.clone(),
                mtu_bytes: config.mtu_bytes as usize,
                carries_frames: config.carries_frames,
                port: None,
            });
        }
        let network_of = format!("the network of `{}`", node.name);
        lab.notes.extend(step(&network_of, || network.run(|| configure(node, &interfaces)))??);
        let hosts = hosts(node);
        let is_existing = node.existing.is_some();
        lab.places.push(AttachedPlace { name: node.name.clone(), network, hosts, interfaces, is_existing });
        made.push(number);
    }
    // All at once: the kernel sees to carriers a few times a second, and a wait for one is a wait for many.
    for (number, place) in made.into_iter().zip(&lab.places) {
        for (index, interface) in place.interfaces.iter().enumerate() {
            let door = format!("n{number}i{index}");
            let what = format!("interface `{interface}` of `{}`", place.name);
            // Each end has its own turn, and until then drops what is sent there.
            let is_running = step(&what, || near.wait_until_running(&door, CARRIER_TIMEOUT))?
                && step(&what, || place.network.run(|| is_running_here(interface)))??;
            if !is_running {
                return Err(PlaceError { what, error: "it has no carrier".into() });
            }
        }
    }
    Ok(lab)
}

impl Lab {
    fn add_ports(
        &mut self,
        node: &PlaceConfig,
        number: u16,
        by_link: &BTreeMap<String, String>,
        network: &Arc<NetNamespace>,
    ) -> Result<(), PlaceError> {
        for (config, mac) in node.interfaces.iter().zip(macs(number)) {
            let interface = by_link.get(&config.link).map_or("", String::as_str);
            let taken = OwnPort::take(network, interface, config.mtu_bytes, config.other_end.clone());
            let (port, note) = taken.map_err(|error| {
                let what = format!("port `{interface}` of `{}`", node.name);
                PlaceError { what, error }
            })?;
            self.notes.extend(note);
            self.doors.push(DoorConfig {
                interface: interface.to_owned(),
                own: mac.own,
                // Its frames will show it.
                attached: MacAddress([0; 6]),
                addresses: config.addresses.clone(),
                mtu_bytes: config.mtu_bytes as usize,
                carries_frames: config.carries_frames,
                port: Some(Arc::new(port)),
            });
        }
        Ok(())
    }
}

pub(crate) fn step<T, E: std::error::Error + Send + Sync + 'static>(
    what: &str,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, PlaceError> {
    work().map_err(|error| PlaceError { what: what.to_owned(), error: Box::new(error) })
}

/// Tells if an interface of the calling thread's network namespace has a carrier, at once or soon.
fn is_running_here(interface: &str) -> Result<bool, PlaceError> {
    let what = format!("interface `{interface}`");
    let mut link = step(&what, Netlink::open)?;
    step(&what, || link.wait_until_running(interface, CARRIER_TIMEOUT))
}

/// Makes an interface in a place that may still have one of its name: an emulation has just ended there, and the kernel
/// takes its interfaces away a little later.
fn once_gone(
    mut make: impl FnMut() -> Result<(), NetlinkError>,
    mut pause: impl FnMut(),
) -> Result<(), NetlinkError> {
    for _ in 1..ATTEMPTS_MAX {
        match make() {
            Err(NetlinkError::Refused { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
                pause();
            }
            outcome => return outcome,
        }
    }
    make()
}

/// Switches IPv6 off at an interface of the calling thread's network namespace, or at those that are to come.
fn without_ipv6(interface: &str) -> io::Result<()> {
    match write_setting(&format!("ipv6/conf/{interface}/disable_ipv6"), "1") {
        // A kernel without IPv6 says nothing either.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

/// Link addresses at a door.
struct Macs {
    /// Of the attached interface.
    attached: MacAddress,
    /// Of the network, from which its frames come.
    own: MacAddress,
    /// Of the interface behind the door. Frames are for the network, so that the kernel leaves them alone.
    kernel: MacAddress,
}

/// Link addresses at the doors of a node, which somebody has assigned who administers them (IEEE 802, bit 0x02).
fn macs(node: u16) -> impl Iterator<Item = Macs> {
    let [high, low] = node.to_be_bytes();
    (0_u8..=u8::MAX).map(move |place| {
        let [attached, own, kernel] = [1, 2, 3].map(|end| MacAddress([2, 0, high, low, place, end]));
        Macs { attached, own, kernel }
    })
}

/// Names of interfaces: those of their links, as far as the system allows, else numbered.
fn interface_names(interfaces: &[InterfaceConfig]) -> Vec<String> {
    let mut taken: BTreeSet<String> = BTreeSet::from(["lo".to_owned()]);
    let mut names = Vec::new();
    for (place, interface) in interfaces.iter().enumerate() {
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        let link = &interface.link;
        let is_name = link.len() <= NAME_MAX && link.chars().all(allowed) && link != "." && link != "..";
        // As many as there are interfaces, and one of them is free.
        let mut numbers = place..=place + interfaces.len();
        let numbered =
            || numbers.find_map(|number| Some(format!("link{number}")).filter(|name| !taken.contains(name)));
        let name = Some(link.clone()).filter(|name| is_name && !taken.contains(name)).or_else(numbered);
        let name = name.expect("numbers do not end");
        taken.insert(name.clone());
        names.push(name);
    }
    names
}

/// Gives the calling thread's network namespace the addresses and routes of a node. What its programs will miss is a
/// note.
fn configure(node: &PlaceConfig, names: &[String]) -> Result<Option<String>, PlaceError> {
    let mut link = step(&format!("the network of `{}`", node.name), Netlink::open)?;
    // What exists already keeps its own loopback, settings and default routes.
    let is_new = node.existing.is_none();
    let mut refused = None;
    if is_new {
        step(&format!("the loopback of `{}`", node.name), || link.set_up("lo"))?;
        for ((setting, usual), most) in TCP_BUFFERS.into_iter().zip(node.tcp_buffers) {
            let Some(most) = most else { continue };
            step(&format!("`{setting}` of `{}`", node.name), || {
                write_setting(&format!("ipv4/{setting}"), &tcp_buffers(usual, most))
            })?;
        }
        // Echoes without a privilege, by sockets of datagrams.
        refused = write_setting("ipv4/ping_group_range", "0 0").err();
    }
    let note = refused.map(|error| format!("`ping` in `{}` may need a privilege: {error}", node.name));
    let mut defaults = [None; 2];
    for (place, (interface, name)) in node.interfaces.iter().zip(names).enumerate() {
        if interface.carries_frames && !interface.addresses.iter().any(IpAddr::is_ipv6) {
            // The kernel would look for routers and groups, and what it sends passes to the other end.
            step(&format!("IPv6 of `{name}` of `{}`", node.name), || without_ipv6(name))?;
        }
        step(&format!("interface `{name}` of `{}`", node.name), || link.set_up(name))?;
        step(&format!("offloads of `{name}` of `{}`", node.name), || {
            match offloads::switch_off(name, &offloads::OF_SCTP) {
                // A kernel that has no such offload has nothing to switch off.
                Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
                outcome => outcome,
            }
        })?;
        for &address in &interface.addresses {
            let other_ends = if interface.carries_frames { &interface.other_end[..] } else { &[] };
            step(&format!("address {address} of `{}`", node.name), || {
                link.add_address(name, address, subnet_len(address, other_ends))
            })?;
            // All that has no route of its own goes by the first link that carries IP. Everybody is on it: the door
            // answers for them.
            let default = &mut defaults[usize::from(address.is_ipv6())];
            if is_new && !interface.carries_frames && default.is_none() {
                *default = Some(place);
                let any = if address.is_ipv4() { IpAddr::from([0; 4]) } else { IpAddr::from([0; 16]) };
                step(&format!("the default route of `{}`", node.name), || {
                    link.add_route(&route((any, 0), name, address))
                })?;
            }
        }
    }
    let own_address = |place: usize, other: IpAddr| {
        node.interfaces[place].addresses.iter().copied().find(|own| own.is_ipv4() == other.is_ipv4())
    };
    let reached = node.reaches.iter().map(|(address, _, place)| (*address, *place));
    let reached = reached.filter(|(address, place)| own_address(*place, *address).is_some());
    for NodeRoute { destination, place } in routes(reached, defaults) {
        let (address, len) = destination;
        let Some(own) = own_address(place, address) else { continue };
        step(&format!("the route of `{}` to {address}/{len}", node.name), || {
            link.add_route(&route(destination, &names[place], own))
        })?;
    }
    Ok(note)
}

/// Settings of the buffers of TCP, over either version of IP, with what Linux begins with.
const TCP_BUFFERS: [(&str, u64); 2] = [("tcp_rmem", 131_072), ("tcp_wmem", 16_384)];

/// Least, first and greatest size of a buffer.
fn tcp_buffers(usual: u64, most: u64) -> String {
    format!("4096 {} {most}", usual.min(most))
}

fn route(destination: (IpAddr, u8), interface: &str, source: IpAddr) -> KernelRoute<'_> {
    KernelRoute { destination, gateway: None, interface, source: Some(source), metric: None }
}

const fn host_len(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The length of the prefix of an address on its link: the longest one, with addresses besides those of both ends, that
/// the other end's address has as well. An address that has too little in common with it, or is on a link of IP, is
/// alone.
fn subnet_len(own: IpAddr, other_ends: &[IpAddr]) -> u8 {
    /// Fewest bits that both have in common: more addresses than this leaves are on no link.
    const LEAST: [u32; 2] = [16, 48];
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    };
    let other = other_ends.iter().find(|other| other.is_ipv4() == own.is_ipv4());
    let Some(&other) = other else { return host_len(own) };
    let common = (bits(own) ^ bits(other)).leading_zeros();
    // The first address of a subnet is of nobody, and the last one of IPv4 is everybody's.
    let is_of_a_host = |len: &u32| {
        [own, other].into_iter().all(|address| {
            let host = bits(address) << len;
            let all = u128::MAX << (128 - u32::from(host_len(own))) << len;
            host != 0 && (address.is_ipv6() || host != all)
        })
    };
    let longest = common.min(u32::from(host_len(own)) - 2);
    let found = (LEAST[usize::from(own.is_ipv6())]..=longest).rev().find(is_of_a_host);
    found.and_then(|len| u8::try_from(len).ok()).unwrap_or_else(|| host_len(own))
}

/// The names of a node and of those that it reaches, as `/etc/hosts` has them.
fn hosts(node: &PlaceConfig) -> String {
    let own = node.interfaces.iter().flat_map(|interface| &interface.addresses);
    let own = own.map(|address| format!("{address} {}\n", node.name));
    let others = node.reaches.iter().map(|(address, name, _)| format!("{address} {name}\n"));
    let local = ["127.0.0.1 localhost\n".to_owned(), "::1 localhost\n".to_owned()];
    local.into_iter().chain(own).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(links: &[&str]) -> Vec<String> {
        let interface = |link: &&str| InterfaceConfig {
            link: (*link).to_owned(),
            addresses: Vec::new(),
            mtu_bytes: 1_500,
            other_end: Vec::new(),
            carries_frames: false,
        };
        interface_names(&links.iter().map(interface).collect::<Vec<_>>())
    }

    #[test]
    fn interfaces_are_called_as_their_links_where_the_system_allows_it() {
        assert_eq!(named(&["satellite", "sky.ground.1"]), ["satellite", "sky.ground.1"]);
        assert_eq!(named(&["a-link-of-16-byte", "fifteen-bytes-x"]), ["link0", "fifteen-bytes-x"]);
        assert_eq!(named(&["lo", "with space", "ünder"]), ["link0", "link1", "link2"]);
        assert_eq!(named(&["link1", "a/b"]), ["link1", "link2"]);
    }

    #[test]
    fn an_interface_is_made_once_the_one_of_its_name_is_gone() {
        let refused = |kind: io::ErrorKind| {
            let request = "add the links n0i0 and wire".to_owned();
            NetlinkError::Refused { request, source: kind.into(), detail: None }
        };
        let attempts = |outcome: &dyn Fn(u32) -> Result<(), NetlinkError>| {
            let (mut made, mut pauses) = (0, 0);
            let end = once_gone(
                || {
                    made += 1;
                    outcome(made)
                },
                || pauses += 1,
            );
            (end.is_ok(), made, pauses)
        };
        let taken = || Err(refused(io::ErrorKind::AlreadyExists));
        assert_eq!(attempts(&|_| Ok(())), (true, 1, 0));
        assert_eq!(attempts(&|number| if number < 4 { taken() } else { Ok(()) }), (true, 4, 3));
        assert_eq!(attempts(&|number| if number < 150 { taken() } else { Ok(()) }), (true, 150, 149));
        assert_eq!(attempts(&|_| taken()), (false, 150, 149));
        assert_eq!(attempts(&|_| Err(refused(io::ErrorKind::PermissionDenied))), (false, 1, 0));
    }

    #[test]
    fn every_name_that_a_node_reaches_stands_in_its_hosts() {
        let node = PlaceConfig {
            name: "near".to_owned(),
            existing: None,
            interfaces: vec![InterfaceConfig {
                link: "link".to_owned(),
                addresses: vec![[10, 0, 0, 1].into()],
                mtu_bytes: 1_500,
                other_end: Vec::new(),
                carries_frames: false,
            }],
            reaches: vec![([10, 0, 0, 2].into(), "far".to_owned(), 0)],
            tcp_buffers: [None; 2],
        };
        assert_eq!(hosts(&node), "127.0.0.1 localhost\n::1 localhost\n10.0.0.1 near\n10.0.0.2 far\n");
    }

    #[test]
    fn both_ends_of_a_link_of_frames_are_in_the_smallest_subnet_of_their_addresses() {
        for (own, other, len) in [
            ("10.0.0.1", "10.0.0.2", 30),
            ("10.0.0.5", "10.0.0.6", 30),
            // The last of a subnet, the first of one, and two that are apart.
            ("10.0.0.2", "10.0.0.3", 29),
            ("10.0.0.4", "10.0.0.5", 29),
            ("192.168.1.1", "192.168.1.200", 24),
            ("10.1.0.1", "10.1.255.1", 16),
            ("10.0.0.1", "10.128.0.1", 32),
            ("fd00::1", "fd00::2", 126),
            ("fd00::1", "fd00:0:0:7::1", 61),
            ("fd00::1", "fd01::1", 128),
        ] {
            let [own, other] = [own, other].map(|address| address.parse().unwrap());
            assert_eq!([subnet_len(own, &[other]), subnet_len(other, &[own])], [len; 2], "{own} {other}");
        }
        let [own, of_another_family] = ["10.0.0.1", "fd00::2"].map(|address| address.parse().unwrap());
        assert_eq!([subnet_len(own, &[of_another_family]), subnet_len(own, &[])], [32; 2]);
    }

    #[test]
    fn a_buffer_begins_with_what_is_usual_unless_that_is_too_much() {
        assert_eq!(tcp_buffers(16_384, 67_108_864), "4096 16384 67108864");
        assert_eq!(tcp_buffers(131_072, 8_192), "4096 8192 8192");
    }

    #[test]
    fn no_two_ends_have_one_address() {
        let all: BTreeSet<[u8; 6]> = [0, 1, 255, 256, u16::MAX]
            .into_iter()
            .flat_map(|node| macs(node).take(3).flat_map(|mac| [mac.attached.0, mac.own.0, mac.kernel.0]))
            .collect();
        assert_eq!(all.len(), 5 * 3 * 3);
        assert!(all.iter().all(|mac| mac[0] & 3 == 2));
    }
}
