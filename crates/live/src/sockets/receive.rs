//! Reading packets, many with one call of the system.

use std::io::{self, IoSliceMut};
use std::net::IpAddr;
use std::os::fd::AsRawFd;

use bytes::Bytes;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg};
use slantpath_wire::PacketBuffers;
use slantpath_wire::ip::{Fragmentation, IPV6_HEADER_LEN, IpHeader, protocol};

use super::End;
use crate::config::Carriage;

/// Number of packets that one call reads at most.
pub(crate) const MOST_IN_BATCH: usize = 32;
/// As long as an IP packet can be.
const LONGEST: usize = 65_536;
/// Room for the control messages of a packet: its traffic class, its hop limit and how long the packets are that came
/// as one, of 24 bytes each.
const CONTROL_LEN: usize = 72;

/// A packet that has come.
#[derive(Debug)]
pub(crate) struct Received {
    /// From its IP header on.
    pub(crate) bytes: Bytes,
    /// The UDP port that it came from; zero without UDP.
    pub(crate) udp_port: u16,
}

/// Data that the system gives with a packet.
struct PacketInfo {
    len: usize,
    /// Length of each packet but the last, in bytes, if several of UDP came as one.
    segment_len: usize,
    source: Option<(IpAddr, u16)>,
    traffic_class: u8,
    hop_limit: u8,
}

/// Number of packets that a socket is asked for next, up to [`MOST_IN_BATCH`]. Places that stay empty cost as well: the
/// system looks for one more packet in vain, and the structure that says where each goes has to be made. Each socket
/// has its own: where one has a packet at a time, another one has many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch(usize);

impl Batch {
    pub(crate) const FIRST: Self = Self(1);

    /// Takes note of a call that asked for so many and got `len`: where that was all that it asked for, there may be
    /// more. Tells if it is worth another call at once.
    fn got(&mut self, len: usize) -> bool {
        let asked = self.0;
        self.0 = if len < asked { len.max(1) } else { (2 * asked).min(MOST_IN_BATCH) };
        len >= asked.max(MANY)
    }
}

/// From so many on, what was asked for and came is a sign that packets wait.
const MANY: usize = 8;

/// Buffers to read into.
#[derive(Debug, Default)]
pub(crate) struct Receiver {
    /// As many as a call has ever asked for: of many endpoints most are idle, or have one packet at a time.
    buffers: Vec<Vec<u8>>,
    kept: PacketBuffers,
}

impl Receiver {
    /// Reads what a socket has, up to a batch, and tells if more waits there. An error that the socket reports has been
    /// in its error queue, too.
    pub(crate) fn receive(
        &mut self,
        end: &mut End,
        carriage: Carriage,
        received: &mut Vec<Received>,
    ) -> io::Result<bool> {
        self.make_room(end.batch);
        let is_whole_packet = carriage == Carriage::Raw && end.address.is_ipv4();
        let infos = match if is_whole_packet { self.read_whole(end) } else { self.read(end) } {
            Ok(infos) => infos,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(false),
            Err(errno) if is_report(errno) => return Ok(false),
            Err(errno) => return Err(errno.into()),
        };
        let more_waits = end.batch.got(infos.len());
        for (info, buffer) in infos.iter().zip(&self.buffers) {
            let octets = &buffer[..info.len];
            if is_whole_packet {
                received.push(Received { bytes: self.kept.copied([octets]), udp_port: 0 });
                continue;
            }
            let (source, udp_port) = info.source.unwrap_or((end.address, 0));
            if source.is_ipv4() != end.address.is_ipv4() {
                continue;
            }
            for octets in octets.chunks(info.segment_len.max(1)) {
                let Ok(payload_len) = u16::try_from(octets.len()) else { continue };
                let header = IpHeader {
                    source,
                    destination: end.address,
                    protocol: protocol::SCTP,
                    hop_limit: info.hop_limit,
                    traffic_class: info.traffic_class,
                    payload_len,
                    fragmentation: Fragmentation::Forbidden,
                };
                let mut front = [0; IPV6_HEADER_LEN];
                let front_len = header.emit(&mut front);
                let bytes = self.kept.copied([&front[..front_len], octets]);
                received.push(Received { bytes, udp_port });
            }
        }
        Ok(more_waits)
    }

    /// Has a buffer for each packet that the next call asks for. Of a new one the machine gives what is written to.
    fn make_room(&mut self, batch: Batch) {
        while self.buffers.len() < batch.0 {
            self.buffers.push(vec![0; LONGEST]);
        }
    }

    /// Reads packets that come with their IP header.
    fn read_whole(&mut self, end: &End) -> Result<Vec<PacketInfo>, Errno> {
        let mut slices: Vec<[IoSliceMut<'_>; 1]> =
            self.buffers.iter_mut().take(end.batch.0).map(|buffer| [IoSliceMut::new(buffer)]).collect();
        let flags = MsgFlags::MSG_DONTWAIT;
        // Made anew for each call: it holds pointers, and a host that is live may move to another thread.
        let mut headers = MultiHeaders::<()>::preallocate(end.batch.0, None);
        let messages = recvmmsg(end.socket.as_raw_fd(), &mut headers, slices.iter_mut(), flags, None)?;
        let info = |len| PacketInfo { len, segment_len: len, source: None, traffic_class: 0, hop_limit: 0 };
        Ok(messages.map(|message| info(message.bytes)).collect())
    }

    fn read(&mut self, end: &End) -> Result<Vec<PacketInfo>, Errno> {
        let mut slices: Vec<[IoSliceMut<'_>; 1]> =
            self.buffers.iter_mut().take(end.batch.0).map(|buffer| [IoSliceMut::new(buffer)]).collect();
        // Made anew for each call: the system writes into it how much room for control messages there was.
        let mut headers =
            MultiHeaders::<SockaddrStorage>::preallocate(end.batch.0, Some(Vec::with_capacity(CONTROL_LEN)));
        let flags = MsgFlags::MSG_DONTWAIT;
        let messages = recvmmsg(end.socket.as_raw_fd(), &mut headers, slices.iter_mut(), flags, None)?;
        let mut all = Vec::with_capacity(end.batch.0);
        for message in messages {
            let source = message.address.as_ref().and_then(|storage| {
                let v4 = storage.as_sockaddr_in().map(|from| (IpAddr::V4(from.ip()), from.port()));
                v4.or_else(|| storage.as_sockaddr_in6().map(|from| (IpAddr::V6(from.ip()), from.port())))
            });
            let len = message.bytes;
            let mut info = PacketInfo { len, segment_len: len, source, traffic_class: 0, hop_limit: 64 };
            for control in message.cmsgs().into_iter().flatten() {
                match control {
                    ControlMessageOwned::Ipv4Tos(octet) => info.traffic_class = octet,
                    ControlMessageOwned::Ipv6TClass(class) => info.traffic_class = octet(class),
                    ControlMessageOwned::Ipv4Ttl(hops) | ControlMessageOwned::Ipv6HopLimit(hops) => {
                        info.hop_limit = octet(hops);
                    }
                    ControlMessageOwned::UdpGroSegments(len) => {
                        info.segment_len = usize::try_from(len).unwrap_or(info.len);
                    }
                    _ => {}
                }
            }
            all.push(info);
        }
        Ok(all)
    }
}

fn octet(value: i32) -> u8 {
    u8::try_from(value).unwrap_or_default()
}

/// Tells if an error is about a packet that was sent before: what a router said of it is queued in the error queue.
pub(super) const fn is_report(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::ECONNREFUSED
            | Errno::EHOSTDOWN
            | Errno::EHOSTUNREACH
            | Errno::EMSGSIZE
            | Errno::ENETDOWN
            | Errno::ENETUNREACH
            | Errno::ENOPROTOOPT
            | Errno::EOPNOTSUPP
            | Errno::EPROTO
            | Errno::EACCES
            | Errno::EPERM
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_buffers_as_were_ever_asked_for_and_none_before() {
        let mut receiver = Receiver::default();
        let mut buffers = |batch| {
            receiver.make_room(Batch(batch));
            receiver.buffers.len()
        };
        assert_eq!([1, 4, 1, 32].map(&mut buffers), [1, 4, 4, 32]);
        assert!(Receiver::default().buffers.is_empty());
    }

    /// Numbers that calls ask for next, and if another one is worth it at once, where a socket has so many.
    fn batches(lens: &[usize]) -> Vec<(usize, bool)> {
        let next = |batch: &mut Batch, len: &usize| {
            let asks_at_once = batch.got((*len).min(batch.0));
            Some((batch.0, asks_at_once))
        };
        lens.iter().scan(Batch::FIRST, next).collect()
    }

    #[test]
    fn a_call_asks_for_as_many_packets_as_there_were_and_for_more_where_that_was_all_it_asked_for() {
        let asked = |lens: &[usize]| batches(lens).into_iter().map(|(batch, _)| batch).collect::<Vec<_>>();
        assert_eq!(asked(&[1, 1, 1, 1]), [2, 1, 2, 1]);
        assert_eq!(asked(&[100; 7]), [2, 4, 8, 16, 32, 32, 32]);
        assert_eq!(asked(&[100, 100, 100, 5, 5, 0, 1]), [2, 4, 8, 5, 10, 1, 2]);
    }

    #[test]
    fn a_socket_is_asked_again_at_once_while_many_wait_there() {
        let at_once = |lens: &[usize]| batches(lens).into_iter().map(|(_, more)| more).collect::<Vec<_>>();
        assert_eq!(at_once(&[1, 1, 1, 1]), [false; 4]);
        assert_eq!(at_once(&[100, 100, 100, 8, 100]), [false, false, false, true, true]);
        assert_eq!(at_once(&[100, 100, 100, 100, 100, 31]), [false, false, false, true, true, false]);
    }
}
