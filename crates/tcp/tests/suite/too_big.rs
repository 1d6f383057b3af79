//! Segments that are longer than a link on their way carries.

use bytes::Bytes;
use slantpath_base::Duration;
use slantpath_tcp::{DelayedAck, Flags, Input, TcpConfig};

use crate::pair::{Pair, data_segments, pattern};

fn sender() -> TcpConfig {
    TcpConfig {
        mss_bytes: 1_000,
        initial_window: slantpath_cc::InitialWindow::Segments(4),
        ..TcpConfig::default()
    }
}

fn receiver() -> TcpConfig {
    TcpConfig { delayed_ack: DelayedAck::Off, ..TcpConfig::default() }
}

/// A connected pair that has sent `len` bytes, of which the segments with the given numbers are lost.
fn sent(left: TcpConfig, right: TcpConfig, len: usize, lost: &[u64]) -> Pair {
    let mut pair = Pair::connected(left, right);
    for number in lost {
        pair.rightwards.lose(pair.rightwards.sent() + number);
    }
    pair.write_left(pattern(len));
    pair
}

/// ICMP reports the segment at an offset of the left side's stream; gives what that side sends at once.
fn report(pair: &mut Pair, offset: u32, mtu_bytes: u32) -> Vec<(u32, usize)> {
    report_changed(pair, offset, mtu_bytes, None)
}

/// Variant of [`report`] with one byte of the quote changed.
fn report_changed(pair: &mut Pair, offset: u32, mtu_bytes: u32, changed: Option<usize>) -> Vec<(u32, usize)> {
    let syn = pair.left.sent.iter().find(|traced| traced.segment.flags.contains(Flags::SYN)).unwrap();
    let sequence = syn.segment.sequence.plus(1).plus(offset);
    let ports = [syn.segment.source_port, syn.segment.destination_port].map(u16::to_be_bytes).concat();
    let mut quote = [&ports[..], &sequence.0.to_be_bytes()].concat();
    if let Some(byte) = changed {
        quote[byte] ^= 1;
    }
    let (source, destination) = (pair.left.address, pair.right.address);
    let quote = Bytes::from(quote);
    let input = Input::PacketTooBig { source, destination, mtu_bytes, quote };
    let before = data_segments(&pair.left.sent).len();
    pair.left.endpoint.handle_input(pair.now, input);
    pair.drain();
    data_segments(&pair.left.sent)[before..].to_vec()
}

#[test]
fn segments_in_flight_are_cut_anew_and_sent_again_at_once_in_the_same_window() {
    let mut pair = sent(sender(), receiver(), 8_000, &[0, 1, 2, 3]);
    pair.run_for(Duration::from_millis(20));
    let before = pair.left.snapshot();
    let again = report(&mut pair, 0, 640);
    let pieces = [(0, 600), (600, 400), (1_000, 600), (1_600, 400), (2_000, 600), (2_600, 400)];
    assert_eq!(again[..6], pieces);
    assert_eq!(again[6..], [(3_000, 600), (3_600, 400)]);
    let after = pair.left.snapshot();
    assert_eq!((after.cwnd_bytes, after.ssthresh_bytes), (before.cwnd_bytes, before.ssthresh_bytes));
    assert_eq!((after.pipe_bytes, after.rto, after.retransmissions), (4_000, before.rto, 8));
    pair.run_for(Duration::from_millis(500));
    assert!(pair.right.received == pattern(8_000));
    let end = pair.left.snapshot();
    assert_eq!((end.timeouts, end.fast_recoveries), (0, 0));
    assert!(end.cwnd_bytes > before.cwnd_bytes, "slow start goes on");
    let new = data_segments(&pair.left.sent).into_iter().filter(|(start, _)| *start >= 4_000);
    assert!(new.clone().all(|(_, len)| len <= 600), "{:?}", new.collect::<Vec<_>>());
}

#[test]
fn what_got_through_meanwhile_is_no_sign_of_congestion() {
    for sack in [true, false] {
        let mut pair = sent(TcpConfig { sack, ..sender() }, receiver(), 3_000, &[0, 1, 2]);
        for _ in 0..3 {
            pair.write_left(pattern(100));
        }
        let before = pair.left.snapshot();
        report(&mut pair, 1_000, 640);
        pair.run_for(Duration::from_millis(500));
        let after = pair.left.snapshot();
        assert_eq!((after.acked_bytes, after.timeouts, after.fast_recoveries), (3_300, 0, 0), "{sack}");
        assert!(after.cwnd_bytes >= before.cwnd_bytes);
        assert_eq!(after.ssthresh_bytes, before.ssthresh_bytes);
    }
}

#[test]
fn a_report_that_quotes_no_segment_in_flight_is_ignored() {
    let expected: Vec<(u32, usize)> = Vec::new();
    let mut pair = sent(sender(), receiver(), 6_000, &[0, 1, 2, 3]);
    assert_eq!(report(&mut pair, 4_000, 640), expected, "SND.NXT");
    assert_eq!(report(&mut pair, u32::MAX, 640), expected, "before SND.UNA");
    for byte in 0..4 {
        assert_eq!(report_changed(&mut pair, 0, 640, Some(byte)), expected, "ports, byte {byte}");
    }
    for byte in 4..6 {
        assert_eq!(report_changed(&mut pair, 0, 640, Some(byte)), expected, "sequence number, byte {byte}");
    }
    assert_eq!(report(&mut pair, 0, 1_040), expected, "no less than what is sent");
    assert_eq!(report(&mut pair, 3_999, 1_039)[0], (0, 999));
}

#[test]
fn segments_never_become_shorter_than_the_least_mtu_allows() {
    for (mtu_bytes, timestamps, mss) in
        [(0, false, 536), (1, false, 28), (68, true, 16), (100, false, 60), (640, true, 588)]
    {
        let config = TcpConfig { timestamps, ..sender() };
        let right = TcpConfig { timestamps, ..receiver() };
        let mut pair = sent(config, right, 900, &[0]);
        let again = report(&mut pair, 0, mtu_bytes);
        assert_eq!(again[0], (0, mss), "{mtu_bytes}");
        pair.run_for(Duration::from_secs(2));
        assert!(pair.right.received == pattern(900));
    }
}

#[test]
fn a_fin_in_a_segment_that_is_cut_goes_with_its_last_piece() {
    let mut pair = Pair::connected(sender(), receiver());
    pair.rightwards.lose(pair.rightwards.sent());
    let id = pair.left.id();
    pair.left.endpoint.write(pair.now, id, pattern(1_000)).unwrap();
    pair.left.endpoint.close(pair.now, id).unwrap();
    pair.drain();
    assert_eq!(report(&mut pair, 0, 640), [(0, 600), (600, 400)]);
    let has_fin: Vec<bool> =
        pair.left.sent.iter().map(|traced| traced.segment.flags.contains(Flags::FIN)).collect();
    assert_eq!(has_fin[has_fin.len() - 3..], [true, false, true]);
    pair.run_for(Duration::from_secs(1));
    assert!(pair.right.received == pattern(1_000));
}
