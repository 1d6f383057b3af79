//! Timers of signalling against the paths that carry it, and the load that its links have.

mod offered;
pub(crate) mod servers;
pub(crate) mod timing;
