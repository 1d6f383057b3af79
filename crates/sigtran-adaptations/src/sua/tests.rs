//! Two ASPs of SUA and the gateway between them, over associations that come and go.

mod congestion;
mod connections;
mod flow_control;
mod limits;
mod segments;
mod transfer;

use std::collections::VecDeque;

use bytes::Bytes;
use proptest::prelude::*;
use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::{self, AsState, Members, TrafficMode};
use slantpath_sigtran::queue::QueueLimits;
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::sccp::Digits;

use crate::drops::DropReason;
use crate::message::{CommonParameter, OwnMessage};
use crate::sua::{
    Address, Availability, ConnectRequest, ConnectionEvent, ConnectionId, ConnectionState, Destination,
    DestinationChange, Label, RegistrationPolicy, RoutingKey, SignallingGateway, SignallingGatewayConfig,
    SignallingGatewayOutput, SuaGlobalTitle, SuaParameter, Unitdata, UnitdataNotice, UserProcess,
    UserProcessConfig, UserProcessEvent, UserProcessOutput, kind, return_cause,
};

/// Two ASPs, each with an application server of its own: routing context and point code are one more than the number
/// of the association.
struct Net {
    now: Instant,
    gateway: SignallingGateway,
    asps: [UserProcess; 2],
    is_connected: [bool; 2],
    indications: [Vec<UserProcessOutput>; 2],
    network: Vec<OwnMessage<SuaParameter>>,
    /// Changes that SCCP management of the network was told.
    states: Vec<(Destination, DestinationChange)>,
    wire: VecDeque<(bool, Transmit)>,
}

fn subsystem(at: usize) -> Address {
    Address::of_subsystem(PointCode(u32::try_from(at).unwrap() + 1), 8)
}

fn context(at: usize) -> u32 {
    u32::try_from(at).unwrap() + 1
}

fn association(at: usize) -> AssociationNumber {
    AssociationNumber(u32::try_from(at).unwrap())
}

fn unitdata(from: usize, to: usize) -> Unitdata {
    Unitdata {
        return_on_error: true,
        ..Unitdata::new(subsystem(from), subsystem(to), Bytes::from_static(b"data"))
    }
}

impl Net {
    fn new(queue_max: usize) -> Self {
        let queue = QueueLimits::of(queue_max);
        let config = SignallingGatewayConfig { queue, ..SignallingGatewayConfig::default() };
        Self::of(config, &[UserProcessConfig::default(); 2])
    }

    fn of(config: SignallingGatewayConfig, configs: &[UserProcessConfig; 2]) -> Self {
        let mut gateway = SignallingGateway::new(config).unwrap();
        let asps = [0, 1].map(|at| {
            let key = RoutingKey { destinations: vec![subsystem(at)], ..RoutingKey::default() };
            let members = Members::Only(vec![association(at)]);
            gateway.add_server(
                context(at),
                key,
                asp::ServerConfig { members, ..asp::ServerConfig::default() },
            );
            let mut asp = UserProcess::new(association(at), configs[at]).unwrap();
            asp.add_server(context(at), None);
            asp.start(Instant::START);
            asp
        });
        Self {
            now: Instant::START,
            gateway,
            asps,
            is_connected: [false; 2],
            indications: [Vec::new(), Vec::new()],
            network: Vec::new(),
            states: Vec::new(),
            wire: VecDeque::new(),
        }
    }

    fn connected() -> Self {
        Self::connected_with(&[UserProcessConfig::default(); 2])
    }

    fn connected_with(configs: &[UserProcessConfig; 2]) -> Self {
        Self::connected_as(SignallingGatewayConfig::default(), configs)
    }

    fn connected_as(config: SignallingGatewayConfig, configs: &[UserProcessConfig; 2]) -> Self {
        let mut net = Self::of(config, configs);
        net.connect(0);
        net.connect(1);
        for indications in &mut net.indications {
            indications.clear();
        }
        net
    }

    fn connect(&mut self, at: usize) {
        if !self.is_connected[at] {
            self.is_connected[at] = true;
            let up = || TransportInput::Up { outbound_streams: 4 };
            self.gateway.handle_transport(self.now, association(at), up());
            self.asps[at].handle_transport(self.now, up());
            self.run();
        }
    }

    fn disconnect(&mut self, at: usize) {
        if self.is_connected[at] {
            self.is_connected[at] = false;
            self.gateway.handle_transport(self.now, association(at), TransportInput::Down);
            self.asps[at].handle_transport(self.now, TransportInput::Down);
            self.run();
        }
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.gateway.handle_deadline(self.now);
        for asp in &mut self.asps {
            asp.handle_deadline(self.now);
        }
        self.run();
    }

    fn deliver(&mut self, at: usize, to_asp: bool, message: TransportInput) {
        if to_asp {
            self.asps[at].handle_transport(self.now, message);
        } else {
            self.gateway.handle_transport(self.now, association(at), message);
        }
    }

    fn run(&mut self) {
        for _ in 0..10_000 {
            let progress = self.drain();
            let Some((to_asp, transmit)) = self.wire.pop_front() else {
                if progress {
                    continue;
                }
                return;
            };
            let at = usize::try_from(transmit.association.0).unwrap();
            if self.is_connected[at] {
                let message = TransportInput::Message {
                    stream: transmit.stream,
                    payload_protocol: transmit.payload_protocol,
                    octets: transmit.octets,
                };
                self.deliver(at, to_asp, message);
            }
        }
        panic!("the net does not come to rest");
    }

    fn drain(&mut self) -> bool {
        let mut progress = false;
        loop {
            match self.gateway.poll_output(self.now) {
                SignallingGatewayOutput::Wait(_) => break,
                SignallingGatewayOutput::Event(_) => {}
                SignallingGatewayOutput::Network(message) => self.network.push(message),
                SignallingGatewayOutput::Status(destination, change) => {
                    self.states.push((destination, change));
                }
                SignallingGatewayOutput::Transmit(transmit) => self.wire.push_back((true, transmit)),
            }
            progress = true;
        }
        for (at, asp) in self.asps.iter_mut().enumerate() {
            loop {
                match asp.poll_output(self.now) {
                    UserProcessOutput::Wait(_) => break,
                    UserProcessOutput::Transmit(transmit) => self.wire.push_back((false, transmit)),
                    UserProcessOutput::Event(UserProcessEvent::Asp(_)) => {}
                    other => self.indications[at].push(other),
                }
                progress = true;
            }
        }
        progress
    }

    /// The connection that the second ASP was offered.
    fn offered(&self) -> ConnectionId {
        let offered = self.indications[1].iter().rev().find_map(|indication| match indication {
            UserProcessOutput::Connection(id, ConnectionEvent::Offered { .. }) => Some(*id),
            _ => None,
        });
        offered.expect("a connection was offered")
    }

    fn open(&mut self) -> (ConnectionId, ConnectionId) {
        self.open_as(ConnectRequest::new(subsystem(1)))
    }

    fn open_as(&mut self, request: ConnectRequest) -> (ConnectionId, ConnectionId) {
        let near = self.asps[0].connect(self.now, 1, request).unwrap();
        self.run();
        let far = self.offered();
        self.asps[1].accept(self.now, far, None);
        self.run();
        (near, far)
    }
}

#[test]
fn unitdata_is_relayed_from_asp_to_asp() {
    let mut net = Net::connected();
    assert!(net.asps[0].unitdata(1, &unitdata(0, 1)));
    net.run();
    assert_eq!(net.indications[1], [UserProcessOutput::Unitdata(2, unitdata(0, 1))]);
}

#[test]
fn what_no_server_answers_to_goes_to_the_network_and_what_comes_from_it_to_a_server() {
    let mut net = Net::connected();
    net.asps[0].unitdata(1, &unitdata(0, 7));
    net.run();
    assert_eq!(Unitdata::of(&net.network[0]), Some(unitdata(0, 7)));
    net.gateway.handle_network(unitdata(7, 1).to_message(0));
    net.gateway.handle_network(unitdata(7, 6).to_message(0));
    net.run();
    assert_eq!(net.indications[1], [UserProcessOutput::Unitdata(2, unitdata(7, 1))]);
    assert_eq!(net.gateway.drops().of(DropReason::NoRoute), 1);
    let returned = UnitdataNotice::returning(&unitdata(7, 6), return_cause::NO_TRANSLATION);
    assert_eq!(UnitdataNotice::of(&net.network[1]), Some(returned));
}

#[test]
fn a_message_for_an_asp_that_is_away_comes_back() {
    let mut net = Net::connected();
    net.disconnect(1);
    net.wait(Duration::from_secs(3));
    net.asps[0].unitdata(1, &unitdata(0, 1));
    net.run();
    let expected = UnitdataNotice::returning(&unitdata(0, 1), return_cause::SUBSYSTEM_FAILURE);
    assert_eq!(net.indications[0], [UserProcessOutput::Notice(1, expected)]);
}

#[test]
fn what_comes_while_an_asp_is_away_for_a_moment_waits_for_it() {
    let mut net = Net::connected();
    net.disconnect(1);
    net.asps[0].unitdata(1, &unitdata(0, 1));
    net.run();
    assert_eq!(net.gateway.queued(2), 1);
    net.connect(1);
    assert_eq!(net.indications[1], [UserProcessOutput::Unitdata(2, unitdata(0, 1))]);
}

#[test]
fn the_hop_counter_ends_a_loop_of_titles() {
    let title = SuaGlobalTitle::international(0, 1, 4, &Digits::parse("4912").unwrap());
    let mut net = Net::connected();
    let mut looping = unitdata(0, 1);
    looping.destination = Address::of_title(title, None);
    looping.hop_count = Some(2);
    net.asps[0].unitdata(1, &looping);
    net.run();
    let relayed = net.network.pop().unwrap();
    assert_eq!(Unitdata::of(&relayed).and_then(|unitdata| unitdata.hop_count), Some(1));
    net.gateway.handle_network(relayed);
    net.run();
    assert_eq!(net.gateway.drops().of(DropReason::HopCounterViolation), 1);
    let notice = UnitdataNotice::of(&net.network[0]).unwrap();
    assert_eq!(notice.cause.value, return_cause::HOP_COUNTER_VIOLATION);
}

#[test]
fn a_connection_carries_data_both_ways_and_is_released() {
    let mut net = Net::connected();
    let (near, far) = net.open();
    assert_eq!(
        net.indications[0],
        [UserProcessOutput::Connection(
            near,
            ConnectionEvent::Confirmed { with_flow_control: false, data: None }
        )]
    );
    let (there, back) = (Bytes::from_static(b"there"), Bytes::from_static(b"back"));
    assert!(net.asps[0].send_data(net.now, near, there.clone()));
    assert!(net.asps[1].send_data(net.now, far, back.clone()));
    net.run();
    assert!(net.indications[0].contains(&UserProcessOutput::Connection(near, ConnectionEvent::Data(back))));
    assert!(net.indications[1].contains(&UserProcessOutput::Connection(far, ConnectionEvent::Data(there))));
    assert_eq!(net.gateway.connections(), 2);
    net.asps[0].disconnect(net.now, near, 0, None);
    net.run();
    let last = net.indications[1].last().unwrap();
    assert!(
        matches!(last, UserProcessOutput::Connection(id, ConnectionEvent::Disconnected { .. }) if *id == far)
    );
    assert_eq!((net.asps[0].connections(), net.asps[1].connections(), net.gateway.connections()), (0, 0, 0));
}

#[test]
fn a_refused_connection_is_told_and_forgotten() {
    let mut net = Net::connected();
    let near = net.asps[0].connect(net.now, 1, ConnectRequest::new(subsystem(1))).unwrap();
    net.run();
    let far = net.offered();
    net.asps[1].disconnect(net.now, far, 3, None);
    net.run();
    let last = net.indications[0].last().unwrap();
    assert!(matches!(
        last,
        UserProcessOutput::Connection(id, ConnectionEvent::Disconnected { cause: Some(cause), .. })
            if *id == near && (cause.kind, cause.value) == (2, 3)
    ));
    assert_eq!((net.asps[0].connections(), net.asps[1].connections()), (0, 0));
}

#[test]
fn a_connection_that_nobody_answers_times_out() {
    let mut net = Net::connected();
    let near = net.asps[0].connect(net.now, 1, ConnectRequest::new(subsystem(7))).unwrap();
    net.run();
    assert_eq!(net.asps[0].state(near), ConnectionState::Outgoing);
    net.wait(Duration::from_secs(61));
    assert_eq!(net.asps[0].connections(), 0);
}

#[test]
fn a_silent_connection_is_tested_and_lives() {
    let mut net = Net::connected();
    let (near, far) = net.open();
    for _ in 0..5 {
        net.wait(Duration::from_secs(300));
    }
    assert_eq!(
        (net.asps[0].state(near), net.asps[1].state(far)),
        (ConnectionState::Active, ConnectionState::Active)
    );
    // Its other end is gone, and nothing comes any more.
    net.disconnect(1);
    net.wait(Duration::from_secs(661));
    net.wait(Duration::from_secs(11));
    assert_eq!(net.asps[0].connections(), 0);
}

#[test]
fn a_destination_is_unavailable_until_told_otherwise_and_when_the_gateway_is_lost() {
    let mut net = Net::connected();
    let destination = Destination { point_code: PointCode(9), subsystem: None };
    assert_eq!(net.asps[0].availability(&destination), Availability::Unavailable);
    net.asps[0].audit(net.now, destination);
    net.run();
    let unavailable = DestinationChange::Availability(Availability::Unavailable);
    assert_eq!(net.indications[0], [UserProcessOutput::Destination(destination, unavailable)]);
    let available = DestinationChange::Availability(Availability::Available);
    net.gateway.handle_status(destination, available);
    net.gateway.handle_status(destination, DestinationChange::Congestion(2));
    net.run();
    assert_eq!(net.asps[0].availability(&destination), Availability::Available);
    net.indications[0].clear();
    net.disconnect(0);
    assert_eq!(net.indications[0], [UserProcessOutput::Destination(destination, unavailable)]);
    net.connect(0);
    net.indications[0].clear();
    net.asps[0].audit(net.now, destination);
    net.run();
    let congested = UserProcessOutput::Destination(destination, DestinationChange::Congestion(2));
    assert_eq!(net.indications[0], [UserProcessOutput::Destination(destination, available), congested]);
}

#[test]
fn a_missing_user_part_is_told_to_every_active_asp() {
    let mut net = Net::connected();
    let destination = Destination { point_code: PointCode(9), subsystem: None };
    let change = DestinationChange::UserPartUnavailable { cause: 1, user: 3 };
    net.gateway.handle_status(destination, change);
    net.run();
    for indications in &net.indications {
        assert_eq!(*indications, [UserProcessOutput::Destination(destination, change)]);
    }
}

/// A gateway with one server that two labelled ASPs share, and what it sends.
fn shared(labels: [Label; 2]) -> (SignallingGateway, [UserProcess; 2]) {
    let mut gateway = SignallingGateway::new(SignallingGatewayConfig::default()).unwrap();
    let traffic_mode = Some(TrafficMode::Loadshare);
    gateway.add_server(
        1,
        RoutingKey::default(),
        asp::ServerConfig { traffic_mode, ..asp::ServerConfig::default() },
    );
    let asps = [0, 1].map(|at| {
        let label = Some(labels[at]);
        let config = UserProcessConfig {
            reference_label: label,
            transaction_label: label,
            ..UserProcessConfig::default()
        };
        let mut asp = UserProcess::new(association(at), config).unwrap();
        asp.add_server(1, traffic_mode);
        asp.start(Instant::START);
        asp
    });
    (gateway, asps)
}

fn net_of(gateway: SignallingGateway, asps: [UserProcess; 2]) -> Net {
    let mut net = Net { gateway, asps, ..Net::new(2) };
    net.connect(0);
    net.connect(1);
    net
}

/// The network acknowledges a connection, which it knows by its reference alone, as does the gateway.
fn acknowledgement(near: ConnectionId) -> OwnMessage<SuaParameter> {
    OwnMessage::empty(kind::COAK)
        .with_common(CommonParameter::RoutingContexts(vec![0]))
        .with(SuaParameter::ProtocolClass(2))
        .with(SuaParameter::DestinationReference(near.0))
        .with(SuaParameter::SourceReference(0x70))
        .with(SuaParameter::SequenceControl(0x70))
}

#[test]
fn transactions_and_connections_of_a_loadshare_stay_with_the_asp_that_their_label_names() {
    let label = |value| Label { start: 23, end: 20, value };
    let (gateway, asps) = shared([label(1), label(2)]);
    let mut net = net_of(gateway, asps);
    for indications in &mut net.indications {
        indications.clear();
    }
    // Continue of a transaction whose identifier has the second ASP's label.
    let tcap = Bytes::from_static(&[0x65, 12, 0x48, 4, 0, 0, 0, 1, 0x49, 4, 0, 0x20, 0, 5]);
    for _ in 0..4 {
        let continued = Unitdata::new(subsystem(6), subsystem(0), tcap.clone());
        net.gateway.handle_network(continued.to_message(0));
    }
    net.run();
    assert_eq!((net.indications[0].len(), net.indications[1].len()), (0, 4));
    let near = net.asps[0].connect(net.now, 1, ConnectRequest::new(subsystem(9))).unwrap();
    assert!(label(1).owns(near.0));
    net.run();
    net.gateway.handle_network(acknowledgement(near));
    net.run();
    assert_eq!(net.asps[0].state(near), ConnectionState::Active);
}

#[test]
fn what_is_for_a_labelled_asp_that_is_away_comes_back() {
    let label = |value| Label { start: 23, end: 20, value };
    let (gateway, asps) = shared([label(1), label(2)]);
    let mut net = net_of(gateway, asps);
    net.disconnect(1);
    net.indications[0].clear();
    let tcap = Bytes::from_static(&[0x65, 12, 0x48, 4, 0, 0, 0, 1, 0x49, 4, 0, 0x20, 0, 5]);
    let continued = Unitdata { return_on_error: true, ..Unitdata::new(subsystem(6), subsystem(0), tcap) };
    net.gateway.handle_network(continued.to_message(0));
    net.run();
    assert_eq!(net.indications[0], []);
    assert_eq!(net.gateway.drops().of(DropReason::NoActiveAsp), 1);
    let returned = UnitdataNotice::returning(&continued, return_cause::SUBSYSTEM_FAILURE);
    assert_eq!(net.network.iter().filter_map(UnitdataNotice::of).collect::<Vec<_>>(), [returned]);
}

#[test]
fn a_label_that_is_taken_or_impossible_is_refused() {
    let same = Label { start: 23, end: 20, value: 1 };
    // The last is at another place than the first's.
    let elsewhere = [same, Label { start: 22, end: 19, value: 2 }];
    for labels in [[same, same], [same, Label { start: 3, end: 7, value: 0 }], elsewhere] {
        let (gateway, asps) = shared(labels);
        let net = net_of(gateway, asps);
        assert_eq!(net.gateway.asps().active(&1), [association(0)]);
        assert!(net.asps[0].asp().is_active() && !net.asps[1].asp().is_active());
    }
}

#[test]
fn a_key_is_registered_used_and_deregistered() {
    let config = SignallingGatewayConfig {
        registration: RegistrationPolicy::Dynamic(1),
        ..SignallingGatewayConfig::default()
    };
    let gateway = SignallingGateway::new(config).unwrap();
    let mut asp = UserProcess::new(association(0), UserProcessConfig::default()).unwrap();
    asp.up(Instant::START);
    let idle = UserProcess::new(association(1), UserProcessConfig::default()).unwrap();
    let mut net = net_of(gateway, [asp, idle]);
    let key = |local, at| RoutingKey { local, destinations: vec![subsystem(at)], ..RoutingKey::default() };
    assert!(net.asps[0].register(&[key(5, 0), key(6, 3)]));
    net.run();
    let results: Vec<_> = net.indications[0]
        .drain(..)
        .filter_map(|indication| match indication {
            UserProcessOutput::Event(UserProcessEvent::Registered(result)) => {
                Some((result.local, result.status, result.routing_context))
            }
            _ => None,
        })
        .collect();
    // The second would be one application server too many.
    assert_eq!(results, [(5, 0, 1), (6, 8, 0)]);
    net.asps[0].add_server(1, None);
    net.asps[0].activate(net.now, &[1]);
    net.run();
    net.gateway.handle_network(unitdata(3, 0).to_message(0));
    net.run();
    assert_eq!(net.indications[0], [UserProcessOutput::Unitdata(1, unitdata(3, 0))]);
    net.asps[0].deregister(&[1]);
    net.asps[0].deactivate(net.now, &[1]);
    net.run();
    net.asps[0].deregister(&[1, 7]);
    net.run();
    let statuses: Vec<u32> = net.indications[0]
        .iter()
        .filter_map(|indication| match indication {
            UserProcessOutput::Event(UserProcessEvent::Deregistered(result)) => Some(result.status),
            _ => None,
        })
        .collect();
    assert_eq!(statuses, [5, 0, 2]);
}

#[derive(Clone, Debug)]
enum Command {
    Accept,
    Audit(usize),
    Connect(usize),
    Disconnect(usize),
    Network(usize),
    Octets(usize, bool, u16, Vec<u8>),
    Open(usize),
    Release(usize),
    SendData(usize),
    Status(Availability),
    Unitdata(usize),
    Wait(u64),
}

fn any_command() -> impl Strategy<Value = Command> {
    let at = || 0_usize..2;
    let octets =
        (at(), any::<bool>(), 0_u16..4, 0_u8..10, 0_u8..12, proptest::collection::vec(any::<u8>(), 0..24))
            .prop_map(|(at, to_asp, stream, class, kind, rest)| {
                let len = u8::try_from(rest.len() + 8).unwrap();
                let octets = [vec![1, 0, class, kind, 0, 0, 0, len], rest].concat();
                Command::Octets(at, to_asp, stream, octets)
            });
    prop_oneof![
        Just(Command::Accept),
        at().prop_map(Command::Audit),
        at().prop_map(Command::Connect),
        at().prop_map(Command::Disconnect),
        (0_usize..4).prop_map(Command::Network),
        octets,
        at().prop_map(Command::Open),
        at().prop_map(Command::Release),
        at().prop_map(Command::SendData),
        prop_oneof![Just(Availability::Available), Just(Availability::Unavailable)].prop_map(Command::Status),
        at().prop_map(Command::Unitdata),
        (0_u64..700_000).prop_map(Command::Wait),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_all_rest_stay_bounded_and_find_each_other_again(
        commands in proptest::collection::vec(any_command(), 0..60),
    ) {
        let mut net = Net::new(5);
        let mut opened: Vec<(usize, ConnectionId)> = Vec::new();
        let destination = Destination { point_code: PointCode(9), subsystem: None };
        for command in commands {
            match command {
                Command::Connect(at) => net.connect(at),
                Command::Disconnect(at) => net.disconnect(at),
                Command::Wait(millis) => net.wait(Duration::from_millis(millis)),
                Command::Unitdata(at) => {
                    net.asps[at].unitdata(context(at), &unitdata(at, 1 - at));
                }
                Command::Network(at) => net.gateway.handle_network(unitdata(7, at).to_message(0)),
                Command::Status(availability) => {
                    net.gateway.handle_status(destination, DestinationChange::Availability(availability));
                }
                Command::Audit(at) => net.asps[at].audit(net.now, destination),
                Command::Open(at) => {
                    let id = net.asps[at].connect(net.now, context(at), ConnectRequest::new(subsystem(1 - at)));
                    opened.extend(id.map(|id| (at, id)));
                }
                Command::Accept => {
                    for at in 0..2 {
                        let indications = net.indications[at].iter();
                        let offered: Vec<ConnectionId> = indications.filter_map(|indication| match indication {
                            UserProcessOutput::Connection(id, ConnectionEvent::Offered { .. }) => Some(*id),
                            _ => None,
                        }).collect();
                        for id in offered {
                            net.asps[at].accept(net.now, id, None);
                            opened.push((at, id));
                        }
                    }
                }
                Command::SendData(at) => {
                    if let Some((_, id)) = opened.iter().rev().find(|(owner, _)| *owner == at) {
                        net.asps[at].send_data(net.now, *id, Bytes::from_static(b"x"));
                    }
                }
                Command::Release(at) => {
                    if let Some((_, id)) = opened.iter().find(|(owner, _)| *owner == at) {
                        net.asps[at].disconnect(net.now, *id, 0, None);
                    }
                }
                Command::Octets(at, to_asp, stream, octets) => {
                    let message = TransportInput::Message {
                        stream: StreamNumber(stream),
                        payload_protocol: 4,
                        octets: octets.into(),
                    };
                    net.deliver(at, to_asp, message);
                }
            }
            net.run();
            prop_assert!(net.gateway.queued(1) <= 5 && net.gateway.queued(2) <= 5);
        }
        for at in 0..2 {
            net.disconnect(at);
        }
        net.wait(Duration::from_secs(5));
        for at in 0..2 {
            prop_assert_eq!(net.asps[at].connections(), 0);
            net.asps[at].start(net.now);
            net.connect(at);
        }
        for at in 0..2 {
            prop_assert_eq!(net.gateway.asps().as_state(&context(at)), Some(AsState::Active));
            net.indications[1 - at].clear();
            net.asps[at].unitdata(context(at), &unitdata(at, 1 - at));
            net.run();
            let expected = UserProcessOutput::Unitdata(context(1 - at), unitdata(at, 1 - at));
            prop_assert!(net.indications[1 - at].contains(&expected));
        }
    }
}
