//! Places of attached nodes: a network namespace each, joined to the network by a pair of virtual Ethernet interfaces
//! for every link.

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd as _;
use std::time::Duration;

use slantpath_system::netlink::{KernelRoute, Netlink, Veth};
use slantpath_system::network::{NetNamespace, write_setting};
use slantpath_system::offloads;

use crate::doors::{DoorConfig, JOINED_BYTES_MAX};
use crate::frames::MacAddress;
use crate::node_routes::{NodeRoute, routes};

/// An attached node of which a place is to be made.
#[derive(Clone, Debug)]
pub struct PlaceConfig {
    /// Name of the node.
    pub name: String,
    /// Interfaces of the node.
    pub interfaces: Vec<InterfaceConfig>,
    /// Addresses that it reaches, with the name of the node that has each and the place of the interface that leads
    /// there.
    pub reaches: Vec<(IpAddr, String, usize)>,
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
}

/// A place that stands.
#[derive(Debug)]
pub struct AttachedPlace {
    /// Name of the node.
    pub name: String,
    /// Network namespace of the node.
    pub network: NetNamespace,
    /// Content of `/etc/hosts`: the names of all nodes that it reaches, and its own.
    pub hosts: String,
    /// Names of its interfaces.
    pub interfaces: Vec<String>,
    /// Something that its programs will miss, in a sentence.
    pub note: Option<String>,
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
const CARRIER_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest name of an interface, in bytes.
const NAME_MAX: usize = 15;

/// Makes a place of every node, with interfaces whose other ends are in the network namespace of the calling thread.
/// Gives what doors are to be opened there, in the order of nodes and their interfaces.
///
/// # Errors
/// At the first step that the system refuses.
pub fn build(nodes: &[PlaceConfig]) -> Result<(Vec<AttachedPlace>, Vec<DoorConfig>), PlaceError> {
    // The kernel has nothing to say at the doors: no neighbour discovery of its own.
    step("IPv6 at the doors", || {
        match write_setting("ipv6/conf/default/disable_ipv6", "1") {
            // A kernel without IPv6 says nothing either.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            outcome => outcome,
        }
    })?;
    let mut near = step("the doors", Netlink::open)?;
    let (mut places, mut doors) = (Vec::new(), Vec::new());
    for (number, node) in (0..).zip(nodes) {
        let network = step(&format!("the network of `{}`", node.name), NetNamespace::new)?;
        let interfaces = interface_names(&node.interfaces);
        for (((place, config), name), mac) in (0..).zip(&node.interfaces).zip(&interfaces).zip(macs(number)) {
            let door = format!("n{number}i{place}");
            step(&format!("interface `{name}` of `{}`", node.name), || {
                near.add_veth(&Veth {
                    name: &door,
                    address: mac.kernel.0,
                    peer: name,
                    peer_address: mac.attached.0,
                    peer_namespace: network.as_fd(),
                    mtu: config.mtu_bytes,
                    gso_max_size: JOINED_BYTES_MAX,
                })?;
                near.set_up(&door)
            })?;
            doors.push(DoorConfig {
                interface: door,
                own: mac.own,
                attached: mac.attached,
                addresses: config.addresses.clone(),
                mtu_bytes: config.mtu_bytes as usize,
            });
        }
        let network_of = format!("the network of `{}`", node.name);
        let note = step(&network_of, || network.run(|| configure(node, &interfaces)))??;
        places.push(AttachedPlace { name: node.name.clone(), network, hosts: hosts(node), interfaces, note });
    }
    // All at once: the kernel sees to carriers a few times a second, and a wait for one is a wait for many.
    for (number, (node, place)) in nodes.iter().zip(&places).enumerate() {
        for (place, interface) in place.interfaces.iter().enumerate() {
            let door = format!("n{number}i{place}");
            let what = format!("interface `{interface}` of `{}`", node.name);
            if !step(&what, || near.wait_until_running(&door, CARRIER_TIMEOUT))? {
                return Err(PlaceError { what, error: "it has no carrier".into() });
            }
        }
    }
    Ok((places, doors))
}

fn step<T, E: std::error::Error + Send + Sync + 'static>(
    what: &str,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<T, PlaceError> {
    work().map_err(|error| PlaceError { what: what.to_owned(), error: Box::new(error) })
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
    step(&format!("the loopback of `{}`", node.name), || link.set_up("lo"))?;
    // Echoes without a privilege, by sockets of datagrams.
    let refused = write_setting("ipv4/ping_group_range", "0 0").err();
    let note = refused.map(|error| format!("`ping` in `{}` may need a privilege: {error}", node.name));
    let mut defaults = [None; 2];
    for (place, (interface, name)) in node.interfaces.iter().zip(names).enumerate() {
        step(&format!("interface `{name}` of `{}`", node.name), || link.set_up(name))?;
        step(&format!("offloads of `{name}` of `{}`", node.name), || {
            match offloads::switch_off(name, &offloads::OF_SCTP) {
                // A kernel that has no such offload has nothing to switch off.
                Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
                outcome => outcome,
            }
        })?;
        for &address in &interface.addresses {
            step(&format!("address {address} of `{}`", node.name), || {
                link.add_address(name, address, host_len(address))
            })?;
            // All that has no route of its own goes by the first link. Everybody is on it: the door answers for them.
            let default = &mut defaults[usize::from(address.is_ipv6())];
            if default.is_none() {
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

fn route(destination: (IpAddr, u8), interface: &str, source: IpAddr) -> KernelRoute<'_> {
    KernelRoute { destination, gateway: None, interface, source: Some(source), metric: None }
}

const fn host_len(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
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
    fn every_name_that_a_node_reaches_stands_in_its_hosts() {
        let node = PlaceConfig {
            name: "near".to_owned(),
            interfaces: vec![InterfaceConfig {
                link: "link".to_owned(),
                addresses: vec![[10, 0, 0, 1].into()],
                mtu_bytes: 1_500,
            }],
            reaches: vec![([10, 0, 0, 2].into(), "far".to_owned(), 0)],
        };
        assert_eq!(hosts(&node), "127.0.0.1 localhost\n::1 localhost\n10.0.0.1 near\n10.0.0.2 far\n");
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
