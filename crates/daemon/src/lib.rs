//! The daemon that serves the SCTP sockets of programs: a live host, and a pair for each socket.
//!
//! [`Daemon`] is one loop over the host's readiness, the socket at which programs ask for sockets, and all pairs. Each
//! pair has a budget a turn, so that none holds the others up. A program that reads slowly has its messages wait in the
//! host, and in the end at its peer; one that writes faster than its association carries has its pair not read.
//!
//! It knows pieces ([`slantpath_requests`]) and bytes; sockets are [`slantpath_sockets`]'s. The crate is empty on other
//! systems than Linux.
//!
//! # Map
//!
//! - [`daemon`][]: the loop. [`desk`][]: programs that ask for sockets. [`pairs`][]: pairs, read and written.
//! - [`program_end`][]: one pair, with what waits on it. [`lint`][]: settings of programs that are probably a mistake;
//!   [`saying`][]: other lines, each said once.
#![cfg(target_os = "linux")]

mod daemon;
mod desk;
mod lint;
mod pairs;
mod program_end;
mod saying;

pub use daemon::{Daemon, DaemonConfig, SERVE, station};
pub use slantpath_sockets::Sockets;

#[cfg(test)]
mod tests;
