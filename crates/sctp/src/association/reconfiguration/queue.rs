//! Requests of the layer above that wait until those before them have been answered.

use super::{Change, Reconfiguration, Request};
use crate::event::Message;
use crate::reconfiguration::StreamSet;
use crate::types::StreamId;

impl Reconfiguration {
    /// Takes a request over: it is the next at once, or waits for its turn. Resets that wait next to each other become
    /// one, as long as it names `most` streams or fewer.
    pub(super) fn put(&mut self, mut request: Request, most: usize) {
        let is_behind = |(ordinal, message): &(u64, Message)| {
            *ordinal == self.last_ordinal && request.holds(message.stream)
        };
        // What lies between two requests stays between them.
        if !self.held.iter().any(is_behind)
            && let Some(last) = self.queued.back_mut()
            && last.join(&request, most)
        {
            return;
        }
        self.last_ordinal += 1;
        request.ordinal = self.last_ordinal;
        match self.own {
            //= https://www.rfc-editor.org/rfc/rfc6525#section-5.1.1
            //# At any given time, there MUST NOT be more than one request in flight.
            Some(_) => self.queued.push_back(request),
            None => self.own = Some(request),
        }
    }

    /// Our request is over: what the peer has asked for meanwhile is the next, or what has waited longest.
    pub(super) fn advance(&mut self) {
        let asked = self.asked.take().map(|(request, streams)| {
            Request::new([Change::ResetOutbound { streams, answers: Some(request) }])
        });
        self.own = asked.or_else(|| self.queued.pop_front());
    }

    /// Tells if messages that were handed over before our next request, on streams that it resets, wait for a reset
    /// that the peer has asked for.
    pub(super) fn has_held_before_own(&self) -> bool {
        let Some(own) = &self.own else { return false };
        self.held.iter().any(|(ordinal, message)| *ordinal < own.ordinal && own.holds(message.stream))
    }

    /// Our requests that are not over, in their order.
    pub(super) fn requests(&self) -> impl Iterator<Item = &Request> {
        self.own.iter().chain(&self.queued)
    }

    /// Tells if one of our requests that is not over makes such a change.
    pub(super) fn is_asked_for(&self, is_meant: impl Fn(&Change) -> bool) -> bool {
        self.requests().flat_map(|request| &request.parts).any(|part| is_meant(&part.change))
    }

    /// Numbers of streams that requests ask for which are not over: to send on, and for the peer.
    pub(super) fn streams_asked_for(&self) -> [u32; 2] {
        let parts = self.requests().flat_map(|request| &request.parts).filter(|part| !part.is_answered);
        parts.fold([0, 0], |[outbound, inbound], part| match part.change {
            Change::AddOutbound { count, .. } => [outbound + u32::from(count), inbound],
            Change::AddInbound(count) => [outbound, inbound + u32::from(count)],
            Change::ResetOutbound { .. } | Change::ResetInbound(_) | Change::ResetAssociation => {
                [outbound, inbound]
            }
        })
    }
}

impl Request {
    /// Tells if a message on `stream` that was handed over behind the request has to wait for it.
    pub(super) fn holds(&self, stream: StreamId) -> bool {
        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.1.2
        //# A1:  The sender MUST stop assigning new SSNs to new user data
        //# provided by the upper layer for the affected streams and queue
        //# it.

        //= https://www.rfc-editor.org/rfc/rfc6525#section-5.1.4
        //# The sender MUST queue any user
        //# data, suspending any new transmissions and TSN assignment until
        //# the reset procedure is finished by the peer either acknowledging
        //# or denying the request.
        self.parts.iter().any(|part| match &part.change {
            Change::ResetOutbound { streams, .. } => streams.contains(stream),
            Change::ResetAssociation => true,
            Change::ResetInbound(_) | Change::AddOutbound { .. } | Change::AddInbound(_) => false,
        })
    }

    /// Takes another request that follows into this one, if both reset streams that we send on, and no others. A stream
    /// that is reset by both is reset twice, since messages may lie between.
    fn join(&mut self, later: &Self, most: usize) -> bool {
        let ([own], [other]) = (&mut self.parts[..], &later.parts[..]) else { return false };
        let (
            Change::ResetOutbound { streams, answers: None },
            Change::ResetOutbound { streams: more, answers: None },
        ) = (&mut own.change, &other.change)
        else {
            return false;
        };
        let (first, second) = (streams.listed(), more.listed());
        let are_listed = !first.is_empty() && !second.is_empty();
        if !are_listed
            || first.len() + second.len() > most
            || second.iter().any(|stream| streams.contains(*stream))
        {
            return false;
        }
        *streams = StreamSet::of(&[first, second].concat());
        true
    }
}
