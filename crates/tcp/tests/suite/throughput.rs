//! Throughput under random loss against closed formulas.

use bytes::Bytes;
use slantpath_base::{Duration, Probability};
use slantpath_cc::new_reno::AvoidanceIncrease;
use slantpath_tcp::{DelayedAck, TcpConfig};
use slantpath_testkit::WireFaults;

use crate::pair::Pair;

static CHUNK: [u8; 1 << 16] = [0; 1 << 16];

/// Segments a second that get through at this loss of data segments, and loss indications a segment.
fn measured(loss: f64, law: AvoidanceIncrease, delayed_ack: DelayedAck) -> (f64, f64) {
    const SECONDS: u64 = 400;
    let delay = Duration::from_millis(50);
    let left = TcpConfig {
        mss_bytes: 1_000,
        receive_buffer_bytes: 1 << 24,
        avoidance_increase: law,
        ..TcpConfig::default()
    };
    let right = TcpConfig { delayed_ack, ..left };
    let mut pair = Pair::calling(1, WireFaults::none(delay), left, right);
    pair.run_for(Duration::from_secs(1));
    pair.rightwards
        .set_faults(WireFaults { loss: Probability::new(loss).unwrap(), ..WireFaults::none(delay) });
    let end = pair.now + Duration::from_secs(SECONDS);
    let id = pair.left.id();
    while pair.now < end {
        while pair.left.endpoint.writable_bytes(id) > 1 << 20 {
            pair.write_left(Bytes::from_static(&CHUNK));
        }
        pair.step();
        pair.left.sent.clear();
        pair.right.sent.clear();
        pair.right.received.clear();
    }
    let snapshot = pair.left.snapshot();
    let segments = snapshot.acked_bytes as f64 / 1_000.0;
    let indications = (snapshot.timeouts + snapshot.fast_recoveries) as f64;
    (segments / SECONDS as f64, indications / segments)
}

/// Padhye, Firoiu, Towsley and Kurose (1998), equation 30 without a window limit, in segments a second: a round
/// trip of 100 ms, a first timeout of 1 s.
fn pftk(loss_indications: f64, segments_per_ack: f64) -> f64 {
    let (p, b) = (loss_indications, segments_per_ack);
    let timeout = (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0);
    1.0 / (0.1 * (2.0 * b * p / 3.0).sqrt() + timeout * p * (1.0 + 32.0 * p * p))
}

#[test]
fn throughput_follows_the_formula_of_padhye_et_al() {
    // Counting bytes, the window grows by one segment a round trip however ACKs are delayed: b = 1. Counting
    // ACKs, b is what one acknowledges.
    let delayed = DelayedAck::EverySecondSegment { timeout: Duration::from_millis(200) };
    for (law, delayed_ack, segments_per_ack) in [
        (AvoidanceIncrease::ByteCounting, delayed, 1.0),
        (AvoidanceIncrease::PerAck, DelayedAck::Off, 1.0),
        (AvoidanceIncrease::PerAck, delayed, 2.0),
    ] {
        for loss in [0.001, 0.003, 0.01] {
            let (rate, indications) = measured(loss, law, delayed_ack);
            let ratio = rate / pftk(indications, segments_per_ack);
            eprintln!(
                "{law:?}, b = {segments_per_ack}, p = {loss}: {rate:.1} segments/s, {ratio:.3} of PFTK"
            );
            assert!((0.85..1.15).contains(&ratio), "{law:?}, b = {segments_per_ack}, p = {loss}: {ratio:.3}");
        }
    }
}
