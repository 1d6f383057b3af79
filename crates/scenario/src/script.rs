//! Events at links while a scenario runs: their keys, what must hold between them, and the changes that `net` makes of
//! them. What is asked for while a network runs has the same.

pub(crate) mod asked;
pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod schema;
