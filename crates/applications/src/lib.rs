//! Users of a host's sockets: what loads the transports, and what stands for programs outside of the host.
//!
//! A [`Host`] is `slantpath_host`'s, with the [`Application`]s of this crate. Each is the user of one socket:
//!
//! - An end of a flow ([`Flows`]): a sender plays a [`Workload`], a receiver checks every byte.
//! - An end of a session ([`HostSessions`]): a source opens one after the other for transfers that begin by chance
//!   ([`SessionsConfig`]), and any number of them come in at one port.
//! - A carrier ([`Associations`]) keeps an association up for an adaptation layer above the host
//!   ([`AssociationConfig`]).
//! - A service ([`Services`]) answers whoever comes to its well-known port.
//! - A program outside of the host ([`Programs`]) sends and takes messages as it pleases ([`ProgramConfig`]).
//!
//! What is remembered of messages and paths is in [`record`], and of a failover in [`timeline`].
//!
//! # Map
//!
//! - [`application`][]: which of them a socket has, and what all of a host share.
//! - [`flows`]: a [`flow_end`]'s [`sender`] plays a [`workload`] as its [`schedule`] says, its [`receiver`] checks
//!   every byte, with a [`layer`] or [`framing`] below them if the flow asks for it ([`adaptation`]). [`message`]: the
//!   bytes.
//! - [`session_source`]: a host opens [`sessions`] one after the other, as [`admission`] permits. Of one that is over
//!   its record remains. [`requests`]: requests and responses within them.
//! - [`service`]: echo, discard and chargen. [`associations`]: [`carrier`], with its [`carrier_records`]. [`programs`]:
//!   [`program`]. What they have for somebody outside is [`noted`].
//! - [`record`], [`timeline`], [`failover`]: what is remembered, and the steps of a failover.
//!
//! # What holds, and why
//!
//! - Carriers are served before all others, in the order in which they were added.
//! - A scenario's flows have ports of their own at both hosts. Many connections to one port
//!   ([`HostSessions::add_session_server`]) are for `[sessions]`.
//! - An application sees its socket alone. What several do together is in what they share.

mod adaptation;
mod admission;
mod application;
mod arrivals;
mod associations;
mod carrier;
mod carrier_records;
mod earlier;
mod failover;
mod flow_end;
mod flows;
mod framing;
mod ids;
mod layer;
pub mod message;
mod noted;
mod path_probe;
mod program;
mod programs;
mod receiver;
pub mod record;
mod requests;
mod schedule;
mod sender;
mod service;
mod session_source;
mod sessions;
pub mod timeline;
mod workload;

pub use adaptation::FlowAdaptation;
pub use admission::{AdmissionConfig, Otherwise};
pub use application::{Application, Host, SharedState};
pub use associations::Associations;
pub use carrier::{AssociationConfig, AssociationCounters, REFUSED_MAX};
pub use carrier_records::CarrierRecords;
pub use failover::Failover;
pub use flows::Flows;
pub use framing::{GTP_U_HEADER_LEN, GtpUHeader, RTP_HEADER_LEN, RtpHeader};
pub use ids::SessionSourceId;
pub use layer::{FlowLayer, ReceivingLayer, ReceivingStep, SendingLayer, SendingStep};
pub use program::{GivenBack, ProgramConfig, ProgramEvent, ProgramMessage, Refused};
pub use programs::Programs;
pub use receiver::{MessageRecords, ReceiverConfig};
pub use requests::{HEADER_LEN as REQUEST_HEADER_LEN, RequestCount, RequestsConfig, ThinkTime};
pub use schedule::Schedule;
pub use sender::{Measurement, SenderConfig};
pub use service::{SERVICE_PEERS_MAX, Service, Services};
pub use session_source::HostSessions;
pub use sessions::{SessionArrivals, SessionLoad, SessionSizes, SessionsConfig};
pub use workload::{MessageClass, WhenBlocked, Workload, workload_stream};
