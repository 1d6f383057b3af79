//! The simulated network: packets, links, queues, impairments, routes and the run loop.
//!
//! A [`NetworkBuilder`] collects nodes, links and addresses into a [`NetworkGraph`]; a [`Network`] runs it with
//! end systems that implement [`EndSystem`], each interface of which is an end of a link ([`LinkEnd`]).
//! Packets are real bytes, but a hop touches none of them: a packet's
//! destination is looked up once, where it is sent, and what links and routers need of it travels in a few
//! words beside it. Nothing here knows TCP, SCTP or a satellite.
//!
//! # Map
//!
//! - [`graph`][]: a [`NetworkBuilder`] checks a plan into a [`NetworkGraph`]. [`network`] runs it.
//! - [`link`] is one direction. A `link/port` admits packets (`admission`, `queue`) and serves them; a
//!   `link/lane` carries them (`channel` with `bit_errors` and `bursts`, `flight`, `propagation`). A port is handed its
//!   lane with every call, so that it can feed another.
//! - A port has one of two transmitters. `link/transmitter` is the closed form: a packet's departure is known when it
//!   comes, and needs no event. `link/scheduler` is event-driven: it chooses a packet when the one before has been
//!   sent.
//! - `link/queue` declares the disciplines, each in a file of its own; those that the scheduler has keep what waits. It
//!   alone sends in one of the ways of `link/sending`: with `arq` (repetition by the link), with `header_compression`,
//!   with a `shaper`'s tokens, or in the slots of `frames`.
//! - Both transmitters ask `link/service` when a packet will have been sent, and nothing else.
//! - `link/contact` is a direction that leads to one node after another, each with the polynomials of its delay
//!   (`contact_delay`). The receiver follows from a packet's departure, so that nothing is kept for packets in
//!   flight. `link/shared_port` is one transmitter of several such directions.
//! - [`conditioner`][]: classifies, meters, marks or polices a packet before it is offered to a port (RFC 2475). It is
//!   the only part of a hop that reads ports off a packet, and what it remembers of flows is bounded.
//! - [`fabric`][]: links, routers and the packets on them. A packet longer than its next link carries is cut there, or
//!   reported.
//! - [`source`][]: changes and next hops, by static dispatch. [`planned`] has the plan's [`script`] and the shortest
//!   [`routes`]: a tree for each router with hosts, grown on demand. `slantpath_sat` has contact plans.
//! - [`observers`] is the hook of all that looks at packets: [`host_pairs`], [`capture`], and [`journeys`], which notes
//!   beside the packets the parts of their delays. A [`probe`] looks at a queue.
//! - [`packets`] keeps the bytes of packets; a [`parcel`] is what links and routers need of one.
//! - [`ways`][]: from when on a way from one node to another carries nothing, and why.
//! - [`outside`][]: the way in for packets that are not simulated, each with its instant, and the way out. Its record
//!   repeats a run (`docs/models/event-kernel.md`). A link between two outside nodes may carry frames: a parcel knows
//!   that its bytes are one.
//!
//! # What holds
//!
//! - A packet's fate on a link is settled when its first bit is sent. With frames, it is handed to the lane when its
//!   last byte has left, since an allocation may change before.
//! - Destination, length, hop limit and traffic class travel in a few words beside the packet.
//! - A link has one way in, `Fabric::offer`. A direction is told when it is asked for more than to keep packets in
//!   order and to drop those without room (`link/asked`). One that is asked for nothing does nothing else, and no
//!   packet asks again. Channels and observers come on top of that rule; other queues, conditioners and shared
//!   transmitters replace it.
//! - A direction may be *steered*: its source then decides for every packet where it goes as it is about to be sent.
//!   The source may look at the packet's flow and at what waits.

mod address_names;
mod capture;
mod conditioner;
mod drops;
mod fabric;
mod graph;
mod header;
mod host_pairs;
mod id;
mod journeys;
mod link;
mod network;
mod observers;
mod outside;
mod packets;
mod parcel;
mod planned;
mod probe;
mod routes;
mod sampler;
mod script;
mod slots;
mod source;
mod ways;

pub use capture::CaptureId;
pub use conditioner::{
    Classifier, Colour, ColourMode, ConditioningAction, ConditioningRule, FlowPorts, MeterConfig, MeterScope,
    TrafficProfile,
};
pub use drops::{DroppedFlow, DroppedPacket};
pub use graph::{GraphError, NetworkBuilder, NetworkGraph, Routing};
pub use host_pairs::{Delays, HostPair};
pub use id::{DirectionId, LinkEnd, LinkId, NodeId, SharedPortId};
pub use link::queue::*;
pub use link::{
    ArqConfig, ArqOrder, AtHandover, CarriageTerms, ChannelState, CongestionSignal, Delay, DelayCurve,
    DelayPiece, DirectionConfig, DirectionCounters, DropReason, FrameConfig, GilbertElliott,
    HeaderCompression, LeftBehind, LinkContact, PacketCount, QueueLimit, QueueStatistics, Reordering,
    SendingConfig, ShaperConfig, SharedPortStatistics, SlotRun, SlotRuns, WhileDown,
};
pub use network::Network;
pub use outside::{InjectError, OutsidePacket};
pub use parcel::DestinationId;
pub use planned::Planned;
pub use probe::{QueueProbe, QueueSample, Sampling};
pub use routes::Routes;
pub use script::Change;
pub use slantpath_interface::{EndSystem, InterfaceId, Journey};
pub use source::{Changeable, Demand, Leaving, Links, Source};
pub use ways::{OutageCause, Way, WayChange, WayOutage};
