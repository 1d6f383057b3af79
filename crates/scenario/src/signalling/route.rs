//! Routes and translations: their keys, and what must hold between translations.

pub(crate) mod schema;
pub(crate) mod titles;
