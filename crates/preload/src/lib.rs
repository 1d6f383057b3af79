//! SCTP sockets for a program of the C library: its functions, in front of the library's own.
//!
//! The dynamic linker loads this before the C library (`LD_PRELOAD`), so that a program's `socket`, `read` and the like
//! come here. Whatever is not about SCTP goes on to the next function of that name. Descriptors of SCTP are pairs of
//! the daemon, and the crate `door` does what is to be done with them; this crate has the exported functions and their
//! pointers, and nothing else.
//!
//! - *Cost for others*: one look at a table of one byte a descriptor. A descriptor that it does not know is asked once
//!   ([`table`]); a number that has been seen stays known, since an SCTP socket comes by functions that stand here.
//! - *Pointers of the program* go to the kernel as they are, as far as possible, and it says `EFAULT`. What is read
//!   here is first held to the range that a program can have ([`memory`]).
//! - *Locks* are held over calls that do not wait, and a fork takes them away ([`turn`]).
//! - *Cancelled threads* end where the C library would end them ([`waiting`]).
//! - *stdio* reads by calls within the C library, past all this: `fdopen` of an SCTP socket is refused.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#![allow(unsafe_code, reason = "functions that C programs call, and the pointers that these bring")]
#![allow(
    clippy::single_match_else,
    reason = "a socket of ours, or the next function: both stand side by side"
)]

mod calls;
mod daemon;
mod ending;
mod memory;
mod next;
mod outcome;
mod table;
mod turn;
mod waiting;
