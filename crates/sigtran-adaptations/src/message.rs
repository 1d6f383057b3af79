//! Messages of M2UA, SUA and IUA: those about ASPs, which all layers share, and those of a layer's own classes, which
//! are a kind and parameters in their order. What a layer has of its own is a vocabulary: its parameters and its
//! messages' formats, as tables.
//!
//! Reading a message of the own classes keeps order and unknown parameters, so that it is written as the same octets.

mod associations;
mod common;
mod format;
mod reception;

pub(crate) use associations::{Associations, Received, Streams};
pub use common::CommonParameter;
pub(crate) use common::interface_tag;
pub use format::MessageFormat;
pub(crate) use format::STATE_MAINTENANCE;
pub use reception::StreamRule;
pub(crate) use reception::receive;

use core::fmt;

use bytes::Bytes;
use slantpath_sigtran::asp::{AdaptationLayer, AspMessage, ErrorCode};
use slantpath_sigtran::common::{Frame, MessageKind, MessageParseError, emit};
use slantpath_wire::tlv;

/// Vocabulary of a layer: its own parameters as an enum, and its messages' formats.
pub trait Vocabulary: Clone + fmt::Debug + PartialEq + Eq {
    /// Every message of the layer, in tables.
    const FORMATS: &'static [&'static [MessageFormat]];
    /// True if a message may carry any known parameter, as SUA allows (RFC 3868, section 3).
    const CARRIES_ANY: bool;
    /// The layer, as far as its ASPs are concerned.
    type Layer: AdaptationLayer;

    /// Tells whether a message of class 0 is the layer's own, and none about ASPs.
    fn is_own(kind: MessageKind) -> bool;
    /// On which streams a message of the layer's own may come.
    fn stream_rule(kind: MessageKind) -> StreamRule;
    /// The error code that the layer has for a fault.
    fn error_code(code: ErrorCode) -> ErrorCode {
        code
    }
    /// The tag of the parameter.
    fn tag(&self) -> u16;
    /// Reads the value of a parameter; nothing if the tag is none of the layer's own.
    fn read(tag: u16, value: &[u8]) -> Result<Option<Self>, MessageParseError>;
    /// Appends the value.
    fn write(&self, out: &mut Vec<u8>);
}

/// Parameter of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter<V> {
    /// One that the layers share.
    Common(CommonParameter),
    /// One of the layer's own.
    Own(V),
    /// One that nobody here knows: carried, and written as it was read.
    Unknown {
        /// Tag of the parameter.
        tag: u16,
        /// Value of the parameter.
        value: Bytes,
    },
}

impl<V: Vocabulary> Parameter<V> {
    /// Gives the tag of the parameter.
    pub fn tag(&self) -> u16 {
        match self {
            Self::Common(parameter) => parameter.tag(),
            Self::Own(parameter) => parameter.tag(),
            Self::Unknown { tag, .. } => *tag,
        }
    }

    fn read(tag: u16, value: &[u8]) -> Result<Self, MessageParseError> {
        if let Some(own) = V::read(tag, value)? {
            Ok(Self::Own(own))
        } else if let Some(common) = CommonParameter::read(tag, value)? {
            Ok(Self::Common(common))
        } else {
            Ok(Self::Unknown { tag, value: Bytes::copy_from_slice(value) })
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Common(parameter) => parameter.write(out),
            Self::Own(parameter) => parameter.write(out),
            Self::Unknown { value, .. } => out.extend_from_slice(value),
        }
    }
}

/// A message of a class that the layer has alone: its kind and its parameters in the order of the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnMessage<V> {
    /// Class and type.
    pub kind: MessageKind,
    /// Parameters in their order.
    pub parameters: Vec<Parameter<V>>,
}

impl<V: Vocabulary> OwnMessage<V> {
    /// A message without parameters.
    pub const fn empty(kind: MessageKind) -> Self {
        Self { kind, parameters: Vec::new() }
    }

    /// Appends a common parameter behind the others.
    #[must_use]
    pub fn with_common(mut self, parameter: CommonParameter) -> Self {
        self.parameters.push(Parameter::Common(parameter));
        self
    }

    /// Appends a parameter of the layer's own behind the others.
    #[must_use]
    pub fn with(mut self, parameter: V) -> Self {
        self.parameters.push(Parameter::Own(parameter));
        self
    }

    /// The common parameters in their order.
    pub fn common(&self) -> impl Iterator<Item = &CommonParameter> {
        self.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Common(common) => Some(common),
            Parameter::Own(_) | Parameter::Unknown { .. } => None,
        })
    }

    /// The layer's own parameters in their order.
    pub fn own(&self) -> impl Iterator<Item = &V> {
        self.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Own(own) => Some(own),
            Parameter::Common(_) | Parameter::Unknown { .. } => None,
        })
    }
}

/// A message of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message<V: Vocabulary> {
    /// About ASPs and application servers.
    Asp(AspMessage<V::Layer>),
    /// Of the layer's own classes.
    Own(OwnMessage<V>),
}

impl<V: Vocabulary> Message<V> {
    /// Every message of the layer.
    pub fn formats() -> impl Iterator<Item = &'static MessageFormat> {
        V::FORMATS.iter().copied().flatten()
    }

    fn format_of(kind: MessageKind) -> Result<&'static MessageFormat, MessageParseError> {
        Self::formats().find(|format| format.kind == kind).ok_or_else(|| {
            if Self::formats().any(|format| format.kind.class == kind.class) {
                MessageParseError::UnsupportedType(kind)
            } else {
                MessageParseError::UnsupportedClass(kind)
            }
        })
    }

    /// Reads a message from its version on. A class or type that the layer does not have is an error, and so is a
    /// parameter whose value is impossible; one of the layer's own that is missing is not: see [`Self::receive`].
    pub fn parse(octets: &[u8]) -> Result<Self, MessageParseError> {
        let frame = Frame::parse(octets)?;
        Self::format_of(frame.kind)?;
        if matches!(frame.kind.class, 0 | 3 | 4) && !V::is_own(frame.kind) {
            return AspMessage::parse(&frame).map(Self::Asp);
        }
        let parameters = frame.parameters().map(|field| Parameter::read(field.kind, field.value));
        let parameters = parameters.collect::<Result<_, _>>()?;
        Ok(Self::Own(OwnMessage { kind: frame.kind, parameters }))
    }

    /// Reads a message as a receiver of the protocol does: every mandatory parameter must be there, and none that does
    /// not belong there.
    pub fn receive(octets: &[u8]) -> Result<Self, MessageParseError> {
        let frame = Frame::parse(octets)?;
        let format = Self::format_of(frame.kind)?;
        for field in frame.parameters() {
            let known = Self::formats().any(|format| format.has(field.kind));
            if known && !V::CARRIES_ANY && !format.has(field.kind) {
                return Err(MessageParseError::UnexpectedParameter(field.kind));
            }
        }
        for choices in format.mandatory {
            if !frame.parameters().any(|field| choices.contains(&field.kind)) {
                return Err(MessageParseError::MissingParameter(
                    choices.first().copied().unwrap_or_default(),
                ));
            }
        }
        Self::parse(octets)
    }

    /// Class and type.
    pub fn kind(&self) -> MessageKind {
        match self {
            Self::Asp(message) => message.kind(),
            Self::Own(message) => message.kind,
        }
    }

    /// The name that the layer's RFC gives the message.
    pub fn name(&self) -> &'static str {
        Self::format_of(self.kind()).map_or("unknown", |format| format.name)
    }

    /// Appends the message.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Asp(message) => message.emit(out),
            Self::Own(message) => emit(message.kind, out, |out| {
                for parameter in &message.parameters {
                    tlv::write(out, parameter.tag(), |out| parameter.write(out));
                }
            }),
        }
    }

    /// The message as octets of its own.
    pub fn to_bytes(&self) -> Bytes {
        let mut out = Vec::new();
        self.emit(&mut out);
        out.into()
    }
}

/// A value of exactly 32 bits.
pub(crate) fn number(tag: u16, value: &[u8]) -> Result<u32, MessageParseError> {
    value.try_into().map(u32::from_be_bytes).map_err(|_| MessageParseError::ParameterField(tag))
}

/// A list of 32-bit values that is not empty.
pub(crate) fn numbers(tag: u16, value: &[u8]) -> Result<Vec<u32>, MessageParseError> {
    match value.as_chunks::<4>() {
        ([], _) | (_, [_, ..]) => Err(MessageParseError::ParameterField(tag)),
        (numbers, []) => Ok(numbers.iter().map(|octets| u32::from_be_bytes(*octets)).collect()),
    }
}

/// The parameters inside a parameter.
pub(crate) fn nested(
    tag: u16,
    value: &[u8],
) -> impl Iterator<Item = Result<tlv::Tlv<'_>, MessageParseError>> {
    let mut reader = slantpath_wire::Reader::new(value);
    std::iter::from_fn(move || {
        let field = tlv::read(&mut reader).map_err(|_| MessageParseError::ParameterField(tag)).transpose();
        if matches!(field, Some(Err(_))) {
            reader = slantpath_wire::Reader::new(&[]);
        }
        field
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any message of a layer's own classes: kinds of its table, parameters of the given strategies.
    pub(crate) fn any_message<V: Vocabulary + 'static>(
        own: impl Strategy<Value = V> + 'static,
    ) -> impl Strategy<Value = Message<V>> {
        let unknown = (0x4000_u16..0x5000, proptest::collection::vec(any::<u8>(), 0..9))
            .prop_map(|(tag, value)| Parameter::Unknown { tag, value: value.into() });
        let parameter = prop_oneof![
            common::tests::any_common().prop_map(Parameter::Common),
            own.prop_map(Parameter::Own),
            unknown,
        ];
        let kinds = Message::<V>::formats().map(|format| format.kind);
        let own = |kind: &MessageKind| !matches!(kind.class, 0 | 3 | 4) || V::is_own(*kind);
        let kinds: Vec<MessageKind> = kinds.filter(own).collect();
        (proptest::sample::select(kinds), proptest::collection::vec(parameter, 0..8))
            .prop_map(|(kind, parameters)| Message::Own(OwnMessage { kind, parameters }))
    }

    /// Octets give a message that is written and read again, or an error.
    pub(crate) fn assert_total<V: Vocabulary>(class: u8, kind: u8, rest: &[u8]) {
        let mut octets = vec![1, 0, class, kind];
        octets.extend(u32::try_from(rest.len() + 8).unwrap().to_be_bytes());
        octets.extend(rest);
        let _ = Message::<V>::receive(&octets);
        if let Ok(message) = Message::<V>::parse(&octets) {
            assert_eq!(Message::parse(&message.to_bytes()), Ok(message));
        }
    }

    /// Checks that a message that is written reads the same, and is written again as the same octets.
    pub(crate) fn assert_round_trip<V: Vocabulary>(message: &Message<V>) {
        let octets = message.to_bytes();
        let parsed = Message::parse(&octets);
        assert_eq!(parsed.as_ref(), Ok(message));
        assert_eq!(parsed.unwrap().to_bytes(), octets);
    }

    /// A table names each message once, and asks for no tag twice in one message.
    pub(crate) fn assert_formats_are_sound<V: Vocabulary>() {
        let mut kinds = Vec::new();
        for format in Message::<V>::formats() {
            assert!(!kinds.contains(&format.kind), "{}", format.name);
            kinds.push(format.kind);
            let mut tags: Vec<u16> = format.mandatory.concat();
            tags.extend(format.optional);
            let all = tags.len();
            tags.sort_unstable();
            tags.dedup();
            assert_eq!(tags.len(), all, "{}", format.name);
        }
    }
}
