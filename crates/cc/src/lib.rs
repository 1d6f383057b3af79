//! Round-trip estimation and congestion controllers, pure arithmetic over bytes and time.
//!
//! Nothing here knows a packet, a sequence number or a timer: a transport says what was measured,
//! acknowledged or lost, and reads back a timeout or a window.
//!
//! # Map
//!
//! - [`rtt`][]: RTO estimation (RFC 6298) for SCTP and TCP alike, with [`back_off`].
//! - [`control`][]: the trait of congestion controllers over events, which both transports drive.
//! - [`new_reno`] for TCP, [`sctp`] (RFC 9260, section 7.2); for both, [`cubic`] (RFC 9438), [`hybla`], [`westwood`],
//!   [`bbr`], [`bbr3`], and [`backlog`], of this project.
//! - [`controller`][]: the choice among them, an enum without dynamic dispatch, which declares each with its name in
//!   files; [`terms`][]: what a transport asks of the one that is chosen.
//! - [`own`][]: controllers that a program brings along itself.
//! - [`slow_start`][]: HyStart++ (RFC 9406), and HyStart as in Linux and for long paths. Controllers share it.
//! - [`delivery`][]: rate and rounds, from what each packet remembers of its departure.
//! - [`inflation`] (RFC 6582) and [`prr`] (RFC 6937): the window during a recovery, which is not the controller's.
//! - [`rack`] (RFC 8985): losses by time, along [`sent_order`], a list beside a transport's records.
//! - [`pacer`][]: spaces departures, by what [`pacing`] has worked out of a rate once for all segments.
//!
//! `tests/bottleneck` judges any controller over one queue, without a transport.

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
mod own;
mod pacer;
mod pacing;
mod probe_rtt;
mod prr;
pub mod rack;
pub mod rtt;
pub mod sctp;
mod sent_order;
mod slow_start;
mod terms;
pub mod westwood;
mod windowed;

pub use back_off::BackOff;
pub use backlog::{Backlog, BacklogConfig};
pub use bbr::{Bbr, BbrConfig};
pub use bbr3::Bbr3;
pub use control::CongestionControl;
pub use controller::{Algorithm, Controller, NamedAlgorithm, SCTP_STANDARD, TCP_STANDARD};
pub use cubic::{Cubic, CubicConfig};
pub use hybla::{Hybla, HyblaConfig};
pub use inflation::InflatedWindow;
pub use new_reno::{InitialWindow, NewReno, NewRenoConfig};
pub use own::{OwnChoice, OwnControl, OwnController, OwnControllers};
pub use pacer::Pacer;
pub use prr::ProportionalWindow;
pub use rack::Rack;
pub use rtt::{RtoConfig, RttEstimator};
pub use sctp::{SctpController, SctpPolicy};
pub use sent_order::SentOrder;
pub use slow_start::SlowStart;
pub use terms::Terms;
pub use westwood::Westwood;
