//! Group FH of TS 102 369: an endpoint that does not answer, and packets that belong to no association.

use bytes::Bytes;
use slantpath_sctp::chunk::{Heartbeat, HeartbeatAck};
use slantpath_sctp::{Chunk, CloseReason, Event};

use crate::tester::{Sent, Tester, abort, config, message, own, packet, shutdown_ack, shutdown_complete};

/// Each RTO is twice the last, up to RTO.Max of 60 s; Association.Max.Retrans is 10.
const BACK_OFF_MS: [u64; 10] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000];

/// A DATA chunk is retransmitted until the peer counts as unreachable.
fn expect_given_up(tester: &mut Tester, data: &str, timeouts: &[u64]) {
    for &timeout in timeouts {
        tester.expire_after_ms(timeout);
        tester.expect(data);
    }
    tester.expire_after_ms(60_000);
    assert!(matches!(tester.skip_event(), Event::PathChanged { .. }));
    assert!(matches!(tester.skip_event(), Event::SendFailed { .. }));
    tester.expect_end(CloseReason::PeerUnreachable);
    tester.expect_gone();
}

#[test]
fn i_5_1_1_after_association_max_retrans_the_peer_counts_as_unreachable() {
    let mut tester = Tester::passive(config());
    tester.send(1_000);
    let data = "DATA(BE tsn 0 sid 0 ssn 0 len 1000)";
    tester.expect(data);
    expect_given_up(&mut tester, data, &BACK_OFF_MS);
}

#[test]
fn i_5_1_2_a_sack_sets_the_count_of_retransmissions_back() {
    let mut tester = Tester::passive(config());
    tester.send(1_000);
    tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    for timeout in [1_000, 2_000, 4_000] {
        tester.expire_after_ms(timeout);
        tester.expect("DATA(BE tsn 0 sid 0 ssn 0 len 1000)");
    }
    tester.receive(&[tester.sack(0, 1_500, &[])]);
    tester.send(1_000);
    let data = "DATA(BE tsn 1 sid 0 ssn 1 len 1000)";
    tester.expect(data);
    // All ten again. The RTO stays backed off, since nothing has measured a round trip (section 6.3.1, rule C5).
    let timeouts = [8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000, 60_000, 60_000, 60_000];
    expect_given_up(&mut tester, data, &timeouts);
}

#[test]
fn v_5_2_a_heartbeat_is_answered_with_what_it_brings() {
    let mut tester = Tester::passive(config());
    let heartbeat = Heartbeat::new(Bytes::from_static(&[1, 2, 3, 4]));
    tester.receive(&[Chunk::Heartbeat(heartbeat)]);
    let Sent { chunks, .. } = tester.next_sent();
    let [Chunk::HeartbeatAck(HeartbeatAck { info, others })] = &chunks[..] else {
        panic!("no HEARTBEAT ACK")
    };
    assert_eq!((&info[..], &others[..]), (&[1, 2, 3, 4][..], &[][..]));
    tester.expect_silence();
}

#[test]
fn o_5_3_1_data_out_of_the_blue_is_answered_by_an_abort() {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(1, &[message(0, 0)]);
    tester.expect("[tag 1] ABORT(T)");
    tester.expect_silence();
    assert_eq!(tester.endpoint.stats().out_of_the_blue, 1);
}

#[test]
fn o_5_3_2_an_abort_out_of_the_blue_is_discarded() {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(1, &[abort()]);
    // Wherever in its packet it stands.
    tester.receive_tagged(1, &[message(0, 0), abort()]);
    tester.expect_silence();
    assert_eq!(tester.endpoint.stats().out_of_the_blue, 2);
}

#[test]
fn o_5_3_3_a_shutdown_ack_out_of_the_blue_is_answered_by_a_shutdown_complete() {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(1, &[shutdown_ack()]);
    tester.expect("[tag 1] SHUTDOWN-COMPLETE(T)");
    tester.expect_silence();
}

#[test]
fn o_5_3_4_a_shutdown_complete_out_of_the_blue_is_discarded() {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(1, &[shutdown_complete()]);
    tester.expect_silence();
    assert_eq!(tester.endpoint.stats().out_of_the_blue, 1);
}

#[test]
fn o_5_3_5_a_packet_from_an_address_of_no_single_host_is_discarded() {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    let cookie = packet(tester.tag.0, &[tester.take_cookie()]);
    for source in [[224, 0, 0, 0], [255, 255, 255, 255], [0, 0, 0, 0]] {
        tester.receive_from(source.into(), own(0), cookie.clone());
    }
    tester.expect_silence();
    assert_eq!(tester.endpoint.association_count(), 0);
    assert_eq!(tester.endpoint.stats().misdirected_packets, 3);
}
