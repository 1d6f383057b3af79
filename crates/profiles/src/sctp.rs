//! Configurations of SCTP: their keys and what must hold between them.

mod authentication;
mod check;
mod error_detection;
mod profile;
pub mod schema;
mod threshold;

pub use authentication::AuthenticatedChunk;
pub use check::{LEAST_PATH_MTU, check};
pub use profile::{Profile, ProfileError};
pub use schema::SctpProfile;
pub use threshold::Threshold;
