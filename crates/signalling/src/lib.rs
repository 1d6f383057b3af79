//! Entities that signal: each is one object without input and output, whole by itself.
//!
//! - [`SignallingPoint`][]: MTP3, SCCP where there is one, its end of every link (a terminal of MTP2 on a line, or M2PA
//!   on an association), and, where it is a gateway, the signalling gateway process with the interworking function.
//! - [`ServerProcess`][]: an application server process of M3UA with its part in each application server.
//! - [`ServedPoint`][]: a point whose user parts are above M3UA, served by one or more such processes.
//!
//! Each knows its own end of a link or an association and nothing of what carries it. A driver gives inputs (from
//! lines, from associations, from management), polls until there is nothing to do until an instant, and carries what
//! comes out: a simulation carries it over simulated lines and hosts, a gateway in operation over its sockets. What
//! happens is an output like any other, which the driver keeps or drops; nothing here grows with the length of a run.
//!
//! An input costs what it changes: idle links and parts of a point are not looked at.
//!
//! # Map
//!
//! - [`point`][]: [`SignallingPoint`], with [`level2`] (its end of each link) and, at a gateway, [`gateway`].
//! - [`process`][]: [`ServerProcess`]. [`served_point`]: [`ServedPoint`].
//! - [`processor`][]: a queue between level 2 and MTP3, whose times of departure are known at arrival.
//! - [`screening`][]: rules and rates for what comes to a point.
//! - [`network`][]: what a network of points is made of, and each of its points and processes by itself.
//! - [`management`][]: requests, changes and events. [`m3ua`]: events of a gateway or a process above M3UA.
//!
//! Parts with work are taken in rounds (`Rounds` of `slantpath_base`), in the order in which a loop over all would
//! come to them. So results are those of such a loop, whatever else is idle.

mod gateway;
mod level2;
mod m3ua;
mod management;
pub mod network;
mod point;
mod process;
mod processor;
mod registrations;
mod screening;
mod served_point;

pub use gateway::GatewayConfig;
pub use level2::{EndCounters, Level2Config, LineInput};
pub use m3ua::{AssociationTally, M3uaEvent, M3uaEventKind};
pub use management::{
    LinkEndChange, ManagementRequest, PointChange, PointEvent, PointEventKind, ProcessChange, ProcessLock,
};
pub use point::{
    ConfigError, FixedSetting, LinkEndConfig, PointConfig, PointInput, PointOutput, SignallingPoint,
    Succession,
};
pub use process::{Role, ServerProcess, ServerProcessConfig, ServerProcessInput, ServerProcessOutput};
pub use processor::{ProcessorConfig, ProcessorCounters, ProcessorError};
pub use screening::{
    Gate, RateLimit, ScreenedCopy, ScreenedType, ScreeningAction, ScreeningConfig, ScreeningCounts,
    ScreeningCriteria, ScreeningRule,
};
pub use served_point::{ServedPoint, ServedPointConfig, ServedPointOutput};
