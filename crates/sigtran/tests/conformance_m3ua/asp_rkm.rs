//! An ASP: registration of routing keys.

use slantpath_sigtran::asp::ErrorCode;
use slantpath_sigtran::m3ua::{
    AspOutput, DeregistrationResult, DeregistrationStatus, KeyDestination, Message, RegistrationResult,
    RegistrationStatus, RoutingKey,
};

use crate::tester::{AspUnderTest, GATEWAY, POINT, is_error, raw};

/// An ASP that has sent REG REQ, and the key in it.
fn registering() -> (AspUnderTest, RoutingKey) {
    let mut test = AspUnderTest::up();
    let destination = KeyDestination { dpc: POINT, service_indicators: Vec::new(), opcs: Vec::new() };
    let key = RoutingKey {
        local_identifier: 1,
        routing_context: None,
        traffic_mode: None,
        network_appearance: None,
        destinations: vec![destination],
        others: Vec::new(),
    };
    test.asp.register(GATEWAY, vec![key.clone()]).unwrap();
    test.collect();
    let received = test.wait_for(|message| matches!(message, Message::RegReq { .. }));
    assert_eq!(received.message, Message::RegReq { keys: vec![key.clone()] });
    (test, key)
}

/// An ASP that is registered for routing context 9 and has sent DEREG REQ.
fn deregistering() -> (AspUnderTest, Vec<u32>) {
    let (mut test, key) = registering();
    let result = RegistrationResult {
        local_identifier: key.local_identifier,
        status: RegistrationStatus::REGISTERED,
        routing_context: 9,
    };
    test.send(&Message::RegRsp { results: vec![result] });
    assert!(test.others.contains(&AspOutput::Registered(GATEWAY, result)));
    test.asp.deregister(GATEWAY, vec![9]).unwrap();
    test.collect();
    let received = test.wait_for(|message| matches!(message, Message::DeregReq { .. }));
    let Message::DeregReq { routing_contexts } = received.message else { panic!("{received:?}") };
    (test, routing_contexts)
}

#[test]
fn m3ua_asp_rkm_v_002_reg_req_has_a_local_identifier_and_a_destination() {
    let (_, key) = registering();
    assert_eq!((key.local_identifier, key.destinations[0].dpc), (1, POINT));
}

#[test]
fn m3ua_asp_rkm_v_003_dereg_req_ends_a_registration() {
    let (mut test, _) = deregistering();
    let result = DeregistrationResult { routing_context: 9, status: DeregistrationStatus::DEREGISTERED };
    test.send(&Message::DeregRsp { results: vec![result] });
    assert!(test.others.contains(&AspOutput::Deregistered(GATEWAY, result)));
}

#[test]
fn m3ua_asp_rkm_v_004_dereg_req_has_the_routing_context_of_reg_rsp() {
    let (_, contexts) = deregistering();
    assert_eq!(contexts, [9]);
}

#[test]
fn m3ua_asp_rkm_i_001_a_reserved_type_is_unsupported() {
    let (mut test, _) = registering();
    test.send_octets(0, raw(1, 9, 0, &[]));
    test.wait_for(is_error(ErrorCode::UNSUPPORTED_MESSAGE_TYPE));
}
