//! Sets of satellites: their keys and what must hold between them.

pub(super) mod check;
pub(crate) mod schema;
