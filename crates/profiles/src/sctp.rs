//! Configurations of SCTP: their keys and what must hold between them.

mod authentication;
mod check;
mod error_detection;
mod profile;
pub mod schema;
mod settings;
mod threshold;

use slantpath_reader::{Json, Section as _};

pub use authentication::AuthenticatedChunk;
pub use check::{LEAST_PATH_MTU, check};
pub use profile::{Profile, ProfileError};
pub use schema::SctpProfile;
pub use settings::Assignment;
pub use threshold::Threshold;

/// JSON Schema of a profile: every key with its description, its default and what it may be.
pub fn schema() -> Json {
    SctpProfile::schema()
}
