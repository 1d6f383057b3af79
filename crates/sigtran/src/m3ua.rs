//! M3UA, the MTP3 user adaptation layer (RFC 4666).

mod asp;
mod counters;
mod data;
mod destination;
mod ipsp;
mod link;
mod message;
mod protocol_data;
mod routing;
mod routing_key;
mod sgp;

pub use asp::{Asp, AspConfig, AspOutput, AvailabilityPolicy, Destination, NotUp, ServedServer};
pub use counters::{Counters, DropReason};
pub use data::Data;
pub use destination::{Availability, DestinationState, NetworkPoint};
pub use ipsp::{Exchange, Ipsp, IpspConfig, IpspOutput, TrafficFlow};
pub use message::{AffectedDestinations, AffectedPlace, M3ua, Message, UnavailabilityCause};
pub use protocol_data::ProtocolData;
pub use routing::TrafficKey;
pub use routing_key::{
    DeregistrationResult, DeregistrationStatus, KeyDestination, RegistrationResult, RegistrationStatus,
    RoutingKey,
};
pub use sgp::{ApplicationServer, KeyChanges, Registration, Sgp, SgpConfig, SgpOutput};

pub use crate::queue::QueueLimits;
