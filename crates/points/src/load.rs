//! Load on a signalling network: its keys, what must hold between them, traces of it, where it calls, and what it
//! generates.

pub(crate) mod build;
pub(crate) mod calls;
pub(crate) mod check;
pub(crate) mod schema;
mod trace;
