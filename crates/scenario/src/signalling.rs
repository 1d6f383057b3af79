//! Signalling networks: what may stand in a file, what must hold, and the network that `host` runs.
//!
//! Each model has a room with its keys (`schema`), what must hold between them (`check`) and what is made of them
//! (`build`). `network` and `calls` check what only all points together show, `timing` what timers have to wait for.

mod association;
mod build;
mod calls;
mod check;
mod link;
mod load;
mod network;
mod point;
mod route;
mod sccp;
pub mod schema;
mod script;
mod server;
mod timers;
mod timing;

pub(crate) use association::{plan, run_at_most, side_name};
pub(crate) use build::{
    code, generator, has_sccp, link_sets, mtp3, no_seed, routing, sccp_of, translation_name, translator,
};
pub(crate) use check::{check, node_of};
pub(crate) use server::build::{
    asp_node, gateway_point, gateways_of, is_served, point_id, traffic_key, with_mtp3,
};
pub(crate) use server::timing::check as server_timing;
pub(crate) use timing::check as timing;
