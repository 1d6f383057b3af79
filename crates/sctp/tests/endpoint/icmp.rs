//! ICMP messages about packets that were sent (RFC 9260, section 10).

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_sctp::{AssociationId, CloseReason, Event, Input, SctpConfig};
use slantpath_wire::icmp::{IcmpError, Unreachable};

use crate::net::{Net, v4};

const TOO_BIG: IcmpError = IcmpError::PacketTooBig { mtu_bytes: 900 };
const NO_SCTP: IcmpError = IcmpError::Unreachable(Unreachable::Protocol);

fn config() -> SctpConfig {
    SctpConfig { heartbeat_interval: None, ..SctpConfig::default() }
}

fn associated() -> (Net, AssociationId) {
    let (net, at_a, _) = Net::associated(&config(), [&[v4(1, 1)], &[v4(1, 2)]]);
    (net, at_a)
}

/// A message about the last packet of host 0, of which `len` bytes are quoted and one may be changed.
fn report(net: &mut Net, error: IcmpError, len: usize, changed: Option<usize>) {
    report_of(net, net.sent.len() - 1, error, len, changed);
}

/// Variant of `report` about packet number `sent`.
fn report_of(net: &mut Net, sent: usize, error: IcmpError, len: usize, changed: Option<usize>) {
    let mut quote = net.sent[sent].packet.contiguous()[..len].to_vec();
    if let Some(byte) = changed {
        quote[byte] ^= 1;
    }
    let quote = Bytes::from(quote);
    let (source, destination) = (v4(1, 1), v4(1, 2));
    net.hosts[0].endpoint.handle_input(net.now, Input::Icmp { source, destination, error, quote });
    net.drain(0);
}

fn mtu(net: &Net, id: AssociationId) -> u16 {
    net.hosts[0].endpoint.association(id).unwrap().path_snapshots(net.now).next().unwrap().mtu
}

#[test]
fn packet_too_big_reduces_the_path_mtu_and_the_data_is_sent_again_at_once() {
    let (mut net, id) = associated();
    net.send(0, id, 0, vec![1; 1_400]);
    net.drop_under_way();
    report(&mut net, TOO_BIG, 8, None);
    assert_eq!(mtu(&net, id), 900);
    net.run_for(Duration::from_millis(10));
    assert_eq!(net.received(1).len(), 1);
}

#[test]
fn a_message_that_quotes_other_ports_or_another_tag_is_ignored() {
    for changed in 0..8 {
        let (mut net, id) = associated();
        net.send(0, id, 0, "x");
        report(&mut net, TOO_BIG, 8, Some(changed));
        report(&mut net, NO_SCTP, 8, Some(changed));
        assert_eq!(mtu(&net, id), 1_500, "byte {changed}");
        let of_tag = if changed < 4 { 0 } else { 2 };
        assert_eq!(net.hosts[0].endpoint.stats().wrong_tags, of_tag, "byte {changed}");
        assert_eq!(net.events(0), []);
    }
}

#[test]
fn protocol_unreachable_ends_an_association_and_port_unreachable_does_not() {
    let (mut net, id) = associated();
    net.send(0, id, 0, "x");
    report(&mut net, IcmpError::Unreachable(Unreachable::Port), 8, None);
    report(&mut net, IcmpError::Unreachable(Unreachable::Host), 8, None);
    assert_eq!(net.events(0), []);
    report(&mut net, NO_SCTP, 8, None);
    assert_eq!(net.events(0).last(), Some(&Event::Closed(CloseReason::PeerAborted(Vec::new()))));
}

#[test]
fn protocol_unreachable_counts_in_cookie_wait_if_it_quotes_the_init_and_its_tag() {
    // Too short; another tag; whole.
    for (len, changed, ends) in [(8, None, false), (16, None, false), (20, Some(19), false), (20, None, true)]
    {
        let mut net = Net::calm();
        let a = net.add(&[v4(1, 1)], 5_000, config());
        let z = net.add(&[v4(1, 2)], 2_905, config());
        net.connect(a, z);
        net.drop_under_way();
        report(&mut net, NO_SCTP, len, changed);
        assert_eq!(!net.events(a).is_empty(), ends, "{len} bytes, changed {changed:?}");
    }
}

#[test]
fn protocol_unreachable_ends_cookie_echoed() {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    net.listen(z);
    net.connect(a, z);
    net.run_until(Instant::from_millis(20));
    net.drop_under_way();
    report(&mut net, NO_SCTP, 8, None);
    assert_eq!(net.events(a), [Event::Closed(CloseReason::PeerAborted(Vec::new()))]);
}

/// The INIT has been answered since, so that whoever says so is late, or lies.
#[test]
fn protocol_unreachable_that_quotes_the_init_counts_in_cookie_wait_only() {
    for (until_ms, ends) in [(5, true), (25, false), (45, false)] {
        let mut net = Net::calm();
        let a = net.add(&[v4(1, 1)], 5_000, config());
        let z = net.add(&[v4(1, 2)], 2_905, config());
        net.listen(z);
        net.connect(a, z);
        net.run_until(Instant::from_millis(until_ms));
        net.events(a);
        report_of(&mut net, 0, NO_SCTP, 20, None);
        assert_eq!(!net.events(a).is_empty(), ends, "{until_ms} ms");
    }
}
