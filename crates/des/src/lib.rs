//! The event kernel: a calendar with a total order and the present, and the digest of what has happened.
//!
//! A simulation is a fixed set of components, each waiting for at most one instant. The [`Calendar`] knows
//! which comes next; the [`Kernel`] moves time there and keeps the run's digest (`slantpath_base::RunDigest`). What
//! a component does is its owner's business: nothing here calls back. Whoever holds virtual time back to the real one
//! runs no further than to an instant.
//!
//! # Map
//!
//! - [`calendar`][]: a tournament tree over components, behind a short list of near deadlines and a wheel of buckets.
//!   `docs/models/event-kernel.md` has the measurements.
//! - [`kernel`][]: the time of a run, and its digest.

mod calendar;
mod kernel;

pub use calendar::Calendar;
pub use kernel::Kernel;
