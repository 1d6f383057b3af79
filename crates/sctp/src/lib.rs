//! SCTP (RFC 9260), multihomed and sans-IO: packet codec, association, endpoint.

mod address;
mod association;
mod bytes_view;
pub mod cause;
pub mod chunk;
mod config;
mod cookie;
mod endpoint;
mod event;
mod handshake;
pub mod packet;
pub mod parameter;
mod path;
mod policy;
mod rx;
mod tcb;
mod tx;
mod types;
mod unknown;

pub use association::{
    Association, AssociationOutput, AssociationSnapshot, AssociationState, AssociationStats,
};
pub use cause::Cause;
pub use chunk::Chunk;
pub use config::{FastRetransmitPath, SackPath, SctpConfig};
pub use endpoint::{
    AssociationId, ConnectError, ConnectOptions, Endpoint, EndpointConfig, EndpointStats, Input, Output,
};
pub use event::{CloseReason, Event, Message, ReceivedMessage, SendError};
pub use packet::{ChecksumPolicy, CommonHeader, PacketBuilder, ParsedPacket};
pub use parameter::Parameter;
pub use path::{PathId, PathSnapshot, PathState, PathStats};
pub use policy::{RttSampling, StreamScheduling};
pub use tcb::{PeerAddress, Tcb};
pub use types::{Ppid, StreamId, StreamSequence, Tsn, VerificationTag};
pub use unknown::UnknownAction;
