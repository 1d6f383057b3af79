//! Measurements and captures: their keys and what must hold between them.

pub(crate) mod check;
pub(crate) mod schema;
