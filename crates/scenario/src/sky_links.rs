//! `[sky]`: a topology whose contacts carry the packets of a scenario.

pub(crate) mod build;
mod cables;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod entrances;
mod pairs;
pub(crate) mod pieces;
pub(crate) mod plan;
pub(crate) mod planning;
pub mod port;
pub(crate) mod repeaters;
pub(crate) mod routes;
pub(crate) mod schema;
mod subject;
pub(crate) mod tables;
pub(crate) mod topology;

pub use cables::carried;
pub use changes::{check_satellites, uplink_rate};
pub use entrances::Bound;
pub use pairs::{on_the_ground, relays, sites_of};
pub use routes::fixed_routes;
pub use subject::{Begins, Subject, end_of_run, subjects};
