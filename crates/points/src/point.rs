//! Signalling points: their keys, those of MTP3's timers and of SCCP, and what must hold between them.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod processing;
pub(crate) mod sccp;
pub(crate) mod schema;
pub(crate) mod timers;
