//! Reports of a gateway and of a process about a peer that does not answer, or that answers with an ERR.

use slantpath_base::{Duration, Instant};
use slantpath_signalling::{
    GatewayConfig, M3uaEvent, M3uaEventKind as Kind, PointInput, PointOutput, Role, ServerProcess,
    ServerProcessConfig, ServerProcessInput, ServerProcessOutput, SignallingPoint,
};
use slantpath_sigtran::asp::{self, AspMessage, ErrorCode, ProcessConfig, RoutingContexts};
use slantpath_sigtran::m3ua::{self, SgpConfig};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, TransportInput};

use crate::world::{By, point};

const ASSOCIATION: AssociationNumber = AssociationNumber(9);
const BEAT: Duration = Duration::from_secs(30);

/// An entity with one association, which is up, and whatever it tells of it.
enum Entity {
    Gateway(Box<SignallingPoint>),
    Process(Box<ServerProcess>),
}

/// Something that is told of the association.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Abort,
    Event(Kind),
}

impl Entity {
    fn gateway(heartbeat: Option<Duration>) -> Self {
        let mut config = point(1, 2, &[By::Line]);
        let gateway = asp::GatewayConfig { heartbeat, ..asp::GatewayConfig::default() };
        let sgp = SgpConfig { gateway, ..SgpConfig::default() };
        config.gateway = Some(GatewayConfig { sgp, network: None, associations: vec![ASSOCIATION] });
        Self::Gateway(Box::new(SignallingPoint::new(Instant::START, config).unwrap())).up()
    }

    fn process(process: ProcessConfig) -> Self {
        let asp = m3ua::AspConfig { process, gateways: vec![ASSOCIATION], ..m3ua::AspConfig::default() };
        let roles = vec![Role { routing_context: 7, place: 0 }];
        let config = ServerProcessConfig { asp, roles, registered: Vec::new() };
        Self::Process(Box::new(ServerProcess::new(config).unwrap())).up()
    }

    fn up(mut self) -> Self {
        self.give(Instant::START, TransportInput::Up { outbound_streams: 17 });
        assert_eq!(self.told(Instant::START).0, [Told::Event(Kind::AssociationUp)]);
        self
    }

    fn give(&mut self, now: Instant, input: TransportInput) {
        match self {
            Self::Gateway(point) => point.handle_input(now, PointInput::Association(ASSOCIATION, input)),
            Self::Process(process) => {
                process.handle_input(now, ServerProcessInput::Association(ASSOCIATION, input));
            }
        }
    }

    fn hear(&mut self, now: Instant, message: &m3ua::Message) {
        let mut octets = Vec::new();
        message.emit(&mut octets);
        let octets = octets.into();
        self.give(now, TransportInput::Message { stream: StreamNumber(0), payload_protocol: 3, octets });
    }

    /// Takes what is told by then, and the instant until which there is nothing more.
    fn told(&mut self, now: Instant) -> (Vec<Told>, Option<Instant>) {
        let mut told = Vec::new();
        let event = |M3uaEvent { association, routing_context, kind }| {
            assert_eq!((association, routing_context), (Some(ASSOCIATION), None), "{kind:?}");
            Told::Event(kind)
        };
        let abort = |association| {
            assert_eq!(association, ASSOCIATION);
            Told::Abort
        };
        loop {
            match self {
                Self::Gateway(point) => match point.poll_output(now) {
                    PointOutput::Abort(association) => told.push(abort(association)),
                    PointOutput::M3uaEvent(news) => told.push(event(news)),
                    PointOutput::Wait(deadline) => return (told, deadline),
                    _ => {}
                },
                Self::Process(process) => match process.poll_output(now) {
                    ServerProcessOutput::Abort(association) => told.push(abort(association)),
                    ServerProcessOutput::Event(news) => told.push(event(news)),
                    ServerProcessOutput::Wait(deadline) => return (told, deadline),
                    _ => {}
                },
            }
        }
    }

    /// Takes what is told in the first ten minutes, from one deadline to the next.
    fn told_in_the_end(mut self) -> Vec<(Instant, Told)> {
        let (mut all, mut now) = (Vec::new(), Instant::START);
        loop {
            let (told, deadline) = self.told(now);
            all.extend(told.into_iter().map(|news| (now, news)));
            match deadline {
                Some(deadline) if deadline <= Instant::from_secs(600) => now = deadline,
                _ => return all,
            }
        }
    }
}

#[test]
fn a_request_that_nobody_answers_is_told_of_after_as_many_tries_as_there_may_be() {
    let limited = ProcessConfig { tries_max: Some(3), ..ProcessConfig::default() };
    let given_up =
        (Instant::START + limited.acknowledgement * 3, Told::Event(Kind::NotAcknowledged(asp::Request::Up)));
    assert_eq!(Entity::process(limited).told_in_the_end(), [given_up]);
    let unlimited = ProcessConfig { tries_max: None, ..limited };
    assert_eq!(Entity::process(unlimited).told_in_the_end(), []);
}

#[test]
fn the_association_of_a_silent_peer_is_aborted_and_told_of_after_two_heartbeats_if_there_are_any() {
    let process = |heartbeat| Entity::process(ProcessConfig { heartbeat, ..ProcessConfig::default() });
    let silent = Instant::START + BEAT * 2;
    let expected = [Told::Abort, Told::Event(Kind::PeerUnavailable)].map(|told| (silent, told));
    for entity in [process as fn(_) -> _, Entity::gateway] {
        assert_eq!(entity(Some(BEAT)).told_in_the_end(), expected);
        assert_eq!(entity(None).told_in_the_end(), []);
    }
}

#[test]
fn an_err_of_the_peer_is_told_of_with_its_code() {
    let code = ErrorCode::REFUSED_MANAGEMENT_BLOCKING;
    let error = m3ua::Message::Asp(AspMessage::error(code, RoutingContexts::default(), &[]));
    for mut entity in [Entity::gateway(None), Entity::process(ProcessConfig::default())] {
        entity.hear(Instant::START, &error);
        assert_eq!(entity.told(Instant::START).0, [Told::Event(Kind::Error(code))]);
    }
}
