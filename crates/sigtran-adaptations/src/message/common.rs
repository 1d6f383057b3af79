//! Parameters of more than one layer that stand in their own messages (RFC 3331, section 3.1.6; RFC 3868, section
//! 3.9; RFC 4233, section 3.1.5). Those of the messages about ASPs are in [`slantpath_sigtran::asp`].

use bytes::Bytes;
use slantpath_sigtran::common::{MessageParseError, tag};
use slantpath_ss7::PointCode;

use super::{number, numbers};

/// Tags of the interface identifiers, which M2UA and IUA share.
pub(crate) mod interface_tag {
    /// Interface Identifier (Integer).
    pub(crate) const INTEGER: u16 = 0x0001;
    /// Interface Identifier (Text).
    pub(crate) const TEXT: u16 = 0x0003;
    /// Interface Identifier (Integer Range).
    pub(crate) const RANGE: u16 = 0x0008;
}

/// A parameter that the layers share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommonParameter {
    /// Affected Point Code: point codes, each with the number of low bits that may be anything.
    AffectedPointCodes(Vec<(u8, PointCode)>),
    /// Correlation ID.
    CorrelationId(u32),
    /// INFO String: text for people.
    Info(Bytes),
    /// Interface Identifiers as integers.
    InterfaceIntegers(Vec<u32>),
    /// Interface Identifiers as ranges of integers, first and last.
    InterfaceRanges(Vec<(u32, u32)>),
    /// One Interface Identifier as text.
    InterfaceText(Bytes),
    /// Routing Contexts parameter.
    RoutingContexts(Vec<u32>),
}

/// Octets of the longest text identifier (RFC 3331, section 3.2).
const TEXT_MAX: usize = 255;

impl CommonParameter {
    /// Gives the tag of the parameter.
    pub const fn tag(&self) -> u16 {
        match self {
            Self::AffectedPointCodes(_) => tag::AFFECTED_POINT_CODE,
            Self::CorrelationId(_) => tag::CORRELATION_ID,
            Self::Info(_) => tag::INFO,
            Self::InterfaceIntegers(_) => interface_tag::INTEGER,
            Self::InterfaceRanges(_) => interface_tag::RANGE,
            Self::InterfaceText(_) => interface_tag::TEXT,
            Self::RoutingContexts(_) => tag::ROUTING_CONTEXT,
        }
    }

    pub(crate) fn read(tag: u16, value: &[u8]) -> Result<Option<Self>, MessageParseError> {
        let bytes = || Bytes::copy_from_slice(value);
        let parameter = match tag {
            tag::AFFECTED_POINT_CODE => {
                let split = |number: &u32| {
                    let [mask, ..] = number.to_be_bytes();
                    (mask, PointCode(number & 0x00ff_ffff))
                };
                Self::AffectedPointCodes(numbers(tag, value)?.iter().map(split).collect())
            }
            tag::CORRELATION_ID => Self::CorrelationId(number(tag, value)?),
            tag::INFO => Self::Info(bytes()),
            interface_tag::INTEGER => Self::InterfaceIntegers(numbers(tag, value)?),
            interface_tag::RANGE => Self::InterfaceRanges(ranges(value)?),
            interface_tag::TEXT if value.is_empty() || value.len() > TEXT_MAX => {
                return Err(MessageParseError::ParameterField(tag));
            }
            interface_tag::TEXT => Self::InterfaceText(bytes()),
            tag::ROUTING_CONTEXT => Self::RoutingContexts(numbers(tag, value)?),
            _ => return Ok(None),
        };
        Ok(Some(parameter))
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::AffectedPointCodes(codes) => {
                for (mask, PointCode(code)) in codes {
                    out.extend_from_slice(&(u32::from(*mask) << 24 | code & 0x00ff_ffff).to_be_bytes());
                }
            }
            Self::CorrelationId(number) => out.extend_from_slice(&number.to_be_bytes()),
            Self::Info(octets) | Self::InterfaceText(octets) => out.extend_from_slice(octets),
            Self::InterfaceIntegers(numbers) | Self::RoutingContexts(numbers) => {
                for number in numbers {
                    out.extend_from_slice(&number.to_be_bytes());
                }
            }
            Self::InterfaceRanges(ranges) => {
                for (first, last) in ranges {
                    out.extend_from_slice(&first.to_be_bytes());
                    out.extend_from_slice(&last.to_be_bytes());
                }
            }
        }
    }
}

fn ranges(value: &[u8]) -> Result<Vec<(u32, u32)>, MessageParseError> {
    let numbers = numbers(interface_tag::RANGE, value)?;
    let (pairs, rest) = numbers.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(MessageParseError::ParameterField(interface_tag::RANGE));
    }
    if pairs.iter().any(|[first, last]| first > last) {
        return Err(MessageParseError::InvalidParameterValue(interface_tag::RANGE));
    }
    Ok(pairs.iter().map(|[first, last]| (*first, *last)).collect())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    pub(in crate::message) fn any_common() -> impl Strategy<Value = CommonParameter> {
        let octets = |most| vec(any::<u8>(), 0..most).prop_map(Bytes::from);
        let range = any::<(u32, u32)>().prop_map(|(a, b)| (a.min(b), a.max(b)));
        prop_oneof![
            vec((any::<u8>(), (0_u32..1 << 24).prop_map(PointCode)), 1..4)
                .prop_map(CommonParameter::AffectedPointCodes),
            any::<u32>().prop_map(CommonParameter::CorrelationId),
            octets(9).prop_map(CommonParameter::Info),
            vec(any::<u32>(), 1..4).prop_map(CommonParameter::InterfaceIntegers),
            vec(range, 1..4).prop_map(CommonParameter::InterfaceRanges),
            vec(any::<u8>(), 1..9).prop_map(|text| CommonParameter::InterfaceText(text.into())),
            vec(any::<u32>(), 1..4).prop_map(CommonParameter::RoutingContexts),
        ]
    }

    #[test]
    fn a_length_that_is_no_multiple_of_a_number_is_a_parameter_field_error() {
        for (tag, len) in [(tag::CORRELATION_ID, 3), (tag::ROUTING_CONTEXT, 0), (interface_tag::RANGE, 4)] {
            let octets = vec![0; len];
            assert_eq!(CommonParameter::read(tag, &octets), Err(MessageParseError::ParameterField(tag)));
        }
    }

    #[test]
    fn a_range_that_runs_backwards_is_an_invalid_value() {
        let octets = [0, 0, 0, 2, 0, 0, 0, 1];
        let expected = Err(MessageParseError::InvalidParameterValue(interface_tag::RANGE));
        assert_eq!(CommonParameter::read(interface_tag::RANGE, &octets), expected);
    }
}
