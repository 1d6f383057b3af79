//! What passes between a live host and its peer, chunk by chunk, read off the packets themselves.

use std::collections::BTreeMap;
use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_interface::{Host as Interface, InterfaceId, Journey};
use slantpath_wire::Packet;
use slantpath_wire::ip::IpHeader;

use crate::network::Way;

/// Types of chunks (RFC 9260, 3758, 4820, 4895, 5061, 6525, 8260, draft-natarajan-tsvwg-sctp-nrsack).
pub(crate) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const SACK: u8 = 3;
    pub(crate) const HEARTBEAT: u8 = 4;
    pub(crate) const AUTH: u8 = 15;
    pub(crate) const NR_SACK: u8 = 16;
    pub(crate) const I_DATA: u8 = 64;
    pub(crate) const ASCONF_ACK: u8 = 128;
    pub(crate) const RE_CONFIG: u8 = 130;
    pub(crate) const PAD: u8 = 132;
    pub(crate) const FORWARD_TSN: u8 = 192;
    pub(crate) const ASCONF: u8 = 193;
    pub(crate) const I_FORWARD_TSN: u8 = 194;
}

/// Flags of DATA and I-DATA.
const BEGINNING: u8 = 2;
const UNORDERED: u8 = 4;
const IMMEDIATE: u8 = 8;

/// What has passed one way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passed {
    /// How many chunks of each type.
    chunks: BTreeMap<u8, u64>,
    /// DATA chunks by the peer's address, and by ours.
    data: BTreeMap<IpAddr, u64>,
    /// DATA chunks with the I bit.
    pub(crate) immediate: u64,
    /// How many packets there were with chunks that had no AUTH in front of them, by the chunk's type.
    bare: BTreeMap<u8, u64>,
    /// How often an ordered message had Stream Sequence Number 0, by its stream.
    pub(crate) first_messages: BTreeMap<u16, u64>,
    /// I-DATA chunks that go on with a message behind one of another message.
    pub(crate) interleaved: u64,
    /// The message of the last I-DATA chunk.
    last_message: Option<(u16, bool, u32)>,
    /// The identifiers of keys that AUTH was made with.
    keys: std::collections::BTreeSet<u16>,
    /// The longest packet with DATA, IP header included.
    pub(crate) longest_with_data: usize,
    /// When DATA was sent that has not been acknowledged since.
    waits_since: Option<Instant>,
    /// The longest time from DATA until a SACK came the other way.
    pub(crate) longest_wait: Duration,
}

impl Passed {
    /// How many chunks of a type.
    pub(crate) fn count(&self, kind: u8) -> u64 {
        self.chunks.get(&kind).copied().unwrap_or(0)
    }

    /// The same of those without AUTH in front of them.
    pub(crate) fn bare(&self, kind: u8) -> u64 {
        self.bare.get(&kind).copied().unwrap_or(0)
    }

    /// How many DATA chunks had an address as source or destination.
    pub(crate) fn data_with(&self, address: IpAddr) -> u64 {
        self.data.get(&address).copied().unwrap_or(0)
    }

    /// The identifiers of the keys that were used, in their order.
    pub(crate) fn keys(&self) -> Vec<u16> {
        self.keys.iter().copied().collect()
    }

    fn take_chunk(&mut self, now: Instant, addresses: [IpAddr; 2], is_authenticated: bool, chunk: &[u8]) {
        let [kind, flags] = [chunk[0], chunk[1]];
        *self.chunks.entry(kind).or_default() += 1;
        if !is_authenticated {
            *self.bare.entry(kind).or_default() += 1;
        }
        if kind == kind::AUTH {
            self.keys.insert(u16::from_be_bytes([chunk[4], chunk[5]]));
        }
        if !matches!(kind, kind::DATA | kind::I_DATA) {
            return;
        }
        for address in addresses {
            *self.data.entry(address).or_default() += 1;
        }
        self.immediate += u64::from(flags & IMMEDIATE != 0);
        self.waits_since.get_or_insert(now);
        let stream = u16::from_be_bytes([chunk[8], chunk[9]]);
        let is_unordered = flags & UNORDERED != 0;
        if kind == kind::DATA {
            let is_first = chunk[10..12] == [0, 0] && flags & BEGINNING != 0 && !is_unordered;
            *self.first_messages.entry(stream).or_default() += u64::from(is_first);
        } else {
            let number = u32::from_be_bytes([chunk[12], chunk[13], chunk[14], chunk[15]]);
            let message = Some((stream, is_unordered, number));
            let goes_on = flags & BEGINNING == 0 && self.last_message != message;
            self.interleaved += u64::from(goes_on);
            self.last_message = message;
        }
    }
}

/// What has passed both ways.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wire {
    pub(crate) to_peer: Passed,
    pub(crate) to_us: Passed,
}

impl Wire {
    fn take(&mut self, now: Instant, way: Way, packet: &Packet) {
        let octets = packet.contiguous();
        let Ok((header, header_len)) = IpHeader::parse_header(&octets) else { return };
        let (passed, other) = match way {
            Way::ToPeer => (&mut self.to_peer, &mut self.to_us),
            Way::ToUs => (&mut self.to_us, &mut self.to_peer),
        };
        let mut rest = octets.get(header_len + 12..).unwrap_or(&[]);
        let mut is_authenticated = false;
        while let Some(&[kind, _, high, low]) = rest.first_chunk() {
            let len = usize::from(u16::from_be_bytes([high, low]));
            let Some(chunk) = rest.get(..len).filter(|chunk| chunk.len() >= 4) else { return };
            passed.take_chunk(now, [header.source, header.destination], is_authenticated, chunk);
            if matches!(kind, kind::DATA | kind::I_DATA) {
                passed.longest_with_data = passed.longest_with_data.max(octets.len());
            }
            is_authenticated |= kind == kind::AUTH;
            if matches!(kind, kind::SACK | kind::NR_SACK)
                && let Some(since) = other.waits_since.take()
            {
                other.longest_wait = other.longest_wait.max(now.saturating_since(since));
            }
            rest = rest.get(len.next_multiple_of(4)..).unwrap_or(&[]);
        }
    }

    /// How many chunks of a type have passed, to the peer and to us.
    pub(crate) fn counts(&self, kind: u8) -> [u64; 2] {
        [self.to_peer.count(kind), self.to_us.count(kind)]
    }
}

/// A host whose packets are looked at.
#[derive(Debug)]
pub(crate) struct Watched<H> {
    pub(crate) host: H,
    pub(crate) wire: Wire,
}

impl<H: Interface> Interface for Watched<H> {
    fn handle_packet(&mut self, now: Instant, interface: InterfaceId, packet: &mut Packet) {
        self.wire.take(now, Way::ToUs, packet);
        self.host.handle_packet(now, interface, packet);
    }

    fn note_journey(&mut self, journey: Journey) {
        self.host.note_journey(journey);
    }

    fn is_verified(&self) -> bool {
        self.host.is_verified()
    }

    fn handle_deadline(&mut self, now: Instant) {
        self.host.handle_deadline(now);
    }

    fn poll_transmit(&mut self, now: Instant, packet: &mut Packet) -> Option<InterfaceId> {
        let interface = self.host.poll_transmit(now, packet)?;
        self.wire.take(now, Way::ToPeer, packet);
        Some(interface)
    }

    fn deadline(&self) -> Option<Instant> {
        self.host.deadline()
    }
}
