//! A network of signalling points: MTP3 with its links, SCCP where there is one, and the load between them.
//!
//! [`SignallingNetwork`] holds the points, the 64 kbit/s lines between them and the accounts of what is sent. A link of
//! M2PA runs over an association that somebody else carries: the network hands out what is to be sent on it and takes
//! what comes, whether a [`Host`](crate::Host) of a simulated network has the association or a test's queue.

mod config;
mod line;
mod link;
mod load;
mod m3ua;
mod management;
mod network;
mod record;
mod simulation;

pub use config::{
    AdaptationId, AssociationSide, Carried, Carrier, LineConfig, LinkConfig, LinkEnd, LoadConfig,
    NetworkConfig, NetworkConfigError, PointConfig, PointId, Side, SignallingLinkId, UserPlace,
};
pub use link::EndCounters;
pub use load::LoadReport;
pub use m3ua::{
    AdaptationConfig, AdaptationEvent, AdaptationEventKind, AdaptationTally, AspConfig, AspId, GatewayConfig,
    GatewayId, M3uaConfig, ServedPointConfig, ServedPointId, ServerConfig, ServerId, Witness,
};
pub use management::{Change, LinkChange, LinkEndChange, PointChange, ProcessChange};
pub use network::{Output, SignallingNetwork};
pub use record::{Availability, Event, EventKind};
pub use simulation::{AssociationPlace, SignallingSimulation};
