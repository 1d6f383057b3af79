//! Layers of signalling between a flow and its transport. A crate above brings them, for what they speak is none of a
//! host's business.

use core::fmt::Debug;

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_wire::transport::{Transmit, TransportInput};

/// A layer that speaks for itself before messages of a flow may go. It is no trait, so that a configuration has one
/// pointer to it.
#[derive(Debug)]
pub struct FlowLayer {
    /// Name of it, as the end of a flow is told.
    pub name: &'static str,
    /// Makes the layer of a flow's sender.
    pub sending: fn() -> Box<dyn SendingLayer>,
    /// Makes the layer of a flow's receiver.
    pub receiving: fn() -> Box<dyn ReceivingLayer>,
}

/// Layer below a sender.
pub trait SendingLayer: Debug + Send {
    /// The association told something.
    fn handle_input(&mut self, now: Instant, input: TransportInput);
    /// The time has come that [`SendingStep::Wait`] named, or has not yet.
    fn handle_deadline(&mut self, now: Instant);
    /// Demand that it has next.
    fn poll(&mut self, now: Instant) -> SendingStep;
    /// Wraps a message of the sender's stream; `None` if it has been dropped, which is counted.
    fn wrap(&mut self, now: Instant, stream: u16, payload: Bytes) -> Option<Transmit>;
}

/// Demand of a layer on the sender's end.
#[derive(Debug)]
pub enum SendingStep {
    /// Traffic may flow.
    Active,
    /// Traffic must not flow any more.
    Stopped,
    /// A message of the layer's own is to be sent.
    Transmit(Transmit),
    /// Nothing until this instant, or until something is told.
    Wait(Option<Instant>),
}

/// Layer below a receiver.
pub trait ReceivingLayer: Debug + Send {
    /// The association told something.
    fn handle_input(&mut self, now: Instant, input: TransportInput);
    /// The time has come that [`ReceivingStep::Wait`] named, or has not yet.
    fn handle_deadline(&mut self, now: Instant);
    /// Demand that it has next.
    fn poll(&mut self, now: Instant) -> ReceivingStep;
}

/// Demand of a layer on the receiver's end.
#[derive(Debug)]
pub enum ReceivingStep {
    /// A message of the flow has come, on this stream of the sender's.
    Deliver(u16, Bytes),
    /// A message of the layer's own is to be sent.
    Transmit(Transmit),
    /// Nothing until this instant, or until something is told.
    Wait(Option<Instant>),
}
