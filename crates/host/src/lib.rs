//! An end system without its applications: interfaces, transports and sockets.
//!
//! A [`SocketHost`] is a stack, and is driven by whatever moves its packets (`slantpath_interface`): a simulated
//! network, or a program with real sockets. From below:
//!
//! - IP: addresses, routes, headers, fragments.
//! - UDP and the echoes of ICMP, which know no connection.
//! - One SCTP and one TCP, with any number of ports, associations and connections, each with its own settings and its
//!   own named stream of chance, so that sockets that share a host change nothing of each other.
//! - Sockets, each an association or connection ([`SocketId`]). They are found by port, and by what the transports call
//!   an association or connection; what is due and what is ready lies in heaps. Nothing searches a host's sockets.
//!
//! Above a socket is its [`Application`], of a type that the host is compiled for: it is told what happens
//! ([`SocketEvent`]), and acts when it is served. Those that there are stand in `slantpath_applications`.
//!
//! What associations decide and why is told by those that are traced ([`TraceRecord`]).
//!
//! # Map
//!
//! - [`host`][]: the stack. [`interfaces`]: IP with its reassembly. [`socket`]: one face for SCTP, TCP
//!   and [`datagrams`].
//! - [`application`][]: what the user of a socket is asked and told.
//! - [`sockets`][]: finds sockets by port, association and connection. It keeps deadlines in `Deadlines`, and what is
//!   ready in a heap.
//! - [`reports`], [`sample`], [`path_event`]: what an application may ask a transport to tell of itself.
//! - [`trace`][]: what traced associations tell, until somebody takes it. [`command_log`]: what they were told to do.
//!
//! # What holds, and why
//!
//! - Nothing searches a host's sockets. The order in which ready ones are served depends on no packet: those of which
//!   [`Application::is_served_first`] holds as they were added, then the others, the last one first.
//! - A host knows no flow, no session and no message of an application: whoever holds a socket knows them.
//! - An application that is over is dropped, and what it leaves is in what all share ([`Application::retire`]). Its
//!   socket is given back when the transport has forgotten it and another takes its port, or comes to one that listens.
//! - Only the IP header is read and written here; it is `slantpath_wire`'s.

mod application;
mod command_log;
mod datagrams;
mod host;
mod ids;
mod interfaces;
mod path_event;
mod reports;
mod sample;
mod socket;
mod sockets;
mod trace;
mod transport;

pub use application::{Application, Others, Reaction, Served};
pub use command_log::{AssociationCommand, CommandOutcome, CommandRecord};
pub use datagrams::LONGEST_DATAGRAM;
pub use host::{AddressHandover, HostDrops, Opener, SocketHost};
pub use ids::SocketId;
pub use interfaces::{HOP_LIMIT, NoSourceAddress};
pub use path_event::PathEventKind;
pub use reports::{MessageReports, Reports};
pub use sample::{CongestionSample, PathSample};
pub use slantpath_wire::reassembly::{FragmentDrop, ReassemblyCounters};
pub use socket::event::{Abandoned, AcknowledgedPart, ArrivedPart, MessagePlace, SentPart, SocketEvent};
pub use socket::outgoing::{MessageSource, Offer, OutgoingMessage};
pub use socket::{Peers, Socket};
pub use trace::{TRACE_RECORDS_MAX, TraceRecord};
pub use transport::{DatagramConfig, Peer, Protocol, TransportConfig};
