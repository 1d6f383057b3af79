//! Point codes behind a gateway: the network sees a transfer point in front of them.

use slantpath_base::{Duration, Instant};
use slantpath_ss7::PointCode;
use slantpath_ss7::link::LinkIndication;
use slantpath_ss7::mtp3::node::{
    Config, ConfigError, DiscardReason, Function, LinkSetId, Mtp3LinkId, Mtp3Timer, NetworkFault, Procedure,
    RouteState, SequenceNumbers, check_network,
};
use slantpath_ss7::mtp3::{
    ManagementLayout, ManagementMessage as M, RoutingLabel, ServiceIndicator, Slc, Sls,
};
use slantpath_ss7::transfer::{StatusCause, TransferIndication, UserPartUnavailability};

use super::network::{Network, heard, link_set, node, received, route};

const SERVED: PointCode = PointCode(9);

/// An end point, and a gateway with a point code behind it.
fn configs() -> Vec<Config> {
    let sequence = SequenceNumbers::Bits24;
    let mut exchange = node(1, Function::EndPoint, vec![link_set(2, 2, sequence)]);
    exchange.destinations = vec![route(9, &[(2, 0)])];
    let mut gateway = node(2, Function::TransferPoint, vec![link_set(1, 2, sequence)]);
    gateway.served = vec![SERVED];
    vec![exchange, gateway]
}

fn network(configs: Vec<Config>) -> Network {
    let mut network = Network::new(configs);
    network.activate_all();
    network
}

fn set_served(network: &mut Network, is_available: bool) {
    let now = network.now;
    network.nodes[1].set_served(now, SERVED, is_available);
    network.run(Duration::from_secs(1));
}

#[test]
fn a_point_code_behind_a_gateway_is_prohibited_until_it_is_served_and_again_when_it_is_not() {
    let mut network = network(configs());
    assert!(!network.nodes[0].is_accessible(SERVED));
    assert!(!network.send(0, 9, 0, 1));
    set_served(&mut network, true);
    assert!(network.nodes[0].is_accessible(SERVED));
    assert!(network.send(0, 9, 0, 2));
    network.run(Duration::from_secs(1));
    let [(at, transfer)] = network.delivered.as_slice() else { panic!("{:?}", network.delivered) };
    assert_eq!((*at, transfer.label.dpc, transfer.label.opc), (1, SERVED, PointCode(1)));
    set_served(&mut network, false);
    assert!(!network.nodes[0].is_accessible(SERVED));
    let indicated: Vec<_> =
        network.indications.iter().filter(|(node, _)| *node == 0).map(|(_, i)| i).collect();
    let expected = [TransferIndication::Resume(SERVED), TransferIndication::Pause(SERVED)];
    assert!(indicated.ends_with(&expected.iter().collect::<Vec<_>>()), "{indicated:?}");
}

#[test]
fn after_a_restart_of_the_links_the_network_hears_again_what_is_not_served() {
    let mut configs = configs();
    for config in &mut configs {
        config.restart = Procedure::Used;
    }
    let mut network = network(configs);
    network.run(Duration::from_secs(70));
    let gateway = LinkSetId(0);
    assert_eq!(network.nodes[0].route_state(SERVED, gateway), Some(RouteState::Prohibited));
    set_served(&mut network, true);
    assert_eq!(network.nodes[0].route_state(SERVED, gateway), Some(RouteState::Allowed));
}

#[test]
fn who_asks_for_a_prohibited_point_code_hears_of_it_only_when_it_is_allowed() {
    let mut network = network(configs());
    let gateway = LinkSetId(0);
    // A test of T10 finds it as it was.
    network.run(Duration::from_secs(120));
    assert_eq!(network.nodes[0].route_state(SERVED, gateway), Some(RouteState::Prohibited));
    // The news is lost with the links; the new links bring it.
    network.break_wire(0, 0);
    network.break_wire(1, 0);
    network.nodes[1].set_served(Instant::from_secs(500), SERVED, true);
    network.mend_wire(0);
    network.run(Duration::from_secs(120));
    assert!(network.nodes[0].is_accessible(SERVED));
}

/// Something comes to the gateway from the exchange, and so long passes. Gives the number of messages of each kind that
/// the gateway has sent meanwhile about where a destination can be reached: TFA, TFP and TFR.
fn answers(network: &mut Network, indication: LinkIndication, time: Duration) -> [u64; 3] {
    let count = |network: &Network| {
        let sent = &network.nodes[1].counters().management_sent;
        ["TFA", "TFP", "TFR"].map(|name| sent.get(name).copied().unwrap_or(0))
    };
    let (before, now) = (count(network), network.now);
    network.nodes[1].handle_link(now, Mtp3LinkId(0), indication);
    network.run(time);
    let mut after = count(network);
    after.iter_mut().zip(before).for_each(|(after, before)| *after -= before);
    after
}

#[test]
fn a_route_set_test_is_answered_only_if_it_shows_a_wrong_belief_wherever_the_point_code_lies() {
    // The gateway reaches another point beyond itself, as well as that behind it.
    let mut configs = configs();
    configs[1].link_sets.push(link_set(3, 1, SequenceNumbers::Bits24));
    configs.push(node(3, Function::EndPoint, vec![link_set(2, 1, SequenceNumbers::Bits24)]));
    let mut network = network(configs);
    let moment = Duration::from_millis(1);
    for is_reached in [false, true, false] {
        let now = network.now;
        network.nodes[1].set_served(now, SERVED, is_reached);
        let wire = network.wires.len() - 1;
        if is_reached {
            network.mend_wire(wire);
        } else {
            network.break_wire(wire, 0);
        }
        network.run(Duration::from_secs(5));
        for code in [SERVED, PointCode(3)] {
            // Who asks believes the point code to be prohibited, or restricted, which is more than the gateway says.
            let allowed = [1, 0, 0];
            let expected = if is_reached { [allowed, allowed] } else { [[0, 0, 0], [0, 1, 0]] };
            for (question, expected) in [M::Rst(code), M::Rsr(code)].into_iter().zip(expected) {
                let indication = heard(&network.nodes[1], PointCode(1), Slc(0), question);
                let answers = answers(&mut network, indication, moment);
                assert_eq!(answers, expected, "{question:?} {is_reached}");
            }
        }
    }
}

#[test]
fn who_sends_to_a_point_code_that_is_not_served_is_told_at_once_and_again_once_a_t8() {
    let mut network = network(configs());
    let transfer = |network: &mut Network, time| {
        let label = RoutingLabel { dpc: SERVED, opc: PointCode(1), sls: Sls(0) };
        let indication = received(&network.nodes[1], ServiceIndicator::SCCP, label, &[]);
        answers(network, indication, time)
    };
    let t8 = network.nodes[1].config().timers.value(Mtp3Timer::T8);
    let moment = Duration::from_nanos(1);
    assert_eq!(transfer(&mut network, t8 - moment), [0, 1, 0]);
    assert_eq!(transfer(&mut network, moment), [0, 0, 0]);
    assert_eq!(transfer(&mut network, moment), [0, 1, 0]);
    assert_eq!(network.nodes[1].counters().discarded(DiscardReason::InaccessibleDestination), 3);
}

#[test]
fn users_of_the_gateway_reach_what_lies_behind_it() {
    let mut network = network(configs());
    assert!(!network.send(1, 9, 0, 1));
    assert_eq!(network.nodes[1].counters().discarded(DiscardReason::InaccessibleDestination), 1);
    set_served(&mut network, true);
    assert!(network.send(1, 9, 0, 2));
    assert_eq!(network.delivered.len(), 1);
}

#[test]
fn congestion_behind_the_gateway_is_told_to_the_origin_for_the_first_and_every_eighth_message() {
    let mut network = network(configs());
    set_served(&mut network, true);
    network.nodes[1].set_served_congestion(SERVED, 1);
    for number in 0..9 {
        assert!(network.send(0, 9, 0, number));
    }
    network.run(Duration::from_secs(1));
    assert_eq!(network.delivered.len(), 9);
    let indicated = |i: &&(usize, TransferIndication)| matches!(i, (0, TransferIndication::Status { .. }));
    assert_eq!(network.indications.iter().filter(indicated).count(), 2);
}

#[test]
fn management_for_a_point_code_behind_the_gateway_is_taken_by_the_gateway() {
    let mut network = network(configs());
    let hear = |network: &mut Network, message: M| {
        let mut user_part = Vec::new();
        message.emit(ManagementLayout::Itu, Slc(0), &mut user_part);
        let label = RoutingLabel { dpc: SERVED, opc: PointCode(1), sls: Sls(0) };
        let indication = received(&network.nodes[1], ServiceIndicator::MANAGEMENT, label, &user_part);
        let now = network.now;
        network.nodes[1].handle_link(now, Mtp3LinkId(0), indication);
        network.run(Duration::from_secs(1));
    };
    let controlled = M::Tfc(PointCode(1), 0);
    hear(&mut network, controlled);
    assert_eq!(network.nodes[1].counters().discarded(DiscardReason::InaccessibleDestination), 1);
    set_served(&mut network, true);
    // The way behind the gateway is congested, of which no message of management is told.
    network.nodes[1].set_served_congestion(SERVED, 1);
    let sent = network.nodes[1].counters().management_sent.clone();
    network.indications.clear();
    hear(&mut network, controlled);
    hear(&mut network, M::Upu { destination: PointCode(1), user: 3, cause: 1 });
    hear(&mut network, M::Rct);
    let (user, reason) = (ServiceIndicator::SCCP, UserPartUnavailability::Unequipped);
    let causes = [StatusCause::Congestion(1), StatusCause::UserPartUnavailable { user, reason }];
    let expected = causes.map(|cause| (1, TransferIndication::Status { affected: PointCode(1), cause }));
    assert_eq!(network.indications, expected);
    // A neighbour's word about routes is for neighbours.
    hear(&mut network, M::Tfp(PointCode(1)));
    assert!(network.nodes[1].is_accessible(PointCode(1)) && network.delivered.is_empty());
    let counters = network.nodes[1].counters();
    assert_eq!((counters.discarded(DiscardReason::UnknownSubject), &counters.management_sent), (1, &sent));
}

#[test]
fn a_route_to_a_served_point_code_ends_at_the_gateway_and_an_end_point_serves_none() {
    let mut configs = configs();
    assert_eq!(check_network(&configs), []);
    configs[1].served.clear();
    assert!(matches!(check_network(&configs).as_slice(), [NetworkFault::DeadEnd { .. }]));
    configs[1].served = vec![SERVED, SERVED];
    configs[1].function = Function::EndPoint;
    let faults = configs[1].faults();
    assert!(faults.iter().any(|fault| matches!(fault, ConfigError::ServedByEndPoint(..))), "{faults:?}");
    assert!(faults.iter().any(|fault| matches!(fault, ConfigError::DestinationTwice(_))), "{faults:?}");
}
