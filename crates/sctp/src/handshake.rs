//! Setting an association up: the states COOKIE-WAIT and COOKIE-ECHOED of the side that sends the INIT
//! (RFC 9260, section 5.1). The other side has no state until a valid COOKIE ECHO; it lives in the endpoint.

mod cookie_echoed;
mod cookie_wait;
mod offer;
mod t1;

pub(crate) use cookie_echoed::CookieEchoed;
pub(crate) use cookie_wait::{Accepted, CookieWait};
pub(crate) use offer::{Families, LEAST_RWND, Offer};

use bytes::Bytes;
use slantpath_base::Instant;

use crate::association::Association;
use crate::authentication::RANDOM_LEN;
use crate::cause::Cause;
use crate::config::SctpConfig;
use crate::event::{Message, SendError};
use crate::tx::Backlog;
use crate::types::{Tsn, VerificationTag};

/// The numbers that an endpoint begins an association with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalStart {
    pub(crate) tag: VerificationTag,
    pub(crate) initial_tsn: Tsn,
    /// Its part of the keys by which chunks are authenticated; zero if none are.
    pub(crate) random: [u8; RANDOM_LEN],
}

/// What the layer above has asked for before the association is there.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlyRequests {
    messages: Vec<Message>,
    queued_bytes: u64,
    backlog: Backlog,
    is_shutdown_requested: bool,
}

impl EarlyRequests {
    /// Keeps a message until it can be sent.
    pub(crate) fn send(&mut self, message: Message, config: &SctpConfig) -> Result<(), SendError> {
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
        let free = limit.saturating_sub(self.queued_bytes);
        if wanted > free {
            self.note_refusal();
            return Err(SendError::BufferFull { wanted, free });
        }
        self.keep(message);
        Ok(())
    }

    /// Keeps a message that has been accepted elsewhere.
    pub(crate) fn keep(&mut self, message: Message) {
        self.queued_bytes += message.payload.len() as u64;
        self.messages.push(message);
    }

    /// A message was refused for want of room.
    pub(crate) const fn note_refusal(&mut self) {
        self.backlog = Backlog::Refused { buffered_bytes: u64::MAX };
    }

    /// Whether a message was refused for want of room.
    pub(crate) fn owes_room(&self) -> bool {
        matches!(self.backlog, Backlog::Refused { .. })
    }

    /// Hands everything to the association, and takes out and returns the messages that it does not take.
    pub(crate) fn hand_to(&mut self, now: Instant, association: &mut Association) -> Vec<Message> {
        let messages = core::mem::take(&mut self.messages).into_iter();
        let (kept, rejected) = messages.partition(|message| association.send(now, message.clone()).is_ok());
        self.messages = kept;
        if self.owes_room() {
            association.expect_room(now);
        }
        rejected
    }

    /// Takes the messages out.
    pub(crate) fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    /// The association is to be shut down as soon as it is there and has delivered the messages.
    pub(crate) const fn shut_down(&mut self) {
        self.is_shutdown_requested = true;
    }

    /// Whether that was asked for.
    pub(crate) const fn is_shutdown_requested(&self) -> bool {
        self.is_shutdown_requested
    }
}

/// What is wrong with an INIT ACK, and what an ABORT says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The association ends. The ABORT has the tag of the INIT ACK.
    Ends(Cause),
    /// The association ends. The INIT ACK has no tag, so the ABORT reflects that of its packet.
    EndsUntagged(Cause),
    /// Only the INIT ACK is refused; another may come.
    Discards(Cause),
}

/// The ERROR that reports unknown parameters of an INIT ACK.
pub(crate) fn unrecognized_parameters(parameters: &[Bytes]) -> Option<Cause> {
    (!parameters.is_empty()).then(|| Cause::UnrecognizedParameters(parameters.concat().into()))
}
