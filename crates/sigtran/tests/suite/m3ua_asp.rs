//! An ASP with two gateways: what its users hear of destinations, by way of the routes that carry their messages.
use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_sigtran::asp::{AspMessage, AspState, RoutingContexts, ServerName};
use slantpath_sigtran::m3ua::{
    AffectedDestinations, Asp, AspConfig, AspOutput, DeregistrationResult, DeregistrationStatus, Destination,
    KeyDestination, Message, RegistrationResult, RegistrationStatus, RoutingKey, ServedServer,
};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::{RoutingLabel, ServiceInformation, Sls};
use slantpath_ss7::transfer::{StatusCause, Transfer, TransferIndication};

const BETTER: AssociationNumber = AssociationNumber(1);
const WORSE: AssociationNumber = AssociationNumber(2);
const CONTEXT: u32 = 1;
const OWN: PointCode = PointCode(100);
const FAR: PointCode = PointCode(200);

struct Bench {
    now: Instant,
    asp: Asp,
    /// Gateways to which messages went; the next field holds what users were told.
    gateways: Vec<AssociationNumber>,
    indications: Vec<TransferIndication>,
}

fn affected() -> AffectedDestinations {
    AffectedDestinations { point_codes: vec![(0, FAR)], ..AffectedDestinations::default() }
}

fn scon(congestion_level: Option<u8>) -> Message {
    Message::Scon { affected: affected(), concerned: None, congestion_level }
}

fn congestion(level: u8) -> TransferIndication {
    TransferIndication::Status { affected: FAR, cause: StatusCause::Congestion(level) }
}

impl Bench {
    /// Two gateways of these priorities, over both of which the destination is available.
    fn new(priorities: [u8; 2]) -> Self {
        let server = ServedServer {
            name: ServerName::Named(CONTEXT),
            network_appearance: None,
            point_codes: vec![OWN],
            traffic_mode: None,
        };
        let gateways = vec![(BETTER, priorities[0]), (WORSE, priorities[1])];
        let asp = Asp::new(AspConfig {
            gateways: vec![BETTER, WORSE],
            servers: vec![server],
            destinations: vec![Destination { network_appearance: None, point_code: FAR, gateways }],
            ..AspConfig::default()
        });
        let mut bench =
            Self { now: Instant::START, asp: asp.unwrap(), gateways: Vec::new(), indications: Vec::new() };
        for gateway in [BETTER, WORSE] {
            bench.put(gateway, TransportInput::Up { outbound_streams: 4 });
            bench.asp.up(bench.now, gateway);
            let up_ack = AspMessage::AspUpAck { asp_identifier: None, info: None };
            bench.put_message(gateway, &Message::Asp(up_ack));
            bench.asp.activate(bench.now, gateway, &[]);
            let scope = RoutingContexts(vec![CONTEXT]);
            let active_ack = AspMessage::AspActiveAck { traffic_mode: None, scope, info: None };
            bench.put_message(gateway, &Message::Asp(active_ack));
            bench.put_message(gateway, &Message::Dava(affected()));
        }
        assert_eq!(bench.indications, [TransferIndication::Resume(FAR)]);
        bench.indications.clear();
        bench
    }

    fn put(&mut self, gateway: AssociationNumber, input: TransportInput) {
        self.asp.handle_input(self.now, gateway, input);
        self.drain();
    }

    fn put_message(&mut self, gateway: AssociationNumber, message: &Message) {
        self.put(gateway, input(3, message));
    }

    /// Gives the gateway to which a message of a selection goes.
    fn transfer(&mut self, sls: u8) -> Option<AssociationNumber> {
        self.gateways.clear();
        let label = RoutingLabel { dpc: FAR, opc: OWN, sls: Sls(sls) };
        let service = ServiceInformation::from_octet(0x85);
        self.asp.transfer(None, Transfer { service, label, user_data: Bytes::from_static(&[1]) });
        self.drain();
        self.gateways.pop()
    }

    fn drain(&mut self) {
        loop {
            match self.asp.poll_output(self.now) {
                AspOutput::Transmit(transmit) => self.gateways.push(transmit.association),
                AspOutput::Indication(_, indication) => self.indications.push(indication),
                AspOutput::Wait(_) => return,
                _ => {}
            }
        }
    }
}

fn input(payload_protocol: u32, message: &Message) -> TransportInput {
    let mut octets = Vec::new();
    message.emit(&mut octets);
    TransportInput::Message { stream: StreamNumber(0), payload_protocol, octets: octets.into() }
}

#[test]
fn the_congestion_of_the_route_in_use_is_told_however_free_another_is() {
    let mut bench = Bench::new([0, 1]);
    bench.put_message(BETTER, &scon(Some(2)));
    assert_eq!(bench.transfer(0), Some(BETTER));
    assert_eq!(bench.indications, [congestion(2)]);
    bench.put_message(BETTER, &scon(Some(0)));
    bench.put(BETTER, TransportInput::Congested(true));
    assert_eq!(bench.indications, [congestion(2), congestion(0), congestion(1)]);
    // The other way is free, and from now on the one in use.
    bench.put_message(BETTER, &Message::Duna(affected()));
    assert_eq!(bench.transfer(0), Some(WORSE));
    assert_eq!(bench.indications[3..], [congestion(0)]);
}

#[test]
fn of_routes_that_share_the_worst_counts_and_one_that_is_not_used_does_not() {
    let mut sharing = Bench::new([0, 0]);
    assert_ne!(sharing.transfer(0), sharing.transfer(1));
    sharing.put_message(WORSE, &scon(Some(1)));
    assert_eq!(sharing.indications, [congestion(1)]);
    let mut ranked = Bench::new([0, 1]);
    ranked.put_message(WORSE, &scon(Some(3)));
    ranked.put(WORSE, TransportInput::Congested(true));
    assert_eq!(ranked.indications, []);
    // Restricted is worse than available, whatever the priorities.
    ranked.put_message(BETTER, &Message::Drst(affected()));
    assert_eq!(ranked.transfer(0), Some(WORSE));
    assert_eq!(ranked.indications, [congestion(3)]);
}

#[test]
fn congestion_without_a_level_is_told_each_time_and_not_kept() {
    let mut bench = Bench::new([0, 1]);
    for _ in 0..3 {
        bench.put_message(BETTER, &scon(None));
    }
    assert_eq!(bench.indications, [congestion(1), congestion(1), congestion(1)]);
    assert_eq!(bench.asp.destination((None, FAR)).congestion, 0);
    // Nor does it concern who sends another way.
    bench.put_message(WORSE, &scon(None));
    assert_eq!(bench.indications.len(), 3);
}

#[test]
fn a_message_of_another_protocol_is_thrown_away_in_silence_and_counted() {
    let mut bench = Bench::new([0, 1]);
    bench.put(BETTER, input(5, &Message::Duna(affected())));
    assert_eq!(bench.indications, []);
    assert_eq!(bench.asp.counters().wrong_payload_protocol, 1);
    // A sender that gives none is understood.
    bench.put(BETTER, input(0, &Message::Duna(affected())));
    bench.put(WORSE, input(0, &Message::Duna(affected())));
    assert_eq!(bench.indications, [TransferIndication::Pause(FAR)]);
}

/// A gateway grants a routing key for the context.
fn grant(bench: &mut Bench, dpc: PointCode) {
    let destination = KeyDestination { dpc, service_indicators: Vec::new(), opcs: Vec::new() };
    let key = RoutingKey {
        local_identifier: 7,
        routing_context: None,
        traffic_mode: None,
        network_appearance: None,
        destinations: vec![destination],
        others: Vec::new(),
    };
    bench.asp.register(BETTER, vec![key]).unwrap();
    bench.drain();
    let status = RegistrationStatus::REGISTERED;
    let results = vec![RegistrationResult { local_identifier: 7, status, routing_context: 9 }];
    bench.put_message(BETTER, &Message::RegRsp { results });
}

#[test]
fn a_key_that_is_granted_again_for_its_context_leaves_the_traffic_where_it_is() {
    let mut bench = Bench::new([0, 1]);
    let name = ServerName::Named(9);
    grant(&mut bench, PointCode(300));
    assert_eq!(bench.asp.state(BETTER, &name), AspState::Inactive);
    bench.asp.activate(bench.now, BETTER, core::slice::from_ref(&name));
    bench.drain();
    // Granted again before the Ack is in, which is awaited all the same.
    grant(&mut bench, PointCode(300));
    let ack = |contexts: &[u32]| {
        let scope = RoutingContexts(contexts.to_vec());
        Message::Asp(AspMessage::AspActiveAck { traffic_mode: None, scope, info: None })
    };
    bench.put_message(BETTER, &ack(&[9]));
    assert_eq!(bench.asp.state(BETTER, &name), AspState::Active);
    // And once more, by another key.
    grant(&mut bench, PointCode(301));
    assert_eq!(bench.asp.state(BETTER, &name), AspState::Active);
    // It is deregistered once.
    bench.asp.deregister(BETTER, vec![9]).unwrap();
    let status = DeregistrationStatus::DEREGISTERED;
    let results = vec![DeregistrationResult { routing_context: 9, status }];
    bench.put_message(BETTER, &Message::DeregRsp { results });
    assert_eq!(bench.asp.state(BETTER, &name), AspState::Down);
}

#[test]
fn a_reload_keeps_what_is_known_of_a_destination_and_asks_for_what_is_new() {
    let mut bench = Bench::new([0, 1]);
    let new = PointCode(201);
    let destination = |point_code, gateways: &[AssociationNumber]| {
        let gateways = gateways.iter().map(|gateway| (*gateway, 0)).collect();
        Destination { network_appearance: None, point_code, gateways }
    };
    let config = bench.asp.config().clone();
    let destinations = vec![destination(FAR, &[WORSE]), destination(new, &[WORSE])];
    let other = AspConfig { gateways: vec![WORSE], destinations, ..config };
    bench.gateways.clear();
    bench.asp.reconfigure(bench.now, other.clone()).unwrap();
    bench.drain();
    assert_eq!((&bench.indications[..], &bench.gateways[..]), (&[][..], &[WORSE][..]));
    assert_eq!(bench.transfer(3), Some(WORSE));
    let dava = AffectedDestinations { point_codes: vec![(0, new)], ..AffectedDestinations::default() };
    bench.put_message(WORSE, &Message::Dava(dava));
    assert_eq!(bench.indications, [TransferIndication::Resume(new)]);
    bench.indications.clear();
    let other = AspConfig { destinations: vec![destination(new, &[WORSE])], ..other };
    bench.asp.reconfigure(bench.now, other).unwrap();
    bench.drain();
    assert_eq!(bench.indications, [TransferIndication::Pause(FAR)]);
    assert_eq!(bench.transfer(3), None);
}
