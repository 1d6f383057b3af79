//! A signalling point: MTP3, SCCP, its end of each link and the gateway's process, held together.
//!
//! Each of these is an object of its own; the point hands on what one has for another, and nothing of it knows where
//! links and associations end. Parts that have something to do are taken in rounds ([`Rounds`]): links in their
//! order, MTP3 with SCCP, the gateway. What waits is found by its deadline ([`Deadlines`]). So an idle part costs
//! nothing.

mod drive;
mod management;
mod screening;
mod succession;

use std::collections::VecDeque;

use slantpath_base::{Deadlines, Instant, Rounds};
use slantpath_sigtran::transport::{AssociationNumber, Transmit, TransportInput};
use slantpath_sigtran::{asp, m2pa, m3ua};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp2;
use slantpath_ss7::mtp3::node::{self, DiscardReason, Mtp3LinkId};
use slantpath_ss7::mtp3::{self, ServiceIndicator};
use slantpath_ss7::sccp::{self, Ssn};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

use crate::gateway::{Gateway, GatewayConfig};
use crate::level2::{EndCounters, Level2, Level2Config, LineInput};
use crate::m3ua::{AssociationTally, M3uaEvent, M3uaEventKind};
use crate::management::{ManagementRequest, PointEvent};
use crate::processor::{Processor, ProcessorConfig, ProcessorCounters, ProcessorError};
use crate::screening::{ScreenedCopy, ScreeningConfig};
use screening::Screened;
pub use succession::{FixedSetting, Succession};

/// A signalling point.
#[derive(Clone, Debug)]
pub struct PointConfig {
    /// Settings of its message transfer part.
    pub mtp3: node::Config,
    /// Settings of its SCCP, if it has one. All its subsystems are put into service at the start.
    pub sccp: Option<sccp::NodeConfig>,
    /// Capacity of its processor, if messages have to pass one between level 2 and MTP3.
    pub processor: Option<ProcessorConfig>,
    /// Ends of links, one for each link of MTP3. Tasks of several links at one instant are done in this order.
    pub links: Vec<LinkEndConfig>,
    /// Settings that make it a gateway, if it is one.
    pub gateway: Option<GatewayConfig>,
    /// Screening of what comes to it.
    pub screening: ScreeningConfig,
}

/// An end of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkEndConfig {
    /// Number of the link in MTP3.
    pub link: Mtp3LinkId,
    /// Level 2 of the link, and its carrier.
    pub level2: Level2Config,
}

/// Why a point cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// The gateway's process.
    #[error("gateway: {0}")]
    Gateway(asp::ConfigError),
    /// The links of MTP3 and the ends of links are not the same, each once.
    #[error("link {} of MTP3 does not have one end", .0.0)]
    Links(Mtp3LinkId),
    /// An end of M2PA.
    #[error("link {}: {error}", .link.0)]
    M2pa {
        /// Number of the link in MTP3.
        link: Mtp3LinkId,
        /// Fault in its configuration.
        error: m2pa::ConfigError,
    },
    /// A terminal of MTP2.
    #[error("link {}: {error}", .link.0)]
    Mtp2 {
        /// Number of the link in MTP3.
        link: Mtp3LinkId,
        /// Fault in its configuration.
        error: mtp2::ConfigError,
    },
    /// Fault of the processor's configuration.
    #[error("processor: {0}")]
    Processor(ProcessorError),
    /// MTP3: the first fault.
    #[error("MTP3: {0}")]
    Mtp3(node::ConfigError),
    /// SCCP.
    #[error("SCCP: {0}")]
    Sccp(sccp::ConfigError),
}

/// Inputs of a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointInput {
    /// From an association.
    Association(AssociationNumber, TransportInput),
    /// From the line of a link.
    Line(Mtp3LinkId, LineInput),
    /// Request from management.
    Management(ManagementRequest),
}

/// Requests and reports of a point to its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointOutput {
    /// An association is to end at once; who opened it opens it again.
    Abort(AssociationNumber),
    /// A copy of a message, for whoever captures.
    Copied(ScreenedCopy),
    /// Something happened to a link or to the point.
    Event(PointEvent),
    /// For a user part of this point. What SCCP takes itself is not among it, but what MTP3 says of destinations is.
    Indication(ServiceIndicator, TransferIndication),
    /// Something happened at the gateway.
    M3uaEvent(M3uaEvent),
    /// A message for an association.
    Transmit(Transmit),
    /// A unit for the line of a link.
    Unit(Mtp3LinkId, mtp2::Transmission),
    /// A unitdata for a subsystem of this point.
    Unitdata {
        /// Number of the subsystem.
        ssn: Ssn,
        /// The user's data.
        data: bytes::Bytes,
    },
    /// Nothing until then, or until something comes.
    Wait(Option<Instant>),
}

/// A signalling point.
///
/// Give it what comes ([`SignallingPoint::handle_input`]) and what user parts send ([`SignallingPoint::transfer`]),
/// then call [`SignallingPoint::poll_output`] until it says [`PointOutput::Wait`].
#[derive(Debug)]
pub struct SignallingPoint {
    mtp3: mtp3::Node,
    sccp: Option<sccp::Node>,
    gateway: Option<Gateway>,
    processor: Option<Processor>,
    /// Configuration of the links, in its order.
    ends: Vec<LinkEndConfig>,
    screened: Option<Screened>,
    /// In the order of the configuration.
    links: Vec<(Mtp3LinkId, Level2)>,
    /// Position of each link of MTP3 among the links.
    places: Vec<usize>,
    /// Link that an association carries, by association; the gateway has all others.
    associations: Vec<(AssociationNumber, usize)>,
    /// Outputs that inputs have left.
    outputs: VecDeque<PointOutput>,
    /// Parts that have something to do, and the part that is at it.
    work: Rounds,
    current: Option<usize>,
    /// Instants at which parts are due.
    deadlines: Deadlines<usize>,
}

impl SignallingPoint {
    /// A point whose links begin to align when it is first polled.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn new(now: Instant, config: PointConfig) -> Result<Self, ConfigError> {
        let mut point = Self::prepared(config)?;
        (0_u16..).take(point.links.len()).for_each(|link| point.mtp3.activate(now, Mtp3LinkId(link)));
        if let Some(sccp) = &mut point.sccp {
            crate::served_point::put_into_service(now, sccp, |_| true);
        }
        Ok(point)
    }

    /// A point that does nothing before it takes over from another one ([`SignallingPoint::take_over`]).
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn prepared(config: PointConfig) -> Result<Self, ConfigError> {
        let PointConfig { mtp3, sccp, processor, links, mut gateway, screening } = config;
        if let Some(error) = processor.and_then(|config| config.check().err()) {
            return Err(ConfigError::Processor(error));
        }
        let servers = gateway.iter().flat_map(|gateway| &gateway.sgp.servers);
        let screened = Screened::new(screening, &mtp3, servers.map(|server| server.routing_context));
        if let Some(gateway) = &mut gateway {
            gateway.sgp.examines = screened.is_some();
        }
        let gateway = gateway.map(|gateway| Gateway::new(gateway, &mtp3).map_err(ConfigError::Gateway));
        let gateway = gateway.transpose()?;
        let count = mtp3.link_sets.iter().map(|link_set| link_set.links.len()).sum();
        let places = places(count, &links)?;
        let mut associations = Vec::new();
        for (place, end) in links.iter().enumerate() {
            if let Level2Config::Association(association, _) = end.level2 {
                associations.push((association, place));
            }
        }
        associations.sort_unstable();
        let first_fault = |faults: Vec<node::ConfigError>| {
            ConfigError::Mtp3(faults.into_iter().next().expect("a refusal has a fault"))
        };
        let mtp3 = mtp3::Node::new(mtp3).map_err(first_fault)?;
        let sccp = sccp.map(sccp::Node::new).transpose();
        let mut work = Rounds::new(count + 3);
        (0..count + 2).for_each(|part| work.mark(part));
        Ok(Self {
            mtp3,
            sccp: sccp.map_err(ConfigError::Sccp)?,
            gateway,
            processor: processor.map(Processor::new),
            ends: links.clone(),
            screened,
            links: links.into_iter().map(level2).collect::<Result<_, _>>()?,
            places,
            associations,
            outputs: VecDeque::new(),
            work,
            current: None,
            deadlines: Deadlines::default(),
        })
    }

    /// Takes what comes.
    ///
    /// # Panics
    /// If the point has no such link, or the link no line; messages of associations that it does not have are the
    /// gateway's to refuse.
    pub fn handle_input(&mut self, now: Instant, input: PointInput) {
        match input {
            PointInput::Association(association, input) => self.handle_transport(now, association, input),
            PointInput::Line(link, input) => {
                let place = self.places[usize::from(link.0)];
                self.links[place].1.handle_line(now, input);
                self.work.mark(place);
            }
            PointInput::Management(request) => self.handle_management(now, request),
        }
    }

    fn handle_transport(&mut self, now: Instant, association: AssociationNumber, input: TransportInput) {
        if let Ok(at) = self.associations.binary_search_by_key(&association, |(own, _)| *own) {
            let place = self.associations[at].1;
            self.links[place].1.handle_transport(now, input);
            self.work.mark(place);
        } else if let Some(gateway) = &mut self.gateway {
            if let Some(kind) = M3uaEventKind::of_transport(&input) {
                let association = Some(association);
                self.outputs.push_back(PointOutput::M3uaEvent(M3uaEvent {
                    association,
                    routing_context: None,
                    kind,
                }));
            }
            gateway.handle_transport(now, association, input);
            self.work.mark(self.gateway_part());
        }
    }

    /// MTP-TRANSFER request of a user part. The origin in its label may be another than this point's own, for gateways.
    ///
    /// # Errors
    /// Why the message was discarded at once; it is counted under that reason.
    pub fn transfer(&mut self, now: Instant, transfer: &Transfer) -> Result<(), DiscardReason> {
        self.work.mark(self.upper_part());
        self.mtp3.transfer(now, transfer)
    }

    /// Does all there is to do by `now`, and says what to do with it, or until when nothing is to be done.
    pub fn poll_output(&mut self, now: Instant) -> PointOutput {
        while let Some(part) = self.deadlines.take_due(now) {
            self.work.mark(part);
        }
        loop {
            if let Some(output) = self.outputs.pop_front() {
                return output;
            }
            let Some(part) = self.current.take().or_else(|| self.work.take()) else {
                return PointOutput::Wait(self.deadlines.earliest());
            };
            let step = if part < self.links.len() {
                self.poll_link(now, part)
            } else if part == self.upper_part() {
                self.poll_upper(now)
            } else if part == self.gateway_part() {
                self.poll_gateway(now)
            } else {
                self.poll_processor(now)
            };
            match step {
                drive::Step::Output(output) => {
                    self.current = Some(part);
                    return output;
                }
                drive::Step::Done(deadline) => self.deadlines.set(part, deadline),
            }
        }
    }

    /// Tells whether a destination can be reached.
    pub fn is_accessible(&self, destination: PointCode) -> bool {
        self.mtp3.is_accessible(destination)
    }

    /// The message transfer part, for what it has counted and measured.
    pub const fn mtp3(&self) -> &mtp3::Node {
        &self.mtp3
    }

    /// The process of the gateway towards its ASPs, if the point is one's.
    pub fn gateway_process(&self) -> Option<&m3ua::Sgp> {
        self.gateway.as_ref().map(|gateway| &gateway.sgp)
    }

    /// Gives the cause for which SCCP does not reach a subsystem now; none if it does, or there is no SCCP.
    pub fn not_reached(&self, code: PointCode, ssn: Option<Ssn>) -> Option<sccp::ReturnCause> {
        self.sccp.as_ref()?.not_reached(code, ssn)
    }

    /// Gives the counts of SCCP, if there is one.
    pub fn sccp_counters(&self) -> Option<&sccp::Counters> {
        self.sccp.as_ref().map(sccp::Node::counters)
    }

    /// Gives the counts of the gateway's process, and the number of messages that wait there, if there is one.
    pub fn gateway_counters(&self) -> Option<(&m3ua::Counters, usize)> {
        self.gateway.as_ref().map(Gateway::counters)
    }

    /// Gives the counts of the processor, if there is one.
    pub fn processor_counters(&self) -> Option<ProcessorCounters> {
        self.processor.as_ref().map(Processor::counters)
    }

    /// Gives the counts of the messages that the gateway has sent and received over an association, if it has that.
    pub fn association_tally(&self, association: AssociationNumber) -> Option<AssociationTally> {
        self.gateway.as_ref()?.tallies.of(association)
    }

    /// Gives the counts of the end of a link.
    ///
    /// # Panics
    /// If the point has no such link.
    pub fn link_counters(&self, link: Mtp3LinkId) -> EndCounters {
        self.links[self.places[usize::from(link.0)]].1.counters()
    }

    /// Messages that wait at the end of a link, or that its far end has not acknowledged.
    ///
    /// # Panics
    /// If the point has no such link.
    pub fn link_queue(&self, link: Mtp3LinkId) -> usize {
        self.links[self.places[usize::from(link.0)]].1.queued()
    }

    /// Gives the counts of what level 2 of a link has refused or discarded, by reason, and its name.
    ///
    /// # Panics
    /// If the point has no such link.
    pub fn link_discards(&self, link: Mtp3LinkId) -> (&'static str, Vec<(&'static str, u64)>) {
        self.links[self.places[usize::from(link.0)]].1.discards()
    }

    /// Behind the links: MTP3 with SCCP.
    fn upper_part(&self) -> usize {
        self.links.len()
    }

    fn gateway_part(&self) -> usize {
        self.links.len() + 1
    }

    fn processor_part(&self) -> usize {
        self.links.len() + 2
    }
}

/// Gives the position of each of MTP3's links among the ends.
fn places(count: usize, ends: &[LinkEndConfig]) -> Result<Vec<usize>, ConfigError> {
    let mut places = vec![None; count];
    for (place, end) in ends.iter().enumerate() {
        let entry = places.get_mut(usize::from(end.link.0)).ok_or(ConfigError::Links(end.link))?;
        if entry.replace(place).is_some() {
            return Err(ConfigError::Links(end.link));
        }
    }
    let of = |(place, link): (Option<usize>, u16)| place.ok_or(ConfigError::Links(Mtp3LinkId(link)));
    places.into_iter().zip(0..).map(of).collect()
}

fn level2(end: LinkEndConfig) -> Result<(Mtp3LinkId, Level2), ConfigError> {
    let LinkEndConfig { link, level2 } = end;
    let level2 = match level2 {
        Level2Config::Association(association, config) => {
            let own = m2pa::Link::new(association, config);
            Level2::M2pa(Box::new(own.map_err(|error| ConfigError::M2pa { link, error })?))
        }
        Level2Config::Line(config) => {
            let own = mtp2::Link::new(config);
            Level2::Mtp2(Box::new(own.map_err(|error| ConfigError::Mtp2 { link, error })?))
        }
    };
    Ok((link, level2))
}
