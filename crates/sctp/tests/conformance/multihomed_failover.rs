//! Several paths: what is retransmitted, where, and when a path is given up or taken up again (RFC 9260, sections 6.4
//! and 8; RFC 7829).

use slantpath_base::Duration;
use slantpath_sctp::{
    Chunk, CloseReason, Event, PathState, PotentiallyFailed, PrimarySwitchover, SctpConfig,
};

use crate::tester::{Tester, config, message, peer, shutdown_ack};

/// A DATA chunk of 1,000 bytes with a number, to the address in a network.
fn line(number: u32, network: u8) -> String {
    let to = if network == 0 { String::new() } else { format!("> 10.0.{network}.2 ") };
    format!("{to}DATA(BE tsn {number} sid 0 ssn {number} len 1000)")
}

/// SCTP-PF as RFC 7829 recommends it: a path is potentially failed from its first timeout on.
fn potentially_failed() -> SctpConfig {
    let potentially_failed = PotentiallyFailed::Above(0);
    SctpConfig { potentially_failed, heartbeat_interval: Some(Duration::from_secs(600)), ..config() }
}

/// Loses message `number`, sent now, on the first path, until the second acknowledges it.
fn lose_on_first(tester: &mut Tester, number: u32) {
    tester.send(1_000);
    tester.expect(&line(number, 0));
    let rto = tester.path(0).rto.as_millis();
    tester.expire_after_ms(rto);
}

#[test]
fn rt_1_what_has_timed_out_goes_to_another_address() {
    let mut tester = Tester::active_over(config(), 3);
    tester.send(1_000);
    tester.expect(&line(0, 0));
    for (timeout, network) in [(1_000, 1), (1_000, 2), (1_000, 0), (2_000, 1)] {
        tester.expire_after_ms(timeout);
        tester.expect(&line(0, network));
        tester.expect_silence();
    }
}

#[test]
fn rt_2_new_data_stays_on_the_primary_path_until_it_is_inactive() {
    let mut tester = Tester::active_over(config(), 2);
    lose_on_first(&mut tester, 0);
    tester.expect(&line(0, 1));
    tester.receive_over(1, &[tester.sack(0, 100_000, &[])]);
    tester.send(1_000);
    tester.expect(&line(1, 0));
}

#[test]
fn rt_3_a_fast_retransmission_goes_to_the_same_address() {
    let mut tester = Tester::active_over(SctpConfig { initial_cwnd_bytes: Some(10_000), ..config() }, 2);
    for number in 0..4 {
        tester.send(1_000);
        tester.expect(&line(number, 0));
    }
    for last in 2..=4 {
        tester.expect_silence();
        tester.receive(&[tester.sack(-1, 100_000, &[(2, last)])]);
    }
    tester.expect(&line(0, 0));
    tester.expect_silence();
    assert_eq!(tester.path(0).error_count, 0);
}

#[test]
fn rt_4_a_sack_goes_to_where_the_data_came_from() {
    let mut tester = Tester::active_over(config(), 2);
    for (place, network, to) in [(0, 0, ""), (1, 1, "> 10.0.1.2 "), (2, 0, "")] {
        tester.receive_over(network, &[message(place, u16::try_from(place).unwrap())]);
        tester.wait_ms(200);
        tester.expect(&format!("{to}SACK(cum {place} rwnd 262144)"));
        tester.skip();
    }
}

#[test]
fn rt_5_a_timeout_closes_the_window_of_its_own_path_only() {
    let mut tester = Tester::active_over(config(), 2);
    let before = tester.path(1);
    lose_on_first(&mut tester, 0);
    tester.expect(&line(0, 1));
    let (first, second) = (tester.path(0), tester.path(1));
    // One packet: what 1,500 bytes hold behind the headers of IP and SCTP.
    assert_eq!((first.cwnd, first.ssthresh), (1_468, 4 * 1_468));
    assert_eq!((second.cwnd, second.ssthresh), (before.cwnd, before.ssthresh));
    assert_eq!((first.rto.as_millis(), second.rto.as_millis()), (2_000, 1_000));
}

#[test]
fn rt_6_what_was_sent_to_two_addresses_clears_no_error_counter() {
    let mut tester = Tester::active_over(config(), 2);
    lose_on_first(&mut tester, 0);
    tester.expect(&line(0, 1));
    tester.receive_over(1, &[tester.sack(0, 100_000, &[])]);
    assert_eq!(tester.path(0).error_count, 1);
    // What went to one only does.
    tester.send(1_000);
    tester.expect(&line(1, 0));
    tester.receive(&[tester.sack(1, 100_000, &[])]);
    assert_eq!(tester.path(0).error_count, 0);
}

#[test]
fn rt_7_a_shutdown_that_is_not_answered_goes_to_another_address() {
    let mut tester = Tester::active_over(config(), 2);
    tester.shut_down();
    tester.expect("SHUTDOWN(cum -1)");
    tester.expire_after_ms(1_000);
    tester.expect("> 10.0.1.2 SHUTDOWN(cum -1)");
    tester.expire_after_ms(1_000);
    tester.expect("SHUTDOWN(cum -1)");
    // Its answer goes to where the SHUTDOWN ACK came from.
    tester.receive_over(1, &[shutdown_ack()]);
    tester.expect("> 10.0.1.2 SHUTDOWN-COMPLETE");
    tester.expect_end(CloseReason::ShutdownComplete);
}

/// Messages are lost on the first path until it is inactive: Path.Max.Retrans is 1 here. Two messages are done with.
fn with_inactive_primary(config: SctpConfig) -> Tester {
    let mut tester = Tester::active_over(SctpConfig { path_max_retrans: 1, ..config }, 2);
    for number in 0..2 {
        lose_on_first(&mut tester, number);
        tester.expect(&line(number, 1));
        tester.receive_over(1, &[tester.sack(number.cast_signed(), 100_000, &[])]);
    }
    tester.expect_path(0, PathState::Inactive);
    tester.expect_silence();
    tester
}

#[test]
fn fo_1_beyond_path_max_retrans_the_path_is_inactive_and_new_data_goes_elsewhere() {
    let mut tester = with_inactive_primary(config());
    assert!(tester.path(0).is_primary);
    tester.send(1_000);
    tester.expect(&line(2, 1));
    tester.expect_failover();
    tester.receive_over(1, &[tester.sack(2, 100_000, &[])]);
    tester.expect_silence();
}

#[test]
fn fo_2_new_data_returns_to_the_primary_path_when_it_answers() {
    let mut tester = with_inactive_primary(config());
    assert!(tester.endpoint.request_heartbeat(tester.now, tester.id.unwrap(), peer(0)));
    tester.poll();
    let answer = tester.take_heartbeat(0);
    tester.send(1_000);
    tester.expect(&line(2, 1));
    tester.expect_failover();
    tester.receive(&[answer]);
    tester.expect_path(0, PathState::Active);
    tester.send(1_000);
    tester.expect(&line(3, 0));
}

#[test]
fn fo_3_association_max_retrans_counts_over_all_paths() {
    let mut tester = Tester::active_over(SctpConfig { association_max_retrans: 4, ..config() }, 2);
    tester.send(1_000);
    tester.expect(&line(0, 0));
    for (timeout, network) in [(1_000, 1), (1_000, 0), (2_000, 1), (2_000, 0)] {
        tester.expire_after_ms(timeout);
        tester.expect(&line(0, network));
    }
    tester.expire_after_ms(4_000);
    assert!(matches!(tester.skip_event(), Event::SendFailed { .. }));
    tester.expect_end(CloseReason::PeerUnreachable);
}

#[test]
fn fo_4_an_acknowledgement_over_one_path_clears_the_counter_of_the_association() {
    let mut tester =
        Tester::active_over(SctpConfig { association_max_retrans: 2, path_max_retrans: 20, ..config() }, 2);
    for number in 0..6 {
        lose_on_first(&mut tester, number);
        tester.expect(&line(number, 1));
        tester.receive_over(1, &[tester.sack(number.cast_signed(), 100_000, &[])]);
    }
    assert_eq!(tester.path(0).error_count, 6);
    tester.expect_silence();
}

#[test]
fn fo_5_where_all_paths_are_inactive_data_is_sent_all_the_same() {
    let mut tester = Tester::active_over(SctpConfig { path_max_retrans: 0, ..config() }, 2);
    tester.send(1_000);
    tester.expect(&line(0, 0));
    tester.expire_after_ms(1_000);
    tester.expect_path(0, PathState::Inactive);
    tester.expect(&line(0, 1));
    tester.expire_after_ms(1_000);
    tester.expect_path(1, PathState::Inactive);
    // Of two with as many errors the next in turn.
    tester.expect(&line(0, 0));
    tester.receive(&[tester.sack(0, 100_000, &[])]);
    // Neither is active again: the chunk went to both.
    assert_eq!([0, 1].map(|network| tester.path(network).state), [PathState::Inactive; 2]);
    tester.expect_silence();
}

#[test]
fn fo_6_control_chunks_that_answer_nothing_leave_an_inactive_primary_path() {
    let mut tester = with_inactive_primary(config());
    tester.shut_down();
    tester.expect("> 10.0.1.2 SHUTDOWN(cum -1)");
}

#[test]
fn pf_1_a_timeout_makes_a_path_potentially_failed_and_new_data_goes_elsewhere_at_once() {
    let mut tester = Tester::active_over(potentially_failed(), 2);
    lose_on_first(&mut tester, 0);
    tester.expect_path(0, PathState::PotentiallyFailed);
    tester.expect_all(&["HEARTBEAT", &line(0, 1)]);
    tester.receive_over(1, &[tester.sack(0, 100_000, &[])]);
    tester.send(1_000);
    tester.expect(&line(1, 1));
}

#[test]
fn pf_2_a_potentially_failed_path_is_probed_once_per_rto_until_it_is_inactive() {
    let mut tester = Tester::active_over(SctpConfig { path_max_retrans: 3, ..potentially_failed() }, 2);
    lose_on_first(&mut tester, 0);
    tester.expect_path(0, PathState::PotentiallyFailed);
    tester.expect_all(&["HEARTBEAT", &line(0, 1)]);
    tester.receive_over(1, &[tester.sack(0, 100_000, &[])]);
    for rto in [2_000, 4_000] {
        tester.expire_after_ms(rto);
        tester.expect_all(&["HEARTBEAT"]);
        tester.expect_silence();
    }
    tester.expire_after_ms(8_000);
    tester.expect_path(0, PathState::Inactive);
    tester.expect_silence();
}

#[test]
fn pf_3_an_answer_to_a_heartbeat_makes_a_potentially_failed_path_active() {
    let mut tester = Tester::active_over(potentially_failed(), 2);
    lose_on_first(&mut tester, 0);
    tester.expect_path(0, PathState::PotentiallyFailed);
    let answer = tester.take_heartbeat(0);
    tester.expect(&line(0, 1));
    tester.receive(&[answer]);
    tester.expect_path(0, PathState::Active);
    assert_eq!(tester.path(0).error_count, 0);
    tester.send(1_000);
    tester.expect(&line(1, 0));
}

#[test]
fn pf_4_what_went_to_one_address_only_makes_a_potentially_failed_path_active() {
    let mut tester = Tester::active_over(SctpConfig { max_burst: 1, ..potentially_failed() }, 2);
    tester.send(1_000);
    tester.expect(&line(0, 0));
    tester.wait_ms(1);
    tester.send(1_000);
    tester.expect(&line(1, 0));
    tester.expire_after_ms(999);
    tester.expect_path(0, PathState::PotentiallyFailed);
    // One packet of what timed out leaves (Max.Burst): the second chunk has gone to one address only.
    tester.expect_all(&["HEARTBEAT", &line(0, 1)]);
    tester.receive(&[tester.sack(-1, 100_000, &[(2, 2)])]);
    tester.expect_path(0, PathState::Active);
    assert_eq!(tester.path(0).error_count, 0);
}

#[test]
fn pf_5_of_potentially_failed_paths_the_one_with_fewer_errors_carries_data() {
    let mut tester = Tester::active_over(potentially_failed(), 2);
    lose_on_first(&mut tester, 0);
    tester.expect_path(0, PathState::PotentiallyFailed);
    tester.expect_all(&["HEARTBEAT", &line(0, 1)]);
    tester.expire_after_ms(1_000);
    tester.expect_path(1, PathState::PotentiallyFailed);
    // As many errors each: the next in turn.
    tester.expect_all(&["> 10.0.1.2 HEARTBEAT", &line(0, 0)]);
    assert_eq!([0, 1].map(|network| tester.path(network).error_count), [1, 1]);
    tester.wait_ms(2_000);
    let lines: Vec<String> = std::iter::from_fn(|| tester.next_line()).collect();
    assert_eq!(lines, ["HEARTBEAT", "> 10.0.1.2 HEARTBEAT DATA(BE tsn 0 sid 0 ssn 0 len 1000)"]);
}

#[test]
fn pf_6_without_heartbeats_a_potentially_failed_path_is_not_probed() {
    let mut tester = Tester::active_over(SctpConfig { heartbeat_interval: None, ..potentially_failed() }, 2);
    lose_on_first(&mut tester, 0);
    tester.expect_path(0, PathState::PotentiallyFailed);
    tester.expect(&line(0, 1));
    tester.receive_over(1, &[tester.sack(0, 100_000, &[])]);
    tester.wait(Duration::from_secs(600));
    tester.expect_silence();
}

#[test]
fn pf_7_the_user_may_be_kept_ignorant_of_potentially_failed_paths() {
    let mut tester =
        Tester::active_over(SctpConfig { expose_potentially_failed: false, ..potentially_failed() }, 2);
    lose_on_first(&mut tester, 0);
    assert_eq!(tester.path(0).state, PathState::PotentiallyFailed);
    tester.expect_all(&["HEARTBEAT", &line(0, 1)]);
    tester.expect_silence();
}

#[test]
fn pf_8_what_went_to_two_addresses_leaves_a_potentially_failed_path_as_it_is() {
    let mut tester = Tester::active_over(potentially_failed(), 2);
    lose_on_first(&mut tester, 0);
    tester.expect_path(0, PathState::PotentiallyFailed);
    tester.expect_all(&["HEARTBEAT", &line(0, 1)]);
    // Over the first path, too: it may be the second copy that has arrived.
    tester.receive(&[tester.sack(0, 100_000, &[])]);
    tester.expect_silence();
    assert_eq!((tester.path(0).state, tester.path(0).error_count), (PathState::PotentiallyFailed, 1));
}

#[test]
fn ps_1_new_data_goes_to_the_address_that_the_user_makes_the_primary_one() {
    let mut tester = Tester::active_over(config(), 2);
    assert!(tester.endpoint.set_primary(tester.now, tester.id.unwrap(), peer(1)));
    tester.send(1_000);
    tester.expect(&line(0, 1));
    assert_eq!([0, 1].map(|network| tester.path(network).is_primary), [false, true]);
}

#[test]
fn ps_2_an_address_that_is_not_the_peers_or_not_confirmed_cannot_become_the_primary_one() {
    let mut tester = Tester::with_networks(config(), 2);
    tester.listen();
    let init = tester.init(vec![slantpath_sctp::Parameter::Address(peer(1))]);
    tester.receive_tagged(0, &[init]);
    let cookie: Chunk = tester.take_cookie();
    tester.receive(&[cookie]);
    tester.skip();
    let id = tester.id.unwrap();
    assert!(!tester.endpoint.set_primary(tester.now, id, peer(1)));
    assert!(!tester.endpoint.set_primary(tester.now, id, [10, 0, 0, 77].into()));
    tester.send(1_000);
    tester.expect(&line(0, 0));
}

/// A primary path that becomes potentially failed and gives its rank away at once.
fn with_switchover(primary_switchover: PrimarySwitchover) -> Tester {
    let mut tester = Tester::active_over(SctpConfig { primary_switchover, ..potentially_failed() }, 2);
    lose_on_first(&mut tester, 0);
    tester.expect_path(0, PathState::PotentiallyFailed);
    tester
}

#[test]
fn ps_3_beyond_primary_switchover_max_retrans_the_path_in_use_becomes_the_primary_one() {
    let mut tester = with_switchover(PrimarySwitchover::Above(0));
    tester.expect_event(&Event::PrimaryChanged { address: peer(1) });
    let answer = tester.take_heartbeat(0);
    tester.expect(&line(0, 1));
    // The old one answers, and stays the second.
    tester.receive(&[answer]);
    tester.expect_path(0, PathState::Active);
    tester.receive_over(1, &[tester.sack(0, 100_000, &[])]);
    tester.send(1_000);
    tester.expect(&line(1, 1));
}

#[test]
fn ps_4_without_primary_switchover_the_rank_stays() {
    let mut tester = with_switchover(PrimarySwitchover::Off);
    let answer = tester.take_heartbeat(0);
    tester.expect(&line(0, 1));
    tester.receive(&[answer]);
    tester.expect_path(0, PathState::Active);
    tester.receive_over(1, &[tester.sack(0, 100_000, &[])]);
    tester.send(1_000);
    tester.expect(&line(1, 0));
}
