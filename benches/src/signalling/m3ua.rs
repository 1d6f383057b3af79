//! M3UA: reading and writing messages, and an MSU's way from an ASP over a gateway to another ASP.

use std::hint::black_box;

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_sigtran::asp::{self, AspMessage, Members, RoutingContexts, ServerName, TrafficMode};
use slantpath_sigtran::m3ua::{
    self, AffectedDestinations, AspOutput, ProtocolData, ServedServer, Sgp, SgpConfig, SgpOutput, TrafficKey,
};
use slantpath_sigtran::transport::{AssociationNumber, Transmit, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::{RoutingLabel, ServiceInformation, Sls};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use crate::rounds::{Contestant, Failure, Work, medians};
use crate::signalling::Delays;
use crate::table::{Row, Table};

const ROUNDS: usize = 5;

/// Octets of an MSU's signalling information field: a short ISUP message.
const MSU_LEN: usize = 60;

/// Least number of MSUs per CPU second that a gateway is to forward, for each core.
const REQUIRED_MSUS: f64 = 500_000.0;

/// Largest delay that forwarding may add for 99 of 100 messages, in microseconds.
const LIMIT_US: f64 = 20.0;

fn data(len: usize) -> m3ua::Message {
    let protocol_data = ProtocolData {
        opc: PointCode(1),
        dpc: PointCode(2),
        service_indicator: 5,
        network_indicator: 2,
        priority: 0,
        sls: Sls(7),
        user_data: Bytes::from(vec![0x5a; len]),
    };
    m3ua::Message::Data(m3ua::Data {
        network_appearance: None,
        routing_context: Some(7),
        protocol_data,
        correlation_id: None,
    })
}

/// The messages that both sides read and write: traffic of three lengths, and the usual others.
fn messages() -> Vec<(&'static str, Bytes)> {
    let scope = RoutingContexts(vec![7]);
    let duna = AffectedDestinations {
        routing_contexts: vec![7],
        point_codes: vec![(0, PointCode(5)), (0, PointCode(6))],
        ..AffectedDestinations::default()
    };
    let all = [
        ("DATA, 60 octets", data(60)),
        ("DATA, 120 octets", data(120)),
        ("DATA, 270 octets", data(270)),
        ("ASP Up", m3ua::Message::Asp(AspMessage::AspUp { asp_identifier: Some(1), info: None })),
        (
            "ASP Active",
            m3ua::Message::Asp(AspMessage::AspActive {
                traffic_mode: Some(TrafficMode::Loadshare),
                scope,
                labels: (),
                info: None,
            }),
        ),
        ("DUNA", m3ua::Message::Duna(duna)),
    ];
    all.into_iter()
        .map(|(name, message)| {
            let mut octets = Vec::new();
            message.emit(&mut octets);
            (name, octets.into())
        })
        .collect()
}

/// Reading and writing again, against the crate `m3ua`.
///
/// # Errors
/// If a side cannot read a message or writes another.
pub fn codec() -> Result<Table, Failure> {
    let mut rows = Vec::new();
    for (name, octets) in messages() {
        let times = 3_000_000;
        let ours = || {
            for _ in 0..times {
                let message = m3ua::Message::parse(black_box(&octets))?;
                let mut out = Vec::with_capacity(octets.len());
                message.emit(&mut out);
                black_box(&out);
            }
            Ok(Work::Here { units: f64::from(times) })
        };
        let theirs = || {
            for _ in 0..times {
                let message = ::m3ua::M3uaMessage::decode(black_box(&octets))?;
                // What a DATA message holds is read too: without it there is nothing to route by.
                if message.message_type == ::m3ua::MessageType::Data {
                    black_box(message.protocol_data()?);
                }
                black_box(message.encode());
            }
            Ok(Work::Here { units: f64::from(times) })
        };
        let mut contestants = [
            Contestant { name: "slantpath", work: Box::new(ours) },
            Contestant { name: "m3ua", work: Box::new(theirs) },
        ];
        let speeds = medians(&mut contestants, ROUNDS)?;
        let peer = Some(("m3ua".to_owned(), speeds[1]));
        rows.push(Row { case: format!("M3UA, {name}"), ours: speeds[0], peer });
    }
    Ok(Table { unit: "messages read and written".into(), rows })
}

/// Two ASPs with a point code each, and the gateway between them.
struct Gateway {
    asps: [m3ua::Asp; 2],
    sgp: Sgp,
}

const CALLING: PointCode = PointCode(1);
const CALLED: PointCode = PointCode(2);

impl Gateway {
    /// All are active, and know that the others are.
    fn new() -> Result<Self, Failure> {
        let server = |routing_context, code| m3ua::ApplicationServer {
            routing_context,
            key: TrafficKey::to_point_code(code),
            server: asp::ServerConfig { members: Members::Any, ..asp::ServerConfig::default() },
        };
        let servers = vec![server(1, CALLING), server(2, CALLED)];
        let sgp = Sgp::new(SgpConfig { servers, ..SgpConfig::default() })?;
        let asp = |routing_context, own, other, gateway| {
            m3ua::Asp::new(m3ua::AspConfig {
                gateways: vec![gateway],
                servers: vec![ServedServer {
                    name: ServerName::Named(routing_context),
                    network_appearance: None,
                    point_codes: vec![own],
                    traffic_mode: None,
                }],
                destinations: vec![m3ua::Destination {
                    network_appearance: None,
                    point_code: other,
                    gateways: vec![(gateway, 0)],
                }],
                ..m3ua::AspConfig::default()
            })
        };
        let asps =
            [asp(1, CALLING, CALLED, AssociationNumber(0))?, asp(2, CALLED, CALLING, AssociationNumber(1))?];
        let mut gateway = Self { asps, sgp };
        let now = Instant::START;
        for (number, association) in [AssociationNumber(0), AssociationNumber(1)].into_iter().enumerate() {
            let up = || TransportInput::Up { outbound_streams: 17 };
            gateway.sgp.handle_input(now, association, up());
            gateway.asps[number].handle_input(now, association, up());
            gateway.asps[number].up(now, association);
            gateway.asps[number].activate(now, association, &[]);
        }
        while gateway.exchange(now) > 0 {}
        Ok(gateway)
    }

    /// Carries what there is to carry once around. How many messages came to users.
    fn exchange(&mut self, now: Instant) -> usize {
        let mut moved = 0;
        for asp in &mut self.asps {
            loop {
                match asp.poll_output(now) {
                    AspOutput::Transmit(transmit) => {
                        moved += 1;
                        let association = transmit.association;
                        self.sgp.handle_input(now, association, arrived(transmit));
                    }
                    AspOutput::Wait(_) => break,
                    _ => {}
                }
            }
        }
        loop {
            match self.sgp.poll_output(now) {
                SgpOutput::Transmit(transmit) => {
                    moved += 1;
                    let association = transmit.association;
                    self.asps[association.0 as usize].handle_input(now, association, arrived(transmit));
                }
                SgpOutput::Wait(_) => break moved,
                SgpOutput::Diverted { .. }
                | SgpOutput::Event(_)
                | SgpOutput::Indication(..)
                | SgpOutput::Registration { .. } => {}
            }
        }
    }

    /// One MSU from the first ASP's user to the second's. Whether it arrived.
    fn forward(&mut self, now: Instant, number: u32, user_data: &Bytes) -> bool {
        let label = RoutingLabel { dpc: CALLED, opc: CALLING, sls: Sls((number & 0xf) as u8) };
        let service = ServiceInformation::from_octet(0x85);
        self.asps[0].transfer(None, Transfer { service, label, user_data: user_data.clone() });
        self.exchange(now);
        let mut has_arrived = false;
        loop {
            match self.asps[1].poll_output(now) {
                AspOutput::Indication(_, TransferIndication::Transfer(transfer)) => {
                    has_arrived = black_box(transfer).user_data.len() == user_data.len();
                }
                AspOutput::Wait(_) => return has_arrived,
                _ => {}
            }
        }
    }
}

fn arrived(transmit: Transmit) -> TransportInput {
    let Transmit { stream, payload_protocol, octets, .. } = transmit;
    TransportInput::Message { stream, payload_protocol, octets }
}

/// MSUs over a gateway, with what one core is to forward at least beside it.
///
/// # Errors
/// If an MSU gets lost.
pub fn forwarding() -> Result<Table, Failure> {
    let mut gateway = Gateway::new()?;
    let user_data = Bytes::from(vec![0x5a; MSU_LEN]);
    let count = 1_000_000_u32;
    let work = || {
        for number in 0..count {
            if !gateway.forward(Instant::START, number, &user_data) {
                return Err("an MSU was lost".into());
            }
        }
        Ok(Work::Here { units: f64::from(count) })
    };
    let mut contestants = [Contestant { name: "slantpath", work: Box::new(work) }];
    let speeds = medians(&mut contestants, ROUNDS)?;
    let case = format!("M3UA, ASP to SGP to ASP, {MSU_LEN} octets");
    let rows = vec![Row { case, ours: speeds[0], peer: Some(("required".to_owned(), REQUIRED_MSUS)) }];
    Ok(Table { unit: "MSUs".into(), rows })
}

/// Measures the delay that the way over the gateway adds to a single MSU.
///
/// # Errors
/// If an MSU gets lost.
#[expect(clippy::disallowed_types, reason = "a benchmark reads the clock")]
pub fn delays() -> Result<Delays, Failure> {
    let mut gateway = Gateway::new()?;
    let user_data = Bytes::from(vec![0x5a; MSU_LEN]);
    let mut delays_us = Vec::with_capacity(200_000);
    for number in 0..200_000_u32 {
        let before = std::time::Instant::now();
        if !gateway.forward(Instant::START, number, &user_data) {
            return Err("an MSU was lost".into());
        }
        delays_us.push(before.elapsed().as_secs_f64() * 1e6);
    }
    Ok(Delays::of("M3UA, ASP to SGP to ASP, 60 octets", delays_us, LIMIT_US))
}
