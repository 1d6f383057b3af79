//! Attached devices: packets of real machines on their way into a simulated network, and out of it.
//!
//! The modules below are pure functions over bytes and instants: no device, no clock, no socket. Any bytes give
//! a value or a typed error. No number of a header decides how much memory is taken.
//!
//! # Map
//!
//! - [`frames`][]: kinds of frames, tags of a virtual LAN, classes, and the header around an IP packet.
//! - [`neighbours`][]: answers to ARP and neighbour solicitations, in the name of a network that has no link layer.
//! - [`offload`][]: work that a kernel leaves to its device: checksums, and the cutting of long segments; and the
//!   reverse, segments joined.
//! - [`instants`][]: the kernel's times of reception as instants of the run.
//! - [`lateness`][]: lateness of departures.

pub mod frames;
pub mod instants;
mod ip;
pub mod lateness;
pub mod neighbours;
pub mod offload;

pub use frames::{FrameKind, MacAddress, Priority};
pub use instants::{ClockReading, Stamps};
pub use ip::IpFault;
pub use lateness::{DepartureLateness, DepartureSummary};
pub use offload::{DeviceLayer, Offload, OffloadError};
