//! The entity of a seat: a signalling point, or an application server process with the points that it serves.

mod succession;

use std::collections::BTreeSet;

use bytes::Bytes;
use slantpath_base::Instant;
use slantpath_signalling::network::{AspId, NetworkConfig, NetworkConfigError, PointId, ServedPointId};
use slantpath_signalling::{
    self as signalling, LinkEndChange, M3uaEvent, ManagementRequest, PointEvent, PointInput, PointOutput,
    ProcessChange, ScreenedCopy, ScreeningCounts, ServedPoint, ServedPointOutput, ServerProcess,
    ServerProcessInput, ServerProcessOutput, SignallingPoint,
};
use slantpath_sigtran::transport::{AssociationNumber, Transmit, TransportInput};
use slantpath_ss7::PointCode;
use slantpath_ss7::mtp3::node::Mtp3LinkId;
use slantpath_ss7::sccp::{self, ReturnCause, Ssn};
use slantpath_ss7::transfer::{Transfer, TransferIndication};

pub(crate) use succession::EntitySuccession;

/// A point or a process, driven alike.
#[derive(Debug)]
pub(crate) enum Entity {
    Point(Box<Point>),
    Process(Box<Process>),
}

#[derive(Debug)]
pub(crate) struct Point {
    code: PointCode,
    /// Links of its MTP3 that associations carry: nothing of a line is live.
    links: Vec<Mtp3LinkId>,
    entity: SignallingPoint,
}

#[derive(Debug)]
pub(crate) struct Process {
    process: ServerProcess,
    /// Points that it serves, each with the network of its codes.
    served: Vec<(ServedPointId, Option<u32>, ServedPoint)>,
}

/// Something that an entity gives.
#[derive(Debug)]
pub(crate) enum EntityOutput {
    /// An association is to end at once; who opened it opens it again.
    Abort(AssociationNumber),
    /// An association is to end at once, and to stay closed.
    Close(AssociationNumber),
    /// A message came to a user part.
    Arrived(Transfer),
    /// A unitdata came to a subsystem of the point of this code.
    ArrivedUnitdata(PointCode, Ssn, Bytes),
    /// A copy of a message that a screening rule asks for.
    Copied(ScreenedCopy),
    /// A destination is told of to user parts; above M3UA to those of the point of this number.
    Indication(Option<ServedPointId>, TransferIndication),
    /// Something happened above M3UA.
    M3ua(M3uaEvent),
    /// An association that was closed is to be opened again.
    Open(AssociationNumber),
    /// Something happened to a link or a point.
    Point(PointEvent),
    /// A message for an association.
    Transmit(Transmit),
    /// Nothing until then, or until something comes.
    Wait(Option<Instant>),
}

impl Entity {
    pub(crate) fn point(
        network: &NetworkConfig,
        id: PointId,
        make: impl FnOnce(&NetworkConfig) -> Result<SignallingPoint, NetworkConfigError>,
    ) -> Result<Self, NetworkConfigError> {
        let of_association = |(link, (number, _)): (usize, &(signalling::network::SignallingLinkId, _))| {
            let carrier = &network.links[number.0].carrier;
            let is_association = matches!(carrier, signalling::network::LinkCarrier::Association(_));
            is_association.then(|| Mtp3LinkId(u16::try_from(link).unwrap_or(u16::MAX)))
        };
        Ok(Self::Point(Box::new(Point {
            code: network.points[id.0].mtp3.point_code,
            links: network.links_at(id).iter().enumerate().filter_map(of_association).collect(),
            entity: make(network)?,
        })))
    }

    pub(crate) fn process(
        network: &NetworkConfig,
        id: AspId,
        process: ServerProcess,
        make: impl Fn(signalling::ServedPointConfig) -> Result<ServedPoint, sccp::ConfigError>,
    ) -> Result<Self, NetworkConfigError> {
        let own = network.m3ua.servers.iter().filter(|server| server.asps.contains(&id));
        let mut seen = BTreeSet::new();
        let mut served = Vec::new();
        for server in own.filter(|server| seen.insert(server.point)) {
            let point = &network.m3ua.points[server.point.0];
            let wrong = |error| NetworkConfigError::Sccp { point: point.name.clone(), error };
            let config = signalling::ServedPointConfig { code: point.code, sccp: point.sccp.clone() };
            let made = make(config).map_err(wrong)?;
            served.push((server.point, server.network_appearance, made));
        }
        Ok(Self::Process(Box::new(Process { process, served })))
    }

    /// The point, if it is one.
    pub(crate) fn as_point(&self) -> Option<&SignallingPoint> {
        match self {
            Self::Point(own) => Some(&own.entity),
            Self::Process(_) => None,
        }
    }

    /// The process, if it is one.
    pub(crate) fn as_process(&self) -> Option<&ServerProcess> {
        match self {
            Self::Point(_) => None,
            Self::Process(own) => Some(&own.process),
        }
    }

    /// Points that a process serves, with their numbers and the networks of their codes.
    pub(crate) fn served(&self) -> &[(ServedPointId, Option<u32>, ServedPoint)] {
        match self {
            Self::Point(_) => &[],
            Self::Process(own) => &own.served,
        }
    }

    /// Management asks something of a point.
    pub(crate) fn ask_point(&mut self, now: Instant, request: ManagementRequest) {
        if let Self::Point(own) = self {
            own.entity.handle_input(now, PointInput::Management(request));
        }
    }

    /// Management asks something of a process.
    pub(crate) fn ask_process(&mut self, now: Instant, change: ProcessChange) {
        if let Self::Process(own) = self {
            own.process.handle_input(now, ServerProcessInput::Management(change));
        }
    }

    pub(crate) fn handle_transport(
        &mut self,
        now: Instant,
        association: AssociationNumber,
        input: TransportInput,
    ) {
        match self {
            Self::Point(own) => own.entity.handle_input(now, PointInput::Association(association, input)),
            Self::Process(own) => {
                own.process.handle_input(now, ServerProcessInput::Association(association, input));
            }
        }
    }

    /// A user part sends: at a process of the served point of this number. Says whether the message was taken.
    pub(crate) fn transfer(
        &mut self,
        now: Instant,
        from: Option<ServedPointId>,
        transfer: &Transfer,
    ) -> bool {
        match self {
            Self::Point(own) => own.entity.transfer(now, transfer).is_ok(),
            Self::Process(own) => own.transfer(from, transfer),
        }
    }

    /// Tells if user parts reach a destination: at a process those of the served point of this number.
    pub(crate) fn is_accessible(&self, from: Option<ServedPointId>, destination: PointCode) -> bool {
        match self {
            Self::Point(own) => own.entity.is_accessible(destination),
            Self::Process(own) => own.process.reaches((own.network_of(from), destination)),
        }
    }

    /// Tells if it carries the traffic of an application server: a process that is active for it.
    pub(crate) fn is_active(&self, routing_context: u32) -> bool {
        match self {
            Self::Point(_) => false,
            Self::Process(own) => own.process.is_active(routing_context),
        }
    }

    /// Gives the cause for which a point's SCCP does not reach a subsystem now.
    pub(crate) fn not_reached(&self, code: PointCode, ssn: Option<Ssn>) -> Option<ReturnCause> {
        match self {
            Self::Point(own) => own.entity.not_reached(code, ssn),
            Self::Process(_) => None,
        }
    }

    /// Point code of the point; of a process that of the first point that it serves.
    pub(crate) fn code(&self) -> Option<PointCode> {
        match self {
            Self::Point(own) => Some(own.code),
            Self::Process(own) => own.served.first().map(|(.., point)| point.code()),
        }
    }

    /// Counts of each screening rule and rate, by name; a process has none.
    pub(crate) fn screening_counts(&self) -> Vec<(String, ScreeningCounts)> {
        match self {
            Self::Point(own) => {
                own.entity.screening_counts().map(|(name, counts)| (name.to_owned(), counts)).collect()
            }
            Self::Process(_) => Vec::new(),
        }
    }

    /// Management takes it out of traffic in order: links, or the process's part in its application servers.
    pub(crate) fn take_out(&mut self, now: Instant) {
        match self {
            Self::Point(own) => {
                for link in own.links.clone() {
                    own.deactivate(now, link);
                }
            }
            Self::Process(own) => {
                own.process.handle_input(now, ServerProcessInput::Management(ProcessChange::Deactivate));
            }
        }
    }

    /// Does what is to be done by `now`, up to the next output.
    pub(crate) fn poll_output(&mut self, now: Instant) -> EntityOutput {
        match self {
            Self::Point(own) => own.poll_output(now),
            Self::Process(own) => own.poll_output(now),
        }
    }
}

impl Point {
    fn deactivate(&mut self, now: Instant, link: Mtp3LinkId) {
        let request = ManagementRequest::Link(link, LinkEndChange::Deactivate);
        self.entity.handle_input(now, PointInput::Management(request));
    }

    fn poll_output(&mut self, now: Instant) -> EntityOutput {
        loop {
            return match self.entity.poll_output(now) {
                PointOutput::Abort(association) => EntityOutput::Abort(association),
                PointOutput::Copied(copy) => EntityOutput::Copied(copy),
                PointOutput::Event(event) => EntityOutput::Point(event),
                PointOutput::Indication(_, TransferIndication::Transfer(transfer)) => {
                    EntityOutput::Arrived(transfer)
                }
                PointOutput::Indication(_, indication) => EntityOutput::Indication(None, indication),
                PointOutput::M3uaEvent(event) => EntityOutput::M3ua(event),
                PointOutput::Transmit(transmit) => EntityOutput::Transmit(transmit),
                // The far end of a line is nowhere: its terminal finds no unit, and aligns in vain.
                PointOutput::Unit(..) => continue,
                PointOutput::Unitdata { ssn, data } => EntityOutput::ArrivedUnitdata(self.code, ssn, data),
                PointOutput::Wait(deadline) => EntityOutput::Wait(deadline),
            };
        }
    }
}

impl Process {
    fn network_of(&self, from: Option<ServedPointId>) -> Option<u32> {
        let own = self.served.iter().find(|(id, ..)| Some(*id) == from);
        own.and_then(|(_, network, _)| *network)
    }

    fn transfer(&mut self, from: Option<ServedPointId>, transfer: &Transfer) -> bool {
        self.process.transfer(self.network_of(from), transfer)
    }

    fn poll_output(&mut self, now: Instant) -> EntityOutput {
        loop {
            let deadline = match self.process.poll_output(now) {
                ServerProcessOutput::Abort(association) => return EntityOutput::Abort(association),
                ServerProcessOutput::Close(association) => return EntityOutput::Close(association),
                ServerProcessOutput::Event(event) => return EntityOutput::M3ua(event),
                ServerProcessOutput::Indication(indication) => {
                    for (_, network, point) in &mut self.served {
                        let reaches = |code| self.process.reaches((*network, code));
                        point.handle_indication(now, &indication, reaches);
                    }
                    continue;
                }
                ServerProcessOutput::Open(association) => return EntityOutput::Open(association),
                ServerProcessOutput::Transmit(transmit) => return EntityOutput::Transmit(transmit),
                ServerProcessOutput::Wait(deadline) => deadline,
            };
            match self.poll_served(now) {
                Some(ServedPolled::Output(output)) => return output,
                Some(ServedPolled::Sent) => {}
                None => return EntityOutput::Wait(self.with_served(now, deadline)),
            }
        }
    }

    /// Next thing that a served point has.
    fn poll_served(&mut self, now: Instant) -> Option<ServedPolled> {
        for (id, network, point) in &mut self.served {
            let output = match point.poll_output(now) {
                ServedPointOutput::Indication(TransferIndication::Transfer(transfer)) => {
                    EntityOutput::Arrived(transfer)
                }
                ServedPointOutput::Indication(indication) => EntityOutput::Indication(Some(*id), indication),
                ServedPointOutput::Transfer(transfer) => {
                    // What goes no further is counted under its reason.
                    self.process.transfer(*network, &transfer);
                    return Some(ServedPolled::Sent);
                }
                ServedPointOutput::Unitdata { ssn, data } => {
                    EntityOutput::ArrivedUnitdata(point.code(), ssn, data)
                }
                ServedPointOutput::Wait(_) => continue,
            };
            return Some(ServedPolled::Output(output));
        }
        None
    }

    /// Earliest instant at which the process or a point that it serves is due: all of them wait.
    fn with_served(&mut self, now: Instant, deadline: Option<Instant>) -> Option<Instant> {
        let of_point = |(_, _, point): &mut (_, _, ServedPoint)| match point.poll_output(now) {
            ServedPointOutput::Wait(deadline) => deadline,
            _ => unreachable!("it has just said that it waits"),
        };
        self.served.iter_mut().filter_map(of_point).chain(deadline).min()
    }
}

/// Outcome of asking the points that a process serves.
enum ServedPolled {
    /// The driver has something to do.
    Output(EntityOutput),
    /// The process has something to do.
    Sent,
}
