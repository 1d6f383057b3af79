//! Codec of SCCP messages: the parts of Q.713, section 1, in their order.

mod parts;
mod view;

use slantpath_wire::{Reader, WireError};

pub use self::parts::{EmitError, TooLong};
use self::parts::{Parts, Pointers};
pub use self::view::MessageView;
use crate::sccp::message::{LocalReference, Message, ProtocolClass, Segmentation, SequencingSegmenting};
use crate::sccp::{AddressFormat, OptionalParameters, PartyAddress};

/// Message type codes (Q.713, table 1).
mod kind {
    pub(super) const CR: u8 = 0x01;
    pub(super) const CC: u8 = 0x02;
    pub(super) const CREF: u8 = 0x03;
    pub(super) const RLSD: u8 = 0x04;
    pub(super) const RLC: u8 = 0x05;
    pub(super) const DT1: u8 = 0x06;
    pub(super) const DT2: u8 = 0x07;
    pub(super) const AK: u8 = 0x08;
    pub(super) const UDT: u8 = 0x09;
    pub(super) const UDTS: u8 = 0x0a;
    pub(super) const ED: u8 = 0x0b;
    pub(super) const EA: u8 = 0x0c;
    pub(super) const RSR: u8 = 0x0d;
    pub(super) const RSC: u8 = 0x0e;
    pub(super) const ERR: u8 = 0x0f;
    pub(super) const IT: u8 = 0x10;
    pub(super) const XUDT: u8 = 0x11;
    pub(super) const XUDTS: u8 = 0x12;
    pub(super) const LUDT: u8 = 0x13;
    pub(super) const LUDTS: u8 = 0x14;
}

impl Message {
    /// Reads a message of an ITU network from its type on.
    pub fn parse(octets: &[u8]) -> Result<Self, WireError> {
        Self::parse_as(AddressFormat::Itu, octets)
    }

    /// Reads a message of a network with such addresses from its type on. The address among optional parameters stays
    /// octets: [`PartyAddress::parse_as`] reads it.
    pub fn parse_as(format: AddressFormat, octets: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(octets);
        let kind = reader.u8()?;
        match kind {
            kind::CR | kind::CC | kind::CREF | kind::RLSD | kind::RLC => {
                parse_connection(kind, format, octets, reader)
            }
            kind::DT1 | kind::DT2 | kind::AK | kind::ED | kind::EA | kind::IT => {
                parse_data(kind, octets, reader)
            }
            kind::RSR | kind::RSC | kind::ERR => parse_error(kind, reader),
            kind::UDT | kind::UDTS | kind::XUDT | kind::XUDTS | kind::LUDT | kind::LUDTS => {
                parse_connectionless(kind, format, octets, reader)
            }
            other => Err(WireError::Unsupported { field: "SCCP message type", value: other.into() }),
        }
    }
}

fn parse_connection(
    kind: u8,
    format: AddressFormat,
    octets: &[u8],
    mut reader: Reader<'_>,
) -> Result<Message, WireError> {
    let first = reference(&mut reader)?;
    if kind == kind::CR {
        let class = class(&mut reader)?;
        let mut pointers = Pointers::at(octets, &reader);
        let (called, optional) = (pointers.short()?, pointers.short()?);
        let called = pointers.address(called, format)?;
        return Ok(Message::Cr { source: first, class, called, optional: pointers.optional(optional)? });
    }
    let destination = first;
    if kind == kind::CREF {
        let cause = reader.u8()?;
        let optional = optional_part(octets, &reader)?;
        return Ok(Message::Cref { destination, cause, optional });
    }
    let source = reference(&mut reader)?;
    match kind {
        kind::CC => {
            let class = class(&mut reader)?;
            Ok(Message::Cc { destination, source, class, optional: optional_part(octets, &reader)? })
        }
        kind::RLSD => {
            let cause = reader.u8()?;
            Ok(Message::Rlsd { destination, source, cause, optional: optional_part(octets, &reader)? })
        }
        _ => Ok(Message::Rlc { destination, source }),
    }
}

fn parse_data(kind: u8, octets: &[u8], mut reader: Reader<'_>) -> Result<Message, WireError> {
    let destination = reference(&mut reader)?;
    match kind {
        kind::DT1 => {
            let more = reader.u8()? & 1 != 0;
            Ok(Message::Dt1 { destination, more, data: data_part(octets, &reader)? })
        }
        kind::DT2 => {
            let sequencing = sequencing(&mut reader)?;
            Ok(Message::Dt2 { destination, sequencing, data: data_part(octets, &reader)? })
        }
        kind::AK => {
            let [receive, credit] = reader.array()?;
            Ok(Message::Ak { destination, receive: receive >> 1, credit })
        }
        kind::ED => Ok(Message::Ed { destination, data: data_part(octets, &reader)? }),
        kind::EA => Ok(Message::Ea { destination }),
        _ => {
            let source = reference(&mut reader)?;
            let class = class(&mut reader)?;
            let sequencing = sequencing(&mut reader)?;
            Ok(Message::It { destination, source, class, sequencing, credit: reader.u8()? })
        }
    }
}

fn parse_error(kind: u8, mut reader: Reader<'_>) -> Result<Message, WireError> {
    let destination = reference(&mut reader)?;
    match kind {
        kind::ERR => Ok(Message::Err { destination, cause: reader.u8()? }),
        kind::RSC => Ok(Message::Rsc { destination, source: reference(&mut reader)? }),
        _ => Ok(Message::Rsr { destination, source: reference(&mut reader)?, cause: reader.u8()? }),
    }
}

fn parse_connectionless(
    kind: u8,
    format: AddressFormat,
    octets: &[u8],
    mut reader: Reader<'_>,
) -> Result<Message, WireError> {
    let first = reader.u8()?;
    let class = ProtocolClass::from_octet(first);
    if kind == kind::UDT || kind == kind::UDTS {
        let mut pointers = Pointers::at(octets, &reader);
        let (called, calling, data) = (pointers.short()?, pointers.short()?, pointers.short()?);
        let called = pointers.address(called, format)?;
        let calling = pointers.address(calling, format)?;
        let data = pointers.variable(data)?.to_vec();
        return Ok(match kind {
            kind::UDT => Message::Udt { class, called, calling, data },
            _ => Message::Udts { cause: first, called, calling, data },
        });
    }
    let hop_counter = reader.u8()? & 0xf;
    let mut pointers = Pointers::at(octets, &reader);
    let is_long = kind == kind::LUDT || kind == kind::LUDTS;
    let mut next = || if is_long { pointers.long() } else { pointers.short() };
    let (called, calling, data, optional) = (next()?, next()?, next()?, next()?);
    let called = pointers.address(called, format)?;
    let calling = pointers.address(calling, format)?;
    let data = if is_long { pointers.long_variable(data)? } else { pointers.variable(data)? }.to_vec();
    let optional = pointers.optional(optional)?;
    Ok(match kind {
        kind::XUDT => Message::Xudt { class, hop_counter, called, calling, data, optional },
        kind::XUDTS => Message::Xudts { cause: first, hop_counter, called, calling, data, optional },
        kind::LUDT => Message::Ludt { class, hop_counter, called, calling, data, optional },
        _ => Message::Ludts { cause: first, hop_counter, called, calling, data, optional },
    })
}

fn reference(reader: &mut Reader<'_>) -> Result<LocalReference, WireError> {
    let [low, middle, high] = reader.array()?;
    Ok(LocalReference(u32::from_le_bytes([low, middle, high, 0])))
}

fn class(reader: &mut Reader<'_>) -> Result<ProtocolClass, WireError> {
    reader.u8().map(ProtocolClass::from_octet)
}

fn sequencing(reader: &mut Reader<'_>) -> Result<SequencingSegmenting, WireError> {
    let [send, receive] = reader.array()?;
    Ok(SequencingSegmenting { send: send >> 1, receive: receive >> 1, more: receive & 1 != 0 })
}

fn optional_part(octets: &[u8], reader: &Reader<'_>) -> Result<OptionalParameters, WireError> {
    let mut pointers = Pointers::at(octets, reader);
    let target = pointers.short()?;
    pointers.optional(target)
}

fn data_part(octets: &[u8], reader: &Reader<'_>) -> Result<Vec<u8>, WireError> {
    let mut pointers = Pointers::at(octets, reader);
    let target = pointers.short()?;
    pointers.variable(target).map(<[u8]>::to_vec)
}

impl ProtocolClass {
    const fn from_octet(octet: u8) -> Self {
        Self { class: octet & 0xf, handling: octet >> 4 }
    }

    const fn to_octet(self) -> u8 {
        self.handling << 4 | self.class & 0xf
    }
}

impl Segmentation {
    /// Reads the value of the segmentation parameter.
    pub fn parse(octets: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(octets);
        let first = reader.u8()?;
        let reference = reference(&mut reader)?;
        Ok(Self {
            first: first & 0x80 != 0,
            in_sequence: first & 0x40 != 0,
            remaining: first & 0xf,
            reference,
        })
    }

    /// The value of the segmentation parameter.
    pub fn emit(&self) -> [u8; 4] {
        let first = u8::from(self.first) << 7 | u8::from(self.in_sequence) << 6 | self.remaining & 0xf;
        let [low, middle, high, _] = self.reference.0.to_le_bytes();
        [first, low, middle, high]
    }
}

fn put_reference(LocalReference(value): LocalReference, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_le_bytes()[..3]);
}

impl SequencingSegmenting {
    const fn to_octets(self) -> [u8; 2] {
        [self.send << 1, self.receive << 1 | self.more as u8]
    }
}

impl Message {
    /// Appends the message from its type on, for an ITU network; an empty optional part is left out with a pointer of
    /// zero. Nothing is appended if a parameter is too long.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        self.emit_as(AddressFormat::Itu, out)
    }

    /// Variant of [`Message::emit`] for a network with such addresses.
    ///
    /// # Errors
    /// If a parameter is too long, or an address is none of the network's. Nothing is appended then.
    pub fn emit_as(&self, format: AddressFormat, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let start = out.len();
        out.push(self.kind());
        let written = self.emit_parameters(format, out);
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    const fn kind(&self) -> u8 {
        match self {
            Self::Cr { .. } => kind::CR,
            Self::Cc { .. } => kind::CC,
            Self::Cref { .. } => kind::CREF,
            Self::Rlsd { .. } => kind::RLSD,
            Self::Rlc { .. } => kind::RLC,
            Self::Dt1 { .. } => kind::DT1,
            Self::Dt2 { .. } => kind::DT2,
            Self::Ak { .. } => kind::AK,
            Self::Udt { .. } => kind::UDT,
            Self::Udts { .. } => kind::UDTS,
            Self::Ed { .. } => kind::ED,
            Self::Ea { .. } => kind::EA,
            Self::Rsr { .. } => kind::RSR,
            Self::Rsc { .. } => kind::RSC,
            Self::Err { .. } => kind::ERR,
            Self::It { .. } => kind::IT,
            Self::Xudt { .. } => kind::XUDT,
            Self::Xudts { .. } => kind::XUDTS,
            Self::Ludt { .. } => kind::LUDT,
            Self::Ludts { .. } => kind::LUDTS,
        }
    }

    fn emit_parameters(&self, format: AddressFormat, out: &mut Vec<u8>) -> Result<(), EmitError> {
        match self {
            Self::Cr { source, class, called, optional } => {
                put_reference(*source, out);
                out.push(class.to_octet());
                let mut parts = Parts::reserve(2, 1, format, out);
                parts.address(called, out)?;
                parts.optional(optional, out)
            }
            Self::Cc { destination, source, class, optional } => {
                put_reference(*destination, out);
                put_reference(*source, out);
                out.push(class.to_octet());
                Parts::reserve(1, 1, format, out).optional(optional, out)
            }
            Self::Cref { destination, cause, optional } => {
                put_reference(*destination, out);
                out.push(*cause);
                Parts::reserve(1, 1, format, out).optional(optional, out)
            }
            Self::Rlsd { destination, source, cause, optional } => {
                put_reference(*destination, out);
                put_reference(*source, out);
                out.push(*cause);
                Parts::reserve(1, 1, format, out).optional(optional, out)
            }
            Self::Rlc { destination, source } | Self::Rsc { destination, source } => {
                put_reference(*destination, out);
                put_reference(*source, out);
                Ok(())
            }
            Self::Dt1 { destination, more, data } => {
                put_reference(*destination, out);
                out.push(u8::from(*more));
                Parts::reserve(1, 1, format, out).data(data, out)
            }
            Self::Dt2 { destination, sequencing, data } => {
                put_reference(*destination, out);
                out.extend_from_slice(&sequencing.to_octets());
                Parts::reserve(1, 1, format, out).data(data, out)
            }
            Self::Ak { destination, receive, credit } => {
                put_reference(*destination, out);
                out.extend_from_slice(&[receive << 1, *credit]);
                Ok(())
            }
            Self::Ed { destination, data } => {
                put_reference(*destination, out);
                Parts::reserve(1, 1, format, out).data(data, out)
            }
            Self::Ea { destination } => {
                put_reference(*destination, out);
                Ok(())
            }
            Self::Rsr { destination, source, cause } => {
                put_reference(*destination, out);
                put_reference(*source, out);
                out.push(*cause);
                Ok(())
            }
            Self::Err { destination, cause } => {
                put_reference(*destination, out);
                out.push(*cause);
                Ok(())
            }
            Self::It { destination, source, class, sequencing, credit } => {
                put_reference(*destination, out);
                put_reference(*source, out);
                out.push(class.to_octet());
                out.extend_from_slice(&sequencing.to_octets());
                out.push(*credit);
                Ok(())
            }
            Self::Udt { class, called, calling, data } => {
                out.push(class.to_octet());
                unitdata(called, calling, data, format, out)
            }
            Self::Udts { cause, called, calling, data } => {
                out.push(*cause);
                unitdata(called, calling, data, format, out)
            }
            Self::Xudt { class, hop_counter, called, calling, data, optional } => {
                out.extend_from_slice(&[class.to_octet(), *hop_counter]);
                extended(1, called, calling, data, optional, format, out)
            }
            Self::Xudts { cause, hop_counter, called, calling, data, optional } => {
                out.extend_from_slice(&[*cause, *hop_counter]);
                extended(1, called, calling, data, optional, format, out)
            }
            Self::Ludt { class, hop_counter, called, calling, data, optional } => {
                out.extend_from_slice(&[class.to_octet(), *hop_counter]);
                extended(2, called, calling, data, optional, format, out)
            }
            Self::Ludts { cause, hop_counter, called, calling, data, optional } => {
                out.extend_from_slice(&[*cause, *hop_counter]);
                extended(2, called, calling, data, optional, format, out)
            }
        }
    }
}

fn unitdata(
    called: &PartyAddress,
    calling: &PartyAddress,
    data: &[u8],
    format: AddressFormat,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let mut parts = Parts::reserve(3, 1, format, out);
    parts.address(called, out)?;
    parts.address(calling, out)?;
    parts.data(data, out)
}

fn extended(
    width: usize,
    called: &PartyAddress,
    calling: &PartyAddress,
    data: &[u8],
    optional: &OptionalParameters,
    format: AddressFormat,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let mut parts = Parts::reserve(4, width, format, out);
    parts.address(called, out)?;
    parts.address(calling, out)?;
    parts.data(data, out)?;
    parts.optional(optional, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sccp::address::tests::{any_address, any_ansi_address};
    use crate::sccp::{Parameter, Ssn};
    use proptest::prelude::*;

    fn any_reference() -> impl Strategy<Value = LocalReference> {
        (0_u32..1 << 24).prop_map(LocalReference)
    }

    fn any_class() -> impl Strategy<Value = ProtocolClass> {
        (0_u8..16, 0_u8..16).prop_map(|(class, handling)| ProtocolClass { class, handling })
    }

    fn any_optional() -> impl Strategy<Value = OptionalParameters> {
        let parameter = (1_u8.., proptest::collection::vec(any::<u8>(), 0..20))
            .prop_map(|(name, value)| Parameter { name, value });
        proptest::collection::vec(parameter, 0..4).prop_map(OptionalParameters)
    }

    fn any_data() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(any::<u8>(), 1..100)
    }

    pub(super) fn any_message() -> impl Strategy<Value = Message> {
        let references = || (any_reference(), any_reference());
        let addresses = || (any_address(), any_address());
        prop_oneof![
            (any_reference(), any_class(), any_address(), any_optional()).prop_map(
                |(source, class, called, optional)| Message::Cr { source, class, called, optional }
            ),
            (references(), any_class(), any_optional()).prop_map(
                |((destination, source), class, optional)| {
                    Message::Cc { destination, source, class, optional }
                }
            ),
            (any_reference(), any::<u8>(), any_optional())
                .prop_map(|(destination, cause, optional)| Message::Cref { destination, cause, optional }),
            (references(), any::<u8>(), any_optional()).prop_map(
                |((destination, source), cause, optional)| {
                    Message::Rlsd { destination, source, cause, optional }
                }
            ),
            references().prop_map(|(destination, source)| Message::Rlc { destination, source }),
            (any_reference(), any::<bool>(), any_data()).prop_map(|(destination, more, data)| Message::Dt1 {
                destination,
                more,
                data
            }),
            (any_class(), addresses(), any_data())
                .prop_map(|(class, (called, calling), data)| Message::Udt { class, called, calling, data }),
            (any::<u8>(), addresses(), any_data())
                .prop_map(|(cause, (called, calling), data)| Message::Udts { cause, called, calling, data }),
            (any_class(), 0_u8..16, addresses(), any_data(), any_optional()).prop_map(
                |(class, hop_counter, (called, calling), data, optional)| Message::Xudt {
                    class,
                    hop_counter,
                    called,
                    calling,
                    data,
                    optional
                }
            ),
            (
                any_class(),
                0_u8..16,
                addresses(),
                proptest::collection::vec(any::<u8>(), 1..600),
                any_optional()
            )
                .prop_map(|(class, hop_counter, (called, calling), data, optional)| {
                    Message::Ludt { class, hop_counter, called, calling, data, optional }
                }),
        ]
    }

    #[test]
    fn data_beyond_its_length_field_is_refused() {
        let message = Message::Udt {
            class: ProtocolClass { class: 0, handling: 0 },
            called: PartyAddress { ssn: Some(Ssn(6)), ..PartyAddress::default() },
            calling: PartyAddress { ssn: Some(Ssn(7)), ..PartyAddress::default() },
            data: vec![0; 256],
        };
        assert_eq!(message.emit(&mut Vec::new()), Err(TooLong { len: 256 }.into()));
    }

    proptest! {
        #[test]
        fn messages_round_trip(message in any_message()) {
            let mut octets = Vec::new();
            message.emit(&mut octets).unwrap();
            prop_assert_eq!(Message::parse(&octets), Ok(message));
        }

        #[test]
        fn messages_of_ansi_round_trip(
            called in any_ansi_address(),
            calling in any_ansi_address(),
            data in proptest::collection::vec(any::<u8>(), 1..100),
        ) {
            let class = ProtocolClass { class: 1, handling: 8 };
            let (long, optional) = (data.clone(), OptionalParameters::default());
            for message in [
                Message::Cr {
                    source: LocalReference(1),
                    class,
                    called: called.clone(),
                    optional: optional.clone(),
                },
                Message::Udt { class, called: called.clone(), calling: calling.clone(), data },
                Message::Ludt { class, hop_counter: 9, called, calling, data: long, optional },
            ] {
                let mut octets = Vec::new();
                message.emit_as(AddressFormat::Ansi, &mut octets).unwrap();
                prop_assert_eq!(Message::parse_as(AddressFormat::Ansi, &octets), Ok(message));
            }
        }

        #[test]
        fn segmentation_round_trips(
            first: bool, in_sequence: bool, remaining in 0_u8..16, reference in any_reference(),
        ) {
            let segmentation = Segmentation { first, in_sequence, remaining, reference };
            prop_assert_eq!(Segmentation::parse(&segmentation.emit()), Ok(segmentation));
        }

        #[test]
        fn any_octets_give_a_message_or_an_error(octets: Vec<u8>) {
            let _ = Message::parse(&octets);
        }
    }
}
