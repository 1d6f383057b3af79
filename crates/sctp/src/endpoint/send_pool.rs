//! Limit on what all associations of a port hold together to be sent, and the line of those who wait for room.
//!
//! A port counts the messages of its associations when they are woken or removed; each may use its own send buffer as
//! long as the rest of the total is enough for a whole one. Then it is told what is left before it takes a message.
//! Whoever is refused stands in line. Room is offered to the first in line once it is enough for what was refused, and
//! is kept for it; meanwhile nobody else gets any but those that it has been offered to before.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Endpoint;
use super::table::{AssociationId, State};
use crate::association::Association;
use crate::config::{SctpConfig, held};
use crate::event::{Message, SendError};

/// Bytes that are held, and the line of those who wait.
#[derive(Debug)]
pub(super) struct SendPool {
    most: u64,
    /// Never less than what associations hold: what they give up on their own is counted when they are woken.
    held: u64,
    /// Associations that were refused, and the size that they asked for; the first is the first to get room.
    waiting: VecDeque<(AssociationId, u64)>,
    /// Room that is kept for an association until it sends.
    offers: Vec<(AssociationId, u64)>,
    offered: u64,
}

impl SendPool {
    pub(super) const fn new(most: u64) -> Self {
        Self { most, held: 0, waiting: VecDeque::new(), offers: Vec::new(), offered: 0 }
    }

    /// True if an association may fill its buffer that holds so much, where nobody waits.
    #[inline]
    pub(super) fn has_room_for(&self, buffer: u64) -> bool {
        self.held.saturating_add(buffer) <= self.most
    }

    /// Counts that an association holds so much in place of what was counted of it.
    #[inline]
    pub(super) fn count(&mut self, counted: &mut u64, held: u64) {
        self.held = self.held + held - core::mem::replace(counted, held);
    }

    /// These settings, with a send buffer that is within the total.
    pub(super) fn within(&self, config: Arc<SctpConfig>) -> Arc<SctpConfig> {
        if config.send_buffer_bytes <= self.most {
            return config;
        }
        Arc::new(SctpConfig { send_buffer_bytes: self.most, ..(*config).clone() })
    }

    /// The association holds nothing and waits for nothing any more.
    pub(super) fn forget(&mut self, id: AssociationId, held: u64) {
        self.held -= held;
        if !self.is_calm() {
            self.waiting.retain(|(one, _)| *one != id);
            self.end_offer(id);
        }
    }

    /// True if nobody waits, and nothing is kept for anybody.
    fn is_calm(&self) -> bool {
        self.waiting.is_empty() && self.offers.is_empty()
    }

    /// Bytes that may be handed over to an association now.
    fn room_for(&self, id: AssociationId) -> u64 {
        let own = self.offers.iter().find(|(one, _)| *one == id).map_or(0, |(_, size)| *size);
        if own == 0 && !self.waiting.is_empty() {
            return 0;
        }
        self.most.saturating_sub(self.held + self.offered - own)
    }

    /// Gives up the room that was kept for an association.
    fn end_offer(&mut self, id: AssociationId) {
        if let Some(place) = self.offers.iter().position(|(one, _)| *one == id) {
            self.offered -= self.offers.remove(place).1;
        }
    }

    /// Next association that is to be told of room, and of how much.
    fn offer(&mut self) -> Option<(AssociationId, u64)> {
        let &(id, wanted) = self.waiting.front()?;
        // Those who do not take what they are offered must not keep others out for good.
        if self.held <= self.most / 2 && self.held + self.offered + wanted > self.most {
            self.offers.clear();
            self.offered = 0;
        }
        if self.held + self.offered + wanted > self.most {
            return None;
        }
        self.waiting.pop_front();
        self.offers.push((id, wanted));
        self.offered += wanted;
        Some((id, wanted))
    }
}

impl Endpoint {
    /// Counts what the association in the slot holds now.
    #[expect(clippy::inline_always, reason = "each packet passes it once")]
    #[inline(always)]
    pub(super) fn count_held(&mut self, slot: u32) {
        let Some(entry) = self.table.get_mut(slot) else { return };
        let place = entry.port;
        self.ports[place as usize].pool.count(&mut entry.held, entry.state.held_for_sending());
        if self.is_crowded {
            self.offer_room(place);
        }
    }

    /// Hands messages over to an established association of a port that has not much room left.
    #[cold]
    #[inline(never)]
    pub(super) fn send_from_pool<T>(&mut self, slot: u32, send: impl FnOnce(&mut Association) -> T) -> T {
        let id = self.table.id(slot);
        let place = self.table[slot].port;
        let room = self.ports[place as usize].pool.room_for(id);
        let State::Established(association) = &mut self.table[slot].state else {
            unreachable!("whoever hands messages over has seen that the association is established")
        };
        let (result, refused) = association.send_into(room, send);
        let has_output = association.has_output();
        let pool = &mut self.ports[place as usize].pool;
        pool.end_offer(id);
        pool.waiting.extend(refused.map(|wanted| (id, wanted)));
        self.is_crowded = true;
        self.count_held(slot);
        if has_output {
            self.wake(slot);
        }
        result
    }

    /// Refuses a message to an association that is being set up if all together have no room for it. It hears of room
    /// once it is established.
    pub(super) fn refuse_for_all(&mut self, slot: u32, message: &Message) -> Option<SendError> {
        let id = self.table.id(slot);
        let entry = &mut self.table[slot];
        let pool = &self.ports[entry.port as usize].pool;
        let wanted = message.payload.len() as u64;
        let has_plenty = pool.is_calm() && pool.has_room_for(entry.config.most_held());
        if has_plenty || wanted == 0 || wanted > entry.config.send_buffer_bytes {
            return None;
        }
        let room = pool.room_for(id);
        if held(wanted, 1) <= room {
            return None;
        }
        match &mut entry.state {
            State::CookieWait(handshake) => handshake.early_requests.note_refusal(),
            State::CookieEchoed(handshake) => handshake.early_requests().note_refusal(),
            State::Established(_) => return None,
        }
        Some(SendError::BufferFull { wanted, free: if wanted > room { room } else { 0 } })
    }

    /// Tells those who have waited longest of the room that there is.
    #[cold]
    #[inline(never)]
    pub(super) fn offer_room(&mut self, place: u32) {
        while let Some((id, room)) = self.ports[place as usize].pool.offer() {
            let is_told = match self.table.find_mut(id).map(|entry| &mut entry.state) {
                Some(State::Established(association)) => association.announce_shared_room(room),
                Some(State::CookieWait(_) | State::CookieEchoed(_)) | None => false,
            };
            if is_told {
                self.look_at(id.slot());
            } else {
                self.ports[place as usize].pool.end_offer(id);
            }
        }
        self.is_crowded = self.ports.iter().any(|port| !port.pool.is_calm());
    }

    /// Counts what the association in the slot holds; true if that has something to say then.
    #[cold]
    pub(super) fn has_found_room(&mut self, slot: u32) -> bool {
        self.count_held(slot);
        matches!(self.table.get_mut(slot).map(|entry| &entry.state), Some(State::Established(it)) if it.has_output())
    }
}

#[cfg(test)]
mod tests;
