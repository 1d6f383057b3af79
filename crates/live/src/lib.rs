//! The host stack of the simulator on the operating system's sockets.
//!
//! [`Live`] drives a host ([`slantpath_interface::Host`]) as a simulated network does, with packets that come over the
//! wire and by the operating system's clock: SCTP in IP (protocol 132, on raw sockets) or in UDP (RFC 6951), chosen by
//! [`Carriage`]. It is one thread and one loop, without async; whoever has one calls [`Live::step`] again and again.
//! The host sees instants and packets only. How late it was told of its deadlines is measured ([`Lateness`]).
//!
//! Above the host a [`Program`] holds its sockets: [`Echo`] sends back what comes, [`Load`] sends and measures,
//! [`Associations`] keeps them for an application that comes when it likes, by an event loop of its own
//! ([`Live::readiness`], [`Live::turn`]) or a library above this one. A
//! [`Station`] is a host with its program, and a host itself, so that either runs as well on a simulated network. What
//! a run was told is written down on request ([`record`]), and repeated in virtual time.
//!
//! The sockets are Linux's; elsewhere all but [`Live`] is here.

mod associations;
mod by_socket;
#[cfg(target_os = "linux")]
mod clock;
mod config;
#[cfg(target_os = "linux")]
mod departures;
mod echo;
mod endpoint;
mod lateness;
#[cfg(target_os = "linux")]
mod live;
mod load;
#[cfg(target_os = "linux")]
mod moderation;
mod news;
mod program;
pub mod record;
#[cfg(target_os = "linux")]
mod sockets;
mod tap;
#[cfg(target_os = "linux")]
mod termination;
mod udp_ports;

pub use associations::{
    Associations, AssociationsConfig, Concern, ConnectRefused, Lost, NOTIFICATIONS_MAX, Notification,
    Received, SendRefused,
};
pub use config::{Binding, Carriage, ENCAPSULATION_PORT, LiveConfig, OpenError, check_addresses};
pub use echo::{Echo, EchoConfig, EchoMode, EchoReport};
#[cfg(target_os = "linux")]
pub use endpoint::OpenPort;
pub use endpoint::{EndpointConfig, SendOptions};
pub use lateness::Lateness;
#[cfg(target_os = "linux")]
pub use live::{Live, LiveCounters, Woken};
pub use load::{KindReport, Load, LoadConfig, LoadReport, PathReport};
pub use program::{Program, Station, host_of};
pub use slantpath_base::{DataSize, Duration, Instant};
pub use slantpath_host::timeline::PathEventKind;
pub use slantpath_host::{
    Host, MessageClass, Peer, ProgramConfig, ProgramEvent, ProgramMessage as Message, SocketId, WhenBlocked,
    Workload,
};
pub use slantpath_interface::Host as Interface;
pub use slantpath_sctp::{
    AssociationId, AuthenticationConfig, AuthenticationEvent, Endpoint as Sctp, ErrorDetectionMethod,
    Extension, Extensions, MibAssociation, MibLocalAddress, MibRemAddress, MibState, MibValue, Multipath,
    PathMtuDiscovery, PathSnapshot, Reliability, ResetDirection, SctpConfig, SendOptions as SctpSendOptions,
    Severity, SharedKey, StreamId, StreamScheduling,
};
pub use slantpath_wire::ip::{Dscp, Ecn, IpFields};
#[cfg(target_os = "linux")]
pub use sockets::chance::secret;
#[cfg(target_os = "linux")]
pub use sockets::local::{addresses_for_others, own_addresses, source_towards};
#[cfg(target_os = "linux")]
pub use sockets::watch::{AddressChange, Presence};
pub use tap::{Capture, Observer, Tap};
#[cfg(target_os = "linux")]
pub use termination::on_termination;
