//! Marks of congestion (RFC 4960, appendix A): who may be marked, who tells of marks for how long, and what they do to
//! the windows.

use proptest::prelude::*;

use super::*;
use crate::chunk::{Cwr, Ecne};
use crate::config::LossDetection;
use crate::packet::CommonHeader;
use slantpath_base::Probability;

fn config() -> SctpConfig {
    SctpConfig { ecn: true, sack_frequency: 1, ..quiet() }
}

/// Contents of a packet, with marks and their answers by the place of the TSN among those of the sender of the DATA.
fn outline(sent: &Sent) -> String {
    let place = |tsn: Tsn, of: usize| tsn.0.wrapping_sub((u32::MAX - 3).wrapping_add(10 * of as u32));
    let of_chunk = |chunk: &Chunk| match chunk {
        Chunk::Data(data) => format!("{}", place(data.tsn, sent.from)),
        Chunk::Sack(sack) => format!("ack {}", place(sack.cumulative_tsn_ack, 1 - sent.from).cast_signed()),
        Chunk::Ecne(ecne) => format!("ecne {}", place(ecne.lowest_tsn, 1 - sent.from)),
        Chunk::Cwr(cwr) => format!("cwr {}", place(cwr.lowest_tsn, sent.from)),
        other => format!("{other:?}"),
    };
    let chunks: Vec<String> = sent.chunks.iter().map(of_chunk).collect();
    let ecn = match sent.ecn {
        ip::Ecn::NotCapable => "-",
        ip::Ecn::Capable0 => "ect",
        ip::Ecn::Capable1 => "ect1",
        ip::Ecn::CongestionExperienced => "ce",
    };
    format!("{} {} {ecn} [{}]", sent.from, sent.path, chunks.join(", "))
}

fn outlines(wire: &Wire, from: usize) -> Vec<String> {
    wire.log[from..].iter().map(outline).collect()
}

fn path_of(wire: &Wire, end: usize, path: u8) -> crate::path::PathSnapshot {
    wire.ends[end].path_snapshots(wire.now).nth(path.into()).unwrap()
}

fn marks(first: u32) -> impl Fn(&Sent) -> bool {
    move |sent| sent.from == 0 && sent.tsns().first() == Some(&(u32::MAX - 3).wrapping_add(first))
}

#[test]
fn a_mark_is_told_with_every_sack_until_it_is_answered() {
    let mut wire = Wire::new(1, config());
    // One packet of 1,000 bytes every 20 ms; the first is marked.
    wire.mark(marks(0));
    for context in 0..8 {
        wire.send(0, context..context + 1, 1_000);
        wire.run_until(wire.now + Duration::from_millis(20));
    }
    wire.run_to_rest();
    assert_eq!(
        outlines(&wire, 0),
        [
            "0 0 ce [0]",
            "0 0 ect [1]",
            "0 0 ect [2]",
            "1 0 - [ecne 0, ack 0]",
            "0 0 ect [3]",
            "1 0 - [ecne 0, ack 1]",
            "0 0 ect [4]",
            "1 0 - [ecne 0, ack 2]",
            "0 0 - [cwr 0]",
            "0 0 ect [5]",
            "1 0 - [ecne 0, ack 3]",
            "0 0 - [cwr 0]",
            "0 0 ect [6]",
            "1 0 - [ecne 0, ack 4]",
            "0 0 - [cwr 0]",
            "0 0 ect [7]",
            "1 0 - [ack 5]",
            "0 0 - [cwr 0]",
            "1 0 - [ack 6]",
            "0 0 - [cwr 0]",
            "1 0 - [ack 7]",
        ]
    );
}

#[test]
fn the_lowest_tsn_of_a_marked_packet_is_told_and_a_copy_that_comes_late_tells_nothing() {
    let mut wire = Wire::new(1, config());
    wire.mark(|sent| sent.from == 0);
    wire.decide(|sent| match sent.from {
        0 if sent.has_data() => SmallVec::from_slice(&[DELAY, Duration::from_millis(250)]),
        _ => arrives(),
    });
    wire.send(0, 0..3, 100);
    wire.run_to_rest();
    assert_eq!(
        outlines(&wire, 0),
        ["0 0 ce [0, 1, 2]", "1 0 - [ecne 0, ack 2]", "0 0 - [cwr 0]", "1 0 - [ack 2]"]
    );
}

#[test]
fn a_marked_packet_that_comes_late_does_not_replace_the_mark_of_a_later_one() {
    let mut wire = Wire::new(1, config());
    wire.mark(|sent| sent.from == 0);
    let mut is_first = true;
    wire.decide(move |sent| {
        let is_overtaken = sent.from == 0 && sent.has_data() && core::mem::take(&mut is_first);
        if is_overtaken { SmallVec::from_slice(&[DELAY + DELAY / 10]) } else { arrives() }
    });
    wire.send(0, 0..1, 1_000);
    wire.send(0, 1..2, 1_000);
    wire.run_to_rest();
    assert_eq!(
        outlines(&wire, 0),
        [
            "0 0 ce [0]",
            "0 0 ce [1]",
            "1 0 - [ecne 1, ack -1]",
            "1 0 - [ecne 1, ack 1]",
            "0 0 - [cwr 1]",
            "0 0 - [cwr 1]",
        ]
    );
}

#[test]
fn an_answer_takes_the_path_of_the_echo_unless_that_is_not_confirmed() {
    for (is_confirmed, expected) in [(true, "0 1 - [cwr 0]"), (false, "0 0 - [cwr 0]")] {
        let tcbs = [0, 1].map(|end| {
            let mut tcb = tcb(end, 2, &config());
            tcb.peer_addresses[1].is_confirmed = is_confirmed;
            tcb
        });
        let mut wire = Wire::with_tcbs(tcbs, [config(), config()]);
        wire.decide(|_| is_lost());
        wire.send(0, 0..1, 1_000);
        let from = wire.log.len();
        wire.inject(0, 1, &[Chunk::Ecne(Ecne { lowest_tsn: Tsn(u32::MAX - 3) })]);
        assert_eq!(outlines(&wire, from), [expected]);
    }
}

/// DATA with a TSN of end 1.
fn from_the_peer(place: u32) -> Chunk {
    Chunk::Data(Data {
        flags: DataFlags::WHOLE,
        tsn: Tsn((u32::MAX - 3).wrapping_add(10 + place)),
        stream: StreamId(0),
        sequence: StreamSequence(place as u16),
        ppid: Ppid(0),
        payload: bytes::Bytes::from_static(b"data"),
    })
}

/// A packet of 1,480 bytes has 1,468 for chunks: 16 are the SACK, 8 each ECNE and 16 the header of DATA.
#[test]
fn data_that_leaves_no_room_for_an_echo_does_not_wait_for_a_sack_that_may() {
    for (paths, len, expected) in [
        (1, 1_428, "0 0 ect [ecne 0, ack 0, 0]"),
        (1, 1_429, "0 0 ect [0]"),
        (2, 1_420, "0 0 ect [ecne 0, ecne 1, ack 1, 0]"),
        (2, 1_421, "0 0 ect [0]"),
    ] {
        let mut wire = Wire::new(paths, SctpConfig { sack_frequency: 9, ..config() });
        // The last of them came on the path that DATA takes.
        for (place, path) in (0..).zip((0..paths).rev()) {
            wire.hand_in_marked(0, path, &[from_the_peer(place)]);
        }
        wire.drain();
        let from = wire.log.len();
        wire.send(0, 0..1, len);
        assert_eq!(outlines(&wire, from), [expected], "{paths} paths, {len} bytes");
    }
}

#[test]
fn a_sack_of_as_many_blocks_as_fit_leaves_room_for_the_echo() {
    let mut wire = Wire::new(1, config());
    // Every second one of 800 is missing: 400 blocks, of which (1,468 - 8 - 16) / 4 fit.
    for place in 0..400 {
        wire.hand_in_marked(0, 0, &[from_the_peer(2 * place + 1)]);
    }
    wire.drain();
    let last = wire.log.last().unwrap();
    assert!(matches!(last.chunks[0], Chunk::Ecne(_)));
    assert_eq!(last.sack().map(|sack| sack.gap_ack_blocks.len()), Some(361));
    assert_eq!(last.packet.len(), 1_480);
}

#[test]
fn a_mark_halves_the_window_of_its_path_once_and_no_other() {
    let mut wire = Wire::new(2, config());
    wire.mark(|sent| sent.from == 0);
    wire.send(0, 0..40, 1_400);
    wire.run_until(Instant::from_millis(120));
    // The first window of 4,404 bytes: three packets, all of them marked.
    let path = path_of(&wire, 0, 0);
    assert_eq!((path.cwnd, path.ssthresh, path.stats.mark_reductions), (5_872, 5_872, 1));
    assert_eq!(path_of(&wire, 0, 1).cwnd, 4_404);
    assert_eq!(path_of(&wire, 0, 1).stats.mark_reductions, 0);
    wire.mark(|_| false);
    wire.run_to_rest();
    assert_eq!(wire.received(1), (0..40).collect::<Vec<_>>());
    assert_eq!(path_of(&wire, 0, 0).stats.retransmissions, 0);
}

#[test]
fn marks_of_two_windows_reduce_twice_and_a_window_does_not_grow_on_what_was_sent_before() {
    let large = SctpConfig { initial_cwnd_bytes: Some(40_000), max_burst: u32::MAX, ..config() };
    let mut wire = Wire::new(1, large);
    wire.mark(|sent| {
        sent.from == 0 && [0, 4, 30].map(|place| (u32::MAX - 3).wrapping_add(place)).contains(&sent.tsns()[0])
    });
    wire.send(0, 0..200, 1_400);
    wire.run_until(Instant::from_millis(102));
    assert_eq!(path_of(&wire, 0, 0).cwnd, 20_000);
    wire.run_until(Instant::from_millis(190));
    assert_eq!(path_of(&wire, 0, 0).cwnd, 20_000);
    assert_eq!(path_of(&wire, 0, 0).stats.mark_reductions, 1);
    wire.run_to_rest();
    assert_eq!(path_of(&wire, 0, 0).stats.mark_reductions, 2);
    assert_eq!(wire.received(1), (0..200).collect::<Vec<_>>());
}

#[test]
fn what_is_sent_again_or_probes_a_closed_window_or_carries_no_data_may_not_be_marked() {
    let small = SctpConfig { receive_buffer_bytes: 4_000, ..config() };
    let mut wire = Wire::new(1, small);
    let mut lost = 0;
    wire.decide(move |sent| {
        let is_lost_now = sent.from == 0 && sent.has_data() && lost == 0;
        lost += u32::from(is_lost_now);
        if is_lost_now { is_lost() } else { arrives() }
    });
    wire.send(0, 0..3, 1_000);
    wire.run_to_rest();
    let log = outlines(&wire, 0);
    assert_eq!(log.iter().filter(|line| line.starts_with("0 0 ect [0")).count(), 1);
    assert_eq!(log.iter().filter(|line| line.starts_with("0 0 - [0")).count(), 1, "{log:?}");
    assert!(wire.log.iter().all(|sent| sent.has_data() || sent.ecn == ip::Ecn::NotCapable));
    // The reader pauses: what follows fills the buffer, and then probes it.
    wire.ends[1].pause_delivery();
    let from = wire.log.len();
    for context in 3..12 {
        wire.send(0, context..context + 1, 500);
        wire.run_until(wire.now + Duration::from_secs(2));
    }
    let log = outlines(&wire, from);
    let data: Vec<&str> = log.iter().filter(|line| line.starts_with('0')).map(String::as_str).collect();
    let expected = ["0 0 ect [9]", "0 0 ect [10]", "0 0 - [11]", "0 0 - [11]"];
    assert_eq!(data[6..], expected);
}

#[test]
fn a_loss_in_a_window_that_a_mark_has_reduced_does_not_reduce_it_again() {
    for loss_detection in [LossDetection::MissIndications, LossDetection::Rack] {
        let large =
            SctpConfig { initial_cwnd_bytes: Some(40_000), max_burst: u32::MAX, loss_detection, ..config() };
        let mut wire = Wire::new(1, large);
        wire.mark(marks(0));
        let mut is_first = true;
        let lost = (u32::MAX - 3).wrapping_add(5);
        wire.decide(move |sent| {
            let loses = sent.from == 0 && sent.tsns().contains(&lost) && core::mem::take(&mut is_first);
            if loses { is_lost() } else { arrives() }
        });
        wire.send(0, 0..60, 1_400);
        wire.run_until(Instant::from_millis(150));
        wire.run_to_rest();
        let path = path_of(&wire, 0, 0);
        let counts = (path.stats.mark_reductions, path.stats.retransmissions, path.stats.timeouts);
        assert_eq!((counts, path.ssthresh), ((1, 1, 0), 20_000), "{loss_detection:?}");
        assert_eq!(wire.received(1), (0..60).collect::<Vec<_>>());
    }
}

#[test]
fn a_mark_in_a_window_that_a_loss_has_reduced_does_not_reduce_it_again() {
    for loss_detection in [LossDetection::MissIndications, LossDetection::Rack] {
        let large =
            SctpConfig { initial_cwnd_bytes: Some(40_000), max_burst: u32::MAX, loss_detection, ..config() };
        let run = |is_marked: bool| {
            let mut wire = Wire::new(1, large.clone());
            let is_it = marks(20);
            wire.mark(move |sent| is_marked && is_it(sent));
            let mut is_first = true;
            wire.decide(move |sent| {
                let loses = sent.from == 0 && sent.has_data() && core::mem::take(&mut is_first);
                if loses { is_lost() } else { arrives() }
            });
            wire.send(0, 0..60, 1_400);
            wire.run_to_rest();
            wire
        };
        let (with, without) = (run(true), run(false));
        let [path, other] = [&with, &without].map(|wire| path_of(wire, 0, 0));
        assert_eq!(path.stats.mark_reductions, 0);
        assert!(path.stats.retransmissions > 0);
        assert_eq!(path.ssthresh, other.ssthresh, "{loss_detection:?}");
        let log = outlines(&with, 0);
        assert!(
            log.iter().any(|line| line.contains("ecne 20")) && log.iter().any(|line| line.contains("cwr 20"))
        );
    }
}

#[test]
fn an_answer_that_is_lost_is_given_again_and_an_older_one_ends_nothing() {
    let mut wire = Wire::new(1, config());
    wire.mark(marks(0));
    let mut answers = 0;
    wire.decide(move |sent| {
        let is_answer = sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::Cwr(_)));
        answers += u32::from(is_answer);
        if is_answer && answers == 1 { is_lost() } else { arrives() }
    });
    wire.send(0, 0..1, 1_000);
    wire.run_to_rest();
    assert_eq!(outlines(&wire, 0), ["0 0 ce [0]", "1 0 - [ecne 0, ack 0]", "0 0 - [cwr 0]"]);
    // The mark is told again with the next SACK, and of a higher TSN once that is marked, too.
    wire.mark(marks(1));
    let from = wire.log.len();
    wire.send(0, 1..2, 1_000);
    wire.run_to_rest();
    assert_eq!(outlines(&wire, from), ["0 0 ce [1]", "1 0 - [ecne 1, ack 1]", "0 0 - [cwr 1]"]);
    wire.mark(marks(2));
    wire.send(0, 2..3, 1_000);
    wire.run_until(wire.now + DELAY);
    let below = Tsn((u32::MAX - 3).wrapping_add(1));
    wire.inject(1, 0, &[Chunk::Cwr(Cwr { lowest_tsn: below })]);
    let from = wire.log.len();
    let is_answer = |sent: &Sent| sent.chunks.iter().any(|chunk| matches!(chunk, Chunk::Cwr(_)));
    wire.decide(move |sent| if sent.from == 1 || is_answer(sent) { is_lost() } else { arrives() });
    wire.send(0, 3..4, 1_000);
    wire.run_until(wire.now + DELAY);
    assert_eq!(outlines(&wire, from), ["0 0 ect [3]", "0 0 - [cwr 2]", "1 0 - [ecne 2, ack 3]"]);
    wire.inject(1, 0, &[Chunk::Cwr(Cwr { lowest_tsn: below.plus(5) })]);
    let from = wire.log.len();
    wire.send(0, 4..5, 1_000);
    wire.run_until(wire.now + DELAY);
    assert_eq!(outlines(&wire, from), ["0 0 ect [4]", "1 0 - [ack 4]"]);
}

#[test]
fn what_was_never_sent_or_agreed_on_is_neither_believed_nor_answered() {
    let never_sent = Chunk::Ecne(Ecne { lowest_tsn: Tsn((u32::MAX - 3).wrapping_add(3)) });
    let sent = Chunk::Ecne(Ecne { lowest_tsn: Tsn((u32::MAX - 3).wrapping_add(1)) });
    let before = Chunk::Ecne(Ecne { lowest_tsn: Tsn((u32::MAX - 3).wrapping_sub(900)) });
    for (config, chunk, reductions, answers) in [
        (config(), never_sent, 0, 0),
        (config(), sent.clone(), 1, 1),
        (config(), before, 0, 1),
        (quiet(), sent, 0, 0),
    ] {
        let mut wire = Wire::new(1, config);
        wire.send(0, 0..3, 1_000);
        let from = wire.log.len();
        // However many there are in a packet, one answer is given.
        wire.inject(0, 0, &vec![chunk; 40]);
        let path = path_of(&wire, 0, 0);
        assert_eq!(path.stats.mark_reductions, reductions);
        assert_eq!(wire.log.len() - from, answers);
        assert_eq!(path.cwnd, if reductions == 1 { 5_872 } else { 4_404 });
    }
}

/// Hands a packet of these octets behind the common header to end 0.
fn hand_octets(wire: &mut Wire, octets: &[u8]) {
    let header = CommonHeader {
        source_port: wire.ends[0].tcb.peer_port,
        destination_port: wire.ends[0].tcb.local_port,
        verification_tag: wire.ends[0].tcb.local_tag,
    };
    let mut bytes = header.write(0).to_vec();
    bytes.extend_from_slice(octets);
    let packet = Packet::shared(bytes.into(), slantpath_wire::Checksum::Omitted);
    let parsed = ParsedPacket::parse(&packet).unwrap();
    wire.ends[0].handle_packet(wire.now, &parsed, address(1, 0), ip::IpFields::default());
    wire.drain();
}

#[test]
fn chunks_of_a_wrong_length_are_counted_and_left_alone() {
    let tsn = (u32::MAX - 3).to_be_bytes();
    let [a, b, c, d] = tsn;
    let mut wire = Wire::new(1, config());
    wire.send(0, 0..3, 1_000);
    for kind in [12, 13] {
        for octets in [vec![kind, 0, 0, 4], vec![kind, 0, 0, 6, a, b, 0, 0], vec![kind, 0, 0, 2]] {
            hand_octets(&mut wire, &octets);
        }
    }
    assert_eq!(path_of(&wire, 0, 0).stats.mark_reductions, 0);
    assert_eq!(wire.ends[0].snapshot().stats.malformed_chunks, 6);
    // A later form of the chunk counts the marked packets behind the TSN.
    hand_octets(&mut wire, &[12, 0, 0, 12, a, b, c, d, 0, 0, 0, 1]);
    assert_eq!(path_of(&wire, 0, 0).stats.mark_reductions, 1);
    assert_eq!(wire.ends[0].snapshot().stats.malformed_chunks, 6);
}

#[test]
fn the_ecn_field_of_the_configuration_is_not_used_with_ecn_and_untouched_without() {
    for (ecn, expected) in [(true, ip::Ecn::NotCapable), (false, ip::Ecn::Capable1)] {
        let ip = ip::IpFields { ecn: ip::Ecn::Capable1, ..ip::IpFields::default() };
        let mut wire = Wire::new(1, SctpConfig { ecn, ip, ..config() });
        wire.send(0, 0..1, 100);
        wire.run_to_rest();
        assert_eq!(wire.log[1].ecn, expected);
    }
}

fn chance(most: f64) -> impl Strategy<Value = Probability> {
    prop_oneof![Just(0.0), 0.0..most].prop_map(|value| Probability::new(value).expect("a probability"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn under_marks_and_losses_no_association_stalls_and_no_echo_lasts(
        seed: u64,
        loss in chance(0.2),
        marking in chance(0.7),
        paths in 1_usize..3,
        is_timed: bool,
        amounts in [1_u64..120, 0_u64..60],
        len in 100_usize..3_000,
    ) {
        let loss_detection = if is_timed { LossDetection::Rack } else { LossDetection::MissIndications };
        let config = SctpConfig {
            ecn: true,
            loss_detection,
            association_max_retrans: 60,
            path_max_retrans: 60,
            ..quiet()
        };
        let mut wire = Wire::new(paths, config);
        let mut fates = Seed::new(seed, 0).stream("fates");
        let mut marks = Seed::new(seed, 0).stream("marks");
        wire.decide(move |_| if fates.happens(loss) { is_lost() } else { arrives() });
        wire.mark(move |_| marks.happens(marking));
        for (end, amount) in amounts.into_iter().enumerate() {
            wire.send(end, 0..amount, len);
        }
        wire.run_to_rest();
        for (end, amount) in amounts.into_iter().enumerate() {
            prop_assert_eq!(wire.received(1 - end), (0..amount).collect::<Vec<_>>());
        }
        // Without marks and losses the next SACK tells of what is unanswered, and the one behind the answer of nothing.
        wire.decide(|_| arrives());
        wire.mark(|_| false);
        for context in 200..202 {
            for end in [0, 1] {
                wire.send(end, context..context + 1, 100);
            }
            wire.run_to_rest();
        }
        for ecn in wire.ends.iter().filter_map(|end| end.ecn.as_ref()) {
            prop_assert!(ecn.is_settled());
        }
        for sent in &wire.log {
            let kinds: Vec<u8> = sent.chunks.iter().map(|chunk| match chunk {
                Chunk::Cwr(_) => 0,
                Chunk::Ecne(_) => 1,
                Chunk::Sack(_) => 2,
                Chunk::Data(_) => 3,
                other => panic!("{other:?}"),
            }).collect();
            prop_assert!(kinds.is_sorted(), "{}", outline(sent));
            prop_assert!(!kinds.contains(&1) || kinds.contains(&2), "{}", outline(sent));
        }
    }
}
