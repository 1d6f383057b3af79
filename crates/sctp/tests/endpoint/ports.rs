//! Ports of one host, and what their associations do not share.

use std::sync::Arc;

use slantpath_base::Seed;
use slantpath_sctp::{Acceptance, BindError, Chunk, ConnectError, ConnectOptions, PortConfig, SctpConfig};

use crate::net::{Net, parse, v4};

fn config() -> SctpConfig {
    SctpConfig { heartbeat_interval: None, ..SctpConfig::default() }
}

/// Two hosts with one address each.
fn net() -> (Net, usize, usize) {
    let mut net = Net::calm();
    let a = net.add(&[v4(1, 1)], 5_000, config());
    let z = net.add(&[v4(1, 2)], 2_905, config());
    (net, a, z)
}

#[test]
fn associations_of_one_port_have_settings_and_chance_of_their_own() {
    let init_beside = |others: usize| {
        let (mut net, a, z) = net();
        let others: Vec<usize> =
            (3_u8..).take(others).map(|host| net.add(&[v4(1, host)], 7, config())).collect();
        for other in others {
            net.connect(a, other);
        }
        let options = ConnectOptions {
            local_port: net.hosts[a].port,
            peer_addresses: vec![v4(1, 2)],
            peer_port: net.hosts[z].port,
            config: Some(Arc::new(SctpConfig { outbound_streams: 3, ..config() })),
            stream: Some(Seed::new(9, 0).stream("this association")),
            ..ConnectOptions::default()
        };
        net.hosts[a].endpoint.connect(net.now, &options).unwrap();
        net.drain(a);
        let (_, chunks) = parse(&net.sent.last().unwrap().packet);
        let [Chunk::Init(init)] = &chunks[..] else { panic!("{chunks:?}") };
        init.clone()
    };
    let alone = init_beside(0);
    assert_eq!(alone.fields.outbound_streams, 3);
    assert_eq!(init_beside(2), alone);
}

#[test]
fn a_port_is_bound_once_before_anybody_connects_from_it() {
    let (mut net, a, z) = net();
    let port = |port| PortConfig { port, addresses: vec![v4(1, 1)], config: config() };
    let stream = Seed::new(1, 0).stream("port");
    let options = ConnectOptions {
        local_port: 99,
        peer_addresses: vec![v4(1, 2)],
        peer_port: net.hosts[z].port,
        ..ConnectOptions::default()
    };
    let now = net.now;
    let endpoint = &mut net.hosts[a].endpoint;
    assert_eq!(endpoint.bind(port(5_000), stream.clone()), Err(BindError::InUse(5_000)));
    assert_eq!(endpoint.connect(now, &options), Err(ConnectError::NotBound(99)));
    assert!(!endpoint.listen(99, Acceptance::ByPeer));
    endpoint.bind(port(99), stream).unwrap();
    assert!(endpoint.connect(now, &options).is_ok());
}
