//! A gateway process between ASPs and an SS7 network: what either hears of the other.
use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::{AsState, AspMessage, Members, RoutingContexts, ServerConfig, TrafficMode};
use slantpath_sigtran::m3ua::{
    AffectedDestinations, ApplicationServer, Availability, Data, DropReason, KeyChanges, KeyDestination,
    Message, QueueLimits, Registration, RoutingKey, Sgp, SgpConfig, SgpOutput, TrafficKey,
};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::{RoutingLabel, ServiceInformation, Sls};
use slantpath_ss7::transfer::{StatusCause, Transfer, TransferIndication};

/// The ASP of routing context 1.
const FIRST: AssociationNumber = AssociationNumber(1);
/// An ASP of routing context 2, and another.
const SECOND: AssociationNumber = AssociationNumber(2);
const THIRD: AssociationNumber = AssociationNumber(3);
/// The point codes of both, and one in the SS7 network.
const OWN: PointCode = PointCode(101);
const OTHER: PointCode = PointCode(102);
const FAR: PointCode = PointCode(200);

const QUEUE: QueueLimits = QueueLimits { max: 8, onset: 4, abatement: 2 };

struct Bench {
    now: Instant,
    sgp: Sgp,
    /// Messages that went to each ASP; `indications` holds what went to the SS7 network.
    sent: Vec<(AssociationNumber, Message)>,
    octets_sent: usize,
    indications: Vec<TransferIndication>,
}

fn server(routing_context: u32, key: TrafficKey) -> ApplicationServer {
    let server = ServerConfig { traffic_mode: Some(TrafficMode::Loadshare), ..ServerConfig::default() };
    ApplicationServer { routing_context, key, server }
}

fn config() -> SgpConfig {
    let servers =
        vec![server(1, TrafficKey::to_point_code(OWN)), server(2, TrafficKey::to_point_code(OTHER))];
    SgpConfig { servers, queue: QUEUE, ..SgpConfig::default() }
}

fn affected(point_codes: &[(u8, PointCode)]) -> AffectedDestinations {
    AffectedDestinations { point_codes: point_codes.to_vec(), ..AffectedDestinations::default() }
}

fn message(dpc: PointCode, sls: u8) -> Transfer {
    let label = RoutingLabel { dpc, opc: FAR, sls: Sls(sls) };
    Transfer { service: ServiceInformation::from_octet(0x85), label, user_data: Bytes::from_static(&[1]) }
}

impl Bench {
    /// The first ASP serves routing context 1, the other two context 2.
    fn new(config: SgpConfig) -> Self {
        let sgp = Sgp::new(config).unwrap();
        let mut bench =
            Self { now: Instant::START, sgp, sent: Vec::new(), octets_sent: 0, indications: Vec::new() };
        for (asp, context) in [(FIRST, 1), (SECOND, 2), (THIRD, 2)] {
            bench.activate(asp, context);
        }
        bench.clear();
        bench
    }

    fn activate(&mut self, asp: AssociationNumber, context: u32) {
        self.put(asp, TransportInput::Up { outbound_streams: 4 });
        self.put_message(asp, &Message::Asp(AspMessage::AspUp { asp_identifier: None, info: None }));
        let scope = RoutingContexts(vec![context]);
        let active = AspMessage::AspActive { traffic_mode: None, scope, labels: (), info: None };
        self.put_message(asp, &Message::Asp(active));
    }

    fn put(&mut self, asp: AssociationNumber, input: TransportInput) {
        self.sgp.handle_input(self.now, asp, input);
        self.drain();
    }

    fn put_message(&mut self, asp: AssociationNumber, message: &Message) {
        self.put(asp, input(3, message));
    }

    fn indicate(&mut self, indication: TransferIndication) {
        self.sgp.handle_indication(None, indication);
        self.drain();
    }

    fn transfer(&mut self, dpc: PointCode, sls: u8) {
        self.sgp.transfer(None, message(dpc, sls));
        self.drain();
    }

    fn drain(&mut self) {
        loop {
            match self.sgp.poll_output(self.now) {
                SgpOutput::Transmit(transmit) => {
                    self.octets_sent += transmit.octets.len();
                    self.sent.push((transmit.association, Message::parse(&transmit.octets).unwrap()));
                }
                SgpOutput::Indication(_, indication) => self.indications.push(indication),
                SgpOutput::Diverted { .. }
                | SgpOutput::Event(_)
                | SgpOutput::Examine { .. }
                | SgpOutput::Registration { .. } => {}
                SgpOutput::Wait(_) => return,
            }
        }
    }

    fn clear(&mut self) {
        self.sent.clear();
        self.indications.clear();
        self.octets_sent = 0;
    }

    /// The ASPs that got DATA since the last clearing, each with the selection.
    fn data(&self) -> Vec<(AssociationNumber, u8)> {
        let of = |(to, message): &(AssociationNumber, Message)| match message {
            Message::Data(data) => Some((*to, data.protocol_data.sls.0)),
            _ => None,
        };
        self.sent.iter().filter_map(of).collect()
    }

    /// The levels of the SCON that an ASP got for a point code.
    fn congestion_sent(&self, asp: AssociationNumber, code: PointCode) -> Vec<Option<u8>> {
        let of = |(to, message): &(AssociationNumber, Message)| match message {
            Message::Scon { affected, congestion_level, .. }
                if *to == asp && affected.point_codes.contains(&(0, code)) =>
            {
                Some(*congestion_level)
            }
            _ => None,
        };
        self.sent.iter().filter_map(of).collect()
    }

    /// The levels of congestion that the SS7 network was told of a point code.
    fn congestion_indicated(&self, code: PointCode) -> Vec<u8> {
        let of = |indication: &TransferIndication| match indication {
            TransferIndication::Status { affected, cause: StatusCause::Congestion(level) }
                if *affected == code =>
            {
                Some(*level)
            }
            _ => None,
        };
        self.indications.iter().filter_map(of).collect()
    }
}

fn input(payload_protocol: u32, message: &Message) -> TransportInput {
    let mut octets = Vec::new();
    message.emit(&mut octets);
    TransportInput::Message { stream: StreamNumber(0), payload_protocol, octets: octets.into() }
}

#[test]
fn each_status_of_an_international_network_is_passed_on_and_none_is_kept() {
    let mut bench = Bench::new(SgpConfig { international: vec![None], ..config() });
    bench.indicate(TransferIndication::Resume(FAR));
    bench.clear();
    // MTP3 tells of each transfer controlled, and never of an end.
    for _ in 0..3 {
        let cause = StatusCause::Congestion(1);
        bench.indicate(TransferIndication::Status { affected: FAR, cause });
    }
    assert_eq!(bench.congestion_sent(FIRST, FAR), [None; 3]);
    bench.clear();
    bench.now += Duration::from_secs(86_400);
    bench.put_message(FIRST, &Message::Daud(affected(&[(0, FAR)])));
    assert_eq!(bench.sent, [(FIRST, Message::Dava(affected(&[(0, FAR)])))]);
}

#[test]
fn one_congested_asp_of_several_is_told_of_since_its_selections_are() {
    let mut bench = Bench::new(config());
    bench.put(SECOND, TransportInput::Congested(true));
    assert_eq!(bench.congestion_indicated(OTHER), [1]);
    assert_eq!(bench.congestion_sent(FIRST, OTHER), [Some(1)]);
    bench.put(THIRD, TransportInput::Congested(true));
    bench.put(SECOND, TransportInput::Congested(false));
    assert_eq!(bench.congestion_indicated(OTHER), [1]);
    bench.put(THIRD, TransportInput::Congested(false));
    assert_eq!(bench.congestion_indicated(OTHER), [1, 0]);
}

#[test]
fn an_audit_that_names_everything_many_times_is_answered_once() {
    let mut bench = Bench::new(config());
    for code in 1_000..2_000 {
        bench.indicate(TransferIndication::Resume(PointCode(code)));
    }
    bench.clear();
    let everything = vec![(24, PointCode(0)); 8_000];
    bench.put_message(FIRST, &Message::Daud(affected(&everything)));
    let answers = bench.sent.len();
    assert!(answers <= 8, "{answers} messages of {} octets in all", bench.octets_sent);
    let available = bench.sent.iter().flat_map(|(_, message)| match message {
        Message::Dava(affected) => affected.point_codes.clone(),
        _ => Vec::new(),
    });
    assert_eq!(available.count(), 1_002);
}

#[test]
fn what_waits_for_the_default_application_server_is_told_of_by_its_destination() {
    let nothing = TrafficKey { network_appearance: None, destinations: Vec::new() };
    let servers = vec![server(1, TrafficKey::to_point_code(OWN)), server(2, nothing)];
    let mut bench = Bench::new(SgpConfig { servers, default_server: Some(2), ..config() });
    bench.indicate(TransferIndication::Resume(FAR));
    bench.put(SECOND, TransportInput::Down);
    bench.put(THIRD, TransportInput::Down);
    bench.clear();
    for sls in 0..12 {
        bench.transfer(OTHER, sls);
        if bench.sgp.counters().dropped_in_all() > 0 {
            assert_eq!(bench.congestion_indicated(OTHER), [1]);
        }
    }
    // One that comes only now is told of as well, before it is refused.
    bench.transfer(PointCode(103), 0);
    assert_eq!(bench.congestion_indicated(PointCode(103)), [1]);
    assert_eq!(bench.congestion_sent(FIRST, OTHER), [Some(1)]);
    assert_eq!(bench.sgp.counters().dropped(DropReason::QueueFull), 5);
    bench.activate(THIRD, 2);
    assert_eq!(bench.congestion_indicated(OTHER), [1, 0]);
    assert_eq!(bench.congestion_indicated(PointCode(103)), [1, 0]);
    assert_eq!(bench.congestion_sent(FIRST, OTHER), [Some(1), Some(0)]);
}

#[test]
fn a_point_code_that_a_changed_key_has_no_more_is_paused() {
    let registration = Registration::Dynamic {
        servers_max: 4,
        first_routing_context: 7,
        permitted: Vec::new(),
        denied: Vec::new(),
        permanent: Vec::new(),
        changes: KeyChanges::Allowed,
    };
    let mut bench = Bench::new(SgpConfig { registration, ..config() });
    let key = |routing_context, dpc| RoutingKey {
        local_identifier: 1,
        routing_context,
        traffic_mode: None,
        network_appearance: None,
        destinations: vec![KeyDestination { dpc, service_indicators: Vec::new(), opcs: Vec::new() }],
        others: Vec::new(),
    };
    bench.put_message(THIRD, &Message::RegReq { keys: vec![key(None, PointCode(300))] });
    let scope = RoutingContexts(vec![7]);
    let active = AspMessage::AspActive { traffic_mode: None, scope, labels: (), info: None };
    bench.put_message(THIRD, &Message::Asp(active));
    assert!(bench.indications.contains(&TransferIndication::Resume(PointCode(300))));
    bench.clear();
    bench.put_message(THIRD, &Message::RegReq { keys: vec![key(Some(7), PointCode(400))] });
    assert_eq!(bench.sgp.availability((None, PointCode(300))), Availability::Unavailable);
    let changes = [TransferIndication::Pause(PointCode(300)), TransferIndication::Resume(PointCode(400))];
    assert_eq!(bench.indications, changes);
    let indicated = |message: &Message, code| match message {
        Message::Duna(affected) | Message::Dava(affected) => affected.point_codes == [(0, PointCode(code))],
        _ => false,
    };
    let to_first: Vec<_> = bench.sent.iter().filter(|(to, _)| *to == FIRST).collect();
    assert!(
        matches!(&to_first[..], [(_, duna @ Message::Duna(_)), (_, dava @ Message::Dava(_))]
        if indicated(duna, 300) && indicated(dava, 400)),
        "{to_first:?}"
    );
}

#[test]
fn a_message_of_another_protocol_is_thrown_away_in_silence_and_counted() {
    let mut bench = Bench::new(config());
    bench.put(FIRST, input(5, &Message::Daud(affected(&[(0, FAR)]))));
    assert_eq!(bench.sent, []);
    assert_eq!(bench.sgp.counters().wrong_payload_protocol, 1);
    // A sender that gives none is understood.
    bench.put(FIRST, input(0, &Message::Daud(affected(&[(0, FAR)]))));
    assert_eq!(bench.sent.len(), 1);
}

#[test]
fn without_levels_what_waits_is_told_of_again_for_every_eighth_message_and_its_end_is_not() {
    let mut bench = Bench::new(SgpConfig { international: vec![None], ..config() });
    bench.put(SECOND, TransportInput::Down);
    bench.put(THIRD, TransportInput::Down);
    bench.clear();
    // The fourth is the onset; the twelfth and the twentieth are eight later each.
    for sls in 0..20 {
        bench.transfer(OTHER, sls);
    }
    assert_eq!(bench.congestion_sent(FIRST, OTHER), [None; 3]);
    bench.activate(THIRD, 2);
    assert_eq!(bench.congestion_sent(FIRST, OTHER), [None; 3]);
    // The interworking function keeps a status, and hears of the end.
    assert_eq!(bench.congestion_indicated(OTHER), [1, 0]);
}

#[test]
fn the_active_asps_of_a_loadshare_share_the_selections() {
    let mut bench = Bench::new(config());
    for sls in 0..6 {
        bench.transfer(OTHER, sls);
    }
    let shared = [(SECOND, 0), (THIRD, 1), (SECOND, 2), (THIRD, 3), (SECOND, 4), (THIRD, 5)];
    assert_eq!(bench.data(), shared);
    // One that is left has them all.
    bench.put(SECOND, TransportInput::Down);
    bench.clear();
    for sls in 0..3 {
        bench.transfer(OTHER, sls);
    }
    assert_eq!(bench.data(), [(THIRD, 0), (THIRD, 1), (THIRD, 2)]);
}

#[test]
fn traffic_starts_with_as_many_asps_as_the_redundancy_needs_and_then_goes_on_with_one() {
    let mut config = config();
    config.servers[1].server.needed_active = 2;
    let sgp = Sgp::new(config).unwrap();
    let (sent, indications) = (Vec::new(), Vec::new());
    let mut bench = Bench { now: Instant::START, sgp, sent, octets_sent: 0, indications };
    bench.activate(SECOND, 2);
    bench.transfer(OTHER, 0);
    assert_eq!(bench.data(), []);
    assert_eq!(bench.sgp.counters().dropped(DropReason::NoActiveAsp), 1);
    assert_eq!(bench.sgp.availability((None, OTHER)), Availability::Unavailable);
    bench.activate(THIRD, 2);
    assert_eq!(bench.sgp.availability((None, OTHER)), Availability::Available);
    bench.transfer(OTHER, 0);
    bench.put(SECOND, TransportInput::Down);
    bench.transfer(OTHER, 0);
    assert_eq!(bench.data(), [(SECOND, 0), (THIRD, 0)]);
}

#[test]
fn what_waits_for_an_asp_goes_in_the_order_in_which_it_came() {
    let mut bench = Bench::new(config());
    bench.put(SECOND, TransportInput::Down);
    bench.put(THIRD, TransportInput::Down);
    for sls in [5, 0, 7, 2] {
        bench.transfer(OTHER, sls);
    }
    assert_eq!(bench.data(), []);
    bench.activate(THIRD, 2);
    assert_eq!(bench.data(), [(THIRD, 5), (THIRD, 0), (THIRD, 7), (THIRD, 2)]);
}

#[test]
fn the_first_message_of_each_flow_of_a_broadcast_is_tagged_whenever_an_asp_becomes_active() {
    let mut config = config();
    config.servers[1].server.traffic_mode = Some(TrafficMode::Broadcast);
    let mut bench = Bench::new(config);
    let tags = |bench: &mut Bench| -> Vec<_> {
        bench.clear();
        for sls in [0, 1, 0, 255, 1] {
            bench.transfer(OTHER, sls);
        }
        let of = |(to, message): &(AssociationNumber, Message)| match message {
            Message::Data(data) => Some((*to, data.protocol_data.sls.0, data.correlation_id)),
            _ => None,
        };
        bench.sent.iter().filter_map(of).collect()
    };
    let to_both = |tagged: [Option<u32>; 5]| -> Vec<_> {
        let flows = [0, 1, 0, 255, 1].into_iter().zip(tagged);
        flows.flat_map(|(sls, tag)| [SECOND, THIRD].map(|asp| (asp, sls, tag))).collect()
    };
    assert_eq!(tags(&mut bench), to_both([Some(1), Some(2), None, Some(3), None]));
    assert_eq!(tags(&mut bench), to_both([None; 5]));
    bench.put(THIRD, TransportInput::Down);
    bench.activate(THIRD, 2);
    assert_eq!(tags(&mut bench), to_both([Some(4), Some(5), None, Some(6), None]));
}

#[test]
fn what_waits_for_an_asp_longer_than_the_recovery_timer_is_thrown_away_and_counted() {
    let mut bench = Bench::new(config());
    bench.put(SECOND, TransportInput::Down);
    bench.put(THIRD, TransportInput::Down);
    for sls in 0..3 {
        bench.transfer(OTHER, sls);
    }
    let moment = Duration::from_nanos(1);
    for (time, expired) in [(Duration::from_secs(2) - moment, 0), (moment, 3)] {
        bench.now += time;
        bench.sgp.handle_deadline(bench.now);
        bench.drain();
        assert_eq!(bench.sgp.counters().dropped(DropReason::RecoveryExpired), expired);
    }
    bench.activate(THIRD, 2);
    assert_eq!(bench.data(), []);
}

#[test]
fn a_reload_leaves_what_is_in_both_alone_and_tells_what_is_not() {
    let mut bench = Bench::new(config());
    // Context 2 goes, 3 comes for the same point code; the third ASP is in neither list now.
    let mut third = server(3, TrafficKey::to_point_code(OTHER));
    third.server.members = Members::Only(vec![SECOND]);
    let other = SgpConfig { servers: vec![server(1, TrafficKey::to_point_code(OWN)), third], ..config() };
    bench.sgp.reconfigure(bench.now, other).unwrap();
    bench.drain();
    assert_eq!(bench.sgp.as_state(1), Some(AsState::Active));
    assert_eq!((bench.sgp.as_state(2), bench.sgp.as_state(3)), (None, Some(AsState::Inactive)));
    let of_first = bench.sent.iter().filter(|(to, _)| *to == FIRST);
    // It hears that the other point code is lost, and no word about its own traffic.
    let is_of_others = |message: &Message| match message {
        Message::Asp(AspMessage::Ntfy { scope, .. }) => scope.0 == [2],
        other => matches!(other, Message::Duna(_)),
    };
    assert!(of_first.clone().all(|(_, message)| is_of_others(message)), "{:?}", bench.sent);
    for asp in [SECOND, THIRD] {
        let mut own = bench.sent.iter().filter(|(to, _)| *to == asp).map(|(_, message)| message);
        assert!(own.any(|sent| matches!(sent, Message::Asp(AspMessage::AspInactiveAck { .. }))));
    }
    assert_eq!(bench.indications, [TransferIndication::Pause(OTHER)]);
    bench.clear();
    let scope = RoutingContexts(vec![3]);
    let active = AspMessage::AspActive { traffic_mode: None, scope, labels: (), info: None };
    bench.put_message(SECOND, &Message::Asp(active.clone()));
    bench.put_message(THIRD, &Message::Asp(active));
    bench.transfer(OTHER, 3);
    bench.transfer(OWN, 3);
    assert_eq!(bench.data(), [(SECOND, 3), (FIRST, 3)]);
    assert_eq!(bench.indications, [TransferIndication::Resume(OTHER)]);
}

#[test]
fn what_waits_for_an_application_server_waits_over_a_reload() {
    let mut bench = Bench::new(config());
    bench.put(FIRST, TransportInput::Down);
    bench.clear();
    bench.transfer(OWN, 5);
    let mut own = server(1, TrafficKey::to_point_code(OWN));
    own.server.members = Members::Only(vec![FIRST, THIRD]);
    let other = SgpConfig { servers: vec![own, server(2, TrafficKey::to_point_code(OTHER))], ..config() };
    bench.sgp.reconfigure(bench.now, other).unwrap();
    bench.drain();
    assert_eq!((bench.sgp.as_state(1), bench.sgp.waiting()), (Some(AsState::Pending), 1));
    bench.activate(THIRD, 1);
    assert_eq!(bench.data(), [(THIRD, 5)]);
}

#[test]
fn a_configuration_that_contradicts_itself_changes_nothing() {
    let mut bench = Bench::new(config());
    let twice = SgpConfig { servers: vec![server(1, TrafficKey::to_point_code(OWN)); 2], ..config() };
    assert!(bench.sgp.reconfigure(bench.now, twice).is_err());
    bench.drain();
    assert!(bench.sent.is_empty() && bench.indications.is_empty());
    assert_eq!([1, 2].map(|context| bench.sgp.as_state(context)), [Some(AsState::Active); 2]);
}

#[test]
fn point_codes_of_another_variant_go_nowhere_and_their_sender_is_told() {
    let mut bench = Bench::new(config());
    bench.indicate(TransferIndication::Resume(FAR));
    // Of 24 bits, where 14 are in a label: cut off, each would be a point that there is.
    let longer = |code: PointCode| PointCode(1 << 14 | code.0);
    for (opc, dpc) in [(longer(OWN), FAR), (longer(OTHER), OTHER), (OWN, longer(FAR)), (OWN, FAR)] {
        let label = RoutingLabel { dpc, opc, sls: Sls(1) };
        let protocol_data = Transfer { label, ..message(dpc, 1) }.into();
        let data =
            Data { network_appearance: None, routing_context: Some(1), protocol_data, correlation_id: None };
        let mut octets = Vec::new();
        Message::Data(data).emit(&mut octets);
        let (stream, payload_protocol, octets) = (StreamNumber(1), 3, octets.into());
        bench.clear();
        bench.put(FIRST, TransportInput::Message { stream, payload_protocol, octets });
        let is_whole = (opc, dpc) == (OWN, FAR);
        let came = (bench.indications.len(), bench.data());
        assert_eq!(came, (usize::from(is_whole), vec![]), "{opc:?} {dpc:?}");
        assert_eq!(bench.sent.is_empty(), is_whole, "{:?}", bench.sent);
    }
}

#[test]
fn a_flood_of_asp_up_and_daud_is_answered_one_by_one_and_leaves_the_others_alone() {
    const MANY: usize = 10_000;
    let mut bench = Bench::new(config());
    bench.indicate(TransferIndication::Resume(FAR));
    bench.clear();
    for _ in 0..MANY {
        // Every point code, and one that is named fifty times.
        let codes: Vec<_> = std::iter::once((14, PointCode(0))).chain([(0, FAR); 50]).collect();
        bench.put_message(FIRST, &Message::Daud(affected(&codes)));
    }
    assert_eq!(bench.sent.len(), MANY, "a DAVA each");
    assert!(bench.octets_sent < MANY * 100);
    bench.clear();
    for _ in 0..MANY {
        bench.put_message(FIRST, &Message::Asp(AspMessage::AspUp { asp_identifier: None, info: None }));
    }
    let told = bench.sent.iter().filter(|(to, _)| *to != FIRST).count();
    // An Ack for each. The first finds it active: an ERR, and to each of the three one NTFY of AS-PENDING.
    assert_eq!((bench.sent.len(), told), (MANY + 4, 2));
    bench.clear();
    bench.transfer(OTHER, 0);
    assert_eq!((bench.data().len(), bench.sgp.waiting()), (1, 0));
}
