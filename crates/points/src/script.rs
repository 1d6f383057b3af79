//! Events in a signalling network while a scenario runs: their keys, what must hold between them, and the changes.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod schema;
