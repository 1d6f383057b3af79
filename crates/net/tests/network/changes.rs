//! Scripted changes: what has begun to be sent is settled, what waits is sent under the new rules.

use slantpath_base::{DataRate, Duration, Instant, Probability, Seed};
use slantpath_net::{Change, DirectionConfig, DropReason, QueueConfig, QueueLimit, WhileDown};

use crate::fixture::{Pair, byte_a_millisecond, clean, millis, tag};

/// Three packets of 100 ms each are sent at once over 10 ms, and the changes happen.
fn run(config: &DirectionConfig, changes: &[(u64, Change)]) -> Pair {
    let mut pair = Pair::with(config, Seed::new(1, 0), |builder, link| {
        for &(at, change) in changes {
            builder.change(millis(at), link.forward(), change);
        }
    });
    for tag in 0..3 {
        pair.send(millis(0), 100, tag);
    }
    pair.network.run_until(millis(10_000));
    assert_eq!(pair.network.packets_under_way(), 0);
    pair
}

fn config() -> DirectionConfig {
    clean(byte_a_millisecond(), Duration::from_millis(10), 100)
}

fn arrivals(pair: &Pair) -> Vec<(u64, u8)> {
    let received = &pair.network.host(pair.second).received;
    received.iter().map(|(at, _, packet)| (at.since_start().as_millis(), tag(packet))).collect()
}

#[test]
fn a_new_rate_holds_from_the_next_packet_on() {
    let pair = run(&config(), &[(50, Change::Rate(DataRate::from_bits_per_sec(16_000)))]);
    assert_eq!(arrivals(&pair), [(110, 0), (160, 1), (210, 2)]);
}

#[test]
fn a_packet_on_its_way_keeps_its_delay_and_may_be_overtaken() {
    let config = clean(byte_a_millisecond(), Duration::from_millis(500), 100);
    let pair = run(&config, &[(150, Change::Delay(Duration::from_millis(10)))]);
    assert_eq!(arrivals(&pair), [(310, 2), (600, 0), (700, 1)], "the second was being sent");
}

#[test]
fn a_new_loss_rate_spares_what_is_being_sent() {
    let pair = run(&config(), &[(50, Change::Loss(Probability::ALWAYS))]);
    assert_eq!(arrivals(&pair), [(110, 0)]);
    let pair = run(
        &DirectionConfig { loss: Probability::ALWAYS, ..config() },
        &[(150, Change::Loss(Probability::NEVER))],
    );
    assert_eq!(arrivals(&pair), [(310, 2)]);
}

#[test]
fn a_change_that_is_made_on_the_way_is_the_same_event_as_one_that_was_declared() {
    let slow = Change::Rate(DataRate::from_bits_per_sec(4_000));
    let declared = run(&config(), &[(50, slow), (50, Change::Loss(Probability::NEVER)), (210, Change::Down)]);
    let mut pair = Pair::with(&config(), Seed::new(1, 0), |builder, link| {
        builder.change(millis(50), link.forward(), slow);
    });
    for tag in 0..3 {
        pair.send(millis(0), 100, tag);
    }
    let link = pair.link.forward();
    pair.network.run_until(millis(20));
    // In the order of time whatever the order of calls, and behind what is known of an instant.
    pair.network.change(millis(210), link, Change::Down);
    pair.network.change(millis(50), link, Change::Loss(Probability::NEVER));
    pair.network.run_until(millis(10_000));
    assert_eq!(arrivals(&pair), arrivals(&declared));
    assert_eq!(pair.network.digest(), declared.network.digest());
    // What is past happens at once.
    pair.network.change(millis(1), link, Change::Up);
    pair.send(millis(10_500), 100, 9);
    pair.network.run_until(millis(20_000));
    assert_eq!(arrivals(&pair).last(), Some(&(10_710, 9)));
}

#[test]
fn going_down_cuts_off_what_is_being_sent_and_drops_what_waits() {
    let mut pair = run(&config(), &[(150, Change::Down), (400, Change::Up)]);
    assert_eq!(arrivals(&pair), [(110, 0)]);
    let counters = pair.network.counters(pair.link.forward());
    assert_eq!(counters.dropped(DropReason::Down).packets, 2);
    let statistics = pair.network.queue_statistics(pair.link.forward());
    assert_eq!(statistics.busy, Duration::from_millis(150));
    // Two wait for 100 ms and one for 50.
    assert_eq!(statistics.mean_packets, 0.025);
}

#[test]
fn a_link_that_holds_sends_what_waited_when_it_comes_up() {
    let config = DirectionConfig { while_down: WhileDown::Hold, ..config() };
    let pair = run(&config, &[(50, Change::Down), (400, Change::Up)]);
    assert_eq!(arrivals(&pair), [(510, 1), (610, 2)]);
    assert_eq!(pair.network.counters(pair.link.forward()).dropped(DropReason::Down).packets, 1);
}

#[test]
fn while_down_new_packets_are_dropped_or_wait() {
    for (while_down, expected) in [(WhileDown::Drop, vec![]), (WhileDown::Hold, vec![(410, 9), (510, 8)])] {
        let config =
            DirectionConfig { while_down, ..clean(byte_a_millisecond(), Duration::from_millis(10), 2) };
        let mut pair = Pair::with(&config, Seed::new(1, 0), |builder, link| {
            builder.change(millis(0), link.forward(), Change::Down);
            builder.change(millis(300), link.forward(), Change::Up);
        });
        for (at, tag) in [(10, 9), (200, 8), (250, 7)] {
            pair.send(millis(at), 100, tag);
        }
        pair.network.run_until(millis(1_000));
        assert_eq!(arrivals(&pair), expected, "{while_down:?}: two may wait");
    }
}

#[test]
fn duplicates_of_what_waits_are_made_anew() {
    let config = DirectionConfig { duplication: Probability::ALWAYS, ..config() };
    let pair = run(&config, &[(50, Change::Duplication(Probability::NEVER))]);
    assert_eq!(arrivals(&pair), [(110, 0), (110, 0), (210, 1), (310, 2)]);
    assert_eq!(pair.network.counters(pair.link.forward()).duplicated.packets, 1);
}

#[test]
fn bit_errors_of_what_waits_are_drawn_anew() {
    let config = DirectionConfig { bit_errors: Probability::ALWAYS, ..config() };
    let pair = run(&config, &[(150, Change::BitErrors(Probability::NEVER))]);
    assert_eq!(pair.network.counters(pair.link.forward()).damaged.packets, 2);
    assert_eq!(arrivals(&pair), [(110, !0), (210, !1), (310, 2)], "every bit of two packets is flipped");
}

#[test]
fn a_change_at_the_instant_of_an_arrival_comes_first() {
    // The first packet has left at 100 ms when the link goes down: it arrives at 110 ms.
    let pair = run(&config(), &[(110, Change::Down)]);
    assert_eq!(arrivals(&pair), [(110, 0)]);
    // It is cut off by its last bit.
    let pair = run(&config(), &[(99, Change::Down)]);
    assert_eq!(arrivals(&pair), []);
}

#[test]
fn a_queue_of_centuries_never_ends_and_never_panics() {
    let slow = DirectionConfig {
        queue: QueueConfig::DropTail(QueueLimit::Unlimited),
        ..clean(DataRate::from_bits_per_sec(1), Duration::from_millis(10), 0)
    };
    let slow = DirectionConfig { mtu_bytes: 65_535, ..slow };
    let mut pair = Pair::new(&slow);
    // Each takes six days.
    for _ in 0..40_000 {
        pair.send(millis(0), 65_535, 0);
    }
    pair.network.run_until(Instant::from_secs(6 * 86_400 + 7 * 3_600));
    assert_eq!(pair.network.host(pair.second).received.len(), 1);
    let statistics = pair.network.queue_statistics(pair.link.forward());
    assert_eq!(statistics.max_packets, 39_999);
}
