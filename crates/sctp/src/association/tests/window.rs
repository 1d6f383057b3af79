//! The peer's window: it closes, is probed, and opens again (RFC 9260, sections 6.1 and 6.2.1).

use super::*;
use crate::path::PathState;
use crate::policy::RetransmissionAfterTimeout;

/// A SACK for end 0 like [`sack`], with another window.
fn window(acked: u32, a_rwnd: u32, blocks: &[(u16, u16)]) -> Chunk {
    let Chunk::Sack(sack) = sack(acked, blocks) else { unreachable!() };
    Chunk::Sack(Sack { a_rwnd, ..sack })
}

/// The chunks that end 0 has sent since packet `from` of the log, counted from 1.
fn sent_since(wire: &Wire, from: usize) -> Vec<u32> {
    let numbers = wire.log[from..].iter().filter(|sent| sent.from == 0).flat_map(Sent::tsns);
    numbers.map(|tsn| Tsn(tsn).distance_from(Tsn(u32::MAX - 4))).collect()
}

/// End 0 has sent chunk 1, which is acknowledged with a closed window, and has nine more to send.
fn closed() -> Wire {
    let mut wire = Wire::new(1, quiet());
    wire.decide(|_| is_lost());
    wire.send(0, 0..1, 1_400);
    wire.send(0, 1..10, 1_400);
    wire.inject(0, 0, &[window(1, 0, &[])]);
    wire
}

#[test]
fn what_probed_a_closed_window_and_was_thrown_away_is_sent_again_as_soon_as_the_window_opens() {
    // The same whether T3-rtx has repeated the probe never, once or four times, and whatever may follow an expiry.
    use RetransmissionAfterTimeout::{OnePacket, Window};
    for (seconds, policy) in [(1, Window), (2, Window), (16, Window), (2, OnePacket), (16, OnePacket)] {
        let mut wire = Wire::new(1, SctpConfig { retransmission_after_timeout: policy, ..quiet() });
        wire.decide(|_| is_lost());
        wire.send(0, 0..1, 1_400);
        wire.inject(0, 0, &[window(1, 0, &[])]);
        wire.send(0, 1..10, 1_400);
        assert_eq!(sent_since(&wire, 0), [1]);
        while wire.now < Instant::from_secs(seconds) {
            let until = wire.now + Duration::from_millis(500);
            wire.run_until(until);
            wire.inject(0, 0, &[window(1, 0, &[])]);
        }
        let probes = wire.log.len();
        assert!(sent_since(&wire, 1).iter().all(|number| *number == 2), "only the probe is repeated");
        let before = wire.path(0, 0);
        wire.inject(0, 0, &[window(1, 1_399, &[])]);
        assert_eq!(wire.log.len(), probes, "no room for it yet");
        wire.inject(0, 0, &[window(1, 6_000, &[])]);
        // Four chunks of 1,400 bytes have room, and cwnd lets as many out.
        assert_eq!(sent_since(&wire, probes), [2, 3, 4, 5], "after {seconds} s");
        let after = wire.path(0, 0);
        assert_eq!(
            (after.cwnd, after.ssthresh, after.stats.timeouts),
            (before.cwnd, before.ssthresh, before.stats.timeouts)
        );
        assert_eq!((after.flight_size, after.error_count), (4 * 1_416, 0));
    }
}

#[test]
fn a_window_that_reopens_with_the_probe_acknowledged_goes_on_with_what_follows() {
    let mut wire = closed();
    wire.inject(0, 0, &[window(4, 0, &[])]);
    let before = wire.log.len();
    wire.run_until(Instant::from_millis(999));
    assert_eq!(wire.log.len(), before);
    wire.run_until(Instant::from_secs(1));
    assert_eq!(sent_since(&wire, before), [5], "the probe");
    wire.inject(0, 0, &[window(5, 3_000, &[])]);
    assert_eq!(sent_since(&wire, before), [5, 6, 7]);
}

#[test]
fn more_than_one_packet_never_goes_into_a_closed_window() {
    let mut wire = closed();
    // Chunks 2 to 4 are in flight: the peer has shut its window behind them.
    assert_eq!(sent_since(&wire, 0), [1, 2, 3, 4]);
    wire.run_until(Instant::from_secs(1));
    assert_eq!(sent_since(&wire, 4), [2], "T3-rtx has expired");
    assert_eq!(wire.path(0, 0).cwnd, 5_820, "for want of room, not for congestion");
    wire.inject(0, 0, &[window(1, 0, &[])]);
    assert_eq!(wire.log.len(), 5);
    wire.inject(0, 0, &[window(1, 1_400, &[])]);
    assert_eq!(sent_since(&wire, 5), [2, 3, 4], "retransmissions need no further room");
}

#[test]
fn a_sack_that_only_revokes_is_believed_if_it_opens_the_window() {
    let mut wire = Wire::new(1, SctpConfig { initial_cwnd_bytes: Some(200_000), max_burst: 100, ..quiet() });
    wire.decide(|_| is_lost());
    wire.send(0, 0..5, 1_400);
    wire.inject(0, 0, &[window(0, 4_200, &[(3, 4)])]);
    wire.send(0, 5..30, 1_400);
    assert_eq!(sent_since(&wire, 5), [] as [u32; 0], "chunks 1, 2 and 5 fill the window");
    // It gives back chunk 4, and no more room than that.
    for room in [5_600, 7_000] {
        wire.inject(0, 0, &[window(0, room, &[(3, 3)])]);
        assert_eq!(wire.path(0, 0).flight_size, 3 * 1_416, "an older one that has been overtaken");
        assert_eq!(sent_since(&wire, 5), [] as [u32; 0]);
    }
    wire.inject(0, 0, &[window(0, 100_000, &[(3, 3)])]);
    assert_eq!(wire.path(0, 0).flight_size, 29 * 1_416, "chunk 4 is back, and 25 follow");
    assert_eq!(sent_since(&wire, 5), (6..=30).collect::<Vec<_>>());
}

#[test]
fn gap_reports_that_alternate_count_one_indication_each_without_end() {
    let config = SctpConfig { initial_cwnd_bytes: Some(200_000), max_burst: 100, ..quiet() };
    let mut wire = Wire::new(1, SctpConfig { fast_retransmit_threshold: 1_000, ..config });
    wire.decide(|_| is_lost());
    wire.send(0, 0..8, 1_400);
    // What is acknowledged in one is revoked in the next; a threshold beyond 255 keeps them from being given up.
    for step in 0..600 {
        let block = if step % 2 == 0 { (3, 4) } else { (5, 6) };
        wire.inject(0, 0, &[window(0, 100_000, &[block])]);
    }
    assert!(!wire.ends[0].state.is_closed());
    assert_eq!(wire.path(0, 0).error_count, 0);
}

#[test]
fn a_revocation_is_one_indication_of_a_loss() {
    let config = SctpConfig { initial_cwnd_bytes: Some(200_000), max_burst: 100, ..quiet() };
    let mut wire = Wire::new(1, SctpConfig { fast_retransmit_threshold: 2, ..config });
    wire.decide(|_| is_lost());
    wire.send(0, 0..8, 1_400);
    wire.inject(0, 0, &[window(2, 100_000, &[(2, 2)])]);
    // Chunk 4 is revoked by the SACK that acknowledges chunk 6: the one SACK counts once. Chunk 3 has two reports.
    wire.inject(0, 0, &[window(2, 100_000, &[(4, 4)])]);
    assert_eq!(sent_since(&wire, 8), [3]);
    wire.inject(0, 0, &[window(2, 100_000, &[(4, 5)])]);
    assert_eq!(sent_since(&wire, 8), [3, 4, 5]);
}

#[test]
fn a_peer_that_answers_on_one_of_three_paths_may_keep_its_window_closed_for_ever() {
    let mut wire = Wire::new(3, SctpConfig { receive_buffer_bytes: 4_000, ..quiet() });
    wire.ends[1].pause_delivery();
    wire.send(0, 0..6, 1_000);
    wire.run_until(Instant::from_millis(500));
    wire.decide(|sent| if sent.path == 2 { arrives() } else { is_lost() });
    wire.run_until(Instant::from_secs(3_600));
    assert_eq!(wire.ends[0].snapshot().state, AssociationState::Established);
    let states = [0, 1, 2].map(|path| wire.path(0, path).state);
    assert_eq!(
        states,
        [PathState::Inactive, PathState::Inactive, PathState::Active],
        "who does not answer a probe is found out all the same"
    );
    wire.ends[1].resume_delivery();
    wire.drain();
    wire.run_until(Instant::from_secs(3_600) + Duration::from_millis(100));
    assert_eq!(wire.received(1).len(), 6, "the window update comes, and what was probed with goes at once");
}

/// End 0 has 32,000 chunks in flight.
fn wide() -> Association {
    use slantpath_cc::sctp::{SctpPolicy, WindowPolicy};
    let window = WindowPolicy::Fixed { cwnd: 1 << 30 };
    let config = SctpConfig {
        congestion: SctpPolicy { window, ..SctpPolicy::default() },
        max_burst: u32::MAX,
        send_buffer_bytes: 1 << 30,
        receive_buffer_bytes: 1 << 30,
        ..quiet()
    };
    let stream = Seed::new(1, 0).stream("a");
    let mut end = Association::new(Instant::START, tcb(0, 1, &config), Arc::new(config), stream);
    for context in 0..32_000 {
        end.send(Instant::START, message(0, context, 8)).unwrap();
    }
    transmit_all(&mut end);
    assert_eq!(end.snapshot().outstanding_chunks, 32_000);
    end
}

/// Lets `end` send what it may.
fn transmit_all(end: &mut Association) {
    let mut builder = PacketBuilder::default();
    while end.poll_transmit(Instant::START, &mut builder, &mut Packet::default()).is_some() {}
}

/// Number of things that `end` looks at for each of these SACKs.
fn work(end: &mut Association, blocks: &[&[(u16, u16)]]) -> Vec<usize> {
    let take = |blocks: &&[(u16, u16)]| {
        let mut builder = PacketBuilder::default();
        let header = crate::packet::CommonHeader {
            source_port: end.tcb.peer_port,
            destination_port: end.tcb.local_port,
            verification_tag: end.tcb.local_tag,
        };
        builder.start(header, usize::MAX);
        assert!(builder.push(&sack(0, blocks)));
        let packet = builder.finish(ChecksumPolicy::Omit);
        let parsed = ParsedPacket::parse(&packet).unwrap();
        end.handle_packet(Instant::START, &parsed, address(1, 0), ip::IpFields::default());
        transmit_all(end);
        crate::tx::tests::steps(&end.sender)
    };
    blocks.iter().map(take).collect()
}

#[test]
fn a_sack_costs_its_length_and_what_it_says_for_the_first_time_and_not_the_window() {
    // One half of the window and the other, in turn.
    let mut end = wide();
    let halves: [&[(u16, u16)]; 2] = [&[(2, 16_000)], &[(16_001, 32_000)]];
    let first = work(&mut end, &halves);
    assert!(first.iter().all(|steps| *steps < 40_000), "{first:?}");
    // Each transmission is looked at once more when it is no longer the earliest.
    let again = work(&mut end, &halves.repeat(500));
    assert!(again.iter().sum::<usize>() < 32_000 + 1_000 * 200, "{}", again.iter().sum::<usize>());

    // Every other TSN, told by 100 blocks a SACK: 8,000 spans are known in the end.
    let mut end = wide();
    let block = |at: u16| (2 * at, 2 * at);
    let told: Vec<Vec<_>> =
        (0..80).map(|step| (1 + 100 * step..=100 + 100 * step).map(block).collect()).collect();
    let told: Vec<&[_]> = told.iter().map(Vec::as_slice).collect();
    let first = work(&mut end, &told);
    assert!(first.iter().sum::<usize>() < 3 * 32_000 + 80 * 1_000, "{}", first.iter().sum::<usize>());
    let again = work(&mut end, &[&[(30_000, 30_000)][..], &[(30_002, 30_002)]].repeat(500));
    assert!(again.iter().sum::<usize>() < 3 * 32_000 + 1_000 * 200, "{}", again.iter().sum::<usize>());
}
