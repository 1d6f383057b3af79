//! MTP level 3 (ITU-T Q.704, Q.707): service information, routing labels, messages.

mod label;
mod management;
mod msu;
pub mod node;
mod service;
mod test_message;

pub use label::{RoutingLabel, Slc, Sls};
pub use management::{
    ABOUT_DESTINATIONS, ChangebackCode, Fsn, ManagementLayout, ManagementMessage, SignallingDataLink,
};
pub use msu::Msu;
pub use node::Node;
pub use service::{NetworkIndicator, ServiceIndicator, ServiceInformation};
pub use test_message::TestMessage;
