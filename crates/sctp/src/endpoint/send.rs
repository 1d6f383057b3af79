//! Messages are handed over to associations.

use slantpath_base::Instant;

use super::table::State;
use super::{AssociationId, Endpoint};
use crate::association::Association;
use crate::event::{Message, SendError};

impl Endpoint {
    /// SEND: queues a message.
    #[inline]
    pub fn send(&mut self, now: Instant, id: AssociationId, message: Message) -> Result<(), SendError> {
        let entry = self.table.find_mut(id).ok_or(SendError::NoAssociation)?;
        let State::Established(association) = &mut entry.state else {
            return self.send_early(now, id.slot(), message);
        };
        let pool = &mut self.ports[entry.port as usize].pool;
        if self.is_crowded || !pool.has_room_for(entry.config.most_held()) {
            return self.send_from_pool(id.slot(), |association| association.send(now, message));
        }
        let result = association.send(now, message);
        pool.count(&mut entry.held, association.held_for_sending());
        if association.has_output() {
            self.wake_counted(id.slot());
        }
        result
    }

    /// Lends an established association to a user that has several messages for it, each for
    /// [`Association::send`]: it is looked up once for all of them, and the next poll looks at it if it
    /// [has output](Association::has_output) then. `None` if there is none.
    #[inline]
    pub fn lend<T>(&mut self, id: AssociationId, send: impl FnOnce(&mut Association) -> T) -> Option<T> {
        let entry = self.table.find_mut(id)?;
        let State::Established(association) = &mut entry.state else { return None };
        let pool = &mut self.ports[entry.port as usize].pool;
        if self.is_crowded || !pool.has_room_for(entry.config.most_held()) {
            return Some(self.send_from_pool(id.slot(), send));
        }
        let result = send(association);
        pool.count(&mut entry.held, association.held_for_sending());
        if association.has_output() {
            self.wake_counted(id.slot());
        }
        Some(result)
    }
}
