//! Receiving: `read`, `readv`, `recv`, `recvfrom`, `recvmsg`, `recvmmsg`, and their checked forms.

use std::ffi::c_void;
use std::sync::atomic::Ordering::Relaxed;

use libc::{c_int, iovec, mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t, timespec};
use slantpath_door::{Came, ControlOut, Wanted};
use slantpath_requests as requests;
use slantpath_requests::{Errno, ToProgram};

use crate::next::next;
use crate::outcome::{fail, size};
use crate::table::{Ours, Seen, forget, ours, style, wanted};
use crate::{daemon, memory, waiting};

/// `MSG_NOTIFICATION`.
const MSG_NOTIFICATION: c_int = 0x8000;
const SCTP_EVENTS: c_int = 11;
const SCTP_GET_ASSOC_NUMBER: c_int = 28;
const SCTP_RECVRCVINFO: c_int = 32;
const SCTP_RECVNXTINFO: c_int = 33;

fn vector(bytes: *mut c_void, len: size_t) -> [iovec; 1] {
    [iovec { iov_base: bytes, iov_len: len }]
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn read(descriptor: c_int, bytes: *mut c_void, len: size_t) -> ssize_t {
    match ours(descriptor) {
        Some(ours) => size(receive(ours, &vector(bytes, len), 0).map(length)),
        None => next!(read as fn(descriptor: c_int, bytes: *mut c_void, len: size_t) -> ssize_t),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __read_chk(
    descriptor: c_int,
    bytes: *mut c_void,
    len: size_t,
    room: size_t,
) -> ssize_t {
    match ours(descriptor) {
        Some(ours) if len <= room => size(receive(ours, &vector(bytes, len), 0).map(length)),
        _ => {
            next!(
                __read_chk as fn(descriptor: c_int, bytes: *mut c_void, len: size_t, room: size_t) -> ssize_t
            )
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn readv(descriptor: c_int, vectors: *const iovec, count: c_int) -> ssize_t {
    let Some(ours) = ours(descriptor) else {
        return next!(readv as fn(descriptor: c_int, vectors: *const iovec, count: c_int) -> ssize_t);
    };
    let vectors = memory::count(count).and_then(|count| memory::vectors(vectors, count));
    size(vectors.and_then(|vectors| receive(ours, vectors, 0)).map(length))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recv(
    descriptor: c_int,
    bytes: *mut c_void,
    len: size_t,
    flags: c_int,
) -> ssize_t {
    match ours(descriptor) {
        Some(ours) => size(receive(ours, &vector(bytes, len), flags).map(length)),
        None => {
            next!(recv as fn(descriptor: c_int, bytes: *mut c_void, len: size_t, flags: c_int) -> ssize_t)
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __recv_chk(
    descriptor: c_int,
    bytes: *mut c_void,
    len: size_t,
    room: size_t,
    flags: c_int,
) -> ssize_t {
    match ours(descriptor) {
        Some(ours) if len <= room => size(receive(ours, &vector(bytes, len), flags).map(length)),
        _ => {
            next!(
                __recv_chk
                    as fn(
                        descriptor: c_int,
                        bytes: *mut c_void,
                        len: size_t,
                        room: size_t,
                        flags: c_int,
                    ) -> ssize_t
            )
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvfrom(
    descriptor: c_int,
    bytes: *mut c_void,
    len: size_t,
    flags: c_int,
    name: *mut sockaddr,
    name_len: *mut socklen_t,
) -> ssize_t {
    match ours(descriptor) {
        Some(ours) => size(receive_from(ours, bytes, len, flags, name, name_len)),
        None => {
            next!(
                recvfrom
                    as fn(
                        descriptor: c_int,
                        bytes: *mut c_void,
                        len: size_t,
                        flags: c_int,
                        name: *mut sockaddr,
                        name_len: *mut socklen_t,
                    ) -> ssize_t
            )
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn __recvfrom_chk(
    descriptor: c_int,
    bytes: *mut c_void,
    len: size_t,
    room: size_t,
    flags: c_int,
    name: *mut sockaddr,
    name_len: *mut socklen_t,
) -> ssize_t {
    match ours(descriptor) {
        Some(ours) if len <= room => size(receive_from(ours, bytes, len, flags, name, name_len)),
        _ => {
            next!(
                __recvfrom_chk
                    as fn(
                        descriptor: c_int,
                        bytes: *mut c_void,
                        len: size_t,
                        room: size_t,
                        flags: c_int,
                        name: *mut sockaddr,
                        name_len: *mut socklen_t,
                    ) -> ssize_t
            )
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvmsg(descriptor: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    match ours(descriptor) {
        Some(ours) => size(receive_message(ours, message, flags)),
        None => {
            let result =
                next!(recvmsg as fn(descriptor: c_int, message: *mut msghdr, flags: c_int) -> ssize_t);
            if result >= 0 {
                // SAFETY: The call has filled it.
                note_descriptors(unsafe { &*message });
            }
            result
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn recvmmsg(
    descriptor: c_int,
    messages: *mut mmsghdr,
    count: u32,
    flags: c_int,
    limit: *mut timespec,
) -> c_int {
    let Some(ours) = ours(descriptor) else {
        let result = next!(
            recvmmsg
                as fn(
                    descriptor: c_int,
                    messages: *mut mmsghdr,
                    count: u32,
                    flags: c_int,
                    limit: *mut timespec,
                ) -> c_int
        );
        for at in 0..usize::try_from(result).unwrap_or_default() {
            // SAFETY: The call has filled so many.
            note_descriptors(unsafe { &(*messages.add(at)).msg_hdr });
        }
        return result;
    };
    let mut flags = flags;
    for at in 0..count.min(1024) {
        // SAFETY: The program says that so many are there; each is held to its range before it is read.
        let (header, len) = unsafe {
            let message = messages.add(at as usize);
            (&raw mut (*message).msg_hdr, &raw mut (*message).msg_len)
        };
        let received = receive_message(ours, header, flags & !libc::MSG_WAITFORONE);
        match received.and_then(|received| memory::write(len, u32::try_from(received).unwrap_or(u32::MAX))) {
            Ok(()) => {}
            Err(error) if at == 0 => return fail(error),
            Err(_) => return at.cast_signed(),
        }
        if flags & libc::MSG_WAITFORONE != 0 {
            flags |= libc::MSG_DONTWAIT;
        }
    }
    count.min(1024).cast_signed()
}

/// Notes descriptors that have come by another socket: an SCTP socket may be among them.
fn note_descriptors(message: &msghdr) {
    if message.msg_control.is_null() || message.msg_controllen == 0 {
        return;
    }
    // SAFETY: The kernel has laid the control messages out, within the length that it says.
    unsafe {
        let mut at = libc::CMSG_FIRSTHDR(message);
        while let Some(header) = at.as_ref() {
            if (header.cmsg_level, header.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                let data = libc::CMSG_DATA(at);
                let count = (header.cmsg_len.saturating_sub(libc::CMSG_LEN(0) as usize)) / size_of::<c_int>();
                for which in 0..count {
                    let number =
                        data.add(which * size_of::<c_int>()).cast::<[u8; size_of::<c_int>()]>().read();
                    forget(c_int::from_ne_bytes(number));
                }
            }
            at = libc::CMSG_NXTHDR(message, at);
        }
    }
}

fn length(came: Option<Came>) -> usize {
    came.map_or(0, |came| came.len)
}

/// Receives, and waits as the socket waits. None: nothing more will come.
fn receive(ours: Ours, vectors: &[iovec], flags: c_int) -> Result<Option<Came>, Errno> {
    if flags & libc::MSG_OOB != 0 {
        return Err(Errno::EOPNOTSUPP);
    }
    waiting::cancellation_point();
    let leaves = flags & libc::MSG_PEEK != 0;
    memory::with_places(vectors, |places| {
        let mut refusal = None;
        loop {
            let came = slantpath_door::receive(ours.pair, &mut ours.known.claim.have(), places, leaves);
            match came {
                Ok(Some(came)) => {
                    note(ours, &came);
                    return Ok(Some(came));
                }
                // Whether the association has failed, the daemon says, once. Without one it has.
                Ok(None) => {
                    let waits = flags & libc::MSG_DONTWAIT == 0 && daemon::may_wait(ours.pair);
                    let asked = daemon::ask_whole(ours.pair, &requests::Request::Ended { waits }, false);
                    return match asked.ok().and_then(|replied| replied.reply.error) {
                        Some(failed) => Err(failed),
                        None => Ok(None),
                    };
                }
                Err(Errno::EAGAIN) if flags & libc::MSG_DONTWAIT == 0 => {
                    if let Some(refusal) = refusal {
                        return Err(refusal);
                    }
                    match has_reason_to_wait(ours) {
                        Ok(()) => waiting::for_piece(ours)?,
                        // An end, or the last message, may have come since the daemon was asked.
                        Err(error) => refusal = Some(error),
                    }
                }
                Err(error) => return Err(error),
            }
        }
    })
}

/// Notes what a message says about the socket.
fn note(ours: Ours, came: &Came) {
    ours.known.has_peer.store(true, Relaxed);
    if let ToProgram::Notification { .. } = came.piece {
        // An association may have begun or ended.
        *ours.known.sending.have() = Seen::default();
    }
}

/// Refuses to wait where nothing can come, as Linux does.
fn has_reason_to_wait(ours: Ours) -> Result<(), Errno> {
    if ours.known.has_peer.load(Relaxed) || !daemon::may_wait(ours.pair) {
        return Ok(());
    }
    if daemon::style_of(ours)? == style::ONE_TO_ONE {
        daemon::ask(ours.pair, &requests::Request::PeerName).map_err(|_| Errno::ENOTCONN)?;
        ours.known.has_peer.store(true, Relaxed);
        return Ok(());
    }
    let listens = ours.known.listens.load(Relaxed)
        || daemon::number_of(ours, daemon::SOL_SOCKET, libc::SO_ACCEPTCONN)? != 0;
    if listens {
        ours.known.listens.store(true, Relaxed);
        return Ok(());
    }
    if daemon::number_of(ours, daemon::SOL_SCTP, SCTP_GET_ASSOC_NUMBER)? == 0 {
        return Err(Errno::ENOTCONN);
    }
    Ok(())
}

fn source(came: Option<Came>) -> Vec<u8> {
    match came.map(|came| came.piece) {
        Some(ToProgram::Data { source, .. } | ToProgram::Notification { source, .. }) => {
            slantpath_door::bytes_of(source)
        }
        _ => Vec::new(),
    }
}

fn receive_from(
    ours: Ours,
    bytes: *mut c_void,
    len: size_t,
    flags: c_int,
    name: *mut sockaddr,
    name_len: *mut socklen_t,
) -> Result<usize, Errno> {
    let came = receive(ours, &vector(bytes, len), flags)?;
    if !name.is_null() && !name_len.is_null() {
        memory::give(&source(came), name.cast(), name_len)?;
    }
    Ok(length(came))
}

fn receive_message(ours: Ours, message: *mut msghdr, flags: c_int) -> Result<usize, Errno> {
    let mut header = memory::read(message)?;
    let count = memory::message_count(header.msg_iovlen)?;
    let came = receive(ours, memory::vectors(header.msg_iov, count)?, flags)?;
    header.msg_flags = 0;
    let mut control_len = 0;
    if let Some(came) = came {
        if came.is_end {
            header.msg_flags |= libc::MSG_EOR;
        }
        match came.piece {
            ToProgram::Data { info, .. } => {
                let room = if header.msg_control.is_null() { 0 } else { header.msg_controllen };
                let wanted = wanted_of(ours);
                let is_taken = came.is_end && flags & libc::MSG_PEEK == 0;
                let next = if wanted.nxtinfo && is_taken {
                    slantpath_door::peek_next(ours.pair, &ours.known.claim.have())
                } else {
                    None
                };
                let mut out = ControlOut::new(memory::place(header.msg_control, room)?);
                out.put(info, next, wanted);
                let (len, is_cut) = out.done();
                control_len = len;
                if is_cut {
                    header.msg_flags |= libc::MSG_CTRUNC;
                }
            }
            ToProgram::Notification { .. } => header.msg_flags |= MSG_NOTIFICATION,
            ToProgram::Accepted { .. } => {}
        }
    }
    if !header.msg_name.is_null() {
        let name = source(came);
        let room = usize::try_from(header.msg_namelen).unwrap_or_default().min(name.len());
        memory::place(header.msg_name, room)?.copy_from_slice(&name[..room]);
        header.msg_namelen = socklen_t::try_from(name.len()).unwrap_or_default();
    }
    header.msg_controllen = control_len;
    memory::write(message, header)?;
    Ok(length(came))
}

/// Control messages that the program wants; the daemon is asked once after each change.
fn wanted_of(ours: Ours) -> Wanted {
    let mut bits = ours.known.wanted.load(Relaxed);
    if bits & wanted::KNOWN == 0 {
        let request = requests::Request::GetOption {
            level: daemon::SOL_SCTP,
            name: SCTP_EVENTS,
            room: 1,
            value: vec![0],
            waits: false,
        };
        // A message has been taken by now: no failure may lose it.
        let events = daemon::ask(ours.pair, &request).unwrap_or_default();
        bits = wanted::KNOWN;
        if events.value.first().is_some_and(|first| *first != 0) {
            bits |= wanted::SNDRCV;
        }
        if daemon::number_of(ours, daemon::SOL_SCTP, SCTP_RECVRCVINFO).unwrap_or(0) != 0 {
            bits |= wanted::RCVINFO;
        }
        if daemon::number_of(ours, daemon::SOL_SCTP, SCTP_RECVNXTINFO).unwrap_or(0) != 0 {
            bits |= wanted::NXTINFO;
        }
        ours.known.wanted.store(bits, Relaxed);
    }
    Wanted {
        sndrcv: bits & wanted::SNDRCV != 0,
        rcvinfo: bits & wanted::RCVINFO != 0,
        nxtinfo: bits & wanted::NXTINFO != 0,
    }
}
