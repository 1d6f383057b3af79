//! Q.781, sections 5 and 8: lengths, numbers and acknowledgements.

use slantpath_base::Duration;
use slantpath_sigtran::m2pa::{Body, LinkState, Priority, UserData};
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};

use crate::bench::{Bench, NONE, Sent};

const SECOND: Duration = Duration::from_secs(1);

/// The link stays in service for longer than T7.
fn expect_in_service(bench: &mut Bench) {
    bench.expect_quiet(SECOND * 10);
    assert_eq!(bench.link.state(), LinkState::InService);
}

#[test]
fn case_5_2() {
    let mut bench = Bench::in_service();
    let data = UserData { priority: Priority::default(), msu: vec![0x83; 274].into() };
    bench.peer_sends(1, Body::UserData(data), 0, NONE);
    expect_in_service(&mut bench);
    assert_eq!(bench.link.counters().discarded.too_long, 1);
}

#[test]
fn case_5_3() {
    let mut bench = Bench::in_service();
    bench.peer_sends_octets(1, vec![1, 0, 11, 1, 0, 0, 0, 17, 0, 255, 255, 255, 0, 0, 0, 0, 0]);
    expect_in_service(&mut bench);
    assert_eq!(bench.link.counters().discarded.malformed, 1);
}

#[test]
fn case_8_1() {
    let mut bench = Bench::in_service();
    bench.data(0, NONE);
    bench.expect(Sent::Ack { fsn: NONE, bsn: 0 });
    bench.expect_delivered(0);
    bench.send_msu(0);
    bench.expect(Sent::Data { fsn: 0, bsn: 0 });
    bench.ack(0, 0);
    expect_in_service(&mut bench);
}

#[test]
fn case_8_3() {
    let mut bench = Bench::in_service();
    for number in 0..254 {
        bench.send_msu(number);
    }
    for first in [0, 127] {
        for fsn in first..first + 127 {
            bench.expect(Sent::Data { fsn, bsn: NONE });
        }
        bench.expect_nothing_sent();
        bench.ack(NONE, first + 126);
    }
    expect_in_service(&mut bench);
}

#[test]
fn case_8_4() {
    let mut bench = Bench::in_service();
    bench.ack(NONE, NONE);
    bench.send_msu(0);
    bench.expect(Sent::Data { fsn: 0, bsn: NONE });
    bench.ack(NONE, 0);
    bench.data(0, 0);
    bench.expect(Sent::Ack { fsn: 0, bsn: 0 });
    bench.expect_delivered(0);
    expect_in_service(&mut bench);
}

fn first_message() -> Bench {
    let mut bench = Bench::in_service();
    bench.data(0, NONE);
    bench.expect(Sent::Ack { fsn: NONE, bsn: 0 });
    bench.expect_delivered(0);
    bench
}

#[test]
fn case_8_5() {
    let mut bench = first_message();
    bench.data(0, NONE);
    bench.expect_no_indication();
    bench.data(1, NONE);
    bench.expect(Sent::Ack { fsn: NONE, bsn: 1 });
    bench.expect_delivered(1);
    expect_in_service(&mut bench);
}

#[test]
fn case_8_6() {
    let mut bench = first_message();
    bench.data(0, NONE);
    expect_in_service(&mut bench);
    assert_eq!(bench.link.counters().discarded.out_of_sequence, 1);
}

#[test]
fn case_8_7() {
    let mut bench = first_message();
    for _ in 0..5 {
        bench.ack(0, NONE);
    }
    expect_in_service(&mut bench);
}

#[test]
fn case_8_8() {
    let mut bench = first_message();
    // It has no indicator bit: the number itself is wrong.
    bench.ack(5, NONE);
    expect_in_service(&mut bench);
    assert_eq!(bench.link.counters().discarded.out_of_sequence, 1);
}

#[test]
fn case_8_10() {
    let mut bench = Bench::in_service();
    bench.data(0, 0x007f_ffff);
    bench.expect(Sent::Ack { fsn: NONE, bsn: 0 });
    bench.expect_delivered(0);
    bench.data(1, NONE);
    bench.expect(Sent::Ack { fsn: NONE, bsn: 1 });
    bench.expect_delivered(1);
    expect_in_service(&mut bench);
    assert_eq!(bench.link.counters().unreasonable_bsn, 1);
}

#[test]
fn case_8_11() {
    let mut bench = Bench::in_service();
    for bsn in [0x007f_ffff, 0x007f_ffff, NONE] {
        bench.ack(NONE, bsn);
    }
    bench.expect_failure(OutOfServiceReason::AbnormalSequence);
}

#[test]
fn case_8_12a() {
    let mut bench = Bench::in_service();
    bench.send_msu(0);
    bench.expect(Sent::Data { fsn: 0, bsn: NONE });
    bench.expire(SECOND);
    bench.expect(Sent::OutOfService);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::AcknowledgementTimeout));
}

#[test]
fn case_8_12b() {
    let mut bench = Bench::in_service();
    bench.send_msu(0);
    bench.expect(Sent::Data { fsn: 0, bsn: NONE });
    bench.wait(SECOND / 2);
    bench.send_msu(1);
    bench.expect(Sent::Data { fsn: 1, bsn: NONE });
    // From the oldest message, not from the last.
    bench.expire(SECOND / 2);
    bench.expect(Sent::OutOfService);
    bench.expect_indication(&LinkIndication::OutOfService(OutOfServiceReason::AcknowledgementTimeout));
}

#[test]
fn case_8_13() {
    let mut bench = Bench::in_service();
    bench.request(LinkRequest::Stop);
    bench.status(slantpath_sigtran::m2pa::LinkStatus::OutOfService);
    bench.expect_failure(OutOfServiceReason::Stopped);
}

#[test]
fn case_8_14() {
    let mut bench = first_message();
    bench.data(2, NONE);
    expect_in_service(&mut bench);
    assert_eq!(bench.link.counters().discarded.out_of_sequence, 1);
}
