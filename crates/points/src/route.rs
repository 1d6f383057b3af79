//! Routes and translations: their keys, what must hold between translations, and what SCCP makes of them.

pub(crate) mod build;
pub(crate) mod schema;
pub(crate) mod titles;
