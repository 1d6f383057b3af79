//! Changes of the own addresses and their links while a host runs, as the system tells them (rtnetlink).
//!
//! The host is told of all of it: which have gone or are back, with their links, and which others have come.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read as _};
use std::net::IpAddr;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::{InterfaceFlags, if_nametoindex};
use nix::sys::socket::NetlinkAddr;
use socket2::{Domain, Protocol, Socket, Type};

use crate::config::{Binding, is_for_others};

/// Change of an own address. Its `Display` text is a line that says what the change means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnAddressChange {
    /// Address that has changed.
    pub address: IpAddr,
    /// State of the address from now on.
    pub presence: Presence,
}

/// Usability of an own address for packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The machine has it now, and had not when the host began, which uses it from now on.
    Added,
    /// The machine does not have it any more.
    Gone,
    /// The machine has it, and its link is down.
    LinkDown,
    /// The machine has it now, and the host cannot use it, for this reason.
    Refused(String),
    /// The machine has it, and its link is up.
    Up,
}

impl fmt::Display for OwnAddressChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, presence } = self;
        match presence {
            Presence::Added => write!(f, "{address} is new, and is used from now on"),
            Presence::Gone => write!(
                f,
                "{address} is no longer an address of this machine: its paths are not used until it is back (`ip \
                 address add`)"
            ),
            Presence::LinkDown => {
                write!(
                    f,
                    "the link of {address} is down: its paths are not used until it is up (`ip link set ... up`)"
                )
            }
            Presence::Refused(why) => write!(f, "{address} is new, and cannot be used: {why}"),
            Presence::Up => write!(
                f,
                "{address} is back, with its link: its paths are asked at once, and work again once they answer"
            ),
        }
    }
}

/// An own address as it was last told of.
#[derive(Clone, Debug)]
struct Own {
    address: IpAddr,
    /// Number of its interface, where it is known.
    index: Option<u32>,
    presence: Presence,
}

/// Listens for changes.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) socket: Socket,
    binding: Binding,
    own: Vec<Own>,
    /// State of the link of each interface, by its number: true if it is up.
    links: BTreeMap<u32, bool>,
    /// Addresses that could not be used, which has been said.
    refused: Vec<IpAddr>,
}

/// AF_NETLINK and NETLINK_ROUTE.
const NETLINK: (i32, i32) = (16, 0);
/// RTMGRP_LINK, RTMGRP_IPV4_IFADDR and RTMGRP_IPV6_IFADDR.
const GROUPS: u32 = 0x1 | 0x10 | 0x100;
/// Kinds of messages: RTM_NEWLINK, RTM_NEWADDR and RTM_DELADDR.
const NEW_LINK: u16 = 16;
const NEW_ADDRESS: u16 = 20;
const DELETED_ADDRESS: u16 = 21;
/// IFA_ADDRESS and IFA_LOCAL: of a link between two, the first is the other end's.
const ATTRIBUTES: [u16; 2] = [1, 2];
/// IFA_F_TENTATIVE and IFA_F_DADFAILED: another machine may have the address. It is told of again once none has.
const NOT_YET: u8 = 0x40 | 0x08;
/// IFF_UP and IFF_RUNNING.
const UP: u32 = 0x1 | 0x40;
/// As long as a message of this kind is.
const LONGEST: usize = 32_768;
/// Number of reads from the socket at one time, at most.
const BATCH: usize = 16;

impl Watch {
    pub(crate) fn open(addresses: &[IpAddr], binding: Binding) -> io::Result<Self> {
        let kind = Type::RAW.nonblocking().cloexec();
        let socket = Socket::new(Domain::from(NETLINK.0), kind, Some(Protocol::from(NETLINK.1)))?;
        nix::sys::socket::bind(socket.as_raw_fd(), &NetlinkAddr::new(0, GROUPS))?;
        let own = addresses.iter().map(|&address| Own { address, index: None, presence: Presence::Up });
        let own: Vec<Own> = own.collect();
        let (links, refused) = (BTreeMap::new(), Vec::new());
        // Others than those that it is opened with are taken once something is told of them.
        let mut watch = Self { socket, binding: Binding::Listed, own, links, refused };
        for change in watch.listed()? {
            watch.apply(change, &mut Vec::new());
        }
        watch.binding = binding;
        Ok(watch)
    }

    /// Reads what the system has said, and gives what of it concerns own addresses, oldest first. One that has been
    /// [added](Presence::Added) counts as one of them, unless it is [refused](Self::refuse).
    pub(crate) fn read(&mut self) -> Vec<OwnAddressChange> {
        let mut news = Vec::new();
        let mut octets = vec![0; LONGEST];
        for _ in 0..BATCH {
            let changes = match (&self.socket).read(&mut octets) {
                Ok(len) => messages(&octets[..len]),
                // What was lost for want of room shows in how things are now.
                Err(error) if error.raw_os_error() == Some(Errno::ENOBUFS as i32) => {
                    self.listed().unwrap_or_default()
                }
                Err(_) => break,
            };
            for change in changes {
                self.apply(change, &mut news);
            }
        }
        news
    }

    /// One more address is the host's, as those are that it was opened with.
    pub(crate) fn follow(&mut self, address: IpAddr) {
        if self.own.iter().any(|own| own.address == address) {
            return;
        }
        self.own.push(Own { address, index: None, presence: Presence::Up });
        // One whose link is down is told of with what comes next of it.
        for change in self.listed().unwrap_or_default() {
            if matches!(change, Change::Added { address: listed, .. } if listed == address) {
                self.apply(change, &mut Vec::new());
            }
        }
    }

    /// The own addresses that the machine has, each with the number of its interface.
    pub(crate) fn interfaces(&self) -> Vec<(IpAddr, u32)> {
        let present = self.own.iter().filter(|own| own.presence != Presence::Gone);
        present.filter_map(|own| Some((own.address, own.index?))).collect()
    }

    /// An address that has been added cannot be used. `true` if that is news.
    pub(crate) fn refuse(&mut self, address: IpAddr) -> bool {
        self.own.retain(|own| own.address != address);
        let is_news = !self.refused.contains(&address);
        if is_news {
            self.refused.push(address);
        }
        is_news
    }

    /// Lists the present addresses and links, as changes.
    fn listed(&self) -> io::Result<Vec<Change>> {
        let mut changes = Vec::new();
        let mut present = Vec::new();
        for interface in getifaddrs()? {
            let Ok(index) = if_nametoindex(interface.interface_name.as_str()) else { continue };
            let up = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_RUNNING;
            changes.push(Change::Link { index, is_up: interface.flags.contains(up) });
            let Some(storage) = interface.address else { continue };
            let v4 = storage.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
            let v6 = storage.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip()));
            present.extend(v4.or(v6).map(|address| (address, index)));
        }
        let is_present = |own: &&Own| present.iter().any(|(address, _)| *address == own.address);
        // Of the loopback's network every address is the machine's, and one is listed.
        let gone = self.own.iter().filter(|own| own.index.is_some() && !is_present(own));
        changes.extend(gone.map(|own| Change::Removed { address: own.address }));
        changes.extend(present.into_iter().map(|(address, index)| Change::Added { address, index }));
        Ok(changes)
    }

    fn apply(&mut self, change: Change, news: &mut Vec<OwnAddressChange>) {
        if let Change::Link { index, is_up } = change {
            self.links.insert(index, is_up);
        }
        if let Change::Removed { address } = change {
            self.refused.retain(|one| *one != address);
        }
        for own in &mut self.own {
            let before = own.presence.clone();
            match change {
                Change::Added { address, index } if address == own.address => {
                    own.index = Some(index);
                    own.presence = presence_on(&self.links, index);
                }
                Change::Removed { address } if address == own.address => own.presence = Presence::Gone,
                Change::Link { index, .. } if own.index == Some(index) && before != Presence::Gone => {
                    own.presence = presence_on(&self.links, index);
                }
                Change::Added { .. } | Change::Link { .. } | Change::Removed { .. } => {}
            }
            if own.presence != before {
                news.push(OwnAddressChange { address: own.address, presence: own.presence.clone() });
            }
        }
        if let Change::Added { address, index } = change
            && self.binding == Binding::AllOfMachine
            && is_for_others(address)
            && self.own.iter().all(|own| own.address != address)
        {
            let presence = presence_on(&self.links, index);
            self.own.push(Own { address, index: Some(index), presence });
            news.push(OwnAddressChange { address, presence: Presence::Added });
        }
    }
}

/// Presence of an address at an interface, by the state of its link.
fn presence_on(links: &BTreeMap<u32, bool>, index: u32) -> Presence {
    if links.get(&index) == Some(&false) { Presence::LinkDown } else { Presence::Up }
}

/// Change that a message reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Added { address: IpAddr, index: u32 },
    Link { index: u32, is_up: bool },
    Removed { address: IpAddr },
}

/// The messages in what was read at one time, as far as they can be read.
fn messages(octets: &[u8]) -> Vec<Change> {
    const HEADER: usize = 16;
    let mut changes = Vec::new();
    let mut rest = octets;
    while let (Some(len), Some(kind)) = (u32_at(rest, 0), u16_at(rest, 4)) {
        let Some(message) = rest.get(HEADER..len as usize) else { break };
        match kind {
            NEW_LINK => changes.extend(link(message)),
            NEW_ADDRESS | DELETED_ADDRESS => changes.extend(address(message, kind)),
            _ => {}
        }
        let Some(next) = rest.get((len as usize).next_multiple_of(4)..) else { break };
        rest = next;
    }
    changes
}

/// `struct ifinfomsg`: the index at 4, the flags at 8.
fn link(message: &[u8]) -> Option<Change> {
    let (index, flags) = (u32_at(message, 4)?, u32_at(message, 8)?);
    Some(Change::Link { index, is_up: flags & UP == UP })
}

/// `struct ifaddrmsg`: flags at 2, the index at 4; then attributes.
fn address(message: &[u8], kind: u16) -> Option<Change> {
    let index = u32_at(message, 4)?;
    let mut found = [None; 2];
    let mut rest = message.get(8..)?;
    while let (Some(len), Some(attribute)) = (u16_at(rest, 0), u16_at(rest, 2)) {
        let Some(value) = rest.get(4..usize::from(len)) else { break };
        let address = match *value {
            [a, b, c, d] => Some(IpAddr::from([a, b, c, d])),
            _ => <[u8; 16]>::try_from(value).ok().map(IpAddr::from),
        };
        if let Some(place) = ATTRIBUTES.iter().position(|own| *own == attribute) {
            found[place] = address;
        }
        let Some(next) = rest.get(usize::from(len).next_multiple_of(4)..) else { break };
        rest = next;
    }
    let address = found[1].or(found[0])?;
    if kind == NEW_ADDRESS && message[2] & NOT_YET != 0 {
        return None;
    }
    Some(if kind == NEW_ADDRESS { Change::Added { address, index } } else { Change::Removed { address } })
}

fn u16_at(octets: &[u8], at: usize) -> Option<u16> {
    octets.get(at..)?.first_chunk().copied().map(u16::from_ne_bytes)
}

fn u32_at(octets: &[u8], at: usize) -> Option<u32> {
    octets.get(at..)?.first_chunk().copied().map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message about 10.1.0.2 at interface 3, whose first attribute is the other end's.
    fn about_an_address(kind: u16) -> Vec<u8> {
        about_an_address_with(kind, 0)
    }

    fn about_an_address_with(kind: u16, flags: u8) -> Vec<u8> {
        let mut body = [2, 24, flags, 0].to_vec();
        body.extend(3_u32.to_ne_bytes());
        for (attribute, last) in [(1_u16, 1), (2, 2)] {
            body.extend(8_u16.to_ne_bytes());
            body.extend(attribute.to_ne_bytes());
            body.extend([10, 1, 0, last]);
        }
        message(kind, &body)
    }

    fn about_a_link(index: u32, flags: u32) -> Vec<u8> {
        let mut body = vec![0; 4];
        body.extend(index.to_ne_bytes());
        body.extend(flags.to_ne_bytes());
        body.extend([0; 4]);
        message(NEW_LINK, &body)
    }

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let len = u32::try_from(16 + body.len()).unwrap();
        [&len.to_ne_bytes()[..], &kind.to_ne_bytes(), &[0; 10], body].concat()
    }

    #[test]
    fn an_address_that_goes_and_comes_and_its_link_are_told_of_once_each() {
        let own: IpAddr = [10, 1, 0, 2].into();
        let mut watch = Watch::open(&[own], Binding::Listed).unwrap();
        (watch.own[0].index, watch.own[0].presence) = (Some(3), Presence::Up);
        let mut news = Vec::new();
        let said = [
            about_a_link(4, 0),
            about_a_link(3, 0x1),
            about_a_link(3, 0x1),
            about_a_link(3, UP),
            about_an_address(DELETED_ADDRESS),
            about_a_link(3, 0),
            about_an_address(NEW_ADDRESS),
            about_a_link(3, UP),
        ];
        for change in messages(&said.concat()) {
            watch.apply(change, &mut news);
        }
        let news: Vec<Presence> = news.into_iter().map(|change| change.presence).collect();
        let expected = [Presence::LinkDown, Presence::Up, Presence::Gone, Presence::LinkDown, Presence::Up];
        assert_eq!(news, expected);
    }

    #[test]
    fn an_address_that_comes_later_is_taken_where_all_of_the_machine_are() {
        let new: IpAddr = [10, 1, 0, 2].into();
        let said = [about_an_address(NEW_ADDRESS), about_an_address(NEW_ADDRESS)].concat();
        for (binding, expected) in
            [(Binding::Listed, &[][..]), (Binding::AllOfMachine, &[Presence::Added][..])]
        {
            let mut watch = Watch::open(&[[127, 0, 0, 1].into()], binding).unwrap();
            let mut news = Vec::new();
            for change in messages(&said) {
                watch.apply(change, &mut news);
            }
            assert!(news.iter().all(|change| change.address == new), "{news:?}");
            let news: Vec<Presence> = news.into_iter().map(|change| change.presence).collect();
            assert_eq!(news, expected, "{binding:?}");
        }
    }

    #[test]
    fn an_address_that_is_refused_is_tried_again_and_said_to_be_once() {
        let new: IpAddr = [10, 1, 0, 2].into();
        let mut watch = Watch::open(&[[127, 0, 0, 1].into()], Binding::AllOfMachine).unwrap();
        let come = |watch: &mut Watch| {
            let mut news = Vec::new();
            watch.apply(Change::Added { address: new, index: 3 }, &mut news);
            assert_eq!(news, [OwnAddressChange { address: new, presence: Presence::Added }]);
        };
        come(&mut watch);
        assert!(watch.refuse(new));
        come(&mut watch);
        assert!(!watch.refuse(new));
        watch.apply(Change::Removed { address: new }, &mut Vec::new());
        come(&mut watch);
        assert!(watch.refuse(new));
    }

    #[test]
    fn only_addresses_that_others_can_send_to_are_taken() {
        let mut watch = Watch::open(&[[127, 0, 0, 1].into()], Binding::AllOfMachine).unwrap();
        let mut news = Vec::new();
        for text in ["127.0.0.9", "169.254.1.1", "fe80::1", "::1", "fd00::9"] {
            let address = text.parse().unwrap();
            watch.apply(Change::Added { address, index: 3 }, &mut news);
        }
        let addresses: Vec<String> = news.iter().map(|change| change.address.to_string()).collect();
        assert_eq!(addresses, ["fd00::9"]);
    }

    #[test]
    fn an_address_that_another_machine_may_have_is_none_yet() {
        for flags in [0x40, 0x08] {
            assert_eq!(messages(&about_an_address_with(NEW_ADDRESS, flags)), []);
            assert_eq!(messages(&about_an_address_with(DELETED_ADDRESS, flags)).len(), 1);
        }
    }

    #[test]
    fn any_octets_are_read_to_an_end() {
        let whole = [about_an_address(NEW_ADDRESS), about_a_link(3, UP)].concat();
        for len in 0..whole.len() {
            assert!(messages(&whole[..len]).len() < 2);
        }
        for len in [0_u32, 3, 16, u32::MAX] {
            let mut octets = whole.clone();
            octets[..4].copy_from_slice(&len.to_ne_bytes());
            assert!(messages(&octets).len() < 2, "{len}");
        }
    }
}
