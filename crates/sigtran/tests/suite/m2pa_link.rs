//! A link of M2PA against a scripted peer, beyond what the published purposes ask.
use bytes::Bytes;
use slantpath_base::Duration;
use slantpath_sigtran::m2pa::{
    Body, CongestionThreshold, LinkConfig, LinkState, LinkStatus, Proving, Timers,
};
use slantpath_sigtran::transport::{StreamNumber, TransportInput};
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use slantpath_ss7::mtp3::Fsn;

use crate::m2pa_bench::{Bench, NONE, Sent, config, msu, proving_normal};

const SECOND: Duration = Duration::from_secs(1);

fn in_service_with(config: LinkConfig) -> Bench {
    let mut bench = Bench::out_of_service_with(LinkConfig { proving: Proving::Omitted, ..config });
    bench.align();
    bench.expect(Sent::Ready);
    bench.become_in_service();
    bench
}

/// Five messages given, three sent, one of them acknowledged; then the association is lost.
fn failed_with_messages() -> Bench {
    let mut bench = in_service_with(LinkConfig { outstanding_max: 3, ..config() });
    for number in 0..6 {
        bench.send_msu(number);
    }
    bench.data(0, 0);
    for fsn in 0..3 {
        bench.expect(Sent::Data { fsn, bsn: NONE });
    }
    bench.expect_delivered(0);
    bench.expect(Sent::Data { fsn: 3, bsn: 0 });
    bench.transport(TransportInput::Down);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::BearerFailed));
    bench
}

fn expect_retrieved(bench: &mut Bench, numbers: &[u8]) {
    for number in numbers {
        bench.expect_indication(&LinkIndication::Retrieved(msu(*number)));
    }
    bench.expect_indication(&LinkIndication::RetrievalComplete);
    bench.expect_no_indication();
}

#[test]
fn changeover_gets_what_the_peer_has_not_got() {
    let mut bench = failed_with_messages();
    bench.request(LinkRequest::RetrieveBsnt);
    bench.expect_indication(&LinkIndication::Bsnt(Fsn(0)));
    bench.request(LinkRequest::RetrieveMessagesAfter(Fsn(2)));
    expect_retrieved(&mut bench, &[3, 4, 5]);
    let counters = bench.link.counters();
    assert_eq!((counters.retrieved, counters.acknowledged, bench.link.to_send()), (3, 3, 0));
}

#[test]
fn changeover_without_or_with_an_impossible_number_gets_what_was_never_sent() {
    for request in [LinkRequest::RetrieveUnsent, LinkRequest::RetrieveMessagesAfter(Fsn(1 << 24))] {
        let mut bench = failed_with_messages();
        bench.request(request);
        expect_retrieved(&mut bench, &[4, 5]);
    }
}

#[test]
fn what_is_not_retrieved_is_thrown_away_and_counted_at_the_next_start() {
    let mut bench = failed_with_messages();
    bench.request(LinkRequest::Start);
    assert_eq!((bench.link.counters().discarded.not_retrieved, bench.link.to_send()), (5, 0));
}

#[test]
fn nothing_is_retrieved_from_a_link_that_carries_messages() {
    let mut bench = Bench::in_service();
    bench.request(LinkRequest::RetrieveBsnt);
    bench.expect_indication(&LinkIndication::BsntNotRetrievable);
    bench.request(LinkRequest::RetrieveUnsent);
    bench.expect_indication(&LinkIndication::RetrievalNotPossible);
    assert_eq!(bench.link.counters().discarded.request_ignored, 2);
}

#[test]
fn changeover_gets_less_the_more_the_peer_says_it_has() {
    for (has, expected) in [(0, &[1, 2, 3, 4, 5][..]), (1, &[2, 3, 4, 5]), (3, &[4, 5])] {
        let mut bench = failed_with_messages();
        bench.request(LinkRequest::RetrieveMessagesAfter(Fsn(has)));
        expect_retrieved(&mut bench, expected);
    }
}

/// The peer may have taken what was sent before it said Ready: a message that takes the number of one that was flushed
/// would be thrown away there as a repeated one.
#[test]
fn what_is_flushed_before_it_was_sent_again_leaves_its_number_to_no_other() {
    let mut bench = Bench::without_proving();
    bench.align();
    bench.expect(Sent::Ready);
    bench.send_msu(0);
    bench.send_msu(1);
    bench.expect_all(&[Sent::Data { fsn: 0, bsn: NONE }, Sent::Data { fsn: 1, bsn: NONE }]);
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.expect(Sent::ProcessorOutage);
    // The association has no room to send them again at once.
    bench.transport(TransportInput::Congested(true));
    bench.peer_sends(0, Body::LinkStatus(LinkStatus::Ready), NONE, NONE);
    bench.expect_indication(&LinkIndication::InService);
    bench.expect(Sent::ProcessorOutage);
    bench.request(LinkRequest::FlushBuffers);
    assert_eq!(bench.link.counters().discarded.flushed_to_send, 2);
    bench.request(LinkRequest::LocalProcessorRecovered);
    bench.expect(Sent::ProcessorRecovered { fsn: 1, bsn: NONE });
    bench.in_sequence(LinkStatus::Ready, NONE, 1);
    bench.expect(Sent::ReadyInSequence { fsn: 1, bsn: NONE });
    bench.transport(TransportInput::Congested(false));
    bench.send_msu(2);
    bench.expect(Sent::Data { fsn: 2, bsn: NONE });
}

#[test]
fn congestion_is_told_before_a_message_is_refused() {
    let thresholds =
        vec![CongestionThreshold { onset: 2, abatement: 1 }, CongestionThreshold { onset: 4, abatement: 3 }];
    let mut bench = in_service_with(LinkConfig { congestion: thresholds, buffer_max: 5, ..config() });
    for number in 0..7 {
        bench.send_msu(number);
    }
    bench.expect_indication(&LinkIndication::Congestion(1));
    bench.expect_indication(&LinkIndication::Congestion(2));
    assert_eq!(bench.link.counters().discarded.buffer_full, 2);
    bench.ack(NONE, 1);
    bench.expect_indication(&LinkIndication::Congestion(1));
    bench.ack(NONE, 4);
    bench.expect_indication(&LinkIndication::Congestion(0));
}

#[test]
fn messages_that_cannot_be_carried_are_refused() {
    let mut bench = Bench::in_service();
    for len in [0, 2, 274] {
        bench.request(LinkRequest::Transmit(vec![0; len].into()));
    }
    assert_eq!((bench.link.counters().discarded.unsuitable_to_send, bench.link.to_send()), (3, 0));
}

#[test]
fn another_payload_protocol_and_other_streams_are_not_m2pa() {
    let mut bench = Bench::in_service();
    let octets = Bytes::from_static(&[1, 0, 11, 2, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]);
    for (stream, payload_protocol) in [(0, 3), (2, 5)] {
        let stream = StreamNumber(stream);
        bench.transport(TransportInput::Message { stream, payload_protocol, octets: octets.clone() });
    }
    bench.peer_sends(0, Body::Acknowledgement, NONE, NONE);
    let discarded = bench.link.counters().discarded;
    assert_eq!((discarded.payload_protocol, discarded.wrong_stream), (1, 2));
    assert_eq!(bench.link.state(), LinkState::InService);
}

#[test]
fn an_association_of_one_stream_is_refused() {
    let mut bench = Bench::powered_off(config());
    bench.request(LinkRequest::Start);
    bench.transport(TransportInput::Up { outbound_streams: 1 });
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::BearerFailed));
    assert_eq!(bench.link.counters().discarded.too_few_streams, 1);
    assert_eq!(bench.link.state(), LinkState::NotAssociated);
}

#[test]
fn a_start_waits_for_the_association_and_fails_with_it() {
    let mut bench = Bench::powered_off(config());
    bench.request(LinkRequest::Start);
    bench.expect_quiet(SECOND);
    bench.transport(TransportInput::Down);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::BearerFailed));
    bench.request(LinkRequest::Start);
    bench.power_on();
    bench.expect_all(&[Sent::OutOfService, Sent::Alignment]);
}

#[test]
fn a_peer_that_begins_anew_takes_the_link_out_of_service() {
    let mut bench = Bench::in_service();
    bench.transport(TransportInput::Restart);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::BearerFailed));
    bench.expect(Sent::OutOfService);
    bench.expect_quiet(SECOND * 100);
    assert_eq!(bench.link.state(), LinkState::OutOfService);
}

#[test]
fn a_congested_association_gets_nothing_that_can_wait_and_then_one_acknowledgement_for_all() {
    let mut bench = Bench::in_service();
    bench.transport(TransportInput::Congested(true));
    bench.data(0, NONE);
    bench.data(1, NONE);
    bench.expect_delivered(0);
    bench.expect_delivered(1);
    bench.expect_nothing_sent();
    bench.transport(TransportInput::Congested(false));
    bench.expect(Sent::Ack { fsn: NONE, bsn: 1 });
    bench.expect_nothing_sent();
    bench.transport(TransportInput::Congested(true));
    bench.send_msu(0);
    bench.data(2, NONE);
    bench.expect_delivered(2);
    bench.expect_nothing_sent();
    bench.transport(TransportInput::Congested(false));
    bench.expect(Sent::Data { fsn: 0, bsn: 2 });
}

#[test]
fn what_waits_for_the_association_counts_for_congestion_and_not_for_t7_and_was_never_sent() {
    let thresholds = vec![CongestionThreshold { onset: 3, abatement: 1 }];
    let mut bench = in_service_with(LinkConfig { congestion: thresholds, buffer_max: 4, ..config() });
    bench.send_msu(1);
    bench.expect(Sent::Data { fsn: 0, bsn: NONE });
    bench.transport(TransportInput::Congested(true));
    bench.send_msu(2);
    bench.send_msu(3);
    bench.expect_indication(&LinkIndication::Congestion(1));
    bench.ack(NONE, 0);
    // Far longer than T7.
    bench.expect_quiet(SECOND * 100);
    bench.transport(TransportInput::Down);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::BearerFailed));
    bench.request(LinkRequest::RetrieveUnsent);
    for number in [2, 3] {
        bench.expect_indication(&LinkIndication::Retrieved(msu(number)));
    }
    bench.expect_indication(&LinkIndication::RetrievalComplete);
    bench.expect_indication(&LinkIndication::Congestion(0));
}

#[test]
fn a_congested_association_is_proved_with_no_more_than_it_takes() {
    let interval = Duration::from_millis(100);
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.expect(Sent::ProvingNormal);
    bench.status(proving_normal());
    let before = bench.octets.len();
    bench.transport(TransportInput::Congested(true));
    bench.wait(interval * 10);
    assert_eq!(bench.octets.len(), before);
    bench.transport(TransportInput::Congested(false));
    bench.wait(interval * 10);
    assert_eq!(bench.octets.len(), before + 10);
}

#[test]
fn a_busy_peer_that_owes_no_acknowledgement_is_borne_for_ever() {
    let mut bench = Bench::in_service();
    bench.status(LinkStatus::Busy);
    bench.send_msu(0);
    bench.expect_quiet(SECOND * 1_000);
    assert_eq!(bench.link.state(), LinkState::InService);
    bench.status(LinkStatus::BusyEnded);
    bench.expect(Sent::Data { fsn: 0, bsn: NONE });
}

#[test]
fn busy_is_repeated_if_t5_is_chosen() {
    let timers = Timers { t5: Some(Duration::from_millis(100)), ..config().timers };
    let mut bench = in_service_with(LinkConfig { timers, ..config() });
    bench.receive_congestion(true);
    bench.wait(Duration::from_millis(250));
    bench.expect_all(&[Sent::Busy, Sent::Busy, Sent::Busy]);
    bench.receive_congestion(false);
    bench.expect(Sent::BusyEnded);
    bench.expect_quiet(SECOND);
}

#[test]
fn what_is_held_is_bounded_and_delivered_when_congestion_ends() {
    let mut bench = in_service_with(LinkConfig { held_max: 2, ..config() });
    bench.receive_congestion(true);
    bench.expect(Sent::Busy);
    for fsn in 0..4 {
        bench.data(fsn, NONE);
    }
    let discarded = bench.link.counters().discarded;
    // After the gap the next is out of sequence: the peer will miss its acknowledgement.
    assert_eq!((bench.link.held(), discarded.held_too_many, discarded.out_of_sequence), (2, 1, 1));
    bench.receive_congestion(false);
    bench.expect_all(&[Sent::BusyEnded, Sent::Ack { fsn: NONE, bsn: 1 }]);
    bench.expect_delivered(0);
    bench.expect_delivered(1);
}

#[test]
fn what_was_held_when_the_link_failed_is_left_to_the_peer_to_retrieve() {
    let mut bench = Bench::in_service();
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.data(0, NONE);
    bench.status(LinkStatus::OutOfService);
    assert_eq!((bench.link.held(), bench.link.counters().discarded.held_at_failure), (0, 1));
    bench.request(LinkRequest::RetrieveBsnt);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::PeerOutOfService));
    bench.expect_indication(&LinkIndication::Bsnt(Fsn(NONE)));
}

#[test]
fn an_outage_that_returns_before_the_end_of_the_last_was_agreed_waits_for_that() {
    let mut bench = Bench::in_service();
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.request(LinkRequest::LocalProcessorRecovered);
    bench.request(LinkRequest::LocalProcessorOutage);
    bench.expect_all(&[Sent::ProcessorOutage, Sent::ProcessorRecovered { fsn: NONE, bsn: NONE }]);
    bench.expect_nothing_sent();
    bench.in_sequence(LinkStatus::Ready, NONE, NONE);
    bench.expect_all(&[Sent::ReadyInSequence { fsn: NONE, bsn: NONE }, Sent::ProcessorOutage]);
}

#[test]
fn an_agreement_on_an_impossible_number_is_a_failure() {
    let mut bench = Bench::in_service();
    bench.in_sequence(LinkStatus::ProcessorOutage, NONE, NONE);
    bench.expect_indication(&LinkIndication::RemoteProcessorOutage);
    bench.in_sequence(LinkStatus::ProcessorRecovered, NONE, 5);
    bench.expect_failure(OutOfServiceReason::AbnormalSequence);
}

#[test]
fn proving_messages_differ_and_come_at_their_interval() {
    let mut bench = Bench::out_of_service();
    bench.align();
    bench.status(proving_normal());
    bench.octets.clear();
    bench.wait(SECOND);
    assert_eq!(bench.octets.len(), 10);
    assert!(bench.octets.windows(2).all(|pair| pair[0].len() == 40 && pair[0] != pair[1]));
}
