//! MTP level 2 (ITU-T Q.703) as the model of a signalling link on a bearer of fixed rate.
//!
//! [`Link`] is one terminal: alignment, both methods of error correction, error rate monitors, flow control,
//! processor outage and retrieval. [`Bearer`] is one direction of the line between two terminals.
//!
//! A line is never silent: when there is nothing to say, fill-in or status units follow each other without a gap. A
//! terminal tells of such a unit once, when it begins to repeat ([`Transmission::repeats`]); the bearer and the other
//! terminal know that it goes on until another unit comes. So an idle link costs no events, and still a message waits
//! for the end of the fill-in unit before it, an error in idle time is counted by the monitors, and a fill-in unit
//! that is damaged is read one period later.

mod alignment;
mod bearer;
mod config;
mod counters;
mod link;
mod link_state;
mod monitor;
mod receiver;
mod sender;
mod unit;

pub use alignment::{ALIGNMENT, AlignmentAction, AlignmentInput, AlignmentState};
pub use bearer::{Arrival, Bearer};
pub use config::{Config, ConfigError, ErrorCorrection};
pub use counters::Counters;
pub use link::{Link, Output, Transmission};
pub use link_state::{LINK_STATE, LinkAction, LinkInput, LinkState};
pub use unit::{Header, LinkStatus, SignalUnit, UnitError, frame_check, octets_on_line};
