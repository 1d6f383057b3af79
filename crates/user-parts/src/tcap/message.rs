//! Transaction messages (Q.773, section 3): begin, continue, end, abort, unidirectional.

use bytes::Bytes;
use slantpath_wire::Reader;

use super::ber::{self, BerError};
use super::component::Component;

pub(super) mod tag {
    pub(in crate::tcap) const ORIGINATING: u16 = 0x48;
    pub(in crate::tcap) const DESTINATION: u16 = 0x49;
    pub(in crate::tcap) const ABORT_CAUSE: u16 = 0x4a;
    pub(in crate::tcap) const UNIDIRECTIONAL: u16 = 0x61;
    pub(in crate::tcap) const BEGIN: u16 = 0x62;
    pub(in crate::tcap) const END: u16 = 0x64;
    pub(in crate::tcap) const CONTINUE: u16 = 0x65;
    pub(in crate::tcap) const ABORT: u16 = 0x67;
    pub(in crate::tcap) const DIALOGUE: u16 = 0x6b;
    pub(in crate::tcap) const COMPONENTS: u16 = 0x6c;
}

/// A reference that one end gave a transaction: up to four octets, of which the number keeps the leading zeros' count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionId {
    /// Number of the reference, without leading zeros.
    pub value: u32,
    /// Octets on the wire: 1 to 4.
    pub octets: u8,
}

impl TransactionId {
    /// A reference of four octets.
    pub const fn new(value: u32) -> Self {
        Self { value, octets: 4 }
    }

    fn parse(contents: &[u8]) -> Result<Self, ParseError> {
        let octets = u8::try_from(contents.len()).ok().filter(|octets| (1..=4).contains(octets));
        let octets = octets.ok_or(ParseError::BadlyFormatted)?;
        Ok(Self { value: contents.iter().fold(0, |value, octet| value << 8 | u32::from(*octet)), octets })
    }

    fn emit(self, tag: u8, out: &mut Vec<u8>) {
        let skip = 4 - usize::from(self.octets.clamp(1, 4));
        ber::emit_octets(tag, &self.value.to_be_bytes()[skip..], out);
    }
}

/// P-Abort causes (Q.773, section 3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AbortCause(pub u8);

impl AbortCause {
    /// The message type is not known.
    pub const UNRECOGNIZED_TYPE: Self = Self(0);
    /// The destination transaction identifier is not known.
    pub const UNRECOGNIZED_TRANSACTION: Self = Self(1);
    /// The transaction portion is badly formatted.
    pub const BADLY_FORMATTED: Self = Self(2);
    /// The transaction portion is incorrect.
    pub const INCORRECT_PORTION: Self = Self(3);
    /// There is no room for another transaction.
    pub const RESOURCE_LIMITATION: Self = Self(4);
}

/// Message of TCAP, by its type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the portions of Q.773, section 3, by their names")]
pub enum Message {
    /// A transaction begins.
    Begin { originating: TransactionId, dialogue: Option<Bytes>, components: Vec<Component> },
    /// Continuation of a transaction.
    Continue {
        originating: TransactionId,
        destination: TransactionId,
        dialogue: Option<Bytes>,
        components: Vec<Component>,
    },
    /// End of a transaction.
    End { destination: TransactionId, dialogue: Option<Bytes>, components: Vec<Component> },
    /// Abort of a transaction: by the provider with a cause, or by the user with a dialogue portion.
    Abort { destination: TransactionId, cause: Option<AbortCause>, dialogue: Option<Bytes> },
    /// Components without a transaction.
    Unidirectional { dialogue: Option<Bytes>, components: Vec<Component> },
}

/// Why octets are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The encoding rules are broken.
    #[error(transparent)]
    Encoding(#[from] BerError),
    /// A type that Q.773 does not have.
    #[error("the message type is not known")]
    UnrecognizedType,
    /// A transaction identifier of no or of more than four octets.
    #[error("a transaction identifier has 1 to 4 octets")]
    BadlyFormatted,
    /// An element that is missing, is one too many, or stands where another must.
    #[error("an element is missing or does not belong there")]
    IncorrectPortion,
}

impl ParseError {
    /// Gives the cause in the abort that answers such octets (Q.774, section 3.3.4.1).
    pub const fn cause(self) -> AbortCause {
        match self {
            Self::Encoding(_) | Self::BadlyFormatted => AbortCause::BADLY_FORMATTED,
            Self::UnrecognizedType => AbortCause::UNRECOGNIZED_TYPE,
            Self::IncorrectPortion => AbortCause::INCORRECT_PORTION,
        }
    }
}

/// The portions of a message as they come.
#[derive(Default)]
struct Portions {
    originating: Option<TransactionId>,
    destination: Option<TransactionId>,
    cause: Option<AbortCause>,
    dialogue: Option<Bytes>,
    components: Vec<Component>,
}

impl Portions {
    fn parse(contents: &[u8]) -> Result<Self, ParseError> {
        let mut reader = Reader::new(contents);
        let mut portions = Self::default();
        // Each at most once, in the order of Q.773.
        let mut last = 0;
        while let Some(element) = ber::next(&mut reader)? {
            let rank = match element.tag {
                tag::ORIGINATING => 1,
                tag::DESTINATION => 2,
                tag::ABORT_CAUSE => 3,
                tag::DIALOGUE => 4,
                tag::COMPONENTS => 5,
                _ => return Err(ParseError::IncorrectPortion),
            };
            if rank <= last {
                return Err(ParseError::IncorrectPortion);
            }
            last = rank;
            match element.tag {
                tag::ORIGINATING => portions.originating = Some(TransactionId::parse(element.contents)?),
                tag::DESTINATION => portions.destination = Some(TransactionId::parse(element.contents)?),
                tag::ABORT_CAUSE => match element.contents {
                    [cause] => portions.cause = Some(AbortCause(*cause)),
                    _ => return Err(ParseError::IncorrectPortion),
                },
                tag::DIALOGUE => portions.dialogue = Some(Bytes::copy_from_slice(element.contents)),
                _ => {
                    let mut components = Reader::new(element.contents);
                    while let Some(component) = ber::next(&mut components)? {
                        portions.components.push(Component::parse(component)?);
                    }
                    // Q.773, section 3.1: a component portion has one component at least.
                    if portions.components.is_empty() {
                        return Err(ParseError::IncorrectPortion);
                    }
                }
            }
        }
        Ok(portions)
    }
}

impl Message {
    /// Reads a message.
    pub fn parse(octets: &[u8]) -> Result<Self, ParseError> {
        let mut reader = Reader::new(octets);
        let element = ber::next(&mut reader)?.ok_or(ParseError::IncorrectPortion)?;
        if !reader.is_empty() {
            return Err(ParseError::IncorrectPortion);
        }
        let is_known =
            matches!(element.tag, tag::BEGIN | tag::CONTINUE | tag::END | tag::ABORT | tag::UNIDIRECTIONAL);
        if !is_known {
            return Err(ParseError::UnrecognizedType);
        }
        let Portions { originating, destination, cause, dialogue, components } =
            Portions::parse(element.contents)?;
        match (element.tag, originating, destination, cause) {
            (tag::BEGIN, Some(originating), None, None) => {
                Ok(Self::Begin { originating, dialogue, components })
            }
            (tag::CONTINUE, Some(originating), Some(destination), None) => {
                Ok(Self::Continue { originating, destination, dialogue, components })
            }
            (tag::END, None, Some(destination), None) => Ok(Self::End { destination, dialogue, components }),
            (tag::ABORT, None, Some(destination), cause) if components.is_empty() => {
                Ok(Self::Abort { destination, cause, dialogue })
            }
            (tag::UNIDIRECTIONAL, None, None, None) => Ok(Self::Unidirectional { dialogue, components }),
            _ => Err(ParseError::IncorrectPortion),
        }
    }

    /// Appends the message, with definite lengths in their shortest form. A [`Layout`](super::Layout) keeps those that
    /// a received one has.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let (tag, originating, destination, cause, dialogue, components) = match self {
            Self::Begin { originating, dialogue, components } => {
                (0x62, Some(originating), None, None, dialogue, &components[..])
            }
            Self::Continue { originating, destination, dialogue, components } => {
                (0x65, Some(originating), Some(destination), None, dialogue, &components[..])
            }
            Self::End { destination, dialogue, components } => {
                (0x64, None, Some(destination), None, dialogue, &components[..])
            }
            Self::Abort { destination, cause, dialogue } => {
                (0x67, None, Some(destination), cause.as_ref(), dialogue, &[][..])
            }
            Self::Unidirectional { dialogue, components } => {
                (0x61, None, None, None, dialogue, &components[..])
            }
        };
        ber::emit(tag, out, |out| {
            if let Some(id) = originating {
                id.emit(0x48, out);
            }
            if let Some(id) = destination {
                id.emit(0x49, out);
            }
            if let Some(AbortCause(cause)) = cause {
                ber::emit_octets(0x4a, &[*cause], out);
            }
            if let Some(dialogue) = dialogue {
                ber::emit_octets(0x6b, dialogue, out);
            }
            if !components.is_empty() {
                ber::emit(0x6c, out, |out| components.iter().for_each(|component| component.emit(out)));
            }
        });
    }
}

/// The originating and the destination transaction of octets that may be no whole message: what is wrong with them can
/// still be told to the one, and ends the other.
pub(super) fn transactions_of(octets: &[u8]) -> (Option<TransactionId>, Option<TransactionId>) {
    let Ok(Some(message)) = ber::next(&mut Reader::new(octets)) else { return (None, None) };
    let mut portions = Reader::new(message.contents);
    let mut first = ber::next(&mut portions).ok().flatten();
    let mut take = |wanted| {
        let taken = first.filter(|element| element.tag == wanted)?;
        first = ber::next(&mut portions).ok().flatten();
        TransactionId::parse(taken.contents).ok()
    };
    (take(tag::ORIGINATING), take(tag::DESTINATION))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::tcap::{Code, Problem};
    use proptest::prelude::*;

    /// A MAP begin with an application context and one operation, as GSM networks send it.
    #[test]
    fn a_begin_with_one_operation_reads_and_writes() {
        let octets = [
            0x62, 0x1c, 0x48, 0x04, 0x00, 0x01, 0x02, 0x03, 0x6c, 0x14, 0xa1, 0x12, 0x02, 0x01, 0x01, 0x02,
            0x01, 0x2d, 0x30, 0x0a, 0x80, 0x05, 0x91, 0x94, 0x71, 0x21, 0x43, 0x81, 0x01, 0xff,
        ];
        let message = Message::parse(&octets).unwrap();
        let Message::Begin { originating, components, .. } = &message else { panic!("{message:?}") };
        assert_eq!(*originating, TransactionId::new(0x0001_0203));
        assert!(matches!(&components[..], [Component::Invoke { invoke: 1, operation: Code::Local(45), .. }]));
        let mut emitted = Vec::new();
        message.emit(&mut emitted);
        assert_eq!(emitted, octets);
    }

    #[test]
    fn portions_out_of_order_are_refused() {
        let octets = [0x65, 0x06, 0x49, 0x01, 0x01, 0x48, 0x01, 0x02];
        assert_eq!(Message::parse(&octets), Err(ParseError::IncorrectPortion));
    }

    #[test]
    fn what_has_two_ways_to_be_written_and_one_that_is_allowed_is_refused_in_the_other() {
        let parse = |component: &[u8]| {
            let mut octets = vec![0x61, 2 + u8::try_from(component.len()).unwrap(), 0x6c];
            octets.push(u8::try_from(component.len()).unwrap());
            octets.extend_from_slice(component);
            Message::parse(&octets)
        };
        // No component; a number with an octet too many (X.690, section 8.3.2); a null that is something.
        assert_eq!(parse(&[]), Err(ParseError::IncorrectPortion));
        assert!(parse(&[0xa1, 7, 2, 1, 1, 2, 2, 0, 0x80]).is_ok());
        // Q.773 bounds no operation code: one of five octets is one.
        assert!(parse(&[0xa1, 10, 2, 1, 1, 2, 5, 0x7f, 0, 0, 0, 1]).is_ok());
        assert_eq!(parse(&[0xa1, 7, 2, 1, 1, 2, 2, 0, 0x2d]), Err(ParseError::IncorrectPortion));
        assert_eq!(parse(&[0xa1, 7, 2, 1, 1, 2, 2, 0xff, 0xd3]), Err(ParseError::IncorrectPortion));
        assert!(parse(&[0xa4, 5, 5, 0, 0x80, 1, 0]).is_ok());
        assert_eq!(parse(&[0xa4, 6, 5, 1, 9, 0x80, 1, 0]), Err(ParseError::IncorrectPortion));
    }

    fn any_code() -> impl Strategy<Value = Code> {
        prop_oneof![
            any::<i32>().prop_map(|value| Code::Local(value.into())),
            any::<i64>().prop_map(Code::Local),
            prop::collection::vec(any::<u8>(), 1..9).prop_map(|octets| Code::Global(octets.into())),
        ]
    }

    fn any_parameter() -> impl Strategy<Value = Bytes> {
        let element = |contents: Vec<u8>| {
            let mut octets = Vec::new();
            ber::emit_octets(0x30, &contents, &mut octets);
            Bytes::from(octets)
        };
        prop_oneof![Just(Bytes::new()), prop::collection::vec(any::<u8>(), 0..200).prop_map(element)]
    }

    pub(crate) fn any_component() -> impl Strategy<Value = Component> {
        let result = || prop::option::of((any_code(), any_parameter()));
        prop_oneof![
            (any::<i8>(), any::<Option<i8>>(), any_code(), any_parameter()).prop_map(
                |(invoke, linked, operation, parameter)| Component::Invoke {
                    invoke,
                    linked,
                    operation,
                    parameter
                }
            ),
            (any::<i8>(), result())
                .prop_map(|(invoke, result)| Component::ReturnResultLast { invoke, result }),
            (any::<i8>(), result())
                .prop_map(|(invoke, result)| Component::ReturnResultNotLast { invoke, result }),
            (any::<i8>(), any_code(), any_parameter())
                .prop_map(|(invoke, error, parameter)| Component::ReturnError { invoke, error, parameter }),
            (any::<Option<i8>>(), 0_u8..4, any::<u8>()).prop_map(|(invoke, kind, code)| Component::Reject {
                invoke,
                problem: Problem { kind, code }
            }),
        ]
    }

    pub(crate) fn any_message() -> impl Strategy<Value = Message> {
        let id = || any::<u32>().prop_map(TransactionId::new);
        let dialogue = || prop::option::of(prop::collection::vec(any::<u8>(), 0..40).prop_map(Bytes::from));
        let components = || prop::collection::vec(any_component(), 0..4);
        prop_oneof![
            (id(), dialogue(), components()).prop_map(|(originating, dialogue, components)| Message::Begin {
                originating,
                dialogue,
                components
            }),
            (id(), id(), dialogue(), components()).prop_map(
                |(originating, destination, dialogue, components)| {
                    Message::Continue { originating, destination, dialogue, components }
                }
            ),
            (id(), dialogue(), components()).prop_map(|(destination, dialogue, components)| Message::End {
                destination,
                dialogue,
                components
            }),
            (id(), prop::option::of((0_u8..5).prop_map(AbortCause)), dialogue())
                .prop_map(|(destination, cause, dialogue)| Message::Abort { destination, cause, dialogue }),
            (dialogue(), components())
                .prop_map(|(dialogue, components)| Message::Unidirectional { dialogue, components }),
        ]
    }

    proptest! {
        #[test]
        fn messages_round_trip(message in any_message()) {
            let mut octets = Vec::new();
            message.emit(&mut octets);
            prop_assert_eq!(Message::parse(&octets), Ok(message));
        }

        #[test]
        fn any_octets_give_a_message_or_an_error(octets: Vec<u8>) {
            let _ = Message::parse(&octets);
        }
    }
}
