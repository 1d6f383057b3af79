//! Requests of the layer above before the association is there: messages, and to shut down.

use std::collections::VecDeque;

use slantpath_base::Instant;

use crate::association::Association;
use crate::config::{SctpConfig, held};
use crate::event::{Event, Message, SendError};
use crate::reliability::{Reliability, ReliabilityPolicy};
use crate::tx::Backlog;

/// Requests of the layer above before the association is there.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlyRequests {
    /// Messages that have not been given up, in the order in which they were handed over. Most are given up in that
    /// order.
    messages: VecDeque<EarlyMessage>,
    /// Instant at which the first of them expires, or one before it.
    next_expiry: Option<Instant>,
    queued_bytes: u64,
    backlog: Backlog,
    is_shutdown_requested: bool,
}

/// A message that has been handed over.
#[derive(Clone, Debug)]
struct EarlyMessage {
    message: Message,
    /// Instant at which the lifetime is over, which begins when the message is handed over and not when the association
    /// is there.
    expiry: Option<Instant>,
}

impl EarlyMessage {
    fn new(now: Instant, message: Message) -> Self {
        let expiry = match reliability_of(&message) {
            Reliability::Lifetime(lifetime) => Some(now.saturating_add(lifetime)),
            Reliability::Full | Reliability::Retransmissions(_) | Reliability::Priority(_) => None,
        };
        Self { message, expiry }
    }

    /// The message with what is left of its lifetime.
    fn as_of(&self, now: Instant) -> Message {
        let mut message = self.message.clone();
        if let (Some(options), Some(expiry)) = (&mut message.options, self.expiry) {
            options.reliability = Reliability::Lifetime(expiry.saturating_since(now));
        }
        message
    }

    /// Tells if this is the message that an association reports as given up, which it reports without its options.
    fn is(&self, given_up: &Message, policy: ReliabilityPolicy) -> bool {
        let is_by_policy = match reliability_of(&self.message) {
            Reliability::Full => false,
            Reliability::Lifetime(_) => policy == ReliabilityPolicy::Lifetime,
            Reliability::Retransmissions(_) => policy == ReliabilityPolicy::Retransmissions,
            Reliability::Priority(_) => policy == ReliabilityPolicy::Priority,
        };
        is_by_policy
            && self.message.context == given_up.context
            && Message { options: None, ..self.message.clone() } == *given_up
    }
}

fn reliability_of(message: &Message) -> Reliability {
    message.options.as_ref().map_or(Reliability::Full, |options| options.reliability)
}

/// The earlier of two instants, if there is one.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

impl EarlyRequests {
    /// Keeps a message until it can be sent.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        message: Message,
        config: &SctpConfig,
    ) -> Result<(), SendError> {
        if self.is_shutdown_requested {
            return Err(SendError::ShuttingDown);
        }
        if message.payload.is_empty() {
            return Err(SendError::Empty);
        }
        // How many streams the peer allows is not known yet.
        if message.stream.0 >= config.outbound_streams {
            let available = config.outbound_streams;
            return Err(SendError::NoSuchStream { stream: message.stream, available });
        }
        let (wanted, limit) = (message.payload.len() as u64, config.send_buffer_bytes);
        if wanted > limit {
            return Err(SendError::TooLong { len: wanted, limit });
        }
        let has_places = (self.messages.len() as u64) < config.most_messages();
        let free = if has_places { limit.saturating_sub(self.queued_bytes) } else { 0 };
        if wanted > free {
            self.note_refusal();
            return Err(SendError::BufferFull { wanted, free });
        }
        self.keep(now, message);
        Ok(())
    }

    /// Keeps a message that has been accepted elsewhere.
    pub(crate) fn keep(&mut self, now: Instant, message: Message) {
        self.queued_bytes += message.payload.len() as u64;
        let early = EarlyMessage::new(now, message);
        self.next_expiry = earlier(self.next_expiry, early.expiry);
        self.messages.push_back(early);
    }

    /// A message was refused for want of room.
    pub(crate) const fn note_refusal(&mut self) {
        self.backlog = Backlog::Refused { buffered_bytes: u64::MAX };
    }

    /// Tells if a message was refused for want of room.
    pub(crate) fn owes_room(&self) -> bool {
        matches!(self.backlog, Backlog::Refused { .. })
    }

    /// Bytes that the messages count with among those that all associations of the endpoint hold.
    pub(crate) fn held(&self) -> u64 {
        held(self.queued_bytes, self.messages.len() as u64)
    }

    /// Instant at which the next message expires, while none of them has been sent.
    pub(crate) const fn next_expiry(&self) -> Option<Instant> {
        self.next_expiry
    }

    /// Gives up what has expired, while nothing has been sent, and says so.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<Event> {
        if self.next_expiry.is_none_or(|expiry| expiry > now) {
            return Vec::new();
        }
        let is_over = |early: &EarlyMessage| early.expiry.is_some_and(|expiry| expiry <= now);
        let messages = core::mem::take(&mut self.messages).into_iter();
        let (expired, left): (VecDeque<_>, VecDeque<_>) = messages.partition(is_over);
        self.messages = left;
        self.next_expiry = self.messages.iter().filter_map(|early| early.expiry).min();
        let told = expired.into_iter().map(|early| {
            self.queued_bytes -= early.message.payload.len() as u64;
            let message = Message { options: None, ..early.message };
            Event::Abandoned { message, policy: ReliabilityPolicy::Lifetime, was_sent: false }
        });
        told.collect()
    }

    /// Hands everything to the association. Takes out the messages that it does not take or gives up, and says which.
    pub(crate) fn hand_to(&mut self, now: Instant, association: &mut Association) -> Vec<Event> {
        let mut failed = Vec::new();
        for early in core::mem::take(&mut self.messages) {
            match association.send(now, early.as_of(now)) {
                Ok(()) => self.messages.push_back(early),
                Err(_) => failed.push(Event::SendFailed { message: early.message, was_sent: false }),
            }
        }
        if self.owes_room() {
            association.expect_room(now);
        }
        failed.extend(self.expire_in(now, association));
        self.queued_bytes = self.messages.iter().map(|early| early.message.payload.len() as u64).sum();
        failed
    }

    /// Gives up what has expired in the association to be, and takes out what that has given up, which it says.
    pub(crate) fn expire_in(&mut self, now: Instant, association: &mut Association) -> Vec<Event> {
        let given_up = association.take_abandoned(now);
        for event in &given_up {
            let Event::Abandoned { message, policy, .. } = event else { continue };
            if let Some(place) = self.messages.iter().position(|early| early.is(message, *policy)) {
                self.queued_bytes -= message.payload.len() as u64;
                self.messages.remove(place);
            }
        }
        given_up
    }

    /// Takes the messages out.
    pub(crate) fn into_messages(self) -> impl Iterator<Item = Message> {
        self.messages.into_iter().map(|early| early.message)
    }

    /// The association is to be shut down as soon as it is there and has delivered the messages.
    pub(crate) const fn shut_down(&mut self) {
        self.is_shutdown_requested = true;
    }

    /// Tells if a shutdown was asked for.
    pub(crate) const fn is_shutdown_requested(&self) -> bool {
        self.is_shutdown_requested
    }
}
