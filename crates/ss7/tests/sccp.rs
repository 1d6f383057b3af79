//! The procedures of Q.714 between nodes that exchange real messages over a transfer that keeps order.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

#[path = "sccp/connectionless.rs"]
mod connectionless;
#[path = "sccp/connections.rs"]
mod connections;
#[path = "sccp/machines.rs"]
mod machines;
#[path = "sccp/management.rs"]
mod management;
#[path = "sccp/net.rs"]
mod net;
#[path = "sccp/random.rs"]
mod random;
#[path = "sccp/tshark.rs"]
mod tshark;
