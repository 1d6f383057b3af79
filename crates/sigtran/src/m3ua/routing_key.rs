//! Routing keys and the results of their registration (RFC 4666, sections 3.6.1 to 3.6.4).

use slantpath_ss7::PointCode;
use slantpath_wire::tlv::{self, Tlv};
use slantpath_wire::{Reader, WireError};

use crate::common::{self, MessageParseError, emit_octets, emit_u32, emit_u32_list};
use crate::m3ua::message::tag;

/// Traffic that an application server serves, as an ASP registers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutingKey {
    /// The ASP's own number for this request.
    pub local_identifier: u32,
    /// A routing context that is configured already, if the key is to take it.
    pub routing_context: Option<u32>,
    /// Way of sharing the traffic among ASPs: the number of a [`crate::asp::TrafficMode`], or another, which is refused
    /// in the registration result and not by an ERR.
    pub traffic_mode: Option<u32>,
    /// The network that the point codes belong to.
    pub network_appearance: Option<u32>,
    /// One or more: destination, and what else narrows it. A key without one is refused in the registration result.
    pub destinations: Vec<KeyDestination>,
    /// Parameters that the RFC does not have, such as the circuit ranges of RFC 3332: tag and value.
    pub others: Vec<(u16, Vec<u8>)>,
}

/// One destination of a routing key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyDestination {
    /// Destination point code.
    pub dpc: PointCode,
    /// Service indicators; all if none is given.
    pub service_indicators: Vec<u8>,
    /// Originating point codes; all if none is given.
    pub opcs: Vec<PointCode>,
}

/// Outcome of a registration (RFC 4666, section 3.6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegistrationStatus(pub u32);

#[expect(missing_docs, reason = "the names are those of RFC 4666, section 3.6.2")]
impl RegistrationStatus {
    pub const REGISTERED: Self = Self(0);
    pub const UNKNOWN: Self = Self(1);
    pub const INVALID_DPC: Self = Self(2);
    pub const INVALID_NETWORK_APPEARANCE: Self = Self(3);
    pub const INVALID_ROUTING_KEY: Self = Self(4);
    pub const PERMISSION_DENIED: Self = Self(5);
    pub const CANNOT_SUPPORT_UNIQUE_ROUTING: Self = Self(6);
    pub const NOT_PROVISIONED: Self = Self(7);
    pub const INSUFFICIENT_RESOURCES: Self = Self(8);
    pub const UNSUPPORTED_PARAMETER: Self = Self(9);
    pub const UNSUPPORTED_TRAFFIC_MODE: Self = Self(10);
    pub const CHANGE_REFUSED: Self = Self(11);
    pub const ALREADY_REGISTERED: Self = Self(12);
}

/// Outcome of a deregistration (RFC 4666, section 3.6.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeregistrationStatus(pub u32);

#[expect(missing_docs, reason = "the names are those of RFC 4666, section 3.6.4")]
impl DeregistrationStatus {
    pub const DEREGISTERED: Self = Self(0);
    pub const UNKNOWN: Self = Self(1);
    pub const INVALID_ROUTING_CONTEXT: Self = Self(2);
    pub const PERMISSION_DENIED: Self = Self(3);
    pub const NOT_REGISTERED: Self = Self(4);
    pub const ASP_ACTIVE: Self = Self(5);
}

/// Result of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegistrationResult {
    /// The ASP's number for the request.
    pub local_identifier: u32,
    /// Outcome of the registration.
    pub status: RegistrationStatus,
    /// The routing context given, or 0.
    pub routing_context: u32,
}

/// Result of a deregistration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeregistrationResult {
    /// The routing context.
    pub routing_context: u32,
    /// Outcome of the deregistration.
    pub status: DeregistrationStatus,
}

/// Reads the fields inside a grouped parameter.
fn fields(value: &[u8], outer: u16) -> impl Iterator<Item = Result<Tlv<'_>, MessageParseError>> {
    let mut reader = Reader::new(value);
    std::iter::from_fn(move || {
        let field: Result<_, WireError> = tlv::read(&mut reader);
        let failed = field.is_err();
        let item = field.map_err(|_| MessageParseError::InvalidParameterValue(outer)).transpose();
        if failed {
            reader = Reader::new(&[]);
        }
        item
    })
}

fn number(field: Tlv<'_>) -> Result<u32, MessageParseError> {
    let octets = field.value.try_into().map_err(|_| MessageParseError::InvalidParameterValue(field.kind))?;
    Ok(u32::from_be_bytes(octets))
}

impl RoutingKey {
    pub(super) fn parse(value: &[u8]) -> Result<Self, MessageParseError> {
        let mut local_identifier = None;
        let mut key = Self {
            local_identifier: 0,
            routing_context: None,
            traffic_mode: None,
            network_appearance: None,
            destinations: Vec::new(),
            others: Vec::new(),
        };
        for field in fields(value, tag::ROUTING_KEY) {
            let field = field?;
            match field.kind {
                tag::LOCAL_KEY_IDENTIFIER => local_identifier = Some(number(field)?),
                common::tag::ROUTING_CONTEXT => key.routing_context = Some(number(field)?),
                common::tag::TRAFFIC_MODE => key.traffic_mode = Some(number(field)?),
                tag::NETWORK_APPEARANCE => key.network_appearance = Some(number(field)?),
                tag::DPC => {
                    let dpc = PointCode(number(field)? & 0xff_ffff);
                    let (service_indicators, opcs) = (Vec::new(), Vec::new());
                    key.destinations.push(KeyDestination { dpc, service_indicators, opcs });
                }
                tag::SERVICE_INDICATORS => last(&mut key)?.service_indicators = field.value.to_vec(),
                tag::OPC_LIST => last(&mut key)?.opcs = point_codes(field)?,
                other => key.others.push((other, field.value.to_vec())),
            }
        }
        key.local_identifier =
            local_identifier.ok_or(MessageParseError::MissingParameter(tag::LOCAL_KEY_IDENTIFIER))?;
        Ok(key)
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        tlv::write(out, tag::ROUTING_KEY, |out| {
            emit_u32(tag::LOCAL_KEY_IDENTIFIER, self.local_identifier, out);
            emit_u32_list(common::tag::ROUTING_CONTEXT, self.routing_context.as_slice(), out);
            emit_u32_list(common::tag::TRAFFIC_MODE, self.traffic_mode.as_slice(), out);
            emit_u32_list(tag::NETWORK_APPEARANCE, self.network_appearance.as_slice(), out);
            for destination in &self.destinations {
                emit_u32(tag::DPC, destination.dpc.0, out);
                if !destination.service_indicators.is_empty() {
                    emit_octets(tag::SERVICE_INDICATORS, &destination.service_indicators, out);
                }
                let opcs: Vec<u32> = destination.opcs.iter().map(|opc| opc.0).collect();
                emit_u32_list(tag::OPC_LIST, &opcs, out);
            }
            self.others.iter().for_each(|(tag, value)| emit_octets(*tag, value, out));
        });
    }
}

/// Service indicators and originating point codes narrow the destination in front of them.
fn last(key: &mut RoutingKey) -> Result<&mut KeyDestination, MessageParseError> {
    key.destinations.last_mut().ok_or(MessageParseError::MissingParameter(tag::DPC))
}

fn point_codes(field: Tlv<'_>) -> Result<Vec<PointCode>, MessageParseError> {
    let (codes, rest) = field.value.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(MessageParseError::InvalidParameterValue(field.kind));
    }
    // The first octet is a mask, of which zero is the only value for point codes one by one.
    Ok(codes.iter().map(|octets| PointCode(u32::from_be_bytes(*octets) & 0xff_ffff)).collect())
}

/// The numbers of a grouped parameter, in the order of `tags`; each must be there.
fn numbers<const N: usize>(value: &[u8], outer: u16, tags: [u16; N]) -> Result<[u32; N], MessageParseError> {
    let mut found = [None; N];
    for field in fields(value, outer) {
        let field = field?;
        if let Some(place) = tags.iter().position(|tag| *tag == field.kind) {
            found[place] = Some(number(field)?);
        }
    }
    let mut numbers = [0; N];
    for ((number, found), tag) in numbers.iter_mut().zip(found).zip(tags) {
        *number = found.ok_or(MessageParseError::MissingParameter(tag))?;
    }
    Ok(numbers)
}

impl RegistrationResult {
    const TAGS: [u16; 3] =
        [tag::LOCAL_KEY_IDENTIFIER, tag::REGISTRATION_STATUS, common::tag::ROUTING_CONTEXT];

    pub(super) fn parse(value: &[u8]) -> Result<Self, MessageParseError> {
        let [local_identifier, status, routing_context] =
            numbers(value, tag::REGISTRATION_RESULT, Self::TAGS)?;
        Ok(Self { local_identifier, status: RegistrationStatus(status), routing_context })
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        let values = [self.local_identifier, self.status.0, self.routing_context];
        tlv::write(out, tag::REGISTRATION_RESULT, |out| {
            Self::TAGS.iter().zip(values).for_each(|(tag, value)| emit_u32(*tag, value, out));
        });
    }
}

impl DeregistrationResult {
    const TAGS: [u16; 2] = [common::tag::ROUTING_CONTEXT, tag::DEREGISTRATION_STATUS];

    pub(super) fn parse(value: &[u8]) -> Result<Self, MessageParseError> {
        let [routing_context, status] = numbers(value, tag::DEREGISTRATION_RESULT, Self::TAGS)?;
        Ok(Self { routing_context, status: DeregistrationStatus(status) })
    }

    pub(super) fn emit(self, out: &mut Vec<u8>) {
        tlv::write(out, tag::DEREGISTRATION_RESULT, |out| {
            let values = [self.routing_context, self.status.0];
            Self::TAGS.iter().zip(values).for_each(|(tag, value)| emit_u32(*tag, value, out));
        });
    }
}
