//! Connections by identifier and by addresses and ports.

use std::hash::BuildHasher;
use std::net::{IpAddr, SocketAddr};

use rustc_hash::FxBuildHasher;
use slantpath_base::{CACHED, SlotIndex, prefetch};

use crate::connection::Connection;

/// Names one connection of an endpoint. It is never used again for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId {
    slot: u32,
    generation: u32,
}

impl ConnectionId {
    /// Both parts as one number, in the order of identifiers.
    pub(super) const fn number(self) -> u64 {
        (self.slot as u64) << 32 | self.generation as u64
    }

    /// The identifier with this [`number`](Self::number).
    #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
    pub(super) const fn of_number(number: u64) -> Self {
        Self { slot: (number >> 32) as u32, generation: number as u32 }
    }

    /// A small number that no other connection of the endpoint has at the same time: a place in a list of them.
    pub const fn index(self) -> usize {
        self.slot as usize
    }
}

/// Own address and port and the peer's, in a form that is compared and hashed in a few instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Key {
    local: u128,
    remote: u128,
    ports: u32,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    connection: Option<Box<Connection>>,
}

/// All connections of one endpoint.
#[derive(Debug, Default)]
pub(crate) struct ConnectionTable {
    slots: Vec<Slot>,
    free: Vec<u32>,
    by_addresses: SlotIndex,
    /// The connection found last: the next segment is often for the same.
    latest: Option<(Key, ConnectionId)>,
}

impl ConnectionTable {
    /// Takes in a connection whose addresses and ports no other has.
    pub(crate) fn insert(&mut self, connection: Connection) -> ConnectionId {
        let key = key(connection.local(), connection.remote());
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            u32::try_from(self.slots.len() - 1).expect("fewer than four milliards of connections")
        });
        let place = &mut self.slots[slot as usize];
        place.connection = Some(Box::new(connection));
        let id = ConnectionId { slot, generation: place.generation };
        self.by_addresses.insert(key.hash(), slot);
        id
    }

    /// Drops a connection; its identifier names nothing from now on.
    pub(crate) fn remove(&mut self, id: ConnectionId) {
        self.latest = None;
        let Some(connection) = self.get(id) else { return };
        let key = key(connection.local(), connection.remote());
        self.by_addresses.remove(key.hash(), id.slot);
        let place = &mut self.slots[id.slot as usize];
        place.connection = None;
        place.generation += 1;
        self.free.push(id.slot);
    }

    #[inline]
    pub(crate) fn get(&self, id: ConnectionId) -> Option<&Connection> {
        let slot = self.slots.get(id.slot as usize)?;
        slot.connection.as_deref().filter(|_| slot.generation == id.generation)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        let slot = self.slots.get_mut(id.slot as usize)?;
        if slot.generation != id.generation {
            return None;
        }
        slot.connection.as_deref_mut()
    }

    /// Asks for the memory of a connection that is going to be served. That of a few is in the cache.
    #[inline]
    pub(crate) fn prefetch(&self, id: ConnectionId) {
        if self.slots.len() > CACHED
            && let Some(connection) = self.get(id)
        {
            prefetch(connection);
        }
    }

    /// The connection between `local` and `remote`.
    pub(crate) fn find(&mut self, local: SocketAddr, remote: SocketAddr) -> Option<ConnectionId> {
        let key = key(local, remote);
        match self.latest {
            Some((latest, id)) if latest == key => Some(id),
            _ => {
                let is_between = |slot: u32| {
                    let connection = self.slots[slot as usize].connection.as_deref();
                    connection.is_some_and(|connection| connection.is_between(local, remote))
                };
                let slot = self.by_addresses.find(key.hash(), is_between)?;
                let id = ConnectionId { slot, generation: self.slots[slot as usize].generation };
                self.prefetch(id);
                self.latest = Some((key, id));
                Some(id)
            }
        }
    }
}

impl Key {
    fn hash(self) -> u64 {
        FxBuildHasher.hash_one(self)
    }
}

fn key(local: SocketAddr, remote: SocketAddr) -> Key {
    let ports = u32::from(local.port()) << 16 | u32::from(remote.port());
    Key { local: number(local.ip()), remote: number(remote.ip()), ports }
}

/// An address as one number. IPv4's have ones before them: as an IPv6 address, that would be a group's.
#[inline]
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => !0 << 32 | u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    #[test]
    fn the_number_of_an_identifier_names_it_in_its_order() {
        let id = |slot, generation| ConnectionId { slot, generation };
        let ids = [id(0, 1), id(0, 7), id(1, 0), id(1, 5), id(5, 5), id(u32::MAX, 3)];
        for id in ids {
            assert_eq!(ConnectionId::of_number(id.number()), id);
        }
        assert!(ids.is_sorted_by_key(|id| id.number()));
        assert_eq!(id(5, 4).number(), 5 << 32 | 4);
    }

    #[test]
    fn no_two_addresses_have_the_same_number() {
        let v6 = |low: u128| IpAddr::V6(Ipv6Addr::from_bits(low));
        let v4 = |low: u32| IpAddr::V4(Ipv4Addr::from_bits(low));
        assert_eq!((number(v6(0x0102_0304)), number(v6(7))), (0x0102_0304, 7));
        assert_eq!(number(v4(0x0102_0304)), 0xffff_ffff_ffff_ffff_ffff_ffff_0102_0304);
    }
}
