//! Packets and frames from one attached node to another, known by what no router and no link changes of them.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use slantpath_base::{Duration, Instant};
use slantpath_results::{Histogram, Precision};
use slantpath_wire::ethernet::{self, ETHERNET_ADDRESSES_LEN};
use slantpath_wire::ip::IpHeader;

use super::entries::hash_of;
use crate::run::Attachment;

/// Delays of packets in a few numbers, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WayDelays {
    /// Mean of the delays.
    pub mean_s: f64,
    /// Delay within which 99 % of them are, to 1 %.
    pub p99_s: f64,
}

/// Packets of an interface in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WaySummary {
    /// Packets that passed the interface.
    pub packets: u64,
    /// Packets from one attached node to another that took this way.
    pub offered: u64,
    /// Packets of those that had not come out at the end.
    pub lost: u64,
    /// Delays of those that had, but for packets that equal one that was under way with them.
    pub delays: Option<WayDelays>,
}

/// Packets that passed an interface of an attached node.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InterfacePassage {
    /// Name of the node.
    pub node: String,
    /// Name of the link.
    pub link: String,
    /// Packets that came from the node.
    pub from: WaySummary,
    /// Packets that went to the node.
    pub to: WaySummary,
}

/// Time after which a packet is no longer waited for where an equal one comes.
const LONGEST_DELAY: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
struct Way {
    packets: u64,
    offered: u64,
    come_out: u64,
    delays: Histogram,
}

impl Way {
    fn new() -> Self {
        let precision = Precision::within(0.01).expect("a hundredth is a precision");
        Self { packets: 0, offered: 0, come_out: 0, delays: Histogram::new(precision) }
    }

    fn summary(&self) -> WaySummary {
        const SECOND: f64 = 1e9;
        let delays = self.delays.mean().zip(self.delays.quantile(0.99));
        WaySummary {
            packets: self.packets,
            offered: self.offered,
            lost: self.offered - self.come_out,
            delays: delays.map(|(mean, p99)| WayDelays { mean_s: mean / SECOND, p99_s: p99 / SECOND }),
        }
    }
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
struct Underway {
    at: Instant,
    from: usize,
    to: usize,
}

/// Follows packets through a network.
#[derive(Clone, Debug)]
pub(super) struct Passage {
    interfaces: Vec<(String, String)>,
    /// Interfaces by their addresses.
    places: BTreeMap<IpAddr, usize>,
    /// Addresses of the other end, of an interface whose link carries frames.
    other_ends: Vec<Option<IpAddr>>,
    from: Vec<Way>,
    to: Vec<Way>,
    /// Packets that have not come out, by their hash.
    underway: BTreeMap<u64, VecDeque<Underway>>,
}

impl Passage {
    pub(super) fn new(attachments: &[Attachment]) -> Self {
        let mut passage = Self {
            interfaces: Vec::new(),
            places: BTreeMap::new(),
            other_ends: Vec::new(),
            from: Vec::new(),
            to: Vec::new(),
            underway: BTreeMap::new(),
        };
        for node in attachments {
            for own in &node.interfaces {
                let place = passage.interfaces.len();
                passage.places.extend(own.addresses.iter().map(|address| (*address, place)));
                passage.other_ends.push(own.other_end.first().copied().filter(|_| own.carries_frames));
                passage.interfaces.push((node.node.clone(), own.link.clone()));
                passage.from.push(Way::new());
                passage.to.push(Way::new());
            }
        }
        passage
    }

    pub(super) fn arrived(&mut self, at: Instant, from: usize, packet: &[u8]) {
        self.from[from].packets += 1;
        let Some((hash, destination)) = self.known_by(from, packet) else { return };
        let Some(&to) = self.places.get(&destination) else { return };
        self.from[from].offered += 1;
        self.to[to].offered += 1;
        let equal = self.underway.entry(hash).or_default();
        while equal.front().is_some_and(|first| at.saturating_since(first.at) > LONGEST_DELAY) {
            equal.pop_front();
        }
        equal.push_back(Underway { at, from, to });
    }

    pub(super) fn departed(&mut self, at: Instant, place: usize, packet: &[u8]) {
        self.to[place].packets += 1;
        let Some((hash, _)) = self.known_by(place, packet) else { return };
        let Some(equal) = self.underway.get_mut(&hash) else { return };
        let is_alone = equal.len() == 1;
        let Some(own) = equal.pop_front() else { return };
        if is_alone {
            self.underway.remove(&hash);
        }
        let delay = at.saturating_since(own.at).as_nanos();
        for way in [&mut self.from[own.from], &mut self.to[own.to]] {
            way.come_out += 1;
            // Of equal packets nobody can say which one was lost.
            if is_alone {
                way.delays.record(delay);
            }
        }
    }

    /// Hash by which a packet at an interface is known at another one, and where it goes: a frame to the other end.
    fn known_by(&self, place: usize, packet: &[u8]) -> Option<(u64, IpAddr)> {
        let Some(other_end) = self.other_ends[place] else { return unchanging(packet) };
        let (header, packet) = packet.split_at(ethernet::ip_at(packet).unwrap_or(packet.len()));
        // Tags and marks may be written anew.
        let addresses = &header[..header.len().min(ETHERNET_ADDRESSES_LEN)];
        let hash = match unchanging(packet) {
            Some((hash, _)) => hash_of(&[addresses, &hash.to_be_bytes()]),
            None => hash_of(&[header, packet]),
        };
        Some((hash, other_end))
    }

    pub(super) fn summary(&self) -> Vec<InterfacePassage> {
        let ways = self.from.iter().zip(&self.to);
        let summary = |((node, link), (from, to)): (&(String, String), (&Way, &Way))| InterfacePassage {
            node: node.clone(),
            link: link.clone(),
            from: from.summary(),
            to: to.summary(),
        };
        self.interfaces.iter().zip(ways).map(summary).collect()
    }
}

/// Hash of what no router changes of a packet, and where it goes.
fn unchanging(packet: &[u8]) -> Option<(u64, IpAddr)> {
    let (header, header_len) = IpHeader::parse(packet).ok()?;
    let payload = &packet[header_len..][..usize::from(header.payload_len)];
    let ends = [header.source, header.destination].map(|address| match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    });
    Some((hash_of(&[&ends[0], &ends[1], &[header.protocol], payload]), header.destination))
}

#[cfg(test)]
mod tests {
    use slantpath_base::{DataRate, DataSize};
    use slantpath_net::InterfaceId;
    use slantpath_wire::ip::Fragmentation;

    use super::*;
    use crate::run::AttachedInterface;

    fn attached(number: u32, address: [u8; 4]) -> Attachment {
        let interface = AttachedInterface {
            id: InterfaceId::new(number),
            link: "wire".to_owned(),
            addresses: vec![address.into()],
            mtu: DataSize::from_bytes(1_500),
            other_end: Vec::new(),
            carries_frames: false,
            rate: DataRate::from_bits_per_sec(1_000_000),
        };
        Attachment { node: format!("node-{number}"), interfaces: vec![interface], reaches: Vec::new() }
    }

    fn packet(hop_limit: u8, payload: &[u8]) -> Vec<u8> {
        let header = IpHeader {
            source: [10, 0, 0, 1].into(),
            destination: [10, 0, 0, 2].into(),
            protocol: 17,
            hop_limit,
            traffic_class: 0,
            payload_len: u16::try_from(payload.len()).unwrap(),
            fragmentation: Fragmentation::Forbidden,
        };
        let mut bytes = vec![0; header.header_len()];
        header.emit(&mut bytes);
        [&bytes[..], payload].concat()
    }

    #[test]
    fn a_packet_is_known_behind_routers_and_equal_ones_have_no_delay() {
        let mut passage = Passage::new(&[attached(0, [10, 0, 0, 1]), attached(1, [10, 0, 0, 2])]);
        let at = Instant::from_millis;
        passage.arrived(at(1), 0, &packet(64, b"one"));
        passage.departed(at(11), 1, &packet(60, b"one"));
        // The first of two equal ones is lost: the other one is not taken for it.
        passage.arrived(at(20), 0, &packet(64, b"two"));
        passage.arrived(at(30), 0, &packet(64, b"two"));
        passage.departed(at(40), 1, &packet(63, b"two"));
        let [from, to] = [passage.summary()[0].from, passage.summary()[1].to];
        assert_eq!((from.packets, from.offered, from.lost), (3, 3, 1));
        let delays = from.delays.unwrap();
        assert!(delays.mean_s == 0.01 && (0.0099..0.0101).contains(&delays.p99_s), "{delays:?}");
        assert_eq!((to.packets, to.lost, to.delays), (2, 1, from.delays));
        // Whatever is left is forgotten, and so is told apart from what comes later.
        passage.arrived(at(20_000), 0, &packet(64, b"two"));
        passage.departed(at(20_030), 1, &packet(63, b"two"));
        assert_eq!(passage.summary()[0].from.delays.unwrap().mean_s, 0.02);
        // What a simulated host sends, and what is for one.
        passage.departed(at(20_040), 0, &packet(64, b"other"));
        passage.arrived(at(20_050), 1, b"no packet");
        assert_eq!(passage.summary()[0].to, WaySummary { packets: 1, ..WaySummary::default() });
        assert_eq!(passage.summary()[1].from, WaySummary { packets: 1, ..WaySummary::default() });
    }

    #[test]
    fn a_frame_is_known_at_the_other_end_whatever_was_marked_on_its_way() {
        let [mut near, mut far] = [attached(0, [10, 0, 0, 1]), attached(1, [10, 0, 0, 2])];
        for (node, other) in [(&mut near, [10, 0, 0, 2]), (&mut far, [10, 0, 0, 1])] {
            node.interfaces[0].carries_frames = true;
            node.interfaces[0].other_end = vec![other.into()];
        }
        let mut passage = Passage::new(&[near, far]);
        let at = Instant::from_millis;
        let frame = |station: u8, tags: &[u8], kind: u16, content: &[u8]| {
            [&[station; ETHERNET_ADDRESSES_LEN][..], tags, &kind.to_be_bytes(), content].concat()
        };
        // The tag's priority and the packet's mark are written anew.
        let tag = [0x81, 0, 0, 1];
        let content = packet(64, b"one");
        let mut marked = frame(7, &tag, 0x0800, &content);
        passage.arrived(at(1), 0, &marked);
        ethernet::set_traffic_class(&mut marked, 0xa3);
        passage.departed(at(11), 1, &marked);
        // The same between two other stations, and what is no IP.
        passage.arrived(at(20), 0, &frame(8, &tag, 0x0800, &content));
        passage.arrived(at(20), 0, &frame(7, &[], 0x0806, b"who has it"));
        passage.departed(at(30), 1, &frame(7, &[], 0x0806, b"who has it"));
        let from = passage.summary()[0].from;
        assert_eq!((from.packets, from.offered, from.lost), (3, 3, 1));
        assert_eq!(from.delays.unwrap().mean_s, 0.01);
    }
}
