//! Parts that M3UA, M2UA, SUA and IUA share: application server processes, the application servers that they serve, and
//! the messages of classes 0, 3 and 4 that keep both ends of one mind.
//!
//! A layer is this, and its own transfer, network management and registration classes. It says in [`AdaptationLayer`]
//! what its messages concern: routing contexts in M3UA and SUA, interface identifiers in M2UA and IUA.

mod codes;
pub(crate) mod config;
mod gateway;
mod heartbeat;
mod machine;
mod message;
mod process;
mod scope;

pub use codes::{ErrorCode, Status, TrafficMode};
pub use config::{ConfigError, TimerRange};
pub use gateway::{
    Gateway, GatewayConfig, GatewayEvent, GatewayOutput, IdentifierPolicy, Key, Members, ServerConfig,
};
pub use heartbeat::{Heartbeat, HeartbeatDue};
pub use machine::{
    AS_MACHINE, ASP_MACHINE, AsAction, AsInput, AsState, AspAction, AspInput, AspState, REMOTE_ASP_MACHINE,
    RemoteAspAction, RemoteAspInput,
};
pub use message::{AspMessage, kind};
pub use process::{Process, ProcessConfig, ProcessEvent, ProcessOutput, Request, ServerName};
pub use scope::{AdaptationLayer, Parameters, RoutingContexts, Scope};
