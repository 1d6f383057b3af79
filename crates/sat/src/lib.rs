//! Packets under a moving sky: the contacts of a plan as links of a network, and routes over them.
//!
//! [`Sky::declare`] puts satellites, antennas and links between satellites into a network beside the hosts, routers and
//! wires that it has; a [`SkySource`] makes contacts begin and end as the plan says and finds next hops. Nothing is
//! declared for a pair of site and satellite: an antenna is a link whose far end moves.

mod access;
mod handover;
mod hops;
mod path;
mod sky;
mod source;
mod steer;
mod steering;

pub use access::{
    Access, AccessConfig, AccessSample, Ask, ContentionConfig, OnDemand, Requests, TerminalConfig,
};
pub use handover::Handover;
pub use path::{PathChange, Way};
pub use sky::{
    AccessLinks, AntennaLink, CableLink, Downlink, InterSatelliteLinks, Sky, SkyLinks, Stand, channel_name,
};
pub use source::SkySource;
pub use steering::{Balance, SiteRoute};
