//! All associations, by number, and by the own port and the peer's addresses.

use std::hash::BuildHasher;
use std::net::IpAddr;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap};
use slantpath_base::{CACHED, Instant, SlotIndex, Stream, prefetch};
use slantpath_wire::ip::Envelope;
use smallvec::SmallVec;

use super::ended::Ended;
use crate::association::{Association, AssociationState};
use crate::config::SctpConfig;
use crate::cookie::TieTags;
use crate::event::{Event, Message, SendError};
use crate::handshake::{CookieEchoed, CookieWait};
use crate::packet::CommonHeader;
use crate::tcb::PeerAddress;
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

    /// A small number that no other association of the endpoint has until the end of this one has been polled: a place
    /// in a list of them.
    pub const fn index(self) -> usize {
        self.slot as usize
    }
}

/// Stage that an association has reached.
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

    /// Tells if the handshake is over.
    pub(super) const fn is_established(&self) -> bool {
        matches!(self, Self::Established(_))
    }

    /// Number of times that T1-init and T1-cookie have expired in a setup that is not over.
    pub(super) fn t1_expiries_in_setup(&self) -> u32 {
        match self {
            Self::CookieWait(handshake) => handshake.t1_expiries,
            Self::CookieEchoed(handshake) => handshake.origin().t1_expiries,
            Self::Established(_) => 0,
        }
    }

    /// Tells if the association is being shut down, whichever end began that.
    pub(super) fn is_ending(&self) -> bool {
        matches!(self, Self::Established(association) if association.state() != AssociationState::Established)
    }

    /// Bytes that it holds of messages to be sent.
    #[inline]
    pub(super) fn held_for_sending(&self) -> u64 {
        match self {
            Self::CookieWait(handshake) => handshake.early_requests.held(),
            Self::CookieEchoed(handshake) => handshake.held(),
            Self::Established(association) => association.held_for_sending(),
        }
    }

    /// Tells if the association has ended, and only its last outputs are still to be taken.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Established(association) if association.state() == AssociationState::Closed)
    }
}

/// Entry of one association.
#[derive(Debug)]
// In this order in memory: of very many, what each packet asks for shares a line of the cache.
#[repr(C)]
pub(super) struct Entry {
    pub(super) state: State,
    /// The place of its port among the endpoint's.
    pub(super) port: u32,
    /// The number of that port.
    pub(super) own_port: u16,
    pub(super) peer_port: u16,
    /// Bytes that its port has counted of it.
    pub(super) held: u64,
    /// All addresses of the peer, as far as they are known; confirmed or not.
    pub(super) peer_addresses: SmallVec<[IpAddr; 2]>,
    pub(super) config: Arc<SctpConfig>,
    /// Stream of random numbers that it draws from; `None` if that is its port's stream.
    pub(super) stream: Option<Box<Stream>>,
    /// Tie-Tags that recognise this association in a cookie for its restart.
    pub(super) tie_tags: TieTags,
}

impl Entry {
    /// Queues a message before the handshake is over.
    #[cold]
    pub(super) fn send_early(&mut self, now: Instant, message: Message) -> Result<(), SendError> {
        match &mut self.state {
            State::CookieWait(handshake) => handshake.early_requests.send(now, message, &self.config),
            State::CookieEchoed(handshake) => handshake.send(now, message),
            State::Established(association) => association.send(now, message),
        }
    }

    /// Gives up the messages that have expired before the handshake is over, and says which have been given up.
    #[cold]
    pub(super) fn give_up_early(&mut self, now: Instant) -> Vec<Event> {
        match &mut self.state {
            State::CookieWait(handshake) => handshake.early_requests.expire(now),
            State::CookieEchoed(handshake) => handshake.give_up_messages(now),
            State::Established(_) => Vec::new(),
        }
    }

    /// Tells if the peer is known to be at `address`, and has not only listed it.
    fn is_confirmed(&self, address: IpAddr) -> bool {
        match &self.state {
            //= https://www.rfc-editor.org/rfc/rfc9260#section-5.4
            //# 1)  Any addresses passed to the sender of the INIT chunk by its upper
            //# layer in the request to initialize an association are
            //# automatically considered to be CONFIRMED.
            State::CookieWait(handshake) => handshake.destinations.contains(&address),
            State::CookieEchoed(handshake) => {
                let is_it = |peer: &PeerAddress| peer.address == address && peer.is_confirmed;
                handshake.tcb.peer_addresses.iter().any(is_it)
            }
            State::Established(association) => association.is_confirmed(address),
        }
    }
}

#[derive(Debug, Default)]
#[repr(C, align(128))]
struct Slot {
    generation: u32,
    is_pending: bool,
    /// True if the deadline has come and has not been handled.
    is_due: bool,
    entry: Option<Entry>,
}

/// Of a port of ours and the address and port that packets to it come from. Which of its keys a slot was found by, the
/// slot says itself.
fn hash(own_port: u16, address: IpAddr, port: u16) -> u64 {
    let address = match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    };
    FxBuildHasher.hash_one((u32::from(own_port) << 16 | u32::from(port), address))
}

/// The way of a packet to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Route {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) source_port: u16,
    pub(super) destination_port: u16,
}

/// Associations of the endpoint.
#[derive(Debug, Default)]
pub(super) struct Table {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// To whom packets to a port of ours from an address and port are laid. Several associations may list one address:
    /// it is of the first that has listed it, until another has been found there.
    by_peer: SlotIndex,
    /// The way that the last packet came, the place of our port, and whose it was: the next often comes the same way.
    latest: Option<(Route, u32, u32)>,
    by_local_tag: FxHashMap<VerificationTag, u32>,
    len: usize,
    /// The associations that ended last.
    pub(super) ended: Ended,
}

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
        self.by_local_tag.insert(entry.state.tags().0, slot);
        self.slots[slot as usize].entry = Some(entry);
        self.claim(slot);
        self.len += 1;
        self.id(slot)
    }

    /// Forgets an association, and its number for ever. Its slot is another's once all that was said of it has been
    /// heard: [`vacate`](Self::vacate) says so.
    pub(super) fn remove(&mut self, slot: u32) -> Option<Entry> {
        self.disclaim(slot);
        let entry = self.slots[slot as usize].entry.take()?;
        self.forget_tag(slot, entry.state.tags().0);
        if let State::Established(association) = &entry.state {
            self.ended.push(association.local_tag(), association.ended_in_order_at());
        }
        self.slots[slot as usize].generation += 1;
        self.slots[slot as usize].is_due = false;
        self.len -= 1;
        Some(entry)
    }

    /// Lets a slot whose association has been removed be another's.
    pub(super) fn vacate(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// All associations, in no order that means anything.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.slots.iter().filter_map(|slot| slot.entry.as_ref())
    }

    /// The slots of all associations, ascending.
    pub(super) fn occupied(&self) -> impl Iterator<Item = u32> + use<> {
        let taken = (0..).zip(&self.slots).filter_map(|(number, slot)| slot.entry.as_ref().map(|_| number));
        taken.collect::<Vec<u32>>().into_iter()
    }

    /// The peer of the association in `slot` has these addresses from now on.
    pub(super) fn readdress(&mut self, slot: u32, addresses: impl Iterator<Item = IpAddr>) {
        self.disclaim(slot);
        self[slot].peer_addresses = addresses.collect();
        self.claim(slot);
    }

    /// Lays packets from the peer's addresses to the association in `slot`. An address that another association lists
    /// as well goes to whose peer has been found there; if that is neither's, it stays where it is.
    pub(super) fn claim(&mut self, slot: u32) {
        self.latest = None;
        let Some(entry) = &self.slots[slot as usize].entry else { return };
        for &address in &entry.peer_addresses {
            let hash = hash(entry.own_port, address, entry.peer_port);
            let is_of_port = |other: &Entry| other.port == entry.port;
            match find(&self.slots, &self.by_peer, is_of_port, entry.own_port, address, entry.peer_port) {
                None => self.by_peer.insert(hash, slot),
                Some((holder, held)) if !held.is_confirmed(address) && entry.is_confirmed(address) => {
                    self.by_peer.remove(hash, holder);
                    self.by_peer.insert(hash, slot);
                }
                Some(_) => {}
            }
        }
    }

    /// Reverses what [`claim`](Self::claim) did.
    fn disclaim(&mut self, slot: u32) {
        self.latest = None;
        let Some(entry) = &self.slots[slot as usize].entry else { return };
        for &address in &entry.peer_addresses {
            self.by_peer.remove(hash(entry.own_port, address, entry.peer_port), slot);
        }
    }

    /// Tells if an association is at an address of ours, which its port may have no more.
    #[cold]
    pub(super) fn is_at(&self, slot: u32, address: IpAddr) -> bool {
        match &self[slot].state {
            State::Established(association) => association.is_at(address),
            _ => false,
        }
    }

    /// The way of the last packet is not to be trusted any more.
    pub(super) const fn forget_latest(&mut self) {
        self.latest = None;
    }

    /// The slot of an association that packets from this address and port are laid to, whether or not its peer has
    /// been found there. Where several ports have one number, it is of any of them.
    pub(super) fn slot_of(&self, own_port: u16, address: IpAddr, port: u16) -> Option<u32> {
        find(&self.slots, &self.by_peer, |_| true, own_port, address, port).map(|(slot, _)| slot)
    }

    /// Variant of [`slot_of`](Self::slot_of) for the port of ours in this place alone.
    pub(super) fn slot_at(&self, place: u32, own_port: u16, address: IpAddr, port: u16) -> Option<u32> {
        let is_of_port = |entry: &Entry| entry.port == place;
        find(&self.slots, &self.by_peer, is_of_port, own_port, address, port).map(|(slot, _)| slot)
    }

    /// Place of our port and slot of the association, for a packet that comes by the route of the last one.
    #[inline]
    pub(super) fn latest(&self, envelope: &Envelope, header: CommonHeader) -> Option<(u32, Option<u32>)> {
        let (route, port, slot) = self.latest.as_ref()?;
        let is_same = route.source_port == header.source_port
            && route.destination_port == header.destination_port
            && route.source == envelope.source
            && route.destination == envelope.destination;
        is_same.then_some((*port, Some(*slot)))
    }

    /// A packet has come by this route, from a place and to an address that are known to be right, for the port there,
    /// and is laid to the association in `slot`.
    pub(super) const fn set_latest(&mut self, route: Route, port: u32, slot: u32) {
        self.latest = Some((route, port, slot));
    }

    /// The slot of the association of our port in this place whose peer is known to be at this address and port.
    pub(super) fn confirmed_slot_of(
        &self,
        place: u32,
        own_port: u16,
        address: IpAddr,
        port: u16,
    ) -> Option<u32> {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-5.1.2
        //= type=exception
        //= reason=An address that a peer has only listed must not keep its owner out (RFC 5062, section 2).
        //# D)  An INIT or INIT ACK chunk MUST be treated as belonging to an
        //# already established association (or one in the process of being
        //# established) if the use of any of the valid address parameters
        //# contained within the chunk would identify an existing TCB.
        self.slot_at(place, own_port, address, port).filter(|slot| self[*slot].is_confirmed(address))
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

    #[inline]
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

    /// The slot of the association of our port in this place with the peer's port `port` that goes by this tag.
    pub(super) fn slot_of_tag(&self, place: u32, tag: VerificationTag, port: u16) -> Option<u32> {
        let is_between = |slot: &u32| (self[*slot].port, self[*slot].peer_port) == (place, port);
        self.by_local_tag.get(&tag).copied().filter(is_between)
    }

    /// Notes whether the slot's deadline has come, and returns whether it had before.
    pub(super) fn set_due(&mut self, slot: u32, is_due: bool) -> bool {
        core::mem::replace(&mut self.slots[slot as usize].is_due, is_due)
    }

    /// Asks for the memory of an association that is going to be served. That of a few is in the cache.
    #[inline]
    pub(super) fn prefetch(&self, slot: u32) {
        if self.slots.len() > CACHED
            && let Some(Entry { state: State::Established(association), .. }) =
                &self.slots[slot as usize].entry
        {
            prefetch(&**association);
        }
    }

    /// Notes whether the slot waits to be looked at, and returns whether that is news.
    pub(super) fn set_pending(&mut self, slot: u32, is_pending: bool) -> bool {
        core::mem::replace(&mut self.slots[slot as usize].is_pending, is_pending) != is_pending
    }
}

/// The association that packets to a port of ours from this address and port are laid to, with its slot.
#[inline]
fn find<'a>(
    slots: &'a [Slot],
    by_peer: &SlotIndex,
    is_wanted: impl Fn(&Entry) -> bool,
    own_port: u16,
    address: IpAddr,
    port: u16,
) -> Option<(u32, &'a Entry)> {
    let entry_in = |slot: u32| slots[slot as usize].entry.as_ref();
    let has_it = |entry: &Entry| {
        entry.own_port == own_port
            && entry.peer_port == port
            && is_wanted(entry)
            && entry.peer_addresses.contains(&address)
    };
    let slot = by_peer.find(hash(own_port, address, port), |slot| entry_in(slot).is_some_and(has_it))?;
    Some((slot, entry_in(slot)?))
}

impl Index<u32> for Table {
    type Output = Entry;

    fn index(&self, slot: u32) -> &Entry {
        self.slots[slot as usize].entry.as_ref().expect("the slot holds an association")
    }
}

impl IndexMut<u32> for Table {
    #[expect(clippy::inline_always, reason = "it is no longer than a call")]
    #[inline(always)]
    fn index_mut(&mut self, slot: u32) -> &mut Entry {
        self.slots[slot as usize].entry.as_mut().expect("the slot holds an association")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_way_is_that_of_its_route_alone() {
        let [one, other] = [IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2])];
        let route = Route { source: one, destination: other, source_port: 5, destination_port: 6 };
        let latest = |table: &Table, route: &Route| {
            let &Route { source, destination, source_port, destination_port } = route;
            let envelope = Envelope { source, destination, fields: slantpath_wire::ip::IpFields::default() };
            let verification_tag = VerificationTag(9);
            table.latest(&envelope, CommonHeader { source_port, destination_port, verification_tag })
        };
        let mut table = Table::default();
        assert_eq!(latest(&table, &route), None);
        table.set_latest(route, 3, 7);
        assert_eq!(latest(&table, &route), Some((3, Some(7))));
        let others = [
            Route { source: other, ..route },
            Route { destination: one, ..route },
            Route { source_port: 6, ..route },
            Route { destination_port: 5, ..route },
        ];
        assert_eq!(others.map(|other| latest(&table, &other)), [None; 4]);
    }

    #[test]
    fn a_slot_is_put_in_line_once() {
        let mut table = Table { slots: vec![Slot::default()], ..Table::default() };
        let news = [true, true, false, false, true].map(|is_pending| table.set_pending(0, is_pending));
        assert_eq!(news, [true, false, true, false, true]);
    }

    /// Keeps what each packet asks for in one line of the cache, or two that are fetched together.
    #[test]
    fn a_slot_is_no_longer_than_two_lines_of_the_cache() {
        assert_eq!(size_of::<Slot>(), 128);
    }
}
