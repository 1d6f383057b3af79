//! SCCP (ITU-T Q.711–Q.714): addresses, messages, global title translation, and the node that speaks it.

mod address;
mod cause;
mod codec;
mod config;
mod congestion;
mod connection;
mod counters;
pub mod gtt;
mod management;
mod message;
mod node;
mod optional;
mod primitive;
mod reassembly;
mod returned;
mod status;
mod timers;
mod unitdata;

pub use address::{
    AddressFormat, Digits, DigitsError, GlobalTitle, NotAnsi, OpaqueTitle, PartyAddress, TitleAttributes,
};
pub use cause::{ErrorCause, RefusalCause, ReleaseCause, ResetCause, ReturnCause};
pub use codec::{EmitError, MessageView, TooLong};
pub use config::{ConfigError, ConnectionLimits, NodeConfig, Remote, Subsystem};
pub use connection::machine::{
    CONNECTION, ConnectionAction, ConnectionInput, ConnectionState, RESET, ResetAction, ResetInput,
    ResetState,
};
pub use connection::window::Window;
pub use counters::{Counters, Discard, MESSAGE_TYPES, MessageCounts};
pub use management::{Affected, ScmgMessage};
pub use message::{LocalReference, Message, ProtocolClass, Segmentation, SequencingSegmenting, Ssn};
pub use node::{Node, Output};
pub use optional::{OptionalParameters, Parameter};
pub use primitive::{
    ConnectRequest, ConnectionId, ConnectionRequest, DisconnectReason, Indication, PointCodeStatus,
    RemoteSccpStatus, RequestError, UnitdataRequest,
};
pub use reassembly::{
    REASSEMBLY, Reassembled, Reassembly, ReassemblyAction, ReassemblyInput, ReassemblyLimits, ReassemblyState,
};
pub use returned::answer_refused;
pub use status::{
    LOCAL_SUBSYSTEM, LocalAction, LocalInput, LocalState, REMOTE_SUBSYSTEM, RemoteAction, RemoteInput,
    RemoteState,
};
pub use timers::{TimerError, Timers};
pub use unitdata::{Capability, Form, MOST_DATA_OCTETS, MOST_SEGMENTS, NARROWBAND_OCTETS};
