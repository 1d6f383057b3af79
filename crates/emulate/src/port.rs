//! Ethernet ports of this machine as doors: what is checked of one, and that nobody else has it.
//!
//! Nothing of a port is changed: a socket that hears all frames there ends with the process.

use std::net::IpAddr;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::Arc;
use std::{fmt, io};

use slantpath_system::netlink::{DeviceState, Netlink};
use slantpath_system::network::NetNamespace;
use slantpath_system::packet::PacketSocket;
use slantpath_system::{SystemFailure, SystemStep};

/// A port that is this emulation's, as long as it lives.
pub struct OwnPort {
    network: Arc<NetNamespace>,
    /// Addresses at the other end of its link, in whose name its station is asked for.
    pub(crate) other_end: Vec<IpAddr>,
    /// Socket whose name no other emulation of the machine can have meanwhile.
    _lock: UnixListener,
}

impl fmt::Debug for OwnPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnPort").field("network", &self.network).finish_non_exhaustive()
    }
}

impl OwnPort {
    /// Takes a port of a network namespace whose link has packets of so many bytes. Gives it with what the machine
    /// will do there beside, in a sentence.
    pub(crate) fn take(
        network: &Arc<NetNamespace>,
        interface: &str,
        mtu_bytes: u32,
        other_end: Vec<IpAddr>,
    ) -> Result<(Self, Option<String>), Box<dyn std::error::Error + Send + Sync>> {
        let taken = network.run(|| -> Result<_, Box<dyn std::error::Error + Send + Sync>> {
            let name = SocketAddr::from_abstract_name(format!("slantpath/port/{interface}"))?;
            let lock = UnixListener::bind_addr(&name).map_err(|error| match error.kind() {
                io::ErrorKind::AddrInUse => "another emulation has it: end that, or name another port".into(),
                _ => Box::<dyn std::error::Error + Send + Sync>::from(error),
            })?;
            Ok((lock, Netlink::open()?.link_state(interface)?))
        });
        let (lock, state) = taken.map_err(|failure| as_root(&failure))??;
        if let Some(fault) = fault(interface, &state, mtu_bytes) {
            return Err(fault.into());
        }
        let own = state.addresses.first().map(|address| {
            format!(
                "the machine has the address {address} at `{interface}`, and may send frames of its own there: \
                 `sysctl net.ipv6.conf.{interface}.disable_ipv6=1` keeps it quiet"
            )
        });
        Ok((Self { network: Arc::clone(network), other_end, _lock: lock }, own))
    }

    /// Opens a socket that hears all frames of the port.
    pub(crate) fn open(
        &self,
        interface: &str,
        ring_bytes: usize,
        frame_bytes: usize,
    ) -> Result<PacketSocket, SystemFailure> {
        self.network.run(|| PacketSocket::open(interface, ring_bytes, frame_bytes, true))?
    }
}

/// A refusal of the system, with its cure where root is not refused.
pub(crate) fn as_root(failure: &SystemFailure) -> Box<dyn std::error::Error + Send + Sync> {
    let is_refused = failure.source.kind() == io::ErrorKind::PermissionDenied;
    match failure.step {
        SystemStep::NetworkNamespace if is_refused => {
            format!("{failure}: a network that exists is for root alone: `sudo`").into()
        }
        _ => failure.to_string().into(),
    }
}

/// Reason for which a port cannot carry what its link does, with its cure.
fn fault(interface: &str, state: &DeviceState, mtu_bytes: u32) -> Option<String> {
    let is_local = |address: &&IpAddr| matches!(address, IpAddr::V6(own) if own.is_unicast_link_local());
    if state.is_enslaved {
        return Some(format!(
            "it is a port of another interface, as of a bridge: `ip link set {interface} nomaster`"
        ));
    }
    if let Some(address) = state.addresses.iter().find(|address| !is_local(address)) {
        return Some(format!(
            "the machine has the address {address} there, and would answer beside whoever is behind the port: \
             `ip address flush dev {interface}`, or name another port"
        ));
    }
    if !state.is_up {
        return Some(format!("it is down: `ip link set {interface} up`"));
    }
    (state.mtu < mtu_bytes).then(|| {
        format!(
            "its MTU is {} bytes, and its link has one of {mtu_bytes}: `ip link set {interface} mtu {mtu_bytes}`, or \
             write `mtu = \"{} B\"` for the link",
            state.mtu, state.mtu
        )
    })
}
