//! `[sessions.<name>]`: transfers that begin one after the other, each over an association or connection of its own.

mod admission;
pub(crate) mod build;
pub(crate) mod check;
mod ports;
pub(crate) mod requests;
pub mod schema;
mod shape;
