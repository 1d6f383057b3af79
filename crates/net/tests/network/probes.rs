//! Records that probes make.

use slantpath_base::{Duration, Instant};
use slantpath_net::{QueueSample, Sampling};

use crate::fixture::{Pair, byte_a_millisecond, clean, millis};

/// Packets of 100, 100 and 30 ms: sent 0–100, 100–200, 200–230.
fn run(sampling: Sampling) -> Vec<QueueSample> {
    let mut pair = Pair::new(&clean(byte_a_millisecond(), Duration::ZERO, 10));
    pair.network.probe_queue(pair.link.forward(), sampling);
    pair.send(millis(0), 100, 0);
    pair.send(millis(0), 100, 1);
    pair.send(millis(50), 30, 2);
    pair.network.run_until(millis(300));
    pair.network.queue_probe(pair.link.forward()).expect("it is on").samples().to_vec()
}

fn sample(at: u64, packets: u64, bytes: u64) -> QueueSample {
    QueueSample { time: millis(at), packets, bytes }
}

#[test]
fn changes_are_recorded_when_they_happen() {
    let expected = [sample(0, 1, 100), sample(50, 2, 130), sample(100, 1, 30), sample(200, 0, 0)];
    assert_eq!(run(Sampling::OnChange), expected);
}

/// If a take forgot the latest sample, that of 0 ms would not be replaced by one of the same instant, and that of
/// 100 ms would be repeated.
#[test]
fn samples_that_are_taken_on_the_way_are_those_of_a_whole_run() {
    for sampling in [Sampling::OnChange, Sampling::Every(Duration::from_millis(50))] {
        let mut pair = Pair::new(&clean(byte_a_millisecond(), Duration::ZERO, 10));
        let direction = pair.link.forward();
        pair.network.probe_queue(direction, sampling);
        let mut samples = Vec::new();
        for (at, length, tag) in [(0, 100, 0), (0, 100, 1), (50, 30, 2)] {
            pair.send(millis(at), length, tag);
            samples.extend(pair.network.take_queue_samples(direction));
        }
        for at in (50..=300).step_by(10) {
            pair.network.run_until(millis(at));
            samples.extend(pair.network.take_queue_samples(direction));
        }
        samples.extend_from_slice(pair.network.queue_probe(direction).expect("it is on").samples());
        assert_eq!(samples, run(sampling), "{sampling:?}");
    }
}

#[test]
fn samples_are_taken_at_the_interval_after_all_else() {
    let expected =
        [sample(0, 1, 100), sample(50, 2, 130), sample(100, 1, 30), sample(150, 1, 30), sample(200, 0, 0)];
    let samples = run(Sampling::Every(Duration::from_millis(50)));
    assert_eq!(samples[..5], expected);
    assert_eq!(samples.len(), 7);
}

#[test]
fn statistics_start_anew_after_a_warm_up() {
    let mut pair = Pair::new(&clean(byte_a_millisecond(), Duration::ZERO, 10));
    for tag in 0..4 {
        pair.send(millis(0), 100, tag);
    }
    pair.network.run_until(millis(150));
    pair.network.restart_statistics();
    pair.network.run_until(millis(450));
    let statistics = pair.network.queue_statistics(pair.link.forward());
    assert_eq!(statistics.span, Duration::from_millis(300));
    // Two wait for another 50 ms, one of them for 100 ms more.
    assert_eq!(statistics.mean_packets, 200.0 / 300.0);
    assert_eq!(statistics.mean_bytes, 20_000.0 / 300.0);
    assert_eq!((statistics.max_packets, statistics.max_bytes), (2, 200));
    assert_eq!(statistics.busy, Duration::from_millis(250));
    assert_eq!(pair.network.counters(pair.link.forward()).carried.packets, 3);
}

#[test]
fn a_network_at_rest_says_so() {
    let mut pair = Pair::new(&clean(byte_a_millisecond(), Duration::ZERO, 10));
    pair.send(millis(5), 100, 0);
    assert_eq!(pair.network.next_event(), Some(Instant::START));
    assert!(!pair.network.run_to_rest(1), "the send is an event, the arrival another");
    assert!(pair.network.run_to_rest(100));
    assert_eq!(pair.network.now(), millis(105));
    assert_eq!(pair.network.next_event(), None);
}

#[test]
fn windows_of_a_queue_are_parts_of_its_statistics_and_change_nothing_of_them() {
    let mut pair = Pair::new(&clean(byte_a_millisecond(), Duration::from_millis(10), 10));
    for tag in 0..3 {
        pair.send(millis(0), 100, tag);
    }
    let direction = pair.link.forward();
    pair.network.run_until(millis(150));
    let first = pair.network.end_queue_window(direction);
    // Two wait for the first 100 ms, one for another 100.
    assert_eq!((first.span, first.busy), (Duration::from_millis(150), Duration::from_millis(150)));
    assert_eq!((first.mean_packets, first.max_packets, first.max_bytes), (250.0 / 150.0, 2, 200));
    pair.network.run_until(millis(400));
    let second = pair.network.end_queue_window(direction);
    assert_eq!((second.span, second.busy), (Duration::from_millis(250), Duration::from_millis(150)));
    assert_eq!((second.mean_packets, second.max_packets, second.max_bytes), (50.0 / 250.0, 1, 100));
    let whole = pair.network.queue_statistics(direction);
    assert_eq!((whole.span, whole.busy), (Duration::from_millis(400), Duration::from_millis(300)));
    assert_eq!((whole.mean_packets, whole.max_packets, whole.max_bytes), (300.0 / 400.0, 2, 200));
    pair.network.restart_statistics();
    pair.network.run_until(millis(500));
    assert_eq!(pair.network.end_queue_window(direction).span, Duration::from_millis(100));
}
