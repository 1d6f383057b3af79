//! Live SCTP for programs on tokio.
//!
//! An [`Endpoint`] is one SCTP port on one or more of the machine's addresses; an [`Association`] carries messages
//! between it and another. Both are used as tokio's own sockets are:
//!
//! ```
//! use std::net::{IpAddr, Ipv4Addr};
//! use slantpath_tokio::{Carriage, Endpoint, EndpointConfig, MessageOptions, Peer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // SCTP in UDP, which needs no privilege; in IP with `Carriage::Raw`.
//! let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
//! let udp = |remote_port| Carriage::Udp { local_port: 0, remote_port };
//! let mut config = EndpointConfig::new(vec![loopback], udp(9_899));
//! config.port = 5_000;
//! let server = Endpoint::bind(config).await?;
//! let udp_port = server.addresses()?[0].port();
//!
//! let client = Endpoint::bind(EndpointConfig::new(vec![loopback], udp(udp_port))).await?;
//! let peer = Peer { addresses: vec![loopback], port: 5_000 };
//! let (call, accepted) = tokio::join!(client.connect(&peer), server.accept());
//! let (call, accepted) = (call?, accepted?);
//!
//! call.send(3, "a message", MessageOptions::default()).await?;
//! let message = accepted.receive().await?.expect("the association is up");
//! assert_eq!((message.stream, &message.payload[..]), (3, &b"a message"[..]));
//!
//! call.shutdown().await?;
//! assert_eq!(accepted.receive().await?, None);
//! # Ok(())
//! # }
//! ```
//!
//! # What runs
//!
//! Each endpoint has one task on the runtime in which it was bound. It waits for one descriptor, which stands for all
//! the endpoint's sockets and for the next deadline of SCTP (a timer of the system, not tokio's, whose steps are 1 ms),
//! and there is no thread and no timer for each association. The task ends with the last association, once the
//! endpoint and all associations have been dropped. A runtime that is shut down before takes the sockets away: the
//! peers find out by their own timers, unless [`Endpoint::close`] has been awaited.
//!
//! # Push-back
//!
//! [`Association::send`] waits while the send buffer has no room. A reader that is slow has its association take no
//! more from SCTP from [`AssociationsConfig::read_ahead_bytes`] on, so that the receive buffer fills and its window
//! closes; whoever sends is halted, and nothing is lost.
//!
//! # Streams and sinks
//!
//! [`Association::messages`], [`Association::notifications`] and [`Endpoint::callers`] are each a `Stream`, and
//! [`Association::outgoing`] is a `Sink` of messages for one stream of the association, for the combinators of the
//! crate `futures`.
//!
//! # Cancellation
//!
//! All futures here can be dropped at any time without losing anything that was received: a message, a caller or a
//! notification is taken in the same step in which the future becomes ready. A [`Association::send`] that is dropped
//! before it is ready has sent nothing. A [`Endpoint::connect`] that is dropped gives the association up. What
//! [`Association::shutdown`] and [`Endpoint::close`] have begun goes on without them.
//!
//! # Dropping
//!
//! An association that is dropped is shut down in order, by the endpoint's task: what was sent is delivered, and what
//! comes meanwhile is thrown away. [`Association::abort`] ends one at once. An endpoint that is dropped accepts nobody
//! any more; its associations go on.
//!
//! The crate is empty on systems other than Linux, whose sockets it drives.
//!
//! # Map
//!
//! [`driver`] is the task for the endpoints on the same sockets. [`shared`] has a lock around the host, and a bell
//! for each association. Nothing waits with the lock held.
//!
//! This is a crate of its own and no feature of `slantpath_live`: the command and the Python package compile no
//! runtime, and no build has to turn anything on to test it. `live` of the Python extension is the other user of
//! `Associations`, for asyncio.
#![cfg(target_os = "linux")]

mod association;
mod driver;
mod endpoint;
mod error;
mod shared;
mod streams;

pub use association::Association;
pub use endpoint::{Endpoint, EndpointSnapshot};
pub use error::{AssociationError, ConnectError, EndpointError, SendError, TryReceiveError};
pub use slantpath_live::{
    AssociationsConfig, Binding, Carriage, Dscp, Duration, Ecn, EndpointConfig, Extension, Extensions,
    IpFields, Lost, MessageOptions, Notification, OpenError, PathEventKind, Peer, ProgramMessage,
    Reliability, SctpConfig, SharedKey, StreamId,
};
/// SCTP itself: its settings, errors and events, and what [`Association::command`] is given.
pub use slantpath_sctp as sctp;
pub use streams::{Callers, Messages, Notifications, Outgoing};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
