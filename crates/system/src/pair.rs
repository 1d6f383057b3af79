//! Pairs of connected sockets (SEQPACKET of Unix), of which a program has one end in the place of a socket of its own.
//!
//! The end of the program has a name at its far side, by which whoever holds it knows what it is. Pieces that lie in
//! front of it in the queue, a [filler](PairConfig::filler_bytes), keep it from being told as writable; whoever has the
//! other end reads behind them ([`OwnEnd`]), until it takes them away.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::libc;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, sockopt,
};
use rustix::path::Arg as _;

use crate::peeking;

/// Settings with which a pair is made.
#[derive(Clone, Copy, Debug)]
pub struct PairConfig<'a> {
    /// Name of the own end, in the abstract space: nobody else may have it.
    pub name: &'a [u8],
    /// Size of the send buffers, as far as the system permits; it counts twice as much.
    pub buffer_bytes: usize,
    /// Bytes that lie in the way of the program's end from the start on; none: it is writable at once.
    pub filler_bytes: usize,
}

/// End of a pair that its maker keeps. It never waits.
#[derive(Debug)]
pub struct OwnEnd {
    socket: OwnedFd,
    filler: Option<Filler>,
}

/// Pieces in front of the queue: one that nobody has sent, and those behind it that have been read and are still there.
#[derive(Clone, Copy, Debug, Default)]
struct Filler {
    read_behind: usize,
}

/// Outcome of reading a piece.
#[derive(Debug)]
pub enum ReceivedPiece {
    /// A piece of so many bytes; a longer one has been cut off to the place that was given.
    Piece(usize),
    /// Nothing is there.
    Nothing,
    /// The other end is closed in all processes, and nothing of it is left.
    End,
    /// The other end was closed with something unread in it. There may be more.
    ClosedUnread,
}

/// Makes a pair: the own end, and that of the program, which is closed by `exec` here.
pub fn pair(config: &PairConfig<'_>) -> io::Result<(OwnEnd, OwnedFd)> {
    let (own, other) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    rustix::net::bind(&own, &SocketAddrUnix::new_abstract_name(config.name)?)?;
    rustix::io::ioctl_fionbio(&own, true)?;
    for end in [&own, &other] {
        set_buffer(end, config.buffer_bytes)?;
    }
    peeking::set_offset(&other, 0)?;
    let mut filler = None;
    if config.filler_bytes > 0 {
        let bytes = vec![0; config.filler_bytes];
        rustix::net::send(&other, &bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?;
        peeking::set_offset(&own, i32::try_from(bytes.len()).map_err(|_| io::ErrorKind::InvalidInput)?)?;
        filler = Some(Filler::default());
    }
    Ok((OwnEnd { socket: own, filler }, other))
}

impl OwnEnd {
    /// Tells how many pieces have been read behind the filler; `None` if it is gone.
    pub fn read_behind_filler(&self) -> Option<usize> {
        self.filler.map(|filler| filler.read_behind)
    }

    /// Takes the filler away, with all that has been read behind it: the program's end is writable from now on.
    pub fn clear(&mut self) -> io::Result<()> {
        let Some(Filler { read_behind }) = self.filler.take() else { return Ok(()) };
        for _ in 0..=read_behind {
            match rustix::net::recv(&self.socket, &mut [MaybeUninit::uninit()], RecvFlags::DONTWAIT) {
                Ok(_) => {}
                Err(rustix::io::Errno::AGAIN) => break,
                // What is said once of the end of the other side takes nothing away.
                Err(rustix::io::Errno::CONNRESET) => {
                    let place = &mut [MaybeUninit::uninit()];
                    let _ = rustix::net::recv(&self.socket, place, RecvFlags::DONTWAIT);
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        peeking::set_offset(&self.socket, -1)
    }

    /// Reads the next piece into `place`, and the descriptors beside it into `beside`.
    pub fn receive(&mut self, place: &mut [u8], beside: &mut Vec<OwnedFd>) -> io::Result<ReceivedPiece> {
        let flags = if self.filler.is_some() { RecvFlags::PEEK } else { RecvFlags::empty() };
        let received = receive(&self.socket, place, beside, flags);
        if let (Some(filler), Ok(ReceivedPiece::Piece(_))) = (&mut self.filler, &received) {
            filler.read_behind += 1;
        }
        received
    }

    /// Writes a piece of these parts, with a descriptor beside it. `false`: there is no room now.
    pub fn send(&self, parts: &[IoSlice<'_>], beside: Option<BorrowedFd<'_>>) -> io::Result<bool> {
        send(&self.socket, parts, beside)
    }

    /// Tells if the other end has read all that was written.
    pub fn is_drained(&self) -> io::Result<bool> {
        let mut unread: libc::c_int = 0;
        #[expect(unsafe_code, reason = "no library has a safe call")]
        // SAFETY: The kernel writes a number to the place that it is given, which lives until the call returns.
        let result = unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut unread) };
        Ok(Errno::result(result).map(|_| unread == 0)?)
    }

    /// Lets the other end read to the end of what was written, and then find an end.
    pub fn end(&self) -> io::Result<()> {
        match rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Write) {
            Ok(()) | Err(rustix::io::Errno::NOTCONN) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl AsFd for OwnEnd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Writes a piece of these parts, with a descriptor beside it, and never waits. `false`: there is no room now.
pub fn send(socket: impl AsFd, parts: &[IoSlice<'_>], beside: Option<BorrowedFd<'_>>) -> io::Result<bool> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let beside = beside.as_slice();
    if !beside.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(beside));
    }
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    loop {
        match rustix::net::sendmsg(&socket, parts, &mut control, flags) {
            Ok(_) => return Ok(true),
            Err(rustix::io::Errno::AGAIN) => return Ok(false),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Reads a piece, and the descriptors beside it; more than one are closed.
fn receive(
    socket: &OwnedFd,
    place: &mut [u8],
    beside: &mut Vec<OwnedFd>,
    flags: RecvFlags,
) -> io::Result<ReceivedPiece> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
    let received = loop {
        match rustix::net::recvmsg(socket, &mut [IoSliceMut::new(place)], &mut control, flags) {
            Ok(received) => break received,
            Err(rustix::io::Errno::AGAIN) => return Ok(ReceivedPiece::Nothing),
            Err(rustix::io::Errno::CONNRESET) => return Ok(ReceivedPiece::ClosedUnread),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    };
    beside.extend(control.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
        _ => Vec::new(),
    }));
    // A piece without a byte is not told from an end, and means as little.
    let is_end = received.bytes == 0 && !received.flags.contains(ReturnFlags::TRUNC);
    Ok(if is_end { ReceivedPiece::End } else { ReceivedPiece::Piece(received.bytes) })
}

/// Socket at which programs ask for pairs.
#[derive(Debug)]
pub struct PairListener {
    socket: OwnedFd,
}

impl PairListener {
    /// Listens at a path that does not exist, which its owner alone may use, or, behind an `@`, at an abstract name.
    pub fn open(name: &str) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        if let Some(name) = name.strip_prefix('@') {
            rustix::net::bind(&socket, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
        } else {
            let address = SocketAddrUnix::new(name.into_c_str()?.as_ref())?;
            crate::local::for_the_owner_alone(|| rustix::net::bind(&socket, &address))?;
        }
        rustix::net::listen(&socket, BACKLOG)?;
        Ok(Self { socket })
    }

    /// Lets the next program in that has come, with the id of its user.
    pub fn accept(&self) -> io::Result<Option<(OwnEnd, u32)>> {
        match rustix::net::accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
            Ok(socket) => {
                let user = sockopt::socket_peercred(&socket)?.uid.as_raw();
                Ok(Some((OwnEnd { socket, filler: None }, user)))
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR | rustix::io::Errno::CONNABORTED) => {
                Ok(None)
            }
            Err(errno) => Err(errno.into()),
        }
    }
}

impl AsFd for PairListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Programs that ask at one time.
const BACKLOG: i32 = 1_024;

fn set_buffer(socket: &OwnedFd, bytes: usize) -> io::Result<()> {
    // Beyond the system's limit only with a privilege: less than was asked for does as well.
    Ok(sockopt::set_socket_send_buffer_size_force(socket, bytes)
        .or_else(|_| sockopt::set_socket_send_buffer_size(socket, bytes))?)
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn made(name: &str, filler_bytes: usize) -> (OwnEnd, OwnedFd) {
        let name = format!("slantpath-test-{}-{name}", std::process::id());
        pair(&PairConfig { name: name.as_bytes(), buffer_bytes: 212_992, filler_bytes }).unwrap()
    }

    fn is_writable(socket: &OwnedFd) -> bool {
        let mut fds = [PollFd::new(socket, PollFlags::OUT)];
        poll(&mut fds, Some(&Timespec::default())).unwrap() == 1
    }

    fn next(own: &mut OwnEnd) -> Result<Vec<u8>, String> {
        let mut place = [0; 64];
        match own.receive(&mut place, &mut Vec::new()).unwrap() {
            ReceivedPiece::Piece(length) => Ok(place[..length].to_vec()),
            other => Err(format!("{other:?}")),
        }
    }

    fn write(socket: &OwnedFd, bytes: &[u8]) {
        assert!(send(socket, &[IoSlice::new(bytes)], None).unwrap());
    }

    #[test]
    fn a_filler_keeps_the_end_from_being_writable_and_what_is_behind_it_is_read_once() {
        let (mut own, other) = made("filler", 110_000);
        assert!(!is_writable(&other));
        write(&other, b"bind");
        write(&other, b"connect");
        assert_eq!(next(&mut own), Ok(b"bind".to_vec()));
        assert_eq!(next(&mut own), Ok(b"connect".to_vec()));
        assert_eq!(next(&mut own), Err("Nothing".to_owned()));
        write(&other, b"data");
        assert_eq!(own.read_behind_filler(), Some(2));
        own.clear().unwrap();
        assert!(is_writable(&other));
        assert_eq!((own.read_behind_filler(), next(&mut own)), (None, Ok(b"data".to_vec())));
        assert_eq!(next(&mut own), Err("Nothing".to_owned()));
        drop(other);
        assert_eq!(next(&mut own), Err("End".to_owned()));
    }

    #[test]
    fn what_was_left_unread_at_the_other_end_is_told_in_front_of_what_came_from_there() {
        for (name, filler_bytes) in [("unread", 0), ("unread-behind", 110_000)] {
            let (mut own, other) = made(name, filler_bytes);
            assert!(own.send(&[IoSlice::new(b"a"), IoSlice::new(b"b")], None).unwrap());
            write(&other, b"last");
            drop(other);
            assert_eq!(next(&mut own), Err("ClosedUnread".to_owned()));
            assert_eq!(next(&mut own), Ok(b"last".to_vec()));
            own.clear().unwrap();
            assert_eq!(next(&mut own), Err("End".to_owned()));
        }
    }

    #[test]
    fn a_descriptor_goes_beside_a_piece_and_the_name_of_the_other_end_is_known() {
        let (mut own, other) = made("named", 0);
        let name = rustix::net::getpeername(&other).unwrap();
        let name = SocketAddrUnix::try_from(name.expect("a name")).unwrap();
        assert!(name.abstract_name().is_some_and(|name| name.ends_with(b"-named")));
        let (reader, writer) = io::pipe().unwrap();
        assert!(send(&other, &[IoSlice::new(b"take")], Some(writer.as_fd())).unwrap());
        drop(writer);
        let mut beside = Vec::new();
        let received = own.receive(&mut [0; 8], &mut beside).unwrap();
        assert!(matches!((received, beside.len()), (ReceivedPiece::Piece(4), 1)));
        rustix::io::write(&beside[0], b"x").unwrap();
        assert_eq!(rustix::io::read(&reader, &mut [0_u8; 4]).unwrap(), 1);
    }

    #[test]
    fn who_has_come_is_known_by_its_user() {
        let name = format!("@slantpath-test-{}-listener", std::process::id());
        let listener = PairListener::open(&name).unwrap();
        assert!(listener.accept().unwrap().is_none());
        let flags = SocketFlags::CLOEXEC;
        let client =
            rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
        let address = SocketAddrUnix::new_abstract_name(&name.as_bytes()[1..]).unwrap();
        rustix::net::connect(&client, &address).unwrap();
        let (mut own, user) = listener.accept().unwrap().expect("a client");
        assert_eq!(user, rustix::process::getuid().as_raw());
        write(&client, b"open");
        assert_eq!(next(&mut own), Ok(b"open".to_vec()));
    }
}
