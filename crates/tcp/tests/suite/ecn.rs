//! Explicit congestion notification (RFC 3168): who may be marked, what a mark does, and what becomes of peers without
//! it.

use slantpath_base::{Duration, Probability, Seed};
use slantpath_cc::{Algorithm, InitialWindow};
use slantpath_tcp::{
    DelayedAck, Endpoint, Event, Flags, Input, LossDetection, Output, SackRecovery, Segment, TcpConfig,
};
use slantpath_testkit::WireFaults;
use slantpath_wire::Packet;
use slantpath_wire::ip::{Ecn, Envelope, IpFields};

use crate::pair::{Marking, PORT, Pair, Side, chance, pattern};

const SETUP: Flags = Flags(Flags::ECE.0 | Flags::CWR.0);

/// Segments of 1,000 bytes, ten of them at first, each acknowledged at once.
fn config() -> TcpConfig {
    TcpConfig {
        ecn: true,
        mss_bytes: 1_000,
        initial_window: InitialWindow::Segments(10),
        delayed_ack: DelayedAck::Off,
        ..TcpConfig::default()
    }
}

fn without() -> TcpConfig {
    TcpConfig { ecn: false, ..config() }
}

/// Control bits of ECN that the first segments of a side have, SYN and all.
fn bits(side: &Side, count: usize) -> Vec<Flags> {
    side.sent.iter().take(count).map(|traced| Flags(traced.segment.flags.0 & SETUP.0)).collect()
}

/// The numbers of the segments with data, by their place in the stream, that have CWR.
fn reductions(side: &Side) -> Vec<u32> {
    let first = side.sent[0].segment.sequence.plus(1);
    let with_cwr = side.sent.iter().skip(1).filter(|traced| traced.segment.flags.contains(Flags::CWR));
    with_cwr.map(|traced| traced.segment.sequence.distance_from(first) / 1_000).collect()
}

/// Number of acknowledgements that have ECE.
fn echoes(side: &Side) -> usize {
    side.sent.iter().skip(1).filter(|traced| traced.segment.flags.contains(Flags::ECE)).count()
}

fn is_in_use(pair: &mut Pair) -> [bool; 2] {
    pair.write_left(pattern(1_000));
    pair.write_right(pattern(1_000));
    pair.run_for(Duration::from_secs(1));
    [&pair.left, &pair.right].map(|side| {
        let of_data: Vec<Ecn> =
            side.sent.iter().filter(|traced| traced.len > 0).map(|traced| traced.ecn).collect();
        assert_eq!(of_data.len(), 1);
        assert!(side.sent.iter().all(|traced| traced.len > 0 || traced.ecn == Ecn::NotCapable));
        of_data[0] == Ecn::Capable0
    })
}

#[test]
fn it_is_used_where_both_ends_ask_for_it_and_nowhere_else() {
    let none = Flags::default();
    for (left, right, left_bits, right_bits, is_used) in [
        (config(), config(), SETUP, Flags::ECE, true),
        (config(), without(), SETUP, none, false),
        (without(), config(), none, none, false),
        (without(), without(), none, none, false),
    ] {
        let mut pair = Pair::connected(left, right);
        // SYN and its answer; and then no bit of the two.
        assert_eq!(bits(&pair.left, 2), [left_bits, none]);
        assert_eq!(bits(&pair.right, 1), [right_bits]);
        assert_eq!(is_in_use(&mut pair), [is_used; 2]);
        assert_eq!(pair.left.snapshot().mark_reductions, 0);
    }
}

#[test]
fn data_may_be_marked_and_what_is_sent_again_or_carries_none_may_not() {
    let ip = IpFields { ecn: Ecn::Capable1, ..IpFields::default() };
    let mut pair = Pair::connected(TcpConfig { ip, ..config() }, config());
    pair.rightwards.lose(pair.rightwards.sent() + 2);
    pair.write_left(pattern(8_000));
    pair.run_for(Duration::from_secs(3));
    let id = pair.left.id();
    pair.left.endpoint.close(pair.now, id).unwrap();
    pair.drain();
    pair.run_for(Duration::from_secs(3));
    let first = pair.left.sent[0].segment.sequence.plus(1);
    let data: Vec<(u32, Ecn)> = pair.left.sent[2..]
        .iter()
        .filter(|traced| traced.len > 0)
        .map(|traced| (traced.segment.sequence.distance_from(first) / 1_000, traced.ecn))
        .collect();
    let new = (0..8).map(|number| (number, Ecn::Capable0));
    assert_eq!(data, new.chain([(2, Ecn::NotCapable)]).collect::<Vec<_>>());
    let others = pair.left.sent.iter().chain(&pair.right.sent).filter(|traced| traced.len == 0);
    assert!(others.clone().any(|traced| traced.segment.flags.contains(Flags::FIN)));
    assert!(others.into_iter().all(|traced| traced.ecn == Ecn::NotCapable));
}

#[test]
fn a_mark_halves_the_window_and_is_echoed_until_the_peer_says_so() {
    let mut pair = Pair::connected(config(), config());
    pair.left.marking = Marking::These(vec![3]);
    pair.write_left(pattern(40_000));
    // The acknowledgements of the first three open the window from 10 to 13 segments; 13 are in flight when the
    // fourth comes back with the echo.
    pair.run_for(Duration::from_millis(100));
    let snapshot = pair.left.snapshot();
    assert_eq!((snapshot.cwnd_bytes, snapshot.ssthresh_bytes), (6_500, 6_500));
    assert_eq!(snapshot.mark_reductions, 1);
    pair.run_for(Duration::from_secs(3));
    let snapshot = pair.left.snapshot();
    assert_eq!((snapshot.mark_reductions, snapshot.retransmissions, snapshot.fast_recoveries), (1, 0, 0));
    // Sixteen were sent before the echo came, six of them on three acknowledgements. The next is the first of the
    // smaller window.
    assert_eq!(reductions(&pair.left), [16]);
    // All but the first three of those are acknowledged with an echo.
    assert_eq!(echoes(&pair.right), 13);
    assert_eq!(pair.right.received, pattern(40_000));
}

#[test]
fn several_marks_in_one_window_count_once_and_those_of_the_next_again() {
    let mut pair = Pair::connected(config(), config());
    // The first six of the window, and the one that announces the reduction.
    pair.left.marking = Marking::These(vec![0, 1, 5, 10]);
    pair.write_left(pattern(60_000));
    pair.run_for(Duration::from_millis(100));
    // Ten were in flight, and the first came back with an echo.
    assert_eq!(pair.left.snapshot().cwnd_bytes, 5_000);
    assert_eq!(pair.left.snapshot().mark_reductions, 1);
    pair.run_for(Duration::from_millis(100));
    assert_eq!(reductions(&pair.left)[0], 10);
    // Segment 10 says that the window was reduced, and was itself marked.
    assert_eq!(pair.left.snapshot().mark_reductions, 2);
    assert_eq!(pair.left.snapshot().cwnd_bytes, 2_500);
    pair.run_for(Duration::from_secs(5));
    assert_eq!(pair.left.snapshot().mark_reductions, 2);
    assert_eq!(reductions(&pair.left).len(), 2);
    assert_eq!(pair.right.received, pattern(60_000));
}

#[test]
fn a_loss_in_a_window_that_a_mark_has_reduced_does_not_reduce_it_again() {
    for (sack, loss_detection) in
        [(true, LossDetection::Rfc6675), (true, LossDetection::Rack), (false, LossDetection::Rfc6675)]
    {
        let base = TcpConfig { sack, loss_detection, ..config() };
        let mut pair = Pair::connected(base, base);
        pair.left.marking = Marking::These(vec![0]);
        pair.rightwards.lose(pair.rightwards.sent() + 4);
        pair.write_left(pattern(40_000));
        pair.run_for(Duration::from_secs(4));
        let snapshot = pair.left.snapshot();
        assert_eq!(
            (snapshot.mark_reductions, snapshot.fast_recoveries, snapshot.timeouts),
            (1, 1, 0),
            "{sack}"
        );
        assert_eq!(snapshot.ssthresh_bytes, 5_000, "half of ten, once");
        assert_eq!(pair.right.received, pattern(40_000));
    }
}

#[test]
fn a_mark_in_a_window_that_a_loss_has_reduced_does_not_reduce_it_again() {
    let mut pair = Pair::connected(config(), config());
    pair.left.marking = Marking::These(vec![6]);
    pair.rightwards.lose(pair.rightwards.sent());
    pair.write_left(pattern(40_000));
    pair.run_for(Duration::from_secs(4));
    let snapshot = pair.left.snapshot();
    assert_eq!((snapshot.mark_reductions, snapshot.fast_recoveries), (0, 1));
    assert_eq!(snapshot.ssthresh_bytes, 5_000);
    // The reduction is announced all the same, and the echo ends.
    assert_eq!(reductions(&pair.left).len(), 1);
    assert!(echoes(&pair.right) > 0);
    assert!(!pair.right.sent.last().unwrap().segment.flags.contains(Flags::ECE));
}

#[test]
fn a_window_probe_may_not_be_marked() {
    let small = TcpConfig { receive_buffer_bytes: 3_000, window_scaling: false, ..config() };
    let mut pair = Pair::connected(config(), small);
    let id = pair.right.id();
    pair.right.endpoint.hold(pair.now, id).unwrap();
    pair.write_left(pattern(5_000));
    pair.run_for(Duration::from_secs(20));
    let probes: Vec<Ecn> =
        pair.left.sent.iter().filter(|traced| traced.len == 1).map(|traced| traced.ecn).collect();
    assert!(probes.len() > 2 && probes.iter().all(|&ecn| ecn == Ecn::NotCapable), "{probes:?}");
}

#[test]
fn a_call_that_finds_no_answer_is_repeated_without_and_marks_of_the_peer_are_still_answered() {
    let lossless = WireFaults::none(Duration::from_millis(50));
    let mut pair = Pair::new(1, lossless);
    pair.right.endpoint.listen(PORT, config(), chance()).unwrap();
    let (from, to) = (pair.left.socket(), pair.right.socket());
    let id = pair.left.endpoint.connect(pair.now, from, to, config(), &mut pair.left.stream).unwrap();
    pair.left.id = Some(id);
    pair.rightwards.lose(0);
    pair.drain();
    pair.run_for(Duration::from_millis(1_500));
    // The first SYN was lost: the second asks for nothing.
    assert_eq!(bits(&pair.left, 2), [SETUP, Flags::default()]);
    assert_eq!(bits(&pair.right, 1), [Flags::default()]);
    assert_eq!(is_in_use(&mut pair), [false, false]);

    // The answer to the first is late; the peer hears of no second SYN, and may have its data marked.
    let mut pair = Pair::new(1, lossless);
    pair.right.endpoint.listen(PORT, config(), chance()).unwrap();
    let id = pair.left.endpoint.connect(pair.now, from, to, config(), &mut pair.left.stream).unwrap();
    pair.left.id = Some(id);
    pair.leftwards.set_faults(WireFaults::none(Duration::from_millis(1_000)));
    pair.rightwards.lose(1);
    pair.right.marking = Marking::These(vec![0]);
    pair.drain();
    pair.run_for(Duration::from_millis(1_500));
    assert_eq!(bits(&pair.left, 2), [SETUP, Flags::default()]);
    assert!(pair.left.events.contains(&Event::Connected) && pair.right.events.contains(&Event::Connected));
    pair.leftwards.set_faults(lossless);
    assert_eq!(is_in_use(&mut pair), [false, true]);
    assert_eq!(pair.right.snapshot().mark_reductions, 1);
}

/// Control bits with which an endpoint that uses ECN answers a SYN with these bits, and then one without them.
fn answers(first: Flags) -> [Flags; 2] {
    let mut server = Endpoint::default();
    server.listen(PORT, config(), chance()).unwrap();
    let mut client = Pair::new(1, WireFaults::none(Duration::ZERO));
    let (from, to) = (client.left.socket(), client.right.socket());
    client.left.endpoint.connect(client.now, from, to, without(), &mut client.left.stream).unwrap();
    let mut packet = Packet::default();
    let Output::Transmit(Envelope { source, destination, .. }) =
        client.left.endpoint.poll_output(client.now, &mut packet)
    else {
        panic!("no SYN")
    };
    let (syn, data) = Segment::parse(&packet, source, destination).unwrap();
    [first, Flags::default()].map(|bits| {
        let syn = Segment { flags: syn.flags | bits, ..syn };
        let mut packet = syn.emit(data.clone(), source, destination, slantpath_tcp::ChecksumPolicy::Complete);
        let ip = IpFields::default();
        server.handle_input(client.now, Input::Packet { source, destination, ip, packet: &mut packet });
        let mut packet = Packet::default();
        let Output::Transmit(Envelope { fields, .. }) = server.poll_output(client.now, &mut packet) else {
            panic!("no answer")
        };
        assert_eq!(fields.ecn, Ecn::NotCapable);
        Flags(Segment::parse(&packet, destination, source).unwrap().0.flags.0 & SETUP.0)
    })
}

#[test]
fn a_listener_answers_each_form_of_a_syn() {
    let none = Flags::default();
    assert_eq!(answers(SETUP), [Flags::ECE, none], "a repeated SYN without the bits withdraws the offer");
    for other in [none, Flags::ECE, Flags::CWR] {
        assert_eq!(answers(other), [none, none], "{other:?}");
    }
}

#[test]
fn a_peer_that_reflects_the_bits_of_a_syn_has_agreed_to_nothing() {
    for (bits, is_used) in [(Flags::ECE, true), (SETUP, false), (Flags::CWR, false)] {
        let mut pair = Pair::new(1, WireFaults::none(Duration::from_millis(50)));
        let (from, to) = (pair.left.socket(), pair.right.socket());
        let id = pair.left.endpoint.connect(pair.now, from, to, config(), &mut pair.left.stream).unwrap();
        pair.left.id = Some(id);
        pair.drain();
        let syn = pair.left.sent[0].segment;
        let answer = Segment {
            source_port: PORT,
            destination_port: syn.source_port,
            acknowledgment: syn.sequence.plus(1),
            flags: Flags::SYN | Flags::ACK | bits,
            ..syn
        };
        pair.inject_left(&answer, bytes::Bytes::new());
        pair.write_left(pattern(1_000));
        let data = pair.left.sent.iter().find(|traced| traced.len > 0).unwrap();
        assert_eq!(data.ecn == Ecn::Capable0, is_used, "{bits:?}");
    }
}

#[test]
fn an_echo_from_a_peer_that_agreed_to_nothing_or_without_a_mark_outstanding_is_ignored() {
    for (right, is_used) in [(config(), true), (without(), false)] {
        let mut pair = Pair::connected(config(), right);
        pair.run_for(Duration::from_secs(1));
        let answer = pair.right.sent[0].segment;
        let echo = Segment {
            sequence: answer.sequence.plus(1),
            acknowledgment: pair.left.sent[0].segment.sequence.plus(1),
            flags: Flags::ACK | Flags::ECE,
            options: slantpath_tcp::Options::default(),
            ..answer
        };
        let before = pair.left.snapshot().cwnd_bytes;
        pair.inject_left(&echo, bytes::Bytes::new());
        assert_eq!(pair.left.snapshot().cwnd_bytes, before, "nothing is outstanding");
        pair.write_left(pattern(4_000));
        pair.inject_left(&echo, bytes::Bytes::new());
        assert_eq!(pair.left.snapshot().mark_reductions, u64::from(is_used));
    }
}

/// One random stream under marks and losses; returns how often either end reduced its window for a mark.
fn marked_and_lossy(seed: u64) -> u64 {
    let mut stream = Seed::new(seed, 0).stream("ecn");
    let algorithms =
        [Algorithm::Standard, Algorithm::Cubic, Algorithm::Hybla, Algorithm::Westwood, Algorithm::Backlog];
    let base = TcpConfig {
        congestion_control: algorithms[stream.below(5) as usize],
        sack: stream.below(3) > 0,
        loss_detection: [LossDetection::Rfc6675, LossDetection::Rack][stream.below(2) as usize],
        sack_recovery: [SackRecovery::Rfc6675, SackRecovery::Proportional][stream.below(2) as usize],
        timestamps: stream.below(2) == 0,
        data_retransmission_limit: 40,
        ..config()
    };
    let mut chance = |most: f64| Probability::new(stream.uniform() * most).unwrap();
    let faults = WireFaults {
        loss: chance(0.1),
        duplication: chance(0.05),
        reordering: chance(0.2),
        extra_delay_max: Duration::from_millis(40),
        ..WireFaults::none(Duration::from_millis(50))
    };
    let marks = [chance(0.5), chance(0.5)];
    let mut pair = Pair::calling(seed, faults, base, base);
    for (side, probability) in [&mut pair.left, &mut pair.right].into_iter().zip(marks) {
        side.marking = Marking::By(probability, Seed::new(seed, 1).stream("marks"));
    }
    while pair.left.snapshot().received_bytes == 0 && !pair.right.events.contains(&Event::Connected) {
        assert!(pair.step(), "seed {seed}: no connection");
    }
    pair.write_left(pattern(150_000));
    pair.write_right(pattern(60_000));
    pair.run_to_end(Duration::from_secs(3_000));
    assert!(pair.right.received == pattern(150_000), "seed {seed}: the left stream ends at {}", pair.now);
    assert!(pair.left.received == pattern(60_000), "seed {seed}: the right stream ends at {}", pair.now);
    // Without marks the echo ends with the next new data, whatever has happened.
    pair.rightwards.set_faults(WireFaults::none(Duration::from_millis(50)));
    pair.leftwards.set_faults(WireFaults::none(Duration::from_millis(50)));
    for side in [&mut pair.left, &mut pair.right] {
        side.marking = Marking::These(Vec::new());
    }
    pair.write_left(pattern(30_000));
    pair.run_for(Duration::from_secs(60));
    pair.write_right(pattern(30_000));
    pair.run_for(Duration::from_secs(60));
    pair.left.sent.clear();
    pair.right.sent.clear();
    pair.write_left(pattern(1_000));
    pair.write_right(pattern(1_000));
    pair.run_for(Duration::from_secs(60));
    for side in [&pair.left, &pair.right] {
        let has_echo = side.sent.iter().any(|traced| traced.segment.flags.contains(Flags::ECE));
        assert!(!side.sent.is_empty() && !has_echo, "seed {seed}: the echo has no end");
    }
    pair.left.snapshot().mark_reductions + pair.right.snapshot().mark_reductions
}

#[test]
fn under_marks_and_losses_no_stream_stalls_and_no_echo_lasts() {
    let reductions: u64 = (0..150).map(marked_and_lossy).sum();
    assert!(reductions > 150, "{reductions}");
}
