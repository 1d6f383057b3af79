//! PIE before a link: the wait that it leads a queue to, and what it drops and marks for that.

use slantpath_base::{DataRate, Duration, Instant};
use slantpath_net::{
    CongestionSignal, DirectionConfig, DirectionCounters, DropReason, PieConfig, QueueConfig, QueueLimit,
};
use slantpath_wire::Packet;

use crate::fixture::{Pair, packet_of_class};

const ECT: u8 = 2;
const CE: u8 = 3;
/// Length of a packet, which takes a millisecond.
const LENGTH: usize = 125;

fn config(pie: PieConfig) -> DirectionConfig {
    let rate = DataRate::from_bits_per_sec(1_000_000);
    let config = DirectionConfig::new(rate, Duration::ZERO, QueueConfig::Pie(pie));
    DirectionConfig { mtu_bytes: 125, ..config }
}

/// Packets with these traffic classes in turn, one each so many microseconds, until so many seconds.
fn flooded(config: &DirectionConfig, gap_micros: u64, seconds: u64, classes: [u8; 2]) -> Pair {
    let mut pair = Pair::new(config);
    let interface = pair.link.first();
    pair.network.command(pair.first, |host, _| {
        for number in 0..seconds * 1_000_000 / gap_micros {
            let class = classes[(number % 2) as usize];
            let at = Instant::from_nanos(number * gap_micros * 1_000);
            host.send(at, interface, packet_of_class(class, LENGTH, 0));
        }
    });
    pair
}

/// Counts of the last half of such a minute, and the mean wait in milliseconds.
fn settled(config: &DirectionConfig, gap_micros: u64) -> (DirectionCounters, f64) {
    let mut pair = flooded(config, gap_micros, 60, [0; 2]);
    pair.network.run_until(Instant::from_secs(30));
    pair.network.restart_statistics();
    pair.network.run_until(Instant::from_secs(60));
    // Little's law: what waits leaves at one packet a millisecond.
    let wait_ms = pair.network.queue_statistics(pair.link.forward()).mean_packets;
    (*pair.network.counters(pair.link.forward()), wait_ms)
}

/// A fifth of what comes is too much, whatever is dropped: the wait is where the controller wants no other probability.
#[test]
fn an_overload_waits_for_the_target_and_loses_what_is_too_much() {
    for (target_ms, gap_micros) in [(15, 800), (40, 800), (15, 667)] {
        let target = Duration::from_millis(target_ms);
        let pie = PieConfig { target, ..PieConfig::new(QueueLimit::Unlimited) };
        let (counters, wait_ms) = settled(&config(pie), gap_micros);
        let lost = counters.dropped(DropReason::Early).packets as f64 / counters.offered.packets as f64;
        let excess = 1.0 - gap_micros as f64 / 1_000.0;
        assert!((lost / excess - 1.0).abs() < 0.03, "{lost} of {excess}");
        assert!((wait_ms / target_ms as f64 - 1.0).abs() < 0.1, "{wait_ms} ms in place of {target_ms}");
        assert_eq!(counters.dropped_in_all(), counters.dropped(DropReason::Early));
    }
}

#[test]
fn what_the_link_carries_is_not_dropped() {
    let (counters, _) = settled(&config(PieConfig::new(QueueLimit::Unlimited)), 1_000);
    assert_eq!(counters.dropped_in_all().packets, 0);
}

/// Three times as much as the link carries, for a second.
#[test]
fn a_queue_that_forms_drops_nothing_for_as_long_as_a_burst_may_last() {
    let dropped = |max_burst_ms| {
        let max_burst = Duration::from_millis(max_burst_ms);
        let pie = PieConfig { max_burst, ..PieConfig::new(QueueLimit::Unlimited) };
        let mut pair = flooded(&config(pie), 333, 1, [0; 2]);
        pair.network.run_until(Instant::from_millis(1_000));
        pair.network.counters(pair.link.forward()).dropped(DropReason::Early).packets
    };
    assert_eq!(dropped(1_005), 0);
    let found = [600, 150].map(dropped);
    assert!(found[0] > 100 && found[1] > found[0], "{found:?}");
}

/// Twice as much as the link carries, with a target that no packet keeps which has to wait.
#[test]
fn a_packet_that_finds_two_waiting_is_not_dropped_early() {
    let dropped = |limit| {
        let target = Duration::from_micros(1);
        let pie = PieConfig { target, ..PieConfig::new(QueueLimit::Packets(limit)) };
        let mut pair = flooded(&config(pie), 500, 20, [0; 2]);
        assert!(pair.network.run_to_rest(1_000_000));
        pair.network.counters(pair.link.forward()).dropped(DropReason::Early).packets
    };
    assert_eq!(dropped(3), 0);
    assert!(dropped(4) > 100);
}

/// A twentieth is too much: the probability stays where marks end and drops begin, at a tenth.
#[test]
fn packets_are_marked_as_long_as_the_probability_is_small_and_their_transports_understand_it() {
    let pie = PieConfig { signal: CongestionSignal::Mark, ..PieConfig::new(QueueLimit::Unlimited) };
    let mut pair = flooded(&config(pie), 950, 60, [ECT, 0]);
    assert!(pair.network.run_to_rest(1_000_000));
    let counters = *pair.network.counters(pair.link.forward());
    let received = &pair.network.host(pair.second).received;
    let count = |class| {
        let has = |packet: &Packet| packet.contiguous()[1] == class;
        received.iter().filter(|(_, _, packet)| has(packet)).count() as u64
    };
    assert_eq!(count(CE), counters.marked.packets);
    let dropped = counters.dropped(DropReason::Early).packets;
    assert_eq!(count(ECT) + count(CE) + count(0) + dropped, counters.offered.packets);
    // Of those that are not to be marked as many are lost as of the others are marked, or more.
    let (lost, marked) = (counters.offered.packets / 2 - count(0), counters.marked.packets);
    assert!(marked > 500 && lost > marked, "{marked} {lost}");
    assert!(count(ECT) + count(CE) > count(0), "{} {} {}", count(ECT), count(CE), count(0));
}

#[test]
fn a_full_queue_drops_and_gives_no_mark() {
    let pie = PieConfig { signal: CongestionSignal::Mark, ..PieConfig::new(QueueLimit::Packets(3)) };
    let mut pair = flooded(&config(pie), 500, 10, [ECT; 2]);
    assert!(pair.network.run_to_rest(1_000_000));
    let counters = pair.network.counters(pair.link.forward());
    assert!(counters.dropped(DropReason::QueueFull).packets > 9_900, "{counters:?}");
    assert_eq!(counters.marked.packets + counters.dropped(DropReason::Early).packets, 0);
}
