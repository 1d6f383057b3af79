//! Runs of scenarios: from a file to results, once, many times, or over a grid.
//!
//! [`Scenario::load`] reads a file, lays overrides over it and checks it; all faults are reported together as
//! [`Diagnostics`]. [`Scenario::merged`] writes it back with every default in place.
//! [`run()`] makes one run of it, [`run_while`] one that may be stopped, [`run_observed`] one an [`Observer`] watches,
//! [`replicate()`] several on many threads, [`Sweep`] a grid of scenarios.
//!
//! # Map
//!
//! - [`scenario`] is a scenario from its text to its merged form. What may stand in it, and what is built of it, is
//!   `slantpath_scenario`'s.
//! - `record` writes what passes between an emulation and what is outside of it, and repeats it.
//! - [`mod@run`] makes one run and its `tables`. [`sweep`] runs grids, and keeps finished runs.
//! - [`output`][]: every table that there is ([`TableKind`]).
//!
//! # How results leave a run
//!
//! - A run asks every few thousand events whether to go on ([`run_while`]), between two events (two instants if there
//!   is signalling). So a stop or a progress bar changes nothing of it.
//! - There it also collects what has become final, and hands it to an [`Observer`]: packets, samples, events of
//!   signalling (`run/signalling_record`), handovers and paths (`run/sky_record`), requests of terminals
//!   (`run/access_record`), sessions with their requests (`run/sessions_record`), and messages in the order of their
//!   numbers, once they are acknowledged for good and delivered (`run/recorder`). `run/announced` says which tables
//!   there are.
//! - A session's row goes once its opener and its server have done with it and all before it have gone. Where its
//!   server has heard nothing, it goes two minutes after its opener has given it up. Requests are held as long as
//!   their session lasts.
//! - Rows of intervals are differences of counters, read at the end of each (`run/intervals`), where the run stops
//!   between two instants. Within an interval nothing is done for them.
//! - A [`Collector`] holds all of that, for Python and sweeps. A run's spool is one file; [`RunRecords`] reads it
//!   ([`spooled`]).
//! - The digest of a signalling network holds its events column by column: the observer goes over them again at the
//!   end.
//! - What does not grow with the length of a run stands in [`RunOutput`] at its end, histograms of delays
//!   (`run/delays`) among it.

mod columns;
mod observer;
mod output;
mod record;
mod replicate;
mod run;
mod scenario;
mod spooled;
mod summary;
mod sweep;

pub use columns::ColumnDeclaration;
pub use observer::{Announcement, Collector, GrowingTable, Observer, Reading};
pub use output::{Capture, FlowFailure, RunOutput, TABLES, TableKind};
pub use record::{
    Difference, EmulatedRun, EmulationRecording, EmulationReplay, InterfacePassage, RecordedDeparture,
    RecordedInterface, RepeatError, Repetition, ReplayFault, WayDelays, WaySummary, read_whole_record,
};
pub use replicate::{replicate, replicate_without_records};
pub use run::{
    AskedChange, AttachedInterface, Attachment, EntityEnd, EntityError, EntityRequest, FlowRequest,
    InterfaceCounts, InterfaceReport, Outside, ProgramEnd, RequestError, RunError, RunOptions, ScriptEvent,
    SkyHandover, TraceError, TraceRequest, TraceSink, Turn, Work, run, run_attached_collected,
    run_attached_stored, run_attached_without_records, run_observed, run_traced, run_while,
    run_with_programs, script_events, signalling_load_table,
};
pub use scenario::{Scenario, topology_remarks};
pub use slantpath_advice::is_of_unused;
pub use slantpath_applications::Workload;
pub use slantpath_net::CarriageTerms;
pub use slantpath_reader::{
    Diagnostic, Diagnostics, Document, FileKind, Files, Flat, InputSource, LoadError, Named, Nested, OneOf,
    Origin, Pair, Part, SYNONYMS, Setting, TEXT_MAX, Tables, files_in, is_acted_on, nearest, read_bounded,
    read_text, suggest, visible, without_mark,
};
pub use slantpath_results::StoreError;
pub use slantpath_scenario::build::{BuildError, Destinations};
pub use slantpath_scenario::{
    OwnKinds, SkyInPieces, Watch, json_schema, json_schema_with, schema, schema_tree,
};
pub use slantpath_workers::{Progress, Workers};
pub use spooled::RunRecords;
pub use summary::{FEWEST_FOR_P99, LEVEL, means, summary};
pub use sweep::{
    Axis, MadeRun, Store, Sweep, SweepError, SweepOutcome, SweptRun, replicate_stored, sweep_schema,
};
