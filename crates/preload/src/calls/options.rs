//! Options: `getsockopt`, `setsockopt`. The kernel keeps those of waiting; the daemon answers all others.

use std::ffi::c_void;
use std::sync::atomic::Ordering::Relaxed;

use libc::{c_int, socklen_t};
use slantpath_door::Replied;
use slantpath_requests as requests;
use slantpath_requests::{Errno, OPTION_MAX};

use crate::calls::setup::install_peeled;
use crate::daemon::{SOL_SCTP, SOL_SOCKET};
use crate::next::next;
use crate::outcome::int;
use crate::table::{Ours, ours};
use crate::{daemon, memory};

const SCTP_SOCKOPT_PEELOFF: c_int = 102;
const SCTP_SOCKOPT_PEELOFF_FLAGS: c_int = 122;
const SCTP_EVENTS: c_int = 11;
const SCTP_RECVRCVINFO: c_int = 32;
const SCTP_RECVNXTINFO: c_int = 33;
const SCTP_EVENT: c_int = 127;
/// Place of the descriptor in `sctp_peeloff_arg_t`, and of the flags behind it.
const PEELED_AT: usize = 4;
const PEELED_FLAGS_AT: usize = 8;
const SCTP_SOCKOPT_CONNECTX3: c_int = 111;
/// Place of the pointer in `struct sctp_getaddrs_old`, and the longest addresses that it points to, in bytes.
const ADDRESSES_AT: usize = 8;
const ADDRESSES_MOST: usize = 4_096;
/// Connects by way of options: `SCTP_SOCKOPT_CONNECTX_OLD`, `_CONNECTX`, `_CONNECTX3`.
const CONNECTS: [c_int; 3] = [107, 110, 111];

/// Options that the pair has by itself.
fn is_native(level: c_int, name: c_int) -> bool {
    level == SOL_SOCKET && matches!(name, libc::SO_RCVTIMEO | libc::SO_SNDTIMEO | 66 | 67)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn getsockopt(
    descriptor: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    match ours(descriptor) {
        Some(ours) if !is_native(level, name) => int(get(ours, level, name, value, len)),
        _ => {
            next!(
                getsockopt
                    as fn(
                        descriptor: c_int,
                        level: c_int,
                        name: c_int,
                        value: *mut c_void,
                        len: *mut socklen_t,
                    ) -> c_int
            )
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn setsockopt(
    descriptor: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: socklen_t,
) -> c_int {
    match ours(descriptor) {
        Some(ours) if !is_native(level, name) => int(set(ours, level, name, value, len)),
        _ => {
            next!(
                setsockopt
                    as fn(
                        descriptor: c_int,
                        level: c_int,
                        name: c_int,
                        value: *const c_void,
                        len: socklen_t,
                    ) -> c_int
            )
        }
    }
}

fn get(
    ours: Ours,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> Result<c_int, Errno> {
    let room = memory::room(len)?;
    let mut given = memory::bytes(value, room.min(OPTION_MAX))?.to_vec();
    let is_sctp = level == SOL_SCTP;
    if is_sctp && name == SCTP_SOCKOPT_CONNECTX3 {
        append_addresses(&mut given)?;
    }
    let flags = match given.get(PEELED_FLAGS_AT..).and_then(|rest| rest.first_chunk()) {
        Some(flags) if is_sctp && name == SCTP_SOCKOPT_PEELOFF_FLAGS => c_int::from_ne_bytes(*flags),
        _ => 0,
    };
    let connects = is_sctp && CONNECTS.contains(&name);
    let waits = connects && daemon::may_wait(ours.pair);
    let room_told = u32::try_from(room).unwrap_or(u32::MAX);
    let request = requests::Request::GetOption { level, name, room: room_told, value: given, waits };
    let Replied { mut reply, descriptor } = daemon::ask_whole(ours.pair, &request, waits)?;
    if connects && reply.error.is_none() {
        ours.known.has_peer.store(true, Relaxed);
    }
    let is_peeled = is_sctp && matches!(name, SCTP_SOCKOPT_PEELOFF | SCTP_SOCKOPT_PEELOFF_FLAGS);
    if is_peeled && reply.error.is_none() {
        let number = install_peeled(descriptor.ok_or(Errno::EMFILE)?, flags)?;
        reply.number = number;
        if let Some(place) = reply.value.get_mut(PEELED_AT..PEELED_AT + size_of::<c_int>()) {
            place.copy_from_slice(&number.to_ne_bytes());
        }
    }
    // What connects has the number of the association even where it goes on.
    if reply.error.is_none() || !reply.value.is_empty() {
        memory::give(&reply.value, value, len)?;
    }
    reply.error.map_or(Ok(reply.number), Err)
}

/// Puts the addresses behind a `struct sctp_getaddrs_old`, which points to them.
fn append_addresses(value: &mut Vec<u8>) -> Result<(), Errno> {
    let (head, rest) = value.split_at_checked(ADDRESSES_AT).ok_or(Errno::EINVAL)?;
    let length = u32::from_ne_bytes(*head[4..].first_chunk().ok_or(Errno::EINVAL)?);
    let address = usize::from_ne_bytes(*rest.first_chunk().ok_or(Errno::EINVAL)?);
    let length = usize::try_from(length).ok().filter(|length| *length <= ADDRESSES_MOST);
    let place = std::ptr::with_exposed_provenance::<c_void>(address);
    let addresses = memory::bytes(place, length.ok_or(Errno::EINVAL)?)?.to_vec();
    value.truncate(ADDRESSES_AT + size_of::<usize>());
    value.extend(addresses);
    Ok(())
}

fn set(ours: Ours, level: c_int, name: c_int, value: *const c_void, len: socklen_t) -> Result<c_int, Errno> {
    let len = usize::try_from(len.cast_signed()).map_err(|_| Errno::EINVAL)?;
    if len > OPTION_MAX {
        return Err(Errno::EINVAL);
    }
    let value = memory::bytes(value, len)?.to_vec();
    let connects = level == SOL_SCTP && CONNECTS.contains(&name);
    let waits = connects && daemon::may_wait(ours.pair);
    let request = requests::Request::SetOption { level, name, value, waits };
    let replied = daemon::ask_whole(ours.pair, &request, waits)?;
    if connects && replied.reply.error.is_none() {
        ours.known.has_peer.store(true, Relaxed);
    }
    if level == SOL_SCTP && matches!(name, SCTP_EVENTS | SCTP_RECVRCVINFO | SCTP_RECVNXTINFO | SCTP_EVENT) {
        ours.known.wanted.store(0, Relaxed);
    }
    replied.reply.error.map_or(Ok(replied.reply.number), Err)
}
