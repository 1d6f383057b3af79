//! One entity of a signalling network as a program of a host: a signalling point with its links and its gateway, or an
//! application server process.
//!
//! [`Seat`] is the program ([`slantpath_live::Program`]). It holds the same objects as a run does
//! (`slantpath_signalling`), and the associations by which their peers are reached, which it knows by address and port.
//! It knows neither clock nor socket: over [`slantpath_live::Live`] it is a gateway in operation, at a node of a
//! simulated network it does the same in virtual time.
//!
//! # Map
//!
//! - [`seat`][]: hands on what the entity, its associations and its users have for one another, and ends in order.
//! - [`entity`][]: a point or a process, driven alike. [`association`]: keeps up what carries its signalling.
//! - [`difference`][]: what a reload changes, in words; `seat::reload` makes it as a transaction.
//! - [`happening`][]: what is told of it, with names. [`traced`][]: which association has had which socket.
//!   [`copies`]: messages for whoever captures. [`titles`][]: where global titles go, in words.
//! - `seat/status.rs`: its state, for who operates it. `seat/orders.rs`: what that person asks of it.
//! - [`message_trace`][]: messages of a title or a point as they pass, for who asks by `seat/trace.rs`.
//!   [`passage`][]: who looks on as messages pass. [`user_message`][]: a message as an association carries it.
//! - [`standstill`][]: peers that live and take nothing, as `seat/watch.rs` sees them.
//! - `seat/metrics.rs`: figures for Prometheus, as [`exposition`][] writes them. [`delays`][]: delays through the seat.
//! - `bench.rs`: several seats as one traffic simulator, which has the users of their loads.

mod association;
mod bench;
mod copies;
mod delays;
mod difference;
mod entity;
mod exposition;
mod happening;
mod message_trace;
mod passage;
mod seat;
mod standstill;
mod titles;
mod traced;
mod user_message;

pub use association::{AssociationCounts, SeatAssociation};
pub use bench::{BenchConfig, BenchSeat, FarEnd, TrafficBench};
pub use copies::{CopiedMessage, Copies};
pub use exposition::MetricKind;
pub use happening::Happening;
pub use seat::captured::CaptureChange;
pub use seat::metrics::{GatewayMetric, METRICS, Measuring, metrics_page};
pub use seat::{ReloadError, RunningSeat, Seat, SeatConfig, SeatReport, Successor};
pub use slantpath_signalling::network::SignallingEntity;
pub use slantpath_sigtran::transport::AssociationNumber;
pub use slantpath_traffic::{Clocks, LinkLoadReport, StatusCounts};
pub use titles::{ReachedNow, TitleError, TitleExplanation, TitleQuestion, WrittenTitle, explain_title};
pub use traced::SocketTaken;
