//! Scripts of SACKs and expiries: what happens, then cwnd, ssthresh, partial_bytes_acked, the flight size, T3-rtx
//! and what is sent (RFC 9260, sections 6.2.1, 6.3 and 7.2).
//!
//! Chunks are counted from 1. Each has 1,452 bytes of payload and takes 1,468 in its packet, which is PMDCS: what the
//! tables call P.

use super::*;
use crate::config::FastRetransmitPath;
use slantpath_cc::sctp::{SctpPolicy, WindowPolicy};

/// PMDCS.
const P: u64 = 1_468;

/// Before any loss: "the size of the largest-possible advertised window".
const HIGH: u64 = u32::MAX as u64;

/// Something that happens to end 0.
#[derive(Clone, Debug)]
enum Act {
    /// So many messages are handed over.
    Send(u64),
    /// Time passes until then, in milliseconds.
    Until(u64),
    /// A SACK arrives on path 0: how many chunks it acknowledges, its window, its blocks.
    Sack(u32, u32, &'static [(u16, u16)]),
}
use Act::{Sack as Ack, Send as Give, Until};

/// State of one path afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    cwnd: u64,
    ssthresh: u64,
    partial: u64,
    flight: u64,
    /// Time at which T3-rtx expires, in milliseconds.
    t3: Option<u64>,
}

/// A line of a table: what happens, cwnd, ssthresh, partial_bytes_acked, flight size, T3-rtx of path 0, and the chunks
/// sent, with their path.
type Row = (Act, u64, u64, u64, u64, Option<u64>, &'static [(usize, u32)]);

const WIDE: u32 = 1_000_000;

fn number(tsn: u32) -> u32 {
    Tsn(tsn).distance_from(Tsn(u32::MAX - 4))
}

fn seen(wire: &Wire, path: usize) -> Seen {
    let snapshot = wire.path(0, path);
    let t3 = wire.ends[0].paths[PathId(path as u16)].t3_rtx();
    Seen {
        cwnd: snapshot.cwnd,
        ssthresh: snapshot.ssthresh,
        partial: snapshot.partial_bytes_acked,
        flight: snapshot.flight_size,
        t3: t3.map(|at| at.as_nanos() / 1_000_000),
    }
}

/// An end whose packets all vanish, with a window of `cwnd` bytes at the start and bursts without limit.
fn end(paths: usize, cwnd: u64, config: &SctpConfig) -> Wire {
    let config = SctpConfig {
        initial_cwnd_bytes: Some(cwnd),
        max_burst: u32::MAX,
        receive_buffer_bytes: WIDE,
        ..config.clone()
    };
    let mut wire = Wire::new(paths, config);
    wire.decide(|_| is_lost());
    wire
}

/// Plays a table.
fn play(wire: &mut Wire, rows: &[Row]) {
    let mut context = 0;
    for (line, (act, cwnd, ssthresh, partial, flight, t3, sent)) in rows.iter().enumerate() {
        let before = wire.log.len();
        match act {
            Give(count) => {
                wire.send(0, context..context + count, 1_452);
                context += count;
            }
            Until(at) => wire.run_until(Instant::from_millis(*at)),
            Ack(acked, a_rwnd, blocks) => {
                let Chunk::Sack(told) = sack(*acked, blocks) else { unreachable!() };
                wire.inject(0, 0, &[Chunk::Sack(Sack { a_rwnd: *a_rwnd, ..told })]);
            }
        }
        let expected = Seen { cwnd: *cwnd, ssthresh: *ssthresh, partial: *partial, flight: *flight, t3: *t3 };
        let chunks: Vec<_> = wire.log[before..]
            .iter()
            .flat_map(|packet| packet.tsns().into_iter().map(|tsn| (packet.path, number(tsn))))
            .collect();
        assert_eq!((seen(wire, 0), &chunks[..]), (expected, *sent), "line {line}: {act:?}");
    }
}

#[test]
fn slow_start_ends_at_an_initial_ssthresh_without_a_loss() {
    let config = SctpConfig { initial_ssthresh_bytes: Some(4 * P), ..quiet() };
    let mut wire = end(1, 4 * P, &config);
    play(
        &mut wire,
        &[
            (Give(12), 4 * P, 4 * P, 0, 4 * P, Some(1_000), &[(0, 1), (0, 2), (0, 3), (0, 4)]),
            (Until(100), 4 * P, 4 * P, 0, 4 * P, Some(1_000), &[]),
            // At ssthresh it is slow start; beyond, a whole window has to be acknowledged.
            (Ack(2, WIDE, &[]), 5 * P, 4 * P, 0, 5 * P, Some(1_100), &[(0, 5), (0, 6), (0, 7)]),
            (Ack(4, WIDE, &[]), 5 * P, 4 * P, 2 * P, 5 * P, Some(1_100), &[(0, 8), (0, 9)]),
        ],
    );
    // The other controllers that have one begin with it, too; what a window may grow to does not change.
    for congestion_control in [slantpath_cc::Algorithm::Cubic, slantpath_cc::Algorithm::Hybla] {
        let wire = Wire::new(1, SctpConfig { congestion_control, ..config.clone() });
        assert_eq!(wire.path(0, 0).ssthresh, 4 * P, "{congestion_control:?}");
    }
}

#[test]
fn slow_start() {
    let mut wire = end(1, 4 * P, &quiet());
    play(
        &mut wire,
        &[
            (Give(12), 4 * P, HIGH, 0, 4 * P, Some(1_000), &[(0, 1), (0, 2), (0, 3), (0, 4)]),
            (Until(100), 4 * P, HIGH, 0, 4 * P, Some(1_000), &[]),
            // Two are acknowledged, one PMDCS counts; the RTT of 100 ms leaves RTO at RTO.Min.
            (Ack(2, WIDE, &[]), 5 * P, HIGH, 0, 5 * P, Some(1_100), &[(0, 5), (0, 6), (0, 7)]),
            // The earliest is not acknowledged: T3-rtx goes on.
            (Until(200), 5 * P, HIGH, 0, 5 * P, Some(1_100), &[]),
            (Ack(2, WIDE, &[(2, 2)]), 6 * P, HIGH, 0, 6 * P, Some(1_100), &[(0, 8), (0, 9)]),
            // An old one changes nothing, whatever window it has.
            (Ack(1, 0, &[]), 6 * P, HIGH, 0, 6 * P, Some(1_100), &[]),
            (Ack(4, WIDE, &[]), 7 * P, HIGH, 0, 7 * P, Some(1_200), &[(0, 10), (0, 11)]),
            // The window of the peer has room for nothing beyond what is in flight.
            (Ack(5, 6 * 1_452, &[]), 8 * P, HIGH, 0, 6 * P, Some(1_200), &[]),
            // Not full: no growth.
            (Ack(7, WIDE, &[]), 8 * P, HIGH, 0, 5 * P, Some(1_200), &[(0, 12)]),
            // Another old one would shut the window of the peer.
            (Ack(6, 0, &[]), 8 * P, HIGH, 0, 5 * P, Some(1_200), &[]),
            (Give(1), 8 * P, HIGH, 0, 6 * P, Some(1_200), &[(0, 13)]),
            (Ack(13, WIDE, &[]), 8 * P, HIGH, 0, 0, None, &[]),
        ],
    );
}

#[test]
fn fast_retransmission_and_congestion_avoidance() {
    let mut wire = end(1, 10 * P, &quiet());
    let ten: &[(usize, u32)] =
        &[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7), (0, 8), (0, 9), (0, 10)];
    play(
        &mut wire,
        &[
            (Give(40), 10 * P, HIGH, 0, 10 * P, Some(1_000), ten),
            (Until(100), 10 * P, HIGH, 0, 10 * P, Some(1_000), &[]),
            // Chunks 1 and 2 are lost. The first two reports open the window as any acknowledgement does.
            (Ack(0, WIDE, &[(3, 3)]), 11 * P, HIGH, 0, 11 * P, Some(1_000), &[(0, 11), (0, 12)]),
            (Ack(0, WIDE, &[(3, 4)]), 12 * P, HIGH, 0, 12 * P, Some(1_000), &[(0, 13), (0, 14)]),
            // The third: what is acknowledged grows it first, then it is halved, once for both. One packet leaves
            // though the window is full, and restarts T3-rtx, as the earliest is retransmitted.
            (Ack(0, WIDE, &[(3, 5)]), 6 * P + P / 2, 6 * P + P / 2, 0, 10 * P, Some(1_100), &[(0, 1)]),
            // In Fast Recovery it does not grow, and a further loss, of chunk 6, does not halve it again.
            (Ack(0, WIDE, &[(3, 5), (7, 7)]), 6 * P + P / 2, 6 * P + P / 2, 0, 9 * P, Some(1_100), &[]),
            (Ack(0, WIDE, &[(3, 5), (7, 8)]), 6 * P + P / 2, 6 * P + P / 2, 0, 8 * P, Some(1_100), &[]),
            (Ack(0, WIDE, &[(3, 5), (7, 9)]), 6 * P + P / 2, 6 * P + P / 2, 0, 7 * P, Some(1_100), &[(0, 2)]),
            (Until(150), 6 * P + P / 2, 6 * P + P / 2, 0, 7 * P, Some(1_100), &[]),
            // Chunk 10 lets one out, chunk 6. The cumulative ack moves T3-rtx and counts all that is missing.
            (
                Ack(0, WIDE, &[(3, 5), (7, 10)]),
                6 * P + P / 2,
                6 * P + P / 2,
                0,
                7 * P,
                Some(1_100),
                &[(0, 6)],
            ),
            (
                Ack(5, WIDE, &[(2, 5)]),
                6 * P + P / 2,
                6 * P + P / 2,
                0,
                7 * P,
                Some(1_150),
                &[(0, 15), (0, 16)],
            ),
            (Ack(10, WIDE, &[]), 6 * P + P / 2, 6 * P + P / 2, 0, 7 * P, Some(1_150), &[(0, 17)]),
            // The exit point is chunk 14, what was highest when the loss was found: with it Fast Recovery ends.
            (
                Ack(13, WIDE, &[]),
                6 * P + P / 2,
                6 * P + P / 2,
                0,
                7 * P,
                Some(1_150),
                &[(0, 18), (0, 19), (0, 20)],
            ),
            (Ack(14, WIDE, &[]), 6 * P + P / 2, 6 * P + P / 2, 0, 7 * P, Some(1_150), &[(0, 21)]),
            // At ssthresh it is slow start still; beyond, congestion avoidance counts.
            (Ack(15, WIDE, &[]), 7 * P + P / 2, 6 * P + P / 2, 0, 8 * P, Some(1_150), &[(0, 22), (0, 23)]),
            (
                Ack(19, WIDE, &[]),
                7 * P + P / 2,
                6 * P + P / 2,
                4 * P,
                8 * P,
                Some(1_150),
                &[(0, 24), (0, 25), (0, 26), (0, 27)],
            ),
            (
                Ack(23, WIDE, &[]),
                8 * P + P / 2,
                6 * P + P / 2,
                P / 2,
                9 * P,
                Some(1_150),
                &[(0, 28), (0, 29), (0, 30), (0, 31), (0, 32)],
            ),
            // A whole window of 8 1/2 P has been acknowledged: one PMDCS more. The peer's window holds up what follows.
            (Ack(31, 1_452, &[]), 9 * P + P / 2, 6 * P + P / 2, 0, P, Some(1_150), &[]),
            // With nothing outstanding partial_bytes_acked is 0.
            (Ack(32, 1_451, &[]), 9 * P + P / 2, 6 * P + P / 2, 0, 0, None, &[]),
        ],
    );
}

#[test]
fn timeout() {
    let mut wire = end(1, 10 * P, &quiet());
    let ten: &[(usize, u32)] =
        &[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7), (0, 8), (0, 9), (0, 10)];
    play(
        &mut wire,
        &[
            (Give(30), 10 * P, HIGH, 0, 10 * P, Some(1_000), ten),
            (Until(999), 10 * P, HIGH, 0, 10 * P, Some(1_000), &[]),
            (Until(1_000), P, 5 * P, 0, P, Some(3_000), &[(0, 1)]),
            (Until(2_999), P, 5 * P, 0, P, Some(3_000), &[]),
            (Until(3_000), P, 4 * P, 0, P, Some(7_000), &[(0, 1)]),
            // The acknowledgement of a retransmission is no measurement (Karn): RTO stays at 4 s.
            (Ack(1, WIDE, &[]), 2 * P, 4 * P, 0, 2 * P, Some(7_000), &[(0, 2), (0, 3)]),
            (Until(3_100), 2 * P, 4 * P, 0, 2 * P, Some(7_000), &[]),
            (Ack(2, WIDE, &[]), 3 * P, 4 * P, 0, 3 * P, Some(7_100), &[(0, 4), (0, 5)]),
            // Chunks 4 and 5 have been sent already when the last but one expires: they are not retransmitted for it.
            (Ack(10, WIDE, &[]), 4 * P, 4 * P, 0, 4 * P, Some(7_100), &[(0, 11), (0, 12), (0, 13), (0, 14)]),
            // A new chunk is timed, which collapses the RTO.
            (Until(3_200), 4 * P, 4 * P, 0, 4 * P, Some(7_100), &[]),
            (Ack(11, WIDE, &[]), 5 * P, 4 * P, 0, 5 * P, Some(4_200), &[(0, 15), (0, 16)]),
        ],
    );
}

#[test]
fn timeout_ends_fast_recovery() {
    let mut wire = end(1, 10 * P, &quiet());
    wire.send(0, 0..10, 1_452);
    for stop in [3, 4, 5] {
        wire.inject(0, 0, &[sack(0, &[(3, stop)])]);
    }
    assert!(wire.ends[0].snapshot().is_in_fast_recovery);
    wire.run_until(Instant::from_secs(1));
    assert!(!wire.ends[0].snapshot().is_in_fast_recovery);
    assert_eq!(
        seen(&wire, 0),
        Seen { cwnd: P, ssthresh: 5 * P + P / 2, partial: 0, flight: P, t3: Some(3_000) }
    );
    // So slow start opens the window at once.
    wire.inject(0, 0, &[sack(1, &[(2, 4)])]);
    assert_eq!(seen(&wire, 0).cwnd, 2 * P);
}

#[test]
fn only_the_path_of_the_loss_is_halved_and_what_is_lost_leaves_its_flight() {
    let config = SctpConfig { fast_retransmit_path: FastRetransmitPath::Alternate, ..quiet() };
    let mut wire = end(2, 10 * P, &config);
    wire.send(0, 0..4, 1_452);
    assert!(wire.ends[0].set_primary(wire.now, address(1, 1)));
    wire.send(0, 4..8, 1_452);
    let untouched = Seen { cwnd: 10 * P, ssthresh: HIGH, partial: 0, flight: 4 * P, t3: Some(1_000) };
    assert_eq!([0, 1].map(|path| seen(&wire, path)), [untouched; 2]);
    wire.run_until(Instant::from_millis(10));
    for stop in [2, 3, 4] {
        wire.inject(0, 0, &[sack(0, &[(2, stop)])]);
    }
    let (lossy, other) = (seen(&wire, 0), seen(&wire, 1));
    assert_eq!(lossy, Seen { cwnd: 5 * P, ssthresh: 5 * P, partial: 0, flight: 0, t3: None });
    // Chunk 1 is the earliest of the other path now, but not one that was there before.
    assert_eq!(other, Seen { flight: 5 * P, ..untouched }.with_t3(1_010));
    let last = wire.log.last().unwrap();
    assert_eq!((last.path, last.tsns()), (1, vec![u32::MAX - 3]));
}

impl Seen {
    fn with_t3(self, at: u64) -> Self {
        Self { t3: Some(at), ..self }
    }
}

#[test]
fn a_new_chunk_rides_with_a_retransmission_only_where_both_windows_have_room() {
    // Chunk 1, of 100 bytes, is retransmitted with the third report, and its packet has room for the two that wait, if
    // the peer has.
    for (peer_rwnd, sent) in [(300, 3), (299, 2), (199, 1)] {
        let mut wire = end(1, 10 * P, &quiet());
        wire.send(0, 0..4, 100);
        for (a_rwnd, stop) in [(0, 2), (0, 3), (peer_rwnd, 4)] {
            let Chunk::Sack(told) = sack(0, &[(2, stop)]) else { unreachable!() };
            wire.inject(0, 0, &[Chunk::Sack(Sack { a_rwnd, ..told })]);
            if stop == 2 {
                wire.send(0, 4..6, 100);
            }
        }
        let [_, again] = &wire.log[..] else { panic!("{:?}", wire.log) };
        assert_eq!(again.tsns().len(), sent, "{peer_rwnd} bytes");
    }
    // And not where cwnd is full.
    let mut wire = end(1, 10 * P, &quiet());
    wire.send(0, 0..1, 100);
    wire.send(0, 1..12, 1_452);
    wire.send(0, 12..13, 100);
    let before = wire.log.len();
    for stop in [2, 3, 4] {
        wire.inject(0, 0, &[sack(0, &[(2, stop)])]);
    }
    let again: Vec<_> = wire.log[before..].iter().map(|packet| packet.tsns().len()).collect();
    assert_eq!(wire.log.iter().filter(|packet| packet.tsns().contains(&(u32::MAX - 3))).count(), 2);
    assert!(again.iter().all(|chunks| *chunks == 1), "{again:?}");
}

#[test]
fn a_fixed_window_never_moves() {
    let window = WindowPolicy::Fixed { cwnd: 3 * P };
    let config = SctpConfig { congestion: SctpPolicy { window, ..SctpPolicy::default() }, ..quiet() };
    let mut wire = end(1, 10 * P, &config);
    play(
        &mut wire,
        &[
            (Give(9), 3 * P, HIGH, 0, 3 * P, Some(1_000), &[(0, 1), (0, 2), (0, 3)]),
            (Ack(1, WIDE, &[]), 3 * P, HIGH, 0, 3 * P, Some(1_000), &[(0, 4)]),
            (Until(1_000), 3 * P, HIGH, 0, P, Some(3_000), &[(0, 2)]),
            (Ack(2, WIDE, &[]), 3 * P, HIGH, 0, 3 * P, Some(3_000), &[(0, 3), (0, 4), (0, 5)]),
        ],
    );
}
