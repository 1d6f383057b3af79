//! An end system: interfaces, transports and the applications that load them.
//!
//! A [`Host`] is a stack, and is driven by whatever moves its packets (`slantpath_interface`): a simulated network, or
//! a program with real sockets. From below:
//!
//! - IP: addresses, routes, headers, fragments.
//! - One SCTP and one TCP, with any number of ports, associations and connections, each with its own settings and its
//!   own named stream of chance, so that flows that share a host change nothing of each other.
//! - Sockets, each an association or connection ([`SocketId`]). They are found by port, and by what the transports call
//!   an association or connection; what is due and what is ready lies in heaps. Nothing searches a host's sockets.
//! - Applications, each the user of one socket: it opens or listens, offers messages and is told when it may go on,
//!   pauses what comes in, closes. A sender plays a [`Workload`] ([`Host::add_sender`]); a receiver checks every byte
//!   ([`Host::add_receiver`]); a carrier keeps an association up for an adaptation layer above the host
//!   ([`AssociationConfig`]); a source opens one after the other for transfers that begin by chance
//!   ([`SessionsConfig`]), and any number of them come in at one port ([`Host::add_session_server`]); a program outside
//!   of the host sends and takes messages as it pleases ([`ProgramConfig`]).
//!
//! What is remembered of messages and paths is in [`record`], and of a failover in [`timeline`]. What associations
//! decide and why is told by those that are traced ([`TraceRecord`]).
//!
//! # Map
//!
//! - [`host`][]: the stack. [`interfaces`]: IP with its reassembly. [`socket`]: one face for SCTP and TCP.
//! - [`sockets`][]: finds sockets by port, association and connection. It keeps deadlines in `Deadlines`, and what is
//!   ready in a heap.
//! - [`application`][]: the user of one socket. It is a [`flow_end`] (its [`sender`] plays a [`workload`], its
//!   [`receiver`] checks every byte, with [`m3ua`] below them if the flow asks for it), a [`carrier`], a [`program`],
//!   a listener, or one end of a session. A listener's every connection is a socket of its own.
//! - [`sessions`][]: a source opens them one after the other, as [`admission`] permits. Of one that is over its record
//!   remains; its socket is nobody's until its port comes round. [`requests`]: requests and responses within them.
//! - [`record`], [`timeline`]: what is remembered, and the steps of a failover.
//! - [`trace`][]: what traced associations tell, until somebody takes it.
//!
//! # What holds, and why
//!
//! - Nothing searches a host's sockets. The order in which ready ones are served depends on no packet: carriers as
//!   they were added, then flows, the last one first.
//! - A scenario's flows have ports of their own at both hosts. Many connections to one port
//!   (`Host::add_session_server`) are for `[sessions]`.
//! - Only the IP header is read and written here; it is `slantpath_wire`'s.

mod admission;
mod application;
mod arrivals;
mod carrier;
mod flow_end;
mod host;
mod ids;
mod interfaces;
mod m3ua;
pub mod message;
mod path_probe;
mod program;
mod receiver;
pub mod record;
mod requests;
mod schedule;
mod sender;
mod served;
mod sessions;
mod socket;
mod sockets;
pub mod timeline;
mod trace;
mod transport;
mod workload;

pub use admission::{AdmissionConfig, Otherwise};
pub use carrier::{AssociationConfig, AssociationCounters};
pub use host::{AssociationCommand, CommandOutcome, CommandRecord, Handover, Host, HostDrops};
pub use ids::{SessionSourceId, SocketId};
pub use interfaces::{HOP_LIMIT, NoSourceAddress};
pub use m3ua::SIGNALLING_LINK_SELECTIONS;
pub use program::{ProgramConfig, ProgramEvent, ProgramMessage, Refused};
pub use receiver::{MessageRecords, ReceiverConfig};
pub use requests::{HEADER_LEN as REQUEST_HEADER_LEN, RequestCount, RequestsConfig, ThinkTime};
pub use schedule::Schedule;
pub use sender::{Measurement, SenderConfig};
pub use sessions::{Arrivals, SessionLoad, SessionsConfig, Sizes};
pub use slantpath_wire::reassembly::{FragmentDrop, ReassemblyCounters};
pub use trace::{TRACE_RECORDS_MAX, TraceRecord};
pub use transport::{Adaptation, Peer, Protocol, TransportConfig};
pub use workload::{MessageClass, WhenBlocked, Workload, workload_stream};
