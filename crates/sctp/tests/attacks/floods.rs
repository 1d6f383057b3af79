//! Many packets of strangers: nothing is kept for them, and little is sent.

use bytes::Bytes;
use slantpath_sctp::chunk::CookieEcho;
use slantpath_sctp::{Chunk, Parameter, VerificationTag};

use crate::tester::{
    PEER_TAG, Tester, abort, config, cookie_ack, heartbeat, message, own, packet, shutdown_ack,
    shutdown_complete,
};

const FLOOD: u32 = 10_000;

#[test]
fn forged_cookies_are_answered_by_nothing() {
    let mut tester = Tester::listening(config());
    for number in 0..FLOOD {
        let cookie = Bytes::from([number.to_be_bytes(); 32].concat());
        tester.receive_tagged(number, &[Chunk::CookieEcho(CookieEcho { cookie })]);
    }
    tester.expect_silence();
    assert_eq!(tester.endpoint.association_count(), 0);
    // The one with tag 0 is dropped for that.
    assert_eq!(tester.endpoint.stats().forged_cookies, u64::from(FLOOD) - 1);
}

#[test]
fn copies_of_a_cookie_make_one_association_and_a_cookie_ack_of_16_bytes_each() {
    let mut tester = Tester::listening(config());
    tester.receive_tagged(0, &[tester.init(Vec::new())]);
    let cookie = packet(tester.tag.0, &[tester.take_cookie()]);
    for _ in 0..FLOOD {
        tester.receive_packet(0, cookie.clone());
        let sent = tester.next_sent();
        assert_eq!((tester.describe(&sent).as_str(), sent.len), ("COOKIE-ACK", 16));
    }
    assert_eq!(tester.endpoint.association_count(), 1);
    assert_eq!(cookie.len(), 92);
}

/// Lengths of the INIT ACK to an INIT with these parameters, and of the INIT.
fn answer(parameters: Vec<Parameter>) -> (usize, usize) {
    let mut tester = Tester::listening(config());
    let init = packet(0, &[tester.init(parameters)]);
    tester.receive_packet(0, init.clone());
    let sent = tester.next_sent();
    assert!(tester.describe(&sent).starts_with("INIT-ACK"));
    tester.expect_silence();
    (sent.len, init.len())
}

fn unknown_parameters(count: usize) -> Vec<Parameter> {
    vec![Parameter::Unknown { kind: 0xc0cc, value: Bytes::new() }; count]
}

#[test]
fn an_init_ack_is_at_most_four_times_as_long_as_its_init_and_fits_a_packet_whatever_is_reported() {
    let (plain, init) = answer(Vec::new());
    assert!(plain <= 4 * init, "{plain} bytes for {init}");
    for count in [1, 10, 100, 200, 350, 1_000, 10_000] {
        let (len, init) = answer(unknown_parameters(count));
        assert!(len <= 4 * init && len <= 1_480, "{len} bytes for {init}");
    }
    let (len, _) = answer(unknown_parameters(1_000));
    assert!(len > 1_472, "as much is reported as fits: {len} bytes");
}

#[test]
fn addresses_in_an_init_beyond_max_peer_addresses_make_the_cookie_no_longer() {
    let listed = |count: u8| (0..count).map(|host| Parameter::Address([10, 9, 9, host + 1].into())).collect();
    let (with_15, _) = answer(listed(15));
    let (with_180, init) = answer(listed(180));
    assert_eq!(with_15, with_180);
    assert!(with_180 < init, "{with_180} bytes for {init}");
}

#[test]
fn packets_out_of_the_blue_are_answered_by_no_more_bytes_than_they_have() {
    let mut tester = Tester::listening(config());
    let (mut received, mut sent) = (0, 0);
    for tag in 1..=FLOOD {
        for chunk in [message(0, 0), heartbeat(), cookie_ack(), abort(), shutdown_ack(), shutdown_complete()]
        {
            let packet = packet(tag, &[chunk]);
            received += packet.len();
            tester.receive_packet(0, packet);
        }
        // DATA and HEARTBEAT get an ABORT, SHUTDOWN ACK gets a SHUTDOWN COMPLETE.
        for _ in 0..3 {
            sent += tester.next_sent().len;
        }
        tester.expect_silence();
    }
    assert_eq!(sent, 3 * 16 * 10_000);
    assert!(received >= 4 * sent, "{received} bytes received, {sent} sent");
    assert_eq!(tester.endpoint.association_count(), 0);
}

#[test]
fn guessed_tags_do_nothing_whatever_they_come_with() {
    let mut tester = Tester::active(config());
    let own_tag = tester.tag.0;
    let chunks = [
        abort(),
        shutdown_complete(),
        shutdown_ack(),
        tester.shutdown(-1),
        message(0, 0),
        tester.sack(5, 0, &[]),
        heartbeat(),
    ];
    let mut dropped = 0;
    for guess in (1..=FLOOD).map(|step| own_tag.wrapping_add(step.wrapping_mul(0x9e37_79b9))) {
        if guess == own_tag || guess == 0 {
            continue;
        }
        for chunk in &chunks {
            tester.receive_tagged(guess, std::slice::from_ref(chunk));
            dropped += 1;
        }
    }
    assert_eq!(tester.endpoint.stats().wrong_tags, dropped);
    tester.expect_alive();
}

#[test]
fn restarts_by_strangers_leave_the_association_as_it_is() {
    let mut tester = Tester::active(config());
    for tag in 1..=FLOOD {
        tester.offer.initiate_tag = VerificationTag(PEER_TAG ^ tag);
        // From an address of the peer, which only who reads its packets can answer.
        tester.receive_from(crate::tester::peer(0), own(0), packet(0, &[tester.init(Vec::new())]));
        let sent = tester.next_sent();
        assert!(sent.len <= 4 * 32, "{} bytes", sent.len);
    }
    assert_eq!(tester.endpoint.association_count(), 1);
    tester.expect_alive();
}
