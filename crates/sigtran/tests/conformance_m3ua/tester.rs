//! The tester: the peer of an ASP or of an SGP, in octets.

use std::collections::VecDeque;

use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::{
    AspMessage, ErrorCode, Members, RoutingContexts, ServerConfig, ServerName, Status, TrafficMode,
};
use slantpath_sigtran::common::{self, MessageKind};
use slantpath_sigtran::m3ua::{
    AffectedDestinations, ApplicationServer, Asp, AspConfig, AspOutput, Data, Destination, M3ua, Message,
    ProtocolData, ServedServer, Sgp, SgpConfig, SgpOutput, TrafficKey,
};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::Sls;
use slantpath_ss7::transfer::TransferIndication;

/// The routing contexts of the configuration; 3 is not configured.
pub(crate) const CONTEXT: u32 = 1;
pub(crate) const OTHER_CONTEXT: u32 = 2;
pub(crate) const INVALID_CONTEXT: u32 = 3;

/// The point codes of the two ASPs.
pub(crate) const POINT: PointCode = PointCode(100);
pub(crate) const OTHER_POINT: PointCode = PointCode(101);

/// Destinations in the SS7 network.
pub(crate) const UNAVAILABLE: PointCode = PointCode(1234);
pub(crate) const AVAILABLE: PointCode = PointCode(1235);
pub(crate) const CONGESTED: PointCode = PointCode(1236);
pub(crate) const RESTRICTED: PointCode = PointCode(1237);

/// ISUP.
pub(crate) const SERVICE: u8 = 5;

/// Time that the tester waits for a message: longer than any timer that is to send one.
const PATIENCE: Duration = Duration::from_secs(40);

const STREAMS: u16 = 17;

/// A message of a version, class and type, with parameters that are octets already.
pub(crate) fn raw(version: u8, class: u8, kind: u8, parameters: &[u8]) -> Bytes {
    let mut octets = Vec::new();
    common::emit(MessageKind { class, kind }, &mut octets, |out| out.extend_from_slice(parameters));
    octets[0] = version;
    octets.into()
}

pub(crate) fn octets_of(message: &Message) -> Bytes {
    let mut octets = Vec::new();
    message.emit(&mut octets);
    octets.into()
}

pub(crate) fn data(opc: PointCode, dpc: PointCode, sls: u8) -> Data {
    let user_data = Bytes::from_static(&[11, 34, 45, 67, 67, 89]);
    let protocol_data = ProtocolData {
        opc,
        dpc,
        service_indicator: SERVICE,
        network_indicator: 1,
        priority: 0,
        sls: Sls(sls),
        user_data,
    };
    Data { network_appearance: None, routing_context: Some(CONTEXT), protocol_data, correlation_id: None }
}

pub(crate) fn affected(mask: u8, code: PointCode) -> AffectedDestinations {
    AffectedDestinations { point_codes: vec![(mask, code)], ..AffectedDestinations::default() }
}

pub(crate) fn asp_up(asp_identifier: Option<u32>) -> Message {
    Message::Asp(AspMessage::AspUp { asp_identifier, info: None })
}

pub(crate) fn asp_up_ack() -> Message {
    Message::Asp(AspMessage::AspUpAck { asp_identifier: None, info: None })
}

pub(crate) fn asp_down() -> Message {
    Message::Asp(AspMessage::AspDown { info: None })
}

pub(crate) fn asp_down_ack() -> Message {
    Message::Asp(AspMessage::AspDownAck { info: None })
}

pub(crate) fn asp_active(traffic_mode: Option<TrafficMode>, contexts: &[u32]) -> Message {
    let scope = RoutingContexts(contexts.to_vec());
    Message::Asp(AspMessage::AspActive { traffic_mode, scope, labels: (), info: None })
}

pub(crate) fn asp_active_ack(contexts: &[u32]) -> Message {
    let scope = RoutingContexts(contexts.to_vec());
    Message::Asp(AspMessage::AspActiveAck { traffic_mode: None, scope, info: None })
}

pub(crate) fn asp_inactive() -> Message {
    Message::Asp(AspMessage::AspInactive { scope: RoutingContexts::default(), info: None })
}

pub(crate) fn asp_inactive_ack() -> Message {
    Message::Asp(AspMessage::AspInactiveAck { scope: RoutingContexts::default(), info: None })
}

pub(crate) fn beat(data: &[u8]) -> Message {
    Message::Asp(AspMessage::Beat { data: Some(data.to_vec()) })
}

/// Tells whether a message is an ERR with that code.
pub(crate) fn is_error(code: ErrorCode) -> impl Fn(&Message) -> bool {
    move |message| matches!(message, Message::Asp(AspMessage::Err { code: found, .. }) if *found == code)
}

/// Tells whether a message is a NTFY with that status.
pub(crate) fn is_notify(status: Status) -> impl Fn(&Message) -> bool {
    move |message| matches!(message, Message::Asp(AspMessage::Ntfy { status: found, .. }) if *found == status)
}

/// Pattern for a message of classes 0, 3 or 4: gives a function that tells whether a message matches it.
macro_rules! asp_message {
    ($pattern:pat) => {
        |message: &slantpath_sigtran::m3ua::Message| {
            matches!(message, slantpath_sigtran::m3ua::Message::Asp($pattern))
        }
    };
}
pub(crate) use asp_message;

/// A message that the tester received.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) stream: StreamNumber,
    pub(crate) octets: Bytes,
    pub(crate) message: Message,
}

impl Received {
    fn of(transmit: slantpath_sigtran::transport::Transmit) -> Self {
        let message = Message::parse(&transmit.octets).unwrap();
        Self { stream: transmit.stream, octets: transmit.octets, message }
    }

    /// The routing contexts of an Ack, NTFY or ERR.
    pub(crate) fn contexts(&self) -> Vec<u32> {
        let Message::Asp(
            AspMessage::<M3ua>::AspActiveAck { scope, .. }
            | AspMessage::AspInactiveAck { scope, .. }
            | AspMessage::Ntfy { scope, .. }
            | AspMessage::Err { scope, .. },
        ) = &self.message
        else {
            panic!("{self:?} has no routing contexts");
        };
        scope.0.clone()
    }
}

/// Takes messages off a queue until one is as it should be; those before it are passed over, as a tester does that
/// waits for one message.
fn take(queue: &mut VecDeque<Received>, wanted: &dyn Fn(&Message) -> bool) -> Option<Received> {
    while let Some(received) = queue.pop_front() {
        if wanted(&received.message) {
            return Some(received);
        }
    }
    None
}

/// An ASP under test; the tester is its SGP.
pub(crate) struct AspUnderTest {
    pub(crate) asp: Asp,
    pub(crate) now: Instant,
    queue: VecDeque<Received>,
    pub(crate) indications: Vec<TransferIndication>,
    pub(crate) others: Vec<AspOutput>,
}

pub(crate) const GATEWAY: AssociationNumber = AssociationNumber(0);

impl AspUnderTest {
    /// An ASP for routing context 1, whose association has come up.
    pub(crate) fn connected() -> Self {
        let destination =
            |point_code| Destination { network_appearance: None, point_code, gateways: vec![(GATEWAY, 0)] };
        let server = ServedServer {
            name: ServerName::Named(CONTEXT),
            network_appearance: None,
            point_codes: vec![POINT],
            traffic_mode: None,
        };
        let config = AspConfig {
            gateways: vec![GATEWAY],
            servers: vec![server],
            destinations: [UNAVAILABLE, AVAILABLE, CONGESTED, RESTRICTED].map(destination).to_vec(),
            ..AspConfig::default()
        };
        let mut test = Self {
            asp: Asp::new(config).unwrap(),
            now: Instant::START,
            queue: VecDeque::new(),
            indications: Vec::new(),
            others: Vec::new(),
        };
        let up = TransportInput::Up { outbound_streams: STREAMS };
        test.asp.handle_input(test.now, GATEWAY, up);
        test.collect();
        test
    }

    /// An ASP that the tester has let up.
    pub(crate) fn up() -> Self {
        let mut test = Self::connected();
        test.command(Asp::up);
        test.wait_for(asp_message!(AspMessage::AspUp { .. }));
        test.send(&asp_up_ack());
        test
    }

    /// An ASP that the tester has let become active.
    pub(crate) fn active() -> Self {
        let mut test = Self::up();
        test.activate();
        test.wait_for(asp_message!(AspMessage::AspActive { .. }));
        test.send(&asp_active_ack(&[CONTEXT]));
        test
    }

    pub(crate) fn command(&mut self, ask: impl FnOnce(&mut Asp, Instant, AssociationNumber)) {
        ask(&mut self.asp, self.now, GATEWAY);
        self.collect();
    }

    pub(crate) fn activate(&mut self) {
        self.command(|asp, now, gateway| asp.activate(now, gateway, &[]));
    }

    pub(crate) fn deactivate(&mut self) {
        self.command(|asp, now, gateway| asp.deactivate(now, gateway, &[]));
    }

    pub(crate) fn send(&mut self, message: &Message) {
        self.send_octets(u16::from(matches!(message, Message::Data(_))), octets_of(message));
    }

    pub(crate) fn send_octets(&mut self, stream: u16, octets: Bytes) {
        let stream = StreamNumber(stream);
        let input = TransportInput::Message { stream, payload_protocol: 3, octets };
        self.asp.handle_input(self.now, GATEWAY, input);
        self.collect();
    }

    pub(crate) fn collect(&mut self) -> Option<Instant> {
        loop {
            match self.asp.poll_output(self.now) {
                AspOutput::Transmit(transmit) => self.queue.push_back(Received::of(transmit)),
                AspOutput::Indication(_, indication) => self.indications.push(indication),
                AspOutput::Wait(deadline) => return deadline,
                other => self.others.push(other),
            }
        }
    }

    /// Lets time pass up to an instant, or the next timer before it. False if that instant is reached.
    fn pass(&mut self, end: Instant) -> bool {
        let deadline = self.collect().filter(|deadline| *deadline <= end);
        self.now = deadline.unwrap_or(end);
        self.asp.handle_deadline(self.now);
        self.collect();
        deadline.is_some()
    }

    /// The next message that is as it should be.
    pub(crate) fn wait_for(&mut self, wanted: impl Fn(&Message) -> bool) -> Received {
        let end = self.now + PATIENCE;
        loop {
            if let Some(received) = take(&mut self.queue, &wanted) {
                return received;
            }
            assert!(self.pass(end), "the message does not come");
        }
    }

    /// Checks that no such message comes.
    pub(crate) fn expect_none(&mut self, unwanted: impl Fn(&Message) -> bool) {
        let end = self.now + PATIENCE;
        while self.pass(end) {}
        let found = take(&mut self.queue, &unwanted);
        assert!(found.is_none(), "{found:?} came");
    }
}

/// An SGP under test; the tester is its ASPs.
pub(crate) struct SgpUnderTest {
    pub(crate) sgp: Sgp,
    now: Instant,
    queues: Vec<VecDeque<Received>>,
    pub(crate) indications: Vec<TransferIndication>,
}

/// The application server of a routing context, for all traffic to a point code, served by one association or any.
pub(crate) fn server(
    routing_context: u32,
    code: PointCode,
    traffic_mode: Option<TrafficMode>,
    needed_active: usize,
) -> ApplicationServer {
    let members = Members::Any;
    let server = ServerConfig { traffic_mode, needed_active, members };
    ApplicationServer { routing_context, key: TrafficKey::to_point_code(code), server }
}

impl SgpUnderTest {
    /// An SGP with one application server, and as many associations.
    pub(crate) fn connected(associations: u32) -> Self {
        let servers = vec![server(CONTEXT, POINT, None, 1)];
        Self::with(SgpConfig { servers, ..SgpConfig::default() }, associations)
    }

    pub(crate) fn with(config: SgpConfig, associations: u32) -> Self {
        let mut sgp = Sgp::new(config).unwrap();
        for association in 0..associations {
            let up = TransportInput::Up { outbound_streams: STREAMS };
            sgp.handle_input(Instant::START, AssociationNumber(association), up);
        }
        let queues = (0..associations).map(|_| VecDeque::new()).collect();
        let mut test = Self { sgp, now: Instant::START, queues, indications: Vec::new() };
        test.collect();
        test
    }

    /// An SGP at which one ASP is up.
    pub(crate) fn up() -> Self {
        let mut test = Self::connected(1);
        test.come_up(0);
        test
    }

    /// An SGP at which one ASP is active.
    pub(crate) fn active() -> Self {
        let mut test = Self::up();
        test.become_active(0, None, &[]);
        test
    }

    pub(crate) fn come_up(&mut self, association: u32) {
        self.send(association, &asp_up(Some(association + 1)));
        self.wait_for(association, asp_message!(AspMessage::AspUpAck { .. }));
    }

    pub(crate) fn become_active(&mut self, association: u32, mode: Option<TrafficMode>, contexts: &[u32]) {
        self.send(association, &asp_active(mode, contexts));
        self.wait_for(association, asp_message!(AspMessage::AspActiveAck { .. }));
    }

    pub(crate) fn send(&mut self, association: u32, message: &Message) {
        let stream = u16::from(matches!(message, Message::Data(_)));
        self.send_octets(association, stream, octets_of(message));
    }

    pub(crate) fn send_octets(&mut self, association: u32, stream: u16, octets: Bytes) {
        let stream = StreamNumber(stream);
        let input = TransportInput::Message { stream, payload_protocol: 3, octets };
        self.sgp.handle_input(self.now, AssociationNumber(association), input);
        self.collect();
    }

    pub(crate) fn close(&mut self, association: u32) {
        self.sgp.handle_input(self.now, AssociationNumber(association), TransportInput::Down);
        self.collect();
    }

    pub(crate) fn collect(&mut self) -> Option<Instant> {
        loop {
            match self.sgp.poll_output(self.now) {
                SgpOutput::Transmit(transmit) => {
                    let queue = &mut self.queues[transmit.association.0 as usize];
                    queue.push_back(Received::of(transmit));
                }
                SgpOutput::Indication(_, indication) => self.indications.push(indication),
                SgpOutput::Diverted { .. }
                | SgpOutput::Event(_)
                | SgpOutput::Examine { .. }
                | SgpOutput::Registration { .. } => {}
                SgpOutput::Wait(deadline) => return deadline,
            }
        }
    }

    /// The next message to an ASP that is as it should be.
    pub(crate) fn wait_for(&mut self, association: u32, wanted: impl Fn(&Message) -> bool) -> Received {
        let end = self.now + PATIENCE;
        loop {
            if let Some(received) = take(&mut self.queues[association as usize], &wanted) {
                return received;
            }
            let deadline = self.collect().filter(|deadline| *deadline <= end);
            self.now = deadline.expect("the message does not come");
            self.sgp.handle_deadline(self.now);
            self.collect();
        }
    }

    /// Checks that no such message has come by now.
    pub(crate) fn expect_none(&mut self, association: u32, unwanted: impl Fn(&Message) -> bool) {
        let found = take(&mut self.queues[association as usize], &unwanted);
        assert!(found.is_none(), "{found:?} came");
    }
}
