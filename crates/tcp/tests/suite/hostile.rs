//! A peer that sends anything.

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Seed, Stream};
use slantpath_tcp::{Event, Flags, Options, SackBlock, SequenceNumber, TcpConfig, Timestamps};

use crate::pair::{Pair, pattern};

/// A number near `of`, or anywhere.
fn near(stream: &mut Stream, of: SequenceNumber) -> SequenceNumber {
    match stream.below(8) {
        0 => SequenceNumber(stream.next_u32()),
        1 | 2 => of,
        3 => of.plus(stream.below(1_000_000) as u32),
        4 => of.minus(stream.below(100_000) as u32),
        _ => of.plus(stream.below(5_000) as u32),
    }
}

fn options(stream: &mut Stream, una: SequenceNumber) -> Options {
    let mut options = Options::default();
    if stream.below(3) == 0 {
        options.timestamps = Some(Timestamps { value: stream.next_u32(), echo: stream.next_u32() });
    }
    for _ in 0..stream.below(4) {
        let (left, right) = (near(stream, una), near(stream, una));
        options.sack.push(SackBlock { left, right });
    }
    options
}

#[test]
fn what_lies_beyond_the_window_is_not_taken_though_it_comes_next() {
    let left = TcpConfig { receive_buffer_bytes: 10_000, ..TcpConfig::default() };
    let mut pair = Pair::connected(left, TcpConfig::default());
    let id = pair.left.id();
    pair.left.endpoint.hold(pair.now, id).unwrap();
    // Behind the SYN.
    let mut segment = pair.right.sent.last().unwrap().segment;
    segment.flags = Flags::ACK;
    segment.sequence = segment.sequence.plus(1);
    segment.options = Options::default();
    pair.inject_left(&segment, Bytes::from(vec![0; 10_001]));
    pair.drain();
    assert_eq!(pair.left.snapshot().received_bytes, 10_000);
}

#[test]
fn any_segments_leave_a_connection_that_works_or_ends() {
    for seed in 0..100 {
        let mut stream = Seed::new(seed, 0).stream("hostile");
        let config = TcpConfig {
            sack: seed % 2 == 0,
            timestamps: seed % 3 == 0,
            data_retransmission_limit: 6,
            receive_buffer_bytes: 20_000,
            ..TcpConfig::default()
        };
        let mut pair = Pair::connected(config, config);
        pair.write_left(pattern(200_000));
        for _ in 0..200 {
            let genuine = *pair.right.sent.last().unwrap();
            let mut segment = genuine.segment;
            segment.sequence = near(&mut stream, segment.sequence);
            segment.acknowledgment = near(&mut stream, segment.acknowledgment);
            let flags = [
                Flags::ACK,
                Flags::ACK,
                Flags::ACK | Flags::FIN,
                Flags::SYN,
                Flags::ACK | Flags::SYN,
                Flags(0),
            ];
            segment.flags = flags[stream.below(6) as usize];
            if stream.below(60) == 0 {
                segment.flags = Flags::RST;
            }
            segment.window = stream.next_u32() as u16;
            segment.options = options(&mut stream, segment.acknowledgment);
            let len = [0, 0, 1, 100, 1_460, 30_000][stream.below(6) as usize];
            pair.inject_left(&segment, Bytes::from(vec![0; len]));
            for _ in 0..stream.below(4) {
                pair.step();
            }
        }
        let id = pair.left.id();
        // It may have ended by now.
        let _ = pair.left.endpoint.close(pair.now, id);
        let _ = pair.right.endpoint.close(pair.now, pair.right.id());
        pair.drain();
        pair.run_to_end(Duration::from_secs(100_000));
        let has_ended =
            |events: &[Event]| events.iter().any(|event| matches!(event, Event::Closed | Event::Reset(_)));
        assert!(has_ended(&pair.left.events), "seed {seed}: {:?}", pair.left.snapshot());
        assert!(pair.now < Instant::from_secs(50_000), "seed {seed}");
    }
}
