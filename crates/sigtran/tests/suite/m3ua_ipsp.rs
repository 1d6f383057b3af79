//! Two IP server processes that speak to each other, with single and with double exchange.
use bytes::Bytes;
use slantpath_base::{Duration, Instant};
use slantpath_sigtran::asp::AspState;
use slantpath_sigtran::m3ua::{DropReason, Exchange, Ipsp, IpspConfig, IpspOutput, TrafficFlow};
use slantpath_sigtran::transport::TransportInput;
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::{RoutingLabel, ServiceInformation, Sls};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

const ALICE: PointCode = PointCode(1);
const BOB: PointCode = PointCode(2);

/// Both processes, what each tells its users.
struct Pair {
    now: Instant,
    ends: [Ipsp; 2],
    indicated: [Vec<TransferIndication>; 2],
}

fn flow(routing_context: u32, code: PointCode) -> TrafficFlow {
    TrafficFlow { routing_context, network_appearance: None, point_codes: vec![code], traffic_mode: None }
}

impl Pair {
    fn new(exchange: Exchange) -> Self {
        // With single exchange one routing key stands for both directions.
        let (to_alice, to_bob) = match exchange {
            Exchange::Single => (flow(7, ALICE), flow(7, BOB)),
            Exchange::Double => (flow(7, ALICE), flow(8, BOB)),
        };
        let end = |inbound: &TrafficFlow, outbound: &TrafficFlow| {
            let (inbound, outbound) = (vec![inbound.clone()], vec![outbound.clone()]);
            Ipsp::new(IpspConfig { exchange, inbound, outbound, ..IpspConfig::default() }).unwrap()
        };
        let ends = [end(&to_alice, &to_bob), end(&to_bob, &to_alice)];
        let mut pair = Self { now: Instant::START, ends, indicated: Default::default() };
        pair.connect();
        pair
    }

    fn connect(&mut self) {
        for end in &mut self.ends {
            end.handle_input(self.now, TransportInput::Up { outbound_streams: 17 });
        }
        self.exchange();
    }

    fn lose(&mut self) {
        for end in &mut self.ends {
            end.handle_input(self.now, TransportInput::Down);
        }
        self.exchange();
    }

    fn exchange(&mut self) {
        loop {
            let mut is_quiet = true;
            for from in [0, 1] {
                loop {
                    match self.ends[from].poll_output(self.now) {
                        IpspOutput::Wait(_) => break,
                        IpspOutput::Indication(_, indication) => self.indicated[from].push(indication),
                        IpspOutput::Transmit(transmit) => {
                            is_quiet = false;
                            let input = TransportInput::Message {
                                stream: transmit.stream,
                                payload_protocol: transmit.payload_protocol,
                                octets: transmit.octets,
                            };
                            self.ends[1 - from].handle_input(self.now, input);
                        }
                        IpspOutput::OwnEvent(_) | IpspOutput::PeerEvent(_) => {}
                    }
                }
            }
            if is_quiet {
                return;
            }
        }
    }

    fn start(&mut self, end: usize) {
        self.ends[end].up(self.now);
        self.ends[end].activate(self.now, &[]);
        self.exchange();
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
        for end in &mut self.ends {
            end.handle_deadline(self.now);
        }
        self.exchange();
    }

    fn transfer(&mut self, from: usize) -> Transfer {
        let (opc, dpc) = if from == 0 { (ALICE, BOB) } else { (BOB, ALICE) };
        let label = RoutingLabel { dpc, opc, sls: Sls(3) };
        let service = ServiceInformation::from_octet(0x85);
        let message = Transfer { service, label, user_data: Bytes::from_static(b"hello") };
        self.ends[from].transfer(self.now, None, message.clone());
        self.exchange();
        message
    }
}

#[test]
fn with_single_exchange_one_request_opens_both_directions() {
    for starter in [0, 1] {
        let mut pair = Pair::new(Exchange::Single);
        pair.start(starter);
        for end in &pair.ends {
            assert_eq!((end.inbound_state(7), end.outbound_state(7)), (AspState::Active, AspState::Active));
        }
        assert_eq!(
            pair.indicated,
            [vec![TransferIndication::Resume(BOB)], vec![TransferIndication::Resume(ALICE)]]
        );
        for from in [0, 1] {
            let message = pair.transfer(from);
            assert_eq!(pair.indicated[1 - from].last(), Some(&TransferIndication::Transfer(message)));
        }
    }
}

#[test]
fn with_single_exchange_either_end_closes_both_directions() {
    for closer in [0, 1] {
        let mut pair = Pair::new(Exchange::Single);
        pair.start(0);
        let now = pair.now;
        pair.ends[closer].deactivate(now, &[]);
        pair.exchange();
        for end in &pair.ends {
            let states = (end.inbound_state(7), end.outbound_state(7));
            assert_eq!(states, (AspState::Inactive, AspState::Inactive), "{closer}");
        }
        pair.ends[closer].down(now);
        pair.exchange();
        assert!(pair.ends.iter().all(|end| end.inbound_state(7) == AspState::Down));
    }
}

#[test]
fn requests_that_cross_leave_both_ends_of_one_mind() {
    let mut pair = Pair::new(Exchange::Single);
    let now = pair.now;
    for end in &mut pair.ends {
        end.up(now);
        end.activate(now, &[]);
    }
    pair.exchange();
    pair.wait(Duration::from_secs(10));
    assert!(pair.ends.iter().all(|end| end.outbound_state(7) == AspState::Active));
}

#[test]
fn with_double_exchange_each_direction_is_asked_for_by_itself() {
    let mut pair = Pair::new(Exchange::Double);
    pair.start(0);
    // Traffic to Alice flows, traffic to Bob does not yet.
    let message = pair.transfer(1);
    assert_eq!(pair.indicated[0], [TransferIndication::Transfer(message)]);
    assert_eq!(pair.indicated[1], [TransferIndication::Resume(ALICE)]);
    pair.transfer(0);
    assert_eq!(pair.ends[0].outbound_counters().dropped(DropReason::NoActiveAsp), 1);
    pair.start(1);
    let message = pair.transfer(0);
    assert_eq!(pair.indicated[1].last(), Some(&TransferIndication::Transfer(message)));
}

#[test]
fn messages_wait_for_an_association_that_comes_back_in_time() {
    let mut pair = Pair::new(Exchange::Single);
    pair.start(0);
    pair.lose();
    let message = pair.transfer(1);
    assert_eq!(pair.ends[1].waiting(), 1);
    pair.wait(Duration::from_secs(1));
    pair.connect();
    assert_eq!(pair.indicated[0].last(), Some(&TransferIndication::Transfer(message)));
    assert_eq!(pair.ends[1].waiting(), 0);
    // Nobody has noticed anything but the starter's new request.
    assert!(!pair.indicated[1].contains(&TransferIndication::Pause(ALICE)));
    pair.lose();
    pair.wait(Duration::from_secs(2));
    assert_eq!(pair.indicated[1].last(), Some(&TransferIndication::Pause(ALICE)));
}

#[test]
fn single_exchange_with_routing_contexts_of_one_direction_is_refused() {
    let (inbound, outbound) = (vec![flow(7, ALICE)], vec![flow(8, BOB)]);
    let error = Ipsp::new(IpspConfig { inbound, outbound, ..IpspConfig::default() }).unwrap_err();
    assert!(error.to_string().contains("for both"), "{error}");
}
