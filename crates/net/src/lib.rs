//! The simulated network: packets, links, queues, impairments, routes and the run loop.
//!
//! A [`NetworkBuilder`] collects nodes, links and addresses into a [`NetworkGraph`]; a [`Network`] runs it with
//! end systems that implement [`Host`], each interface of which is an end of a link ([`LinkEnd`]).
//! Packets are real bytes, but a hop touches none of them: a packet's
//! destination is looked up once, where it is sent, and what links and routers need of it travels in a few
//! words beside it. Nothing here knows TCP, SCTP or a satellite.

mod address_names;
mod capture;
mod conditioner;
mod fabric;
mod graph;
mod header;
mod host_pairs;
mod id;
mod journeys;
mod link;
mod network;
mod outside;
mod parcel;
mod planned;
mod probe;
mod routes;
mod sampler;
mod script;
mod slots;
mod source;

pub use capture::CaptureId;
pub use conditioner::{
    Classifier, Colour, ColourMode, ConditioningAction, ConditioningRule, FlowPorts, MeterConfig, MeterScope,
    Profile,
};
pub use graph::{GraphError, NetworkBuilder, NetworkGraph, Routing};
pub use host_pairs::{Delays, HostPair};
pub use id::{DirectionId, LinkEnd, LinkId, NodeId, SharedPortId};
pub use link::{
    ArqConfig, ArqOrder, AtHandover, BeyondMax, Bursts, ChannelState, CoDelConfig, CongestionSignal, Contact,
    Count, Counters, Delay, DelayCurve, DelayPiece, DirectionConfig, DropReason, DrrClass, DrrConfig,
    FqCoDelConfig, FrameConfig, GilbertElliott, HeaderCompression, LeftBehind, Measure, Precedence,
    QueueConfig, QueueLimit, QueueStatistics, RedConfig, RedThresholds, Reordering, ShaperConfig,
    SharedPortStatistics, SlotRun, WhileDown,
};
pub use network::Network;
pub use outside::{InjectError, OutsidePacket, RecordError};
pub use parcel::DestinationId;
pub use planned::Planned;
pub use probe::{QueueProbe, QueueSample, Sampling};
pub use routes::Routes;
pub use script::Change;
pub use slantpath_interface::{Host, InterfaceId, Journey};
pub use source::{Demand, Leaving, Links, Source};
