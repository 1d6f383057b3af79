//! Format that all adaptation layers but M2PA share (RFC 4666, section 3.1): a header of eight octets and parameters
//! that are type-length-value fields.

mod layout;

use slantpath_wire::tlv::{self, Tlv};
use slantpath_wire::{Reader, WireError};

pub use layout::MessageLayout;

use crate::asp::ErrorCode;

/// Octets of the common header.
pub const HEADER_LEN: usize = 8;

/// The only version there is.
const VERSION: u8 = 1;

/// Kind of a message within its layer: class and type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageKind {
    /// Message class: 0 management, 1 transfer, 2 signalling network, 3 and 4 ASP, 9 routing keys.
    pub class: u8,
    /// Message type within the class.
    pub kind: u8,
}

/// Why octets are no message of an adaptation layer. Each has its error code in the answer (RFC 4666, section
/// 3.8.1) but for those that cannot be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageParseError {
    /// Another version than 1: "Invalid Version".
    #[error("version {0} is not 1")]
    InvalidVersion(u8),
    /// A length that does not fit the message: "Protocol Error".
    #[error("the message is malformed: {0}")]
    Malformed(WireError),
    /// A parameter whose length fits neither the message nor the parameter's format: "Parameter Field Error".
    #[error("parameter {0:#06x} has a wrong length")]
    ParameterField(u16),
    /// A parameter that the layer has, but not in this message: "Unexpected Parameter".
    #[error("parameter {0:#06x} does not belong into the message")]
    UnexpectedParameter(u16),
    /// A parameter that the message must have is not there: "Missing Parameter".
    #[error("parameter {0:#06x} is missing")]
    MissingParameter(u16),
    /// A parameter whose value is impossible: "Invalid Parameter Value".
    #[error("parameter {0:#06x} has an impossible value")]
    InvalidParameterValue(u16),
    /// A class that the layer does not have: "Unsupported Message Class".
    #[error("message class {} is not supported", .0.class)]
    UnsupportedClass(MessageKind),
    /// A type that its class does not have: "Unsupported Message Type".
    #[error("message type {} of class {} is not supported", .0.kind, .0.class)]
    UnsupportedType(MessageKind),
}

impl MessageParseError {
    /// The code that an ERR about it has (RFC 4666, section 3.8.1): the same in every layer that has it.
    pub const fn error_code(self) -> ErrorCode {
        match self {
            Self::InvalidVersion(_) => ErrorCode::INVALID_VERSION,
            Self::UnsupportedClass(_) => ErrorCode::UNSUPPORTED_MESSAGE_CLASS,
            Self::UnsupportedType(_) => ErrorCode::UNSUPPORTED_MESSAGE_TYPE,
            Self::Malformed(_) => ErrorCode::PROTOCOL_ERROR,
            Self::InvalidParameterValue(tag::TRAFFIC_MODE) => ErrorCode::UNSUPPORTED_TRAFFIC_MODE_TYPE,
            Self::InvalidParameterValue(_) => ErrorCode::INVALID_PARAMETER_VALUE,
            Self::ParameterField(_) => ErrorCode::PARAMETER_FIELD_ERROR,
            Self::UnexpectedParameter(_) => ErrorCode::UNEXPECTED_PARAMETER,
            Self::MissingParameter(_) => ErrorCode::MISSING_PARAMETER,
        }
    }
}

impl From<WireError> for MessageParseError {
    fn from(error: WireError) -> Self {
        Self::Malformed(error)
    }
}

/// Checks version and length; the kind of the message, and its parameters unread.
pub(crate) fn header(octets: &[u8]) -> Result<(MessageKind, &[u8]), MessageParseError> {
    let mut reader = Reader::new(octets);
    let [version, _reserved, class, kind] = reader.array()?;
    if version != VERSION {
        return Err(MessageParseError::InvalidVersion(version));
    }
    let len = reader.u32()?;
    let wanted = usize::try_from(len).unwrap_or(usize::MAX);
    // The length covers the final padding or not: both are on the wire (RFC 4666, section 3.1.4).
    let padded = octets.len() - octets.len().min(wanted) < 4;
    if wanted < HEADER_LEN || wanted > octets.len() || !padded {
        let error = WireError::BadValue { field: "message length", value: len.into() };
        return Err(MessageParseError::Malformed(error));
    }
    Ok((MessageKind { class, kind }, reader.rest()))
}

/// Reads the next parameter, and names one whose length is wrong.
pub(crate) fn next_parameter<'a>(reader: &mut Reader<'a>) -> Result<Option<Tlv<'a>>, MessageParseError> {
    // The tag, for a parameter whose length is wrong.
    let tag = reader.rest().first_chunk().map(|tag| u16::from_be_bytes(*tag));
    match (tlv::read(reader), tag) {
        (Ok(field), _) => Ok(field),
        (Err(_), Some(tag)) => Err(MessageParseError::ParameterField(tag)),
        (Err(error), None) => Err(MessageParseError::Malformed(error)),
    }
}

/// A message whose frame has been checked: its kind, and parameters that are all whole.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Class and type.
    pub kind: MessageKind,
    parameters: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Checks version, length and the framing of every parameter.
    pub fn parse(octets: &'a [u8]) -> Result<Self, MessageParseError> {
        let (kind, parameters) = header(octets)?;
        let mut check = Reader::new(parameters);
        while next_parameter(&mut check)?.is_some() {}
        Ok(Self { kind, parameters })
    }

    /// The parameters in their order.
    pub fn parameters(&self) -> impl Iterator<Item = Tlv<'a>> + use<'a> {
        let mut reader = Reader::new(self.parameters);
        // Framing was checked: no error is left to come.
        std::iter::from_fn(move || tlv::read(&mut reader).ok().flatten())
    }

    /// The value of the first parameter of that tag.
    pub fn value(&self, tag: u16) -> Option<&'a [u8]> {
        self.parameters().find(|parameter| parameter.kind == tag).map(|parameter| parameter.value)
    }

    /// Gives a copy of the value of the first parameter with this tag.
    pub fn octets(&self, tag: u16) -> Option<Vec<u8>> {
        self.value(tag).map(<[u8]>::to_vec)
    }

    /// The value of a parameter that must be there.
    pub fn required(&self, tag: u16) -> Result<&'a [u8], MessageParseError> {
        self.value(tag).ok_or(MessageParseError::MissingParameter(tag))
    }

    /// A parameter of 32 bits, if it is there.
    pub fn u32(&self, tag: u16) -> Result<Option<u32>, MessageParseError> {
        match self.value(tag).map(<[u8; 4]>::try_from) {
            None => Ok(None),
            Some(Ok(octets)) => Ok(Some(u32::from_be_bytes(octets))),
            Some(Err(_)) => Err(MessageParseError::InvalidParameterValue(tag)),
        }
    }

    /// A parameter of 32 bits that must be there.
    pub fn required_u32(&self, tag: u16) -> Result<u32, MessageParseError> {
        self.u32(tag)?.ok_or(MessageParseError::MissingParameter(tag))
    }

    /// A list of 32-bit numbers, such as routing contexts; empty if the parameter is absent.
    pub fn u32_list(&self, tag: u16) -> Result<Vec<u32>, MessageParseError> {
        let value = self.value(tag).unwrap_or(&[]);
        let (numbers, rest) = value.as_chunks::<4>();
        if rest.is_empty() {
            Ok(numbers.iter().map(|octets| u32::from_be_bytes(*octets)).collect())
        } else {
            Err(MessageParseError::InvalidParameterValue(tag))
        }
    }
}

/// Appends a message: header, then what `write` appends, then the length.
pub fn emit(kind: MessageKind, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[VERSION, 0, kind.class, kind.kind, 0, 0, 0, 0]);
    write(out);
    let len = u32::try_from(out.len() - start).expect("a message is shorter than 4 GiB");
    out[start + 4..start + 8].copy_from_slice(&len.to_be_bytes());
}

/// Appends a parameter of 32 bits.
pub fn emit_u32(tag: u16, value: u32, out: &mut Vec<u8>) {
    emit_octets(tag, &value.to_be_bytes(), out);
}

/// Appends a parameter.
pub fn emit_octets(tag: u16, value: &[u8], out: &mut Vec<u8>) {
    tlv::write(out, tag, |out| out.extend_from_slice(value));
}

/// Appends a list of 32-bit numbers, unless it is empty.
pub fn emit_u32_list(tag: u16, values: &[u32], out: &mut Vec<u8>) {
    if !values.is_empty() {
        tlv::write(out, tag, |out| {
            for value in values {
                out.extend_from_slice(&value.to_be_bytes());
            }
        });
    }
}

/// Tags that the layers share (RFC 4666, section 3.2).
pub mod tag {
    /// INFO String.
    pub const INFO: u16 = 0x0004;
    /// Tag of Routing Context.
    pub const ROUTING_CONTEXT: u16 = 0x0006;
    /// Tag of Diagnostic Information.
    pub const DIAGNOSTIC: u16 = 0x0007;
    /// Tag of Heartbeat Data.
    pub const HEARTBEAT: u16 = 0x0009;
    /// Traffic Mode Type.
    pub const TRAFFIC_MODE: u16 = 0x000b;
    /// Tag of Error Code.
    pub const ERROR_CODE: u16 = 0x000c;
    /// Tag of Status.
    pub const STATUS: u16 = 0x000d;
    /// ASP Identifier.
    pub const ASP_IDENTIFIER: u16 = 0x0011;
    /// Affected Point Code.
    pub const AFFECTED_POINT_CODE: u16 = 0x0012;
    /// Correlation ID.
    pub const CORRELATION_ID: u16 = 0x0013;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_length_that_does_not_fit_is_malformed() {
        for len in [0_u8, 7, 12, 255] {
            let octets = [1, 0, 3, 1, 0, 0, 0, len];
            assert!(matches!(Frame::parse(&octets), Err(MessageParseError::Malformed(_))), "{len}");
        }
        assert!(Frame::parse(&[1, 0, 3, 1, 0, 0, 0, 8]).is_ok());
    }

    #[test]
    fn a_parameter_whose_length_is_wrong_is_named() {
        for len in [3, 9] {
            let octets = [1, 0, 3, 1, 0, 0, 0, 12, 0, 4, 0, len];
            assert_eq!(Frame::parse(&octets).map(|_| ()), Err(MessageParseError::ParameterField(4)), "{len}");
        }
    }

    #[test]
    fn another_version_is_named() {
        let octets = [2, 0, 3, 1, 0, 0, 0, 8];
        assert_eq!(Frame::parse(&octets).map(|_| ()), Err(MessageParseError::InvalidVersion(2)));
    }

    proptest! {
        #[test]
        fn frames_round_trip(class: u8, kind: u8, parameters: Vec<(u16, Vec<u8>)>) {
            let mut octets = Vec::new();
            emit(MessageKind { class, kind }, &mut octets, |out| {
                for (tag, value) in &parameters {
                    emit_octets(*tag, value, out);
                }
            });
            let frame = Frame::parse(&octets).unwrap();
            let parsed: Vec<_> = frame.parameters().map(|p| (p.kind, p.value.to_vec())).collect();
            prop_assert_eq!(parsed, parameters);
        }

        #[test]
        fn any_octets_give_a_frame_or_an_error(octets: Vec<u8>) {
            let _ = Frame::parse(&octets);
        }
    }
}
