//! Events of traced associations, kept until somebody takes them.
//!
//! An association is traced if its settings say so (`SctpConfig::trace`). What it tells beyond what its application has
//! asked for stays here: neither the application nor the run sees anything of the trace.

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_sctp as sctp;

use crate::ids::SocketId;
use crate::reports::{MessageReports, Reports};

/// Greatest number of records that a host holds while nobody takes them.
pub const TRACE_RECORDS_MAX: usize = 1 << 18;

/// Something that a traced association has told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// Instant of the event.
    pub at: Instant,
    /// Whose association it is.
    pub socket: SocketId,
    /// Event that was told. Messages that have arrived are not among these events, and one that has failed or was given
    /// up is without its bytes.
    pub event: sctp::Event,
}

/// Records that have not been taken, oldest first.
#[derive(Debug, Default)]
pub(crate) struct TraceBuffer {
    records: Vec<TraceRecord>,
    /// Records for which there was no room.
    dropped: u64,
}

impl TraceBuffer {
    /// Keeps an event of a traced association. Gives it back if the application, who is told of `told`, has to know.
    pub(crate) fn note(
        &mut self,
        at: Instant,
        socket: SocketId,
        event: sctp::Event,
        traced: Reports,
    ) -> Option<sctp::Event> {
        let (kept, passed) = match event {
            sctp::Event::Received(_) | sctp::Event::ReceivedPart(_) | sctp::Event::Arrived { .. } => {
                return Some(event);
            }
            sctp::Event::SendFailed { message, was_sent } => {
                let named = sctp::Message { payload: Bytes::new(), options: None, ..message.clone() };
                let kept = sctp::Event::SendFailed { message: named, was_sent };
                (kept, Some(sctp::Event::SendFailed { message, was_sent }))
            }
            sctp::Event::Abandoned { message, policy, was_sent } => {
                let named = sctp::Message { payload: Bytes::new(), ..message.clone() };
                let kept = sctp::Event::Abandoned { message: named, policy, was_sent };
                (kept, Some(sctp::Event::Abandoned { message, policy, was_sent }))
            }
            sctp::Event::Trace(_) => (event, None),
            sctp::Event::Acknowledged { .. } if traced.messages < MessageReports::Acknowledged => {
                (event, None)
            }
            sctp::Event::Transmitted { .. } if traced.messages < MessageReports::All => (event, None),
            sctp::Event::T3Rtx { .. } if !traced.timers => (event, None),
            event => (event.clone(), Some(event)),
        };
        if self.records.len() < TRACE_RECORDS_MAX {
            self.records.push(TraceRecord { at, socket, event: kept });
        } else {
            self.dropped += 1;
        }
        passed
    }

    /// All that there is, and how many records were dropped before it was taken.
    pub(crate) fn take(&mut self) -> (Vec<TraceRecord>, u64) {
        (std::mem::take(&mut self.records), std::mem::take(&mut self.dropped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Reports =
        Reports { messages: MessageReports::Nothing, timers: false, arrivals: false, verbatim: false };

    fn acknowledged(context: u64) -> sctp::Event {
        sctp::Event::Acknowledged { context }
    }

    #[test]
    fn what_nobody_asked_for_is_kept_from_the_application_and_all_else_is_told_as_ever() {
        let mut buffer = TraceBuffer::default();
        let mut passed = |event, traced| buffer.note(Instant::START, SocketId(3), event, traced).is_some();
        let asked = Reports { messages: MessageReports::All, ..NOTHING };
        assert_eq!([passed(acknowledged(1), NOTHING), passed(acknowledged(2), asked)], [false, true]);
        let transmitted = |context| sctp::Event::Transmitted {
            context,
            tsn: sctp::Tsn(1),
            destination: [10, 0, 0, 1].into(),
            transmission: 1,
        };
        assert!(passed(transmitted(2), asked));
        let asked = Reports { messages: MessageReports::Acknowledged, ..NOTHING };
        assert_eq!([passed(acknowledged(3), asked), passed(transmitted(3), asked)], [true, false]);
        assert!(passed(sctp::Event::Restarted, NOTHING));
        let message = sctp::Message {
            stream: sctp::StreamId(0),
            ppid: sctp::Ppid(0),
            payload: Bytes::from_static(b"lost"),
            is_unordered: false,
            context: 7,
            options: None,
        };
        let failed = sctp::Event::SendFailed { message: message.clone(), was_sent: true };
        assert!(passed(failed, NOTHING));
        let given_up = |message: &sctp::Message| sctp::Event::Abandoned {
            message: message.clone(),
            policy: sctp::ReliabilityPolicy::Lifetime,
            was_sent: true,
        };
        assert!(passed(given_up(&message), NOTHING));
        let (records, dropped) = buffer.take();
        let events: Vec<_> = records.into_iter().map(|record| record.event).collect();
        let named = sctp::Message { payload: Bytes::new(), ..message };
        let (failed, given_up) =
            (sctp::Event::SendFailed { message: named.clone(), was_sent: true }, given_up(&named));
        let told = [acknowledged(1), acknowledged(2), transmitted(2), acknowledged(3), transmitted(3)];
        assert_eq!(events[..5], told);
        assert_eq!(events[5..], [sctp::Event::Restarted, failed, given_up]);
        assert_eq!(dropped, 0);
    }

    #[test]
    fn what_nobody_takes_is_dropped_beyond_a_bound_and_counted() {
        let mut buffer = TraceBuffer::default();
        for context in 0..TRACE_RECORDS_MAX as u64 + 5 {
            buffer.note(Instant::START, SocketId(0), acknowledged(context), NOTHING);
        }
        let (records, dropped) = buffer.take();
        assert_eq!((records.len(), dropped), (TRACE_RECORDS_MAX, 5));
        assert_eq!(buffer.take().1, 0);
    }
}
