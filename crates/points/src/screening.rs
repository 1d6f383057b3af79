//! Screening and rates: their keys, what must hold between them, and what points make of them.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod schema;
