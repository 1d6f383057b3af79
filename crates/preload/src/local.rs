//! Ends of associations within this machine.
//!
//! Linux carries their packets within the call that sends them: a program that has both ends finds at once, without
//! waiting, what it has sent itself. Here a daemon carries them, so that such a program asks it before it is told that
//! nothing is there.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use slantpath_requests::Request;

use crate::daemon;
use crate::table::Ours;

const NOBODY: RawFd = -1;
const SEVERAL: RawFd = -2;

/// Socket of this process with an end within the machine that has sent, connected or closed since the daemon was asked.
static TOUCHED: AtomicI32 = AtomicI32::new(NOBODY);

/// Notes the peer of a socket.
pub(crate) fn note_peer(ours: Ours, peer: SocketAddr) {
    let is_loopback = match peer.ip() {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback()),
    };
    if is_loopback {
        ours.known.is_local.store(true, Relaxed);
    }
}

/// Notes that a socket has done something that its peer may see.
pub(crate) fn touch(ours: Ours) {
    if !ours.known.is_local.load(Relaxed) {
        return;
    }
    let own = ours.pair.as_raw_fd();
    let before = TOUCHED.load(Relaxed);
    if before != own {
        TOUCHED.store(if before == NOBODY { own } else { SEVERAL }, Relaxed);
    }
}

/// True once the daemon has carried what other sockets of this process have sent, if there was anything.
pub(crate) fn settle(ours: Ours) -> bool {
    let before = TOUCHED.load(Relaxed);
    if before == NOBODY || before == ours.pair.as_raw_fd() {
        return false;
    }
    TOUCHED.store(NOBODY, Relaxed);
    daemon::ask(ours.pair, &Request::Settle).is_ok()
}
