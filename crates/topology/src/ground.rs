//! Sites and how their antennas choose: their keys and what must hold between them.

pub(super) mod check;
pub(crate) mod schema;
