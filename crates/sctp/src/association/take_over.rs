//! The peer has begun anew, and an association takes the place of another: what the layer above has asked
//! for and set, and what the host has said, holds for the new one, too (RFC 9260, section 5.2.4, action A).
//!
//! What is measured begins anew, as do all numbers. Messages are given back.

use slantpath_base::Instant;

use super::Association;

impl Association {
    /// Goes on where another left off, as far as its user and its host have decided it.
    pub(crate) fn take_over(&mut self, now: Instant, before: &Self) {
        if before.owes_room() {
            self.expect_room(now);
        }
        if before.is_delivery_paused() {
            self.pause_delivery();
        }
        if let Some(address) = before.wanted_primary.filter(|address| self.paths.find(*address).is_some()) {
            self.want_primary(now, address);
        }
        self.sender.take_stream_values(&before.sender);
        if let (Some(keys), Some(known)) = (&mut self.authentication, &before.authentication) {
            keys.take_keys(known);
        }
        for old in before.paths.iter() {
            if self
                .paths
                .find(old.destination)
                .is_some_and(|path| self.paths[path].heartbeat_interval != old.heartbeat_interval)
            {
                self.set_heartbeat_interval(now, old.destination, old.heartbeat_interval);
            }
        }
        for address in &before.down {
            self.local_address_is_down(now, *address);
        }
    }
}
