//! Bulk transfers through a queue that overflows.

use bytes::Bytes;
use slantpath_base::{DataRate, DataSize, Duration};
use slantpath_tcp::{DelayedAck, TcpConfig};
use slantpath_testkit::{Bottleneck, WireFaults};

use crate::pair::Pair;

static CHUNK: [u8; 1 << 16] = [0; 1 << 16];

/// A pair that has sent for `seconds` over a geostationary link of 10 Mbit/s behind such a queue, with windows of
/// 8 MiB.
fn after(seconds: u64, queue_bytes: u64, delayed_ack: DelayedAck) -> Pair {
    let config = TcpConfig {
        send_buffer_bytes: 8 << 20,
        receive_buffer_bytes: 8 << 20,
        delayed_ack,
        ..TcpConfig::default()
    };
    let mut pair = Pair::calling(1, WireFaults::none(Duration::from_millis(280)), config, config);
    let rate = DataRate::from_bits_per_sec(10_000_000);
    pair.rightwards.narrow(Bottleneck { rate, queue: DataSize::from_bytes(queue_bytes) });
    let end = pair.now + Duration::from_secs(seconds);
    pair.run_for(Duration::from_secs(1));
    let id = pair.left.id();
    while pair.now < end {
        while pair.left.endpoint.writable_bytes(id) >= CHUNK.len() as u64 {
            pair.write_left(Bytes::from_static(&CHUNK));
        }
        pair.step();
        pair.left.sent.clear();
        pair.right.sent.clear();
        pair.right.received.clear();
    }
    pair
}

const DELAYED: DelayedAck = DelayedAck::EverySecondSegment { timeout: Duration::from_millis(200) };

#[test]
fn what_slow_start_overshoots_is_repaired_in_one_recovery_and_without_a_timeout() {
    // A recovery lasts longer than the timeout that an empty queue asks for: its repetitions wait behind a full
    // one. The bandwidth-delay product is 700 kB.
    for queue_bytes in [350_000, 600_000, 650_000, 700_000, 1_400_000] {
        let pair = after(20, queue_bytes, DELAYED);
        let snapshot = pair.left.snapshot();
        let (timeouts, recoveries) = (snapshot.timeouts, snapshot.fast_recoveries);
        assert_eq!((timeouts, recoveries, snapshot.is_recovering), (0, 1, false), "{queue_bytes}");
        assert_eq!(snapshot.retransmissions, pair.rightwards.dropped(), "{queue_bytes}");
    }
}

#[test]
fn the_timeout_follows_the_queue_while_nothing_is_acknowledged() {
    // The window doubles each round trip, so that half of it fills the queue to the brim. What is repeated last
    // comes when the timer knows of the long round trip by SACK alone.
    let pair = after(20, 700_000, DelayedAck::Off);
    let snapshot = pair.left.snapshot();
    assert_eq!((snapshot.timeouts, snapshot.fast_recoveries), (0, 2));
    assert_eq!(snapshot.retransmissions, pair.rightwards.dropped());
}

#[test]
fn after_a_timeout_nothing_is_repeated_that_was_sacked() {
    // The queue drops repetitions too, and only the timer finds that out.
    let pair = after(20, 525_000, DelayedAck::Off);
    let snapshot = pair.left.snapshot();
    assert_eq!(snapshot.timeouts, 1);
    assert_eq!(snapshot.retransmissions, pair.rightwards.dropped());
}
