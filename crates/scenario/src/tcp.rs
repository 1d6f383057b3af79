//! Configurations of TCP: their keys and what must hold between them.

pub mod schema;
