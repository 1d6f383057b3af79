//! Reports of routers to senders.

use std::net::IpAddr;

use slantpath_base::{DataRate, Duration, Instant, Seed};
use slantpath_net::{DirectionConfig, DropReason, LinkId, Network, NetworkBuilder, NodeId};
use slantpath_wire::icmp::{IcmpError, IcmpMessage, Unreachable};
use slantpath_wire::ip::IpHeader;

use crate::fixture::{Scripted, address, clean, millis, packet, packet_with};

struct Line {
    network: Network<Scripted>,
    first: NodeId,
    second: NodeId,
    left: LinkId,
    right: LinkId,
}

fn v6(number: u16) -> IpAddr {
    IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, number])
}

/// Host, router, host; the right link carries 1,300 bytes. The router's address is number 9.
fn line(router_has_addresses: bool) -> Line {
    let mut builder = NetworkBuilder::new();
    let (first, router, second) = (builder.host("first"), builder.router("router"), builder.host("second"));
    let wide = clean(DataRate::from_bits_per_sec(1_000_000), Duration::from_millis(1), 9);
    let narrow = DirectionConfig { mtu_bytes: 1_300, ..wide.clone() };
    let left = builder.link("left", first, router, wide.clone(), wide.clone());
    let right = builder.link("right", router, second, narrow, wide);
    for (interface, number) in [(left.first(), 1), (right.second(), 2)] {
        builder.address(interface, address(number)).address(interface, v6(number.into()));
    }
    if router_has_addresses {
        builder.address(left.second(), address(9)).address(left.second(), v6(9));
    }
    let hosts = vec![Scripted::default(), Scripted::default()];
    let network = Network::new(builder.build().expect("a sound plan"), Seed::new(1, 0), hosts);
    Line { network, first, second, left, right }
}

impl Line {
    fn send(&mut self, packet: slantpath_wire::Packet) -> Option<(IpAddr, IcmpError, usize)> {
        let interface = self.left.first();
        self.network.command(self.first, |host, now| host.send(now, interface, packet));
        self.network.run_until(self.network.now() + Duration::from_secs(1));
        let (_, _, reply) = self.network.host(self.first).received.last()?;
        let bytes = reply.contiguous();
        let (header, len) = IpHeader::parse(&bytes).expect("a sound header");
        let message = IcmpMessage::parse(&header, &bytes[len..]).expect("a message");
        Some((header.source, message.error, message.quote.len()))
    }
}

#[test]
fn hosts_that_something_has_happened_to_are_given_once() {
    let mut line = line(true);
    line.network.run_until(Instant::START);
    let all = std::iter::from_fn(|| line.network.next_drained_host()).collect::<Vec<_>>();
    assert_eq!(all.len(), 2, "every host has begun");
    let interface = line.left.first();
    for number in [1, 2] {
        let packet = packet(address(1), address(2), 100, number);
        line.network.command(line.first, |host, now| host.send(now, interface, packet));
    }
    assert_eq!(line.network.next_drained_host(), Some(line.first));
    assert_eq!(line.network.next_drained_host(), None);
    line.network.run_until(Instant::from_secs(1));
    assert_eq!(line.network.next_drained_host(), Some(line.second));
    assert_eq!(line.network.next_drained_host(), None);
}

#[test]
fn a_packet_too_long_for_a_later_link_is_reported_by_the_router() {
    for (from, to, router, quoted) in
        [(address(1), address(2), address(9), 576 - 28), (v6(1), v6(2), v6(9), 1_280 - 48)]
    {
        let mut line = line(true);
        let reply = line.send(packet(from, to, 1_400, 0));
        assert_eq!(reply, Some((router, IcmpError::PacketTooBig { mtu_bytes: 1_300 }, quoted)));
        assert_eq!(line.network.counters(line.right.forward()).dropped(DropReason::Mtu).packets, 1);
        assert_eq!(line.network.host(line.second).received.len(), 0);
    }
}

#[test]
fn a_packet_too_long_for_a_link_whose_reports_are_filtered_vanishes() {
    for is_mtu_reported in [true, false] {
        let mut builder = NetworkBuilder::new();
        let (first, router, second) =
            (builder.host("first"), builder.router("router"), builder.host("second"));
        let wide = clean(DataRate::from_bits_per_sec(1_000_000), Duration::from_millis(1), 9);
        let narrow = DirectionConfig { mtu_bytes: 1_300, is_mtu_reported, ..wide.clone() };
        let left = builder.link("left", first, router, wide.clone(), wide.clone());
        let right = builder.link("right", router, second, narrow, wide);
        builder.address(left.first(), address(1)).address(right.second(), address(2));
        let hosts = vec![Scripted::default(), Scripted::default()];
        let network = Network::new(builder.build().expect("a sound plan"), Seed::new(1, 0), hosts);
        let mut line = Line { network, first, second, left, right };
        assert_eq!(line.send(packet(address(1), address(2), 1_400, 0)).is_some(), is_mtu_reported);
        assert_eq!(line.network.counters(line.right.forward()).dropped(DropReason::Mtu).packets, 1);
    }
}

#[test]
fn a_packet_too_long_for_the_first_link_is_reported_at_once() {
    let mut line = line(true);
    let reply = line.send(packet(address(1), address(2), 1_501, 0));
    assert_eq!(reply, Some((address(1), IcmpError::PacketTooBig { mtu_bytes: 1_500 }, 548)));
    assert_eq!(line.network.host(line.first).arrivals(), [Instant::START]);
}

#[test]
fn a_hop_limit_is_used_up_by_routers() {
    let mut line = line(true);
    assert_eq!(line.send(packet_with(address(1), address(2), 100, 0, 2)), None);
    let (_, _, received) = &line.network.host(line.second).received[0];
    let (header, _) = IpHeader::parse(&received.contiguous()).expect("a sound header");
    assert_eq!(header.hop_limit, 1);
    let reply = line.send(packet_with(address(1), address(2), 100, 0, 1));
    assert_eq!(reply, Some((address(9), IcmpError::TimeExceeded, 100)));
    assert_eq!(line.network.counters(line.left.forward()).dropped(DropReason::HopLimit).packets, 1);
}

#[test]
fn a_router_without_an_address_speaks_ipv4_under_the_dummy_address() {
    let mut line = line(false);
    let reply = line.send(packet_with(address(1), address(2), 100, 0, 1));
    assert_eq!(reply.map(|(source, ..)| source), Some([192, 0, 0, 8].into()));
    let before = line.network.host(line.first).received.len();
    line.send(packet_with(v6(1), v6(2), 100, 0, 1));
    assert_eq!(line.network.host(line.first).received.len(), before, "but no IPv6");
}

#[test]
fn an_address_that_nobody_has_is_counted_where_it_is_sent() {
    let mut line = line(true);
    assert_eq!(line.send(packet(address(1), address(77), 100, 0)), None);
    assert_eq!(line.network.counters(line.left.forward()).dropped(DropReason::Unreachable).packets, 1);
}

#[test]
fn a_router_without_a_route_says_so() {
    // The second host has another interface, on a link that the router does not see.
    let mut builder = NetworkBuilder::new();
    let (first, router) = (builder.host("first"), builder.router("router"));
    let (second, third) = (builder.host("second"), builder.host("third"));
    let config = clean(DataRate::from_bits_per_sec(1_000_000), Duration::from_millis(1), 9);
    let left = builder.link("left", first, router, config.clone(), config.clone());
    let apart = builder.link("apart", second, third, config.clone(), config);
    builder
        .address(left.first(), address(1))
        .address(left.second(), address(9))
        .address(apart.first(), address(2));
    let hosts = vec![Scripted::default(); 3];
    let mut network = Network::new(builder.build().expect("a sound plan"), Seed::new(1, 0), hosts);
    network.command(first, |host, now| host.send(now, left.first(), packet(address(1), address(2), 100, 0)));
    network.run_until(millis(1_000));
    let (_, _, reply) = &network.host(first).received[0];
    let bytes = reply.contiguous();
    let (header, len) = IpHeader::parse(&bytes).expect("a sound header");
    let message = IcmpMessage::parse(&header, &bytes[len..]).expect("a message");
    assert_eq!(message.error, IcmpError::Unreachable(Unreachable::Network));
}
