//! MTP level 3 (ITU-T Q.704, Q.707): service information, routing labels, messages.

mod label;
mod management;
mod msu;
mod service;

pub use label::{RoutingLabel, Sls};
pub use management::{ChangebackCode, Fsn, ManagementMessage, SignallingDataLink, TestMessage};
pub use msu::Msu;
pub use service::{NetworkIndicator, ServiceIndicator, ServiceInformation};
