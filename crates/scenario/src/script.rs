//! What happens to links while a scenario runs: its keys and what must hold between them.

pub(crate) mod check;
pub(crate) mod schema;
