//! Signalling points of a file: what may stand in it, what must hold, and the network that they make.
//!
//! [`schema::Signalling`] is the part `[signalling]` of a scenario. [`check()`] completes it and gives its plan
//! ([`SignallingPlan`]), in which names are numbers. A run has all of the plan, and a gateway one point of it.
//!
//! # Map
//!
//! - Each model has a room with its keys (`schema`), what must hold between them (`check`) and what is made of them
//!   (`build`, or here what is made of all): `point`, `link`, `route`, `screening`, `load`, `server`,
//!   `script`.
//! - [`by_point`][] gathers what each point has of the lists of the file.
//! - [`network`][] checks what only all points together show. [`names`][] says what names stand for.
//! - [`below`][]: questions about the packet network, which whoever has it answers.
//! - [`end`][]: ends of the associations that carry signalling. [`bounds`][]: the most that values may be.

mod below;
mod bounds;
mod build;
mod by_point;
mod check;
mod end;
mod link;
mod load;
mod names;
mod network;
mod point;
mod route;
pub mod schema;
mod screening;
mod script;
mod server;
mod written;

pub use below::PacketNetwork;
pub use build::SignallingPlan;
pub use by_point::ByPoint;
pub use check::check;
pub use end::{M2PA_STREAMS, M3UA_STREAMS, SignallingEnd, is_traced, side_name, signalling_ends};
pub use names::{asp_node, gateway_point, gateways_of, is_served, link_sets, node_of, with_mtp3};
