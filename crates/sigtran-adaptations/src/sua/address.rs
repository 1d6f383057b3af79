//! Source and destination addresses (RFC 3868, sections 3.10.2 and 3.10.3).

use core::net::{Ipv4Addr, Ipv6Addr};

use bytes::Bytes;
use slantpath_sigtran::common::{MessageParseError, emit_u32};
use slantpath_ss7::PointCode;
use slantpath_ss7::sccp::{self, Digits, PartyAddress, Ssn};
use slantpath_wire::tlv;

use crate::message::{nested, number};

/// Tags inside an address.
pub(super) mod tag {
    pub(in crate::sua) const GLOBAL_TITLE: u16 = 0x8001;
    pub(in crate::sua) const POINT_CODE: u16 = 0x8002;
    pub(in crate::sua) const SUBSYSTEM: u16 = 0x8003;
    pub(in crate::sua) const IPV4: u16 = 0x8004;
    pub(in crate::sua) const HOSTNAME: u16 = 0x8005;
    pub(in crate::sua) const IPV6: u16 = 0x8006;
}

/// Bits of the address indicator: what the SCCP address has, or is to have.
pub mod indicator {
    /// The subsystem number.
    pub const SSN: u16 = 1;
    /// The point code.
    pub const POINT_CODE: u16 = 2;
    /// The global title.
    pub const GLOBAL_TITLE: u16 = 4;
}

/// By what a message is routed (RFC 3868, section 3.10.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoutingIndicator {
    /// By global title.
    GlobalTitle,
    /// By subsystem number and point code.
    PointCode,
    /// By host name.
    Hostname,
    /// By subsystem number and IP address.
    IpAddress,
}

impl RoutingIndicator {
    const ALL: [Self; 4] = [Self::GlobalTitle, Self::PointCode, Self::Hostname, Self::IpAddress];

    const fn number(self) -> u16 {
        match self {
            Self::GlobalTitle => 1,
            Self::PointCode => 2,
            Self::Hostname => 3,
            Self::IpAddress => 4,
        }
    }
}

/// A global title as SUA writes it (RFC 3868, section 3.10.2.3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SuaGlobalTitle {
    /// Global title indicator of Q.713, 0 to 15: 0 is none, and from 5 on what follows says nothing here.
    pub indicator: u8,
    /// Number of digits.
    pub digit_count: u8,
    /// Translation type of the title.
    pub translation_type: u8,
    /// Numbering plan of the title.
    pub plan: u8,
    /// Nature of address.
    pub nature: u8,
    /// Digits, two an octet, low half first, with whatever filler there was.
    pub octets: Bytes,
}

impl SuaGlobalTitle {
    /// The digits, as many as are there and are said to be there.
    pub fn digits(&self) -> Digits {
        let halves = self.octets.iter().flat_map(|octet| [octet & 0xf, octet >> 4]);
        let text: String = halves
            .take(self.digit_count.into())
            .filter_map(|half| char::from_digit(half.into(), 16))
            .collect();
        Digits::parse(&text).expect("hexadecimal digits are address signals")
    }

    /// A title of indicator 4, which says everything.
    pub fn international(translation_type: u8, plan: u8, nature: u8, digits: &Digits) -> Self {
        let values = digits.values();
        let pairs = values.chunks(2).map(|pair| pair.get(1).copied().unwrap_or_default() << 4 | pair[0]);
        Self {
            indicator: 4,
            digit_count: u8::try_from(values.len()).unwrap_or(u8::MAX),
            translation_type,
            plan,
            nature,
            octets: pairs.collect(),
        }
    }
}

/// One part of an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AddressPart {
    /// A global title.
    GlobalTitle(SuaGlobalTitle),
    /// A host's name, with its final zero.
    Hostname(Bytes),
    /// An IPv4 address.
    Ipv4(Ipv4Addr),
    /// An IPv6 address.
    Ipv6(Ipv6Addr),
    /// A point code.
    PointCode(PointCode),
    /// A subsystem number.
    Subsystem(u8),
}

impl AddressPart {
    fn read(tag: u16, value: &[u8]) -> Result<Self, MessageParseError> {
        let fault = MessageParseError::ParameterField(tag);
        Ok(match tag {
            tag::GLOBAL_TITLE => {
                let (head, octets) = value.split_first_chunk::<8>().ok_or(fault)?;
                let [_, _, _, indicator, digit_count, translation_type, plan, nature] = *head;
                if indicator > 15 {
                    return Err(MessageParseError::InvalidParameterValue(tag));
                }
                let octets = Bytes::copy_from_slice(octets);
                let title = SuaGlobalTitle { indicator, digit_count, translation_type, plan, nature, octets };
                Self::GlobalTitle(title)
            }
            tag::POINT_CODE => Self::PointCode(PointCode(number(tag, value)? & 0x00ff_ffff)),
            tag::SUBSYSTEM => Self::Subsystem((number(tag, value)? & 0xff) as u8),
            tag::IPV4 => Self::Ipv4(<[u8; 4]>::try_from(value).map_err(|_| fault)?.into()),
            tag::HOSTNAME => Self::Hostname(Bytes::copy_from_slice(value)),
            tag::IPV6 => Self::Ipv6(<[u8; 16]>::try_from(value).map_err(|_| fault)?.into()),
            other => return Err(MessageParseError::UnexpectedParameter(other)),
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::GlobalTitle(title) => tlv::write(out, tag::GLOBAL_TITLE, |out| {
                let SuaGlobalTitle { indicator, digit_count, translation_type, plan, nature, octets } = title;
                out.extend_from_slice(&[
                    0,
                    0,
                    0,
                    *indicator,
                    *digit_count,
                    *translation_type,
                    *plan,
                    *nature,
                ]);
                out.extend_from_slice(octets);
            }),
            Self::Hostname(name) => tlv::write(out, tag::HOSTNAME, |out| out.extend_from_slice(name)),
            Self::Ipv4(address) => {
                tlv::write(out, tag::IPV4, |out| out.extend_from_slice(&address.octets()));
            }
            Self::Ipv6(address) => {
                tlv::write(out, tag::IPV6, |out| out.extend_from_slice(&address.octets()));
            }
            Self::PointCode(PointCode(code)) => emit_u32(tag::POINT_CODE, code & 0x00ff_ffff, out),
            Self::Subsystem(number) => emit_u32(tag::SUBSYSTEM, (*number).into(), out),
        }
    }
}

/// A source or destination address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// By what to route.
    pub routing: RoutingIndicator,
    /// Parts that the SCCP address has: bits of [`indicator`].
    pub indicator: u16,
    /// The parts in their order.
    pub parts: Vec<AddressPart>,
}

impl Address {
    /// An address that is routed by point code and subsystem number, both present in the SCCP address.
    pub fn of_subsystem(point_code: PointCode, subsystem: u8) -> Self {
        Self {
            routing: RoutingIndicator::PointCode,
            indicator: indicator::SSN | indicator::POINT_CODE,
            parts: vec![AddressPart::PointCode(point_code), AddressPart::Subsystem(subsystem)],
        }
    }

    /// An address that is routed by global title.
    pub fn of_title(title: SuaGlobalTitle, subsystem: Option<u8>) -> Self {
        let mut parts = vec![AddressPart::GlobalTitle(title)];
        parts.extend(subsystem.map(AddressPart::Subsystem));
        let ssn = if subsystem.is_some() { indicator::SSN } else { 0 };
        Self { routing: RoutingIndicator::GlobalTitle, indicator: indicator::GLOBAL_TITLE | ssn, parts }
    }

    /// The first point code.
    pub fn point_code(&self) -> Option<PointCode> {
        self.parts.iter().find_map(|part| match part {
            AddressPart::PointCode(code) => Some(*code),
            _ => None,
        })
    }

    /// The first subsystem number.
    pub fn subsystem(&self) -> Option<u8> {
        self.parts.iter().find_map(|part| match part {
            AddressPart::Subsystem(number) => Some(*number),
            _ => None,
        })
    }

    /// The first global title.
    pub fn global_title(&self) -> Option<&SuaGlobalTitle> {
        self.parts.iter().find_map(|part| match part {
            AddressPart::GlobalTitle(title) => Some(title),
            _ => None,
        })
    }

    /// The SCCP address that it stands for, by its address indicator (RFC 3868, section 3.10.2.2). Nothing if it is
    /// an address that SCCP cannot have: of a host's name or of an IP address.
    pub fn to_party(&self) -> Option<PartyAddress> {
        if matches!(self.routing, RoutingIndicator::Hostname | RoutingIndicator::IpAddress) {
            return None;
        }
        let routes_on_title = self.routing == RoutingIndicator::GlobalTitle;
        let has = |bit| self.indicator & bit != 0;
        let title = self.global_title().filter(|_| routes_on_title || has(indicator::GLOBAL_TITLE));
        Some(PartyAddress {
            routes_on_ssn: !routes_on_title,
            point_code: self.point_code().filter(|_| has(indicator::POINT_CODE)),
            ssn: self.subsystem().filter(|_| !routes_on_title || has(indicator::SSN)).map(Ssn),
            global_title: title.and_then(party_title),
            ..PartyAddress::default()
        })
    }

    /// Reads the value of an address parameter.
    pub(super) fn read(parent: u16, value: &[u8]) -> Result<Self, MessageParseError> {
        let (head, parts) =
            value.split_first_chunk::<4>().ok_or(MessageParseError::ParameterField(parent))?;
        let [routing_high, routing_low, indicator_high, indicator_low] = *head;
        let routing = u16::from_be_bytes([routing_high, routing_low]);
        let routing = RoutingIndicator::ALL.into_iter().find(|indicator| indicator.number() == routing);
        let parts =
            nested(parent, parts).map(|part| part.and_then(|part| AddressPart::read(part.kind, part.value)));
        Ok(Self {
            routing: routing.ok_or(MessageParseError::InvalidParameterValue(parent))?,
            indicator: u16::from_be_bytes([indicator_high, indicator_low]),
            parts: parts.collect::<Result<_, _>>()?,
        })
    }

    /// Appends the value of an address parameter.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.routing.number().to_be_bytes());
        out.extend_from_slice(&self.indicator.to_be_bytes());
        for part in &self.parts {
            part.write(out);
        }
    }
}

/// The title as SCCP writes it: what its indicator does not say is left out.
fn party_title(title: &SuaGlobalTitle) -> Option<sccp::GlobalTitle> {
    let (translation_type, plan, nature, digits) =
        (title.translation_type, title.plan & 0xf, title.nature & 0x7f, title.digits());
    let filler = 0;
    Some(match title.indicator {
        1 => sccp::GlobalTitle::Nature { nature, digits, filler },
        2 => {
            let count = usize::from(title.digit_count).div_ceil(2).min(title.octets.len());
            sccp::GlobalTitle::Translation { translation_type, octets: title.octets[..count].to_vec() }
        }
        3 => sccp::GlobalTitle::TranslationPlan { translation_type, plan, digits, filler },
        4 => sccp::GlobalTitle::TranslationPlanNature { translation_type, plan, nature, digits, filler },
        other => return sccp::GlobalTitle::from_octets(other, &title.octets),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn any_part() -> impl Strategy<Value = AddressPart> {
        let title = (0_u8..16, any::<(u8, u8, u8, u8)>(), vec(any::<u8>(), 0..10)).prop_map(
            |(indicator, (digit_count, translation_type, plan, nature), octets)| {
                let octets = octets.into();
                SuaGlobalTitle { indicator, digit_count, translation_type, plan, nature, octets }
            },
        );
        prop_oneof![
            title.prop_map(AddressPart::GlobalTitle),
            vec(any::<u8>(), 0..9).prop_map(|name| AddressPart::Hostname(name.into())),
            any::<[u8; 4]>().prop_map(|octets| AddressPart::Ipv4(octets.into())),
            any::<[u8; 16]>().prop_map(|octets| AddressPart::Ipv6(octets.into())),
            (0_u32..1 << 24).prop_map(|code| AddressPart::PointCode(PointCode(code))),
            any::<u8>().prop_map(AddressPart::Subsystem),
        ]
    }

    pub(in crate::sua) fn any_address() -> impl Strategy<Value = Address> {
        (select(RoutingIndicator::ALL.to_vec()), any::<u16>(), vec(any_part(), 0..4))
            .prop_map(|(routing, indicator, parts)| Address { routing, indicator, parts })
    }

    #[test]
    fn a_title_keeps_its_digits_through_both_forms() {
        let digits = Digits::parse("49123456789").unwrap();
        let address = Address::of_title(SuaGlobalTitle::international(0, 1, 4, &digits), Some(6));
        assert_eq!(address.global_title().map(SuaGlobalTitle::digits), Some(digits.clone()));
        let party = address.to_party().unwrap();
        assert_eq!(party.ssn, Some(Ssn(6)));
        assert!(!party.routes_on_ssn);
        let Some(sccp::GlobalTitle::TranslationPlanNature { digits: found, .. }) = party.global_title else {
            panic!("a title of indicator 4");
        };
        assert_eq!(found, digits);
    }

    #[test]
    fn a_title_that_says_nothing_here_is_kept_and_is_none_that_is_translated() {
        let octets = [0, 0, 0, 7, 3, 1, 1, 4, 0x94, 0x71];
        let AddressPart::GlobalTitle(title) = AddressPart::read(tag::GLOBAL_TITLE, &octets).unwrap() else {
            panic!("a title");
        };
        let party = Address::of_title(title, Some(6)).to_party().unwrap().global_title;
        let Some(sccp::GlobalTitle::Opaque(opaque)) = party else { panic!("{party:?}") };
        assert_eq!((opaque.indicator(), opaque.octets()), (7, &[0x94, 0x71][..]));
        let none = [0, 0, 0, 0, 0, 0, 0, 0];
        let AddressPart::GlobalTitle(title) = AddressPart::read(tag::GLOBAL_TITLE, &none).unwrap() else {
            panic!("a title");
        };
        assert_eq!(Address::of_title(title, Some(6)).to_party().unwrap().global_title, None);
        let beyond = [0, 0, 0, 16, 0, 0, 0, 0];
        let refused = Err(MessageParseError::InvalidParameterValue(tag::GLOBAL_TITLE));
        assert_eq!(AddressPart::read(tag::GLOBAL_TITLE, &beyond), refused);
    }

    #[test]
    fn the_address_indicator_hides_a_point_code_that_only_routes() {
        let mut address = Address::of_subsystem(PointCode(5), 8);
        address.indicator = indicator::SSN;
        let party = address.to_party().unwrap();
        assert_eq!((party.point_code, party.ssn, party.routes_on_ssn), (None, Some(Ssn(8)), true));
    }

    #[test]
    fn an_address_of_a_host_is_none_of_sccp() {
        let parts = vec![AddressPart::Hostname(Bytes::from_static(b"a.example\0"))];
        assert_eq!(Address { routing: RoutingIndicator::Hostname, indicator: 0, parts }.to_party(), None);
    }

    proptest! {
        #[test]
        fn addresses_round_trip(address in any_address()) {
            let mut out = Vec::new();
            address.write(&mut out);
            prop_assert_eq!(Address::read(0x0102, &out), Ok(address));
        }

        #[test]
        fn any_address_gives_an_sccp_address_or_none(address in any_address()) {
            let _ = address.to_party();
        }
    }
}
