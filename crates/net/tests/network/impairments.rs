//! Loss, bit errors, duplication and reordering: as often as they should, and visible where they should be.

use slantpath_base::{DataRate, Duration, Probability, Seed};
use slantpath_net::{
    DirectionConfig, DropReason, Network, NetworkBuilder, QueueConfig, QueueLimit, Reordering,
};
use slantpath_wire::WireError;
use slantpath_wire::ip::IpHeader;

use crate::fixture::{Pair, Scripted, address, clean, millis, packet, tag};

const PACKETS: u32 = 20_000;

fn fast() -> DirectionConfig {
    let queue = QueueConfig::DropTail(QueueLimit::Unlimited);
    DirectionConfig::new(DataRate::from_bits_per_sec(1_000_000_000), Duration::from_millis(10), queue)
}

fn probability(value: f64) -> Probability {
    Probability::new(value).expect("a probability")
}

/// Sends packets of 125 bytes, so 1,000 bits, ten a millisecond, and runs until all have arrived.
fn run(config: &DirectionConfig) -> Pair {
    let mut pair = Pair::new(config);
    for number in 0..PACKETS {
        let tag = u8::try_from(number % 251).expect("below 251");
        pair.send(millis(u64::from(number / 10)), 125, tag);
    }
    assert!(pair.network.run_to_rest(1_000_000));
    pair
}

/// Asserts that `count` of [`PACKETS`] lies inside four standard deviations of a binomial distribution.
fn assert_binomial(count: u64, probability: f64) {
    let n = f64::from(PACKETS);
    let deviation = (n * probability * (1.0 - probability)).sqrt();
    let distance = (count as f64 - n * probability).abs() / deviation;
    assert!(distance < 4.0, "{count} of {n} at {probability}: {distance} standard deviations");
}

#[test]
fn packets_are_lost_as_often_as_they_should() {
    let pair = run(&DirectionConfig { loss: probability(0.01), ..fast() });
    let counters = pair.network.counters(pair.link.forward());
    assert_binomial(counters.dropped(DropReason::Loss).packets, 0.01);
    assert_eq!(counters.carried.packets + counters.dropped(DropReason::Loss).packets, u64::from(PACKETS));
    assert_eq!(pair.network.packets_under_way(), 0);
}

#[test]
fn losses_come_in_runs_as_independent_ones_do() {
    let pair = run(&DirectionConfig { loss: probability(0.3), ..fast() });
    let tags: Vec<u8> = pair.network.host(pair.second).received.iter().map(|(_, _, p)| tag(p)).collect();
    // A packet follows its predecessor with the chance that its successor was not lost.
    let neighbours = tags.windows(2).filter(|pair| (pair[0] + 1) % 251 == pair[1] % 251).count() as f64;
    let (n, p) = (tags.len() as f64, 0.7);
    assert!((neighbours - n * p).abs() < 4.0 * (n * p * (1.0 - p)).sqrt(), "{neighbours} of {n}");
}

#[test]
fn damaged_packets_arrive_and_fail_a_checksum() {
    let pair = run(&DirectionConfig { bit_errors: probability(1e-4), ..fast() });
    let counters = pair.network.counters(pair.link.forward());
    let any_bit = probability(1e-4).of_any(1_000).as_f64();
    assert_binomial(counters.damaged.packets, any_bit);
    assert_eq!(counters.carried.packets, u64::from(PACKETS));
    // One bit in the 20 of 125 bytes that are the header is noticed here, the rest by the transport.
    let any_header_bit = probability(1e-4).of_any(160).as_f64();
    let received = &pair.network.host(pair.second).received;
    let broken =
        received.iter().filter(|(_, _, packet)| IpHeader::parse(&packet.contiguous()).is_err()).count();
    assert_binomial(broken as u64, any_header_bit);
    let sound: Vec<_> = (0..251).map(|tag| packet(address(1), address(2), 125, tag).contiguous()).collect();
    let changed = received
        .iter()
        .enumerate()
        .filter(|(number, (_, _, packet))| packet.contiguous() != sound[number % 251])
        .count();
    assert_eq!(changed as u64, counters.damaged.packets, "every damaged packet differs from what was sent");
}

#[test]
fn copies_arrive_as_often_as_they_should_and_right_behind() {
    let pair = run(&DirectionConfig { duplication: probability(0.05), ..fast() });
    let counters = pair.network.counters(pair.link.forward());
    assert_binomial(counters.duplicated.packets, 0.05);
    let received = &pair.network.host(pair.second).received;
    assert_eq!(received.len() as u64, u64::from(PACKETS) + counters.duplicated.packets);
    let pairs =
        received.windows(2).filter(|two| tag(&two[0].2) == tag(&two[1].2) && two[0].0 == two[1].0).count();
    assert_eq!(pairs as u64, counters.duplicated.packets);
}

#[test]
fn what_is_lost_or_damaged_has_no_copy() {
    let doubled = DirectionConfig { duplication: Probability::ALWAYS, ..fast() };
    // None of 1,000 bits is spared but once in 10^22 packets.
    let damaged = probability(0.05);
    for (config, received) in [
        (DirectionConfig { loss: Probability::ALWAYS, ..doubled.clone() }, 0),
        (DirectionConfig { bit_errors: damaged, ..doubled.clone() }, PACKETS),
        (doubled, 2 * PACKETS),
    ] {
        let pair = run(&config);
        let copies = pair.network.counters(pair.link.forward()).duplicated.packets;
        let arrived = pair.network.host(pair.second).received.len() as u64;
        assert_eq!((arrived, copies), (u64::from(received), u64::from(received.saturating_sub(PACKETS))));
    }
}

#[test]
fn every_extra_delay_up_to_its_bound_is_as_likely() {
    let reordering =
        Reordering { probability: Probability::ALWAYS, extra_delay_max: Duration::from_millis(10) };
    let mut pair = Pair::new(&DirectionConfig { reordering, ..fast() });
    for number in 0..PACKETS {
        pair.send(millis(u64::from(number) * 20), 125, 0);
    }
    assert!(pair.network.run_to_rest(1_000_000));
    let arrivals = pair.network.host(pair.second).arrivals();
    // Sent within a microsecond, and 10 ms on their way.
    let extra =
        (0..).zip(&arrivals).map(|(number, at)| *at - millis(number * 20) - Duration::from_micros(10_001));
    let mut tenths = [0_u64; 10];
    for extra in extra {
        tenths[usize::try_from(extra.as_micros() / 1_000).expect("a small number")] += 1;
    }
    for count in tenths {
        assert_binomial(count, 0.1);
    }
}

#[test]
fn extra_delay_lets_packets_overtake_and_is_bounded() {
    let extra = Duration::from_millis(5);
    let reordering = Reordering { probability: probability(0.2), extra_delay_max: extra };
    let pair = run(&DirectionConfig { reordering, ..fast() });
    let received = &pair.network.host(pair.second).received;
    assert_eq!(received.len(), PACKETS as usize);
    assert!(received.is_sorted_by_key(|(at, _, _)| *at));
    let mut late = 0;
    for (number, window) in received.windows(2).enumerate() {
        late += u64::from(tag(&window[1].2) != (tag(&window[0].2) + 1) % 251);
        // Ten a millisecond, each sent within 10 microseconds.
        let earliest = millis(number as u64 / 10).saturating_add(Duration::from_millis(10));
        let latest = earliest + extra + Duration::from_millis(1);
        assert!(window[0].0 <= latest, "{number} came at {}", window[0].0);
    }
    assert!(late > u64::from(PACKETS) / 10, "{late} packets out of order");
}

#[test]
fn a_router_drops_what_it_cannot_read() {
    let mut builder = NetworkBuilder::new();
    let (first, router, second) = (builder.host("first"), builder.router("router"), builder.host("second"));
    let noisy = DirectionConfig { bit_errors: probability(1e-3), ..fast() };
    let left = builder.link("left", first, router, noisy.clone(), noisy);
    let right = builder.link("right", router, second, fast(), fast());
    builder.address(left.first(), address(1)).address(right.second(), address(2));
    let hosts = vec![Scripted::default(), Scripted::default()];
    let mut network = Network::new(builder.build().expect("a sound plan"), Seed::new(3, 0), hosts);
    network.command(first, |host, _| {
        for _ in 0..PACKETS {
            host.send(millis(0), left.first(), packet(address(1), address(2), 125, 1));
        }
    });
    assert!(network.run_to_rest(1_000_000));
    let dropped = network.counters(left.forward()).dropped(DropReason::BitError);
    // Flips in the header: all caught by its checksum, save two that cancel out.
    assert_binomial(dropped.packets, probability(1e-3).of_any(160).as_f64());
    let received = &network.host(second).received;
    assert_eq!(
        received.len() as u64,
        u64::from(PACKETS) - network.counters(left.forward()).dropped_in_all().packets
    );
    for (_, _, packet) in received {
        let header = IpHeader::parse(&packet.contiguous()).map(|(header, _)| header.hop_limit);
        assert!(matches!(header, Ok(_) | Err(WireError::Truncated { .. })), "{header:?}");
    }
}

#[test]
fn one_component_more_changes_no_other_draw() {
    let pattern = |more: bool| {
        let config = DirectionConfig {
            loss: probability(0.2),
            ..clean(DataRate::from_bits_per_sec(1 << 30), Duration::ZERO, 9)
        };
        let mut pair = Pair::with(&config, Seed::new(9, 4), |builder, _| {
            if more {
                let third = builder.host("third");
                let other = builder.host("fourth");
                builder.link("other", third, other, config.clone(), config.clone());
            }
        });
        for number in 0..500 {
            pair.send(millis(number), 100, u8::try_from(number % 251).expect("below 251"));
        }
        pair.network.run_until(millis(1_000));
        let second = pair.second;
        pair.network.host(second).received.iter().map(|(_, _, packet)| tag(packet)).collect::<Vec<_>>()
    };
    assert_eq!(pattern(false), pattern(true));
}
