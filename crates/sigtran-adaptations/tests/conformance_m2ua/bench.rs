//! The tester: ASPs that speak octets, a gateway under test, and level 2 of its links.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_sigtran::asp::{
    self, AspMessage, ErrorCode, IdentifierPolicy, Members, Scope, Status, TrafficMode,
};
use slantpath_sigtran::common::MessageKind;
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, TransportInput};
use slantpath_sigtran_adaptations::interface::{Interface, InterfaceIdentifier, Interfaces};
use slantpath_sigtran_adaptations::m2ua::{
    LinkConfig, M2ua, M2uaParameter, Message, SignallingGateway, SignallingGatewayConfig,
    SignallingGatewayOutput,
};
use slantpath_sigtran_adaptations::message::{CommonParameter, OwnMessage};
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use slantpath_ss7::mtp3::Fsn;

pub(crate) type Asp = AspMessage<M2ua>;
pub(crate) type Own = OwnMessage<M2uaParameter>;

pub(crate) const FIRST: AssociationNumber = AssociationNumber(1);
pub(crate) const SECOND: AssociationNumber = AssociationNumber(2);
/// An interface that the gateway does not have.
pub(crate) const NOWHERE: u32 = 99;

/// A message of MTP3, as short as may be.
pub(crate) const UNIT: &[u8] = &[0x83, 0x5c, 0x40, 0x0a, 0x00, 0x11, 0xf0];

/// Level 2 of a link: it does what it is asked at once, and the peer acknowledges nothing.
#[derive(Debug, Default)]
pub(crate) struct Level2 {
    pub(crate) sent: Vec<Bytes>,
    pub(crate) requests: Vec<LinkRequest>,
}

pub(crate) struct Bench {
    pub(crate) gateway: SignallingGateway,
    pub(crate) now: Instant,
    pub(crate) links: BTreeMap<u32, Level2>,
    inboxes: BTreeMap<AssociationNumber, VecDeque<(StreamNumber, Message)>>,
}

/// Settings that vary between purposes.
pub(crate) struct Plan {
    pub(crate) mode: Option<TrafficMode>,
    pub(crate) members: Members,
    pub(crate) identifier: IdentifierPolicy,
    pub(crate) interfaces: u32,
}

impl Default for Plan {
    fn default() -> Self {
        Self { mode: None, members: Members::Any, identifier: IdentifierPolicy::Optional, interfaces: 1 }
    }
}

impl Plan {
    /// Two interfaces, each an application server of its own.
    pub(crate) fn of_two_servers() -> Self {
        Self { interfaces: 2, ..Self::default() }
    }
}

impl Bench {
    /// A gateway with links 1 to as many as planned, terminals 10 and data links 20 above them.
    pub(crate) fn new(plan: &Plan) -> Self {
        let asps = asp::GatewayConfig { identifier: plan.identifier, ..asp::GatewayConfig::default() };
        let config = SignallingGatewayConfig { asps, ..SignallingGatewayConfig::default() };
        let mut gateway = SignallingGateway::new(config).unwrap();
        for interface in 1..=plan.interfaces {
            let server = asp::ServerConfig {
                traffic_mode: plan.mode,
                members: plan.members.clone(),
                ..asp::ServerConfig::default()
            };
            let link = LinkConfig { terminal: 10 + interface, data_link: 20 + interface };
            gateway.add_link(interface.into(), link, server);
        }
        let links = (1..=plan.interfaces).map(|interface| (interface, Level2::default())).collect();
        let mut bench = Self { gateway, now: Instant::START, links, inboxes: BTreeMap::new() };
        for association in [FIRST, SECOND] {
            let up = TransportInput::Up { outbound_streams: 8 };
            bench.gateway.handle_transport(bench.now, association, up);
        }
        bench.run();
        bench
    }

    fn run(&mut self) {
        loop {
            match self.gateway.poll_output(self.now) {
                SignallingGatewayOutput::Wait(_) => return,
                SignallingGatewayOutput::Busy(..) | SignallingGatewayOutput::Event(_) => {}
                SignallingGatewayOutput::Link(interface, request) => self.level_2(&interface, request),
                SignallingGatewayOutput::Transmit(transmit) => {
                    assert_eq!(transmit.payload_protocol, 2);
                    let message = Message::receive(&transmit.octets).unwrap();
                    assert_eq!(message.to_bytes(), transmit.octets);
                    self.inboxes
                        .entry(transmit.association)
                        .or_default()
                        .push_back((transmit.stream, message));
                }
            }
        }
    }

    fn level_2(&mut self, interface: &InterfaceIdentifier, request: LinkRequest) {
        let InterfaceIdentifier::Integer(number) = interface else { panic!("no link is named by text") };
        let link = self.links.get_mut(number).unwrap();
        link.requests.push(request.clone());
        let mut answers = Vec::new();
        match request {
            LinkRequest::Start => answers.push(LinkIndication::InService),
            LinkRequest::Stop => answers.push(LinkIndication::OutOfService(OutOfServiceReason::Stopped)),
            LinkRequest::Transmit(octets) => link.sent.push(octets),
            LinkRequest::RetrieveBsnt => answers.push(LinkIndication::Bsnt(Fsn(5))),
            LinkRequest::RetrieveMessagesAfter(_) | LinkRequest::RetrieveUnsent => {
                answers.extend(link.sent.drain(..).map(LinkIndication::Retrieved));
                answers.push(LinkIndication::RetrievalComplete);
            }
            _ => {}
        }
        for answer in answers {
            self.gateway.handle_link(self.now, interface, answer);
        }
    }

    /// Gives an indication of level 2 of link 1 to the gateway.
    pub(crate) fn link(&mut self, indication: LinkIndication) {
        self.gateway.handle_link(self.now, &1.into(), indication);
        self.run();
    }

    pub(crate) fn send_octets(&mut self, from: AssociationNumber, stream: u16, octets: Vec<u8>) {
        let message = TransportInput::Message {
            stream: StreamNumber(stream),
            payload_protocol: 2,
            octets: octets.into(),
        };
        self.gateway.handle_transport(self.now, from, message);
        self.run();
    }

    pub(crate) fn send_asp(&mut self, from: AssociationNumber, message: Asp) {
        self.send_octets(from, 0, Message::Asp(message).to_bytes().into());
    }

    pub(crate) fn send(&mut self, from: AssociationNumber, stream: u16, message: Own) {
        self.send_octets(from, stream, Message::Own(message).to_bytes().into());
    }

    /// The next message that the tester has from the gateway.
    pub(crate) fn next(&mut self, at: AssociationNumber) -> Message {
        let inbox = self.inboxes.entry(at).or_default();
        inbox.pop_front().unwrap_or_else(|| panic!("the gateway sent nothing more to {at:?}")).1
    }

    pub(crate) fn next_asp(&mut self, at: AssociationNumber) -> Asp {
        match self.next(at) {
            Message::Asp(message) => message,
            Message::Own(other) => panic!("no message about ASPs: {other:?}"),
        }
    }

    /// The next message, which must be of that kind, on the stream of its link.
    pub(crate) fn expect(&mut self, at: AssociationNumber, kind: MessageKind) -> Own {
        let inbox = self.inboxes.entry(at).or_default();
        let Some((stream, Message::Own(message))) = inbox.pop_front() else {
            panic!("{kind:?} did not come to {at:?}");
        };
        assert_eq!(message.kind, kind, "{message:?}");
        assert_ne!(stream, StreamNumber(0), "{message:?}");
        message
    }

    pub(crate) fn expect_notify(&mut self, at: AssociationNumber, expected: Status) -> Option<u32> {
        match self.next_asp(at) {
            Asp::Ntfy { status, asp_identifier, .. } if status == expected => asp_identifier,
            other => panic!("no NTFY {expected:?}: {other:?}"),
        }
    }

    pub(crate) fn expect_error(&mut self, at: AssociationNumber, expected: ErrorCode) -> Interfaces {
        match self.next_asp(at) {
            Asp::Err { code, scope, diagnostic, .. } if code == expected => {
                assert!(diagnostic.is_some_and(|octets| octets.len() <= 40));
                scope
            }
            other => panic!("no ERR {expected:?}: {other:?}"),
        }
    }

    pub(crate) fn assert_quiet(&mut self, at: AssociationNumber) {
        let inbox = self.inboxes.entry(at).or_default();
        assert!(inbox.is_empty(), "{inbox:?}");
    }

    /// ASP Up, acknowledged; the notifications are left in the inbox.
    pub(crate) fn up(&mut self, asp: AssociationNumber) {
        self.send_asp(asp, asp_up(Some(asp.0)));
        assert!(matches!(self.next_asp(asp), Asp::AspUpAck { .. }));
    }

    /// ASP Up as far as inactive, with a notification of each application server that there is.
    pub(crate) fn inactive(&mut self, asp: AssociationNumber) {
        self.up(asp);
        for _ in 0..self.links.len() {
            self.expect_notify(asp, Status::AS_INACTIVE);
        }
    }

    /// Variant of `inactive` that goes on as far as active for that interface.
    pub(crate) fn active(&mut self, asp: AssociationNumber, interface: u32) {
        self.inactive(asp);
        self.activate(asp, interface);
        self.expect_notify(asp, Status::AS_ACTIVE);
    }

    /// ASP Active for one interface, acknowledged.
    pub(crate) fn activate(&mut self, asp: AssociationNumber, interface: u32) {
        self.send_asp(asp, asp_active(None, interfaces(&[interface])));
        match self.next_asp(asp) {
            Asp::AspActiveAck { scope, .. } => assert_eq!(scope, interfaces(&[interface])),
            other => panic!("no ASP Active Ack: {other:?}"),
        }
    }

    /// Notifications of the same status of two application servers.
    pub(crate) fn expect_both_notified(&mut self, at: AssociationNumber, expected: Status) {
        self.expect_notify(at, expected);
        self.expect_notify(at, expected);
    }

    /// An active ASP whose link 1 is in service.
    pub(crate) fn in_service() -> Self {
        let mut bench = Self::new(&Plan::default());
        bench.active(FIRST, 1);
        bench.send(FIRST, 1, about(1, slantpath_sigtran_adaptations::m2ua::kind::ESTABLISH_REQUEST));
        bench.expect(FIRST, slantpath_sigtran_adaptations::m2ua::kind::ESTABLISH_CONFIRM);
        bench
    }
}

pub(crate) fn interfaces(numbers: &[u32]) -> Interfaces {
    let keys: Vec<InterfaceIdentifier> = numbers.iter().copied().map(Into::into).collect();
    Interfaces::of(&keys)
}

pub(crate) fn text(name: &'static str) -> Interfaces {
    Interfaces(vec![Interface::Text(Bytes::from_static(name.as_bytes()))])
}

pub(crate) fn asp_up(asp_identifier: Option<u32>) -> Asp {
    Asp::AspUp { asp_identifier, info: None }
}

pub(crate) fn asp_active(traffic_mode: Option<TrafficMode>, scope: Interfaces) -> Asp {
    Asp::AspActive { traffic_mode, scope, labels: (), info: None }
}

pub(crate) fn asp_inactive(scope: Interfaces) -> Asp {
    Asp::AspInactive { scope, info: None }
}

pub(crate) fn about(interface: u32, kind: MessageKind) -> Own {
    OwnMessage::empty(kind).with_common(CommonParameter::InterfaceIntegers(vec![interface]))
}

pub(crate) fn data(interface: u32) -> Own {
    about(interface, slantpath_sigtran_adaptations::m2ua::kind::DATA)
        .with(M2uaParameter::ProtocolData(Bytes::from_static(UNIT)))
}
