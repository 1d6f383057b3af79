//! A signalling network in the simulator.
//!
//! [`SignallingNetwork`] puts signalling points, application server processes and served points
//! (`slantpath_signalling`) together, as the configuration there says. It owns what is between them and above them, the
//! 64 kbit/s lines and the loads (`slantpath_traffic`), and keeps the record of what happened. A link of M2PA or an
//! association of M3UA runs over SCTP at the hosts of a packet network: [`SignallingSimulation`] runs both together,
//! event by event.
//!
//! A point, a line, a load that has nothing to do is not looked at: what has work stands in a queue, what waits in a
//! calendar.
//!
//! # Map
//!
//! - [`network`][]: hands on what one entity gives another.
//! - [`mod@line`][]: a line of MTP2 between two points.
//! - [`flow_m3ua`][]: M3UA between a flow and its association, which hosts know as a layer.
//! - [`servers`][]: the choice of the process by which a message leaves. [`record`]: the events.
//! - [`simulation`][]: runs the signalling network beside the packet network.
//!
//! # What holds, and why
//!
//! - A point, line, load, place or host at which nothing happens costs nothing. What has work is taken in rounds, in
//!   the order in which a loop over everything would come to it; results are those of such a loop.
//! - This driver is a crate of its own. Tests and benchmarks compose points, lines and hosts without a file, so it is
//!   not in `slantpath_scenario`. `slantpath_host` would have to know points, and
//!   `slantpath_signalling` runs without a simulator.

mod flow_m3ua;
mod line;
mod management;
mod network;
mod record;
mod servers;
mod simulation;

pub use flow_m3ua::{FLOW_M3UA, SIGNALLING_LINK_SELECTIONS};
pub use network::SignallingNetwork;
pub use record::{AdaptationEvent, DivertedTraffic, Event, LinkAvailability};
pub use simulation::{AssociationPlace, SignallingSimulation};
pub use slantpath_signalling::network::{
    AdaptationId, AspId, AssociationSide, Carried, GatewayId, LinkChange, ManagementChange, NetworkConfig,
    NetworkConfigError, PointId, ServedPointId, ServerId, Side, SignallingLinkId, SignallingProcess,
    UserPlace,
};
pub use slantpath_traffic::LinkLoadReport;
