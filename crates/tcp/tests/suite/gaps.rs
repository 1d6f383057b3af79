//! Data behind a gap has a short way, which does what the way of all segments does.

use bytes::Bytes;
use slantpath_base::{Seed, Stream};
use slantpath_tcp::{
    Event, Flags, Options, SackBlock, Segment, SequenceNumber, TcpConfig, TcpReports, Timestamps,
};

use crate::pair::{PORT, Pair, chance, pattern};

const BUFFER_BYTES: u64 = 12_000;

/// Mostly of the time of the template or later.
fn stamps(stream: &mut Stream, template: Segment) -> Option<Timestamps> {
    let Timestamps { value, echo } = template.options.timestamps?;
    match stream.below(8) {
        0 => None,
        1 => Some(Timestamps { value: value.wrapping_sub(1 + stream.below(50) as u32), echo }),
        _ => Some(Timestamps { value: value.wrapping_add(stream.below(50) as u32), echo }),
    }
}

/// A segment of the peer's whose stream begins at `first`: mostly data in the window or across its ends.
fn segment(
    stream: &mut Stream,
    template: Segment,
    first: SequenceNumber,
    nxt: u64,
    data: &Bytes,
) -> (Segment, Bytes) {
    let len = [0, 1, 100, 500, 500, 500, 1_000, 3_000][stream.below(8) as usize];
    let ahead = match stream.below(8) {
        0 => 0,
        1 => stream.below(2_000).cast_signed() - 1_000,
        2 => (BUFFER_BYTES - stream.below(3_000)).cast_signed(),
        _ => 500 * stream.below(BUFFER_BYTES / 500).cast_signed(),
    };
    let start = (nxt.cast_signed() + ahead).max(0).cast_unsigned();
    let mut flags = Flags::ACK;
    if stream.below(4) == 0 {
        flags = flags | Flags::PSH;
    }
    if stream.below(40) == 0 {
        flags = flags | Flags::FIN;
    }
    let sent = Segment {
        sequence: first.plus(start as u32),
        acknowledgment: template.acknowledgment.plus(stream.below(4) as u32 * 400),
        flags,
        window: 20_000 + stream.below(3) as u16,
        options: Options { timestamps: stamps(stream, template), ..Options::default() },
        ..template
    };
    (sent, data.slice(start as usize..start as usize + len))
}

/// Course of a connection whose peer sends by `seed`: everything that it sends, delivers and tells.
fn course(seed: u64, reports: TcpReports, data: &Bytes) -> String {
    let config = TcpConfig {
        sack: !seed.is_multiple_of(5),
        duplicate_reports: seed.is_multiple_of(2),
        timestamps: seed.is_multiple_of(3),
        receive_buffer_bytes: BUFFER_BYTES,
        reports,
        ..TcpConfig::default()
    };
    let peer = TcpConfig { timestamps: config.timestamps, ..TcpConfig::default() };
    let mut pair = Pair::connected(config, peer);
    let template = pair.right.sent.last().unwrap().segment;
    let first = template.sequence.plus(1);
    pair.write_left(pattern(2_000));
    let mut stream = Seed::new(seed, 0).stream("peer");
    for _ in 0..60 {
        if pair.left.endpoint.snapshot(pair.left.id()).is_none() {
            break;
        }
        let nxt = pair.left.snapshot().received_bytes;
        if nxt > 40_000 {
            break;
        }
        let (sent, data) = segment(&mut stream, template, first, nxt, data);
        pair.inject_left(&sent, data);
    }
    let events = pair.left.events.iter().filter(|event| !matches!(event, Event::Arrived { .. }));
    let events: Vec<_> = events.collect();
    format!("{:?}\n{events:?}\n{:?}", pair.left.sent, pair.left.received)
}

#[test]
fn whether_arrivals_are_reported_changes_nothing_else() {
    let arrived = TcpReports { arrived: true, ..TcpReports::default() };
    let data = pattern(60_000);
    for seed in 0..400 {
        let (short, long) = (course(seed, TcpReports::default(), &data), course(seed, arrived, &data));
        assert!(short == long, "seed {seed}:\n{short}\n\n{long}");
    }
}

#[test]
fn an_acknowledgement_without_data_from_beyond_a_gap_is_not_answered() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let mut segment = pair.right.sent.last().unwrap().segment;
    (segment.flags, segment.options) = (Flags::ACK, Options::default());
    segment.sequence = segment.sequence.plus(1_001);
    let before = pair.left.sent.len();
    pair.inject_left(&segment, Bytes::new());
    assert_eq!(pair.left.sent.len(), before);
}

#[test]
fn data_behind_a_gap_is_told_to_have_arrived_when_it_first_comes() {
    let config =
        TcpConfig { reports: TcpReports { arrived: true, ..TcpReports::default() }, ..TcpConfig::default() };
    let mut pair = Pair::connected(config, TcpConfig::default());
    let mut segment = pair.right.sent.last().unwrap().segment;
    (segment.flags, segment.options) = (Flags::ACK, Options::default());
    segment.sequence = segment.sequence.plus(1_001);
    pair.inject_left(&segment, pattern(500));
    let arrived = Event::Arrived { start_bytes: 1_000, end_bytes: 1_500 };
    assert_eq!(pair.left.events.last(), Some(&arrived));
}

/// The last segment of the handshake is lost, and so is the first one with data.
#[test]
fn data_behind_a_gap_opens_a_connection_if_it_acknowledges_the_syn() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let mut syn = pair.right.sent.last().unwrap().segment;
    let other = PORT + 1;
    pair.left.endpoint.listen(other, TcpConfig::default(), chance()).unwrap();
    (syn.destination_port, syn.flags, syn.sequence) = (other, Flags::SYN, SequenceNumber(7_000));
    syn.options = Options { sack_permitted: true, ..Options::default() };
    pair.inject_left(&syn, Bytes::new());
    let answer = pair.left.sent.last().unwrap().segment;
    assert_eq!(answer.flags, Flags::SYN | Flags::ACK);
    let mut data = syn;
    (data.flags, data.options) = (Flags::ACK, Options::default());
    (data.sequence, data.acknowledgment) = (SequenceNumber(7_501), answer.sequence.plus(1));
    pair.inject_left(&data, pattern(500));
    assert_eq!(pair.left.events, [Event::Connected, Event::Connected]);
    let block = SackBlock { left: SequenceNumber(7_501), right: SequenceNumber(8_001) };
    let answer = pair.left.sent.last().unwrap().segment;
    assert_eq!((answer.acknowledgment, &answer.options.sack[..]), (SequenceNumber(7_001), &[block][..]));
}
