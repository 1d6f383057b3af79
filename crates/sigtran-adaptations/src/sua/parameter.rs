//! Parameters and messages of SUA (RFC 3868, section 3).

use bytes::Bytes;
use slantpath_sigtran::common::{MessageKind, MessageParseError, emit_u32, tag as common_tag};
use slantpath_wire::tlv;

use super::address::{self, Address};
use super::format;
use crate::message::{MessageFormat, STATE_MAINTENANCE, StreamRule, Vocabulary, nested, number};
use crate::sua::Sua;

/// Tags of SUA's own (RFC 3868, sections 3.9 and 3.10).
pub(super) mod tag {
    pub(in crate::sua) const REGISTRATION_RESULT: u16 = 0x0014;
    pub(in crate::sua) const DEREGISTRATION_RESULT: u16 = 0x0015;
    pub(in crate::sua) const REGISTRATION_STATUS: u16 = 0x0016;
    pub(in crate::sua) const DEREGISTRATION_STATUS: u16 = 0x0017;
    pub(in crate::sua) const LOCAL_ROUTING_KEY: u16 = 0x0018;
    pub(in crate::sua) const HOP_COUNT: u16 = 0x0101;
    pub(in crate::sua) const SOURCE_ADDRESS: u16 = 0x0102;
    pub(in crate::sua) const DESTINATION_ADDRESS: u16 = 0x0103;
    pub(in crate::sua) const SOURCE_REFERENCE: u16 = 0x0104;
    pub(in crate::sua) const DESTINATION_REFERENCE: u16 = 0x0105;
    pub(in crate::sua) const CAUSE: u16 = 0x0106;
    pub(in crate::sua) const SEQUENCE_NUMBER: u16 = 0x0107;
    pub(in crate::sua) const RECEIVE_SEQUENCE_NUMBER: u16 = 0x0108;
    pub(in crate::sua) const ASP_CAPABILITIES: u16 = 0x0109;
    pub(in crate::sua) const CREDIT: u16 = 0x010a;
    pub(in crate::sua) const DATA: u16 = 0x010b;
    pub(in crate::sua) const USER_CAUSE: u16 = 0x010c;
    pub(in crate::sua) const NETWORK_APPEARANCE: u16 = 0x010d;
    pub(in crate::sua) const ROUTING_KEY: u16 = 0x010e;
    pub(in crate::sua) const DRN_LABEL: u16 = 0x010f;
    pub(in crate::sua) const TID_LABEL: u16 = 0x0110;
    pub(in crate::sua) const ADDRESS_RANGE: u16 = 0x0111;
    pub(in crate::sua) const SMI: u16 = 0x0112;
    pub(in crate::sua) const IMPORTANCE: u16 = 0x0113;
    pub(in crate::sua) const MESSAGE_PRIORITY: u16 = 0x0114;
    pub(in crate::sua) const PROTOCOL_CLASS: u16 = 0x0115;
    pub(in crate::sua) const SEQUENCE_CONTROL: u16 = 0x0116;
    pub(in crate::sua) const SEGMENTATION: u16 = 0x0117;
    pub(in crate::sua) const CONGESTION_LEVEL: u16 = 0x0118;
}

/// Classes and types of SUA's own (RFC 3868, section 3.1.3).
#[expect(missing_docs, reason = "each is the message of RFC 3868 of that name")]
pub mod kind {
    use slantpath_sigtran::common::MessageKind;

    const fn of(class: u8, kind: u8) -> MessageKind {
        MessageKind { class, kind }
    }

    pub const DUNA: MessageKind = of(2, 1);
    pub const DAVA: MessageKind = of(2, 2);
    pub const DAUD: MessageKind = of(2, 3);
    pub const SCON: MessageKind = of(2, 4);
    pub const DUPU: MessageKind = of(2, 5);
    pub const DRST: MessageKind = of(2, 6);
    pub const CLDT: MessageKind = of(7, 1);
    pub const CLDR: MessageKind = of(7, 2);
    pub const CORE: MessageKind = of(8, 1);
    pub const COAK: MessageKind = of(8, 2);
    pub const COREF: MessageKind = of(8, 3);
    pub const RELRE: MessageKind = of(8, 4);
    pub const RELCO: MessageKind = of(8, 5);
    pub const RESCO: MessageKind = of(8, 6);
    pub const RESRE: MessageKind = of(8, 7);
    pub const CODT: MessageKind = of(8, 8);
    pub const CODA: MessageKind = of(8, 9);
    pub const COERR: MessageKind = of(8, 10);
    pub const COIT: MessageKind = of(8, 11);
    pub const REGISTRATION_REQUEST: MessageKind = of(9, 1);
    pub const REGISTRATION_RESPONSE: MessageKind = of(9, 2);
    pub const DEREGISTRATION_REQUEST: MessageKind = of(9, 3);
    pub const DEREGISTRATION_RESPONSE: MessageKind = of(9, 4);
}

/// SCCP Cause: its kind and its value (RFC 3868, section 3.10.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SccpCause {
    /// 1 return, 2 refusal, 3 release, 4 reset, 5 error.
    pub kind: u8,
    /// The value that Q.713 gives that cause.
    pub value: u8,
}

/// Sequence Number of CODT (RFC 3868, section 3.10.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequenceNumber {
    /// P(R), 7 bits.
    pub received: u8,
    /// More data follow in the next message.
    pub more: bool,
    /// P(S), 7 bits.
    pub sent: u8,
}

/// Segmentation of CLDT (RFC 3868, section 3.10.23).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Segmentation {
    /// True if it is the first segment.
    pub first: bool,
    /// Number of segments that are still to come, 7 bits on the wire and at most 15 by the rule.
    pub remaining: u8,
    /// By which segments find each other, 24 bits.
    pub reference: u32,
}

/// TID or DRN label: a place in transaction identifiers or reference numbers, and what this ASP's have there (RFC
/// 3868, sections 3.10.15 and 3.10.16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    /// Highest bit of the place, counted from the least significant.
    pub start: u8,
    /// Lowest bit of the place.
    pub end: u8,
    /// The value there.
    pub value: u16,
}

/// Pairs of first and last addresses (RFC 3868, section 3.10.17).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressRange {
    /// Range of destinations.
    Destination(Vec<Address>),
    /// Range of sources.
    Source(Vec<Address>),
}

/// The traffic that an ASP wants (RFC 3868, section 3.10.14).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoutingKey {
    /// By which the response is matched.
    pub local: u32,
    /// A registered key that this one replaces.
    pub routing_context: Option<u32>,
    /// Traffic Mode Type by its number.
    pub traffic_mode: Option<u32>,
    /// The network of the addresses.
    pub network_appearance: Option<u32>,
    /// Sources whose messages are wanted.
    pub sources: Vec<Address>,
    /// Destinations whose messages are wanted.
    pub destinations: Vec<Address>,
    /// Ranges of either.
    pub ranges: Vec<AddressRange>,
}

/// Result of the registration of a key (RFC 3868, section 3.9.20).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegistrationResult {
    /// From the request.
    pub local: u32,
    /// 0 is success.
    pub status: u32,
    /// The key's routing context; 0 if it failed.
    pub routing_context: u32,
}

/// Result of a deregistration (RFC 3868, section 3.9.21).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeregistrationResult {
    /// From the request.
    pub routing_context: u32,
    /// 0 is success.
    pub status: u32,
}

/// A parameter of SUA's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuaParameter {
    /// ASP Capabilities: protocol classes as bits, and interworking.
    AspCapabilities(u32),
    /// SCCP Cause.
    Cause(SccpCause),
    /// Congestion Level parameter.
    CongestionLevel(u32),
    /// Credit, an octet.
    Credit(u8),
    /// The SCCP user's octets.
    Data(Bytes),
    /// Deregistration Result parameter.
    DeregistrationResult(DeregistrationResult),
    /// Destination Address parameter.
    DestinationAddress(Address),
    /// Destination Reference Number.
    DestinationReference(u32),
    /// DRN Label.
    DrnLabel(Label),
    /// SS7 Hop Count, 15 to 1.
    HopCount(u8),
    /// Importance, 0 to 7.
    Importance(u8),
    /// Message Priority, 0 to 3, or 255 if nobody said.
    MessagePriority(u8),
    /// Network Appearance parameter.
    NetworkAppearance(u32),
    /// Protocol Class: class in the low two bits, return on error in bit 8.
    ProtocolClass(u8),
    /// Receive Sequence Number, P(R) in the high seven bits.
    ReceiveSequenceNumber(u8),
    /// Registration Result parameter.
    RegistrationResult(RegistrationResult),
    /// Routing Key parameter.
    RoutingKey(RoutingKey),
    /// Segmentation parameter, of CLDT and CLDR.
    Segmentation(Segmentation),
    /// Sequence Control parameter.
    SequenceControl(u32),
    /// Sequence Number parameter.
    SequenceNumber(SequenceNumber),
    /// Subsystem Multiplicity Indicator.
    Smi(u8),
    /// Source Address parameter.
    SourceAddress(Address),
    /// Source Reference Number.
    SourceReference(u32),
    /// Subsystem Number, of network management.
    Subsystem(u8),
    /// TID Label.
    TidLabel(Label),
    /// Cause and user of DUPU.
    UserCause {
        /// 0 unknown, 1 unequipped, 2 inaccessible.
        cause: u16,
        /// The service indicator of the SCCP.
        user: u16,
    },
}

/// The low octet of a number whose others are reserved.
fn low(tag: u16, value: &[u8]) -> Result<u8, MessageParseError> {
    number(tag, value).map(|number| (number & 0xff) as u8)
}

impl Label {
    pub(super) fn read(tag: u16, value: &[u8]) -> Result<Self, MessageParseError> {
        let [start, end, high, low] = number(tag, value)?.to_be_bytes();
        Ok(Self { start, end, value: u16::from_be_bytes([high, low]) })
    }
}

fn read_key(parent: u16, value: &[u8]) -> Result<RoutingKey, MessageParseError> {
    let mut key = RoutingKey::default();
    let mut local = None;
    for field in nested(parent, value) {
        let field = field?;
        match field.kind {
            tag::LOCAL_ROUTING_KEY => local = Some(number(field.kind, field.value)?),
            common_tag::ROUTING_CONTEXT => key.routing_context = Some(number(field.kind, field.value)?),
            common_tag::TRAFFIC_MODE => key.traffic_mode = Some(number(field.kind, field.value)?),
            tag::NETWORK_APPEARANCE => key.network_appearance = Some(number(field.kind, field.value)?),
            tag::SOURCE_ADDRESS => key.sources.push(Address::read(field.kind, field.value)?),
            tag::DESTINATION_ADDRESS => key.destinations.push(Address::read(field.kind, field.value)?),
            tag::ADDRESS_RANGE => key.ranges.push(read_range(field.kind, field.value)?),
            other => return Err(MessageParseError::UnexpectedParameter(other)),
        }
    }
    key.local = local.ok_or(MessageParseError::MissingParameter(tag::LOCAL_ROUTING_KEY))?;
    Ok(key)
}

//= https://www.rfc-editor.org/rfc/rfc3868#section-3.10.17
//# The Address field must contain pairs of Source Addresses
//# or pairs of Destination Addresses but MUST NOT mix Source
//# Addresses with Destination Addresses in the same Address
//# field.
fn read_range(parent: u16, value: &[u8]) -> Result<AddressRange, MessageParseError> {
    let (mut sources, mut destinations) = (Vec::new(), Vec::new());
    for field in nested(parent, value) {
        let field = field?;
        match field.kind {
            tag::SOURCE_ADDRESS => sources.push(Address::read(field.kind, field.value)?),
            tag::DESTINATION_ADDRESS => destinations.push(Address::read(field.kind, field.value)?),
            other => return Err(MessageParseError::UnexpectedParameter(other)),
        }
    }
    match (sources.len(), destinations.len()) {
        (2.., 0) if sources.len().is_multiple_of(2) => Ok(AddressRange::Source(sources)),
        (0, 2..) if destinations.len().is_multiple_of(2) => Ok(AddressRange::Destination(destinations)),
        _ => Err(MessageParseError::InvalidParameterValue(parent)),
    }
}

/// The 32-bit parameters inside a parameter, by the given tags, each of which must be there.
fn parts<const N: usize>(parent: u16, tags: [u16; N], value: &[u8]) -> Result<[u32; N], MessageParseError> {
    let mut found = [None; N];
    for field in nested(parent, value) {
        let field = field?;
        if let Some(at) = tags.iter().position(|tag| *tag == field.kind) {
            found[at] = Some(number(field.kind, field.value)?);
        }
    }
    let mut numbers = [0; N];
    for ((number, found), tag) in numbers.iter_mut().zip(found).zip(tags) {
        *number = found.ok_or(MessageParseError::MissingParameter(tag))?;
    }
    Ok(numbers)
}

fn write_address(tag: u16, address: &Address, out: &mut Vec<u8>) {
    tlv::write(out, tag, |out| address.write(out));
}

fn write_key(key: &RoutingKey, out: &mut Vec<u8>) {
    emit_u32(tag::LOCAL_ROUTING_KEY, key.local, out);
    for (tag, number) in [
        (common_tag::ROUTING_CONTEXT, key.routing_context),
        (common_tag::TRAFFIC_MODE, key.traffic_mode),
        (tag::NETWORK_APPEARANCE, key.network_appearance),
    ] {
        if let Some(number) = number {
            emit_u32(tag, number, out);
        }
    }
    for address in &key.sources {
        write_address(tag::SOURCE_ADDRESS, address, out);
    }
    for address in &key.destinations {
        write_address(tag::DESTINATION_ADDRESS, address, out);
    }
    for range in &key.ranges {
        let (tag, addresses) = match range {
            AddressRange::Destination(addresses) => (tag::DESTINATION_ADDRESS, addresses),
            AddressRange::Source(addresses) => (tag::SOURCE_ADDRESS, addresses),
        };
        tlv::write(out, tag::ADDRESS_RANGE, |out| {
            for address in addresses {
                write_address(tag, address, out);
            }
        });
    }
}

impl Vocabulary for SuaParameter {
    const FORMATS: &'static [&'static [MessageFormat]] =
        &[format::FORMATS, STATE_MAINTENANCE, format::CONTEXT_MAINTENANCE];
    //= https://www.rfc-editor.org/rfc/rfc3868#section-3
    //# For forward compatibility, all Message Types may have attached
    //# parameters even if none are specified in this version.
    const CARRIES_ANY: bool = true;
    type Layer = Sua;

    fn is_own(_kind: MessageKind) -> bool {
        false
    }

    //= https://www.rfc-editor.org/rfc/rfc3868#section-4.1.1
    //# DATA messages MUST be sent on an SCTP stream
    //# other than stream '0' when there is more than one stream.
    fn stream_rule(kind: MessageKind) -> StreamRule {
        if matches!(kind.class, 7 | 8) { StreamRule::Traffic } else { StreamRule::Any }
    }

    fn tag(&self) -> u16 {
        match self {
            Self::AspCapabilities(_) => tag::ASP_CAPABILITIES,
            Self::Cause(_) => tag::CAUSE,
            Self::CongestionLevel(_) => tag::CONGESTION_LEVEL,
            Self::Credit(_) => tag::CREDIT,
            Self::Data(_) => tag::DATA,
            Self::DeregistrationResult(_) => tag::DEREGISTRATION_RESULT,
            Self::DestinationAddress(_) => tag::DESTINATION_ADDRESS,
            Self::DestinationReference(_) => tag::DESTINATION_REFERENCE,
            Self::DrnLabel(_) => tag::DRN_LABEL,
            Self::HopCount(_) => tag::HOP_COUNT,
            Self::Importance(_) => tag::IMPORTANCE,
            Self::MessagePriority(_) => tag::MESSAGE_PRIORITY,
            Self::NetworkAppearance(_) => tag::NETWORK_APPEARANCE,
            Self::ProtocolClass(_) => tag::PROTOCOL_CLASS,
            Self::ReceiveSequenceNumber(_) => tag::RECEIVE_SEQUENCE_NUMBER,
            Self::RegistrationResult(_) => tag::REGISTRATION_RESULT,
            Self::RoutingKey(_) => tag::ROUTING_KEY,
            Self::Segmentation(_) => tag::SEGMENTATION,
            Self::SequenceControl(_) => tag::SEQUENCE_CONTROL,
            Self::SequenceNumber(_) => tag::SEQUENCE_NUMBER,
            Self::Smi(_) => tag::SMI,
            Self::SourceAddress(_) => tag::SOURCE_ADDRESS,
            Self::SourceReference(_) => tag::SOURCE_REFERENCE,
            Self::Subsystem(_) => address::tag::SUBSYSTEM,
            Self::TidLabel(_) => tag::TID_LABEL,
            Self::UserCause { .. } => tag::USER_CAUSE,
        }
    }

    fn read(tag: u16, value: &[u8]) -> Result<Option<Self>, MessageParseError> {
        let parameter = match tag {
            tag::ASP_CAPABILITIES => Self::AspCapabilities(number(tag, value)?),
            tag::CAUSE => {
                let [_, _, kind, value] = number(tag, value)?.to_be_bytes();
                Self::Cause(SccpCause { kind, value })
            }
            tag::CONGESTION_LEVEL => Self::CongestionLevel(number(tag, value)?),
            tag::CREDIT => Self::Credit(low(tag, value)?),
            tag::DATA => Self::Data(Bytes::copy_from_slice(value)),
            tag::DEREGISTRATION_RESULT => {
                let tags = [common_tag::ROUTING_CONTEXT, tag::DEREGISTRATION_STATUS];
                let [routing_context, status] = parts(tag, tags, value)?;
                Self::DeregistrationResult(DeregistrationResult { routing_context, status })
            }
            tag::DESTINATION_ADDRESS => Self::DestinationAddress(Address::read(tag, value)?),
            tag::DESTINATION_REFERENCE => Self::DestinationReference(number(tag, value)?),
            tag::DRN_LABEL => Self::DrnLabel(Label::read(tag, value)?),
            tag::HOP_COUNT => Self::HopCount(low(tag, value)?),
            tag::IMPORTANCE => Self::Importance(low(tag, value)?),
            tag::MESSAGE_PRIORITY => Self::MessagePriority(low(tag, value)?),
            tag::NETWORK_APPEARANCE => Self::NetworkAppearance(number(tag, value)?),
            tag::PROTOCOL_CLASS => Self::ProtocolClass(low(tag, value)?),
            tag::RECEIVE_SEQUENCE_NUMBER => Self::ReceiveSequenceNumber(low(tag, value)?),
            tag::REGISTRATION_RESULT => {
                let tags = [tag::LOCAL_ROUTING_KEY, tag::REGISTRATION_STATUS, common_tag::ROUTING_CONTEXT];
                let [local, status, routing_context] = parts(tag, tags, value)?;
                Self::RegistrationResult(RegistrationResult { local, status, routing_context })
            }
            tag::ROUTING_KEY => Self::RoutingKey(read_key(tag, value)?),
            tag::SEGMENTATION => {
                let number = number(tag, value)?;
                let [head, ..] = number.to_be_bytes();
                let reference = number & 0x00ff_ffff;
                Self::Segmentation(Segmentation {
                    first: head & 0x80 != 0,
                    remaining: head & 0x7f,
                    reference,
                })
            }
            tag::SEQUENCE_CONTROL => Self::SequenceControl(number(tag, value)?),
            tag::SEQUENCE_NUMBER => {
                let [_, _, received, sent] = number(tag, value)?.to_be_bytes();
                Self::SequenceNumber(SequenceNumber {
                    received: received >> 1,
                    more: received & 1 != 0,
                    sent: sent >> 1,
                })
            }
            tag::SMI => Self::Smi(low(tag, value)?),
            tag::SOURCE_ADDRESS => Self::SourceAddress(Address::read(tag, value)?),
            tag::SOURCE_REFERENCE => Self::SourceReference(number(tag, value)?),
            address::tag::SUBSYSTEM => Self::Subsystem(low(tag, value)?),
            tag::TID_LABEL => Self::TidLabel(Label::read(tag, value)?),
            tag::USER_CAUSE => {
                let number = number(tag, value)?;
                Self::UserCause { cause: (number >> 16) as u16, user: (number & 0xffff) as u16 }
            }
            _ => return Ok(None),
        };
        Ok(Some(parameter))
    }

    fn write(&self, out: &mut Vec<u8>) {
        let number = match self {
            Self::AspCapabilities(number)
            | Self::CongestionLevel(number)
            | Self::DestinationReference(number)
            | Self::NetworkAppearance(number)
            | Self::SequenceControl(number)
            | Self::SourceReference(number) => *number,
            Self::Cause(SccpCause { kind, value }) => u32::from_be_bytes([0, 0, *kind, *value]),
            Self::Credit(octet)
            | Self::HopCount(octet)
            | Self::Importance(octet)
            | Self::MessagePriority(octet)
            | Self::ProtocolClass(octet)
            | Self::ReceiveSequenceNumber(octet)
            | Self::Smi(octet)
            | Self::Subsystem(octet) => u32::from(*octet),
            Self::Data(octets) => return out.extend_from_slice(octets),
            Self::DeregistrationResult(result) => {
                emit_u32(common_tag::ROUTING_CONTEXT, result.routing_context, out);
                return emit_u32(tag::DEREGISTRATION_STATUS, result.status, out);
            }
            Self::DestinationAddress(address) | Self::SourceAddress(address) => return address.write(out),
            Self::DrnLabel(label) | Self::TidLabel(label) => {
                let [high, low] = label.value.to_be_bytes();
                u32::from_be_bytes([label.start, label.end, high, low])
            }
            Self::RegistrationResult(result) => {
                emit_u32(tag::LOCAL_ROUTING_KEY, result.local, out);
                emit_u32(tag::REGISTRATION_STATUS, result.status, out);
                return emit_u32(common_tag::ROUTING_CONTEXT, result.routing_context, out);
            }
            Self::RoutingKey(key) => return write_key(key, out),
            Self::Segmentation(Segmentation { first, remaining, reference }) => {
                u32::from(*first) << 31 | u32::from(remaining & 0x7f) << 24 | reference & 0x00ff_ffff
            }
            Self::SequenceNumber(SequenceNumber { received, more, sent }) => {
                u32::from_be_bytes([0, 0, received << 1 | u8::from(*more), sent << 1])
            }
            Self::UserCause { cause, user } => u32::from(*cause) << 16 | u32::from(*user),
        };
        out.extend_from_slice(&number.to_be_bytes());
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::message::tests::{any_message, assert_formats_are_sound, assert_round_trip, assert_total};
    use crate::sua::Message;
    use crate::sua::address::tests::any_address;
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    fn any_label() -> impl Strategy<Value = Label> {
        any::<(u8, u8, u16)>().prop_map(|(start, end, value)| Label { start, end, value })
    }

    fn any_key() -> impl Strategy<Value = RoutingKey> {
        let pairs = || {
            vec((any_address(), any_address()), 1..3).prop_map(|pairs| {
                pairs.into_iter().flat_map(|(first, last)| [first, last]).collect::<Vec<_>>()
            })
        };
        let range =
            prop_oneof![pairs().prop_map(AddressRange::Source), pairs().prop_map(AddressRange::Destination),];
        let numbers =
            (any::<u32>(), option::of(any::<u32>()), option::of(any::<u32>()), option::of(any::<u32>()));
        (numbers, vec(any_address(), 0..3), vec(any_address(), 0..3), vec(range, 0..2)).prop_map(
            |((local, routing_context, traffic_mode, network_appearance), sources, destinations, ranges)| {
                RoutingKey {
                    local,
                    routing_context,
                    traffic_mode,
                    network_appearance,
                    sources,
                    destinations,
                    ranges,
                }
            },
        )
    }

    fn any_own() -> impl Strategy<Value = SuaParameter> {
        let octet = |make: fn(u8) -> SuaParameter| any::<u8>().prop_map(make);
        let word = |make: fn(u32) -> SuaParameter| any::<u32>().prop_map(make);
        prop_oneof![
            prop_oneof![
                word(SuaParameter::AspCapabilities),
                word(SuaParameter::CongestionLevel),
                word(SuaParameter::DestinationReference),
                word(SuaParameter::NetworkAppearance),
                word(SuaParameter::SequenceControl),
                word(SuaParameter::SourceReference),
            ],
            prop_oneof![
                octet(SuaParameter::Credit),
                octet(SuaParameter::HopCount),
                octet(SuaParameter::Importance),
                octet(SuaParameter::MessagePriority),
                octet(SuaParameter::ProtocolClass),
                octet(SuaParameter::ReceiveSequenceNumber),
                octet(SuaParameter::Smi),
                octet(SuaParameter::Subsystem),
            ],
            any::<(u8, u8)>().prop_map(|(kind, value)| SuaParameter::Cause(SccpCause { kind, value })),
            vec(any::<u8>(), 0..20).prop_map(|octets| SuaParameter::Data(octets.into())),
            any::<(u32, u32)>().prop_map(|(routing_context, status)| {
                SuaParameter::DeregistrationResult(DeregistrationResult { routing_context, status })
            }),
            any_address().prop_map(SuaParameter::DestinationAddress),
            any_address().prop_map(SuaParameter::SourceAddress),
            any_label().prop_map(SuaParameter::DrnLabel),
            any_label().prop_map(SuaParameter::TidLabel),
            any::<(u32, u32, u32)>().prop_map(|(local, status, routing_context)| {
                SuaParameter::RegistrationResult(RegistrationResult { local, status, routing_context })
            }),
            any_key().prop_map(SuaParameter::RoutingKey),
            (any::<bool>(), 0_u8..128, 0_u32..1 << 24).prop_map(|(first, remaining, reference)| {
                SuaParameter::Segmentation(Segmentation { first, remaining, reference })
            }),
            (0_u8..128, any::<bool>(), 0_u8..128).prop_map(|(received, more, sent)| {
                SuaParameter::SequenceNumber(SequenceNumber { received, more, sent })
            }),
            any::<(u16, u16)>().prop_map(|(cause, user)| SuaParameter::UserCause { cause, user }),
        ]
    }

    #[test]
    fn every_message_is_in_one_table_once() {
        assert_formats_are_sound::<SuaParameter>();
    }

    #[test]
    fn a_range_that_mixes_sources_and_destinations_is_an_invalid_value() {
        let address = Address::of_subsystem(slantpath_ss7::PointCode(1), 8);
        let mut octets = Vec::new();
        write_address(tag::SOURCE_ADDRESS, &address, &mut octets);
        write_address(tag::DESTINATION_ADDRESS, &address, &mut octets);
        let expected = Err(MessageParseError::InvalidParameterValue(tag::ADDRESS_RANGE));
        assert_eq!(read_range(tag::ADDRESS_RANGE, &octets), expected);
    }

    #[test]
    fn a_message_without_data_lacks_a_parameter() {
        let octets = [1, 0, 7, 1, 0, 0, 0, 8];
        assert!(Message::parse(&octets).is_ok());
        let expected = Err(MessageParseError::MissingParameter(common_tag::ROUTING_CONTEXT));
        assert_eq!(Message::receive(&octets), expected);
    }

    proptest! {
        #[test]
        fn messages_round_trip(message in any_message(any_own())) {
            assert_round_trip(&message);
        }

        #[test]
        fn any_octets_give_a_message_or_an_error(class in 0_u8..12, kind in 0_u8..13, rest: Vec<u8>) {
            assert_total::<SuaParameter>(class, kind, &rest);
        }
    }
}
