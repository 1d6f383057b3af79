//! Whole associations: what their first inputs reach, and inputs that nobody has thought of.

use std::collections::BTreeSet;

use slantpath_base::{Seed, Stream};
use slantpath_fuzz_bodies::sctp_world::{hostile, pair, shown_by_pair};
use slantpath_fuzz_bodies::seeds;

/// Names of all that honest ends send and do because of their users, whom no seed may leave out.
const SHOWN: [&str; 26] = [
    "FORWARD-TSN",
    "I-FORWARD-TSN",
    "I-DATA",
    "NR-SACK",
    "RE-CONFIG: outgoing reset",
    "RE-CONFIG: incoming reset",
    "RE-CONFIG: SSN/TSN reset",
    "RE-CONFIG: add outgoing",
    "RE-CONFIG: add incoming",
    "RE-CONFIG: response",
    "ASCONF: add",
    "ASCONF: delete",
    "ASCONF: set primary",
    "ASCONF-ACK",
    "AUTH by the first key",
    "AUTH by the second key",
    "AUTH by the third key",
    "DATA behind AUTH",
    "I-DATA behind AUTH",
    "a packet without a checksum",
    "a message to an address",
    "a message on an added stream",
    "a stream's value",
    "given up for its lifetime",
    "given up for its retransmissions",
    "given up for its priority",
];

#[test]
fn the_seeds_of_a_pair_make_honest_ends_use_every_extension() {
    let mut shown = BTreeSet::new();
    for (place, input) in seeds() {
        if place.starts_with("sctp_pair/") {
            shown.extend(shown_by_pair(&input));
        }
    }
    let expected = BTreeSet::from(SHOWN);
    assert_eq!(shown, expected);
}

/// An input of up to 300 steps, most of which begin with settings of each end and have acts of their users.
fn input(random: &mut Stream) -> Vec<u8> {
    let mut below = |bound: u64| u8::try_from(random.below(bound)).expect("small");
    let mut input = vec![below(256)];
    if below(4) > 0 {
        let common = below(64) | below(64);
        let offers = [below(8), below(8)].map(|rare| if rare == 0 { common } else { common | 0x40 });
        let mask = if below(4) == 0 { below(64) } else { 0x3f };
        input.extend([
            0xff,
            offers[0],
            offers[1] & (mask | 0xc0),
            if below(2) == 0 { 0 } else { below(256) },
        ]);
    }
    let (steps, acts) = (usize::from(below(255)), u64::from(below(4)));
    for _ in 0..steps {
        let act = u64::from(below(8));
        let op = if act < acts { 0xf0 | below(16) } else { below(240) };
        // Most packets arrive.
        let op = if below(3) == 0 { 10 } else { op };
        input.extend([op, below(256), below(256), below(256)]);
    }
    input.extend((0..below(4)).map(|_| 0).collect::<Vec<u8>>());
    let behind = input.len() - (input.len() - 1) % 4;
    random.fill(&mut input[behind..]);
    input
}

/// `PROPTEST_CASES` asks for more of them.
#[test]
fn inputs_that_are_drawn_break_neither_body() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100);
    for case in 0..cases {
        // Shown if a body panics.
        eprintln!("input {case}");
        let input = input(&mut Seed::new(case, 0).stream("associations"));
        pair(&input);
        hostile(&input);
    }
}
