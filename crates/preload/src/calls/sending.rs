//! Sending: `write`, `writev`, `send`, `sendto`, `sendmsg`, `sendmmsg`, `sendfile`.

use std::ffi::c_void;
use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;

use libc::{c_int, iovec, mmsghdr, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t};
use slantpath_door::SendControl;
use slantpath_requests as requests;
use slantpath_requests::{Errno, SendInfo};

use crate::calls::setup::address;
use crate::next::next;
use crate::outcome::{fail, size};
use crate::table::{Ours, Seen, ours};
use crate::{daemon, memory, waiting};

/// `SCTP_ABORT` and `SCTP_EOF`.
const SCTP_ABORT: u16 = 0x4;
const SCTP_EOF: u16 = 0x200;
/// `SCTP_SENDALL`.
const SCTP_SENDALL: u16 = 0x40;
/// Bytes of a file that one message has.
const FILE_PIECE: usize = 65_536;

fn vector(bytes: *const c_void, len: size_t) -> [iovec; 1] {
    [iovec { iov_base: bytes.cast_mut(), iov_len: len }]
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn write(descriptor: c_int, bytes: *const c_void, len: size_t) -> ssize_t {
    match ours(descriptor) {
        Some(ours) => size(send_plain(ours, &vector(bytes, len), 0, None)),
        None => next!(write as fn(descriptor: c_int, bytes: *const c_void, len: size_t) -> ssize_t),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn writev(descriptor: c_int, vectors: *const iovec, count: c_int) -> ssize_t {
    let Some(ours) = ours(descriptor) else {
        return next!(writev as fn(descriptor: c_int, vectors: *const iovec, count: c_int) -> ssize_t);
    };
    let vectors = memory::count(count).and_then(|count| memory::vectors(vectors, count));
    size(vectors.and_then(|vectors| send_plain(ours, vectors, 0, None)))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn send(
    descriptor: c_int,
    bytes: *const c_void,
    len: size_t,
    flags: c_int,
) -> ssize_t {
    match ours(descriptor) {
        Some(ours) => size(send_plain(ours, &vector(bytes, len), flags, None)),
        None => {
            next!(send as fn(descriptor: c_int, bytes: *const c_void, len: size_t, flags: c_int) -> ssize_t)
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendto(
    descriptor: c_int,
    bytes: *const c_void,
    len: size_t,
    flags: c_int,
    name: *const sockaddr,
    name_len: socklen_t,
) -> ssize_t {
    let Some(ours) = ours(descriptor) else {
        return next!(
            sendto
                as fn(
                    descriptor: c_int,
                    bytes: *const c_void,
                    len: size_t,
                    flags: c_int,
                    name: *const sockaddr,
                    name_len: socklen_t,
                ) -> ssize_t
        );
    };
    let sent = destination(name, name_len)
        .and_then(|destination| send_plain(ours, &vector(bytes, len), flags, destination));
    size(sent)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendmsg(descriptor: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    match ours(descriptor) {
        Some(ours) => size(send_message(ours, message, flags)),
        None => next!(sendmsg as fn(descriptor: c_int, message: *const msghdr, flags: c_int) -> ssize_t),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendmmsg(
    descriptor: c_int,
    messages: *mut mmsghdr,
    count: u32,
    flags: c_int,
) -> c_int {
    let Some(ours) = ours(descriptor) else {
        return next!(
            sendmmsg as fn(descriptor: c_int, messages: *mut mmsghdr, count: u32, flags: c_int) -> c_int
        );
    };
    for at in 0..count.min(1024) {
        // SAFETY: The program says that so many are there; each is held to its range before it is read.
        let (header, len) = unsafe {
            let message = messages.add(at as usize);
            (&raw const (*message).msg_hdr, &raw mut (*message).msg_len)
        };
        let sent = send_message(ours, header, flags);
        match sent.and_then(|sent| memory::write(len, u32::try_from(sent).unwrap_or(u32::MAX))) {
            Ok(()) => {}
            Err(error) if at == 0 => return fail(error),
            Err(_) => return at.cast_signed(),
        }
    }
    count.min(1024).cast_signed()
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendfile(
    descriptor: c_int,
    file: c_int,
    offset: *mut off_t,
    count: size_t,
) -> ssize_t {
    match ours(descriptor) {
        Some(ours) => size(send_file(ours, file, offset, count)),
        None => {
            next!(
                sendfile as fn(descriptor: c_int, file: c_int, offset: *mut off_t, count: size_t) -> ssize_t
            )
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sendfile64(
    descriptor: c_int,
    file: c_int,
    offset: *mut off_t,
    count: size_t,
) -> ssize_t {
    match ours(descriptor) {
        Some(ours) => size(send_file(ours, file, offset, count)),
        None => {
            next!(
                sendfile64
                    as fn(descriptor: c_int, file: c_int, offset: *mut off_t, count: size_t) -> ssize_t
            )
        }
    }
}

fn destination(name: *const sockaddr, len: socklen_t) -> Result<Option<SocketAddr>, Errno> {
    if name.is_null() || len == 0 {
        return Ok(None);
    }
    address(name, len)?.map(Some).ok_or(Errno::EINVAL)
}

fn send_plain(
    ours: Ours,
    vectors: &[iovec],
    flags: c_int,
    destination: Option<SocketAddr>,
) -> Result<usize, Errno> {
    transmit(ours, vectors, flags, destination, None)
}

fn send_message(ours: Ours, message: *const msghdr, flags: c_int) -> Result<usize, Errno> {
    let header = memory::read(message)?;
    let vectors = memory::vectors(header.msg_iov, memory::message_count(header.msg_iovlen)?)?;
    let destination = destination(header.msg_name.cast(), header.msg_namelen)?;
    let room = if header.msg_control.is_null() { 0 } else { header.msg_controllen };
    let control = SendControl::read(memory::bytes(header.msg_control, room)?)?;
    let defaults = if control.needs_defaults() {
        slantpath_door::sndinfo(&daemon::ask(ours.pair, &slantpath_door::defaults_question())?.value)?
    } else {
        SendInfo::default()
    };
    if let Some(beginning) = control.beginning(destination) {
        daemon::ask(ours.pair, &beginning)?;
    }
    transmit(ours, vectors, flags, destination, control.whole(|| defaults))
}

fn transmit(
    ours: Ours,
    vectors: &[iovec],
    flags: c_int,
    destination: Option<SocketAddr>,
    info: Option<SendInfo>,
) -> Result<usize, Errno> {
    if flags & libc::MSG_OOB != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    waiting::cancellation_point();
    let len = vectors.iter().fold(0, |sum: usize, vector| sum.saturating_add(vector.iov_len));
    let ends = info.map_or(0, |info| info.flags) & (SCTP_EOF | SCTP_ABORT);
    if ends & SCTP_EOF != 0 && len > 0 || ends == 0 && len == 0 {
        return Err(Errno::EINVAL);
    }
    let sent = memory::with_bytes(vectors, |message| {
        let mut seen = ours.known.sending.have();
        match info.filter(|_| ends != 0) {
            Some(info) => may_end(ours, info, destination)?,
            // Who of all cannot be sent to is passed over.
            None if info.is_some_and(|info| info.flags & SCTP_SENDALL != 0) => {}
            None => may_send(ours, &mut seen, info, destination, len)?,
        }
        let may_wait = flags & libc::MSG_DONTWAIT == 0;
        if len <= slantpath_requests::PIECE_MAX {
            drop(seen);
        }
        slantpath_door::send(ours.pair, info, destination, message, may_wait)
    });
    if ends != 0 {
        *ours.known.sending.have() = Seen::default();
    }
    sent.map_err(|error| if error == Errno::EPIPE { broken(ours, flags) } else { error })
}

/// Asks whether a message may end its association.
fn may_end(ours: Ours, info: SendInfo, destination: Option<SocketAddr>) -> Result<(), Errno> {
    let is_for_all = info.flags & SCTP_SENDALL != 0;
    let request = requests::Request::MayEnd { association: info.association, destination, is_for_all };
    daemon::ask(ours.pair, &request).map(|_| ())
}

/// Asks whether a message may be sent, unless one like it was sent before.
fn may_send(
    ours: Ours,
    seen: &mut Seen,
    info: Option<SendInfo>,
    destination: Option<SocketAddr>,
    len: usize,
) -> Result<(), Errno> {
    let (stream, association) = info.map_or((0, 0), |info| (info.stream, info.association));
    let is_same = seen.association == association && seen.destination == destination;
    if is_same && stream < seen.streams && len <= seen.longest {
        return Ok(());
    }
    let length = u32::try_from(len).map_err(|_| Errno::EMSGSIZE)?;
    let request = requests::Request::MaySend { stream, association, length, destination };
    let reply = daemon::ask(ours.pair, &request)?;
    ours.known.has_peer.store(true, Relaxed);
    let streams = u16::try_from(reply.number.clamp(0, i32::from(u16::MAX))).unwrap_or_default();
    *seen = Seen {
        association,
        destination,
        streams,
        longest: if is_same { len.max(seen.longest) } else { len },
    };
    Ok(())
}

/// Error of an association that takes nothing more, with the signal that Linux sends.
#[cold]
fn broken(ours: Ours, flags: c_int) -> Errno {
    let failed = daemon::number_of(ours, daemon::SOL_SOCKET, libc::SO_ERROR).unwrap_or(0);
    if let Some(failed) = u16::try_from(failed).ok().filter(|failed| *failed != 0) {
        return Errno(failed);
    }
    if flags & libc::MSG_NOSIGNAL == 0 {
        // SAFETY: It sends a signal to the calling thread.
        unsafe { libc::raise(libc::SIGPIPE) };
    }
    Errno::EPIPE
}

/// Sends bytes of a file in messages, as far as the socket takes them.
fn send_file(ours: Ours, file: c_int, offset: *mut off_t, count: size_t) -> Result<usize, Errno> {
    let mut at = if offset.is_null() { None } else { Some(memory::read(offset)?) };
    let mut piece = vec![0_u8; FILE_PIECE.min(count.max(1))];
    let mut sent = 0;
    while sent < count {
        let len = piece.len().min(count - sent);
        // SAFETY: The place has so many bytes.
        let came = unsafe {
            match at {
                Some(at) => libc::pread(file, piece.as_mut_ptr().cast(), len, at),
                None => libc::read(file, piece.as_mut_ptr().cast(), len),
            }
        };
        let Ok(came) = usize::try_from(came) else {
            let error = std::io::Error::last_os_error().raw_os_error().unwrap_or_default();
            return if sent > 0 { Ok(sent) } else { Err(Errno(u16::try_from(error).unwrap_or_default())) };
        };
        if came == 0 {
            break;
        }
        match send_plain(ours, &vector(piece.as_ptr().cast(), came), 0, None) {
            Ok(_) => {}
            Err(error) => {
                if at.is_none() {
                    // SAFETY: The file goes back by what was read and not sent.
                    unsafe { libc::lseek(file, -(came.cast_signed() as off_t), libc::SEEK_CUR) };
                }
                return if sent > 0 { Ok(sent) } else { Err(error) };
            }
        }
        sent += came;
        if let Some(at) = &mut at {
            *at += came.cast_signed() as off_t;
            memory::write(offset, *at)?;
        }
    }
    Ok(sent)
}
