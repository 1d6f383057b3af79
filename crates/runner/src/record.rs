//! Records of emulations: what came from outside and what went there, with its instants, and the same in virtual time.
//!
//! - [`EmulationRecording`] stands between a run and what is [outside](crate::Outside) of it, and writes.
//! - [`EmulationReplay`] is what is outside, from a record: as fast as it goes, over the same network or another one.
//! - `entries` is the content of a record, whose container is `slantpath_wire`'s. `passage` follows packets from one
//!   attached node to another.

mod entries;
mod passage;
mod recording;
mod replay;

pub use entries::{EmulatedRun, RecordedDeparture, RecordedInterface, ReplayFault, read_whole_record};
pub use passage::{InterfacePassage, WayDelays, WaySummary};
pub use recording::EmulationRecording;
pub use replay::{Difference, EmulationReplay, RepeatError, Repetition};
