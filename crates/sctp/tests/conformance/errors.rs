//! Group E of TS 102 369: what is reported in ERROR and ABORT chunks.

use bytes::Bytes;
use slantpath_sctp::chunk::{Init, InitAck};
use slantpath_sctp::{Cause, Chunk, CloseReason, Event, Parameter, StreamId};

use crate::tester::{Sent, Tester, config, cookie_ack, data, error, message};

const ESTABLISHED: Event = Event::Established { outbound_streams: 4, inbound_streams: 4 };

/// A cookie that was a second too old.
fn stale_cookie() -> Chunk {
    error(Cause::StaleCookie { staleness_us: 1_000_000 })
}

#[test]
fn o_6_1_a_stale_cookie_in_cookie_echoed_begins_the_setup_anew() {
    let mut tester = Tester::cookie_echoed(config());
    tester.wait_ms(500);
    tester.receive(&[stale_cookie()]);
    let Sent { chunks, .. } = tester.next_sent();
    let [Chunk::Init(Init { parameters, .. })] = &chunks[..] else { panic!("no INIT") };
    // The next cookie is to live longer: by how late this one was, and the round trip.
    let increments: Vec<u32> = parameters
        .iter()
        .filter_map(|parameter| match parameter {
            Parameter::CookiePreservative { increment_ms } => Some(*increment_ms),
            _ => None,
        })
        .collect();
    assert_eq!(increments, [1_500]);
    tester.receive(&[tester.init_ack(Vec::new())]);
    tester.expect("COOKIE-ECHO(4)");
    tester.receive(&[cookie_ack()]);
    tester.expect_event(&ESTABLISHED);
    tester.expect_alive();
}

#[test]
fn o_6_2_a_stale_cookie_in_any_other_state_is_discarded() {
    let mut tester = Tester::active(config());
    tester.receive(&[stale_cookie()]);
    tester.expect_alive();
    tester.receive(&[message(0, 0)]);
    tester.expect_message(0, 100);
    tester.skip();
    tester.shut_down();
    tester.receive(&[stale_cookie()]);
    tester.expect("SHUTDOWN(cum 0)");
    tester.expect_silence();
}

#[test]
fn i_6_3_data_on_a_stream_that_does_not_exist_is_acknowledged_and_reported() {
    let mut tester = Tester::active(config());
    let mut chunk = data(0, 0);
    chunk.stream = StreamId(4);
    tester.receive(&[Chunk::Data(chunk)]);
    let Sent { chunks, .. } = tester.next_sent();
    let [Chunk::Error(error), Chunk::Sack(_)] = &chunks[..] else { panic!("no ERROR and SACK: {chunks:?}") };
    assert_eq!(error.causes, [Cause::InvalidStreamIdentifier(StreamId(4))]);
    tester.expect_silence();
    tester.shut_down();
    tester.expect("SHUTDOWN(cum 0)");
}

#[test]
fn i_6_4_an_init_ack_without_a_cookie_is_aborted() {
    let mut tester = Tester::cookie_wait(config());
    tester.receive(&[Chunk::InitAck(InitAck { fields: tester.offer, parameters: Vec::new() })]);
    tester.expect("ABORT cause 2");
    let missing = Cause::MissingMandatoryParameter([7].into_iter().collect());
    tester.expect_end(CloseReason::Aborted(missing));
    tester.wait_ms(600_000);
    tester.expect_silence();
}

#[test]
fn i_6_5_unknown_parameters_of_an_init_ack_are_reported_behind_the_cookie_echo() {
    let mut tester = Tester::cookie_wait(config());
    let unknown = Parameter::Unknown { kind: 0xcfff, value: Bytes::from_static(&[1]) };
    tester.receive(&[tester.init_ack(vec![unknown.clone()])]);
    let Sent { chunks, .. } = tester.next_sent();
    let [Chunk::CookieEcho(_), Chunk::Error(error)] = &chunks[..] else { panic!("no report: {chunks:?}") };
    let mut whole = Vec::new();
    unknown.write(&mut whole);
    let [Cause::UnrecognizedParameters(reported)] = &error.causes[..] else { panic!("{error:?}") };
    // With or without its padding, which the cause has in either case.
    assert_eq!(reported[..5], whole[..5]);
    tester.receive(&[cookie_ack()]);
    tester.expect_event(&ESTABLISHED);
    tester.expect_alive();
}

#[test]
fn i_6_6_a_report_behind_a_cookie_echo_does_not_hinder_the_setup() {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    let cookie = tester.take_cookie();
    let cause = Cause::UnrecognizedParameters(Parameter::ForwardTsnSupported.to_bytes());
    tester.receive(&[cookie, error(cause.clone())]);
    tester.expect("COOKIE-ACK");
    tester.expect_event(&ESTABLISHED);
    tester.expect_event(&Event::PeerReported(vec![cause]));
    tester.expect_alive();
}
