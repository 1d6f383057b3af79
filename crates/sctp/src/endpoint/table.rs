//! All associations of an endpoint, by number and by the peer's addresses.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::ops::{Index, IndexMut};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::association::Association;
use crate::cookie::TieTags;
use crate::handshake::{CookieEchoed, CookieWait};
use crate::types::VerificationTag;

/// Names an association of an endpoint. Never used again once the association has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssociationId {
    slot: u32,
    generation: u32,
}

impl AssociationId {
    pub(super) const fn slot(self) -> u32 {
        self.slot
    }
}

/// How far an association has come.
#[derive(Debug)]
pub(super) enum State {
    /// An INIT has been sent.
    CookieWait(Box<CookieWait>),
    /// A COOKIE ECHO has been sent.
    CookieEchoed(Box<CookieEchoed>),
    /// ESTABLISHED, or one of the shutdown states.
    Established(Box<Association>),
}

impl State {
    /// Our tag, and the peer's as far as it is known.
    pub(super) fn tags(&self) -> (VerificationTag, Option<VerificationTag>) {
        match self {
            Self::CookieWait(handshake) => (handshake.start.tag, None),
            Self::CookieEchoed(handshake) => (handshake.tcb.local_tag, Some(handshake.tcb.peer_tag)),
            Self::Established(association) => (association.local_tag(), Some(association.peer_tag())),
        }
    }

    /// Whether the handshake is over.
    pub(super) const fn is_established(&self) -> bool {
        matches!(self, Self::Established(_))
    }
}

/// One association.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) peer_port: u16,
    /// The addresses that packets are recognised by.
    pub(super) peer_addresses: SmallVec<[IpAddr; 2]>,
    /// What recognises this association in a cookie for its restart.
    pub(super) tie_tags: TieTags,
    pub(super) state: State,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    is_pending: bool,
    entry: Option<Entry>,
}

/// The associations.
#[derive(Debug, Default)]
pub(super) struct Table {
    slots: Vec<Slot>,
    free: Vec<u32>,
    by_peer: FxHashMap<(IpAddr, u16), u32>,
    by_local_tag: FxHashMap<VerificationTag, u32>,
    len: usize,
    /// Our tags of the associations that ended last.
    ended: VecDeque<VerificationTag>,
}

/// How many ended associations are remembered: a cookie of theirs that is still under way is worth nothing.
const ENDED: usize = 1_024;

impl Table {
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Takes an association in.
    pub(super) fn insert(&mut self, entry: Entry) -> AssociationId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 associations")
        });
        for &address in &entry.peer_addresses {
            self.by_peer.insert((address, entry.peer_port), slot);
        }
        self.by_local_tag.insert(entry.state.tags().0, slot);
        self.slots[slot as usize].entry = Some(entry);
        self.len += 1;
        self.id(slot)
    }

    /// Forgets an association, and its number for ever.
    pub(super) fn remove(&mut self, slot: u32) -> Option<Entry> {
        let entry = self.slots[slot as usize].entry.take()?;
        for &address in &entry.peer_addresses {
            self.by_peer.remove(&(address, entry.peer_port));
        }
        self.forget_tag(slot, entry.state.tags().0);
        if entry.state.is_established() {
            if self.ended.len() == ENDED {
                self.ended.pop_front();
            }
            self.ended.push_back(entry.state.tags().0);
        }
        self.slots[slot as usize].generation += 1;
        self.free.push(slot);
        self.len -= 1;
        Some(entry)
    }

    /// Whether an association with this tag of ours has ended lately.
    pub(super) fn has_ended(&self, local_tag: VerificationTag) -> bool {
        self.ended.contains(&local_tag)
    }

    /// Recognises the association in `slot` by these addresses of the peer from now on, but for those that
    /// belong to another association.
    pub(super) fn readdress(&mut self, slot: u32, addresses: impl Iterator<Item = IpAddr>) {
        let Some(entry) = &mut self.slots[slot as usize].entry else { return };
        let port = entry.peer_port;
        for &address in &entry.peer_addresses {
            self.by_peer.remove(&(address, port));
        }
        let is_free = |address: &IpAddr| !self.by_peer.contains_key(&(*address, port));
        entry.peer_addresses = addresses.filter(is_free).collect();
        for &address in &entry.peer_addresses {
            self.by_peer.insert((address, port), slot);
        }
    }

    /// The slot of the association with the peer at this address and port.
    pub(super) fn slot_of(&self, address: IpAddr, port: u16) -> Option<u32> {
        self.by_peer.get(&(address, port)).copied()
    }

    /// The number of the association that is in the slot now.
    pub(super) fn id(&self, slot: u32) -> AssociationId {
        AssociationId { slot, generation: self.slots[slot as usize].generation }
    }

    pub(super) fn find(&self, id: AssociationId) -> Option<&Entry> {
        let slot = self.slots.get(id.slot as usize)?;
        if slot.generation == id.generation { slot.entry.as_ref() } else { None }
    }

    pub(super) fn find_mut(&mut self, id: AssociationId) -> Option<&mut Entry> {
        let slot = self.slots.get_mut(id.slot as usize)?;
        if slot.generation == id.generation { slot.entry.as_mut() } else { None }
    }

    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut Entry> {
        self.slots[slot as usize].entry.as_mut()
    }

    /// Moves the association in the slot to another state, and hands back what `change` has to say about it.
    pub(super) fn change_state<T>(&mut self, slot: u32, change: impl FnOnce(State) -> (State, T)) -> T {
        let place = &mut self.slots[slot as usize].entry;
        let entry = place.take().expect("the slot holds an association");
        let before = entry.state.tags().0;
        let (state, result) = change(entry.state);
        let after = state.tags().0;
        *place = Some(Entry { state, ..entry });
        if after != before {
            self.forget_tag(slot, before);
            self.by_local_tag.insert(after, slot);
        }
        result
    }

    fn forget_tag(&mut self, slot: u32, tag: VerificationTag) {
        // Two associations may have drawn the same tag.
        if self.by_local_tag.get(&tag) == Some(&slot) {
            self.by_local_tag.remove(&tag);
        }
    }

    /// Whether an association with the peer's port `port` goes by this tag.
    pub(super) fn has_tag(&self, tag: VerificationTag, port: u16) -> bool {
        self.by_local_tag.get(&tag).is_some_and(|slot| self[*slot].peer_port == port)
    }

    /// Notes whether the slot waits to be looked at, and returns whether that is news.
    pub(super) fn set_pending(&mut self, slot: u32, is_pending: bool) -> bool {
        core::mem::replace(&mut self.slots[slot as usize].is_pending, is_pending) != is_pending
    }
}

impl Index<u32> for Table {
    type Output = Entry;

    fn index(&self, slot: u32) -> &Entry {
        self.slots[slot as usize].entry.as_ref().expect("the slot holds an association")
    }
}

impl IndexMut<u32> for Table {
    fn index_mut(&mut self, slot: u32) -> &mut Entry {
        self.slots[slot as usize].entry.as_mut().expect("the slot holds an association")
    }
}
