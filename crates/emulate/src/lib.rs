//! Attached devices: packets of real machines on their way into a simulated network, and out of it.
//!
//! # Map
//!
//! On Linux:
//!
//! - [`doors`][]: the interfaces to attached nodes, and the loop that keeps the pace.
//! - [`mod@capacity`][]: packets that this machine carries. [`rest`][]: pauses without which the kernel would stop the
//!   thread for long.
//! - [`lab`][]: places of attached nodes, as network namespaces. [`port`]: ports of this machine.
//!   [`programs`][]: what runs there. [`listening`]: ports at which somebody listens.
//!
//! Pure functions over bytes and instants, without a device, a clock or a socket. Any bytes give a value or a typed
//! error, and no number of a header decides how much memory is taken:
//!
//! - [`frames`][]: kinds of frames, tags of a virtual LAN, and the header around an IP packet.
//! - [`neighbours`][]: answers to ARP and neighbour solicitations, in the name of a network that has no link layer.
//! - [`node_routes`][]: routes of an attached node, as few as its ways need.
//! - [`offload`][]: work that a kernel leaves to its device: checksums, and the cutting of long segments; and the
//!   reverse, segments joined.
//! - [`station`][]: the MAC address of whoever is behind an Ethernet port.
//! - [`instants`][]: the kernel's times of reception as instants of the run, and suspension of the machine.
//! - [`lateness`][]: lateness of departures. [`report`]: counts of what passed a door, and why a run is void.

#[cfg(target_os = "linux")]
mod capacity;
#[cfg(target_os = "linux")]
mod departing;
#[cfg(target_os = "linux")]
mod doors;
pub mod frames;
pub mod instants;
mod ip;
#[cfg(target_os = "linux")]
mod lab;
pub mod lateness;
#[cfg(target_os = "linux")]
mod listening;
pub mod neighbours;
#[cfg(any(target_os = "linux", test))]
mod node_routes;
pub mod offload;
#[cfg(target_os = "linux")]
mod port;
#[cfg(target_os = "linux")]
mod programs;
mod report;
#[cfg(target_os = "linux")]
mod rest;
pub mod station;

#[cfg(target_os = "linux")]
pub use capacity::capacity;
#[cfg(target_os = "linux")]
pub use doors::{DoorConfig, DoorError, Doors, Incoming, suspension_reading};
pub use frames::{FrameKind, MacAddress};
pub use instants::{ClockReading, Stamps, Suspension, SuspensionReading};
pub use ip::IpFault;
#[cfg(target_os = "linux")]
pub use lab::{
    AttachedPlace, ExistingPlace, InterfaceConfig, Lab, PlaceConfig, PlaceError, build as build_places,
};
pub use lateness::{DepartureLateness, DepartureSummary};
pub use offload::{DeviceLayer, Offload, OffloadError};
#[cfg(target_os = "linux")]
pub use port::OwnPort;
#[cfg(target_os = "linux")]
pub use programs::{EndedProgram, NodeProgram, NodePrograms, Terminal};
pub use report::{DoorCounters, DoorReport, Void};
