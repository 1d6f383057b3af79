//! The host stack of the simulator on the operating system's sockets.
//!
//! [`Live`] drives a host ([`slantpath_interface::EndSystem`]) as a simulated network does, with packets that come over
//! the wire and by the operating system's clock: SCTP in IP (protocol 132, on raw sockets) or in UDP (RFC 6951), chosen
//! by
//! [`Carriage`]. It is one thread and one loop, without async; whoever has one calls [`Live::step`] again and again.
//! The host sees instants and packets only. How late it was told of its deadlines is measured ([`Lateness`]).
//!
//! Above the host a [`Program`] holds its sockets: [`PortAssociations`] keeps them for an application that comes when
//! it likes, by an event loop of its own ([`Live::readiness`], [`Live::turn`]) or a library above this one. Programs
//! that do something by themselves stand in crates above, as `slantpath_instruments`. A [`Station`] is a host with its
//! program, and a host itself, so that either runs as well on a simulated network. What a run was told is written down
//! on request ([`record`]), and repeated in virtual time.
//!
//! The sockets are Linux's; elsewhere all but [`Live`] is here.
//!
//! # Map
//!
//! - [`live`][]: the loop of one thread: wait, hand over, serve what is due, send.
//! - [`sockets`][]: one socket for each address, raw or UDP's. `receive` and `transmit` work in batches. `reports`
//!   reads what routers said; the host takes it as ICMP, and trusts it as far as it quotes a tag. `local` asks the
//!   machine for addresses, and `claim` keeps SCTP ports from other programs. `watch` hears what becomes of the own
//!   addresses. `routes` asks the system from which of them a destination is reached. `readiness` is one descriptor
//!   for an event loop of any kind.
//! - [`udp_ports`][]: what RFC 6951 has learned of peers, only from packets that the host has verified.
//! - [`departures`][]: when an own address is lost for good; the host is told, as it is of packets.
//! - [`moderation`][]: pauses where packets come so fast, one by one, that a pause costs less than a wake for each.
//! - [`program`][]: a holder of the host's sockets, and [`Station`]. [`BySocket`] holds what it keeps of each.
//! - [`associations`][]: a program for an application that comes when it likes. Its commands never wait; its concerns
//!   say what may be tried again, for any number of SCTP ports of a host. [`endpoint`] opens the first port and
//!   others beside it.
//! - [`record`][]: writes down what a host is told and when, and tells it another one, with the same digest.
//! - [`tap`][]: captures what passes a host whose run is repeated.
//!
//! A deadline is served at the instant at which the loop gets to it, not at that for which it was set. Otherwise a
//! program that was stopped for ten seconds would have all its timers expire at once, one retransmission behind the
//! other, before a peer had its say. The record of a run therefore holds its deadlines, too.

mod associations;
mod by_socket;
#[cfg(target_os = "linux")]
mod clock;
mod config;
#[cfg(target_os = "linux")]
mod departures;
mod endpoint;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod moderation;
mod program;
pub mod record;
#[cfg(target_os = "linux")]
mod sockets;
mod tap;
#[cfg(target_os = "linux")]
mod termination;
mod udp_ports;

pub use associations::{
    AssociationsConfig, Concern, ConnectRefused, Lost, NOTIFICATIONS_MAX, Notification, PortAssociations,
    Received, SendRefused,
};
pub use by_socket::BySocket;
pub use config::{Binding, Carriage, ENCAPSULATION_PORT, LiveConfig, OpenError, check_addresses};
#[cfg(target_os = "linux")]
pub use endpoint::OpenPort;
pub use endpoint::{EndpointConfig, MessageOptions};
#[cfg(target_os = "linux")]
pub use live::{Live, LiveCounters, Woken};
pub use program::{Program, Station, host_from, host_of};
pub use slantpath_applications::{Host, ProgramConfig, ProgramEvent, ProgramMessage, Programs};
pub use slantpath_base::{DataSize, Duration, Instant, Lateness};
pub use slantpath_host::{PathEventKind, Peer, SocketId, TraceRecord};
pub use slantpath_interface::{EndSystem, InterfaceId};
pub use slantpath_sctp::notice::Value;
pub use slantpath_sctp::{
    AssociationId, AuthenticationConfig, AuthenticationEvent, Endpoint as Sctp, ErrorDetectionMethod,
    Extension, Extensions, MibAssociation, MibLocalAddress, MibRemAddress, MibState, MibValue, Multipath,
    PathMtuDiscovery, PathSnapshot, PathState, Reliability, ResetDirection, SctpConfig,
    SendError as SctpSendError, SendOptions as SctpSendOptions, Severity, SharedKey, StreamId,
    StreamScheduling,
};
pub use slantpath_wire::ip::{Dscp, Ecn, IpFields};
#[cfg(target_os = "linux")]
pub use sockets::chance::secret;
#[cfg(target_os = "linux")]
pub use sockets::local::{addresses_for_others, own_addresses, source_towards};
#[cfg(target_os = "linux")]
pub use sockets::watch::{OwnAddressChange, Presence};
pub use tap::{HostCapture, Observer, Tap};
#[cfg(target_os = "linux")]
pub use termination::{on_hangup, on_termination, with_termination};
