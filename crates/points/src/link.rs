//! Links between signalling points: their keys.

pub(crate) mod schema;
pub(crate) mod several;
