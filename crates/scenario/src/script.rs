//! What happens to links while a scenario runs: its keys, what must hold between them, and what `net` makes of it.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod schema;
