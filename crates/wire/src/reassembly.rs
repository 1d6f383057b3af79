//! Fragments become packets again (RFC 791, section 3.2; RFC 8200, section 4.5), within bounds.
//!
//! Neither the memory nor the work of a reassembler follows what its peers choose: packets under reassembly and the
//! bytes that they hold are limited, and each ends after [`TIMEOUT`]. A packet whose fragments overlap is given up
//! (RFC 5722), IPv4 included: no honest sender makes such fragments, and hosts that disagree on what they mean are
//! what attackers look for.

use std::collections::BTreeMap;
use std::net::IpAddr;

use bytes::Bytes;
use slantpath_base::{Duration, Instant};

use crate::ip::{Fragment, Fragmentation, IpHeader};

/// For how long a packet may be under reassembly, from its first fragment to arrive on: RFC 8200, section 4.5, and the
/// least of what RFC 1122, section 3.3.2, allows for IPv4.
pub const TIMEOUT: Duration = Duration::from_secs(60);
/// Largest number of packets under reassembly. The oldest makes room for a new one.
pub const PACKETS_MAX: usize = 64;
/// Largest number of bytes held, each fragment charged with [`FRAGMENT_OVERHEAD`] besides its own. The limit is enough
/// for a packet of 64 KiB in the smallest fragments.
pub const BYTES_MAX: usize = 1 << 20;
/// Bytes that a fragment is charged with besides its own.
pub const FRAGMENT_OVERHEAD: usize = 64;

/// Why a fragment was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FragmentDrop {
    /// Fragment that was there already.
    Duplicate,
    /// Fragment with an impossible length or offset.
    Malformed,
    /// Fragment of a packet that had to make room for others.
    NoRoom,
    /// Fragment that overlaps or contradicts another of its packet, which is given up with all its fragments.
    Overlap,
    /// The rest of its packet has not come in time.
    TimedOut,
}

impl FragmentDrop {
    /// All of them, in the order of their counters.
    pub const ALL: [Self; 5] =
        [Self::Duplicate, Self::Malformed, Self::NoRoom, Self::Overlap, Self::TimedOut];

    /// As it is written in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::Malformed => "malformed",
            Self::NoRoom => "no room",
            Self::Overlap => "overlap",
            Self::TimedOut => "timed out",
        }
    }
}

/// Counters of fragments by their fate. Each fragment received was used, was dropped, or is still held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReassemblyCounters {
    /// Fragments that came in.
    pub received: u64,
    /// Fragments of the packets that became whole.
    pub used: u64,
    /// Packets that became whole.
    pub packets: u64,
    dropped: [u64; FragmentDrop::ALL.len()],
}

impl ReassemblyCounters {
    /// Fragments dropped for `reason`.
    pub const fn dropped(&self, reason: FragmentDrop) -> u64 {
        self.dropped[reason as usize]
    }

    const fn drop(&mut self, reason: FragmentDrop, fragments: usize) {
        self.dropped[reason as usize] += fragments as u64;
    }
}

//= https://www.rfc-editor.org/rfc/rfc8200#section-4.5
//# An original packet is reassembled only from fragment packets that
//# have the same Source Address, Destination Address, and Fragment
//# Identification.
/// Fields that the fragments of one packet have in common; IPv4 adds the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    source: IpAddr,
    destination: IpAddr,
    protocol: Option<u8>,
    identification: u32,
}

#[derive(Clone, Debug)]
struct Unfinished {
    key: Key,
    expires_at: Instant,
    progress: Progress,
}

#[derive(Clone, Debug)]
enum Progress {
    /// State after the packet's fragments overlapped: further fragments of it are dropped, too.
    GivenUp,
    Gathering(Pieces),
}

#[derive(Clone, Debug, Default)]
struct Pieces {
    /// By their offsets, in bytes. Copied: a slice would keep the whole of what it was received in.
    by_offset: BTreeMap<u16, Box<[u8]>>,
    bytes: usize,
    /// The length of the packet, which its last fragment tells.
    total: Option<usize>,
    /// The header of the first fragment, which is the packet's.
    header: Option<IpHeader>,
    /// The ECN codepoints of all fragments: bit *n* stands for codepoint *n*.
    codepoints: u8,
}

/// Why a fragment does not fit to those that are there.
enum Misfit {
    Duplicate,
    Overlap,
}

impl Pieces {
    fn charge(&self) -> usize {
        self.bytes + self.by_offset.len() * FRAGMENT_OVERHEAD
    }

    fn check(&self, fragment: Fragment, payload: &[u8]) -> Result<(), Misfit> {
        let start = usize::from(fragment.offset_bytes);
        let end = start + payload.len();
        if let Some(piece) = self.by_offset.get(&fragment.offset_bytes) {
            let is_last = self.total == Some(end_of(fragment.offset_bytes, piece));
            if **piece == *payload && is_last != fragment.is_followed {
                return Err(Misfit::Duplicate);
            }
        }
        let before = self.by_offset.range(..=fragment.offset_bytes).next_back();
        let after = self.by_offset.range(fragment.offset_bytes..).next();
        let furthest = self.by_offset.last_key_value().map_or(0, |(offset, piece)| end_of(*offset, piece));
        let is_beyond_the_end = match self.total {
            Some(total) => end > total || (!fragment.is_followed && end != total),
            None => !fragment.is_followed && end < furthest,
        };
        let overlaps = before.is_some_and(|(offset, piece)| end_of(*offset, piece) > start)
            || after.is_some_and(|(offset, _)| usize::from(*offset) < end);
        if is_beyond_the_end || overlaps { Err(Misfit::Overlap) } else { Ok(()) }
    }

    fn insert(&mut self, header: &IpHeader, fragment: Fragment, payload: &[u8]) {
        self.bytes += payload.len();
        if !fragment.is_followed {
            self.total = Some(usize::from(fragment.offset_bytes) + payload.len());
        }
        if fragment.offset_bytes == 0 {
            self.header = Some(*header);
        }
        self.codepoints |= 1 << (header.traffic_class & CONGESTION_EXPERIENCED);
        self.by_offset.insert(fragment.offset_bytes, payload.into());
    }

    /// The packet, if nothing is missing.
    fn whole(&self) -> Option<(IpHeader, Bytes)> {
        let mut header = self.header.filter(|_| self.total == Some(self.bytes))?;
        //= https://www.rfc-editor.org/rfc/rfc3168#section-5.3
        //# Set the CE codepoint on the reassembled packet.  However, this
        //# MUST NOT occur if any of the other fragments contributing to
        //# this reassembly carries the Not-ECT codepoint.
        if self.codepoints & 1 << CONGESTION_EXPERIENCED != 0 {
            // Such a mixture comes of no queue: what is never whole is dropped when its time is over.
            if self.codepoints & 1 != 0 {
                return None;
            }
            header.traffic_class |= CONGESTION_EXPERIENCED;
        }
        let pieces: Vec<&[u8]> = self.by_offset.values().map(|piece| &**piece).collect();
        Some((whole_header(header, self.bytes)?, pieces.concat().into()))
    }
}

/// CE, and all bits of the ECN field.
const CONGESTION_EXPERIENCED: u8 = 3;

fn end_of(offset: u16, piece: &[u8]) -> usize {
    usize::from(offset) + piece.len()
}

/// The header of a packet of `payload_len` bytes whose first fragment had `header`.
fn whole_header(header: IpHeader, payload_len: usize) -> Option<IpHeader> {
    let fragmentation = match header.fragmentation {
        Fragmentation::Fragment(Fragment { identification, .. }) if header.source.is_ipv4() => {
            Fragmentation::Allowed { identification: u16::try_from(identification).ok()? }
        }
        Fragmentation::Allowed { .. } | Fragmentation::Forbidden | Fragmentation::Fragment(_) => {
            Fragmentation::Forbidden
        }
    };
    Some(IpHeader { payload_len: u16::try_from(payload_len).ok()?, fragmentation, ..header })
}

/// The packets that a host has received in part.
#[derive(Clone, Debug, Default)]
pub struct Reassembler {
    /// In the order in which their first fragments came, which is that of their ends.
    unfinished: Vec<Unfinished>,
    /// Bytes charged for all of them.
    charged_bytes: usize,
    counters: ReassemblyCounters,
}

impl Reassembler {
    /// Takes in a fragment. Gives the header and the payload of its packet, if that is whole now.
    pub fn handle_fragment(
        &mut self,
        now: Instant,
        header: &IpHeader,
        fragment: Fragment,
        payload: &[u8],
    ) -> Option<(IpHeader, Bytes)> {
        self.handle_deadline(now);
        self.counters.received += 1;
        if !is_sound(header, fragment, payload) {
            self.counters.drop(FragmentDrop::Malformed, 1);
            return None;
        }
        //= https://www.rfc-editor.org/rfc/rfc8200#section-4.5
        //# If the fragment is a whole datagram (that is, both the Fragment
        //# Offset field and the M flag are zero), then it does not need
        //# any further reassembly and should be processed as a fully
        //# reassembled packet
        if fragment.offset_bytes == 0 && !fragment.is_followed {
            self.counters.used += 1;
            self.counters.packets += 1;
            return Some((whole_header(*header, payload.len())?, Bytes::copy_from_slice(payload)));
        }
        let key = Key {
            source: header.source,
            destination: header.destination,
            protocol: header.source.is_ipv4().then_some(header.protocol),
            identification: fragment.identification,
        };
        let known = self.unfinished.iter().position(|packet| packet.key == key);
        let index = known.unwrap_or_else(|| self.begin(now, key));
        let Progress::Gathering(pieces) = &mut self.unfinished[index].progress else {
            self.counters.drop(FragmentDrop::Overlap, 1);
            return None;
        };
        match pieces.check(fragment, payload) {
            Ok(()) => {}
            //= https://www.rfc-editor.org/rfc/rfc8200#section-4.5
            //# Instead of treating these exact
            //# duplicate fragments as overlapping fragments, an
            //# implementation may choose to detect this case and drop exact
            //# duplicate fragments while keeping the other fragments
            //# belonging to the same packet.
            Err(Misfit::Duplicate) => {
                self.counters.drop(FragmentDrop::Duplicate, 1);
                return None;
            }
            //= https://www.rfc-editor.org/rfc/rfc8200#section-4.5
            //# If any of the fragments being reassembled overlap with any
            //# other fragments being reassembled for the same packet,
            //# reassembly of that packet must be abandoned and all the
            //# fragments that have been received for that packet must be
            //# discarded, and no ICMP error messages should be sent.
            Err(Misfit::Overlap) => {
                self.charged_bytes -= pieces.charge();
                self.counters.drop(FragmentDrop::Overlap, pieces.by_offset.len() + 1);
                self.unfinished[index].progress = Progress::GivenUp;
                return None;
            }
        }
        let charge = payload.len() + FRAGMENT_OVERHEAD;
        pieces.insert(header, fragment, payload);
        self.charged_bytes += charge;
        if let Some(whole) = pieces.whole() {
            self.charged_bytes -= pieces.charge();
            self.counters.used += pieces.by_offset.len() as u64;
            self.counters.packets += 1;
            self.unfinished.remove(index);
            return Some(whole);
        }
        while self.charged_bytes > BYTES_MAX {
            self.end_oldest(FragmentDrop::NoRoom);
        }
        None
    }

    /// Gives up the packets whose time is over.
    pub fn handle_deadline(&mut self, now: Instant) {
        while self.deadline().is_some_and(|deadline| deadline <= now) {
            self.end_oldest(FragmentDrop::TimedOut);
        }
    }

    /// Instant at which the time of the next packet is over.
    pub fn deadline(&self) -> Option<Instant> {
        self.unfinished.first().map(|packet| packet.expires_at)
    }

    /// Counters of fragments by their fate.
    pub const fn counters(&self) -> &ReassemblyCounters {
        &self.counters
    }

    /// Number of bytes held, with the overhead that each fragment is charged.
    pub const fn charged_bytes(&self) -> usize {
        self.charged_bytes
    }

    /// Number of packets under reassembly.
    pub const fn unfinished(&self) -> usize {
        self.unfinished.len()
    }

    /// Makes a place for a packet.
    fn begin(&mut self, now: Instant, key: Key) -> usize {
        if self.unfinished.len() >= PACKETS_MAX {
            self.end_oldest(FragmentDrop::NoRoom);
        }
        let progress = Progress::Gathering(Pieces::default());
        self.unfinished.push(Unfinished { key, expires_at: now.saturating_add(TIMEOUT), progress });
        self.unfinished.len() - 1
    }

    fn end_oldest(&mut self, reason: FragmentDrop) {
        if let Progress::Gathering(pieces) = self.unfinished.remove(0).progress {
            self.charged_bytes -= pieces.charge();
            self.counters.drop(reason, pieces.by_offset.len());
        }
    }
}

/// Tells if a fragment of this length can stand at its place.
fn is_sound(header: &IpHeader, fragment: Fragment, payload: &[u8]) -> bool {
    // The lengths of whole packets have 16 bits: IPv4's counts the header, too.
    let longest = if header.source.is_ipv4() { 65_535 - header.header_len() } else { 65_535 };
    let end = usize::from(fragment.offset_bytes) + payload.len();
    //= https://www.rfc-editor.org/rfc/rfc8200#section-4.5
    //# If the length of a fragment, as derived from the fragment
    //# packet's Payload Length field, is not a multiple of 8 octets
    //# and the M flag of that fragment is 1, then that fragment must
    //# be discarded
    !payload.is_empty() && end <= longest && (!fragment.is_followed || payload.len().is_multiple_of(8))
}

#[cfg(test)]
mod tests;
