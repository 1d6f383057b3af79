//! Reports of data that comes twice (RFC 2883).

use bytes::Bytes;
use slantpath_base::Duration;
use slantpath_tcp::{SackBlock, TcpConfig};

use crate::pair::{Pair, Traced, pattern};

/// A connection on which the left side has got three segments of a thousand bytes, and these segments.
fn started(duplicate_reports: bool, timestamps: bool) -> (Pair, Vec<Traced>) {
    let config = TcpConfig { mss_bytes: 1_012, timestamps, duplicate_reports, ..TcpConfig::default() };
    let mut pair = Pair::connected(config, config);
    for _ in 0..3 {
        pair.write_right(pattern(1_000));
    }
    pair.run_for(Duration::from_secs(1));
    let data: Vec<Traced> = pair.right.sent.iter().filter(|traced| traced.len > 0).copied().collect();
    assert_eq!(data.len(), 3);
    (pair, data)
}

/// The blocks of what the left side answers to a segment that comes again.
fn answers(pair: &mut Pair, traced: &Traced) -> Vec<Vec<SackBlock>> {
    let before = pair.left.sent.len();
    pair.inject_left(&traced.segment, Bytes::from(vec![0; traced.len]));
    pair.left.sent[before..].iter().map(|answer| answer.segment.options.sack.to_vec()).collect()
}

fn block(traced: &Traced) -> SackBlock {
    let left = traced.segment.sequence;
    SackBlock { left, right: left.plus(traced.len as u32) }
}

#[test]
fn a_segment_that_comes_again_after_everything_has_come_is_reported_at_once_and_once() {
    for timestamps in [false, true] {
        let (mut pair, data) = started(true, timestamps);
        assert_eq!(answers(&mut pair, &data[1]), [[block(&data[1])]], "timestamps: {timestamps}");
        let before = pair.left.sent.len();
        pair.write_right(pattern(1_000));
        pair.run_for(Duration::from_secs(1));
        let acknowledgement = pair.left.sent[before..].iter().find(|traced| traced.len == 0).unwrap();
        assert_eq!(acknowledgement.segment.options.sack.to_vec(), [], "timestamps: {timestamps}");
    }
}

#[test]
fn a_duplicate_is_answered_without_a_report_unless_reports_are_wanted() {
    let (mut pair, data) = started(false, false);
    assert_eq!(answers(&mut pair, &data[1]), [[]; 1]);
}

/// RFC 2883, section 4.2: the second block is the one that holds the duplicate.
#[test]
fn a_duplicate_beyond_a_gap_is_followed_by_the_block_that_holds_it() {
    let (mut pair, data) = started(true, false);
    let mut beyond = data[2];
    beyond.segment.sequence = beyond.segment.sequence.plus(2_000);
    let mut further = beyond;
    further.segment.sequence = further.segment.sequence.plus(1_000);
    assert_eq!(answers(&mut pair, &beyond), [[block(&beyond)]]);
    let island = SackBlock { left: block(&beyond).left, right: block(&further).right };
    assert_eq!(answers(&mut pair, &further), [[island]]);
    assert_eq!(answers(&mut pair, &beyond), [[block(&beyond), island]]);
}
