//! Reading and writing messages (Q.763, section 1): circuit, type, fixed part, pointers, variable part, optional part.

use bytes::Bytes;
use slantpath_wire::{Reader, WireError};

use super::layout::{MessageType, ParameterCode};

/// Ends the optional part (Q.763, section 3.20).
const END_OF_OPTIONAL: u8 = 0;

/// A circuit between two exchanges: 12 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CircuitIdentification(pub u16);

/// A parameter: its name and its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name of the parameter.
    pub code: ParameterCode,
    /// Octets of the parameter, without its name and length.
    pub value: Bytes,
}

/// A message behind the routing label. Parameters are kept as they are; those that a call needs have types of their
/// own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Circuit that the message is about.
    pub circuit: CircuitIdentification,
    /// The four spare bits beside it.
    pub spare: u8,
    /// Type of the message.
    pub kind: MessageType,
    /// The mandatory parameters in the order of their message.
    pub mandatory: Vec<Parameter>,
    /// The optional part in the order of the wire; `None` where the pointer says that there is none.
    pub optional: Option<Vec<Parameter>>,
}

/// Why octets are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Octets that end too soon, or a pointer or length that leads out of the message.
    #[error(transparent)]
    Malformed(#[from] WireError),
    /// A type that is not known here: answered with CFN (Q.764, section 2.9.5).
    #[error("message type {:#04x} is unknown", .0.0)]
    UnknownType(MessageType),
    /// Parts that overlap, stand in another order, or leave octets between or behind them.
    #[error("the parts of the message do not follow each other at octet {0}")]
    Disordered(usize),
}

/// Why a message cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// A type without a layout.
    #[error("message type {:#04x} is unknown", .0.0)]
    UnknownType(MessageType),
    /// The mandatory parameters are not those of the type, or a fixed one has another length.
    #[error("parameter {:#04x} is not what the message has at that place", .0.0)]
    Mandatory(ParameterCode),
    /// A mandatory parameter is missing.
    #[error("parameter {:#04x} is missing", .0.0)]
    Missing(ParameterCode),
    /// A type without an optional part has one.
    #[error("message type {:#04x} has no optional part", .0.0)]
    NoOptionalPart(MessageType),
    /// A variable or optional parameter is longer than a length or a pointer can say.
    #[error("parameter {:#04x} is too long", .0.0)]
    TooLong(ParameterCode),
}

impl Message {
    /// Reads a message behind its routing label.
    pub fn parse(octets: &[u8]) -> Result<Self, ParseError> {
        let mut reader = Reader::new(octets);
        let [low, high, kind] = reader.array()?;
        let kind = MessageType(kind);
        let layout = kind.layout().ok_or(ParseError::UnknownType(kind))?;
        let mut mandatory = Vec::new();
        for (code, len) in layout.fixed {
            mandatory.push(Parameter { code: *code, value: Bytes::copy_from_slice(reader.take(*len)?) });
        }
        // Each pointer counts from its own octet on; the parts must follow each other, so that what is read can be
        // written again.
        let first_pointer = octets.len() - reader.left();
        let pointers = layout.variable.len() + usize::from(layout.has_optional_part);
        let pointed = reader.take(pointers)?;
        let mut next = first_pointer + pointers;
        for (index, code) in layout.variable.iter().enumerate() {
            if first_pointer + index + usize::from(pointed[index]) != next {
                return Err(ParseError::Disordered(first_pointer + index));
            }
            let value = sized(&mut reader)?;
            next += 1 + value.len();
            mandatory.push(Parameter { code: *code, value });
        }
        let mut optional = None;
        if layout.has_optional_part {
            let at = first_pointer + layout.variable.len();
            match pointed[layout.variable.len()] {
                0 => {}
                pointer if at + usize::from(pointer) == next => optional = Some(optional_part(&mut reader)?),
                _ => return Err(ParseError::Disordered(at)),
            }
        }
        if !reader.is_empty() {
            return Err(ParseError::Disordered(octets.len() - reader.left()));
        }
        let circuit = CircuitIdentification(u16::from_le_bytes([low, high & 0xf]));
        Ok(Self { circuit, spare: high >> 4, kind, mandatory, optional })
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let layout = self.kind.layout().ok_or(EmitError::UnknownType(self.kind))?;
        let [low, high] = self.circuit.0.to_le_bytes();
        out.extend_from_slice(&[low, high & 0xf | self.spare << 4, self.kind.0]);
        let mut given = self.mandatory.iter();
        for (code, len) in layout.fixed {
            let parameter = given.next().ok_or(EmitError::Missing(*code))?;
            if parameter.code != *code || parameter.value.len() != *len {
                return Err(EmitError::Mandatory(parameter.code));
            }
            out.extend_from_slice(&parameter.value);
        }
        let first_pointer = out.len();
        let pointers = layout.variable.len() + usize::from(layout.has_optional_part);
        out.resize(first_pointer + pointers, 0);
        for (index, code) in layout.variable.iter().enumerate() {
            let parameter = given.next().ok_or(EmitError::Missing(*code))?;
            if parameter.code != *code {
                return Err(EmitError::Mandatory(parameter.code));
            }
            point(out, first_pointer + index, *code)?;
            emit_sized(parameter, out)?;
        }
        if let Some(surplus) = given.next() {
            return Err(EmitError::Mandatory(surplus.code));
        }
        if let Some(optional) = &self.optional {
            if !layout.has_optional_part {
                return Err(EmitError::NoOptionalPart(self.kind));
            }
            point(out, first_pointer + layout.variable.len(), ParameterCode(END_OF_OPTIONAL))?;
            for parameter in optional {
                out.push(parameter.code.0);
                emit_sized(parameter, out)?;
            }
            out.push(END_OF_OPTIONAL);
        }
        Ok(())
    }

    /// The contents of the first parameter of that name, mandatory or optional.
    pub fn value(&self, code: ParameterCode) -> Option<&Bytes> {
        let all = self.mandatory.iter().chain(self.optional.iter().flatten());
        all.into_iter().find(|parameter| parameter.code == code).map(|parameter| &parameter.value)
    }
}

/// Reads a length and so many octets.
fn sized(reader: &mut Reader<'_>) -> Result<Bytes, WireError> {
    let len = reader.u8()?;
    reader.take(usize::from(len)).map(Bytes::copy_from_slice)
}

fn optional_part(reader: &mut Reader<'_>) -> Result<Vec<Parameter>, WireError> {
    let mut parameters = Vec::new();
    loop {
        match reader.u8()? {
            END_OF_OPTIONAL => return Ok(parameters),
            code => parameters.push(Parameter { code: ParameterCode(code), value: sized(reader)? }),
        }
    }
}

/// Lets a pointer lead to the end of what has been written.
fn point(out: &mut [u8], at: usize, code: ParameterCode) -> Result<(), EmitError> {
    out[at] = u8::try_from(out.len() - at).map_err(|_| EmitError::TooLong(code))?;
    Ok(())
}

fn emit_sized(parameter: &Parameter, out: &mut Vec<u8>) -> Result<(), EmitError> {
    out.push(u8::try_from(parameter.value.len()).map_err(|_| EmitError::TooLong(parameter.code))?);
    out.extend_from_slice(&parameter.value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_message() -> impl Strategy<Value = Message> {
        let known: Vec<u8> = (0..=u8::MAX).filter(|octet| MessageType(*octet).layout().is_some()).collect();
        let octets = |len| prop::collection::vec(any::<u8>(), len);
        (prop::sample::select(known), 0_u16..4096, 0_u8..16).prop_flat_map(move |(kind, circuit, spare)| {
            let layout = MessageType(kind).layout().expect("a known type");
            let fixed: Vec<_> =
                layout.fixed.iter().map(|(code, len)| (Just(*code), octets(*len..=*len))).collect();
            let variable: Vec<_> = layout.variable.iter().map(|code| (Just(*code), octets(0..=60))).collect();
            let optional = prop::collection::vec((1..=u8::MAX, octets(0..=30)), 0..5);
            let optional = prop::option::of(optional).prop_filter("no optional part", move |optional| {
                optional.is_none() || layout.has_optional_part
            });
            (fixed, variable, optional).prop_map(move |(fixed, variable, optional)| {
                let parameter =
                    |(code, value): (ParameterCode, Vec<u8>)| Parameter { code, value: value.into() };
                Message {
                    circuit: CircuitIdentification(circuit),
                    spare,
                    kind: MessageType(kind),
                    mandatory: fixed.into_iter().chain(variable).map(parameter).collect(),
                    optional: optional.map(|all| {
                        all.into_iter().map(|(code, value)| parameter((ParameterCode(code), value))).collect()
                    }),
                }
            })
        })
    }

    proptest! {
        #[test]
        fn messages_round_trip(message in any_message()) {
            let mut octets = Vec::new();
            message.emit(&mut octets).expect("it fits its type");
            prop_assert_eq!(Message::parse(&octets), Ok(message));
        }

        #[test]
        fn any_octets_give_a_message_that_emits_as_it_was_or_an_error(
            octets in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            if let Ok(message) = Message::parse(&octets) {
                let mut emitted = Vec::new();
                message.emit(&mut emitted).expect("it was read");
                prop_assert_eq!(emitted, octets);
            }
        }
    }

    #[test]
    fn a_pointer_into_the_middle_is_refused() {
        // REL whose pointer to the cause skips an octet.
        assert_eq!(Message::parse(&[1, 0, 0x0c, 3, 0, 2, 0x80, 0x90]), Err(ParseError::Disordered(3)));
    }

    #[test]
    fn an_unknown_type_is_named() {
        assert_eq!(Message::parse(&[1, 0, 0xff]), Err(ParseError::UnknownType(MessageType(0xff))));
    }

    #[test]
    fn a_message_without_its_mandatory_parameter_is_refused() {
        let release = Message {
            circuit: CircuitIdentification(1),
            spare: 0,
            kind: MessageType::REL,
            mandatory: Vec::new(),
            optional: None,
        };
        assert_eq!(release.emit(&mut Vec::new()), Err(EmitError::Missing(ParameterCode::CAUSE)));
    }
}
