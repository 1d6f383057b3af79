//! Several addresses: which path carries what, failure and verification (RFC 9260, sections 5.4, 6.4, 8).

use super::*;
use crate::config::FastRetransmitPath;
use crate::extension::{Extension, Extensions};
use crate::path::PathState;

#[test]
fn timed_out_data_goes_to_the_alternate_path() {
    let mut wire = Wire::new(2, quiet());
    wire.decide(|sent| if sent.path == 0 { is_lost() } else { arrives() });
    wire.send(0, 0..1, 100);
    wire.run_to_rest();
    assert_eq!(wire.received(1), [0]);
    let paths: Vec<_> = data_packets(&wire, 0).iter().map(|sent| sent.path).collect();
    assert_eq!(paths, [0, 1]);
    assert_eq!(wire.path(0, 0).error_count, 1);
    assert_eq!(wire.ends[0].snapshot().error_count, 0, "the peer has answered");
}

#[test]
fn fast_retransmit_stays_or_changes_path_as_the_policy_says() {
    for (policy, path) in [(FastRetransmitPath::SamePath, 0), (FastRetransmitPath::Alternate, 1)] {
        let mut wire = Wire::new(2, SctpConfig { fast_retransmit_path: policy, ..quiet() });
        lose_first(&mut wire, &[1]);
        wire.send(0, 0..8, 1_000);
        wire.run_to_rest();
        assert_eq!(wire.received(1), (0..8).collect::<Vec<_>>());
        let again =
            data_packets(&wire, 0).into_iter().filter(|sent| sent.tsns() == [u32::MAX - 2]).nth(1).unwrap();
        assert_eq!(again.path, path, "{policy:?}");
    }
}

#[test]
fn a_path_fails_after_path_max_retrans_and_recovers_with_a_heartbeat() {
    let config = SctpConfig { heartbeat_interval: Some(Duration::from_secs(5)), ..quiet() };
    let mut wire = Wire::new(2, config);
    let broken = std::rc::Rc::new(std::cell::Cell::new(true));
    let is_broken = std::rc::Rc::clone(&broken);
    wire.decide(move |sent| if sent.path == 0 && is_broken.get() { is_lost() } else { arrives() });
    for context in 0..300 {
        wire.send(0, context..context + 1, 500);
        let next = wire.now + Duration::from_millis(1_000);
        wire.run_until(next);
    }
    assert_eq!(wire.received(1), (0..300).collect::<Vec<_>>());
    assert_eq!(wire.path(0, 0).state, PathState::Inactive);
    assert!(
        wire.events[0].contains(&Event::PathChanged { address: address(1, 0), state: PathState::Inactive })
    );
    let last = data_packets(&wire, 0).last().unwrap().path;
    assert_eq!(last, 1, "new data takes the path that works");
    broken.set(false);
    let later = wire.now + Duration::from_secs(300);
    wire.run_until(later);
    assert_eq!(wire.path(0, 0).state, PathState::Active);
    assert!(
        wire.events[0].contains(&Event::PathChanged { address: address(1, 0), state: PathState::Active })
    );
    wire.send(0, 300..301, 500);
    assert_eq!(data_packets(&wire, 0).last().unwrap().path, 0, "and back to the primary");
}

#[test]
fn an_unconfirmed_address_carries_nothing_but_heartbeats_until_it_answers() {
    let config = quiet();
    let mut tcbs = [0, 1].map(|end| tcb(end, 2, &config));
    for tcb in &mut tcbs {
        tcb.peer_addresses[1].is_confirmed = false;
    }
    let mut wire = Wire::with_tcbs(tcbs, [config.clone(), config]);
    wire.decide(
        |sent| if sent.path == 1 && sent.at < Instant::from_secs(10) { is_lost() } else { arrives() },
    );
    assert_eq!(wire.path(0, 1).state, PathState::Unconfirmed);
    wire.run_until(Instant::from_secs(5));
    for sent in wire.log.iter().filter(|sent| sent.path == 1) {
        assert!(
            sent.chunks.iter().all(|chunk| matches!(chunk, Chunk::Heartbeat(_) | Chunk::HeartbeatAck(_)))
        );
    }
    assert!(!wire.ends[0].set_primary(wire.now, address(1, 1)));
    wire.run_until(Instant::from_secs(200));
    assert_eq!(wire.path(0, 1).state, PathState::Active);
    assert!(wire.ends[0].set_primary(wire.now, address(1, 1)));
    assert_eq!(wire.ends[0].snapshot().error_count, 0, "probing does not count against the association");
}

#[test]
fn the_sack_goes_where_the_data_came_from() {
    let mut wire = Wire::new(2, quiet());
    assert!(wire.ends[0].set_primary(Instant::START, address(1, 1)));
    wire.send(0, 0..2, 500);
    wire.run_to_rest();
    assert!(wire.log.iter().all(|sent| sent.path == 1), "{:?}", wire.log);
}

#[test]
fn gap_reports_take_the_path_with_the_lowest_delay_and_time_nothing() {
    let config = SctpConfig {
        heartbeat_interval: Some(Duration::from_secs(30)),
        checksum: ChecksumPolicy::Omit,
        ..SctpConfig::multi_link_modified()
    };
    let mut wire = Wire::new(2, config);
    let delay = |path: usize| Duration::from_millis(if path == 0 { 250 } else { 25 });
    wire.decide(move |sent| SmallVec::from_slice(&[delay(sent.path)]));
    for end in [0, 1] {
        for path in [0, 1] {
            assert!(wire.ends[end].request_heartbeat(Instant::START, address(1 - end, path)));
        }
    }
    wire.drain();
    wire.run_until(Instant::from_secs(1));
    let mut count = 0;
    wire.decide(move |sent| {
        count += u32::from(sent.from == 0 && sent.has_data());
        if sent.from == 0 && count == 20 { is_lost() } else { SmallVec::from_slice(&[delay(sent.path)]) }
    });
    for context in 0..60 {
        wire.send(0, context..context + 1, 1_024);
        let next = wire.now + Duration::from_millis(33);
        wire.run_until(next);
    }
    wire.run_until(Instant::from_secs(10));
    assert_eq!(wire.received(1), (0..60).collect::<Vec<_>>());
    for sent in wire.log.iter().filter(|sent| sent.from == 1) {
        if let Some(sack) = sent.sack() {
            assert_eq!(sent.path, usize::from(!sack.gap_ack_blocks.is_empty()), "{sack:?}");
        }
    }
    assert_eq!(data_packets(&wire, 0).iter().filter(|sent| sent.path == 1).count(), 1);
    let srtt = wire.path(0, 0).srtt.unwrap();
    assert!(srtt >= Duration::from_millis(500), "{srtt}: no SACK that came over the short path was timed");
}

/// Time from the departure of a message that is lost on the satellite link to that of its retransmission. The links are
/// those of the paper, without their rates; messages leave every 33 ms.
fn time_to_retransmission(preset: fn() -> SctpConfig) -> Duration {
    let delay = |sent: &Sent| Duration::from_millis(if sent.path == 0 { 250 } else { 25 });
    let config = SctpConfig { checksum: ChecksumPolicy::Omit, initial_cwnd_bytes: Some(100_000), ..preset() };
    let mut wire = Wire::new(2, config);
    wire.decide(move |sent| SmallVec::from_slice(&[delay(sent)]));
    wire.run_until(Instant::from_secs(1));
    let mut count = 0;
    wire.decide(move |sent| {
        count += u32::from(sent.from == 0 && sent.has_data());
        if count == 40 && sent.from == 0 { is_lost() } else { SmallVec::from_slice(&[delay(sent)]) }
    });
    for context in 0..80 {
        wire.send(0, context..context + 1, 1_024);
        let next = wire.now + Duration::from_millis(33);
        wire.run_until(next);
    }
    wire.run_until(Instant::from_secs(10));
    assert_eq!(wire.received(1), (0..80).collect::<Vec<_>>());
    let lost = Tsn(u32::MAX - 3).plus(39).0;
    let sent: Vec<_> = data_packets(&wire, 0).into_iter().filter(|sent| sent.tsns() == [lost]).collect();
    let [first, again] = sent[..] else { panic!("{sent:?}") };
    assert_eq!((first.path, again.path), (0, 1));
    again.at - first.at
}

#[test]
fn retransmissions_leave_when_the_multi_link_paper_says() {
    // Equation 2 without the way of the retransmission: four intervals, there and back over the satellite.
    let standard = time_to_retransmission(SctpConfig::multi_link_standard);
    assert_eq!(standard, Duration::from_millis(4 * 33 + 2 * 250));
    // Equation 3: back over the short link.
    let modified = time_to_retransmission(SctpConfig::multi_link_modified);
    assert_eq!(modified, Duration::from_millis(4 * 33 + 250 + 25));
}

#[test]
fn a_heartbeat_comes_back_to_where_it_came_from() {
    let mut wire = Wire::new(2, quiet());
    wire.inject(
        0,
        1,
        &[Chunk::Heartbeat(crate::chunk::Heartbeat {
            info: bytes::Bytes::from_static(b"opaque"),
            others: bytes::Bytes::from_static(&[0xc0, 0x01, 0, 5, 7]),
        })],
    );
    let [answer] = &wire.log[..] else { panic!("{:?}", wire.log) };
    assert_eq!(answer.destination, address(1, 1));
    let Chunk::HeartbeatAck(ack) = &answer.chunks[0] else { panic!("{answer:?}") };
    assert_eq!((&ack.info[..], &ack.others[..]), (&b"opaque"[..], &[0xc0, 0x01, 0, 5, 7][..]));
}

#[test]
fn a_report_goes_back_to_where_its_reason_came_from_if_that_is_confirmed() {
    for (is_confirmed, path) in [(true, 1), (false, 0)] {
        let mut wire = Wire::new(2, quiet());
        wire.decide(|_| is_lost());
        if !is_confirmed {
            wire.ends[0].paths[PathId(1)].state = PathState::Unconfirmed;
        }
        // Its two highest bits ask for a report.
        wire.inject(0, 1, &[Chunk::Unknown { kind: 0xC5, flags: 0, value: bytes::Bytes::new() }]);
        let [report] = &wire.log[..] else { panic!("{:?}", wire.log) };
        assert!(matches!(report.chunks[..], [Chunk::Error(_)]));
        assert_eq!(report.path, path);
    }
}

#[test]
fn the_address_that_the_peer_would_have_data_at_is_primary_once_it_is_confirmed() {
    let config = SctpConfig {
        extensions: Extensions::of(&[Extension::DynamicAddresses]),
        unauthenticated_addresses: true,
        heartbeat_interval: Some(Duration::from_secs(30)),
        ..SctpConfig::default()
    };
    for is_confirmed in [true, false] {
        let mut tcbs = [0, 1].map(|end| tcb(end, 2, &config));
        tcbs[0].wanted_primary = Some(address(1, 1));
        tcbs[0].peer_addresses[1].is_confirmed = is_confirmed;
        let mut wire = Wire::with_tcbs(tcbs, [config.clone(), config.clone()]);
        assert_eq!(wire.path(0, 1).is_primary, is_confirmed);
        wire.run_until(Instant::from_secs(2));
        assert!(wire.path(0, 1).is_primary);
        assert!(!wire.path(1, 1).is_primary, "nobody has asked for it");
    }
    // Who has not agreed on the extension is not heeded.
    let plain = SctpConfig { extensions: Extensions::NONE, ..config };
    let mut tcbs = [0, 1].map(|end| tcb(end, 2, &plain));
    tcbs[0].wanted_primary = Some(address(1, 1));
    let wire = Wire::with_tcbs(tcbs, [plain.clone(), plain]);
    assert!(wire.path(0, 0).is_primary);
}
