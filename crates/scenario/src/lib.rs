//! The scenario file: parse, check, build, run and sweep. The only crate that knows every model by name.
//!
//! A scenario is TOML with units in text. [`Scenario::load`] reads it, lays overrides over it and checks it;
//! all faults are reported together as [`Diagnostics`], each with its place and its cure.
//! [`Scenario::merged`] writes it back with every default in place. [`json_schema`] describes it to editors.
//! [`run`] makes one run of it, [`run_while`] one that may be stopped, [`run_observed`] one an [`Observer`] watches,
//! [`replicate`] several on many threads, [`Sweep`] a grid of scenarios.

mod access;
mod bounds;
mod check;
mod congestion;
mod extent;
mod flow;
mod head;
mod json_schema;
mod link;
mod network;
mod observer;
mod output;
mod probes;
mod profiles;
mod replicate;
mod run;
mod scenario;
pub mod schema;
mod script;
mod sctp;
mod sessions;
mod signalling;
mod sky_links;
mod spooled;
mod summary;
mod sweep;
mod tcp;

pub use flow::message::Destinations;
pub use json_schema::{json_schema, sweep_schema};
pub use observer::{Announcement, Collector, GrowingTable, Observer, Reading};
pub use output::{Capture, FlowFailure, RunOutput, TABLES, TableKind};
pub use profiles::is_of_unused;
pub use replicate::{replicate, replicate_without_records};
pub use run::{
    End, FlowRequest, RequestError, RunError, RunOptions, TraceError, TraceRequest, TraceSink, run,
    run_observed, run_traced, run_while, run_with_programs,
};
pub use scenario::{Scenario, Watch};
pub use sctp::{Profile, ProfileError};
pub use slantpath_host::Workload;
pub use slantpath_reader::{
    Diagnostic, Diagnostics, Files, Flat, LoadError, Named, Nested, OneOf, Origin, Pair, Part, Setting,
    Source, TEXT_MAX, Tables, files_in, is_acted_on, read_bounded, read_text, visible, without_mark,
};
pub use slantpath_results::StoreError;
/// What an SCTP profile may offer and ask for, by their names in a scenario.
pub use slantpath_sctp::{Extension, Extensions, Multipath, StreamScheduling};
pub use slantpath_workers::{Progress, Workers};
pub use spooled::RunRecords;
pub use summary::{LEVEL, means, summary};
pub use sweep::{Axis, Store, Sweep, SweepError, SweepOutcome, SweptRun, replicate_stored};
