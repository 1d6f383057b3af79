//! Frames of an interface: packet sockets (AF_PACKET) with a receive ring that is shared with the kernel.

mod ring;
mod slot;

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use nix::errno::Errno;
use nix::libc;
use rustix::net::{AddressFamily, SendAncillaryBuffer, SendFlags, SocketFlags, SocketType};

use crate::failure::{SystemFailure, SystemStep};
use crate::{interface, options};
use ring::{Geometry, Ring};

pub use ring::ReceivedFrame;
pub use slot::OFFLOAD_LEN;

/// Bytes of a ring that serves a link of some Gbit/s for milliseconds.
pub const DEFAULT_RING_BYTES: usize = 64 << 20;

/// Socket that receives and sends whole Ethernet frames at an interface. Frames that this machine sends out of the
/// interface, as those of the socket itself, are not received.
#[derive(Debug)]
pub struct PacketSocket {
    // The ring first, since fields are dropped in order and the memory belongs to the socket.
    ring: Ring,
    socket: OwnedFd,
    /// Frames that were dropped until they were last asked for: the kernel forgets them when it tells.
    drops: AtomicU64,
}

impl PacketSocket {
    /// Opens a socket at an interface of the calling thread's network namespace. Its ring has about so many bytes; of a
    /// frame that has more than `frame_bytes` from its Ethernet header on, the end is cut off.
    pub fn open(
        name: &str,
        ring_bytes: usize,
        frame_bytes: usize,
        is_promiscuous: bool,
    ) -> Result<Self, SystemFailure> {
        let geometry = Geometry::of(ring_bytes, frame_bytes, rustix::param::page_size())
            .map_err(|error| SystemStep::Ring.failed(error))?;
        // No protocol: nothing is received before it is bound.
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = rustix::net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, None)
            .map_err(|errno| SystemStep::Socket.failed(errno))?;
        let index =
            interface::index_of(&socket, name).map_err(|error| SystemStep::Interface.failed(error))?;
        let set = |step: SystemStep, level: i32, option: i32, value: &[u8]| {
            options::set(&socket, level, option, value).map_err(|error| step.failed(error))
        };
        let on = 1_i32.to_ne_bytes();
        let version = (libc::tpacket_versions::TPACKET_V2 as i32).to_ne_bytes();
        set(SystemStep::RingVersion, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
        set(SystemStep::OffloadHeader, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &on)?;
        set(SystemStep::IgnoreOutgoing, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &on)?;
        set(SystemStep::Stamps, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &on)?;
        set(SystemStep::Ring, libc::SOL_PACKET, libc::PACKET_RX_RING, &geometry.request())?;
        if is_promiscuous {
            let step = SystemStep::Promiscuous;
            set(step, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &membership(index))?;
        }
        let ring = Ring::map(&socket, geometry).map_err(|error| SystemStep::MapRing.failed(error))?;
        bind(&socket, index).map_err(|error| SystemStep::Bind.failed(error))?;
        let opened = Self { ring, socket, drops: AtomicU64::new(0) };
        // A link that is down is told of once, and frames come when it is up.
        opened.clear_error();
        Ok(opened)
    }

    /// The next frame, if there is one. Its place goes back to the kernel once it is dropped.
    pub fn receive(&mut self) -> Option<ReceivedFrame<'_>> {
        self.ring.receive()
    }

    /// Tells if there is a frame to be received.
    pub fn is_ready(&self) -> bool {
        self.ring.is_ready()
    }

    /// Sends a frame with its offload header (`struct virtio_net_hdr`, ten bytes in the machine's byte order, all 0
    /// for a frame that is complete). `false` if there is no room for it now, the interface is down, or it is longer
    /// than the interface takes.
    pub fn send(&self, offload: &[u8; OFFLOAD_LEN], bytes: &[u8]) -> io::Result<bool> {
        self.send_pieces(&[IoSlice::new(offload), IoSlice::new(bytes)])
    }

    /// Variant of [`send`](Self::send) for a frame in pieces, of which the first is the offload header.
    pub fn send_pieces(&self, pieces: &[IoSlice<'_>]) -> io::Result<bool> {
        loop {
            let mut control = SendAncillaryBuffer::default();
            let sent = rustix::net::sendmsg(&self.socket, pieces, &mut control, SendFlags::DONTWAIT);
            return match sent {
                Ok(_) => Ok(true),
                Err(
                    rustix::io::Errno::AGAIN
                    | rustix::io::Errno::NOBUFS
                    | rustix::io::Errno::NETDOWN
                    | rustix::io::Errno::MSGSIZE,
                ) => Ok(false),
                Err(rustix::io::Errno::INTR) => continue,
                Err(errno) => Err(errno.into()),
            };
        }
    }

    /// Takes note of an interface that has gone down: until then there seems to be something to read.
    pub fn clear_error(&self) {
        let _ = options::get::<4>(&self.socket, libc::SOL_SOCKET, libc::SO_ERROR);
    }

    /// Number of frames since it was opened for which the ring had no room.
    pub fn drops(&self) -> io::Result<u64> {
        // `struct tpacket_stats`: those that were received, and those of them that were dropped.
        let told = options::get::<8>(&self.socket, libc::SOL_PACKET, libc::PACKET_STATISTICS)?;
        let [.., a, b, c, d] = told;
        let new = u64::from(u32::from_ne_bytes([a, b, c, d]));
        Ok(self.drops.fetch_add(new, Ordering::Relaxed) + new)
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Option that `libc` does not have.
const PACKET_IGNORE_OUTGOING: i32 = 23;

/// `struct packet_mreq` for all frames of an interface.
fn membership(index: u32) -> Vec<u8> {
    let kind = u16::try_from(libc::PACKET_MR_PROMISC).unwrap_or_default();
    [&index.to_ne_bytes()[..], &kind.to_ne_bytes(), &[0; 10]].concat()
}

/// Binds it to all protocols of an interface.
fn bind(socket: &OwnedFd, index: u32) -> io::Result<()> {
    // `struct sockaddr_ll`: the protocol is in the network's byte order, and of the address nothing counts.
    let family = u16::try_from(libc::AF_PACKET).unwrap_or_default();
    let protocol = u16::try_from(libc::ETH_P_ALL).unwrap_or_default();
    let parts = [&family.to_ne_bytes()[..], &protocol.to_be_bytes(), &index.to_ne_bytes(), &[0; 12]];
    let address: Vec<u8> = parts.concat();
    let len = libc::socklen_t::try_from(address.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    #[expect(unsafe_code, reason = "no library has an address of packet sockets that it lets one write")]
    // SAFETY: The kernel copies `len` bytes, which `address` has, and keeps no pointer; it asks for no alignment.
    let result = unsafe { libc::bind(socket.as_raw_fd(), address.as_ptr().cast(), len) };
    Errno::result(result)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        for (name, told) in [
            ("nowhere0", "cannot find the interface: interface `nowhere0`: No such device (os error 19)"),
            (
                "a-name-that-is-too-long",
                "cannot find the interface: the name `a-name-that-is-too-long` of an interface has 23 bytes: 15 at \
                 most",
            ),
        ] {
            let failure = PacketSocket::open(name, 1 << 16, 1_514, false).unwrap_err();
            // Whoever may open no packet socket learns that first.
            if failure.step != SystemStep::Socket {
                assert_eq!(failure.to_string(), told);
            }
        }
    }
}
