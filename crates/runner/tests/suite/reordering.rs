//! Packets that overtake each other.

use std::collections::BTreeMap;

use slantpath_runner::{RunOptions, Scenario, run};
use slantpath_testkit::page;

/// Ten seconds of the study of long paths over LEO in which 5 % of the packets are up to 10 ms late: how often the
/// receiver reports each segment or chunk, by its number, to have come again.
fn reported_again(transport: &str, profile: &str) -> BTreeMap<u32, u32> {
    let overrides = [
        "scenario.duration=\"10 s\"",
        "probes.captures=[\"path\"]",
        "links.path.rate=\"50 Mbit/s\"",
        "links.path.delay=\"25 ms\"",
        "links.path.queue=\"312500 B\"",
        "links.path.loss=\"0 %\"",
        "links.path.reorder=\"5 %\"",
        "links.path.reorder_delay=\"10 ms\"",
        &format!("flows.data.transport=\"{transport}\""),
        &format!("flows.data.profile=\"{profile}\""),
    ];
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    let file = page::path("studies/long-paths/scenario.toml");
    let scenario = Scenario::load(&file, &overrides).unwrap_or_else(|error| panic!("{error}"));
    let output = run(&scenario, &RunOptions::default()).unwrap();
    let mut reported = BTreeMap::new();
    for packet in ipv4_packets(&output.captures[0].pcapng) {
        let payload = &packet[20..];
        let numbers =
            if packet[9] == 132 { of_sack(payload) } else { of_dsack(payload).into_iter().collect() };
        for number in numbers {
            *reported.entry(number).or_default() += 1;
        }
    }
    reported
}

/// The packets of a capture without an Ethernet header (pcapng, blocks of type 6).
fn ipv4_packets(mut capture: &[u8]) -> Vec<&[u8]> {
    let mut packets = Vec::new();
    while let Some((kind, len)) = capture.first_chunk().map(|[a, b, c, d, e, f, g, h]| {
        (u32::from_le_bytes([*a, *b, *c, *d]), u32::from_le_bytes([*e, *f, *g, *h]) as usize)
    }) {
        if kind == 6 {
            let captured = u32::from_le_bytes(capture[20..24].try_into().unwrap()) as usize;
            packets.push(&capture[28..28 + captured]);
        }
        capture = &capture[len..];
    }
    packets
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// The duplicates of a packet whose first chunk is a SACK.
fn of_sack(packet: &[u8]) -> Vec<u32> {
    if packet[12] != 3 {
        return Vec::new();
    }
    let counts = word(packet, 24);
    let (gaps, duplicates) = ((counts >> 16) as usize, (counts & 0xffff) as usize);
    (0..duplicates).map(|duplicate| word(packet, 28 + 4 * (gaps + duplicate))).collect()
}

/// Gives what the first block of an acknowledgement reports (RFC 2883), if that has come before.
fn of_dsack(segment: &[u8]) -> Option<u32> {
    let header = &segment[..usize::from(segment[12] >> 4) * 4];
    // No options but blocks, behind two that say nothing.
    if header.len() < 32 || header[20..23] != [1, 1, 5] {
        return None;
    }
    let is_at_or_before = |one: u32, other: u32| other.wrapping_sub(one) < 1 << 31;
    let (left, right) = (word(header, 24), word(header, 28));
    let is_held = header.len() >= 40
        && is_at_or_before(word(header, 32), left)
        && is_at_or_before(right, word(header, 36));
    (is_at_or_before(right, word(segment, 8)) || is_held).then_some(left)
}

/// Until reordering has been seen three segments out of order mean a loss (RFC 8985, section 6.2, step 4), and what was
/// late goes again.
#[test]
fn what_is_late_goes_again_a_few_times_until_that_has_been_seen_and_nothing_goes_twice() {
    for transport in ["tcp", "sctp"] {
        let mut seen = 0;
        for profile in ["new-reno", "cubic", "hybla", "bbr", "bbr3", "backlog"] {
            let reported = reported_again(transport, profile);
            assert!(reported.values().all(|times| *times == 1), "{transport}, {profile}: {reported:?}");
            assert!(reported.len() <= 40, "{transport}, {profile}: {}", reported.len());
            seen += reported.len();
        }
        assert!(seen > 10, "{transport}: {seen} are too few to tell");
    }
}
