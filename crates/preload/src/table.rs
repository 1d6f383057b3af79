//! Table of what each descriptor is, and what a process knows of its SCTP sockets.
//!
//! It is a cache: a socket is known by the name of its pair's other end. Its places are never given back, so that no
//! lock guards them.

use std::os::fd::{BorrowedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, Ordering};

use slantpath_door::Claim;

use crate::turn::Turn;

/// Descriptors of which the table knows; one beyond is asked each time.
const DESCRIPTORS: usize = 1 << 20;
/// Places that are made at once.
const ROOM: usize = 64;

const UNKNOWN: u8 = 0;
const OTHER: u8 = 1;
const OURS: u8 = 2;

static KINDS: [AtomicU8; DESCRIPTORS] = [const { AtomicU8::new(UNKNOWN) }; DESCRIPTORS];
static ROOMS: [AtomicPtr<Room>; DESCRIPTORS / ROOM] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; DESCRIPTORS / ROOM];
/// True once there was an SCTP socket in this process.
static ANY: AtomicBool = AtomicBool::new(false);

type Room = [Known; ROOM];

/// Style of a socket, as far as it is known.
pub(crate) mod style {
    pub(crate) const UNKNOWN: u8 = 0;
    pub(crate) const ONE_TO_ONE: u8 = 1;
    pub(crate) const ONE_TO_MANY: u8 = 2;
}

/// Control messages that a program wants, as far as they are known.
pub(crate) mod wanted {
    pub(crate) const KNOWN: u8 = 1;
    pub(crate) const SNDRCV: u8 = 2;
    pub(crate) const RCVINFO: u8 = 4;
    pub(crate) const NXTINFO: u8 = 8;
}

/// Destinations for which the daemon has said that a message may be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) association: i32,
    pub(crate) destination: Option<std::net::SocketAddr>,
    /// Number of streams, 0 if nothing is known.
    pub(crate) streams: u16,
    /// Longest message that may be sent.
    pub(crate) longest: usize,
}

/// State of a socket that this process knows.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) claim: Turn<Claim>,
    pub(crate) sending: Turn<Seen>,
    pub(crate) style: AtomicU8,
    pub(crate) wanted: AtomicU8,
    pub(crate) listens: AtomicBool,
    /// True once it was seen that something may come.
    pub(crate) has_peer: AtomicBool,
    /// Process that has found it.
    finder: AtomicU32,
}

/// SCTP socket of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ours {
    pub(crate) pair: BorrowedFd<'static>,
    pub(crate) known: &'static Known,
}

/// An SCTP socket, if a descriptor is one.
#[inline]
pub(crate) fn ours(descriptor: RawFd) -> Option<Ours> {
    let kind = usize::try_from(descriptor).ok().and_then(|at| KINDS.get(at));
    match kind.map(|kind| kind.load(Ordering::Relaxed)) {
        Some(OTHER) => None,
        _ => asked(descriptor),
    }
}

#[cold]
fn asked(descriptor: RawFd) -> Option<Ours> {
    let at = usize::try_from(descriptor).ok()?;
    // SAFETY: The program holds it during the call; if it does not, each call gives `EBADF`.
    let pair = unsafe { BorrowedFd::borrow_raw(descriptor) };
    let was = KINDS.get(at).map_or(UNKNOWN, |kind| kind.load(Ordering::Relaxed));
    // A number that was closed within the C library may be somebody else's by now.
    if !slantpath_door::is_pair(pair) {
        set(descriptor, OTHER);
        return None;
    }
    if was != OURS {
        found(descriptor);
    }
    Some(Ours { pair, known: place(at)? })
}

/// Notes that a descriptor is an SCTP socket, of which nothing else is known.
pub(crate) fn found(descriptor: RawFd) {
    let Some(known) = usize::try_from(descriptor).ok().and_then(place) else { return };
    ANY.store(true, Ordering::Relaxed);
    *known.claim.have() = Claim::default();
    *known.sending.have() = Seen::default();
    known.style.store(style::UNKNOWN, Ordering::Relaxed);
    known.wanted.store(0, Ordering::Relaxed);
    known.listens.store(false, Ordering::Relaxed);
    known.has_peer.store(false, Ordering::Relaxed);
    known.finder.store(std::process::id(), Ordering::Relaxed);
    set(descriptor, OURS);
}

/// Notes that a descriptor is to be asked when it is used: it was closed, or came from somewhere. A child of `vfork`
/// closes its own descriptors in the memory of its parent, so that a closed one may be a socket yet.
pub(crate) fn forget(descriptor: RawFd) {
    set(descriptor, UNKNOWN);
}

/// Notes that a descriptor has become a copy of another.
pub(crate) fn copied(from: RawFd, to: RawFd) {
    let Some(ours) = ours(from) else {
        forget(to);
        return;
    };
    found(to);
    if let Some(copy) = usize::try_from(to).ok().and_then(place) {
        copy.style.store(ours.known.style.load(Ordering::Relaxed), Ordering::Relaxed);
        copy.listens.store(ours.known.listens.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// All descriptors that were SCTP sockets when they were last seen.
pub(crate) fn all_ours() -> impl Iterator<Item = RawFd> {
    let rooms = ROOMS.iter().take_while(|_| ANY.load(Ordering::Relaxed)).enumerate();
    let used = rooms.filter(|(_, room)| !room.load(Ordering::Acquire).is_null());
    let numbers = used.flat_map(|(at, _)| at * ROOM..(at + 1) * ROOM);
    numbers.filter(|at| KINDS[*at].load(Ordering::Relaxed) == OURS).filter_map(|at| RawFd::try_from(at).ok())
}

/// Descriptors of [`all_ours`] that this very process has found, and no process that it was forked from.
pub(crate) fn all_own() -> impl Iterator<Item = RawFd> {
    let own = std::process::id();
    let is_own = move |known: &Known| known.finder.load(Ordering::Relaxed) == own;
    all_ours().filter(move |at| usize::try_from(*at).ok().and_then(place).is_some_and(is_own))
}

fn set(descriptor: RawFd, kind: u8) {
    if let Some(place) = usize::try_from(descriptor).ok().and_then(|at| KINDS.get(at)) {
        place.store(kind, Ordering::Relaxed);
    }
}

/// Place of a descriptor.
fn place(at: usize) -> Option<&'static Known> {
    let room = ROOMS.get(at / ROOM)?;
    let mut made = room.load(Ordering::Acquire);
    if made.is_null() {
        let new = Box::into_raw(Box::new(std::array::from_fn(|_| Known::default())));
        match room.compare_exchange(std::ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => made = new,
            Err(other) => {
                // SAFETY: It was made above, and nobody else has seen it.
                drop(unsafe { Box::from_raw(new) });
                made = other;
            }
        }
    }
    // SAFETY: A room that was made stays to the end of the process.
    let room: &'static Room = unsafe { &*made };
    room.get(at % ROOM)
}
