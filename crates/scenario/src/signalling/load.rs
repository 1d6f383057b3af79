//! Load on a signalling network: its keys, what must hold between them, and traces of it.

pub(crate) mod check;
pub(crate) mod schema;
mod trace;
