//! Links that carry less than the hosts first send.

use slantpath_base::{Duration, Seed};
use slantpath_host::Protocol;
use slantpath_net::{self as net, DirectionConfig, DirectionCounters};
use slantpath_sctp::{self as sctp, SctpConfig};

use crate::fixture::{Outcome, bulk, constant_rate, direction, run, sender};

fn link(mtu_bytes: u32) -> [DirectionConfig; 2] {
    [0, 1].map(|_| DirectionConfig { mtu_bytes, ..direction("10 Mbit/s", "20 ms") })
}

fn sctp() -> Protocol {
    Protocol::Sctp(Box::default())
}

fn tcp() -> Protocol {
    Protocol::Tcp(Box::default())
}

fn forward(outcome: &Outcome) -> DirectionCounters {
    let link = outcome.network.graph().links().next().unwrap();
    *outcome.network.counters(link.forward())
}

/// The longest time that a message took.
fn slowest(outcome: &Outcome) -> Duration {
    let sent = &outcome.sent.messages;
    let delay = |message: &slantpath_applications::record::DeliveredMessage| {
        message.delivered - sent[message.number as usize].sent
    };
    outcome.received.messages.iter().map(delay).max().unwrap()
}

#[test]
fn a_narrow_link_costs_neither_a_message_nor_a_timeout() {
    for protocol in [sctp(), tcp()] {
        let config = sender(constant_rate(1_400, "10 ms"));
        let outcome = run(&[link(1_300)], protocol.clone(), config, Seed::new(1, 0), Duration::from_secs(3));
        assert!(outcome.received.messages_delivered >= 290, "{protocol:?}");
        assert_eq!(outcome.received.messages_corrupt + outcome.received.messages_out_of_order, 0);
        assert!(slowest(&outcome) < Duration::from_millis(100), "{}: {protocol:?}", slowest(&outcome));
        let counters = forward(&outcome);
        assert!((1..=4).contains(&counters.dropped(net::DropReason::Mtu).packets), "{counters:?}");
    }
}

#[test]
fn a_window_of_long_packets_is_sent_again_at_once() {
    for protocol in [sctp(), tcp()] {
        let config = sender(bulk(10_000, 1_000_000));
        let outcome = run(&[link(1_300)], protocol.clone(), config, Seed::new(1, 0), Duration::from_secs(5));
        assert_eq!(outcome.received.messages_delivered, 100, "{protocol:?}");
        let ended = outcome.received.messages.last().unwrap().delivered;
        // A timeout takes a second.
        assert!(ended.since_start() < Duration::from_secs(2), "{ended}: {protocol:?}");
    }
}

#[test]
fn sctp_crosses_a_link_that_carries_less_than_any_path_mtu() {
    let config = sender(bulk(1_400, 140_000));
    let outcome = run(&[link(300)], sctp(), config, Seed::new(1, 0), Duration::from_secs(3));
    assert_eq!(outcome.received.messages_delivered, 100);
    assert!(slowest(&outcome) < Duration::from_millis(900), "{}", slowest(&outcome));
    let counters = forward(&outcome);
    assert!(counters.fragmented.packets > 100, "{counters:?}");
    let reassembly = outcome.network.hosts()[1].reassembly();
    assert_eq!(reassembly.packets, counters.fragmented.packets, "{reassembly:?}");
    assert_eq!((reassembly.received, reassembly.used), (counters.fragments.packets, reassembly.received));
}

#[test]
fn tcp_crosses_the_narrowest_link_that_there_is() {
    let outcome =
        run(&[link(68)], tcp(), sender(bulk(1_000, 50_000)), Seed::new(1, 0), Duration::from_secs(20));
    assert_eq!(outcome.received.messages_delivered, 50);
    assert_eq!(forward(&outcome).fragmented.packets, 0);
}

#[test]
fn bit_errors_in_fragments_fail_the_checksum_of_the_whole() {
    for checksum in [sctp::ChecksumPolicy::Compute, sctp::ChecksumPolicy::Omit] {
        let mut link = link(400);
        link[0].bit_errors = "1e-5".parse().unwrap();
        let config = SctpConfig { checksum, ..SctpConfig::default() };
        let outcome = run(
            &[link],
            Protocol::Sctp(Box::new(config)),
            sender(bulk(1_000, 300_000)),
            Seed::new(9, 0),
            Duration::from_secs(300),
        );
        assert_eq!(outcome.received.messages_delivered, 300, "{checksum:?}");
        assert_eq!((outcome.received.messages_corrupt, outcome.received.messages_out_of_order), (0, 0));
        assert!(forward(&outcome).damaged.packets > 0);
    }
}
