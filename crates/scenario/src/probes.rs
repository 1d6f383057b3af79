//! What is measured and captured.

pub(crate) mod schema;
