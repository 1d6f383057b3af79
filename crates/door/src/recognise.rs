//! Recognition of a descriptor by the name of the pair's other end.

use std::os::fd::AsFd;

use rustix::net::{AddressFamily, SocketAddrUnix, getpeername};

/// Beginning of the abstract name that the daemon's end of a pair has. It is no secret and no right: it says what a
/// descriptor is after a fork, an `exec`, or when it was passed on.
pub const NAME_PREFIX: &[u8] = b"slantpath-sctp/";

/// True if a descriptor is the program's end of a pair.
pub fn is_pair(descriptor: impl AsFd) -> bool {
    let Ok(Some(name)) = getpeername(descriptor) else { return false };
    if name.address_family() != AddressFamily::UNIX {
        return false;
    }
    let unix = SocketAddrUnix::try_from(name);
    unix.is_ok_and(|unix| unix.abstract_name().is_some_and(|name| name.starts_with(NAME_PREFIX)))
}
