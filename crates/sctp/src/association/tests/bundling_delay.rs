//! New DATA that waits for more to fill a packet with.

use super::*;
use crate::StreamScheduling;

const WAIT: Duration = Duration::from_millis(5);
const MILLI: Duration = Duration::from_millis(1);

/// An end whose packets vanish, with a window that is never full.
fn end(config: &SctpConfig) -> Wire {
    let config = SctpConfig {
        bundling_delay: WAIT,
        initial_cwnd_bytes: Some(1 << 20),
        max_burst: u32::MAX,
        ..config.clone()
    };
    let mut wire = Wire::new(1, config);
    wire.decide(|_| is_lost());
    wire
}

/// Times at which packets with DATA left, from `start` on, and the number of chunks in each.
fn packets(wire: &Wire, start: Instant) -> Vec<(Duration, usize)> {
    let packets = wire.log.iter().filter(|sent| sent.has_data());
    packets.map(|sent| (sent.at - start, sent.tsns().len())).collect()
}

#[test]
fn what_fills_no_packet_waits_from_the_first_message_on_and_goes_with_what_has_come() {
    let mut wire = end(&quiet());
    let start = wire.now;
    for (at, context) in [(0, 0), (2, 1), (4, 2), (9, 3)] {
        wire.run_until(start + MILLI * at);
        wire.send(0, context..context + 1, 100);
    }
    wire.run_until(start + MILLI * 100);
    assert_eq!(packets(&wire, start), [(WAIT, 3), (MILLI * 14, 1)]);
}

#[test]
fn a_full_packet_goes_at_once_and_what_is_left_waits_anew() {
    let mut wire = end(&quiet());
    let start = wire.now;
    wire.send(0, 0..1, 100);
    wire.run_until(start + MILLI * 3);
    // 116 bytes each with their headers: twelve fit into the 1,468 of a packet.
    wire.send(0, 1..14, 100);
    wire.run_until(start + MILLI * 100);
    assert_eq!(packets(&wire, start), [(MILLI * 3, 12), (MILLI * 8, 2)]);
}

#[test]
fn a_packet_with_no_room_for_the_shortest_chunk_is_full() {
    for (len, at) in [(1_432, MILLI * 5), (1_436, Duration::ZERO)] {
        let mut wire = end(&quiet());
        let start = wire.now;
        wire.send(0, 0..1, len);
        wire.run_until(start + MILLI * 100);
        assert_eq!(packets(&wire, start), [(at, 1)], "{len}");
    }
}

#[test]
fn a_window_that_opens_late_finds_what_has_waited_long_enough() {
    let mut wire = end(&quiet());
    wire.send(0, 0..1, 100);
    wire.run_until(wire.now + MILLI * 5);
    let Chunk::Sack(told) = sack(1, &[]) else { unreachable!() };
    wire.inject(0, 0, &[Chunk::Sack(Sack { a_rwnd: 0, ..told })]);
    let start = wire.now;
    wire.send(0, 1..2, 100);
    // The peer's window is closed: the end of the wait passes, and asks for nothing more.
    wire.run_until(start + MILLI * 50);
    let Chunk::Sack(told) = sack(1, &[]) else { unreachable!() };
    wire.inject(0, 0, &[Chunk::Sack(Sack { a_rwnd: 100_000, ..told })]);
    wire.run_until(start + MILLI * 100);
    let sent = packets(&wire, start);
    assert_eq!(sent.last().map(|(at, _)| *at <= MILLI * 55), Some(true), "{sent:?}");
}

#[test]
fn round_robin_counts_what_waits_on_all_streams() {
    let mut wire = end(&SctpConfig { stream_scheduling: StreamScheduling::RoundRobin, ..quiet() });
    let start = wire.now;
    for (stream, context) in [(0, 0), (1, 1)] {
        wire.ends[0].send(wire.now, message(stream, context, 720)).unwrap();
    }
    wire.drain();
    // 736 and 736 bytes are more than a packet holds.
    assert_eq!(packets(&wire, start), [(Duration::ZERO, 1)]);
}

#[test]
fn the_last_message_of_an_association_waits_for_nothing() {
    let mut wire = end(&quiet());
    let start = wire.now;
    wire.send(0, 0..1, 100);
    wire.ends[0].shutdown(wire.now);
    wire.drain();
    assert_eq!(packets(&wire, start), [(Duration::ZERO, 1)]);
}
