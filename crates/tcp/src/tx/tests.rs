//! Traces of the sender: what comes in, and what cwnd, ssthresh, pipe, what is sent and the timer are after it.
//!
//! Segments have 1000 bytes and are named by their number. The timeout is 1 s, its minimum, unless backed off.

mod mark;
mod timed;

use std::sync::Arc;

use super::*;
use crate::config::{SackRecovery, WindowLimit};
use slantpath_cc::new_reno::{AvoidanceIncrease, UnusedWindow};
use slantpath_cc::{Algorithm, InitialWindow};

const MSS: u64 = 1_000;
const WINDOW: u64 = 1 << 20;

/// cwnd, ssthresh and pipe in bytes, the segments sent, and when the timer is due in milliseconds.
type Row = (u64, u64, u64, Vec<u64>, Option<u64>);

const NO_THRESHOLD: u64 = u64::MAX;

struct Trace {
    tx: Tx,
    now: Instant,
    /// Offsets are counted in this.
    segment: u64,
}

impl Trace {
    /// A sender in front of an open window, with nothing to send.
    fn new(config: TcpConfig, initial_segments: u32) -> Self {
        let mut tx = Tx::new(Arc::new(TcpConfig {
            initial_window: InitialWindow::Segments(initial_segments),
            ..config
        }));
        tx.establish(Negotiated { mss_bytes: 1_000, sack: config.sack, was_syn_lost: false });
        let mut trace = Self { tx, now: Instant::START, segment: MSS };
        trace.take(0, &[], WINDOW, true);
        trace
    }

    /// A sender that has `segments` to send, of which its initial window is on its way.
    fn started(config: TcpConfig, initial_segments: u32, segments: u64) -> Self {
        let mut trace = Self::new(config, initial_segments);
        trace.write(segments);
        trace
    }

    fn write(&mut self, segments: u64) -> Row {
        self.tx.write(Bytes::from(vec![0; usize::try_from(segments * self.segment).unwrap()]));
        self.row()
    }

    fn at(&mut self, millis: u64) -> &mut Self {
        self.now = Instant::START + Duration::from_millis(millis);
        self
    }

    fn take(&mut self, ack: u64, sacked: &[(u64, u64)], window: u64, is_pure: bool) {
        self.take_echo(ack, sacked, window, is_pure, None);
    }

    fn take_echo(
        &mut self,
        ack: u64,
        sacked: &[(u64, u64)],
        window: u64,
        is_pure: bool,
        echoed_rtt: Option<Duration>,
    ) {
        let range =
            |&(first, past): &(u64, u64)| Range { start: first * self.segment, end: past * self.segment };
        let sacked: Vec<Range> = sacked.iter().map(range).collect();
        let ack = ack * self.segment;
        let input = Acknowledgement {
            ack,
            sequence: 0,
            window,
            sacked: &sacked,
            is_pure,
            is_echo: false,
            echoed_rtt,
        };
        self.tx.handle_ack(self.now, input);
    }

    /// An acknowledgement that echoes the timestamp of what was sent at so many milliseconds.
    fn echo(&mut self, ack: u64, sacked: &[(u64, u64)], sent_at: u64) -> Row {
        let age = self.now.since_start().as_millis() - sent_at;
        self.take_echo(ack, sacked, WINDOW, true, Some(Duration::from_millis(age)));
        self.row()
    }

    /// An acknowledgement of everything before segment `ack`.
    fn ack(&mut self, ack: u64) -> Row {
        self.sack(ack, &[])
    }

    /// Variant of `ack` with SACK blocks.
    fn sack(&mut self, ack: u64, sacked: &[(u64, u64)]) -> Row {
        self.take(ack, sacked, WINDOW, true);
        self.row()
    }

    /// The timer expires: not before its time.
    fn timeout(&mut self) -> Row {
        self.now = self.tx.deadline().unwrap();
        assert_eq!(self.tx.handle_deadline(self.now), Endurance::Lasts);
        self.row()
    }

    fn row(&mut self) -> Row {
        let mut sent = Vec::new();
        while let Some(next) = self.tx.next_segment(self.now) {
            sent.push(next.range.start / self.segment);
            if self.tx.is_spent(self.now) {
                let before = self.tx.deadline();
                assert_eq!((self.tx.next_segment(self.now), self.tx.deadline()), (None, before));
            }
        }
        let due = self.tx.deadline().map(|due| (due - Instant::START).as_millis());
        (self.tx.cwnd(), self.tx.ssthresh(), self.tx.pipe(), sent, due)
    }

    fn fast_recoveries(&self) -> u64 {
        self.tx.counters().fast_recoveries
    }
}

fn without_sack() -> TcpConfig {
    TcpConfig { sack: false, ..TcpConfig::default() }
}

#[test]
fn a_controller_that_rules_recoveries_has_its_window_without_sack_too() {
    let config = TcpConfig { congestion_control: Algorithm::Bbr, ..without_sack() };
    let mut trace = Trace::started(config, 10, 100);
    for at in 1..=4 {
        trace.at(100 + at).ack(0);
    }
    assert_eq!(trace.fast_recoveries(), 1);
    assert_eq!(trace.tx.cwnd(), trace.tx.control.cwnd());
}

#[test]
fn nothing_more_is_asked_for_only_while_new_data_waits_for_the_window_or_its_turn() {
    let mut open = Trace::started(TcpConfig::default(), 8, 100);
    assert!(open.tx.is_spent(open.now));
    // A loss is repaired: a rescue may follow.
    open.at(100).sack(0, &[(1, 7)]);
    assert_eq!((open.fast_recoveries(), open.tx.is_spent(open.now)), (1, false));
    // Something is to go at once.
    let mut timed_out = Trace::started(TcpConfig::default(), 8, 100);
    timed_out.now = timed_out.tx.deadline().unwrap();
    timed_out.tx.handle_deadline(timed_out.now);
    timed_out.tx.recovery = Recovery::default();
    assert!(!timed_out.tx.is_spent(timed_out.now));
    // There is no more.
    let mut all = Trace::started(TcpConfig { nagle: true, ..TcpConfig::default() }, 8, 4);
    assert!(!all.tx.is_spent(all.now));
    let mut held =
        Trace::started(TcpConfig { congestion_control: Algorithm::Bbr, ..without_sack() }, 10, 100);
    held.at(100).ack(5);
    assert!(held.tx.held_until().is_some() && held.tx.is_spent(held.now));
}

#[test]
fn an_acknowledgement_may_tell_of_a_window_alone_if_nothing_is_in_flight_and_no_loss_found_by_time() {
    let waits = |config: TcpConfig, segments| Trace::started(config, 8, segments).tx.waits_for_nothing();
    let timed = TcpConfig { loss_detection: LossDetection::Rack, ..TcpConfig::default() };
    assert_eq!([0, 1].map(|segments| waits(TcpConfig::default(), segments)), [true, false]);
    assert_eq!([0, 1].map(|segments| waits(timed, segments)), [false, false]);
}

/// RFC 6582, section 3.2: three of ten segments are lost.
#[test]
fn each_partial_acknowledgement_repeats_a_loss_and_the_first_restarts_the_timer() {
    let mut trace = Trace::started(without_sack(), 10, 100);
    // Segments 1, 2, 3, 5, 6, 8, 9 arrive, then what limited transmit sent: nine duplicates.
    assert_eq!(trace.at(100).ack(0), (10_000, NO_THRESHOLD, 11_000, vec![10], Some(1_000)));
    assert_eq!(trace.at(110).ack(0), (10_000, NO_THRESHOLD, 12_000, vec![11], Some(1_000)));
    assert_eq!(trace.at(120).ack(0), (8_000, 5_000, 12_000, vec![0], Some(1_000)));
    assert_eq!(trace.at(130).ack(0), (9_000, 5_000, 12_000, vec![], Some(1_000)));
    assert_eq!(trace.at(140).ack(0), (10_000, 5_000, 12_000, vec![], Some(1_000)));
    assert_eq!(trace.at(150).ack(0), (11_000, 5_000, 12_000, vec![], Some(1_000)));
    assert_eq!(trace.at(160).ack(0), (12_000, 5_000, 12_000, vec![], Some(1_000)));
    assert_eq!(trace.at(170).ack(0), (13_000, 5_000, 13_000, vec![12], Some(1_000)));
    assert_eq!(trace.at(180).ack(0), (14_000, 5_000, 14_000, vec![13], Some(1_000)));
    // Segment 0 has come again; 4 is missing.
    assert_eq!(trace.at(200).ack(4), (11_000, 5_000, 11_000, vec![4, 14], Some(1_200)));
    assert_eq!(trace.at(210).ack(4), (12_000, 5_000, 12_000, vec![15], Some(1_200)));
    assert_eq!(trace.at(220).ack(4), (13_000, 5_000, 13_000, vec![16], Some(1_200)));
    // Segment 4 has come again; 7 is missing. The timer goes on.
    assert_eq!(trace.at(300).ack(7), (11_000, 5_000, 11_000, vec![7, 17], Some(1_200)));
    // Less than a segment is acknowledged: nothing is added back.
    let part = Acknowledgement {
        ack: 7_500,
        sequence: 0,
        window: WINDOW,
        sacked: &[],
        is_pure: true,
        is_echo: false,
        echoed_rtt: None,
    };
    trace.tx.handle_ack(Instant::START + Duration::from_millis(310), part);
    assert_eq!(trace.row(), (10_500, 5_000, 10_500, vec![7], Some(1_200)));
    // Segment 7 has come again, and with it all that was outstanding at the start.
    assert_eq!(trace.at(400).ack(14), (5_000, 5_000, 5_000, vec![18], Some(1_400)));
    assert_eq!(trace.at(410).ack(16), (5_000, 5_000, 5_000, vec![19, 20], Some(1_410)));
    assert_eq!((trace.fast_recoveries(), trace.tx.counters().retransmissions), (1, 4));
}

#[test]
fn a_full_acknowledgement_leaves_a_segment_more_than_is_in_flight() {
    let mut trace = Trace::started(without_sack(), 10, 12);
    for at in 0..3 {
        trace.at(100 + at).ack(0);
    }
    assert_eq!(trace.at(200).ack(12), (2_000, 5_000, 0, vec![], None));
}

#[test]
fn reno_ends_its_recovery_with_the_first_progress() {
    let config = TcpConfig { loss_recovery: LossRecovery::Reno, ..without_sack() };
    let mut trace = Trace::started(config, 10, 12);
    for at in 0..5 {
        trace.at(100 + at).ack(0);
    }
    assert_eq!(trace.at(200).ack(4), (5_000, 5_000, 8_000, vec![], Some(1_200)));
    assert!(!trace.tx.is_recovering());
}

/// Dups of an acknowledgement that ends a recovery are of its own repetitions.
#[test]
fn duplicates_start_no_recovery_until_more_than_the_last_one_is_acknowledged() {
    let mut trace = Trace::started(without_sack(), 10, 12);
    for at in 0..3 {
        trace.at(100 + at).ack(0);
    }
    trace.at(200).ack(12);
    assert_eq!(trace.write(10), (2_000, 5_000, 2_000, vec![12, 13], Some(1_200)));
    assert_eq!(trace.at(210).ack(12), (2_000, 5_000, 3_000, vec![14], Some(1_200)));
    assert_eq!(trace.at(220).ack(12), (2_000, 5_000, 4_000, vec![15], Some(1_200)));
    assert_eq!(trace.at(230).ack(12), (2_000, 5_000, 4_000, vec![], Some(1_200)));
    assert_eq!(trace.at(300).ack(13), (3_000, 5_000, 3_000, vec![], Some(1_300)));
    assert_eq!(trace.at(310).ack(13), (3_000, 5_000, 4_000, vec![16], Some(1_300)));
    assert_eq!(trace.at(320).ack(13), (3_000, 5_000, 5_000, vec![17], Some(1_300)));
    assert_eq!(trace.at(330).ack(13), (5_000, 2_000, 5_000, vec![13], Some(1_300)));
    assert_eq!(trace.fast_recoveries(), 2);
}

#[test]
fn duplicates_after_a_timeout_start_no_recovery_either() {
    let mut trace = Trace::started(without_sack(), 10, 10);
    assert_eq!(trace.timeout(), (1_000, 5_000, 1_000, vec![0], Some(3_000)));
    assert_eq!(trace.at(1_100).ack(10), (2_000, 5_000, 0, vec![], None));
    assert_eq!(trace.write(10), (2_000, 5_000, 2_000, vec![10, 11], Some(3_100)));
    for at in 0..3 {
        trace.at(1_200 + at).ack(10);
    }
    assert_eq!((trace.fast_recoveries(), trace.tx.cwnd()), (0, 2_000));
}

/// RFC 5681, section 3.1: what a timeout after progress halves is what was sent since the one before.
#[test]
fn a_timeout_halves_what_is_in_flight_and_the_next_in_a_row_nothing() {
    let mut trace = Trace::started(without_sack(), 20, 20);
    assert_eq!(trace.timeout(), (1_000, 10_000, 1_000, vec![0], Some(3_000)));
    assert_eq!(trace.at(1_100).ack(1), (2_000, 10_000, 2_000, vec![1, 2], Some(3_100)));
    assert_eq!(trace.at(1_200).ack(3), (3_000, 10_000, 3_000, vec![3, 4, 5], Some(3_200)));
    assert_eq!(trace.at(1_300).ack(6), (4_000, 10_000, 4_000, vec![6, 7, 8, 9], Some(3_300)));
    assert_eq!(trace.at(1_400).ack(10), (5_000, 10_000, 5_000, vec![10, 11, 12, 13, 14], Some(3_400)));
    assert_eq!(trace.timeout(), (1_000, 2_500, 1_000, vec![10], Some(7_400)));
    assert_eq!(trace.timeout(), (1_000, 2_500, 1_000, vec![10], Some(15_400)));
}

#[test]
fn limited_transmit_does_not_count_in_what_a_timeout_halves() {
    let mut trace = Trace::started(without_sack(), 10, 100);
    trace.at(100).ack(0);
    trace.at(110).ack(0);
    assert_eq!(trace.tx.flight(), 12_000);
    assert_eq!(trace.timeout(), (1_000, 5_000, 1_000, vec![0], Some(3_000)));
}

#[test]
fn limited_transmit_sends_on_two_duplicates_however_many_mean_a_loss() {
    let config = TcpConfig { duplicate_ack_threshold: 5, ..without_sack() };
    let mut trace = Trace::started(config, 10, 100);
    let sent: Vec<Vec<u64>> = (0..5).map(|at| trace.at(100 + at).ack(0).3).collect();
    assert_eq!(sent, [vec![10], vec![11], vec![], vec![], vec![0]]);
    assert_eq!(trace.tx.cwnd(), 10_000, "half of ten, and five duplicates");
}

#[test]
fn a_duplicate_carries_nothing_and_changes_no_window() {
    let mut trace = Trace::started(without_sack(), 10, 10);
    for at in 0..5 {
        trace.at(100 + at).take(0, &[], WINDOW, false);
        trace.at(100 + at).take(0, &[], WINDOW + 1 + at, true);
    }
    assert_eq!(trace.row(), (10_000, NO_THRESHOLD, 10_000, vec![], Some(1_000)));
    for at in 0..3 {
        trace.at(200 + at).take(0, &[], WINDOW + 5, true);
    }
    assert_eq!(trace.row(), (8_000, 5_000, 10_000, vec![0], Some(1_000)));
}

#[test]
fn nothing_is_a_duplicate_while_nothing_is_in_flight() {
    let mut trace = Trace::new(without_sack(), 2);
    for _ in 0..5 {
        trace.ack(0);
    }
    assert_eq!(trace.write(10), (2_000, NO_THRESHOLD, 2_000, vec![0, 1], Some(1_000)));
}

/// RFC 6675, section 5: two of ten segments are lost.
#[test]
fn sack_repeats_what_is_lost_as_pipe_allows_and_each_repetition_restarts_the_timer() {
    let mut trace = Trace::started(TcpConfig::default(), 10, 100);
    assert_eq!(trace.at(100).sack(0, &[(1, 2)]), (10_000, NO_THRESHOLD, 10_000, vec![10], Some(1_000)));
    assert_eq!(trace.at(110).sack(0, &[(1, 3)]), (10_000, NO_THRESHOLD, 10_000, vec![11], Some(1_000)));
    assert_eq!(trace.at(120).sack(0, &[(1, 4)]), (5_000, 5_000, 9_000, vec![0], Some(1_120)));
    assert_eq!(trace.at(130).sack(0, &[(5, 6), (1, 4)]), (5_000, 5_000, 8_000, vec![], Some(1_120)));
    assert_eq!(trace.at(140).sack(0, &[(5, 7), (1, 4)]), (5_000, 5_000, 7_000, vec![], Some(1_120)));
    // Three above it are SACKed: segment 4 is lost too.
    assert_eq!(trace.at(150).sack(0, &[(5, 8), (1, 4)]), (5_000, 5_000, 5_000, vec![], Some(1_120)));
    assert_eq!(trace.at(160).sack(0, &[(5, 9), (1, 4)]), (5_000, 5_000, 5_000, vec![4], Some(1_160)));
    assert_eq!(trace.at(170).sack(0, &[(5, 10), (1, 4)]), (5_000, 5_000, 5_000, vec![12], Some(1_160)));
    assert_eq!(trace.at(180).sack(0, &[(5, 11), (1, 4)]), (5_000, 5_000, 5_000, vec![13], Some(1_160)));
    assert_eq!(trace.at(190).sack(0, &[(5, 12), (1, 4)]), (5_000, 5_000, 5_000, vec![14], Some(1_160)));
    assert_eq!(trace.at(220).sack(4, &[(5, 12)]), (5_000, 5_000, 5_000, vec![15], Some(1_220)));
    assert_eq!(trace.at(260).ack(12), (5_000, 5_000, 5_000, vec![16], Some(1_260)));
    assert_eq!((trace.fast_recoveries(), trace.tx.is_recovering()), (1, false));
    // Congestion avoidance: a whole window, and it grows by a segment.
    assert_eq!(trace.at(270).ack(16), (5_000, 5_000, 5_000, vec![17, 18, 19, 20], Some(1_270)));
    assert_eq!(trace.at(280).ack(17), (6_000, 5_000, 6_000, vec![21, 22], Some(1_280)));
}

/// RFC 6675, section 5: an acknowledgement that advances may be a duplicate as well.
#[test]
fn a_loss_that_shows_beside_progress_halves_the_window() {
    let mut trace = Trace::started(TcpConfig::default(), 10, 100);
    // The acknowledgements of 2 and 3 were lost on their way back. 9 in flight: pipe is 9 - 3 SACKed - 1 lost + 1.
    assert_eq!(trace.at(100).sack(1, &[(2, 5)]), (4_500, 4_500, 6_000, vec![1], Some(1_100)));
    assert_eq!(trace.fast_recoveries(), 1);
}

#[test]
fn what_is_lost_of_what_a_recovery_sent_is_repeated_in_it() {
    let mut trace = Trace::started(TcpConfig::default(), 10, 100);
    // Segment 0 is lost, and 12 of what follows.
    trace.at(100).sack(0, &[(1, 2)]);
    trace.at(110).sack(0, &[(1, 3)]);
    for past in 4..=12 {
        trace.at(116 + past).sack(0, &[(1, past)]);
    }
    assert_eq!(trace.at(140).sack(0, &[(13, 14), (1, 12)]), (5_000, 5_000, 5_000, vec![16], Some(1_120)));
    trace.at(150).sack(0, &[(13, 15), (1, 12)]);
    assert_eq!(trace.at(160).sack(0, &[(13, 16), (1, 12)]), (5_000, 5_000, 5_000, vec![12, 18], Some(1_160)));
    assert_eq!(trace.at(220).ack(12), (5_000, 5_000, 5_000, vec![19], Some(1_220)));
    assert_eq!((trace.fast_recoveries(), trace.tx.is_recovering()), (1, false));
}

#[test]
fn three_duplicates_mean_a_loss_however_few_bytes_they_report() {
    let mut trace = Trace::new(TcpConfig::default(), 10);
    trace.segment = 10;
    for _ in 0..8 {
        trace.write(1);
    }
    assert_eq!(trace.at(100).sack(0, &[(1, 2)]).3, []);
    assert_eq!(trace.at(110).sack(0, &[(1, 3)]).3, []);
    // What is repeated without being known to be lost counts twice in pipe.
    assert_eq!(trace.at(120).sack(0, &[(1, 4)]), (2_000, 2_000, 60, vec![0], Some(1_120)));
    assert_eq!(trace.fast_recoveries(), 1);
}

#[test]
fn an_acknowledgement_that_reports_nothing_new_is_no_duplicate() {
    let mut trace = Trace::started(TcpConfig::default(), 10, 10);
    for at in 0..5 {
        trace.at(100 + at).sack(0, &[(1, 3)]);
        trace.at(100 + at).ack(0);
    }
    assert_eq!(trace.fast_recoveries(), 0);
}

#[test]
fn a_timeout_in_a_recovery_does_not_raise_the_threshold() {
    let mut trace = Trace::started(TcpConfig::default(), 10, 100);
    // Segment 0 and its repetition are lost, while all else arrives.
    for past in 2..=40 {
        trace.at(100 + past).sack(0, &[(1, past)]);
    }
    assert_eq!((trace.tx.flight(), trace.tx.ssthresh()), (44_000, 5_000));
    let again = trace.timeout();
    assert_eq!((again.0, again.1, again.2, &again.3), (1_000, 5_000, 1_000, &vec![0]));
    assert_eq!(trace.fast_recoveries(), 1);
    // What was SACKed is not retransmitted: only what came after it, which counts as lost.
    assert_eq!(trace.at(2_000).ack(40).3, [40, 41]);
}

#[test]
fn the_timeout_learns_from_sack_while_nothing_is_acknowledged() {
    let mut trace = Trace::started(TcpConfig::default(), 10, 100);
    trace.at(500).ack(1);
    assert_eq!(trace.tx.rtt().rto(), Duration::from_millis(1_500), "SRTT 500 ms, RTTVAR 250 ms");
    trace.at(800).sack(1, &[(2, 3)]);
    assert_eq!(trace.tx.rtt().srtt(), Some(Duration::from_millis(500)), "sent in the same round trip");
    trace.at(1_000).sack(1, &[(2, 11)]);
    // 500 ms again, of segment 10, which was sent at 500 ms: RTTVAR falls to 187.5 ms.
    assert_eq!(trace.tx.rtt().rto(), Duration::from_millis(1_250));
    trace.at(1_010).ack(11);
    assert_eq!(trace.tx.rtt().rto(), Duration::from_millis(1_250), "once a round trip");
}

/// RFC 9293, section 3.8.6.2.1: a part of a segment is sent if it is half of the largest window.
#[test]
fn a_small_window_is_used_from_half_of_the_largest_on() {
    for (allowed, sent) in [(399, None), (400, Some(400)), (799, Some(799))] {
        let mut trace = Trace::new(TcpConfig::default(), 10);
        trace.tx = Tx::new(Arc::default());
        trace.tx.establish(Negotiated { mss_bytes: 1_000, sack: true, was_syn_lost: false });
        trace.take(0, &[], 800, true);
        trace.take(0, &[], allowed, true);
        trace.tx.write(Bytes::from_static(&[0; 5_000]));
        let next = trace.tx.next_segment(trace.now);
        assert_eq!(next.map(|sent| sent.range.end), sent, "{allowed} bytes");
    }
}

#[test]
fn half_of_the_send_buffer_must_have_been_used_and_be_free_again_to_tell_the_writer() {
    let mut trace = Trace::new(TcpConfig { send_buffer_bytes: 4_000, ..TcpConfig::default() }, 10);
    trace.write(2);
    assert_eq!(trace.tx.writable(), 2_000);
    trace.at(100).ack(2);
    assert!(!trace.tx.take_writable(), "half of it was in use, no more");
    trace.write(4);
    assert_eq!(trace.tx.writable(), 0);
    trace.at(200).ack(3);
    assert_eq!((trace.tx.writable(), trace.tx.take_writable()), (1_000, false));
    trace.at(210).ack(4);
    assert_eq!((trace.tx.writable(), trace.tx.take_writable()), (2_000, true));
    assert!(!trace.tx.take_writable(), "once");
}

#[test]
fn a_fin_alone_needs_no_room_in_the_congestion_window() {
    let mut trace = Trace::started(without_sack(), 10, 10);
    for at in 0..3 {
        trace.at(100 + at).ack(0);
    }
    trace.tx.close();
    assert_eq!(trace.row(), (8_000, 5_000, 10_001, vec![10], Some(1_000)));
}

#[test]
fn a_window_that_was_never_open_is_probed_with_one_byte() {
    let mut trace = Trace::new(TcpConfig::default(), 10);
    trace.tx = Tx::new(Arc::default());
    trace.tx.establish(Negotiated { mss_bytes: 1_000, sack: true, was_syn_lost: false });
    trace.take(0, &[], 0, true);
    assert_eq!(trace.write(5), (10_000, NO_THRESHOLD, 0, vec![], Some(1_000)));
    assert_eq!(trace.timeout(), (10_000, NO_THRESHOLD, 1, vec![0], Some(3_000)));
    assert_eq!((trace.tx.nxt(), trace.tx.counters()), (1, Counters::default()));
}

/// RFC 9293, section 3.8.6.1: what was sent into a window that closes is retransmitted when it opens.
#[test]
fn a_window_that_opens_lets_out_again_what_it_had_refused() {
    let mut trace = Trace::started(TcpConfig::default(), 2, 10);
    trace.at(100).take(0, &[], 0, true);
    assert_eq!(trace.row(), (2_000, NO_THRESHOLD, 2_000, vec![], Some(1_000)));
    assert_eq!(trace.timeout(), (2_000, NO_THRESHOLD, 3_000, vec![0], Some(3_000)));
    assert_eq!(trace.timeout(), (2_000, NO_THRESHOLD, 3_000, vec![0], Some(7_000)));
    // Nothing has been lost; the timeout is no longer backed off.
    assert_eq!(trace.at(3_500).ack(0), (2_000, NO_THRESHOLD, 3_000, vec![0], Some(4_500)));
    assert_eq!(trace.tx.counters().timeouts, 0);
}

#[test]
fn nagle_holds_what_is_less_than_a_segment_until_all_is_acknowledged_or_the_stream_ends() {
    let mut trace = Trace::new(TcpConfig { nagle: true, ..TcpConfig::default() }, 10);
    assert_eq!(trace.write(1).3, [0]);
    assert_eq!(trace.write(1).3, [1], "a full segment");
    trace.tx.write(Bytes::from_static(&[0; 500]));
    assert_eq!(trace.row().3, []);
    assert_eq!(trace.at(100).ack(1).3, []);
    assert_eq!(trace.at(110).ack(2).3, [2]);
    trace.tx.write(Bytes::from_static(&[0; 200]));
    assert_eq!(trace.row().3, []);
    trace.tx.close();
    assert_eq!((trace.row().3, trace.tx.nxt()), (vec![2], 2_701));
}

/// RFC 5681, section 4.1: more than a timeout must pass.
#[test]
fn the_window_starts_anew_after_more_than_a_timeout_without_sending() {
    for (idle_millis, sent) in [(1_000, vec![2, 3, 4, 5]), (1_001, vec![2, 3])] {
        let mut trace = Trace::started(TcpConfig::default(), 2, 2);
        trace.at(100).ack(1);
        trace.at(110).ack(2);
        assert_eq!(trace.at(idle_millis).write(10).3, sent, "{idle_millis} ms");
    }
}

#[test]
fn nothing_is_due_once_all_is_acknowledged_and_nothing_waits() {
    let mut trace = Trace::started(TcpConfig::default(), 4, 2);
    let (_, _, pipe, sent, due) = trace.at(100).ack(2);
    assert_eq!((pipe, sent, due), (0, vec![], None));
}

#[test]
fn a_window_that_is_not_filled_grows_only_where_that_is_wanted() {
    let hold = TcpConfig { unused_window: UnusedWindow::Hold, ..TcpConfig::default() };
    let limited = TcpConfig { window_limit: Some(WindowLimit::Segments(2)), ..hold };
    for (config, bytes, cwnd) in [
        (hold, 2_000, 4_000),
        (hold, 3_000, 4_000),
        (hold, 3_001, 5_000),
        (hold, 4_000, 5_000),
        (limited, 1_000, 4_000),
        (limited, 1_001, 5_000),
        (TcpConfig::default(), 1_000, 5_000),
    ] {
        let mut trace = Trace::new(config, 4);
        trace.tx.write(Bytes::from(vec![0; bytes]));
        trace.row();
        assert_eq!(trace.at(100).ack(1).0, cwnd, "{bytes} bytes");
    }
}

#[test]
fn shorter_segments_end_a_recovery_and_take_back_what_duplicates_have_inflated() {
    let mut trace = Trace::started(without_sack(), 10, 10);
    for at in 0..3 {
        trace.at(100 + at).ack(0);
    }
    assert_eq!(trace.tx.cwnd(), 8_000);
    trace.tx.reduce_mss(trace.now, 600);
    assert_eq!((trace.tx.cwnd(), trace.tx.ssthresh()), (5_000, 5_000));
    // With SACK nothing was inflated, and the window stays however little is in flight.
    let mut trace = Trace::started(TcpConfig::default(), 10, 10);
    trace.at(100).sack(0, &[(1, 9)]);
    assert_eq!(trace.at(200).sack(9, &[]).0, 5_000);
    trace.tx.reduce_mss(trace.now, 600);
    assert_eq!((trace.tx.cwnd(), trace.tx.flight()), (5_000, 1_000));
}

#[test]
fn beyond_the_threshold_the_window_grows_as_is_wanted() {
    let counting = TcpConfig { initial_ssthresh_bytes: Some(4_000), ..TcpConfig::default() };
    let per_ack = TcpConfig { avoidance_increase: AvoidanceIncrease::PerAck, ..counting };
    for (config, windows) in
        [(counting, [4_000, 4_000, 4_000, 5_000]), (per_ack, [4_250, 4_485, 4_707, 4_919])]
    {
        let mut trace = Trace::started(config, 4, 100);
        assert_eq!([1, 2, 3, 4].map(|ack| trace.at(100 + ack).ack(ack).0), windows);
    }
}

/// RFC 6675, section 4, rule 4 of NextSeg.
#[test]
fn the_last_segment_is_rescued_once_the_first_loss_is_repaired_and_nothing_else_may_go() {
    let mut trace = Trace::started(TcpConfig::default(), 10, 10);
    assert!(!trace.tx.is_recovering());
    assert_eq!(trace.at(100).sack(0, &[(2, 9)]), (5_000, 5_000, 3_000, vec![0, 1], Some(1_100)));
    assert!(trace.tx.is_recovering());
    assert_eq!(trace.at(200).sack(1, &[(2, 9)]), (5_000, 5_000, 2_000, vec![9], Some(1_200)));
    assert_eq!(trace.at(210).sack(1, &[(2, 9)]), (5_000, 5_000, 2_000, vec![], Some(1_200)));
    assert_eq!(trace.at(300).sack(9, &[]), (5_000, 5_000, 1_000, vec![], Some(1_300)));
    assert_eq!(trace.tx.counters().retransmissions, 3);
}

#[test]
fn what_is_outstanding_tells_how_fast_it_arrives_whether_acknowledged_sacked_or_repeated() {
    let mut trace = Trace::started(TcpConfig::default(), 4, 100);
    let mut rate_after = |at, ack, sacked: &[(u64, u64)]| {
        trace.at(at).sack(ack, sacked);
        trace.tx.delivery_rate().map(slantpath_base::DataRate::as_bits_per_sec)
    };
    // 1,000 bytes in 100 ms, 2,000 in 110, and so on: how fast the burst left says nothing.
    let burst = [100, 110, 120, 130].map(|at| rate_after(at, (at - 90) / 10, &[]));
    assert_eq!(burst, [80_000, 145_454, 200_000, 246_153].map(Some));
    // Segment 4 left at 100 ms, when the first had arrived; four have since.
    assert_eq!(rate_after(200, 5, &[]), Some(320_000));
    // Segment 5 is missing. Segment 6 left at 110 ms, when two had arrived.
    assert_eq!(rate_after(220, 5, &[(6, 7)]), Some(4 * 8_000 * 1_000 / 110));
    // Segment 8 left at 120 ms, when three had arrived; it took as long to send what has arrived since.
    assert_eq!(rate_after(220, 5, &[(6, 9)]), Some(5 * 8_000 * 1_000 / 120));
    // It is repeated at 220 ms, when eight had arrived.
    assert_eq!(rate_after(320, 9, &[]), Some(8_000 * 1_000 / 100));
}

#[test]
fn a_segment_that_is_acknowledged_in_part_counts_by_its_parts() {
    let mut trace = Trace::started(TcpConfig::default(), 4, 100);
    trace.segment = 500;
    let mut rate_after = |at, ack| {
        trace.at(at).ack(ack);
        trace.tx.delivery_rate().map(slantpath_base::DataRate::as_bits_per_sec)
    };
    assert_eq!([rate_after(100, 1), rate_after(110, 3)], [40_000, 8 * 1_500 * 1_000 / 110].map(Some));
}

/// Of four segments that the window lets out, so many are written at first, and 20 more before the first
/// acknowledgement.
#[test]
fn a_rate_is_the_applications_only_if_the_window_stood_open_with_nothing_to_send() {
    let is_limited = |segments| {
        let mut trace = Trace::started(TcpConfig::default(), 4, segments);
        trace.at(50).write(20);
        trace.at(100).ack(1);
        trace.at(200).ack(6);
        trace.tx.board.latest_delivery().unwrap().is_application_limited
    };
    assert_eq!([3, 4, 100].map(is_limited), [true, false, false]);
}

#[test]
fn cubic_leaves_seven_tenths_of_the_flight_after_a_loss_and_one_segment_after_a_timeout() {
    let cubic = TcpConfig { congestion_control: Algorithm::Cubic, ..TcpConfig::default() };
    let mut trace = Trace::started(cubic, 10, 100);
    trace.at(100).sack(0, &[(1, 2)]);
    trace.at(100).sack(0, &[(1, 3)]);
    // Ten were in flight, and two more that limited transmit sent.
    assert_eq!(trace.at(100).sack(0, &[(1, 4)]), (7_000, 7_000, 9_000, vec![0], Some(1_100)));
    assert_eq!(trace.at(200).sack(12, &[]).0, 7_000);
    // Congestion avoidance begins with one step of slow start, since the window is no more than the threshold.
    assert_eq!(trace.at(300).sack(13, &[]).0, 8_000);
    assert_eq!(trace.at(310).sack(14, &[]).0, 8_066);
    let (cwnd, ssthresh, ..) = trace.timeout();
    assert_eq!((cwnd, ssthresh), (1_000, 5_600));
}

fn proportional() -> TcpConfig {
    TcpConfig { sack_recovery: SackRecovery::Proportional, ..TcpConfig::default() }
}

/// RFC 6937, section 3.1: one of 20 segments is lost. The window is what is in the network and what may follow.
#[test]
fn in_a_proportional_recovery_every_second_sack_lets_one_segment_out() {
    let mut trace = Trace::started(proportional(), 20, 100);
    let mut sent = Vec::new();
    for segment in 1..20 {
        sent.push(trace.at(100).sack(0, &[(1, 1 + segment)]).3.len());
    }
    // Two by limited transmit, the lost one, and then for every second segment that arrives, until ten are in flight.
    assert_eq!(sent, [1, 1, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1]);
    assert_eq!((trace.tx.pipe(), trace.tx.cwnd(), trace.tx.ssthresh()), (10_000, 10_000, 10_000));
    assert_eq!(trace.at(200).ack(22).0, 10_000);
    // Without it the same number leaves, but after half a window of silence.
    let mut trace = Trace::started(TcpConfig::default(), 20, 100);
    let sent: Vec<_> = (1..20).map(|segment| trace.at(100).sack(0, &[(1, 1 + segment)]).3.len()).collect();
    assert_eq!(sent, [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1]);
}

/// RFC 6937, section 3.1, the last example: segments 0 to 14 of 20 are lost.
#[test]
fn in_a_proportional_recovery_from_many_losses_each_sack_lets_two_segments_out() {
    let mut trace = Trace::started(proportional(), 20, 100);
    let mut rows = Vec::new();
    for past in 16..=20 {
        let (_, _, pipe, sent, _) = trace.at(100).sack(0, &[(15, past)]);
        rows.push((pipe - 1_000 * sent.len() as u64, sent));
    }
    let expected = [
        (19_000, vec![20]),
        (19_000, vec![21]),
        (4_000, vec![0, 1]),
        (5_000, vec![2, 3]),
        (6_000, vec![4, 5]),
    ];
    assert_eq!(rows, expected);
    // RFC 6675 repeats seven at once.
    let mut trace = Trace::started(TcpConfig::default(), 20, 100);
    let sent: Vec<_> = (16..=18).map(|past| trace.at(100).sack(0, &[(15, past)]).3.len()).collect();
    assert_eq!(sent, [1, 1, 6]);
}

#[test]
fn timers_stand_in_the_first_line_of_the_cache_and_window_and_round_trip_begin_lines() {
    use core::mem::offset_of;
    const LINE: usize = 64;
    assert!(offset_of!(Tx, stream) < LINE, "they stand before the stream");
    assert_eq!(
        offset_of!(Tx, board) % LINE,
        LINE - size_of::<u64>(),
        "SND.UNA ends a line, the rest begins one"
    );
    assert_eq!((offset_of!(Tx, recovery) % LINE, offset_of!(Tx, rtt) % LINE), (0, 0));
    assert_eq!(offset_of!(Tx, rtt) - offset_of!(Tx, recovery), 2 * LINE);
}
