//! Ends of sockets and their associations.

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_live::{Host, SocketId};
use slantpath_sctp::Acceptance;

use crate::association::Stage;
use crate::news::SocketNumber;
use crate::sockets::Sockets;
use crate::told::Told;

/// Way in which a program has closed a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// By `close`, or as its process ended in order.
    InOrder,
    /// End of its process by a signal.
    Killed,
    /// By `close`, with messages that it had not read.
    Unread,
}

impl Sockets {
    /// The program has closed a socket: all its descriptors. Nothing more is told of it.
    pub fn close(&mut self, now: Instant, host: &mut Host, number: SocketNumber, closing: Closing) {
        self.log.note(&Told::Closed(number, closing));
        self.end_socket(now, host, number, closing);
    }

    fn end_socket(&mut self, now: Instant, host: &mut Host, number: SocketNumber, closing: Closing) {
        let Some(mut socket) = self.open.remove(&number) else { return };
        if let Some(listener) = socket.queued_at {
            self.leave_queue(host, listener);
        }
        for accepted in socket.inbox.take_accepted() {
            self.end_socket(now, host, accepted, Closing::Killed);
        }
        // As Linux does: what nobody reads is an error.
        let is_abort =
            closing != Closing::InOrder || socket.choices.linger == Some(0) || socket.inbox.has_messages();
        for id in socket.associations {
            self.leave(now, host, id, is_abort);
        }
        if let Some(bound) = socket.bound {
            self.leave_place(host, number, bound.place);
        }
    }

    /// An association has no socket any more, and comes to its end.
    pub(crate) fn leave(&mut self, now: Instant, host: &mut Host, id: SocketId, is_abort: bool) {
        self.give_to(id, None);
        let Some(association) = self.associations.get_mut(id) else { return };
        if is_abort || association.stage == Stage::Opening {
            host.abort_because(now, id, Bytes::new());
            return;
        }
        if std::mem::take(&mut association.is_paused) {
            host.resume(now, id);
        }
        self.shut_down(now, host, id);
    }

    /// Shuts an association down once all has been delivered, with what had no room yet.
    pub(crate) fn shut_down(&mut self, now: Instant, host: &mut Host, id: SocketId) {
        let Some(association) = self.associations.get_mut(id) else { return };
        if association.stage == Stage::Up {
            association.stage = Stage::Ending;
        }
        if association.held.is_some() {
            association.is_end_wanted = true;
        } else {
            host.shut_down(now, id);
        }
    }

    /// Ends all associations: in order, or at once.
    pub(crate) fn end_all(&mut self, now: Instant, host: &mut Host, at_once: bool) {
        let ids: Vec<SocketId> = self.associations.iter().map(|(id, _)| id).collect();
        for place in self.places.keys() {
            host.listen_at(*place, Acceptance::Refused);
        }
        for id in ids {
            if at_once || self.associations.get(id).is_some_and(|one| one.stage == Stage::Opening) {
                host.abort_because(now, id, Bytes::new());
            } else {
                self.shut_down(now, host, id);
            }
        }
    }
}
