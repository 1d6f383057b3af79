//! Commands that associations are given at stated times, and what has come of them.

use slantpath_base::Instant;
use slantpath_sctp::chunk::ReconfigurationResult;
use slantpath_sctp::{ResetDirection, StreamId};

use crate::ids::SocketId;

/// Command that an association is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssociationCommand {
    /// To ask its peer for so many more streams to send on, and so many for the peer.
    AddStreams {
        /// To send on.
        outbound: u16,
        /// For the peer.
        inbound: u16,
    },
    /// To begin all streams and TSNs again.
    ResetAssociation,
    /// To begin streams again.
    ResetStreams {
        /// Direction of the streams that are reset.
        direction: ResetDirection,
        /// Streams that are reset; empty for all.
        streams: Vec<StreamId>,
    },
    /// To authenticate what it sends by the key of this identifier.
    UseKey(u16),
}

/// Outcome of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandOutcome {
    /// The peer has not answered yet.
    Waiting,
    /// The command was carried out: by the peer, too, if that was asked.
    Done,
    /// The peer has given another answer.
    Answered(ReconfigurationResult),
    /// The association did not take it, for this reason.
    Refused(String),
}

/// A command that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRecord {
    /// To which socket's association.
    pub socket: SocketId,
    /// Command that was given.
    pub command: AssociationCommand,
    /// Instant at which it was given.
    pub given: Instant,
    /// Instant at which it was over; `None` while it waits.
    pub over: Option<Instant>,
    /// Outcome of the command.
    pub outcome: CommandOutcome,
    /// Number of further answers of the peer that the command waits for.
    awaited: u8,
}

/// The commands that were given: as many as were planned, whatever peers do.
#[derive(Debug, Default)]
pub(crate) struct CommandLog(Vec<CommandRecord>);

impl CommandLog {
    /// The commands, in order of time.
    pub(crate) fn records(&self) -> &[CommandRecord] {
        &self.0
    }

    /// Notes a command that was given, of which the peer has so many answers to give, or what has come of it at once.
    pub(crate) fn note_given(
        &mut self,
        now: Instant,
        socket: SocketId,
        command: AssociationCommand,
        given: Result<u8, String>,
    ) {
        let (awaited, outcome) = match given {
            Ok(0) => (0, CommandOutcome::Done),
            Ok(awaited) => (awaited, CommandOutcome::Waiting),
            Err(reason) => (0, CommandOutcome::Refused(reason)),
        };
        let over = (awaited == 0).then_some(now);
        self.0.push(CommandRecord { socket, command, given: now, over, outcome, awaited });
    }

    /// The peer of a socket's association has answered a request. There is one at a time.
    #[cold]
    pub(crate) fn note_answer(&mut self, now: Instant, socket: SocketId, result: ReconfigurationResult) {
        let mut records = self.0.iter_mut();
        let Some(record) = records.find(|record| record.socket == socket && record.awaited > 0) else {
            return;
        };
        record.awaited -= 1;
        let is_done = matches!(result, ReconfigurationResult::Performed | ReconfigurationResult::NothingToDo);
        if !is_done {
            record.outcome = CommandOutcome::Answered(result);
        }
        if record.awaited == 0 {
            record.over = Some(now);
            if record.outcome == CommandOutcome::Waiting {
                record.outcome = CommandOutcome::Done;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_in_two_directions_is_over_with_the_second_answer_and_no_better_than_the_worse() {
        let record = |socket, awaited| CommandRecord {
            socket: SocketId(socket),
            command: AssociationCommand::AddStreams { outbound: 1, inbound: 1 },
            given: Instant::START,
            over: None,
            outcome: CommandOutcome::Waiting,
            awaited,
        };
        let mut log = CommandLog(vec![record(0, 2), record(1, 1)]);
        log.note_answer(Instant::from_millis(1), SocketId(1), ReconfigurationResult::NothingToDo);
        log.note_answer(Instant::from_millis(2), SocketId(0), ReconfigurationResult::Denied);
        let outcomes = |log: &CommandLog| {
            log.0.iter().map(|record| (record.over, record.outcome.clone())).collect::<Vec<_>>()
        };
        let denied = CommandOutcome::Answered(ReconfigurationResult::Denied);
        let done = (Some(Instant::from_millis(1)), CommandOutcome::Done);
        assert_eq!(outcomes(&log), [(None, denied.clone()), done.clone()]);
        log.note_answer(Instant::from_millis(3), SocketId(0), ReconfigurationResult::Performed);
        // What nobody has asked for is nobody's.
        log.note_answer(Instant::from_millis(4), SocketId(0), ReconfigurationResult::Performed);
        assert_eq!(outcomes(&log), [(Some(Instant::from_millis(3)), denied), done]);
    }
}
