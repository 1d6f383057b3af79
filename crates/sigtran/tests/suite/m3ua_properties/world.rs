//! Three ASPs and an SGP over wires that delay; an association that is lost takes with it what is under way.

use std::collections::BTreeMap;

use proptest::prelude::*;
use slantpath_base::{Duration, Instant, Seed};
use slantpath_sigtran::asp::{Members, ServerConfig, ServerName, TrafficMode};
use slantpath_sigtran::m3ua::{
    ApplicationServer, Asp, AspConfig, AspOutput, ServedServer, Sgp, SgpConfig, SgpOutput, TrafficKey,
};
use slantpath_sigtran::transport::{AssociationNumber, StreamNumber, Transmit, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::transfer::{StatusCause, TransferIndication};
use slantpath_testkit::{Wire, WireFaults};

use super::inputs::{message, queue};

pub(crate) const ASPS: usize = 3;
pub(crate) const CONTEXT: u32 = 1;
pub(crate) const POINT: PointCode = PointCode(1);

/// Something happens; ASPs by number.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Connect(usize),
    Lose(usize),
    Restart(usize),
    Up(usize),
    Down(usize),
    Deactivate(usize),
    LockOut(usize),
    Unlock(usize),
    Transfers(u8, u8),
    Wait(Duration),
}

pub(crate) fn any_step() -> impl Strategy<Value = Step> {
    let number = || 0..ASPS;
    prop_oneof![
        4 => number().prop_map(Step::Connect),
        1 => number().prop_map(Step::Lose),
        1 => number().prop_map(Step::Restart),
        4 => number().prop_map(Step::Up),
        1 => number().prop_map(Step::Down),
        1 => number().prop_map(Step::Deactivate),
        1 => number().prop_map(Step::LockOut),
        1 => number().prop_map(Step::Unlock),
        6 => (0_u8..16, 1_u8..6).prop_map(|(sls, count)| Step::Transfers(sls, count)),
        6 => (0_u64..3_000).prop_map(|time| Step::Wait(Duration::from_millis(time))),
    ]
}

pub(crate) fn association(number: usize) -> AssociationNumber {
    AssociationNumber(u32::try_from(number).unwrap())
}

/// Octets that an association carries: the stream, then the octets of the message.
type Carried = Vec<u8>;

/// One association, and both directions.
struct Path {
    is_up: bool,
    to_sgp: Wire<Carried>,
    to_asp: Wire<Carried>,
}

/// All of them.
pub(crate) struct World {
    now: Instant,
    seed: Seed,
    epochs: u64,
    pub(crate) sgp: Sgp,
    pub(crate) asps: Vec<Asp>,
    paths: Vec<Path>,
    sent: u32,
    /// The numbers that each ASP got, by signalling link selection.
    got: Vec<BTreeMap<u8, Vec<u32>>>,
    indications: Vec<TransferIndication>,
}

const DELAY: Duration = Duration::from_millis(40);

impl World {
    pub(crate) fn new(mode: TrafficMode, seed: u64) -> Self {
        let server = ServerConfig {
            traffic_mode: Some(mode),
            needed_active: 1,
            members: Members::Only((0..ASPS).map(association).collect()),
        };
        let servers = vec![ApplicationServer {
            routing_context: CONTEXT,
            key: TrafficKey::to_point_code(POINT),
            server,
        }];
        let asp = |number| {
            let served = ServedServer {
                name: ServerName::Named(CONTEXT),
                network_appearance: None,
                point_codes: vec![POINT],
                traffic_mode: Some(mode),
            };
            let gateways = vec![association(number)];
            Asp::new(AspConfig { gateways, servers: vec![served], ..AspConfig::default() }).unwrap()
        };
        let seed = Seed::new(seed, 0);
        let mut world = Self {
            now: Instant::START,
            seed,
            epochs: 0,
            sgp: Sgp::new(SgpConfig { servers, queue: queue(), ..SgpConfig::default() }).unwrap(),
            asps: (0..ASPS).map(asp).collect(),
            paths: Vec::new(),
            sent: 0,
            got: vec![BTreeMap::new(); ASPS],
            indications: Vec::new(),
        };
        world.paths = (0..ASPS).map(|_| world.path(false)).collect();
        world
    }

    fn path(&mut self, is_up: bool) -> Path {
        self.epochs += 1;
        let epochs = self.epochs;
        let wire =
            |name: &str| Wire::new(WireFaults::none(DELAY), self.seed.stream(&format!("{name}/{epochs}")));
        Path { is_up, to_sgp: wire("to-sgp"), to_asp: wire("to-asp") }
    }

    pub(crate) fn step(&mut self, step: &Step) {
        let now = self.now;
        match *step {
            Step::Connect(number) if !self.paths[number].is_up => {
                self.paths[number] = self.path(true);
                self.input_both(number, &TransportInput::Up { outbound_streams: 5 });
            }
            Step::Lose(number) if self.paths[number].is_up => {
                self.paths[number] = self.path(false);
                self.input_both(number, &TransportInput::Down);
            }
            Step::Restart(number) if self.paths[number].is_up => {
                self.paths[number] = self.path(true);
                self.input_both(number, &TransportInput::Restart);
            }
            Step::Connect(_) | Step::Lose(_) | Step::Restart(_) => {}
            Step::Up(number) => {
                self.asps[number].up(now, association(number));
                self.asps[number].activate(now, association(number), &[]);
            }
            Step::Down(number) => self.asps[number].down(now, association(number)),
            Step::Deactivate(number) => self.asps[number].deactivate(now, association(number), &[]),
            Step::LockOut(number) => self.sgp.lock_out(now, association(number)),
            Step::Unlock(number) => self.sgp.unlock(association(number)),
            Step::Transfers(sls, count) => {
                for _ in 0..count {
                    self.sent += 1;
                    self.sgp.transfer(None, message(POINT, sls, self.sent));
                }
            }
            Step::Wait(time) => self.run_until(now + time),
        }
        self.collect();
    }

    fn input_both(&mut self, number: usize, input: &TransportInput) {
        self.sgp.handle_input(self.now, association(number), input.clone());
        self.asps[number].handle_input(self.now, association(number), input.clone());
        self.collect();
    }

    /// Takes what everybody says, onto the wires; the earliest deadline.
    fn collect(&mut self) -> Option<Instant> {
        let mut deadlines = Vec::new();
        loop {
            match self.sgp.poll_output(self.now) {
                SgpOutput::Transmit(transmit) => {
                    let path = &mut self.paths[transmit.association.0 as usize];
                    assert!(path.is_up, "an association that is down was sent {transmit:?}");
                    path.to_asp.send(self.now, pack(&transmit));
                }
                SgpOutput::Indication(_, indication) => self.indications.push(indication),
                SgpOutput::Diverted { .. }
                | SgpOutput::Event(_)
                | SgpOutput::Examine { .. }
                | SgpOutput::Registration { .. } => {}
                SgpOutput::Wait(deadline) => break deadlines.push(deadline),
            }
        }
        for (number, asp) in self.asps.iter_mut().enumerate() {
            loop {
                match asp.poll_output(self.now) {
                    AspOutput::Transmit(transmit) => {
                        assert!(self.paths[number].is_up, "{transmit:?}");
                        self.paths[number].to_sgp.send(self.now, pack(&transmit));
                    }
                    AspOutput::Indication(_, TransferIndication::Transfer(transfer)) => {
                        let octets = transfer.user_data[..].try_into().unwrap();
                        let numbers = self.got[number].entry(transfer.label.sls.0).or_default();
                        numbers.push(u32::from_be_bytes(octets));
                    }
                    AspOutput::Wait(deadline) => break deadlines.push(deadline),
                    _ => {}
                }
            }
        }
        let arrivals = self.paths.iter().flat_map(|path| [&path.to_sgp, &path.to_asp]);
        deadlines.into_iter().flatten().chain(arrivals.filter_map(Wire::next_arrival)).min()
    }

    fn run_until(&mut self, end: Instant) {
        while let Some(next) = self.collect().filter(|next| *next <= end) {
            self.now = next.max(self.now);
            for number in 0..ASPS {
                while let Some(carried) = self.paths[number].to_sgp.receive(self.now) {
                    self.sgp.handle_input(self.now, association(number), unpack(&carried));
                }
                while let Some(carried) = self.paths[number].to_asp.receive(self.now) {
                    self.asps[number].handle_input(self.now, association(number), unpack(&carried));
                }
                self.asps[number].handle_deadline(self.now);
            }
            self.sgp.handle_deadline(self.now);
        }
        self.now = end;
    }

    /// Tells whether each ASP got the messages of each selection in the order in which they were sent, none twice.
    pub(crate) fn is_in_sequence(&self) -> bool {
        let increases = |numbers: &Vec<u32>| numbers.windows(2).all(|pair| pair[0] < pair[1]);
        self.got.iter().flat_map(BTreeMap::values).all(increases)
    }

    pub(crate) fn drain_indications(&mut self) -> Vec<TransferIndication> {
        self.collect();
        std::mem::take(&mut self.indications)
    }
}

/// Tells whether an indication says that its point code is congested.
pub(crate) fn is_congestion(indication: &TransferIndication) -> bool {
    let TransferIndication::Status { cause: StatusCause::Congestion(level), .. } = indication else {
        return false;
    };
    *level > 0
}

fn pack(transmit: &Transmit) -> Carried {
    let mut carried = transmit.stream.0.to_be_bytes().to_vec();
    carried.extend_from_slice(&transmit.octets);
    carried
}

fn unpack(carried: &[u8]) -> TransportInput {
    let (stream, octets) = carried.split_first_chunk().unwrap();
    TransportInput::Message {
        stream: StreamNumber(u16::from_be_bytes(*stream)),
        payload_protocol: 3,
        octets: octets.to_vec().into(),
    }
}
