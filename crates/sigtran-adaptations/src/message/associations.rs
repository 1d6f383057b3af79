//! The associations of a gateway or a process: how many streams each has, and what is left to do with what its
//! transport tells.

use std::collections::BTreeMap;

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_sigtran::asp::{self, AspMessage, Process};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, TransportInput};

use crate::drops::{DropReason, Drops};
use crate::message::{Message, Vocabulary, receive};

/// Associations that are up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Associations(BTreeMap<AssociationNumber, Link>);

/// An association that is up.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// Number of streams on which we may send.
    streams: u16,
    /// True if the send queue holds more than it should.
    is_congested: bool,
}

/// Task of the layer upon an input of a transport; the engine of its ASPs knows of the input already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Received<V: Vocabulary> {
    /// Answer with this ERR on stream 0.
    Answer(AspMessage<V::Layer>),
    /// Tell that the transport is congested, or no longer.
    Congested(bool),
    /// Handle a message, which is here as it came as well.
    Message(Message<V>, Bytes),
    /// Nothing to do.
    Nothing,
}

impl Associations {
    pub(crate) fn contains(&self, association: AssociationNumber) -> bool {
        self.0.contains_key(&association)
    }

    /// Gives the number of streams of an association; one if it is down.
    pub(crate) fn streams(&self, association: AssociationNumber) -> u16 {
        self.0.get(&association).map_or(1, |link| link.streams)
    }

    /// Tells whether the transport of an association is congested.
    pub(crate) fn is_congested(&self, association: AssociationNumber) -> bool {
        self.0.get(&association).is_some_and(|link| link.is_congested)
    }

    pub(crate) fn handle<V: Vocabulary>(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        input: TransportInput,
        asps: &mut asp::Gateway<V::Layer>,
        drops: &mut Drops,
    ) -> Received<V> {
        match input {
            TransportInput::Up { outbound_streams } => {
                let link = Link { streams: outbound_streams.max(1), is_congested: false };
                self.0.insert(association, link);
                asps.handle_association_up(now, association);
            }
            TransportInput::Down => {
                self.0.remove(&association);
                asps.handle_association_down(now, association);
            }
            // Nothing asks for these.
            TransportInput::Transmitted(_) | TransportInput::Unsent(_) => {}
            TransportInput::Restart => asps.handle_restart(now, association),
            TransportInput::Congested(is_congested) => {
                if let Some(link) = self.0.get_mut(&association) {
                    link.is_congested = is_congested;
                }
                return Received::Congested(is_congested);
            }
            TransportInput::Message { stream, payload_protocol, octets } => {
                let Some(Link { streams, .. }) = self.0.get(&association).copied() else {
                    drops.count(DropReason::AssociationDown);
                    return Received::Nothing;
                };
                asps.note_received(now, association);
                return received(stream, streams, payload_protocol, octets, drops);
            }
        }
        Received::Nothing
    }
}

/// The streams of a process's one association, as many as it had when it last came up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Streams(pub(crate) u16);

impl Streams {
    pub(crate) fn handle<V: Vocabulary>(
        &mut self,
        now: Instant,
        input: TransportInput,
        asp: &mut Process<V::Layer>,
        drops: &mut Drops,
    ) -> Received<V> {
        match input {
            TransportInput::Up { outbound_streams } => {
                self.0 = outbound_streams.max(1);
                asp.handle_association_up(now);
            }
            TransportInput::Down => asp.handle_association_down(now),
            // Nothing asks for these.
            TransportInput::Transmitted(_) | TransportInput::Unsent(_) => {}
            TransportInput::Restart => asp.handle_restart(now),
            TransportInput::Congested(is_congested) => return Received::Congested(is_congested),
            TransportInput::Message { .. } if !asp.is_connected() => drops.count(DropReason::AssociationDown),
            TransportInput::Message { stream, payload_protocol, octets } => {
                asp.note_received(now);
                return received(stream, self.0, payload_protocol, octets, drops);
            }
        }
        Received::Nothing
    }
}

fn received<V: Vocabulary>(
    stream: StreamNumber,
    streams: u16,
    payload_protocol: u32,
    octets: Bytes,
    drops: &mut Drops,
) -> Received<V> {
    match receive::<V>(stream, streams, payload_protocol, &octets) {
        Ok(message) => Received::Message(message, octets),
        Err(refusal) => {
            drops.count(refusal.reason);
            refusal.answer.map_or(Received::Nothing, Received::Answer)
        }
    }
}
