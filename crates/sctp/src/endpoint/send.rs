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
        if !self.ports[entry.port as usize].pool.has_plenty(entry.config.most_held()) {
            return self.send_from_pool(id.slot(), |association| association.send(now, message));
        }
        let result = association.send(now, message);
        let has_output = association.has_output();
        self.count_held(id.slot());
        if has_output {
            self.wake(id.slot());
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
        if !self.ports[entry.port as usize].pool.has_plenty(entry.config.most_held()) {
            return Some(self.send_from_pool(id.slot(), send));
        }
        let result = send(association);
        let has_output = association.has_output();
        self.count_held(id.slot());
        if has_output {
            self.wake(id.slot());
        }
        Some(result)
    }
}
