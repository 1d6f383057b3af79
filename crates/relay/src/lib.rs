//! Relays: UDP and TCP of programs of this machine over an emulated network, where there are no namespaces.
//!
//! A relay is a port of this machine. What a program sends there enters the network at an attached node, in whose place
//! a host of ours stands, crosses it as packets of UDP or of our own TCP, and is handed to a server by a socket at the
//! far node. So a connection of TCP is three: the program's, ours, and that to the server.
//!
//! # Map
//!
//! - [`config`][]: a relay as it is asked for.
//! - [`relays`][]: hosts and what joins them to programs, without a socket or a clock. [`joint`]: one stream and its
//!   connection, with flow control both ways. [`host`]: IP, UDP and TCP of an attached node.
//! - [`sockets`][]: the machine's sockets, and the loop that keeps the pace. [`clock`]: the time there.
//!
//! # What holds, and why
//!
//! - Memory is bounded, whatever programs do: by the buffers of TCP and what waits for a socket, times the connections
//!   that a relay has; by the senders of datagrams that it knows.
//! - Nothing outruns anything: a socket is read as far as our connection has room, and the window of our connection
//!   closes while a socket takes nothing.

mod clock;
mod config;
mod host;
mod joint;
mod relays;
mod sockets;

pub use config::{RelayConfig, RelayError, RelayProtocol};
pub use host::{
    ArrivedDatagram, HostConfig, HostInterface, RelayHost, UnsentDatagram, in_frame, out_of_frame,
};
pub use relays::{
    RELAY_CONNECTIONS_MAX, RELAY_SENDERS_MAX, RelayCounters, RelaySocket, Relays, SocketAction,
};
pub use slantpath_tcp::TcpConfig;
pub use sockets::RelayDoors;
