//! An SGP: registration of routing keys.

use slantpath_sigtran::asp::{AspMessage, ErrorCode, Status, TrafficMode};
use slantpath_sigtran::m3ua::{
    DeregistrationResult, DeregistrationStatus, KeyChanges, KeyDestination, Message, Registration,
    RegistrationResult, RegistrationStatus, RoutingKey, SgpConfig,
};
use slantpath_ss7::PointCode;

use crate::tester::{INVALID_CONTEXT, OTHER_POINT, POINT, SgpUnderTest, is_error, is_notify, raw, server};

/// The point code of an application server that everybody is a member of.
const CONFIGURED: PointCode = OTHER_POINT;
const UNAUTHORIZED: PointCode = PointCode(103);

fn dynamic(servers_max: usize, permanent: Vec<PointCode>) -> Registration {
    let changes = KeyChanges::Refused;
    let denied = vec![UNAUTHORIZED];
    let permitted = Vec::new();
    Registration::Dynamic { servers_max, first_routing_context: 100, permitted, denied, permanent, changes }
}

/// An SGP at which one ASP is up.
fn with(registration: Registration) -> SgpUnderTest {
    let servers = vec![server(7, CONFIGURED, None, 1)];
    let config = SgpConfig { servers, registration, ..SgpConfig::default() };
    let mut test = SgpUnderTest::with(config, 1);
    test.come_up(0);
    test.wait_for(0, is_notify(Status::AS_INACTIVE));
    test
}

fn key(local_identifier: u32, dpc: PointCode) -> RoutingKey {
    let destination = KeyDestination { dpc, service_indicators: Vec::new(), opcs: Vec::new() };
    RoutingKey {
        local_identifier,
        routing_context: None,
        traffic_mode: None,
        network_appearance: None,
        destinations: vec![destination],
        others: Vec::new(),
    }
}

/// Sends REG REQ for one key; its result.
fn register(test: &mut SgpUnderTest, key: RoutingKey) -> RegistrationResult {
    let local_identifier = key.local_identifier;
    test.send(0, &Message::RegReq { keys: vec![key] });
    let received = test.wait_for(0, |message| matches!(message, Message::RegRsp { .. }));
    let Message::RegRsp { results } = received.message else { panic!("{received:?}") };
    assert_eq!((results.len(), results[0].local_identifier), (1, local_identifier));
    results[0]
}

fn deregister(test: &mut SgpUnderTest, routing_context: u32) -> DeregistrationResult {
    test.send(0, &Message::DeregReq { routing_contexts: vec![routing_context] });
    let received = test.wait_for(0, |message| matches!(message, Message::DeregRsp { .. }));
    let Message::DeregRsp { results } = received.message else { panic!("{received:?}") };
    assert_eq!((results.len(), results[0].routing_context), (1, routing_context));
    results[0]
}

/// Registers a point code that may be registered; its routing context.
fn registered(test: &mut SgpUnderTest) -> u32 {
    let result = register(test, key(1, POINT));
    assert_eq!(result.status, RegistrationStatus::REGISTERED);
    result.routing_context
}

/// Registers a key with one traffic mode, then the same with another.
fn second_mode(first: TrafficMode, second: TrafficMode) -> RegistrationStatus {
    let mut test = with(dynamic(4, Vec::new()));
    let with_mode =
        |number, mode: TrafficMode| RoutingKey { traffic_mode: Some(mode as u32), ..key(number, POINT) };
    assert_eq!(register(&mut test, with_mode(1, first)).status, RegistrationStatus::REGISTERED);
    register(&mut test, with_mode(2, second)).status
}

#[test]
fn m3ua_sgp_rkm_v_001_a_new_routing_key_is_registered() {
    let mut test = with(dynamic(4, Vec::new()));
    assert_eq!(register(&mut test, key(1, POINT)).status, RegistrationStatus::REGISTERED);
}

#[test]
fn m3ua_sgp_rkm_v_002_a_registration_gives_a_routing_context_of_its_own() {
    let mut test = with(dynamic(4, Vec::new()));
    let first = registered(&mut test);
    let second = register(&mut test, key(2, PointCode(105)));
    assert_eq!((first, second.routing_context), (100, 101));
}

#[test]
fn m3ua_sgp_rkm_v_003_a_registration_ends() {
    let mut test = with(dynamic(4, Vec::new()));
    let context = registered(&mut test);
    assert_eq!(deregister(&mut test, context).status, DeregistrationStatus::DEREGISTERED);
    assert_eq!(deregister(&mut test, context).status, DeregistrationStatus::INVALID_ROUTING_CONTEXT);
}

#[test]
fn m3ua_sgp_rkm_v_004_without_registration_the_class_is_unsupported() {
    let mut test = with(Registration::Unsupported);
    test.send(0, &Message::RegReq { keys: vec![key(1, POINT)] });
    test.wait_for(0, is_error(ErrorCode::UNSUPPORTED_MESSAGE_CLASS));
}

#[test]
fn m3ua_sgp_rkm_i_003_a_key_without_destination_is_invalid() {
    let mut test = with(dynamic(4, Vec::new()));
    let empty = RoutingKey { destinations: Vec::new(), ..key(1, POINT) };
    let result = register(&mut test, empty);
    assert_eq!((result.status, result.routing_context), (RegistrationStatus::INVALID_ROUTING_KEY, 0));
}

#[test]
fn m3ua_sgp_rkm_i_004_a_destination_that_the_network_cannot_have_is_invalid() {
    let mut test = with(dynamic(4, Vec::new()));
    assert_eq!(register(&mut test, key(1, PointCode(16_384))).status, RegistrationStatus::INVALID_DPC);
}

#[test]
fn m3ua_sgp_rkm_i_005_a_network_appearance_that_is_not_configured_is_invalid() {
    let mut test = with(dynamic(4, Vec::new()));
    let elsewhere = RoutingKey { network_appearance: Some(2), ..key(1, POINT) };
    let status = register(&mut test, elsewhere).status;
    assert_eq!(status, RegistrationStatus::INVALID_NETWORK_APPEARANCE);
}

#[test]
fn m3ua_sgp_rkm_i_006_a_key_that_shares_traffic_with_another_is_not_unique() {
    let mut test = with(dynamic(4, Vec::new()));
    let context = registered(&mut test);
    let mut overlapping = key(2, POINT);
    overlapping.destinations[0].service_indicators = vec![5];
    let status = register(&mut test, overlapping).status;
    assert_eq!(status, RegistrationStatus::CANNOT_SUPPORT_UNIQUE_ROUTING);
    // The same key once more has a status of its own since RFC 4666.
    let again = register(&mut test, key(3, POINT));
    assert_eq!((again.status, again.routing_context), (RegistrationStatus::ALREADY_REGISTERED, context));
}

#[test]
fn m3ua_sgp_rkm_i_007_a_key_that_the_asp_may_not_register_is_denied() {
    let mut test = with(dynamic(4, Vec::new()));
    assert_eq!(register(&mut test, key(1, UNAUTHORIZED)).status, RegistrationStatus::PERMISSION_DENIED);
}

#[test]
fn m3ua_sgp_rkm_i_008_a_key_that_is_not_configured_is_not_provisioned() {
    let mut test = with(Registration::Provisioned);
    assert_eq!(register(&mut test, key(1, PointCode(104))).status, RegistrationStatus::NOT_PROVISIONED);
}

#[test]
fn m3ua_sgp_rkm_i_009_more_keys_than_there_is_room_for_are_refused() {
    let mut test = with(dynamic(1, Vec::new()));
    registered(&mut test);
    let status = register(&mut test, key(2, PointCode(105))).status;
    assert_eq!(status, RegistrationStatus::INSUFFICIENT_RESOURCES);
}

#[test]
fn m3ua_sgp_rkm_i_010_a_parameter_that_keys_do_not_have_is_unsupported() {
    let mut test = with(dynamic(4, Vec::new()));
    // The circuit range of RFC 3332.
    let others = vec![(0x020f, vec![0, 0, 0, 100, 0, 0, 0, 0])];
    let status = register(&mut test, RoutingKey { others, ..key(1, POINT) }).status;
    assert_eq!(status, RegistrationStatus::UNSUPPORTED_PARAMETER);
}

#[test]
fn m3ua_sgp_rkm_i_011_loadshare_for_an_override_key_is_unsupported() {
    let status = second_mode(TrafficMode::Override, TrafficMode::Loadshare);
    assert_eq!(status, RegistrationStatus::UNSUPPORTED_TRAFFIC_MODE);
}

#[test]
fn m3ua_sgp_rkm_i_012_broadcast_for_an_override_key_is_unsupported() {
    let status = second_mode(TrafficMode::Override, TrafficMode::Broadcast);
    assert_eq!(status, RegistrationStatus::UNSUPPORTED_TRAFFIC_MODE);
}

#[test]
fn m3ua_sgp_rkm_i_013_a_traffic_mode_that_there_is_not_is_unsupported() {
    let mut test = with(dynamic(4, Vec::new()));
    let status = register(&mut test, RoutingKey { traffic_mode: Some(4), ..key(1, POINT) }).status;
    assert_eq!(status, RegistrationStatus::UNSUPPORTED_TRAFFIC_MODE);
}

#[test]
fn m3ua_sgp_rkm_i_014_override_for_a_loadshare_key_is_unsupported() {
    let status = second_mode(TrafficMode::Loadshare, TrafficMode::Override);
    assert_eq!(status, RegistrationStatus::UNSUPPORTED_TRAFFIC_MODE);
}

#[test]
fn m3ua_sgp_rkm_i_015_broadcast_for_a_loadshare_key_is_unsupported() {
    let status = second_mode(TrafficMode::Loadshare, TrafficMode::Broadcast);
    assert_eq!(status, RegistrationStatus::UNSUPPORTED_TRAFFIC_MODE);
}

#[test]
fn m3ua_sgp_rkm_i_017_override_for_a_broadcast_key_is_unsupported() {
    let status = second_mode(TrafficMode::Broadcast, TrafficMode::Override);
    assert_eq!(status, RegistrationStatus::UNSUPPORTED_TRAFFIC_MODE);
}

#[test]
fn m3ua_sgp_rkm_i_018_loadshare_for_a_broadcast_key_is_unsupported() {
    let status = second_mode(TrafficMode::Broadcast, TrafficMode::Loadshare);
    assert_eq!(status, RegistrationStatus::UNSUPPORTED_TRAFFIC_MODE);
}

#[test]
fn m3ua_sgp_rkm_i_020_a_routing_context_without_registration_is_not_deregistered() {
    let mut test = with(dynamic(4, Vec::new()));
    registered(&mut test);
    let status = deregister(&mut test, INVALID_CONTEXT).status;
    assert_eq!(status, DeregistrationStatus::INVALID_ROUTING_CONTEXT);
    // A member by configuration has nothing to deregister.
    assert_eq!(deregister(&mut test, 7).status, DeregistrationStatus::NOT_REGISTERED);
}

#[test]
fn m3ua_sgp_rkm_i_021_a_registration_that_may_not_end_is_kept() {
    let mut test = with(dynamic(4, vec![POINT]));
    let context = registered(&mut test);
    assert_eq!(deregister(&mut test, context).status, DeregistrationStatus::PERMISSION_DENIED);
}

#[test]
fn m3ua_sgp_rkm_i_022_an_active_asp_keeps_its_registration() {
    let mut test = with(dynamic(4, Vec::new()));
    let context = registered(&mut test);
    test.become_active(0, None, &[context]);
    test.wait_for(0, is_notify(Status::AS_ACTIVE));
    assert_eq!(deregister(&mut test, context).status, DeregistrationStatus::ASP_ACTIVE);
}

#[test]
fn m3ua_sgp_rkm_i_023_a_reserved_type_is_unsupported() {
    let mut test = with(dynamic(4, Vec::new()));
    test.send_octets(0, 0, raw(1, 9, 0, &[]));
    let received = test.wait_for(0, is_error(ErrorCode::UNSUPPORTED_MESSAGE_TYPE));
    assert!(matches!(received.message, Message::Asp(AspMessage::Err { diagnostic: Some(_), .. })));
}
