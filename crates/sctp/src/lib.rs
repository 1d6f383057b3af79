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
    Acceptance, AssociationId, BindError, ConnectError, ConnectOptions, Endpoint, EndpointStats, Input,
    MibCounters, Output, Peer, PortConfig,
};
pub use event::{
    CloseReason, Event, Message, PartPlace, ReceivedMessage, ReceivedPart, SendError, SendOptions,
    T3RtxChange,
};
pub use extension::{Extension, Extensions};
pub use packet::{ChecksumPolicy, CommonHeader, Fragmentation, PacketBuilder, ParsedPacket};
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
