//! Shared by tests only.
//!
//! - [`Wire`] is one direction between two protocol objects under test, which loses, doubles, delays and damages by
//!   seed, behind a bottleneck if need be. It reads no clock: the test says what time it is and asks when something
//!   arrives.
//! - [`KernelLink`] joins a protocol object to a Linux kernel's own TCP or SCTP, and marks and loses packets.
//! - [`Tshark`] judges what we write and what we read; [`pcap`] writes and reads the files for it.
//! - [`shared`] finds the data that lies beside the checkout, [`vectors`] the messages of others in it. What is not
//!   there is skipped, loudly.
//! - [`page`] holds files that code writes to what it writes now, [`MachinePage`] the diagrams of state machines.
//! - [`Told`] is a broken file with what is told of it.

mod kernel;
mod machine_page;
mod mangle;
pub mod page;
pub mod pcap;
pub mod shared;
mod skip;
mod told;
mod tshark;
pub mod vectors;
mod wire;

pub use kernel::{KernelEnd, KernelLink, KernelPeer, KernelProgram, LinkTreatment, Passage};
pub use machine_page::MachinePage;
pub use mangle::Mangle;
pub use skip::{needs_program, skip};
pub use told::Told;
pub use tshark::Tshark;
pub use wire::{Bottleneck, Wire, WireFaults};
