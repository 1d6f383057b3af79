//! Rights to ports of the machine, of whoever asks for one.

use std::io;
use std::os::fd::AsFd;

use rustix::net::sockopt;

use crate::notify::{Task, field};

/// Bit of `CAP_NET_BIND_SERVICE` in a set of capabilities (linux/capability.h).
const NET_BIND_SERVICE: u64 = 1 << 10;
/// First port that needs no privilege, where the system does not say so.
const USUAL_FIRST: u16 = 1_024;

/// First port that needs no privilege in this network (`net.ipv4.ip_unprivileged_port_start`).
pub fn first_free_port() -> u16 {
    let told = std::fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    told.ok().and_then(|told| told.trim().parse().ok()).unwrap_or(USUAL_FIRST)
}

/// Tells if the process that has made a pair of sockets, of which this is an end, may have the ports below.
///
/// # Errors
/// If it is no such socket.
pub fn maker_may_have_all_ports(end: impl AsFd) -> io::Result<bool> {
    let maker = sockopt::socket_peercred(end)?;
    let process = u32::try_from(maker.pid.as_raw_nonzero().get()).unwrap_or(0);
    // It may be none that is seen from here.
    Ok(Task::status_of(process, process).map_or(maker.uid.is_root(), |status| may_have_all_ports(&status)))
}

impl Task {
    /// Tells if a thread may have the ports below.
    ///
    /// # Errors
    /// If it is no more, or may not be looked at.
    pub fn may_have_all_ports(thread: u32) -> io::Result<bool> {
        Self::status_of(thread, thread).map(|status| may_have_all_ports(&status))
    }
}

fn may_have_all_ports(status: &str) -> bool {
    let set = field(status, "CapEff:").and_then(|set| u64::from_str_radix(set, 16).ok());
    set.is_some_and(|set| set & NET_BIND_SERVICE != 0)
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;

    #[test]
    fn a_process_has_the_right_by_its_effective_capabilities() {
        for (set, has_it) in
            [("000001ffffffffff", true), ("0000000000000400", true), ("000001fffffffbff", false)]
        {
            let status = format!("Name:\tx\nCapPrm:\t000001ffffffffff\nCapEff:\t{set}\nCapBnd:\t0\n");
            assert_eq!(may_have_all_ports(&status), has_it, "{set}");
        }
        assert!(!may_have_all_ports("Name:\tx\n"));
    }

    #[test]
    fn whoever_has_made_a_pair_is_asked_for_its_right() {
        let (one, _other) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        let own = Task::may_have_all_ports(std::process::id()).unwrap();
        assert_eq!(maker_may_have_all_ports(&one).unwrap(), own);
        assert!(maker_may_have_all_ports(io::stdin()).is_err(), "no socket");
    }
}
