//! Changes and next hops that come from elsewhere than a plan.

use slantpath_base::{DataRate, Duration, Instant, Seed};
use slantpath_net::{
    Change, DestinationId, DirectionId, LinkEnd, LinkId, Links, Network, NetworkBuilder, NodeId, Source,
};

use crate::fixture::{Scripted, address, clean, millis, packet, tag};

/// Sends over one of two links at a time, each for a second.
struct Alternating {
    ways: [DirectionId; 2],
    destination: DestinationId,
    next: Instant,
    /// State of the present way at each change: true if it was up, and its delay.
    seen: Vec<(bool, Duration)>,
}

impl Source for Alternating {
    fn next_change(&self) -> Instant {
        self.next
    }

    fn apply(&mut self, now: Instant, links: &mut Links<'_>) {
        self.ways.swap(0, 1);
        links.change(self.ways[0], Change::Up);
        links.change(self.ways[1], Change::Down);
        self.seen.push((links.is_up(self.ways[0]), links.delay(self.ways[0])));
        self.next = now + Duration::from_secs(1);
    }

    fn next_hop(&mut self, _node: NodeId, destination: DestinationId) -> Option<DirectionId> {
        (destination == self.destination).then_some(self.ways[0])
    }
}

#[test]
fn a_network_asks_its_source_for_changes_and_next_hops() {
    let mut builder = NetworkBuilder::new();
    let (first, router, second) = (builder.host("first"), builder.router("router"), builder.host("second"));
    let config = clean(DataRate::from_bits_per_sec(8_000_000), Duration::from_millis(1), 10);
    let access = builder.link("access", first, router, config.clone(), config.clone());
    let ways: [LinkId; 2] = ["one", "other"].map(|name| {
        let config =
            clean(DataRate::from_bits_per_sec(8_000_000), Duration::from_millis(name.len() as u64), 10);
        builder.link(name, router, second, config.clone(), config)
    });
    builder.address(access.first(), address(1)).address(ways[0].second(), address(2));
    // What the plan says does not count.
    builder.change(millis(0), access.forward(), Change::Down);
    let graph = builder.build().expect("a sound plan");
    let source = Alternating {
        ways: ways.map(LinkId::forward),
        destination: graph.destination(address(2)).expect("an address of a host"),
        next: Instant::from_secs(1),
        seen: Vec::new(),
    };
    let mut network = Network::with_source(graph, Seed::new(1, 0), vec![Scripted::default(); 2], source);
    network.command(first, |host, _| {
        for (tag, at) in [(0, 500), (1, 1_500), (2, 2_500)] {
            host.send(millis(at), access.first(), packet(address(1), address(2), 1_000, tag));
        }
    });
    network.run_until(Instant::from_secs(3));
    let arrived: Vec<_> = network
        .host(second)
        .received
        .iter()
        .map(|(at, interface, packet)| (at.since_start().as_millis(), interface.link(), tag(packet)))
        .collect();
    assert_eq!(arrived, [(506, ways[0], 0), (1_508, ways[1], 1), (2_506, ways[0], 2)]);
    let seen: Vec<_> =
        network.source().seen.iter().map(|&(is_up, delay)| (is_up, delay.as_millis())).collect();
    assert_eq!(seen, [(true, 5), (true, 3), (true, 5)]);
}
