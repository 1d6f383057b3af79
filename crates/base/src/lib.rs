//! The vocabulary of every other crate: time, units, named random streams, serial numbers, timers, deadlines and
//! queues of what has work, state tables, and a hint to the processor's cache.
//!
//! Nothing here knows a packet, a protocol or a network. Time is a 64-bit count of nanoseconds since the
//! start of a run; nothing in this crate, or above it up to the drivers, ever reads a clock.
//!
//! # Map
//!
//! - [`time`], [`rate`], [`size`], [`length`], [`angle`], [`probability`], [`quantity`]: quantities with exact text
//!   forms.
//! - [`random`][]: [`Seed`] and the named [`Stream`]s that derive from it.
//! - [`serial`][]: the macro `serial_number!`, numbers that wrap (RFC 1982).
//! - [`timer`][]: [`Timer`] and [`TimerTable`].
//! - [`deadlines`], [`rounds`]: which of many parts is due, and which has work. Nobody looks at the rest.
//! - [`run_digest`][]: tells whether two runs were the same.
//! - [`declared`][]: names and parameters of what a program brings along itself.
//! - [`lateness`][]: [`Lateness`], a distribution of how late deadlines were served.
//! - [`slot_index`][]: finds a slot by a key that the slot holds.
//! - [`machine`][]: a standard's state table, which the code walks and the documents draw.
//! - [`mod@prefetch`][]: a hint to the processor's cache, which reads nothing. Its call is one of the project's two
//!   `unsafe` ones.

mod angle;
mod deadlines;
mod declared;
mod lateness;
mod length;
mod machine;
mod prefetch;
mod probability;
mod quantity;
mod random;
mod rate;
mod rounds;
mod run_digest;
mod serial;
mod size;
mod slot_index;
mod time;
mod timer;

pub use angle::Angle;
pub use deadlines::{Deadlines, Number};
pub use declared::{Declaration, OwnParameter, OwnParameters, ParameterFault, ParameterValue};
pub use lateness::Lateness;
pub use length::Length;
pub use machine::{StateMachine, Transition};
pub use prefetch::{CACHED, prefetch};
pub use probability::Probability;
pub use quantity::{QuantityError, Unit, parse_quantity};
pub use random::{Seed, Stream, StreamFamily};
pub use rate::DataRate;
pub use rounds::Rounds;
pub use run_digest::RunDigest;
pub use size::DataSize;
pub use slot_index::SlotIndex;
pub use time::{Duration, Instant};
pub use timer::{Timer, TimerTable};
