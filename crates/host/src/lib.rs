//! An end system: interfaces, transports and the applications that load them.
//!
//! A [`Host`] is what `net` drives. It holds flow ends: each is one transport, SCTP or TCP, with one application on
//! top, a sender that plays a [`Workload`] or a receiver that checks every byte. For adaptation layers above it holds
//! associations without an application ([`AssociationConfig`]). IP is below: addresses, routes, headers. What is
//! remembered of messages and paths is in [`record`], and of a failover in [`timeline`].

mod association;
mod flow_end;
mod host;
mod interfaces;
mod m3ua;
pub mod message;
mod receiver;
pub mod record;
mod sender;
pub mod timeline;
mod transport;
mod workload;

pub use association::{AssociationConfig, AssociationCounters};
pub use host::{AssociationEndId, FlowEndId, Host, HostDrops};
pub use interfaces::{HOP_LIMIT, NoSourceAddress};
pub use m3ua::SIGNALLING_LINK_SELECTIONS;
pub use receiver::ReceiverConfig;
pub use sender::SenderConfig;
pub use slantpath_wire::reassembly::{FragmentDrop, ReassemblyCounters};
pub use transport::{Adaptation, Peer, Protocol, TransportConfig};
pub use workload::{WhenBlocked, Workload};
