//! All paths of an association: which one is primary, which one to use instead.

use std::net::IpAddr;
use std::ops::{Index, IndexMut};

use slantpath_base::Timer;

use super::{Path, PathId, PathState};
use crate::address::source_for;
use crate::config::SctpConfig;
use crate::tcb::Tcb;
use crate::types::{StreamId, StreamSequence};
use smallvec::SmallVec;

/// The paths in the order in which the peer listed its addresses. Most associations have one, which lies at hand.
#[derive(Clone, Debug)]
pub(crate) struct Paths {
    first: Path,
    others: Vec<Path>,
    first_id: PathId,
    /// Of the others, ascending.
    other_ids: SmallVec<[PathId; 4]>,
    /// The number of the next path.
    next_id: u16,
    primary: PathId,
    /// Path that has carried the latest new DATA, where all goes to one path; the primary one before there is any.
    pub(crate) new_data: PathId,
    /// First message that went to it as the former path did not answer.
    pub(crate) moved_with: Option<(StreamId, StreamSequence)>,
    /// Less what is reserved.
    amdcs: usize,
    /// Length that an AUTH chunk in front of DATA takes of a packet, in bytes.
    reserved: usize,
}

impl Paths {
    /// A path for each address of the peer that one of ours can reach, at most 255.
    ///
    /// # Panics
    /// If none can be reached: the handshake was carried by one.
    pub(crate) fn new(tcb: &Tcb, config: &SctpConfig) -> Self {
        let mut list = Vec::new();
        let mut primary = PathId(0);
        for peer in tcb.peer_addresses.iter().take(usize::from(u8::MAX)) {
            let Some(source) = source_for(peer.address, &tcb.local_addresses) else { continue };
            let state = if peer.is_confirmed { PathState::Active } else { PathState::Unconfirmed };
            let mut path = Path::new(peer.address, source, state, config);
            if peer.address == tcb.primary {
                primary = id(list.len());
                if let Some(round_trip) = tcb.round_trip {
                    path.sample_rtt(round_trip);
                }
            }
            list.push(path);
        }
        let mut list = list.into_iter();
        let first = list.next().expect("the handshake came over a path");
        let others: Vec<Path> = list.collect();
        let other_ids: SmallVec<[PathId; 4]> = (1..=others.len()).map(id).collect();
        let next_id = id(1 + others.len()).0;
        let first_id = PathId(0);
        let mut paths = Self {
            first,
            others,
            first_id,
            other_ids,
            next_id,
            primary,
            new_data: primary,
            moved_with: None,
            amdcs: 0,
            reserved: 0,
        };
        paths.measure();
        paths
    }

    /// The primary path.
    pub(crate) const fn primary(&self) -> PathId {
        self.primary
    }

    /// Makes another path the primary one; `false` if it may not carry data.
    pub(crate) fn set_primary(&mut self, path: PathId) -> bool {
        let may = self[path].state != PathState::Unconfirmed;
        if may {
            self.primary = path;
        }
        may
    }

    /// The path to `address`.
    #[inline]
    pub(crate) fn find(&self, address: IpAddr) -> Option<PathId> {
        if self.first.destination == address {
            return Some(self.first_id);
        }
        let place = self.others.iter().position(|path| path.destination == address)?;
        Some(self.other_ids[place])
    }

    /// The numbers of all, ascending.
    #[inline]
    pub(crate) fn ids(&self) -> impl Iterator<Item = PathId> + use<> {
        // Most associations have one path, and are to pay for no list.
        let others = (!self.others.is_empty()).then(|| self.other_ids.clone());
        core::iter::once(self.first_id).chain(others.into_iter().flatten())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Path> {
        core::iter::once(&self.first).chain(&self.others)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Path> {
        core::iter::once(&mut self.first).chain(&mut self.others)
    }

    /// Does the same to each path.
    #[inline]
    pub(crate) fn for_each(&mut self, mut act: impl FnMut(&mut Path)) {
        act(&mut self.first);
        self.others.iter_mut().for_each(act);
    }

    /// Variant of [`for_each`](Self::for_each) that also gives the number of each path.
    #[inline]
    pub(crate) fn for_each_by_id(&mut self, mut act: impl FnMut(PathId, &mut Path)) {
        act(self.first_id, &mut self.first);
        for (id, path) in self.other_ids.iter().zip(&mut self.others) {
            act(*id, path);
        }
    }

    /// Number of paths in the set.
    pub(crate) const fn len(&self) -> usize {
        1 + self.others.len()
    }

    /// Path that new DATA and control chunks take that answer nothing.
    #[inline]
    pub(crate) fn current(&self) -> PathId {
        //= https://www.rfc-editor.org/rfc/rfc9260#section-6.4.1
        //# When there is outbound data to send and the primary path becomes
        //# inactive (e.g., due to failures) or where the SCTP user explicitly
        //# requests to send data to an inactive destination transport address
        //# before reporting an error to its ULP, the SCTP endpoint SHOULD try to
        //# send the data to an alternate active destination transport address if
        //# one exists.

        //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
        //# When there is outbound data to send and the destination
        //# address presently used for data transmission is in PF
        //# state, the sender SHOULD choose a destination address in
        //# active state, if one exists, and use this destination
        //# address for data transmission.
        if self[self.primary].state == PathState::Active {
            return self.primary;
        }
        self.alternate_to(self.primary)
    }

    //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
    //# In this case, the sender SHOULD choose
    //# an alternate destination transport address in active
    //# state, if one exists.

    //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
    //# In all cases, the sender MUST NOT change the state of the chosen
    //# destination address, whether this state be active or PF, and it
    //# MUST NOT clear the error counter of the destination address as a
    //# result of choosing the destination address for data
    //# transmission.
    /// An active path other than `last`: the next in the list, round and round. If there is none, `last` if it
    /// is active; if none at all is, a potentially failed one; if none of these is left either, an inactive one.
    pub(crate) fn alternate_to(&self, last: PathId) -> PathId {
        //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
        //# When the destination addresses are all in PF state, or some are
        //# in PF state and some in inactive state, the sender MUST choose
        //# one destination address in PF state and SHOULD transmit or
        //# retransmit data to this destination address

        //= https://www.rfc-editor.org/rfc/rfc7829#section-4.1
        //# When the destination addresses are all in inactive state and data
        //# is available for transfer, the sender MUST choose one destination
        //# and transmit data to this destination address.

        //= https://www.rfc-editor.org/rfc/rfc7829#section-4.1
        //# The sender MUST NOT change the state of the chosen destination
        //# address (it remains in inactive state) and MUST NOT clear the
        //# error counter of the destination address as a result of choosing
        //# the destination address for data transmission.
        // RFC 9260, section 8.2, leaves open what to do when all are inactive; RFC 7829, section 4, recommends its
        // own way to those who have no PF state, too.
        self.after(last)
            .find(|&path| self[path].state == PathState::Active)
            .or_else(|| self.least_failed(last, PathState::PotentiallyFailed))
            .or_else(|| self.least_failed(last, PathState::Inactive))
            .unwrap_or(self.primary)
    }

    /// The path in `state` with the fewest errors; of several the next after `last`.
    fn least_failed(&self, last: PathId, state: PathState) -> Option<PathId> {
        //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
        //# The sender SHOULD choose the destination in PF state with
        //# the lowest error count (fewest consecutive timeouts) for
        //# data transmission and transmit or retransmit data to this
        //# destination.

        //= https://www.rfc-editor.org/rfc/rfc7829#section-3.2
        //# The sender MUST NOT change the state and the error counter of
        //# any destination addresses as the result of the selection.

        //= https://www.rfc-editor.org/rfc/rfc7829#section-4.1
        //# The sender SHOULD choose the destination in inactive state with
        //# the lowest error count (fewest consecutive timeouts) for data
        //# transmission.  When there are multiple destinations with the same
        //# error count in inactive state, the sender SHOULD attempt to pick
        //# the most divergent source -- destination pair from the last
        //# source -- destination pair where failure was observed.
        self.after(last).filter(|&path| self[path].state == state).min_by_key(|&path| self[path].error_count)
    }

    /// All paths, the one after `last` first and `last` at the end.
    pub(crate) fn after(&self, last: PathId) -> impl Iterator<Item = PathId> + use<> {
        let ids: SmallVec<[PathId; 4]> = self.ids().collect();
        let at = ids.partition_point(|path| *path <= last);
        let count = ids.len();
        (0..count).map(move |step| ids[(at + step) % count])
    }

    /// The active path with the least smoothed round-trip time, if one has been measured.
    pub(crate) fn lowest_delay(&self) -> Option<PathId> {
        self.ids()
            .filter(|&path| self[path].state == PathState::Active)
            .filter_map(|path| Some((self[path].rtt.srtt()?, path)))
            .min()
            .map(|(_, path)| path)
    }

    /// The largest DATA chunk that fits every path, in bytes: the Association Maximum DATA Chunk Size.
    pub(crate) const fn amdcs(&self) -> usize {
        self.amdcs
    }

    /// So many bytes of every packet with DATA are taken by something else.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.reserved = bytes;
        self.measure();
    }

    //= https://www.rfc-editor.org/rfc/rfc9260#section-7.3
    //# The sender SHOULD track an AMDCS that will be the smallest PMDCS
    //# discovered for all of the peer's destination addresses.
    fn measure(&mut self) {
        let least = self.iter().map(Path::pmdcs).min();
        self.amdcs = least.map_or(0, |least| least - self.reserved);
    }

    /// Follows an ICMP "packet too big"; an increase is not believed. `false` if it says nothing new.
    pub(crate) fn reduce_mtu(&mut self, path: PathId, mtu: u16) -> bool {
        let is_news = self[path].reduce_mtu(mtu);
        self.measure();
        is_news
    }

    /// Follows the discovery of a path's MTU. Returns whether that has changed.
    pub(crate) fn follow_discovery(&mut self, path: PathId) -> bool {
        let is_news = self[path].follow_discovery();
        if is_news {
            self.measure();
        }
        is_news
    }

    /// Tells if the peer is known to be at none of its addresses.
    pub(crate) fn is_unverified(&self) -> bool {
        self.iter().all(|path| path.state == PathState::Unconfirmed)
    }

    /// Adds a path; `None` if there are as many as there may be, or all numbers have been given.
    pub(crate) fn add(&mut self, path: Path) -> Option<PathId> {
        let id = PathId(self.next_id);
        if self.len() >= usize::from(u8::MAX) {
            return None;
        }
        self.next_id = self.next_id.checked_add(1)?;
        self.others.push(path);
        self.other_ids.push(id);
        self.measure();
        Some(id)
    }

    /// Takes a path away that is not the only one.
    ///
    /// # Panics
    /// If it is.
    pub(crate) fn remove(&mut self, path: PathId) {
        let place = if path == self.first_id { 0 } else { self.place(path) };
        let (removed, id) = (self.others.remove(place), self.other_ids.remove(place));
        if path == self.first_id {
            self.first = removed;
            self.first_id = id;
        }
        self.measure();
        if path == self.primary {
            self.primary = self.first_id;
            let is_usable = |path: &PathId| self[*path].state == PathState::Active;
            let is_confirmed = |path: &PathId| self[*path].state != PathState::Unconfirmed;
            let next = self.ids().find(is_usable).or_else(|| self.ids().find(is_confirmed));
            self.primary = next.unwrap_or(self.first_id);
        }
    }

    fn place(&self, path: PathId) -> usize {
        self.other_ids.iter().position(|id| *id == path).expect("the path has not been removed")
    }

    #[inline(never)]
    fn other(&self, path: PathId) -> &Path {
        &self.others[self.place(path)]
    }

    #[inline(never)]
    fn other_mut(&mut self, path: PathId) -> &mut Path {
        let place = self.place(path);
        &mut self.others[place]
    }

    /// The earliest deadline of any path.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Timer {
        let earlier = |next: Timer, path: &Path| next.or_earlier(path.next_deadline());
        self.others.iter().fold(self.first.next_deadline(), earlier)
    }
}

impl Index<PathId> for Paths {
    type Output = Path;

    #[inline]
    fn index(&self, path: PathId) -> &Path {
        if path == self.first_id { &self.first } else { self.other(path) }
    }
}

impl IndexMut<PathId> for Paths {
    #[inline]
    fn index_mut(&mut self, path: PathId) -> &mut Path {
        if path == self.first_id {
            return &mut self.first;
        }
        self.other_mut(path)
    }
}

fn id(index: usize) -> PathId {
    PathId(u16::try_from(index).expect("at most 255 paths"))
}
