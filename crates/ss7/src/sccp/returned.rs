//! Answer to a message of SCCP that a point on its way does not let pass, made without a node (Q.714, sections 2.6 and
//! 4.2): a service message for a unitdata whose return is asked for, a refusal for a request for a connection.

use bytes::Bytes;

use crate::PointCode;
use crate::mtp3::{RoutingLabel, ServiceIndicator};
use crate::sccp::unitdata::{FIRST_HOP_COUNTER, Form, Purpose, Sorted, Unitdata};
use crate::sccp::{AddressFormat, Message, OptionalParameters, PartyAddress, ReturnCause};
use crate::transfer::Transfer;

/// The answer of the point of that code to a message that it refuses, for the point that the label names as its origin.
/// None for a message that the standard has no answer to: of another user part, without a request for its return, a
/// later segment, or an answer itself.
pub fn answer_refused(
    format: AddressFormat,
    own: PointCode,
    refused: &Transfer,
    cause: ReturnCause,
) -> Option<Transfer> {
    if refused.service.indicator != ServiceIndicator::SCCP {
        return None;
    }
    let answer = match Unitdata::sort(Message::parse_as(format, &refused.user_data).ok()?) {
        Sorted::Connectionless(unitdata) => returned(unitdata, cause)?,
        Sorted::Connection(Message::Cr { source, .. }) => {
            let optional = OptionalParameters::default();
            Message::Cref { destination: source, cause: cause.refusal().0, optional }
        }
        Sorted::Connection(_) => return None,
    };
    let mut octets = Vec::new();
    answer.emit_as(format, &mut octets).ok()?;
    let label = RoutingLabel { dpc: refused.label.opc, opc: own, sls: refused.label.sls };
    Some(Transfer { service: refused.service, label, user_data: Bytes::from(octets) })
}

/// The service message that brings a unitdata back.
fn returned(unitdata: Unitdata, cause: ReturnCause) -> Option<Message> {
    let is_later_segment = unitdata.segmentation.is_some_and(|segmentation| !segmentation.first);
    if !unitdata.returns_on_error() || is_later_segment || unitdata.calling == PartyAddress::default() {
        return None;
    }
    let Unitdata { form, called, calling, data, segmentation, .. } = unitdata;
    let service = Unitdata {
        form,
        purpose: Purpose::Service(cause),
        hop_counter: (form != Form::Unitdata).then_some(FIRST_HOP_COUNTER),
        called: calling,
        calling: called,
        data: Vec::new(),
        segmentation,
        others: OptionalParameters::default(),
    };
    Some(service.message(form, data, segmentation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mtp3::{ServiceInformation, Sls};
    use crate::sccp::{LocalReference, ProtocolClass, RefusalCause, Ssn};

    const CAUSE: ReturnCause = ReturnCause::NETWORK_CONGESTION;

    fn party(ssn: u8) -> PartyAddress {
        PartyAddress { routes_on_ssn: true, ssn: Some(Ssn(ssn)), ..PartyAddress::default() }
    }

    fn udt(handling: u8) -> Message {
        let class = ProtocolClass { class: 0, handling };
        Message::Udt { class, called: party(6), calling: party(8), data: vec![1, 2, 3] }
    }

    fn carrying(message: &Message, service: u8) -> Transfer {
        let mut octets = Vec::new();
        message.emit(&mut octets).unwrap();
        Transfer {
            service: ServiceInformation::from_octet(service),
            label: RoutingLabel { dpc: PointCode(3), opc: PointCode(1), sls: Sls(5) },
            user_data: Bytes::from(octets),
        }
    }

    fn answer(message: &Message, service: u8) -> Option<(RoutingLabel, Message)> {
        let answer = answer_refused(AddressFormat::Itu, PointCode(2), &carrying(message, service), CAUSE)?;
        Some((answer.label, Message::parse(&answer.user_data).unwrap()))
    }

    #[test]
    fn a_unitdata_comes_back_to_its_origin_if_that_was_asked_for() {
        let (label, message) = answer(&udt(8), 0x83).unwrap();
        assert_eq!(label, RoutingLabel { dpc: PointCode(1), opc: PointCode(2), sls: Sls(5) });
        let back = Message::Udts { cause: CAUSE.0, called: party(8), calling: party(6), data: vec![1, 2, 3] };
        assert_eq!(message, back);
        assert_eq!(answer(&udt(0), 0x83), None);
        assert_eq!(answer(&message, 0x83), None);
        assert_eq!(answer(&udt(8), 0x85), None);
    }

    #[test]
    fn a_request_for_a_connection_is_refused_for_the_same_reason() {
        let request = Message::Cr {
            source: LocalReference(77),
            class: ProtocolClass { class: 2, handling: 0 },
            called: party(6),
            optional: OptionalParameters::default(),
        };
        let (_, message) = answer(&request, 0x83).unwrap();
        let refusal = Message::Cref {
            destination: LocalReference(77),
            cause: RefusalCause::SUBSYSTEM_CONGESTION.0,
            optional: OptionalParameters::default(),
        };
        assert_eq!(message, refusal);
    }
}
