//! Namespaces, links, packet sockets and clocks of Linux behind safe calls.
//!
//! A program that attaches real programs to a simulated network needs the system more closely than `std` gives it, and
//! without being root. All such calls stand here, with every one that is `unsafe`. The crate is empty on other systems.
//!
//! - [`reentry`]: the program starts itself anew, as process 1 of namespaces of its own.
//! - [`network`]: namespaces of networks, work within them, and their settings.
//! - [`netlink`]: links, addresses and routes, by hand-written messages.
//! - [`packet`]: frames of an interface, by a ring that is shared with the kernel. [`offloads`]: work that the kernel
//!   is to do itself, since a packet socket cannot describe it.
//! - [`clock`] and [`poll`]: time, timers and waiting for descriptors. [`signals`]: signals as a descriptor.
//! - [`local`]: sockets of this machine, for their owner alone. [`pair`][mod@pair]: pairs of them, in the place of
//!   sockets of programs. [`peeking`]: the place of a Unix socket from which it is peeked at.
//! - [`rights`]: ports of the machine that need a privilege.
//! - [`process`]: programs within a network, and the ends of processes.
//! - [`notify`]: system calls of a program that another process answers.
//!
//! An error names the step that the system has refused ([`SystemFailure`]).
#![cfg(target_os = "linux")]

pub mod clock;
mod descriptors;
mod failure;
mod identity;
mod interface;
pub mod local;
pub mod netlink;
pub mod network;
pub mod notify;
pub mod offloads;
mod options;
pub mod packet;
pub mod pair;
pub mod peeking;
pub mod poll;
pub mod process;
pub mod reentry;
mod report;
pub mod rights;
pub mod signals;

pub use failure::{SystemFailure, SystemStep};
