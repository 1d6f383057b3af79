//! Configurations of TCP: their keys and what must hold between them.

pub(crate) mod check;
pub mod schema;
