//! Satellites, sites, contacts, handover and routes over time: pure arithmetic that ends in a contact plan.
//!
//! # Map
//! | room | holds |
//! |---|---|
//! | [`utc`], [`vector`], [`earth`] | dates and sidereal time, vectors, WGS-84 and the two frames |
//! | [`elements`], [`sgp4`] | two-line sets and OMM; SGP4 with the constants that they are made for |
//! | [`orbit`] | one satellite: a circle with J2, an element set, a geostationary slot |
//! | [`constellation`] | Walker shells, refused when their numbers contradict; presets; planes found |
//! | [`site`], [`ground`], [`pair`], [`outage`], [`network`] | sites, how they choose, what they join, what fails |
//! | [`contact`] | who sees whom from when to when, solved in time; the [`ContactPlan`](contact::ContactPlan) |
//! | [`route`] | trees of least delay over a contact plan, kept up from change to change |
//! | [`topology`], [`coverage`], [`export`] | paths, handovers and gaps; CZML and Hypatia's files |
//!
//! Antennas choose in `contact/selection`, each for itself. Where satellites do not forward, the two ends of a
//! declared pair choose together in `contact/joint`, in one order of time with all others. Nothing here knows a
//! packet or an event; `slantpath_topology` answers for people.
//!
//! # What is left out, and how much it matters
//! Delay is the geometric distance at one instant over the speed of light: the motion during flight (below
//! 0.3 µs for a hop to a low satellite, 0.2 µs to a geostationary one) and the atmosphere (below 0.1 µs) are
//! not counted. UT1 is taken for UTC and polar motion for none (a site is off by up to 420 m, or 1.4 µs,
//! against the stars). Elevation is geometric, without refraction.
#![allow(
    clippy::many_single_char_names,
    reason = "the field's own symbols (a, e, i, n, r, u) are what its papers are checked against"
)]

pub mod constellation;
pub mod contact;
pub mod coverage;
pub mod earth;
pub mod elements;
pub mod export;
pub mod ground;
pub mod network;
pub mod orbit;
pub mod outage;
pub mod pair;
pub mod route;
pub mod sgp4;
pub mod shells;
pub mod site;
pub mod topology;
mod trig;
pub mod utc;
pub mod vector;

pub use constellation::Constellation;
pub use earth::Geodetic;
pub use elements::ElementSet;
pub use network::{ContactNetwork, ContactNodeId, NetworkError};
pub use orbit::Orbit;
pub use site::Site;
pub use utc::Utc;
pub use vector::{State, Vec3};
