//! Events at links while a scenario runs: their keys, what must hold between them, and the changes that `net` makes of
//! them.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod schema;
