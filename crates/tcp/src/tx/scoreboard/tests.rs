mod timed;

use super::*;
use proptest::prelude::*;

const MSS: u64 = 100;
const NOW: Instant = Instant::START;

/// A board with `segments` segments of one MSS in flight.
fn board(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::default();
    for _ in 0..segments {
        board.push(MSS, NOW);
    }
    board
}

fn range(first: u64, past: u64) -> Range {
    Range { start: first * MSS, end: past * MSS }
}

/// Sends everything again that is lost.
fn repeat_lost(board: &mut Scoreboard, now: Instant) -> Vec<Range> {
    let mut again = Vec::new();
    while board.next_lost().is_some() {
        again.push(board.retransmit_next(now).range);
    }
    again
}

/// The ends of the segments that are to be retransmitted, in their order.
fn resent(board: &mut Scoreboard) -> Vec<u64> {
    let mut ends = Vec::new();
    while board.next_lost().is_some() {
        ends.push(board.retransmit_next(NOW).range.end);
    }
    ends
}

#[test]
fn a_block_that_comes_again_is_news_once_the_peer_has_reneged() {
    let mut board = board(5);
    let acked = |board: &mut Scoreboard| [range(1, 2), range(3, 4)].map(|block| board.sack(block).count);
    assert_eq!([acked(&mut board), acked(&mut board), acked(&mut board)], [[MSS, MSS], [0, 0], [0, 0]]);
    // What was missing in front has come, and what the peer had behind it is not acknowledged with it.
    board.acknowledge(MSS);
    board.on_timeout(NOW, None, |_| {});
    assert_eq!(board.sack(range(3, 4)).count, MSS);
}

#[test]
fn a_block_behind_the_last_one_finds_its_records_after_others_have_been_cut_anew() {
    let mut board = board(4);
    board.sack(range(2, 3));
    assert!(board.recut(50, 400));
    assert_eq!(board.sack(Range { start: 300, end: 350 }).count, 50);
    assert_eq!(resent(&mut board), [50, 100, 150, 200, 400]);
}

#[test]
fn segments_that_are_too_long_are_cut_anew_and_lost() {
    let mut board = board(3);
    assert!(!board.recut(100, 300), "nothing is too long");
    assert_eq!(board.pipe(), 300);
    assert!(board.recut(40, 300));
    assert_eq!((board.pipe(), board.flight(), board.nxt()), (0, 300, 300));
    assert_eq!(resent(&mut board), [40, 80, 100, 140, 180, 200, 240, 280, 300]);
    assert_eq!(board.pipe(), 300);
    board.acknowledge(150);
    assert_eq!(board.pipe(), 150);
    board.acknowledge(300);
    assert_eq!((board.pipe(), board.is_empty()), (0, true));
}

#[test]
fn what_the_peer_has_and_what_follows_the_last_long_segment_stays() {
    let mut board = board(4);
    board.push(30, NOW);
    assert_eq!(board.sack(range(3, 4)).count, MSS);
    assert!(board.recut(60, 430));
    // The fourth has arrived; the short one behind it may be on its way.
    assert_eq!(board.pipe(), 30);
    assert_eq!(resent(&mut board), [60, 100, 160, 200, 260, 300]);
    assert_eq!(board.pipe(), 330);
}

#[test]
fn what_was_retransmitted_too_long_is_cut_and_sent_again() {
    let mut board = board(2);
    board.on_timeout(NOW, None, |_| {});
    assert!(board.next_lost().is_some());
    board.retransmit_next(NOW);
    assert!(board.recut(50, 200));
    assert_eq!(board.pipe(), 0);
    assert_eq!(resent(&mut board), [50, 100, 150, 200]);
}

#[test]
fn what_is_lost_behind_the_last_long_segment_stays_lost_and_what_was_sent_since_is_not() {
    let mut board = board(2);
    board.push(30, NOW);
    board.acknowledge(MSS);
    board.on_timeout(NOW, None, |_| {});
    board.push(20, NOW);
    assert!(board.recut(60, 250));
    assert_eq!(board.pipe(), 20);
    assert_eq!(resent(&mut board), [160, 200, 230]);
    assert_eq!(board.pipe(), 150);
}

#[test]
fn a_fin_is_no_data() {
    let mut board = Scoreboard::default();
    board.push(MSS, NOW);
    board.push(MSS + 1, NOW);
    assert!(!board.recut(MSS, 200));
    assert!(board.recut(60, 200));
    assert_eq!(resent(&mut board), [60, 100, 160, 201]);
}

#[test]
fn what_is_left_of_a_segment_in_part_acknowledged_decides() {
    let mut board = board(1);
    board.acknowledge(50);
    assert!(!board.recut(50, 100));
    assert!(board.recut(30, 100));
    assert_eq!(resent(&mut board), [80, 100]);
}

#[test]
fn a_block_counts_only_what_is_new() {
    let mut board = board(10);
    assert_eq!(board.sack(range(2, 4)).count, 2 * MSS);
    assert_eq!(board.sack(range(2, 4)).count, 0);
    assert_eq!(board.sack(range(6, 8)).count, 2 * MSS);
    assert_eq!(board.sack(range(1, 9)).count, 4 * MSS);
    assert_eq!(board.pipe(), 2 * MSS);
    assert_eq!(board.sacked, [range(1, 9)]);
}

#[test]
fn blocks_below_una_and_beyond_nxt_are_ignored() {
    let mut board = board(10);
    board.acknowledge(3 * MSS);
    for block in [range(0, 2), range(1, 5), range(3, 4), range(8, 11), range(5, 5), range(6, 5)] {
        assert_eq!(board.sack(block).count, 0, "{block:?}");
    }
    assert_eq!(board.pipe(), 7 * MSS);
}

#[test]
fn what_is_acknowledged_is_not_kept_as_sacked() {
    let mut board = board(6);
    board.sack(range(1, 2));
    board.sack(range(3, 5));
    board.acknowledge(4 * MSS);
    assert_eq!(board.sacked, [range(4, 5)]);
    board.acknowledge(5 * MSS);
    assert!(board.is_in_order());
}

#[test]
fn a_block_of_nothing_is_none() {
    let mut board = board(6);
    board.sack(Range { start: 250, end: 250 });
    assert!(board.is_in_order());
}

#[test]
fn three_segments_above_or_three_islands_above_mean_a_loss() {
    let mut board = board(20);
    board.sack(range(2, 4));
    assert!(!board.detect_losses(3, MSS, |_| {}), "200 bytes are not more than 200");
    board.sack(range(4, 5));
    assert!(board.detect_losses(3, MSS, |_| {}));
    assert_eq!(board.next_lost(), Some(range(0, 1)));
    assert_eq!(board.pipe(), 15 * MSS);
    // Small segments: three islands of ten bytes.
    let mut board = Scoreboard::default();
    for _ in 0..10 {
        board.push(10, NOW);
    }
    for start in [10, 30, 50] {
        assert!(!board.detect_losses(3, MSS, |_| {}));
        board.sack(Range { start, end: start + 10 });
    }
    assert!(board.detect_losses(3, MSS, |_| {}));
    assert_eq!(board.pipe(), 60);
}

#[test]
fn what_is_repeated_counts_again_until_it_is_known_to_have_arrived() {
    let mut board = board(10);
    board.sack(range(3, 8));
    board.detect_losses(3, MSS, |_| {});
    assert_eq!(board.pipe(), 2 * MSS);
    assert_eq!(board.retransmit_next(NOW), Sent { range: range(0, 1), transmissions: 2 });
    assert_eq!(board.next_lost(), Some(range(1, 2)));
    assert_eq!(board.pipe(), 3 * MSS);
    assert_eq!(board.acknowledge(MSS).count, MSS);
    assert_eq!(board.pipe(), 2 * MSS);
}

#[test]
fn a_timeout_makes_everything_lost_that_is_not_sacked() {
    let mut board = board(10);
    board.sack(range(3, 8));
    board.on_timeout(NOW, None, |_| {});
    assert_eq!((board.pipe(), board.next_lost()), (0, Some(range(0, 1))));
    assert_eq!(repeat_lost(&mut board, NOW), [0, 1, 2, 8, 9].map(|segment| range(segment, segment + 1)));
    assert_eq!(board.pipe(), 5 * MSS);
    assert_eq!(board.sack(range(3, 8)).count, 0, "known already");
    board.acknowledge(8 * MSS);
    assert_eq!(board.pipe(), 2 * MSS);
}

#[test]
fn each_segment_that_is_lost_is_reported_with_its_length_and_what_was_in_flight_when_it_was_sent() {
    let mut board = board(10);
    board.sack(range(3, 8));
    let reported = |segment: LostSegment| (segment.bytes, segment.departure.in_flight());
    let mut lost = Vec::new();
    board.detect_losses(3, MSS, |segment| lost.push(reported(segment)));
    assert_eq!(lost, [(MSS, MSS), (MSS, 2 * MSS), (MSS, 3 * MSS)]);
    board.retransmit_next(NOW);
    board.retransmit_next(NOW);
    let mut lost = Vec::new();
    board.on_timeout(NOW, None, |segment| lost.push(reported(segment)));
    // Two repetitions and the last two; the third segment is known to be lost.
    assert_eq!(lost, [(MSS, 3 * MSS), (MSS, 4 * MSS), (MSS, 9 * MSS), (MSS, 10 * MSS)]);
}

#[test]
fn a_peer_that_does_not_acknowledge_what_it_sacked_is_believed_no_longer() {
    let mut board = board(10);
    board.sack(range(3, 5));
    board.sack(range(6, 8));
    board.acknowledge(3 * MSS);
    board.on_timeout(NOW, None, |_| {});
    let expected = [3, 4, 5, 6, 7, 8, 9].map(|segment| range(segment, segment + 1));
    assert_eq!(repeat_lost(&mut board, NOW), expected);
    assert_eq!(board.pipe(), 7 * MSS);
    assert_eq!(board.sack(range(6, 8)).count, 2 * MSS, "it may SACK anew");
    assert_eq!(board.pipe(), 5 * MSS);
}

#[test]
fn the_newest_sacked_segment_that_was_sent_once_gives_a_time() {
    let at = |segment| Instant::START + Duration::from_millis(segment);
    let mut board = Scoreboard::default();
    for segment in 0..10 {
        board.push(MSS, at(segment));
    }
    let timed = |segment| Some(Timed { sent_at: at(segment), end: (segment + 1) * MSS });
    assert_eq!(board.sack(range(2, 5)).timed, timed(4));
    assert_eq!(board.sack(range(1, 7)).timed, timed(6), "below and above what was known");
    assert_eq!(board.sack(range(1, 7)).timed, None);
    board.on_timeout(NOW, None, |_| {});
    repeat_lost(&mut board, at(20));
    board.push(MSS, at(21));
    assert_eq!(board.sack(range(7, 8)), Acked { count: MSS, timed: None }, "Karn");
    assert_eq!(board.sack(range(8, 11)).timed, Some(Timed { sent_at: at(21), end: 11 * MSS }));
}

#[test]
fn only_segments_sent_once_and_acknowledged_in_order_give_a_time() {
    let mut board = board(3);
    assert_eq!(board.acknowledge(MSS).timed, Some(Timed { sent_at: NOW, end: MSS }));
    board.retransmit_first(NOW, true);
    assert_eq!(board.acknowledge(2 * MSS).timed, None);
    board.push(MSS, NOW);
    board.sack(range(3, 4));
    assert_eq!(board.acknowledge(4 * MSS).timed, None);
}

#[test]
fn blocks_that_touch_are_one() {
    let mut board = board(10);
    board.sack(range(4, 5));
    board.sack(range(3, 4));
    board.sack(range(5, 6));
    assert_eq!(board.sacked, [range(3, 6)]);
    board.sack(range(7, 8));
    assert_eq!(board.sacked, [range(3, 6), range(7, 8)]);
    board.sack(range(6, 7));
    assert_eq!(board.sacked, [range(3, 8)]);
}

#[test]
fn a_block_that_covers_a_part_of_a_segment_does_not_cover_the_segment() {
    let mut board = board(10);
    assert_eq!(board.sack(Range { start: 250, end: 450 }).count, 200);
    assert_eq!(board.pipe(), 9 * MSS, "segment 3 alone");
    assert_eq!(board.sack(Range { start: 200, end: 250 }).count, 50);
    assert_eq!(board.pipe(), 9 * MSS, "of segment 2 each half");
}

#[test]
fn the_last_segment_is_the_last_that_is_not_sacked() {
    let last = |board: &mut Scoreboard| board.retransmit_last(NOW).map(|sent| sent.range);
    let mut board = board(10);
    assert_eq!(last(&mut board), Some(range(9, 10)));
    board.sack(range(2, 9));
    assert_eq!(last(&mut board), Some(range(9, 10)));
    board.sack(range(9, 10));
    assert_eq!(last(&mut board), Some(range(1, 2)));
    assert_eq!(last(&mut Scoreboard::default()), None);
}

/// The scoreboard by the letter of RFC 6675, segment by segment.
#[derive(Default)]
struct Model(Vec<ModelSegment>);

#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "the RFC's properties of a segment, one by one")]
struct ModelSegment {
    start: u64,
    end: u64,
    is_acked: bool,
    is_sacked: bool,
    is_lost: bool,
    is_repeated: bool,
}

impl Model {
    fn pipe(&self) -> u64 {
        let weigh = |segment: &ModelSegment| {
            let len = segment.end - segment.start;
            let times = u64::from(!segment.is_lost) + u64::from(segment.is_repeated);
            if segment.is_acked || segment.is_sacked { 0 } else { len * times }
        };
        self.0.iter().map(weigh).sum()
    }

    fn detect(&mut self, threshold: u64, mss: u64) {
        for index in 0..self.0.len() {
            let above = &self.0[index + 1..];
            let bytes: u64 =
                above.iter().filter(|s| s.is_sacked && !s.is_acked).map(|s| s.end - s.start).sum();
            let is_run_start = |at: usize| above[at].is_sacked && (at == 0 || !above[at - 1].is_sacked);
            let runs = (0..above.len()).filter(|at| is_run_start(*at)).count() as u64;
            let segment = &mut self.0[index];
            segment.is_lost |= !segment.is_sacked && (runs >= threshold || bytes > (threshold - 1) * mss);
        }
    }

    fn next(&self, only_lost: bool) -> Option<usize> {
        let highest = self.0.iter().rposition(|s| s.is_sacked && !s.is_acked);
        self.0.iter().enumerate().position(|(index, s)| {
            let is_candidate = if only_lost { s.is_lost } else { highest.is_some_and(|top| index < top) };
            !s.is_acked && !s.is_sacked && !s.is_repeated && is_candidate
        })
    }
}

#[derive(Clone, Debug)]
enum Step {
    Acknowledge(f64),
    Detect,
    Push(u64),
    RepeatLost,
    RepeatUnsacked,
    Sack(f64, f64),
    Timeout,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0.0..1.0).prop_map(Step::Acknowledge),
        3 => Just(Step::Detect),
        6 => (1..=MSS).prop_map(Step::Push),
        4 => Just(Step::RepeatLost),
        1 => Just(Step::RepeatUnsacked),
        6 => (0.0..1.0, 0.0..0.4).prop_map(|(from, len)| Step::Sack(from, len)),
        1 => Just(Step::Timeout),
    ]
}

proptest! {
    #[test]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
    fn pipe_and_next_segment_are_those_of_the_rfc(steps in proptest::collection::vec(step(), 1..120)) {
        let mut board = Scoreboard::default();
        let mut model = Model::default();
        let mut first = 0;
        for step in steps {
            let in_flight = model.0.len() - first;
            let pick = |part: f64| first + (part * in_flight as f64) as usize;
            match step {
                Step::Push(len) => {
                    let start = board.nxt();
                    board.push(len, NOW);
                    model.0.push(ModelSegment {
                        start,
                        end: start + len,
                        is_acked: false,
                        is_sacked: false,
                        is_lost: false,
                        is_repeated: false,
                    });
                }
                Step::Acknowledge(part) => {
                    let mut last = pick(part);
                    // A receiver acknowledges what it reported once the gap is filled.
                    while model.0.get(last + 1).is_some_and(|next| next.is_sacked) {
                        last += 1;
                    }
                    if last < model.0.len() {
                        board.acknowledge(model.0[last].end);
                        model.0[first..=last].iter_mut().for_each(|segment| segment.is_acked = true);
                        first = last + 1;
                    }
                }
                Step::Sack(from, len) => {
                    let from = pick(from).max(first + 1);
                    let to = (from + 1 + (len * in_flight as f64) as usize).min(model.0.len());
                    if from < to {
                        board.sack(Range { start: model.0[from].start, end: model.0[to - 1].end });
                        model.0[from..to].iter_mut().for_each(|segment| segment.is_sacked = true);
                    }
                }
                Step::Detect => {
                    board.detect_losses(3, MSS, |_| {});
                    model.detect(3, MSS);
                }
                Step::RepeatLost | Step::RepeatUnsacked => {
                    let only_lost = matches!(step, Step::RepeatLost);
                    let expected = model.next(only_lost);
                    let found = if only_lost { board.next_lost() } else { board.next_unsacked() };
                    let range = expected.map(|at| Range { start: model.0[at].start, end: model.0[at].end });
                    prop_assert_eq!(found, range);
                    if let Some(at) = expected {
                        prop_assert_eq!(Some(board.retransmit_next(NOW).range), range);
                        model.0[at].is_repeated = true;
                    }
                }
                Step::Timeout => {
                    board.on_timeout(NOW, None, |_| {});
                    for segment in &mut model.0[first..] {
                        segment.is_lost = true;
                        segment.is_repeated = false;
                    }
                }
            }
            prop_assert_eq!(board.pipe(), model.pipe());
        }
    }
}

proptest! {
    #[test]
    fn the_record_of_an_offset_is_found_whatever_the_lengths(
        lens in proptest::collection::vec(1..4_u64, 1..40),
        acknowledged in 0.0..1.0,
        offset in 0.0..1.2,
    ) {
        let mut board = Scoreboard::default();
        for len in lens {
            board.push(len, NOW);
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
        let at = |part: f64| (part * board.nxt() as f64) as u64;
        let (acknowledged, offset) = (at(acknowledged), at(offset));
        if acknowledged > 0 {
            board.acknowledge(acknowledged);
        }
        let searched = board.records.iter().take_while(|record| record.end <= offset).count();
        prop_assert_eq!(board.index_at(offset), searched);
    }
}
