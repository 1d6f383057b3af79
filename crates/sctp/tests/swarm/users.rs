//! Actions of the users of both ends, and packets from somebody between them that neither has sent.

use std::collections::BTreeSet;
use std::net::IpAddr;

use slantpath_base::{Duration, Stream};
use slantpath_sctp::chunk::{Abort, AddressChange, kind};
use slantpath_sctp::packet::ParsedPacket;
use slantpath_sctp::{
    Cause, ChecksumPolicy, Chunk, Message, PacketBuilder, Ppid, Reliability, ResetDirection, SendError,
    SendOptions, StreamId,
};
use slantpath_wire::{Checksum, Packet};

use crate::case::{Feature, NETWORKS, pick};
use crate::wire_rules::unverified;
use crate::world::{Given, PORT, World, payload};

impl World {
    /// One thing that a user does, or somebody between.
    pub(crate) fn act(&mut self, random: &mut Stream) {
        let end = usize::from(random.below(2) == 0);
        let what = random.below(100);
        match what {
            0..60 => self.give(end, random),
            60..64 => self.pause(end, random),
            64..72 => self.change_streams(end, random),
            72..80 => self.change_addresses(end, random),
            80..83 => self.choose_path(end, random),
            83..86 => self.change_key(end, random),
            86..88 => self.change_value(end, random),
            _ => {
                if random.uniform() < self.case.weather.forgeries * 10.0 {
                    self.forge(random);
                }
            }
        }
        self.drain(end);
    }

    fn peer_address(&self, end: usize, random: &mut Stream) -> IpAddr {
        self.case.address(1 + u8::try_from(random.below(NETWORKS.into())).expect("small"), 1 - end)
    }

    fn give(&mut self, end: usize, random: &mut Stream) {
        let features = self.case.features[end].clone();
        let has = |feature| features.contains(&feature);
        let stream = u16::try_from(random.below(self.ends[end].outbound_streams.into())).expect("small");
        let len = pick(random, &[8, 8, 100, 1_024, 1_452, 3_000, 9_000, 60_000]);
        let is_unordered = random.below(8) == 0;
        let reliability = match random.below(6) {
            0 => Reliability::Lifetime(Duration::from_millis(random.below(500))),
            1 => Reliability::Retransmissions(u32::try_from(random.below(3)).expect("small")),
            2 => Reliability::Priority(u32::try_from(random.below(3)).expect("small")),
            _ => Reliability::Full,
        };
        let reliability = if has(Feature::PartialReliability) { reliability } else { Reliability::Full };
        let sack_immediately = has(Feature::SackImmediately) && random.below(3) == 0;
        let destination = self.peer_address(end, random);
        let destination = (has(Feature::Destination) && random.below(3) == 0).then_some(destination);
        let options = SendOptions { sack_immediately, destination, reliability };
        let options = (options != SendOptions::default()).then(|| Box::new(options));
        let number = self.ends[end].given.len() as u64;
        let message = Message {
            stream: StreamId(stream),
            ppid: Ppid(7),
            payload: payload(number, len).into(),
            is_unordered,
            context: number,
            options,
        };
        let states = self.path_states(end);
        let Some(id) = self.ends[end].id else { return };
        let this = &mut self.ends[end];
        let is_early = this.endpoint.association(id).is_none();
        match this.endpoint.send(self.now, id, message) {
            Ok(()) => this.given.push(Given {
                stream,
                is_unordered,
                sack_immediately,
                destination,
                fates: [0; 3],
                deliveries: 0,
                is_early,
            }),
            Err(SendError::BufferFull { wanted, free }) => {
                assert!(wanted > free, "{wanted} bytes have room in {free}");
                this.waits_for_room = true;
            }
            Err(SendError::NoSuchDestination { address }) => {
                assert!(!states.contains_key(&address), "{address} is there");
            }
            Err(SendError::NoAssociation | SendError::ShuttingDown) => {}
            Err(error) => panic!("{error}"),
        }
    }

    fn pause(&mut self, end: usize, random: &mut Stream) {
        let Some(id) = self.ends[end].id else { return };
        if random.below(3) == 0 {
            self.ends[end].endpoint.pause_delivery(id);
        } else {
            self.ends[end].endpoint.resume_delivery(id);
        }
    }

    fn change_streams(&mut self, end: usize, random: &mut Stream) {
        let Some(id) = self.ends[end].id else { return };
        let now = self.now;
        let this = &mut self.ends[end];
        let listed = (0..random.below(3)).map(|_| StreamId(u16::try_from(random.below(4)).expect("small")));
        let listed: BTreeSet<StreamId> = listed.collect();
        let listed: Vec<StreamId> = listed.into_iter().collect();
        // Resets that wait next to each other are one, and have one answer, which names the streams of both.
        let named = u32::try_from(listed.len().max(1)).expect("few");
        let (outbound, inbound) = (random.below(3), random.below(3));
        let what = random.below(8);
        let (result, changes) = match what {
            0 | 1 => (this.endpoint.reset_streams(now, id, ResetDirection::Outbound, &listed), named),
            2 | 3 => (this.endpoint.reset_streams(now, id, ResetDirection::Inbound, &listed), 1),
            4 => (this.endpoint.reset_streams(now, id, ResetDirection::Both, &listed), named + 1),
            5 => (this.endpoint.reset_association(now, id), 1),
            _ => {
                let counts = [outbound, inbound].map(|count| u16::try_from(count).expect("small"));
                let changes = counts.iter().filter(|count| **count > 0).count();
                let changes = u32::try_from(changes).expect("small");
                (this.endpoint.add_streams(now, id, counts[0], counts[1]), changes)
            }
        };
        if result.is_ok() {
            assert!(self.case.has(Feature::Reconfiguration), "nobody has agreed to that");
            this.asked[0] += changes;
        }
    }

    fn change_addresses(&mut self, end: usize, random: &mut Stream) {
        let Some(id) = self.ends[end].id else { return };
        let mut changes = Vec::new();
        for _ in 0..=random.below(3) {
            let network = 1 + u8::try_from(random.below(NETWORKS.into())).expect("small");
            let address = self.case.address(network, end);
            changes.push(match random.below(5) {
                0 | 1 => AddressChange::Add(address),
                2 | 3 => AddressChange::Delete(address),
                _ => AddressChange::SetPrimary(address),
            });
        }
        let this = &mut self.ends[end];
        for change in &changes {
            if let AddressChange::Add(address) = change {
                assert!(this.endpoint.add_port_address(PORT, *address));
            }
        }
        if this.endpoint.change_addresses(self.now, id, &changes).is_ok() {
            assert!(self.case.may_change_addresses(end), "nobody has agreed to that");
            this.asked[1] += u32::try_from(changes.len()).expect("few");
            for change in changes {
                if let AddressChange::Add(address) = change {
                    this.adding.push(address);
                }
            }
        }
    }

    fn choose_path(&mut self, end: usize, random: &mut Stream) {
        let address = self.peer_address(end, random);
        let Some(id) = self.ends[end].id else { return };
        let (now, endpoint) = (self.now, &mut self.ends[end].endpoint);
        if random.below(2) == 0 {
            endpoint.set_primary(now, id, address);
        } else {
            endpoint.request_heartbeat(now, id, address);
        }
    }

    fn change_key(&mut self, end: usize, random: &mut Stream) {
        let Some(id) = self.ends[end].id else { return };
        let key = pick(random, &[0, 1]);
        let is_done = self.ends[end].endpoint.activate_key(id, key).is_ok();
        assert!(!is_done || self.case.has(Feature::Authentication), "nobody has agreed to that");
    }

    fn change_value(&mut self, end: usize, random: &mut Stream) {
        let Some(id) = self.ends[end].id else { return };
        let stream = StreamId(u16::try_from(random.below(4)).expect("small"));
        let value = u16::try_from(random.below(4)).expect("small");
        self.ends[end].endpoint.set_stream_value(id, stream, value);
    }

    /// Somebody between sends on what is to be taken for nothing: a packet without its checksum, without its
    /// authentication, or with other bytes behind that; or an ABORT of his own.
    fn forge(&mut self, random: &mut Stream) {
        if self.under_way.is_empty() {
            return;
        }
        let place = usize::try_from(random.below(self.under_way.len() as u64)).expect("a place");
        let Some(mut forged) = self.under_way.values().nth(place).cloned() else { return };
        let to = 1 - forged.from;
        let Some(association) = self.ends[to].id.and_then(|id| self.ends[to].endpoint.association(id)) else {
            return;
        };
        let unverified = unverified(&forged.packet);
        let Ok(parsed) = ParsedPacket::parse(&unverified) else { return };
        let header = parsed.header;
        if forged.is_damaged || header.verification_tag != association.local_tag() {
            return;
        }
        let kinds: Vec<u8> = parsed.chunk_kinds().collect();
        let mut bytes = forged.packet.contiguous().to_vec();
        let has_auth = kinds[0] == kind::AUTH;
        let is_data = |kind: u8| matches!(kind, kind::DATA | kind::I_DATA);
        let ends_with_data = kinds.last().is_some_and(|kind| is_data(*kind));
        match random.below(4) {
            0 if bytes[8..12] != [0; 4] => {
                bytes[8..12].fill(0);
                let sets_up = |kind: &u8| matches!(*kind, kind::INIT | kind::COOKIE_ECHO);
                forged.is_damaged =
                    self.case.configs[to].zero_checksum.is_none() || kinds.iter().any(sets_up);
                forged.packet = Packet::copied(&bytes, Checksum::Complete);
            }
            1 if has_auth => {
                let len = usize::from(u16::from_be_bytes([bytes[14], bytes[15]]));
                bytes.drain(12..12 + len.next_multiple_of(4));
                if ends_with_data && self.case.is_wanted(to, kinds[kinds.len() - 1]) {
                    let last = bytes.len() - 1;
                    bytes[last] ^= 1;
                }
                forged.packet = Packet::copied(&bytes, Checksum::Omitted);
            }
            2 if has_auth && ends_with_data => {
                let last = bytes.len() - 1;
                bytes[last] ^= 1;
                forged.packet = Packet::copied(&bytes, Checksum::Omitted);
            }
            3 if self.case.is_wanted(to, kind::ABORT) => {
                let mut builder = PacketBuilder::default();
                builder.start(header, usize::MAX);
                builder.push(&Chunk::Abort(Abort::because(Cause::UserInitiatedAbort("forged".into()))));
                forged.packet = builder.finish(ChecksumPolicy::Omit);
            }
            _ => return,
        }
        self.arrive(forged);
    }
}
