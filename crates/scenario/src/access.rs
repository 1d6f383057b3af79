//! `[access.<name>]` and `access` of a direction: MF-TDMA carriers with capacity on demand.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod schema;
