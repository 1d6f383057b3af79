//! Traffic between a live host and its peer, chunk by chunk, read off the packets themselves.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_interface::InterfaceId;
use slantpath_live::Observer;
pub(crate) use slantpath_sctp::chunk::kind;
use slantpath_wire::Packet;
use slantpath_wire::ip::IpHeader;
use slantpath_wire::pcapng::Direction;

use crate::network::Way;

/// Flags of DATA and I-DATA.
const BEGINNING: u8 = 2;
const UNORDERED: u8 = 4;
const IMMEDIATE: u8 = 8;

/// A DATA or I-DATA chunk, as it was seen first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    tsn: u32,
    pub(crate) stream: u16,
    /// True if a message begins with it.
    pub(crate) is_beginning: bool,
    pub(crate) payload_len: usize,
    /// Address that it went to, and number of its packet.
    pub(crate) to: IpAddr,
    pub(crate) packet: u64,
}

/// The chunks of one way, each once.
#[derive(Clone, Default)]
struct Chunks {
    sent: Vec<Sent>,
    tsns: BTreeSet<u32>,
    /// True if one of them was seen again.
    has_repeated: bool,
}

/// Short form, so that the report of a case that fails stays short.
impl std::fmt::Debug for Chunks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} chunks", self.sent.len())
    }
}

/// Traffic that has passed one way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passed {
    /// Number of chunks of each type.
    chunks: BTreeMap<u8, u64>,
    /// DATA chunks by the peer's address, and by ours.
    data: BTreeMap<IpAddr, u64>,
    /// HEARTBEAT ACKs by the address that they came from: that which was asked.
    heartbeat_acks: BTreeMap<IpAddr, u64>,
    /// The TSN of the last DATA chunk.
    pub(crate) last_tsn: Option<u32>,
    /// All DATA chunks, as they were seen first.
    sent: Chunks,
    /// Number of packets that have passed.
    packets: u64,
    /// DATA chunks with the I bit.
    pub(crate) immediate: u64,
    /// Number of packets with chunks that had no AUTH in front of them, by the chunk's type.
    bare: BTreeMap<u8, u64>,
    /// The TSNs of ordered messages with Stream Sequence Number 0, by their stream.
    first_messages: BTreeMap<u16, BTreeSet<u32>>,
    /// I-DATA chunks that go on with a message behind one of another message.
    pub(crate) interleaved: u64,
    /// The message of the last I-DATA chunk.
    last_message: Option<(u16, bool, u32)>,
    /// The identifiers of keys that AUTH was made with.
    keys: BTreeSet<u16>,
    /// The longest packet with DATA, IP header included.
    pub(crate) longest_with_data: usize,
    /// Instant at which DATA was sent that has not been acknowledged since.
    waits_since: Option<Instant>,
    /// The longest time from DATA until a SACK came the other way.
    pub(crate) longest_wait: Duration,
}

impl Passed {
    /// Number of chunks of a type.
    pub(crate) fn count(&self, kind: u8) -> u64 {
        self.chunks.get(&kind).copied().unwrap_or(0)
    }

    /// Number of chunks of a type without AUTH in front of them.
    pub(crate) fn bare(&self, kind: u8) -> u64 {
        self.bare.get(&kind).copied().unwrap_or(0)
    }

    /// Number of DATA chunks that had an address as source or destination.
    pub(crate) fn data_with(&self, address: IpAddr) -> u64 {
        self.data.get(&address).copied().unwrap_or(0)
    }

    /// Number of times that an address has said that the path to it works.
    pub(crate) fn answers_of(&self, address: IpAddr) -> u64 {
        self.heartbeat_acks.get(&address).copied().unwrap_or(0)
    }

    /// Tells if a DATA or I-DATA chunk was seen again.
    pub(crate) const fn has_retransmitted(&self) -> bool {
        self.sent.has_repeated
    }

    /// DATA and I-DATA chunks that were sent, in the order of their TSNs.
    pub(crate) fn in_order(&self) -> Vec<Sent> {
        let mut sent = self.sent.sent.clone();
        if let Some(first) = sent.first().map(|sent| sent.tsn) {
            sent.sort_by_key(|sent| sent.tsn.wrapping_sub(first).cast_signed());
        }
        sent
    }

    /// The identifiers of the keys that were used, in their order.
    pub(crate) fn keys(&self) -> Vec<u16> {
        self.keys.iter().copied().collect()
    }

    /// Number of times that each stream that was used has begun: the number of its ordered messages with Stream
    /// Sequence Number 0.
    pub(crate) fn begun(&self) -> Vec<usize> {
        self.first_messages.values().map(BTreeSet::len).collect()
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
        if kind == kind::HEARTBEAT_ACK {
            *self.heartbeat_acks.entry(addresses[1]).or_default() += 1;
        }
        if !matches!(kind, kind::DATA | kind::I_DATA) {
            return;
        }
        for address in addresses {
            *self.data.entry(address).or_default() += 1;
        }
        let tsn = u32::from_be_bytes([chunk[4], chunk[5], chunk[6], chunk[7]]);
        self.last_tsn = Some(tsn);
        self.immediate += u64::from(flags & IMMEDIATE != 0);
        self.waits_since.get_or_insert(now);
        let stream = u16::from_be_bytes([chunk[8], chunk[9]]);
        let is_unordered = flags & UNORDERED != 0;
        if self.sent.tsns.insert(tsn) {
            let header_len = if kind == kind::DATA { 16 } else { 20 };
            self.sent.sent.push(Sent {
                tsn,
                stream,
                is_beginning: flags & BEGINNING != 0,
                payload_len: chunk.len() - header_len,
                to: addresses[0],
                packet: self.packets,
            });
        } else {
            self.sent.has_repeated = true;
        }
        if kind == kind::DATA {
            let is_first = chunk[10..12] == [0, 0] && flags & BEGINNING != 0 && !is_unordered;
            let first_messages = self.first_messages.entry(stream).or_default();
            if is_first {
                first_messages.insert(tsn);
            }
        } else {
            let number = u32::from_be_bytes([chunk[12], chunk[13], chunk[14], chunk[15]]);
            let message = Some((stream, is_unordered, number));
            let goes_on = flags & BEGINNING == 0 && self.last_message != message;
            self.interleaved += u64::from(goes_on);
            self.last_message = message;
        }
    }
}

/// Number of packets that are shown of an exchange that has gone wrong.
const SHOWN: usize = 60;

/// Traffic that has passed both ways.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wire {
    pub(crate) to_peer: Passed,
    pub(crate) to_us: Passed,
    /// The last packets, but for those that keep paths alive: they say little of what has gone wrong.
    last: VecDeque<(Instant, Way, Vec<u8>)>,
}

/// The address that a packet goes to, that which it comes from, and its chunks.
fn read(octets: &[u8]) -> Option<([IpAddr; 2], impl Iterator<Item = &[u8]>)> {
    let (header, header_len) = IpHeader::parse_header(octets).ok()?;
    let mut rest = octets.get(header_len + 12..).unwrap_or(&[]);
    let chunks = std::iter::from_fn(move || {
        let [_, _, high, low] = *rest.first_chunk()?;
        let len = usize::from(u16::from_be_bytes([high, low]));
        let chunk = rest.get(..len).filter(|chunk| chunk.len() >= 4)?;
        rest = rest.get(len.next_multiple_of(4)..).unwrap_or(&[]);
        Some(chunk)
    });
    Some(([header.destination, header.source], chunks))
}

impl Wire {
    fn take(&mut self, now: Instant, way: Way, packet: &Packet) {
        let octets = packet.contiguous();
        let Some((addresses, chunks)) = read(&octets) else { return };
        let (passed, other) = match way {
            Way::ToPeer => (&mut self.to_peer, &mut self.to_us),
            Way::ToUs => (&mut self.to_us, &mut self.to_peer),
        };
        passed.packets += 1;
        let mut is_authenticated = false;
        let mut is_shown = false;
        for chunk in chunks {
            let kind = chunk[0];
            passed.take_chunk(now, addresses, is_authenticated, chunk);
            if matches!(kind, kind::DATA | kind::I_DATA) {
                passed.longest_with_data = passed.longest_with_data.max(octets.len());
            }
            is_authenticated |= kind == kind::AUTH;
            is_shown |= !matches!(kind, kind::HEARTBEAT | kind::HEARTBEAT_ACK);
            if matches!(kind, kind::SACK | kind::NR_SACK)
                && let Some(since) = other.waits_since.take()
            {
                other.longest_wait = other.longest_wait.max(now.saturating_since(since));
            }
        }
        if is_shown {
            if self.last.len() == SHOWN {
                self.last.pop_front();
            }
            self.last.push_back((now, way, octets.to_vec()));
        }
    }

    /// The last packets, each in a line: when, which way and where to, and of each chunk its type, its flags and its
    /// first words.
    pub(crate) fn last_packets(&self) -> String {
        let mut text = String::new();
        for (at, way, octets) in &self.last {
            let (addresses, chunks) = read(octets).unwrap();
            write!(text, "{:.6} {way:?} {}", at.since_start().as_secs_f64(), addresses[0]).unwrap();
            for chunk in chunks {
                write!(text, "  {}/{:x}", chunk[0], chunk[1]).unwrap();
                let shown = if matches!(chunk[0], kind::DATA | kind::SACK) { 3 } else { 10 };
                for word in chunk[4..].chunks(4).take(shown) {
                    text.push(' ');
                    for octet in word {
                        write!(text, "{octet:02x}").unwrap();
                    }
                }
            }
            text.push('\n');
        }
        text
    }

    /// Numbers of chunks of a type that have passed, to the peer and to us.
    pub(crate) fn counts(&self, kind: u8) -> [u64; 2] {
        [self.to_peer.count(kind), self.to_us.count(kind)]
    }
}

impl Observer for Wire {
    fn see(&mut self, now: Instant, _: InterfaceId, packet: &Packet, direction: Direction) {
        let way = match direction {
            Direction::Inbound => Way::ToUs,
            Direction::Outbound => Way::ToPeer,
        };
        self.take(now, way, packet);
    }
}
