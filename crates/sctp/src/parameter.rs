//! The parameters of INIT, INIT ACK and HEARTBEAT (RFC 9260, sections 3.3.2.1, 3.3.3.1 and 3.3.5).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytes::Bytes;
use slantpath_wire::{Reader, WireError, tlv};
use smallvec::SmallVec;

use crate::bytes_view::{BytesView, trailing_padding};
use crate::unknown::UnknownAction;

/// Types of parameters in chunks.
pub mod kind {
    /// Heartbeat Info (RFC 9260, section 3.3.5).
    pub const HEARTBEAT_INFO: u16 = 1;
    /// IPv4 Address.
    pub const IPV4_ADDRESS: u16 = 5;
    /// IPv6 Address.
    pub const IPV6_ADDRESS: u16 = 6;
    /// State Cookie of an INIT ACK.
    pub const STATE_COOKIE: u16 = 7;
    /// Unrecognized Parameter in an INIT ACK.
    pub const UNRECOGNIZED_PARAMETER: u16 = 8;
    /// Cookie Preservative of an INIT.
    pub const COOKIE_PRESERVATIVE: u16 = 9;
    /// Host Name Address, deprecated.
    pub const HOST_NAME_ADDRESS: u16 = 11;
    /// Supported Address Types.
    pub const SUPPORTED_ADDRESS_TYPES: u16 = 12;
    /// ECN Capable: of RFC 4960, reserved in RFC 9260.
    pub const ECN_CAPABLE: u16 = 0x8000;
    /// Zero Checksum Acceptable (RFC 9653, section 4).
    pub const ZERO_CHECKSUM_ACCEPTABLE: u16 = 0x8001;
    /// Padding (RFC 4820, section 4).
    pub const PADDING: u16 = 0x8005;
    /// Random (RFC 4895, section 3.1).
    pub const RANDOM: u16 = 0x8002;
    /// Chunk List (RFC 4895, section 3.2).
    pub const CHUNK_LIST: u16 = 0x8003;
    /// Requested HMAC Algorithm (RFC 4895, section 3.3).
    pub const HMAC_ALGORITHMS: u16 = 0x8004;
    /// Supported Extensions (RFC 5061, section 4.2.7).
    pub const SUPPORTED_EXTENSIONS: u16 = 0x8008;
    /// Forward-TSN-Supported (RFC 3758, section 3.1).
    pub const FORWARD_TSN_SUPPORTED: u16 = 0xc000;
    /// Adaptation Layer Indication (RFC 5061, section 4.2.6).
    pub const ADAPTATION_LAYER: u16 = 0xc006;
    /// Set Primary IP Address (RFC 5061, section 4.2.4).
    pub const SET_PRIMARY: u16 = 0xc004;
}

/// Parameter of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Opaque to all but the sender of the HEARTBEAT.
    HeartbeatInfo(Bytes),
    /// An IPv4 or IPv6 address of the sender.
    Address(IpAddr),
    /// All that the sender of an INIT ACK needs to build the association, and its signature.
    StateCookie(Bytes),
    /// A parameter of the INIT, whole with its header, that the sender of the INIT ACK does not know.
    UnrecognizedParameter(Bytes),
    /// By how many milliseconds the sender of the INIT wishes its cookie to live longer.
    CookiePreservative {
        /// Milliseconds on top of the receiver's default.
        increment_ms: u32,
    },
    /// A host name: deprecated, answered by an ABORT. Without its header.
    HostNameAddress(Bytes),
    /// The parameter types of the addresses that the sender can use.
    SupportedAddressTypes(SmallVec<[u16; 4]>),
    /// The sender uses ECN if the receiver does (RFC 4960, appendix A).
    EcnCapable,
    /// The types of the chunks beyond RFC 9260's that the sender understands.
    SupportedExtensions(SmallVec<[u8; 8]>),
    /// The sender understands FORWARD-TSN.
    ForwardTsnSupported,
    /// Makes an INIT longer (RFC 4820, section 4); its bytes mean nothing and are not kept.
    Padding {
        /// Number of bytes behind its header.
        len: u16,
    },
    /// The sender takes packets without a checksum from whoever uses this method (RFC 9653, section 4).
    ZeroChecksumAcceptable {
        /// The Error Detection Method Identifier.
        method: u32,
    },
    /// The sender's part of the association's shared key.
    Random(Bytes),
    /// The types of the chunks that the sender accepts only if they are authenticated.
    ChunkList(SmallVec<[u8; 8]>),
    /// The HMAC algorithms that the sender understands, the preferred one first.
    HmacAlgorithms(SmallVec<[u16; 4]>),
    /// Adaptation Code Point for the layer above.
    AdaptationLayer(u32),
    /// The sender would have DATA at this address of its own; a wildcard address is the packet's source.
    SetPrimary {
        /// Correlation identifier of the answer in an ASCONF-ACK; an INIT or INIT ACK has no answer.
        correlation: u32,
        /// Address at which DATA is wanted.
        address: IpAddr,
    },
    /// A type that is not known here, such as an extension's.
    Unknown {
        /// The parameter's type.
        kind: u16,
        /// Value of the parameter, without header and padding.
        value: Bytes,
    },
}

impl Parameter {
    /// The parameter's type.
    pub const fn kind(&self) -> u16 {
        match self {
            Self::HeartbeatInfo(_) => kind::HEARTBEAT_INFO,
            Self::Address(IpAddr::V4(_)) => kind::IPV4_ADDRESS,
            Self::Address(IpAddr::V6(_)) => kind::IPV6_ADDRESS,
            Self::StateCookie(_) => kind::STATE_COOKIE,
            Self::UnrecognizedParameter(_) => kind::UNRECOGNIZED_PARAMETER,
            Self::CookiePreservative { .. } => kind::COOKIE_PRESERVATIVE,
            Self::HostNameAddress(_) => kind::HOST_NAME_ADDRESS,
            Self::SupportedAddressTypes(_) => kind::SUPPORTED_ADDRESS_TYPES,
            Self::EcnCapable => kind::ECN_CAPABLE,
            Self::SupportedExtensions(_) => kind::SUPPORTED_EXTENSIONS,
            Self::ForwardTsnSupported => kind::FORWARD_TSN_SUPPORTED,
            Self::Padding { .. } => kind::PADDING,
            Self::ZeroChecksumAcceptable { .. } => kind::ZERO_CHECKSUM_ACCEPTABLE,
            Self::Random(_) => kind::RANDOM,
            Self::ChunkList(_) => kind::CHUNK_LIST,
            Self::HmacAlgorithms(_) => kind::HMAC_ALGORITHMS,
            Self::AdaptationLayer(_) => kind::ADAPTATION_LAYER,
            Self::SetPrimary { .. } => kind::SET_PRIMARY,
            Self::Unknown { kind, .. } => *kind,
        }
    }

    /// Action to take if the parameter is unknown; `None` for a known one.
    pub const fn unknown_action(&self) -> Option<UnknownAction> {
        match self {
            Self::Unknown { kind, .. } => Some(UnknownAction::of_parameter(*kind)),
            _ => None,
        }
    }

    /// Appends the parameter with header and padding.
    ///
    /// # Panics
    /// If it is longer than 65,535 bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        tlv::write(out, self.kind(), |out| match self {
            Self::HeartbeatInfo(value)
            | Self::StateCookie(value)
            | Self::UnrecognizedParameter(value)
            | Self::HostNameAddress(value)
            | Self::Random(value)
            | Self::Unknown { value, .. } => out.extend_from_slice(value),
            Self::Address(IpAddr::V4(address)) => out.extend_from_slice(&address.octets()),
            Self::Address(IpAddr::V6(address)) => out.extend_from_slice(&address.octets()),
            Self::CookiePreservative { increment_ms } => out.extend_from_slice(&increment_ms.to_be_bytes()),
            Self::SupportedAddressTypes(types) | Self::HmacAlgorithms(types) => {
                for kind in types {
                    out.extend_from_slice(&kind.to_be_bytes());
                }
            }
            Self::SupportedExtensions(types) | Self::ChunkList(types) => out.extend_from_slice(types),
            Self::ZeroChecksumAcceptable { method } => out.extend_from_slice(&method.to_be_bytes()),
            Self::Padding { len } => out.resize(out.len() + usize::from(*len), 0),
            Self::AdaptationLayer(code_point) => out.extend_from_slice(&code_point.to_be_bytes()),
            Self::SetPrimary { correlation, address } => {
                out.extend_from_slice(&correlation.to_be_bytes());
                Self::Address(*address).write(out);
            }
            Self::EcnCapable | Self::ForwardTsnSupported => {}
        });
    }

    /// The parameter with header and padding, as an error report quotes it.
    pub fn to_bytes(&self) -> Bytes {
        let mut out = Vec::new();
        self.write(&mut out);
        out.into()
    }

    /// The address of an address parameter.
    fn parse_address(kind: u16, value: &[u8]) -> Option<IpAddr> {
        match kind {
            kind::IPV4_ADDRESS => Some(Ipv4Addr::from(<[u8; 4]>::try_from(value).ok()?).into()),
            kind::IPV6_ADDRESS => Some(Ipv6Addr::from(<[u8; 16]>::try_from(value).ok()?).into()),
            _ => None,
        }
    }

    fn parse(kind: u16, value: BytesView<'_>) -> Result<Self, WireError> {
        let mut reader = Reader::new(value.as_slice());
        let parameter = match kind {
            kind::HEARTBEAT_INFO => return Ok(Self::HeartbeatInfo(value.to_bytes())),
            kind::STATE_COOKIE => return Ok(Self::StateCookie(value.to_bytes())),
            kind::UNRECOGNIZED_PARAMETER => return Ok(Self::UnrecognizedParameter(value.to_bytes())),
            kind::HOST_NAME_ADDRESS => return Ok(Self::HostNameAddress(value.to_bytes())),
            kind::IPV4_ADDRESS => Self::Address(Ipv4Addr::from(reader.array::<4>()?).into()),
            kind::IPV6_ADDRESS => Self::Address(Ipv6Addr::from(reader.array::<16>()?).into()),
            kind::COOKIE_PRESERVATIVE => Self::CookiePreservative { increment_ms: reader.u32()? },
            kind::SUPPORTED_ADDRESS_TYPES => Self::SupportedAddressTypes(read_types(&mut reader)?),
            kind::HMAC_ALGORITHMS => Self::HmacAlgorithms(read_types(&mut reader)?),
            kind::RANDOM => return Ok(Self::Random(value.to_bytes())),
            kind::CHUNK_LIST => return Ok(Self::ChunkList(SmallVec::from_slice(value.as_slice()))),
            kind::ADAPTATION_LAYER => Self::AdaptationLayer(reader.u32()?),
            kind::SET_PRIMARY => {
                let correlation = reader.u32()?;
                match tlv::read(&mut reader)?.map(|field| Self::parse_address(field.kind, field.value)) {
                    Some(Some(address)) => Self::SetPrimary { correlation, address },
                    _ => return Err(WireError::BadValue { field: "address parameter", value: kind.into() }),
                }
            }
            kind::ECN_CAPABLE => Self::EcnCapable,
            kind::SUPPORTED_EXTENSIONS => {
                return Ok(Self::SupportedExtensions(SmallVec::from_slice(value.as_slice())));
            }
            kind::FORWARD_TSN_SUPPORTED => Self::ForwardTsnSupported,
            kind::ZERO_CHECKSUM_ACCEPTABLE => Self::ZeroChecksumAcceptable { method: reader.u32()? },
            kind::PADDING => {
                return Ok(Self::Padding { len: u16::try_from(value.len()).unwrap_or(u16::MAX) });
            }
            kind => return Ok(Self::Unknown { kind, value: value.to_bytes() }),
        };
        if reader.is_empty() {
            Ok(parameter)
        } else {
            Err(WireError::BadValue { field: "parameter length", value: value.len() as u64 + 4 })
        }
    }
}

/// Types or identifiers of 16 bits up to the end.
fn read_types(reader: &mut Reader<'_>) -> Result<SmallVec<[u16; 4]>, WireError> {
    let mut types = SmallVec::new();
    while !reader.is_empty() {
        types.push(reader.u16()?);
    }
    Ok(types)
}

/// Appends all parameters and returns how many bytes of padding follow the last.
pub(crate) fn write_all(parameters: &[Parameter], out: &mut Vec<u8>) -> usize {
    let mut last = out.len();
    for parameter in parameters {
        last = out.len();
        parameter.write(out);
    }
    trailing_padding(&out[last..])
}

/// Reads all parameters, in their order.
pub(crate) fn parse_all(value: BytesView<'_>) -> Result<Vec<Parameter>, WireError> {
    let mut reader = Reader::new(value.as_slice());
    let mut parameters = Vec::new();
    while let Some(field) = tlv::read(&mut reader)? {
        parameters.push(Parameter::parse(field.kind, value.part(field.value))?);
    }
    Ok(parameters)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(crate) fn any_bytes(max: usize) -> impl Strategy<Value = Bytes> {
        proptest::collection::vec(any::<u8>(), 0..max).prop_map(Bytes::from)
    }

    pub(crate) fn any_parameter() -> impl Strategy<Value = Parameter> {
        prop_oneof![
            any_bytes(40).prop_map(Parameter::HeartbeatInfo),
            any::<Ipv4Addr>().prop_map(|address| Parameter::Address(address.into())),
            any::<Ipv6Addr>().prop_map(|address| Parameter::Address(address.into())),
            any_bytes(80).prop_map(Parameter::StateCookie),
            any_bytes(40).prop_map(Parameter::UnrecognizedParameter),
            any::<u32>().prop_map(|increment_ms| Parameter::CookiePreservative { increment_ms }),
            any_bytes(40).prop_map(Parameter::HostNameAddress),
            proptest::collection::vec(any::<u16>(), 0..6)
                .prop_map(|types| Parameter::SupportedAddressTypes(types.into())),
            Just(Parameter::EcnCapable),
            proptest::collection::vec(any::<u8>(), 0..12)
                .prop_map(|types| Parameter::SupportedExtensions(types.into())),
            Just(Parameter::ForwardTsnSupported),
            (0..60_u16).prop_map(|len| Parameter::Padding { len }),
            any::<u32>().prop_map(|method| Parameter::ZeroChecksumAcceptable { method }),
            any_bytes(40).prop_map(Parameter::Random),
            proptest::collection::vec(any::<u8>(), 0..12)
                .prop_map(|types| Parameter::ChunkList(types.into())),
            proptest::collection::vec(any::<u16>(), 0..6)
                .prop_map(|types| Parameter::HmacAlgorithms(types.into())),
            any::<u32>().prop_map(Parameter::AdaptationLayer),
            any::<(u32, IpAddr)>()
                .prop_map(|(correlation, address)| Parameter::SetPrimary { correlation, address }),
            (0xc010_u16.., any_bytes(40)).prop_map(|(kind, value)| Parameter::Unknown { kind, value }),
        ]
    }

    #[test]
    fn an_address_of_the_wrong_length_is_refused() {
        let short = [0, 5, 0, 7, 10, 0, 0, 0];
        assert_eq!(parse_all(BytesView::borrowed(&short)), Err(WireError::Truncated { wanted: 4, left: 3 }));
        let long = [0, 5, 0, 9, 10, 0, 0, 1, 0, 0, 0, 0];
        let error = WireError::BadValue { field: "parameter length", value: 9 };
        assert_eq!(parse_all(BytesView::borrowed(&long)), Err(error));
    }

    #[test]
    fn an_unknown_parameter_is_quoted_as_it_came() {
        let bytes = [0xc1, 0x00, 0, 7, 1, 2, 3, 0];
        let parameters = parse_all(BytesView::borrowed(&bytes)).unwrap();
        assert_eq!(parameters[0].unknown_action(), Some(UnknownAction::SkipAndReport));
        assert_eq!(parameters[0].to_bytes()[..], bytes);
    }

    proptest! {
        #[test]
        fn parameters_round_trip(parameters in proptest::collection::vec(any_parameter(), 0..6)) {
            let mut out = Vec::new();
            for parameter in &parameters {
                parameter.write(&mut out);
            }
            prop_assert_eq!(parse_all(BytesView::borrowed(&out)), Ok(parameters.clone()));
            prop_assert_eq!(parse_all(BytesView::shared(&out.into())), Ok(parameters));
        }

        #[test]
        fn any_bytes_give_parameters_or_an_error(bytes: Vec<u8>) {
            let _ = parse_all(BytesView::borrowed(&bytes));
        }
    }
}
