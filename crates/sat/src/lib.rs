//! Packets under a moving sky: the contacts of a plan as links of a network, and routes over them.
//!
//! [`Sky::declare`] puts satellites, antennas and links between satellites into a network beside the hosts, routers and
//! wires that it has; a [`SkySource`] makes contacts begin and end as the plan says and finds next hops. Nothing is
//! declared for a pair of site and satellite: an antenna is a link whose far end moves.
//!
//! # Map
//!
//! - [`sky`][]: declares satellites, antennas and links between satellites in a network.
//! - [`source`][]: begins and ends contacts, and asks the router of `slantpath_orbit` for next hops. A tree is grown
//!   when the first packet goes to a destination. [`hops`] keeps what satellites were told until routes change.
//! - [`ahead`][]: a longer plan for the source to follow, and the handovers that come next.
//! - [`handover`][]: what happened at an antenna. [`path`]: by which satellites packets go, over time.
//! - [`steer`][]: by which antenna a packet goes up where a site spreads its packets, and by which way where there are
//!   several. It writes a label ([`steering`]) in place of the destination, which satellites read as one. So a packet
//!   carries nothing more and a hop costs no more.
//! - [`access`][]: capacity on demand. Its `terminal` (what it asks for), `controller` (who gets what), `contention`
//!   (whose request is heard) and `placement` of bursts know no network, and no time but that which they are given.
//!   An [`Access`] carries what they say, with its delays. [`OnDemand`] stands beside any source of changes.
//!
//! # What holds, and why
//!
//! - A change costs what it touches: its links, and the trees that it breaks.
//! - An antenna has a link of its own whose far end moves, and a second one only where it ever holds two satellites
//!   at a time. Random streams have the antenna's name; a host's interface is its antenna, whatever that looks at.
//! - A satellite that repeats is a node, not one lane whose delay is the sum of two. So a packet's second delay is
//!   that of the instant at which it passes the satellite, and one whose gateway has been lost meanwhile is lost
//!   there. It costs an event more.
//! - In the network's own routes all antennas of a constellation hang on one router. Packets find their way by them,
//!   up to the antenna by which they come down. Only what is between two antennas asks the trees of
//!   `slantpath_orbit`.
//! - Cables of the topology belong to these trees: a tree leads to the site where the last cable ends, by whichever
//!   gateway is nearest.
//! - An allocation plan is told to the links when it is made, with the frame from which on it holds. No allocation
//!   needs an event of its own. Bursts, disciplines and packets cut by an allocation's end need the event-driven
//!   transmitter.

mod access;
mod ahead;
mod handover;
mod hops;
mod path;
mod sky;
mod source;
mod steer;
mod steering;

pub use access::{
    Access, AccessConfig, AccessRequests, AccessSample, Ask, ContentionConfig, OnDemand, TerminalConfig,
};
pub use handover::AntennaHandover;
pub use path::PathChange;
pub use sky::{
    AccessLinks, AntennaLink, CableLink, Downlink, InterSatelliteLinks, Sky, SkyLinks, SkyToCome, Stand,
    UnforeseenContact, channel_name,
};
pub use source::SkySource;
pub use steering::{Balance, SiteRoute};
