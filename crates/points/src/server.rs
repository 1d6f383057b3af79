//! Gateways, ASPs, associations between them and application servers: their keys, what must hold between them, and what
//! is made of them.

pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod schema;
