//! Links that compress headers: how long packets take, and what they need to be read.

use proptest::prelude::*;
use slantpath_base::{Duration, Probability, Seed};
use slantpath_net::{
    Change, DirectionConfig, DirectionCounters, DropReason, HeaderCompression, SendingConfig, WhileDown,
};
use slantpath_wire::ip::IPV4_HEADER_LEN;
use slantpath_wire::{Checksum, Packet};

use crate::fixture::{Pair, address, byte_a_millisecond, clean, millis, packet, tag};

/// 40 bytes become 4; a full header every four packets or ten seconds.
const EVERY_FOURTH: HeaderCompression = HeaderCompression {
    header_bytes: 40,
    compressed_bytes: 4,
    refresh_packets: 3,
    refresh_interval: Duration::from_secs(10),
    losses_survived: 0,
    contexts: 2,
};

/// A byte takes a millisecond, the way 10 ms.
fn config(compression: HeaderCompression) -> DirectionConfig {
    let wire = clean(byte_a_millisecond(), Duration::from_millis(10), 100);
    DirectionConfig { sending: SendingConfig::Compressed(compression), ..wire }
}

/// Offset of the number in a packet, behind the ports.
const NUMBER: usize = 40;

/// A packet of 100 bytes with a port of its sender and a number.
fn of_port(port: u8, number: u8) -> Packet {
    let mut bytes = packet(address(1), address(2), 100, 0).contiguous().to_vec();
    (bytes[IPV4_HEADER_LEN + 1], bytes[NUMBER]) = (port, number);
    Packet::shared(bytes.into(), Checksum::Complete)
}

/// Sends packets of 100 bytes, by their ports, each when the one before has been sent; all that is sent in these places
/// is lost.
fn run(compression: HeaderCompression, ports: &[u8], lost: &[u64], changes: &[(u64, Change)]) -> Pair {
    let mut pair = Pair::with(&config(compression), Seed::new(1, 0), |builder, link| {
        for &place in lost {
            builder.change(millis(200 * place - 50), link.forward(), Change::Loss(Probability::ALWAYS));
            builder.change(millis(200 * place + 50), link.forward(), Change::Loss(Probability::NEVER));
        }
        for &(at, change) in changes {
            builder.change(millis(at), link.forward(), change);
        }
    });
    let interface = pair.link.first();
    for (number, &port) in (0..).zip(ports) {
        let packet = of_port(port, number);
        pair.network
            .command(pair.first, |host, _| host.send(millis(200 * u64::from(number)), interface, packet));
    }
    assert!(pair.network.run_to_rest(10_000));
    assert_eq!(pair.network.packets_under_way(), 0);
    pair
}

/// Numbers of the packets that arrived, and the time that each took, in milliseconds.
fn arrivals(pair: &Pair) -> Vec<(u8, u64)> {
    let received = pair.network.host(pair.second).received.iter();
    received
        .map(|(at, _, packet)| {
            assert_eq!(packet.len(), 100, "it is whole again");
            let number = packet.contiguous()[NUMBER];
            (number, at.since_start().as_millis() - 200 * u64::from(number))
        })
        .collect()
}

fn counters(pair: &Pair) -> DirectionCounters {
    *pair.network.counters(pair.link.forward())
}

const FULL: u64 = 110;
const COMPRESSED: u64 = 74;

#[test]
fn headers_are_full_at_first_and_after_so_many_that_are_compressed() {
    let pair = run(EVERY_FOURTH, &[0; 6], &[], &[]);
    let expected = [FULL, COMPRESSED, COMPRESSED, COMPRESSED, FULL, COMPRESSED];
    assert_eq!(arrivals(&pair), (0..).zip(expected).collect::<Vec<(u8, u64)>>());
    let compressed = counters(&pair).compressed;
    assert_eq!((compressed.packets, compressed.bytes), (4, 4 * 36));
    assert_eq!(counters(&pair).carried.bytes, 600);
}

#[test]
fn a_header_is_full_again_after_so_long() {
    let quick = HeaderCompression { refresh_interval: Duration::from_millis(400), ..EVERY_FOURTH };
    let took: Vec<u64> = arrivals(&run(quick, &[0; 5], &[], &[])).into_iter().map(|(_, took)| took).collect();
    assert_eq!(took, [FULL, COMPRESSED, FULL, COMPRESSED, FULL]);
}

#[test]
fn the_flow_that_has_been_silent_for_longest_makes_room() {
    // The fourth flow takes the place of the second, for the first has spoken since.
    let three = HeaderCompression { contexts: 3, ..EVERY_FOURTH };
    let pair = run(three, &[1, 2, 3, 1, 4, 3, 2], &[], &[]);
    let took: Vec<u64> = arrivals(&pair).into_iter().map(|(_, took)| took).collect();
    assert_eq!(took, [FULL, FULL, FULL, COMPRESSED, FULL, COMPRESSED, FULL]);
}

#[test]
fn after_a_loss_nothing_of_its_flow_is_read_until_the_next_full_header() {
    // Of flow 1 the second is lost and two more cannot be read; flow 2 goes on.
    let pair = run(EVERY_FOURTH, &[1, 2, 1, 2, 1, 2, 1, 2, 1], &[2], &[]);
    let arrived: Vec<u8> = arrivals(&pair).into_iter().map(|(number, _)| number).collect();
    assert_eq!(arrived, [0, 1, 3, 5, 7, 8]);
    let dropped =
        [DropReason::Loss, DropReason::HeaderContext].map(|reason| counters(&pair).dropped(reason).packets);
    assert_eq!(dropped, [1, 2]);
}

#[test]
fn so_many_losses_in_a_row_are_survived_and_no_more() {
    let robust = HeaderCompression { refresh_packets: 9, losses_survived: 2, ..EVERY_FOURTH };
    let arrived = |lost: &[u64]| -> Vec<u8> {
        arrivals(&run(robust, &[0; 8], lost, &[])).into_iter().map(|(number, _)| number).collect()
    };
    assert_eq!(arrived(&[2, 3, 5, 6]), [0, 1, 4, 7], "one that arrives begins the count anew");
    assert_eq!(arrived(&[2, 3, 4]), [0, 1]);
}

#[test]
fn a_damaged_packet_is_lost_and_bits_are_those_that_are_sent() {
    let noisy = Probability::new(2e-4).expect("a probability");
    let never_full =
        HeaderCompression { refresh_packets: u32::MAX, losses_survived: u32::MAX, ..EVERY_FOURTH };
    let long = HeaderCompression { refresh_interval: Duration::from_secs(1_000_000), ..never_full };
    let mut pair = Pair::new(&DirectionConfig { bit_errors: noisy, ..config(long) });
    let packets = 20_000_u32;
    for number in 0..packets {
        pair.send(millis(200 * u64::from(number)), 100, 0);
    }
    assert!(pair.network.run_to_rest(1_000_000));
    let counters = counters(&pair);
    assert_eq!(counters.damaged.packets, 0);
    // 64 bytes of each are on the link: binomial, inside four standard deviations.
    let (n, p) = (f64::from(packets), noisy.of_any(64 * 8).as_f64());
    let lost = counters.dropped(DropReason::Loss).packets as f64;
    assert!((lost - n * p).abs() < 4.0 * (n * p * (1.0 - p)).sqrt(), "{lost}, not {}", n * p);
    assert!(pair.network.host(pair.second).received.iter().all(|(_, _, packet)| tag(packet) == 0));
}

#[test]
fn what_is_shorter_than_the_headers_stays_as_it_is() {
    let mut pair = Pair::new(&config(EVERY_FOURTH));
    (0..3).for_each(|number| pair.send(millis(200 * number), 39, 0));
    assert!(pair.network.run_to_rest(1_000));
    let arrivals = pair.network.host(pair.second).arrivals();
    assert_eq!(arrivals, [millis(49), millis(249), millis(449)]);
    assert_eq!(counters(&pair).compressed.packets, 0);
}

#[test]
fn a_link_that_comes_up_again_begins_with_full_headers() {
    let outage = [(350, Change::Down), (390, Change::Up)];
    let took: Vec<u64> =
        arrivals(&run(EVERY_FOURTH, &[0; 4], &[], &outage)).into_iter().map(|(_, took)| took).collect();
    assert_eq!(took, [FULL, COMPRESSED, FULL, COMPRESSED]);
}

proptest! {
    #[test]
    fn every_packet_is_read_or_counted_whatever_happens(
        sends in proptest::collection::vec((0_u64..3_000, 0_u8..4), 1..60),
        changes in proptest::collection::vec((0_u64..3_000, 0_usize..3), 0..6),
        (refresh_packets, losses_survived, contexts) in (0_u32..6, 0_u32..3, 1_u32..4),
        holds in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let compression = HeaderCompression { refresh_packets, losses_survived, contexts, ..EVERY_FOURTH };
        let config = DirectionConfig {
            while_down: if holds { WhileDown::Hold } else { WhileDown::Drop },
            ..config(compression)
        };
        let mut pair = Pair::with(&config, Seed::new(seed, 0), |builder, link| {
            for &(at, change) in &changes {
                let loss = Probability::new(0.3).expect("a probability");
                let change = [Change::Down, Change::Up, Change::Loss(loss)][change];
                builder.change(millis(at), link.forward(), change);
            }
            builder.change(millis(60_000), link.forward(), Change::Up);
        });
        let mut sends = sends;
        sends.sort_unstable();
        let interface = pair.link.first();
        for &(at, port) in &sends {
            pair.network.command(pair.first, |host, _| host.send(millis(at), interface, of_port(port, 0)));
        }
        prop_assert!(pair.network.run_to_rest(10_000));
        prop_assert_eq!(pair.network.packets_under_way(), 0);
        let counters = counters(&pair);
        prop_assert_eq!(counters.carried.packets + counters.dropped_in_all().packets, sends.len() as u64);
        prop_assert_eq!(pair.network.host(pair.second).received.len() as u64, counters.carried.packets);
        if counters.dropped(DropReason::Loss).packets == 0 {
            prop_assert_eq!(counters.dropped(DropReason::HeaderContext).packets, 0);
        }
    }
}
