//! Party addresses (Q.713, section 3.4): point code, subsystem number, global title. [`ansi`] has the layout of ANSI.

mod ansi;

use std::borrow::Cow;

use core::fmt;

use slantpath_wire::{Reader, WireError};
use smallvec::SmallVec;

use crate::PointCode;
use crate::sccp::Ssn;
pub use ansi::{AddressFormat, NotAnsi};

/// Address signals, one hexadecimal digit each, first digit first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Digits(SmallVec<[u8; 24]>);

/// A character that is no address signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no digit: address signals are 0-9 and a-f")]
pub struct DigitsError(pub char);

impl Digits {
    /// Reads digits such as `4912345`; `a` to `f` are code 10 to 15.
    pub fn parse(text: &str) -> Result<Self, DigitsError> {
        let digit = |c: char| {
            let value = c.to_digit(16).ok_or(DigitsError(c))?;
            #[expect(clippy::cast_possible_truncation, reason = "a hexadecimal digit")]
            let digit = value as u8;
            Ok(digit)
        };
        text.chars().map(digit).collect::<Result<_, _>>().map(Self)
    }

    /// From the values of the digits, of which the low four bits count.
    pub fn from_values(values: impl IntoIterator<Item = u8>) -> Self {
        Self(values.into_iter().map(|value| value & 0xf).collect())
    }

    /// The values of the digits, 0 to 15 each.
    pub fn values(&self) -> &[u8] {
        &self.0
    }

    fn from_octets(octets: &[u8], odd: bool) -> Self {
        let mut digits = SmallVec::from_elem(0, octets.len() * 2);
        for (pair, octet) in digits.chunks_exact_mut(2).zip(octets) {
            pair.copy_from_slice(&[octet & 0xf, octet >> 4]);
        }
        if odd {
            digits.pop();
        }
        Self(digits)
    }

    fn is_odd(&self) -> bool {
        !self.0.len().is_multiple_of(2)
    }

    /// BCD, low half first; the last half of an odd number is filled with `filler`.
    fn emit(&self, filler: u8, out: &mut Vec<u8>) {
        let pairs = self.0.chunks_exact(2);
        let last = pairs.remainder().first().map(|low| filler << 4 | low);
        out.extend(pairs.map(|pair| pair[1] << 4 | pair[0]));
        out.extend(last);
    }
}

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|digit| write!(f, "{digit:x}"))
    }
}

/// A global title, by its global title indicator (Q.713, section 3.4.2.3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GlobalTitle {
    /// Indicator 1: nature of address only.
    Nature {
        /// Nature of address indicator, 7 bits.
        nature: u8,
        /// Address signals of the title.
        digits: Digits,
        /// The unused half of the last octet of an odd number of digits.
        filler: u8,
    },
    /// Indicator 2: translation type only. How the octets read belongs to the translation.
    Translation {
        /// Translation type of the title.
        translation_type: u8,
        /// Address octets as they are.
        octets: Vec<u8>,
    },
    /// Indicator 3: translation type, numbering plan, encoding scheme.
    TranslationPlan {
        /// Translation type of the title.
        translation_type: u8,
        /// Numbering plan, 4 bits.
        plan: u8,
        /// Address signals of the title.
        digits: Digits,
        /// The unused half of the last octet of an odd number of digits.
        filler: u8,
    },
    /// Indicator 4: translation type, numbering plan, encoding scheme, nature of address.
    TranslationPlanNature {
        /// Translation type of the title.
        translation_type: u8,
        /// Numbering plan, 4 bits: 1 is E.164, 6 is E.212, 7 is E.214.
        plan: u8,
        /// Nature of address indicator: 4 is international. The highest bit is spare, kept as it came and no part
        /// of the [attribute](GlobalTitle::attributes).
        nature: u8,
        /// Address signals of the title.
        digits: Digits,
        /// The unused half of the last octet of an odd number of digits.
        filler: u8,
    },
    /// Any indicator: a title that says nothing here.
    Opaque(OpaqueTitle),
}

/// A title of an indicator or an encoding scheme that says nothing here of how it reads, or one that ends too soon. It
/// is relayed as it came, and no translation fits it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OpaqueTitle {
    /// The indicator, in the layout of the address that it came in.
    indicator: u8,
    octets: Vec<u8>,
}

impl OpaqueTitle {
    /// The global title indicator, 1 to 15.
    pub const fn indicator(&self) -> u8 {
        self.indicator
    }

    /// Gives the octets that follow the subsystem number.
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }
}

/// Encoding schemes (Q.713, section 3.4.2.3.3); 0 is unknown, 3 national, the others are reserved.
const BCD_ODD: u8 = 1;
const BCD_EVEN: u8 = 2;

/// A called or calling party address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PartyAddress {
    /// True to route on SSN and point code, false to route on the global title.
    pub routes_on_ssn: bool,
    /// Bit that is reserved for national use. In an ANSI network a set one says that the address is laid out as ANSI
    /// has it, and a clear one that it is international, laid out as here.
    pub national: bool,
    /// Signalling point code, if present.
    pub point_code: Option<PointCode>,
    /// The two bits above a point code of 14 bits, which are spare and kept as they came. Nothing without a point code,
    /// and in the layout of ANSI.
    pub spare: u8,
    /// Subsystem number, if present.
    pub ssn: Option<Ssn>,
    /// Global title, if present.
    pub global_title: Option<GlobalTitle>,
}

impl PartyAddress {
    /// Reads an address from its indicator octet to the end of `octets`.
    pub fn parse(octets: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(octets);
        let indicator = reader.u8()?;
        let (point_code, spare) = if indicator & 1 == 0 {
            (None, 0)
        } else {
            let [low, high] = reader.array()?;
            (Some(PointCode(u32::from(u16::from_le_bytes([low, high & 0x3f])))), high >> 6)
        };
        let ssn = if indicator & 2 == 0 { None } else { Some(Ssn(reader.u8()?)) };
        let title = indicator >> 2 & 0xf;
        let global_title = GlobalTitle::parse(title, title, &mut reader);
        end_of_address(&reader)?;
        let routes_on_ssn = indicator & 0x40 != 0;
        Ok(Self { routes_on_ssn, national: indicator & 0x80 != 0, point_code, spare, ssn, global_title })
    }

    /// Appends the address from its indicator octet on.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let title = self.global_title.as_ref().map_or(0, GlobalTitle::indicator);
        out.push(
            u8::from(self.national) << 7
                | u8::from(self.routes_on_ssn) << 6
                | title << 2
                | u8::from(self.ssn.is_some()) << 1
                | u8::from(self.point_code.is_some()),
        );
        if let Some(PointCode(code)) = self.point_code {
            let [low, high, ..] = (code & 0x3fff).to_le_bytes();
            out.extend_from_slice(&[low, self.spare << 6 | high]);
        }
        if let Some(Ssn(ssn)) = self.ssn {
            out.push(ssn);
        }
        if let Some(title) = &self.global_title {
            title.emit(out);
        }
    }
}

/// The attributes of a title beside its digits; which of them there are depends on its indicator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TitleAttributes {
    /// Translation type, where the indicator has one.
    pub translation_type: Option<u8>,
    /// Numbering plan, where the indicator has one.
    pub plan: Option<u8>,
    /// Nature of address indicator.
    pub nature: Option<u8>,
}

impl GlobalTitle {
    /// Reads the octets that follow the subsystem number of an address in the layout of Q.713, by the global title
    /// indicator, of which the low four bits count. No title has indicator 0.
    pub fn from_octets(indicator: u8, octets: &[u8]) -> Option<Self> {
        Self::parse(indicator & 0xf, indicator & 0xf, &mut Reader::new(octets))
    }

    /// The title with these attributes: its indicator is the one that has room for them. What such a title has and
    /// is not given here is 0.
    pub fn with(translation_type: Option<u8>, plan: Option<u8>, nature: Option<u8>, digits: Digits) -> Self {
        let filler = 0;
        match (translation_type, plan, nature) {
            (None, None, Some(nature)) => Self::Nature { nature, digits, filler },
            (_, None, None) => {
                let mut octets = Vec::with_capacity(digits.0.len().div_ceil(2));
                digits.emit(filler, &mut octets);
                Self::Translation { translation_type: translation_type.unwrap_or(0), octets }
            }
            (_, Some(plan), None) => {
                let translation_type = translation_type.unwrap_or(0);
                Self::TranslationPlan { translation_type, plan, digits, filler }
            }
            (_, _, Some(nature)) => Self::TranslationPlanNature {
                translation_type: translation_type.unwrap_or(0),
                plan: plan.unwrap_or(0),
                nature,
                digits,
                filler,
            },
        }
    }

    /// Gives the attributes of the title; none of an opaque one.
    pub const fn attributes(&self) -> TitleAttributes {
        let (translation_type, plan, nature) = match *self {
            Self::Opaque(_) => (None, None, None),
            Self::Nature { nature, .. } => (None, None, Some(nature)),
            Self::Translation { translation_type, .. } => (Some(translation_type), None, None),
            Self::TranslationPlan { translation_type, plan, .. } => {
                (Some(translation_type), Some(plan), None)
            }
            Self::TranslationPlanNature { translation_type, plan, nature, .. } => {
                (Some(translation_type), Some(plan), Some(nature & 0x7f))
            }
        };
        TitleAttributes { translation_type, plan, nature }
    }

    /// Tells if the title is one that says nothing here.
    pub const fn is_opaque(&self) -> bool {
        matches!(self, Self::Opaque(_))
    }

    /// Gives the address signals of the title; none of an opaque one. A title of indicator 2 does not say how its
    /// octets read: they are taken for two digits each, as they are everywhere in practice.
    pub fn digits(&self) -> Cow<'_, Digits> {
        match self {
            Self::Nature { digits, .. }
            | Self::TranslationPlan { digits, .. }
            | Self::TranslationPlanNature { digits, .. } => Cow::Borrowed(digits),
            Self::Translation { octets, .. } => Cow::Owned(Digits::from_octets(octets, false)),
            Self::Opaque(_) => Cow::Owned(Digits::default()),
        }
    }

    const fn indicator(&self) -> u8 {
        match self {
            Self::Opaque(title) => title.indicator,
            Self::Nature { .. } => 1,
            Self::Translation { .. } => 2,
            Self::TranslationPlan { .. } => 3,
            Self::TranslationPlanNature { .. } => 4,
        }
    }

    /// The rest of an address as the title of its indicator, which reads as Q.713 has it for `layout`.
    fn parse(indicator: u8, layout: u8, reader: &mut Reader<'_>) -> Option<Self> {
        if indicator == 0 {
            return None;
        }
        let octets = reader.rest();
        *reader = Reader::new(&[]);
        let opaque = || Self::Opaque(OpaqueTitle { indicator, octets: octets.to_vec() });
        Some(Self::read(layout, octets).unwrap_or_else(opaque))
    }

    fn read(layout: u8, octets: &[u8]) -> Option<Self> {
        match (layout, octets) {
            (1, [octet, rest @ ..]) => {
                let (digits, filler) = digits(rest, octet & 0x80 != 0)?;
                Some(Self::Nature { nature: octet & 0x7f, digits, filler })
            }
            (2, &[translation_type, ref rest @ ..]) => {
                Some(Self::Translation { translation_type, octets: rest.to_vec() })
            }
            (3, &[translation_type, scheme, ref rest @ ..]) => {
                let (digits, filler) = digits(rest, is_odd(scheme)?)?;
                Some(Self::TranslationPlan { translation_type, plan: scheme >> 4, digits, filler })
            }
            (4, &[translation_type, scheme, nature, ref rest @ ..]) => {
                let (digits, filler) = digits(rest, is_odd(scheme)?)?;
                Some(Self::TranslationPlanNature {
                    translation_type,
                    plan: scheme >> 4,
                    nature,
                    digits,
                    filler,
                })
            }
            _ => None,
        }
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let scheme =
            |plan: &u8, digits: &Digits| plan << 4 | if digits.is_odd() { BCD_ODD } else { BCD_EVEN };
        match self {
            Self::Nature { nature, digits, filler } => {
                out.push(u8::from(digits.is_odd()) << 7 | nature & 0x7f);
                digits.emit(*filler, out);
            }
            Self::Translation { translation_type, octets } => {
                out.push(*translation_type);
                out.extend_from_slice(octets);
            }
            Self::Opaque(title) => out.extend_from_slice(&title.octets),
            Self::TranslationPlan { translation_type, plan, digits, filler } => {
                out.extend_from_slice(&[*translation_type, scheme(plan, digits)]);
                digits.emit(*filler, out);
            }
            Self::TranslationPlanNature { translation_type, plan, nature, digits, filler } => {
                out.extend_from_slice(&[*translation_type, scheme(plan, digits), *nature]);
                digits.emit(*filler, out);
            }
        }
    }
}

/// Octets behind an address, which nobody would write again, are no part of one.
const fn end_of_address(reader: &Reader<'_>) -> Result<(), WireError> {
    match reader.left() {
        0 => Ok(()),
        left => Err(WireError::BadValue { field: "the length of a party address", value: left as u64 }),
    }
}

const fn is_odd(scheme: u8) -> Option<bool> {
    match scheme & 0xf {
        BCD_ODD => Some(true),
        BCD_EVEN => Some(false),
        _ => None,
    }
}

/// Digits and filler. An odd number of digits has one at least.
fn digits(octets: &[u8], odd: bool) -> Option<(Digits, u8)> {
    let filler = match octets.last() {
        None if odd => return None,
        Some(last) if odd => last >> 4,
        _ => 0,
    };
    Some((Digits::from_octets(octets, odd), filler))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    pub(in crate::sccp) use crate::sccp::address::ansi::tests::any_ansi_address;
    use proptest::prelude::*;

    fn any_digits() -> impl Strategy<Value = (Digits, u8)> {
        proptest::collection::vec(0_u8..16, 1..40).prop_map(|digits| (Digits::from_values(digits), 0))
    }

    fn any_opaque_title() -> impl Strategy<Value = GlobalTitle> {
        let octets = proptest::collection::vec(any::<u8>(), 0..9);
        (5_u8..16, octets)
            .prop_map(|(indicator, octets)| GlobalTitle::Opaque(OpaqueTitle { indicator, octets }))
    }

    fn any_title() -> impl Strategy<Value = GlobalTitle> {
        prop_oneof![
            any_opaque_title(),
            (0_u8..128, any_digits()).prop_map(|(nature, (digits, filler))| GlobalTitle::Nature {
                nature,
                digits,
                filler
            }),
            (any::<u8>(), proptest::collection::vec(any::<u8>(), 0..9))
                .prop_map(|(translation_type, octets)| GlobalTitle::Translation { translation_type, octets }),
            (any::<u8>(), 0_u8..16, any_digits()).prop_map(|(translation_type, plan, (digits, filler))| {
                GlobalTitle::TranslationPlan { translation_type, plan, digits, filler }
            }),
            (any::<u8>(), 0_u8..16, any::<u8>(), any_digits()).prop_map(
                |(translation_type, plan, nature, (digits, filler))| GlobalTitle::TranslationPlanNature {
                    translation_type,
                    plan,
                    nature,
                    digits,
                    filler,
                }
            ),
        ]
    }

    pub(crate) fn any_address() -> impl Strategy<Value = PartyAddress> {
        (
            any::<bool>(),
            any::<bool>(),
            proptest::option::of((0_u32..1 << 14, 0_u8..4)),
            proptest::option::of(any::<u8>().prop_map(Ssn)),
            proptest::option::of(any_title()),
        )
            .prop_map(|(routes_on_ssn, national, point_code, ssn, global_title)| PartyAddress {
                routes_on_ssn,
                national,
                point_code: point_code.map(|(code, _)| PointCode(code)),
                spare: point_code.map_or(0, |(_, spare)| spare),
                ssn,
                global_title,
            })
    }

    #[test]
    fn an_e164_address_reads_as_it_was_dialled() {
        let octets = [0x12, 0x06, 0x00, 0x12, 0x04, 0x44, 0x77, 0x58, 0x10, 0x46];
        let address = PartyAddress::parse(&octets).unwrap();
        assert_eq!(address.ssn, Some(Ssn(6)));
        let Some(GlobalTitle::TranslationPlanNature { plan, nature, digits, .. }) = &address.global_title
        else {
            panic!("a title of indicator 4: {address:?}");
        };
        assert_eq!((*plan, *nature, digits.to_string().as_str()), (1, 4, "4477850164"));
    }

    #[test]
    fn spare_bits_are_written_as_they_were_read_and_mean_nothing() {
        // Routing on the title; above the point code 2-1-1 two spare bits, beside the nature one.
        let octets = [0x13, 0x09, 0xd0, 0x06, 0x00, 0x12, 0x84, 0x44, 0x77];
        let address = PartyAddress::parse(&octets).unwrap();
        assert_eq!((address.point_code, address.spare), (Some(PointCode(0x1009)), 3));
        let title = address.global_title.as_ref().unwrap();
        assert_eq!(title.attributes().nature, Some(4));
        let mut written = Vec::new();
        address.emit(&mut written);
        assert_eq!(written, octets);
    }

    #[test]
    fn octets_behind_an_address_are_refused() {
        let behind = Err(WireError::BadValue { field: "the length of a party address", value: 1 });
        assert_eq!(PartyAddress::parse(&[0x42, 6, 0]), behind);
        assert_eq!(PartyAddress::parse_as(AddressFormat::Ansi, &[0xc1, 6, 0]), behind);
    }

    #[test]
    fn a_title_that_says_nothing_here_is_kept_and_written_as_it_came() {
        let table: [(&[u8], u8, &[u8]); 8] = [
            // Encoding schemes 0, 3 and 15.
            (&[0x12, 8, 0, 0x10, 4, 0x49, 0x47], 4, &[0, 0x10, 4, 0x49, 0x47]),
            (&[0x13, 1, 0, 8, 0, 0x13, 4, 0x49], 4, &[0, 0x13, 4, 0x49]),
            (&[0x4e, 8, 10, 0x1f, 0x49], 3, &[10, 0x1f, 0x49]),
            // Indicators that Q.713 does not have.
            (&[0x16, 8, 1, 2, 3], 5, &[1, 2, 3]),
            (&[0xbe, 8], 15, &[]),
            // An odd number of no digits; titles that end too soon.
            (&[0x12, 6, 0, 0x11, 4], 4, &[0, 0x11, 4]),
            (&[0x06, 6, 0x84], 1, &[0x84]),
            (&[0x0a, 6], 2, &[]),
        ];
        for (octets, indicator, title) in table {
            let address = PartyAddress::parse(octets).unwrap();
            let Some(GlobalTitle::Opaque(opaque)) = &address.global_title else { panic!("{address:?}") };
            assert_eq!((opaque.indicator(), opaque.octets()), (indicator, title), "{octets:x?}");
            let global_title = address.global_title.as_ref().unwrap();
            assert_eq!(global_title.attributes(), TitleAttributes::default());
            assert_eq!(*global_title.digits(), Digits::default());
            let mut written = Vec::new();
            address.emit(&mut written);
            assert_eq!(written, octets);
        }
    }

    proptest! {
        #[test]
        fn addresses_round_trip(address in any_address()) {
            let mut octets = Vec::new();
            address.emit(&mut octets);
            prop_assert_eq!(PartyAddress::parse(&octets), Ok(address));
        }

        #[test]
        fn any_octets_give_an_address_that_is_written_octet_for_octet_or_an_error(
            indicator: u8, scheme in 0_u8..4, mut octets in proptest::collection::vec(any::<u8>(), 0..20),
        ) {
            // Most schemes say nothing: one that is read stands where a title without a point code has it.
            if let Some(octet) = octets.get_mut(2) {
                *octet = *octet & 0xf0 | scheme;
            }
            octets.insert(0, indicator);
            if let Ok(address) = PartyAddress::parse(&octets) {
                let mut written = Vec::new();
                address.emit(&mut written);
                prop_assert_eq!(written, octets);
            }
        }
    }
}
