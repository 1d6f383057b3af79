//! Control of a network that runs: commands, answers and events, each a line of JSON.
//!
//! The protocol is the same whatever runs the network: an emulation, a gateway or sockets of programs. A line from a
//! client is a [`Command`]; each gets one [`ControlAnswer`], in order. A client that asks for events gets them between
//! the answers. Any bytes give a command or a [`Refusal`], and no line takes more memory than [`LINE_MAX`] says. The
//! crate knows neither a socket nor a network: what a setting means is for whoever runs it to say.
//!
//! # Map
//!
//! - [`command`][]: what a client may ask for. [`answer`][]: what it is told. [`status`][]: the state of a network,
//!   and [`gateway_status`][] of a gateway. [`traced_message`][]: a message of a trace.
//! - [`lines`][]: lines of a stream, cut at their ends.

mod answer;
mod command;
mod gateway_status;
mod lines;
mod status;
mod traced_message;

pub use answer::{AnswerError, ControlAnswer, ControlEvent, Refusal};
pub use command::{COMMANDS, Command, Pairs};
pub use gateway_status::{
    AssociationStatus, GatewayStatus, NamedCounts, PathStatus, ProcessStatus, RouteStatus, ServerStatus,
    SignallingLinkStatus, TitleStatus,
};
pub use lines::{LINE_MAX, Line, Lines};
pub use serde_json::Value as Json;
pub use status::{ControlStatus, InterfaceStatus, NextHandover};
pub use traced_message::TracedMessage;
