//! An SGP: messages of user parts.

use slantpath_sigtran::asp::ErrorCode;
use slantpath_sigtran::m3ua::{Data, DropReason, Message, SgpConfig};

use crate::tester::{
    CONTEXT, OTHER_CONTEXT, OTHER_POINT, POINT, Received, SgpUnderTest, data, is_error, octets_of, raw,
    server,
};

/// Two active ASPs, each with a point code of its own; the second is active for both if `shares`.
fn two_active(shares: bool) -> SgpUnderTest {
    let mode = None;
    let servers = vec![server(CONTEXT, POINT, mode, 1), server(OTHER_CONTEXT, OTHER_POINT, mode, 1)];
    let mut test = SgpUnderTest::with(SgpConfig { servers, ..SgpConfig::default() }, 2);
    test.come_up(0);
    test.become_active(0, None, &[CONTEXT]);
    test.come_up(1);
    let contexts: &[u32] = if shares { &[CONTEXT, OTHER_CONTEXT] } else { &[OTHER_CONTEXT] };
    test.become_active(1, None, contexts);
    if !shares {
        test.wait_for(0, |message| matches!(message, Message::Dava(_)));
    }
    test
}

/// Sends DATA from an ASP to the second's point code, one for each signalling link selection.
fn forwarded(test: &mut SgpUnderTest, from: u32) -> Vec<(Data, Received)> {
    let all = (0..16).map(|sls| {
        let message = Data { routing_context: None, ..data(POINT, OTHER_POINT, sls) };
        test.send(from, &Message::Data(message.clone()));
        (message, test.wait_for(1, |message| matches!(message, Message::Data(_))))
    });
    all.collect()
}

#[test]
fn m3ua_sgp_mtr_v_001_data_has_the_routing_context_of_the_application_server() {
    for (_, received) in forwarded(&mut two_active(true), 1) {
        let Message::Data(data) = received.message else { panic!("no DATA") };
        assert_eq!(data.routing_context, Some(OTHER_CONTEXT));
    }
}

#[test]
fn m3ua_sgp_mtr_v_002_data_has_the_octets_and_the_label_that_came() {
    for (sent, received) in forwarded(&mut two_active(false), 0) {
        let Message::Data(data) = received.message else { panic!("no DATA") };
        assert_eq!(data.protocol_data, sent.protocol_data);
    }
}

#[test]
fn m3ua_sgp_mtr_v_002_alternate_data_without_protocol_data_lacks_a_parameter() {
    let mut test = SgpUnderTest::active();
    test.send(0, &Message::Data(data(POINT, POINT, 0)));
    test.send_octets(0, 1, raw(1, 1, 1, &[0, 6, 0, 8, 0, 0, 0, 1]));
    test.wait_for(0, is_error(ErrorCode::MISSING_PARAMETER));
}

#[test]
fn m3ua_sgp_mtr_v_003_data_takes_a_stream_that_is_not_0() {
    for (_, received) in forwarded(&mut two_active(false), 0) {
        assert!(received.stream.0 > 0, "{received:?}");
    }
}

#[test]
fn m3ua_sgp_mtr_v_003_alternate_data_on_stream_0_is_on_an_invalid_stream() {
    let mut test = SgpUnderTest::active();
    test.send_octets(0, 0, octets_of(&Message::Data(data(POINT, POINT, 0))));
    test.wait_for(0, is_error(ErrorCode::INVALID_STREAM_IDENTIFIER));
    assert_eq!(test.sgp.counters().dropped(DropReason::InvalidStream), 1);
    test.expect_none(0, |message| matches!(message, Message::Data(_)));
}

#[test]
fn m3ua_sgp_mtr_v_004_each_selection_keeps_its_stream_and_selections_share_streams() {
    let mut test = two_active(false);
    let streams = |test: &mut SgpUnderTest| -> Vec<u16> {
        forwarded(test, 0).into_iter().map(|(_, received)| received.stream.0).collect()
    };
    let first = streams(&mut test);
    assert_eq!(first, streams(&mut test));
    let mut different = first;
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 16);
}

/// Sends the octets of a DATA message with another header, and expects an ERR.
fn refused(version: u8, class: u8, kind: u8, code: ErrorCode) {
    let mut test = SgpUnderTest::active();
    let message = octets_of(&Message::Data(data(POINT, POINT, 0)));
    test.send_octets(0, 1, raw(version, class, kind, &message[8..]));
    test.wait_for(0, is_error(code));
    test.expect_none(0, |message| matches!(message, Message::Data(_)));
}

#[test]
fn m3ua_sgp_mtr_i_001_data_of_another_version_is_invalid() {
    refused(2, 1, 1, ErrorCode::INVALID_VERSION);
}

#[test]
fn m3ua_sgp_mtr_i_002_data_of_a_reserved_class_is_unsupported() {
    refused(1, 12, 1, ErrorCode::UNSUPPORTED_MESSAGE_CLASS);
}

#[test]
fn m3ua_sgp_mtr_i_003_data_of_a_reserved_type_is_unsupported() {
    refused(1, 1, 2, ErrorCode::UNSUPPORTED_MESSAGE_TYPE);
}
