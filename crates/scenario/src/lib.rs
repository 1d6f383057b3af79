//! The scenario file: parse, check, build, run and sweep. The only crate that knows every model by name.
//!
//! A scenario is TOML with units in text. [`Scenario::load`] reads it, lays overrides over it and checks it;
//! all faults are reported together as [`Diagnostics`], each with its place and its cure.
//! [`Scenario::merged`] writes it back with every default in place. [`json_schema`] describes it to editors.
//! [`run`] makes one run of it, [`run_while`] one that may be stopped, [`run_observed`] one an [`Observer`] watches,
//! [`replicate`] several on many threads, [`Sweep`] a grid of scenarios.
//!
//! # Map
//!
//! - [`schema`] is the whole file, [`check`] the order in which it is checked.
//! - Each model has a room: [`head`], [`link`], [`flow`], [`access`], [`sessions`], [`script`], [`probes`],
//!   and in [`signalling`] `point`, `link`, `route`, `load`, `server`, `script`. In a room, `schema`
//!   declares keys, `check` says what must hold between values, and `build` (or a file by the name of its product)
//!   gives all to the crates below.
//! - [`sky_links`] is `[sky]`. `topology` reads where bodies are, from a file or from tables. `plan` works out the
//!   contacts of a run. `pairs` finds the sites that flows join; `routes`, what packets do between two sites. `gaps`
//!   reports when no path joins them, `causes` why none ever does, `idle` which antennas hold nothing. `cables` makes
//!   links of the topology's cables. `check` completes tables, names and addresses. `changes` says what scripts and
//!   fades may change; `build` gives all to `slantpath_sat`.
//! - [`network`] joins nodes and links. [`mod@run`] makes one run and its `tables`. [`sweep`] runs grids, and keeps
//!   finished runs.
//! - [`output`][]: every table that there is ([`TableKind`]).
//!
//! # How results leave a run
//!
//! - A run asks every few thousand events whether to go on ([`run_while`]), between two events (two instants if there
//!   is signalling). So a stop or a progress bar changes nothing of it.
//! - There it also collects what has become final, and hands it to an [`Observer`]: packets, samples, events of
//!   signalling (`run/signalling_record`), handovers and paths (`run/sky_record`), requests of terminals
//!   (`access/table`), sessions with their requests (`sessions/record`), and messages in the order of their numbers,
//!   once they are acknowledged for good and delivered (`run/recorder`). `run/announced` says which tables there are.
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
//!
//! Nothing gets a default in silence: the merged form parses to itself, and its hash names the run.

mod access;
mod bounds;
mod check;
mod extent;
mod fault;
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
mod sessions;
mod signalling;
mod sky_links;
mod spooled;
mod summary;
mod sweep;
mod zero_checksum;

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
pub use slantpath_host::Workload;
pub use slantpath_reader::{
    Diagnostic, Diagnostics, Files, Flat, LoadError, Named, Nested, OneOf, Origin, Pair, Part, Setting,
    Source, TEXT_MAX, Tables, files_in, is_acted_on, read_bounded, read_text, visible, without_mark,
};
pub use slantpath_results::StoreError;
pub use slantpath_workers::{Progress, Workers};
pub use spooled::RunRecords;
pub use summary::{LEVEL, means, summary};
pub use sweep::{Axis, Store, Sweep, SweepError, SweepOutcome, SweptRun, replicate_stored};
