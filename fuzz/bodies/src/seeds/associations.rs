//! The first inputs of whole associations.

use super::Seeds;

/// Bits of what an end offers by itself, and what more of them stand for: see the settings of the bodies.
const PARTIAL_RELIABILITY: u8 = 0x01;
const INTERLEAVING: u8 = 0x02;
const NON_RENEGABLE_SACK: u8 = 0x04;
const RECONFIGURATION: u8 = 0x08;
const AUTHENTICATION: u8 = 0x10;
const DYNAMIC_ADDRESSES: u8 = 0x20;
const UNAUTHENTICATED: u8 = 0x40;
const NO_CHECKSUM: u8 = 0x80;
const ALL: u8 = 0x3f;

/// Step that delivers the packets under way. The next one, `WAIT`, lets the time of a retransmission elapse.
const DELIVER: [u8; 4] = [10, 0, 15, 0];
const WAIT: [u8; 4] = [9, 0, 255, 255];
const LOSE: [u8; 4] = [2, 0, 0, 0];

pub(super) fn keep(seeds: &mut Seeds) {
    lossy(seeds);
    extended(seeds);
}

/// An association of messages both ways that loses, repeats and damages some of its packets and is then shut down,
/// under several options; and one that hears what nobody has sent.
fn lossy(seeds: &mut Seeds) {
    let steps: Vec<[u8; 4]> = vec![
        [10, 0, 15, 0],
        [6, 0x00, 1, 0],
        [6, 0x11, 30, 0],
        [2, 0, 1, 0],
        [3, 0, 0, 0],
        [4, 0x21, 0, 20],
        [0, 0, 2, 0],
        [10, 0, 15, 0],
        [9, 0, 100, 20],
        [6, 0x42, 3, 200],
        [10, 0, 15, 0],
        [11, 0, 9, 1],
        [9, 0, 255, 255],
        [10, 0, 15, 0],
        [11, 1, 0, 0],
    ];
    for (name, options) in [("plain", 0x00), ("paths", 0x11), ("rack", 0x02), ("small", 0x08), ("all", 0xff)]
    {
        seeds.keep("sctp_pair", name, [&[options][..], &steps.concat()].concat());
    }
    // What is behind the last step: the scheduler, paths at once with discovery and without checksums, the controller.
    for (name, more) in [("spread", [3, 0x01, 1]), ("pooled", [4, 0x07, 3]), ("unsummed", [5, 0x0c, 5])] {
        seeds.keep("sctp_pair", name, [&[0x53][..], &steps.concat(), &more].concat());
    }
    let lies: Vec<[u8; 4]> = vec![
        [14, 0x06, 1, 9],
        [14, 0x02, 3, 9],
        [15, 0x40, 1, 90],
        [2, 3, 5, 9],
        [16, 4, 0, 2],
        // ABORT, then COOKIE ACK, then an unknown chunk.
        [6, 0, 0, 4],
        [11, 0, 0, 4],
        [0xc7, 0, 0, 8],
        [1, 2, 3, 4],
    ];
    let input = [&[0x01][..], &steps.concat(), &lies.concat()].concat();
    seeds.keep("sctp_hostile", "lies", &input);
    seeds.keep("sctp_hostile", "lies-to-all", [&[0x53], &input[1..], &[2, 0x0e, 4]].concat());
}

/// Associations with each extension, and users that make use of it.
fn extended(seeds: &mut Seeds) {
    let offers = |both: u8, authenticated: u8| [0xff, both, both, authenticated];
    let reliability = [given_up(), most_waits()].concat();
    let streams = reconfigured();
    for (name, first, steps, more) in [
        ("given-up", offers(PARTIAL_RELIABILITY, 0), &reliability, &[][..]),
        (
            "given-up-interleaved",
            offers(PARTIAL_RELIABILITY | INTERLEAVING | NON_RENEGABLE_SACK, 0),
            &reliability,
            &[3],
        ),
        ("streams", offers(RECONFIGURATION, 0), &streams, &[]),
        ("streams-interleaved", offers(RECONFIGURATION | INTERLEAVING, 0), &streams, &[5]),
        ("addresses", offers(DYNAMIC_ADDRESSES | UNAUTHENTICATED, 0), &addresses(), &[]),
        ("addresses-authenticated", offers(DYNAMIC_ADDRESSES | AUTHENTICATION, 0), &addresses(), &[]),
        ("keys", offers(AUTHENTICATION, 0xf1), &keys(), &[]),
        ("keys-interleaved", offers(AUTHENTICATION | INTERLEAVING | NO_CHECKSUM, 0x71), &keys(), &[]),
        ("one-sided", [0xff, ALL, NON_RENEGABLE_SACK | RECONFIGURATION | NO_CHECKSUM, 0], &streams, &[]),
    ] {
        seeds.keep("sctp_pair", name, [&[0x01], &first[..], &steps.concat(), more].concat());
    }
    let all = [reliability, streams, addresses(), keys()].concat().concat();
    seeds.keep("sctp_pair", "acts", [&[0x01], &offers(ALL, 0x35)[..], &all, &[4, 0x09, 1]].concat());
    // The acts of the other body are those of the highest numbers alone.
    let lies = [[14, 0x06, 1, 9], [15, 0x40, 1, 90], [16, 2, 0, 2], [0xc0, 0, 0, 8], [0, 0, 0, 9]].concat();
    let all: Vec<u8> = all
        .chunks_exact(4)
        .flat_map(|step| [if step[0] >= 0xe0 { step[0] | 0x10 } else { step[0] }, step[1], step[2], step[3]])
        .collect();
    seeds.keep("sctp_hostile", "acts", [&[0x01], &offers(ALL, 0)[..], &all, &lies].concat());
}

/// A message is lost that may not be retransmitted, another is too old by then.
fn given_up() -> Vec<[u8; 4]> {
    let lost = |rules: u8| [DELIVER, [0xe0, 0, rules, 5], LOSE, WAIT, DELIVER, WAIT, DELIVER];
    [lost(0b10), lost(0b101)].concat()
}

/// Messages fill the send buffer until one counts for more.
fn most_waits() -> Vec<[u8; 4]> {
    vec![
        [0xe0, 0x02, 0b1011, 255],
        [0xe1, 0x04, 0b1011, 255],
        [0xe2, 0x06, 0b0011, 255],
        // What a user says of a stream's turn.
        [0xee, 0, 2, 9],
        DELIVER,
        [0xe3, 0x61, 0, 30],
        DELIVER,
        WAIT,
        DELIVER,
    ]
}

/// Streams are reset each way, all of them with the association, and added.
fn reconfigured() -> Vec<[u8; 4]> {
    let acts = [[0xe5, 0, 0, 0], [0xe6, 1, 1, 0b101], [0xe5, 0, 2, 0b1001], [0xe7, 1, 0, 0], [0xe8, 0, 1, 2]];
    let mut steps = vec![DELIVER];
    for act in acts {
        // Messages both ways, then what is asked for behind them.
        steps.extend([[0xe0, 0x02, 0, 9], [0xe0, 0x0b, 0, 9], DELIVER, act, DELIVER, WAIT, DELIVER]);
    }
    // On a stream that has been added.
    steps.extend([[0xe0, 0x08, 0, 9], DELIVER]);
    steps
}

/// An address is added, sent to, made the primary one, and the first one is deleted.
fn addresses() -> Vec<[u8; 4]> {
    let mut steps = vec![DELIVER];
    for change in [[0xea, 0, 10, 0], [0xeb, 0, 14, 0], [0xec, 0, 0x80 | 2, 7]] {
        steps.extend([change, DELIVER, WAIT, DELIVER, [0xe0, 0x81, 0b1000_0000, 40], DELIVER, DELIVER]);
    }
    steps
}

/// Messages by one key after another.
fn keys() -> Vec<[u8; 4]> {
    let mut steps = vec![DELIVER];
    for key in [0, 1, 2, 3] {
        steps.extend([[0xed, 0, 0, key], [0xed, 1, 0, key], [0xe0, 0x02, 0, 40], [0xe0, 0x03, 0, 1]]);
        steps.extend([DELIVER, DELIVER]);
    }
    steps
}
