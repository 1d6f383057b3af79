//! Both ends of IUA together, over associations that come and go.

mod management;

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;
use proptest::prelude::*;
use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::{self, AsState, AspMessage, ErrorCode, ProcessEvent, TrafficMode};
use slantpath_sigtran::queue::QueueLimits;
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};

use crate::drops::DropReason;
use crate::interface::InterfaceIdentifier;
use crate::iua::{
    DataLinkIndication, DataLinkProcess, DataLinkProcessConfig, DataLinkProcessEvent, DataLinkProcessOutput,
    DataLinkRequest, DataLinkState, Dlci, Message, ReleaseReason, SignallingGateway, SignallingGatewayConfig,
    SignallingGatewayOutput, TeiStatus, content,
};

const ASSOCIATION: AssociationNumber = AssociationNumber(4);
/// Call control of the endpoint that is assigned.
const LINK: Dlci = Dlci::call_control(0);

/// A gateway and an ASP with one association, and a Q.921 that does as it is asked.
struct Pair {
    now: Instant,
    gateway: SignallingGateway,
    asp: DataLinkProcess,
    is_connected: bool,
    to_q921: Vec<DataLinkRequest>,
    /// Busy indications to Q.921, in order: true is busy, false is no more.
    busy: Vec<bool>,
    to_q931: Vec<DataLinkIndication>,
    endpoints: Vec<(u8, TeiStatus)>,
    errors: Vec<ErrorCode>,
    wire: VecDeque<(bool, Transmit)>,
    /// Messages of IUA's own that were delivered: whether to the ASP, of which class, and about what on which stream.
    taken: BTreeSet<(bool, u8, InterfaceIdentifier, StreamNumber)>,
}

fn interface() -> InterfaceIdentifier {
    1.into()
}

fn setup() -> Bytes {
    Bytes::from_static(&[8, 1, 1, 5])
}

impl Pair {
    fn new(queue_max: usize) -> Self {
        let config = SignallingGatewayConfig {
            queue: QueueLimits::of(queue_max),
            ..SignallingGatewayConfig::default()
        };
        let mut gateway = SignallingGateway::new(config).unwrap();
        gateway.add_interface(interface(), &[0], asp::ServerConfig::default());
        let mut asp = DataLinkProcess::new(ASSOCIATION, DataLinkProcessConfig::default()).unwrap();
        asp.add_interface(interface(), TrafficMode::Override);
        asp.start(Instant::START);
        Self {
            now: Instant::START,
            gateway,
            asp,
            is_connected: false,
            to_q921: Vec::new(),
            busy: Vec::new(),
            to_q931: Vec::new(),
            endpoints: Vec::new(),
            errors: Vec::new(),
            wire: VecDeque::new(),
            taken: BTreeSet::new(),
        }
    }

    fn connect(&mut self) {
        self.connect_over(4);
    }

    fn connect_over(&mut self, outbound_streams: u16) {
        if !self.is_connected {
            self.is_connected = true;
            let up = || TransportInput::Up { outbound_streams };
            self.gateway.handle_transport(self.now, ASSOCIATION, up());
            self.asp.handle_transport(self.now, up());
            self.run();
        }
    }

    fn disconnect(&mut self) {
        if self.is_connected {
            self.is_connected = false;
            self.wire.clear();
            self.gateway.handle_transport(self.now, ASSOCIATION, TransportInput::Down);
            self.asp.handle_transport(self.now, TransportInput::Down);
            self.run();
        }
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        self.gateway.handle_deadline(self.now);
        self.asp.handle_deadline(self.now);
        self.run();
    }

    fn request(&mut self, dlci: Dlci, request: DataLinkRequest) {
        self.asp.handle_request(self.now, &interface(), dlci, request);
        self.run();
    }

    fn indicate(&mut self, indication: DataLinkIndication) {
        self.gateway.handle_data_link(&interface(), LINK, indication);
        self.run();
    }

    fn deliver(&mut self, to_asp: bool, message: TransportInput) {
        if to_asp {
            self.asp.handle_transport(self.now, message);
        } else {
            self.gateway.handle_transport(self.now, ASSOCIATION, message);
        }
    }

    fn run(&mut self) {
        for _ in 0..10_000 {
            let progress = self.drain_gateway() | self.drain_asp();
            let Some((to_asp, transmit)) = self.wire.pop_front() else {
                if progress {
                    continue;
                }
                return;
            };
            if let Ok(Message::Own(message)) = Message::receive(&transmit.octets)
                && let Ok(Some((interface, _))) = content::header(&message)
            {
                self.taken.insert((to_asp, message.kind.class, interface, transmit.stream));
            }
            let message = TransportInput::Message {
                stream: transmit.stream,
                payload_protocol: transmit.payload_protocol,
                octets: transmit.octets,
            };
            self.deliver(to_asp, message);
        }
        panic!("the two ends do not come to rest");
    }

    fn drain_gateway(&mut self) -> bool {
        let mut any = false;
        loop {
            match self.gateway.poll_output(self.now) {
                SignallingGatewayOutput::Wait(_) => return any,
                SignallingGatewayOutput::Event(_) => {}
                SignallingGatewayOutput::Busy(_, is_busy) => self.busy.push(is_busy),
                SignallingGatewayOutput::Transmit(transmit) => self.wire.push_back((true, transmit)),
                SignallingGatewayOutput::DataLink(interface, dlci, request) => {
                    let answer = match &request {
                        DataLinkRequest::Establish => Some(DataLinkIndication::Established),
                        DataLinkRequest::Release(_) => Some(DataLinkIndication::Released),
                        _ => None,
                    };
                    self.to_q921.push(request);
                    if let Some(answer) = answer {
                        self.gateway.handle_data_link(&interface, dlci, answer);
                    }
                }
            }
            any = true;
        }
    }

    fn drain_asp(&mut self) -> bool {
        let mut any = false;
        loop {
            match self.asp.poll_output(self.now) {
                DataLinkProcessOutput::Wait(_) => return any,
                DataLinkProcessOutput::Event(DataLinkProcessEvent::Asp(ProcessEvent::PeerError(code))) => {
                    self.errors.push(code);
                }
                DataLinkProcessOutput::Event(_) => {}
                DataLinkProcessOutput::Transmit(transmit) => self.wire.push_back((false, transmit)),
                DataLinkProcessOutput::DataLink(_, _, indication) => self.to_q931.push(indication),
                DataLinkProcessOutput::Endpoint(_, dlci, status) => self.endpoints.push((dlci.tei, status)),
            }
            any = true;
        }
    }

    fn established() -> Self {
        let mut pair = Self::new(100);
        pair.connect();
        pair.request(LINK, DataLinkRequest::Establish);
        assert_eq!(pair.to_q931, [DataLinkIndication::Established]);
        pair.to_q931.clear();
        pair
    }
}

#[test]
fn an_asp_that_was_locked_out_comes_back_once_it_is_unlocked() {
    let mut pair = Pair::new(8);
    pair.connect();
    let state = |pair: &Pair| pair.gateway.asps().as_state(&interface());
    assert_eq!(state(&pair), Some(AsState::Active));
    pair.gateway.lock_out(pair.now, ASSOCIATION);
    pair.run();
    pair.disconnect();
    pair.wait(Duration::from_secs(60));
    pair.connect();
    assert_eq!(state(&pair), Some(AsState::Down));
    pair.gateway.unlock(ASSOCIATION);
    pair.asp.start(pair.now);
    pair.disconnect();
    pair.connect();
    assert_eq!(state(&pair), Some(AsState::Active));
}

#[test]
fn data_pass_both_ways_over_an_established_link_and_it_is_released() {
    let mut pair = Pair::established();
    pair.request(LINK, DataLinkRequest::Data(setup()));
    pair.indicate(DataLinkIndication::Data(setup()));
    pair.request(LINK, DataLinkRequest::Release(ReleaseReason::Management));
    let expected = [
        DataLinkRequest::Establish,
        DataLinkRequest::Data(setup()),
        DataLinkRequest::Release(ReleaseReason::Management),
    ];
    assert_eq!(pair.to_q921, expected);
    assert_eq!(pair.to_q931, [DataLinkIndication::Data(setup()), DataLinkIndication::Released]);
    assert_eq!((pair.gateway.drops().total(), pair.asp.drops().total()), (0, 0));
}

#[test]
fn unit_data_need_no_established_link_and_data_do() {
    let mut pair = Pair::new(100);
    pair.connect();
    pair.request(Dlci::call_control(127), DataLinkRequest::UnitData(setup()));
    pair.request(LINK, DataLinkRequest::Data(setup()));
    assert_eq!(pair.to_q921, [DataLinkRequest::UnitData(setup())]);
    assert_eq!(pair.asp.drops().of(DropReason::NotInService), 1);
}

#[test]
fn endpoints_are_told_asked_for_and_queried() {
    let mut pair = Pair::new(100);
    pair.connect();
    pair.gateway.handle_endpoint(&interface(), 64, TeiStatus::Assigned);
    pair.asp.request_status(&interface(), Dlci::call_control(65));
    pair.asp.query_endpoints(&interface());
    pair.run();
    let mut reported = pair.endpoints.clone();
    reported.sort_unstable();
    let expected = [
        (0, TeiStatus::Assigned),
        (64, TeiStatus::Assigned),
        (64, TeiStatus::Assigned),
        (65, TeiStatus::Unassigned),
    ];
    assert_eq!(reported, expected);
}

#[test]
fn endpoints_and_access_points_that_are_not_there_are_errors() {
    let mut pair = Pair::new(100);
    pair.connect();
    for (dlci, code) in [
        (Dlci::call_control(70), ErrorCode::UNASSIGNED_TEI),
        (Dlci { sapi: 5, tei: 0 }, ErrorCode::UNRECOGNIZED_SAPI),
        (Dlci { sapi: 63, tei: 127 }, ErrorCode::INVALID_TEI_SAPI_COMBINATION),
    ] {
        pair.request(dlci, DataLinkRequest::Establish);
        assert_eq!(pair.errors.pop(), Some(code));
    }
    assert!(pair.to_q921.is_empty());
}

#[test]
fn a_link_that_is_wanted_again_before_its_release_is_confirmed_is_established() {
    let mut pair = Pair::established();
    let (release, again) = (DataLinkRequest::Release(ReleaseReason::Management), DataLinkRequest::Establish);
    for request in [release.clone(), again.clone()] {
        pair.asp.handle_request(pair.now, &interface(), LINK, request);
    }
    pair.to_q921.clear();
    pair.run();
    assert_eq!(pair.to_q921, [release, again]);
    assert_eq!(pair.to_q931, [DataLinkIndication::Established]);
    assert_eq!(pair.asp.state(&interface(), LINK), DataLinkState::Established);
}

#[test]
fn an_alarm_releases_the_link_with_its_reason() {
    let mut pair = Pair::established();
    let alarm = DataLinkIndication::ReleasedByPeer(ReleaseReason::Physical);
    pair.indicate(alarm.clone());
    assert_eq!(pair.to_q931, [alarm]);
    assert_eq!(pair.asp.state(&interface(), LINK), DataLinkState::Released);
}

#[test]
fn a_lost_association_releases_the_links_and_after_t_r_those_of_q921() {
    let mut pair = Pair::established();
    pair.disconnect();
    assert_eq!(pair.to_q931, [DataLinkIndication::ReleasedByPeer(ReleaseReason::Other)]);
    pair.indicate(DataLinkIndication::Data(setup()));
    assert_eq!(pair.gateway.queued(&interface()), 1);
    pair.wait(Duration::from_secs(3));
    assert_eq!(pair.gateway.drops().of(DropReason::RecoveryExpired), 1);
    assert_eq!(pair.to_q921.last(), Some(&DataLinkRequest::Release(ReleaseReason::Management)));
}

#[test]
fn broadcast_is_no_traffic_mode_of_iua() {
    let mut pair = Pair::new(100);
    pair.connect();
    let scope = asp::Scope::of(&[interface()]);
    let active =
        AspMessage::AspActive { traffic_mode: Some(TrafficMode::Broadcast), scope, labels: (), info: None };
    let octets = Message::Asp(active).to_bytes();
    pair.deliver(false, TransportInput::Message { stream: StreamNumber(0), payload_protocol: 1, octets });
    pair.run();
    assert_eq!(pair.errors, [ErrorCode::UNSUPPORTED_TRAFFIC_MODE_TYPE]);
}

#[test]
fn an_error_names_no_interface_but_quotes_the_message() {
    let mut pair = Pair::new(100);
    pair.connect();
    let octets =
        Bytes::from_static(&[1, 0, 5, 5, 0, 0, 0, 24, 0, 1, 0, 8, 0, 0, 0, 9, 0, 5, 0, 8, 0, 1, 0, 0]);
    pair.deliver(
        false,
        TransportInput::Message { stream: StreamNumber(1), payload_protocol: 1, octets: octets.clone() },
    );
    let SignallingGatewayOutput::Transmit(error) = pair.gateway.poll_output(pair.now) else {
        panic!("no ERR")
    };
    let Ok(Message::Asp(AspMessage::Err { code, scope, diagnostic, .. })) = Message::receive(&error.octets)
    else {
        panic!("no ERR");
    };
    assert_eq!(code, ErrorCode::INVALID_INTERFACE_IDENTIFIER);
    assert!(scope.0.is_empty());
    assert_eq!(diagnostic.as_deref(), Some(octets.as_ref()));
}

#[test]
fn q921_is_busy_before_the_first_message_is_refused_and_until_the_queue_is_down() {
    let mut pair = Pair::new(8);
    pair.connect();
    pair.disconnect();
    for number in 1..=12 {
        pair.indicate(DataLinkIndication::Data(setup()));
        // From half of the limit on, once.
        let expected: &[bool] = if number < 4 { &[] } else { &[true] };
        assert_eq!(pair.busy, expected, "{number}");
    }
    assert_eq!(pair.gateway.queued(&interface()), 8);
    assert_eq!(pair.gateway.drops().of(DropReason::QueueFull), 4);
    pair.connect();
    assert_eq!(pair.busy, [true, false]);
    let queue = QueueLimits { max: 2, onset: 2, abatement: 0 };
    let config = SignallingGatewayConfig { queue, ..SignallingGatewayConfig::default() };
    assert!(SignallingGateway::new(config).is_err());
}

#[test]
fn a_congested_association_of_the_channels_asp_makes_q921_busy() {
    let mut pair = Pair::new(8);
    pair.connect();
    for is_congested in [true, false] {
        pair.gateway.handle_transport(pair.now, ASSOCIATION, TransportInput::Congested(is_congested));
        pair.run();
    }
    assert_eq!(pair.busy, [true, false]);
}

#[derive(Clone, Debug)]
enum Command {
    Connect,
    Disconnect,
    Endpoint(u8, bool),
    Indicate(DataLinkIndication),
    Octets(bool, u16, Vec<u8>),
    Request(u8, DataLinkRequest),
    Wait(u64),
}

fn any_command() -> impl Strategy<Value = Command> {
    let indication = prop_oneof![
        Just(DataLinkIndication::Data(setup())),
        Just(DataLinkIndication::UnitData(setup())),
        Just(DataLinkIndication::Established),
        Just(DataLinkIndication::EstablishedByPeer),
        Just(DataLinkIndication::Released),
        Just(DataLinkIndication::ReleasedByPeer(ReleaseReason::Physical)),
    ];
    let request = prop_oneof![
        Just(DataLinkRequest::Data(setup())),
        Just(DataLinkRequest::UnitData(setup())),
        Just(DataLinkRequest::Establish),
        Just(DataLinkRequest::Release(ReleaseReason::DisconnectedMode)),
    ];
    let octets = (any::<bool>(), 0_u16..4, 0_u8..6, 0_u8..12, proptest::collection::vec(any::<u8>(), 0..24))
        .prop_map(|(to_asp, stream, class, kind, rest)| {
            let len = u8::try_from(rest.len() + 8).unwrap();
            let octets = [vec![1, 0, class, kind, 0, 0, 0, len], rest].concat();
            Command::Octets(to_asp, stream, octets)
        });
    prop_oneof![
        2 => Just(Command::Connect),
        1 => Just(Command::Disconnect),
        1 => (0_u8..128, any::<bool>()).prop_map(|(tei, assigned)| Command::Endpoint(tei, assigned)),
        4 => indication.prop_map(Command::Indicate),
        4 => (0_u8..3, request).prop_map(|(tei, request)| Command::Request(tei, request)),
        2 => octets,
        2 => (0_u64..12_000).prop_map(Command::Wait),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_both_ends_rest_stay_bounded_and_find_each_other_again(
        commands in proptest::collection::vec(any_command(), 0..60),
    ) {
        let mut pair = Pair::new(5);
        for command in commands {
            match command {
                Command::Connect => pair.connect(),
                Command::Disconnect => pair.disconnect(),
                Command::Endpoint(tei, assigned) => {
                    let status = if assigned { TeiStatus::Assigned } else { TeiStatus::Unassigned };
                    pair.gateway.handle_endpoint(&interface(), tei, status);
                    pair.run();
                }
                Command::Indicate(indication) => pair.indicate(indication),
                Command::Request(tei, request) => pair.request(Dlci::call_control(tei), request),
                Command::Wait(millis) => pair.wait(Duration::from_millis(millis)),
                Command::Octets(to_asp, stream, octets) => {
                    let message = TransportInput::Message {
                        stream: StreamNumber(stream),
                        payload_protocol: 1,
                        octets: octets.into(),
                    };
                    pair.deliver(to_asp, message);
                    pair.run();
                }
            }
            prop_assert!(pair.gateway.queued(&interface()) <= 5);
        }
        pair.disconnect();
        pair.wait(Duration::from_secs(20));
        prop_assert_eq!(pair.asp.state(&interface(), LINK), DataLinkState::Released);
        pair.gateway.handle_endpoint(&interface(), 0, TeiStatus::Assigned);
        pair.asp.start(pair.now);
        pair.connect();
        pair.request(LINK, DataLinkRequest::Establish);
        prop_assert_eq!(pair.gateway.asps().as_state(&interface()), Some(AsState::Active));
        prop_assert_eq!(pair.asp.state(&interface(), LINK), DataLinkState::Established);
    }
}
