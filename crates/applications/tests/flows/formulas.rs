//! TCP's throughput, held against the closed formula for random loss and against Linux where a queue overflows.

use crate::fixture::{direction, run, sender};
use slantpath_applications::message::Content;
use slantpath_applications::{SenderConfig, Workload};
use slantpath_base::{DataSize, Duration, Probability, Seed};
use slantpath_host::Protocol;
use slantpath_net::{QueueConfig, QueueLimit};
use slantpath_tcp::{DelayedAck, TcpConfig};

const MSS_BYTES: f64 = 1_460.0;

/// Segments acknowledged in a second under loss `p`, in steady state.
fn segments_per_sec(p: f64, run_number: u64) -> f64 {
    let mut link = [direction("1 Gbit/s", "50 ms"), direction("1 Gbit/s", "50 ms")];
    link[0].loss = Probability::new(p).unwrap();
    let config = TcpConfig { delayed_ack: DelayedAck::Off, ..TcpConfig::default() };
    let workload = Workload::Bulk { message: DataSize::from_bytes(14_600), total: None };
    let config_of_sender = SenderConfig {
        content: Content::Pattern,
        record_messages: false,
        sample_paths: None,
        ..sender(workload)
    };
    let seconds = 200;
    let outcome = run(
        &[link],
        Protocol::Tcp(Box::new(config)),
        config_of_sender,
        Seed::new(7, run_number),
        Duration::from_secs(seconds),
    );
    outcome.received.bytes_delivered as f64 / MSS_BYTES / seconds as f64
}

/// Mathis, Semke, Mahdavi, Ott (1997), equation 3, for a receiver that acknowledges every segment:
/// sqrt(3/2) / (RTT · sqrt(p)). It knows no time-outs, so that it holds for small losses only.
fn mathis(p: f64) -> f64 {
    (1.5 / p).sqrt() / 0.1
}

#[test]
fn throughput_under_loss_agrees_with_mathis() {
    const RUNS: u32 = 5;
    // The two-sided 99 % quantile of Student's t with four degrees of freedom.
    const T: f64 = 4.604;
    for p in [0.003, 0.01] {
        let ratios: Vec<f64> = (0..RUNS).map(|run| segments_per_sec(p, run.into()) / mathis(p)).collect();
        let mean = ratios.iter().sum::<f64>() / f64::from(RUNS);
        let variance = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / f64::from(RUNS - 1);
        let half_width = T * (variance / f64::from(RUNS)).sqrt();
        // The formula's own error is a few percent: it lets the window fall to exactly one half at every loss.
        assert!(
            (mean - 1.0).abs() < 0.06 + half_width,
            "p = {p}: {mean:.3} ± {half_width:.3} of the formula"
        );
        assert!(half_width < 0.15, "p = {p}: ± {half_width:.3} shows nothing");
    }
}

/// The goodput of 100 s over a geostationary link of 10 Mbit/s behind such a queue, as a part of the link's rate, and
/// the longest timeout.
fn over_geostationary(queue_bytes: u64) -> (f64, Duration) {
    const SECONDS: u64 = 100;
    let mut link = [direction("10 Mbit/s", "280 ms"), direction("10 Mbit/s", "280 ms")];
    for end in &mut link {
        end.queue = QueueConfig::DropTail(QueueLimit::Bytes(DataSize::from_bytes(queue_bytes)));
    }
    let window = 8 << 20;
    let config =
        TcpConfig { send_buffer_bytes: window, receive_buffer_bytes: window, ..TcpConfig::default() };
    let workload = Workload::Bulk { message: DataSize::from_bytes(14_600), total: None };
    let outcome = run(
        &[link],
        Protocol::Tcp(Box::new(config)),
        SenderConfig { content: Content::Pattern, record_messages: false, ..sender(workload) },
        Seed::new(1, 0),
        Duration::from_secs(SECONDS),
    );
    let goodput = outcome.received.bytes_delivered as f64 * 8.0 / (SECONDS as f64 * 10e6);
    (goodput, outcome.sent.samples.iter().map(|sample| sample.rto).max().unwrap())
}

#[test]
fn a_geostationary_link_is_filled_although_slow_start_overflows_its_queue() {
    // One bandwidth-delay product is 700 kB. Headers take 2.7 % of the link, and 4.2 s of slow start carry less than
    // half of what it could. Linux's reno and cubic get 93.3 % and 92.7 % with the same windows.
    for queue_bytes in [600_000, 620_000, 650_000, 680_000, 700_000] {
        let (goodput, rto_max) = over_geostationary(queue_bytes);
        eprintln!("queue of {queue_bytes} bytes: {goodput:.4} of the link, RTO at most {rto_max}");
        assert!((0.92..0.94).contains(&goodput), "{queue_bytes}: {goodput}");
        // The full queue doubles the round trip, which makes 1.7 s; a timeout would double that.
        assert!(rto_max < Duration::from_secs(2), "{queue_bytes}: {rto_max}");
    }
}
