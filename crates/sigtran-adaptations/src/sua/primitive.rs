//! The connectionless service of SCCP as SUA carries it: N-UNITDATA and N-NOTICE (RFC 3868, section 3.2).

use bytes::Bytes;
use slantpath_ss7::sccp::MOST_SEGMENTS;

use crate::message::{CommonParameter, OwnMessage, Parameter};
use crate::sua::{Address, SccpCause, Segmentation, SuaParameter, kind};

/// The value of the first parameter of that kind.
macro_rules! first {
    ($message:expr, $variant:path) => {
        $message.own().find_map(|parameter| match parameter {
            $variant(value) => Some(value),
            _ => None,
        })
    };
}
pub(super) use first;

/// Return on error, in the protocol class.
const RETURN_ON_ERROR: u8 = 0x80;

/// N-UNITDATA: one message of an SCCP user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unitdata {
    /// Address of the sender.
    pub source: Address,
    /// For whom it is.
    pub destination: Address,
    /// Class 1, whose messages of one sequence control arrive in order, rather than class 0.
    pub in_sequence: bool,
    /// True if the message comes back if it cannot be delivered.
    pub return_on_error: bool,
    /// Sequence control: messages that share it stay together, in order.
    pub sequence_control: u32,
    /// Number of times that it may still be translated, 15 to 1.
    pub hop_count: Option<u8>,
    /// Importance, 0 to 7.
    pub importance: Option<u8>,
    /// Priority, 0 to 3, of networks that have it.
    pub priority: Option<u8>,
    /// Position among the segments of a longer message, if it is one of them.
    pub segmentation: Option<Segmentation>,
    /// The user's octets.
    pub data: Bytes,
}

impl Unitdata {
    /// A message of class 0 without options.
    pub const fn new(source: Address, destination: Address, data: Bytes) -> Self {
        Self {
            source,
            destination,
            in_sequence: false,
            return_on_error: false,
            sequence_control: 0,
            hop_count: None,
            importance: None,
            priority: None,
            segmentation: None,
            data,
        }
    }

    /// Tells whether it goes back where it cannot be delivered: if that was asked for, and of a segmented message the
    /// first.
    pub(super) fn comes_back(&self) -> bool {
        self.return_on_error && self.segmentation.is_none_or(|segmentation| segmentation.first)
    }

    /// The message in segments of that many octets; nothing if it takes more than sixteen. All go in sequence, and the
    /// first alone comes back, as in SCCP (Q.714, section 4.1.1).
    pub(super) fn segments(&self, octets: usize, reference: u32) -> Option<Vec<Self>> {
        let count = self.data.len().div_ceil(octets.max(1));
        if count > MOST_SEGMENTS {
            return None;
        }
        let mut rest = self.data.clone();
        let mut segments = Vec::with_capacity(count);
        for remaining in (0_u8..16).take(count).rev() {
            let first = segments.is_empty();
            segments.push(Self {
                source: self.source.clone(),
                destination: self.destination.clone(),
                in_sequence: true,
                return_on_error: self.return_on_error && first,
                segmentation: Some(Segmentation { first, remaining, reference }),
                data: rest.split_to(octets.min(rest.len())),
                ..*self
            });
        }
        Some(segments)
    }

    /// The CLDT that it is.
    pub fn to_message(&self, routing_context: u32) -> OwnMessage<SuaParameter> {
        let class = u8::from(self.in_sequence) | if self.return_on_error { RETURN_ON_ERROR } else { 0 };
        let mut message = OwnMessage::empty(kind::CLDT)
            .with_common(CommonParameter::RoutingContexts(vec![routing_context]))
            .with(SuaParameter::ProtocolClass(class))
            .with(SuaParameter::SourceAddress(self.source.clone()))
            .with(SuaParameter::DestinationAddress(self.destination.clone()))
            .with(SuaParameter::SequenceControl(self.sequence_control));
        let options = [
            self.hop_count.map(SuaParameter::HopCount),
            self.importance.map(SuaParameter::Importance),
            self.priority.map(SuaParameter::MessagePriority),
            self.segmentation.map(SuaParameter::Segmentation),
        ];
        message.parameters.extend(options.into_iter().flatten().map(Parameter::Own));
        message.with(SuaParameter::Data(self.data.clone()))
    }

    /// Reads the content of a CLDT; nothing for another message, or one that lacks what it must have.
    pub fn of(message: &OwnMessage<SuaParameter>) -> Option<Self> {
        if message.kind != kind::CLDT {
            return None;
        }
        let class = *first!(message, SuaParameter::ProtocolClass)?;
        Some(Self {
            source: first!(message, SuaParameter::SourceAddress)?.clone(),
            destination: first!(message, SuaParameter::DestinationAddress)?.clone(),
            in_sequence: class & 3 == 1,
            return_on_error: class & RETURN_ON_ERROR != 0,
            sequence_control: *first!(message, SuaParameter::SequenceControl)?,
            hop_count: first!(message, SuaParameter::HopCount).copied(),
            importance: first!(message, SuaParameter::Importance).copied(),
            priority: first!(message, SuaParameter::MessagePriority).copied(),
            segmentation: first!(message, SuaParameter::Segmentation).copied(),
            data: first!(message, SuaParameter::Data)?.clone(),
        })
    }
}

/// N-NOTICE: a message that came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitdataNotice {
    /// Cause of the return.
    pub cause: SccpCause,
    /// Address of the party that gives it back, for which it was.
    pub source: Address,
    /// Address of the original sender.
    pub destination: Address,
    /// Segment of the message that it holds, where the message went in segments: the first.
    pub segmentation: Option<Segmentation>,
    /// The user's octets, if they came back too.
    pub data: Option<Bytes>,
}

/// The kind of a return cause.
pub(super) const RETURN_CAUSE: u8 = 1;

/// Return causes of Q.713, section 3.12.
pub mod return_cause {
    /// No translation for this specific address.
    pub const NO_TRANSLATION: u8 = 1;
    /// Subsystem congestion, at the destination.
    pub const SUBSYSTEM_CONGESTION: u8 = 2;
    /// Subsystem failure, at the destination.
    pub const SUBSYSTEM_FAILURE: u8 = 3;
    /// Hop counter violation.
    pub const HOP_COUNTER_VIOLATION: u8 = 12;
    /// Segmentation failure: the message cannot go in segments.
    pub const SEGMENTATION_FAILURE: u8 = 14;
}

impl UnitdataNotice {
    /// The message as it goes back.
    pub fn returning(unitdata: &Unitdata, cause: u8) -> Self {
        Self {
            cause: SccpCause { kind: RETURN_CAUSE, value: cause },
            source: unitdata.destination.clone(),
            destination: unitdata.source.clone(),
            segmentation: unitdata.segmentation,
            data: Some(unitdata.data.clone()),
        }
    }

    /// The CLDR that it is.
    pub fn to_message(&self, routing_context: u32) -> OwnMessage<SuaParameter> {
        let message = OwnMessage::empty(kind::CLDR)
            .with_common(CommonParameter::RoutingContexts(vec![routing_context]))
            .with(SuaParameter::Cause(self.cause))
            .with(SuaParameter::SourceAddress(self.source.clone()))
            .with(SuaParameter::DestinationAddress(self.destination.clone()));
        let message = match self.segmentation {
            Some(segmentation) => message.with(SuaParameter::Segmentation(segmentation)),
            None => message,
        };
        match &self.data {
            Some(data) => message.with(SuaParameter::Data(data.clone())),
            None => message,
        }
    }

    /// Reads the content of a CLDR; nothing for another message, or one that lacks what it must have.
    pub fn of(message: &OwnMessage<SuaParameter>) -> Option<Self> {
        if message.kind != kind::CLDR {
            return None;
        }
        Some(Self {
            cause: *first!(message, SuaParameter::Cause)?,
            source: first!(message, SuaParameter::SourceAddress)?.clone(),
            destination: first!(message, SuaParameter::DestinationAddress)?.clone(),
            segmentation: first!(message, SuaParameter::Segmentation).copied(),
            data: first!(message, SuaParameter::Data).cloned(),
        })
    }
}

/// The routing context of a transfer message, which names one application server.
pub(super) fn routing_context(message: &OwnMessage<SuaParameter>) -> Option<u32> {
    message.common().find_map(|parameter| match parameter {
        CommonParameter::RoutingContexts(contexts) => contexts.first().copied(),
        _ => None,
    })
}

/// Gives the message with the routing context of another application server.
pub(super) fn with_context(
    mut message: OwnMessage<SuaParameter>,
    routing_context: u32,
) -> OwnMessage<SuaParameter> {
    let context = CommonParameter::RoutingContexts(vec![routing_context]);
    message
        .parameters
        .retain(|parameter| !matches!(parameter, Parameter::Common(CommonParameter::RoutingContexts(_))));
    message.parameters.insert(0, Parameter::Common(context));
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sua::Message;
    use crate::sua::address::tests::any_address;
    use proptest::option;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn segments_are_the_message_in_their_order(len in 0_usize..200, octets in 1_usize..20, reference: u32) {
            let data: Bytes = (0..=255_u8).cycle().take(len).collect();
            let address = Address::of_subsystem(slantpath_ss7::PointCode(1), 8);
            let whole = Unitdata { return_on_error: true, ..Unitdata::new(address.clone(), address, data) };
            let Some(segments) = whole.segments(octets, reference) else {
                prop_assert!(len > 16 * octets);
                return Ok(());
            };
            let joined: Vec<u8> = segments.iter().flat_map(|segment| segment.data.to_vec()).collect();
            prop_assert_eq!(joined, whole.data);
            for (at, segment) in segments.iter().enumerate() {
                let place = segment.segmentation.unwrap();
                prop_assert!(segment.data.len() <= octets && segment.in_sequence);
                prop_assert_eq!((place.first, segment.comes_back()), (at == 0, at == 0));
                prop_assert_eq!(usize::from(place.remaining), segments.len() - 1 - at);
            }
        }

        #[test]
        fn unitdata_passes_through_its_message(
            source in any_address(),
            destination in any_address(),
            in_sequence: bool,
            return_on_error: bool,
            sequence_control: u32,
            hop_count in option::of(1_u8..16),
            importance in option::of(0_u8..8),
            data: Vec<u8>,
        ) {
            let unitdata = Unitdata {
                in_sequence,
                return_on_error,
                sequence_control,
                hop_count,
                importance,
                ..Unitdata::new(source, destination, data.into())
            };
            let octets = Message::Own(unitdata.to_message(5)).to_bytes();
            let Ok(Message::Own(message)) = Message::receive(&octets) else { panic!("it is a whole message") };
            prop_assert_eq!(routing_context(&message), Some(5));
            prop_assert_eq!(Unitdata::of(&message), Some(unitdata.clone()));
            let notice = UnitdataNotice::returning(&unitdata, return_cause::NO_TRANSLATION);
            prop_assert_eq!(UnitdataNotice::of(&notice.to_message(5)), Some(notice));
        }
    }
}
