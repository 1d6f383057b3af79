//! Signalling networks: what may stand in a file, what must hold, and the network that `host` runs.
//!
//! Each model has a room with its keys (`schema`), what must hold between them (`check`) and what is made of them
//! (`build`, or here what is made of all). `network` checks what only all points together show; `association` adds
//! what carries links to the hosts of a run.

mod association;
mod build;
mod check;
mod end;
mod link;
mod load;
mod names;
mod network;
mod point;
mod route;
pub mod schema;
mod script;
mod server;

pub(crate) use association::plan;
pub use association::{STREAMS, side_name};
pub use build::SignallingPlan;
pub(crate) use check::check;
pub use end::{SignallingEnd, signalling_ends};
pub use names::{asp_node, gateway_point, gateways_of, is_served, link_sets, node_of, with_mtp3};
