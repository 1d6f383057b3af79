//! TCP as the studies need it, sans-IO: SACK, NewReno, RTO, delayed ACK and window scaling.
//!
//! An [`Endpoint`] is the TCP of one host. Packets and deadlines go in through
//! [`handle_input`](Endpoint::handle_input), commands through its other methods, and whatever follows from
//! them is drained from [`poll_output`](Endpoint::poll_output) until it says `Wait`. Nothing here reads a
//! clock, opens a socket or draws chance from elsewhere than the stream handed in.
//!
//! | module | concern |
//! |---|---|
//! | `segment`, `options` | bytes on the wire |
//! | `endpoint` | which connection a segment belongs to, listeners, deadlines |
//! | `connection` | the states of RFC 9293 and what each makes of a segment |
//! | `tx` | the send stream, the scoreboard, loss recovery, timers of retransmission |
//! | `rx` | reassembly, acknowledgements, the receive window |
//!
//! `tx` has the scoreboard of RFC 6675, or detects losses by time (RFC 8985), and has recovery, probes and pacing.
//! `connection/ecn` has ECN.

mod config;
mod connection;
mod endpoint;
mod event;
mod line;
mod options;
mod rx;
mod segment;
mod tx;

pub use config::{
    ChecksumPolicy, DelayedAck, LossDetection, LossRecovery, RttSampling, SackRecovery, TcpConfig,
    TcpReports, WindowLimit,
};
pub use connection::{ConnectionState, Snapshot};
pub use endpoint::{Chance, CommandError, ConnectionId, Endpoint, Input, Output, Statistics};
pub use event::{Event, ResetCause};
pub use options::{Options, SackBlock, SackBlocks, Timestamps};
pub use segment::{Flags, Segment, SequenceNumber};
