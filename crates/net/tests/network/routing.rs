//! Shortest paths, their ties, their absence and their change.

use slantpath_base::{DataRate, Duration, Seed};
use slantpath_net::{
    Change, DirectionConfig, DropReason, LinkId, Network, NetworkBuilder, NodeId, Routes, Routing,
};

use crate::fixture::{Scripted, address, clean, millis, packet};

fn delay(millis: u64) -> DirectionConfig {
    clean(DataRate::from_bits_per_sec(1_000_000_000), Duration::from_millis(millis), 100)
}

/// A ring of two ways between two hosts' routers: over `a` by links of `upper` each, or over `b` by `lower`.
struct Ring {
    builder: NetworkBuilder,
    first: NodeId,
    second: NodeId,
    access: LinkId,
    upper: [LinkId; 2],
    lower: [LinkId; 2],
}

fn ring(upper: u64, lower: u64) -> Ring {
    let mut builder = NetworkBuilder::new();
    let (first, second) = (builder.host("first"), builder.host("second"));
    let [left, right, a, b] = ["left", "right", "a", "b"].map(|name| builder.router(name));
    let access = builder.link("access", first, left, delay(1), delay(1));
    let egress = builder.link("egress", right, second, delay(1), delay(1));
    let lower = [
        builder.link("left-b", left, b, delay(lower), delay(lower)),
        builder.link("b-right", b, right, delay(lower), delay(lower)),
    ];
    let upper = [
        builder.link("left-a", left, a, delay(upper), delay(upper)),
        builder.link("a-right", a, right, delay(upper), delay(upper)),
    ];
    builder.address(access.first(), address(1)).address(egress.second(), address(2));
    Ring { builder, first, second, access, upper, lower }
}

impl Ring {
    /// Sends one packet at each of `times` and returns how many went over each way and how many arrived.
    fn run(self, times: &[u64]) -> (u64, u64, usize) {
        let hosts = vec![Scripted::default(), Scripted::default()];
        let mut network = Network::new(self.builder.build().expect("a sound plan"), Seed::new(1, 0), hosts);
        network.command(self.first, |host, _| {
            for &at in times {
                host.send(millis(at), self.access.first(), packet(address(1), address(2), 100, 0));
            }
        });
        network.run_until(millis(10_000));
        let over = |link: LinkId| network.counters(link.forward()).carried.packets;
        (over(self.upper[1]), over(self.lower[1]), network.host(self.second).received.len())
    }
}

#[test]
fn the_way_of_least_delay_is_taken() {
    assert_eq!(ring(5, 6).run(&[0, 1]), (2, 0, 2));
    assert_eq!(ring(6, 5).run(&[0, 1]), (0, 2, 2));
}

#[test]
fn of_ways_alike_the_one_with_fewer_links_and_then_the_first_declared_is_taken() {
    assert_eq!(ring(5, 5).run(&[0]), (0, 1, 1), "the lower links were declared first");
    let mut shorter = ring(5, 5);
    let nodes: Vec<NodeId> = {
        let graph = shorter.builder.clone().build().unwrap();
        graph.nodes().collect()
    };
    let [left, right] = [nodes[2], nodes[3]];
    let direct = shorter.builder.link("direct", left, right, delay(10), delay(10));
    let graph = shorter.builder.clone().build().unwrap();
    let mut routes = Routes::new(&graph);
    assert_eq!(routes.route(&graph, left, address(2)), Ok(direct.first()));
}

#[test]
fn static_routes_stay_when_a_link_goes_down() {
    let mut ring = ring(5, 6);
    let down = ring.upper[0].forward();
    ring.builder.change(millis(50), down, Change::Down);
    assert_eq!(ring.run(&[0, 100]), (1, 0, 1));
}

#[test]
fn dynamic_routes_go_round_a_link_that_is_down_and_back() {
    let mut ring = ring(5, 6);
    let down = ring.upper[0].forward();
    ring.builder.routing(Routing::Dynamic);
    ring.builder.change(millis(50), down, Change::Down);
    ring.builder.change(millis(150), down, Change::Up);
    assert_eq!(ring.run(&[0, 100, 200]), (2, 1, 3));
}

#[test]
fn hosts_do_not_forward() {
    let mut builder = NetworkBuilder::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| builder.host(name));
    let left = builder.link("left", a, b, delay(1), delay(1));
    let right = builder.link("right", b, c, delay(1), delay(1));
    builder.address(left.first(), address(1)).address(left.second(), address(2));
    builder.address(right.second(), address(3));
    let graph = builder.build().expect("a sound plan");
    let mut routes = Routes::new(&graph);
    assert_eq!(routes.route(&graph, a, address(2)), Ok(left.first()));
    let error = routes.route(&graph, a, address(3)).unwrap_err();
    assert_eq!(error.to_string(), "no route leads from `a` to `c` (10.0.0.3)");
    let error = routes.route(&graph, a, address(4)).unwrap_err();
    assert_eq!(error.to_string(), "no host has the address 10.0.0.4, which `a` should reach");
}

#[test]
fn a_multihomed_pair_has_a_way_for_each_interface() {
    let mut builder = NetworkBuilder::new();
    let (first, second) = (builder.host("first"), builder.host("second"));
    let satellite = builder.link("satellite", first, second, delay(250), delay(250));
    let isdn = builder.link("isdn", first, second, delay(25), delay(25));
    for (link, number) in [(satellite, 1), (isdn, 3)] {
        builder.address(link.first(), address(number)).address(link.second(), address(number + 1));
    }
    let graph = builder.build().expect("a sound plan");
    let mut routes = Routes::new(&graph);
    assert_eq!(routes.route(&graph, first, address(2)), Ok(satellite.first()));
    assert_eq!(routes.route(&graph, first, address(4)), Ok(isdn.first()));
    assert_eq!(routes.route(&graph, second, address(1)), Ok(satellite.second()));
}

#[test]
fn a_packet_sent_down_a_blind_alley_is_counted() {
    let mut ring = ring(5, 6);
    let down = [ring.upper[0].forward(), ring.lower[0].forward()];
    ring.builder.routing(Routing::Dynamic);
    for direction in down {
        ring.builder.change(millis(50), direction, Change::Down);
    }
    let (first, access) = (ring.first, ring.access);
    let hosts = vec![Scripted::default(), Scripted::default()];
    let mut network = Network::new(ring.builder.build().expect("a sound plan"), Seed::new(1, 0), hosts);
    network.command(first, |host, _| {
        host.send(millis(100), access.first(), packet(address(1), address(2), 100, 0));
    });
    network.run_until(millis(1_000));
    assert_eq!(network.counters(access.forward()).dropped(DropReason::Unreachable).packets, 1);
}

#[test]
fn plans_that_make_no_sense_are_refused() {
    let refusal = |build: &dyn Fn(&mut NetworkBuilder, NodeId, NodeId)| {
        let mut builder = NetworkBuilder::new();
        let (a, b) = (builder.host("a"), builder.host("b"));
        build(&mut builder, a, b);
        builder.build().expect_err("no sense").to_string()
    };
    assert_eq!(
        refusal(&|builder, a, b| {
            let link = builder.link("l", a, b, delay(1), delay(1));
            builder.address(link.first(), address(1)).address(link.second(), address(1));
        }),
        "`a` and `b` both have the address 10.0.0.1"
    );
    assert_eq!(
        refusal(&|builder, _, _| {
            builder.router("a");
        }),
        "there are two nodes named `a`"
    );
    assert_eq!(
        refusal(&|builder, a, _| {
            builder.link("l", a, a, delay(1), delay(1));
        }),
        "link `l` joins `a` to itself"
    );
    assert_eq!(
        refusal(&|builder, a, b| {
            let dead = clean(DataRate::from_bits_per_sec(0), Duration::ZERO, 1);
            builder.link("l", a, b, delay(1), dead);
        }),
        "link `l` has a rate of zero: take it down instead"
    );
    assert_eq!(
        refusal(&|builder, a, b| {
            let narrow = DirectionConfig { mtu_bytes: 1_000, ..delay(1) };
            let link = builder.link("l", a, b, narrow.clone(), narrow);
            builder.address(link.first(), [1_u16; 8].into());
        }),
        "link `l` has an MTU of 1000 bytes: 1280 are the least for IPv6"
    );
}
