//! The part of a program's side in the pair of an SCTP descriptor, whichever way its calls come here.
//!
//! Two doors lead a program's calls to a daemon: a library that replaces the C library's functions, and a notifier that
//! the kernel asks. Both do this: open a pair, recognise one, take what has come by claims, send, ask, accept, and mark
//! the end. Nothing here waits unless its name says so, and no state is kept but what the caller has in its hand: the
//! one place where a descriptor's number means something is the caller's.
//!
//! A piece is read by claims. The pair's peek offset belongs to the file description, so that a peek takes its bytes
//! for itself, over threads and processes; what a short read leaves stays for the next, and `poll` says so. Whoever
//! has claimed the end of a piece takes the piece away.
//!
//! All goes to the kernel by its number, never by the C library: a library that replaces it would call itself.
//!
//! # Map
//!
//! - [`mod@open`][]: a pair of one's own. [`recognise`][]: how one is known. [`mod@ask`][]: requests and replies.
//! - [`mod@receive`][]: claims, and associations that are accepted. [`mod@send`][]: messages, and the mark of the end.
//! - [`control`][]: control messages as Linux lays them out. [`name`][]: addresses as Linux lays them out.
//! - [`failure`][]: errors of the kernel, as numbers.
#![cfg(target_os = "linux")]

mod ask;
mod control;
mod failure;
mod gather;
mod name;
mod open;
mod receive;
mod recognise;
mod send;

pub use ask::{Pending, Replied, ask};
pub use control::{ControlOut, NextInfo, SendControl, Wanted, defaults_question, sndinfo};
pub use name::{address_of, bytes_of};
pub use open::{DAEMON, ask_to_open};
pub use receive::{Accepted, Begun, Came, Claim, accept, next_len, peek_next, receive, receive_alone};
pub use recognise::{NAME_PREFIX, is_pair};
pub use send::{close, close_with_patience, send, send_piece};
