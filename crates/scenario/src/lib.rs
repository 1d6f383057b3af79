//! The scenario file: parse, check, build, run and sweep. The only crate that knows every model by name.
//!
//! A scenario is TOML with units in text. [`Scenario::load`] reads it, lays overrides over it and checks it;
//! all faults are reported together as [`Diagnostics`], each with its place and its cure.
//! [`Scenario::merged`] writes it back with every default in place. [`json_schema`] describes it to editors.
//! [`run`] makes one run of it, [`run_while`] one that may be stopped, [`replicate`] several on many threads, [`Sweep`] a grid of scenarios.

mod check;
mod diagnostic;
mod document;
mod json_schema;
mod output;
mod replicate;
mod run;
mod scenario;
pub mod schema;
mod section;
mod signalling;
pub mod sky;
mod summary;
mod sweep;
mod topology;
mod value;

pub use diagnostic::{Diagnostic, Diagnostics, Source};
pub use json_schema::{json_schema, topology_schema};
pub use output::{Capture, RunOutput, TABLES};
pub use replicate::{Progress, Workers, replicate};
pub use run::{RunError, RunOptions, run, run_while};
pub use scenario::{LoadError, Scenario, TraceFiles, trace_files};
pub use section::{Flat, Named, Nested, OneOf, Origin, Part, Setting, Tables};
pub use sky::{FollowError, FollowedPath, LookError, PassStore, Stage, Topology, TopologyOutput, follow};
pub use summary::{LEVEL, summary};
pub use sweep::{Axis, Store, StoreError, Sweep, SweepError, SweepOutcome, replicate_kept};
pub use value::Pair;
