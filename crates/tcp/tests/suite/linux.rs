//! Goodput over a geostationary link held to that of Linux, whose kernel `peers/linux-tcp/compare` measures on the same
//! link.

use bytes::Bytes;
use slantpath_base::{DataRate, DataSize, Duration, Probability};
use slantpath_cc::{Algorithm, RtoConfig, SlowStart};
use slantpath_tcp::{ConnectionState, SackRecovery, TcpConfig};
use slantpath_testkit::{Bottleneck, Faults};

use crate::pair::Pair;

static CHUNK: [u8; 1 << 16] = [0; 1 << 16];

const RATE: u64 = 10_000_000;
const SECONDS: u64 = 100;

/// Congestion control, loss, our seeds, the kernel's mean goodput in percent, and how far ours may be from it. Where
/// losses are drawn the kernel's is the mean of six seeds (0.1 %) and three (1 %), known within a twelfth.
const CASES: [(&str, Algorithm, f64, u64, f64, f64); 6] = [
    ("reno", Algorithm::Standard, 0.0, 1, 93.1, 0.02),
    ("reno", Algorithm::Standard, 0.001, 20, 11.2, 0.1),
    ("reno", Algorithm::Standard, 0.01, 20, 2.6, 0.1),
    ("cubic", Algorithm::Cubic, 0.0, 1, 92.6, 0.02),
    ("cubic", Algorithm::Cubic, 0.001, 20, 30.6, 0.1),
    ("cubic", Algorithm::Cubic, 0.01, 20, 4.9, 0.1),
];

/// What one transfer came to.
struct Transfer {
    /// In percent of the link's rate.
    goodput: f64,
    retransmissions: u64,
    timeouts: u64,
    dropped: u64,
}

/// 100 s over 10 Mbit/s, 280 ms one way, a queue of 700 kB and this loss in either direction.
fn transfer(seed: u64, loss: f64, config: TcpConfig) -> Transfer {
    let loss = Probability::new(loss).unwrap();
    let faults = Faults { loss, ..Faults::none(Duration::from_millis(280)) };
    let mut pair = Pair::calling(seed, faults, config, config);
    // The wire knows no IP header: 20 bytes less in each 1,500.
    let rate = DataRate::from_bits_per_sec(RATE * 1_480 / 1_500);
    pair.rightwards.narrow(Bottleneck { rate, queue: DataSize::from_bytes(700_000) });
    while pair.left.snapshot().state != ConnectionState::Established {
        pair.step();
    }
    let id = pair.left.id();
    let end = pair.now + Duration::from_secs(SECONDS);
    while pair.now < end {
        while pair.left.endpoint.writable_bytes(id) >= CHUNK.len() as u64 {
            pair.write_left(Bytes::from_static(&CHUNK));
        }
        pair.step();
        pair.left.sent.clear();
        pair.right.sent.clear();
        pair.right.received.clear();
    }
    let snapshot = pair.left.snapshot();
    Transfer {
        goodput: 800.0 * pair.right.snapshot().received_bytes as f64 / (SECONDS * RATE) as f64,
        retransmissions: snapshot.retransmissions,
        timeouts: snapshot.timeouts,
        dropped: pair.rightwards.dropped(),
    }
}

/// What Linux does by default, as far as there is a choice of it.
fn like_linux(congestion_control: Algorithm) -> TcpConfig {
    TcpConfig {
        congestion_control,
        slow_start: match congestion_control {
            Algorithm::Cubic => SlowStart::HyStart,
            _ => SlowStart::Standard,
        },
        sack_recovery: SackRecovery::Proportional,
        timestamps: true,
        send_buffer_bytes: 8 << 20,
        receive_buffer_bytes: 8 << 20,
        // Its 200 ms are the least of what comes on top of SRTT.
        rto: RtoConfig {
            min: Duration::from_millis(200),
            granularity: Duration::from_millis(200),
            ..RtoConfig::tcp()
        },
        ..TcpConfig::default()
    }
}

/// The mean of so many transfers: goodput in percent, and a line about it.
fn mean(loss: f64, seeds: u64, config: TcpConfig) -> (f64, String) {
    let runs: Vec<_> = (1..=seeds).map(|seed| transfer(seed, loss, config)).collect();
    let average = |of: fn(&Transfer) -> f64| runs.iter().map(of).sum::<f64>() / seeds as f64;
    let goodput = average(|run| run.goodput);
    let variance = runs.iter().map(|run| (run.goodput - goodput).powi(2)).sum::<f64>() / seeds as f64;
    let line = format!(
        "goodput {goodput:.1} % (standard deviation {:.1}), {:.0} retransmissions, {:.1} timeouts, {:.0} dropped by \
         the queue; {seeds} seeds",
        variance.sqrt(),
        average(|run| run.retransmissions as f64),
        average(|run| run.timeouts as f64),
        average(|run| run.dropped as f64),
    );
    (goodput, line)
}

#[test]
fn goodput_over_a_geostationary_link_is_that_of_linux() {
    for (name, algorithm, loss, seeds, linux, tolerance) in CASES {
        let (ours, line) = mean(loss, seeds, like_linux(algorithm));
        eprintln!("ours  {name} loss {loss}: {line}");
        assert!((ours / linux - 1.0).abs() < tolerance, "{name}, {loss}: {ours} % against {linux} %");
    }
}
