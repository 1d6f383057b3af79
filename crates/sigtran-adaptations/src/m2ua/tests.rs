//! Both ends of M2UA together, over associations that come and go.

mod management;

use std::collections::{BTreeSet, VecDeque};

use bytes::Bytes;
use proptest::prelude::*;
use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::{self, AsState, AspMessage, Scope as _, TrafficMode};
use slantpath_sigtran::queue::QueueLimits;
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};
use slantpath_ss7::link::{LinkIndication, LinkRequest, OutOfServiceReason};
use slantpath_ss7::mtp3::Fsn;

use crate::drops::DropReason;
use crate::interface::{InterfaceIdentifier, Interfaces};
use crate::m2ua::{
    LinkConfig, LinkProcess, LinkProcessConfig, LinkProcessOutput, LinkState, LinkStatus, SignallingGateway,
    SignallingGatewayConfig, SignallingGatewayOutput,
};
use crate::message::OwnMessage;

const ASSOCIATION: AssociationNumber = AssociationNumber(4);
const UNIT: &[u8] = &[0x83, 0x5c, 0x40, 0x0a, 0x00, 0x11, 0xf0];

/// A gateway and an ASP with one association, and level 2 of one link that does as it is asked.
struct Pair {
    now: Instant,
    gateway: SignallingGateway,
    asp: LinkProcess,
    is_connected: bool,
    to_level_2: Vec<LinkRequest>,
    /// Busy indications to level 2, in order: true is busy, false is no more.
    busy: Vec<bool>,
    to_level_3: Vec<LinkIndication>,
    /// Messages that left one end and have not reached the other.
    wire: VecDeque<(bool, Transmit)>,
    /// Messages about links that were delivered: whether to the ASP, and about which link on which stream.
    taken: BTreeSet<(bool, InterfaceIdentifier, StreamNumber)>,
}

impl Pair {
    fn new(queue_max: usize) -> Self {
        let config = SignallingGatewayConfig {
            queue: QueueLimits::of(queue_max),
            ..SignallingGatewayConfig::default()
        };
        let mut gateway = SignallingGateway::new(config).unwrap();
        gateway.add_link(1.into(), LinkConfig::default(), asp::ServerConfig::default());
        let mut asp = LinkProcess::new(ASSOCIATION, LinkProcessConfig::default()).unwrap();
        asp.add_link(1.into(), None);
        asp.start(Instant::START);
        Self {
            now: Instant::START,
            gateway,
            asp,
            is_connected: false,
            to_level_2: Vec::new(),
            busy: Vec::new(),
            to_level_3: Vec::new(),
            wire: VecDeque::new(),
            taken: BTreeSet::new(),
        }
    }

    fn interface() -> InterfaceIdentifier {
        1.into()
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

    fn request(&mut self, request: LinkRequest) {
        self.asp.handle_request(self.now, &Self::interface(), request);
        self.run();
    }

    fn indicate(&mut self, indication: LinkIndication) {
        self.gateway.handle_link(self.now, &Self::interface(), indication);
        self.run();
    }

    fn run(&mut self) {
        for _ in 0..10_000 {
            let (from_gateway, from_asp) = (self.drain_gateway(), self.drain_asp());
            let Some((to_asp, transmit)) = self.wire.pop_front() else {
                if from_gateway || from_asp {
                    continue;
                }
                return;
            };
            if let Ok(super::Message::Own(message)) = super::Message::receive(&transmit.octets)
                && let Ok(Some(interface)) = InterfaceIdentifier::of_header(message.common())
            {
                self.taken.insert((to_asp, interface, transmit.stream));
            }
            let message = TransportInput::Message {
                stream: transmit.stream,
                payload_protocol: transmit.payload_protocol,
                octets: transmit.octets,
            };
            if to_asp {
                self.asp.handle_transport(self.now, message);
            } else {
                self.gateway.handle_transport(self.now, ASSOCIATION, message);
            }
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
                SignallingGatewayOutput::Link(interface, request) => {
                    let answer = match &request {
                        LinkRequest::Start => Some(LinkIndication::InService),
                        LinkRequest::Stop => Some(LinkIndication::OutOfService(OutOfServiceReason::Stopped)),
                        LinkRequest::RetrieveBsnt => Some(LinkIndication::Bsnt(Fsn(3))),
                        LinkRequest::RetrieveUnsent => Some(LinkIndication::RetrievalComplete),
                        _ => None,
                    };
                    self.to_level_2.push(request);
                    if let Some(answer) = answer {
                        self.gateway.handle_link(self.now, &interface, answer);
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
                LinkProcessOutput::Wait(_) => return any,
                LinkProcessOutput::Event(_) => {}
                LinkProcessOutput::Transmit(transmit) => self.wire.push_back((false, transmit)),
                LinkProcessOutput::Link(_, indication) => self.to_level_3.push(indication),
            }
            any = true;
        }
    }

    fn in_service() -> Self {
        let mut pair = Self::new(100);
        pair.connect();
        pair.request(LinkRequest::Start);
        assert_eq!(pair.to_level_3, [LinkIndication::InService]);
        pair.to_level_3.clear();
        pair
    }
}

fn unit() -> Bytes {
    Bytes::from_static(UNIT)
}

#[test]
fn an_asp_that_was_locked_out_comes_back_once_it_is_unlocked() {
    let mut pair = Pair::new(8);
    pair.connect();
    let state = |pair: &Pair| pair.gateway.asps().as_state(&Pair::interface());
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
fn a_message_passes_both_ways_between_level_2_and_a_remote_mtp3() {
    let mut pair = Pair::in_service();
    pair.request(LinkRequest::Transmit(unit()));
    assert_eq!(pair.to_level_2, [LinkRequest::Start, LinkRequest::Transmit(unit())]);
    pair.indicate(LinkIndication::Received(unit()));
    assert_eq!(pair.to_level_3, [LinkIndication::Received(unit())]);
    assert_eq!((pair.gateway.drops().total(), pair.asp.drops().total()), (0, 0));
}

#[test]
fn a_lost_association_takes_the_link_out_of_service_and_a_new_one_brings_it_back() {
    let mut pair = Pair::in_service();
    pair.disconnect();
    assert_eq!(pair.to_level_3, [LinkIndication::OutOfService(OutOfServiceReason::BearerFailed)]);
    pair.connect();
    assert_eq!(pair.to_level_3.last(), Some(&LinkIndication::InService));
}

#[test]
fn a_link_that_is_wanted_again_before_its_release_is_confirmed_comes_back() {
    let mut pair = Pair::in_service();
    for request in [LinkRequest::Stop, LinkRequest::Start] {
        pair.asp.handle_request(pair.now, &Pair::interface(), request);
    }
    pair.drain_asp();
    // Both are with the gateway before level 2 has answered the first.
    while let Some((false, Transmit { stream, payload_protocol, octets, .. })) = pair.wire.pop_front() {
        let message = TransportInput::Message { stream, payload_protocol, octets };
        pair.gateway.handle_transport(pair.now, ASSOCIATION, message);
    }
    pair.to_level_2.clear();
    pair.run();
    assert_eq!(pair.to_level_2, [LinkRequest::Stop, LinkRequest::Start]);
    assert_eq!(pair.to_level_3, [LinkIndication::InService]);
    assert_eq!(pair.asp.link_status(&Pair::interface()), Some(LinkStatus::InService));
    // One that fails to align is still told.
    pair.to_level_3.clear();
    pair.indicate(LinkIndication::OutOfService(OutOfServiceReason::Stopped));
    let failed = LinkIndication::OutOfService(OutOfServiceReason::PeerOutOfService);
    assert_eq!(pair.to_level_3, [failed]);
}

#[test]
fn what_comes_while_the_asp_is_away_waits_for_it() {
    let mut pair = Pair::in_service();
    pair.disconnect();
    pair.indicate(LinkIndication::Received(unit()));
    assert_eq!(pair.gateway.queued(&Pair::interface()), 1);
    pair.connect();
    assert_eq!(pair.gateway.queued(&Pair::interface()), 0);
    // The ASP has not established the link again when the waiting message comes: it says so in its counts.
    let lost = pair.asp.drops().of(DropReason::NotInService);
    let delivered =
        pair.to_level_3.iter().filter(|indication| **indication == LinkIndication::Received(unit())).count();
    assert_eq!(delivered + usize::try_from(lost).unwrap(), 1);
}

#[test]
fn what_waits_too_long_is_thrown_away_and_counted_and_level_2_told_of_the_outage() {
    let mut pair = Pair::in_service();
    pair.disconnect();
    pair.indicate(LinkIndication::Received(unit()));
    pair.wait(Duration::from_secs(3));
    assert_eq!(pair.gateway.drops().of(DropReason::RecoveryExpired), 1);
    assert_eq!(pair.to_level_2.last(), Some(&LinkRequest::LocalProcessorOutage));
    pair.connect();
    assert!(pair.to_level_2.contains(&LinkRequest::LocalProcessorRecovered));
}

#[test]
fn level_2_is_busy_before_the_first_message_is_refused_and_until_the_queue_is_down() {
    let mut pair = Pair::new(8);
    pair.connect();
    pair.request(LinkRequest::Start);
    pair.disconnect();
    for number in 1..=12 {
        pair.indicate(LinkIndication::Received(unit()));
        // From half of the limit on, once.
        let expected: &[bool] = if number < 4 { &[] } else { &[true] };
        assert_eq!(pair.busy, expected, "{number}");
    }
    assert_eq!(pair.gateway.queued(&Pair::interface()), 8);
    assert_eq!(pair.gateway.drops().of(DropReason::QueueFull), 4);
    // The link begins anew meanwhile: it is told again.
    pair.indicate(LinkIndication::OutOfService(OutOfServiceReason::PeerBusy));
    pair.indicate(LinkIndication::InService);
    assert_eq!(pair.busy, [true, true]);
    pair.connect();
    assert_eq!(pair.busy, [true, true, false]);
}

#[test]
fn the_smallest_queue_tells_before_it_refuses_and_a_smaller_one_is_no_configuration() {
    let mut pair = Pair::new(2);
    pair.connect();
    pair.request(LinkRequest::Start);
    pair.disconnect();
    pair.indicate(LinkIndication::Received(unit()));
    assert_eq!((pair.busy.as_slice(), pair.gateway.drops().total()), (&[true][..], 0));
    let queue = QueueLimits { max: 2, onset: 2, abatement: 0 };
    let config = SignallingGatewayConfig { queue, ..SignallingGatewayConfig::default() };
    assert!(SignallingGateway::new(config).is_err());
}

#[test]
fn a_congested_association_of_the_active_asp_makes_level_2_busy() {
    let mut pair = Pair::in_service();
    for is_congested in [true, false] {
        pair.gateway.handle_transport(pair.now, ASSOCIATION, TransportInput::Congested(is_congested));
        pair.run();
    }
    assert_eq!(pair.busy, [true, false]);
    pair.gateway.handle_transport(pair.now, ASSOCIATION, TransportInput::Congested(true));
    pair.disconnect();
    assert_eq!(pair.busy, [true, false, true, false]);
}

#[test]
fn an_asp_that_says_it_is_congested_makes_level_2_busy_until_it_is_not_or_is_gone() {
    let mut pair = Pair::in_service();
    let ask = |pair: &mut Pair, state| {
        let request = super::about(&Pair::interface(), super::kind::STATE_REQUEST)
            .with(super::M2uaParameter::StateRequest(state));
        let transmit = super::transmit(ASSOCIATION, StreamNumber(1), &super::Message::Own(request));
        pair.wire.push_back((false, transmit));
        pair.run();
    };
    ask(&mut pair, LinkState::CongestionAccept);
    pair.indicate(LinkIndication::Received(unit()));
    assert_eq!((pair.busy.as_slice(), pair.to_level_3.len()), (&[true][..], 1));
    ask(&mut pair, LinkState::CongestionDiscard);
    pair.indicate(LinkIndication::Received(unit()));
    assert_eq!((pair.busy.as_slice(), pair.to_level_3.len()), (&[true][..], 1));
    assert_eq!(pair.gateway.drops().of(DropReason::DiscardRequested), 1);
    ask(&mut pair, LinkState::CongestionClear);
    assert_eq!(pair.busy, [true, false]);
    ask(&mut pair, LinkState::CongestionAccept);
    pair.disconnect();
    assert_eq!(pair.busy, [true, false, true, false]);
}

#[test]
fn congestion_of_the_transport_is_told_to_mtp3() {
    let mut pair = Pair::in_service();
    pair.asp.handle_transport(pair.now, TransportInput::Congested(true));
    pair.asp.handle_transport(pair.now, TransportInput::Congested(false));
    pair.run();
    assert_eq!(pair.to_level_3, [LinkIndication::Congestion(1), LinkIndication::Congestion(0)]);
}

#[test]
fn a_retrieval_that_the_association_interrupts_is_answered() {
    let mut pair = Pair::in_service();
    pair.request(LinkRequest::RetrieveMessagesAfter(Fsn(3)));
    pair.disconnect();
    assert!(pair.to_level_3.contains(&LinkIndication::RetrievalNotPossible));
}

#[test]
fn a_restart_of_the_association_begins_anew() {
    let mut pair = Pair::in_service();
    pair.gateway.handle_transport(pair.now, ASSOCIATION, TransportInput::Restart);
    pair.asp.handle_transport(pair.now, TransportInput::Restart);
    pair.run();
    assert_eq!(pair.gateway.asps().as_state(&Pair::interface()), Some(AsState::Active));
    assert_eq!(pair.asp.link_status(&Pair::interface()), Some(LinkStatus::InService));
}

/// A gateway whose link two ASPs share, both active, and the link in service.
fn shared() -> SignallingGateway {
    let mut gateway = SignallingGateway::new(SignallingGatewayConfig::default()).unwrap();
    let server =
        asp::ServerConfig { traffic_mode: Some(TrafficMode::Loadshare), ..asp::ServerConfig::default() };
    gateway.add_link(1.into(), LinkConfig::default(), server);
    for association in SHARERS {
        activate(&mut gateway, association);
    }
    gateway.handle_link(Instant::START, &1.into(), LinkIndication::InService);
    taken(&mut gateway);
    gateway
}

fn activate(gateway: &mut SignallingGateway, association: AssociationNumber) {
    gateway.handle_transport(Instant::START, association, TransportInput::Up { outbound_streams: 4 });
    let scope = Interfaces::of(&[1.into()]);
    let up = AspMessage::AspUp { asp_identifier: None, info: None };
    let active = AspMessage::AspActive { traffic_mode: None, scope, labels: (), info: None };
    for message in [up, active] {
        let octets = super::Message::Asp(message).to_bytes();
        let input = TransportInput::Message { stream: StreamNumber(0), payload_protocol: 2, octets };
        gateway.handle_transport(Instant::START, association, input);
    }
}

const SHARERS: [AssociationNumber; 2] = [AssociationNumber(5), AssociationNumber(6)];

/// Takes the messages about the link that the gateway has sent to its ASPs, and its requests to level 2.
fn taken(
    gateway: &mut SignallingGateway,
) -> (Vec<(AssociationNumber, OwnMessage<super::M2uaParameter>)>, Vec<LinkRequest>) {
    let (mut sent, mut asked) = (Vec::new(), Vec::new());
    loop {
        match gateway.poll_output(Instant::START) {
            SignallingGatewayOutput::Wait(_) => return (sent, asked),
            SignallingGatewayOutput::Link(_, request) => asked.push(request),
            SignallingGatewayOutput::Transmit(transmit) => {
                if let super::Message::Own(message) = super::Message::receive(&transmit.octets).unwrap() {
                    sent.push((transmit.association, message));
                }
            }
            SignallingGatewayOutput::Busy(..) | SignallingGatewayOutput::Event(_) => {}
        }
    }
}

/// A message of that signalling link selection, which is the high half of the label's last octet.
fn unit_of(selection: u8) -> Bytes {
    let mut octets = UNIT.to_vec();
    octets[4] = octets[4] & 0x0f | selection << 4;
    octets.into()
}

#[test]
fn the_asps_of_a_loadshare_share_the_selections_and_all_hear_of_the_link() {
    let mut gateway = shared();
    for selection in [0, 1, 2, 3, 15, 3] {
        let received = LinkIndication::Received(unit_of(selection));
        gateway.handle_link(Instant::START, &1.into(), received);
    }
    let (sent, _) = taken(&mut gateway);
    let who: Vec<_> = sent.iter().map(|(association, _)| *association).collect();
    let [first, second] = SHARERS;
    assert_eq!(who, [first, second, first, second, second, second]);
    assert!(sent.iter().all(|(_, message)| message.kind == super::kind::DATA));
    gateway.handle_link(Instant::START, &1.into(), LinkIndication::Congestion(1));
    let (sent, _) = taken(&mut gateway);
    assert_eq!(sent.iter().map(|(association, _)| *association).collect::<Vec<_>>(), SHARERS);
}

#[test]
fn what_waits_for_an_asp_goes_in_the_order_in_which_it_came() {
    let mut gateway = shared();
    for association in SHARERS {
        gateway.handle_transport(Instant::START, association, TransportInput::Down);
    }
    let units = [3, 0, 2].map(unit_of);
    for unit in &units {
        gateway.handle_link(Instant::START, &1.into(), LinkIndication::Received(unit.clone()));
    }
    taken(&mut gateway);
    activate(&mut gateway, SHARERS[1]);
    let expected = units.map(|unit| {
        super::about(&1.into(), super::kind::DATA).with(super::M2uaParameter::ProtocolData(unit))
    });
    let (sent, _) = taken(&mut gateway);
    assert_eq!(sent, expected.map(|message| (SHARERS[1], message)));
}

#[test]
fn level_3_of_a_link_is_out_when_its_application_server_is_down_and_not_while_it_is_pending() {
    let mut gateway = shared();
    for association in SHARERS {
        gateway.handle_transport(Instant::START, association, TransportInput::Down);
    }
    assert_eq!(gateway.asps().as_state(&1.into()), Some(AsState::Pending));
    assert_eq!(taken(&mut gateway).1, []);
    let recovery = Instant::START + asp::GatewayConfig::default().recovery;
    gateway.handle_deadline(recovery - Duration::from_nanos(1));
    assert_eq!(taken(&mut gateway).1, []);
    gateway.handle_deadline(recovery);
    assert_eq!(gateway.asps().as_state(&1.into()), Some(AsState::Down));
    assert_eq!(taken(&mut gateway).1, [LinkRequest::LocalProcessorOutage]);
}

#[derive(Clone, Debug)]
enum Command {
    Connect,
    Disconnect,
    Indicate(LinkIndication),
    Octets(bool, u16, Vec<u8>),
    Request(LinkRequest),
    Wait(u64),
}

fn any_command() -> impl Strategy<Value = Command> {
    let indication = prop_oneof![
        Just(LinkIndication::Received(unit())),
        (0_u8..4).prop_map(LinkIndication::Congestion),
        Just(LinkIndication::OutOfService(OutOfServiceReason::AcknowledgementTimeout)),
        Just(LinkIndication::InService),
        Just(LinkIndication::RemoteProcessorOutage),
        Just(LinkIndication::RemoteProcessorRecovered),
        Just(LinkIndication::RetrievalNotPossible),
    ];
    let request = prop_oneof![
        Just(LinkRequest::Start),
        Just(LinkRequest::Stop),
        Just(LinkRequest::Transmit(unit())),
        Just(LinkRequest::Emergency),
        Just(LinkRequest::LocalProcessorOutage),
        Just(LinkRequest::RetrieveBsnt),
        Just(LinkRequest::RetrieveUnsent),
    ];
    let octets = (any::<bool>(), 0_u16..4, 0_u8..11, 0_u8..16, proptest::collection::vec(any::<u8>(), 0..24))
        .prop_map(|(to_asp, stream, class, kind, rest)| {
            let len = u8::try_from(rest.len() + 8).unwrap();
            let octets = [vec![1, 0, class, kind, 0, 0, 0, len], rest].concat();
            Command::Octets(to_asp, stream, octets)
        });
    prop_oneof![
        2 => Just(Command::Connect),
        1 => Just(Command::Disconnect),
        4 => indication.prop_map(Command::Indicate),
        4 => request.prop_map(Command::Request),
        2 => octets,
        2 => (0_u64..40_000).prop_map(Command::Wait),
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
                Command::Indicate(indication) => pair.indicate(indication),
                Command::Request(request) => pair.request(request),
                Command::Wait(millis) => pair.wait(Duration::from_millis(millis)),
                Command::Octets(to_asp, stream, octets) => {
                    let message = TransportInput::Message {
                        stream: StreamNumber(stream),
                        payload_protocol: 2,
                        octets: octets.into(),
                    };
                    if to_asp {
                        pair.asp.handle_transport(pair.now, message);
                    } else {
                        pair.gateway.handle_transport(pair.now, ASSOCIATION, message);
                    }
                    pair.run();
                }
            }
            prop_assert!(pair.gateway.queued(&Pair::interface()) <= 5);
        }
        // What the random octets have asked for is asked for again, and the ends agree.
        pair.disconnect();
        pair.wait(Duration::from_secs(5));
        pair.asp.start(pair.now);
        pair.connect();
        pair.request(LinkRequest::Stop);
        pair.request(LinkRequest::Start);
        prop_assert_eq!(pair.gateway.asps().as_state(&Pair::interface()), Some(AsState::Active));
        prop_assert_eq!(pair.asp.link_status(&Pair::interface()), Some(LinkStatus::InService));
    }
}
