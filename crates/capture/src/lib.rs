//! Captures of real networks, read as a stream: frames, the packets in them, and of their messages the sizes and the
//! instants alone.
//!
//! A [`CaptureReader`] gives the [`CapturedFrame`]s of a pcap or a pcapng file one after the other. An [`Importer`] is
//! shown each of them, and hands out what a scenario reads: lines of traces, then, at the end, the text of scenarios
//! around them and a [`ImportReport`] of all that was seen. What cannot be used is counted by its [`Unused`] reason;
//! nothing is left out in silence. Memory grows with the number of flows, up to [`FLOWS_MAX`], and not with the
//! capture.
//!
//! [`CapturedAssociations`] are shown the same frames, and tell what both ends of each association of SCTP did:
//! retransmissions and what led to them, paths, restarts, the end.
//!
//! Parsing is total: any bytes give frames or a [`CaptureError`], which says where the file is wrong.
//!
//! # Map
//!
//! - [`mod@file`][]: the formats of files, frame by frame.
//! - [`frame`][]: headers of links: from a frame to an IP packet or a signal unit.
//! - [`ip`][]: headers of IP with their extensions, and fragments put together again.
//! - [`arrivals`][]: the first transmission of each piece of data: TSNs of SCTP, sequence numbers of TCP.
//! - [`messages`][]: SCTP's messages, put together from their fragments.
//! - [`signalling`][]: messages of M2PA, M3UA and MTP3: the points and the selection that they are of.
//! - [`units`][]: signal units that a line of MTP2 has repeated.
//! - [`trace`][]: lines of a trace in order of time.
//! - [`decisions`][]: what the ends of an association of SCTP did, as records of `slantpath_trace`, which tells them.
//!   `decisions/sender` follows one direction, `decisions/diversions` the signalling that leaves one for another.
//! - [`import`][]: follows all of that, and knows flows and loads. `import/flows`, `import/loads` keep them,
//!   `import/scenario` writes scenarios, `import/report` tells what was seen.

mod arrivals;
mod decisions;
mod file;
mod frame;
mod import;
mod ip;
mod messages;
#[cfg(test)]
mod packets;
mod signalling;
mod trace;
mod units;

pub use decisions::{CapturedAssociations, CapturedDirection, CapturedDiversion, CapturedEnds};
pub use file::{CaptureError, CaptureReader, CapturedFrame, is_capture};
pub use frame::LinkType;
pub use import::flows::{CapturedProtocol, FLOWS_MAX, FlowReport};
pub use import::loads::{ImportedLoad, LOADS_MAX};
pub use import::report::{Finding, ImportReport, Unused};
pub use import::{Filter, Importer, Output};
pub use slantpath_ss7::PointCodeFormat;
