//! Transmitters that share themselves: by deficit round robin among classes, and among flows with CoDel.

use proptest::prelude::*;
use slantpath_base::{DataRate, Duration, Seed};
use slantpath_net::{
    CoDelConfig, CongestionSignal, DirectionConfig, DirectionCounters, DropReason, DrrClass, DrrConfig,
    FqCoDelConfig, QueueConfig, QueueLimit,
};
use slantpath_wire::ip::{Dscp, IPV4_HEADER_LEN};
use slantpath_wire::{Checksum, Packet};

use crate::fixture::{Pair, address, byte_a_millisecond, millis, packet, packet_of_class};

/// Sends packets, each at its millisecond, over a link on which a byte takes one, and returns the first octet of the
/// payload of each that arrives, with the counters.
fn pass(queue: QueueConfig, sent: Vec<(u64, Packet)>) -> (Vec<u8>, DirectionCounters) {
    let config = DirectionConfig::new(byte_a_millisecond(), Duration::ZERO, queue);
    let mut pair = Pair::with(&config, Seed::new(1, 0), |_, _| {});
    let interface = pair.link.first();
    for (at, packet) in sent {
        pair.network.command(pair.first, |host, _| host.send(millis(at), interface, packet));
    }
    assert!(pair.network.run_to_rest(1_000_000));
    assert_eq!(pair.network.packets_under_way(), 0);
    let received = pair.network.host(pair.second).received.iter();
    let first = received.map(|(_, _, packet)| packet.contiguous()[IPV4_HEADER_LEN]).collect();
    (first, *pair.network.counters(pair.link.forward()))
}

/// A class of one codepoint, by its number.
fn class(codepoint: u8, quantum_bytes: u32, limit: QueueLimit) -> DrrClass {
    DrrClass { dscps: vec![Dscp::new(codepoint).expect("six bits")], quantum_bytes, limit }
}

fn drr(classes: Vec<DrrClass>) -> QueueConfig {
    QueueConfig::Drr(DrrConfig { classes })
}

/// A packet of a codepoint, which its first octet tells.
fn of_class(codepoint: u8, length: usize) -> Packet {
    packet_of_class(codepoint << 2, length, codepoint)
}

#[test]
fn a_class_sends_what_its_quantum_and_what_it_had_left_suffice_for() {
    let any = QueueLimit::Unlimited;
    let queue = drr(vec![class(1, 200, any), class(2, 200, any)]);
    // The first leaves at once. Then 1 has 200, 250 and 300 bytes for packets of 150, and 2 has 200 for two of 100.
    let mut sent = vec![(0, of_class(3, 100))];
    sent.extend((0..5).map(|_| (1, of_class(1, 150))));
    sent.extend((0..6).map(|_| (2, of_class(2, 100))));
    let (received, _) = pass(queue, sent);
    assert_eq!(received, [3, 1, 2, 2, 1, 2, 2, 1, 1, 2, 2, 1]);
}

#[test]
fn a_class_that_has_nothing_to_send_saves_nothing_up() {
    let any = QueueLimit::Unlimited;
    let queue = drr(vec![class(1, 300, any), class(2, 300, any)]);
    let mut sent = vec![(0, of_class(1, 100))];
    // It sends 100 of its 300 bytes, and is empty.
    sent.push((1, of_class(1, 100)));
    sent.extend((0..6).map(|_| (150, of_class(2, 100))));
    sent.extend((0..6).map(|_| (450, of_class(1, 100))));
    let (received, _) = pass(queue, sent);
    assert_eq!(received, [1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 1, 1, 1]);
}

#[test]
fn each_class_has_a_limit_of_its_own_and_the_last_has_what_no_other_names() {
    let two = QueueLimit::Packets(2);
    let queue = drr(vec![class(1, 100, two), class(2, 100, two)]);
    let mut sent = vec![(0, of_class(1, 100))];
    sent.extend((0..4).map(|_| (1, of_class(1, 100))));
    sent.extend([(2, of_class(2, 100)), (3, of_class(46, 100)), (4, of_class(2, 100))]);
    let (received, counters) = pass(queue, sent);
    assert_eq!(received, [1, 1, 2, 1, 46]);
    assert_eq!(counters.dropped(DropReason::QueueFull).packets, 3);
}

proptest! {
    /// Lemma 2 of Shreedhar and Varghese: as long as packets wait in it, a class has sent no more than its quanta, and
    /// less than a packet below them.
    #[test]
    fn classes_that_wait_get_their_shares_to_within_a_packet(
        lengths in prop::collection::vec((0_usize..3, 60_usize..500), 60..200),
        quanta in prop::array::uniform3(500_u32..1_500),
    ) {
        let classes = (1..).zip(quanta).map(|(codepoint, quantum)| class(codepoint, quantum, QueueLimit::Unlimited));
        let mut sent = vec![(0, of_class(9, 60))];
        let mut left = [0_u64; 3];
        for &(of, length) in &lengths {
            left[of] += length as u64;
            sent.push((1, of_class(u8::try_from(of + 1).expect("three"), length)));
        }
        let classes: Vec<_> = classes.chain([class(9, 500, QueueLimit::Unlimited)]).collect();
        let (received, _) = pass(drr(classes), sent);
        let lengths_of = |of: usize| {
            let own = lengths.iter().filter(move |&&(other, _)| other == of);
            own.map(|&(_, length)| length as u64)
        };
        let mut next = [0, 1, 2].map(lengths_of);
        let mut bytes = [0_u64; 3];
        for codepoint in &received[1..] {
            let of = usize::from(codepoint - 1);
            let length = next[of].next().expect("each leaves in the order in which it came");
            bytes[of] += length;
            left[of] -= length;
            if left.contains(&0) {
                break;
            }
            // A turn more or less, and less than a packet, so than a quantum, at either end.
            let turns = [0, 1, 2].map(|of| bytes[of] as f64 / f64::from(quanta[of]));
            let (least, most) = turns.iter().fold((f64::MAX, 0.0_f64), |(low, high), &it| (low.min(it), high.max(it)));
            prop_assert!(most - least < 3.0, "{turns:?}");
        }
    }
}

/// CoDel that drops nothing by itself.
fn patient(limit: QueueLimit) -> CoDelConfig {
    CoDelConfig { target: Duration::from_secs(1_000_000), ..CoDelConfig::new(limit) }
}

fn fair(codel: CoDelConfig, quantum_bytes: u32) -> QueueConfig {
    QueueConfig::FqCoDel(FqCoDelConfig { codel, quantum_bytes, queues: 1_024 })
}

/// A packet of a flow, which its first octet tells: the upper one of its port.
fn of_flow(flow: u8, length: usize) -> Packet {
    packet(address(1), address(2), length, flow)
}

#[test]
fn flows_take_turns_of_a_quantum_and_a_new_one_goes_first() {
    let queue = fair(patient(QueueLimit::Unlimited), 200);
    let mut sent = vec![(0, of_flow(9, 100))];
    sent.extend((0..6).map(|_| (1, of_flow(1, 100))));
    sent.extend((0..6).map(|_| (2, of_flow(2, 100))));
    // While 1 and 2 have had one turn each, and are old.
    sent.push((650, of_flow(3, 100)));
    let (received, _) = pass(queue, sent);
    assert_eq!(received, [9, 1, 1, 2, 2, 1, 1, 3, 2, 2, 1, 1, 2, 2]);
}

//= https://www.rfc-editor.org/rfc/rfc8290#section-4.2
//# The step that moves an empty queue from the list of new queues to the
//# end of the list of old queues before it is removed is crucial to
//# prevent starvation.
#[test]
fn a_flow_that_comes_again_at_once_does_not_starve_the_others() {
    let queue = fair(patient(QueueLimit::Unlimited), 300);
    let mut sent = vec![(0, of_flow(9, 100))];
    sent.extend((0..5).map(|_| (1, of_flow(1, 100))));
    // One packet of 2 whenever the one before has left, before the next of 1 can.
    sent.extend((0..5).map(|packet| (50 + 100 * packet, of_flow(2, 100))));
    let (received, _) = pass(queue, sent);
    let of_first = received.iter().rposition(|&flow| flow == 1).expect("it is served");
    assert_eq!(received.len(), 11);
    assert!(of_first < 10, "{received:?}: the one that sends little may lead, but not for ever");
    assert_eq!(received[..4], [9, 1, 1, 1], "new, it has a quantum before it is old");
}

#[test]
fn without_room_the_longest_queue_loses_half_of_its_packets_from_its_head() {
    let queue = fair(patient(QueueLimit::Packets(8)), 100);
    let mut sent = vec![(0, of_flow(9, 100))];
    sent.extend((0..2).map(|_| (1, of_flow(1, 100))));
    // Told apart by their lengths: the first ones are dropped.
    sent.extend((0..7).map(|number| (2, of_flow(2, 60 + number))));
    let (received, counters) = pass(queue, sent);
    // Nine wait, one too many: four of the seven go.
    assert_eq!(counters.dropped(DropReason::QueueFull).packets, 4);
    assert_eq!(counters.dropped(DropReason::QueueFull).bytes, 60 + 61 + 62 + 63);
    let mut by_flow = received;
    by_flow.sort_unstable();
    assert_eq!(by_flow, [1, 1, 2, 2, 2, 9]);
}

#[test]
fn one_that_comes_may_be_the_one_that_goes() {
    let queue = fair(patient(QueueLimit::Packets(1)), 100);
    let sent = vec![(0, of_flow(9, 100)), (1, of_flow(1, 60)), (2, of_flow(2, 100))];
    let (received, counters) = pass(queue, sent);
    assert_eq!(received, [9, 1], "the longest queue is its own");
    assert_eq!(counters.dropped(DropReason::QueueFull).packets, 1);
    assert_eq!(counters.offered.packets, 3);
}

#[test]
fn each_flow_has_a_law_of_its_own() {
    let (target, interval) = (Duration::from_millis(150), Duration::from_millis(500));
    for signal in [CongestionSignal::Drop, CongestionSignal::Mark] {
        let codel = CoDelConfig { limit: QueueLimit::Unlimited, target, interval, signal };
        let queue = QueueConfig::FqCoDel(FqCoDelConfig { codel, quantum_bytes: 100, queues: 1_024 });
        let config = DirectionConfig {
            mtu_bytes: 100,
            ..DirectionConfig::new(byte_a_millisecond(), Duration::ZERO, queue)
        };
        let mut pair = Pair::with(&config, Seed::new(1, 0), |_, _| {});
        let interface = pair.link.first();
        let sparse = (0..20).map(|packet| (300 * packet, of_flow(1, 100)));
        let bulk = (0..40).map(|_| (1, of_flow(2, 100)));
        for (at, mut packet) in bulk.chain(sparse) {
            packet.head_mut()[1] = 2;
            let packet = Packet::shared(packet.contiguous(), Checksum::Omitted);
            pair.network.command(pair.first, |host, _| host.send(millis(at), interface, packet));
        }
        assert!(pair.network.run_to_rest(1_000_000));
        let counters = pair.network.counters(pair.link.forward());
        let (chosen, other) = match signal {
            CongestionSignal::Drop => (counters.dropped(DropReason::CoDel), counters.marked),
            CongestionSignal::Mark => (counters.marked, counters.dropped(DropReason::CoDel)),
        };
        assert!(chosen.packets > 3, "{chosen:?}");
        assert_eq!(other.packets, 0);
        let of_sparse = pair.network.host(pair.second).received.iter().filter(|(_, _, packet)| {
            let bytes = packet.contiguous();
            bytes[IPV4_HEADER_LEN] == 1 && bytes[1] == 2
        });
        assert_eq!(
            of_sparse.count(),
            20,
            "a flow that waits for no more than a packet is neither dropped nor marked"
        );
    }
}

#[test]
fn a_rate_is_shared_alike_by_flows_of_any_number() {
    let config = |flows: u8| {
        let queue = fair(patient(QueueLimit::Unlimited), 1_500);
        let mut config = DirectionConfig::new(DataRate::from_bits_per_sec(1_000_000), Duration::ZERO, queue);
        config.mtu_bytes = 1_500;
        let mut pair = Pair::with(&config, Seed::new(1, 0), |_, _| {});
        let interface = pair.link.first();
        for number in 0..200_u64 {
            for flow in 1..=flows {
                // Packets of one are as long as ten of another.
                let length = if flow == 1 { 1_500 } else { 150 };
                let count = if flow == 1 { 1 } else { 10 };
                for _ in 0..count {
                    let packet = of_flow(flow, length);
                    pair.network.command(pair.first, |host, _| host.send(millis(number), interface, packet));
                }
            }
        }
        pair.network.run_until(millis(2_000));
        let mut bytes = vec![0; usize::from(flows)];
        for (_, _, packet) in &pair.network.host(pair.second).received {
            bytes[usize::from(packet.contiguous()[IPV4_HEADER_LEN] - 1)] += packet.len();
        }
        bytes
    };
    for flows in [2, 3, 7] {
        let bytes = config(flows);
        let (least, most) = (bytes.iter().min().expect("some"), bytes.iter().max().expect("some"));
        assert!(most - least <= 3_000, "{bytes:?}: two quanta at most");
    }
}
