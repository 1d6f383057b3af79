//! Messages that are handed over before the association is there, and those of them that are given up by then.

use slantpath_base::Instant;

use super::Endpoint;
use crate::event::{Message, SendError};

impl Endpoint {
    /// Queues a message before the association is there.
    #[cold]
    pub(super) fn send_early(&mut self, now: Instant, slot: u32, message: Message) -> Result<(), SendError> {
        // What has expired makes room; what counts for less than the message may have to.
        self.give_up_early(now, slot);
        let result = match self.refuse_for_all(slot, &message) {
            Some(refusal) => Err(refusal),
            None => self.table[slot].send_early(now, message),
        };
        self.give_up_early(now, slot);
        result
    }

    /// Tells the layer above which messages are given up before the association is there.
    pub(super) fn give_up_early(&mut self, now: Instant, slot: u32) {
        let id = self.table.id(slot);
        for event in self.table[slot].give_up_early(now) {
            self.outbox.push_event(id, event);
        }
        self.wake(slot);
    }
}
