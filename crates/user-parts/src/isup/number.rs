//! Party numbers (Q.763, sections 3.9 and 3.10).

use slantpath_ss7::sccp::Digits;
use slantpath_wire::{Reader, WireError};

/// A called party number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalledPartyNumber {
    /// Nature of address indicator, 7 bits: 3 national, 4 international.
    pub nature: u8,
    /// Routing to an internal network number is not allowed.
    pub internal_not_allowed: bool,
    /// Numbering plan indicator: 1 is E.164.
    pub plan: u8,
    /// Address signals; 15 (`f`) ends sending.
    pub digits: Digits,
    /// The spare low bits of the second octet.
    pub spare: u8,
    /// The unused half of the last octet of an odd number of digits.
    pub filler: u8,
}

/// A calling party number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallingPartyNumber {
    /// Nature of address indicator, 7 bits.
    pub nature: u8,
    /// The number is incomplete.
    pub is_incomplete: bool,
    /// Numbering plan indicator.
    pub plan: u8,
    /// Address presentation restricted indicator: 0 allowed, 1 restricted, 2 not available.
    pub presentation: u8,
    /// Screening indicator, 2 bits.
    pub screening: u8,
    /// Address signals: the digits of the number.
    pub digits: Digits,
    /// The unused half of the last octet of an odd number of digits.
    pub filler: u8,
}

/// Why octets are no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NumberError {
    /// Fewer than two octets.
    #[error(transparent)]
    Malformed(#[from] WireError),
    /// An odd number of address signals in no octet.
    #[error("an odd number of address signals needs an octet")]
    NoAddress,
}

/// First octet, second octet, digits, filler.
fn parse(value: &[u8]) -> Result<(u8, u8, Digits, u8), NumberError> {
    let mut reader = Reader::new(value);
    let [first, second] = reader.array()?;
    let address = reader.rest();
    let is_odd = first >> 7 == 1;
    let signals = address.iter().flat_map(|octet| [octet & 0xf, octet >> 4]);
    let count = (address.len() * 2).checked_sub(usize::from(is_odd)).ok_or(NumberError::NoAddress)?;
    let filler = if is_odd { address.last().map_or(0, |octet| octet >> 4) } else { 0 };
    Ok((first & 0x7f, second, Digits::from_values(signals.take(count)), filler))
}

fn emit(nature: u8, second: u8, digits: &Digits, filler: u8, out: &mut Vec<u8>) {
    let pairs = digits.values().chunks_exact(2);
    let last = pairs.remainder().first().map(|low| filler << 4 | low);
    out.push(nature & 0x7f | u8::from(last.is_some()) << 7);
    out.push(second);
    out.extend(pairs.map(|pair| pair[1] << 4 | pair[0]));
    out.extend(last);
}

impl CalledPartyNumber {
    /// Reads the parameter's contents.
    pub fn parse(value: &[u8]) -> Result<Self, NumberError> {
        let (nature, second, digits, filler) = parse(value)?;
        Ok(Self {
            nature,
            internal_not_allowed: second >> 7 == 1,
            plan: second >> 4 & 7,
            digits,
            spare: second & 0xf,
            filler,
        })
    }

    /// Appends the parameter's contents.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let second = u8::from(self.internal_not_allowed) << 7 | (self.plan & 7) << 4 | self.spare & 0xf;
        emit(self.nature, second, &self.digits, self.filler, out);
    }
}

impl CallingPartyNumber {
    /// Reads the parameter's contents.
    pub fn parse(value: &[u8]) -> Result<Self, NumberError> {
        let (nature, second, digits, filler) = parse(value)?;
        Ok(Self {
            nature,
            is_incomplete: second >> 7 == 1,
            plan: second >> 4 & 7,
            presentation: second >> 2 & 3,
            screening: second & 3,
            digits,
            filler,
        })
    }

    /// Appends the parameter's contents.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let second = u8::from(self.is_incomplete) << 7
            | (self.plan & 7) << 4
            | (self.presentation & 3) << 2
            | self.screening & 3;
        emit(self.nature, second, &self.digits, self.filler, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_captured_number_reads_as_its_digits() {
        let number = CalledPartyNumber::parse(&[0x03, 0x90, 0x40, 0x38, 0x09, 0x82, 0x99]).unwrap();
        assert_eq!((number.digits.to_string().as_str(), number.nature, number.plan), ("0483902899", 3, 1));
    }

    #[test]
    fn an_odd_number_without_an_octet_is_refused() {
        assert_eq!(CalledPartyNumber::parse(&[0x83, 0x10]), Err(NumberError::NoAddress));
    }

    proptest! {
        #[test]
        fn any_octets_give_a_number_that_emits_as_it_was_or_an_error(octets: Vec<u8>) {
            if let Ok(number) = CalledPartyNumber::parse(&octets) {
                let mut emitted = Vec::new();
                number.emit(&mut emitted);
                prop_assert_eq!(&emitted, &octets);
            }
            if let Ok(number) = CallingPartyNumber::parse(&octets) {
                let mut emitted = Vec::new();
                number.emit(&mut emitted);
                prop_assert_eq!(&emitted, &octets);
            }
        }
    }
}
