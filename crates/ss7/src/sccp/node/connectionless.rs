//! Connectionless control (Q.714, section 4), and what routing control does with its messages.

use bytes::Bytes;
use slantpath_base::Instant;

use crate::mtp3::{RoutingLabel, Sls};
use crate::sccp::config::MANAGEMENT;
use crate::sccp::counters::Discard;
use crate::sccp::node::Node;
use crate::sccp::node::routing::{Destination, Route};
use crate::sccp::primitive::{Indication, RequestError, UnitdataRequest};
use crate::sccp::reassembly::{Key, Reassembled};
use crate::sccp::unitdata::{FIRST_HOP_COUNTER, Form, MOST_DATA_OCTETS, Purpose, RETURN_ON_ERROR, Unitdata};
use crate::sccp::{
    LocalReference, OptionalParameters, Parameter, PartyAddress, ProtocolClass, ReturnCause, Segmentation,
};

/// Importance of messages that do not say it (Q.714, section 2.6, table 2).
const DATA_IMPORTANCE: u8 = 4;
const SERVICE_IMPORTANCE: u8 = 3;
/// SCCP management must get through.
const MANAGEMENT_IMPORTANCE: u8 = 7;

impl Node {
    /// Takes an N-UNITDATA request of a user.
    pub fn unitdata(&mut self, now: Instant, request: UnitdataRequest) -> Result<(), RequestError> {
        let UnitdataRequest { called, calling, sequence, return_on_error, importance, data } = request;
        if data.is_empty() {
            return Err(RequestError::NoData);
        }
        if data.len() > MOST_DATA_OCTETS {
            return Err(RequestError::DataTooLong { octets: data.len(), most: MOST_DATA_OCTETS });
        }
        if !calling.ssn.is_some_and(|ssn| self.subsystems.contains_key(&ssn)) {
            return Err(RequestError::NotAUser);
        }
        let class = ProtocolClass {
            class: u8::from(sequence.is_some()),
            handling: if return_on_error { RETURN_ON_ERROR } else { 0 },
        };
        let mut others = OptionalParameters::default();
        if let Some(importance) = importance {
            others.0.push(Parameter { name: Parameter::IMPORTANCE, value: vec![importance & 7] });
        }
        // Only the higher forms can say how important they are, and only they end when translations go in circles.
        let needs_more = importance.is_some() || !called.routes_on_ssn;
        let form = if needs_more { Form::Extended } else { Form::Unitdata };
        let unitdata = Unitdata {
            form,
            purpose: Purpose::Data(class),
            hop_counter: None,
            called,
            calling,
            data: data.into(),
            segmentation: None,
            others,
        };
        let sls = match sequence {
            Some(number) => Sls((number & 0xf) as u8),
            None => self.any_sls(),
        };
        self.forward(now, unitdata, None, sls);
        self.drain_loopback(now);
        Ok(())
    }

    /// A connectionless message from another node, with its label, or one that this node gives itself.
    pub(super) fn route_unitdata(
        &mut self,
        now: Instant,
        mut unitdata: Unitdata,
        from: Option<RoutingLabel>,
    ) {
        let Some(label) = from else {
            let sls = self.any_sls();
            return self.forward(now, unitdata, None, sls);
        };
        let translates = !unitdata.called.routes_on_ssn && unitdata.called.global_title.is_some();
        if let (true, Some(hops)) = (translates, unitdata.hop_counter) {
            match hops.checked_sub(1) {
                None | Some(0) => {
                    self.counters.hop_counter_violations += 1;
                    return self.fail(now, unitdata, ReturnCause::HOP_COUNTER_VIOLATION, Some(label));
                }
                Some(left) => unitdata.hop_counter = Some(left),
            }
        }
        // Who answers must know the node to answer to (Q.714, section 2.7.5.2).
        let calling = &mut unitdata.calling;
        if calling.routes_on_ssn && calling.point_code.is_none() && calling.global_title.is_none() {
            calling.point_code = Some(label.opc);
        }
        self.forward(now, unitdata, Some(label), label.sls);
    }

    fn forward(&mut self, now: Instant, unitdata: Unitdata, from: Option<RoutingLabel>, sls: Sls) {
        let default = match unitdata.purpose {
            Purpose::Service(_) => SERVICE_IMPORTANCE,
            Purpose::Data(_) if unitdata.calling.ssn == Some(MANAGEMENT) => MANAGEMENT_IMPORTANCE,
            Purpose::Data(_) => DATA_IMPORTANCE,
        };
        let is_segment = unitdata.segmentation.is_some();
        let route = Route {
            called: &unitdata.called,
            calling: Some(&unitdata.calling),
            sls,
            in_sequence: unitdata.is_in_sequence() || is_segment,
            is_from_network: from.is_some(),
            importance: unitdata.importance().unwrap_or(default),
        };
        match self.route(route) {
            Err(cause) => {
                self.answer_prohibited(&unitdata, cause, from);
                self.fail(now, unitdata, cause, from);
            }
            Ok(Destination::Local(MANAGEMENT)) => self.handle_management(now, &unitdata, from),
            Ok(Destination::Local(_)) => self.deliver(now, unitdata, from),
            Ok(Destination::Remote(code, called)) => {
                let capability = self.remote(code).map(|remote| remote.capability).unwrap_or_default();
                let sent = Unitdata { called, ..unitdata };
                let reference = LocalReference(self.next_segmentation);
                match sent.fit(capability, reference) {
                    Err(cause) => self.fail(now, sent, cause, from),
                    Ok(messages) => {
                        if messages.len() > 1 {
                            self.next_segmentation = (self.next_segmentation + 1) & 0xff_ffff;
                            self.counters.segmented += 1;
                            self.counters.segments_sent += messages.len() as u64;
                        }
                        self.counters.relayed += u64::from(from.is_some());
                        for octets in messages {
                            self.transmit(code, sls, octets);
                        }
                    }
                }
            }
        }
    }

    /// To the user, once it is whole.
    fn deliver(&mut self, now: Instant, unitdata: Unitdata, from: Option<RoutingLabel>) {
        let Purpose::Data(class) = unitdata.purpose else { return self.notice(unitdata) };
        let Some(segmentation) =
            unitdata.segmentation.filter(|segmentation| !(segmentation.first && segmentation.remaining == 0))
        else {
            let in_sequence = unitdata.segmentation.map_or(class.class == 1, |whole| whole.in_sequence);
            return self.indicate_unitdata(unitdata, in_sequence);
        };
        self.reassemble(now, unitdata, segmentation, from);
    }

    fn reassemble(
        &mut self,
        now: Instant,
        mut unitdata: Unitdata,
        segmentation: Segmentation,
        from: Option<RoutingLabel>,
    ) {
        self.counters.segments_received += 1;
        let mut calling = Vec::new();
        unitdata.calling.emit(&mut calling);
        let origin = from.map_or(self.config.point_code, |label| label.opc);
        let key = Key::new(origin, calling, segmentation.reference);
        let data = core::mem::take(&mut unitdata.data);
        let timer = self.config.timers.reassembly;
        match self.reassembly.segment(now, timer, &key, segmentation, (unitdata, from), &data) {
            Reassembled::Complete((first, _), data) => {
                self.counters.reassembled += 1;
                self.indicate_unitdata(Unitdata { data, ..first }, segmentation.in_sequence);
            }
            Reassembled::Failed((first, from), data, cause) => {
                self.counters.reassembly_failed(cause);
                self.fail(now, Unitdata { data, ..first }, cause, from);
            }
            Reassembled::Ignored => self.counters.discard(Discard::UnexpectedSegment),
            Reassembled::Kept => {}
        }
    }

    pub(super) fn expire_segments(&mut self, now: Instant) {
        while let Some(expired) = self.reassembly.take_expired(now) {
            if let Reassembled::Failed((first, from), data, cause) = expired {
                self.counters.reassembly_failed(cause);
                self.fail(now, Unitdata { data, ..first }, cause, from);
            }
        }
    }

    fn indicate_unitdata(&mut self, unitdata: Unitdata, in_sequence: bool) {
        let Unitdata { called, calling, data, .. } = unitdata;
        let Some(ssn) = called.ssn else { return self.counters.discard(Discard::Malformed) };
        self.counters.delivered += 1;
        let data = Bytes::from(data);
        self.indicate(ssn, Indication::Unitdata { called, calling, in_sequence, data });
    }

    /// A message of this node's user has come back.
    fn notice(&mut self, unitdata: Unitdata) {
        let Unitdata { called, calling, data, purpose, .. } = unitdata;
        let Purpose::Service(cause) = purpose else { return };
        let Some(ssn) = called.ssn else { return self.counters.discard(Discard::Malformed) };
        // The service message goes the other way: whom the message was for is now who sends.
        let notice = Indication::Notice { called: calling, calling: called, cause, data: Bytes::from(data) };
        self.indicate(ssn, notice);
    }

    /// Returns a message that cannot be delivered, if that was asked for (Q.714, section 4.2).
    fn fail(&mut self, now: Instant, unitdata: Unitdata, cause: ReturnCause, from: Option<RoutingLabel>) {
        if let Purpose::Service(_) = unitdata.purpose {
            return self.counters.discard(Discard::ServiceUndeliverable(cause));
        }
        let is_later_segment = unitdata.segmentation.is_some_and(|segmentation| !segmentation.first);
        let has_origin = unitdata.calling != PartyAddress::default();
        if !unitdata.returns_on_error() || is_later_segment || !has_origin {
            return self.counters.discard(Discard::NotReturnable(cause));
        }
        *self.counters.returned.entry(cause).or_default() += 1;
        let Unitdata { form, called, calling, data, segmentation, .. } = unitdata;
        let is_own = calling.point_code.is_none() && from.is_none();
        let service = Unitdata {
            form,
            purpose: Purpose::Service(cause),
            hop_counter: (form != Form::Unitdata).then_some(FIRST_HOP_COUNTER),
            called: calling,
            calling: called,
            data,
            segmentation,
            others: OptionalParameters::default(),
        };
        if is_own {
            return self.notice(service);
        }
        let sls = from.map_or_else(|| self.any_sls(), |label| label.sls);
        self.forward(now, service, None, sls);
    }
}
