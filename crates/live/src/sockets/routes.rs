//! Own addresses from which packets to a destination may leave, by the system's routes (rtnetlink).

use std::collections::HashMap;
use std::io::{self, Read as _};
use std::net::IpAddr;
use std::os::fd::AsRawFd;

use nix::sys::socket::{MsgFlags, NetlinkAddr, sendto};
use slantpath_base::{Duration, Instant};
use socket2::{Domain, Protocol, Socket, Type};

/// AF_NETLINK and NETLINK_ROUTE.
const NETLINK: (i32, i32) = (16, 0);
/// RTM_GETROUTE, the answer RTM_NEWROUTE, and the flag NLM_F_REQUEST.
const GET_ROUTE: u16 = 26;
const NEW_ROUTE: u16 = 24;
const REQUEST: u16 = 1;
/// RTA_DST, RTA_SRC, RTA_OIF and RTA_PREFSRC.
const DESTINATION: u16 = 1;
const SOURCE: u16 = 2;
const INTERFACE: u16 = 4;
const PREFERRED: u16 = 7;
/// The lengths of `struct nlmsghdr` and `struct rtmsg`.
pub(super) const HEADER: usize = 16;
const BODY: usize = 12;
/// Time for which an answer holds: of thousands of associations with one peer the first asks for all.
const HOLDS: Duration = Duration::from_secs(1);

/// Asks the system.
#[derive(Debug)]
pub(crate) struct RouteTable {
    socket: Socket,
    sequence: u32,
    answers: HashMap<IpAddr, Vec<IpAddr>>,
    /// Since when there have been answers.
    since: Instant,
}

/// A way that packets take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    /// The interface that they leave by.
    interface: u32,
    /// The address that they leave from, unless another was asked for.
    source: Option<IpAddr>,
}

impl RouteTable {
    pub(crate) fn open() -> io::Result<Self> {
        let kind = Type::RAW.nonblocking().cloexec();
        let socket = Socket::new(Domain::from(NETLINK.0), kind, Some(Protocol::from(NETLINK.1)))?;
        Ok(Self { socket, sequence: 0, answers: HashMap::new(), since: Instant::START })
    }

    /// The own addresses from which packets to a destination may leave: the one that the system would take, and those
    /// from which they leave by the interface that bears them. None where the system knows no way, or where there is no
    /// choice.
    pub(crate) fn sources_towards(
        &mut self,
        now: Instant,
        destination: IpAddr,
        own: &[(IpAddr, u32)],
    ) -> Vec<IpAddr> {
        if now >= self.since.saturating_add(HOLDS) {
            self.answers.clear();
            self.since = now;
        }
        if let Some(known) = self.answers.get(&destination) {
            return known.clone();
        }
        let alike: Vec<(IpAddr, u32)> =
            own.iter().copied().filter(|(address, _)| address.is_ipv4() == destination.is_ipv4()).collect();
        let mut sources = Vec::new();
        if alike.len() > 1 {
            let preferred = self.way(destination, None).and_then(|way| way.source);
            sources.extend(preferred.filter(|source| alike.iter().any(|(own, _)| own == source)));
            for (address, interface) in alike {
                let leaves_there = |way: Way| way.interface == interface;
                if !sources.contains(&address)
                    && self.way(destination, Some(address)).is_some_and(leaves_there)
                {
                    sources.push(address);
                }
            }
        }
        self.answers.insert(destination, sources.clone());
        sources
    }

    /// Discards the known answers, which may hold no longer.
    pub(crate) fn forget(&mut self) {
        self.answers.clear();
    }

    /// The way to a destination, from an address if one is named; `None` without one.
    fn way(&mut self, destination: IpAddr, source: Option<IpAddr>) -> Option<Way> {
        self.sequence = self.sequence.wrapping_add(1);
        let request = request(self.sequence, destination, source);
        let kernel = NetlinkAddr::new(0, 0);
        sendto(self.socket.as_raw_fd(), &request, &kernel, MsgFlags::empty()).ok()?;
        // The answer is there when the request has been sent; an older one is of a request that was given up.
        let mut octets = [0; 1_024];
        loop {
            let len = (&self.socket).read(&mut octets).ok()?;
            let answer = &octets[..len];
            if u32_at(answer, 8)? == self.sequence {
                return if u16_at(answer, 4)? == NEW_ROUTE { way_of(answer) } else { None };
            }
        }
    }
}

fn request(sequence: u32, destination: IpAddr, source: Option<IpAddr>) -> Vec<u8> {
    let octets = |address: IpAddr| match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    };
    // AF_INET and AF_INET6.
    let family = if destination.is_ipv4() { 2 } else { 10 };
    let bits = if destination.is_ipv4() { 32 } else { 128 };
    let source_bits = if source.is_some() { bits } else { 0 };
    let mut body = vec![family, bits, source_bits];
    body.resize(BODY, 0);
    let mut attribute = |kind: u16, value: &[u8]| {
        let len = u16::try_from(4 + value.len()).expect("an address is short");
        body.extend(len.to_ne_bytes());
        body.extend(kind.to_ne_bytes());
        body.extend(value);
    };
    attribute(DESTINATION, &octets(destination));
    if let Some(source) = source {
        attribute(SOURCE, &octets(source));
    }
    let len = u32::try_from(HEADER + body.len()).expect("a request is short");
    let header = [&len.to_ne_bytes()[..], &GET_ROUTE.to_ne_bytes(), &REQUEST.to_ne_bytes()].concat();
    [&header[..], &sequence.to_ne_bytes(), &[0; 4], &body].concat()
}

/// Reads the way from an answer.
fn way_of(answer: &[u8]) -> Option<Way> {
    let (mut interface, mut source) = (None, None);
    let mut rest = answer.get(HEADER + BODY..)?;
    while let (Some(len), Some(kind)) = (u16_at(rest, 0), u16_at(rest, 2)) {
        let Some(value) = rest.get(4..usize::from(len)) else { break };
        match kind {
            INTERFACE => interface = u32_at(value, 0),
            PREFERRED => {
                let v4 = <[u8; 4]>::try_from(value).map(IpAddr::from);
                source = v4.or_else(|_| <[u8; 16]>::try_from(value).map(IpAddr::from)).ok();
            }
            _ => {}
        }
        let Some(next) = rest.get(usize::from(len).next_multiple_of(4)..) else { break };
        rest = next;
    }
    Some(Way { interface: interface?, source })
}

pub(super) fn u16_at(octets: &[u8], at: usize) -> Option<u16> {
    octets.get(at..)?.first_chunk().copied().map(u16::from_ne_bytes)
}

pub(super) fn u32_at(octets: &[u8], at: usize) -> Option<u32> {
    octets.get(at..)?.first_chunk().copied().map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_reaches_itself_from_the_loopback() {
        let loopback: IpAddr = [127, 0, 0, 1].into();
        let mut table = RouteTable::open().unwrap();
        let way = table.way(loopback, None).unwrap();
        assert_eq!(way.source, Some(loopback));
        assert_eq!(table.way(loopback, Some(loopback)).unwrap().interface, way.interface);
        let own = [(loopback, way.interface), ([192, 0, 2, 1].into(), way.interface)];
        let now = Instant::from_secs(5);
        assert_eq!(table.sources_towards(now, loopback, &own), [loopback], "the other is none of its own");
        assert!(table.sources_towards(now, [127, 0, 0, 2].into(), &own[..1]).is_empty(), "no choice");
    }

    #[test]
    fn an_answer_holds_for_a_second() {
        let loopback: IpAddr = [127, 0, 0, 1].into();
        let mut table = RouteTable::open().unwrap();
        let interface = table.way(loopback, None).unwrap().interface;
        let other: IpAddr = [192, 0, 2, 1].into();
        let mut ask = |millis, own: &[IpAddr]| {
            let own: Vec<_> = own.iter().map(|address| (*address, interface)).collect();
            table.sources_towards(Instant::from_millis(millis), loopback, &own)
        };
        assert_eq!(ask(5_000, &[loopback, other]), [loopback]);
        assert_eq!(ask(5_999, &[other, other]), [loopback]);
        assert!(ask(6_000, &[other, other]).is_empty());
    }

    #[test]
    fn any_octets_are_read_to_an_end() {
        let answer = [
            &[0; HEADER + BODY][..],
            &8_u16.to_ne_bytes(),
            &INTERFACE.to_ne_bytes(),
            &3_u32.to_ne_bytes(),
            &8_u16.to_ne_bytes(),
            &PREFERRED.to_ne_bytes(),
            &[10, 0, 0, 1],
        ]
        .concat();
        let whole = Way { interface: 3, source: Some([10, 0, 0, 1].into()) };
        assert_eq!(way_of(&answer), Some(whole));
        for len in 0..answer.len() {
            assert_ne!(way_of(&answer[..len]), Some(whole));
        }
    }
}
