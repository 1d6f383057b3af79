//! Ways that are watched: from when on nothing gets through, and why.

use slantpath_base::{DataRate, Duration, Probability, Seed};
use slantpath_net::{
    Change, DirectionId, LinkEnd, LinkId, Network, NetworkBuilder, NodeId, OutageCause, Routing, Way,
};

use crate::fixture::{Scripted, address, clean, millis};

/// Outage of a way from then on, in milliseconds, by its cause and link.
type Seen = (u64, Option<(OutageCause, LinkId)>);

/// Two hosts whose routers are joined by a short wire and a long one.
struct Two {
    builder: NetworkBuilder,
    first: LinkId,
    second: NodeId,
    short: LinkId,
    long: LinkId,
}

impl Two {
    fn new(routing: Routing) -> Self {
        let mut builder = NetworkBuilder::new();
        let (first, second) = (builder.host("first"), builder.host("second"));
        let [left, right] = ["left", "right"].map(|name| builder.router(name));
        let wire =
            |delay| clean(DataRate::from_bits_per_sec(1_000_000_000), Duration::from_millis(delay), 100);
        let access = builder.link("access", first, left, wire(1), wire(1));
        let egress = builder.link("egress", right, second, wire(1), wire(1));
        let short = builder.link("short", left, right, wire(1), wire(1));
        let long = builder.link("long", left, right, wire(9), wire(9));
        builder.address(access.first(), address(1)).address(egress.second(), address(2));
        builder.routing(routing);
        Self { builder, first: access, second, short, long }
    }

    /// Outages that are seen of the way from the first host to the second while these changes are made.
    fn watch(mut self, changes: &[(u64, DirectionId, Change)]) -> Vec<Seen> {
        for &(at, direction, change) in changes {
            self.builder.change(millis(at), direction, change);
        }
        let graph = self.builder.build().expect("a sound plan");
        let destination = graph.destination(address(2)).expect("an address of a host");
        let hosts = vec![Scripted::default(); 2];
        let mut network = Network::new(graph, Seed::new(1, 0), hosts);
        network.watch_ways(vec![Way { leaving: self.first.first(), destination, to: self.second }]);
        network.run_until(millis(10_000));
        let seen = network.take_way_changes();
        assert_eq!(network.take_way_changes(), []);
        seen.into_iter()
            .map(|change| {
                let outage = change.outage.map(|outage| (outage.cause, outage.direction.sender().link()));
                (change.at.since_start().as_millis(), outage)
            })
            .collect()
    }
}

#[test]
fn a_way_carries_nothing_while_a_direction_is_down_or_loses_all() {
    let two = Two::new(Routing::Static);
    let (short, access) = (two.short, two.first);
    let seen = two.watch(&[
        (100, short.forward(), Change::Down),
        // Of the way back, and of a link that is not on the way.
        (150, short.reverse(), Change::Down),
        (200, short.forward(), Change::Up),
        (300, access.forward(), Change::Loss(Probability::ALWAYS)),
        (400, access.forward(), Change::Loss(Probability::new(0.5).unwrap())),
        // Down and up at once is no outage.
        (500, short.forward(), Change::Down),
        (500, short.forward(), Change::Up),
        (550, access.forward(), Change::BitErrors(Probability::ALWAYS)),
        (560, access.forward(), Change::BitErrors(Probability::NEVER)),
        // While one link is down, another may go and come back.
        (600, short.forward(), Change::Down),
        (700, access.forward(), Change::Down),
        (800, access.forward(), Change::Up),
        (900, short.forward(), Change::Up),
    ]);
    let expected = [
        (100, Some((OutageCause::Down, short))),
        (200, None),
        (300, Some((OutageCause::AllLost, access))),
        (400, None),
        (550, Some((OutageCause::AllLost, access))),
        (560, None),
        (600, Some((OutageCause::Down, short))),
        (900, None),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_way_that_routes_lead_around_a_link_carries_on() {
    let two = Two::new(Routing::Dynamic);
    let (short, long, access) = (two.short, two.long, two.first);
    let seen = two.watch(&[
        (100, short.forward(), Change::Down),
        (200, long.forward(), Change::Down),
        (300, short.forward(), Change::Up),
    ]);
    assert_eq!(seen, [(200, Some((OutageCause::NoRoute, access))), (300, None)]);
}

#[test]
fn an_outage_from_the_start_is_seen_at_the_start() {
    let two = Two::new(Routing::Static);
    let short = two.short;
    let seen = two.watch(&[(0, short.forward(), Change::Down), (10, short.forward(), Change::Up)]);
    assert_eq!(seen, [(0, Some((OutageCause::Down, short))), (10, None)]);
}
