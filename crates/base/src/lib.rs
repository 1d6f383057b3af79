//! The vocabulary of every other crate: time, units, named random streams, serial numbers, timers, deadlines and
//! queues of what has work, state tables, and a hint to the processor's cache.
//!
//! Nothing here knows a packet, a protocol or a network. Time is a 64-bit count of nanoseconds since the
//! start of a run; nothing in this crate, or above it up to the drivers, ever reads a clock.

mod angle;
mod deadlines;
mod length;
mod machine;
mod prefetch;
mod probability;
mod quantity;
mod random;
mod rate;
mod rounds;
mod serial;
mod size;
mod slot_index;
mod time;
mod timer;

pub use angle::Angle;
pub use deadlines::{Deadlines, Number};
pub use length::Length;
pub use machine::{StateMachine, Transition};
pub use prefetch::{CACHED, prefetch};
pub use probability::Probability;
pub use quantity::{QuantityError, Unit, parse_quantity};
pub use random::{Seed, Stream, StreamFamily};
pub use rate::DataRate;
pub use rounds::Rounds;
pub use size::DataSize;
pub use slot_index::SlotIndex;
pub use time::{Duration, Instant};
pub use timer::{Timer, TimerTable};
