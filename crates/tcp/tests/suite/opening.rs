//! Opening a connection.

use bytes::Bytes;
use slantpath_base::{Duration, Instant, Seed, StreamFamily};
use slantpath_tcp::{
    Chance, CommandError, ConnectionState, Endpoint, Event, Flags, Input, Output, ResetCause, Segment,
    SequenceNumber, TcpConfig,
};
use slantpath_testkit::WireFaults;
use slantpath_wire::Packet;
use slantpath_wire::ip::{Dscp, Ecn, Envelope, IpFields};

use crate::pair::{Pair, pattern};

const DELAY: Duration = Duration::from_millis(50);

fn flags(sent: &[crate::pair::Traced]) -> Vec<Flags> {
    sent.iter().map(|traced| traced.segment.flags).collect()
}

#[test]
fn three_segments_open_a_connection() {
    let mut pair = Pair::calling(1, WireFaults::none(DELAY), TcpConfig::default(), TcpConfig::default());
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

/// RFC 7323, section 3.2.
#[test]
fn timestamps_are_offered_where_they_are_wanted_and_answered_where_they_were_offered() {
    for (left, right) in [(true, true), (true, false), (false, true), (false, false)] {
        let config = |timestamps| TcpConfig { timestamps, ..TcpConfig::default() };
        let pair = Pair::connected(config(left), config(right));
        let have_stamps = [&pair.left.sent[0], &pair.right.sent[0], &pair.left.sent[1]]
            .map(|traced| traced.segment.options.timestamps.is_some());
        assert_eq!(have_stamps, [left, left && right, left && right]);
    }
}

#[test]
fn a_lost_syn_is_repeated_after_a_second_and_starts_with_one_segment() {
    let mut pair = Pair::new(1, WireFaults::none(DELAY));
    pair.rightwards.lose(0);
    pair.right.endpoint.listen(crate::pair::PORT, TcpConfig::default(), crate::pair::chance()).unwrap();
    let (from, to) = (pair.left.socket(), pair.right.socket());
    pair.left.id = Some(
        pair.left.endpoint.connect(pair.now, from, to, TcpConfig::default(), &mut pair.left.stream).unwrap(),
    );
    pair.drain();
    pair.run_for(Duration::from_secs(2));
    assert_eq!(pair.left.sent[1].at, Instant::from_secs(1));
    let snapshot = pair.left.snapshot();
    assert_eq!((snapshot.state, snapshot.cwnd_bytes), (ConnectionState::Established, 1_460));
    assert_eq!((snapshot.srtt, snapshot.rto), (None, Duration::from_secs(3)));
}

#[test]
fn a_lost_answer_is_repeated() {
    let mut pair = Pair::calling(1, WireFaults::none(DELAY), TcpConfig::default(), TcpConfig::default());
    pair.leftwards.lose(0);
    pair.run_to_end(Duration::from_secs(10));
    assert_eq!(pair.left.snapshot().state, ConnectionState::Established);
    assert_eq!(pair.right.snapshot().state, ConnectionState::Established);
}

#[test]
fn two_calls_at_once_make_one_connection() {
    let mut pair = Pair::new(1, WireFaults::none(DELAY));
    let (left, right) = (pair.left.socket(), pair.right.socket());
    let config = TcpConfig::default();
    pair.left.id =
        Some(pair.left.endpoint.connect(pair.now, left, right, config, &mut pair.left.stream).unwrap());
    pair.right.id =
        Some(pair.right.endpoint.connect(pair.now, right, left, config, &mut pair.right.stream).unwrap());
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
fn a_call_that_is_closed_while_it_meets_another_ends_with_it() {
    let mut pair = Pair::new(1, WireFaults::none(DELAY));
    let (left, right) = (pair.left.socket(), pair.right.socket());
    let config = TcpConfig::default();
    let id = pair.left.endpoint.connect(pair.now, left, right, config, &mut pair.left.stream).unwrap();
    (pair.left.id, pair.right.id) = (
        Some(id),
        Some(pair.right.endpoint.connect(pair.now, right, left, config, &mut pair.right.stream).unwrap()),
    );
    pair.drain();
    pair.write_left(pattern(100));
    pair.run_for(DELAY);
    assert!(matches!(pair.left.snapshot().state, ConnectionState::SynReceived { .. }));
    pair.left.endpoint.close(pair.now, id).unwrap();
    let written = pair.left.endpoint.write(pair.now, id, pattern(1));
    assert_eq!(written, Err(CommandError::ClosedForWriting));
    pair.drain();
    pair.run_for(DELAY * 3);
    assert_eq!(
        (&pair.right.events[..], pair.right.received.len()),
        (&[Event::Connected, Event::PeerClosed][..], 100)
    );
    assert_eq!(pair.left.snapshot().state, ConnectionState::FinWait1);
}

#[test]
fn a_deadline_that_is_told_early_does_nothing_and_one_that_is_told_late_does_all() {
    let mut pair = Pair::new(1, WireFaults::none(DELAY));
    let (left, right) = (pair.left.socket(), pair.right.socket());
    pair.left.id = Some(
        pair.left
            .endpoint
            .connect(pair.now, left, right, TcpConfig::default(), &mut pair.left.stream)
            .unwrap(),
    );
    pair.drain();
    for (millis, sent) in [(999, 1), (1_500, 2), (3_499, 2), (9_000, 3)] {
        pair.now = Instant::from_millis(millis);
        pair.left.endpoint.handle_input(pair.now, Input::Deadline);
        pair.drain();
        assert_eq!(pair.left.sent.len(), sent, "at {millis} ms");
    }
}

#[test]
fn only_a_syn_without_more_calls_a_listener() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let syn = Segment { source_port: 9, ..pair.left.sent[0].segment };
    let id = pair.left.id();
    pair.left.endpoint.listen(crate::pair::PORT, TcpConfig::default(), crate::pair::chance()).unwrap();
    for (flags, answers) in [
        (Flags(0), 1),
        (Flags::FIN, 1),
        (Flags::SYN | Flags::ACK, 1),
        (Flags::SYN | Flags::RST, 0),
        (Flags::RST, 0),
    ] {
        let before = pair.left.sent.len();
        pair.inject_left(&Segment { flags, ..syn }, Bytes::new());
        let sent = &pair.left.sent[before..];
        assert_eq!(sent.len(), answers, "{flags:?}");
        assert!(sent.iter().all(|traced| traced.segment.flags.contains(Flags::RST)), "{flags:?}");
    }
    assert_eq!((pair.left.endpoint.statistics().strays, pair.left.id), (5, Some(id)));
    pair.inject_left(&syn, Bytes::new());
    assert_eq!(pair.left.sent.last().unwrap().segment.flags, Flags::SYN | Flags::ACK);
}

#[test]
fn the_name_of_a_connection_that_is_over_names_no_other() {
    let mut pair = Pair::new(1, WireFaults::none(DELAY));
    let (left, right) = (pair.left.socket(), pair.right.socket());
    let config = TcpConfig::default();
    let mut names = Vec::new();
    for _ in 0..3 {
        let id = pair.left.endpoint.connect(pair.now, left, right, config, &mut pair.left.stream).unwrap();
        for old in &names {
            assert_eq!(pair.left.endpoint.snapshot(*old), None);
            let written = pair.left.endpoint.write(pair.now, *old, pattern(1));
            assert_eq!(written, Err(CommandError::NoConnection));
        }
        names.push(id);
        pair.left.endpoint.abort(pair.now, id).unwrap();
        pair.drain();
    }
}

#[test]
fn a_caller_that_names_no_port_is_given_dynamic_ones_in_turn() {
    let mut pair = Pair::new(1, WireFaults::none(DELAY));
    let (mut any, right) = (pair.left.socket(), pair.right.socket());
    any.set_port(0);
    let ports: Vec<u16> = (0..3)
        .map(|_| {
            let id = pair
                .left
                .endpoint
                .connect(pair.now, any, right, TcpConfig::default(), &mut pair.left.stream)
                .unwrap();
            pair.left.endpoint.snapshot(id).unwrap().local.port()
        })
        .collect();
    assert_eq!(ports, [49_152, 49_153, 49_154]);
}

/// RFC 9293, section 3.10.7.3.
#[test]
fn a_call_answers_what_acknowledges_something_else_with_a_reset_and_goes_on() {
    let mut pair = Pair::new(1, WireFaults::none(DELAY));
    let (left, right) = (pair.left.socket(), pair.right.socket());
    pair.left.id = Some(
        pair.left
            .endpoint
            .connect(pair.now, left, right, TcpConfig::default(), &mut pair.left.stream)
            .unwrap(),
    );
    pair.drain();
    pair.right.endpoint.listen(crate::pair::PORT, TcpConfig::default(), crate::pair::chance()).unwrap();
    pair.run_for(DELAY / 2);
    // The resets are lost: only the call arrives.
    pair.rightwards.lose(1);
    pair.rightwards.lose(2);
    let syn = pair.left.sent[0].segment;
    let acknowledgment = syn.sequence.plus(2);
    let stale = Segment { flags: Flags::ACK, acknowledgment, sequence: SequenceNumber(7), ..syn };
    for (flags, answers) in [(Flags::ACK, 1), (Flags::SYN | Flags::ACK, 1), (Flags::RST | Flags::ACK, 0)] {
        let before = pair.left.sent.len();
        pair.inject_left(&Segment { flags, ..stale }, Bytes::new());
        let sent = &pair.left.sent[before..];
        assert_eq!(sent.len(), answers, "{flags:?}");
        for traced in sent {
            assert_eq!((traced.segment.flags, traced.segment.sequence), (Flags::RST, acknowledgment));
        }
        assert_eq!(pair.left.snapshot().state, ConnectionState::SynSent);
    }
    pair.run_for(DELAY * 2);
    let snapshot = pair.left.snapshot();
    assert_eq!((snapshot.state, snapshot.srtt), (ConnectionState::Established, Some(DELAY * 2)));
}

/// RFC 2018, section 2: only if both sides want it.
#[test]
fn sack_is_used_if_both_sides_offer_it_and_losses_are_repaired_in_any_case() {
    for (left, right) in [(true, true), (true, false), (false, true), (false, false)] {
        let config = |sack| TcpConfig { sack, mss_bytes: 1_000, ..TcpConfig::default() };
        let mut pair = Pair::connected(config(left), config(right));
        pair.rightwards.lose(pair.rightwards.sent() + 2);
        pair.write_left(pattern(10_000));
        pair.run_for(Duration::from_secs(3));
        assert!(pair.right.received == pattern(10_000));
        let has_blocks = pair.right.sent.iter().any(|traced| !traced.segment.options.sack.is_empty());
        assert_eq!(has_blocks, left && right, "{left} and {right}");
        let snapshot = pair.left.snapshot();
        assert_eq!((snapshot.retransmissions, snapshot.fast_recoveries, snapshot.timeouts), (1, 1, 0));
    }
}

#[test]
fn nobody_listening_refuses_a_call() {
    let mut pair = Pair::new(1, WireFaults::none(DELAY));
    let (from, to) = (pair.left.socket(), pair.right.socket());
    pair.left.endpoint.connect(pair.now, from, to, TcpConfig::default(), &mut pair.left.stream).unwrap();
    pair.drain();
    pair.run_to_end(Duration::from_secs(300));
    assert_eq!(pair.left.events, [Event::Reset(ResetCause::Refused)]);
    assert_eq!(pair.right.endpoint.statistics().strays, 1);
}

#[test]
fn an_unanswered_call_fails_after_its_repetitions() {
    let mut pair = Pair::new(1, WireFaults::none(DELAY));
    pair.rightwards.cut();
    let (from, to) = (pair.left.socket(), pair.right.socket());
    pair.left.endpoint.connect(pair.now, from, to, TcpConfig::default(), &mut pair.left.stream).unwrap();
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
    let mut pair = Pair::calling(1, WireFaults::none(DELAY), TcpConfig::default(), TcpConfig::default());
    pair.write_left(pattern(3_000));
    let id = pair.left.id();
    pair.left.endpoint.close(pair.now, id).unwrap();
    pair.drain();
    // Closing before the answer gives the call up (RFC 9293, section 3.10.4).
    pair.run_to_end(Duration::from_secs(300));
    assert_eq!(pair.left.events, [Event::Closed]);
    let mut pair = Pair::calling(1, WireFaults::none(DELAY), TcpConfig::default(), TcpConfig::default());
    pair.write_left(pattern(3_000));
    pair.run_for(Duration::from_secs(1));
    assert!(pair.right.received == pattern(3_000));
}

#[test]
fn a_call_given_up_at_once_sends_nothing() {
    for aborts in [false, true] {
        let mut pair = Pair::new(1, WireFaults::none(DELAY));
        let (from, to) = (pair.left.socket(), pair.right.socket());
        let id = pair
            .left
            .endpoint
            .connect(pair.now, from, to, TcpConfig::default(), &mut pair.left.stream)
            .unwrap();
        if aborts {
            pair.left.endpoint.abort(pair.now, id).unwrap();
        } else {
            pair.left.endpoint.close(pair.now, id).unwrap();
        }
        pair.drain();
        pair.run_to_end(Duration::from_secs(300));
        assert!(pair.left.sent.is_empty());
        assert!(
            pair.left
                .endpoint
                .connect(pair.now, from, to, TcpConfig::default(), &mut pair.left.stream)
                .is_ok()
        );
    }
}

#[test]
fn an_address_pair_is_used_once() {
    let mut pair = Pair::connected(TcpConfig::default(), TcpConfig::default());
    let (from, to) = (pair.left.socket(), pair.right.socket());
    assert!(
        pair.left.endpoint.connect(pair.now, from, to, TcpConfig::default(), &mut pair.left.stream).is_err()
    );
    let mut any = from;
    any.set_port(0);
    assert!(
        pair.left.endpoint.connect(pair.now, any, to, TcpConfig::default(), &mut pair.left.stream).is_ok()
    );
    assert!(pair.right.endpoint.listen(to.port(), TcpConfig::default(), crate::pair::chance()).is_err());
}

/// The answer of a listener with a family of streams to a SYN that comes from a port after so many milliseconds.
fn answer(port: u16, at_millis: u64) -> Segment {
    let now = Instant::from_millis(at_millis);
    let mut server = Endpoint::default();
    let family = StreamFamily::new(&mut Seed::new(1, 0).stream("listener"));
    server.listen(crate::pair::PORT, TcpConfig::default(), Chance::ByPeer(family)).unwrap();
    let mut client = Endpoint::default();
    let (from, to) = (([10, 0, 0, 1], port).into(), ([10, 0, 0, 2], crate::pair::PORT).into());
    let mut chance = Seed::new(1, 0).stream("call");
    client.connect(now, from, to, TcpConfig::default(), &mut chance).unwrap();
    let mut packet = Packet::default();
    let Output::Transmit(Envelope { source, destination, fields: ip }) = client.poll_output(now, &mut packet)
    else {
        panic!("nobody calls")
    };
    server.handle_input(now, Input::Packet { source, destination, ip, packet: &mut packet });
    let Output::Transmit(Envelope { source, destination, .. }) = server.poll_output(now, &mut packet) else {
        panic!("nobody answers")
    };
    Segment::parse(&packet, source, destination).unwrap().0
}

/// RFC 9293, section 3.4.1: M + F(addresses, ports, secret), where M goes on by one every 4 microseconds.
#[test]
fn a_listener_numbers_each_peer_by_its_own_and_a_later_call_by_the_clock() {
    let [first, again, later, other] =
        [(40_000, 0), (40_000, 0), (40_000, 40), (40_001, 0)].map(|(port, at)| answer(port, at).sequence);
    assert_eq!(again, first);
    assert_eq!(later, first.plus(10_000));
    assert!(other != first && other != first.plus(1), "{other:?} follows from {first:?}");
}

#[test]
fn what_a_connection_says_in_ip_headers_is_in_every_packet_of_it() {
    let ip = IpFields { hop_limit: 9, dscp: Dscp::new(46).unwrap(), ecn: Ecn::Capable0 };
    let mut endpoint = Endpoint::default();
    let (from, to) = (([10, 0, 0, 1], 40_000).into(), ([10, 0, 0, 2], 80).into());
    let config = TcpConfig { ip, ..TcpConfig::default() };
    endpoint.connect(Instant::START, from, to, config, &mut Seed::new(1, 0).stream("call")).unwrap();
    let Output::Transmit(Envelope { fields: sent, .. }) =
        endpoint.poll_output(Instant::START, &mut Packet::default())
    else {
        panic!("no SYN")
    };
    assert_eq!(sent, ip);
}

#[test]
fn an_endpoint_is_idle_once_what_follows_has_been_polled() {
    let mut endpoint = Endpoint::default();
    assert!(endpoint.is_idle());
    let mut chance = Seed::new(1, 0).stream("call");
    let ids = [40_000, 40_001, 40_002].map(|port| {
        let (from, to) = (([10, 0, 0, 1], port).into(), ([10, 0, 0, 2], 80).into());
        endpoint.connect(Instant::START, from, to, TcpConfig::default(), &mut chance).unwrap()
    });
    // Each has a place of its own.
    assert_eq!(ids.map(slantpath_tcp::ConnectionId::index), [0, 1, 2]);
    assert!(!endpoint.is_idle());
    // Each sends its SYN.
    let mut is_waiting =
        || matches!(endpoint.poll_output(Instant::START, &mut Packet::default()), Output::Wait(_));
    assert_eq!((0..100).position(|_| is_waiting()), Some(3));
    assert!(endpoint.is_idle());
    // A segment for nobody is answered by a reset.
    let mut stranger = Endpoint::default();
    let (from, to) = (([10, 0, 0, 2], 50_000).into(), ([10, 0, 0, 1], 9).into());
    stranger.connect(Instant::START, from, to, TcpConfig::default(), &mut chance).unwrap();
    let mut packet = Packet::default();
    let Output::Transmit(Envelope { source, destination, fields: ip }) =
        stranger.poll_output(Instant::START, &mut packet)
    else {
        panic!("no SYN")
    };
    let input = Input::Packet { source, destination, ip, packet: &mut packet };
    endpoint.handle_input(Instant::START, input);
    assert!(!endpoint.is_idle());
}
