//! The parts of a point at work: what each has to say, and for whom.

use slantpath_base::Instant;
use slantpath_sigtran::asp::GatewayEvent;
use slantpath_sigtran::m3ua::SgpOutput;
use slantpath_ss7::link::LinkIndication;
use slantpath_ss7::mtp3::ServiceIndicator;
use slantpath_ss7::mtp3::node::{self, Mtp3LinkId};
use slantpath_ss7::sccp::{self, Indication};
use slantpath_ss7::transfer::{StatusCause, TransferIndication, UserPartUnavailability};

use super::{PointOutput, SignallingPoint};
use crate::level2::Level2Output;
use crate::m3ua::{M3uaEvent, M3uaEventKind as Kind};
use crate::management::{PointEvent, PointEventKind};

/// Tells whether a message is one of a user part, and not of MTP3's management.
fn is_of_user(octets: &[u8]) -> bool {
    const FIRST_OF_USERS: u8 = 3;
    octets.first().is_some_and(|octet| octet & 0x0f >= FIRST_OF_USERS)
}

/// Outcome of a part's turn.
pub(super) enum Step {
    /// Nothing more to do until then, or until something comes.
    Done(Option<Instant>),
    /// The part goes on when this has been taken.
    Output(PointOutput),
}

impl SignallingPoint {
    /// Reads what has come to a link, and does what is due.
    pub(super) fn poll_link(&mut self, now: Instant, place: usize) -> Step {
        let (upper, processor_part) = (self.upper_part(), self.processor_part());
        loop {
            let (link, level2) = &mut self.links[place];
            let link = *link;
            match level2.poll_output(now) {
                Level2Output::Indication(LinkIndication::Received(octets))
                    if self.screened.is_some() && !self.passes_from_link(now, link, &octets) =>
                {
                    // Copies and answers go first.
                    if let Some(output) = self.outputs.pop_front() {
                        return Step::Output(output);
                    }
                }
                Level2Output::Indication(LinkIndication::Received(octets)) if is_of_user(&octets) => {
                    if let Some(processor) = &mut self.processor {
                        processor.push(now, link, octets);
                        self.work.mark(processor_part);
                    } else {
                        self.mtp3.handle_link(now, link, LinkIndication::Received(octets));
                        self.work.mark(upper);
                    }
                }
                Level2Output::Indication(indication) => {
                    self.mtp3.handle_link(now, link, indication);
                    self.work.mark(upper);
                }
                Level2Output::Transmit(transmit) => return Step::Output(PointOutput::Transmit(transmit)),
                Level2Output::Unit(transmission) => {
                    return Step::Output(PointOutput::Unit(link, transmission));
                }
                Level2Output::Wait(deadline) => return Step::Done(deadline),
            }
        }
    }

    /// Gives the messages that have passed the processor to MTP3.
    pub(super) fn poll_processor(&mut self, now: Instant) -> Step {
        let upper = self.upper_part();
        let Some(processor) = &mut self.processor else { return Step::Done(None) };
        if let Some(is_congested) = processor.new_congestion(now) {
            let status = u8::from(is_congested);
            self.mtp3.set_overload(status);
            let event = PointEvent { link: None, kind: PointEventKind::Congestion(status) };
            return Step::Output(PointOutput::Event(event));
        }
        while let Some((link, octets)) = processor.pop(now) {
            self.mtp3.handle_link(now, link, LinkIndication::Received(octets));
            self.work.mark(upper);
        }
        Step::Done(processor.deadline())
    }

    /// MTP3 with SCCP: SCCP's turn comes whenever MTP3 has nothing to do.
    pub(super) fn poll_upper(&mut self, now: Instant) -> Step {
        loop {
            let output = match self.mtp3.poll_output(now) {
                node::Output::Link(Mtp3LinkId(link), request) => {
                    let place = self.places[usize::from(link)];
                    self.links[place].1.request(now, request);
                    self.work.mark(place);
                    None
                }
                node::Output::Indication(user, indication) => self.indicate(now, user, indication),
                node::Output::Management(event) => self.management_event(event),
                node::Output::Wait(deadline) => {
                    let Some(sccp) = self.sccp.as_mut() else { return Step::Done(deadline) };
                    match sccp.poll_output(now) {
                        sccp::Output::Transfer(transfer) => {
                            // What MTP3 refuses it has counted under its reason.
                            _ = self.mtp3.transfer(now, &transfer);
                            None
                        }
                        sccp::Output::Indication { ssn, indication: Indication::Unitdata { data, .. } } => {
                            Some(PointOutput::Unitdata { ssn, data })
                        }
                        sccp::Output::Indication { ssn, indication } => {
                            self.coordinate(now, ssn, &indication)
                        }
                        sccp::Output::Wait(own) => return Step::Done(deadline.into_iter().chain(own).min()),
                    }
                }
            };
            if let Some(output) = output {
                return Step::Output(output);
            }
        }
    }

    /// An indication of MTP3 to a user of the point: the gateway's process, SCCP, or one above the point.
    fn indicate(
        &mut self,
        now: Instant,
        user: ServiceIndicator,
        indication: TransferIndication,
    ) -> Option<PointOutput> {
        if let Some(gateway) = &mut self.gateway {
            if let TransferIndication::Transfer(transfer) = &indication
                && gateway.lacks_server_of(&transfer.label, user)
            {
                self.mtp3.refuse_for_user(now, transfer.label, user);
                self.work.mark(self.upper_part());
                return None;
            }
            let is_for_processes = gateway.handle_mtp3(now, user, &indication);
            self.work.mark(self.gateway_part());
            if is_for_processes {
                return None;
            }
        }
        let is_message = matches!(indication, TransferIndication::Transfer(_));
        let for_sccp = self.sccp.as_mut().filter(|_| user == ServiceIndicator::SCCP);
        match for_sccp {
            Some(sccp) if is_message => {
                sccp.handle_indication(now, indication);
                None
            }
            for_sccp => {
                if let Some(sccp) = for_sccp {
                    sccp.handle_indication(now, indication.clone());
                }
                Some(PointOutput::Indication(user, indication))
            }
        }
    }

    /// The gateway's process, if there is one.
    pub(super) fn poll_gateway(&mut self, now: Instant) -> Step {
        loop {
            let Some(gateway) = &mut self.gateway else { return Step::Done(None) };
            let output = match gateway.sgp.poll_output(now) {
                SgpOutput::Diverted { routing_context, from, to } => {
                    let kind = Kind::TrafficDiverted { to };
                    let (association, routing_context) = (Some(from), Some(routing_context));
                    Some(PointOutput::M3uaEvent(M3uaEvent { association, routing_context, kind }))
                }
                SgpOutput::Event(event) => self.gateway_event(&event),
                SgpOutput::Registration { association, result, destination } => {
                    Some(PointOutput::M3uaEvent(M3uaEvent::of_registration(association, result, destination)))
                }
                SgpOutput::Examine { association, routing_context, network, message } => {
                    self.examine(now, association, routing_context, network, message);
                    self.outputs.pop_front()
                }
                SgpOutput::Indication(_, indication) => self.leave_gateway(now, indication),
                SgpOutput::Transmit(transmit) => {
                    gateway.tallies.sent(transmit.association, &transmit.octets);
                    Some(PointOutput::Transmit(transmit))
                }
                SgpOutput::Wait(deadline) => {
                    let deadline = deadline.into_iter().chain(gateway.congestion_ends()).min();
                    if deadline.is_none_or(|deadline| deadline > now) {
                        return Step::Done(deadline);
                    }
                    let mtp3 = &self.mtp3;
                    gateway.handle_deadline(now, |code| mtp3.congestion_status(code));
                    None
                }
            };
            if let Some(output) = output {
                return Step::Output(output);
            }
        }
    }

    /// Takes an indication of the gateway's process to the SS7 side.
    fn leave_gateway(&mut self, now: Instant, indication: TransferIndication) -> Option<PointOutput> {
        self.work.mark(self.upper_part());
        match indication {
            TransferIndication::Transfer(transfer) if transfer.label.dpc == self.mtp3.config().point_code => {
                let user = transfer.service.indicator;
                if self.mtp3.lacks_user(user) {
                    self.tell_of_missing_user(now, user);
                    return None;
                }
                return self.indicate(now, user, TransferIndication::Transfer(transfer));
            }
            // What MTP3 refuses it has counted under its reason.
            TransferIndication::Transfer(transfer) => _ = self.mtp3.transfer(now, &transfer),
            TransferIndication::Pause(code) => self.mtp3.set_served(now, code, false),
            TransferIndication::Resume(code) => self.mtp3.set_served(now, code, true),
            TransferIndication::Status { affected, cause } => {
                if let StatusCause::Congestion(level) = cause {
                    self.mtp3.set_served_congestion(affected, level);
                }
                let kind = Kind::of_status(affected, cause);
                let event = M3uaEvent { association: None, routing_context: None, kind };
                return Some(PointOutput::M3uaEvent(event));
            }
        }
        None
    }

    /// Tells the processes that this point lacks a user part, by DUPU.
    fn tell_of_missing_user(&mut self, now: Instant, user: ServiceIndicator) {
        let affected = self.mtp3.config().point_code;
        let reason = UserPartUnavailability::Unequipped;
        let cause = StatusCause::UserPartUnavailable { user, reason };
        if let Some(gateway) = &mut self.gateway {
            gateway.tell(now, &TransferIndication::Status { affected, cause });
        }
    }

    /// Takes a report of the gateway's process to management.
    fn gateway_event(&mut self, event: &GatewayEvent<u32>) -> Option<PointOutput> {
        let (association, routing_context, kind) = match *event {
            GatewayEvent::As(context, state) => (None, Some(context), Kind::As(state)),
            GatewayEvent::Asp(association, context, state) => {
                (Some(association), Some(context), Kind::Asp(state))
            }
            GatewayEvent::PeerError(association, code) => (Some(association), None, Kind::Error(code)),
            GatewayEvent::PeerUnavailable(association) => {
                self.outputs.push_back(PointOutput::Abort(association));
                (Some(association), None, Kind::PeerUnavailable)
            }
            GatewayEvent::Deregistered(association, context) => {
                (Some(association), Some(context), Kind::Deregistered)
            }
            // That a process is up shows in its states; queues are the gateway's own.
            GatewayEvent::AspUp(..) | GatewayEvent::DiscardQueue(_) | GatewayEvent::FlushQueue(_) => {
                return None;
            }
        };
        // In this order behind what the part has said before: the association is aborted first.
        self.outputs.push_back(PointOutput::M3uaEvent(M3uaEvent { association, routing_context, kind }));
        self.outputs.pop_front()
    }
}
