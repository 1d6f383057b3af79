//! Shared by tests only.
//!
//! - [`Wire`] is one direction between two protocol objects under test, which loses, doubles, delays and damages by
//!   seed. It reads no clock: the test says what time it is and asks when something arrives.
//! - [`page`] holds files that code writes to what it writes now, [`MachinePage`] the diagrams of state machines.

mod machine_page;
mod mangle;
pub mod page;
mod wire;

pub use machine_page::MachinePage;
pub use mangle::Mangle;
pub use wire::{Faults, Wire};
