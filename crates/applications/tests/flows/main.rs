//! Flows over simulated links, SCTP and TCP alike.
#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

mod failures;
mod fixture;
mod formulas;
mod mtu;
mod outside;
mod paths;
mod requests;
mod server;
mod services;
mod sessions;

use fixture::{bulk, constant_rate, direction, run, run_changed, sender};
use slantpath_applications::SenderConfig;
use slantpath_base::{Duration, Instant, Probability, Seed};
use slantpath_host::Protocol;
use slantpath_net::Change;

fn tcp() -> Protocol {
    Protocol::Tcp(Box::default())
}

#[test]
fn tcp_delivers_at_the_time_of_its_link() {
    let link = [direction("1 Mbit/s", "250 ms"), direction("1 Mbit/s", "250 ms")];
    let outcome =
        run(&[link], tcp(), sender(constant_rate(960, "30 ms")), Seed::new(1, 0), Duration::from_secs(10));
    assert!(outcome.received.messages.len() > 300);
    for message in &outcome.received.messages[100..] {
        let delay = message.delivered - outcome.sent.messages[message.number as usize].sent;
        // 960 bytes and 40 of headers at 1 Mbit/s: 8 ms.
        assert_eq!(delay, Duration::from_millis(258), "message {}", message.number);
    }
}

#[test]
fn tcp_over_a_lossy_link_loses_no_message() {
    let mut link = [direction("2 Mbit/s", "50 ms"), direction("2 Mbit/s", "50 ms")];
    link[0].loss = "2 %".parse().unwrap();
    link[1].loss = "2 %".parse().unwrap();
    let config = sender(bulk(1_000, 2_000_000));
    let outcome = run(&[link], tcp(), config, Seed::new(3, 0), Duration::from_secs(200));
    assert_eq!(outcome.received.messages_delivered, 2_000);
    assert_eq!((outcome.received.messages_corrupt, outcome.received.messages_out_of_order), (0, 0));
    assert!(outcome.sent.ended.is_some(), "{:?}", outcome.sent.failure);
    assert!(outcome.sent.messages.iter().any(|message| message.retransmissions > 0));
}

fn sctp() -> Protocol {
    Protocol::Sctp(Box::default())
}

#[test]
fn sctp_delivers_at_the_time_of_its_link() {
    let link = [direction("1 Mbit/s", "250 ms"), direction("1 Mbit/s", "250 ms")];
    let outcome =
        run(&[link], sctp(), sender(constant_rate(952, "30 ms")), Seed::new(1, 0), Duration::from_secs(10));
    assert!(outcome.received.messages.len() > 280);
    for message in &outcome.received.messages[100..] {
        let delay = message.delivered - outcome.sent.messages[message.number as usize].sent;
        // 952 bytes and 48 of headers at 1 Mbit/s: 8 ms.
        assert_eq!(delay, Duration::from_millis(258), "message {}", message.number);
    }
}

#[test]
fn sctp_over_a_lossy_link_loses_no_message() {
    let mut link = [direction("2 Mbit/s", "50 ms"), direction("2 Mbit/s", "50 ms")];
    link[0].loss = "2 %".parse().unwrap();
    link[1].loss = "2 %".parse().unwrap();
    let config = sender(bulk(1_000, 2_000_000));
    let outcome = run(&[link], sctp(), config, Seed::new(3, 0), Duration::from_secs(200));
    assert_eq!(outcome.received.messages_delivered, 2_000);
    assert_eq!((outcome.received.messages_corrupt, outcome.received.messages_out_of_order), (0, 0));
    assert!(outcome.sent.ended.is_some(), "{:?}", outcome.sent.failure);
    assert!(outcome.sent.messages.iter().any(|message| message.retransmissions > 0));
}

/// Each message is four times as long as the receive buffer, and delivered in parts.
#[test]
fn messages_longer_than_the_receive_buffer_arrive_whole() {
    let mut link = [direction("20 Mbit/s", "20 ms"), direction("20 Mbit/s", "20 ms")];
    link[0].loss = "1 %".parse().unwrap();
    let sctp = slantpath_sctp::SctpConfig { receive_buffer_bytes: 16_384, ..Default::default() };
    let protocol = Protocol::Sctp(Box::new(sctp));
    let config = sender(bulk(65_000, 6_500_000));
    let outcome = run(&[link], protocol, config, Seed::new(3, 0), Duration::from_secs(200));
    assert_eq!(outcome.received.messages_delivered, 100, "{:?}", outcome.sent.failure);
    assert_eq!((outcome.received.messages_corrupt, outcome.received.messages_out_of_order), (0, 0));
}

#[test]
fn what_times_out_goes_over_the_alternate_path() {
    let primary = [direction("2 Mbit/s", "50 ms"), direction("2 Mbit/s", "50 ms")];
    let alternate = [direction("2 Mbit/s", "60 ms"), direction("2 Mbit/s", "60 ms")];
    let mut links = [primary, alternate];
    links[0][0].loss = "30 %".parse().unwrap();
    let config = sender(constant_rate(500, "10 ms"));
    let outcome = run(&links, sctp(), config, Seed::new(3, 0), Duration::from_secs(60));
    assert_eq!((outcome.received.messages_corrupt, outcome.received.messages_out_of_order), (0, 0));
    let on_alternate = outcome.sent.messages.iter().filter(|message| message.last_path == 1).count();
    let again = outcome.sent.messages.iter().filter(|message| message.retransmissions > 0).count();
    assert!(on_alternate > 0 && again > 0, "{on_alternate} on the alternate path, {again} retransmitted");
}

#[test]
fn damaged_packets_fail_their_checksums_and_are_repaired() {
    for protocol in [tcp(), sctp()] {
        let mut link = [direction("2 Mbit/s", "20 ms"), direction("2 Mbit/s", "20 ms")];
        link[0].bit_errors = "1e-5".parse().unwrap();
        link[1].bit_errors = "1e-5".parse().unwrap();
        let config = sender(bulk(1_000, 1_000_000));
        let outcome = run(&[link], protocol, config, Seed::new(9, 0), Duration::from_secs(300));
        assert_eq!(outcome.received.messages_delivered, 1_000);
        assert_eq!((outcome.received.messages_corrupt, outcome.received.messages_out_of_order), (0, 0));
    }
}

#[test]
fn equal_seeds_give_equal_digests_and_other_seeds_others() {
    let digest = |seed| {
        let mut link = [direction("2 Mbit/s", "20 ms"), direction("2 Mbit/s", "20 ms")];
        link[0].loss = "1 %".parse().unwrap();
        let config = sender(bulk(1_000, 200_000));
        run(&[link], sctp(), config, Seed::new(seed, 0), Duration::from_secs(20)).network.digest()
    };
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

#[test]
fn a_path_is_probed_at_every_change() {
    let link = [direction("2 Mbit/s", "20 ms"), direction("2 Mbit/s", "20 ms")];
    for protocol in [tcp(), sctp()] {
        let config = sender(bulk(1_000, 200_000));
        let outcome =
            run(std::slice::from_ref(&link), protocol, config, Seed::new(1, 0), Duration::from_secs(20));
        let samples = &outcome.sent.samples;
        assert!(samples.len() > 10);
        assert!(samples.windows(2).all(|pair| pair[0].at <= pair[1].at));
        assert!(
            samples.iter().any(|sample| sample.srtt.is_some_and(|srtt| srtt >= Duration::from_millis(40)))
        );
        assert!(samples.iter().map(|sample| sample.cwnd_bytes).max() > samples.first().map(|s| s.cwnd_bytes));
    }
}

#[test]
fn a_timeline_tells_a_failover_step_by_step() {
    let links = [0, 1].map(|_| [direction("2 Mbit/s", "20 ms"), direction("2 Mbit/s", "20 ms")]);
    let config = SenderConfig { record_timeline: true, ..sender(constant_rate(250, "10 ms")) };
    let sctp = slantpath_sctp::SctpConfig {
        path_max_retrans: 0,
        max_init_retransmits: 8,
        ..slantpath_sctp::SctpConfig::default()
    };
    let protocol = Protocol::Sctp(Box::new(sctp));
    // The first link goes dead for data once the handshake is over.
    let dead = [(Instant::from_millis(500), Change::Loss(Probability::new(1.0).unwrap()))];
    let outcome = run_changed(&links, &dead, protocol, config, Duration::from_secs(20));
    assert!(outcome.received.messages_delivered > 500, "{:?}", outcome.sent.failure);
    let names: Vec<&str> = outcome.sent.timeline.iter().map(|step| step.kind.name()).collect();
    let place = |name: &str| names.iter().position(|other| *other == name).unwrap();
    assert!(place("T3-rtx started") < place("T3-rtx expired"), "{names:?}");
    assert!(place("T3-rtx expired") < place("inactive"), "{names:?}");
    assert!(place("inactive") < place("retransmitted"), "{names:?}");
    let expired = &outcome.sent.timeline[place("T3-rtx expired")];
    assert_eq!(expired.path, 0);
    let moved = outcome.sent.timeline.iter().filter(|step| step.kind.name() == "new data").nth(1).unwrap();
    assert_eq!((moved.path, moved.at >= expired.at), (1, true));
}
