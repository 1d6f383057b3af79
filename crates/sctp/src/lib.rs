//! SCTP (RFC 9260), multihomed and sans-IO: packet codec, association, endpoint.
//!
//! An [`Endpoint`] is the SCTP of one host: ports, each on one or more addresses. It answers INITs without keeping
//! state, sorts packets to its associations and gives back what is to be sent, what the layer above has to know, and
//! when to be called again. An [`Association`] sends and receives messages over all paths between two endpoints.
//! [`packet`], [`chunk`], [`parameter`] and [`cause`] are the codec, which every other part stands on.
//!
//! Nothing here reads a clock, draws chance of its own, or owns a socket:
//!
//! ```
//! use slantpath_base::{Instant, Seed};
//! use slantpath_sctp::{Acceptance, ConnectOptions, Endpoint, Event, Input, Message, Output, PortConfig};
//! use slantpath_sctp::{Ppid, SctpConfig, StreamId};
//! use slantpath_wire::Packet;
//!
//! let addresses = [[192, 0, 2, 1].into(), [192, 0, 2, 2].into()];
//! let mut endpoints = addresses.map(|address| {
//!     let port = PortConfig { port: 2_905, addresses: vec![address], config: SctpConfig::default() };
//!     let mut endpoint = Endpoint::default();
//!     endpoint.bind(port, Seed::new(1, 0).stream(&format!("hosts/{address}/sctp"))).expect("a free port");
//!     endpoint
//! });
//! endpoints[1].listen(2_905, Acceptance::ByPeer);
//!
//! let now = Instant::START;
//! let peer = ConnectOptions {
//!     local_port: 2_905,
//!     peer_addresses: vec![addresses[1]],
//!     peer_port: 2_905,
//!     ..ConnectOptions::default()
//! };
//! let association = endpoints[0].connect(now, &peer)?;
//! let message = Message {
//!     stream: StreamId(0),
//!     ppid: Ppid(3),
//!     payload: "hello".into(),
//!     is_unordered: false,
//!     context: 0,
//!     options: None,
//! };
//! endpoints[0].send(now, association, message)?;
//!
//! // The network: whatever one of the two transmits reaches the other at once.
//! let mut received = Vec::new();
//! for _ in 0..8 {
//!     for side in 0..2 {
//!         loop {
//!             let mut packet = Packet::default();
//!             match endpoints[side].poll_output(now, &mut packet) {
//!                 Output::Transmit { source, destination, ip, .. } => {
//!                     let input = Input::Packet { source, destination, ip, packet };
//!                     endpoints[1 - side].handle_input(now, input);
//!                 }
//!                 Output::Event(_, Event::Received(message)) => received.push(message.payload),
//!                 Output::Event(..) => {}
//!                 Output::Wait(_) => break,
//!             }
//!         }
//!     }
//! }
//! assert_eq!(received, ["hello"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Map
//!
//! - [`packet`], [`chunk`], [`parameter`], [`cause`]: the codec.
//! - [`handshake`][]: COOKIE-WAIT and COOKIE-ECHOED. It yields a [`tcb`]: all that both ends have agreed on, which is
//!   also what a state [`cookie`] carries.
//! - [`association`][]: what lives from ESTABLISHED on; it only composes the next four.
//! - [`path`][]: RTO, window, recovery, pacing, errors and heartbeats of one address. `path/discovery` finds the path
//!   MTU, `path/pool` shares the windows of several paths.
//! - [`tx`][]: send queue, outstanding DATA, SACK processing, losses by count or by time, timeouts, bundling.
//!   `tx/too_big`, `tx/abandon`, `tx/scheduler` and `tx/non_renegable` each have one concern; `tx/spread` shares DATA
//!   among paths.
//! - [`rx`][]: TSN tracking, reassembly, streams, interleaved messages, skipped ones, partial delivery, SACK
//!   generation. `rx/held` counts what keeping a chunk costs.
//! - `association/return_path` chooses where SACKs go; `association/ecn` tells and answers marks.
//! - [`extension`][]: what both ends have to know, negotiated in the handshake. The state of an extension stands behind
//!   a pointer that other associations do not have: `association/reconfiguration`, [`authentication`],
//!   `association/addresses`.
//! - [`endpoint`][]: the SCTP of one host. It sorts packets by port and association, and keeps all their deadlines.
//! - [`config`], [`policy`]: each policy that a paper varies is one enum, declared in one of the two. Loss detection,
//!   multipath and timing by the chunk are asked wherever they decide.
//! - [`notice`]: the dictionary of what an association tells of itself, from which traces, words, and the
//!   notifications of programs follow.
//! - [`trace`][]: what led to decisions, told as events on request. What changes little by little is compared with what
//!   was told last, whenever nothing more can leave. So nothing is done for it without a trace.

mod address;
mod addressing;
mod association;
mod authentication;
mod bytes_view;
pub mod cause;
pub mod chunk;
mod config;
mod cookie;
mod endpoint;
mod event;
mod extension;
mod handshake;
pub mod notice;
pub mod packet;
pub mod parameter;
mod partial_message;
mod path;
mod policy;
mod reconfiguration;
mod reliability;
mod rx;
mod tcb;
mod trace;
mod tx;
mod types;
mod unknown;
mod zero_checksum;

pub use addressing::{AddressError, AddressEvent};
pub use association::{
    Association, AssociationSnapshot, AssociationState, AssociationStats, Departing, KeyError,
    MibAssociation, MibLocalAddress, MibRemAddress, MibState, MibValue,
};
pub use authentication::{
    AuthenticationConfig, AuthenticationEvent, AuthenticationOffer, AuthenticationTerms, HmacAlgorithm,
    SharedKey, WrongKey,
};
pub use cause::Cause;
pub use chunk::Chunk;
pub use config::{
    ConfigFinding, FastRetransmitPath, FirstSack, LimitingBuffer, LossDetection, SackPath, SctpConfig,
    Severity,
};
pub use endpoint::{
    Acceptance, AssociationId, AssociationPeer, BindError, ConnectError, ConnectOptions, Endpoint,
    EndpointStats, Input, MibCounters, Output, PortConfig, PortId,
};
pub use event::{
    CloseReason, Event, Message, PartPlace, ReceivedMessage, ReceivedPart, SendError, SendOptions,
    T3RtxChange,
};
pub use extension::{Extension, Extensions};
pub use notice::Notice;
pub use packet::{
    ChecksumPolicy, ChunkOutline, CommonHeader, IpFragmentation, PacketBuilder, PacketOutline, ParsedPacket,
    UserDataOutline,
};
pub use parameter::Parameter;
pub use partial_message::{MessageTooLong, PartialMessage};
pub use path::{DiscoveryState, PathId, PathSnapshot, PathState, PathStats};
pub use policy::{
    FailoverThresholds, Multipath, NewDataAfterTimeout, PathMtuDiscovery, PotentiallyFailed,
    PrimarySwitchover, RetransmissionAfterTimeout, RttSampling, StreamScheduling, SwitchoverTooEarly,
};
pub use reconfiguration::{
    ReconfigurationError, ReconfigurationPolicy, ResetDirection, StreamChange, StreamsChanged,
};
pub use reliability::{Reliability, ReliabilityPolicy};
pub use slantpath_cc::Algorithm;
pub use tcb::{PeerAddress, Tcb};
pub use trace::{LossEvidence, PathMetrics, TraceEvent, Unanswered, WaitReason, WindowCause};
pub use tx::StreamAbandonment;
pub use types::{FragmentSequence, MessageId, Ppid, StreamId, StreamSequence, Tsn, VerificationTag};
pub use unknown::UnknownAction;
pub use zero_checksum::ErrorDetectionMethod;
