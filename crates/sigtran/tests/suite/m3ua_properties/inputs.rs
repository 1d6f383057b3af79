//! Inputs that may come to an SGP or to an ASP: sensible messages, senseless ones, and commands.

use bytes::Bytes;
use proptest::prelude::*;
use slantpath_base::Duration;
use slantpath_sigtran::asp::{
    AspMessage, ErrorCode, GatewayConfig, Members, ProcessConfig, RoutingContexts, ServerConfig, ServerName,
    Status, TrafficMode,
};
use slantpath_sigtran::m3ua::{
    AffectedDestinations, AffectedPlace, ApplicationServer, Asp, AspConfig, Availability, Data,
    DeregistrationResult, DeregistrationStatus, Destination, KeyChanges, KeyDestination, Message,
    ProtocolData, QueueLimits, Registration, RegistrationResult, RegistrationStatus, RoutingKey,
    ServedServer, Sgp, SgpConfig, TrafficKey, UnavailabilityCause,
};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::{RoutingLabel, ServiceInformation, Sls};
use slantpath_ss7::transfer::Transfer;

/// The routing contexts that are configured.
pub(crate) const CONTEXTS: [u32; 2] = [1, 2];

pub(crate) const QUEUE_MAX: usize = 16;

/// Something happens to an SGP.
#[derive(Clone, Debug)]
pub(crate) enum SgpStep {
    Input(AssociationNumber, TransportInput),
    Transfer(Transfer),
    Availability(PointCode, Availability),
    Congestion(PointCode, u8),
    Isolation(bool),
    LockOut(AssociationNumber, bool),
    Block(u32, bool),
    Wait(Duration),
}

/// Something happens to an ASP.
#[derive(Clone, Debug)]
pub(crate) enum AspStep {
    Input(AssociationNumber, TransportInput),
    Transfer(Transfer),
    Up(AssociationNumber),
    Down(AssociationNumber),
    Activate(AssociationNumber),
    Deactivate(AssociationNumber),
    Register(AssociationNumber, Vec<RoutingKey>),
    Wait(Duration),
}

pub(crate) fn queue() -> QueueLimits {
    QueueLimits { max: QUEUE_MAX, onset: 8, abatement: 4 }
}

/// An SGP with two application servers, heartbeats and registration.
pub(crate) fn sgp() -> Sgp {
    let server = |routing_context, code, traffic_mode, members| ApplicationServer {
        routing_context,
        key: TrafficKey::to_point_code(PointCode(code)),
        server: ServerConfig { traffic_mode, needed_active: 2, members },
    };
    let registration = Registration::Dynamic {
        servers_max: 3,
        first_routing_context: 3,
        permitted: Vec::new(),
        denied: Vec::new(),
        permanent: Vec::new(),
        changes: KeyChanges::Allowed,
    };
    let heartbeat = Some(Duration::from_secs(5));
    Sgp::new(SgpConfig {
        gateway: GatewayConfig { heartbeat, ..GatewayConfig::default() },
        servers: vec![
            server(1, 1, None, Members::Any),
            server(
                2,
                2,
                Some(TrafficMode::Broadcast),
                Members::Only(vec![AssociationNumber(0), AssociationNumber(1)]),
            ),
        ],
        registration,
        queue: queue(),
        ..SgpConfig::default()
    })
    .unwrap()
}

/// An ASP with two gateways.
pub(crate) fn asp() -> Asp {
    let gateways = vec![AssociationNumber(0), AssociationNumber(1)];
    let server = |context| ServedServer {
        name: ServerName::Named(context),
        network_appearance: None,
        point_codes: Vec::new(),
        traffic_mode: None,
    };
    let destination = |code| Destination {
        network_appearance: None,
        point_code: PointCode(code),
        gateways: vec![(AssociationNumber(0), 0), (AssociationNumber(1), (code % 2) as u8)],
    };
    let heartbeat = Some(Duration::from_secs(5));
    Asp::new(AspConfig {
        process: ProcessConfig { tries_max: Some(4), heartbeat, ..ProcessConfig::default() },
        gateways,
        servers: CONTEXTS.map(server).to_vec(),
        destinations: (1..5).map(destination).collect(),
        ..AspConfig::default()
    })
    .unwrap()
}

/// A message to a point code, numbered.
pub(crate) fn message(dpc: PointCode, sls: u8, number: u32) -> Transfer {
    Transfer {
        service: ServiceInformation::from_octet(0x85),
        label: RoutingLabel { dpc, opc: PointCode(9), sls: Sls(sls) },
        user_data: Bytes::copy_from_slice(&number.to_be_bytes()),
    }
}

fn any_code() -> impl Strategy<Value = PointCode> {
    (1_u32..6).prop_map(PointCode)
}

fn any_association() -> impl Strategy<Value = AssociationNumber> {
    (0_u32..3).prop_map(AssociationNumber)
}

fn any_transfer() -> impl Strategy<Value = Transfer> {
    (any_code(), any::<u8>(), any::<u32>()).prop_map(|(code, sls, number)| message(code, sls & 0xf, number))
}

fn some_contexts() -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(1_u32..5, 0..3)
}

fn some_mode() -> impl Strategy<Value = Option<TrafficMode>> {
    let modes = vec![TrafficMode::Override, TrafficMode::Loadshare, TrafficMode::Broadcast];
    proptest::option::of(proptest::sample::select(modes))
}

fn any_affected() -> impl Strategy<Value = AffectedDestinations> {
    let masks = prop_oneof![4 => Just(0_u8), 1 => any::<u8>()];
    let codes = proptest::collection::vec((masks, any_code()), 1..4);
    (some_contexts(), codes, proptest::option::weighted(0.1, 0_u32..2)).prop_map(
        |(routing_contexts, point_codes, network_appearance)| AffectedDestinations {
            network_appearance,
            routing_contexts,
            point_codes,
            info: None,
        },
    )
}

fn any_key() -> impl Strategy<Value = RoutingKey> {
    let context = proptest::option::weighted(0.2, 1_u32..6);
    let services = proptest::collection::vec(0_u8..8, 0..3);
    (any_code(), some_mode(), 0_u32..4, context, services).prop_map(
        |(dpc, mode, local_identifier, routing_context, service_indicators)| RoutingKey {
            local_identifier,
            routing_context,
            traffic_mode: mode.map(|mode| mode as u32),
            network_appearance: None,
            destinations: vec![KeyDestination { dpc, service_indicators, opcs: Vec::new() }],
            others: Vec::new(),
        },
    )
}

fn any_asp_message() -> impl Strategy<Value = Message> {
    let scope = || some_contexts().prop_map(RoutingContexts);
    let identifier = || proptest::option::of(1_u32..4);
    let (kinds, information) = (1_u16..3, 1_u16..5);
    prop_oneof![
        4 => identifier()
            .prop_map(|asp_identifier| AspMessage::AspUp { asp_identifier, info: None }),
        4 => identifier()
            .prop_map(|asp_identifier| AspMessage::AspUpAck { asp_identifier, info: None }),
        1 => Just(AspMessage::AspDown { info: None }),
        1 => Just(AspMessage::AspDownAck { info: None }),
        1 => Just(AspMessage::Beat { data: Some(vec![1, 2, 3]) }),
        1 => Just(AspMessage::BeatAck { data: None }),
        4 => (some_mode(), scope())
            .prop_map(|(traffic_mode, scope)| AspMessage::AspActive { traffic_mode, scope, labels: (), info: None }),
        4 => (some_mode(), scope())
            .prop_map(|(traffic_mode, scope)| AspMessage::AspActiveAck { traffic_mode, scope, info: None }),
        2 => scope().prop_map(|scope| AspMessage::AspInactive { scope, info: None }),
        2 => scope().prop_map(|scope| AspMessage::AspInactiveAck { scope, info: None }),
        2 => (kinds, information, scope()).prop_map(|(kind, information, scope)| AspMessage::Ntfy {
            status: Status { kind, information },
            asp_identifier: None,
            scope,
            info: None,
        }),
        1 => (0_u32..30, scope()).prop_map(|(code, scope)| AspMessage::Err {
            code: ErrorCode(code),
            scope,
            evidence: AffectedPlace::default(),
            diagnostic: None,
        }),
    ]
    .prop_map(Message::Asp)
}

fn any_data() -> impl Strategy<Value = Message> {
    let context = proptest::option::of(1_u32..5);
    (context, any_transfer(), 0_u8..20).prop_map(|(routing_context, transfer, service_indicator)| {
        let protocol_data = ProtocolData { service_indicator, ..ProtocolData::from(transfer) };
        Message::Data(Data { network_appearance: None, routing_context, protocol_data, correlation_id: None })
    })
}

fn any_message() -> impl Strategy<Value = Message> {
    prop_oneof![
        8 => any_asp_message(),
        4 => any_data(),
        1 => any_affected().prop_map(Message::Duna),
        2 => any_affected().prop_map(Message::Dava),
        1 => any_affected().prop_map(Message::Drst),
        1 => any_affected().prop_map(Message::Daud),
        1 => (any_affected(), any::<Option<u8>>()).prop_map(|(affected, congestion_level)| Message::Scon {
            affected,
            concerned: None,
            congestion_level,
        }),
        1 => (any_affected(), 0_u16..4, 0_u16..20).prop_map(|(affected, cause, user)| Message::Dupu {
            affected,
            cause: UnavailabilityCause { cause, user },
        }),
        2 => proptest::collection::vec(any_key(), 1..3).prop_map(|keys| Message::RegReq { keys }),
        1 => some_contexts().prop_map(|routing_contexts| Message::DeregReq { routing_contexts }),
        1 => (0_u32..4, 0_u32..3, 1_u32..6).prop_map(|(local_identifier, status, routing_context)| {
            let status = RegistrationStatus(status);
            let results = vec![RegistrationResult { local_identifier, status, routing_context }];
            Message::RegRsp { results }
        }),
        1 => (1_u32..6, 0_u32..3).prop_map(|(routing_context, status)| {
            let status = DeregistrationStatus(status);
            Message::DeregRsp { results: vec![DeregistrationResult { routing_context, status }] }
        }),
    ]
}

fn any_octets() -> impl Strategy<Value = Bytes> {
    prop_oneof![
        12 => any_message().prop_map(|message| {
            let mut octets = Vec::new();
            message.emit(&mut octets);
            octets.into()
        }),
        1 => (any_message(), any::<u16>(), any::<u8>()).prop_map(|(message, at, bits)| {
            let mut octets = Vec::new();
            message.emit(&mut octets);
            let at = usize::from(at) % octets.len();
            octets[at] ^= bits;
            octets.into()
        }),
        1 => proptest::collection::vec(any::<u8>(), 0..40).prop_map(Bytes::from),
    ]
}

fn any_input() -> impl Strategy<Value = TransportInput> {
    let stream = prop_oneof![4 => Just(0_u16), 4 => Just(1_u16), 1 => any::<u16>()].prop_map(StreamNumber);
    prop_oneof![
        12 => (stream, any_octets()).prop_map(|(stream, octets)| {
            TransportInput::Message { stream, payload_protocol: 3, octets }
        }),
        3 => prop_oneof![1 => Just(1_u16), 5 => Just(17)]
            .prop_map(|outbound_streams| TransportInput::Up { outbound_streams }),
        1 => Just(TransportInput::Down),
        1 => Just(TransportInput::Restart),
        1 => any::<bool>().prop_map(TransportInput::Congested),
    ]
}

fn any_time() -> impl Strategy<Value = Duration> {
    (0_u64..12_000).prop_map(Duration::from_millis)
}

pub(crate) fn any_sgp_step() -> impl Strategy<Value = SgpStep> {
    let states = vec![Availability::Unavailable, Availability::Restricted, Availability::Available];
    prop_oneof![
        12 => (any_association(), any_input()).prop_map(|(asp, input)| SgpStep::Input(asp, input)),
        4 => any_transfer().prop_map(SgpStep::Transfer),
        1 => (any_code(), proptest::sample::select(states))
            .prop_map(|(code, state)| SgpStep::Availability(code, state)),
        1 => (any_code(), 0_u8..4).prop_map(|(code, level)| SgpStep::Congestion(code, level)),
        1 => any::<bool>().prop_map(SgpStep::Isolation),
        1 => (any_association(), any::<bool>()).prop_map(|(asp, locked)| SgpStep::LockOut(asp, locked)),
        1 => (1_u32..4, any::<bool>()).prop_map(|(context, blocked)| SgpStep::Block(context, blocked)),
        2 => any_time().prop_map(SgpStep::Wait),
    ]
}

pub(crate) fn any_asp_step() -> impl Strategy<Value = AspStep> {
    prop_oneof![
        12 => (any_association(), any_input()).prop_map(|(asp, input)| AspStep::Input(asp, input)),
        3 => any_transfer().prop_map(AspStep::Transfer),
        2 => any_association().prop_map(AspStep::Up),
        1 => any_association().prop_map(AspStep::Down),
        2 => any_association().prop_map(AspStep::Activate),
        1 => any_association().prop_map(AspStep::Deactivate),
        1 => (any_association(), any_key()).prop_map(|(asp, key)| AspStep::Register(asp, vec![key])),
        2 => any_time().prop_map(AspStep::Wait),
    ]
}
