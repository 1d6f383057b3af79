//! Sockets of programs that stand at attached nodes of a simulated network, in virtual time.
//!
//! A [`Testbed`] has a host of ours in the place of each attached node: UDP and TCP with sockets that a driver in the
//! same process opens, reads and writes, and ports of SCTP whose associations it holds as it holds those of a live
//! endpoint. It never waits and knows no network: packets and instants come in, packets, deadlines and events go out.
//!
//! # Map
//!
//! - [`testbed`][]: hosts, sockets and events.
//! - [`sctp`][]: ports of SCTP of a node, each set of them a host with its associations, in IP or in UDP.
//!
//! # What holds, and why
//!
//! - What happens follows from packets, instants and the order of calls alone: chance comes from streams of the seed.
//! - Whoever reads slowly is not outrun: a connection that is held closes its receive window.

mod sctp;
mod testbed;

pub use bytes::Bytes;
pub use sctp::{SctpCarriage, SctpPorts};
pub use slantpath_base::{Duration, Instant, Seed};
pub use slantpath_interface::InterfaceId;
pub use slantpath_relay::{HostConfig, HostInterface};
pub use slantpath_tcp::{ResetCause, TcpConfig};
pub use slantpath_wire::Packet;
pub use testbed::{PortsId, SocketError, Testbed, TestbedEvent, TestbedStream};
