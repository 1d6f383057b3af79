//! Actions of a host on its associations at stated times, besides serving their applications: a handover to another of
//! its addresses, requests to change streams (RFC 6525), another key (RFC 4895).

use slantpath_base::Instant;
use slantpath_sctp::ResetDirection;

use super::{AddressHandover, SocketHost};
use crate::application::Application;
use crate::command_log::{AssociationCommand, CommandRecord};
use crate::ids::SocketId;

/// Planned action on an association.
#[derive(Debug)]
enum Act {
    Command(AssociationCommand),
    Handover(AddressHandover),
}

/// Actions that are still to come.
#[derive(Debug, Default)]
pub(super) struct Script {
    /// The next one last; of one instant, what was planned first.
    planned: Vec<(Instant, SocketId, Act)>,
}

impl Script {
    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.planned.last().map(|(at, ..)| *at)
    }

    fn plan(&mut self, at: Instant, socket: SocketId, act: Act) {
        let place = self.planned.partition_point(|(other, ..)| *other > at);
        self.planned.insert(place, (at, socket, act));
    }
}

impl<A: Application> SocketHost<A> {
    /// Has the SCTP association of a socket move to another address of the host.
    pub fn add_handover(&mut self, socket: SocketId, handover: AddressHandover) {
        self.script.plan(handover.at, socket, Act::Handover(handover));
    }

    /// Tells the SCTP association of a socket something when the time has come.
    pub fn add_command(&mut self, socket: SocketId, at: Instant, command: AssociationCommand) {
        self.script.plan(at, socket, Act::Command(command));
    }

    /// The commands that associations were given, in order of time.
    pub fn command_records(&self) -> &[CommandRecord] {
        self.stack.commands.records()
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
        self.stack.commands.note_given(now, socket, command, given);
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
}
