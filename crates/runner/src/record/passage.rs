//! Packets from one attached node to another, known by what no router changes of them.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use slantpath_base::Instant;
use slantpath_results::{Histogram, Precision};
use slantpath_wire::ip::IpHeader;

use super::entries::hash_of;
use crate::run::Attachment;

/// Delays of packets in a few numbers, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delays {
    /// Their mean.
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
    /// Delays of those that had.
    pub delays: Option<Delays>,
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

#[derive(Clone, Debug)]
struct Way {
    packets: u64,
    offered: u64,
    delays: Histogram,
}

impl Way {
    fn new() -> Self {
        let precision = Precision::within(0.01).expect("a hundredth is a precision");
        Self { packets: 0, offered: 0, delays: Histogram::new(precision) }
    }

    fn summary(&self) -> WaySummary {
        const SECOND: f64 = 1e9;
        let delays = self.delays.mean().zip(self.delays.quantile(0.99));
        WaySummary {
            packets: self.packets,
            offered: self.offered,
            lost: self.offered - self.delays.count(),
            delays: delays.map(|(mean, p99)| Delays { mean_s: mean / SECOND, p99_s: p99 / SECOND }),
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
            from: Vec::new(),
            to: Vec::new(),
            underway: BTreeMap::new(),
        };
        for node in attachments {
            for own in &node.interfaces {
                let place = passage.interfaces.len();
                passage.places.extend(own.addresses.iter().map(|address| (*address, place)));
                passage.interfaces.push((node.node.clone(), own.link.clone()));
                passage.from.push(Way::new());
                passage.to.push(Way::new());
            }
        }
        passage
    }

    pub(super) fn arrived(&mut self, at: Instant, from: usize, packet: &[u8]) {
        self.from[from].packets += 1;
        let Some((hash, destination)) = unchanging(packet) else { return };
        let Some(&to) = self.places.get(&destination) else { return };
        self.from[from].offered += 1;
        self.to[to].offered += 1;
        self.underway.entry(hash).or_default().push_back(Underway { at, from, to });
    }

    pub(super) fn departed(&mut self, at: Instant, place: usize, packet: &[u8]) {
        self.to[place].packets += 1;
        let Some((hash, _)) = unchanging(packet) else { return };
        let Some(equal) = self.underway.get_mut(&hash) else { return };
        // Packets that are equal come out in their order, as far as anybody can see.
        let Some(own) = equal.pop_front() else { return };
        if equal.is_empty() {
            self.underway.remove(&hash);
        }
        let delay = at.saturating_since(own.at).as_nanos();
        self.from[own.from].delays.record(delay);
        self.to[own.to].delays.record(delay);
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
