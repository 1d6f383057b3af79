//! Options about the ends of associations: addresses, identifiers and counts; and those that are calls of libsctp.

use std::net::{IpAddr, SocketAddr};

use slantpath_live::SocketId;
use slantpath_requests::{Errno, Reply};

use super::Call;
use super::table::SctpOption;
use crate::layout::{Given, Told, narrowed};
use crate::news::Answered;
use crate::sockets::Sockets;

impl Sockets {
    /// Reads an option about the ends of associations.
    pub(super) fn get_ends(&mut self, call: &mut Call<'_>, option: SctpOption) -> Result<Told, Errno> {
        let given = call.given;
        let socket = self.open.get(&call.number).ok_or(Errno::EBADF)?;
        match option {
            SctpOption::GetAssocNumber | SctpOption::GetAssocIdList => {
                if socket.is_one_to_one() {
                    return Err(Errno::EOPNOTSUPP);
                }
                let numbers: Vec<i32> = socket
                    .associations
                    .iter()
                    .filter_map(|id| self.associations.get(*id).map(|one| one.number.0))
                    .collect();
                let told = Told::default().u32(narrowed(numbers.len() as u64));
                if option == SctpOption::GetAssocNumber {
                    return Ok(told);
                }
                Ok(numbers.into_iter().fold(told, Told::i32))
            }
            SctpOption::GetPeerAddrs => {
                let association = given.at_least(8)?.i32(0)?;
                let id = self.existing(call.number, association)?;
                let port = self.associations.get(id).map_or(0, |one| one.peer.port());
                let addresses = call
                    .host
                    .sctp_association(id)
                    .and_then(|(endpoint, id)| endpoint.peer(id).map(|peer| peer.addresses.to_vec()));
                self.address_list(call.number, association, &addresses.unwrap_or_default(), port)
            }
            SctpOption::GetLocalAddrs => {
                let association = given.at_least(8)?.i32(0)?;
                let bound = socket.bound.clone();
                let id = if association == 0 && !socket.is_one_to_one() {
                    None
                } else {
                    self.named(call.number, association)?
                };
                let of = id.and_then(|id| call.host.sctp_mib_association(id));
                let mut addresses: Vec<IpAddr> = of
                    .map(|row| row.local_addresses.iter().map(|one| one.addr).collect())
                    .unwrap_or_default();
                let bound = bound.ok_or(Errno::EINVAL)?;
                if addresses.is_empty() {
                    addresses = self.addresses_of(call.number, &bound);
                }
                self.address_list(call.number, association, &addresses, bound.port)
            }
            _ => self.counts(call),
        }
    }

    /// A `struct sctp_getaddrs`.
    fn address_list(
        &self,
        number: crate::SocketNumber,
        association: i32,
        addresses: &[IpAddr],
        port: u16,
    ) -> Result<Told, Errno> {
        let socket = self.open.get(&number).ok_or(Errno::EBADF)?;
        let told = Told::default().i32(association).u32(narrowed(addresses.len() as u64));
        Ok(addresses
            .iter()
            .fold(told, |told, address| told.address(socket.address_for(SocketAddr::new(*address, port)))))
    }

    /// A `struct sctp_assoc_stats`.
    fn counts(&self, call: &mut Call<'_>) -> Result<Told, Errno> {
        let association = call.given.at_least(4)?.i32(0)?;
        let id = self.existing(call.number, association)?;
        let paths = call.host.sctp_paths(call.now, id);
        let stats = call.host.sctp_snapshot(id).map(|snapshot| snapshot.stats).unwrap_or_default();
        let longest = paths.iter().max_by_key(|path| path.rto);
        let port = self.associations.get(id).map_or(0, |one| one.peer.port());
        let socket = self.open.get(&call.number).ok_or(Errno::EBADF)?;
        let address = longest.map(|path| socket.address_for(SocketAddr::new(path.destination, port)));
        let sent =
            |count: fn(&slantpath_sctp::PathStats) -> u64| paths.iter().map(|path| count(&path.stats)).sum();
        let packets: u64 = sent(|path| path.packets_sent);
        let chunks: u64 = sent(|path| path.data_chunks_sent);
        let retransmissions: u64 = sent(|path| path.retransmissions);
        let ordered_sent = chunks.saturating_sub(retransmissions).saturating_sub(stats.unordered_chunks_sent);
        let ordered_received = stats.data_chunks_received.saturating_sub(stats.unordered_chunks_received);
        let counts = [
            longest.map_or(0, |path| path.rto.as_millis()),
            stats.sacks_received,
            stats.sacks_sent,
            packets,
            stats.packets_received,
            retransmissions,
            stats.chunks_ahead_received,
            stats.duplicates_received,
            stats.gap_ack_blocks_received,
            stats.unordered_chunks_sent,
            stats.unordered_chunks_received,
            ordered_sent,
            ordered_received,
            stats.control_chunks_sent,
            stats.control_chunks_received,
        ];
        let told = Told::default().i32(association).u32(0).storage(address);
        Ok(counts.into_iter().fold(told, Told::u64))
    }

    /// Serves `sctp_peeloff`: a socket of its own for an association of a one-to-many socket.
    pub(super) fn peel_off(&mut self, call: &mut Call<'_>) -> Answered {
        match self.peeled_off(call) {
            Ok((number, mut value)) => {
                // The descriptor takes the place of -1.
                if let Some(place) = value.get_mut(4..8) {
                    place.copy_from_slice(&(-1_i32).to_le_bytes());
                }
                let reply = Reply { value, ..Reply::default() };
                Answered { reply, socket: Some(number) }
            }
            Err(error) => Answered::failed(error),
        }
    }

    fn peeled_off(&mut self, call: &mut Call<'_>) -> Result<(crate::SocketNumber, Vec<u8>), Errno> {
        let association = call.given.at_least(8)?.i32(0)?;
        let socket = self.open.get(&call.number).ok_or(Errno::EBADF)?;
        if socket.is_one_to_one() {
            return Err(Errno::EINVAL);
        }
        if association <= super::ALL {
            return Err(Errno::EINVAL);
        }
        let id = self.existing(call.number, association)?;
        let socket = self.open.get_mut(&call.number).ok_or(Errno::EBADF)?;
        socket.associations.remove(&id);
        let mut peeled = socket.accepted(id);
        peeled.is_peeled_off = true;
        peeled.inbox = socket.inbox.split_off(id);
        let number = self.insert(peeled);
        self.join_port(call.number, number);
        self.give_to(id, Some(number));
        self.note_own_address(call.now, call.host, number);
        self.tell_readable_if_any(number);
        Ok((number, call.given.0.to_vec()))
    }

    /// Serves `sctp_connectx` as `setsockopt` has it: the number that it gives back is the association's.
    pub(super) fn connectx(&mut self, call: &mut Call<'_>) -> Option<Answered> {
        let peers = match call.given.addresses() {
            Ok(peers) => peers,
            Err(error) => return Some(Answered::failed(error)),
        };
        self.connect(call, &peers, true)
    }

    /// Serves `sctp_connectx` as `getsockopt` has it: behind its struct, whose pointer means nothing here, follow the
    /// addresses.
    pub(super) fn connectx3(&mut self, call: &mut Call<'_>) -> Option<Answered> {
        const LEN: usize = 16;
        let peers = match call.given.tail(LEN).and_then(|tail| Given(tail).addresses()) {
            Ok(peers) => peers,
            Err(error) => return Some(Answered::failed(error)),
        };
        let given = call.given.0.to_vec();
        let begun = self.begin(call.now, call.host, call.number, &peers);
        let id = match begun {
            Ok(id) => id,
            Err(error) => return Some(Answered::failed(error)),
        };
        let number = self.associations.get(id).map_or(0, |one| one.number.0);
        let mut value = given;
        value.truncate(LEN);
        value[..4].copy_from_slice(&number.to_le_bytes());
        let reply = Reply { value, ..Reply::default() };
        let Some(token) = call.waiting else {
            return Some(Reply { error: Some(Errno::EINPROGRESS), ..reply }.into());
        };
        self.open.get_mut(&call.number)?.connecting.push((token, id, reply));
        None
    }

    /// Answer that has the number of an association.
    pub(crate) fn begun(&self, id: SocketId) -> Answered {
        let number = self.associations.get(id).map_or(0, |one| one.number.0);
        Reply { number, ..Reply::default() }.into()
    }
}
