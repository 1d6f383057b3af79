//! M3UA, the MTP3 user adaptation layer (RFC 4666).

mod data;
mod message;
mod protocol_data;
mod routing_key;

pub use data::Data;
pub use message::{AffectedDestinations, AffectedPlace, M3ua, Message, UnavailabilityCause};
pub use protocol_data::ProtocolData;
pub use routing_key::{DeregistrationResult, KeyDestination, RegistrationResult, RoutingKey};
