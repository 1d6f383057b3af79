//! Writing packets, many with one call of the system.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, MsgFlags, MultiHeaders, SockaddrStorage, sendmmsg};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{
    Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ip_tos, set_ip_ttl,
    set_ipv6_mtu_discover, set_ipv6_tclass, set_ipv6_unicast_hops,
};
use slantpath_base::Instant;
use slantpath_wire::ip::{Fragmentation, IpHeader};
use slantpath_wire::reassembly::Reassembler;
use slantpath_wire::{Checksum, Packet, fragment};

use super::receive::is_report;
use super::{End, Options};
use crate::config::Carriage;

/// How many packets are kept before they are sent.
const BATCH: usize = 64;
/// How long a packet waits at most for room in the buffer of its socket: 10 ms.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
const ZEROS: [u8; 3] = [0; 3];

/// What became of a packet that was not sent.
#[derive(Debug)]
pub(crate) enum Unsent {
    /// It is longer than the link carries: its bytes.
    TooLong { end: usize, bytes: Vec<u8> },
    /// The system would not have it.
    Failed,
}

/// A packet with a header to send it by.
#[derive(Debug)]
struct Outgoing {
    packet: Packet,
    end: usize,
    to: SockaddrStorage,
    /// How many bytes of its inline part are left to the system.
    skipped: usize,
    options: Options,
}

/// Packets that wait to be sent together.
#[derive(Debug)]
pub(crate) struct Transmitter {
    waiting: Vec<Outgoing>,
    headers: MultiHeaders<SockaddrStorage>,
    /// Packets that the host has cut, which go whole into UDP: there the system cuts.
    reassembler: Reassembler,
}

impl Default for Transmitter {
    fn default() -> Self {
        Self {
            waiting: Vec::with_capacity(BATCH),
            headers: MultiHeaders::preallocate(BATCH, None),
            reassembler: Reassembler::default(),
        }
    }
}

impl Transmitter {
    pub(crate) fn is_full(&self) -> bool {
        self.waiting.len() == BATCH
    }

    /// Keeps a packet that leaves by `end`, in UDP to `udp_port` if there is any.
    pub(crate) fn push(
        &mut self,
        now: Instant,
        carriage: Carriage,
        end: usize,
        mut packet: Packet,
        udp_port: u16,
    ) {
        packet.complete();
        let octets = if packet.head().is_empty() { &packet.tail()[..] } else { packet.head() };
        let Ok((header, header_len)) = IpHeader::parse_header(octets) else { return };
        let to = SocketAddr::new(header.destination, udp_port).into();
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
        self.waiting.push(Outgoing { packet, end, to, skipped, options });
    }

    /// Sends all that waits. Gives the number of system calls, and what was not sent.
    pub(crate) fn flush(&mut self, ends: &mut [End], failed: &mut Vec<Unsent>) -> u64 {
        let mut calls = 0;
        let mut first = 0;
        let mut attempts = 0;
        while first < self.waiting.len() {
            let Outgoing { end, options, .. } = self.waiting[first];
            let alike = |other: &&Outgoing| other.end == end && other.options == options;
            let count = self.waiting[first..].iter().take_while(alike).count();
            if ends[end].options != options && set(&ends[end], options).is_ok() {
                ends[end].options = options;
            }
            calls += 1;
            match send(&ends[end], &mut self.headers, &self.waiting[first..first + count]) {
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
}

/// What becomes of the first packet of those that were not sent: `None` if it is to be tried again.
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
    if outgoing.skipped == 0
        && end.address.is_ipv4()
        && let Some(pieces) = fragment::cut(&bytes, LEAST_MTU, 0)
    {
        let sent = |piece: &Packet| {
            let bytes = piece.contiguous();
            let to = outgoing.to;
            nix::sys::socket::sendmsg(
                end.socket.as_raw_fd(),
                &[IoSlice::new(&bytes)],
                &[],
                MsgFlags::MSG_DONTWAIT,
                Some(&to),
            )
            .is_ok()
        };
        let all = pieces.iter().all(sent);
        return if all { Vec::new() } else { vec![Unsent::Failed] };
    }
    vec![Unsent::TooLong { end: outgoing.end, bytes: bytes.to_vec() }]
}

/// What every link carries of IPv4 that is of any use: pieces of it are never too long.
const LEAST_MTU: u32 = 576;

fn send(
    end: &End,
    headers: &mut MultiHeaders<SockaddrStorage>,
    waiting: &[Outgoing],
) -> Result<usize, Errno> {
    let slices: Vec<[IoSlice<'_>; 3]> = waiting
        .iter()
        .map(|Outgoing { packet, skipped, .. }| {
            [
                IoSlice::new(&packet.head()[*skipped..]),
                IoSlice::new(packet.tail()),
                IoSlice::new(&ZEROS[..usize::from(packet.padding())]),
            ]
        })
        .collect();
    let to: Vec<Option<SockaddrStorage>> = waiting.iter().map(|outgoing| Some(outgoing.to)).collect();
    let none: [ControlMessage<'_>; 0] = [];
    let sent = sendmmsg(end.socket.as_raw_fd(), headers, slices.iter(), &to, none, MsgFlags::MSG_DONTWAIT)?;
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
