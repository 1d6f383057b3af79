//! Party addresses of ANSI networks (T1.112): another order of the indicator's bits and of what follows, point codes of
//! 24 bits, two kinds of titles. The text of T1.112 is not at hand; the layout is held to what tshark reads.

use slantpath_wire::{Reader, WireError};

use crate::PointCode;
use crate::sccp::{GlobalTitle, PartyAddress, Ssn};

/// Layouts of party addresses, by the network's standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressFormat {
    /// ANSI T1.112, whose addresses are marked as national, beside international ones, which are as ITU-T has them.
    Ansi,
    /// ITU-T Q.713.
    Itu,
}

/// A title whose attributes ANSI has no indicator for: it has a translation type, with a numbering plan or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a global title with a nature of address has no place in an ANSI address: give a translation type instead"
)]
pub struct NotAnsi;

/// Bits of the address indicator; routing indicator and the place of the title indicator are as in Q.713.
const NATIONAL: u8 = 0x80;
const ROUTES_ON_SSN: u8 = 0x40;
const HAS_POINT_CODE: u8 = 2;
const HAS_SSN: u8 = 1;

/// Global title indicators of ANSI, and those of Q.713 whose titles have the same octets.
const PLAN: u8 = 1;
const TRANSLATION_ONLY: u8 = 2;
const ITU_PLAN: u8 = 3;
const ITU_TRANSLATION_ONLY: u8 = 2;
/// No title of Q.713.
const UNKNOWN: u8 = 0;

impl PartyAddress {
    /// Reads an address of such a network from its indicator octet to the end of `octets`.
    ///
    /// # Errors
    /// If the octets end before the title.
    pub fn parse_as(format: AddressFormat, octets: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(octets);
        let indicator = reader.u8()?;
        if format == AddressFormat::Itu || indicator & NATIONAL == 0 {
            return Self::parse(octets);
        }
        let ssn = if indicator & HAS_SSN == 0 { None } else { Some(Ssn(reader.u8()?)) };
        let point_code = if indicator & HAS_POINT_CODE == 0 {
            None
        } else {
            let [member, cluster, network] = reader.array()?;
            Some(PointCode(u32::from_le_bytes([member, cluster, network, 0])))
        };
        let title = indicator >> 2 & 0xf;
        let layout = match title {
            PLAN => ITU_PLAN,
            TRANSLATION_ONLY => ITU_TRANSLATION_ONLY,
            _ => UNKNOWN,
        };
        let global_title = GlobalTitle::parse(title, layout, &mut reader);
        super::end_of_address(&reader)?;
        let routes_on_ssn = indicator & ROUTES_ON_SSN != 0;
        Ok(Self { routes_on_ssn, national: true, point_code, spare: 0, ssn, global_title })
    }

    /// Appends the address from its indicator octet on, for such a network.
    ///
    /// # Errors
    /// If it is a national address of ANSI with a title that ANSI does not have. Nothing is appended then.
    pub fn emit_as(&self, format: AddressFormat, out: &mut Vec<u8>) -> Result<(), NotAnsi> {
        if format == AddressFormat::Itu || !self.national {
            self.emit(out);
            return Ok(());
        }
        let title = match &self.global_title {
            None => 0,
            Some(GlobalTitle::TranslationPlan { .. }) => PLAN,
            Some(GlobalTitle::Translation { .. }) => TRANSLATION_ONLY,
            Some(GlobalTitle::Opaque(title)) => title.indicator(),
            Some(GlobalTitle::Nature { .. } | GlobalTitle::TranslationPlanNature { .. }) => {
                return Err(NotAnsi);
            }
        };
        let set = |has: bool, bit: u8| if has { bit } else { 0 };
        out.push(
            NATIONAL
                | set(self.routes_on_ssn, ROUTES_ON_SSN)
                | title << 2
                | set(self.point_code.is_some(), HAS_POINT_CODE)
                | set(self.ssn.is_some(), HAS_SSN),
        );
        if let Some(Ssn(ssn)) = self.ssn {
            out.push(ssn);
        }
        if let Some(PointCode(code)) = self.point_code {
            out.extend_from_slice(&code.to_le_bytes()[..3]);
        }
        if let Some(title) = &self.global_title {
            title.emit(out);
        }
        Ok(())
    }
}

#[cfg(test)]
pub(in crate::sccp) mod tests {
    use super::*;
    use crate::sccp::Digits;
    use crate::sccp::address::tests::any_address;
    use proptest::prelude::*;

    /// Any address of an ANSI network, of either layout.
    pub(in crate::sccp) fn any_ansi_address() -> impl Strategy<Value = PartyAddress> {
        (any_address(), proptest::option::of(0_u32..1 << 24)).prop_map(|(mut address, point_code)| {
            if address.national {
                (address.point_code, address.spare) = (point_code.map(PointCode), 0);
                let attributes = address.global_title.as_ref().map(GlobalTitle::attributes);
                if attributes.is_some_and(|attributes| attributes.nature.is_some()) {
                    address.global_title = None;
                }
            }
            address
        })
    }

    #[test]
    fn the_subsystem_stands_before_the_point_code_and_their_bits_are_the_other_way_round() {
        // 51-34-17 as tshark reads it under mtp3.standard:ANSI.
        let octets = [0xc3, 8, 0x11, 0x22, 0x33];
        let address = PartyAddress::parse_as(AddressFormat::Ansi, &octets).unwrap();
        assert_eq!(address.ssn, Some(Ssn(8)));
        assert_eq!(address.point_code, Some(PointCode(0x0033_2211)));
        assert!(address.routes_on_ssn && address.national);
        let only_ssn = PartyAddress::parse_as(AddressFormat::Ansi, &[0xc1, 8]).unwrap();
        assert_eq!((only_ssn.ssn, only_ssn.point_code), (Some(Ssn(8)), None));
        // An international one in the same network.
        let international = PartyAddress::parse_as(AddressFormat::Ansi, &[0x43, 0x11, 0x02, 8]).unwrap();
        assert_eq!((international.ssn, international.point_code), (Some(Ssn(8)), Some(PointCode(529))));
    }

    #[test]
    fn titles_have_a_translation_type_with_a_plan_or_without() {
        let digits = |octets: &[u8]| {
            let address = PartyAddress::parse_as(AddressFormat::Ansi, octets).unwrap();
            let title = address.global_title.unwrap();
            (title.attributes().translation_type, title.attributes().plan, title.digits().to_string())
        };
        assert_eq!(digits(&[0x89, 8, 10, 0x21, 0x43, 0x65]), (Some(10), None, "123456".into()));
        assert_eq!(digits(&[0x85, 8, 10, 0x11, 0x21, 0x43, 0x05]), (Some(10), Some(1), "12345".into()));
    }

    #[test]
    fn a_title_that_says_nothing_here_is_kept_and_written_as_it_came() {
        let table: [(&[u8], u8, &[u8]); 4] = [
            (&[0x91, 8, 0, 0x12, 4, 0x21], 4, &[0, 0x12, 4, 0x21]),
            (&[0x8d, 8, 1, 2], 3, &[1, 2]),
            (&[0xc7, 8, 1, 2, 3, 10, 0x10, 0x21], 1, &[10, 0x10, 0x21]),
            (&[0x85, 8, 10], 1, &[10]),
        ];
        for (octets, indicator, title) in table {
            let address = PartyAddress::parse_as(AddressFormat::Ansi, octets).unwrap();
            let Some(GlobalTitle::Opaque(opaque)) = &address.global_title else { panic!("{address:?}") };
            assert_eq!((opaque.indicator(), opaque.octets()), (indicator, title), "{octets:x?}");
            let mut written = Vec::new();
            address.emit_as(AddressFormat::Ansi, &mut written).unwrap();
            assert_eq!(written, octets);
        }
    }

    #[test]
    fn a_title_with_a_nature_of_address_cannot_be_written() {
        let title = GlobalTitle::with(Some(0), Some(1), Some(4), Digits::parse("4912").unwrap());
        let address = PartyAddress { national: true, global_title: Some(title), ..PartyAddress::default() };
        let mut out = Vec::new();
        assert_eq!(address.emit_as(AddressFormat::Ansi, &mut out), Err(NotAnsi));
        assert_eq!(out, []);
        let international = PartyAddress { national: false, ..address };
        assert_eq!(international.emit_as(AddressFormat::Ansi, &mut out), Ok(()));
    }

    proptest! {
        #[test]
        fn addresses_round_trip(address in any_ansi_address()) {
            let mut octets = Vec::new();
            address.emit_as(AddressFormat::Ansi, &mut octets).unwrap();
            prop_assert_eq!(PartyAddress::parse_as(AddressFormat::Ansi, &octets), Ok(address));
        }

        #[test]
        fn any_octets_give_an_address_that_is_written_octet_for_octet_or_an_error(octets: Vec<u8>) {
            if let Ok(address) = PartyAddress::parse_as(AddressFormat::Ansi, &octets) {
                let mut written = Vec::new();
                address.emit_as(AddressFormat::Ansi, &mut written).unwrap();
                prop_assert_eq!(written, octets);
            }
        }
    }
}
