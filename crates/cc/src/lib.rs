//! Round-trip estimation and congestion controllers, pure arithmetic over bytes and time.
//!
//! Nothing here knows a packet, a sequence number or a timer: a transport says what was measured,
//! acknowledged or lost, and reads back a timeout or a window.

mod back_off;
pub mod backlog;
pub mod bbr;
pub mod bbr3;
pub mod control;
mod controller;
pub mod cubic;
pub mod delivery;
#[cfg(test)]
mod history;
pub mod hybla;
mod inflation;
mod least_round_trip;
pub mod new_reno;
mod pacer;
mod pacing;
mod probe_rtt;
mod prr;
pub mod rack;
pub mod rtt;
pub mod sctp;
mod sent_order;
mod slow_start;
mod windowed;

pub use back_off::BackOff;
pub use backlog::{Backlog, BacklogConfig};
pub use bbr::{Bbr, BbrConfig};
pub use bbr3::Bbr3;
pub use control::CongestionControl;
pub use controller::{Algorithm, Controller};
pub use cubic::{Cubic, CubicConfig};
pub use hybla::{Hybla, HyblaConfig};
pub use inflation::InflatedWindow;
pub use new_reno::{InitialWindow, NewReno, NewRenoConfig};
pub use pacer::Pacer;
pub use prr::ProportionalWindow;
pub use rack::Rack;
pub use rtt::{RtoConfig, RttEstimator};
pub use sctp::{SctpController, SctpPolicy};
pub use sent_order::SentOrder;
pub use slow_start::SlowStart;
