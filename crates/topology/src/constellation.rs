//! Sets of satellites: their keys and what must hold between them.

pub(super) mod check;
pub(super) mod elements;
pub(crate) mod schema;
pub(crate) mod shown;
