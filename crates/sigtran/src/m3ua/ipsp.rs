//! The IP server process: two of them exchange messages of user parts without a gateway (RFC 4666, sections 1.4.3.4,
//! 4.3 and 5.6).
//!
//! Each is a gateway for the traffic that goes to the other, and an application server process for the traffic that
//! comes from it. With double exchange both halves are asked for by themselves; with single exchange the answer to one
//! request holds for both directions.

use std::collections::{BTreeSet, VecDeque};

use slantpath_base::Instant;
use slantpath_ss7::PointCode;
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use crate::asp::{
    AspState, ConfigError, GatewayConfig, GatewayEvent, Members, ProcessConfig, ProcessEvent, ServerConfig,
    ServerName, TrafficMode,
};
use crate::m3ua::{
    ApplicationServer, Asp, AspConfig, AspOutput, Counters, KeyDestination, QueueLimits, ServedServer, Sgp,
    SgpConfig, SgpOutput, TrafficKey,
};
use crate::transport::{AssociationNumber, Transmit, TransportInput};

/// An IP server process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpspConfig {
    /// The association to the other process.
    pub association: AssociationNumber,
    /// Form of the exchange of ASP Up and ASP Active: one for both directions, or one for each.
    pub exchange: Exchange,
    /// The traffic that comes here. With single exchange its routing contexts are those of `outbound`.
    pub inbound: Vec<TrafficFlow>,
    /// The traffic that goes to the other process.
    pub outbound: Vec<TrafficFlow>,
    /// T(ack) and ASP identifier of our requests.
    pub process: ProcessConfig,
    /// T(r) and heartbeats.
    pub gateway: GatewayConfig,
    /// Messages that wait while the other process is not active.
    pub queue: QueueLimits,
}

impl Default for IpspConfig {
    fn default() -> Self {
        Self {
            association: AssociationNumber(0),
            exchange: Exchange::default(),
            inbound: Vec::new(),
            outbound: Vec::new(),
            process: ProcessConfig::default(),
            gateway: GatewayConfig::default(),
            queue: QueueLimits::default(),
        }
    }
}

/// Way in which two processes agree on traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exchange {
    /// Each asks for the traffic that comes to it.
    Double,
    /// One asks, and both directions flow.
    #[default]
    Single,
}

/// Traffic in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficFlow {
    /// Routing context that names the flow.
    pub routing_context: u32,
    /// The network of the point codes.
    pub network_appearance: Option<u32>,
    /// Point codes to which the traffic goes.
    pub point_codes: Vec<PointCode>,
    /// The traffic mode to ask for, or to expect.
    pub traffic_mode: Option<TrafficMode>,
}

/// Output of an IP server process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IpspOutput {
    /// A primitive for the user parts of a network.
    Indication(Option<u32>, TransferIndication),
    /// Of the half that the other process asks for.
    PeerEvent(GatewayEvent<u32>),
    /// Of the half that we ask for.
    OwnEvent(ProcessEvent<u32>),
    /// A message to send.
    Transmit(Transmit),
    /// Nothing more before this deadline, or before the next input.
    Wait(Option<Instant>),
}

/// An IP server process.
#[derive(Clone, Debug)]
pub struct Ipsp {
    association: AssociationNumber,
    exchange: Exchange,
    /// For the traffic that goes to the other.
    sgp: Sgp,
    /// For the traffic that comes here.
    asp: Asp,
    outputs: VecDeque<IpspOutput>,
}

impl Ipsp {
    /// A process without association.
    ///
    /// # Errors
    /// If the configuration contradicts itself: with single exchange, if the routing contexts of both directions
    /// differ.
    pub fn new(config: IpspConfig) -> Result<Self, ConfigError> {
        let contexts = |flows: &[TrafficFlow]| -> BTreeSet<u32> {
            flows.iter().map(|flow| flow.routing_context).collect()
        };
        let (inbound, outbound) = (contexts(&config.inbound), contexts(&config.outbound));
        if config.exchange == Exchange::Single
            && let Some(lonely) = inbound.symmetric_difference(&outbound).next()
        {
            return Err(ConfigError::Unpaired { what: "routing context", value: (*lonely).into() });
        }
        let association = config.association;
        let sgp = Sgp::new(SgpConfig {
            gateway: config.gateway,
            servers: config.outbound.iter().map(|flow| server_for(flow, association)).collect(),
            queue: config.queue,
            network_appearances: config.inbound.iter().filter_map(|flow| flow.network_appearance).collect(),
            point_codes: slantpath_ss7::PointCodeFormat::Ansi,
            ..SgpConfig::default()
        })?;
        let asp = Asp::new(AspConfig {
            process: ProcessConfig { heartbeat: None, ..config.process },
            gateways: vec![association],
            servers: config.inbound.into_iter().map(served).collect(),
            ..AspConfig::default()
        })?;
        Ok(Self { association, exchange: config.exchange, sgp, asp, outputs: VecDeque::new() })
    }

    /// Gives the counts by outcome of messages that went to the other process.
    pub const fn outbound_counters(&self) -> &Counters {
        self.sgp.counters()
    }

    /// Gives the counts by outcome of messages that came from the other process.
    pub const fn inbound_counters(&self) -> &Counters {
        self.asp.counters()
    }

    /// Gives the number of messages that wait for the other process.
    pub fn waiting(&self) -> usize {
        self.sgp.waiting()
    }

    /// Gives the state of a routing context here: if it is active, the traffic may come.
    pub fn inbound_state(&self, routing_context: u32) -> AspState {
        self.asp.state(self.association, &ServerName::Named(routing_context))
    }

    /// Gives the state of a routing context at the other process: if it is active, the traffic may go there.
    pub fn outbound_state(&self, routing_context: u32) -> AspState {
        self.sgp.asp_state(self.association, routing_context)
    }

    /// Takes the M-ASP_UP request.
    pub fn up(&mut self, now: Instant) {
        self.asp.up(now, self.association);
        self.follow(now);
    }

    /// Takes the M-ASP_DOWN request.
    pub fn down(&mut self, now: Instant) {
        self.asp.down(now, self.association);
        self.follow(now);
    }

    /// M-ASP_ACTIVE request, for all routing contexts if none is named.
    pub fn activate(&mut self, now: Instant, routing_contexts: &[u32]) {
        let names: Vec<_> = routing_contexts.iter().map(|context| ServerName::Named(*context)).collect();
        self.asp.activate(now, self.association, &names);
        self.follow(now);
    }

    /// M-ASP_INACTIVE request, for all routing contexts if none is named.
    pub fn deactivate(&mut self, now: Instant, routing_contexts: &[u32]) {
        let names: Vec<_> = routing_contexts.iter().map(|context| ServerName::Named(*context)).collect();
        self.asp.deactivate(now, self.association, &names);
        self.follow(now);
    }

    /// MTP-TRANSFER request. What cannot go on is dropped and counted.
    pub fn transfer(&mut self, now: Instant, network_appearance: Option<u32>, message: Transfer) {
        self.sgp.transfer(network_appearance, message);
        self.follow(now);
    }

    /// Takes an input from the transport of the association.
    pub fn handle_input(&mut self, now: Instant, input: TransportInput) {
        let association = self.association;
        match input {
            TransportInput::Message { ref octets, .. } => {
                if is_for_requester(octets) {
                    self.asp.handle_input(now, association, input);
                } else {
                    self.sgp.handle_input(now, association, input);
                }
            }
            // There is no other association by which it could go.
            TransportInput::Unsent(_) => {}
            other => {
                self.sgp.handle_input(now, association, other.clone());
                self.asp.handle_input(now, association, other);
            }
        }
        self.follow(now);
    }

    /// Does what is due by now.
    pub fn handle_deadline(&mut self, now: Instant) {
        self.sgp.handle_deadline(now);
        self.asp.handle_deadline(now);
        self.follow(now);
    }

    /// Gives the next output.
    pub fn poll_output(&mut self, now: Instant) -> IpspOutput {
        if let Some(output) = self.outputs.pop_front() {
            return output;
        }
        let deadline = |sgp: SgpOutput, asp: AspOutput| match (sgp, asp) {
            (SgpOutput::Wait(one), AspOutput::Wait(other)) => one.into_iter().chain(other).min(),
            // `follow` has drained both.
            _ => Some(now),
        };
        IpspOutput::Wait(deadline(self.sgp.poll_output(now), self.asp.poll_output(now)))
    }

    /// Takes what both halves say; with single exchange, what one half has agreed holds for the other.
    //= https://www.rfc-editor.org/rfc/rfc4666#section-4.3.4.3.1
    //# An ASP receiving an ASP Active Ack
    //# message may mark the peer as ASP-Active, if it is not already in the
    //# ASP-ACTIVE state.
    fn follow(&mut self, now: Instant) {
        loop {
            let mut is_quiet = true;
            while let Some(output) = self.take_from_sgp(now) {
                is_quiet = false;
                self.outputs.push_back(output);
            }
            while let Some(output) = self.take_from_asp(now) {
                is_quiet = false;
                self.outputs.push_back(output);
            }
            if is_quiet {
                return;
            }
        }
    }

    fn take_from_sgp(&mut self, now: Instant) -> Option<IpspOutput> {
        match self.sgp.poll_output(now) {
            SgpOutput::Wait(_) => None,
            // There is one peer: nothing goes elsewhere.
            SgpOutput::Diverted { .. } | SgpOutput::Registration { .. } => self.take_from_sgp(now),
            // Nothing here examines, and the configuration does not ask for it.
            SgpOutput::Examine { association, network, message, .. } => {
                self.sgp.admit(association, network, message);
                self.take_from_sgp(now)
            }
            SgpOutput::Transmit(transmit) => Some(IpspOutput::Transmit(transmit)),
            SgpOutput::Indication(network, indication) => Some(IpspOutput::Indication(network, indication)),
            SgpOutput::Event(event) => {
                if self.exchange == Exchange::Single {
                    match &event {
                        GatewayEvent::AspUp(_, is_up) => self.asp.adopt_up(now, self.association, *is_up),
                        GatewayEvent::Asp(_, context, state) => {
                            self.asp.adopt(now, self.association, &ServerName::Named(*context), *state);
                        }
                        _ => {}
                    }
                }
                Some(IpspOutput::PeerEvent(event))
            }
        }
    }

    fn take_from_asp(&mut self, now: Instant) -> Option<IpspOutput> {
        match self.asp.poll_output(now) {
            AspOutput::Wait(_) => None,
            AspOutput::Transmit(transmit) => Some(IpspOutput::Transmit(transmit)),
            AspOutput::Indication(network, indication) => Some(IpspOutput::Indication(network, indication)),
            AspOutput::Event(_, event) => {
                if self.exchange == Exchange::Single {
                    match &event {
                        ProcessEvent::Up(is_up) => self.sgp.adopt_up(now, self.association, *is_up),
                        ProcessEvent::Asp(ServerName::Named(context), state) => {
                            self.sgp.adopt(now, self.association, *context, *state);
                        }
                        _ => {}
                    }
                }
                Some(IpspOutput::OwnEvent(event))
            }
            // Routing keys are configured: nothing was registered.
            AspOutput::Registered(..) | AspOutput::Deregistered(..) => self.take_from_asp(now),
        }
    }
}

/// Tells whether a message answers what we asked for, or is traffic for us; the others ask something of us.
const fn is_for_requester(octets: &[u8]) -> bool {
    matches!(
        octets,
        // ERR and NTFY; DATA; DUNA, DAVA, DUPU and DRST; the Acks; REG RSP and DEREG RSP.
        [_, _, 0 | 1, ..]
            | [_, _, 2, 1 | 2 | 5 | 6, ..]
            | [_, _, 3, 4 | 5, ..]
            | [_, _, 4, 3 | 4, ..]
            | [_, _, 9, 2 | 4, ..]
    )
}

fn server_for(flow: &TrafficFlow, association: AssociationNumber) -> ApplicationServer {
    let all =
        |dpc: &PointCode| KeyDestination { dpc: *dpc, service_indicators: Vec::new(), opcs: Vec::new() };
    ApplicationServer {
        routing_context: flow.routing_context,
        key: TrafficKey {
            network_appearance: flow.network_appearance,
            destinations: flow.point_codes.iter().map(all).collect(),
        },
        server: ServerConfig {
            traffic_mode: flow.traffic_mode,
            needed_active: 1,
            members: Members::Only(vec![association]),
        },
    }
}

fn served(flow: TrafficFlow) -> ServedServer {
    ServedServer {
        name: ServerName::Named(flow.routing_context),
        network_appearance: flow.network_appearance,
        point_codes: flow.point_codes,
        traffic_mode: flow.traffic_mode,
    }
}
