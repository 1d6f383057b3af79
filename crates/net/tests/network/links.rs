//! Rate, delay, queue and MTU of one link, exactly.

use slantpath_base::{DataRate, DataSize, Duration, Seed};
use slantpath_net::{Change, Delay, DelayCurve, DirectionConfig, DropReason, QueueConfig, QueueLimit};

use crate::fixture::{Pair, byte_a_millisecond, clean, millis, tag};

#[test]
fn a_packet_takes_its_transmission_and_then_the_delay() {
    let mut pair = Pair::new(&clean(byte_a_millisecond(), Duration::from_millis(250), 10));
    pair.send(millis(5), 100, 0);
    pair.send(millis(5), 40, 1);
    pair.send(millis(300), 30, 2);
    pair.network.run_until(millis(1_000));
    let arrivals = pair.network.host(pair.second).arrivals();
    assert_eq!(arrivals, [millis(5 + 100 + 250), millis(5 + 140 + 250), millis(300 + 30 + 250)]);
    assert_eq!(pair.network.packet_hops(), 3);
    assert_eq!(pair.network.packets_under_way(), 0);
}

#[test]
fn a_header_of_the_link_takes_time_and_no_room() {
    let limit = QueueLimit::Bytes(DataSize::from_bytes(100));
    let clean = clean(byte_a_millisecond(), Duration::ZERO, 0);
    let config = DirectionConfig { overhead_bytes: 14, queue: QueueConfig::DropTail(limit), ..clean };
    let mut pair = Pair::with(&config, Seed::new(1, 0), |builder, link| {
        let faster = DataRate::from_bits_per_sec(16_000);
        builder.change(millis(150), link.forward(), Change::Rate(faster));
    });
    for tag in 0..3 {
        pair.send(millis(0), 50, tag);
    }
    pair.send(millis(200), 50, 3);
    pair.network.run_until(millis(1_000));
    // 64 ms each, and 32 at twice the rate.
    let arrivals = pair.network.host(pair.second).arrivals();
    assert_eq!(arrivals, [millis(64), millis(128), millis(192), millis(232)]);
    let counters = pair.network.counters(pair.link.forward());
    assert_eq!((counters.offered.bytes, counters.carried.bytes), (200, 200));
    assert_eq!(pair.network.queue_statistics(pair.link.forward()).max_bytes, 100);
}

#[test]
fn a_delay_that_follows_a_curve_is_that_of_the_departure() {
    let curve = DelayCurve::new(vec![
        (millis(0), Duration::from_millis(100)),
        (millis(1_000), Duration::from_millis(200)),
        (millis(1_100), Duration::from_millis(20)),
    ]);
    let delay = Delay::Curve(curve.expect("instants that rise"));
    let config = DirectionConfig { delay, ..clean(byte_a_millisecond(), Duration::ZERO, 10) };
    let mut pair = Pair::with(&config, Seed::new(1, 0), |builder, link| {
        builder.change(millis(1_440), link.forward(), Change::Delay(Duration::from_millis(5)));
    });
    // Each takes 100 ms to be sent; the fourth leaves when the delay has fallen by 180 ms, and arrives with the third.
    for (at, tag) in [(0, 0), (400, 1), (900, 2), (1_000, 3), (1_250, 4), (1_400, 5)] {
        pair.send(millis(at), 100, tag);
    }
    pair.network.run_until(millis(2_000));
    let arrivals = pair.network.host(pair.second).arrivals();
    assert_eq!(arrivals, [210, 650, 1_200, 1_200, 1_370, 1_520].map(millis));
    let tags: Vec<u8> = pair.network.host(pair.second).received.iter().map(|(_, _, p)| tag(p)).collect();
    assert_eq!(tags, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn a_full_queue_drops_what_comes_last() {
    let mut pair = Pair::new(&clean(byte_a_millisecond(), Duration::ZERO, 3));
    for tag in 0..10 {
        pair.send(millis(1), 100, tag);
    }
    // One is being sent and three wait; at 101 ms the first has left and one place is free.
    pair.send(millis(101), 100, 10);
    pair.send(millis(101), 100, 11);
    pair.network.run_until(millis(1_000));
    let tags: Vec<u8> = pair.network.host(pair.second).received.iter().map(|(_, _, p)| tag(p)).collect();
    assert_eq!(tags, [0, 1, 2, 3, 10]);
    let counters = pair.network.counters(pair.link.forward());
    assert_eq!(counters.offered.packets, 12);
    assert_eq!(counters.carried.packets, 5);
    assert_eq!(counters.dropped(DropReason::QueueFull).packets, 7);
    assert_eq!(counters.dropped_in_all().bytes, 700);
}

#[test]
fn a_queue_in_bytes_counts_bytes_that_wait() {
    let mut config = clean(byte_a_millisecond(), Duration::ZERO, 0);
    config.queue = QueueConfig::DropTail(QueueLimit::Bytes(DataSize::from_bytes(150)));
    let mut pair = Pair::new(&config);
    for (tag, length) in [(0, 100), (1, 100), (2, 60), (3, 50), (4, 20)] {
        pair.send(millis(1), length, tag);
    }
    pair.network.run_until(millis(1_000));
    let tags: Vec<u8> = pair.network.host(pair.second).received.iter().map(|(_, _, p)| tag(p)).collect();
    assert_eq!(tags, [0, 1, 3], "60 and 20 bytes find 100 and 150 of 150 taken");
}

#[test]
fn without_room_to_wait_an_idle_transmitter_still_takes_a_packet() {
    let mut pair = Pair::new(&clean(byte_a_millisecond(), Duration::ZERO, 0));
    pair.send(millis(1), 100, 0);
    pair.send(millis(100), 100, 1);
    pair.send(millis(101), 100, 2);
    pair.network.run_until(millis(1_000));
    assert_eq!(pair.network.host(pair.second).arrivals(), [millis(101), millis(201)]);
}

#[test]
fn queue_statistics_are_the_exact_integrals() {
    let mut pair = Pair::new(&clean(byte_a_millisecond(), Duration::ZERO, 10));
    // Sent 0-100, 100-200, 200-230; waiting: 100 ms for the second, 150 ms for the third.
    pair.send(millis(0), 100, 0);
    pair.send(millis(0), 100, 1);
    pair.send(millis(50), 30, 2);
    pair.network.run_until(millis(1_000));
    let statistics = pair.network.queue_statistics(pair.link.forward());
    assert_eq!(statistics.span, Duration::from_secs(1));
    assert_eq!(statistics.mean_packets, 0.25);
    assert_eq!(statistics.mean_bytes, (100.0 * 100.0 + 150.0 * 30.0) / 1_000.0);
    assert_eq!((statistics.max_packets, statistics.max_bytes), (2, 130));
    assert_eq!(statistics.busy, Duration::from_millis(230));
}
