//! The event kernel: a calendar with a total order, clocks and the run digest.
//!
//! A simulation is a fixed set of components, each waiting for at most one instant. The [`Calendar`] knows
//! which comes next; the [`Kernel`] moves time there and keeps the [`RunDigest`]; a [`Clock`] says whether
//! virtual time runs free or is held back to the real one. What a component does is its owner's business:
//! nothing here calls back.
//!
//! # Map
//!
//! - [`calendar`][]: a tournament tree over components, behind a short list of near deadlines and a wheel of buckets.
//!   `docs/models/event-kernel.md` has the measurements.
//! - [`kernel`][]: the time of a run, and its [`digest`].
//! - [`clock`][]: virtual time that runs free, or is held back to the real one.

mod calendar;
mod clock;
mod digest;
mod kernel;

pub use calendar::Calendar;
pub use clock::{Clock, FreeRunning, Synchronization};
pub use digest::RunDigest;
pub use kernel::Kernel;
