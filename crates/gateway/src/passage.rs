//! Everybody who looks on as messages pass: who measures their delays, and who traces some of them.

use slantpath_applications::ProgramMessage;
use slantpath_base::Instant;
use slantpath_ss7::mtp3::ServiceIndicator;

use crate::delays::SeatDelays;
use crate::message_trace::MessageTrace;
use crate::user_message::{hash_of, known_by};

/// Lookers-on. Nobody is there before somebody is asked for.
#[derive(Debug, Default)]
pub(crate) struct Passage {
    /// Delays of messages through the seat.
    pub(crate) delays: Option<SeatDelays>,
    /// Trace of messages of a title or a point.
    pub(crate) trace: Option<MessageTrace>,
}

impl Passage {
    /// A message has come by an association. True if it is traced.
    pub(crate) fn arrived(&mut self, now: Instant, association: usize, message: &ProgramMessage) -> bool {
        if let Some(delays) = &mut self.delays {
            delays.arrived(now, association, message);
        }
        self.trace.as_mut().is_some_and(|trace| trace.arrived(now, association, message))
    }

    /// A message has been handed over to the SCTP of an association.
    pub(crate) fn left(&mut self, now: Instant, association: usize, message: &ProgramMessage) {
        if let Some(delays) = &mut self.delays {
            delays.left(now, association, message);
        }
        if let Some(trace) = &mut self.trace {
            trace.left(now, association, message);
        }
    }

    /// A message has come to a user part here.
    pub(crate) fn delivered(&mut self, now: Instant, user: ServiceIndicator, user_part: &[u8]) {
        if let Some(trace) = &mut self.trace {
            trace.delivered(now, known_by(user, user_part));
        }
    }

    /// The data of a unitdata have come to a subsystem here.
    pub(crate) fn delivered_unitdata(&mut self, now: Instant, data: &[u8]) {
        if let Some(trace) = &mut self.trace {
            trace.delivered(now, hash_of(data));
        }
    }
}
