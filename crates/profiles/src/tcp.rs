//! Configurations of TCP: their keys and what must hold between them.

mod check;
pub mod schema;

pub use check::check;
pub use schema::TcpProfile;
