//! Traces: what happened to an association, step by step, with the reasons, as lines of JSON; and what such a file
//! tells in words.
//!
//! [`Record`] is one step. A [`TraceWriter`] writes records behind a [`TraceHeader`], a [`TraceReader`] reads them
//! again, whatever stands in the file. [`Story`] follows the records of a file and can then say of each path when and
//! why it failed, of each message that was retransmitted how its loss was noticed, and how long the sender waited for
//! what;
//! [`tell`] writes that as text, [`Story::json`] for programs. [`TraceOutcome`] is what two runs are compared by. An
//! [`Estimator`] says what the records show of the network below.
//!
//! The file's format is described in `docs/trace.md`, which is made of the declarations here.
//!
//! ```
//! use slantpath_base::{Duration, Instant};
//! use slantpath_trace::{Record, TraceHeader, TraceOrigin, TraceReader, TraceSettings, TraceWriter, What};
//!
//! let origin = TraceOrigin::Live { command: vec!["load".to_owned()] };
//! let header = TraceHeader { origin, settings: TraceSettings::default(), profile: None };
//! let mut file = Vec::new();
//! let mut writer = TraceWriter::begin(&mut file, &header)?;
//! let sent = What::Sent { message: Some(0), tsn: 7, path: "10.0.0.1".parse().unwrap(), transmission: 1 };
//! writer.write(&Record { at: Instant::from_millis(2), association: 0, what: sent.clone() })?;
//!
//! let mut reader = TraceReader::open(&file[..]).unwrap();
//! assert_eq!(reader.header(), &header);
//! let record = reader.next().unwrap().unwrap();
//! assert_eq!((record.at.since_start(), record.what), (Duration::from_millis(2), sent));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Map
//!
//! - [`record`][]: declares every kind of line that only a trace has: its name, its fields with their units, how it is
//!   written and read, and its part of `docs/trace.md`. What an association tells others, too, comes from SCTP's
//!   dictionary ([`slantpath_sctp::notice`]) as it is. [`of_sctp`] makes records of events. [`mod@write`] and
//!   [`read`] are the file.
//! - [`explain`][]: `story` follows records; what it keeps does not grow with their number. `text` and `json` tell it.
//! - [`outcome`][]: the numbers by which two runs are compared.
//! - [`estimate`][]: what the records show of the network below. The command makes a scenario of it, when it is asked
//!   what another setting would have done to a live load: the real network cannot be asked again. A model of it that
//!   runs first with the old setting says how near it comes.
//!
//! This crate knows neither simulator nor socket. Where records come from is for `slantpath_runner` (`run/trace`,
//! which adds what readers have seen) and the command.

mod estimate;
mod explain;
mod field;
mod header;
mod of_sctp;
mod outcome;
mod read;
mod record;
mod write;

pub use estimate::{Estimator, NetworkEstimate, PathEstimate};
pub use explain::story::{
    AssociationStory, Idle, Loss, Message, MessageKey, MessagePart, PathStory, Reduction, Sacks, Step,
    StepKind, Story, Transmission,
};
pub use explain::text::{StorySelection, tell};
pub use field::{Evidence, TimerChange};
pub use header::{TraceHeader, TraceOrigin, TraceSettings};
pub use outcome::TraceOutcome;
pub use read::{ReadError, TraceReader};
pub use record::{DescribedRecord, Record, What, described_records, page};
pub use write::TraceWriter;
