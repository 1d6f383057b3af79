//! Opening a connection.

use slantpath_base::{Duration, Instant};
use slantpath_tcp::{ConnectionState, Event, Flags, ResetCause, TcpConfig};
use slantpath_testkit::Faults;

use crate::pair::{Pair, pattern};

const DELAY: Duration = Duration::from_millis(50);

fn flags(sent: &[crate::pair::Traced]) -> Vec<Flags> {
    sent.iter().map(|traced| traced.segment.flags).collect()
}

#[test]
fn three_segments_open_a_connection() {
    let mut pair = Pair::calling(1, Faults::none(DELAY), TcpConfig::default(), TcpConfig::default());
    pair.run_to_end(Duration::from_secs(10));
    assert_eq!(flags(&pair.left.sent), [Flags::SYN, Flags::ACK]);
    assert_eq!(flags(&pair.right.sent), [Flags::SYN | Flags::ACK]);
    assert_eq!(
        (&pair.left.events[..], &pair.right.events[..]),
        (&[Event::Connected][..], &[Event::Connected][..])
    );
    assert_eq!(pair.left.snapshot().srtt, Some(DELAY * 2));
    assert_eq!(pair.right.snapshot().srtt, Some(DELAY * 2));
    let options = pair.left.sent[0].segment.options;
    assert_eq!(
        (options.mss_bytes, options.window_shift, options.sack_permitted),
        (Some(1_460), Some(7), true)
    );
}

#[test]
fn the_smaller_segment_size_and_common_options_are_used() {
    let left = TcpConfig { mss_bytes: 1_000, ..TcpConfig::default() };
    let right = TcpConfig { mss_bytes: 536, sack: false, window_scaling: false, ..TcpConfig::default() };
    let mut pair = Pair::connected(left, right);
    let answer = pair.right.sent[0].segment.options;
    assert_eq!((answer.window_shift, answer.sack_permitted), (None, false));
    pair.write_left(pattern(5_000));
    pair.run_for(Duration::from_secs(1));
    assert_eq!(pair.left.sent.iter().map(|traced| traced.len).max(), Some(536));
    assert!(pair.right.received == pattern(5_000));
}

#[test]
fn a_lost_syn_is_repeated_after_a_second_and_starts_with_one_segment() {
    let mut pair = Pair::new(1, Faults::none(DELAY));
    pair.rightwards.lose(0);
    pair.right.endpoint.listen(crate::pair::PORT, TcpConfig::default()).unwrap();
    let (from, to) = (pair.left.socket(), pair.right.socket());
    pair.left.id = Some(pair.left.endpoint.connect(pair.now, from, to, TcpConfig::default()).unwrap());
    pair.drain();
    pair.run_for(Duration::from_secs(2));
    assert_eq!(pair.left.sent[1].at, Instant::from_secs(1));
    let snapshot = pair.left.snapshot();
    assert_eq!((snapshot.state, snapshot.cwnd_bytes), (ConnectionState::Established, 1_460));
    assert_eq!((snapshot.srtt, snapshot.rto), (None, Duration::from_secs(3)));
}

#[test]
fn a_lost_answer_is_repeated() {
    let mut pair = Pair::calling(1, Faults::none(DELAY), TcpConfig::default(), TcpConfig::default());
    pair.leftwards.lose(0);
    pair.run_to_end(Duration::from_secs(10));
    assert_eq!(pair.left.snapshot().state, ConnectionState::Established);
    assert_eq!(pair.right.snapshot().state, ConnectionState::Established);
}

#[test]
fn two_calls_at_once_make_one_connection() {
    let mut pair = Pair::new(1, Faults::none(DELAY));
    let (left, right) = (pair.left.socket(), pair.right.socket());
    let config = TcpConfig::default();
    pair.left.id = Some(pair.left.endpoint.connect(pair.now, left, right, config).unwrap());
    pair.right.id = Some(pair.right.endpoint.connect(pair.now, right, left, config).unwrap());
    pair.drain();
    pair.run_for(Duration::from_secs(5));
    for side in [&pair.left, &pair.right] {
        assert_eq!(side.snapshot().state, ConnectionState::Established);
        assert_eq!(side.events, [Event::Connected]);
    }
    pair.write_left(pattern(10_000));
    pair.write_right(pattern(20_000));
    pair.run_for(Duration::from_secs(5));
    assert_eq!((pair.right.received.len(), pair.left.received.len()), (10_000, 20_000));
}

#[test]
fn nobody_listening_refuses_a_call() {
    let mut pair = Pair::new(1, Faults::none(DELAY));
    let (from, to) = (pair.left.socket(), pair.right.socket());
    pair.left.endpoint.connect(pair.now, from, to, TcpConfig::default()).unwrap();
    pair.drain();
    pair.run_to_end(Duration::from_secs(300));
    assert_eq!(pair.left.events, [Event::Reset(ResetCause::Refused)]);
    assert_eq!(pair.right.endpoint.statistics().strays, 1);
}

#[test]
fn an_unanswered_call_fails_after_its_repetitions() {
    let mut pair = Pair::new(1, Faults::none(DELAY));
    pair.rightwards.cut();
    let (from, to) = (pair.left.socket(), pair.right.socket());
    pair.left.endpoint.connect(pair.now, from, to, TcpConfig::default()).unwrap();
    pair.drain();
    pair.run_to_end(Duration::from_secs(3_600));
    let seconds: Vec<u64> =
        pair.left.sent.iter().map(|traced| traced.at.as_nanos() / 1_000_000_000).collect();
    assert_eq!(seconds, [0, 1, 3, 7, 15, 31, 63, 123]);
    assert_eq!(pair.left.events, [Event::Reset(ResetCause::TimedOut)]);
    assert_eq!(pair.now, Instant::from_secs(183));
}

#[test]
fn data_written_and_closed_before_the_answer_follows_it() {
    let mut pair = Pair::calling(1, Faults::none(DELAY), TcpConfig::default(), TcpConfig::default());
    pair.write_left(pattern(3_000));
    let id = pair.left.id();
    pair.left.endpoint.close(pair.now, id).unwrap();
    pair.drain();
    // Closing before the answer gives the call up (RFC 9293, section 3.10.4).
    pair.run_to_end(Duration::from_secs(300));
    assert_eq!(pair.left.events, [Event::Closed]);
    let mut pair = Pair::calling(1, Faults::none(DELAY), TcpConfig::default(), TcpConfig::default());
    pair.write_left(pattern(3_000));
    pair.run_for(Duration::from_secs(1));
    assert!(pair.right.received == pattern(3_000));
}

#[test]
fn a_call_given_up_at_once_sends_nothing() {
    for aborts in [false, true] {
        let mut pair = Pair::new(1, Faults::none(DELAY));
        let (from, to) = (pair.left.socket(), pair.right.socket());
        let id = pair.left.endpoint.connect(pair.now, from, to, TcpConfig::default()).unwrap();
        if aborts {
            pair.left.endpoint.abort(pair.now, id).unwrap();
        } else {
            pair.left.endpoint.close(pair.now, id).unwrap();
        }
        pair.drain();
        pair.run_to_end(Duration::from_secs(300));
        assert!(pair.left.sent.is_empty());
        assert!(pair.left.endpoint.connect(pair.now, from, to, TcpConfig::default()).is_ok());
    }
}

#[test]
fn an_address_pair_is_used_once() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let (from, to) = (pair.left.socket(), pair.right.socket());
    assert!(pair.left.endpoint.connect(pair.now, from, to, TcpConfig::default()).is_err());
    let mut any = from;
    any.set_port(0);
    assert!(pair.left.endpoint.connect(pair.now, any, to, TcpConfig::default()).is_ok());
    assert!(pair.right.endpoint.listen(to.port(), TcpConfig::default()).is_err());
}
