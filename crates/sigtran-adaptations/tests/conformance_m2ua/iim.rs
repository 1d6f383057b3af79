//! Interface identifier management.

use slantpath_sigtran::asp::{ErrorCode, Members, Status};
use slantpath_sigtran::transport::AssociationNumber;
use slantpath_sigtran_adaptations::interface::InterfaceIdentifier;
use slantpath_sigtran_adaptations::m2ua::{
    DeregistrationResult, LinkKey, M2uaParameter, Message, RegistrationResult, deregistration_status, kind,
    registration_status,
};
use slantpath_sigtran_adaptations::message::OwnMessage;

use crate::bench::{Bench, FIRST, Plan, SECOND, about, interfaces};

/// The link 1 of the bench.
const KEY: LinkKey = LinkKey { local: 7, terminal: 11, data_link: 21 };

/// A gateway whose one link nobody serves before registering.
fn bench() -> Bench {
    Bench::new(&Plan { members: Members::Only(Vec::new()), ..Plan::default() })
}

/// Registers, and checks the response.
fn register(bench: &mut Bench, asp: AssociationNumber) -> InterfaceIdentifier {
    let request = OwnMessage::empty(kind::REGISTRATION_REQUEST).with(M2uaParameter::LinkKey(KEY));
    bench.send(asp, 0, request);
    let Message::Own(response) = bench.next(asp) else { panic!("no REG RSP") };
    assert_eq!(response.kind, kind::REGISTRATION_RESPONSE);
    let Some(M2uaParameter::RegistrationResult(RegistrationResult { local, status, interface })) =
        response.own().next().cloned()
    else {
        panic!("no result: {response:?}");
    };
    assert_eq!((local, status), (KEY.local, registration_status::SUCCESS));
    interface
}

/// Deregisters, and checks the response.
fn deregister(bench: &mut Bench, asp: AssociationNumber, interface: &InterfaceIdentifier) {
    bench.send(asp, 0, about(number(interface), kind::DEREGISTRATION_REQUEST));
    let Message::Own(response) = bench.next(asp) else { panic!("no DEREG RSP") };
    assert_eq!(response.kind, kind::DEREGISTRATION_RESPONSE);
    let expected =
        DeregistrationResult { interface: interface.clone(), status: deregistration_status::SUCCESS };
    assert_eq!(response.own().next(), Some(&M2uaParameter::DeregistrationResult(expected)));
    bench.assert_quiet(asp);
}

fn number(interface: &InterfaceIdentifier) -> u32 {
    match interface {
        InterfaceIdentifier::Integer(number) => *number,
        InterfaceIdentifier::Text(_) => panic!("the gateway names its links by numbers"),
    }
}

/// ASP Up and REG REQ as far as inactive, with its notification.
fn come_up_registered(bench: &mut Bench, asp: AssociationNumber) -> InterfaceIdentifier {
    bench.up(asp);
    let interface = register(bench, asp);
    bench.expect_notify(asp, Status::AS_INACTIVE);
    interface
}

/// REG REQ of an ASP that is inactive is granted, with the interface identifier of its link.
#[test]
fn v_01_registration_is_granted() {
    let mut bench = bench();
    bench.up(FIRST);
    assert_eq!(register(&mut bench, FIRST), 1.into());
    bench.expect_notify(FIRST, Status::AS_INACTIVE);
}

/// DEREG REQ of an ASP that is registered and inactive is granted.
#[test]
fn v_02_deregistration_is_granted() {
    let mut bench = bench();
    let interface = come_up_registered(&mut bench, FIRST);
    deregister(&mut bench, FIRST, &interface);
}

/// A second ASP registers for a link that the first is active for.
#[test]
fn v_03_a_second_asp_registers_beside_an_active_one() {
    let mut bench = bench();
    let interface = come_up_registered(&mut bench, FIRST);
    bench.activate(FIRST, number(&interface));
    bench.expect_notify(FIRST, Status::AS_ACTIVE);
    bench.up(SECOND);
    assert_eq!(register(&mut bench, SECOND), interface);
    bench.expect_notify(SECOND, Status::AS_ACTIVE);
    bench.assert_quiet(FIRST);
}

/// One of two registered ASPs deregisters; the link key stays for the other.
#[test]
fn v_04_one_of_two_deregisters() {
    let mut bench = bench();
    let interface = come_up_registered(&mut bench, FIRST);
    come_up_registered(&mut bench, SECOND);
    deregister(&mut bench, FIRST, &interface);
    bench.activate(SECOND, number(&interface));
}

/// Both registered ASPs deregister, one after the other.
#[test]
fn v_05_both_deregister() {
    let mut bench = bench();
    let interface = come_up_registered(&mut bench, FIRST);
    come_up_registered(&mut bench, SECOND);
    deregister(&mut bench, FIRST, &interface);
    deregister(&mut bench, SECOND, &interface);
}

/// DEREG REQ of an ASP that is active for the interface is answered by ERR "ASP Active for Interface Identifier(s)".
#[test]
fn io_01_an_active_asp_may_not_deregister() {
    let mut bench = bench();
    let interface = come_up_registered(&mut bench, FIRST);
    bench.activate(FIRST, number(&interface));
    bench.expect_notify(FIRST, Status::AS_ACTIVE);
    bench.send(FIRST, 0, about(number(&interface), kind::DEREGISTRATION_REQUEST));
    let scope = bench.expect_error(FIRST, ErrorCode::ASP_ACTIVE_FOR_INTERFACE);
    assert_eq!(scope, interfaces(&[1]));
    bench.assert_quiet(FIRST);
}
