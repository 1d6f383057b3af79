//! Sockets and their associations: `socket`, `bind`, `listen`, `accept`, `connect`, `shutdown`.

use std::ffi::c_void;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::Ordering::Relaxed;

use libc::{c_int, sockaddr, socklen_t};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use slantpath_requests as requests;
use slantpath_requests::{Errno, Half, OpenRequest, Style};

use crate::next::next;
use crate::outcome::int;
use crate::table::{Ours, found, ours, style};
use crate::{daemon, memory, waiting};

/// Longest address of any family (`struct sockaddr_storage`).
const LONGEST_NAME: usize = 128;

/// Number of types of sockets that Linux knows of (`SOCK_MAX`).
const TYPES: c_int = 11;

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    match wish(domain, kind, protocol).zip(daemon::name()) {
        Some((wish, name)) => int(wish.and_then(|wish| open(name, wish, kind))),
        None => next!(socket as fn(domain: c_int, kind: c_int, protocol: c_int) -> c_int),
    }
}

/// Wish for an SCTP socket, or what Linux says to it; none if another socket is meant.
fn wish(domain: c_int, kind: c_int, protocol: c_int) -> Option<Result<OpenRequest, Errno>> {
    let family = match domain {
        libc::AF_INET => requests::Family::V4,
        libc::AF_INET6 => requests::Family::V6,
        _ => return None,
    };
    let kind = kind & !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
    let style = match (kind, protocol) {
        (libc::SOCK_STREAM, libc::IPPROTO_SCTP) => Style::OneToOne,
        // No other protocol has this type.
        (libc::SOCK_SEQPACKET, libc::IPPROTO_SCTP | 0) => Style::OneToMany,
        (libc::SOCK_RAW, _) => return None,
        (0..TYPES, libc::IPPROTO_SCTP) => return Some(Err(Errno::ESOCKTNOSUPPORT)),
        (_, libc::IPPROTO_SCTP) => return Some(Err(Errno::EINVAL)),
        _ => return None,
    };
    Some(Ok(OpenRequest { style, family }))
}

fn open(name: &[u8], wish: OpenRequest, kind: c_int) -> Result<c_int, Errno> {
    let opened = slantpath_door::ask_to_open(name, wish)?.wait(false)?;
    if let Some(error) = opened.reply.error {
        return Err(error);
    }
    let descriptor = lowest(opened.descriptor.ok_or(Errno::EMFILE)?);
    let known_style = if wish.style == Style::OneToMany { style::ONE_TO_MANY } else { style::ONE_TO_ONE };
    install(descriptor, kind, known_style)
}

/// The descriptor at the lowest number that is free, as programs rely on: when it came, the channel to the daemon had
/// that number.
fn lowest(descriptor: OwnedFd) -> OwnedFd {
    match fcntl_dupfd_cloexec(&descriptor, 0) {
        Ok(other) if other.as_raw_fd() < descriptor.as_raw_fd() => {
            let_go(descriptor);
            other
        }
        Ok(other) => {
            let_go(other);
            descriptor
        }
        Err(_) => descriptor,
    }
}

/// Closes a number of a socket that lives on, and marks no end of it.
fn let_go(descriptor: OwnedFd) {
    // SAFETY: Nobody else has the number.
    unsafe { libc::syscall(libc::SYS_close, libc::c_long::from(descriptor.into_raw_fd())) };
}

/// Gives a pair to the program, with the flags of `socket` and `accept4`.
pub(crate) fn install(descriptor: OwnedFd, flags: c_int, known_style: u8) -> Result<c_int, Errno> {
    if flags & libc::SOCK_CLOEXEC == 0 {
        fcntl_setfd(&descriptor, FdFlags::empty()).map_err(|_| Errno::EBADF)?;
    }
    let before = fcntl_getfl(&descriptor).map_err(|_| Errno::EBADF)?;
    let is_nonblocking = flags & libc::SOCK_NONBLOCK != 0;
    if is_nonblocking != before.contains(OFlags::NONBLOCK) {
        let mut after = before;
        after.set(OFlags::NONBLOCK, is_nonblocking);
        fcntl_setfl(&descriptor, after).map_err(|_| Errno::EBADF)?;
    }
    let number = descriptor.into_raw_fd();
    found(number);
    if let Some(ours) = ours(number) {
        ours.known.style.store(known_style, Relaxed);
    }
    Ok(number)
}

/// Address that the program names.
pub(crate) fn address(name: *const sockaddr, len: socklen_t) -> Result<Option<SocketAddr>, Errno> {
    let len = usize::try_from(len).ok().filter(|len| *len <= LONGEST_NAME).ok_or(Errno::EINVAL)?;
    slantpath_door::address_of(memory::bytes(name.cast(), len)?)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn bind(descriptor: c_int, name: *const sockaddr, len: socklen_t) -> c_int {
    let Some(ours) = ours(descriptor) else {
        return next!(bind as fn(descriptor: c_int, name: *const sockaddr, len: socklen_t) -> c_int);
    };
    let bound = address(name, len).and_then(|address| {
        let address = address.ok_or(Errno::EINVAL)?;
        daemon::ask(ours.pair, &requests::Request::Bind(address))
    });
    int(bound.map(|_| 0))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn connect(descriptor: c_int, name: *const sockaddr, len: socklen_t) -> c_int {
    let Some(ours) = ours(descriptor) else {
        return next!(connect as fn(descriptor: c_int, name: *const sockaddr, len: socklen_t) -> c_int);
    };
    waiting::cancellation_point();
    let connected = address(name, len).and_then(|address| {
        // Linux has no disconnecting of SCTP.
        let peer = address.ok_or(Errno::EOPNOTSUPP)?;
        let request = requests::Request::Connect { peer, waits: daemon::may_wait(ours.pair) };
        let replied = daemon::ask_whole(ours.pair, &request, true)?;
        if let Some(error) = replied.reply.error {
            return Err(error);
        }
        ours.known.has_peer.store(true, Relaxed);
        Ok(0)
    });
    int(connected)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn listen(descriptor: c_int, backlog: c_int) -> c_int {
    let Some(ours) = ours(descriptor) else {
        return next!(listen as fn(descriptor: c_int, backlog: c_int) -> c_int);
    };
    let backlog = backlog.cast_unsigned();
    let listening = daemon::ask(ours.pair, &requests::Request::Listen { backlog });
    if listening.is_ok() {
        ours.known.listens.store(backlog > 0, Relaxed);
    }
    int(listening.map(|_| 0))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn accept(descriptor: c_int, name: *mut sockaddr, len: *mut socklen_t) -> c_int {
    match ours(descriptor) {
        Some(ours) => int(take_association(ours, name, len, 0)),
        None => next!(accept as fn(descriptor: c_int, name: *mut sockaddr, len: *mut socklen_t) -> c_int),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn accept4(
    descriptor: c_int,
    name: *mut sockaddr,
    len: *mut socklen_t,
    flags: c_int,
) -> c_int {
    match ours(descriptor) {
        Some(_) if flags & !(libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) != 0 => int(Err(Errno::EINVAL)),
        Some(ours) => int(take_association(ours, name, len, flags)),
        None => {
            next!(
                accept4
                    as fn(descriptor: c_int, name: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int
            )
        }
    }
}

fn take_association(
    ours: Ours,
    name: *mut sockaddr,
    len: *mut socklen_t,
    flags: c_int,
) -> Result<c_int, Errno> {
    waiting::cancellation_point();
    if daemon::style_of(ours)? == style::ONE_TO_MANY {
        return Err(Errno::EOPNOTSUPP);
    }
    if !ours.known.listens.load(Relaxed) {
        if daemon::number_of(ours, daemon::SOL_SOCKET, libc::SO_ACCEPTCONN)? == 0 {
            return Err(Errno::EINVAL);
        }
        ours.known.listens.store(true, Relaxed);
    }
    let accepted = loop {
        match slantpath_door::accept(ours.pair) {
            Err(Errno::EAGAIN) => waiting::for_piece(ours)?,
            other => break other?,
        }
    };
    if !name.is_null() {
        memory::give(&slantpath_door::bytes_of(accepted.peer), name.cast::<c_void>(), len)?;
    }
    let number = install(accepted.descriptor, flags, style::ONE_TO_ONE)?;
    if let Some(accepted) = crate::table::ours(number) {
        accepted.known.has_peer.store(true, Relaxed);
    }
    Ok(number)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn shutdown(descriptor: c_int, how: c_int) -> c_int {
    let Some(ours) = ours(descriptor) else {
        return next!(shutdown as fn(descriptor: c_int, how: c_int) -> c_int);
    };
    let half = match how {
        libc::SHUT_RD => Ok(Half::Read),
        libc::SHUT_WR => Ok(Half::Write),
        libc::SHUT_RDWR => Ok(Half::Both),
        _ => Err(Errno::EINVAL),
    };
    let shut = half.and_then(|half| daemon::ask(ours.pair, &requests::Request::Shutdown(half)));
    int(shut.map(|_| 0))
}

/// Gives a socket that has been peeled off to the program, and its number.
pub(crate) fn install_peeled(descriptor: OwnedFd, flags: c_int) -> Result<c_int, Errno> {
    install(lowest(descriptor), flags, style::ONE_TO_ONE)
}
