//! A gateway between a line and an application server process, each of the three alone.

use slantpath_base::{Duration, Instant};
use slantpath_signalling::{
    GatewayConfig, LinkEndChange, M3uaEventKind as Kind, ManagementRequest, PointConfig, ProcessChange, Role,
    ScreeningConfig, ServerProcess, ServerProcessConfig, ServerProcessInput, ServerProcessOutput,
};
use slantpath_sigtran::asp::{self, AsState, AspState, Members, ServerName, Status, TrafficMode};
use slantpath_sigtran::m3ua::{
    self, AvailabilityPolicy, KeyDestination, ServedServer, SgpConfig, TrafficKey,
};
use slantpath_sigtran::transport::AssociationNumber;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::{self, DestinationConfig, Function, Mtp3LinkId};

use crate::world::{By, Holder, World, point, transfer};

pub(crate) const EXCHANGE: u32 = 1;
pub(crate) const GATEWAY: u32 = 2;
/// The point of the application server.
pub(crate) const BEHIND: u32 = 3;
pub(crate) const CONTEXT: u32 = 7;
/// First context that the gateway gives to what is registered.
pub(crate) const FIRST_GIVEN: u32 = 50;
/// Context by which a process knows what it registers.
pub(crate) const OWN_CONTEXT: u32 = 20;
const ASSOCIATION: AssociationNumber = AssociationNumber(9);

fn asp_config(servers: Vec<ServedServer>) -> m3ua::AspConfig {
    let destination = |code| m3ua::Destination {
        network_appearance: None,
        point_code: PointCode(code),
        gateways: vec![(ASSOCIATION, 0)],
    };
    m3ua::AspConfig {
        gateways: vec![ASSOCIATION],
        servers,
        destinations: [EXCHANGE, GATEWAY].map(destination).into(),
        availability: AvailabilityPolicy::Announced,
        ..m3ua::AspConfig::default()
    }
}

fn process() -> ServerProcess {
    let served = ServedServer {
        name: ServerName::Named(CONTEXT),
        network_appearance: None,
        point_codes: vec![PointCode(BEHIND)],
        traffic_mode: Some(TrafficMode::Override),
    };
    let roles = vec![Role { routing_context: CONTEXT, place: 0 }];
    let asp = asp_config(vec![served]);
    ServerProcess::new(ServerProcessConfig { asp, roles, registered: Vec::new() }).unwrap()
}

/// A process that registers what these service indicators have, under contexts of its own.
pub(crate) fn registering_process(keys: &[(u32, u8)]) -> ServerProcess {
    let key = |(context, service): &(u32, u8)| {
        let destination =
            KeyDestination { dpc: PointCode(BEHIND), service_indicators: vec![*service], opcs: Vec::new() };
        let key = m3ua::RoutingKey {
            local_identifier: 0,
            routing_context: None,
            traffic_mode: Some(TrafficMode::Override as u32),
            network_appearance: None,
            destinations: vec![destination],
            others: Vec::new(),
        };
        (*context, key)
    };
    let roles = keys.iter().map(|(context, _)| Role { routing_context: *context, place: 0 }).collect();
    let registered = keys.iter().map(key).collect();
    ServerProcess::new(ServerProcessConfig { asp: asp_config(Vec::new()), roles, registered }).unwrap()
}

/// An exchange, a gateway and a process, all in service after 20 s.
fn world() -> World {
    screening_world(ScreeningConfig::default())
}

/// An exchange, a gateway that screens, and a process.
pub(crate) fn screening_world(screening: ScreeningConfig) -> World {
    let key = TrafficKey::to_point_code(PointCode(BEHIND));
    world_of(|gateway| gateway.screening = screening, key, m3ua::Registration::Unsupported, process())
}

/// Variant of [`screening_world`] whose process registers its server. The configured one has another service.
pub(crate) fn registering_world(screening: ScreeningConfig) -> World {
    let destination =
        KeyDestination { dpc: PointCode(BEHIND), service_indicators: vec![13], opcs: Vec::new() };
    let key = TrafficKey { network_appearance: None, destinations: vec![destination] };
    let registration = m3ua::Registration::Dynamic {
        servers_max: 2,
        first_routing_context: FIRST_GIVEN,
        permitted: vec![PointCode(BEHIND)],
        denied: Vec::new(),
        permanent: Vec::new(),
        changes: m3ua::KeyChanges::Refused,
    };
    let screened = |gateway: &mut PointConfig| gateway.screening = screening;
    world_of(screened, key, registration, registering_process(&[(OWN_CONTEXT, 5)]))
}

fn world_of(
    change_gateway: impl FnOnce(&mut PointConfig),
    key: TrafficKey,
    registration: m3ua::Registration,
    process: ServerProcess,
) -> World {
    let mut exchange = point(EXCHANGE, GATEWAY, &[By::Line]);
    let route = node::RouteConfig { link_set: format!("to-{GATEWAY}"), priority: 0 };
    let behind = DestinationConfig { point_code: PointCode(BEHIND), routes: vec![route] };
    exchange.mtp3.destinations.push(behind);
    let mut gateway = point(GATEWAY, EXCHANGE, &[By::Line]);
    gateway.mtp3.function = Function::TransferPoint;
    gateway.mtp3.served = [PointCode(BEHIND)].into();
    let server = asp::ServerConfig {
        traffic_mode: Some(TrafficMode::Override),
        members: Members::Only([ASSOCIATION].into()),
        ..asp::ServerConfig::default()
    };
    let server = m3ua::ApplicationServer { routing_context: CONTEXT, key, server };
    let international = [None].into();
    let sgp = SgpConfig { servers: vec![server], registration, international, ..SgpConfig::default() };
    change_gateway(&mut gateway);
    gateway.gateway = Some(GatewayConfig { sgp, network: None, associations: vec![ASSOCIATION] });
    let ends = [Holder::Point(1), Holder::Process(0)];
    let mut world = World::new(vec![exchange, gateway], vec![process], &[(ASSOCIATION.0, ends)]);
    world.pass(Duration::from_secs(20));
    world
}

#[test]
fn a_gateway_brings_the_process_up_and_hands_messages_both_ways() {
    let mut world = world();
    let at = |holder| {
        let own = world.m3ua_events.iter().filter(move |(at, _)| *at == holder);
        own.map(|(_, kind)| *kind).collect::<Vec<_>>()
    };
    let gateway = [
        Kind::AssociationUp,
        Kind::Asp(AspState::Inactive),
        Kind::As(AsState::Inactive),
        Kind::Asp(AspState::Active),
        Kind::As(AsState::Active),
    ];
    assert_eq!(at(Holder::Point(1)), gateway);
    let process = [
        Kind::AssociationUp,
        Kind::Asp(AspState::Inactive),
        Kind::Notified(Status::AS_INACTIVE),
        Kind::Resume(PointCode(GATEWAY)),
        Kind::Asp(AspState::Active),
        Kind::Notified(Status::AS_ACTIVE),
        Kind::Resume(PointCode(EXCHANGE)),
    ];
    assert_eq!(at(Holder::Process(0)), process);
    for number in 0..10 {
        world.points[0].transfer(world.now, &transfer(EXCHANGE, BEHIND, 5, number)).unwrap();
        assert!(world.processes[0].transfer(None, &transfer(BEHIND, EXCHANGE, 6, 100 + number)));
        world.pass(Duration::from_millis(50));
    }
    world.pass(Duration::from_secs(1));
    assert_eq!(world.delivered[&(Holder::Process(0), 5)], (0..10).collect::<Vec<_>>());
    assert_eq!(world.delivered[&(Holder::Point(0), 6)], (100..110).collect::<Vec<_>>());
    let tally = world.points[1].association_tally(ASSOCIATION).unwrap();
    assert_eq!((tally.data_sent, tally.data_received, tally.times_up), (10, 10, 1));
    assert_eq!(world.points[1].association_tally(AssociationNumber(1)), None);
}

/// A gateway that only hands on has no user part of its own.
#[test]
fn a_gateway_without_users_of_its_own_tells_its_processes_of_destinations() {
    let key = TrafficKey::to_point_code(PointCode(BEHIND));
    let change = |gateway: &mut PointConfig| gateway.mtp3.users = Vec::new();
    let mut world = world_of(change, key, m3ua::Registration::Unsupported, process());
    let of_exchange = |world: &World| {
        let own = world.m3ua_events.iter().filter(|(at, _)| *at == Holder::Process(0));
        let kinds = own.map(|(_, kind)| *kind);
        let is_its = |kind: &Kind| {
            let code = PointCode(EXCHANGE);
            [Kind::Pause(code), Kind::Resume(code)].contains(kind)
        };
        kinds.filter(is_its).collect::<Vec<_>>()
    };
    let (pause, resume) = (Kind::Pause(PointCode(EXCHANGE)), Kind::Resume(PointCode(EXCHANGE)));
    assert_eq!(of_exchange(&world), [resume]);
    for change in [LinkEndChange::Deactivate, LinkEndChange::Activate] {
        world.manage(1, ManagementRequest::Link(Mtp3LinkId(0), change));
        world.pass(Duration::from_secs(20));
    }
    assert_eq!(of_exchange(&world), [resume, pause, resume]);
}

#[test]
fn a_process_that_dies_closes_its_associations_and_opens_them_again() {
    let mut process = process();
    let now = Instant::START;
    for (change, expected) in [
        (ProcessChange::Fail, ServerProcessOutput::Close(ASSOCIATION)),
        (ProcessChange::Restore, ServerProcessOutput::Open(ASSOCIATION)),
    ] {
        process.handle_input(now, ServerProcessInput::Management(change));
        assert_eq!(process.poll_output(now), expected);
        assert_eq!(process.poll_output(now), ServerProcessOutput::Wait(None));
    }
}

/// Another process takes the place of the running one, which has left what it serves no longer.
fn succeed(world: &mut World, mut successor: ServerProcess) {
    let leaving = world.processes[0].leaving(&successor);
    world.processes[0].leave(world.now, &leaving);
    world.pass(Duration::from_secs(1));
    assert!(world.processes[0].has_left(&leaving));
    successor.take_over(world.now, world.processes.remove(0));
    world.processes.push(successor);
    world.m3ua_events.clear();
    world.pass(Duration::from_secs(1));
}

#[test]
fn a_process_that_is_succeeded_stays_registered_and_registers_what_is_new() {
    let mut world = registering_world(ScreeningConfig::default());
    let of_gateway = |world: &World| {
        let own = world.m3ua_events.iter().filter(|(at, _)| *at == Holder::Point(1));
        own.map(|(_, kind)| *kind).collect::<Vec<_>>()
    };
    let begins = [
        Kind::Registered,
        Kind::As(AsState::Inactive),
        Kind::Asp(AspState::Active),
        Kind::As(AsState::Active),
    ];
    succeed(&mut world, registering_process(&[(OWN_CONTEXT, 5), (21, 3)]));
    assert_eq!(of_gateway(&world), begins);
    for context in [OWN_CONTEXT, 21] {
        assert_eq!(world.processes[0].state(ASSOCIATION, context), AspState::Active);
        assert!(world.processes[0].is_active(context));
    }
    assert!(world.processes[0].transfer(None, &transfer(BEHIND, EXCHANGE, 6, 1)));
    world.points[0].transfer(world.now, &transfer(EXCHANGE, BEHIND, 5, 2)).unwrap();
    world.pass(Duration::from_secs(1));
    assert_eq!(world.delivered[&(Holder::Point(0), 6)], [1]);
    assert_eq!(world.delivered[&(Holder::Process(0), 5)], [2]);
    // The first key goes, and the gateway holds the process registered for the other alone.
    succeed(&mut world, registering_process(&[(21, 3)]));
    assert!(of_gateway(&world).contains(&Kind::Deregistered), "{:?}", of_gateway(&world));
    assert_eq!(world.processes[0].state(ASSOCIATION, 21), AspState::Active);
    // The server without a process is there until T(r) expires.
    world.pass(Duration::from_secs(3));
    let sgp = world.points[1].gateway_process().unwrap();
    assert_eq!(
        [FIRST_GIVEN, FIRST_GIVEN + 1].map(|given| sgp.as_state(given)),
        [None, Some(AsState::Active)]
    );
}
