//! Writing packets, many with one call of the system.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, MsgFlags, MultiHeaders, SockaddrStorage, sendmmsg, sendmsg};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{
    Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ip_tos, set_ip_ttl,
    set_ipv6_mtu_discover, set_ipv6_tclass, set_ipv6_unicast_hops,
};
use slantpath_base::Instant;
use slantpath_wire::ip::{Fragmentation, IpHeader, protocol};
use slantpath_wire::reassembly::Reassembler;
use slantpath_wire::{Checksum, Packet, fragment};

use super::receive::is_report;
use super::{End, Options};
use crate::config::Carriage;
use crate::udp_ports::Key;

/// Number of packets that are kept before they are sent.
const BATCH: usize = 64;
/// Longest time that a packet waits for room in the buffer of its socket: 10 ms.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
const ZEROS: [u8; 3] = [0; 3];

/// Reason for which a packet was not sent.
#[derive(Debug)]
pub(crate) enum Unsent {
    /// Packet that is longer than the link carries, with its bytes.
    TooLong { end: usize, bytes: Vec<u8> },
    /// The system would not have it.
    Failed,
}

/// A packet with a header to send it by.
#[derive(Debug)]
struct Outgoing {
    packet: Packet,
    end: usize,
    to: SocketAddr,
    /// Number of bytes of its inline part that are left to the system.
    skipped: usize,
    options: Options,
}

impl Outgoing {
    /// Length of the part that the system is handed, in bytes.
    fn len(&self) -> usize {
        self.packet.head().len() - self.skipped
            + self.packet.tail().len()
            + usize::from(self.packet.padding())
    }

    fn slices(&self) -> [IoSlice<'_>; 3] {
        [
            IoSlice::new(&self.packet.head()[self.skipped..]),
            IoSlice::new(self.packet.tail()),
            IoSlice::new(&ZEROS[..usize::from(self.packet.padding())]),
        ]
    }
}

/// Packets that wait to be sent together.
#[derive(Debug)]
pub(crate) struct Transmitter {
    waiting: Vec<Outgoing>,
    /// Packets that the host has cut, which go whole into UDP: there the system cuts.
    reassembler: Reassembler,
}

impl Default for Transmitter {
    fn default() -> Self {
        Self { waiting: Vec::with_capacity(BATCH), reassembler: Reassembler::default() }
    }
}

impl Transmitter {
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() == BATCH
    }

    /// Keeps a packet that leaves by `end`; `towards` says to which port it goes in UDP.
    pub(crate) fn push(
        &mut self,
        now: Instant,
        carriage: Carriage,
        end: usize,
        mut packet: Packet,
        towards: impl FnOnce(Key, u32) -> u16,
    ) {
        packet.complete();
        let octets = if packet.head().is_empty() { &packet.tail()[..] } else { packet.head() };
        let Ok((header, header_len)) = IpHeader::parse_header(octets) else { return };
        let may_be_cut = header.fragmentation != Fragmentation::Forbidden;
        let (skipped, options) = match carriage {
            Carriage::Raw => (0, Options::FIRST),
            Carriage::Udp { .. } => {
                let mut skipped = header_len;
                if packet.head().is_empty() {
                    packet.strip(header_len);
                    skipped = 0;
                }
                if let Fragmentation::Fragment(fragment) = header.fragmentation {
                    let whole =
                        self.reassembler.handle_fragment(now, &header, fragment, &packet.contiguous());
                    let Some((_, payload)) = whole else { return };
                    packet = Packet::shared(payload, Checksum::Complete);
                    skipped = 0;
                }
                let (traffic_class, hop_limit) = (header.traffic_class, header.hop_limit);
                (skipped, Options { traffic_class, hop_limit, may_be_cut })
            }
        };
        // Only a whole packet says whose it is: a fragment behind the first has no ports of SCTP.
        let udp_port = match carriage {
            Carriage::Raw => 0,
            Carriage::Udp { .. } => {
                key_of(&header, &packet, skipped).map_or(0, |(key, tag)| towards(key, tag))
            }
        };
        let to = SocketAddr::new(header.destination, udp_port);
        self.waiting.push(Outgoing { packet, end, to, skipped, options });
    }

    /// Sends all that waits. Gives the number of system calls, and what was not sent.
    pub(crate) fn flush(&mut self, ends: &mut [End], failed: &mut Vec<Unsent>) -> u64 {
        if ends.iter().any(|end| end.cuts_into_segments) {
            self.put_together();
        }
        let mut calls = 0;
        let mut first = 0;
        let mut attempts = 0;
        // Packets before this one are not sent as one.
        let mut apart = 0;
        while first < self.waiting.len() {
            let Outgoing { end, options, .. } = self.waiting[first];
            let alike = |other: &&Outgoing| other.end == end && other.options == options;
            let count = self.waiting[first..].iter().take_while(alike).count();
            let alike = &self.waiting[first..first + count];
            if ends[end].options != options && set(&ends[end], options).is_ok() {
                ends[end].options = options;
            }
            calls += 1;
            let mut alone = count;
            if ends[end].cuts_into_segments && first >= apart {
                let group = segments(alike);
                if group > 1 {
                    match send_as_one(&ends[end], &alike[..group]) {
                        Ok(()) => {
                            first += group;
                            attempts = 0;
                        }
                        // Each by itself is told what is the matter with it.
                        Err(errno) => {
                            apart = first + group;
                            ends[end].cuts_into_segments &= !matches!(
                                errno,
                                Errno::EINVAL | Errno::EIO | Errno::ENOPROTOOPT | Errno::EOPNOTSUPP
                            );
                        }
                    }
                    continue;
                }
                alone = (1..count).find(|&next| segments(&alike[next..]) > 1).unwrap_or(count);
            }
            match send(&ends[end], &alike[..alone]) {
                Ok(sent) => {
                    first += sent.max(1);
                    attempts = 0;
                }
                Err(errno) => {
                    attempts += 1;
                    if let Some(outcome) = judge(errno, attempts, &ends[end], &self.waiting[first]) {
                        failed.extend(outcome);
                        first += 1;
                        attempts = 0;
                    }
                }
            }
        }
        self.waiting.clear();
        calls
    }

    /// Puts what goes to one place together, in the order in which it came: packets of many associations with a few
    /// hosts alternate between these, and only what follows each other can be sent as one.
    fn put_together(&mut self) {
        let place = |outgoing: &Outgoing| (outgoing.end, outgoing.to);
        if !self.waiting.is_sorted_by_key(place) {
            self.waiting.sort_by_key(place);
        }
    }
}

/// Whom a packet goes to, whose IP header is not part of it or lies in as many bytes of its inline part, and the tag
/// that it bears.
fn key_of(header: &IpHeader, packet: &Packet, header_len: usize) -> Option<(Key, u32)> {
    // The inline part may end with the IP header.
    let segment = match packet.head().get(header_len..) {
        Some([]) | None => &packet.tail()[..],
        Some(segment) => segment,
    };
    let segment = segment.first_chunk().filter(|_| header.protocol == protocol::SCTP)?;
    let &[o0, o1, p0, p1, ref tag @ ..]: &[u8; 8] = segment;
    let [own_port, peer_port] = [[o0, o1], [p0, p1]].map(u16::from_be_bytes);
    Some((Key { address: header.destination, peer_port, own_port }, u32::from_be_bytes(*tag)))
}

/// Number of packets from the first on that can be handed over as one, which the system, or the network card, cuts
/// again: they go to one place and are of one length, but for the last, which may be shorter.
fn segments(alike: &[Outgoing]) -> usize {
    let Some(first) = alike.first() else { return 0 };
    let len = first.len();
    let most = (LONGEST_AS_ONE / len.max(1)).clamp(1, MOST_AS_ONE);
    let mut count = 1;
    for next in alike.iter().take(most).skip(1) {
        if next.to != first.to || next.len() > len {
            break;
        }
        count += 1;
        if next.len() < len {
            break;
        }
    }
    count
}

/// Longest payload that UDP carries as one, in bytes: less than 64 KiB with all headers.
const LONGEST_AS_ONE: usize = 65_000;
/// Linux's limit of segments (`UDP_MAX_SEGMENTS` was 64 for long).
const MOST_AS_ONE: usize = 64;

/// Hands packets over as one of UDP, to be cut into segments of the length of the first (`UDP_SEGMENT`).
fn send_as_one(end: &End, group: &[Outgoing]) -> Result<(), Errno> {
    let slices: Vec<IoSlice<'_>> = group.iter().flat_map(Outgoing::slices).collect();
    let len = u16::try_from(group[0].len()).map_err(|_| Errno::EMSGSIZE)?;
    let segments = [ControlMessage::UdpGsoSegments(&len)];
    let to = SockaddrStorage::from(group[0].to);
    sendmsg(end.socket.as_raw_fd(), &slices, &segments, MsgFlags::MSG_DONTWAIT, Some(&to)).map(drop)
}

/// Decides on the first packet of those that were not sent: `None` if it is to be tried again.
fn judge(errno: Errno, attempts: u32, end: &End, first: &Outgoing) -> Option<Vec<Unsent>> {
    match errno {
        Errno::EMSGSIZE => Some(too_long(end, first)),
        Errno::EINTR => None,
        Errno::EAGAIN | Errno::ENOBUFS if attempts == 1 => {
            let mut fds = [PollFd::new(&end.socket, PollFlags::OUT)];
            let _ = poll(&mut fds, Some(&PATIENCE));
            None
        }
        // It may be what a router said of an earlier packet.
        errno if is_report(errno) && attempts == 1 => None,
        _ => Some(vec![Unsent::Failed]),
    }
}

/// A packet that is longer than its first link carries. One of IPv4 that may be cut is cut here, where the system
/// leaves that to who writes the header; the host has cut those of IPv6.
fn too_long(end: &End, outgoing: &Outgoing) -> Vec<Unsent> {
    let bytes = outgoing.packet.contiguous();
    let is_ours_to_cut = outgoing.skipped == 0 && end.address.is_ipv4();
    if !is_ours_to_cut || !fragment::may_be_cut_on_its_way(&bytes) {
        return vec![Unsent::TooLong { end: outgoing.end, bytes: bytes.to_vec() }];
    }
    let to = SockaddrStorage::from(outgoing.to);
    let sent = |piece: &Packet| {
        let bytes = piece.contiguous();
        sendmsg(end.socket.as_raw_fd(), &[IoSlice::new(&bytes)], &[], MsgFlags::MSG_DONTWAIT, Some(&to))
            .map(drop)
    };
    for mtu_bytes in LEAST_MTUS {
        let Some(pieces) = fragment::cut(&bytes, mtu_bytes, 0) else { break };
        // The first is the longest: where it is too long nothing has been sent.
        match pieces.iter().try_for_each(sent) {
            Ok(()) => return Vec::new(),
            Err(Errno::EMSGSIZE) => {}
            Err(_) => break,
        }
    }
    vec![Unsent::Failed]
}

/// Link MTUs that are tried for the pieces of an IPv4 packet, in bytes: one that every link carries that is of any use,
/// then less, down to what every link has to carry (RFC 791, section 3.2).
const LEAST_MTUS: [u32; 4] = [576, 288, 144, 68];

fn send(end: &End, waiting: &[Outgoing]) -> Result<usize, Errno> {
    let slices: Vec<[IoSlice<'_>; 3]> = waiting.iter().map(Outgoing::slices).collect();
    let to: Vec<Option<SockaddrStorage>> = waiting.iter().map(|outgoing| Some(outgoing.to.into())).collect();
    let none: [ControlMessage<'_>; 0] = [];
    // Made anew for each call: it holds pointers, and a host that is live may move to another thread.
    let mut headers = MultiHeaders::preallocate(waiting.len(), None);
    let sent =
        sendmmsg(end.socket.as_raw_fd(), &mut headers, slices.iter(), &to, none, MsgFlags::MSG_DONTWAIT)?;
    Ok(sent.count())
}

fn set(end: &End, options: Options) -> rustix::io::Result<()> {
    let Options { traffic_class, hop_limit, may_be_cut } = options;
    if end.address.is_ipv4() {
        let discovery = if may_be_cut { Ipv4PathMtuDiscovery::DONT } else { Ipv4PathMtuDiscovery::PROBE };
        set_ip_mtu_discover(&end.socket, discovery)?;
        set_ip_tos(&end.socket, traffic_class)?;
        set_ip_ttl(&end.socket, hop_limit.into())
    } else {
        let discovery = if may_be_cut { Ipv6PathMtuDiscovery::DONT } else { Ipv6PathMtuDiscovery::PROBE };
        set_ipv6_mtu_discover(&end.socket, discovery)?;
        set_ipv6_tclass(&end.socket, traffic_class.into())?;
        set_ipv6_unicast_hops(&end.socket, Some(hop_limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outgoing(len: usize, to: [u8; 4]) -> Outgoing {
        Outgoing {
            packet: Packet::copied(&vec![0; len], Checksum::Complete),
            end: 0,
            to: SocketAddr::from((to, 9_899)),
            skipped: 0,
            options: Options::FIRST,
        }
    }

    #[test]
    fn the_port_of_udp_is_that_of_the_whole_packet_also_if_the_host_has_cut_it() {
        let addresses = ["fd00::1", "fd00::2"].map(|text| text.parse().unwrap());
        let header = IpHeader {
            source: addresses[0],
            destination: addresses[1],
            protocol: protocol::SCTP,
            hop_limit: 64,
            traffic_class: 0,
            fragmentation: Fragmentation::Forbidden,
            payload_len: 1_452,
        };
        let mut whole = vec![0; header.header_len() + 1_452];
        header.emit(&mut whole);
        // From SCTP port 7 to 20,000, and the tag; what follows is none of them.
        whole[40..48].copy_from_slice(&[0, 7, 0x4e, 0x20, 1, 2, 3, 4]);
        let key = Key { address: addresses[1], peer_port: 20_000, own_port: 7 };
        let carriage = Carriage::Udp { local_port: 0, remote_port: 9_899 };
        let towards = |asked, tag| if (asked, tag) == (key, 0x0102_0304) { 40_000 } else { 9_899 };
        for pieces in
            [vec![Packet::copied(&whole, Checksum::Complete)], fragment::cut(&whole, 1_300, 5).unwrap()]
        {
            let mut transmitter = Transmitter::default();
            for piece in pieces {
                transmitter.push(Instant::START, carriage, 0, piece, towards);
            }
            let [sent] = &transmitter.waiting[..] else { panic!("{transmitter:?}") };
            assert_eq!((sent.to.port(), sent.len()), (40_000, 1_452));
        }
    }

    #[test]
    fn packets_of_one_length_to_one_place_go_as_one_and_a_shorter_one_is_the_last() {
        let [here, there] = [[10, 0, 0, 1], [10, 0, 0, 2]];
        let group = |all: &[(usize, [u8; 4])]| {
            segments(&all.iter().map(|&(len, to)| outgoing(len, to)).collect::<Vec<_>>())
        };
        assert_eq!(group(&[]), 0);
        assert_eq!(group(&[(100, here); 5]), 5);
        assert_eq!(group(&[(100, here), (100, here), (60, here), (60, here)]), 3);
        assert_eq!(group(&[(60, here), (100, here)]), 1);
        assert_eq!(group(&[(100, here), (100, there)]), 1);
        assert_eq!(group(&[(100, here); 65]), 64);
        assert_eq!(group(&[(1_472, here); 64]), 44, "no more than UDP carries");
    }

    #[test]
    fn what_alternates_between_two_places_is_put_together_and_stays_in_order() {
        let [here, there] = [[10, 0, 0, 1], [10, 0, 0, 2]];
        let waiting = (0..6).map(|n| outgoing(100 + n, [there, here][n % 2])).collect();
        let mut transmitter = Transmitter { waiting, reassembler: Reassembler::default() };
        transmitter.put_together();
        let lengths: Vec<usize> = transmitter.waiting.iter().map(Outgoing::len).collect();
        assert_eq!(lengths, [101, 103, 105, 100, 102, 104]);
    }
}
