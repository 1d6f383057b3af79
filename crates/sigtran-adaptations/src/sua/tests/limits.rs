//! Connections up to as many as there may be, at the gateway and at an ASP.

use super::*;
use crate::sua::ConnectionConfig;

/// Two ASPs and a gateway that remembers so many ends of connections.
fn remembering(connections_max: usize) -> Net {
    let config = SignallingGatewayConfig { connections_max, ..SignallingGatewayConfig::default() };
    Net::connected_as(config, &[UserProcessConfig::default(); 2])
}

fn refused(net: &Net) -> u64 {
    net.gateway.drops().of(DropReason::QueueFull)
}

#[test]
fn a_full_gateway_keeps_both_ends_of_an_answered_connection_and_discards_requests_of_either_asp() {
    let mut net = remembering(2);
    let (near, far) = net.open();
    for at in [0, 1] {
        net.asps[at].connect(net.now, context(at), ConnectRequest::new(subsystem(1 - at))).unwrap();
    }
    net.run();
    assert_eq!((refused(&net), net.gateway.connections()), (2, 2));
    let data = Bytes::from_static(b"still there");
    for (at, own, other) in [(0, near, far), (1, far, near)] {
        assert!(net.asps[at].send_data(net.now, own, data.clone()));
        net.run();
        let expected = UserProcessOutput::Connection(other, ConnectionEvent::Data(data.clone()));
        assert_eq!(net.indications[1 - at].last(), Some(&expected));
    }
}

#[test]
fn a_full_gateway_forgets_a_request_that_nobody_has_answered_for_the_next_and_not_one_that_was() {
    let mut net = remembering(1);
    let ask = |net: &mut Net| {
        let id = net.asps[0].connect(net.now, context(0), ConnectRequest::new(subsystem(7))).unwrap();
        net.run();
        id
    };
    let [forgotten, answered] = [ask(&mut net), ask(&mut net)];
    assert_eq!((net.network.len(), refused(&net)), (2, 0));
    for id in [forgotten, answered] {
        net.gateway.handle_network(acknowledgement(id));
    }
    ask(&mut net);
    let states = [forgotten, answered].map(|id| net.asps[0].state(id));
    assert_eq!(states, [ConnectionState::Outgoing, ConnectionState::Active]);
    assert_eq!(net.gateway.drops().of(DropReason::UnknownConnection), 1);
    assert_eq!((net.network.len(), refused(&net)), (2, 1));
}

#[test]
fn an_answer_that_a_full_gateway_has_no_place_for_is_discarded_and_does_not_go_to_the_network() {
    let mut net = remembering(1);
    let (near, _) = net.open();
    assert_eq!((refused(&net), net.gateway.connections(), net.network.len()), (1, 1, 0));
    assert_eq!(net.asps[0].state(near), ConnectionState::Outgoing);
}

#[test]
fn an_asp_with_as_many_connections_as_it_may_have_asks_for_no_other_and_refuses_what_is_offered() {
    let connections = ConnectionConfig { connections_max: 1, ..ConnectionConfig::default() };
    let full = UserProcessConfig { connections, ..UserProcessConfig::default() };
    let mut net = Net::connected_with(&[UserProcessConfig::default(), full]);
    let (_, far) = net.open();
    let asked = net.asps[1].connect(net.now, context(1), ConnectRequest::new(subsystem(0)));
    assert_eq!((asked, net.asps[1].drops().of(DropReason::QueueFull)), (None, 1));
    let second = net.asps[0].connect(net.now, context(0), ConnectRequest::new(subsystem(1))).unwrap();
    net.run();
    assert!(matches!(
        net.indications[0].last(),
        Some(UserProcessOutput::Connection(id, ConnectionEvent::Disconnected { .. })) if *id == second
    ));
    assert_eq!((net.asps[0].connections(), net.asps[1].connections()), (1, 1));
    net.asps[1].disconnect(net.now, far, 0, None);
    net.run();
    net.open();
    assert_eq!((net.asps[0].connections(), net.asps[1].connections()), (1, 1));
}
