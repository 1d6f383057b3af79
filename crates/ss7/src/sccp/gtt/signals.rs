//! Address signals as a search wants them: four bits each in one word, several compared at once.

use crate::sccp::gtt::DigitPattern;

/// The most digits that a label holds.
pub(super) const LABEL_DIGITS: usize = 7;

/// Up to seven digits, four bits each with the first lowest, and their number in the highest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(u32);

impl Label {
    pub(super) const EMPTY: Self = Self(0);

    /// Of the first digits, at most [`LABEL_DIGITS`].
    pub(super) fn new(digits: &[u8]) -> Self {
        let len = u32::from(digits.len().min(LABEL_DIGITS).to_le_bytes()[0]);
        let packed = digits
            .iter()
            .take(LABEL_DIGITS)
            .rev()
            .fold(0, |packed, digit| packed << 4 | u32::from(digit & 0xf));
        Self(packed | len << (4 * LABEL_DIGITS))
    }

    pub(super) const fn len(self) -> usize {
        (self.0 >> (4 * LABEL_DIGITS)) as usize
    }
}

/// Digits that are searched for, as many as a pattern has places: four bits each with the first lowest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signals {
    /// The first sixteen, which is all that nearly every number has.
    first: u64,
    second: u64,
    len: usize,
}

/// Digits of a word.
const WORD: usize = 16;
const _: () = assert!(DigitPattern::LONGEST == 2 * WORD, "two words hold the places of a pattern");

impl Signals {
    #[inline]
    pub(super) fn new(digits: &[u8]) -> Self {
        let len = digits.len();
        if let (Some(first), Some(last)) = (digits.first_chunk::<8>(), digits.last_chunk::<8>())
            && len <= WORD
        {
            // The last eight overlap the first; those beyond the first eight are their highest bits.
            let beyond = u64::from(pack(*last)) << 32 >> (4 * (WORD - len)) & !u64::from(u32::MAX);
            return Self { first: beyond | u64::from(pack(*first)), second: 0, len };
        }
        let word = |digits: &[u8]| {
            digits.iter().take(WORD).rev().fold(0, |packed, digit| packed << 4 | u64::from(digit & 0xf))
        };
        Self { first: word(digits), second: word(digits.get(WORD..).unwrap_or_default()), len }
    }

    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The digit at a place, if there is one and a pattern can have that place.
    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<u8> {
        (at < self.len && at < 2 * WORD).then(|| self.from(at).to_le_bytes()[0] & 0xf)
    }

    /// Tells if the digits from `at` on begin with those of the label.
    #[inline]
    pub(super) fn have(&self, at: usize, label: Label) -> bool {
        let mask = (1 << (4 * label.len())) - 1;
        at + label.len() <= self.len.min(2 * WORD) && (self.from(at) ^ label.0) & mask == 0
    }

    /// The first three digits as they stand in the word, if there are three.
    #[inline]
    pub(super) fn first_three(&self) -> Option<usize> {
        let [low, high, ..] = self.first.to_le_bytes();
        (self.len >= 3).then(|| usize::from(u16::from_le_bytes([low, high])) & 0xfff)
    }

    /// Eight digits from a place on.
    #[inline]
    fn from(&self, at: usize) -> u32 {
        if self.len <= WORD {
            return if at < WORD { low_half(self.first >> (4 * at)) } else { 0 };
        }
        let both = u128::from(self.second) << 64 | u128::from(self.first);
        let octets = if at < 2 * WORD { (both >> (4 * at)).to_le_bytes() } else { [0; 16] };
        u32::from_le_bytes([octets[0], octets[1], octets[2], octets[3]])
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is asked for")]
const fn low_half(word: u64) -> u32 {
    word as u32
}

/// The low halves of eight octets side by side, the first lowest.
#[inline]
const fn pack(octets: [u8; 8]) -> u32 {
    let mut word = u64::from_le_bytes(octets) & 0x0f0f_0f0f_0f0f_0f0f;
    word = (word | word >> 4) & 0x00ff_00ff_00ff_00ff;
    word = (word | word >> 8) & 0x0000_ffff_0000_ffff;
    low_half(word | word >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn signals_say_what_their_digits_say(
            digits in proptest::collection::vec(0_u8..16, 0..40),
            at in 0..=DigitPattern::LONGEST,
            label in proptest::collection::vec(0_u8..16, 0..=LABEL_DIGITS),
            is_taken_from_it: bool,
            len in 0..=LABEL_DIGITS,
        ) {
            let signals = Signals::new(&digits);
            let known = &digits[..digits.len().min(DigitPattern::LONGEST)];
            let taken = known.get(at..(at + len).min(known.len())).unwrap_or_default();
            let label = if is_taken_from_it { taken } else { &label[..] };
            prop_assert_eq!(signals.len(), digits.len());
            prop_assert_eq!(signals.get(at), known.get(at).copied());
            let three = digits.first_chunk::<3>();
            let three = three.map(|three| three.iter().rev().fold(0, |key, digit| key << 4 | usize::from(*digit)));
            prop_assert_eq!(signals.first_three(), three);
            let begins = known.get(at..).is_some_and(|rest| rest.starts_with(label));
            prop_assert_eq!(signals.have(at, Label::new(label)), begins);
        }
    }
}
