//! Settings of SCTP, TCP and congestion control: their keys, what must hold between them, and the configurations that
//! the transports take.
//!
//! A profile is a table of a scenario, `[sctp.<name>]` or `[tcp.<name>]`. An endpoint on real sockets takes one of SCTP
//! alone: [`Profile::live`] reads it from a scenario and looks at nothing else there. A command line or a program gives
//! settings one by one, as [`Assignment`]s: the same declaration reads, bounds and checks them.
//!
//! # Map
//!
//! - [`sctp`][] and [`tcp`][]: `schema` declares the keys and makes the configuration, `check` says what must hold
//!   between values. Of [`sctp`][] `settings` lays assignments over a profile, `profile` is what comes of both.
//! - [`congestion`][]: the keys that both have. [`bounds`]: the most that values may be.
//! - [`fault`][]: checks of single values, for whoever has such keys. [`default`][]: the profile that nobody wrote.
//!
//! This crate knows no network and no flow. What a path makes of a profile is for those who know the path.

pub mod bounds;
pub mod congestion;
pub mod default;
pub mod fault;
mod interval;
pub mod sctp;
pub mod tcp;

pub use interval::Interval;
pub use sctp::{Assignment, Profile, ProfileError};
pub use slantpath_cc::{OwnController, OwnControllers};
/// Extensions and policies of a profile, by their names in a file.
pub use slantpath_sctp::{Extension, Extensions, Multipath, StreamScheduling};
