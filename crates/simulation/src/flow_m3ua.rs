//! M3UA between a flow's application and its association: messages go as MSUs from one signalling end point to another.
//!
//! The two ends are IPSPs that exchange single-ended messages (RFC 4666, section 4.3.1): the sender brings the
//! association server up and active as an ASP does, the receiver answers as a gateway does.

use bytes::Bytes;
use slantpath_applications::{FlowLayer, ReceivingLayer, ReceivingStep, SendingLayer, SendingStep};
use slantpath_base::Instant;
use slantpath_sigtran::asp::{self, AspState, ProcessEvent, ServerName};
use slantpath_sigtran::m3ua::{
    self, AspOutput, AvailabilityPolicy, ServedServer, Sgp, SgpConfig, SgpOutput, TrafficKey,
};
use slantpath_sigtran::transport::{AssociationNumber, Transmit, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::{NetworkIndicator, RoutingLabel, ServiceIndicator, ServiceInformation, Sls};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

/// A flow has one association.
const ASSOCIATION: AssociationNumber = AssociationNumber(0);
/// The point codes of the two signalling end points, and the routing context of the first.
const FROM: PointCode = PointCode(1);
const TO: PointCode = PointCode(2);
const ROUTING_CONTEXT: u32 = 1;

/// Number of signalling link selections in ITU-T networks; messages of one stay in sequence.
pub const SIGNALLING_LINK_SELECTIONS: u16 = 16;

/// M3UA (RFC 4666) below a flow: messages are MSUs, their streams are signalling link selections.
pub static FLOW_M3UA: FlowLayer = FlowLayer {
    name: "M3UA",
    sending: || Box::new(SendingM3ua::new()),
    receiving: || Box::new(ReceivingM3ua::new()),
};

/// The IPSP that sends.
#[derive(Debug)]
struct SendingM3ua {
    asp: m3ua::Asp,
    state: AspState,
}

impl SendingM3ua {
    fn new() -> Self {
        let config = m3ua::AspConfig {
            gateways: vec![ASSOCIATION],
            servers: vec![ServedServer {
                name: ServerName::Named(ROUTING_CONTEXT),
                network_appearance: None,
                point_codes: vec![FROM],
                traffic_mode: None,
            }],
            destinations: vec![m3ua::Destination {
                network_appearance: None,
                point_code: TO,
                gateways: vec![(ASSOCIATION, 0)],
            }],
            // The peer is the destination: while it is active, it can be reached.
            availability: AvailabilityPolicy::Assumed,
            ..m3ua::AspConfig::default()
        };
        Self { asp: m3ua::Asp::new(config).expect("one server, one destination"), state: AspState::Down }
    }
}

impl SendingLayer for SendingM3ua {
    fn handle_input(&mut self, now: Instant, input: TransportInput) {
        let is_up = matches!(input, TransportInput::Up { .. });
        self.asp.handle_input(now, ASSOCIATION, input);
        if is_up {
            self.asp.up(now, ASSOCIATION);
        }
    }

    fn handle_deadline(&mut self, now: Instant) {
        self.asp.handle_deadline(now);
    }

    fn poll(&mut self, now: Instant) -> SendingStep {
        loop {
            match self.asp.poll_output(now) {
                AspOutput::Event(_, ProcessEvent::Up(true)) => self.asp.activate(now, ASSOCIATION, &[]),
                AspOutput::Event(_, ProcessEvent::Asp(_, state)) => {
                    match (std::mem::replace(&mut self.state, state), state) {
                        (_, AspState::Active) => return SendingStep::Active,
                        (AspState::Active, _) => return SendingStep::Stopped,
                        // On its way up.
                        (AspState::Down | AspState::Inactive, AspState::Down | AspState::Inactive) => {}
                    }
                }
                AspOutput::Transmit(transmit) => return SendingStep::Transmit(transmit),
                AspOutput::Wait(deadline) => return SendingStep::Wait(deadline),
                AspOutput::Event(..)
                | AspOutput::Deregistered(..)
                | AspOutput::Indication(..)
                | AspOutput::Registered(..) => {}
            }
        }
    }

    /// Wraps an MSU for its signalling link selection; `None` if it has been dropped, which is counted.
    fn wrap(&mut self, now: Instant, selection: u16, user_data: Bytes) -> Option<Transmit> {
        let sls = Sls(u8::try_from(selection % SIGNALLING_LINK_SELECTIONS).expect("below 16"));
        let service = ServiceInformation {
            indicator: ServiceIndicator::SCCP,
            network: NetworkIndicator::International,
            priority: 0,
        };
        let label = RoutingLabel { dpc: TO, opc: FROM, sls };
        self.asp.transfer(None, Transfer { service, label, user_data });
        match self.asp.poll_output(now) {
            AspOutput::Transmit(transmit) => Some(transmit),
            _ => None,
        }
    }
}

/// The IPSP that receives.
#[derive(Debug)]
struct ReceivingM3ua {
    sgp: Sgp,
}

impl ReceivingM3ua {
    fn new() -> Self {
        let config = SgpConfig {
            servers: vec![m3ua::ApplicationServer {
                routing_context: ROUTING_CONTEXT,
                key: TrafficKey::to_point_code(FROM),
                server: asp::ServerConfig::default(),
            }],
            ..SgpConfig::default()
        };
        let mut sgp = Sgp::new(config).expect("one server");
        sgp.handle_indication(None, TransferIndication::Resume(TO));
        Self { sgp }
    }
}

impl ReceivingLayer for ReceivingM3ua {
    fn handle_input(&mut self, now: Instant, input: TransportInput) {
        self.sgp.handle_input(now, ASSOCIATION, input);
    }

    fn handle_deadline(&mut self, now: Instant) {
        self.sgp.handle_deadline(now);
    }

    fn poll(&mut self, now: Instant) -> ReceivingStep {
        loop {
            match self.sgp.poll_output(now) {
                SgpOutput::Indication(_, TransferIndication::Transfer(transfer)) => {
                    return ReceivingStep::Deliver(transfer.label.sls.0.into(), transfer.user_data);
                }
                SgpOutput::Transmit(transmit) => return ReceivingStep::Transmit(transmit),
                SgpOutput::Wait(deadline) => return ReceivingStep::Wait(deadline),
                // Nothing is examined here.
                SgpOutput::Diverted { .. }
                | SgpOutput::Event(_)
                | SgpOutput::Examine { .. }
                | SgpOutput::Indication(..)
                | SgpOutput::Registration { .. } => {}
            }
        }
    }
}
