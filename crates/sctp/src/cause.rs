//! The error causes of ERROR and ABORT (RFC 9260, section 3.3.10).

mod text;

use bytes::Bytes;
use slantpath_wire::{Reader, WireError, tlv};
use smallvec::SmallVec;

use crate::bytes_view::{BytesView, trailing_padding};
use crate::types::{StreamId, Tsn};

/// Cause codes of ERROR and ABORT chunks.
pub mod code {
    /// Invalid Stream Identifier.
    pub const INVALID_STREAM_IDENTIFIER: u16 = 1;
    /// Missing Mandatory Parameter.
    pub const MISSING_MANDATORY_PARAMETER: u16 = 2;
    /// Stale Cookie (RFC 9260, section 3.3.10.3).
    pub const STALE_COOKIE: u16 = 3;
    /// Out of Resource.
    pub const OUT_OF_RESOURCE: u16 = 4;
    /// Unresolvable Address (RFC 9260, section 3.3.10.5).
    pub const UNRESOLVABLE_ADDRESS: u16 = 5;
    /// Unrecognized Chunk Type.
    pub const UNRECOGNIZED_CHUNK_TYPE: u16 = 6;
    /// Invalid Mandatory Parameter.
    pub const INVALID_MANDATORY_PARAMETER: u16 = 7;
    /// Unrecognized Parameters (RFC 9260, section 3.3.10.8).
    pub const UNRECOGNIZED_PARAMETERS: u16 = 8;
    /// No User Data.
    pub const NO_USER_DATA: u16 = 9;
    /// Cookie Received While Shutting Down.
    pub const COOKIE_RECEIVED_WHILE_SHUTTING_DOWN: u16 = 10;
    /// Restart of an Association with New Addresses.
    pub const RESTART_WITH_NEW_ADDRESSES: u16 = 11;
    /// User-Initiated Abort.
    pub const USER_INITIATED_ABORT: u16 = 12;
    /// Protocol Violation (RFC 9260, section 3.3.10.13).
    pub const PROTOCOL_VIOLATION: u16 = 13;
    /// Request to Delete Last Remaining IP Address (RFC 5061).
    pub const DELETE_LAST_ADDRESS: u16 = 0xa0;
    /// Operation Refused Due to Resource Shortage (RFC 5061).
    pub const RESOURCE_SHORTAGE: u16 = 0xa1;
    /// Request to Delete Source IP Address (RFC 5061).
    pub const DELETE_SOURCE_ADDRESS: u16 = 0xa2;
    /// Association Aborted Due to Illegal ASCONF-ACK (RFC 5061).
    pub const ILLEGAL_ASCONF_ACK: u16 = 0xa3;
    /// Request Refused - No Authorization (RFC 5061).
    pub const NO_AUTHORIZATION: u16 = 0xa4;
    /// Unsupported HMAC Identifier (RFC 4895).
    pub const UNSUPPORTED_HMAC: u16 = 0x105;
}

/// One error cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A DATA chunk named a stream that does not exist.
    InvalidStreamIdentifier(StreamId),
    /// Parameters of these types are missing in an INIT or INIT ACK.
    MissingMandatoryParameter(SmallVec<[u16; 2]>),
    /// A valid cookie came too late.
    StaleCookie {
        /// Time by which it came too late, in microseconds; zero says nothing.
        staleness_us: u32,
    },
    /// No memory, no association left.
    OutOfResource,
    /// An address parameter, whole with its header, that cannot be used.
    UnresolvableAddress(Bytes),
    /// A chunk, whole with its header, of a type that is not known.
    UnrecognizedChunkType(Bytes),
    /// A mandatory field of an INIT or INIT ACK holds an invalid value.
    InvalidMandatoryParameter,
    /// Parameters, whole with their headers, of an INIT ACK that are not known.
    UnrecognizedParameters(Bytes),
    /// A DATA chunk without data.
    NoUserData(Tsn),
    /// A COOKIE ECHO came in SHUTDOWN-ACK-SENT.
    CookieReceivedWhileShuttingDown,
    /// An INIT on an existing association came with new addresses: their parameters, whole.
    RestartWithNewAddresses(Bytes),
    /// The layer above gave up, and why, in its own words.
    UserInitiatedAbort(Bytes),
    /// Anything else that is wrong, with a hint.
    ProtocolViolation(Bytes),
    /// The request, whole, would delete the last address of its sender.
    DeleteLastAddress(Bytes),
    /// There is no room for what the request, whole, asks for.
    ResourceShortage(Bytes),
    /// The request, whole, would delete the address that its packet has come from.
    DeleteSourceAddress(Bytes),
    /// An ASCONF-ACK answers what was never sent.
    IllegalAsconfAck,
    /// The sender may not ask for what the request, whole, asks for.
    NoAuthorization(Bytes),
    /// An AUTH chunk names an algorithm that was not offered.
    UnsupportedHmac(u16),
    /// A cause that is not known here.
    Unknown {
        /// The cause code.
        code: u16,
        /// Value of the cause, without its header.
        value: Bytes,
    },
}

impl Cause {
    /// The cause code.
    pub const fn code(&self) -> u16 {
        match self {
            Self::InvalidStreamIdentifier(_) => code::INVALID_STREAM_IDENTIFIER,
            Self::MissingMandatoryParameter(_) => code::MISSING_MANDATORY_PARAMETER,
            Self::StaleCookie { .. } => code::STALE_COOKIE,
            Self::OutOfResource => code::OUT_OF_RESOURCE,
            Self::UnresolvableAddress(_) => code::UNRESOLVABLE_ADDRESS,
            Self::UnrecognizedChunkType(_) => code::UNRECOGNIZED_CHUNK_TYPE,
            Self::InvalidMandatoryParameter => code::INVALID_MANDATORY_PARAMETER,
            Self::UnrecognizedParameters(_) => code::UNRECOGNIZED_PARAMETERS,
            Self::NoUserData(_) => code::NO_USER_DATA,
            Self::CookieReceivedWhileShuttingDown => code::COOKIE_RECEIVED_WHILE_SHUTTING_DOWN,
            Self::RestartWithNewAddresses(_) => code::RESTART_WITH_NEW_ADDRESSES,
            Self::UserInitiatedAbort(_) => code::USER_INITIATED_ABORT,
            Self::ProtocolViolation(_) => code::PROTOCOL_VIOLATION,
            Self::DeleteLastAddress(_) => code::DELETE_LAST_ADDRESS,
            Self::ResourceShortage(_) => code::RESOURCE_SHORTAGE,
            Self::DeleteSourceAddress(_) => code::DELETE_SOURCE_ADDRESS,
            Self::IllegalAsconfAck => code::ILLEGAL_ASCONF_ACK,
            Self::NoAuthorization(_) => code::NO_AUTHORIZATION,
            Self::UnsupportedHmac(_) => code::UNSUPPORTED_HMAC,
            Self::Unknown { code, .. } => *code,
        }
    }

    /// A protocol violation, described for whoever reads the peer's log.
    pub fn violation(hint: &'static str) -> Self {
        Self::ProtocolViolation(Bytes::from_static(hint.as_bytes()))
    }

    /// Appends the cause with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        tlv::write(out, self.code(), |out| match self {
            Self::InvalidStreamIdentifier(stream) => {
                out.extend_from_slice(&stream.0.to_be_bytes());
                out.extend_from_slice(&[0, 0]);
            }
            Self::MissingMandatoryParameter(kinds) => {
                let count = u32::try_from(kinds.len()).expect("a cause is at most 65,535 bytes long");
                out.extend_from_slice(&count.to_be_bytes());
                for kind in kinds {
                    out.extend_from_slice(&kind.to_be_bytes());
                }
            }
            Self::StaleCookie { staleness_us } => out.extend_from_slice(&staleness_us.to_be_bytes()),
            Self::NoUserData(tsn) => out.extend_from_slice(&tsn.0.to_be_bytes()),
            Self::UnsupportedHmac(hmac) => out.extend_from_slice(&hmac.to_be_bytes()),
            Self::OutOfResource
            | Self::InvalidMandatoryParameter
            | Self::CookieReceivedWhileShuttingDown
            | Self::IllegalAsconfAck => {}
            Self::UnresolvableAddress(value)
            | Self::UnrecognizedChunkType(value)
            | Self::UnrecognizedParameters(value)
            | Self::RestartWithNewAddresses(value)
            | Self::UserInitiatedAbort(value)
            | Self::ProtocolViolation(value)
            | Self::DeleteLastAddress(value)
            | Self::ResourceShortage(value)
            | Self::DeleteSourceAddress(value)
            | Self::NoAuthorization(value)
            | Self::Unknown { value, .. } => out.extend_from_slice(value),
        });
    }

    fn parse(code: u16, value: BytesView<'_>) -> Result<Self, WireError> {
        let mut reader = Reader::new(value.as_slice());
        let bytes = || value.to_bytes();
        Ok(match code {
            code::INVALID_STREAM_IDENTIFIER => {
                let [high, low, _, _] = reader.array()?;
                Self::InvalidStreamIdentifier(StreamId(u16::from_be_bytes([high, low])))
            }
            code::MISSING_MANDATORY_PARAMETER => {
                let count = reader.u32()?;
                let mut kinds = SmallVec::new();
                for _ in 0..count {
                    kinds.push(reader.u16()?);
                }
                Self::MissingMandatoryParameter(kinds)
            }
            code::STALE_COOKIE => Self::StaleCookie { staleness_us: reader.u32()? },
            code::OUT_OF_RESOURCE => Self::OutOfResource,
            code::UNRESOLVABLE_ADDRESS => Self::UnresolvableAddress(bytes()),
            code::UNRECOGNIZED_CHUNK_TYPE => Self::UnrecognizedChunkType(bytes()),
            code::INVALID_MANDATORY_PARAMETER => Self::InvalidMandatoryParameter,
            code::UNRECOGNIZED_PARAMETERS => Self::UnrecognizedParameters(bytes()),
            code::NO_USER_DATA => Self::NoUserData(Tsn(reader.u32()?)),
            code::COOKIE_RECEIVED_WHILE_SHUTTING_DOWN => Self::CookieReceivedWhileShuttingDown,
            code::RESTART_WITH_NEW_ADDRESSES => Self::RestartWithNewAddresses(bytes()),
            code::USER_INITIATED_ABORT => Self::UserInitiatedAbort(bytes()),
            code::PROTOCOL_VIOLATION => Self::ProtocolViolation(bytes()),
            code::DELETE_LAST_ADDRESS => Self::DeleteLastAddress(bytes()),
            code::RESOURCE_SHORTAGE => Self::ResourceShortage(bytes()),
            code::DELETE_SOURCE_ADDRESS => Self::DeleteSourceAddress(bytes()),
            code::ILLEGAL_ASCONF_ACK => Self::IllegalAsconfAck,
            code::NO_AUTHORIZATION => Self::NoAuthorization(bytes()),
            code::UNSUPPORTED_HMAC => Self::UnsupportedHmac(reader.u16()?),
            code => Self::Unknown { code, value: bytes() },
        })
    }
}

/// Appends all causes and returns how many bytes of padding follow the last.
pub(crate) fn write_all(causes: &[Cause], out: &mut Vec<u8>) -> usize {
    let mut last = out.len();
    for cause in causes {
        last = out.len();
        cause.write(out);
    }
    trailing_padding(&out[last..])
}

/// Reads all causes, in their order.
pub(crate) fn parse_all(value: BytesView<'_>) -> Result<Vec<Cause>, WireError> {
    let mut reader = Reader::new(value.as_slice());
    let mut causes = Vec::new();
    while let Some(field) = tlv::read(&mut reader)? {
        causes.push(Cause::parse(field.kind, value.part(field.value))?);
    }
    Ok(causes)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::parameter::tests::any_bytes;
    use proptest::prelude::*;

    pub(crate) fn any_cause() -> impl Strategy<Value = Cause> {
        prop_oneof![
            any::<u16>().prop_map(|stream| Cause::InvalidStreamIdentifier(StreamId(stream))),
            proptest::collection::vec(any::<u16>(), 0..5)
                .prop_map(|kinds| Cause::MissingMandatoryParameter(kinds.into())),
            any::<u32>().prop_map(|staleness_us| Cause::StaleCookie { staleness_us }),
            Just(Cause::OutOfResource),
            any_bytes(30).prop_map(Cause::UnresolvableAddress),
            any_bytes(30).prop_map(Cause::UnrecognizedChunkType),
            Just(Cause::InvalidMandatoryParameter),
            any_bytes(30).prop_map(Cause::UnrecognizedParameters),
            any::<u32>().prop_map(|tsn| Cause::NoUserData(Tsn(tsn))),
            Just(Cause::CookieReceivedWhileShuttingDown),
            any_bytes(30).prop_map(Cause::RestartWithNewAddresses),
            any_bytes(30).prop_map(Cause::UserInitiatedAbort),
            any_bytes(30).prop_map(Cause::ProtocolViolation),
            any_bytes(30).prop_map(Cause::DeleteLastAddress),
            any_bytes(30).prop_map(Cause::ResourceShortage),
            any_bytes(30).prop_map(Cause::DeleteSourceAddress),
            Just(Cause::IllegalAsconfAck),
            any_bytes(30).prop_map(Cause::NoAuthorization),
            any::<u16>().prop_map(Cause::UnsupportedHmac),
            (0x106_u16.., any_bytes(30)).prop_map(|(code, value)| Cause::Unknown { code, value }),
        ]
    }

    #[test]
    fn a_stale_cookie_carries_microseconds() {
        let mut out = Vec::new();
        Cause::StaleCookie { staleness_us: 1_000_000 }.write(&mut out);
        assert_eq!(out, [0, 3, 0, 8, 0, 0x0f, 0x42, 0x40]);
    }

    #[test]
    fn a_count_of_missing_parameters_beyond_the_bytes_is_refused() {
        let bytes = [0, 2, 0, 10, 0xff, 0xff, 0xff, 0xff, 0, 7, 0, 0];
        assert!(parse_all(BytesView::borrowed(&bytes)).is_err());
    }

    proptest! {
        #[test]
        fn causes_round_trip(causes in proptest::collection::vec(any_cause(), 0..6)) {
            let mut out = Vec::new();
            write_all(&causes, &mut out);
            prop_assert_eq!(parse_all(BytesView::borrowed(&out)), Ok(causes));
        }

        #[test]
        fn any_bytes_give_causes_or_an_error(bytes: Vec<u8>) {
            let _ = parse_all(BytesView::borrowed(&bytes));
        }
    }
}
