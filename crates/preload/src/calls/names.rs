//! Addresses of both ends: `getsockname`, `getpeername`.

use libc::{c_int, sockaddr, socklen_t};
use slantpath_requests as requests;
use slantpath_requests::Errno;

use crate::next::next;
use crate::outcome::int;
use crate::table::{Ours, ours};
use crate::{daemon, memory};

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getsockname(
    descriptor: c_int,
    name: *mut sockaddr,
    len: *mut socklen_t,
) -> c_int {
    match ours(descriptor) {
        Some(ours) => int(give(ours, &requests::Request::LocalName, name, len)),
        None => {
            next!(getsockname as fn(descriptor: c_int, name: *mut sockaddr, len: *mut socklen_t) -> c_int)
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getpeername(
    descriptor: c_int,
    name: *mut sockaddr,
    len: *mut socklen_t,
) -> c_int {
    match ours(descriptor) {
        Some(ours) => int(give(ours, &requests::Request::PeerName, name, len)),
        None => {
            next!(getpeername as fn(descriptor: c_int, name: *mut sockaddr, len: *mut socklen_t) -> c_int)
        }
    }
}

fn give(
    ours: Ours,
    request: &requests::Request,
    name: *mut sockaddr,
    len: *mut socklen_t,
) -> Result<c_int, Errno> {
    memory::room(len)?;
    let address = daemon::ask(ours.pair, request)?.address.ok_or(Errno::ENOTCONN)?;
    memory::give(&slantpath_door::bytes_of(address), name.cast(), len).map(|()| 0)
}
