//! The testers: ASPs that speak octets to a gateway under test, and a gateway that speaks octets to an ASP under test.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::{self, AspMessage, ErrorCode, RoutingContexts, Status, TrafficMode};
use slantpath_sigtran::common::MessageKind;
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, TransportInput};
use slantpath_sigtran_adaptations::message::OwnMessage;
use slantpath_sigtran_adaptations::sua::{
    Address, Labels, Message, RoutingKey, SignallingGateway, SignallingGatewayConfig,
    SignallingGatewayOutput, Sua, SuaParameter, Unitdata, UserProcess, UserProcessConfig, UserProcessOutput,
};
use slantpath_ss7::PointCode;

pub(crate) type Asp = AspMessage<Sua>;
pub(crate) type Own = OwnMessage<SuaParameter>;

pub(crate) const FIRST: AssociationNumber = AssociationNumber(1);
pub(crate) const SECOND: AssociationNumber = AssociationNumber(2);
/// The least time: so long before a timer expires, it has not expired.
pub(crate) const MOMENT: Duration = Duration::from_nanos(1);
/// A routing context that nobody has.
pub(crate) const NOWHERE: u32 = 99;

/// A message that a SCCP user might send: TCAP begin.
pub(crate) const USER_DATA: &[u8] = &[0x62, 0x06, 0x48, 0x04, 0, 0, 0, 1];

/// The subsystem behind a routing context: the point code is its number.
pub(crate) fn subsystem(routing_context: u32) -> Address {
    Address::of_subsystem(PointCode(routing_context), 8)
}

pub(crate) fn unitdata(from: u32, to: u32) -> Unitdata {
    Unitdata::new(subsystem(from), subsystem(to), Bytes::from_static(USER_DATA))
}

pub(crate) fn contexts(contexts: &[u32]) -> RoutingContexts {
    RoutingContexts(contexts.to_vec())
}

pub(crate) fn asp_up(asp_identifier: Option<u32>) -> Asp {
    Asp::AspUp { asp_identifier, info: None }
}

pub(crate) fn asp_active(traffic_mode: Option<TrafficMode>, scope: &[u32]) -> Asp {
    Asp::AspActive { traffic_mode, scope: contexts(scope), labels: Labels::default(), info: None }
}

pub(crate) fn asp_inactive(scope: &[u32]) -> Asp {
    Asp::AspInactive { scope: contexts(scope), info: None }
}

/// A message without parameters.
pub(crate) fn bare(version: u8, kind: MessageKind) -> Vec<u8> {
    vec![version, 0, kind.class, kind.kind, 0, 0, 0, 8]
}

/// Gives the octets of the message with the next version.
pub(crate) fn next_version(message: &Message) -> Vec<u8> {
    let mut octets = message.to_bytes().to_vec();
    octets[0] += 1;
    octets
}

fn delivered(stream: u16, octets: Vec<u8>) -> TransportInput {
    TransportInput::Message { stream: StreamNumber(stream), payload_protocol: 4, octets: octets.into() }
}

/// A gateway under test with application servers 1 and 2.
pub(crate) struct Gateway {
    sgp: SignallingGateway,
    now: Instant,
    inboxes: BTreeMap<AssociationNumber, VecDeque<(StreamNumber, Message)>>,
}

impl Gateway {
    /// Servers that configuration gives no mode, and which one ASP suffices for.
    pub(crate) fn plain() -> Self {
        Self::new(&asp::ServerConfig::default(), &[1])
    }

    pub(crate) fn new(server: &asp::ServerConfig, servers: &[u32]) -> Self {
        let mut sgp = SignallingGateway::new(SignallingGatewayConfig::default()).unwrap();
        for context in servers {
            let key = RoutingKey { destinations: vec![subsystem(*context)], ..RoutingKey::default() };
            sgp.add_server(*context, key, server.clone());
        }
        let mut bench = Self { sgp, now: Instant::START, inboxes: BTreeMap::new() };
        for association in [FIRST, SECOND] {
            let up = TransportInput::Up { outbound_streams: 8 };
            bench.sgp.handle_transport(bench.now, association, up);
        }
        bench.run();
        bench
    }

    fn run(&mut self) {
        loop {
            match self.sgp.poll_output(self.now) {
                SignallingGatewayOutput::Wait(_) => return,
                SignallingGatewayOutput::Event(_)
                | SignallingGatewayOutput::Network(_)
                | SignallingGatewayOutput::Status(..) => {}
                SignallingGatewayOutput::Transmit(transmit) => {
                    assert_eq!(transmit.payload_protocol, 4);
                    let message = Message::receive(&transmit.octets).unwrap();
                    self.inboxes
                        .entry(transmit.association)
                        .or_default()
                        .push_back((transmit.stream, message));
                }
            }
        }
    }

    pub(crate) fn send_octets(&mut self, from: AssociationNumber, stream: u16, octets: Vec<u8>) {
        self.sgp.handle_transport(self.now, from, delivered(stream, octets));
        self.run();
    }

    pub(crate) fn send(&mut self, from: AssociationNumber, message: Asp) {
        self.send_octets(from, 0, Message::Asp(message).to_bytes().to_vec());
    }

    pub(crate) fn send_own(&mut self, from: AssociationNumber, stream: u16, message: Own) {
        self.send_octets(from, stream, Message::Own(message).to_bytes().to_vec());
    }

    /// Management takes an ASP out of service.
    pub(crate) fn lock_out(&mut self, association: AssociationNumber) {
        self.sgp.lock_out(self.now, association);
        self.run();
        self.inboxes.clear();
    }

    /// Management lets it come up again.
    pub(crate) fn unlock(&mut self, association: AssociationNumber) {
        self.sgp.unlock(association);
    }

    /// T(r) expires. Nothing is sent until the moment when it does.
    pub(crate) fn wait_for_recovery(&mut self) {
        let waiting = |bench: &Self| bench.inboxes.values().map(VecDeque::len).sum::<usize>();
        let before = waiting(self);
        for time in [Duration::from_secs(2) - MOMENT, MOMENT] {
            assert_eq!(waiting(self), before, "something came before T(r) expired");
            self.now += time;
            self.sgp.handle_deadline(self.now);
            self.run();
        }
    }

    /// The association is lost.
    pub(crate) fn close(&mut self, association: AssociationNumber) {
        self.sgp.handle_transport(self.now, association, TransportInput::Down);
        self.run();
    }

    pub(crate) fn next_on_stream(&mut self, at: AssociationNumber) -> (StreamNumber, Message) {
        let inbox = self.inboxes.entry(at).or_default();
        inbox.pop_front().unwrap_or_else(|| panic!("the gateway sent nothing more to {at:?}"))
    }

    pub(crate) fn next(&mut self, at: AssociationNumber) -> Asp {
        match self.next_on_stream(at).1 {
            Message::Asp(message) => message,
            Message::Own(other) => panic!("no message about ASPs: {other:?}"),
        }
    }

    /// The next message that is no notification.
    pub(crate) fn next_answer(&mut self, at: AssociationNumber) -> Asp {
        loop {
            match self.next(at) {
                Asp::Ntfy { .. } => {}
                other => return other,
            }
        }
    }

    /// A notification among those that have come; others before it are passed over.
    pub(crate) fn expect_notify(&mut self, at: AssociationNumber, expected: Status) -> Option<u32> {
        loop {
            match self.next(at) {
                Asp::Ntfy { status, asp_identifier, .. } if status == expected => return asp_identifier,
                Asp::Ntfy { .. } => {}
                other => panic!("no NTFY {expected:?}: {other:?}"),
            }
        }
    }

    pub(crate) fn expect_error(&mut self, at: AssociationNumber, expected: ErrorCode) -> Asp {
        match self.next_answer(at) {
            Asp::Err { code, scope, evidence, diagnostic } => {
                assert_eq!(code, expected);
                Asp::Err { code, scope, evidence, diagnostic }
            }
            other => panic!("no ERR {expected:?}: {other:?}"),
        }
    }

    pub(crate) fn up(&mut self, asp: AssociationNumber) {
        self.send(asp, asp_up(Some(asp.0)));
        assert!(matches!(self.next_answer(asp), Asp::AspUpAck { .. }));
    }

    pub(crate) fn active(&mut self, asp: AssociationNumber, mode: Option<TrafficMode>, scope: &[u32]) {
        self.up(asp);
        self.send(asp, asp_active(mode, scope));
        match self.next_answer(asp) {
            Asp::AspActiveAck { traffic_mode, scope: granted, .. } => {
                assert_eq!((traffic_mode, granted), (mode, contexts(scope)));
            }
            other => panic!("no ASP Active Ack: {other:?}"),
        }
    }
}

/// An ASP under test, which serves routing context 1.
pub(crate) struct Process {
    pub(crate) asp: UserProcess,
    pub(crate) now: Instant,
    outbox: VecDeque<(StreamNumber, Message)>,
    pub(crate) indicated: Vec<Unitdata>,
}

impl Process {
    pub(crate) fn new() -> Self {
        let mut asp = UserProcess::new(FIRST, UserProcessConfig::default()).unwrap();
        asp.add_server(1, None);
        asp.handle_transport(Instant::START, TransportInput::Up { outbound_streams: 8 });
        Self { asp, now: Instant::START, outbox: VecDeque::new(), indicated: Vec::new() }
    }

    pub(crate) fn run(&mut self) {
        loop {
            match self.asp.poll_output(self.now) {
                UserProcessOutput::Wait(_) => return,
                UserProcessOutput::Transmit(transmit) => {
                    assert_eq!((transmit.payload_protocol, transmit.octets[0]), (4, 1));
                    let message = Message::receive(&transmit.octets).unwrap();
                    self.outbox.push_back((transmit.stream, message));
                }
                UserProcessOutput::Unitdata(context, unitdata) => {
                    assert_eq!(context, 1);
                    self.indicated.push(unitdata);
                }
                _ => {}
            }
        }
    }

    pub(crate) fn send_octets(&mut self, stream: u16, octets: Vec<u8>) {
        self.asp.handle_transport(self.now, delivered(stream, octets));
        self.run();
    }

    pub(crate) fn send(&mut self, message: Asp) {
        self.send_octets(0, Message::Asp(message).to_bytes().to_vec());
    }

    pub(crate) fn next_on_stream(&mut self) -> (StreamNumber, Message) {
        self.run();
        self.outbox.pop_front().unwrap_or_else(|| panic!("the ASP sent nothing more"))
    }

    pub(crate) fn next(&mut self) -> Asp {
        match self.next_on_stream().1 {
            Message::Asp(message) => message,
            Message::Own(other) => panic!("no message about ASPs: {other:?}"),
        }
    }

    pub(crate) fn wait(&mut self, time: Duration) {
        self.now += time;
        self.asp.handle_deadline(self.now);
        self.run();
    }

    pub(crate) fn assert_quiet(&mut self) {
        self.run();
        assert!(self.outbox.is_empty(), "{:?}", self.outbox);
    }

    pub(crate) fn expect_error(&mut self, expected: ErrorCode) {
        match self.next() {
            Asp::Err { code, .. } => assert_eq!(code, expected),
            other => panic!("no ERR {expected:?}: {other:?}"),
        }
    }

    /// ASP Up, sent and acknowledged.
    pub(crate) fn inactive() -> Self {
        let mut process = Self::new();
        process.asp.up(process.now);
        assert_eq!(process.next(), asp_up(None));
        process.send(Asp::AspUpAck { asp_identifier: None, info: None });
        process
    }

    /// ASP Up, sent and acknowledged, and ASP Active, not acknowledged.
    pub(crate) fn activating() -> Self {
        let mut process = Self::inactive();
        process.asp.activate(process.now, &[]);
        assert_eq!(process.next(), asp_active(None, &[1]));
        process
    }

    pub(crate) fn active() -> Self {
        let mut process = Self::activating();
        process.send(Asp::AspActiveAck { traffic_mode: None, scope: contexts(&[1]), info: None });
        process.assert_quiet();
        process
    }

    /// Active, and wanting to be inactive.
    pub(crate) fn withdrawing() -> Self {
        let mut process = Self::active();
        process.asp.deactivate(process.now, &[]);
        assert_eq!(process.next(), asp_inactive(&[1]));
        process
    }
}
