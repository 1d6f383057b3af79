//! Actions of a host on its associations at stated times, besides serving their applications: a handover to another of
//! its addresses, requests to change streams (RFC 6525), another key (RFC 4895).

use slantpath_base::Instant;
use slantpath_sctp::chunk::ReconfigurationResult;
use slantpath_sctp::{ResetDirection, StreamId};

use super::{Handover, Host};
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

/// Planned action on an association.
#[derive(Debug)]
enum Act {
    Command(AssociationCommand),
    Handover(Handover),
}

/// Actions that are still to come.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// The next one last; of one instant, what was planned first.
    planned: Vec<(Instant, SocketId, Act)>,
}

impl Script {
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.planned.last().map(|(at, ..)| *at)
    }

    fn plan(&mut self, at: Instant, socket: SocketId, act: Act) {
        let place = self.planned.partition_point(|(other, ..)| *other > at);
        self.planned.insert(place, (at, socket, act));
    }
}

impl Host {
    /// Has the SCTP association of a socket move to another address of the host.
    pub fn add_handover(&mut self, socket: SocketId, handover: Handover) {
        self.script.plan(handover.at, socket, Act::Handover(handover));
    }

    /// Tells the SCTP association of a socket something when the time has come.
    pub fn add_command(&mut self, socket: SocketId, at: Instant, command: AssociationCommand) {
        self.script.plan(at, socket, Act::Command(command));
    }

    /// The commands that associations were given, in order of time.
    pub fn command_records(&self) -> &[CommandRecord] {
        &self.stack.commands.0
    }

    /// Does what is due.
    #[cold]
    pub(super) fn follow_script(&mut self, now: Instant) {
        while let Some((_, socket, act)) = self.script.planned.pop_if(|(at, ..)| *at <= now) {
            match act {
                Act::Command(command) => self.give_command(now, socket, command),
                Act::Handover(handover) => self.hand_over(now, socket, handover),
            }
        }
    }

    fn give_command(&mut self, now: Instant, socket: SocketId, command: AssociationCommand) {
        let given = match self.sockets.association(socket) {
            Some(association) => self.tell(now, association, &command),
            None => Err("there is no association".to_owned()),
        };
        let (awaited, outcome) = match given {
            Ok(0) => (0, CommandOutcome::Done),
            Ok(awaited) => (awaited, CommandOutcome::Waiting),
            Err(reason) => (0, CommandOutcome::Refused(reason)),
        };
        let over = (awaited == 0).then_some(now);
        let record = CommandRecord { socket, command, given: now, over, outcome, awaited };
        self.stack.commands.0.push(record);
    }

    /// Gives how many answers of the peer there will be.
    fn tell(
        &mut self,
        now: Instant,
        association: slantpath_sctp::AssociationId,
        command: &AssociationCommand,
    ) -> Result<u8, String> {
        let sctp = &mut self.stack.sctp;
        match command {
            AssociationCommand::AddStreams { outbound, inbound } => {
                let added = sctp.add_streams(now, association, *outbound, *inbound);
                let answers = u8::from(*outbound > 0) + u8::from(*inbound > 0);
                added.map(|()| answers).map_err(|error| error.to_string())
            }
            AssociationCommand::ResetAssociation => {
                sctp.reset_association(now, association).map(|()| 1).map_err(|error| error.to_string())
            }
            AssociationCommand::ResetStreams { direction, streams } => {
                let reset = sctp.reset_streams(now, association, *direction, streams);
                let answers = if *direction == ResetDirection::Both { 2 } else { 1 };
                reset.map(|()| answers).map_err(|error| error.to_string())
            }
            AssociationCommand::UseKey(key) => {
                sctp.activate_key(association, *key).map(|()| 0).map_err(|error| error.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_planned_comes_in_order_of_time_and_what_comes_at_once_as_it_was_planned() {
        let mut script = Script::default();
        for (ms, key) in [(20, 1), (10, 2), (20, 3), (10, 4)] {
            script.plan(Instant::from_millis(ms), SocketId(0), Act::Command(AssociationCommand::UseKey(key)));
        }
        assert_eq!(script.deadline(), Some(Instant::from_millis(10)));
        let keys = script.planned.iter().rev().map(|(_, _, act)| match act {
            Act::Command(AssociationCommand::UseKey(key)) => *key,
            _ => panic!("no such thing was planned"),
        });
        assert_eq!(keys.collect::<Vec<_>>(), [2, 4, 1, 3]);
    }

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
