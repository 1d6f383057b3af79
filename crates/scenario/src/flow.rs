//! Flows: their keys and their applications', what must hold between them, the traces that they name, and their ends at
//! the hosts of a run.

pub mod application;
pub(crate) mod build;
pub(crate) mod check;
mod datagrams;
pub(crate) mod event;
pub(crate) mod message;
pub(crate) mod ports;
pub(crate) mod schema;
pub(crate) mod script;
pub(crate) mod send_buffer;
pub(crate) mod settings;
pub(crate) mod size;
pub(crate) mod trace;
pub(crate) mod transport;
