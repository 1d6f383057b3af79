//! MTP3: messages decoded and encoded beside the crate `mtp3`, and the look-up of a link beside a hash map.

use std::collections::HashMap;
use std::hash::BuildHasher;

use mtp3::{Mtp3Msu, Variant};
use slantpath_base::Instant;
use slantpath_ss7::link::{LinkIndication, LinkRequest};
use slantpath_ss7::mtp3::node::{
    self, DestinationConfig, LinkSetConfig, Mtp3LinkId, Procedure, SequenceNumbers,
};
use slantpath_ss7::mtp3::{
    ManagementLayout, ManagementMessage, Msu, NetworkIndicator, RoutingLabel, ServiceIndicator,
    ServiceInformation, Slc, Sls, TestMessage,
};
use slantpath_ss7::{PointCode, PointCodeFormat};

use crate::rounds::Failure;

/// Number of destinations that the look-up knows.
pub const DESTINATIONS: u32 = 10_000;

const LABEL: RoutingLabel = RoutingLabel { dpc: PointCode(92), opc: PointCode(257), sls: Sls(5) };

/// Users' messages of the lengths that signalling links are dimensioned for, and a management message.
///
/// # Errors
/// A message that the two write differently.
pub fn vectors() -> Result<Vec<(&'static str, Vec<u8>)>, Failure> {
    let mut prohibited = Vec::new();
    ManagementMessage::Tfp(PointCode(300)).emit(ManagementLayout::Itu, Slc(5), &mut prohibited);
    let mut vectors = Vec::new();
    for (name, indicator, user_part) in [
        ("transfer prohibited", ServiceIndicator::MANAGEMENT, prohibited),
        ("SCCP, 60 octets", ServiceIndicator::SCCP, vec![9; 60]),
        ("SCCP, 120 octets", ServiceIndicator::SCCP, vec![9; 120]),
        ("SCCP, 270 octets", ServiceIndicator::SCCP, vec![9; 270]),
    ] {
        let service = ServiceInformation { indicator, network: NetworkIndicator::National, priority: 0 };
        let mut octets = Vec::new();
        Msu { service, label: LABEL, user_part: &user_part }.emit(PointCodeFormat::Itu, &mut octets);
        let theirs = Mtp3Msu::decode(&octets, Variant::Itu)?.encode(Variant::Itu);
        if theirs != octets {
            return Err(format!("{name}: the peer writes {theirs:02x?} for {octets:02x?}").into());
        }
        vectors.push((name, octets));
    }
    Ok(vectors)
}

/// Reads and writes a message so many times, and returns how many octets were written. Management messages are read to
/// their fields.
///
/// # Errors
/// Octets that are no message.
pub fn ours(octets: &[u8], times: usize) -> Result<usize, Failure> {
    let mut written = 0;
    for _ in 0..times {
        let msu = Msu::parse(core::hint::black_box(octets), PointCodeFormat::Itu)?;
        let mut out = Vec::with_capacity(octets.len());
        if msu.service.indicator == ServiceIndicator::MANAGEMENT {
            let (message, slc) =
                ManagementMessage::parse(msu.user_part, ManagementLayout::Itu, msu.label.sls)?;
            Msu { user_part: &[], ..msu }.emit(PointCodeFormat::Itu, &mut out);
            message.emit(ManagementLayout::Itu, slc, &mut out);
        } else {
            msu.emit(PointCodeFormat::Itu, &mut out);
        }
        written += core::hint::black_box(&out).len();
    }
    Ok(written)
}

/// Variant of [`ours`] with the crate `mtp3`.
///
/// # Errors
/// Octets that are no message.
pub fn theirs(octets: &[u8], times: usize) -> Result<usize, Failure> {
    let mut written = 0;
    for _ in 0..times {
        let mut msu = Mtp3Msu::decode(core::hint::black_box(octets), Variant::Itu)?;
        if msu.si.0 == 0 {
            msu.data =
                mtp3::mgmt::ManagementMessage::decode(&msu.data, Variant::Itu)?.encode(Variant::Itu)?;
        }
        written += core::hint::black_box(msu.encode(Variant::Itu)).len();
    }
    Ok(written)
}

/// A node with four links and thousands of destinations, all of them accessible.
///
/// # Errors
/// A configuration that is not right.
pub fn node() -> Result<slantpath_ss7::mtp3::Node, Failure> {
    let mut config = node::Config::new("node", PointCode(1));
    config.restart = Procedure::Omitted;
    for adjacent in [2, 3] {
        let link = |slc: u8| node::LinkConfig {
            name: slc.to_string(),
            slc: Slc(slc),
            sequence: SequenceNumbers::Bits24,
        };
        config.link_sets.push(LinkSetConfig {
            name: adjacent.to_string(),
            adjacent: PointCode(adjacent),
            links: vec![link(0), link(1)],
        });
    }
    for code in 4..4 + DESTINATIONS {
        let route = |link_set: &str, priority| node::RouteConfig { link_set: link_set.to_owned(), priority };
        // A third combined, a third over each link set first.
        let routes = vec![route("2", u8::from(code % 3 == 1)), route("3", u8::from(code % 3 == 2))];
        config.destinations.push(DestinationConfig { point_code: PointCode(code), routes });
    }
    let mut node = slantpath_ss7::mtp3::Node::new(config).map_err(|faults| format!("{faults:?}"))?;
    let mut now = Instant::START;
    for link in 0..4 {
        node.activate(now, Mtp3LinkId(link));
    }
    // Links align at once, and their tests come back at once; traffic spreads over them by time.
    loop {
        match node.poll_output(now) {
            node::Output::Link(link, LinkRequest::Start) => {
                node.handle_link(now, link, LinkIndication::InService);
            }
            node::Output::Link(link, LinkRequest::Transmit(octets)) => {
                let sltm = Msu::parse(&octets, PointCodeFormat::Itu)?;
                let parsed = TestMessage::parse(sltm.user_part, ManagementLayout::Itu, sltm.label.sls);
                if let Ok((TestMessage::Sltm(pattern), slc)) = parsed {
                    let (mut user_part, mut answer) = (Vec::new(), Vec::new());
                    TestMessage::Slta(pattern).emit(ManagementLayout::Itu, slc, &mut user_part);
                    Msu { label: sltm.label.reversed(), user_part: &user_part, ..sltm }
                        .emit(PointCodeFormat::Itu, &mut answer);
                    node.handle_link(now, link, LinkIndication::Received(answer.into()));
                }
            }
            node::Output::Wait(Some(deadline)) if deadline < Instant::from_secs(5) => now = deadline,
            node::Output::Wait(_) => return Ok(node),
            node::Output::Link(..) | node::Output::Indication(..) | node::Output::Management(_) => {}
        }
    }
}

/// Destination and selection of the n-th look-up: all destinations, in no order that a cache would like.
const fn question(n: u32) -> (PointCode, Sls) {
    let code = 4 + n.wrapping_mul(2_654_435_761) % DESTINATIONS;
    (PointCode(code), Sls((n & 0xf) as u8))
}

/// Looks up the links of so many messages, and returns the sum of their numbers.
pub fn look_up(node: &slantpath_ss7::mtp3::Node, times: u32) -> u64 {
    let mut sum = 0;
    for n in 0..times {
        let (destination, sls) = core::hint::black_box(question(n));
        sum += node.link_for(destination, sls).map_or(0, |link| u64::from(link.0));
    }
    sum
}

/// Obvious table to compare with: a hash map from the point code to the links of its selections.
pub fn hash_map(node: &slantpath_ss7::mtp3::Node) -> HashMap<u32, [u16; 16]> {
    let links = |code| {
        let mut row = [0; 16];
        for (sls, link) in (0..).zip(&mut row) {
            *link = node.link_for(PointCode(code), Sls(sls)).map_or(0, |link| link.0);
        }
        row
    };
    (4..4 + DESTINATIONS).map(|code| (code, links(code))).collect()
}

/// Variant of [`look_up`] that makes its look-ups in the hash map.
pub fn look_up_hashed<S: BuildHasher>(map: &HashMap<u32, [u16; 16], S>, times: u32) -> u64 {
    let mut sum = 0;
    for n in 0..times {
        let (destination, sls) = core::hint::black_box(question(n));
        sum += map.get(&destination.0).map_or(0, |links| u64::from(links[usize::from(sls.0)]));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_read_and_write_every_message() {
        for (name, octets) in vectors().expect("both know them") {
            assert_eq!(ours(&octets, 2).expect("ours"), 2 * octets.len(), "{name}");
            assert_eq!(theirs(&octets, 2).expect("theirs"), 2 * octets.len(), "{name}");
        }
    }

    #[test]
    fn both_find_the_same_links() {
        let node = node().expect("the configuration is right");
        let found = look_up(&node, 100_000);
        assert_eq!(found, look_up_hashed(&hash_map(&node), 100_000));
        // Links 0 to 3 in equal shares, but for the destinations of the last third that is not full.
        assert!((149_000..151_000).contains(&found), "{found}");
    }
}
