//! A connectionless message whatever its form, and the forms in which a network can carry it
//! (Q.714, sections 2.5 and 4.1.1).

use crate::sccp::{
    LocalReference, Message, OptionalParameters, Parameter, PartyAddress, ProtocolClass, ReturnCause,
    Segmentation,
};

/// The three forms of a connectionless message, shortest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// UDT and UDTS: up to 255 octets of data.
    Unitdata,
    /// XUDT and XUDTS: with hop counter, segments and importance.
    Extended,
    /// LUDT and LUDTS: up to 3952 octets of data, for links that carry long messages.
    Long,
}

/// Capability of a node, and of the network towards it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    /// The highest form that the node understands.
    pub highest: Form,
    /// The longest SCCP message: 268 octets on links of 64 kbit/s behind an ITU label, 4091 on broadband links.
    pub message_octets: usize,
}

impl Default for Capability {
    /// A node of the 1993 recommendations or later behind narrowband links.
    fn default() -> Self {
        Self { highest: Form::Extended, message_octets: NARROWBAND_OCTETS }
    }
}

/// 272 octets of signalling information less the routing label (Q.703, section 2.3.8).
pub const NARROWBAND_OCTETS: usize = 268;
/// The most segments of a message: the first says how many follow, in four bits.
pub const MOST_SEGMENTS: usize = 16;
/// The most user data: sixteen segments of 247 octets.
pub const MOST_DATA_OCTETS: usize = 3_952;
/// Message handling: return the message on error.
pub(super) const RETURN_ON_ERROR: u8 = 8;
/// The hop counter of a new message (Q.714, section 2.3.1): the highest.
pub(super) const FIRST_HOP_COUNTER: u8 = 15;

/// Purpose of a message: to carry data, or to bring it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Data(ProtocolClass),
    /// A service message, with the return cause.
    Service(ReturnCause),
}

/// Contents of a connectionless message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unitdata {
    pub(super) form: Form,
    pub(super) purpose: Purpose,
    pub(super) hop_counter: Option<u8>,
    pub(super) called: PartyAddress,
    pub(super) calling: PartyAddress,
    pub(super) data: Vec<u8>,
    pub(super) segmentation: Option<Segmentation>,
    /// The optional parameters beside the segmentation.
    pub(super) others: OptionalParameters,
}

/// Messages sorted by the service that they belong to, of the two.
#[derive(Clone, Debug)]
pub(super) enum Sorted {
    Connection(Message),
    Connectionless(Unitdata),
}

impl Unitdata {
    /// Tells messages of the two services apart.
    pub(super) fn sort(message: Message) -> Sorted {
        let (purpose, form, hop_counter, called, calling, data, optional) = match message {
            Message::Udt { class, called, calling, data } => {
                let none = OptionalParameters::default();
                (Purpose::Data(class), Form::Unitdata, None, called, calling, data, none)
            }
            Message::Udts { cause, called, calling, data } => {
                let none = OptionalParameters::default();
                (Purpose::Service(ReturnCause(cause)), Form::Unitdata, None, called, calling, data, none)
            }
            Message::Xudt { class, hop_counter, called, calling, data, optional } => {
                (Purpose::Data(class), Form::Extended, Some(hop_counter), called, calling, data, optional)
            }
            Message::Ludt { class, hop_counter, called, calling, data, optional } => {
                (Purpose::Data(class), Form::Long, Some(hop_counter), called, calling, data, optional)
            }
            Message::Xudts { cause, hop_counter, called, calling, data, optional } => {
                let purpose = Purpose::Service(ReturnCause(cause));
                (purpose, Form::Extended, Some(hop_counter), called, calling, data, optional)
            }
            Message::Ludts { cause, hop_counter, called, calling, data, optional } => {
                let purpose = Purpose::Service(ReturnCause(cause));
                (purpose, Form::Long, Some(hop_counter), called, calling, data, optional)
            }
            other => return Sorted::Connection(other),
        };
        // A segmentation parameter of a wrong length is none: the message is taken for a whole one.
        let segmentation =
            optional.value(Parameter::SEGMENTATION).and_then(|value| Segmentation::parse(value).ok());
        let others = optional.0.into_iter().filter(|parameter| parameter.name != Parameter::SEGMENTATION);
        let others = OptionalParameters(others.collect());
        let unitdata = Self { form, purpose, hop_counter, called, calling, data, segmentation, others };
        Sorted::Connectionless(unitdata)
    }

    pub(super) fn message(&self, form: Form, data: Vec<u8>, segmentation: Option<Segmentation>) -> Message {
        let (called, calling) = (self.called.clone(), self.calling.clone());
        let hop_counter = self.hop_counter.unwrap_or(FIRST_HOP_COUNTER);
        let mut optional = OptionalParameters::default();
        if let Some(segmentation) = segmentation {
            let value = segmentation.emit().to_vec();
            optional.0.push(Parameter { name: Parameter::SEGMENTATION, value });
        }
        optional.0.extend(self.others.0.iter().cloned());
        match (self.purpose, form) {
            (Purpose::Data(class), Form::Unitdata) => Message::Udt { class, called, calling, data },
            (Purpose::Data(class), Form::Extended) => {
                Message::Xudt { class, hop_counter, called, calling, data, optional }
            }
            (Purpose::Data(class), Form::Long) => {
                Message::Ludt { class, hop_counter, called, calling, data, optional }
            }
            (Purpose::Service(ReturnCause(cause)), Form::Unitdata) => {
                Message::Udts { cause, called, calling, data }
            }
            (Purpose::Service(ReturnCause(cause)), Form::Extended) => {
                Message::Xudts { cause, hop_counter, called, calling, data, optional }
            }
            (Purpose::Service(ReturnCause(cause)), Form::Long) => {
                Message::Ludts { cause, hop_counter, called, calling, data, optional }
            }
        }
    }

    pub(super) fn returns_on_error(&self) -> bool {
        matches!(self.purpose, Purpose::Data(class) if class.handling & RETURN_ON_ERROR != 0)
    }

    pub(super) fn is_in_sequence(&self) -> bool {
        matches!(self.purpose, Purpose::Data(class) if class.class == 1)
    }

    pub(super) fn importance(&self) -> Option<u8> {
        self.others.value(Parameter::IMPORTANCE).and_then(|value| value.first()).map(|octet| octet & 7)
    }

    /// The octets of the messages that carry this to a node of that capability: one, or segments in their order.
    /// `reference` ties segments together. A service message that is too long loses the end of its data.
    pub(super) fn fit(
        &self,
        capability: Capability,
        reference: LocalReference,
    ) -> Result<Vec<Vec<u8>>, ReturnCause> {
        let forms = [self.form, Form::Unitdata, Form::Extended, Form::Long];
        for form in forms.into_iter().filter(|form| *form <= capability.highest) {
            // UDT has no hop counter and no segments: a higher form becomes one only for a node that knows no other.
            let loses = self.form != Form::Unitdata && capability.highest != Form::Unitdata;
            if form == Form::Unitdata && (self.segmentation.is_some() || loses) {
                continue;
            }
            if let Some(octets) = whole(&self.message(form, self.data.clone(), self.segmentation), capability)
            {
                return Ok(vec![octets]);
            }
        }
        if capability.highest == Form::Unitdata {
            return Err(ReturnCause::SEGMENTATION_NOT_SUPPORTED);
        }
        match self.purpose {
            Purpose::Data(_) if self.segmentation.is_some_and(|part| !part.first || part.remaining > 0) => {
                Err(ReturnCause::SEGMENTATION_FAILURE)
            }
            Purpose::Data(class) => self.segments(class, capability, reference),
            Purpose::Service(_) => {
                let room = self.room(capability);
                let data = self.data.get(..room).unwrap_or(&self.data).to_vec();
                let message = self.message(Form::Extended, data, None);
                whole(&message, capability)
                    .map(|octets| vec![octets])
                    .ok_or(ReturnCause::SEGMENTATION_FAILURE)
            }
        }
    }

    /// Data octets of an extended message of these addresses with a segmentation parameter. The pointer to the
    /// optional part must reach over the addresses and the data, in one octet.
    fn room(&self, capability: Capability) -> usize {
        let segmentation =
            Segmentation { first: true, in_sequence: false, remaining: 0, reference: LocalReference(0) };
        let mut empty = Vec::new();
        if self.message(Form::Extended, Vec::new(), Some(segmentation)).emit(&mut empty).is_err() {
            return 0;
        }
        let (mut called, mut calling) = (Vec::new(), Vec::new());
        self.called.emit(&mut called);
        self.calling.emit(&mut calling);
        // The pointer itself and three lengths.
        let reach = usize::from(u8::MAX).saturating_sub(4 + called.len() + calling.len());
        capability.message_octets.saturating_sub(empty.len()).min(reach)
    }

    fn segments(
        &self,
        class: ProtocolClass,
        capability: Capability,
        reference: LocalReference,
    ) -> Result<Vec<Vec<u8>>, ReturnCause> {
        let room = self.room(capability);
        if room == 0 || self.data.len().div_ceil(room) > MOST_SEGMENTS {
            return Err(ReturnCause::SEGMENTATION_FAILURE);
        }
        let reference = self.segmentation.map_or(reference, |segmentation| segmentation.reference);
        let pieces = self.data.chunks(room);
        let last = pieces.len() - 1;
        let segment = |(at, piece): (usize, &[u8])| {
            let remaining = u8::try_from(last - at).map_err(|_| ReturnCause::SEGMENTATION_FAILURE)?;
            let is_first = at == 0;
            let in_sequence = class.class == 1;
            let segmentation = Segmentation { first: is_first, in_sequence, remaining, reference };
            // Segments go in sequence whatever the user asked for, and only the first comes back.
            let handling = if is_first { class.handling } else { class.handling & !RETURN_ON_ERROR };
            let sequenced =
                Self { purpose: Purpose::Data(ProtocolClass { class: 1, handling }), ..self.without_data() };
            whole(&sequenced.message(Form::Extended, piece.to_vec(), Some(segmentation)), capability)
                .ok_or(ReturnCause::SEGMENTATION_FAILURE)
        };
        pieces.enumerate().map(segment).collect()
    }

    fn without_data(&self) -> Self {
        let Self { form, purpose, hop_counter, called, calling, segmentation, others, data: _ } = self;
        Self {
            form: *form,
            purpose: *purpose,
            hop_counter: *hop_counter,
            called: called.clone(),
            calling: calling.clone(),
            data: Vec::new(),
            segmentation: *segmentation,
            others: others.clone(),
        }
    }
}

/// The octets of a message, if it can be written and is short enough.
fn whole(message: &Message, capability: Capability) -> Option<Vec<u8>> {
    let mut octets = Vec::new();
    message.emit(&mut octets).ok()?;
    (octets.len() <= capability.message_octets).then_some(octets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sccp::Ssn;
    use proptest::prelude::*;

    fn unitdata(len: usize) -> Unitdata {
        let address =
            |ssn| PartyAddress { routes_on_ssn: true, ssn: Some(Ssn(ssn)), ..PartyAddress::default() };
        Unitdata {
            form: Form::Unitdata,
            purpose: Purpose::Data(ProtocolClass { class: 0, handling: RETURN_ON_ERROR }),
            hop_counter: None,
            called: address(6),
            calling: address(7),
            data: (0..len).map(|at| at.to_le_bytes()[0]).collect(),
            segmentation: None,
            others: OptionalParameters::default(),
        }
    }

    fn fit(len: usize, highest: Form, message_octets: usize) -> Result<Vec<Vec<u8>>, ReturnCause> {
        unitdata(len).fit(Capability { highest, message_octets }, LocalReference(5))
    }

    #[test]
    fn what_fits_goes_as_it_is() {
        let sent = fit(100, Form::Extended, 268).unwrap();
        assert_eq!(sent.len(), 1);
        assert!(matches!(Message::parse(&sent[0]), Ok(Message::Udt { .. })));
    }

    #[test]
    fn sixteen_segments_carry_3952_octets_and_no_more() {
        assert_eq!(fit(MOST_DATA_OCTETS, Form::Extended, 268).unwrap().len(), 16);
        assert_eq!(fit(MOST_DATA_OCTETS + 1, Form::Extended, 268), Err(ReturnCause::SEGMENTATION_FAILURE));
        assert_eq!(fit(300, Form::Unitdata, 268), Err(ReturnCause::SEGMENTATION_NOT_SUPPORTED));
        let long = fit(MOST_DATA_OCTETS, Form::Long, 4_091).unwrap();
        assert!(matches!(Message::parse(&long[0]), Ok(Message::Ludt { .. })));
    }

    #[test]
    fn only_the_first_segment_asks_to_come_back_and_all_go_in_sequence() {
        for (at, octets) in fit(1_000, Form::Extended, 268).unwrap().iter().enumerate() {
            let Ok(Message::Xudt { class, .. }) = Message::parse(octets) else { panic!("XUDT") };
            assert_eq!(class, ProtocolClass { class: 1, handling: if at == 0 { 8 } else { 0 } });
        }
    }

    #[test]
    fn every_segment_has_the_hop_counter_the_addresses_and_the_importance_of_the_whole() {
        let importance = Parameter { name: Parameter::IMPORTANCE, value: vec![6] };
        let whole = |hop_counter| Unitdata {
            form: Form::Extended,
            hop_counter,
            others: OptionalParameters(vec![importance.clone()]),
            ..unitdata(1_000)
        };
        // A message that has none yet begins with the highest.
        for (had, given) in [(Some(9), 9), (Some(1), 1), (None, FIRST_HOP_COUNTER)] {
            let sent = whole(had).fit(Capability::default(), LocalReference(5)).unwrap();
            assert_eq!(sent.len(), 5);
            for octets in &sent {
                let Sorted::Connectionless(part) = Unitdata::sort(Message::parse(octets).unwrap()) else {
                    panic!("a connectionless message");
                };
                assert_eq!((part.form, part.hop_counter), (Form::Extended, Some(given)));
                assert_eq!((part.called, part.calling), (whole(had).called, whole(had).calling));
                assert_eq!(part.others, whole(had).others);
            }
        }
    }

    proptest! {
        #[test]
        fn segments_hold_the_data_and_fit(len in 1_usize..=MOST_DATA_OCTETS, limit in 268_usize..300) {
            let mut data = Vec::new();
            let sent = fit(len, Form::Extended, limit).unwrap();
            for (at, octets) in sent.iter().enumerate() {
                prop_assert!(octets.len() <= limit);
                let Sorted::Connectionless(part) = Unitdata::sort(Message::parse(octets).unwrap()) else {
                    panic!("a connectionless message");
                };
                if let Some(segmentation) = part.segmentation {
                    prop_assert_eq!(segmentation.first, at == 0);
                    prop_assert_eq!(usize::from(segmentation.remaining), sent.len() - at - 1);
                }
                data.extend(part.data);
            }
            prop_assert_eq!(data, unitdata(len).data);
        }
    }
}
