//! Configurations of SCTP: their keys and what must hold between them.

pub(crate) mod authentication;
pub(crate) mod check;
mod profile;
pub mod schema;
mod threshold;
pub(crate) mod zero_checksum;

pub use profile::{Profile, ProfileError};
pub use threshold::Threshold;
