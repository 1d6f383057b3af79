//! Shared by tests only: wires held in memory that lose, double, delay and damage what they carry, by seed.
//!
//! A [`Wire`] is one direction between two protocol objects under test. It reads no clock: the test says what
//! time it is and asks when something arrives.

mod mangle;
mod wire;

pub use mangle::Mangle;
pub use wire::{Faults, Wire};
