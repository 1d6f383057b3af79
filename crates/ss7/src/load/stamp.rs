//! The four octets by which a message is known again: the link that it was generated for, and its number there.

/// One of the generator's links, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkNumber(pub u8);

/// Octets of a stamp.
pub(super) const STAMP_LEN: usize = 4;

/// Numbers have so many bits on the wire.
const BITS: u32 = 24;

pub(super) fn emit(link: LinkNumber, number: u64, out: &mut Vec<u8>) {
    let [.., high, middle, low] = number.to_be_bytes();
    out.extend_from_slice(&[link.0, high, middle, low]);
}

/// Reads a stamp; the number's low bits.
pub(super) fn parse(octets: &[u8]) -> Option<(LinkNumber, u32)> {
    let [link, high, middle, low] = *octets.first_chunk::<STAMP_LEN>()?;
    Some((LinkNumber(link), u32::from_be_bytes([0, high, middle, low])))
}

/// The whole number behind its low bits: the greatest one that is below `next`.
pub(super) fn widen(low: u32, next: u64) -> Option<u64> {
    let last = next.checked_sub(1)?;
    let behind = (last & ((1 << BITS) - 1)).wrapping_sub(u64::from(low)) & ((1 << BITS) - 1);
    last.checked_sub(behind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_known_again_across_16_million(number in 0_u64..1 << 40, ahead in 1_u64..1 << 20, link: u8) {
            let mut octets = Vec::new();
            emit(LinkNumber(link), number, &mut octets);
            let (read, low) = parse(&octets).expect("four octets");
            prop_assert_eq!(read, LinkNumber(link));
            prop_assert_eq!(widen(low, number + ahead), Some(number));
        }
    }

    #[test]
    fn a_number_that_was_never_given_is_none() {
        assert_eq!(widen(5, 3), None);
        assert_eq!(widen(0, 0), None);
    }
}
