//! The part of a network's round that belongs to M3UA.

use slantpath_base::Instant;
use slantpath_sigtran::asp::{GatewayEvent, ProcessEvent, ServerName};
use slantpath_sigtran::m3ua::{AspOutput, SgpOutput};
use slantpath_sigtran::transport::{AssociationId, Transmit, TransportInput};
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::sccp::{self, Indication};
use slantpath_ss7::transfer::{StatusCause, TransferIndication};

use super::config::association;
use super::{AdaptationEventKind as Kind, AspId, GatewayId, ServedPointId, Witness, user_of};
use crate::signalling::config::{AdaptationId, AssociationSide, Carried, Side, UserPlace};
use crate::signalling::network::{Output, SignallingNetwork};

/// The association of a layer's number.
fn adaptation(id: AssociationId) -> AdaptationId {
    AdaptationId(usize::try_from(id.0).unwrap_or(usize::MAX))
}

const fn end(id: AdaptationId, side: Side) -> AssociationSide {
    AssociationSide { carried: Carried::Adaptation(id), side }
}

impl SignallingNetwork {
    /// An association between a gateway and a process tells something to one of them.
    pub(in crate::signalling) fn handle_adaptation(
        &mut self,
        now: Instant,
        id: AdaptationId,
        side: Side,
        input: TransportInput,
    ) {
        let m3ua = &mut self.m3ua;
        let (gateway, asp) = (m3ua.config.associations[id.0].gateway, m3ua.config.associations[id.0].asp);
        let witness = match side {
            Side::First => Witness::Gateway(gateway),
            Side::Second => Witness::Asp(asp),
        };
        let tally = &mut m3ua.tallies[id.0][side as usize];
        match &input {
            TransportInput::Up { .. } => {
                tally.times_up += 1;
                m3ua.note(now, witness, Some(id), None, Kind::AssociationUp);
            }
            TransportInput::Down => {
                tally.times_lost += 1;
                m3ua.note(now, witness, Some(id), None, Kind::AssociationDown);
            }
            TransportInput::Message { octets, .. } => tally.received(octets),
            TransportInput::Congested(_) | TransportInput::Restart => {}
        }
        match side {
            Side::First => m3ua.gateways[gateway.0].sgp.handle_input(now, association(id), input),
            Side::Second => m3ua.processes[asp.0].handle_transport(now, id, input),
        }
    }

    /// One round through gateways, processes and the points that they serve. Says whether something was handed on.
    pub(in crate::signalling) fn turn_m3ua(&mut self, now: Instant) -> bool {
        let mut is_busy = false;
        for gateway in 0..self.m3ua.gateways.len() {
            is_busy |= self.drain_gateway(now, GatewayId(gateway));
        }
        for asp in 0..self.m3ua.processes.len() {
            is_busy |= self.drain_process(now, AspId(asp));
        }
        for point in 0..self.m3ua.points.len() {
            is_busy |= self.drain_served_point(now, ServedPointId(point));
        }
        is_busy
    }

    fn transmit(&mut self, side: Side, transmit: Transmit) {
        let id = adaptation(transmit.association);
        self.m3ua.tallies[id.0][side as usize].sent(&transmit.octets);
        self.outputs.push_back(Output::Transmit(end(id, side), transmit));
    }

    fn drain_gateway(&mut self, now: Instant, id: GatewayId) -> bool {
        let mut is_busy = false;
        loop {
            let gateway = &mut self.m3ua.gateways[id.0];
            match gateway.sgp.poll_output(now) {
                SgpOutput::Event(event) => self.gateway_event(now, id, &event),
                SgpOutput::Indication(_, indication) => self.leave_gateway(now, id, indication),
                SgpOutput::Transmit(transmit) => self.transmit(Side::First, transmit),
                SgpOutput::Wait(deadline) => {
                    let deadline = deadline.into_iter().chain(gateway.congestion_ends()).min();
                    gateway.deadline = deadline;
                    if deadline.is_none_or(|deadline| deadline > now) {
                        return is_busy;
                    }
                    let mtp3 = &self.points[gateway.point.0].mtp3;
                    gateway.handle_deadline(now, |code| mtp3.congestion_status(code));
                }
            }
            is_busy = true;
        }
    }

    /// What a gateway's process gives to the SS7 side.
    fn leave_gateway(&mut self, now: Instant, id: GatewayId, indication: TransferIndication) {
        let gateway = &self.m3ua.gateways[id.0];
        let point = gateway.point;
        let mtp3 = &mut self.points[point.0].mtp3;
        match indication {
            TransferIndication::Transfer(transfer) if transfer.label.dpc == gateway.own() => {
                let user = user_of(&transfer);
                self.indicate(now, point.0, user, TransferIndication::Transfer(transfer));
            }
            // What MTP3 refuses it has counted under its reason.
            TransferIndication::Transfer(transfer) => drop(mtp3.transfer(now, &transfer)),
            TransferIndication::Pause(code) => mtp3.set_served(now, code, false),
            TransferIndication::Resume(code) => mtp3.set_served(now, code, true),
            TransferIndication::Status { affected, cause } => {
                if let StatusCause::Congestion(level) = cause {
                    mtp3.set_served_congestion(affected, level);
                }
                let kind = Kind::of_status(affected, cause);
                self.m3ua.note(now, Witness::Gateway(id), None, None, kind);
            }
        }
    }

    fn gateway_event(&mut self, now: Instant, id: GatewayId, event: &GatewayEvent<u32>) {
        let (association, context, kind) = match *event {
            GatewayEvent::As(context, state) => (None, Some(context), Kind::As(state)),
            GatewayEvent::Asp(association, context, state) => {
                (Some(association), Some(context), Kind::Asp(state))
            }
            GatewayEvent::PeerError(association, code) => (Some(association), None, Kind::Error(code)),
            GatewayEvent::PeerUnavailable(association) => {
                self.outputs.push_back(Output::Abort(end(adaptation(association), Side::First)));
                (Some(association), None, Kind::PeerUnavailable)
            }
            // That a process is up shows in its states; nobody registers here; queues are the gateway's own.
            GatewayEvent::AspUp(..)
            | GatewayEvent::Deregistered(..)
            | GatewayEvent::DiscardQueue(_)
            | GatewayEvent::FlushQueue(_) => return,
        };
        self.m3ua.note(now, Witness::Gateway(id), association.map(adaptation), context, kind);
    }

    fn drain_process(&mut self, now: Instant, id: AspId) -> bool {
        let mut is_busy = false;
        loop {
            let process = &mut self.m3ua.processes[id.0];
            match process.asp_mut().poll_output(now) {
                AspOutput::Event(at, event) => self.process_event(now, id, adaptation(at), event),
                AspOutput::Indication(_, indication) => self.leave_process(now, id, &indication),
                AspOutput::Transmit(transmit) => self.transmit(Side::Second, transmit),
                // Application servers are configured, not registered.
                AspOutput::Deregistered(..) | AspOutput::Registered(..) => {}
                AspOutput::Wait(deadline) => {
                    let deadline = deadline.into_iter().chain(process.next_takeover()).min();
                    process.deadline = deadline;
                    if deadline.is_none_or(|deadline| deadline > now) {
                        return is_busy;
                    }
                    process.handle_deadline(now);
                }
            }
            is_busy = true;
        }
    }

    fn process_event(&mut self, now: Instant, id: AspId, at: AdaptationId, event: ProcessEvent<u32>) {
        let witness = Witness::Asp(id);
        let process = &mut self.m3ua.processes[id.0];
        match event {
            ProcessEvent::Asp(name, state) => {
                self.m3ua.note(now, witness, Some(at), name.key().copied(), Kind::Asp(state));
            }
            ProcessEvent::Notified(status, names, _) => {
                let contexts: Vec<u32> = names.iter().filter_map(ServerName::key).copied().collect();
                process.notified(now, at, status, &contexts);
                for context in contexts {
                    self.m3ua.note(now, witness, Some(at), Some(context), Kind::Notified(status));
                }
            }
            ProcessEvent::NotAcknowledged(request) => {
                self.m3ua.note(now, witness, Some(at), None, Kind::NotAcknowledged(request));
            }
            ProcessEvent::PeerError(code) => {
                self.m3ua.note(now, witness, Some(at), None, Kind::Error(code));
            }
            ProcessEvent::PeerUnavailable => {
                self.outputs.push_back(Output::Abort(end(at, Side::Second)));
                self.m3ua.note(now, witness, Some(at), None, Kind::PeerUnavailable);
            }
            ProcessEvent::Up(true) => process.came_up(now, at),
            ProcessEvent::Up(false) => {}
        }
    }

    /// What a process gives to the user parts above it.
    fn leave_process(&mut self, now: Instant, id: AspId, indication: &TransferIndication) {
        let kind = match indication {
            TransferIndication::Pause(code) => Some(Kind::Pause(*code)),
            TransferIndication::Resume(code) => Some(Kind::Resume(*code)),
            TransferIndication::Status { affected, cause } => Some(Kind::of_status(*affected, *cause)),
            TransferIndication::Transfer(_) => None,
        };
        if let Some(kind) = kind {
            self.m3ua.note(now, Witness::Asp(id), None, None, kind);
        }
        for (point, indication) in self.m3ua.derive(id, indication) {
            let place = UserPlace::Served(point);
            self.loads
                .iter_mut()
                .filter(|load| load.from == place)
                .for_each(|load| load.tell(now, &indication));
            let is_for_sccp = match &indication {
                TransferIndication::Transfer(transfer) => user_of(transfer) == ServiceIndicator::SCCP,
                _ => true,
            };
            match (&mut self.m3ua.points[point.0].sccp, &indication) {
                (Some(sccp), _) if is_for_sccp => sccp.handle_indication(now, indication),
                (_, TransferIndication::Transfer(transfer)) => self.arrived(now, place, transfer),
                _ => {}
            }
        }
    }

    fn drain_served_point(&mut self, now: Instant, id: ServedPointId) -> bool {
        let mut is_busy = false;
        loop {
            let point = &mut self.m3ua.points[id.0];
            let code = point.code;
            let Some(sccp) = point.sccp.as_mut() else { return is_busy };
            match sccp.poll_output(now) {
                // What goes no further is counted under its reason.
                sccp::Output::Transfer(transfer) => drop(self.m3ua.transfer(id, &transfer)),
                sccp::Output::Indication { ssn, indication: Indication::Unitdata { data, .. } } => {
                    self.arrived_unitdata(now, UserPlace::Served(id), code, ssn, &data);
                }
                sccp::Output::Indication { .. } => {}
                sccp::Output::Wait(deadline) => {
                    point.deadline = deadline;
                    return is_busy;
                }
            }
            is_busy = true;
        }
    }

    /// A process dies: its associations end, and nobody opens them.
    pub(in crate::signalling) fn fail_process(&mut self, asp: AspId) {
        for own in self.m3ua.processes[asp.0].associations() {
            self.outputs.push_back(Output::Close(end(*own, Side::Second)));
        }
    }

    /// A process that has died is started again.
    pub(in crate::signalling) fn restore_process(&mut self, asp: AspId) {
        for own in self.m3ua.processes[asp.0].associations() {
            self.outputs.push_back(Output::Open(end(*own, Side::Second)));
        }
    }

    /// Management takes the traffic of a process away (ASP Inactive).
    pub(in crate::signalling) fn deactivate_process(&mut self, now: Instant, asp: AspId) {
        self.m3ua.processes[asp.0].deactivate(now);
    }

    /// Management lets a process take its traffic (ASP Active).
    pub(in crate::signalling) fn activate_process(&mut self, now: Instant, asp: AspId) {
        self.m3ua.processes[asp.0].activate(now);
    }
}
