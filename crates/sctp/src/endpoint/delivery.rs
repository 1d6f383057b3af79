//! Delivery of messages at the reader's pace.

use super::{AssociationId, Endpoint};

impl Endpoint {
    /// Holds received messages back, so that they fill the receive buffer and close its window, until
    /// [`resume_delivery`](Self::resume_delivery), or until the association ends. `false` if it is not established.
    pub fn pause_delivery(&mut self, id: AssociationId) -> bool {
        self.with_established(id, |association| {
            association.pause_delivery();
            true
        })
    }

    /// Passes on the messages that were held back, and all that follow; the peer is told at once if that opens the
    /// window by a quarter of the receive buffer. `false` if the association is not established.
    pub fn resume_delivery(&mut self, id: AssociationId) -> bool {
        self.with_established(id, |association| {
            association.resume_delivery();
            true
        })
    }

    /// Counts so many bytes that were passed on as still in the receive buffer, for a layer above that keeps them until
    /// they are read; the peer is told at once if fewer open the window by a quarter. `false` if the association is not
    /// established.
    pub fn set_unread(&mut self, id: AssociationId, bytes: u64) -> bool {
        self.with_established(id, |association| {
            association.set_unread(bytes);
            true
        })
    }

    /// Passes on the first of the messages that were held back, for a reader that takes one after the other; as
    /// [`resume_delivery`](Self::resume_delivery) if it is the last. Returns whether others are still held back.
    pub fn deliver_next(&mut self, id: AssociationId) -> bool {
        self.with_established(id, |association| {
            association.deliver_next();
            association.is_delivery_paused()
        })
    }
}
