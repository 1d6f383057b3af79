//! The procedures of Q.703, seen from level 3.

use proptest::prelude::*;
use slantpath_base::{Duration, Instant};
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use slantpath_ss7::mtp2::{Config, ErrorCorrection, LinkState};
use slantpath_ss7::mtp3::Fsn;

use super::line::Line;

const DELAY: Duration = Duration::from_millis(10);

fn basic() -> Config {
    Config::default()
}

fn cyclic() -> Config {
    let error_correction = ErrorCorrection::PreventiveCyclic { messages: 127, octets: 5_000 };
    Config { error_correction, ..Config::default() }
}

#[test]
fn normal_alignment_takes_the_proving_period() {
    let mut line = Line::new(&basic(), DELAY, 0.0, 0);
    line.request(0, LinkRequest::Start);
    line.advance(Duration::from_secs(1));
    line.request(1, LinkRequest::Start);
    line.advance(Duration::from_secs(20));
    assert_eq!(line.states(), [LinkState::InService; 2]);
    let (at, indication) = line.indicated[0].pop_front().unwrap();
    assert_eq!(indication, LinkIndication::InService);
    let took = at - (Instant::START + Duration::from_secs(1));
    assert!(took > Duration::from_millis(8_200) && took < Duration::from_millis(8_300), "{took}");
}

#[test]
fn the_emergency_period_of_either_end_holds_for_both() {
    let mut line = Line::new(&basic(), DELAY, 0.0, 0);
    line.request(1, LinkRequest::Emergency);
    line.request(0, LinkRequest::Start);
    line.request(1, LinkRequest::Start);
    line.advance(Duration::from_millis(700));
    assert_eq!(line.states(), [LinkState::InService; 2]);
}

#[test]
fn a_silent_peer_makes_alignment_impossible_after_t2() {
    let mut line = Line::new(&basic(), DELAY, 0.0, 0);
    line.request(0, LinkRequest::Start);
    line.advance(Duration::from_millis(59_900));
    assert_eq!(line.indications(0), []);
    line.advance(Duration::from_millis(200));
    assert_eq!(line.indications(0), [LinkIndication::OutOfService(OutOfServiceReason::AlignmentNotPossible)]);
}

#[test]
fn a_noisy_line_is_not_proved() {
    // One error in 2,000 bits: 32 a second.
    let mut line = Line::new(&basic(), DELAY, 5e-4, 1);
    line.request(0, LinkRequest::Start);
    line.request(1, LinkRequest::Start);
    line.advance(Duration::from_secs(30));
    let failed = LinkIndication::OutOfService(OutOfServiceReason::AlignmentNotPossible);
    assert!(line.indications(0).contains(&failed));
}

#[test]
fn an_error_rate_above_one_unit_in_256_is_too_much() {
    // Fill-in units have 48 bits: 0.7 % of them are damaged, 0.4 % would be forgotten in time.
    let mut line = Line::in_service(&Config { proving_errors_emergency: 1_000, ..basic() }, DELAY, 1.5e-4, 1);
    line.advance(Duration::from_secs(60));
    let failed = LinkIndication::OutOfService(OutOfServiceReason::BearerFailed);
    let peer = LinkIndication::OutOfService(OutOfServiceReason::PeerOutOfService);
    let mut indicated = [line.indications(0), line.indications(1)];
    indicated.sort_by_key(|indicated| indicated.contains(&peer));
    assert_eq!(indicated, [vec![failed], vec![peer]]);
    assert_eq!(line.states(), [LinkState::OutOfService; 2]);
}

#[test]
fn an_error_rate_below_one_unit_in_256_is_borne() {
    let mut line = Line::in_service(&Config { proving_errors_emergency: 1_000, ..basic() }, DELAY, 4e-5, 1);
    line.advance(Duration::from_secs(600));
    assert_eq!(line.states(), [LinkState::InService; 2]);
    assert!(line.ends[0].counters().errored_units > 500);
}

#[test]
fn a_stop_is_seen_by_the_peer() {
    let mut line = Line::in_service(&basic(), DELAY, 0.0, 0);
    line.request(0, LinkRequest::Stop);
    line.advance(Duration::from_millis(20));
    assert_eq!(line.indications(0), [LinkIndication::OutOfService(OutOfServiceReason::Stopped)]);
    assert_eq!(line.indications(1), [LinkIndication::OutOfService(OutOfServiceReason::PeerOutOfService)]);
}

#[test]
fn a_message_waits_for_the_fill_in_unit_before_it() {
    let mut line = Line::in_service(&basic(), DELAY, 0.0, 0);
    let sent = line.now;
    line.send(0, &[7; 20]);
    line.advance(Duration::from_secs(1));
    let received = line.received(1);
    let took = received[0].0 - sent;
    // 26 octets take 3.25 ms; the fill-in unit before them at most 0.75 ms.
    let least = DELAY + Duration::from_micros(3_250);
    assert!(took >= least && took <= least + Duration::from_micros(750), "{took}");
}

#[test]
fn a_delay_beyond_t7_takes_the_link_out() {
    let config = Config { t7: Duration::from_millis(500), ..basic() };
    let mut line = Line::in_service(&config, Duration::from_millis(260), 0.0, 0);
    line.send(0, &[7; 20]);
    line.advance(Duration::from_secs(2));
    assert_eq!(
        line.indications(0),
        [LinkIndication::OutOfService(OutOfServiceReason::AcknowledgementTimeout)]
    );
}

#[test]
fn a_busy_peer_is_borne_for_t6() {
    let mut line = Line::in_service(&basic(), DELAY, 0.0, 0);
    let now = line.now;
    line.ends[1].set_busy(now, true);
    line.advance(Duration::from_millis(1));
    line.send(0, &[7; 20]);
    line.advance(Duration::from_millis(3_000));
    assert_eq!(line.states(), [LinkState::InService; 2]);
    line.advance(Duration::from_millis(1_600));
    assert_eq!(line.indications(0), [LinkIndication::OutOfService(OutOfServiceReason::PeerBusy)]);
}

#[test]
fn a_peer_that_is_busy_for_a_while_loses_nothing() {
    let mut line = Line::in_service(&basic(), DELAY, 0.0, 0);
    let now = line.now;
    line.ends[1].set_busy(now, true);
    for number in 0..10 {
        line.send(0, &[number; 20]);
    }
    line.advance(Duration::from_millis(3_000));
    let now = line.now;
    line.ends[1].set_busy(now, false);
    line.advance(Duration::from_secs(10));
    assert_eq!(line.received(1).len(), 10);
    assert_eq!(line.ends[0].queued(), 0);
    assert_eq!(line.states(), [LinkState::InService; 2]);
}

#[test]
fn a_processor_outage_holds_messages_until_level_3_goes_on() {
    let mut line = Line::in_service(&basic(), DELAY, 0.0, 0);
    line.request(1, LinkRequest::LocalProcessorOutage);
    line.advance(Duration::from_millis(50));
    assert_eq!(line.indications(0), [LinkIndication::RemoteProcessorOutage]);
    line.send(0, &[7; 20]);
    line.advance(Duration::from_secs(10));
    assert_eq!(line.received(1), []);
    line.request(1, LinkRequest::LocalProcessorRecovered);
    line.advance(Duration::from_millis(50));
    assert_eq!(line.indications(0), [LinkIndication::RemoteProcessorRecovered]);
    line.request(0, LinkRequest::Continue);
    line.advance(Duration::from_millis(50));
    assert_eq!(line.received(1).len(), 1);
    assert_eq!(line.states(), [LinkState::InService; 2]);
}

#[test]
fn retrieval_hands_back_exactly_what_the_peer_has_not_accepted() {
    let mut line = Line::in_service(&basic(), DELAY, 0.0, 0);
    for number in 0..40 {
        line.send(0, &[number; 60]);
    }
    line.advance(Duration::from_millis(100));
    line.request(0, LinkRequest::Stop);
    line.advance(Duration::from_millis(100));
    line.request(1, LinkRequest::RetrieveBsnt);
    let indicated = line.indications(1);
    let received =
        indicated.iter().filter(|indicated| matches!(indicated, LinkIndication::Received(_))).count();
    let Some(LinkIndication::Bsnt(Fsn(bsnt))) = indicated.last().cloned() else { panic!("{indicated:?}") };
    line.indications(0);
    line.request(0, LinkRequest::RetrieveMessagesAfter(Fsn(bsnt)));
    let retrieved: Vec<u8> = line
        .indications(0)
        .iter()
        .filter_map(
            |indicated| if let LinkIndication::Retrieved(body) = indicated { Some(body[0]) } else { None },
        )
        .collect();
    assert!(received > 0 && received < 40);
    assert_eq!(retrieved, (u8::try_from(received).unwrap()..40).collect::<Vec<_>>());
}

#[test]
fn retrieval_after_an_impossible_number_hands_back_what_was_never_sent() {
    for impossible in [77, 127, 128, 0x00ff_ffff] {
        let mut line = Line::in_service(&basic(), DELAY, 0.0, 0);
        for number in 0..40 {
            line.send(0, &[number; 60]);
        }
        line.advance(Duration::from_millis(100));
        line.request(0, LinkRequest::Stop);
        let sent = line.ends[0].counters().messages_sent;
        line.indications(0);
        line.request(0, LinkRequest::RetrieveMessagesAfter(Fsn(impossible)));
        let mut indicated = line.indications(0);
        assert_eq!(indicated.pop(), Some(LinkIndication::RetrievalComplete), "{impossible}");
        assert!(
            indicated.iter().all(|indicated| matches!(indicated, LinkIndication::Retrieved(_))),
            "{indicated:?}"
        );
        assert_eq!(indicated.len() as u64, 40 - sent, "{impossible}");
        // What was sent stays, to be counted at the next start.
        let kept = line.ends[0].queued() as u64;
        line.request(0, LinkRequest::Start);
        assert_eq!(line.ends[0].counters().flushed, kept);
    }
}

#[test]
fn congestion_is_told_before_a_message_is_refused() {
    let config = Config { congestion_onset: [5, 10, 15], transmit_buffer: 20, ..basic() };
    let mut line = Line::in_service(&config, DELAY, 0.0, 0);
    for _ in 0..200 {
        line.send(0, &[7; 272]);
    }
    assert_eq!([1, 2, 3].map(LinkIndication::Congestion).to_vec(), line.indications(0));
    let counters = line.ends[0].counters();
    assert!(counters.refused_buffer_full > 0);
    line.advance(Duration::from_secs(10));
    assert_eq!([2, 1, 0].map(LinkIndication::Congestion).to_vec(), line.indications(0));
    let received = line.received(1).len() as u64;
    assert_eq!(received + counters.refused_buffer_full, 200);
}

fn any_method() -> impl Strategy<Value = Config> {
    prop_oneof![Just(basic()), Just(cyclic())]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Errors that the monitor bears: every message is delivered once and in order.
    #[test]
    fn errors_lose_repeat_and_reorder_nothing(
        config in any_method(),
        seed: u64,
        delay_ms in 0_u64..200,
        messages in prop::collection::vec((3_usize..272, 0_u64..40), 1..200),
    ) {
        let config = Config { proving_errors_emergency: 100, t7: Duration::from_millis(2_000), ..config };
        let mut line = Line::in_service(&config, Duration::from_millis(delay_ms), 2e-5, seed);
        for (number, (len, pause)) in messages.iter().enumerate() {
            let mut body = vec![0; *len];
            body[..2].copy_from_slice(&u16::try_from(number).unwrap().to_be_bytes());
            line.send(number % 2, &body);
            line.advance(Duration::from_millis(*pause));
        }
        line.advance(Duration::from_secs(30));
        for end in 0..2 {
            let indicated = line.indications(1 - end);
            let received: Vec<u16> = indicated
                .iter()
                .filter_map(|indicated| match indicated {
                    LinkIndication::Received(body) => Some(u16::from_be_bytes([body[0], body[1]])),
                    _ => None,
                })
                .collect();
            let sent: Vec<u16> =
                (0..u16::try_from(messages.len()).unwrap()).filter(|number| usize::from(*number) % 2 == end).collect();
            prop_assert_eq!(received, sent);
            prop_assert_eq!(line.ends[end].queued(), 0);
        }
    }

    /// Cuts that the monitor bears, with the way of the first unit behind them, and far enough apart: what they take is
    /// retransmitted, once and in order.
    #[test]
    fn short_cuts_lose_repeat_and_reorder_nothing(
        config in any_method(), cuts in prop::collection::vec((0_u64..110, 1_usize..20), 1..6),
    ) {
        let config = Config { t7: Duration::from_millis(2_000), ..config };
        let mut line = Line::in_service(&config, DELAY, 0.0, 0);
        let mut given = 0;
        for (millis, messages) in cuts {
            for _ in 0..messages {
                line.send(0, &[given; 30]);
                given += 1;
            }
            line.advance(Duration::from_millis(7));
            line.cut(Duration::from_millis(millis));
            // 64 errors are forgotten within 64 times 256 units, and a fill-in unit takes 0.75 ms.
            line.advance(Duration::from_secs(20));
        }
        let received: Vec<u8> = line.received(1).iter().map(|(_, body)| body[0]).collect();
        prop_assert_eq!(received, (0..given).collect::<Vec<_>>());
        prop_assert_eq!(line.states(), [LinkState::InService; 2]);
        prop_assert_eq!(line.ends[0].queued(), 0);
    }

    /// Whatever level 3 asks, whenever: nothing panics, time goes on, and every message is accounted for.
    #[test]
    fn every_message_is_accounted_for(
        config in any_method(), seed: u64, steps in prop::collection::vec((0_usize..2, 0_u8..12, 0_u64..2_000), 1..80),
    ) {
        let mut line = Line::new(&config, DELAY, 1e-5, seed);
        for (end, what, pause) in steps {
            match what {
                0 | 1 => line.request(end, LinkRequest::Start),
                2 => line.request(end, LinkRequest::Stop),
                3 => line.request(end, LinkRequest::Emergency),
                4 => line.request(end, LinkRequest::LocalProcessorOutage),
                5 => line.request(end, LinkRequest::LocalProcessorRecovered),
                6 => line.request(end, LinkRequest::Continue),
                7 => line.request(end, LinkRequest::FlushBuffers),
                8 => line.request(end, LinkRequest::RetrieveUnsent),
                9 => line.cut(Duration::from_millis(pause / 5)),
                _ => for _ in 0..20 { line.send(end, &[what; 30]) },
            }
            line.advance(Duration::from_millis(pause));
        }
        for end in 0..2 {
            let counters = line.ends[end].counters();
            let mut retrieved = 0;
            let mut received = 0;
            for indication in line.indications(end) {
                match indication {
                    LinkIndication::Retrieved(_) => retrieved += 1,
                    LinkIndication::Received(_) => received += 1,
                    _ => {}
                }
            }
            prop_assert_eq!(received, counters.messages_received);
            let acknowledged_at_most = line.ends[1 - end].counters().messages_received;
            let known = counters.refused_buffer_full + counters.refused_out_of_service + counters.flushed + retrieved
                + line.ends[end].queued() as u64;
            prop_assert!(known <= counters.messages_given);
            prop_assert!(counters.messages_given - known <= acknowledged_at_most);
        }
    }
}
