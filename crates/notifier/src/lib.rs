//! Answers the SCTP calls of programs that no library reaches: static ones, those of musl, those of Go.
//!
//! The kernel stops a call behind a filter of numbers and asks this process what it is to give. Only `socket` says that
//! SCTP is meant; so each SCTP descriptor gets a number of a range that no other descriptor has as a rule, and the
//! filter compares it. Calls on other descriptors run as they are. A number of the range that is none of ours is
//! recognised and runs as it is, too.
//!
//! This process is the program's parent, so that the kernel lets it read the program's memory and copy its descriptors.
//! It waits for no single program: a call that has to wait is kept by its notification, and tried once its descriptor
//! is ready. It keeps a program's descriptor for a moment after its last call only, since the daemon is to see that the
//! program's last copy has been closed.
//!
//! A signal does not break off a call that has been taken: what was received would be lost. So signals that wait for
//! the thread of a kept call are looked for from time to time, and the call is then given up.
//!
//! # Map
//!
//! - [`mod@serve`][]: a program from its start to its end. [`notifier`][]: the loop. [`job`][]: one call on its way.
//! - [`calls`][]: which calls are answered. [`range`][]: numbers of descriptors. [`layout`][]: memory of a program.
//! - [`processes`][]: programs and copies of their descriptors.
//! - [`descriptors`][], [`receiving`][], [`sending`][], [`asking`][], [`selecting`][]: the calls by what they do.
#![cfg(target_os = "linux")]

mod asking;
mod calls;
mod descriptors;
mod job;
mod layout;
mod notifier;
mod processes;
mod range;
mod receiving;
mod selecting;
mod sending;
mod serve;

pub use serve::{NotifierFailure, serve};
