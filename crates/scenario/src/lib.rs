//! The scenario file: what may stand in it, what must hold, and the network that is built of it. The only crate that
//! knows every model by name.
//!
//! A scenario is TOML with units in text. [`read`] takes its entries, checks and completes them; all faults are
//! reported together, each with its place and its cure. [`Draft::with_contacts`] adds when satellites are seen.
//! [`build::plan`] makes a network with hosts and flows of what has been [checked](Checked). [`json_schema()`]
//! describes the file to editors. Whoever has a string or a path, and wants results, takes `slantpath_runner`; what is
//! allowed and probably a mistake, `slantpath_advice` says.
//!
//! # Map
//!
//! - [`schema`] is the whole file, [`check`] the order in which it is checked, [`build`] what can be had of it then.
//!   The types of [`schema`] are complete: every value is in place. A check has those of [`written`], in which values
//!   that it is to give may be open, and one place, `finished` of the reader, makes the first of the second. A check
//!   also gives what names and files stand for (`Later<S, Resolved<…>>`, and the plan of [`signalling`]): nothing of
//!   it is asserted when a network is built. It takes its own tables, and of the others [`scene`] or the
//!   wiring of nodes and links; only [`check`] has the file.
//! - Each model has a room: [`head`], [`link`], [`flow`], [`access`], [`sessions`], [`script`], [`probes`]. In a room,
//!   `schema` declares keys, `check` says what must hold between values, and `build` (or a file by the name of its
//!   product) gives all to the crates below. Rooms of SCTP and TCP are in `slantpath_profiles`, those of signalling
//!   points in `slantpath_points`: [`signalling`] adds what carries their associations.
//! - [`sky_links`] is `[sky]`. `topology` reads where bodies are, from a file or from tables. `plan` works out the
//!   contacts of a run. `subject` is what needs a path; `pairs` finds the sites that it joins, `routes` what packets do
//!   between two sites. `cables` makes links of the topology's cables. `check` completes tables, names and addresses.
//!   `changes` says what scripts and fades may change; `build` gives all to `slantpath_sat`.
//! - [`own_kinds`] is what a program brings along itself, such as a congestion controller.
//! - [`live`] is what a node has to know on the real network: no run depends on it, and no merged form has it.
//! - [`network`] joins nodes and links; its `site` is the network under construction.
//!
//! Nothing gets a default in silence: the merged form parses to itself, and its hash names the run.

mod access;
mod bounds;
pub mod build;
mod build_error;
mod check;
mod checked;
mod contacts;
mod draft;
mod flow;
mod head;
mod json_schema;
mod link;
mod live;
pub mod network;
mod own_kinds;
mod probes;
mod scene;
pub mod schema;
mod script;
mod sessions;
pub mod signalling;
pub mod sky_links;
mod watch;
mod written;
mod zero_checksum;

pub use check::read;
pub use checked::Checked;
pub use contacts::Contacts;
pub use draft::Draft;
pub use json_schema::{json_schema, json_schema_with, schema_tree};
pub use own_kinds::OwnKinds;
pub use sky_links::pieces::{SkyPiece, SkyPieces};
pub use sky_links::plan::SkyPlan;
pub use watch::{SkyInPieces, Watch};
