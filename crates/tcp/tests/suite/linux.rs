//! Transfers over satellite links held to those of Linux, whose kernel `peers/linux-tcp/measure.py` measures on the
//! same links: goodput, what the queue drops and how long packets wait in it.

use bytes::Bytes;
use slantpath_base::{DataRate, DataSize, Duration, Probability, Seed};
use slantpath_cc::{Algorithm, RtoConfig, SlowStart};
use slantpath_tcp::{ConnectionState, LossDetection, RttSampling, SackRecovery, TcpConfig};
use slantpath_testkit::{Bottleneck, WireFaults};

use crate::pair::Pair;

static CHUNK: [u8; 1 << 16] = [0; 1 << 16];

/// One row a transfer: path, congestion control, loss, seed, and what came of it.
const KERNEL: &str = include_str!("../../../../peers/linux-tcp/kernel.csv");

/// A link between two hosts.
#[derive(Clone, Copy, Debug)]
struct Path {
    bits_per_sec: u64,
    one_way_ms: u64,
    queue_bytes: u64,
    seconds: u64,
}

const GEO: Path = Path { bits_per_sec: 10_000_000, one_way_ms: 280, queue_bytes: 700_000, seconds: 100 };

impl Path {
    fn of(name: &str) -> Self {
        match name {
            "geo" => GEO,
            "geo-short-queue" => Self { queue_bytes: 175_000, ..GEO },
            "leo" => Self { bits_per_sec: 50_000_000, one_way_ms: 25, queue_bytes: 312_500, seconds: 40 },
            _ => panic!("no path {name}"),
        }
    }
}

/// Results of one transfer, or of several on the mean.
#[derive(Clone, Copy, Debug, Default)]
struct Transfer {
    /// In percent of the link's rate.
    goodput: f64,
    retransmissions: f64,
    dropped: f64,
    /// In the queue, in ms.
    wait: f64,
    timeouts: f64,
}

impl Transfer {
    /// The mean of several, and the standard deviation of their goodput.
    fn mean(of: &[Self]) -> (Self, f64) {
        let mean = |part: fn(&Self) -> f64| of.iter().map(part).sum::<f64>() / of.len() as f64;
        let goodput = mean(|one| one.goodput);
        let variance = of.iter().map(|one| (one.goodput - goodput).powi(2)).sum::<f64>() / of.len() as f64;
        let mean = Self {
            goodput,
            retransmissions: mean(|one| one.retransmissions),
            dropped: mean(|one| one.dropped),
            wait: mean(|one| one.wait),
            timeouts: mean(|one| one.timeouts),
        };
        (mean, variance.sqrt())
    }

    /// Results of the kernel on these paths.
    fn of_linux(path: &str, control: &str, loss: f64) -> Vec<Self> {
        let of: Vec<_> = KERNEL
            .lines()
            .skip(1)
            .map(|line| line.split(',').collect::<Vec<_>>())
            .filter(|row| row[0] == path && row[1] == control && row[2].parse() == Ok(loss))
            .map(|row| {
                let number = |column: usize| row[column].parse().expect("a number");
                Self {
                    goodput: number(4),
                    retransmissions: number(5),
                    dropped: number(6),
                    wait: number(8),
                    timeouts: f64::NAN,
                }
            })
            .collect();
        assert!(!of.is_empty(), "nothing was measured over {path} with {control} and a loss of {loss}");
        of
    }

    /// One bulk transfer over a path with this loss in either direction.
    fn ours(seed: u64, path: Path, loss: f64, config: TcpConfig) -> Self {
        let faults = WireFaults::none(Duration::from_millis(path.one_way_ms));
        let mut pair = Pair::calling(seed, faults, config, config);
        let packets = path.bits_per_sec * path.seconds / 8 / 1_000;
        for (direction, wire) in [("forward", &mut pair.rightwards), ("reverse", &mut pair.leftwards)] {
            lost(seed, direction, loss, packets).for_each(|number| wire.lose(number));
        }
        // The wire knows no IP header: 20 bytes less in each 1,500.
        let rate = DataRate::from_bits_per_sec(path.bits_per_sec * 1_480 / 1_500);
        pair.rightwards.narrow(Bottleneck { rate, queue: DataSize::from_bytes(path.queue_bytes) });
        while pair.left.snapshot().state != ConnectionState::Established {
            pair.step();
        }
        let id = pair.left.id();
        let end = pair.now + Duration::from_secs(path.seconds);
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
        let received = pair.right.snapshot().received_bytes;
        Self {
            goodput: 800.0 * received as f64 / (path.seconds * path.bits_per_sec) as f64,
            retransmissions: snapshot.retransmissions as f64,
            dropped: pair.rightwards.dropped() as f64,
            wait: pair.rightwards.mean_wait().as_secs_f64() * 1_000.0,
            timeouts: snapshot.timeouts as f64,
        }
    }
}

/// Settings of Linux by default, as far as there is a choice of them.
fn like_linux(congestion_control: Algorithm) -> TcpConfig {
    TcpConfig {
        congestion_control,
        slow_start: match congestion_control {
            Algorithm::Cubic => SlowStart::HyStart,
            _ => SlowStart::Standard,
        },
        byte_counting_limit: 2,
        loss_detection: LossDetection::Rack,
        duplicate_reports: true,
        rtt_sampling: RttSampling::EveryAck,
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

/// Numbers of the packets that link `chance` of `peers/linux-tcp/lab.toml` loses in a direction, of so many.
fn lost(seed: u64, direction: &str, loss: f64, packets: u64) -> impl Iterator<Item = u64> {
    let mut stream = Seed::new(seed, 0).stream(&format!("links/chance/{direction}/loss"));
    let loss = Probability::new(loss).expect("a probability");
    (0..packets).filter(move |_| stream.happens(loss))
}

/// Tolerances of ours against Linux at one point: a part of its goodput, packets that its queue drops, and ms of
/// waiting in it. `docs/models/tcp.md` says what is behind the wider ones.
struct Point {
    control: &'static str,
    loss: f64,
    goodput: f64,
    dropped: f64,
    wait: f64,
}

const fn point(control: &'static str, loss: f64, goodput: f64, dropped: f64, wait: f64) -> Point {
    Point { control, loss, goodput, dropped, wait }
}

fn algorithm(control: &str) -> Algorithm {
    match control {
        "reno" => Algorithm::Standard,
        "cubic" => Algorithm::Cubic,
        "bbr" => Algorithm::Bbr,
        _ => panic!("no congestion control {control}"),
    }
}

/// Holds ours to the kernel: the same losses by chance for as many seeds.
#[expect(clippy::print_stderr, reason = "both sides are read with --nocapture")]
fn hold(path: &str, points: &[Point]) {
    for &Point { control, loss, goodput, dropped, wait } in points {
        let linux = Transfer::of_linux(path, control, loss);
        let config = like_linux(algorithm(control));
        // Without losses the spread alone differs from seed to seed.
        let seeds = linux.len().max(3) as u64;
        let ours: Vec<_> =
            (1..=seeds).map(|seed| Transfer::ours(seed, Path::of(path), loss, config)).collect();
        let (linux, linux_deviation) = Transfer::mean(&linux);
        let (ours, deviation) = Transfer::mean(&ours);
        let name = format!("{path} {control} {loss}");
        for (who, mean, deviation) in [("Linux", &linux, linux_deviation), ("ours", &ours, deviation)] {
            let Transfer { goodput, retransmissions, dropped, wait, .. } = mean;
            eprintln!(
                "{name:24} {who:5} goodput {goodput:4.1} % ({deviation:.1}), {retransmissions:.0} retransmissions, \
                 {dropped:.0} dropped, {wait:.1} ms in the queue"
            );
        }
        let is_near = |ours: f64, linux: f64, tolerance: f64| (ours - linux).abs() <= tolerance;
        let is_held = is_near(ours.goodput, linux.goodput, goodput * linux.goodput)
            && is_near(ours.dropped, linux.dropped, dropped)
            && is_near(ours.wait, linux.wait, wait);
        assert!(is_held, "{name}: {ours:?} {linux:?}");
    }
}

#[test]
fn over_a_geostationary_link_reno_and_cubic_do_what_those_of_linux_do() {
    hold(
        "geo",
        &[
            point("reno", 0.0, 0.01, 12.0, 10.0),
            point("reno", 0.001, 0.03, 5.0, 3.0),
            point("reno", 0.01, 0.05, 5.0, 0.5),
            point("cubic", 0.0, 0.01, 330.0, 25.0),
            point("cubic", 0.001, 0.02, 80.0, 13.0),
            point("cubic", 0.01, 0.06, 5.0, 0.5),
        ],
    );
}

#[test]
fn over_a_geostationary_link_bbr_does_what_that_of_linux_does() {
    hold(
        "geo",
        &[
            point("bbr", 0.0, 0.03, 15.0, 2.0),
            point("bbr", 0.001, 0.02, 90.0, 9.0),
            point("bbr", 0.01, 0.01, 800.0, 5.0),
        ],
    );
}

#[test]
fn with_a_queue_of_a_quarter_of_the_product_each_does_what_that_of_linux_does() {
    hold(
        "geo-short-queue",
        &[
            point("reno", 0.0, 0.01, 5.0, 1.0),
            point("cubic", 0.0, 0.01, 10.0, 2.5),
            point("bbr", 0.0, 0.03, 40.0, 1.5),
        ],
    );
}

#[test]
fn over_a_low_link_each_does_what_that_of_linux_does() {
    hold(
        "leo",
        &[
            point("reno", 0.0, 0.01, 10.0, 2.0),
            point("reno", 0.001, 0.04, 5.0, 0.5),
            point("reno", 0.01, 0.04, 5.0, 0.3),
            point("cubic", 0.0, 0.01, 20.0, 0.5),
            point("cubic", 0.001, 0.18, 5.0, 1.0),
            point("cubic", 0.01, 0.45, 5.0, 0.3),
            point("bbr", 0.0, 0.01, 230.0, 2.5),
            point("bbr", 0.001, 0.01, 40.0, 1.0),
            point("bbr", 0.01, 0.01, 100.0, 0.6),
        ],
    );
}

/// 1,460 of 1,500 bytes are data: 97.3 %; the first three seconds fill the path.
#[test]
fn backlog_fills_a_geostationary_link_whatever_is_lost_at_random_and_loses_nothing_to_its_queue() {
    for loss in [0.0, 0.001, 0.01] {
        for seed in 1..=3 {
            let run = Transfer::ours(seed, GEO, loss, like_linux(Algorithm::Backlog));
            let Transfer { goodput, timeouts, dropped, .. } = run;
            assert!(goodput > 92.5, "loss {loss}, seed {seed}: {goodput} %");
            assert_eq!((dropped, timeouts), (0.0, 0.0), "loss {loss}, seed {seed}");
        }
    }
}

/// Of what is retransmitted, nearly nothing had arrived: a repetition that is lost is found by what was sent after it.
#[test]
fn what_is_lost_twice_is_found_without_a_timeout() {
    let run = Transfer::ours(1, GEO, 0.05, like_linux(Algorithm::Backlog));
    assert_eq!(run.timeouts, 0.0);
    assert!(run.goodput > 80.0, "{} %", run.goodput);
}
