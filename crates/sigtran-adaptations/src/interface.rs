//! Interface Identifiers: which physical interface at the signalling gateway a message of M2UA or IUA is for
//! (RFC 3331, section 3.2; RFC 4233, section 3.2).

use bytes::Bytes;
use slantpath_sigtran::asp::kind;
use slantpath_sigtran::asp::{Parameters, Scope};
use slantpath_sigtran::common::{Frame, MessageParseError, tag};
use slantpath_wire::tlv;

use crate::message::{CommonParameter, MessageFormat, interface_tag};

/// Tags of the parameters that name interfaces, and of INFO String.
pub(crate) const INTERFACES: &[u16] =
    &[interface_tag::INTEGER, interface_tag::RANGE, interface_tag::TEXT, tag::INFO];

/// Management where interfaces name the traffic.
pub(crate) const MANAGEMENT: &[MessageFormat] = &[
    MessageFormat::new(
        kind::ERR,
        "ERR",
        &[&[tag::ERROR_CODE]],
        &[interface_tag::INTEGER, interface_tag::RANGE, interface_tag::TEXT, tag::DIAGNOSTIC],
    ),
    MessageFormat::new(
        kind::NTFY,
        "NTFY",
        &[&[tag::STATUS]],
        &[tag::ASP_IDENTIFIER, interface_tag::INTEGER, interface_tag::RANGE, interface_tag::TEXT, tag::INFO],
    ),
];

/// One interface, as a number or as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InterfaceIdentifier {
    /// As an integer, which everybody understands.
    Integer(u32),
    /// As text, which is optional to understand.
    Text(Bytes),
}

impl InterfaceIdentifier {
    /// The identifier as a parameter.
    pub fn to_parameter(&self) -> CommonParameter {
        match self {
            Self::Integer(number) => CommonParameter::InterfaceIntegers(vec![*number]),
            Self::Text(text) => CommonParameter::InterfaceText(text.clone()),
        }
    }

    /// The one identifier that a message's header has; nothing if it has none.
    pub fn of_header<'a>(
        parameters: impl IntoIterator<Item = &'a CommonParameter>,
    ) -> Result<Option<Self>, MessageParseError> {
        for parameter in parameters {
            match parameter {
                CommonParameter::InterfaceIntegers(numbers) => match numbers.as_slice() {
                    [number] => return Ok(Some(Self::Integer(*number))),
                    _ => return Err(MessageParseError::ParameterField(interface_tag::INTEGER)),
                },
                CommonParameter::InterfaceText(text) => return Ok(Some(Self::Text(text.clone()))),
                _ => {}
            }
        }
        Ok(None)
    }
}

impl InterfaceIdentifier {
    /// Reads it inside another parameter.
    pub(crate) fn read(tag: u16, value: &[u8]) -> Result<Option<Self>, MessageParseError> {
        Ok(match tag {
            interface_tag::INTEGER => Some(Self::Integer(crate::message::number(tag, value)?)),
            interface_tag::TEXT => Some(Self::Text(Bytes::copy_from_slice(value))),
            _ => None,
        })
    }

    /// Appends it inside another parameter.
    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        match self {
            Self::Integer(number) => {
                tlv::write(out, interface_tag::INTEGER, |out| out.extend_from_slice(&number.to_be_bytes()));
            }
            Self::Text(text) => tlv::write(out, interface_tag::TEXT, |out| out.extend_from_slice(text)),
        }
    }
}

impl From<u32> for InterfaceIdentifier {
    fn from(number: u32) -> Self {
        Self::Integer(number)
    }
}

/// The interfaces that a message about ASPs names, in the order of the wire (RFC 3331, section 3.3.2.7).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interfaces(pub Vec<Interface>);

/// One parameter that names interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interface {
    /// Interfaces named by integers.
    Integers(Vec<u32>),
    /// Ranges of integers, first and last.
    Ranges(Vec<(u32, u32)>),
    /// A string.
    Text(Bytes),
}

impl Interfaces {
    /// Tells whether one of them is a string.
    pub fn has_text(&self) -> bool {
        self.0.iter().any(|interface| matches!(interface, Interface::Text(_)))
    }

    fn names(&self, identifier: &InterfaceIdentifier) -> bool {
        self.0.iter().any(|interface| match (interface, identifier) {
            (Interface::Integers(numbers), InterfaceIdentifier::Integer(number)) => numbers.contains(number),
            (Interface::Ranges(ranges), InterfaceIdentifier::Integer(number)) => {
                ranges.iter().any(|(first, last)| (first..=last).contains(&number))
            }
            (Interface::Text(text), InterfaceIdentifier::Text(other)) => text == other,
            _ => false,
        })
    }
}

impl Parameters for Interfaces {
    fn parse(frame: &Frame<'_>) -> Result<Self, MessageParseError> {
        let mut interfaces = Vec::new();
        for field in frame.parameters() {
            match CommonParameter::read(field.kind, field.value) {
                Ok(Some(CommonParameter::InterfaceIntegers(numbers))) => {
                    interfaces.push(Interface::Integers(numbers));
                }
                Ok(Some(CommonParameter::InterfaceRanges(ranges))) => {
                    interfaces.push(Interface::Ranges(ranges));
                }
                Ok(Some(CommonParameter::InterfaceText(text))) => interfaces.push(Interface::Text(text)),
                Err(error)
                    if [interface_tag::INTEGER, interface_tag::RANGE, interface_tag::TEXT]
                        .contains(&field.kind) =>
                {
                    return Err(error);
                }
                // Another parameter is for somebody else to read.
                Ok(_) | Err(_) => {}
            }
        }
        Ok(Self(interfaces))
    }

    fn emit(&self, out: &mut Vec<u8>) {
        for interface in &self.0 {
            let parameter = match interface {
                Interface::Integers(numbers) => CommonParameter::InterfaceIntegers(numbers.clone()),
                Interface::Ranges(ranges) => CommonParameter::InterfaceRanges(ranges.clone()),
                Interface::Text(text) => CommonParameter::InterfaceText(text.clone()),
            };
            tlv::write(out, parameter.tag(), |out| parameter.write(out));
        }
    }
}

impl Scope for Interfaces {
    type Key = InterfaceIdentifier;

    fn of(keys: &[InterfaceIdentifier]) -> Self {
        let mut integers = Vec::new();
        let mut interfaces = Vec::new();
        for key in keys {
            match key {
                InterfaceIdentifier::Integer(number) => integers.push(*number),
                InterfaceIdentifier::Text(text) => interfaces.push(Interface::Text(text.clone())),
            }
        }
        if !integers.is_empty() {
            interfaces.insert(0, Interface::Integers(integers));
        }
        Self(interfaces)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn select<'a>(
        &self,
        configured: impl Iterator<Item = &'a InterfaceIdentifier>,
    ) -> (Vec<InterfaceIdentifier>, Self) {
        let found: Vec<_> = configured.filter(|identifier| self.names(identifier)).cloned().collect();
        let mut integers: Vec<u32> = found
            .iter()
            .filter_map(|identifier| match identifier {
                InterfaceIdentifier::Integer(number) => Some(*number),
                InterfaceIdentifier::Text(_) => None,
            })
            .collect();
        integers.sort_unstable();
        let rest = self.0.iter().filter_map(|interface| match interface {
            Interface::Integers(numbers) => {
                let rest: Vec<u32> = numbers
                    .iter()
                    .copied()
                    .filter(|number| integers.binary_search(number).is_err())
                    .collect();
                (!rest.is_empty()).then_some(Interface::Integers(rest))
            }
            Interface::Ranges(ranges) => {
                let rest: Vec<_> = ranges.iter().flat_map(|range| gaps(*range, &integers)).collect();
                (!rest.is_empty()).then_some(Interface::Ranges(rest))
            }
            Interface::Text(text) => {
                let known = found.contains(&InterfaceIdentifier::Text(text.clone()));
                (!known).then(|| Interface::Text(text.clone()))
            }
        });
        let rest = rest.collect();
        (found, Self(rest))
    }
}

/// The parts of a range between sorted numbers: its cost is in the numbers, whatever the range spans.
fn gaps((first, last): (u32, u32), numbers: &[u32]) -> Vec<(u32, u32)> {
    let mut gaps = Vec::new();
    let mut next = Some(first);
    for number in numbers.iter().copied().filter(|number| (first..=last).contains(number)) {
        match next {
            Some(from) if from < number => gaps.push((from, number - 1)),
            _ => {}
        }
        next = number.checked_add(1);
    }
    gaps.extend(next.filter(|from| *from <= last).map(|from| (from, last)));
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    #[test]
    fn what_a_range_names_beyond_the_configured_is_left_over() {
        let scope = Interfaces(vec![Interface::Ranges(vec![(1, 10)]), Interface::Integers(vec![20, 3])]);
        let configured = [2, 3, 10].map(InterfaceIdentifier::Integer);
        let (found, rest) = scope.select(configured.iter());
        assert_eq!(found, configured);
        let expected = vec![Interface::Ranges(vec![(1, 1), (4, 9)]), Interface::Integers(vec![20])];
        assert_eq!(rest, Interfaces(expected));
    }

    #[test]
    fn the_whole_of_the_numbers_is_no_burden() {
        let scope = Interfaces(vec![Interface::Ranges(vec![(0, u32::MAX)])]);
        let configured = [0, u32::MAX].map(InterfaceIdentifier::Integer);
        let (found, rest) = scope.select(configured.iter());
        assert_eq!(found.len(), 2);
        assert_eq!(rest, Interfaces(vec![Interface::Ranges(vec![(1, u32::MAX - 1)])]));
    }

    proptest! {
        #[test]
        fn found_and_rest_make_what_was_named(
            ranges in vec((0_u32..40, 0_u32..10), 1..4),
            configured in btree_set(0_u32..60, 0..20),
        ) {
            let ranges: Vec<_> = ranges.into_iter().map(|(first, more)| (first, first + more)).collect();
            let scope = Interfaces(vec![Interface::Ranges(ranges)]);
            let keys: Vec<_> = configured.iter().copied().map(InterfaceIdentifier::Integer).collect();
            let (found, rest) = scope.select(keys.iter());
            for number in 0..60 {
                let key = InterfaceIdentifier::Integer(number);
                prop_assert_eq!(found.contains(&key), scope.names(&key) && configured.contains(&number));
                prop_assert_eq!(rest.names(&key), scope.names(&key) && !configured.contains(&number));
            }
        }
    }
}
