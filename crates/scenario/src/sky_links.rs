//! `[sky]`: a topology whose contacts carry the packets of a scenario.

pub(crate) mod build;
mod cables;
mod causes;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod entrances;
mod gaps;
mod idle;
mod pairs;
pub(crate) mod plan;
pub(crate) mod repeaters;
pub(crate) mod routes;
pub(crate) mod schema;
mod topology;
