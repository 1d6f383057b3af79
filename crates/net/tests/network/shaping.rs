//! Shapers: what exceeds the bucket waits for its tokens, in its turn, and what happens meanwhile.

use slantpath_base::{DataRate, DataSize, Duration, Seed};
use slantpath_net::{
    Change, CoDelConfig, DirectionConfig, DropReason, DrrClass, DrrConfig, PieConfig, QueueConfig,
    QueueLimit, SendingConfig, ShaperConfig, WhileDown,
};
use slantpath_wire::ip::Dscp;

use crate::fixture::{Pair, byte_a_millisecond, clean, millis, packet_of_class, tag};

/// A link that takes 0.1 ms for 100 bytes, whose tokens come one a millisecond; 200 fit into the bucket.
fn config() -> DirectionConfig {
    let shaper = ShaperConfig { rate: byte_a_millisecond(), burst: DataSize::from_bytes(200) };
    let link = clean(DataRate::from_bits_per_sec(8_000_000), Duration::from_millis(10), 100);
    DirectionConfig { sending: SendingConfig::Shaped(shaper), mtu_bytes: 100, ..link }
}

/// So many packets of 100 bytes at once, and changes.
fn run(config: &DirectionConfig, packets: u8, changes: &[(u64, Change)]) -> Pair {
    let mut pair = Pair::with(config, Seed::new(1, 0), |builder, link| {
        for &(at, change) in changes {
            builder.change(millis(at), link.forward(), change);
        }
    });
    for tag in 0..packets {
        pair.send(millis(0), 100, tag);
    }
    pair.network.run_until(millis(10_000));
    assert_eq!(pair.network.packets_under_way(), 0);
    pair
}

/// Instants at which packets came, in tenths of a millisecond, and their tags.
fn arrivals(pair: &Pair) -> Vec<(u64, u8)> {
    let received = &pair.network.host(pair.second).received;
    received.iter().map(|(at, _, packet)| (at.since_start().as_nanos() / 100_000, tag(packet))).collect()
}

#[test]
fn a_burst_leaves_at_the_rate_of_the_link_and_the_rest_at_that_of_the_tokens() {
    let mut pair = run(&config(), 5, &[]);
    assert_eq!(arrivals(&pair), [(101, 0), (102, 1), (1_101, 2), (2_101, 3), (3_101, 4)]);
    let statistics = pair.network.queue_statistics(pair.link.forward());
    // It sends for 0.1 ms each. Of the four that wait, one does so for 0.1 ms, and three for 100, 200 and 300.
    assert_eq!(statistics.busy, Duration::from_micros(500));
    assert!((statistics.mean_packets * 10_000.0 - 600.1).abs() < 1e-6, "{}", statistics.mean_packets);
    assert_eq!((statistics.max_packets, statistics.max_bytes), (4, 400));
}

#[test]
fn what_keeps_to_the_bucket_is_not_delayed() {
    let mut pair = Pair::new(&config());
    for number in 0..8_u8 {
        pair.send(millis(1_000 + 100 * u64::from(number / 2) * 2), 100, number);
    }
    pair.network.run_until(millis(10_000));
    let expected: Vec<_> = (0..8_u8)
        .map(|number| (10_101 + 2_000 * u64::from(number / 2) + u64::from(number % 2), number))
        .collect();
    assert_eq!(arrivals(&pair), expected);
}

#[test]
fn a_packet_that_has_its_turn_keeps_it_and_the_next_is_of_the_highest_class() {
    let config = DirectionConfig { queue: QueueConfig::Priority(QueueLimit::Packets(9)), ..config() };
    let mut pair = Pair::new(&config);
    for number in 0..4 {
        pair.send(millis(0), 100, number);
    }
    let interface = pair.link.first();
    let urgent = packet_of_class(46 << 2, 100, 9);
    pair.network.command(pair.first, |host, _| host.send(millis(50), interface, urgent));
    pair.network.run_until(millis(10_000));
    assert_eq!(arrivals(&pair), [(101, 0), (102, 1), (1_101, 2), (2_101, 9), (3_101, 3)]);
}

#[test]
fn while_the_link_is_down_what_waits_for_tokens_waits_on_or_is_dropped() {
    let held = DirectionConfig { while_down: WhileDown::Hold, ..config() };
    // Tokens come meanwhile: both leave as it comes up.
    let pair = run(&held, 4, &[(50, Change::Down), (400, Change::Up)]);
    assert_eq!(arrivals(&pair), [(101, 0), (102, 1), (4_101, 2), (4_102, 3)]);
    // It comes up before they have come.
    let pair = run(&held, 3, &[(50, Change::Down), (60, Change::Up)]);
    assert_eq!(arrivals(&pair), [(101, 0), (102, 1), (1_101, 2)]);
    let mut pair = run(&config(), 4, &[(50, Change::Down), (60, Change::Up)]);
    assert_eq!(arrivals(&pair), [(101, 0), (102, 1)]);
    let counters = pair.network.counters(pair.link.forward());
    assert_eq!(counters.dropped(DropReason::Down).packets, 2);
    let statistics = pair.network.queue_statistics(pair.link.forward());
    // One for 0.1 ms, and two for 50.
    assert!((statistics.mean_packets * 10_000.0 - 100.1).abs() < 1e-6, "{}", statistics.mean_packets);
}

#[test]
fn a_slow_link_behind_a_quick_bucket_sends_at_its_own_rate() {
    let shaper = ShaperConfig { rate: DataRate::from_bits_per_sec(16_000), burst: DataSize::from_bytes(100) };
    let config = clean(byte_a_millisecond(), Duration::from_millis(10), 100);
    let pair =
        run(&DirectionConfig { sending: SendingConfig::Shaped(shaper), mtu_bytes: 100, ..config }, 3, &[]);
    assert_eq!(arrivals(&pair), [(1_100, 0), (2_100, 1), (3_100, 2)]);
}

#[test]
fn what_waits_for_tokens_takes_its_place_in_the_queue_whatever_the_discipline() {
    let two = QueueLimit::Packets(2);
    let class = |dscps: Vec<Dscp>| DrrClass { dscps, limit: two, quantum_bytes: 100 };
    let of = |number| Dscp::new(number).expect("six bits");
    let disciplines = [
        QueueConfig::DropTail(two),
        QueueConfig::DropTail(QueueLimit::Bytes(DataSize::from_bytes(200))),
        QueueConfig::CoDel(CoDelConfig::new(two)),
        QueueConfig::Pie(PieConfig::new(two)),
        QueueConfig::Priority(two),
        QueueConfig::Drr(DrrConfig { classes: vec![class(vec![of(46)]), class(vec![])] }),
    ];
    for queue in disciplines {
        let config = DirectionConfig { queue: queue.clone(), ..config() };
        let mut pair = Pair::new(&config);
        // Two empty the bucket; the next waits for its tokens, with it another, and there is no room for a third.
        for (at, tag) in [(0, 0), (0, 1), (10, 2), (20, 3), (30, 4), (40, 5)] {
            pair.send(millis(at), 100, tag);
        }
        // Where classes have room of their own, there is some for another class.
        let interface = pair.link.first();
        let urgent = packet_of_class(46 << 2, 100, 9);
        pair.network.command(pair.first, |host, _| host.send(millis(50), interface, urgent));
        pair.network.run_until(millis(10_000));
        let has_classes = matches!(queue, QueueConfig::Drr(_) | QueueConfig::Priority(_));
        let tags: Vec<u8> = arrivals(&pair).iter().map(|&(_, tag)| tag).collect();
        assert_eq!(tags.len(), if has_classes { 5 } else { 4 }, "{tags:?} of {queue:?}");
        assert_eq!(tags.contains(&9), has_classes, "{queue:?}");
        let most = if has_classes { 3 } else { 2 };
        let statistics = pair.network.queue_statistics(pair.link.forward());
        assert_eq!(statistics.max_packets, most, "{queue:?}");
    }
    // Where none may wait, what lacks its tokens is dropped at once.
    let none = QueueConfig::DropTail(QueueLimit::Packets(0));
    let mut pair = Pair::new(&DirectionConfig { queue: none, ..config() });
    for (at, tag) in [(0, 0), (10, 1), (20, 2), (109, 3), (110, 4)] {
        pair.send(millis(at), 100, tag);
    }
    pair.network.run_until(millis(10_000));
    let tags: Vec<u8> = arrivals(&pair).iter().map(|&(_, tag)| tag).collect();
    assert_eq!(tags, [0, 1, 3]);
}
