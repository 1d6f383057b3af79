//! Components (Q.773, section 4.2): operations invoked, their results, their errors.

use bytes::Bytes;
use slantpath_wire::Reader;

use super::ber::{self, BerError, Element};
use super::message::ParseError;

pub(super) mod tag {
    pub(in crate::tcap) const INTEGER: u16 = 0x02;
    pub(in crate::tcap) const NULL: u16 = 0x05;
    pub(in crate::tcap) const OBJECT_IDENTIFIER: u16 = 0x06;
    pub(in crate::tcap) const SEQUENCE: u16 = 0x30;
    pub(in crate::tcap) const LINKED: u16 = 0x80;
    pub(in crate::tcap) const INVOKE: u16 = 0xa1;
    pub(in crate::tcap) const RESULT_LAST: u16 = 0xa2;
    pub(in crate::tcap) const ERROR: u16 = 0xa3;
    pub(in crate::tcap) const REJECT: u16 = 0xa4;
    pub(in crate::tcap) const RESULT_NOT_LAST: u16 = 0xa7;
}

/// Code of an operation, or of an error.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// A number of the user's.
    Local(i64),
    /// An object identifier, in its octets.
    Global(Bytes),
}

/// Why a component was rejected (Q.773, section 4.2.2.6): general, invoke, return result, return error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// 0 general, 1 invoke, 2 return result, 3 return error.
    pub kind: u8,
    /// The problem of that kind.
    pub code: u8,
}

/// A component. Parameters are one element each, with their tag, or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of Q.773, section 4.2, by their names")]
pub enum Component {
    /// An operation is asked for.
    Invoke { invoke: i8, linked: Option<i8>, operation: Code, parameter: Bytes },
    /// A part of its result.
    ReturnResultNotLast { invoke: i8, result: Option<(Code, Bytes)> },
    /// Result of an operation, or the last part of it.
    ReturnResultLast { invoke: i8, result: Option<(Code, Bytes)> },
    /// Failure of an operation, with its error.
    ReturnError { invoke: i8, error: Code, parameter: Bytes },
    /// A component that makes no sense; of which invocation, if that is known.
    Reject { invoke: Option<i8>, problem: Problem },
}

/// Elements of a component that are still to be read.
struct Fields<'a>(Reader<'a>);

impl<'a> Fields<'a> {
    fn next(&mut self) -> Result<Option<Element<'a>>, BerError> {
        ber::next(&mut self.0)
    }

    fn required(&mut self) -> Result<Element<'a>, ParseError> {
        self.next()?.ok_or(ParseError::IncorrectPortion)
    }

    fn invoke(&mut self) -> Result<i8, ParseError> {
        small(self.required()?, tag::INTEGER)
    }

    fn code(&mut self) -> Result<Code, ParseError> {
        code(self.required()?)
    }

    /// The parameter, which is all that may be left.
    fn parameter(&mut self) -> Result<Bytes, ParseError> {
        let parameter = self.next()?.map_or_else(Bytes::new, |element| Bytes::copy_from_slice(element.whole));
        if self.0.is_empty() { Ok(parameter) } else { Err(ParseError::IncorrectPortion) }
    }
}

fn small(element: Element<'_>, tag: u16) -> Result<i8, ParseError> {
    match element.contents {
        [value] if element.tag == tag => Ok(value.cast_signed()),
        _ => Err(ParseError::IncorrectPortion),
    }
}

fn code(element: Element<'_>) -> Result<Code, ParseError> {
    match (element.tag, element.contents) {
        // X.690, section 8.3.2: nine bits that are alike say no more than one.
        (tag::INTEGER, [0, 0..=0x7f, ..] | [0xff, 0x80..=0xff, ..]) => Err(ParseError::IncorrectPortion),
        (tag::INTEGER, octets) if (1..=8).contains(&octets.len()) => {
            let sign = if octets[0] >> 7 == 1 { -1 } else { 0 };
            Ok(Code::Local(octets.iter().fold(sign, |value, octet| value << 8 | i64::from(*octet))))
        }
        (tag::OBJECT_IDENTIFIER, octets) => Ok(Code::Global(Bytes::copy_from_slice(octets))),
        _ => Err(ParseError::IncorrectPortion),
    }
}

impl Component {
    pub(super) fn parse(element: Element<'_>) -> Result<Self, ParseError> {
        let mut fields = Fields(Reader::new(element.contents));
        match element.tag {
            tag::INVOKE => {
                let invoke = fields.invoke()?;
                let mut next = fields.required()?;
                let mut linked = None;
                if next.tag == tag::LINKED {
                    linked = Some(small(next, tag::LINKED)?);
                    next = fields.required()?;
                }
                Ok(Self::Invoke { invoke, linked, operation: code(next)?, parameter: fields.parameter()? })
            }
            tag::RESULT_LAST => {
                let (invoke, result) = result(&mut fields)?;
                Ok(Self::ReturnResultLast { invoke, result })
            }
            tag::RESULT_NOT_LAST => {
                let (invoke, result) = result(&mut fields)?;
                Ok(Self::ReturnResultNotLast { invoke, result })
            }
            tag::ERROR => Ok(Self::ReturnError {
                invoke: fields.invoke()?,
                error: fields.code()?,
                parameter: fields.parameter()?,
            }),
            tag::REJECT => {
                let first = fields.required()?;
                let invoke = match (first.tag, first.contents) {
                    (tag::NULL, []) => None,
                    _ => Some(small(first, tag::INTEGER)?),
                };
                let problem = fields.required()?;
                match (problem.tag, problem.contents) {
                    (0x80..=0x83, [code]) => {
                        let kind = problem.tag.to_be_bytes()[1] & 3;
                        Ok(Self::Reject { invoke, problem: Problem { kind, code: *code } })
                    }
                    _ => Err(ParseError::IncorrectPortion),
                }
            }
            _ => Err(ParseError::IncorrectPortion),
        }
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Invoke { invoke, linked, operation, parameter } => ber::emit(0xa1, out, |out| {
                emit_small(0x02, *invoke, out);
                if let Some(linked) = linked {
                    emit_small(0x80, *linked, out);
                }
                operation.emit(out);
                out.extend_from_slice(parameter);
            }),
            Self::ReturnResultLast { invoke, result } => emit_result(0xa2, *invoke, result.as_ref(), out),
            Self::ReturnResultNotLast { invoke, result } => emit_result(0xa7, *invoke, result.as_ref(), out),
            Self::ReturnError { invoke, error, parameter } => ber::emit(0xa3, out, |out| {
                emit_small(0x02, *invoke, out);
                error.emit(out);
                out.extend_from_slice(parameter);
            }),
            Self::Reject { invoke, problem } => ber::emit(0xa4, out, |out| {
                match invoke {
                    Some(invoke) => emit_small(0x02, *invoke, out),
                    None => ber::emit_octets(0x05, &[], out),
                }
                ber::emit_octets(0x80 | problem.kind & 3, &[problem.code], out);
            }),
        }
    }

    /// The invocation that it is about.
    pub const fn invoke(&self) -> Option<i8> {
        match self {
            Self::Invoke { invoke, .. }
            | Self::ReturnResultNotLast { invoke, .. }
            | Self::ReturnResultLast { invoke, .. }
            | Self::ReturnError { invoke, .. } => Some(*invoke),
            Self::Reject { invoke, .. } => *invoke,
        }
    }
}

impl Code {
    fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Local(value) => {
                let octets = value.to_be_bytes();
                // The shortest form whose sign is right.
                let short = (0..7).find(|first| {
                    let (sign, next) = (octets[*first], octets[first + 1]);
                    !(sign == 0 && next >> 7 == 0 || sign == 0xff && next >> 7 == 1)
                });
                ber::emit_octets(0x02, &octets[short.unwrap_or(7)..], out);
            }
            Self::Global(octets) => ber::emit_octets(0x06, octets, out),
        }
    }
}

fn emit_small(tag: u8, value: i8, out: &mut Vec<u8>) {
    ber::emit_octets(tag, &value.to_be_bytes(), out);
}

fn result(fields: &mut Fields<'_>) -> Result<(i8, Option<(Code, Bytes)>), ParseError> {
    let invoke = fields.invoke()?;
    let Some(sequence) = fields.next()? else { return Ok((invoke, None)) };
    if sequence.tag != tag::SEQUENCE || !fields.0.is_empty() {
        return Err(ParseError::IncorrectPortion);
    }
    let mut inner = Fields(Reader::new(sequence.contents));
    Ok((invoke, Some((inner.code()?, inner.parameter()?))))
}

fn emit_result(tag: u8, invoke: i8, result: Option<&(Code, Bytes)>, out: &mut Vec<u8>) {
    ber::emit(tag, out, |out| {
        emit_small(0x02, invoke, out);
        if let Some((operation, parameter)) = result {
            ber::emit(0x30, out, |out| {
                operation.emit(out);
                out.extend_from_slice(parameter);
            });
        }
    });
}
