//! Sequence numbers of 24 bits (RFC 4165, section 2.2), which wrap.

use core::fmt;

use slantpath_ss7::mtp3::Fsn;

/// A forward or backward sequence number. It has no order, since numbers wrap: distances are compared instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SequenceNumber(u32);

impl SequenceNumber {
    /// Number that precedes the first message of a link that has just been aligned, which gets 0.
    pub const BEFORE_FIRST: Self = Self(MASK);

    /// From a number of at most 24 bits.
    pub const fn new(number: u32) -> Option<Self> {
        if number <= MASK { Some(Self(number)) } else { None }
    }

    /// From three octets, most significant first.
    pub(super) const fn from_octets([high, middle, low]: [u8; 3]) -> Self {
        Self(u32::from_be_bytes([0, high, middle, low]))
    }

    /// The number, from 0 to 16,777,215.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The next number.
    //= https://www.rfc-editor.org/rfc/rfc4165#section-4.2.1
    //# Note: In all calculations involving FSN and BSN, the programmer
    //# should be aware that the value wraps around to 0 after reaching its
    //# maximum value.
    #[must_use]
    pub const fn next(self) -> Self {
        Self((self.0 + 1) & MASK)
    }

    /// Gives the number of places that this number lies after `earlier`, from 0 to 16,777,215.
    pub const fn distance_from(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0) & MASK
    }
}

impl fmt::Display for SequenceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl From<SequenceNumber> for Fsn {
    fn from(number: SequenceNumber) -> Self {
        Self(number.0)
    }
}

const MASK: u32 = 0x00ff_ffff;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_after_24_bits() {
        assert_eq!(SequenceNumber::BEFORE_FIRST.next(), SequenceNumber(0));
        assert_eq!(SequenceNumber(2).distance_from(SequenceNumber(MASK)), 3);
        assert_eq!(SequenceNumber(MASK).distance_from(SequenceNumber(2)), MASK - 2);
        assert_eq!(SequenceNumber::new(MASK + 1), None);
    }
}
